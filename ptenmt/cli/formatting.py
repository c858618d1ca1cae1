"""Numbers for people: counts, durations, sizes, scores."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptenmt.config.loading import show_value
from ptenmt.config.schedule import EpochSteps
from ptenmt.runs.history import NOTHING, metric_name, metric_value, perplexity

if TYPE_CHECKING:
    from ptenmt.runs.trained_model import TrainedModel


def counted(number: int, noun: str) -> str:
    """Such as ``1 pair``, ``8,030 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``2.7 min``, ``12 min``, ``3 h 05 min``, ``2 d 07 h``: rounded to 10% or better."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 295:
        return f"{seconds / 60:.1f} min"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24:02} h"


def num_epochs(total_steps: int, steps_per_epoch: EpochSteps) -> int:
    """Number of epochs, including a partial last one."""
    return math.ceil(steps_per_epoch.position(total_steps))


def epochs_done(step: int, steps_per_epoch: EpochSteps, total_steps: int) -> str:
    """Completed epochs of all, in tenths within an epoch: ``0.5/20``."""
    whole, rest = steps_per_epoch.locate(step)
    tenths = f".{rest * 10 // steps_per_epoch.of(whole)}" if rest else ""
    epochs = num_epochs(total_steps, steps_per_epoch)
    return f"{whole:>{len(str(epochs))}}{tenths}/{epochs}"


def steps_of_epochs(steps_per_epoch: EpochSteps, noun: str = "") -> str:
    """``810 per epoch``, or by stage: ``40 per epoch, 29 from epoch 3 on``."""
    (_, first), *later = steps_per_epoch.stages
    changes = (f"{steps:,} from epoch {epoch + 1} on" for epoch, steps in later)
    number = counted(first, noun) if noun else f"{first:,}"
    return ", ".join([f"{number} per epoch", *changes])


def mixture(pairs: Mapping[str, int]) -> str:
    """Shares of the sources in an epoch, and their pairs: ``ted 60.0% (6,000), web 40.0% (4,000)``."""
    total = sum(pairs.values())
    return ", ".join(f"{name} {count / total:.1%} ({count:,})" for name, count in pairs.items())


def amount(num_bytes: float) -> str:
    """Bytes as ``40 kB``, ``5.1 MB``, ``512 MB`` or ``3.2 GB``, in powers of ten."""
    if num_bytes >= 1e9:
        return f"{num_bytes / 1e9:.1f} GB"
    if num_bytes >= 1e6:
        return f"{num_bytes / 1e6:.{1 if num_bytes < 1e7 else 0}f} MB"
    return f"{num_bytes / 1e3:.0f} kB"


def model_label(trained: "TrainedModel") -> str:
    """Which model it is: ``demo (BLEU 93.6 at step 1,512, trained 2026-11-22)``."""
    info, date = trained.info, trained.run.record().trained[:10]
    score = (
        ""
        if info.score is None
        else f"{metric_name(info.metric)} {metric_value(info.metric, info.score)} at "
    )
    return f"{trained.run.name} ({score}step {info.step:,}, trained {date})"


def option_value(value: object) -> str:
    """An option's value as YAML writes it, or a dash for none."""
    return NOTHING if value in (None, ()) else show_value(value)


def shown_perplexity(loss: float | None) -> str:
    """The perplexity of a loss in nats per token, or a dash if it is too large to be useful."""
    value = perplexity(loss)
    return NOTHING if value is None else f"{value:,.1f}"
