"""What a user types for a next-word model, in the words that the model reads."""

from dataclasses import dataclass

from ptenmt.config import Config
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError, TokenizerError
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.tokenizers.words import WordTokenizer


@dataclass(frozen=True)
class TypedWords:
    """The words of a text, one for each id."""

    words: list[str]
    """As they were typed, but for what the run's options change."""
    ids: list[int]
    """[UNK] for those that the model has never seen."""

    @property
    def unknown(self) -> list[str]:
        """The words that the model has never seen."""
        return [word for word, id in zip(self.words, self.ids, strict=True) if id == UNK]

    @property
    def remark(self) -> str:
        """A sentence on those, if there are any."""
        return f"the model has never seen: {', '.join(dict.fromkeys(self.unknown))}" if self.unknown else ""

    def last(self, count: int) -> "TypedWords":
        """The last words alone."""
        return TypedWords(self.words[-count:], self.ids[-count:])


def read_typed(text: str, tokenizer: Tokenizer, config: Config) -> TypedWords:
    """Read a text as a next-word model's training text was read: in the target language.

    Raises:
        DataError: There is no word in it.
        TokenizerError: The tokenizer is not one of words.
    """
    if not isinstance(tokenizer, WordTokenizer):
        raise TokenizerError("a next-word model reads words, and this tokenizer has sub-words")
    prepared = TextPreparation(config.data).prepare_input(text, config.data.target_language)
    words, ids = tokenizer.split(prepared), tokenizer.encode([prepared])[0]
    if not ids:
        raise DataError(
            f"there is no word in {text!r} for the model to read", "give a text of a word or more"
        )
    return TypedWords(words, ids)
