"""The starter model's training, validation and test files: python tools/starter_data.py CORPORA FOLDER.

CORPORA has pt-en/, related/, dictionary/ and mono/, the files that the tables below name, and tfds/, the TED
pairs as TensorFlow Datasets keeps them. Only text whose licence allows passing the model on is used.

Writes into FOLDER

- ted-valid.tsv and ted-test.tsv: TED's pairs in natural spacing, never trained on;
- tatoeba-test.tsv: 1,000 of the direct Tatoeba pairs of four words or more on each side, none of which shares
  a sentence with another;
- everyday.tsv and rare-nouns.tsv: tests/everyday.tsv and the pairs of benchmarks/acceptance_nouns.tsv;
- pt-en/ and related/: the training pairs, without every pair that has a sentence of these test files on
  either side, compared without case, punctuation and spaces;
- dictionary.tsv.gz: words and their usual translations; words.tsv.gz: the same with parts of speech;
- mono.pt.gz and mono.en.gz, everyday sentences, and prose.pt.gz and prose.en.gz: plain text to translate, in
  random order, without those sentences;
- names.txt: names of people and towns, which may replace each other;
- quantities.tsv.gz: the grammar's pairs (quantities.py), without the sources of the acceptance sets, too;
- vocabulary.tsv.gz: lines of both side by side, which are no translations of each other, for the tokenizer.
"""

import argparse
import gzip
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from quantities import Grammar, Writer

from ptenmt.data.filters import bare_text
from ptenmt.data.text import detokenize_tokens

NUM_TEST_PAIRS = 1000
NUM_VOCABULARY_PAIRS = 85_000
NUM_QUANTITIES = 240_000
MIN_WORDS, MAX_WORDS = 2, 40
"""Length of the plain text's lines."""

MAX_REPEATS = 4
"""Pairs of one file that may share a side."""

WORD = re.compile(r"[^\W\d_]+")
CURRENCY = re.compile(r"[$€£¥]")
NUM_MADE_UP_NAMES = 600
"""Of each kind; about half of them can be read aloud."""
VOWELS = "aeiouyáâãéêíóôõúü"
THREE_VOWELS_OR_CONSONANTS = re.compile(rf"[{VOWELS}]{{3}}|[^{VOWELS}]{{3}}", re.IGNORECASE)

