"""Training pairs whose sentences are cut into other sub-words in every epoch."""

from collections.abc import Sequence

import numpy as np

from ptenmt.data.batches import Batch, EncodedPairs
from ptenmt.data.ragged import Ragged, RaggedIds
from ptenmt.data.texts import TextPairs
from ptenmt.tokenizers import END, START, TokenizerPair
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_MEASURED_PAIRS = 1_000
_SHARE_THAT_FITS = 0.9


class SampledPairs:
    """Training pairs that are tokenised when a batch asks for them, each time another way.

    Other pieces than the best are more pieces, so batches are planned for longer sentences; by how much is
    measured. A sentence that still comes out longer than its batch has room for keeps its best pieces, so
    that no batch is larger than planned.

    Args:
        encoded: The pairs in their best pieces.
        texts: The same pairs.
        tokenizers: Both of SentencePiece.
        strength: The option ``tokenizer.sampling``.
        max_positions: The most ids a sequence may have.
    """

    def __init__(
        self,
        encoded: EncodedPairs,
        texts: TextPairs,
        tokenizers: TokenizerPair,
        strength: float,
        max_positions: int,
    ) -> None:
        self._encoded = encoded
        self._texts = texts
        self._tokenizers = tokenizers
        self._strength = strength
        self._max_positions = max_positions
        self._growth = self._measured_growth()

    def __len__(self) -> int:
        return len(self._encoded)

    def longest(self) -> np.ndarray:
        """The length to plan for, of the longer side of each pair, int32 [pairs]."""
        return self._planned(self._encoded.longest())

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:
        """Some of the pairs as ids.

        Args:
            rows: Which.
            width: To which both sides are padded; None pads each side to its own longest sentence.
            seed: What their pieces follow from, together with the pairs.
        """
        drawn = self._draw(rows, seed)
        stored = rows if self._encoded.rows is None else self._encoded.rows[rows]
        best = (self._encoded.source, self._encoded.target)
        limit = width or int(self._planned(np.maximum(*(side.lengths[stored] for side in best))).max())
        source, target = (
            _within(limit, ids, pieces, stored) for ids, pieces in zip(drawn, best, strict=True)
        )
        every = np.arange(len(rows))
        return source.padded(every, width), target.padded(every, width)

    def _planned(self, longest: np.ndarray) -> np.ndarray:
        """The lengths to plan for where the best pieces are so many, int32."""
        grown = np.ceil(longest * np.float32(self._growth)).astype(np.int32)
        planned: np.ndarray = np.minimum(grown, self._max_positions)
        return planned

    def _draw(self, rows: np.ndarray, seed: Sequence[int]) -> list[list[list[int]]]:
        """Random pieces of the source sentences, and of the target sentences."""
        pairs = [self._texts[row] for row in rows.tolist()]
        tokenizers = (self._tokenizers.source, self._tokenizers.target)
        sides = []
        for side, (tokenizer, texts) in enumerate(zip(tokenizers, zip(*pairs, strict=True), strict=True)):
            assert isinstance(tokenizer, SentencePieceTokenizer)
            sampled = tokenizer.sample(texts, self._strength, (*seed, side))
            sides.append([[START, *ids, END] for ids in sampled])
        return sides

    def _measured_growth(self) -> float:
        """The longer sampled side over the longer side, as it is for all but a few pairs."""
        number = min(_MEASURED_PAIRS, len(self))
        rows = np.arange(number) * len(self) // number
        drawn = np.array([[len(ids) for ids in side] for side in self._draw(rows, (0,))])
        growth = drawn.max(axis=0) / self._encoded.longest()[rows]
        return max(1.0, float(np.quantile(growth, _SHARE_THAT_FITS)))


def _within(limit: int, drawn: list[list[int]], best: Ragged, rows: np.ndarray) -> RaggedIds:
    """The drawn ids where they are not too long, else the best ones."""
    return RaggedIds(
        ids if len(ids) <= limit else best[row].tolist()
        for ids, row in zip(drawn, rows.tolist(), strict=True)
    )
