"""How ``ptenmt translate`` translates: the same for a file, arguments and an interactive session."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ptenmt import __version__
from ptenmt.cli.translation_output import TranslationFormat

if TYPE_CHECKING:
    from ptenmt.translation import Translation, Translator


@dataclass(frozen=True, kw_only=True)
class TranslationJob:
    """A translator with the options of the command line."""

    translator: "Translator"
    weights: str
    """The identity of the weights."""
    format: TranslationFormat
    prefix: str
    """What every translation starts with."""
    alternatives: int
    """If above 0: how many next tokens after the prefix to show with their completions."""

    @property
    def is_sampled(self) -> bool:
        """Whether a text may have another translation next time."""
        return self.translator.config.decoding.is_sampled

    def translate(
        self,
        texts: Iterable[str],
        on_done: Callable[[Collection["Translation"]], None] = lambda _translations: None,
        *,
        line_by_line: bool = False,
    ) -> Iterator[list["Translation"]]:
        """Translate texts, a buffer at a time; see ``Translator.translate_buffers``."""
        # Alternatives take long, and a text that is not a single sentence must not cost those before it.
        buffer_size = {"buffer_size": 1} if line_by_line or self.alternatives else {}
        return self.translator.translate_buffers(
            texts,
            prefix=self.prefix,
            next_token_alternatives=self.alternatives,
            with_scores=self.format.has_scores,
            on_done=on_done,
            **buffer_size,
        )

    def facts(self) -> dict[str, Any]:
        """What the translations depend on, besides the texts."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "engine": self.translator.engine.identity,
            "prefix": self.prefix,
            "alternatives": self.alternatives,
            **asdict(self.format),
            **asdict(self.translator.config.decoding),
        }
