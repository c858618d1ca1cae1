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
    from ptenmt.inspection.alignment import (
        alignment_panel as alignment_panel,
        attention_panels as attention_panels,
        attention_weights as attention_weights,
        word_alignment as word_alignment,
    )
    from ptenmt.inspection.drawing import draw as draw, save_figure as save_figure
    from ptenmt.inspection.figures import (
        history_plots as history_plots,
        positions_map as positions_map,
        schedule_plot as schedule_plot,
    )
    from ptenmt.inspection.inspector import Inspector as Inspector, token_panels as token_panels
    from ptenmt.training.averaging import average as average
    from ptenmt.training.distillation import distil as distil
    from ptenmt.training.session import train as train
    from ptenmt.translation import Translator as Translator
    from ptenmt.translation.completion import Completer as Completer
    from ptenmt.translation.markup import move_markup as move_markup
    from ptenmt.translation.single_sentence import (
        align as align,
        next_token_alternatives as next_token_alternatives,
    )

_NAMES = {
    "ptenmt.config.loading": "load_config",
    "ptenmt.errors": "PtenmtError",
    "ptenmt.evaluation": "EvaluationFiles LoadOptions evaluate",
    "ptenmt.evaluation.comparison": "compare",
    "ptenmt.export.packaging": "export_model",
    "ptenmt.inspection.alignment": "alignment_panel attention_panels attention_weights word_alignment",
    "ptenmt.inspection.drawing": "draw save_figure",
    "ptenmt.inspection.figures": "history_plots positions_map schedule_plot",
    "ptenmt.inspection.inspector": "Inspector token_panels",
    "ptenmt.training.averaging": "average",
    "ptenmt.training.distillation": "distil",
    "ptenmt.training.session": "train",
    "ptenmt.translation": "Translator",
    "ptenmt.translation.completion": "Completer",
    "ptenmt.translation.markup": "move_markup",
    "ptenmt.translation.single_sentence": "align next_token_alternatives",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
