"""What a loss says of a model's choice among words."""

import math

_MOST = 20
"""Nats a token; exp(20) is half a milliard words."""


def perplexity(loss: float | None) -> float | None:
    """The exponential of a loss in nats a token: among how many equally likely ones a model wavers.

    None where the loss is no number, or above 20: nobody could read it, and beyond 709 no float holds it.
    """
    return None if loss is None or not loss < _MOST else math.exp(loss)
