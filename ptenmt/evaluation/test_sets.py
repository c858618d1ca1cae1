"""Test sets: sources, references and hypotheses, in the text forms that scores compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ptenmt.config import DataConfig
from ptenmt.data.readers import SentencePair, read_lines
from ptenmt.data.store import fingerprint
from ptenmt.data.text import TextPreparation, spacing
from ptenmt.errors import ConfigError, DataError
from ptenmt.scores import TextForm
from ptenmt.translation import Translation

PLAIN_TEXT = DataConfig(source="files", path="-", tokenization="none")


@dataclass(frozen=True, kw_only=True)
class EvaluationFiles:
    """Files to score, one sentence per line, instead of a run's own pairs.

    Raises:
        ConfigError: They do not suffice, or contradict each other.
    """

    source: str | Path | None = None
    """Sentences to translate; they need references."""
    references: Sequence[str | Path] = ()
    """Files of reference translations; each sentence needs a line that is not empty in one of them."""
    hypotheses: str | Path | None = None
    """Translations to score; nothing is translated then."""

    def __post_init__(self) -> None:
        if self.source is not None and not self.references:
            raise ConfigError(
                f"{self.source}: sources cannot be scored without references", "add --reference FILE"
            )
        if self.references and self.source is None and self.hypotheses is None:
            raise ConfigError(
                f"{self.references[0]}: references cannot be scored without translations",
                "add what to translate, --source FILE, or finished translations, --hypotheses FILE",
            )

    @property
    def names(self) -> dict[str, list[str]]:
        """The given files by role: ``source``, ``reference``, ``hypotheses``."""
        files = {"source": [self.source], "reference": self.references, "hypotheses": [self.hypotheses]}
        names = {role: [str(file) for file in of_role if file] for role, of_role in files.items()}
        return {role: of_role for role, of_role in names.items() if of_role}


@dataclass(frozen=True, kw_only=True)
class Hypotheses:
    """Translations of a test set, by any system."""

    texts: list[str]
    """Detokenized."""
    tokens: list[str] | None
    """Tokenized, where ``TestSet.token_references`` exist."""

    def in_form(self, form: TextForm) -> list[str]:
        """The texts in one of the forms that the test set has references in."""
        return self.tokens or [] if form == "tokenized" else self.texts


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """Sentences and their references; columns are in the same order."""

    data: DataConfig
    is_corpus: bool
    """Whether the text came as the training corpus does; otherwise as users write it."""
    sources: list[str] | None
    """Detokenized; None: unknown."""
    prepared: list[str] | None
    """The sources as the tokenizer reads them."""
    references: list[list[str | None]]
    """Detokenized [references, sentences]; None where a sentence has fewer references than others."""
    token_references: list[list[str | None]] | None
    """The same tokenized; None where the corpus is plain text."""
    is_lowercase: bool = False
    """Whether the model's text is lower-case but these references are not: lower-cased scores are added."""

    @classmethod
    def from_pairs(cls, pairs: Sequence[SentencePair], data: DataConfig) -> Self:
        """Pairs of a run's own corpus."""
        finish, (source_language, target_language) = TextPreparation(data).detokenize, data.languages
        sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
        return cls(
            data=data,
            is_corpus=True,
            sources=[finish(text, source_language) for text in sources],
            prepared=sources,
            references=[[finish(text, target_language) for text in targets]],
            token_references=None if spacing(data) == "none" else [[*targets]],
        )

    @classmethod
    def from_files(cls, files: EvaluationFiles, data: DataConfig, *, is_lowercase: bool = False) -> Self:
        """References, and sources if given; ``data`` says how the run's corpus is prepared.

        Raises DataError if a file cannot be read, their lengths differ, or a sentence has no reference.
        """
        columns = {file: _read(Path(file)) for file in files.references}
        sources = None if files.source is None else _read(Path(files.source))
        (first, lines), *others = columns.items()
        for file, texts in others if sources is None else [*others, (files.source, sources)]:
            if len(texts) != len(lines):
                raise DataError(
                    f"{first} has {len(lines):,} lines, but {file} has {len(texts):,}",
                    "line n of one file must translate line n of the other",
                )
        references = _without_blanks(columns)
        return replace(cls.from_typed(sources, references, data), is_lowercase=is_lowercase)

    @classmethod
    def from_typed(
        cls, sources: list[str] | None, references: Sequence[Sequence[str | None]], data: DataConfig
    ) -> Self:
        """Text as users write it; ``data`` says how the run's corpus is prepared."""
        prepare = TextPreparation(data).prepare_input
        return cls(
            data=data,
            is_corpus=False,
            sources=sources,
            prepared=None if sources is None else [prepare(text, data.languages[0]) for text in sources],
            references=[list(column) for column in references],
            token_references=None,
        )

    def __len__(self) -> int:
        return len(self.references[0])

    @property
    def references_by_form(self) -> dict[TextForm, list[list[str | None]]]:
        """The references in every form in which hypotheses can be scored."""
        forms: dict[TextForm, list[list[str | None]]] = {"detokenized": self.references}
        if self.is_lowercase:
            forms["lowercased"] = self.references
        if self.token_references is not None:
            forms["tokenized"] = self.token_references
        return forms

    def references_of(self, row: int) -> list[str]:
        """The detokenized references of a sentence."""
        return [column[row] or "" for column in self.references if column[row] is not None]

    def pairs(self) -> list[SentencePair]:
        """The prepared sources, which must be known, with their first references, prepared too."""
        assert self.prepared is not None
        targets = _first(self.token_references or self.references)
        targets = targets if self.is_corpus else self._prepared(targets)
        return list(zip(self.prepared, targets, strict=True))

    def fingerprint(self) -> str:
        """Checksum of the pairs, as ``run.json`` has that of a run's own; without sources, of references."""
        if self.prepared is None:
            return fingerprint([("", reference) for reference in _first(self.references)])
        return fingerprint(self.pairs())

    def hypotheses_from_translations(self, translations: Sequence[Translation]) -> Hypotheses:
        """Translations by a run; their tokens are those of its own corpus."""
        needs_tokens = self.token_references is not None
        return Hypotheses(
            texts=[translation.text for translation in translations],
            tokens=[translation.raw for translation in translations] if needs_tokens else None,
        )

    def _prepared(self, targets: Sequence[str]) -> list[str]:
        prepare = TextPreparation(self.data).prepare_input
        return [prepare(text, self.data.languages[1]) for text in targets]

    def hypotheses_from_file(self, file: Path, name: str) -> Hypotheses:
        """Translations from a file, one per line; ``name`` is the test set's in an error message.

        Raises DataError if the file cannot be read, or has more or fewer lines than there are sentences.
        """
        texts = list(read_lines(file))
        if len(texts) != len(self):
            raise DataError(
                f"{file} has {len(texts):,} lines instead of {len(self):,}, one for each of the {name}",
                "line n must translate sentence n; --reference FILE or --run NAME choose other sentences",
            )
        return Hypotheses(
            texts=texts, tokens=None if self.token_references is None else self._prepared(texts)
        )


def _read(file: Path) -> list[str]:
    lines = list(read_lines(file))
    if not any(line.strip() for line in lines):
        raise DataError(f"{file} is empty", "it must have one sentence per line")
    return lines


def _without_blanks(columns: Mapping[str | Path, Sequence[str]]) -> list[list[str | None]]:
    """References with None for blank lines; every sentence needs one that is not blank."""
    references = [[text if text.strip() else None for text in column] for column in columns.values()]
    for number, row in enumerate(zip(*references, strict=True), start=1):
        if all(text is None for text in row):
            raise DataError(
                f"line {number} of {' and of '.join(map(str, columns))} is empty",
                "every sentence needs a reference",
            )
    return references


def _first(references: Sequence[Sequence[str | None]]) -> list[str]:
    """The first reference that each sentence has."""
    return [next(text for text in row if text is not None) for row in zip(*references, strict=True)]
