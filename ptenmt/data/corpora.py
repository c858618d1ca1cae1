"""Public parallel corpora by name, such as ``OPUS-ted2020-v1-eng-por``, through mtdata, the WMT's own tool.

mtdata knows where 290,000 data sets are, how their archives are laid out and what to cite. Its index has
140 MB on disk and takes seconds to load, so it is imported only to list corpora or to fetch one. A fetched
corpus is stored in ``corpora/<name>/`` of the user's cache: its pairs, and a JSON file of facts.
"""

import bz2
import contextlib
import gzip
import json
import logging
import lzma
import os
import pickle
import shutil
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
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
from ptenmt.errors import ConfigError, DataError, DownloadError, DownloadProgress, OnDownload, did_you_mean

logger = logging.getLogger(__name__)

_PAIRS, _FACTS, _DOWNLOADS = "pairs.tsv.gz", "corpus.json", "downloads"
_REPORT_EVERY = 20_000  # pairs
_COMPRESSION = 3  # of gzip: twice as fast as 6, 8% larger
_OPENERS = {
    suffix: partial(module.open, newline="\n")  # a lone \r ends no line
    for suffix, module in ((".gz", gzip), (".xz", lzma), (".bz2", bz2))
}
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)
_LICENCES = json.loads(Path(__file__).with_name("licences.json").read_text(encoding="utf-8"))
"""mtdata has none. What publishers state, by a pattern of the corpus' whole name."""


def list_corpora(source_language: str, target_language: str, search: str = "") -> list[dict[str, Any]]:
    """List the corpora of a language pair, in either direction; needs no network.

    Languages are ISO 639 codes, with or without a region: ``pt``, ``por``, ``pt-BR``; only names that contain
    ``search``, in any case, are listed. Returns of each corpus ``name`` (``<source>-<data
    set>-<version>-<language>-<language>``), ``version``, ``languages`` (ISO 639-3 codes), ``urls``,
    ``licence`` and ``citations`` (keys of BibTeX entries). Raises ConfigError if a language is unknown.
    """
    entries = _entries(_tags(source_language, target_language))
    return [_facts(entry) for entry in entries if search.lower() in str(entry.did).lower()]


def fetch_corpora(data: DataConfig, on_progress: OnDownload | None = None) -> list[dict[str, Any]]:
    """Download the corpora that a config names, unless they are on this machine.

    Returns facts of each corpus for ``run.json``: those of ``list_corpora``, ``bibtex``, ``pairs``,
    ``skipped`` (pairs without text on one side, or not in UTF-8) and ``sha256`` of its archives.

    Raises:
        ConfigError: A language of the config is unknown.
        DataError: A corpus is unknown, of other languages, empty, or its sides differ in length.
        DownloadError: A corpus cannot be fetched, or its archive is damaged.
        OutputError: The cache cannot be written.
    """
    files = [*data.train, *data.validation, *data.test]
    names = list(dict.fromkeys(file.corpus for file in files if file.corpus))
    if any(_stored(name) is None for name in names):
        with output_errors(f"write {_folder()}"), exclusive(_folder() / "lock"), _mtdata():
            missing = [name for name in names if _stored(name) is None]  # others may have fetched some
            for entry in [_entry(name, data) for name in missing]:  # all, before the first download
                _fetch(entry, on_progress)
            shutil.rmtree(_folder() / _DOWNLOADS, ignore_errors=True)  # some corpora share an archive
    return [corpus_facts(name, data) for name in names]


def read_corpus(name: str, data: DataConfig) -> Iterator[SentencePair]:
    """Read a fetched corpus in a config's direction; DataError if it is not here, or of other languages."""
    is_swapped = _is_swapped(name, corpus_facts(name, data)["languages"], data)
    pairs = read_pairs(CorpusFile(path=str(stored_pairs(name))))
    return ((target, source) for source, target in pairs) if is_swapped else pairs


def corpus_facts(name: str, data: DataConfig) -> dict[str, Any]:
    """The facts of a fetched corpus, as of ``fetch_corpora`` (errors as of ``read_corpus``)."""
    facts: dict[str, Any] = json.loads((stored_pairs(name).parent / _FACTS).read_text(encoding="utf-8"))
    _is_swapped(name, facts["languages"], data)
    return facts


