"""The source and target tokenizers of a run: build, save and load them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ptenmt.atomic_files import file_checksum, folder_written_whole, json_checksum, output_errors
from ptenmt.config import TokenizerConfig
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import Tokenizer
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer
from ptenmt.tokenizers.words import WordTokenizer

_FACTS_FILE = "tokenizer.json"
_FORMAT = 1
_KINDS: dict[str, type[Tokenizer]] = {
    cls.kind: cls for cls in (WordPieceTokenizer, SentencePieceTokenizer, WordTokenizer, ImportedTokenizer)
}
_COPY_AGAIN = "copy the whole folder again from where it was trained"


@dataclass(frozen=True)
class TokenizerPair:
    """The source language's tokenizer and the target language's: one object when they share it."""

    source: Tokenizer
    target: Tokenizer

    @property
    def shared(self) -> bool:
        """Whether both sides use one vocabulary."""
        return self.source is self.target

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The vocabulary sizes of the source and the target tokenizer."""
        return self.source.vocabulary_size, self.target.vocabulary_size

    @property
    def checksums(self) -> list[str]:
        """The checksums of the source and the target tokenizer."""
        return [self.source.checksum, self.target.checksum]

    def save(self, folder: Path) -> None:
        """Write the pair to a folder of its own, all or nothing and replace one there; raises OutputError."""
        with output_errors(f"save the tokenizer in {folder}"), folder_written_whole(folder) as new:
            source = self.source.save(new, "shared" if self.shared else "source")
            target = source if self.shared else self.target.save(new, "target")
            facts = {
                "format": _FORMAT,
                "kind": self.source.kind,
                "source": source,
                "target": target,
                "files": {path.name: file_checksum(path) for path in sorted(new.iterdir())},
            }
            (new / _FACTS_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def build_tokenizers(
    config: TokenizerConfig,
    pairs: Sequence[tuple[str, str]],
    languages: tuple[str, str],
    symbols: Sequence[str] = (),
) -> TokenizerPair:
    """Build the tokenizers of a config; ``languages`` are the ISO 639-1 codes of source and target.

    ``wordpiece`` is read from the folder ``config.path``; the others are trained on the pairs, read twice.
    ``symbols`` are tokens of their own, for ``sentencepiece``. Raises TokenizerError if there are too few
    pairs, the published tokenizer cannot be used, or the kind is ``imported``, which only comes with a model.
    """
    if config.kind == "imported":
        raise TokenizerError(
            "tokenizer.kind=imported is the tokenizer of an imported model, which cannot be trained",
            hint="start from that run with --init-from, or train with tokenizer.kind=sentencepiece",
        )
    if config.kind == "wordpiece":
        return TokenizerPair(*WordPieceTokenizer.load_published(Path(config.path or ""), languages))
    sources, targets = _texts(config, pairs, 0), _texts(config, pairs, 1)
    if config.shared:
        tokenizer = train_tokenizer(config, chain(sources, targets), symbols)
        return TokenizerPair(tokenizer, tokenizer)
    return TokenizerPair(train_tokenizer(config, sources, symbols), train_tokenizer(config, targets, symbols))


def require_symbols(tokenizers: TokenizerPair, symbols: Sequence[str], where: Path) -> None:
    """Raise a TokenizerError unless a vocabulary has all these tokens of their own."""
    if missing := sorted(set(symbols) - set(tokenizers.source.vocabulary)):
        raise TokenizerError(
            f"the vocabulary in {where} has no token {', '.join(missing)}, which the section data needs",
            hint="leave out its tag or data.augment, or train from scratch without --init-from",
        )


def load_tokenizers(folder: Path) -> TokenizerPair:
    """Load a saved pair; raises TokenizerError if a file is missing, damaged or of another format."""
    path = folder / _FACTS_FILE
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["format"] != _FORMAT:
            raise TokenizerError(
                f"{path} has format {facts['format']}; this version of ptenmt reads format {_FORMAT}",
                hint="use the version of ptenmt that wrote it",
            )
        for name, checksum in facts["files"].items():
            if file_checksum(folder / name) != checksum:
                raise TokenizerError(f"{folder / name} is damaged: its checksum differs", hint=_COPY_AGAIN)
        kind, source, target = _KINDS[facts["kind"]], facts["source"], facts["target"]
        tokenizers = kind.load(folder, [source] if source == target else [source, target])
    except OSError as error:
        raise TokenizerError(f"no tokenizer in {folder}: {error}", hint=_COPY_AGAIN) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TokenizerError(f"{path} is damaged: {error!r}", hint=_COPY_AGAIN) from error
    return TokenizerPair(tokenizers[0], tokenizers[-1])


def tokenizer_fingerprint(folder: Path) -> str:
    """Identify a saved pair by its files' checksums; empty if there is none."""
    try:
        facts = json.loads((folder / _FACTS_FILE).read_text(encoding="utf-8"))
        return json_checksum(facts["files"])[:16]
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _texts(config: TokenizerConfig, pairs: Sequence[tuple[str, str]], side: int) -> Iterator[str]:
    """Return the sentences of one side to build a vocabulary from."""
    limit = config.training_sentences // (2 if config.shared else 1) or 1
    if config.kind == "words" or len(pairs) <= limit:
        return (pair[side] for pair in pairs)
    return (pairs[number * len(pairs) // limit][side] for number in range(limit))


def train_tokenizer(config: TokenizerConfig, texts: Iterable[str], symbols: Sequence[str] = ()) -> Tokenizer:
    """Train a tokenizer of kind ``sentencepiece`` or ``words`` on the sentences of one language, or of both.

    ``symbols`` are texts that are a token each, for ``sentencepiece``. Raises TokenizerError if the texts
    are empty, or have more characters than the vocabulary can hold.
    """
    size = config.vocabulary_size
    if config.kind == "sentencepiece":
        return SentencePieceTokenizer.train(
            texts,
            size,
            config.algorithm,
            symbols,
            split_digits=config.split_digits,
            character_coverage=config.character_coverage,
            characters=config.characters,
        )
    return WordTokenizer.train(texts, size, config.punctuation, config.order)
