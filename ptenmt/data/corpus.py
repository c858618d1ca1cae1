"""The sentence pairs of a run from any source: read, prepared, filtered and split."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from unicodedata import unidata_version

from ptenmt.config import Config, CorpusFile, DataConfig, TokenizerConfig
from ptenmt.data.corpora import corpus_facts, fetch_corpora, read_corpus, stored_pairs
from ptenmt.data.download import OnProgress, published_tokenizer
from ptenmt.data.filters import Filter, complete, configured_filters, first_pairs, sharing_no_side, split_off
from ptenmt.data.readers import DEMO_FILE, SentencePair, demo_pairs, read_pairs, status
from ptenmt.data.store import Chunk, Entry, TextPairs, corpus_cache, fingerprint, in_chunks, write_texts
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError

HeldOutSplit = Literal["validation", "test"]
"""The splits that are not used for training."""

_HELD_OUT: tuple[HeldOutSplit, ...] = ("validation", "test")
# Options that the training pairs do not depend on, or only through the files that they name.
_ELSEWHERE = {
    "cache_dir",
    "data_dir",
    "archive_url",
    "path",
    "train",
    "validation",
    "test",
    "stages",
    "augment",
}


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Prepared sentence pairs, ready for tokenization."""

    train: TextPairs
    validation: list[SentencePair]
    test: list[SentencePair]
    removed: dict[str, int]
    """Number of training pairs removed by each filter, in the order of application."""


def fetch_sources(config: Config, on_progress: OnProgress | None = None) -> TokenizerConfig:
    """Download the dataset, corpora and tokenizer of a config, unless they are on this machine.

    Only ``data.source: tfds``, corpora in ``data`` and ``tokenizer.kind: wordpiece`` need downloads.
    ``on_progress`` is called with the state of each.

    Returns:
        The tokenizer's options, with ``path`` set to the folder of the published tokenizer.

    Raises:
        DownloadError: A file cannot be fetched, verified or unpacked.
        DataError: The dataset is unknown or cannot be prepared.
        TokenizerError: ``tokenizer.path`` contains no tokenizer.
    """
    options = config.tokenizer
    if options.kind == "wordpiece":
        folder = published_tokenizer(
            options.url, options.path, sha256=options.sha256, on_progress=on_progress
        )
        options = replace(options, path=str(folder))
    if config.data.source == "tfds":
        from ptenmt.data.tfds import prepare_tfds  # which imports TensorFlow

        prepare_tfds(config.data.dataset, config.data.data_dir, config.data.archive_url, on_progress)
    fetch_corpora(config.data, on_progress)
    return options


def load_corpus(data: DataConfig, seed: int) -> Corpus:
    """Load all sentence pairs of a run; the training pairs are read only if they are not in the cache.

    Text is prepared on all splits; filters, ``limit`` and tags apply to training pairs only.
    Validation and test pairs that have no files of their own are split off the training pairs before any
    filter but the one for empty sentences, and training pairs that share a sentence with them are removed.
    ``seed`` decides which.

    Raises:
        DataError: A file cannot be read, or no pair is left of a split.
        OutputError: The cache cannot be written.
    """
    given = {split: _given_pairs(data, split) for split in _HELD_OUT}
    entry = _training_entry(data, seed)
    splits = {split: _directed(data, pairs or _drawn_pairs(entry, split)) for split, pairs in given.items()}
    for split, pairs in splits.items():
        _require_pairs(split, pairs)
    return Corpus(train=_text_pairs(entry), removed=entry.facts["removed"], **splits)


def load_training_pairs(data: DataConfig, seed: int) -> TextPairs:
    """Load the training pairs alone; arguments and errors as for ``load_corpus``."""
    return _text_pairs(_training_entry(data, seed))


