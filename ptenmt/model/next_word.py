"""A model of which word comes next: an encoder, and from what it makes of the words a prediction.

Letters and the masks' convention (True = may attend) as in attention.py.
"""

from typing import Any

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.attention import padding_mask
from ptenmt.model.building import build_once
from ptenmt.model.dense import Dense
from ptenmt.model.embedding import TiedProjection
from ptenmt.model.stacks import Encoder, OfConfig, decoder_mask
from ptenmt.model.transformer import Transformer


@keras.saving.register_keras_serializable(package="ptenmt")
class NextWordModel(OfConfig, keras.Model):
    """Predicts the word after a window; id 0 is padding, not attended to and no part of the mean.

    ``config.prediction`` is ``pooled``: every word sees every other, and the mean over the window predicts
    the word after it; or ``causal``: every word sees those up to itself, and predicts the one after itself.

    Args:
        config: Sizes and options.
        vocabulary_size: V.
        name: The first part of every weight's path.
        **kwargs: ``dtype``, as for any Keras model.
    """

    sizes = ("vocabulary_size",)

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, name: str = "next_word", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.input_spec = [keras.layers.InputSpec(ndim=2) for _ in range(2)]
        self.config = config
        self.vocabulary_size = vocabulary_size
        self.encoder = Encoder(config, vocabulary_size, name="encoder", dtype=self.dtype_policy)
        if config.tied_embeddings == "all":
            table = self.encoder.embedding.embedding
            self.final = TiedProjection(table, name="final", dtype=self.dtype_policy)
        else:
            self.final = Dense(vocabulary_size, name="final", dtype=self.dtype_policy)

    def build(self, inputs_shape: Any) -> None:
        """Make all weights."""
        words_shape, _ = inputs_shape
        build_once(self.encoder, words_shape)
        build_once(self.final, (*words_shape, self.config.d_model))

    def call(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Predict (see ``hidden``): logits [B, 1, V], or [B, W, V] where every word predicts."""
        return self.final(self.hidden(inputs, training=training))

    def hidden(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """What ``final`` makes the logits of.

        Args:
            inputs: Ids of the words [B, W]; and what a decoder would be given, which is of no use here.
            training: Whether dropout is on.

        Returns:
            [B, 1, D], or [B, W, D] where every word predicts.
        """
        self.build_weights()
        words, _ = inputs
        encoded = self.encoder(words, mask=self._mask(words), training=training)
        if self.config.prediction == "causal":
            return encoded
        is_real = ops.cast(ops.not_equal(words, 0), encoded.dtype)[..., None]  # -> [B, W, 1]
        count = ops.maximum(ops.sum(is_real, axis=1, keepdims=True), 1)
        return ops.sum(encoded * is_real, axis=1, keepdims=True) / count

    def attention(self, words: Any) -> dict[str, Any]:
        """Who attends to whom while words [B, W] are read: [B, H, W, W] by ``encoder_layer1`` and so on."""
        self.build_weights()
        return self.encoder.attention(words, self._mask(words))

    def build_weights(self) -> None:
        """Create every weight now instead of at the first use."""
        build_once(self, ((None, None), (None, None)))

    def _mask(self, words: Any) -> Any:
        return decoder_mask(words) if self.config.prediction == "causal" else padding_mask(words)


TrainableModel = Transformer | NextWordModel
"""A model that predicts ``target[:, 1:]`` from ``(source, target[:, :-1])``."""
