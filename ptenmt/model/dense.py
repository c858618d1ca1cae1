"""A dense layer that TensorFlow computes in one go."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="ptenmt")
class Dense(keras.layers.Dense):
    """Keras' dense layer, on rows: inputs [..., D] are reshaped to two axes and back.

    Keras would contract three axes with ``tensordot``, a dozen small operations around a product that
    TensorFlow can then not fuse with the bias and the activation.
    """

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Map [..., D] to [..., units]."""
        *outer, width = ops.shape(inputs)
        outputs = super().call(ops.reshape(inputs, (-1, width)), training=training)
        return ops.reshape(outputs, (*outer, self.units))
