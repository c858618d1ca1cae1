"""Which engine translates with a run, and from which files."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ptenmt.config import Config
from ptenmt.errors import PtenmtError
from ptenmt.export.ctranslate2 import CTRANSLATE2, CTranslate2Export, CTranslate2Facts, make_export
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


@dataclass(frozen=True)
class Loader:
    """Loads a run's model, for one engine or for both.

    Args:
        run: Where it is.
        config: The run's options.
        tokenizers: Of both languages.
        choice: Which of the run's weights.
        warn: Told, in a sentence, of what is not as it should be.
        on_tensorflow: Called before TensorFlow is imported.
    """

    run: Run
    config: Config
    tokenizers: TokenizerPair
    choice: Choice
    warn: Callable[[str], None]
    on_tensorflow: Callable[[], None] = lambda: None

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
            CheckpointError: The run has no checkpoint that can be read.
            PtenmtError: TensorFlow is not installed.
        """
        path, weights = self._weights
        from ptenmt.checkpoints import model_with

        return model_with(self.config.model, self.tokenizers, weights, path)

    def weights(self) -> WeightsExport:
        """The weights as they are, from the run's export, which is renewed where it is missing or outdated.

        Raises:
            CheckpointError: The run has no checkpoint that can be read.
            ExportError: There is no export that can be read, and none can be made.
        """
        return current_export(self.run, self.choice, WEIGHTS, self._make_weights, self.warn)

    @cached_property
    def _weights(self) -> tuple[Path, "Weights"]:
        """The run's weights, and the file that they are from."""
        if importlib.util.find_spec("tensorflow") is None:
            raise PtenmtError(
                "TensorFlow, which reads checkpoints, is not installed", "pip install 'tensorflow~=2.21.0'"
            )
        self.on_tensorflow()
        from ptenmt.checkpoints import load_weights

        return load_weights(self.run, self.warn, self.choice)

    def _ctranslate2(self, device: str, threads: int | None) -> "CTranslate2Engine":
        """The production engine, from the run's export, which is renewed where it is missing or outdated."""
        from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

        check_ctranslate2(self.config.model)
        export = current_export(self.run, self.choice, CTRANSLATE2, self._make_ctranslate2, self.warn)
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
        path, weights = self._weights
        quantization = "int8" if before is None else before.quantization
        return make_export(self.config.model, weights, self.tokenizers, weights_id(path), quantization)

    def _make_weights(self, _before: WeightsFacts | None) -> WeightsExport:
        path, weights = self._weights
        return make_weights(self.config.model, weights, weights_id(path))
