"""From what a user types to the ids that a model reads."""

from ptenmt.config import Config
from ptenmt.corpus.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import TokenizerPair, frame
from ptenmt.translation.segments import Segmenter, Segments


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
                f"alternatives and alignments are of one sentence; this text has {len(cut.segments)} parts",
                "give a sentence at a time, or raise decoding.long_text",
            )
        return cut

    def source(self, text: str) -> list[int]:
        """A sentence's ids, [START] and [END] included; of one that is too long, the beginning."""
        return frame(self._tokenizers.source.encode([self.prepare_source(text)])[0], self._longest)

    def target(self, text: str) -> list[int]:
        """A translation's ids, [START] and [END] included; of one that is too long, the beginning."""
        return frame(self._encode_target(text), self._longest)

    def prefix(self, text: str) -> list[int]:
        """The ids of a translation's beginning.

        Raises:
            ConfigError: It leaves no room for more.
        """
        ids = self._encode_target(text)
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

    def _encode_target(self, text: str) -> list[int]:
        return self._tokenizers.target.encode([self.prepare_target(text)])[0]
