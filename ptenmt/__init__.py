"""ptenmt trains, inspects and runs a Portuguese→English Transformer.

The public API; each name is imported when it is first used, so that importing ptenmt is instant:

- ``load_config(name, overrides)``: a checked config from a YAML file or preset
- ``train(config, run)``: train a run, or resume it
- ``evaluate(run, split)``: scores of a run or of finished translations, and where they fail
- ``sweep(run)``: which beam size and length penalty a run translates best with
- ``average(run)``: a run that is the mean of another's last checkpoints or best models
- ``export_model(run)``: the model in the form of another engine
- ``Translator.load(run)``: translate with a run
- ``Inspector(run)``: look into a run; ``attention_figure``, ``alignment_figure`` and ``probabilities_figure`` take
  one with a sentence, and give matplotlib figures
- ``PtenmtError``: the base of every error that a user can mend
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptenmt.config.files import load_config
    from ptenmt.errors import PtenmtError
    from ptenmt.evaluation import evaluate, sweep
    from ptenmt.export.model import export_model
    from ptenmt.inspection.alignment import alignment_figure
    from ptenmt.inspection.attention import attention_figure
    from ptenmt.inspection.inspector import Inspector
    from ptenmt.inspection.probabilities import probabilities_figure
    from ptenmt.training import train
    from ptenmt.training.averaging import average
    from ptenmt.translation import Translator

__version__ = "0.1.0"
__all__ = [
    "Inspector",
    "PtenmtError",
    "Translator",
    "alignment_figure",
    "attention_figure",
    "average",
    "evaluate",
    "export_model",
    "load_config",
    "probabilities_figure",
    "sweep",
    "train",
]

_MODULES = {
    "Inspector": "ptenmt.inspection.inspector",
    "PtenmtError": "ptenmt.errors",
    "Translator": "ptenmt.translation",
    "alignment_figure": "ptenmt.inspection.alignment",
    "attention_figure": "ptenmt.inspection.attention",
    "average": "ptenmt.training.averaging",
    "evaluate": "ptenmt.evaluation",
    "export_model": "ptenmt.export.model",
    "load_config": "ptenmt.config.files",
    "probabilities_figure": "ptenmt.inspection.probabilities",
    "sweep": "ptenmt.evaluation",
    "train": "ptenmt.training",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
