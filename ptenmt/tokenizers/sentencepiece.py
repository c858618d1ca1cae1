"""SentencePiece sub-words, learned from the training pairs: any languages, case and accents preserved."""

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import sentencepiece

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

_FEW = 8
"""Number of texts above which SentencePiece's threads are faster."""
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
    # A small corpus has fewer sub-words than requested, which is no error.
    "hard_vocab_limit": False,
    # By default sentences beyond 4,192 bytes are skipped silently.
    "max_sentence_length": 1 << 20,
    # Scores are summed per thread, and the number of threads is written into the model: a fixed
    # number gives the same bytes on every machine.
    "num_threads": 4,
    "minloglevel": 2,
}


class SentencePieceTokenizer(Tokenizer):
    """Sub-words of a SentencePiece ``model``; decoding restores the text, spaces included.

    In its vocabulary ``▁`` marks a space before a token.
    """

    kind = "sentencepiece"
    splits_punctuation = False

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
        super().__init__(self._processor.id_to_piece([*range(self._processor.get_piece_size())]), model)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        algorithm: SubwordAlgorithm,
        symbols: Sequence[str] = (),
        *,
        split_digits: bool = False,
        character_coverage: float = 0.99999,
        characters: str = "",
    ) -> Self:
        """Learn the sub-words; the same texts in the same order always give the same model.

        ``vocabulary_size`` is the maximum number of tokens, special tokens included; ``symbols`` are texts
        that are a token each, wherever they occur; ``split_digits`` makes every digit a token of its own;
        of the characters of the texts, the rarest beyond ``character_coverage`` have no token, but
        ``characters`` have one even where the texts lack them. Raises TokenizerError if there is no text, or
        more characters than the vocabulary can hold.
        """
        has_text = False

        def sentences() -> Iterator[str]:
            nonlocal has_text
            for text in texts:
                sentence = clean_text(text)
                has_text = has_text or bool(sentence.strip())
                yield sentence

        options: dict[str, Any] = {"user_defined_symbols": list(symbols)} if symbols else {}
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=sentences(),
                model_writer=model,
                model_type=algorithm,
                vocab_size=vocabulary_size,
                split_digits=split_digits,
                # Without byte fallback: it would add 256 tokens that training hardly ever shows to the
                # model, and let it generate bytes that form no character.
                character_coverage=character_coverage,
                required_chars="".join(sorted({*characters} - {*symbols, " "})),
                **options,
                **_TRAINER_OPTIONS,
            )
        except RuntimeError as error:
            if not has_text:
                raise TokenizerError(
                    "the training sentences have no text to learn sub-words from",
                    hint="check data.path or data.train: does it name the text?",
                ) from error
            raise TokenizerError(
                f"SentencePiece cannot train with tokenizer.vocabulary_size={vocabulary_size}: {error}",
                hint="every character needs a token: raise tokenizer.vocabulary_size",
            ) from error
        return cls(model.getvalue())

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's ids, without [START] and [END]; many texts are encoded on all cores."""
        cleaned = [clean_text(text) for text in texts]
        encode = self._processor.encode
        return [encode(text) for text in cleaned] if len(cleaned) <= _FEW else list(encode(cleaned))

    @cached_property
    def scores(self) -> list[float]:
        """The score of each token: in a unigram model its log-probability."""
        return list(self._processor.get_score([*range(self.vocabulary_size)]))

    @cached_property
    def symbols(self) -> list[str]:
        """The texts that are a token each, as given to :meth:`train`."""
        from sentencepiece import sentencepiece_model_pb2

        model = sentencepiece_model_pb2.ModelProto.FromString(self.model)
        return [piece.piece for piece in model.pieces if piece.type == piece.USER_DEFINED]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return each sequence's text; a run of unknown characters reads ``[UNK]``."""
        rows = [list(map(int, ids)) for ids in without_framing(sequences)]  # NumPy's are refused
        decode = self._processor.decode
        return [decode(row) for row in rows] if len(rows) <= _FEW else list(decode(rows))

    def save(self, folder: Path, side: str) -> str:
        """Write the model as ``source.model``, ``target.model`` or ``shared.model``."""
        name = f"{side}.model"
        (folder / name).write_bytes(self.model)
        return name

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Load models that :meth:`save` wrote."""
        return [cls((folder / name).read_bytes()) for name in names]
