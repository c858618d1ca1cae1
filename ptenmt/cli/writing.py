"""Numbers for people: durations, sizes, scores, bars."""

from ptenmt.atomic_files import NOTHING
from ptenmt.history import perplexity

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 pair``, ``8,030 pairs``."""
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


def shown_perplexity(loss: float | None) -> str:
    """The perplexity of a loss in nats per token, or a dash if it is too large to be useful."""
    value = perplexity(loss)
    return NOTHING if value is None else f"{value:,.1f}"


def bar(cells: float) -> str:
    """A bar of a length in terminal cells, drawn in eighths."""
    whole, eighths = divmod(round(8 * cells), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()
