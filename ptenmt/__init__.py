"""ptenmt trains, inspects and runs a Portuguese→English Transformer.

The public API is ``__all__``, which docs/python.md describes. Each name is imported when it is first used, so
that importing ptenmt is instant.
"""

from importlib import import_module

TYPE_CHECKING = False  # as typing's, whose import takes long enough for a Ctrl-C to hit it
if TYPE_CHECKING:  # "as" marks them as public for type checkers
    from ptenmt.averaging import average as average
    from ptenmt.completion import Completer as Completer
    from ptenmt.config.loading import load_config as load_config
    from ptenmt.errors import PtenmtError as PtenmtError
    from ptenmt.evaluation import (
        EvaluationFiles as EvaluationFiles,
        LoadOptions as LoadOptions,
        evaluate as evaluate,
        sweep as sweep,
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
    from ptenmt.inspection.probabilities import token_probabilities as token_probabilities
    from ptenmt.training import train as train
    from ptenmt.training.distillation import distil as distil
    from ptenmt.translation import Translator as Translator

__version__ = "0.1.0"
_NAMES = {
    "ptenmt.averaging": ["average"],
    "ptenmt.completion": ["Completer"],
    "ptenmt.config.loading": ["load_config"],
    "ptenmt.errors": ["PtenmtError"],
    "ptenmt.evaluation": ["EvaluationFiles", "LoadOptions", "evaluate", "sweep"],
    "ptenmt.evaluation.comparison": ["compare"],
    "ptenmt.export.packaging": ["export_model"],
    "ptenmt.inspection.alignment": ["word_alignment"],
    "ptenmt.inspection.attention": ["attention_weights"],
    "ptenmt.inspection.drawing": [
        "alignment_figure",
        "attention_figure",
        "embeddings_figure",
        "history_figure",
        "positions_figure",
        "probabilities_figure",
        "save_figure",
        "schedule_figure",
        "tokens_figure",
    ],
    "ptenmt.inspection.embeddings": ["nearest_neighbours"],
    "ptenmt.inspection.inspector": ["Inspector"],
    "ptenmt.inspection.probabilities": ["token_probabilities"],
    "ptenmt.training": ["train"],
    "ptenmt.training.distillation": ["distil"],
    "ptenmt.translation": ["Translator"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
