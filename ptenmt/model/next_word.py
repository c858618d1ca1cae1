"""The next-word model: an encoder whose output predicts the word that follows.

Letters in shape comments and the convention of masks (True = may attend) as in layers.py.
"""

from typing import Any

import keras
from keras import ops

from ptenmt.config import ModelConfig
from ptenmt.model.layers import Dense, TiedProjection, decoder_mask, padding_mask
from ptenmt.model.transformer import Encoder, FromConfig, Transformer


@keras.saving.register_keras_serializable(package="ptenmt")
class NextWordModel(FromConfig, keras.Model):
    """Predicts the word after W words; id 0 is padding, neither attended to nor part of the mean.

    ``config.prediction`` is ``pooled``: every word attends to every other, and the mean of their states
    predicts the next word; or ``causal``: every word attends to those up to itself, and predicts the next.
    ``name`` is the first part of every weight's path.
    """

    sizes = ("vocabulary_size",)

    def __init__(
        self, config: ModelConfig, vocabulary_size: int, *, name: str = "next_word", **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.config = config
        self.vocabulary_size = vocabulary_size
        dtype = self.dtype_policy
        self.encoder = Encoder(config, vocabulary_size, name="encoder", dtype=dtype)
        self.final: keras.layers.Layer
        if config.tied_embeddings == "all":
            self.final = TiedProjection(self.encoder.embedding.embedding, name="final", dtype=dtype)
        else:
            self.final = Dense(vocabulary_size, name="final", dtype=dtype)
        self.build(((None, None), (None, None)))

    def build(self, inputs_shape: Any) -> None:
        """Create all weights."""
        words_shape, _ = inputs_shape
        self.input_spec = [keras.layers.InputSpec(ndim=2) for _ in range(2)]
        self.encoder.build(words_shape)
        self.final.build((*words_shape, self.config.d_model))

    def call(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Predict the next word: logits [B, 1, V], or [B, W, V] if every word predicts; see ``hidden``."""
        return self.final(self.hidden(inputs, training=training))

    def hidden(self, inputs: tuple[Any, Any], training: bool = False) -> Any:
        """Map words [B, W] to states [B, 1, D], or [B, W, D] if every word predicts.

        The second input, the decoder input of a ``Transformer``, is ignored.
        """
        words, _ = inputs
        encoded = self.encoder(words, self._mask(words), training=training)
        if self.config.prediction == "causal":
            return encoded
        real = ops.cast(ops.not_equal(words, 0), encoded.dtype)[..., None]  # [B, W, 1]
        count = ops.maximum(ops.sum(real, axis=1, keepdims=True), 1)
        return ops.sum(encoded * real, axis=1, keepdims=True) / count

    def _mask(self, words: Any) -> Any:
        return decoder_mask(words) if self.config.prediction == "causal" else padding_mask(words)


TrainableModel = Transformer | NextWordModel
"""A model that predicts ``target[:, 1:]`` from ``(source, target[:, :-1])``."""