PAIRS = {
    "tatoeba": "CC BY 2.0 FR",
    "tatoeba_more": "CC BY 2.0 FR",
    "tatoeba_pivot": "CC BY 2.0 FR",
    "tatoeba_lingua": "CC BY 2.0 FR",
    "phrasebooks": "CC0, CC BY-SA 3.0",
    "mt_geneval": "CC BY-SA 3.0",
    "mozilla": "MPL 2.0",
    "opensource_guide": "CC BY 4.0",
    "gnome_br": "CC BY 3.0",
    "gnome_pt": "CC BY 3.0",
    "react_docs": "CC BY 4.0",
    "fastapi_docs": "MIT",
    "iot_lessons": "MIT",
    "astro_docs": "MIT",
    "elixirschool": "Apache-2.0",
    "hf_course": "Apache-2.0",
    "djangogirls": "CC BY-SA 4.0",
    "raspberry_projects": "CC BY-SA 4.0",
    "tldr": "CC BY 4.0",
    "evolve": "MPL 2.0",
    "apps_open": "MIT, BSD-2-Clause, Apache-2.0, MPL 2.0",
    "osm_presets": "ISC",
    "suttas": "CC0",
    "python_docs": "CC0",
    "php_docs": "CC BY 3.0",
    "bible": "public domain",
    "aquifer": "CC BY-SA 4.0",
    "tatoeba_mirror": "CC BY 2.0 FR",
    "tatoeba_pivot2": "CC BY 2.0 FR",
    "tatoeba_pivot3": "CC BY 2.0 FR",
    "programming_historian": "CC BY 4.0",
    "debian_handbook": "CC BY-SA 3.0",
    "gnome_apps_help": "CC BY-SA 3.0, CC BY-SA 4.0",
    "libreoffice_help": "MPL 2.0",
    "mozilla_apps": "MPL 2.0",
    "android_apps": "Apache-2.0",
    "apps_open2": "MIT, BSD-2-Clause, BSD-3-Clause, MPL 2.0, ISC",
    "apps_open3": "Apache-2.0",
    "docs_open2": "CC BY 4.0, CC BY-SA 3.0, CC BY-SA 4.0, Apache-2.0",
    "docs_open3": "CC BY-SA 4.0, BSD-3-Clause, CC BY 4.0, Apache-2.0, MIT",
    "mdn": "CC BY-SA 2.5",
    "pira_qa": "CC0",
    "scielo": "CC BY",
    "open_science_handbook": "CC0",
    "nextstrain_covid": "CC BY 4.0",
    "gbif_docs": "CC BY-SA 4.0",
}
RELATED = {f"{language}-en.tatoeba": "CC BY 2.0 FR" for language in ("gl", "es", "it", "ca", "fr")}
DICTIONARIES = {
    "wiktionary": "CC BY-SA 3.0",
    "openwordnet": "CC BY-SA 3.0, CC BY 4.0",
    "cldr": "Unicode-3.0",
    "osm_places": "ISC",
}
PLAIN_TEXT = {
    "en": {
        "tatoeba": "CC BY 2.0 FR",
        "tatoeba2": "CC BY 2.0 FR",
        "common_voice": "CC0",
        "medquad": "CC BY 4.0",
        "us_government_web": "CC0",
        "plos": "CC BY",
        "state_union": "public domain",
        "wikisplit": "CC BY-SA",
        "wikipedia_gensim_sample": "CC BY-SA",
        "wikitext2_valid_test": "CC BY-SA",
        "scielo": "CC BY",
        "world_factbook": "public domain",
        "gum": "CC BY, CC BY-SA",
    },
    "pt": {
        "tatoeba": "CC BY 2.0 FR",
        "tatoeba2": "CC BY 2.0 FR",
        "common_voice": "CC0",
        "ud_gsd": "CC BY-SA 4.0",
        "ud_bosque": "CC BY-SA 4.0",
        "ud_porttinari": "CC BY-SA 4.0",
        "ud_petrogold": "CC BY-SA 4.0",
        "porsimplessent": "CC BY-SA 4.0",
        "wikipedia_paramopama": "CC BY-SA 4.0",
        "wikipedia_cesconetto": "CC BY-SA 4.0",
        "servicos_gov_br": "MIT",
        "scielo": "CC BY",
        "lener_br_legal": "MIT",
        "faquad": "CC BY 4.0",
        "caderno_rea": "CC BY-SA",
    },
}
EVERYDAY_TEXT = ("tatoeba", "tatoeba2", "common_voice")
"""Everyday sentences; the rest of the plain text is prose: news, encyclopaedias, health, administration."""


def read_rows(file: Path) -> list[tuple[str, ...]]:
    """The columns of each line."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def write_rows(file: Path, rows: Iterable[tuple[str, ...]]) -> None:
    """Write tab-separated rows, compressed where the name ends in .gz, the same bytes for the same rows."""
    text = "".join("\t".join(row) + "\n" for row in rows)
    data = text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, mtime=0) if file.suffix == ".gz" else data)
    print(f"{file}: {text.count(chr(10)):,} lines")


def ted_pairs(corpora: Path, split: str) -> list[tuple[str, ...]]:
    """TED's pairs of a split, detokenized."""
    import tensorflow_datasets as tfds

    pairs = tfds.load(
        "ted_hrlr_translate/pt_to_en",
        split=split,
        data_dir=corpora / "tfds",
        as_supervised=True,
        download=False,
    )
    return [
        (detokenize_tokens(pt.decode(), "pt"), detokenize_tokens(en.decode(), "en"))
        for pt, en in tfds.as_numpy(pairs)
    ]


def tatoeba_test_pairs(corpora: Path) -> list[tuple[str, ...]]:
    """Tatoeba's pairs for testing; the same in every run."""
    pairs = set()
    for name in ("tatoeba", "tatoeba_more"):
        pairs |= set(read_rows(corpora / "pt-en" / f"{name}.tsv.gz"))
    candidates = sorted(pair for pair in pairs if min(len(side.split()) for side in pair) >= 4)
    random.Random(2).shuffle(candidates)
    seen: set[str] = set()
    chosen: list[tuple[str, ...]] = []
    for pair in candidates:
        if not seen & set(pair) and len(chosen) < NUM_TEST_PAIRS:
            chosen.append(pair)
            seen |= set(pair)
    return chosen


