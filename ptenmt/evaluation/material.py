"""What is scored, and against what: sources, references and hypotheses, in the forms that scores compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptenmt.config import DataConfig
from ptenmt.data.corpus import SentencePair, fingerprint
from ptenmt.data.readers import read_lines
from ptenmt.data.text import TextPreparation, spacing
from ptenmt.errors import ConfigError, DataError
from ptenmt.translation import Translation

PLAIN = DataConfig(source="files", path="-", tokenization="none")
"""Text as people write it."""
TOKENISED = DataConfig(source="files", path="-", tokenization="given")
"""Words and punctuation apart."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one's own to be scored, with a sentence a line.

    Raises:
        ConfigError: They do not suffice, or do not go together.
    """

    source: Path | None
    references: tuple[Path, ...]
    """One or several; in all but one of them lines may be empty."""
    hypotheses: Path | None
    tokenised: bool
    """They are as the training corpus is; if not, text as people write it."""

    def __post_init__(self) -> None:
        if self.source is not None and not self.references:
            raise ConfigError(
                f"{self.source}: sources alone cannot be scored", "give what is right: --reference FILE"
            )
        if self.references and self.source is None and self.hypotheses is None:
            raise ConfigError(
                f"{self.references[0]}: references alone cannot be scored",
                "give what to translate, --source FILE, or finished translations, --hypotheses FILE",
            )
        if self.tokenised and not self.names:
            raise ConfigError("--tokenised is about files, and none is given")

    @property
    def names(self) -> dict[str, list[str]]:
        """What was given, by what it is."""
        source = [] if self.source is None else [str(self.source)]
        hypotheses = [] if self.hypotheses is None else [str(self.hypotheses)]
        names = {"source": source, "reference": [*map(str, self.references)], "hypotheses": hypotheses}
        return {kind: files for kind, files in names.items() if files}


@dataclass(frozen=True, kw_only=True)
class Material:
    """Sentences and their references."""

    data: DataConfig
    """How the text of the corpus is prepared."""
    is_corpus: bool
    """Whether it came as the training corpus does; if not, as people write."""
    sources: list[str] | None
    """As people write them; None: nobody knows them."""
    prepared: list[str] | None
    """The sources as the tokenizer sees them."""
    references: list[list[str | None]]
    """As people write them: all sentences' first references, all sentences' second ones, and so on."""
    token_references: list[list[str | None]] | None
    """The same with words and punctuation apart; None where the corpus is plain text."""

    def __len__(self) -> int:
        return len(self.references[0])

    def pairs(self) -> list[SentencePair]:
        """The prepared sources with their first references, prepared too, for the likelihood."""
        assert self.prepared is not None
        preparation, language = TextPreparation(self.data), self.data.target_language
        if self.token_references is not None:
            targets = _first(self.token_references)
        elif self.is_corpus:
            targets = _first(self.references)
        else:
            targets = [preparation.prepare_input(text, language) for text in _first(self.references)]
        return list(zip(self.prepared, targets, strict=True))

    def fingerprint(self) -> str:
        """The checksum of the pairs, as a run remembers that of its own; without sources, of references."""
        without = [("", reference) for reference in _first(self.references)]
        return fingerprint(without if self.prepared is None else self.pairs())

    def references_of(self, row: int) -> list[str]:
        """The references of a sentence."""
        return [texts[row] or "" for texts in self.references if texts[row] is not None]

    def is_prepared_like(self, data: DataConfig) -> bool:
        """Whether another corpus is prepared in the same way, so that its model reads ``prepared``."""
        return _preparation(self.data) == _preparation(data)


@dataclass(frozen=True, kw_only=True)
class Output:
    """Hypotheses."""

    texts: list[str]
    """As people write them."""
    tokens: list[str] | None
    """With words and punctuation apart, where ``Material.token_references`` are there to be compared."""


def material_of_pairs(pairs: Sequence[SentencePair], data: DataConfig) -> Material:
    """Pairs of a run's own corpus."""
    return _corpus_material([source for source, _ in pairs], [[target for _, target in pairs]], data)


