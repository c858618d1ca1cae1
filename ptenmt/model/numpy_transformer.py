"""The models' forward pass in NumPy: everything outside training and translation uses it.

It computes what the Keras models compute, with the same weights and every option of ``ModelConfig``, and
imports neither Keras nor TensorFlow. Letters in shape comments and the convention of masks as in layers.py;
N is the number of real labels.
"""

from collections.abc import Mapping

import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.tokenizers import END, PAD

Arrays = dict[str, np.ndarray]
MASKED_SCORE = -1e9  # added to masked scores; finite, so that a fully masked row has a finite softmax
_PROJECTED_AT_ONCE = 1024  # rows of logits in memory: 30 MB at a vocabulary of 7,000


def positional_encoding(num_positions: int, d_model: int) -> np.ndarray:
    """Interleave sines and cosines of decreasing frequency (Vaswani et al. 2017, section 3.5).

    ``PE[p, 2i] = sin(p / 10000^(2i/D))`` and ``PE[p, 2i+1] = cos(p / 10000^(2i/D))``: float32 [P, D], for
    positions p from 0, and an even D, the ``d_model``.
    """
    positions = np.arange(num_positions)[:, None]  # [P, 1]
    angles = positions / 10000.0 ** (np.arange(0, d_model, 2) / d_model)  # [P, D/2]
    interleaved = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # [P, D/2, 2]
    return interleaved.reshape(num_positions, d_model).astype("float32")