def stored_pairs(name: str) -> Path:
    """The file of a fetched corpus; DataError if it is not on this machine."""
    if (folder := _stored(name)) is None:
        raise DataError(
            f"corpus {name} is not on this machine",
            hint="fetch it first with the config you use: ptenmt download --config opus.yaml",
        )
    return folder / _PAIRS


def _folder() -> Path:
    return platformdirs.user_cache_path("ptenmt") / "corpora"


@contextlib.contextmanager
def _mtdata() -> Iterator[Any]:
    """The package mtdata, which must not print, set up the root logger, nor write outside of our cache."""
    os.environ.setdefault("MTDATA", str(_folder()))  # read when it is imported
    root, silent = logging.getLogger(), logging.NullHandler()
    root.addHandler(silent)  # with a handler there, it installs none
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mtdata.entry

            yield mtdata
    finally:
        root.removeHandler(silent)


def _index() -> Any:
    """The module ``mtdata.index``; at the first import it makes an index and stores it as a pickle."""
    with _mtdata() as mtdata:
        file = mtdata.cached_index_file
        if "mtdata.cache" not in sys.modules:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                logger.warning("indexing all public corpora: half a minute, once")
            # It would also import mtdata*.py from the working folder.
            with exclusive(file.with_suffix(".lock")), contextlib.chdir(file.parent):
                try:
                    import_module("mtdata.cache")  # and with it the index
                except (EOFError, pickle.UnpicklingError):  # a killed process wrote half of it
                    file.unlink()
                    import_module("mtdata.cache")
        return mtdata.index


def _tags(*codes: str) -> tuple[Any, ...]:
    with _mtdata() as mtdata:
        try:
            return tuple(mtdata.iso.bcp47.bcp47(code) for code in codes)
        except (ValueError, AssertionError) as error:
            raise ConfigError(f"corpora need ISO 639 codes of languages, such as pt: {error}") from error


def two_letter_code(code: str) -> str:
    """The ISO 639-1 code of a language by its three-letter code, such as ``por``; empty if there is none."""
    with _mtdata() as mtdata:
        three = mtdata.iso.iso3_code(code)
        return next((two for two, other in mtdata.iso.iso639_1.ISO693_1_to_3.items() if other == three), "")


def _entries(tags: Sequence[Any]) -> list[Any]:
    """The index entries of a language pair, without those that need the Hugging Face hub's library."""
    entries = _index().get_entries(langs=tags, fuzzy_match=True)
    return [entry for entry in entries if entry.ext != "hfds"]


def _identities(name: str) -> list[Any]:
    """The data set ids that a name may mean: as it is written, and with the languages exchanged."""
    with _mtdata() as mtdata:
        try:
            given = mtdata.entry.DatasetId.parse(name)
        except Exception:  # mtdata raises bare ones
            return []
    return [given, replace(given, langs=given.langs[::-1])]


def _stored(name: str) -> Path | None:
    folders = (_folder() / str(identity) for identity in _identities(name))
    return next((folder for folder in folders if (folder / _FACTS).is_file()), None)


def _is_swapped(name: str, languages: Sequence[str], data: DataConfig) -> bool:
    """Whether a corpus has the config's target language first; DataError if it has other languages."""
    wanted, tags = _tags(data.source_language, data.target_language), _tags(*languages)
    for is_swapped, order in ((False, tags), (True, tags[::-1])):
        if len(tags) == 2 and wanted[0].is_compatible(order[0]) and wanted[1].is_compatible(order[1]):
            return is_swapped
    ours = f"{data.source_language}-{data.target_language}"
    raise DataError(
        f"corpus {name} is of {'-'.join(languages)}, not of the config's {ours}",
        hint=f"list those of this pair: ptenmt corpora --languages {ours}",
    )


def _entry(name: str, data: DataConfig) -> Any:
    index = _index().INDEX
    entry = next((index[identity] for identity in _identities(name) if identity in index), None)
    if entry is None:
        known = (str(entry.did) for entry in _entries(_tags(data.source_language, data.target_language)))
        raise DataError(
            f"there is no corpus {name}{did_you_mean(name, known, num=3)}",
            f"list all: ptenmt corpora --languages {data.source_language}-{data.target_language}",
        )
    _is_swapped(name, [str(tag) for tag in entry.did.langs], data)
    if entry.ext == "hfds":
        raise DataError(
            f"corpus {name} is on the Hugging Face hub, from which ptenmt cannot fetch",
            hint="choose another, or save its pairs as a .tsv file",
        )
    return entry


