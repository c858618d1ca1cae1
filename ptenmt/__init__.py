"""ptenmt trains, inspects and runs a Portuguese→English Transformer.

The public API; each name is imported when it is first used, so that importing ptenmt is instant:

- ``load_config(name, overrides)``: a checked config from a YAML file or preset
- ``train(config, run)``: train a run, or resume it
- ``evaluate(run, split)``: scores of a run or of finished translations, and where they fail;
  ``EvaluationFiles`` names other texts, ``LoadOptions`` the weights, the engine and decoding options
- ``sweep(run)``: which beam size and length penalty a run translates best with
- ``compare(runs)``: runs side by side
- ``average(run)``: a run that is the mean of another's last checkpoints or best models
- ``export_model(run)``: the model in the form of another engine
- ``Translator.load(run)``: translate with a run
- ``Completer.load(run)``: predict with a run which words come next
- ``Inspector(run)``: look inside a run. With a sentence or words, ``attention_weights``, ``word_alignment``,
  ``token_probabilities`` and ``nearest_neighbours`` return data; ``attention_figure``, ``alignment_figure``,
  ``probabilities_figure``, ``tokens_figure`` and ``embeddings_figure`` return matplotlib figures
- ``positions_figure``, ``schedule_figure``, ``history_figure``: figures that need no model
- ``save_figure(figure, file)``: write a figure as PNG, SVG or PDF
- ``PtenmtError``: the base of every error that a user can fix
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptenmt.averaging import average
    from ptenmt.completion import Completer
    from ptenmt.config.loading import load_config
    from ptenmt.errors import PtenmtError
    from ptenmt.evaluation import EvaluationFiles, LoadOptions, evaluate, sweep
    from ptenmt.evaluation.comparison import compare
    from ptenmt.export.packaging import export_model
    from ptenmt.inspection.alignment import word_alignment
    from ptenmt.inspection.attention import attention_weights
    from ptenmt.inspection.drawing import (
        alignment_figure,
        attention_figure,
        embeddings_figure,
        history_figure,
        positions_figure,
        probabilities_figure,
        save_figure,
        schedule_figure,
        tokens_figure,
    )
    from ptenmt.inspection.embeddings import nearest_neighbours
    from ptenmt.inspection.inspector import Inspector
    from ptenmt.inspection.probabilities import token_probabilities
    from ptenmt.training import train
    from ptenmt.translation import Translator

__version__ = "0.1.0"
__all__ = [
    "Completer",
    "EvaluationFiles",
    "Inspector",
    "LoadOptions",
    "PtenmtError",
    "Translator",
    "alignment_figure",
    "attention_figure",
    "attention_weights",
    "average",
    "compare",
    "embeddings_figure",
    "evaluate",
    "export_model",
    "history_figure",
    "load_config",
    "nearest_neighbours",
    "positions_figure",
    "probabilities_figure",
    "save_figure",
    "schedule_figure",
    "sweep",
    "token_probabilities",
    "tokens_figure",
    "train",
    "word_alignment",
]

_MODULES = {
    "Completer": "ptenmt.completion",
    "EvaluationFiles": "ptenmt.evaluation",
    "Inspector": "ptenmt.inspection.inspector",
    "LoadOptions": "ptenmt.evaluation",
    "PtenmtError": "ptenmt.errors",
    "Translator": "ptenmt.translation",
    "alignment_figure": "ptenmt.inspection.drawing",
    "attention_figure": "ptenmt.inspection.drawing",
    "attention_weights": "ptenmt.inspection.attention",
    "average": "ptenmt.averaging",
    "compare": "ptenmt.evaluation.comparison",
    "embeddings_figure": "ptenmt.inspection.drawing",
    "evaluate": "ptenmt.evaluation",
    "export_model": "ptenmt.export.packaging",
    "history_figure": "ptenmt.inspection.drawing",
    "load_config": "ptenmt.config.loading",
    "nearest_neighbours": "ptenmt.inspection.embeddings",
    "positions_figure": "ptenmt.inspection.drawing",
    "probabilities_figure": "ptenmt.inspection.drawing",
    "save_figure": "ptenmt.inspection.drawing",
    "schedule_figure": "ptenmt.inspection.drawing",
    "sweep": "ptenmt.evaluation",
    "token_probabilities": "ptenmt.inspection.probabilities",
    "tokens_figure": "ptenmt.inspection.drawing",
    "train": "ptenmt.training",
    "word_alignment": "ptenmt.inspection.alignment",
}


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
