"""How a training looks: two bars and a line of figures on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ptenmt.cli.console import Screen
from ptenmt.events import (
    CheckpointSaved,
    CorpusReady,
    EpochDone,
    Event,
    StepDone,
    TrainingStarted,
    Validated,
    ValidationStep,
    Warned,
)

_PLAIN_REPORTS_PER_EPOCH = 4


class TrainingView:
    """Shows the events of a training.

    Args:
        screen: Where to.
        languages: Codes of source and target language.
    """

    def __init__(self, screen: Screen, languages: tuple[str, str]) -> None:
        self._screen = screen
        self._languages = languages
        self._bars = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=screen.console,
        )
        self._figures = Text()
        self._live: Live | None = None
        self._started: TrainingStarted | None = None
        self._plain_reports = 0
        self._handlers: dict[type, Callable[[Any], None]] = {
            CorpusReady: self._corpus_ready,
            TrainingStarted: self._training_started,
            Warned: lambda event: screen.warn(event.message),
            StepDone: self._step_done,
            EpochDone: self._epoch_done,
            ValidationStep: self._validation_step,
            Validated: self._validated,
            CheckpointSaved: self._checkpoint_saved,
        }

    @contextmanager
    def showing(self) -> Iterator["TrainingView"]:
        """Draw the bars while the training goes on, and leave the terminal tidy whatever ends it."""
        try:
            yield self
        finally:
            if self._live is not None:
                self._live.stop()

    def show(self, event: Event) -> None:
        """Show one event; those without a picture are passed over."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

    def _corpus_ready(self, event: CorpusReady) -> None:
        removed = ", ".join(f"{count:,} {reason}" for reason, count in event.removed.items())
        self._screen.say(f"training pairs left out: {removed}")
        if event.shortened:
            self._screen.say(f"{event.shortened:,} sentences cut to model.max_positions tokens")
        source, target = event.vocabulary_sizes
        self._screen.say(
            f"{event.train:,} training and {event.validation:,} validation pairs, "
            f"vocabularies of {source:,} and {target:,}"
        )
        for source_text, target_text in event.samples:
            self._sentence(self._languages[0], source_text)
            self._sentence(self._languages[1], target_text)

    def _training_started(self, event: TrainingStarted) -> None:
        self._started = event
        self._screen.say(f"{event.parameters:,} parameters, {event.steps_per_epoch:,} steps an epoch")
        if event.resumed_from is not None:
            place = f"epoch {event.epoch} of {event.epochs}"
            if event.step:
                place += f" and {event.step:,} steps of the next"
            self._screen.say(f"resuming after {place}, from {event.resumed_from}", style="bold")
        if event.is_over:
            self._screen.say("nothing is left to do: raise training.epochs to train on, or use --fresh")
            return
        self._screen.say("each validation: figures of training|validation")
        if self._screen.is_live:
            total = event.epochs * event.steps_per_epoch
            done = event.epoch * event.steps_per_epoch + event.step
            self._epochs_task = self._bars.add_task("all epochs", total=total, completed=done)
            self._steps_task = self._bars.add_task(
                f"epoch {event.epoch + 1}", total=event.steps_per_epoch, completed=event.step
            )
            self._live = Live(Group(self._bars, self._figures), console=self._screen.console, transient=True)
            self._live.start()

    def _step_done(self, event: StepDone) -> None:
        assert self._started is not None
        per_epoch = self._started.steps_per_epoch
        figures = (
            f"loss {event.loss:.4f}  accuracy {event.accuracy:.4f}  "
            f"rate {event.learning_rate:.2e}  {event.tokens_per_second:,.0f} tokens/s"
        )
        if self._live is not None:
            done = (event.epoch - 1) * per_epoch + event.step
            self._bars.update(self._epochs_task, completed=done)
            self._bars.update(
                self._steps_task, description=f"epoch {event.epoch}", completed=event.step, total=per_epoch
            )
            self._figures.plain = figures
            return
        reached = event.step * _PLAIN_REPORTS_PER_EPOCH // per_epoch
        if reached != self._plain_reports and event.step < per_epoch:
            self._plain_reports = reached
            self._screen.say(f"epoch {event.epoch}  step {event.step}/{per_epoch}  {figures}")

    def _validation_step(self, event: ValidationStep) -> None:
        if self._live is not None:
            self._bars.update(
                self._steps_task, description="validation", completed=event.done, total=event.total
            )

    def _epoch_done(self, _event: EpochDone) -> None:
        self._plain_reports = 0

    def _validated(self, event: Validated) -> None:
        """One line an epoch, training and validation figures side by side, then the samples."""
        assert self._started is not None
        scores = event.scores
        number = f"{event.epoch:>{len(str(self._started.epochs))}}/{self._started.epochs}"
        remark = "  best so far" if event.is_best else ""
        if event.patience_left is not None and not event.is_best:
            remark = f"  patience for {event.patience_left} more"
        self._screen.say(
            f"epoch {number}  step {event.step:,}  loss {event.train_loss:.3f}|{scores.loss:.3f}  "
            f"accuracy {event.train_accuracy:.3f}|{scores.accuracy:.3f}  "
            f"BLEU {scores.bleu:.1f}  chrF {scores.chrf:.1f}{remark}",
            style="bold",
        )
        for sample in scores.samples:
            self._sentence(self._languages[0], sample.source)
            self._sentence("ref", sample.reference)
            self._sentence("now", sample.translation)

    def _sentence(self, label: str, text: str) -> None:
        """A sentence on one line; on a terminal what does not fit is cut."""
        line = Text.assemble((f"  {label:>4}  ", "cyan"), text)
        if self._screen.console.is_terminal:
            self._screen.console.print(line, overflow="ellipsis", no_wrap=True)
        else:
            self._screen.console.print(line, soft_wrap=True)

    def _checkpoint_saved(self, event: CheckpointSaved) -> None:
        place = f"epoch {event.epoch}" + (f" + {event.step:,} steps" if event.step else "")
        self._screen.say(f"saved {place}: {event.path}", style="green")
