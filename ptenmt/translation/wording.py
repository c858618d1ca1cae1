"""From the ids that a search found to text."""

from collections.abc import Sequence

from ptenmt.config import Config
from ptenmt.data.text import TextPreparation, join_tokens, repair_wordpiece
from ptenmt.tokenizers import END, PAD, START, UNK, Tokenizer, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.engine import Found, Hypothesis
from ptenmt.translation.results import Alternative
from ptenmt.translation.segments import Segment, Segments

_NO_TEXT = (PAD, START, END)


class Wording:
    """Words translations as people write them.

    Args:
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._tokenizer: Tokenizer = tokenizers.target
        source = tokenizers.source
        self._source_words = source.split if isinstance(source, WordTokenizer) else None
        self._preparation = TextPreparation(config.data)
        self._language = config.data.target_language
        self._is_wordpiece = config.tokenizer.kind == "wordpiece"
        self._penalty = config.decoding.length_penalty

    def of_texts(
        self, texts: Sequence[Segments], found: Sequence[Sequence[Found]]
    ) -> list[list[Alternative]]:
        """Word all that was found for some texts.

        Args:
            texts: The texts in segments.
            found: For each text, for each of its segments, the hypotheses.

        Returns:
            The translations of each text, best first: as many as the segment with the most of them has.
        """
        pairs = [
            (segment, hypothesis)
            for text, parts in zip(texts, found, strict=True)
            for segment, hypotheses in zip(text.segments, parts, strict=True)
            for hypothesis in hypotheses
        ]
        worded = iter(self._of_hypotheses(pairs))
        return [
            self._joined(text, [[next(worded) for _ in hypotheses] for hypotheses in parts])
            for text, parts in zip(texts, found, strict=True)
        ]

    def unknown(self, text: Segments) -> list[str]:
        """The words of a text that a model of whole words has never seen, each once."""
        if self._source_words is None:
            return []
        found: dict[str, None] = {}
        for segment in text.segments:
            if UNK in segment.ids:
                # Where the positions do not suffice for the words of one sign, ids are fewer.
                words = zip(self._source_words(segment.text), segment.ids[1:-1], strict=False)
                found |= {word: None for word, id in words if id == UNK}
        return list(found)

    def _of_hypotheses(self, pairs: Sequence[tuple[Segment, Hypothesis]]) -> list[Alternative]:
        ids = [hypothesis.ids for _, hypothesis in pairs]
        raws = self._tokenizer.decode(ids)
        join = join_tokens if self._tokenizer.splits_punctuation else self._preparation.finish
        worded = []
        for (segment, hypothesis), raw in zip(pairs, raws, strict=True):
            pieces = self._tokenizer.pieces(hypothesis.ids)
            if self._source_words and UNK in hypothesis.ids:
                pieces = _with_copies(self._source_words(segment.text), hypothesis, pieces)
                shown = zip(pieces, hypothesis.ids, strict=True)
                raw = " ".join(piece for piece, token in shown if token not in _NO_TEXT)
            if self._is_wordpiece:
                raw = repair_wordpiece(raw)
            worded.append(
                Alternative(
                    text=join(raw, self._language),
                    raw=raw,
                    tokens=pieces,
                    is_complete=hypothesis.is_complete,
                    score=hypothesis.score,
                )
            )
        return worded

    def _joined(self, text: Segments, parts: Sequence[Sequence[Alternative]]) -> list[Alternative]:
        """The translations of a text from those of its segments."""
        if len(parts) == 1 and not (text.segments[0].before or text.after):
            return list(parts[0])
        count = max(map(len, parts))
        return [
            self._join(text, [part[min(place, len(part) - 1)] for part in parts]) for place in range(count)
        ]

    def _join(self, text: Segments, parts: Sequence[Alternative]) -> Alternative:
        said = [part for part in parts if part.raw] or parts[:1]
        lengths = [max(len(part.tokens) - 1, 1) for part in said]
        total = sum(part.score * length**self._penalty for part, length in zip(said, lengths, strict=True))
        return Alternative(
            text=text.joined([part.text for part in parts]),
            raw=" ".join(part.raw for part in parts if part.raw),
            tokens=[token for part in said for token in part.tokens],
            is_complete=all(part.is_complete for part in parts),
            score=total / sum(lengths) ** self._penalty,
        )


def _with_copies(words: Sequence[str], hypothesis: Hypothesis, pieces: Sequence[str]) -> list[str]:
    """The pieces with a word of the source in place of each [UNK]: the one it attended to most."""
    if hypothesis.attention is None or not words:
        return list(pieces)
    weights = hypothesis.attention[:, 1 : len(words) + 1]  # without [START] and [END]
    nearest = weights.argmax(axis=1)
    return [
        words[nearest[place - 1]] if token == UNK and 0 < place <= len(nearest) else piece
        for place, (token, piece) in enumerate(zip(hypothesis.ids, pieces, strict=True))
    ]
