"""How likely a model finds the reference translations."""

from collections.abc import Callable
from typing import Any

from ptenmt.model import TokenSums, TrainableModel, real_positions, token_sums


def compile_token_sums(model: TrainableModel) -> Callable[[Any, Any], TokenSums]:
    """Compile the scoring of a batch: each label is predicted from the right tokens before it.

    Args:
        model: Built; its weights may go on changing.

    Returns:
        A function of source ids [B, S] and target ids [B, T + 1] that gives the sums over real labels.
    """
    import tensorflow as tf

    ids = tf.TensorSpec([None, None], tf.int64)

    @tf.function(input_signature=[ids, ids])
    def score(source: Any, target: Any) -> TokenSums:
        hidden, labels = real_positions(model.hidden((source, target[:, :-1])), target[:, 1:])
        return token_sums(model.final(hidden), labels)

    return score
