"""The sentence pairs of a run from any source: read, prepared, filtered and split."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib import metadata
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from unicodedata import unidata_version

import numpy as np

from ptenmt.config import Config, CorpusFile, DataConfig, TokenizerConfig
from ptenmt.data import filters
from ptenmt.data.corpora import PublicCorpus, fetch_corpora
from ptenmt.data.download import published_tokenizer
from ptenmt.data.filters import Filter, FilterReport, bare_text, complete, digest
from ptenmt.data.readers import DEMO_FILE, SentencePair, demo_pairs, read_pairs, status
from ptenmt.data.store import Chunk, Entry, NumberedChunk, TextPairs, corpus_cache, in_chunks, write_texts
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError, OnDownload
from ptenmt.processes import parallel_map

HeldOutSplit = Literal["validation", "test"]
_Split = Literal["train"] | HeldOutSplit
_ChunkWork = Callable[[NumberedChunk], tuple[int, Chunk, FilterReport]]
"""What can be done to each chunk alone, in another process."""

_HELD_OUT: tuple[HeldOutSplit, ...] = ("validation", "test")
_SPLITS: tuple[_Split, ...] = ("train", *_HELD_OUT)
# Options that the training pairs do not depend on, or only through the files that they name.
_ELSEWHERE = {option.name for option in fields(DataConfig) if option.metadata.get("resumable")}
_ELSEWHERE.add("augment")
_OVERLAP = "held out"


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Prepared sentence pairs, ready for tokenization."""

    train: TextPairs
    validation: list[SentencePair]
    test: list[SentencePair]
    reports: list[FilterReport]

    @property
    def removed(self) -> dict[str, int]:
        """Number of training pairs that each filter removed, in the order of application."""
        return FilterReport.total(self.reports).num_removed


def fetch_sources(config: Config, on_progress: OnDownload | None = None) -> TokenizerConfig:
    """Download the dataset, corpora and tokenizer of a config, unless they are on this machine.

    Only ``data.source: tfds``, corpora in ``data`` and ``tokenizer.kind: wordpiece`` need downloads. Returns
    the tokenizer's options, with ``path`` set to the folder of the published tokenizer.

    Raises:
        DownloadError: A file cannot be fetched, verified or unpacked.
        DataError: The dataset is unknown or cannot be prepared.
        TokenizerError: ``tokenizer.path`` contains no tokenizer.
    """
    options = config.tokenizer
    if options.kind == "wordpiece":
        folder = published_tokenizer(options.path, on_progress)
        options = replace(options, path=str(folder))
    fetch_data(config.data, on_progress)
    return options


def fetch_data(data: DataConfig, on_progress: OnDownload | None = None) -> None:
    """Download what ``fetch_sources`` downloads, but the tokenizer; errors as there."""
    if data.source == "tfds":
        from ptenmt.data.tfds import prepare_tfds  # which imports TensorFlow

        prepare_tfds(data.dataset, data.data_dir, on_progress)
    fetch_corpora(data, on_progress)


def load_corpus(data: DataConfig, seed: int) -> Corpus:
    """Load all sentence pairs of a run; the training pairs are read only if they are not in the cache.

    Text is prepared on all splits; filters and tags apply to training pairs only.
    Validation and test pairs that have no files of their own are split off the training pairs before any
    filter but the one for empty sentences; ``seed`` decides which. Training pairs that share a sentence with
    validation or test are removed (see ``overlap_filter``), unless ``data.hold_out`` is false.

    Raises:
        DataError: A file cannot be read, or no pair is left of a split.
        OutputError: The cache cannot be written.
    """
    sources = Sources(data)
    splits = {split: _held_out_pairs(sources, seed, split) for split in _HELD_OUT}
    entry = _training_pairs(sources, seed)
    return Corpus(
        train=TextPairs(entry.folder, entry.facts["sizes"], entry.facts["fingerprint"]),
        reports=[FilterReport(**values) for values in entry.facts["reports"]],
        **splits,
    )


