"""Glossaries that requests name: the operator's files, and those that clients store in a folder.

A stored glossary is a file of JSON, <id>.json. It has a dictionary for each pair of languages, and belongs to
the owner of the key with which it was created; others do not see it.
"""

import csv
import json
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import write_text
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.server.limits import Refusal
from ptenmt.translation.safeguards.glossary import Glossary

MAX_GLOSSARIES = 100
"""Of one owner."""
MAX_ENTRIES = 5_000
"""Of one glossary."""
Pair = tuple[str, str]
"""The codes of the source and the target language."""


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary with its dictionaries, by their languages."""

    id: str
    name: str
    dictionaries: Mapping[Pair, Glossary]
    owner: str | None = None
    """None if it is the operator's, which all may use and none may change."""
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    @property
    def pair(self) -> Pair:
        """The languages of its first dictionary."""
        return next(iter(self.dictionaries))

    def dictionary(self, pair: Pair) -> Glossary:
        """The terms for two languages; refuses if there are none."""
        if pair not in self.dictionaries:
            raise Refusal(f"the glossary {self.id[:100]} has no dictionary for {' to '.join(pair)}", 404)
        return self.dictionaries[pair]


class Glossaries:
    """All glossaries.

    Args:
        files: The operator's, by name.
        pairs: The pairs of languages that are translated; those of the operator's files are not known.
        folder: Where clients' glossaries are stored, which is created; None: nowhere.

    Raises:
        ConfigError: The folder cannot be created, or a file in it is no glossary.
    """

    def __init__(
        self, files: Mapping[str, Glossary], pairs: Iterable[Pair], folder: Path | None = None
    ) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._known = {
            name: StoredGlossary(name, name, dict.fromkeys(pairs, terms)) for name, terms in files.items()
        }
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot create {folder}: {error.strerror}") from error
        for file in sorted(folder.glob("*.json")):
            self._known[file.stem] = _read(file)

    def of(self, owner: str) -> list[StoredGlossary]:
        """The glossaries that an owner may use."""
        return [each for each in self._known.values() if each.owner in (None, owner)]

    def find(self, name: str, owner: str, *, status: int = 404) -> StoredGlossary:
        """The one with an id; refuses an unknown one, and others' glossaries."""
        glossary = self._known.get(name)
        if glossary is None or glossary.owner not in (None, owner):
            known = ", ".join(each.id for each in self.of(owner)) or "none"
            raise Refusal(f"there is no glossary {name[:100]}; this server has: {known}", status)
        return glossary

    def create(self, owner: str, name: str, dictionaries: Mapping[Pair, Glossary]) -> StoredGlossary:
        """Store a new glossary; refuses too many."""
        if sum(each.owner == owner for each in self._known.values()) >= MAX_GLOSSARIES:
            raise Refusal(f"{MAX_GLOSSARIES} glossaries are allowed", 456)
        return self._store(StoredGlossary(secrets.token_hex(16), name, dictionaries, owner))

    def update(self, glossary: StoredGlossary, **changes: Any) -> StoredGlossary:
        """Store a glossary with another name, or other dictionaries."""
        return self._store(replace(glossary, **changes))

    def delete(self, glossary: StoredGlossary) -> None:
        """Delete a glossary."""
        self._file(glossary).unlink(missing_ok=True)
        self._known.pop(glossary.id, None)

    def _store(self, glossary: StoredGlossary) -> StoredGlossary:
        file = self._file(glossary)
        if sum(len(terms.terms) for terms in glossary.dictionaries.values()) > MAX_ENTRIES:
            raise Refusal(f"a glossary may have {MAX_ENTRIES:,} entries", 413)
        dictionaries = [
            {"source": source, "target": target, "entries": terms.terms}
            for (source, target), terms in glossary.dictionaries.items()
        ]
        facts = {"name": glossary.name, "owner": glossary.owner, "created": glossary.created}
        with self._lock:
            write_text(file, json.dumps(facts | {"dictionaries": dictionaries}, ensure_ascii=False, indent=1))
            self._known[glossary.id] = glossary
        return glossary

    def _file(self, glossary: StoredGlossary) -> Path:
        """Where it is stored; refuses the operator's, and all if there is no folder."""
        if self._folder is None or glossary.owner is None:
            raise Refusal("glossaries cannot be changed on this server", 403)
        return self._folder / f"{glossary.id}.json"


def terms_of(entries: str, form: str) -> Glossary:
    """The terms in a table, as tsv or csv; refuses what is not a table of terms."""
    lines: list[str] = entries.splitlines()
    try:
        if form == "csv":
            lines = ["\t".join(row[:2]) for row in csv.reader(lines)]
        return Glossary.parse(lines, "entries")
    except (PtenmtError, csv.Error) as error:
        raise Refusal(str(error)) from error


def table_of(terms: Glossary) -> str:
    """Terms as a table, separated by tabs."""
    return "\n".join("\t".join(entry) for entry in terms.terms.items())


def _read(file: Path) -> StoredGlossary:
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        dictionaries = {
            (each["source"], each["target"]): Glossary(each["entries"]) for each in facts["dictionaries"]
        }
        return StoredGlossary(file.stem, facts["name"], dictionaries, facts["owner"], facts["created"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(f"{file} is not a stored glossary", "remove it from the folder") from error
