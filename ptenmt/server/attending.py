"""Who attends to whom: the model in NumPy, loaded when attention is first asked for."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ptenmt.errors import PtenmtError
from ptenmt.export.folders import OtherWeightsError
from ptenmt.server.refusal import Refusal

if TYPE_CHECKING:
    from ptenmt.model.numpy_transformer import NumpyTransformer

logger = logging.getLogger("ptenmt.server")

LOOK_AGAIN_SECONDS = 5.0
"""So long there are no weights if there were none: to look for some may take reading all that is there.
To make some takes about as long."""


class Attender:
    """Tells all attention, to one thread at a time.

    Args:
        load_model: Loads the model.
    """

    def __init__(self, load_model: "Callable[[], NumpyTransformer]") -> None:
        self._load_model = load_model
        self._lock = threading.Lock()  # a thread works on when its client is gone
        self._model: NumpyTransformer | None = None
        self._said = ""  # why there is none
        self._refusal, self._refused_until = "", 0.0

    def attention(self, source: Sequence[int], target: Sequence[int]) -> dict[str, list[Any]]:
        """The weights of every layer and head, rounded, by the layer's name.

        Args:
            source: S ids.
            target: T ids, as the decoder is fed with them.

        Raises:
            Refusal: The model cannot be loaded.
        """
        import numpy as np

        with self._lock:
            if self._model is None:
                self._model = self._loaded()
            weights = self._model.attention(np.array([source]), np.array([target]))
        return {name: np.round(values[0].astype(float), 4).tolist() for name, values in weights.items()}

    def _loaded(self) -> "NumpyTransformer":
        if time.monotonic() < self._refused_until:
            raise Refusal(self._refusal, 501)
        try:
            return self._load_model()
        except PtenmtError as error:
            if error.message != self._said:  # once, or requests could fill a disk
                logger.warning("attention cannot be told: %s (%s)", error.message, error.hint)
            self._said, self._refusal = error.message, _told(error)
            self._refused_until = time.monotonic() + LOOK_AGAIN_SECONDS
            raise Refusal(self._refusal, 501) from error


def _told(error: PtenmtError) -> str:
    """What clients are told, without paths."""
    if isinstance(error, OtherWeightsError):
        return "the run has other weights than this server by now: restart it, once they are exported"
    return "this server has no weights for attention: ptenmt export --format weights makes some"