def load_split(data: DataConfig, seed: int, split: HeldOutSplit) -> list[SentencePair]:
    """Load the validation or test pairs of ``load_corpus`` alone; errors as there.

    The training pairs are read only if this split is drawn from them and is not in the cache.
    """
    if split not in _HELD_OUT:
        raise DataError(f"there is no split {split!r}", f"splits to score: {', '.join(_HELD_OUT)}")
    return _held_out_pairs(Sources(data), seed, split)


def _held_out_pairs(sources: "Sources", seed: int, split: HeldOutSplit) -> list[SentencePair]:
    pairs = sources.given_pairs(split)
    if pairs is None:
        drawn = _training_pairs(sources, seed).facts["held_out"][split]
        pairs = [(source, target) for source, target in drawn]  # JSON has lists
    _require_pairs(split, pairs)
    return _directed(sources.data, pairs)


def _training_pairs(sources: "Sources", seed: int) -> Entry:
    """Prepare the training pairs and the splits drawn from them, unless they are in the cache."""
    cache = corpus_cache(sources.data.cache_dir)
    return cache.entry("text", sources.key(seed), lambda folder: _write_training_pairs(folder, sources, seed))


def _prepared_chunk(data: DataConfig, numbered: NumberedChunk) -> tuple[int, Chunk, FilterReport]:
    """Prepare the text of a chunk, and remove pairs without text on a side."""
    number, chunk = numbered
    report = FilterReport("", num_read=len(chunk))
    if data.filters.unescape_html:
        chunk = [(filters.unescape(source), filters.unescape(target)) for source, target in chunk]
    return number, report.apply(list(_prepared(data, chunk)), {"empty": complete}), report


def _filtered_chunk(chosen: Mapping[str, Filter], numbered: NumberedChunk) -> tuple[int, Chunk, FilterReport]:
    report = FilterReport("")
    return numbered[0], report.apply(numbered[1], chosen), report


def _write_training_pairs(folder: Path, sources: "Sources", seed: int) -> dict[str, Any]:
    data, files = sources.data, sources.splits["train"]
    reports = [FilterReport(source.name) for source in files]

    def done(work: _ChunkWork, chunks: Iterable[NumberedChunk]) -> Iterator[NumberedChunk]:
        for number, chunk, report in parallel_map(work, chunks):
            reports[number].add(report)
            yield number, chunk

    own = [split for split in _HELD_OUT if sources.splits[split]]
    given = [pair for split in own for pair in sources.given_pairs(split) or ()]
    per_chunk = filters.pair_filters(data)
    with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as spool:
        # The held-out pairs are known when all are read; text is prepared once, during that reading.
        prepared = done(partial(_prepared_chunk, data), sources.training_chunks())
        stored = write_texts(Path(spool), prepared, len(reports))
        drawn = split_off(stored, sources.sizes, seed)
        held_out = list(chain.from_iterable(drawn.values()))
        if given or data.hold_out:
            per_chunk = {_OVERLAP: filters.overlap_filter(given, held_out), **per_chunk}
        numbered = ((number, chunk) for number in range(len(files)) for chunk in stored.chunks(number))
        filtered = done(partial(_filtered_chunk, per_chunk), numbered)
        unseen = filters.duplicate_filters(data)
        left = ((number, reports[number].apply(chunk, unseen)) for number, chunk in filtered)
        final = ((number, _directed(data, chunk, files[number].tag)) for number, chunk in left)
        train = write_texts(folder, final, len(reports))
    for report, size in zip(reports, train.sizes, strict=True):
        report.num_left = size
    _require_pairs("training", train, FilterReport.total(reports).num_removed)
    return {
        "sizes": train.sizes,
        "fingerprint": train.fingerprint,
        "reports": [asdict(report) for report in reports],
        "held_out": drawn,
    }


