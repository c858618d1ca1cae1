"""A next-word model in NumPy, on the weights of the Keras model: what completes texts, and is looked into."""

from collections.abc import Mapping

import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.inspection.forward import Arrays, NumpyTransformer


class NumpyNextWord:
    """Says how likely every word is to come next.

    Args:
        config: Sizes and options.
        weights: float32 arrays by the Keras path of their variable: ``next_word/encoder/block1/…/kernel``.
    """

    def __init__(self, config: ModelConfig, weights: Mapping[str, np.ndarray]) -> None:
        self.config = config
        self._encoder = NumpyTransformer(config, weights)
        self._weights = {path.partition("/")[2]: array for path, array in weights.items()}

    def logits(self, words: np.ndarray) -> np.ndarray:
        """Score every word as the one after words [B, W], none of which is padding -> [B, V]."""
        encoded = self._read(words, {})
        hidden = encoded[:, -1] if self.config.prediction == "causal" else encoded.mean(axis=1)
        tied = self.config.tied_embeddings == "all"
        table = self.embeddings().T if tied else self._weights["final/kernel"]
        return np.asarray(hidden @ table + self._weights["final/bias"])

    def embeddings(self) -> np.ndarray:
        """The table of words [V, D]."""
        return self._encoder.embeddings("encoder")

    def attention(self, words: np.ndarray) -> Arrays:
        """Who attends to whom while words [B, W] are read: [B, H, W, W] by ``encoder_layer1`` and so on."""
        told: Arrays = {}
        self._read(words, told)
        return told

    def _read(self, words: np.ndarray, told: Arrays) -> np.ndarray:
        length = words.shape[1]
        visible = np.ones((length, length), dtype=bool)
        if self.config.prediction == "causal":
            visible = np.tri(length, dtype=bool)
        return self._encoder.encode(words, visible[None, None], told)
