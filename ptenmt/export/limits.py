"""What ptenmt does around a model, and another program may not."""

from collections.abc import Collection

from ptenmt.config import Config, DecodingConfig
from ptenmt.data.text import spacing
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import suppressed_ids

SEARCH_OPTIONS = ("repetition_penalty", "no_repeat_ngram", "top_k")
"""Of the section ``decoding``: those that not every search has."""


def lacking(config: Config, known: Collection[str] = ()) -> str:
    """The first option of a run, as ``section.name=value``, that a program of plain text does not follow.

    ``known``: which ``SEARCH_OPTIONS`` the program has. Empty if there is none.
    """
    if (tokenization := spacing(config.data)) != "none":
        return f"data.tokenization={tokenization}"
    for name in SEARCH_OPTIONS:
        value = getattr(config.decoding, name)
        if name not in known and value != getattr(DecodingConfig(), name):
            return f"decoding.{name}={value}"
    return ""


def warn_if_lacking(trained: TrainedModel, program: str, known: Collection[str] = ()) -> None:
    """Warn if a program's translations will differ from ptenmt's; arguments as for ``lacking``."""
    if missing := lacking(trained.config, known):
        advice = "; better train on plain text, as configs/files.yaml does"
        trained.on_warning(
            f"{program} has no {missing}: translations will be worse{advice if 'data.' in missing else ''}"
        )


def never_generated(trained: TrainedModel) -> list[int]:
    """The ids of the target's vocabulary that search never generates."""
    ids = set(range(trained.tokenizers.target.vocabulary_size))
    return sorted(set(suppressed_ids(trained.config.tokenizer)) | ids - set(trained.output_ids or ids))