def _fetch(entry: Any, on_progress: OnDownload | None) -> None:
    with _mtdata() as mtdata:
        cache, archives = mtdata.cache.Cache(_folder() / _DOWNLOADS), []
    for url in _urls(entry):
        name = entry.filename if isinstance(entry.url, str) else None
        archives.append(cache.get_local_path(url, filename=name, fix_missing=False))
        fetch(url, archives[-1], sha256=None, on_progress=on_progress)
        cache.get_flag_file(archives[-1]).touch()  # tells mtdata that it is complete
    try:
        with folder_written_whole(_folder() / str(entry.did)) as folder:
            facts = _facts(entry) | _convert(entry, cache, folder / _PAIRS, on_progress)
            facts["bibtex"] = [_index().INDEX.ref_db.get_bibtex(key) for key in facts["citations"]]
            facts["sha256"] = [file_checksum(archive) for archive in archives]
            write_text(folder / _FACTS, json_text(facts, indent=2) + "\n")
    except (DataError, DownloadError):
        for archive in archives:  # or the next attempt would find it again
            shutil.rmtree(archive.parent)  # which is of this address alone
        raise


def _convert(entry: Any, cache: Any, file: Path, on_progress: OnDownload | None) -> dict[str, Any]:
    """Write the pairs of a downloaded corpus; returns their number, and that of the others."""
    progress = DownloadProgress(
        url=_urls(entry)[0], name=str(entry.did), done=0, total=None, is_unpacking=True
    )
    num_written = num_skipped = num_bytes = 0
    with gzip.open(file, "wt", _COMPRESSION, encoding="utf-8", newline="\n") as stream:
        for first, second in _segments(entry, cache):
            if not second or "\ufffd" in first + second or entry.is_noisy(seg1=first, seg2=second):
                num_skipped += 1
                continue
            num_bytes += stream.write(tsv_line(first, second))
            num_written += 1
            if on_progress and num_written % _REPORT_EVERY == 1:
                on_progress(replace(progress, done=num_bytes))
    if not num_written:
        raise DataError(f"corpus {entry.did} is empty", "choose another corpus or version")
    if on_progress:
        on_progress(replace(progress, done=num_bytes, total=num_bytes))
    return {"pairs": num_written, "skipped": num_skipped}


def _segments(entry: Any, cache: Any) -> Iterator[tuple[str, str | None]]:
    """Read a downloaded corpus with mtdata's parsers; DownloadError if its archive is damaged, DataError."""
    with _mtdata() as mtdata:  # its own openers run xz and others as a process, and ignore their errors
        mtdata.utils.COMPRESSORS.update(_OPENERS)
    try:
        content = cache.get_entry(entry)
        if entry.is_archive and isinstance(content, Path):
            raise zipfile.BadZipFile("it is neither a zip nor a tar archive")
        parser = _parser_class(mtdata)(content, ext=entry.in_ext, ent=entry)
        for first, *others in parser.read_segs(show_pbar=False):  # some have a third part, metadata
            yield first, others[0] if others else None
    except _BROKEN as error:
        raise DownloadError(
            f"{' '.join(_urls(entry))} is damaged: {error}; the download was deleted",
            hint="try again; if it stays so, choose another corpus or version",
        ) from error
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if "unequal number of segments" in reason:
            reason = "its sides have different numbers of lines"
        raise DataError(
            f"corpus {entry.did} cannot be read: {reason}", "choose another corpus or version"
        ) from error


def _parser_class(mtdata: Any) -> Any:
    """Mtdata's parser, but a blank or short row of a .tsv file has empty texts instead of failing."""

    class Parser(mtdata.parser.Parser):  # type: ignore[misc]
        def read_tsv(self, path: Path, cols: Sequence[int], **_options: Any) -> Iterator[Any]:
            for row in super().read_tsv(path):
                texts = [row[column] if column < len(row) else "" for column in cols]
                yield texts if len(texts) > 1 else texts[0]

    return Parser


def _urls(entry: Any) -> list[str]:
    return [entry.url] if isinstance(entry.url, str) else list(entry.url)


def _facts(entry: Any) -> dict[str, Any]:
    licences = (licence for name, licence in _LICENCES.items() if fnmatchcase(str(entry.did), name))
    return {
        "name": str(entry.did),
        "version": entry.did.version,
        "languages": [str(tag) for tag in entry.did.langs],
        "urls": _urls(entry),
        "licence": next(licences, "unknown"),
        "citations": list(entry.cite or ()),
    }
