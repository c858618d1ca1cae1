"""Public corpora of OPUS (https://opus.nlpl.eu) by name, such as ``TED2020/v1``.

A name is OPUS' own: corpus, version, and where they are not the config's, the two languages, as in
``OpenSubtitles/v2018/en-pt_br``. OPUS has a zip archive for each, with a text file a language, whose lines
are aligned. A fetched corpus is stored in ``corpora/`` of the user's cache: its pairs, and a JSON file of
facts.
"""

import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any

import platformdirs

from ptenmt.atomic_files import (
    exclusive,
    file_checksum,
    folder_written_whole,
    json_text,
    output_errors,
    write_text,
)
from ptenmt.config import CorpusFile, DataConfig
from ptenmt.data.download import fetch
from ptenmt.data.readers import SentencePair, read_pairs, tsv_line
from ptenmt.errors import DataError, DownloadError, DownloadProgress, OnDownload

_URL = "https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/{pair}.txt.zip"
_NAME = re.compile(r"([A-Za-z][\w-]*)/([\w.-]+)(?:/([a-z]{2,3}(?:_\w+)?)-([a-z]{2,3}(?:_\w+)?))?")
_PAIRS, _FACTS = "pairs.tsv.gz", "corpus.json"
_REPORT_EVERY = 20_000  # pairs
_COMPRESSION = 3  # of gzip: twice as fast as 6, 8% larger
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile)
_LICENCES = json.loads(Path(__file__).with_name("licences.json").read_text(encoding="utf-8"))
"""What publishers state, by a pattern of the corpus' name."""
_BIBTEX = """@inproceedings{tiedemann2012parallel,
  title = {Parallel Data, Tools and Interfaces in {OPUS}},
  author = {Tiedemann, J{\\"o}rg},
  booktitle = {Proceedings of the Eighth International Conference on Language Resources and Evaluation},
  year = {2012}
}"""


@dataclass(frozen=True)
class _PublicCorpus:
    """What the name of a corpus means in a config."""

    name: str
    corpus: str
    version: str
    languages: tuple[str, str]
    """In OPUS' order, that of the alphabet."""
    is_swapped: bool
    """Whether the first one is the config's target language."""

    @classmethod
    def find(cls, name: str, data: DataConfig) -> "_PublicCorpus":
        """What a name means in a config; DataError if it is no name, or of other languages."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise DataError(
                f"{name} is not the name of a public corpus",
                "name corpus and version as https://opus.nlpl.eu does, such as TED2020/v1",
            )
        wanted = (data.source_language, data.target_language)
        first, second = sorted((match[3], match[4]) if match[3] else wanted)
        of_pair = [code.lower().partition("_")[0] for code in (first, second)]
        if sorted(of_pair) != sorted(code.lower().replace("-", "_").partition("_")[0] for code in wanted):
            raise DataError(f"corpus {name} is not of the config's languages, {'-'.join(wanted)}")
        is_swapped = of_pair[0] != wanted[0].lower().replace("-", "_").partition("_")[0]
        return cls(name, match[1], match[2], (first, second), is_swapped)

    @property
    def pair(self) -> str:
        return "-".join(self.languages)

    @property
    def url(self) -> str:
        return _URL.format(corpus=self.corpus, version=self.version, pair=self.pair)

    @property
    def folder(self) -> Path:
        return _folder() / f"{self.corpus}-{self.version}-{self.pair}"

    def facts(self) -> dict[str, Any]:
        licences = (licence for name, licence in _LICENCES.items() if fnmatchcase(self.corpus, name))
        return {
            "name": self.name,
            "version": self.version,
            "languages": list(self.languages),
            "urls": [self.url],
            "licence": next(licences, "unknown"),
            "bibtex": [_BIBTEX],
        }


def fetch_corpora(data: DataConfig, on_progress: OnDownload | None = None) -> list[dict[str, Any]]:
    """Download the corpora that a config names, unless they are on this machine.

    Returns facts of each corpus for ``run.json``: ``name``, ``version``, ``languages``, ``urls``,
    ``licence``, ``bibtex``, ``pairs``, ``skipped`` (pairs without text on one side, or not in UTF-8) and
    ``sha256`` of its archive.

    Raises:
        DataError: A name is none of OPUS, or a corpus is of other languages, empty, or its sides differ in
            length.
        DownloadError: A corpus cannot be fetched, or its archive is damaged.
        OutputError: The cache cannot be written.
    """
    files = [*data.train, *data.validation, *data.test]
    names = dict.fromkeys(file.corpus for file in files if file.corpus)
    corpora = [_PublicCorpus.find(name, data) for name in names]  # all, before the first download
    for corpus in corpora:
        if not _is_stored(corpus):
            with output_errors(f"write {_folder()}"), exclusive(_folder() / "lock"):
                if not _is_stored(corpus):  # another process may have fetched it
                    _fetch(corpus, on_progress)
    return [corpus_facts(name, data) for name in names]


def read_corpus(name: str, data: DataConfig) -> Iterator[SentencePair]:
    """Read a fetched corpus in a config's direction; DataError if it is not here, or of other languages."""
    pairs = read_pairs(CorpusFile(path=str(stored_pairs(name, data))))
    is_swapped = _PublicCorpus.find(name, data).is_swapped
    return ((target, source) for source, target in pairs) if is_swapped else pairs


