"""What a block is made of beside attention: the feed-forward layer, and the residual with its norm.

Section numbers are those of Vaswani et al. 2017; letters as in attention.py.
"""

from typing import Any, Literal

import keras
from keras import ops

from ptenmt.model.building import build_once
from ptenmt.model.choices import check_choice
from ptenmt.model.dense import Dense
from ptenmt.model.dropout import Dropout
from ptenmt.model.positions import LAYER_NORM_EPSILON
from ptenmt.model.shapes import check_shape

Activation = Literal["relu", "gelu", "swiglu"]
NormPosition = Literal["post", "pre"]


@keras.saving.register_keras_serializable(package="ptenmt")
class FeedForward(keras.layers.Layer):
    """Two dense layers with an activation between them, at every position alike (section 3.3).

    ``swiglu`` has a third one: ``contract(swish(gate(x)) · expand(x))`` (Shazeer 2020).

    Args:
        d_model: D, width of the output.
        d_ff: F, width in between, with and without a gate.
        activation: ``relu``; ``gelu``, the exact one, with the error function; or ``swiglu``.
        dropout: Share of the activations in between that are dropped while training.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.

    Raises:
        ValueError: There is no such activation.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Activation = "relu",
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        check_choice("activation", activation, Activation)
        self.d_model = d_model
        self.d_ff = d_ff
        self.activation = activation
        function = {"relu": ops.relu, "gelu": _exact_gelu, "swiglu": None}[activation]
        self.expand = Dense(d_ff, activation=function, name="expand", dtype=self.dtype_policy)
        self.gate = None
        if activation == "swiglu":
            self.gate = Dense(d_ff, activation="silu", name="gate", dtype=self.dtype_policy)
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.contract = Dense(d_model, name="contract", dtype=self.dtype_policy)

    def build(self, inputs_shape: Any) -> None:
        """Make the weights of all dense layers."""
        build_once(self.expand, inputs_shape)
        if self.gate is not None:
            build_once(self.gate, inputs_shape)
        build_once(self.contract, (*inputs_shape[:-1], self.d_ff))

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Map [B, T, D] to [B, T, D]."""
        hidden = self.expand(inputs)  # -> [B, T, F]
        if self.gate is not None:
            hidden = self.gate(inputs) * hidden
        return self.contract(self.dropout(hidden, training=training))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        own = ("d_model", "d_ff", "activation")
        values = {name: getattr(self, name) for name in own}
        return super().get_config() | values | {"dropout": self.dropout.rate}


def _exact_gelu(inputs: Any) -> Any:
    return ops.gelu(inputs, approximate=False)


@keras.saving.register_keras_serializable(package="ptenmt")
class AddAndNorm(keras.layers.Layer):
    """The residual around a sub-layer, with its dropout and layer norm (sections 3.1, 5.4).

    ``post``, as in the paper: ``LayerNorm(x + Dropout(sublayer(x)))``. ``pre``, which trains deep stacks
    more easily (Xiong et al. 2020): ``x + Dropout(sublayer(LayerNorm(x)))``. For both::

        add_and_norm(x, sublayer(add_and_norm.before(x)))

    Args:
        dropout: Rate.
        norm: Where the layer norm stands.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.

    Raises:
        ValueError: There is no such place.
    """

    def __init__(self, dropout: float = 0.0, *, norm: NormPosition = "post", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        check_choice("norm", norm, NormPosition)
        self.position = norm
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = layer_norm(dtype=self.dtype_policy)

    def build(self, inputs_shape: Any) -> None:
        """Make the norm's weights, which ``before`` may need ahead of ``call``."""
        build_once(self.norm, inputs_shape)
        width = inputs_shape[-1]
        self.input_spec = keras.layers.InputSpec(axes={-1: width}, name=f"inputs [B, T, D={width}]")

    def before(self, inputs: Any) -> Any:
        """What the sub-layer is to read of the inputs [B, T, D]."""
        if self.position == "post":
            return inputs
        build_once(self, tuple(inputs.shape))
        return self.norm(inputs)

    def call(self, inputs: Any, sublayer_output: Any, training: bool = False) -> Any:
        """Join a sub-layer's input (before its norm) and output, both [B, T, D].

        Raises:
            ValueError: They differ in shape.
        """
        beside = f"{self.name}: beside inputs of shape {tuple(inputs.shape)} a sub-layer's output"
        check_shape(beside, sublayer_output, tuple(inputs.shape))
        joined = inputs + self.dropout(sublayer_output, training=training)
        return joined if self.position == "pre" else self.norm(joined)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return super().get_config() | {"dropout": self.dropout.rate, "norm": self.position}


def layer_norm(dtype: Any) -> keras.layers.LayerNormalization:
    """A layer norm named ``norm``; its statistics are taken in float32 whatever the precision."""
    return keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, name="norm", dtype=dtype)
