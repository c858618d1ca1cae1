"""Public corpora of OPUS (https://opus.nlpl.eu) by name, such as ``TED2020/v1``.

A name is OPUS' own: corpus, version, and where they are not the config's, the two languages, as in
``OpenSubtitles/v2018/en-pt_br``. OPUS has a zip archive for each, with a text file a language, whose lines
are aligned. Archives are stored in ``corpora/`` of the user's cache, and read as they are.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any

import platformdirs

from ptenmt.config import DataConfig
from ptenmt.data.download import fetch
from ptenmt.data.readers import SentencePair
from ptenmt.errors import DataError, DownloadError, OnDownload

_URL = "https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/{pair}.txt.zip"
_NAME = re.compile(r"([A-Za-z][\w-]*)/([\w.-]+)(?:/([a-z]{2,3}(?:_\w+)?)-([a-z]{2,3}(?:_\w+)?))?")
_OPUS = json.loads(Path(__file__).with_name("opus.json").read_text(encoding="utf-8"))
"""The licences that publishers state, by a pattern of the corpus' name, and what to cite."""


@dataclass(frozen=True)
class PublicCorpus:
    """What the name of a corpus means in a config."""

    name: str
    corpus: str
    version: str
    languages: tuple[str, str]
    """In OPUS' order, that of the alphabet."""
    is_swapped: bool
    """Whether the first one is the config's target language."""

    @classmethod
    def find(cls, name: str, data: DataConfig) -> "PublicCorpus":
        """What a name means in a config; DataError if it is no name, or of other languages."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise DataError(
                f"{name} is not the name of a public corpus",
                "name corpus and version as https://opus.nlpl.eu does, such as TED2020/v1",
            )
        wanted = (data.source_language, data.target_language)
        first, second = sorted((match[3], match[4]) if match[3] else wanted)
        of_pair = [_without_region(first), _without_region(second)]
        of_config = [_without_region(code) for code in wanted]
        if sorted(of_pair) != sorted(of_config):
            raise DataError(f"corpus {name} is not of the config's languages, {'-'.join(wanted)}")
        return cls(name, match[1], match[2], (first, second), of_pair[0] != of_config[0])

    @property
    def pair(self) -> str:
        """The languages, as OPUS names its files."""
        return "-".join(self.languages)

    @property
    def url(self) -> str:
        """The address of the archive."""
        return _URL.format(corpus=self.corpus, version=self.version, pair=self.pair)

    @property
    def archive(self) -> Path:
        """The archive on this machine."""
        folder = platformdirs.user_cache_path("ptenmt") / "corpora"
        return folder / f"{self.corpus}-{self.version}-{self.pair}.zip"

    def facts(self) -> dict[str, Any]:
        """What ``run.json`` and a model card tell of it."""
        licences = (licence for name, licence in _OPUS["licences"].items() if fnmatchcase(self.corpus, name))
        return {
            "name": self.name,
            "version": self.version,
            "languages": list(self.languages),
            "urls": [self.url],
            "licence": next(licences, "unknown"),
            "bibtex": [_OPUS["bibtex"]],
        }

    def read(self) -> Iterator[SentencePair]:
        """Read the pairs that have text on both sides, in the config's direction.

        Raises:
            DataError: The corpus is not on this machine, or its sides have different numbers of lines.
            DownloadError: The archive is damaged; it is deleted, to be fetched again.
        """
        if not self.archive.is_file():
            raise DataError(
                f"corpus {self.name} is not on this machine",
                hint="fetch it first with the config you use: ptenmt download --config opus.yaml",
            )
        try:
            with zipfile.ZipFile(self.archive) as content:
                sides = [self._opened(content, code) for code in self.languages]
                for one, other in zip_longest(*sides):
                    if one is None or other is None:
                        raise DataError(
                            f"corpus {self.name} cannot be read: its sides have different numbers of lines",
                            "choose another corpus or version",
                        )
                    pair = one.strip(), other.strip()
                    if all(pair) and "\ufffd" not in one + other:
                        yield pair[::-1] if self.is_swapped else pair
        except (EOFError, zlib.error, zipfile.BadZipFile) as error:
            self.archive.unlink(missing_ok=True)
            raise DownloadError(
                f"{self.url} is damaged: {error}; the download was deleted",
                hint="try again; if it stays so, choose another corpus or version",
            ) from error

    def _opened(self, content: zipfile.ZipFile, code: str) -> io.TextIOWrapper:
        name = next((name for name in content.namelist() if name.endswith(f".{self.pair}.{code}")), None)
        if name is None:
            raise zipfile.BadZipFile(f"it has no file that ends in {self.pair}.{code}")
        return io.TextIOWrapper(content.open(name), "utf-8", errors="replace", newline="\n")


def _without_region(code: str) -> str:
    return code.lower().replace("-", "_").partition("_")[0]


def fetch_corpora(data: DataConfig, on_progress: OnDownload | None = None) -> list[dict[str, Any]]:
    """Download the corpora that a config names, unless they are on this machine; returns facts of each.

    Raises:
        DataError: A name is none of OPUS, or a corpus is of other languages.
        DownloadError: A corpus cannot be fetched.
        OutputError: The cache cannot be written.
    """
    files = [*data.train, *data.validation, *data.test]
    names = dict.fromkeys(file.corpus for file in files if file.corpus)
    corpora = [PublicCorpus.find(name, data) for name in names]  # all, before the first download
    for corpus in corpora:
        fetch(corpus.url, corpus.archive, sha256=None, on_progress=on_progress)
    return [corpus.facts() for corpus in corpora]
