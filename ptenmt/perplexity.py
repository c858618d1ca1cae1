"""Perplexity from cross-entropy."""

import math

_MAX_LOSS = 20.0  # nats per token; exp(20) is 5e8, and beyond 709 no float holds it


def perplexity(loss: float | None) -> float | None:
    """exp(loss), the effective branching factor; None where the loss is missing, not finite, or above 20."""
    return None if loss is None or not loss < _MAX_LOSS else math.exp(loss)
