"""How likely a model finds the reference translations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptenmt.config import Config
from ptenmt.data.batches import num_batches, sorted_batches
from ptenmt.data.corpus import SentencePair
from ptenmt.data.encoding import encode_pairs
from ptenmt.evaluation.systems import Progress
from ptenmt.tokenizers import TokenizerPair

if TYPE_CHECKING:
    from ptenmt.model import TokenSums, TrainableModel


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Over the real target tokens, each predicted from the right ones before it."""

    loss: float
    """Mean cross-entropy, in nats."""
    accuracy: float
    num_shortened: int
    """Sources and targets that are longer than the model's positions: only their beginnings were read."""


def likelihood(
    model: "TrainableModel",
    tokenizers: TokenizerPair,
    pairs: Sequence[SentencePair],
    config: Config,
    show: Progress,
) -> Likelihood:
    """How likely the model finds the targets of pairs."""
    from ptenmt.model import TokenSums

    encoded, num_shortened = encode_pairs(tokenizers, pairs, config.model.max_positions)
    score = compile_token_sums(model)
    total = num_batches(encoded, config.batch.sentences)
    sums = TokenSums(0.0, 0.0, 0.0)
    for done, (source, target) in enumerate(sorted_batches(encoded, config.batch.sentences), 1):
        sums = sums.plus(score(source, target))
        show("scoring references", done, total)
    return Likelihood(
        loss=sums.loss / sums.tokens, accuracy=sums.correct / sums.tokens, num_shortened=num_shortened
    )


def compile_token_sums(model: "TrainableModel") -> Callable[[Any, Any], "TokenSums"]:
    """Compile the scoring of a batch: each label is predicted from the right tokens before it.

    Args:
        model: Built; its weights may go on changing.

    Returns:
        A function of source ids [B, S] and target ids [B, T + 1] that gives the sums over real labels.
    """
    import tensorflow as tf

    from ptenmt.model import real_positions, token_sums

    ids = tf.TensorSpec([None, None], tf.int64)

    @tf.function(input_signature=[ids, ids])
    def score(source: Any, target: Any) -> Any:
        hidden, labels = real_positions(model.hidden((source, target[:, :-1])), target[:, 1:])
        return token_sums(model.final(hidden), labels)

    return score
