"""Numbers as people read them."""

from typing import TYPE_CHECKING

from ptenmt.atomic_files import NOTHING
from ptenmt.perplexity import perplexity

if TYPE_CHECKING:
    from ptenmt.training.dry_run import DryRun

_DEPENDS = {"pairs": ", depending on how long the model's translations are", "windows": ""}
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``2.7 min``, ``12 min``, ``3 h 05 min``, ``2 d 07 h``: a tenth off at most."""
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
    """What ``validation.metric`` is called in a sentence."""
    return {"bleu": "BLEU", "chrf": "chrF"}.get(metric, metric)


def metric_value(metric: str, value: float | None) -> str:
    """A score with as many digits as it deserves; None is one that was no number."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if metric in {"loss", "accuracy"} else f"{value:.1f}"


def shown_perplexity(loss: float | None) -> str:
    """The perplexity of a loss in nats a token, if it has one that anybody could read."""
    value = perplexity(loss)
    return NOTHING if value is None else f"{value:,.1f}"


def rehearsal_facts(found: "DryRun") -> dict[str, str]:
    """What a rehearsal found, by name."""
    sentences, length = found.largest_batch
    memory = "unknown" if found.peak_memory is None else amount(found.peak_memory)
    if found.peak_device_memory is not None:
        memory += f", and {amount(found.peak_device_memory)} on the GPU"
    validation = duration(found.seconds_per_validation)
    return {
        found.unit: ", ".join(f"{count:,} {split}" for split, count in found.examples.items()),
        "vocabularies": " and ".join(f"{size:,}" for size in found.vocabulary_sizes),
        "parameters": f"{found.parameters:,}",
        "steps": f"{found.steps_per_epoch:,} an epoch, {found.total_steps:,} in all",
        "largest batch": f"{sentences:,} {found.unit} of {length:,} tokens",
        "peak memory": memory,
        "a step": f"{found.seconds_per_step:.3g} s",
        "an epoch": f"{duration(found.seconds_per_epoch)}, without validation",
        "a validation": f"about {validation}{_DEPENDS[found.unit]}",
        "in all": f"about {duration(found.seconds)}, with {found.validations:,} validations",
        "would go on from a checkpoint": "yes" if found.is_resumed else "no",
    }


def bar(cells: float) -> str:
    """A bar of so many terminal cells, in eighths."""
    whole, eighths = divmod(round(8 * cells), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()
