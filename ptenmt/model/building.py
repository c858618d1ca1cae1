"""When a layer's weights are made: once, at its first use, whichever of its methods that is."""

from typing import Any

import keras


def build_once(layer: keras.layers.Layer, *shapes: Any) -> None:
    """Make a layer's weights unless it has them: Keras refuses a second ``build`` of a finished layer.

    Keras builds a layer that is called; whoever uses one by another method than ``call`` begins with this. A
    layer that is built of others uses it for each of them, as any may have been used on its own before.

    Args:
        layer: The layer.
        *shapes: What its ``build`` takes.
    """
    if not layer.built:
        layer.build(*shapes)
