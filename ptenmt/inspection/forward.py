"""The whole Transformer in NumPy: one pass over sentences and their translations, for looking inside.

It computes what the model in ``ptenmt/model`` does (Vaswani et al. 2017, and every option of the section
``model``), on the same weights, without Keras. Shapes' letters and masks are as in ``model/attention.py``.
"""

import math
from collections.abc import Mapping

import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.positions import positional_encoding

Arrays = dict[str, np.ndarray]
_HIDDEN_SCORE = np.float32(-1e9)
_LAYER_NORM_EPSILON = 1e-6
_BLOCKS = {"self_attention": "block1", "cross_attention": "block2"}
_erf = np.frompyfunc(math.erf, 1, 1)


class NumpyTransformer:
    """An encoder–decoder Transformer that only reads; id 0 is padding on both sides.

    Args:
        config: Sizes and options.
        weights: float32 arrays by the Keras path of their variable: ``transformer/encoder/block1/…/kernel``.
    """

    def __init__(self, config: ModelConfig, weights: Mapping[str, np.ndarray]) -> None:
        self.config = config
        self._weights = {path.partition("/")[2]: array for path, array in weights.items()}
        self._positions = positional_encoding(config.max_positions, config.d_model)

    def encode(self, source: np.ndarray) -> np.ndarray:
        """Read source ids [B, S] -> memory [B, S, D]."""
        return self._encode(source, {})

    def logits(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Score every next token: source ids [B, S] and decoder input ids [B, T] -> [B, T, V]."""
        hidden = self._decode(source, target, {})
        if self.config.tied_embeddings == "none":
            return self._dense("final", hidden)
        return np.asarray(hidden @ self.embeddings("decoder").T + self._weights["final/bias"])

    def log_probabilities(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How likely every next token is, as natural logarithms [B, T, V]; arguments as ``logits``."""
        logits = self.logits(source, target)
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))

    def attention(self, source: np.ndarray, target: np.ndarray) -> Arrays:
        """Tell who attends to whom while target ids [B, T] are read behind source ids [B, S].

        Returns:
            float32 weights by name: ``encoder_layer{i}`` [B, H, S, S], ``decoder_layer{i}_block1``
            [B, H, T, T] (self) and ``decoder_layer{i}_block2`` [B, H, T, S] (cross), i from 1.
        """
        told: Arrays = {}
        self._decode(source, target, told)
        return told

    def embeddings(self, stack: str) -> np.ndarray:
        """The table of words [V, D] of the ``encoder`` or the ``decoder``."""
        owner = "encoder" if self.config.tied_embeddings == "all" else stack
        return self._weights[f"{owner}/embedding/tokens/embeddings"]

    def _encode(self, source: np.ndarray, told: Arrays) -> np.ndarray:
        hidden, visible = self._embed("encoder", source), _no_padding(source)
        for number in range(1, self.config.num_layers + 1):
            block = f"encoder/block{number}"
            hidden = self._attend_to(None, f"{block}/self_attention", hidden, visible, told)
            hidden = self._feed_forward(f"{block}/feed_forward", hidden)
        return self._norm("pre", "encoder/norm", hidden)

    def _decode(self, source: np.ndarray, target: np.ndarray, told: Arrays) -> np.ndarray:
        memory, in_source = self._encode(source, told), _no_padding(source)
        hidden = self._embed("decoder", target)
        earlier = np.tri(target.shape[1], dtype=bool) & _no_padding(target)  # -> [B, 1, T, T]
        for number in range(1, self.config.num_layers + 1):
            block = f"decoder/block{number}"
            hidden = self._attend_to(None, f"{block}/self_attention", hidden, earlier, told)
            hidden = self._attend_to(memory, f"{block}/cross_attention", hidden, in_source, told)
            hidden = self._feed_forward(f"{block}/feed_forward", hidden)
        return self._norm("pre", "decoder/norm", hidden)

    def _embed(self, stack: str, ids: np.ndarray) -> np.ndarray:
        """Ids [B, T] -> embeddings, times √D, plus positions [B, T, D]."""
        if ids.shape[1] > self.config.max_positions:
            raise ValueError(f"{ids.shape[1]} tokens are more than max_positions={self.config.max_positions}")
        scale = np.float32(self.config.d_model**0.5)
        return np.asarray(self.embeddings(stack)[ids] * scale + self._positions[: ids.shape[1]])

    def _attend_to(
        self, memory: np.ndarray | None, path: str, inputs: np.ndarray, visible: np.ndarray, told: Arrays
    ) -> np.ndarray:
        """``softmax(Q Kᵀ / √K) V`` in every head, and its residual; without a memory, to the inputs."""
        read = self._norm("pre", f"{path}_norm/norm", inputs)
        known = read if memory is None else memory
        queries, keys = self._heads(f"{path}/query", read), self._heads(f"{path}/key", known)
        scores = queries @ keys.swapaxes(-1, -2) / np.float32(keys.shape[-1] ** 0.5)  # -> [B, H, T, S]
        scores += _HIDDEN_SCORE * ~visible
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        told[_name(path)] = weights = powers / powers.sum(axis=-1, keepdims=True)
        attended = (weights @ self._heads(f"{path}/value", known)).swapaxes(1, 2)  # -> [B, T, H, K]
        output = self._dense(f"{path}/output", attended.reshape(*inputs.shape[:2], -1))
        return self._norm("post", f"{path}_norm/norm", inputs + output)

    def _heads(self, path: str, inputs: np.ndarray) -> np.ndarray:
        """Project [B, T, D] and cut it into heads -> [B, H, T, K]."""
        shape = (*inputs.shape[:2], self.config.num_heads, -1)
        return self._dense(path, inputs).reshape(shape).swapaxes(1, 2)

    def _feed_forward(self, path: str, inputs: np.ndarray) -> np.ndarray:
        """Two dense layers with an activation between them, or three, one of them a gate; the residual."""
        read = self._norm("pre", f"{path}_norm/norm", inputs)
        hidden = self._dense(f"{path}/expand", read)  # -> [B, T, F]
        if self.config.activation == "relu":
            hidden = np.maximum(hidden, 0)
        elif self.config.activation == "gelu":
            hidden = hidden * (1 + np.asarray(_erf(hidden / 2**0.5), dtype="f4")) / 2
        else:
            gate = self._dense(f"{path}/gate", read)
            hidden = gate / (1 + np.exp(-gate)) * hidden
        return self._norm("post", f"{path}_norm/norm", inputs + self._dense(f"{path}/contract", hidden))

    def _dense(self, path: str, inputs: np.ndarray) -> np.ndarray:
        return np.asarray(inputs @ self._weights[f"{path}/kernel"] + self._weights[f"{path}/bias"])

    def _norm(self, position: str, path: str, inputs: np.ndarray) -> np.ndarray:
        """Layer norm, if it stands here: ``pre``: x + sublayer(norm(x)); ``post``: norm(x + sublayer(x))."""
        if self.config.norm != position:
            return inputs
        centred = inputs - inputs.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _LAYER_NORM_EPSILON)
        gain, shift = self._weights[f"{path}/gamma"], self._weights[f"{path}/beta"]
        return np.asarray(centred / deviation * gain + shift)


def _no_padding(ids: np.ndarray) -> np.ndarray:
    return np.asarray(ids != 0)[:, None, None, :]  # [B, S] -> [B, 1, 1, S]


def _name(path: str) -> str:
    stack, block, sublayer = path.split("/")
    layer = f"{stack}_layer{block.removeprefix('block')}"
    return layer if stack == "encoder" else f"{layer}_{_BLOCKS[sublayer]}"
