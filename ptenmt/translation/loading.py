"""Which engine translates with a run, and from which files."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ptenmt.config import Config
from ptenmt.errors import CheckpointError, PtenmtError
from ptenmt.export.ctranslate2 import CTRANSLATE2, CTranslate2Export, CTranslate2Facts, make_export
from ptenmt.export.folders import Export, Facts, Form
from ptenmt.export.limits import check_ctranslate2, why_not_ctranslate2
from ptenmt.export.origin import weights_id
from ptenmt.export.renewal import current_export
from ptenmt.export.weights import WEIGHTS, WeightsExport, WeightsFacts, make_weights
from ptenmt.runs import Choice, Run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import UNK, TokenizerPair, forbidden
from ptenmt.translation.engine import Engine

if TYPE_CHECKING:
    from ptenmt.export.specification import Weights
    from ptenmt.model import Transformer
    from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

EngineName = Literal["auto", "ctranslate2", "keras"]


@dataclass
class Loader:
    """Loads a run's model, for one engine or for both.

    Which weights are taken is settled when the first are loaded. All that follow are of the same, whatever a
    training that goes on puts in their place meanwhile.

    Args:
        run: Where it is.
        config: The run's options.
        tokenizers: Of both languages.
        choice: Which of the run's weights.
        warn: Told, in a sentence, of what is not as it should be.
        on_tensorflow: Called before TensorFlow is looked for and imported.
    """

    run: Run
    config: Config
    tokenizers: TokenizerPair
    choice: Choice
    warn: Callable[[str], None]
    on_tensorflow: Callable[[], None] = lambda: None
    origin: str | None = field(default=None, init=False)
    """Which weights were loaded, as ``weights_id`` tells it; None before the first are."""

    def settle(self) -> None:
        """Read the weights themselves, for who needs the Keras model and an engine: neither can be lost then.

        Raises:
            CheckpointError: The run has no checkpoint that can be read.
            PtenmtError: TensorFlow is not installed.
        """
        self.origin, _ = self._weights

    def engine(self, name: EngineName, *, device: str = "cpu", threads: int | None = None) -> Engine:
        """The engine of this name; ``auto`` is CTranslate2, unless it cannot express the model.

        Raises:
            RunError: The run does not translate.
            ExportError: CTranslate2 cannot express the model, or there is no export that it can use, and none
                can be made.
            CheckpointError: The run has no checkpoint that can be read.
            ConfigError: This machine has no such device.
        """
        check_task(self.run, self.config.task, "translation")
        if name == "auto" and (reason := why_not_ctranslate2(self.config.model)):
            self.warn(f"{reason}: the Keras engine translates, which is slower")
            name = "keras"
        if name == "keras":
            if device != "cpu" or threads is not None:
                self.warn(
                    "the Keras engine computes on what TensorFlow finds: device and threads are CTranslate2's"
                )
            model = self.model
            from ptenmt.translation.keras_engine import KerasEngine

            return KerasEngine(model, forbidden(self.config.tokenizer))
        return self._ctranslate2(device, threads)

    @cached_property
    def model(self) -> "Transformer":
        """The Keras model.

        Raises:
            CheckpointError: The run has no checkpoint that can be read, or a training has just replaced it.
            PtenmtError: TensorFlow is not installed.
        """
        origin, weights = self._weights
        from ptenmt.checkpoints import model_with

        return model_with(self.config.model, self.tokenizers, weights, self._file(origin))

    def weights(self) -> WeightsExport:
        """The weights as they are, from the run's export, which is renewed where it is missing or outdated.

        Raises:
            CheckpointError: The run has no checkpoint that can be read.
            ExportError: There is no export that can be read, and none can be made.
        """
        return self._current(WEIGHTS, self._make_weights)

    @cached_property
    def _weights(self) -> tuple[str, "Weights"]:
        """The run's weights, and which they are: if some were loaded before, the same."""
        self.on_tensorflow()
        if importlib.util.find_spec("tensorflow") is None:
            raise PtenmtError(
                "TensorFlow, which reads checkpoints, is not installed", "pip install 'tensorflow~=2.21.0'"
            )
        from ptenmt.checkpoints import load_weights, read_weights

        if self.origin is None or not self.run.has_weights:
            path, weights = load_weights(self.run, self.warn, self.choice)
            self.origin = weights_id(path)
            return self.origin, weights
        path = self._file(self.origin)
        if weights_id(path) != self.origin:
            raise CheckpointError(
                f"{path} is not what was loaded before", "if a training has just replaced it, try again"
            )
        return self.origin, read_weights(path)

    def _file(self, origin: str) -> Path:
        """Of weights, without its ending."""
        return self.run.path / origin.partition(":")[0]

    def _current(self, form: Form[Facts], make: Callable[[Facts | None], Export[Facts]]) -> Export[Facts]:
        """The run's export of a form, renewed if it is missing or outdated; it settles what is loaded."""
        export = current_export(self.run, self.choice, form, make, self.warn, self.origin)
        self.origin = export.facts.weights
        return export

    def _ctranslate2(self, device: str, threads: int | None) -> "CTranslate2Engine":
        """The production engine, from the run's export, which is renewed where it is missing or outdated."""
        from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

        check_ctranslate2(self.config.model)
        export = self._current(CTRANSLATE2, self._make_ctranslate2)
        engine = CTranslate2Engine(
            export,
            self.tokenizers,
            with_unknown=UNK not in forbidden(self.config.tokenizer),
            device=device,
            threads=threads,
        )
        if engine.compute_type != export.facts.quantization:
            self.warn(
                f"{device} cannot compute in {export.facts.quantization}, as the export has it: "
                f"{engine.compute_type} is used"
            )
        return engine

    def _make_ctranslate2(self, before: CTranslate2Facts | None) -> CTranslate2Export:
        origin, weights = self._weights
        quantization = "int8" if before is None else before.quantization
        return make_export(self.config.model, weights, self.tokenizers, origin, quantization)

    def _make_weights(self, _before: WeightsFacts | None) -> WeightsExport:
        origin, weights = self._weights
        return make_weights(self.config.model, weights, origin)
