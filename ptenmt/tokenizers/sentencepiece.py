"""Sub-words learnt from the training pairs by SentencePiece: any languages, case and accents kept."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ptenmt.config.schema import SubwordAlgorithm
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import (
    END,
    PAD,
    SPECIAL_PIECES,
    START,
    UNK,
    Tokenizer,
    clean_text,
    without_framing,
)
from ptenmt.tokenizers.subwords import BpeCuts, UnigramCuts

_TRAINER_OPTIONS: dict[str, Any] = {
    "pad_id": PAD,
    "unk_id": UNK,
    "bos_id": START,
    "eos_id": END,
    "pad_piece": SPECIAL_PIECES[PAD],
    "unk_piece": SPECIAL_PIECES[UNK],
    "bos_piece": SPECIAL_PIECES[START],
    "eos_piece": SPECIAL_PIECES[END],
    "unk_surface": SPECIAL_PIECES[UNK],
    # NFKC would turn 1.ª into 1.a, m² into m2 and … into ...; clean_text composes accents instead.
    "normalization_rule_name": "identity",
    # Every character of a corpus below 100,000 characters; of a larger one not the handful of strays
    # in foreign scripts. Those are [UNK]: a byte fallback would take 256 pieces that training hardly
    # ever shows to the model, and let it write bytes that form no character.
    "character_coverage": 0.99999,
    # A small corpus has fewer pieces than asked for, which is no error.
    "hard_vocab_limit": False,
    # By default sentences beyond 4,192 bytes are skipped in silence.
    "max_sentence_length": 1 << 20,
    # The scores are sums of one part a thread, and the number itself is written into the model: a
    # fixed one gives the same bytes on every machine.
    "num_threads": 4,
    "minloglevel": 2,
}


class SentencePieceTokenizer(Tokenizer):
    """Sub-words of a SentencePiece model; decoding gives the text back, blanks and all.

    Args:
        proto: The bytes of a model trained by :meth:`train`.

    Raises:
        TokenizerError: If the bytes are not such a model.
    """

    kind = "sentencepiece"
    splits_punctuation = False

    def __init__(self, proto: bytes) -> None:
        self._proto = proto
        self._processor = _processor(proto)
        self._sampler: tuple[float, UnigramCuts | BpeCuts] | None = None

    @classmethod
    def train(cls, texts: Iterable[str], *, vocabulary_size: int, algorithm: SubwordAlgorithm) -> Self:
        """Learn the pieces; the same texts in the same order always give the same model.

        Args:
            texts: The training sentences of one language, or of both.
            vocabulary_size: The most pieces, special tokens included.
            algorithm: How pieces are found.

        Raises:
            TokenizerError: If there is no text, or more characters than the vocabulary can hold.
        """
        import sentencepiece

        has_text = False

        def sentences() -> Iterator[str]:
            nonlocal has_text
            for text in texts:
                sentence = clean_text(text)
                has_text = has_text or bool(sentence.strip())
                yield sentence

        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=sentences(),
                model_writer=model,
                model_type=algorithm,
                vocab_size=vocabulary_size,
                **_TRAINER_OPTIONS,
            )
        except RuntimeError as error:
            if not has_text:
                raise TokenizerError(
                    "the training sentences hold no text to learn pieces from",
                    hint="check the data section: is the text where data.path or data.train says?",
                ) from error
            raise TokenizerError(
                f"SentencePiece cannot train with tokenizer.vocabulary_size={vocabulary_size}: {error}",
                hint="every character needs a piece: raise tokenizer.vocabulary_size",
            ) from error
        return cls(model.getvalue())

    @property
    def vocabulary_size(self) -> int:
        """How many pieces there are: as many as asked for, fewer where the corpus is small."""
        return int(self._processor.get_piece_size())

    @property
    def model(self) -> bytes:
        """The SentencePiece model, as its own programs read it."""
        return self._proto

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the model."""
        return hashlib.sha256(self._proto).hexdigest()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give each text's ids, without [START] and [END]; all cores share the work."""
        encoded: list[list[int]] = self._processor.encode([clean_text(text) for text in texts])
        return encoded

    def sample(self, texts: Sequence[str], strength: float, seed: Sequence[int]) -> list[list[int]]:
        """Give each text's ids, cut into pieces at random.

        Args:
            texts: Any number of texts.
            strength: Unigram's alpha (the likelihoods' exponent), or the share of merges that BPE drops.
            seed: What the choice follows from, together with the texts: on every machine the same.
        """
        import numpy as np

        sentences = [clean_text(text).split() for text in texts]
        numbers = iter(np.random.default_rng(seed).random(sum(map(len, sentences))).tolist())
        draw = self._cuts(strength).draw
        drawn = [b"".join([draw(word, next(numbers)) for word in words]) for words in sentences]
        return [np.frombuffer(ids, np.int32).tolist() for ids in drawn]

    def _cuts(self, strength: float) -> UnigramCuts | BpeCuts:
        if self._sampler is None or self._sampler[0] != strength:
            is_bpe = self._is_bpe()
            cuts = BpeCuts(self._processor, strength) if is_bpe else UnigramCuts(self._processor, strength)
            self._sampler = strength, cuts
        return self._sampler[1]

    def _is_bpe(self) -> bool:
        """Whether the pieces were merged; SentencePiece then has no second best cut."""
        try:
            self._processor.nbest_encode("a", nbest_size=2)
        except RuntimeError:
            return True
        return False

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Give each sequence's text; a run of unknown characters reads ``[UNK]``."""
        rows = [list(map(int, without_framing(ids))) for ids in sequences]  # NumPy's are refused
        # SentencePiece takes an empty list for one sequence, not for none.
        decoded: list[str] = self._processor.decode(rows) if rows else []
        return decoded

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give the piece that each id stands for; ``▁`` marks a blank before it."""
        return [self._pieces[token] for token in ids]

    @cached_property
    def _pieces(self) -> list[str]:
        return [self._processor.id_to_piece(token) for token in range(self.vocabulary_size)]

    def save(self, folder: Path, side: str) -> str:
        """Write the model as ``source.model``, ``target.model`` or ``shared.model``."""
        name = f"{side}.model"
        (folder / name).write_bytes(self._proto)
        return name

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Read back models that :meth:`save` wrote."""
        return [cls._read(folder / name) for name in names]

    @classmethod
    def _read(cls, path: Path) -> Self:
        try:
            return cls(path.read_bytes())
        except OSError as error:
            raise TokenizerError(f"cannot read the SentencePiece model {path}: {error}") from error
        except TokenizerError as error:
            raise TokenizerError(f"cannot use {path}: {error.message}") from error


def _processor(proto: bytes) -> Any:
    import sentencepiece

    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    except RuntimeError as error:
        raise TokenizerError("not a SentencePiece model, or a damaged one") from error
    size = processor.get_piece_size() if proto else 0
    specials = tuple(processor.id_to_piece(token) for token in range(min(size, len(SPECIAL_PIECES))))
    if specials != SPECIAL_PIECES:
        raise TokenizerError(f"a SentencePiece model that does not begin with {' '.join(SPECIAL_PIECES)}")
    return processor