def load_split(data: DataConfig, seed: int, split: HeldOutSplit) -> list[SentencePair]:
    """Load the validation or test pairs of ``load_corpus`` alone.

    The training pairs are read only if this split is drawn from them and is not in the cache. Nothing is
    written to the cache.

    Raises:
        DataError: A file cannot be read, or there is no pair in the split.
    """
    if split not in _HELD_OUT:
        raise DataError(f"there is no split {split!r}", f"splits to score: {', '.join(_HELD_OUT)}")
    pairs = _given_pairs(data, split)
    if pairs is None:
        entry = corpus_cache(data.cache_dir).find("text", _key(data, seed))
        if entry:
            pairs = _drawn_pairs(entry, split)
        else:
            pairs = split_off(_CompletePairs(data), _sizes(data), seed)[split]
    _require_pairs(split, pairs)
    return _directed(data, pairs)


def _training_entry(data: DataConfig, seed: int) -> Entry:
    """Find or write the cache entry of the training pairs and of the splits that are drawn from them."""
    cache = corpus_cache(data.cache_dir)
    return cache.entry("text", _key(data, seed), lambda folder: _write_training_pairs(folder, data, seed))


def _text_pairs(entry: Entry) -> TextPairs:
    return TextPairs(entry.folder, entry.facts["sizes"], entry.facts["fingerprint"])


def _drawn_pairs(entry: Entry, split: HeldOutSplit) -> list[SentencePair]:
    return [(source, target) for source, target in entry.facts["held_out"].get(split, [])]


class _CompletePairs:
    """The training pairs with text on both sides, read again at each iteration."""

    def __init__(self, data: DataConfig) -> None:
        self._data = data

    def __iter__(self) -> Iterator[SentencePair]:
        for pairs in _training_sources(self._data):
            for chunk in in_chunks(pairs):
                yield from complete(chunk)


def _write_training_pairs(folder: Path, data: DataConfig, seed: int) -> dict[str, Any]:
    removed = {"empty": 0}
    filters = configured_filters(data)
    drawn: dict[str, list[SentencePair]] = {}
    sources = [_filtered(in_chunks(pairs), {"empty": complete}, removed) for pairs in _training_sources(data)]
    with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as spool:
        if _sizes(data):
            # The held-out pairs are known when all are read; text is prepared once, during that reading.
            stored = TextPairs(Path(spool), write_texts(Path(spool), sources))
            drawn = split_off(stored, _sizes(data), seed)
            held_out = list(chain.from_iterable(drawn.values()))
            filters = {"also in validation or test": sharing_no_side(held_out)} | filters
            sources = [stored.chunks(number) for number in range(len(sources))]
            removed["also in validation or test"] = -len(held_out)
        removed |= {name: removed.get(name, 0) for name in filters}
        # Beyond the limit pairs are still read, to be counted.
        limited = first_pairs(data.limit)
        left = (
            (_directed(data, limited(chunk), tag) for chunk in _filtered(chunks, filters, removed))
            for chunks, tag in zip(sources, _tags(data), strict=True)
        )
        sizes = write_texts(folder, left)
    pairs = TextPairs(folder, sizes)
    _require_pairs("training", pairs, removed)
    return {
        "sizes": sizes,
        "fingerprint": fingerprint(pairs),
        "removed": removed,
        "held_out": drawn,
    }


def _directed(data: DataConfig, pairs: list[SentencePair], tag: str | None = None) -> list[SentencePair]:
    """Turn prepared pairs into the direction of the model, and put a tag before the sources.

    This comes last, so that filters see the languages as configured and both directions have one split.
    """
    if data.reverse:
        pairs = [(target, source) for source, target in pairs]
    return [(f"{tag} {source}", target) for source, target in pairs] if tag else pairs


def _tags(data: DataConfig) -> list[str | None]:
    """Return the tag of each source of training pairs."""
    return [file.tag for file in _training_files(data)] if data.source == "files" else [None]


def _filtered(
    chunks: Iterable[Chunk], filters: Mapping[str, Filter], removed: dict[str, int]
) -> Iterator[Chunk]:
    """Apply filters, and count in ``removed`` how many pairs each removes."""
    for chunk in chunks:
        for name, keep in filters.items():
            before = len(chunk)
            chunk = keep(chunk)
            removed[name] += before - len(chunk)
        yield chunk