def _directed(data: DataConfig, pairs: list[SentencePair], tag: str | None = None) -> list[SentencePair]:
    """Turn prepared pairs into the direction of the model, and put a tag before the sources.

    This comes last, so that filters see the languages as configured and both directions have one split.
    """
    if data.reverse:
        pairs = [(target, source) for source, target in pairs]
    return [(f"{tag} {source}", target) for source, target in pairs] if tag else pairs


@dataclass(frozen=True)
class Source:
    """Pairs of a split that are read, tagged and reported together."""

    name: str
    read: Callable[[], Iterable[SentencePair]]
    """Reads the pairs, unprepared and in their own direction."""
    paths: Sequence[Path]
    tag: str | None = None
    limit: int | None = None

    def states(self) -> Iterator[list[Any]]:
        """Yield path, size and times of each file, which change with its content."""
        for path in self.paths:
            state = status(path)
            yield [str(path.absolute()), state.st_size, state.st_mtime_ns, state.st_ctime_ns]


def _sources(data: DataConfig, split: _Split) -> list[Source]:
    """Return where the pairs of a split come from; nothing if they are drawn from the training pairs."""
    files: Sequence[CorpusFile] = getattr(data, split)
    if split == "train" and data.path:
        files = [CorpusFile(path=data.path)]
    if files or data.source == "files":
        sources = []
        for file in files:
            paths = [Path(path) for path in (file.path, file.source, file.target) if path]
            read: Callable[[], Iterable[SentencePair]] = partial(read_pairs, file)
            if file.corpus:
                corpus = PublicCorpus.find(file.corpus, data)
                paths, read = [corpus.archive], corpus.read
            if file.limit is not None:
                read = partial(_limited_pairs, read, file.limit)
            sources.append(Source(file.label, read, paths, file.tag, file.limit))
        return sources
    if data.source == "demo":
        return [Source("demo", partial(demo_pairs, split), [DEMO_FILE])]
    if data.source == "imported":
        raise DataError(
            "the sentence pairs that an imported model was trained on are not here",
            "name your own: --set data.path=pairs.tsv to train, --source and --reference to evaluate",
        )
    from ptenmt.data.tfds import read_tfds, tfds_files  # which imports TensorFlow

    read = partial(read_tfds, data.dataset, data.data_dir, split)
    return [Source(data.dataset, read, tfds_files(data.dataset, data.data_dir))]


