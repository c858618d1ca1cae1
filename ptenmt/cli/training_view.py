"""Display of training events: a bar on a terminal, plain lines elsewhere."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.text import Text

from ptenmt.cli.console import (
    Screen,
    counted,
    duration,
    mixture,
    shown_perplexity,
)
from ptenmt.cli.tables import metric_name, metric_value
from ptenmt.config import Config
from ptenmt.runs import NOTHING
from ptenmt.training import events

_PLAIN_REPORTS_PER_EPOCH = 4
_GONE = {"pairs": "training pairs left out", "windows": "windows dropped because their next word is unknown"}
_COMPILING = "compiling the first step…"
_MIN_LABEL_WIDTH = 4
_MAX_SAMPLE_CHARACTERS = 2000
_NEXT_WORD_LABELS = ("input", "next", "actual", "predicted")
"""Of the sample texts: source, target, reference, translation."""


class TrainingView:
    """Shows the events of a training on a screen."""

    has_saved = False

    def __init__(self, screen: Screen, config: Config) -> None:
        self._screen = screen
        is_translator = config.task == "translation"
        self._labels = (*config.data.languages, "ref", "now") if is_translator else _NEXT_WORD_LABELS
        self._metric = config.validation.metric
        self._has_one_vocabulary = config.tokenizer.shared or not is_translator
        self._bar = screen.progress("{task.completed}/{task.total}", "{task.fields[figures]}", transient=True)
        self._task = self._bar.add_task(_COMPILING, figures="")
        self._started: events.TrainingStarted | None = None
        self._plain_reports = 0

    @contextmanager
    def showing(self) -> Iterator["TrainingView"]:
        """Draw the bar, and restore the terminal however training ends."""
        try:
            yield self
        finally:
            self._bar.stop()

    def show(self, event: events.Event) -> None:
        """Show an event."""
        match event:
            case events.CorpusReady():
                self._corpus_ready(event)
            case events.TrainingStarted():
                self._training_started(event)
            case events.Warned():
                self._screen.warn(event.message)
            case events.StepDone() if self._started is not None:  # not in a dry run
                self._step_done(event, self._started)
            case events.ValidationStep() if self._started is not None:
                self._show_bar("validation", event.done, event.total)
            case events.Validated() if self._started is not None:
                self._validated(event, self._started)
            case events.CheckpointSaved():
                self.has_saved = True
                place = _place(event.epoch, event.step_in_epoch)
                self._screen.say(f"saved after {place}: {event.path}", "green")
            case events.PatienceExhausted():
                best = f"{metric_name(self._metric)} than {metric_value(self._metric, event.best_score)}"
                stale = counted(event.num_stale, "validation")
                self._screen.say(f"early stopping: {stale} in a row without a better {best}", "bold")

    def _corpus_ready(self, event: events.CorpusReady) -> None:
        removed = ", ".join(f"{count:,} {reason}" for reason, count in event.removed.items() if count)
        if removed:
            self._screen.say(f"{_GONE[event.unit]}: {removed}")
        if event.num_truncated:
            sentences = counted(event.num_truncated, "sentence")
            self._screen.say(f"{sentences} truncated to model.max_positions tokens")
        source, target = event.vocabulary_sizes
        vocabularies = f"vocabularies of {source:,} and {target:,}"
        if self._has_one_vocabulary:
            vocabularies = f"one vocabulary of {source:,}"
        unit = event.unit.removesuffix("s")
        numbers = counted(event.train, f"training {unit}"), counted(event.validation, f"validation {unit}")
        self._screen.say(f"{', '.join(numbers)}, {vocabularies}")
        for sample in event.samples:
            self._texts(self._labels[:2], sample)

    def _training_started(self, event: events.TrainingStarted) -> None:
        self._started = event
        steps = counted(event.steps_per_epoch, "step")
        self._screen.say(f"{event.parameters:,} parameters, {steps} per epoch")
        if event.pairs_by_file:
            self._screen.say(f"an epoch reads {mixture(event.pairs_by_file)}")
        if event.resumed_from is not None:
            place = _place(event.epoch, event.step_in_epoch)
            epochs = math.ceil(event.total_steps / event.steps_per_epoch)
            self._screen.say(f"resuming after {place} of {epochs}, from {event.resumed_from}", "bold")
        if event.is_over:
            options = "training.epochs, training.max_steps or validation.patience"
            self._screen.say(f"nothing left to do: raise {options}, or use --fresh")
            return
        self._screen.say("figures of each validation: training|validation")
        if not self._screen.is_live:
            self._screen.say(_COMPILING)
        done = event.epoch * event.steps_per_epoch + event.step_in_epoch
        self._show_bar(_COMPILING, done, event.total_steps)
        self._bar.start()

    def _show_bar(self, what: str, done: int, total: int, figures: str = "") -> None:
        self._bar.update(self._task, description=what, completed=done, total=total, figures=figures)

    def _step_done(self, event: events.StepDone, started: events.TrainingStarted) -> None:
        epoch, step, num_steps = event.epoch, event.step_in_epoch, started.steps_per_epoch
        left = [] if event.seconds_left is None else [f"{duration(event.seconds_left)} left"]
        figures = [*left, f"loss {event.loss:.4f}", f"accuracy {event.accuracy:.4f}"]
        speed = f"{event.tokens_per_second:,.0f} tokens/s"
        done = (epoch - 1) * num_steps + step
        self._show_bar(f"epoch {epoch}", done, started.total_steps, "  ".join([*figures, speed]))
        reached = step * _PLAIN_REPORTS_PER_EPOCH // num_steps
        if not self._screen.is_live and reached != self._plain_reports and step < num_steps:
            rate = f"rate {event.learning_rate:.2e}"
            self._screen.say("  ".join([f"epoch {epoch}", f"step {step}/{num_steps}", *figures, rate, speed]))
        self._plain_reports = reached % _PLAIN_REPORTS_PER_EPOCH

    def _validated(self, event: events.Validated, started: events.TrainingStarted) -> None:
        scores, step, per_epoch = event.scores, event.global_step, started.steps_per_epoch
        quality = f"perplexity {shown_perplexity(scores.loss)}"
        if scores.bleu is not None and scores.chrf is not None:
            quality = f"BLEU {scores.bleu:.1f}  chrF {scores.chrf:.1f}"
        done = f"{round(step / per_epoch, 1):g}/{math.ceil(started.total_steps / per_epoch)}"
        parts = [
            f"epochs {done}  step {step:,}",
            quality,
            f"loss {_figure(event.train_loss)}|{scores.loss:.3f}",
            f"accuracy {_figure(event.train_accuracy)}|{scores.accuracy:.3f}",
        ]
        if event.is_best:
            parts.append("best so far")
        elif event.patience_left is not None:
            parts.append(f"patience: {counted(event.patience_left, 'validation')} left")
        self._screen.say("  ".join(parts), "bold")
        source, _, reference, translation = self._labels
        for sample in scores.samples:
            texts = (sample.source, sample.reference, sample.translation)
            self._texts((source, reference, translation), texts)

    def _texts(self, labels: Sequence[str], texts: Sequence[str]) -> None:
        """Show each text on one line, truncated to the terminal's width."""
        console = self._screen.console
        width = max(_MIN_LABEL_WIDTH, *map(len, self._labels))
        for label, text in zip(labels, texts, strict=True):
            line = Text.assemble((f"  {label:>{width}}  ", "cyan"), text[:_MAX_SAMPLE_CHARACTERS])
            if console.is_terminal:
                console.print(line, overflow="ellipsis", no_wrap=True)
            else:
                console.print(line, soft_wrap=True)


def _place(epoch: int, step: int) -> str:
    """A position in training, by complete epochs and steps of the next."""
    return f"step {step:,} of epoch {epoch + 1}" if step else f"epoch {epoch}"


def _figure(value: float) -> str:
    """A mean over the steps so far, of which there may be none."""
    return NOTHING if math.isnan(value) else f"{value:.3f}"