def corpus_facts(name: str, data: DataConfig) -> dict[str, Any]:
    """The facts of a fetched corpus, as of ``fetch_corpora`` (errors as of ``read_corpus``)."""
    facts = json.loads((stored_pairs(name, data).parent / _FACTS).read_text(encoding="utf-8"))
    return {**facts, "name": name}


def stored_pairs(name: str, data: DataConfig) -> Path:
    """The file of a fetched corpus (errors as of ``read_corpus``)."""
    corpus = _PublicCorpus.find(name, data)
    if not _is_stored(corpus):
        raise DataError(
            f"corpus {name} is not on this machine",
            hint="fetch it first with the config you use: ptenmt download --config opus.yaml",
        )
    return corpus.folder / _PAIRS


def _folder() -> Path:
    return platformdirs.user_cache_path("ptenmt") / "corpora"


def _is_stored(corpus: _PublicCorpus) -> bool:
    return (corpus.folder / _FACTS).is_file()


def _fetch(corpus: _PublicCorpus, on_progress: OnDownload | None) -> None:
    archive = _folder() / f"{corpus.folder.name}.zip"
    fetch(corpus.url, archive, sha256=None, on_progress=on_progress)
    try:
        with folder_written_whole(corpus.folder) as folder:
            facts = corpus.facts() | _convert(corpus, archive, folder / _PAIRS, on_progress)
            facts["sha256"] = [file_checksum(archive)]
            write_text(folder / _FACTS, json_text(facts, indent=2) + "\n")
    finally:  # a damaged one, or the next attempt would find it again
        archive.unlink(missing_ok=True)


def _convert(
    corpus: _PublicCorpus, archive: Path, file: Path, on_progress: OnDownload | None
) -> dict[str, Any]:
    """Write the pairs of a downloaded corpus; returns their number, and that of the others."""
    progress = DownloadProgress(url=corpus.url, name=corpus.name, done=0, total=None, is_unpacking=True)
    num_written = num_skipped = num_bytes = 0
    with gzip.open(file, "wt", _COMPRESSION, encoding="utf-8", newline="\n") as stream:
        for first, second in _lines(corpus, archive):
            if not first.strip() or not second.strip() or "\ufffd" in first + second:
                num_skipped += 1
                continue
            num_bytes += stream.write(tsv_line(first.strip(), second.strip()))
            num_written += 1
            if on_progress and num_written % _REPORT_EVERY == 1:
                on_progress(replace(progress, done=num_bytes))
    if not num_written:
        raise DataError(f"corpus {corpus.name} is empty", "choose another corpus or version")
    if on_progress:
        on_progress(replace(progress, done=num_bytes, total=num_bytes))
    return {"pairs": num_written, "skipped": num_skipped}


def _lines(corpus: _PublicCorpus, archive: Path) -> Iterator[SentencePair]:
    """Read the aligned lines of an archive; DownloadError if it is damaged, DataError if they differ."""
    try:
        with zipfile.ZipFile(archive) as content:
            sides = [
                next((name for name in content.namelist() if name.endswith(f".{corpus.pair}.{code}")), None)
                for code in corpus.languages
            ]
            if None in sides:
                raise zipfile.BadZipFile(f"it has no files that end in {corpus.pair}.{corpus.languages[0]}")
            first, second = (
                io.TextIOWrapper(content.open(str(side)), "utf-8", errors="replace", newline="\n")
                for side in sides
            )
            for one, other in zip_longest(first, second):
                if one is None or other is None:
                    raise DataError(
                        f"corpus {corpus.name} cannot be read: its sides have different numbers of lines",
                        "choose another corpus or version",
                    )
                yield one, other
    except _BROKEN as error:
        raise DownloadError(
            f"{corpus.url} is damaged: {error}; the download was deleted",
            hint="try again; if it stays so, choose another corpus or version",
        ) from error