class Sources:
    """Where the pairs of all splits come from, found once for a config; DataError if a file is missing."""

    def __init__(self, data: DataConfig) -> None:
        self.data = data
        self.splits = {split: _sources(data, split) for split in _SPLITS}
        """Those of a split; none if its pairs are drawn from the training pairs."""

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs to draw for each split that has none of its own."""
        sizes = {"validation": self.data.validation_pairs, "test": self.data.test_pairs}
        is_drawn = {split: self.data.hold_out and not self.splits[split] for split in _HELD_OUT}
        return {split: sizes[split] for split in _HELD_OUT if is_drawn[split]}

    def key(self, seed: int) -> dict[str, Any]:
        """Everything that the training pairs and the splits drawn from them depend on."""
        data, sizes = self.data, self.sizes
        options = {name: value for name, value in asdict(data).items() if name not in _ELSEWHERE}
        packages = ["sacremoses"] if data.tokenization == "moses" else []
        if data.filters.right_language:
            packages.append("py3langid")
        return {
            "options": options | {"split_off": list(sizes), "seed": seed if sizes else None},
            "versions": [unidata_version, *map(metadata.version, packages)],
            "sources": {
                split: [[source.name, source.tag, source.limit, *source.states()] for source in of_split]
                for split, of_split in self.splits.items()
            },
        }

    def training_chunks(self) -> Iterator[NumberedChunk]:
        """Yield the pairs of all training files, unprepared."""
        for number, source in enumerate(self.splits["train"]):
            for chunk in in_chunks(source.read()):
                yield number, chunk

    def given_pairs(self, split: HeldOutSplit) -> list[SentencePair] | None:
        """Read a split of its own, or all training pairs; None if it is drawn from the training pairs."""
        if not self.splits[split]:
            if self.data.hold_out:
                return None
            work = partial(_prepared_chunk, self.data)
            return [pair for _, chunk, _ in parallel_map(work, self.training_chunks()) for pair in chunk]
        is_published = not getattr(self.data, split)
        pairs = []
        for source in self.splits[split]:
            for number, pair in enumerate(_prepared(self.data, source.read()), start=1):
                if not (all(pair) or is_published):
                    raise DataError(
                        f"pair {number} of {source.name} has an empty side",
                        f"every {split} pair needs both: add or remove it",
                    )
                pairs.append(pair)
        return pairs


def raw_training_pairs(data: DataConfig) -> Iterator[SentencePair]:
    """Read the training pairs, unprepared and in their own direction."""
    return chain.from_iterable(source.read() for source in _sources(data, "train"))


def _limited_pairs(read: Callable[[], Iterable[SentencePair]], limit: int) -> Iterator[SentencePair]:
    """Read this many pairs, evenly spaced; they are counted first."""
    total = sum(1 for _ in read())
    share = min(limit, total)
    for row, pair in enumerate(read()):
        if row * share // total < (row + 1) * share // total:
            yield pair


def _prepared(data: DataConfig, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    prepare = TextPreparation(data).prepare
    source_language, target_language = data.source_language, data.target_language
    return ((prepare(source, source_language), prepare(target, target_language)) for source, target in pairs)


def _require_pairs(split: str, pairs: Sized, removed: Mapping[str, int] | None = None) -> None:
    if len(pairs):
        return
    counts = ", ".join(f"{count:,} {name}" for name, count in (removed or {}).items() if count)
    raise DataError(
        f"no {split} pair is left" + (f" (left out: {counts})" if counts else ""),
        hint="give more pairs, without sentences of the validation or test pairs, or loosen data.filters; to "
        "overfit a few on purpose, set data.hold_out to false",
    )


def split_off(pairs: TextPairs, sizes: Mapping[str, int], seed: int) -> dict[str, list[SentencePair]]:
    """Draw pairs for validation or test; returned by split, they are still among all pairs.

    Pairs are ranked by a hash of seed and text, so that neither their order nor other pairs change a pair's
    rank. A pair is drawn once, however often it occurs, and no two splits share a side of a pair, compared
    without case, punctuation and spaces. Of each split the wanted number is drawn, but at least 1 and at most
    a tenth of the different pairs.
    """
    if not sizes:
        return {}
    ranks = parallel_map(partial(_ranks, seed), pairs.chunks())
    _, last = np.unique(np.concatenate([np.empty(0, np.uint64), *ranks])[::-1], return_index=True)
    ranked = iter([len(pairs) - 1 - row for row in last.tolist()])  # the last occurrence of each
    drawn: dict[str, list[SentencePair]] = {}
    taken: tuple[set[bytes], set[bytes]] = (set(), set())
    for split, size in sizes.items():
        candidates = (pair for pair in map(pairs.__getitem__, ranked) if not _is_taken(pair, taken))
        drawn[split] = list(islice(candidates, max(1, min(size, len(last) // 10))))
        for side, texts in enumerate(taken):
            texts.update(bare_text(pair[side]) for pair in drawn[split])
    return drawn


def _is_taken(pair: SentencePair, taken: tuple[set[bytes], set[bytes]]) -> bool:
    return any(bare_text(text) in texts for text, texts in zip(pair, taken, strict=True))


def _ranks(seed: int, chunk: Chunk) -> np.ndarray:
    """Return the rank of each pair, uint64 [pairs]."""
    texts = (f"{seed}\t{source.casefold()}\t{target.casefold()}" for source, target in chunk)
    return np.frombuffer(b"".join(map(digest, texts)), ">u8").astype(np.uint64)
