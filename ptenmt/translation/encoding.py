"""From what a user types to the ids that a model reads."""

from collections.abc import Sequence
from textwrap import shorten

from ptenmt.config import Config
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import UNK, TokenizerPair, encode_framed
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.segments import Segmenter, Segments

_SHOWN_WIDTH = 60


class Encoding:
    """Encodes texts as the training corpus was.

    Args:
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._tokenizers = tokenizers
        self._data = config.data
        self._longest = config.model.max_positions
        self._long_text = config.decoding.long_text
        self._preparation = TextPreparation(config.data)

    def segmenter(self, is_corpus: bool = False) -> Segmenter:
        """What cuts texts of the source language.

        Args:
            is_corpus: They are prepared already, and cut only where the model cannot read them at once.
        """
        long_text, prepare = (None, str) if is_corpus else (self._long_text, self.prepare_source)
        language = self._data.source_language
        return Segmenter(self._tokenizers.source, language, self._longest, long_text, prepare)

    def whole(self, text: str) -> Segments:
        """A text of one segment.

        Raises:
            ConfigError: It has several.
        """
        (cut,) = self.segmenter().cut([text])
        if len(cut.segments) > 1:
            raise ConfigError(
                "alternatives and alignments are of one sentence, and there are "
                f"{len(cut.segments)} parts in {shorten(text, _SHOWN_WIDTH, placeholder='…')!r}",
                "give a sentence at a time, or raise decoding.long_text",
            )
        return cut

    def source(self, text: str) -> list[int]:
        """A sentence's ids, [START] and [END] included; of one that is too long, the beginning."""
        ((ids,), _) = self.sources([text])
        return ids

    def target(self, text: str) -> list[int]:
        """A translation's ids, [START] and [END] included; of one that is too long, the beginning."""
        ((ids,), _) = self.targets([text])
        return ids

    def sources(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """The ids of sentences as ``source`` gives them, and of how many they are the beginning alone."""
        return encode_framed(self._tokenizers.source, list(map(self.prepare_source, texts)), self._longest)

    def targets(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """The ids of translations as ``target`` gives them, and of how many they are the beginning alone."""
        return encode_framed(self._tokenizers.target, list(map(self.prepare_target, texts)), self._longest)

    def prefix(self, text: str) -> list[int]:
        """The ids of a translation's beginning.

        Raises:
            ConfigError: It leaves no room for more, or has letters that the model never writes.
        """
        (ids,) = self._tokenizers.target.encode([self.prepare_target(text)])
        if UNK in ids and not isinstance(self._tokenizers.target, WordTokenizer):
            raise ConfigError(
                f"the prefix {text!r} has letters that the model does not know", "write it as it would"
            )
        if len(ids) >= self._longest:
            raise ConfigError(
                f"the prefix has {len(ids)} tokens, and the model {self._longest} positions", "shorten it"
            )
        return ids

    def prepare_source(self, text: str) -> str:
        """A sentence as its tokenizer is to see it."""
        return self._preparation.prepare_input(text, self._data.source_language)

    def prepare_target(self, text: str) -> str:
        """A translation as its tokenizer is to see it."""
        return self._preparation.prepare_input(text, self._data.target_language)