def _key(data: DataConfig, seed: int) -> dict[str, Any]:
    """Everything that the training pairs and the splits drawn from them depend on."""
    sizes = _sizes(data)
    options = {name: value for name, value in asdict(data).items() if name not in _ELSEWHERE}
    packages = ("sacremoses",) if data.tokenization == "moses" else ()
    return {
        "options": options | {"split_off": list(sizes), "seed": seed if sizes else None},
        "versions": [unidata_version, *map(metadata.version, packages)],
        "files": [[file.tag, file.limit, *_file_states(file)] for file in _training_files(data)],
    }


def _file_states(file: CorpusFile) -> Iterator[list[Any]]:
    """Yield path, size and times of each file, which change with its content."""
    corpus = str(stored_pairs(file.corpus)) if file.corpus else None
    for path in filter(None, (file.path, file.source, file.target, corpus)):
        state = status(Path(path))
        yield [str(Path(path).absolute()), state.st_size, state.st_mtime_ns, state.st_ctime_ns]


def _training_files(data: DataConfig) -> list[CorpusFile]:
    if data.source == "demo":
        return [CorpusFile(path=str(DEMO_FILE))]
    if data.source == "files":
        return list(data.train or (CorpusFile(path=data.path),))
    from ptenmt.data.tfds import tfds_files

    return [CorpusFile(path=str(path)) for path in tfds_files(data.dataset, data.data_dir)]


def _training_sources(data: DataConfig) -> list[Iterator[SentencePair]]:
    """Return the prepared pairs of each training file, or of the published corpus."""
    if data.source != "files":
        return [_prepared(data, published_pairs(data, "train"))]
    return [_prepared(data, _file_pairs(data, file)) for file in _training_files(data)]


def _file_pairs(data: DataConfig, file: CorpusFile) -> Iterator[SentencePair]:
    """Read the pairs of a file or a public corpus; with ``limit`` as many, evenly spaced."""
    pairs = read_corpus(file.corpus, data) if file.corpus else read_pairs(file)
    if file.limit is None:
        return pairs
    total = corpus_facts(file.corpus, data)["pairs"] if file.corpus else sum(1 for _ in read_pairs(file))
    share = min(file.limit, total)
    return (pair for row, pair in enumerate(pairs) if row * share // total < (row + 1) * share // total)


def _given_pairs(data: DataConfig, split: HeldOutSplit) -> list[SentencePair] | None:
    """Read a split of its own, or all training pairs; None if it is drawn from the training pairs."""
    files = _files(data, split)
    if files:
        return [pair for file in files for pair in _prepared(data, _file_pairs(data, file))]
    if data.source == "files" and not data.hold_out:
        return list(_CompletePairs(data))
    return None if data.source == "files" else list(_prepared(data, published_pairs(data, split)))


def _files(data: DataConfig, split: HeldOutSplit) -> tuple[CorpusFile, ...]:
    return data.validation if split == "validation" else data.test


def _sizes(data: DataConfig) -> dict[str, int]:
    """Number of pairs to draw for each split that has none of its own."""
    sizes = {"validation": data.validation_pairs, "test": data.test_pairs}
    is_split = data.source == "files" and data.hold_out
    return {split: sizes[split] for split in _HELD_OUT if is_split and not _files(data, split)}


def published_pairs(data: DataConfig, split: HeldOutSplit | Literal["train"]) -> Iterable[SentencePair]:
    """Read a split of a published corpus, unprepared and in its own direction."""
    if data.source == "demo":
        return demo_pairs(split)
    from ptenmt.data.tfds import read_tfds

    return read_tfds(data.dataset, data.data_dir, split)


def _prepared(data: DataConfig, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    prepare = TextPreparation(data).prepare
    source_language, target_language = data.source_language, data.target_language
    return ((prepare(source, source_language), prepare(target, target_language)) for source, target in pairs)


def _require_pairs(split: str, pairs: Sized, removed: Mapping[str, int] | None = None) -> None:
    if len(pairs):
        return
    reasons = ", ".join(f"{count:,} {name}" for name, count in (removed or {}).items() if count)
    raise DataError(
        f"no {split} pair is left" + (f" (removed: {reasons})" if reasons else ""),
        hint="loosen the filters in the section data, or give more pairs",
    )