def material_of_files(files: Files, data: DataConfig) -> Material:
    """Files of one's own, sources among them or not.

    Args:
        files: References at least.
        data: How the corpus of the run is prepared.

    Raises:
        DataError: A file cannot be read, they are not equally long, or a sentence has no reference.
    """
    texts = {file: _read(file) for file in files.references}
    sources = None if files.source is None else _read(files.source)
    _check_lengths(texts if files.source is None else texts | {files.source: sources or []})
    given = _without_empty(texts)
    preparation = TextPreparation(data)
    if files.tokenised:
        prepare = preparation.prepare
        targets = [
            [None if text is None else prepare(text, data.target_language) for text in column]
            for column in given
        ]
        read = None if sources is None else [prepare(text, data.source_language) for text in sources]
        return _corpus_material(read, targets, data)
    language = data.source_language
    return Material(
        data=data,
        is_corpus=False,
        sources=sources,
        prepared=None if sources is None else [preparation.prepare_input(text, language) for text in sources],
        references=given,
        token_references=None,
    )


def output_of_translations(translations: Sequence[Translation], material: Material) -> Output:
    """Translations by a run whose corpus is prepared as the material is."""
    needs_tokens = material.token_references is not None
    return Output(
        texts=[translation.text for translation in translations],
        tokens=[translation.raw for translation in translations] if needs_tokens else None,
    )


def output_of_texts(texts: Sequence[str], material: Material) -> Output:
    """Hypotheses as people write them."""
    preparation, language = TextPreparation(material.data), material.data.target_language
    needs_tokens = material.token_references is not None
    tokens = [preparation.prepare_input(text, language) for text in texts] if needs_tokens else None
    return Output(texts=list(texts), tokens=tokens)


def output_of_file(file: Path, material: Material, *, tokenised: bool) -> Output:
    """Finished hypotheses, a line each.

    Raises:
        DataError: The file cannot be read, or there are more or fewer than sentences.
    """
    texts = list(read_lines(file))
    if len(texts) != len(material):
        raise DataError(
            f"{file} has {_lines(texts)}, but there are {len(material):,} sentences to compare with",
            "line n has to be the translation of the n-th sentence",
        )
    if not tokenised:
        return output_of_texts(texts, material)
    preparation, language = TextPreparation(material.data), material.data.target_language
    written = [preparation.finish(text, language) for text in texts]
    return Output(texts=written, tokens=None if material.token_references is None else texts)


def _corpus_material(
    sources: list[str] | None, targets: Sequence[Sequence[str | None]], data: DataConfig
) -> Material:
    """Material that is as the training corpus is."""
    preparation = TextPreparation(data)
    columns = [list(column) for column in targets]
    language = data.target_language
    return Material(
        data=data,
        is_corpus=True,
        sources=None
        if sources is None
        else [preparation.finish(text, data.source_language) for text in sources],
        prepared=sources,
        references=[
            [None if text is None else preparation.finish(text, language) for text in column]
            for column in columns
        ],
        token_references=None if spacing(data) == "none" else columns,
    )


def _read(file: Path) -> list[str]:
    lines = list(read_lines(file))
    if not any(line.strip() for line in lines):
        raise DataError(f"{file} is empty", "it has to have a sentence a line")
    return lines


def _lines(texts: Sequence[str]) -> str:
    return f"{len(texts):,} line{'' if len(texts) == 1 else 's'}"


def _check_lengths(texts: Mapping[Path, Sequence[str]]) -> None:
    first, *others = texts
    for file in others:
        if len(texts[file]) != len(texts[first]):
            raise DataError(
                f"{first} has {_lines(texts[first])}, but {file} has {len(texts[file]):,}",
                "line n of one file has to be the translation of line n of the other",
            )


def _without_empty(texts: Mapping[Path, Sequence[str]]) -> list[list[str | None]]:
    """References with None for those that are blank; that every sentence has one is checked."""
    columns: list[list[str | None]] = [
        [text if text.strip() else None for text in column] for column in texts.values()
    ]
    for number, row in enumerate(zip(*columns, strict=True), start=1):
        if all(text is None for text in row):
            raise DataError(
                f"line {number} of {' and of '.join(map(str, texts))} is empty",
                "every sentence needs a reference to compare with",
            )
    return columns


def _first(references: Sequence[Sequence[str | None]]) -> list[str]:
    """The first reference that each sentence has."""
    return [next(text for text in row if text is not None) for row in zip(*references, strict=True)]


def _preparation(data: DataConfig) -> tuple[str, ...]:
    """All that the form of a corpus depends on."""
    languages = (data.source_language, data.target_language)
    return (spacing(data), data.normalization, str(data.lowercase), *languages)