class HeldOut:
    """The sentences of the test files, none of which may be in a training text."""

    def __init__(self, tables: dict[str, list[tuple[str, ...]]]) -> None:
        # "Thank you ." and its like are in TED, and everywhere else: short sentences count in our own files.
        self._sentences = {
            bare_text(side)
            for name, rows in tables.items()
            for row in rows
            for side in row
            if not name.startswith("ted-") or len(side.split()) >= 4
        }

    def without(self, rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The rows of which no column is a sentence of a test file."""
        return [row for row in rows if not any(bare_text(text) in self._sentences for text in row)]


def dictionary_pairs(folder: Path, english_lines: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """For each word the two translations on which most dictionaries agree, or else the most frequent one.

    Words are those with a part of speech, of at most three words on each side, without digits ("10 horas" is
    "ten o'clock" in one dictionary, and "ten hours" in most sentences). Where no two dictionaries
    agree, the first that has the word decides; its translations are then no names, and have no word that the
    plain English text lacks. A word net's synonyms are too remote for that.
    """
    frequency = Counter(word for (line,) in english_lines for word in WORD.findall(line.casefold()))
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    first_listed: dict[str, set[str]] = {}
    for name in DICTIONARIES:
        entries: dict[str, set[str]] = defaultdict(set)
        names = set()
        for portuguese, english, part_of_speech, *_ in read_rows(folder / f"{name}.tsv.gz"):
            has_digit = any(character.isdigit() for character in portuguese + english)
            if part_of_speech and not has_digit and max(len(portuguese.split()), len(english.split())) <= 3:
                entries[portuguese].add(english)
                if part_of_speech == "prop":
                    names.add((portuguese, english))
        for portuguese, translations in entries.items():
            votes[portuguese].update(translations)
            if name != "openwordnet":
                usual = {english for english in translations if (portuguese, english) not in names}
                first_listed.setdefault(portuguese, usual)

    def rarest_word(english: str) -> int:
        words = WORD.findall(english.casefold().removeprefix("to "))
        return min((frequency[word] for word in words), default=0)

    pairs = []
    for portuguese, counts in votes.items():
        agreed = [english for english, count in counts.items() if count > 1]
        agreed.sort(key=lambda english: (-counts[english], -rarest_word(english), english))
        listed = sorted(
            first_listed.get(portuguese, ()), key=lambda english: (-rarest_word(english), english)
        )
        pairs += [(portuguese, english) for english in agreed[:2] or listed[:1] if rarest_word(english)]
    return sorted(pairs)


def with_parts_of_speech(folder: Path, pairs: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The entries of the dictionaries that are among some pairs, with their parts of speech."""
    wanted = set(pairs)
    rows = (row for name in DICTIONARIES for row in read_rows(folder / f"{name}.tsv.gz") if len(row) > 2)
    return sorted({row[:3] for row in rows if row[2] and row[:2] in wanted})


def plain_text(
    corpora: Path, language: str, names: Iterable[str], held_out: HeldOut
) -> list[tuple[str, ...]]:
    """The distinct lines of some plain texts of a language, in random order."""
    lines = {row for name in names for row in read_rows(corpora / "mono" / f"{name}.{language}.txt.gz")}
    kept = sorted(row for row in held_out.without(lines) if MIN_WORDS <= len(row[0].split()) <= MAX_WORDS)
    random.Random(3).shuffle(kept)
    return kept


def have_same_currencies(row: tuple[str, ...]) -> bool:
    """Whether both sides of a pair name the same currencies with a sign: no ``$ 5`` for ``5 €``."""
    return len({frozenset(CURRENCY.findall(side)) for side in row}) == 1


def without_repeats(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows without those of which a side stands beside ``MAX_REPEATS`` others already.

    A sentence with many translations is a heading or a formula of programs, or its pairs are wrong.
    """
    counts: tuple[Counter[bytes], Counter[bytes]] = (Counter(), Counter())
    kept = []
    for row in rows:
        keys = [bare_text(side) for side in row]
        if all(count[key] < MAX_REPEATS for count, key in zip(counts, keys, strict=True)):
            kept.append(row)
            for count, key in zip(counts, keys, strict=True):
                count[key] += 1
    return kept


def name_groups() -> list[tuple[str, ...]]:
    """First names of men and of women, and towns, of the grammar of quantities; each group ends blank.

    For each there are made-up ones, of the beginning of one name and the end of another, so that the model
    learns to copy names that it never read.
    """
    grammar, rows, chooser = Grammar(), [], random.Random(5)
    for group in ("homem", "mulher", "cidade"):
        names = sorted({str(row.portuguese[0]) for row in grammar.rows(group, "PT", held_out=False)})
        names = [name for name in names if name.isalpha()]
        made_up = {
            chooser.choice(names)[: chooser.randint(2, 5)] + chooser.choice(names)[-chooser.randint(3, 5) :]
            for _ in range(NUM_MADE_UP_NAMES)
        }
        fitting = [name for name in made_up if name.istitle() and not THREE_VOWELS_OR_CONSONANTS.search(name)]
        rows += [(name,) for name in sorted({*names, *fitting} - held_out_names())] + [("",)]
    return rows


def held_out_names() -> set[str]:
    """The names of the acceptance set for names."""
    text = (Path(__file__).parents[1] / "benchmarks" / "acceptance_names.tsv").read_text(encoding="utf-8")
    return {word for line in text.splitlines() for word in WORD.findall(line.split("\t")[2])}


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", type=Path, metavar="CORPORA")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    corpora, folder = options.corpora, options.folder
    for name in ("pt-en", "related", "dictionary", "mono", "tfds"):
        if not (corpora / name).is_dir():
            parser.error(f"no folder {corpora / name}")
    root = Path(__file__).parents[1]
    everyday, rare_nouns = (
        [tuple(line.split("\t")[:2]) for line in (root / name).read_text(encoding="utf-8").splitlines()]
        for name in ("tests/everyday.tsv", "benchmarks/acceptance_nouns.tsv")
    )
    tables = {
        "ted-valid": ted_pairs(corpora, "validation"),
        "ted-test": ted_pairs(corpora, "test"),
        "tatoeba-test": tatoeba_test_pairs(corpora),
        "everyday": everyday,
        "rare-nouns": rare_nouns,
    }
    acceptance = [
        (line.split("\t")[0],)
        for file in (root / "benchmarks").glob("acceptance_*.tsv")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    held_out = HeldOut({**tables, "acceptance": acceptance})
    for name, rows in tables.items():
        write_rows(folder / f"{name}.tsv", rows)
    for kind, names in (("pt-en", PAIRS), ("related", RELATED)):
        for name in names:
            file = f"{kind}/{name}.tsv.gz"
            rows = held_out.without(row[:2] for row in read_rows(corpora / file))
            write_rows(folder / file, without_repeats(filter(have_same_currencies, rows)))
    plain = {}
    for language, texts in PLAIN_TEXT.items():
        prose = plain_text(corpora, language, texts.keys() - set(EVERYDAY_TEXT), held_out)
        everyday_lines = plain_text(corpora, language, EVERYDAY_TEXT, held_out)
        write_rows(folder / f"prose.{language}.gz", prose)
        write_rows(folder / f"mono.{language}.gz", everyday_lines)
        plain[language] = sorted(prose + everyday_lines)
        random.Random(3).shuffle(plain[language])
    words = held_out.without(dictionary_pairs(corpora / "dictionary", plain["en"]))
    write_rows(folder / "dictionary.tsv.gz", words)
    write_rows(folder / "words.tsv.gz", with_parts_of_speech(corpora / "dictionary", words))
    write_rows(folder / "names.txt", name_groups())
    pairs = islice(Writer(Grammar(), seed=1).pairs(), NUM_QUANTITIES)
    write_rows(folder / "quantities.tsv.gz", held_out.without(pair[1:] for pair in pairs))
    beside = zip(plain["pt"][:NUM_VOCABULARY_PAIRS], plain["en"], strict=False)
    write_rows(folder / "vocabulary.tsv.gz", [(pt[0], en[0]) for pt, en in beside])


if __name__ == "__main__":
    main()
