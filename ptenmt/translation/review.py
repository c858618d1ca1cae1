"""Re-decoding of translations that loop, reach the length limit, or have entities."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import UNK, TokenizerPair
from ptenmt.translation.batching import PendingSegment, Search
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.postprocessing import Postprocessor
from ptenmt.translation.segmentation import Segment, TextEncoder

_LONGEST_PERIOD = 16
_SHORT_PERIOD, _MIN_REPEATS = 3, 2
"""An n-gram of one, two or three tokens is repeated at least twice in a loop; a longer one once."""
_TIMES_SOURCE = 1.5
_LOOP_IN_WORD = re.compile(r"([^\W\d_]{2,8})\1{2}")
"""Letters three times in a row, such as stototot."""


class Reviewer:
    """Accepts the hypotheses of a segment, or asks for another search.

    Args:
        encoder: Encodes the segments.
        postprocessor: Decodes hypotheses.
        tokenizers: Of both languages.
        options: The options of the search.
        copies_unknown: Whether hypotheses with [UNK] need attention. Only those sentences are translated
            again, since attention costs much more than a second search.
        avoids_loops: Whether the engine supports ``no_repeat_ngram``.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        postprocessor: Postprocessor,
        tokenizers: TokenizerPair,
        options: DecodingConfig,
        *,
        copies_unknown: bool,
        avoids_loops: bool,
    ) -> None:
        self._encoder, self._postprocessor = encoder, postprocessor
        self._source, self._target = tokenizers.source, tokenizers.target
        self._options = options
        self._copies_unknown = copies_unknown
        self._avoids_loops = avoids_loops and options.safeguards

    def review(
        self, pending: PendingSegment, hypotheses: list[Hypothesis], *, has_prefix: bool
    ) -> PendingSegment | tuple[Segment, list[Hypothesis]]:
        """The segment as it is to be translated again; or as it was, and its accepted hypotheses.

        With a target prefix, which may have entities, and with sampling, entities are removed only if the
        hypotheses lost one.
        """
        needs_attention = self._copies_unknown and not pending.search.with_attention
        if needs_attention and any(UNK in hypothesis.ids for hypothesis in hypotheses):
            return pending._replace(search=pending.search._replace(with_attention=True))
        segment = pending.segment
        if not self._options.safeguards:
            return segment, hypotheses[: self._options.num_hypotheses]
        if segment.constraints is not None:
            hypotheses = sorted(hypotheses, key=lambda each: not self._is_satisfied(segment, each))
            hypotheses = hypotheses[: self._options.num_hypotheses]
        if pending.first_hypotheses:
            before, now = (
                self._errors(segment, pending.first_hypotheses[0]),
                self._errors(segment, hypotheses[0]),
            )
            hypotheses = pending.first_hypotheses if before < now else hypotheses
        elif self._avoids_loops:
            loops, is_truncated, _ = self._errors(segment, hypotheses[0])
            if loops or is_truncated:
                # Without repeated bigrams there is no loop, but in long sentences some are usual.
                search = pending.search._replace(no_repeat_ngram=2 if loops else 3)
                return pending._replace(search=search, first_hypotheses=hypotheses)
        is_retried = segment.is_retried or pending.first_hypotheses is not None
        segment = replace(segment, is_retried=True) if is_retried else segment
        again = self._without_entities(pending, segment, hypotheses, is_kept=has_prefix)
        return again or (segment, hypotheses)

    def _without_entities(
        self, pending: PendingSegment, segment: Segment, hypotheses: list[Hypothesis], *, is_kept: bool
    ) -> PendingSegment | tuple[Segment, list[Hypothesis]] | None:
        """Search without entities if they were lost, or if they are not to be kept; then take the better."""
        if pending.is_without_entities:
            found = pending.with_entities
            if found and self._rank(found[0], found[1][0]) <= self._rank(segment, hypotheses[0]):
                return found
            if found:  # greedy search, which is fast, found a better translation
                search = Search(with_attention=True)
                return pending._replace(search=search, first_hypotheses=None, with_entities=None)
            return None
        constraints, is_satisfied = segment.constraints, self._is_satisfied(segment, hypotheses[0])
        is_kept = is_kept or self._options.is_sampled
        if constraints is None or (is_satisfied and (is_kept or not constraints.has_entities)):
            return None
        return PendingSegment(
            pending.row,
            pending.number,
            replace(self._encoder.without_entities(segment), is_retried=not is_satisfied),
            Search(with_attention=not is_satisfied, with_scores=True, is_greedy=is_satisfied),
            is_without_entities=True,
            with_entities=(segment, hypotheses) if is_satisfied else None,
        )

    def _is_satisfied(self, segment: Segment, hypothesis: Hypothesis) -> bool:
        constraints = segment.constraints
        return constraints is None or constraints.is_satisfied(self._postprocessor.unconstrained(hypothesis))

    def _rank(self, segment: Segment, hypothesis: Hypothesis) -> tuple[bool, bool, float]:
        """The less the better: errors, then the negative mean log-probability of a token."""
        num_tokens = max(len(hypothesis.ids) - 1, 1)
        mean = hypothesis.score * num_tokens ** (self._options.length_penalty - 1)
        return *self._errors(segment, hypothesis)[:2], -mean

    def _errors(self, segment: Segment, hypothesis: Hypothesis) -> tuple[bool, bool, int]:
        """Whether it loops, whether the length limit truncated it, and its length: the less the better."""
        is_truncated = not hypothesis.is_complete and self._options.max_length is None
        repeats = _repeats(self._target.pieces(hypothesis.ids)) if _may_loop(hypothesis.ids) else 0.0
        loops = repeats >= 1 and repeats > _TIMES_SOURCE * _repeats(self._source.pieces(segment.ids))
        if not loops and _LOOP_IN_WORD.search("".join(self._target.pieces(hypothesis.ids)).replace("##", "")):
            loops = not _LOOP_IN_WORD.search(segment.text)
        return loops, is_truncated, len(hypothesis.ids)


def _may_loop(ids: Sequence[int]) -> bool:
    """Whether two tokens stand next to each other twice, as in every loop."""
    return len(set(pairwise(ids))) < len(ids) - 1


def _repeats(tokens: Sequence[str]) -> float:
    """How often an n-gram follows itself, as a multiple of what makes a loop; digits may repeat more."""
    most = 0.0
    for period in range(1, min(_LONGEST_PERIOD, len(tokens) // 2) + 1):
        least = _MIN_REPEATS if period <= _SHORT_PERIOD else 1
        num_equal = 0
        for place, token in enumerate(tokens[period:]):
            num_equal = num_equal + 1 if token == tokens[place] else 0
            repeats = num_equal // period / least
            if repeats > most:
                has_letters = any(map(str.isalpha, "".join(tokens[place : place + period])))
                most = max(most, repeats if has_letters else repeats / 4)
    return most
