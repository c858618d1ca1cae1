"""Whether the files of a config hold what it says: the languages of both sides, and no header line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from ptenmt.config import CorpusFile, DataConfig
from ptenmt.data.languages import language_check, language_name
from ptenmt.data.readers import SentencePair, read_pairs
from ptenmt.errors import DataError

_NUM_PAIRS = 500
_MIN_SHARE = 0.3
"""Of sentences that are surely in another language; of short ones, nothing is sure."""
_HEADERS = {"source", "target", "src", "tgt", "trg", "sentence", "translation", "score"}


def suspicions(data: DataConfig) -> Iterator[str]:
    """Describe what seems wrong with the first pairs of each training file; raises DataError as reading does.

    Public corpora and data sets, whose languages are known, are not read.
    """
    files = [CorpusFile(path=data.path)] if data.path else data.train
    for file in files:
        if file.corpus is None:
            pairs = list(islice(read_pairs(file), _NUM_PAIRS))
            yield from (f"{file.label}: {message}" for message in _suspicions(data, pairs))


def _suspicions(data: DataConfig, pairs: Sequence[SentencePair]) -> Iterator[str]:
    declared = data.source_language, data.target_language
    names = tuple(map(language_name, declared))
    if {side.casefold() for side in pairs[0]} <= {*_HEADERS, *declared, *map(str.casefold, names)}:
        yield f"the first line looks like a header, {' and '.join(pairs[0])}: remove it"
    found = [_other_language([pair[side] for pair in pairs], declared, side) for side in (0, 1)]
    if found == [declared[1], declared[0]]:
        yield (
            f"the columns look swapped, {names[1]} before {names[0]}: swap them, or the languages "
            "data.source_language and data.target_language"
        )
        return
    for side, option in enumerate(("source_language", "target_language")):
        if (code := found[side]) is not None:
            yield (
                f"many sentences of column {side + 1} are {language_name(code)}, not {names[side]}: "
                f"if most are, set data.{option}={code}"
            )


def _other_language(texts: Sequence[str], declared: tuple[str, str], side: int) -> str | None:
    """The language of a side if it seems to be another than declared; None also if that is not known."""
    try:
        languages = language_check(declared).foreign(texts, declared[side])
    except DataError:
        return None
    counts = Counter(filter(None, languages))
    code, count = next(iter(counts.most_common(1)), (None, 0))
    return code if count >= _MIN_SHARE * len(texts) else None
