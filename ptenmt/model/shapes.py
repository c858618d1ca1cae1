"""What inputs must look like, said before a backend stumbles over them."""

from collections.abc import Sequence
from typing import Any


def check_shape(name: str, tensor: Any, axes: Sequence[Any]) -> None:
    """Refuse a tensor of another shape, as far as sizes are known yet.

    Keras checks what a layer is called on against its ``input_spec``; this is for everything else.

    Args:
        name: What the tensor is, and whose.
        tensor: The tensor.
        axes: Its axes: the size that one must have, or the letter of one that may have any.

    Raises:
        ValueError: It has more or fewer axes, or one of another size.
    """
    if getattr(tensor.shape, "rank", len(axes)) is None:
        return
    shape = tuple(tensor.shape)
    sizes = [pair for pair in zip(shape, axes, strict=False) if all(isinstance(size, int) for size in pair)]
    if len(shape) != len(axes) or any(size != wanted for size, wanted in sizes):
        raise ValueError(f"{name} of shape {shape} must be [{', '.join(map(str, axes))}]")
