"""Display of training events: two bars and current figures on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from ptenmt.cli.console import (
    Screen,
    counted,
    duration,
    epochs_done,
    mixture,
    num_epochs,
    shown_perplexity,
    steps_of_epochs,
)
from ptenmt.config import Config
from ptenmt.runs.history import metric_name, metric_value
from ptenmt.training import events

_PLAIN_REPORTS_PER_EPOCH = 4
_MIN_WIDTH_FOR_BARS = 50
"""On narrower terminals, bars would leave no room for the numbers."""
_GONE = {"pairs": "training pairs dropped", "windows": "windows dropped because their next word is unknown"}
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
        languages = config.data.languages
        self._labels = (*languages, "ref", "now") if is_translator else _NEXT_WORD_LABELS
        self._metric = config.validation.metric
        self._has_one_vocabulary = config.tokenizer.shared or not is_translator
        bar = [BarColumn(bar_width=None)] if screen.console.width >= _MIN_WIDTH_FOR_BARS else []
        self._bars = Progress(
            TextColumn("{task.description:<10}"),
            *bar,
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=screen.console,
        )
        self._figures = Text(no_wrap=True, overflow="ellipsis")
        self._standing = Text(no_wrap=True, overflow="ellipsis", style="green")
        self._live: Live | None = None
        self._started: events.TrainingStarted | None = None
        self._best = ""
        self._plain_reports = 0

    @contextmanager
    def showing(self) -> Iterator["TrainingView"]:
        """Draw the bars, and restore the terminal however training ends."""
        try:
            yield self
        finally:
            if self._live is not None:
                self._live.stop()

    def show(self, event: events.Event) -> None:
        """Show an event."""
        match event:
            case events.CorpusReady():
                self._corpus_ready(event)
            case events.TrainingStarted():
                self._training_started(event)
            case events.StageStarted():
                sources = mixture(event.pairs)
                self._screen.say(f"sources from epoch {event.epoch} on: {sources}")
            case events.Warned():
                self._screen.warn(event.message)
            case events.StepDone():
                self._step_done(event)
            case events.ValidationStep() if self._live is not None:
                self._show_steps("validation", event.done, event.total)
            case events.Validated():
                self._validated(event)
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
        steps = steps_of_epochs(event.steps_per_epoch, "step")
        self._screen.say(f"{event.parameters:,} parameters, {steps}")
        if event.resumed_from is not None:
            place = _place(event.epoch, event.step_in_epoch)
            epochs = num_epochs(event.total_steps, event.steps_per_epoch)
            self._screen.say(f"resuming after {place} of {epochs}, from {event.resumed_from}", "bold")
        if event.is_over:
            self._screen.say(f"nothing left to do: {_how_to_continue(event)}, or use --fresh")
            return
        self._screen.say("figures of each validation: training|validation")
        if not self._screen.is_live:
            self._screen.say(_COMPILING)
        if self._screen.is_live:
            done = event.steps_per_epoch.before(event.epoch) + event.step_in_epoch
            total, num_steps = event.total_steps, event.steps_per_epoch.of(event.epoch)
            self._whole_task = self._bars.add_task("training", total=total, completed=done, left="")
            self._steps_task = self._bars.add_task("", left="")
            self._show_steps(f"epoch {event.epoch + 1}", event.step_in_epoch, num_steps)
            self._figures.plain = _COMPILING
            lines = Group(self._bars, self._figures, self._standing)
            self._live = Live(lines, console=self._screen.console, transient=True)
            self._live.start()

    def _step_done(self, event: events.StepDone) -> None:
        if self._started is None:  # a dry run
            return
        num_steps = self._started.steps_per_epoch.of(event.epoch - 1)
        figures = [
            f"loss {event.loss:.4f}",
            f"accuracy {event.accuracy:.4f}",
            f"rate {event.learning_rate:.2e}",
            f"{event.tokens_per_second:,.0f} tokens/s",
        ]
        left = "" if event.seconds_left is None else f"{duration(event.seconds_left)} left"
        if self._live is not None:
            done = self._started.steps_per_epoch.before(event.epoch - 1) + event.step_in_epoch
            self._bars.update(self._whole_task, completed=done, left=left)
            self._show_steps(f"epoch {event.epoch}", event.step_in_epoch, num_steps)
            self._figures.plain = _filled(figures, self._screen.console.width)
            return
        reached = event.step_in_epoch * _PLAIN_REPORTS_PER_EPOCH // num_steps
        if reached != self._plain_reports and event.step_in_epoch < num_steps:
            parts = [f"epoch {event.epoch}", f"step {event.step_in_epoch}/{num_steps}", left, *figures]
            console = self._screen.console
            lines = _filled(parts, console.width if console.is_terminal else sys.maxsize)
            self._screen.say(lines.partition("\n")[0])  # what does not fit is left out
        self._plain_reports = reached % _PLAIN_REPORTS_PER_EPOCH

    def _show_steps(self, description: str, done: int, total: int) -> None:
        self._bars.update(self._steps_task, description=description, completed=done, total=total)

    def _validated(self, event: events.Validated) -> None:
        scores, step, console = event.scores, event.global_step, self._screen.console
        if event.is_best:
            score = metric_value(self._metric, getattr(scores, self._metric))
            best = f"best {metric_name(self._metric)} {score} at step "
            verdict = "same score, lower loss" if self._best.startswith(best) else "best so far"
            self._best = f"{best}{step:,}"
        patience = ""
        if event.patience_left is not None:
            left = counted(event.patience_left, "validation")
            patience = f"patience: {left} left" if event.patience_left else "patience exhausted"
        assert self._started is not None, "TrainingStarted comes first"
        epochs = epochs_done(step, self._started.steps_per_epoch, self._started.total_steps)
        quality = f"perplexity {shown_perplexity(scores.loss)}"
        if scores.bleu is not None and scores.chrf is not None:
            quality = f"BLEU {scores.bleu:.1f}  chrF {scores.chrf:.1f}"
        parts = [
            f"epochs {epochs}  step {step:,}  {quality}",
            f"loss {event.train_loss:.3f}|{scores.loss:.3f}  "
            f"accuracy {event.train_accuracy:.3f}|{scores.accuracy:.3f}",
            verdict if event.is_best else patience,
        ]
        self._screen.say(_filled(parts, console.width if console.is_terminal else sys.maxsize), "bold")
        self._standing.plain = _filled([self._best, patience], console.width)
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


def _filled(parts: Iterable[str], width: int) -> str:
    """Join parts that are not empty into lines no wider than ``width``; no part is broken."""
    lines: list[str] = []
    for part in filter(None, parts):
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f"  {part}"
        else:
            lines.append(part)
    return "\n".join(lines)


def _place(epoch: int, step: int) -> str:
    """A position in training, by complete epochs and steps of the next."""
    return f"step {step:,} of epoch {epoch + 1}" if step else f"epoch {epoch}"


def _how_to_continue(event: events.TrainingStarted) -> str:
    """Which option to change to continue a finished training."""
    if event.steps_per_epoch.before(event.epoch) + event.step_in_epoch < event.total_steps:
        return "it stopped early; raise validation.patience to continue"
    if event.total_steps < event.steps_per_epoch.before(event.epochs):
        return "raise training.max_steps to continue"
    return "raise training.epochs to continue"
