"""ptenmt trains, inspects and runs a Portuguese→English Transformer.

The public API is ``__all__``, which docs/python.md describes. Each name is imported when it is first used, so
that importing ptenmt is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ptenmt._version import __version__ as __version__

if TYPE_CHECKING:  # "as" marks them as public for type checkers
    from ptenmt.config.loading import load_config as load_config
    from ptenmt.errors import PtenmtError as PtenmtError
    from ptenmt.evaluation import (
        EvaluationFiles as EvaluationFiles,
        LoadOptions as LoadOptions,
        evaluate as evaluate,
    )
    from ptenmt.evaluation.comparison import compare as compare
    from ptenmt.export.packaging import export_model as export_model
    from ptenmt.inspection.alignment import word_alignment as word_alignment
    from ptenmt.inspection.attention import attention_weights as attention_weights
    from ptenmt.inspection.drawing import (
        alignment_figure as alignment_figure,
        attention_figure as attention_figure,
        embeddings_figure as embeddings_figure,
        history_figure as history_figure,
        positions_figure as positions_figure,
        probabilities_figure as probabilities_figure,
        save_figure as save_figure,
        schedule_figure as schedule_figure,
        tokens_figure as tokens_figure,
    )
    from ptenmt.inspection.embeddings import nearest_neighbours as nearest_neighbours
    from ptenmt.inspection.inspector import Inspector as Inspector
    from ptenmt.inspection.tokens import token_probabilities as token_probabilities
    from ptenmt.training.averaging import average as average
    from ptenmt.training.distillation import distil as distil
    from ptenmt.training.session import train as train
    from ptenmt.translation import Translator as Translator
    from ptenmt.translation.completion import Completer as Completer
    from ptenmt.translation.markup import move_markup as move_markup
    from ptenmt.translation.scoring import with_confidence as with_confidence
    from ptenmt.translation.single_sentence import (
        align as align,
        next_token_alternatives as next_token_alternatives,
    )

_OF_A_RUN = ("alignment", "attention", "embeddings", "probabilities", "tokens")
_OTHERS = ("history", "positions", "schedule", "save")
_MODULES = {
    "average": "ptenmt.training.averaging",
    "Completer": "ptenmt.translation.completion",
    "load_config": "ptenmt.config.loading",
    "PtenmtError": "ptenmt.errors",
    **dict.fromkeys(("EvaluationFiles", "LoadOptions", "evaluate"), "ptenmt.evaluation"),
    "compare": "ptenmt.evaluation.comparison",
    "export_model": "ptenmt.export.packaging",
    "word_alignment": "ptenmt.inspection.alignment",
    "attention_weights": "ptenmt.inspection.attention",
    **{f"{name}_figure": "ptenmt.inspection.drawing" for name in (*_OF_A_RUN, *_OTHERS)},
    "nearest_neighbours": "ptenmt.inspection.embeddings",
    "Inspector": "ptenmt.inspection.inspector",
    "token_probabilities": "ptenmt.inspection.tokens",
    "train": "ptenmt.training.session",
    "distil": "ptenmt.training.distillation",
    "Translator": "ptenmt.translation",
    "move_markup": "ptenmt.translation.markup",
    "with_confidence": "ptenmt.translation.scoring",
    **dict.fromkeys(("align", "next_token_alternatives"), "ptenmt.translation.single_sentence"),
}
__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