class _NumpyModel:
    """An encoder and the layers that both models are made of.

    ``weights``: float32 arrays by the path of their Keras variable: ``transformer/encoder/block1/…/kernel``.
    """

    def __init__(self, config: ModelConfig, weights: Mapping[str, np.ndarray]) -> None:
        self.config = config
        self._weights = {path.partition("/")[2]: array for path, array in weights.items()}
        self._positions = positional_encoding(config.max_positions, config.d_model)

    def embeddings(self, stack: str = "encoder") -> np.ndarray:
        """Return the embedding matrix [V, D] of the ``encoder`` or the ``decoder``."""
        owner = "encoder" if self.config.tied_embeddings == "all" else stack
        return self._weights[f"{owner}/embedding/tokens/embeddings"]

    def hidden(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the states [B, T, D] that the logits are computed from; arguments as for the Keras model."""
        raise NotImplementedError

    def project(self, hidden: np.ndarray) -> np.ndarray:
        """Map hidden states [..., D] to logits [..., V]."""
        if "final/kernel" in self._weights:
            return self._dense("final", hidden)
        return np.asarray(hidden @ self.embeddings("decoder").T + self._weights["final/bias"])

    def token_losses(self, source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Score the real labels ``target[:, 1:]`` by teacher forcing: given the correct tokens before each.

        Args:
            source: Ids [B, S].
            target: Ids [B, T + 1].

        Returns:
            The cross-entropy in nats, float32 [N], and whether the label has the highest logit, bool [N].
        """
        labels = target[:, 1:]
        real = labels != 0
        hidden, labels = self.hidden(source, target[:, :-1])[real], labels[real]  # [N, D], [N]
        losses, correct = np.empty(len(labels), "float32"), np.empty(len(labels), bool)
        for start in range(0, len(labels), _PROJECTED_AT_ONCE):
            rows = slice(start, start + _PROJECTED_AT_ONCE)
            logits, right = self.project(hidden[rows]), labels[rows, None]
            best = logits.argmax(axis=-1, keepdims=True)
            logits -= np.take_along_axis(logits, best, axis=-1)  # in place, as exp: [N, V] is large
            of_labels = np.take_along_axis(logits, right, axis=-1)[:, 0]
            losses[rows] = np.log(np.exp(logits, out=logits).sum(axis=-1)) - of_labels
            correct[rows] = (best == right)[:, 0]
        return losses, correct

    def _encode(self, ids: np.ndarray, mask: np.ndarray, attention: Arrays) -> np.ndarray:
        """Encode ids [B, S] -> [B, S, D], and add every layer's attention weights to ``attention``."""
        x = self._embed("encoder", ids)
        for i in range(1, self.config.num_encoder_layers + 1):
            block = f"encoder/block{i}"
            x, attention[f"encoder_layer{i}"] = self._attention(f"{block}/self_attention", x, None, mask)
            x = self._feed_forward(f"{block}/feed_forward", x)
        return self._norm("pre", "encoder/norm", x)

    def _embed(self, stack: str, ids: np.ndarray) -> np.ndarray:
        """Look up ids [B, T], scale by √D and add the positional encoding -> [B, T, D]."""
        if ids.shape[1] > self.config.max_positions:
            raise ValueError(f"{ids.shape[1]} tokens are more than max_positions={self.config.max_positions}")
        tokens = self.embeddings(stack)[ids]
        if self.config.positions == "none":
            return tokens
        return np.asarray(tokens * np.float32(self.config.d_model**0.5) + self._positions[: ids.shape[1]])

    def _attention(
        self, path: str, x: np.ndarray, memory: np.ndarray | None, mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Attend to a memory [B, S, D], by default to ``x`` [B, T, D] itself, and add the residual.

        Returns:
            The output [B, T, D] and the attention weights [B, H, T, S].
        """
        query = self._norm("pre", f"{path}_norm/norm", x)
        memory = query if memory is None else memory
        queries, keys = self._heads(f"{path}/query", query), self._heads(f"{path}/key", memory)
        weights = queries / np.float32(keys.shape[-1] ** 0.5) @ keys.swapaxes(-1, -2)  # [B, H, T, S]
        weights += np.float32(MASKED_SCORE) * ~mask
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        heads = (weights @ self._heads(f"{path}/value", memory)).swapaxes(1, 2)  # [B, T, H, K]
        output = self._dense(f"{path}/output", heads.reshape(*x.shape[:2], -1))
        return self._norm("post", f"{path}_norm/norm", x + output), weights

    def _heads(self, path: str, x: np.ndarray) -> np.ndarray:
        """Project [B, T, D] and split it into heads -> [B, H, T, K]."""
        shape = (*x.shape[:2], self.config.num_heads, -1)
        return self._dense(path, x).reshape(shape).swapaxes(1, 2)

    def _feed_forward(self, path: str, x: np.ndarray) -> np.ndarray:
        """Two dense layers with an activation between them, and the residual: [B, T, D] -> [B, T, D]."""
        inputs = self._norm("pre", f"{path}_norm/norm", x)
        hidden = self._dense(f"{path}/expand", inputs)  # [B, T, F]
        if self.config.activation == "relu":
            hidden = np.maximum(hidden, 0)
        elif self.config.activation == "gelu":
            hidden = hidden * (1 + _erf(hidden / np.float32(2**0.5))) / 2
        elif self.config.activation == "swish":
            hidden = hidden / (1 + np.exp(-hidden))
        else:  # swiglu
            gate = self._dense(f"{path}/gate", inputs)
            hidden = gate / (1 + np.exp(-gate)) * hidden
        return self._norm("post", f"{path}_norm/norm", x + self._dense(f"{path}/contract", hidden))

    def _dense(self, path: str, x: np.ndarray) -> np.ndarray:
        rows = x.reshape(-1, x.shape[-1])  # one large matrix product instead of B small ones
        output = rows @ self._weights[f"{path}/kernel"]
        output += self._weights[f"{path}/bias"]
        return np.asarray(output.reshape(*x.shape[:-1], -1))

    def _norm(self, position: str, path: str, x: np.ndarray) -> np.ndarray:
        """Apply a layer norm if the model has one at this position (``pre`` or ``post`` the sub-layer)."""
        if self.config.norm != position:
            return x
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        scale = np.sqrt(variance + np.float32(self.config.norm_epsilon))
        return np.asarray(centred / scale * self._weights[f"{path}/gamma"] + self._weights[f"{path}/beta"])


class NumpyTransformer(_NumpyModel):
    """The encoder–decoder ``Transformer``; arguments as for ``_NumpyModel``."""

    def logits(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Score every next token: source ids [B, S] and decoder input ids [B, T] -> float32 [B, T, V]."""
        return self.project(self.hidden(source, target))

    def attention(self, source: np.ndarray, target: np.ndarray) -> Arrays:
        """Return all attention weights of one pass over source ids [B, S] and decoder input ids [B, T].

        Returns:
            float32 weights by name: ``encoder_layer{i}`` [B, H, S, S], ``decoder_layer{i}_block1``
            [B, H, T, T] (self) and ``decoder_layer{i}_block2`` [B, H, T, S] (cross), i from 1. Marks that
            the encoder does not read have 0.
        """
        attention: Arrays = {}
        self._decode(source, target, attention)
        if self.config.source_marks != "both":
            start = (1, 0)
            for name, weights in attention.items():
                if not name.endswith("_block1"):
                    of_queries = start if name.startswith("encoder") else (0, 0)
                    attention[name] = np.pad(weights, ((0, 0), (0, 0), of_queries, start))
        return attention

    def hidden(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The decoder's output [B, T, D] for source ids [B, S] and decoder input ids [B, T]."""
        return self._decode(source, target, {})

    def _decode(self, source: np.ndarray, target: np.ndarray, attention: Arrays) -> np.ndarray:
        marks = self.config.source_marks
        if marks == "none":  # [END] becomes padding
            source = np.where(source == END, PAD, source)
        source = source if marks == "both" else source[:, 1:]
        cross_mask = _padding_mask(source)
        self_mask = np.tri(target.shape[1], dtype=bool) & _padding_mask(target)  # [B, 1, T, T]
        memory = self._encode(source, cross_mask, attention)
        x = self._embed("decoder", target)
        for i in range(1, self.config.num_decoder_layers + 1):
            block, name = f"decoder/block{i}", f"decoder_layer{i}"
            x, attention[f"{name}_block1"] = self._attention(f"{block}/self_attention", x, None, self_mask)
            cross = f"{block}/cross_attention"
            x, attention[f"{name}_block2"] = self._attention(cross, x, memory, cross_mask)
            x = self._feed_forward(f"{block}/feed_forward", x)
        return self._norm("pre", "decoder/norm", x)


class NumpyNextWord(_NumpyModel):
    """The ``NextWordModel``; arguments as for ``_NumpyModel``."""

    def logits(self, words: np.ndarray) -> np.ndarray:
        """Score every word as the one that follows words [B, W], which have no padding -> [B, V]."""
        return self.project(self.hidden(words)[:, -1])

    def attention(self, words: np.ndarray) -> Arrays:
        """Return the attention weights over words [B, W]: ``encoder_layer{i}`` [B, H, W, W], i from 1."""
        attention: Arrays = {}
        self._encode(words, self._mask(words), attention)
        return attention

    def hidden(self, source: np.ndarray, target: np.ndarray | None = None) -> np.ndarray:  # noqa: ARG002
        """Encode words [B, W] -> their mean [B, 1, D], or [B, W, D] if every word predicts the next."""
        encoded = self._encode(source, self._mask(source), {})
        if self.config.prediction == "causal":
            return encoded
        real = (source != 0)[..., None].astype(encoded.dtype)  # [B, W, 1]
        return np.asarray((encoded * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True))

    def _mask(self, words: np.ndarray) -> np.ndarray:
        mask = _padding_mask(words)
        return np.tri(words.shape[1], dtype=bool) & mask if self.config.prediction == "causal" else mask


def _padding_mask(ids: np.ndarray) -> np.ndarray:
    return np.asarray(ids != 0)[:, None, None, :]  # [B, 1, 1, S]


def _erf(x: np.ndarray) -> np.ndarray:
    """The error function to 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26), which NumPy lacks."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(coefficient)) * t
    return np.asarray(np.copysign(1 - series * np.exp(-size * size), x))
