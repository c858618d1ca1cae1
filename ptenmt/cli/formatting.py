"""Numbers for people: counts, durations, sizes, scores."""

import math

from ptenmt.atomic_files import NOTHING
from ptenmt.config.loading import show_value
from ptenmt.history import perplexity


def counted(number: int, noun: str) -> str:
    """Such as ``1 pair``, ``8,030 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``2.7 min``, ``12 min``, ``3 h 05 min``, ``2 d 07 h``: rounded to 10 % or better."""
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


def num_epochs(total_steps: int, steps_per_epoch: int) -> int:
    """Number of epochs, including a partial last one."""
    return math.ceil(total_steps / steps_per_epoch)


def epochs_done(step: int, steps_per_epoch: int, total_steps: int) -> str:
    """Completed epochs of all, in tenths within an epoch: ``0.5/20``."""
    whole, rest = divmod(step, steps_per_epoch)
    tenths = f".{rest * 10 // steps_per_epoch}" if rest else ""
    epochs = num_epochs(total_steps, steps_per_epoch)
    return f"{whole:>{len(str(epochs))}}{tenths}/{epochs}"


def amount(num_bytes: float) -> str:
    """Bytes as ``40 kB``, ``5.1 MB``, ``512 MB`` or ``3.2 GB``, in powers of ten."""
    if num_bytes >= 1e9:
        return f"{num_bytes / 1e9:.1f} GB"
    if num_bytes >= 1e6:
        return f"{num_bytes / 1e6:.{1 if num_bytes < 1e7 else 0}f} MB"
    return f"{num_bytes / 1e3:.0f} kB"


def metric_name(metric: str) -> str:
    """The usual spelling of a ``validation.metric``."""
    return {"bleu": "BLEU", "chrf": "chrF"}.get(metric, metric)


def metric_value(metric: str, value: float | None) -> str:
    """A score with a sensible number of digits; None is one that is not finite."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if metric in {"loss", "accuracy"} else f"{value:.1f}"


def option_value(value: object) -> str:
    """An option's value as YAML writes it, or a dash for none."""
    return NOTHING if value in (None, ()) else show_value(value)


def shown_perplexity(loss: float | None) -> str:
    """The perplexity of a loss in nats per token, or a dash if it is too large to be useful."""
    value = perplexity(loss)
    return NOTHING if value is None else f"{value:,.1f}"
