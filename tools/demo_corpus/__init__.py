"""The grammar that composes the bundled demo corpus: everyday Portuguese–English sentence pairs.

`lexicon`, `verbs` and `expressions` are the words; `portuguese` and `english` inflect them; `grammar` puts
phrases and clauses together; `statements`, `descriptions`, `questions` and `compounds` are the sentence
patterns. The pairs are the same on every machine and every Python version. To write the file that ptenmt
ships, run this in the root of the repository:

    python -m tools.demo_corpus ptenmt/data/demo.tsv.gz
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.demo_corpus import compounds, descriptions, questions, statements
from tools.demo_corpus.features import Pair
from tools.demo_corpus.grammar import Picker, finish

__all__ = ["UNSEEN", "corpus_text", "write_corpus"]

# Sentences that the README translates: the model has to do it without having seen them.
UNSEEN = (
    Pair("este modelo parece funcionar bem", "this model seems to work well"),
    Pair("este é um problema que temos que resolver", "this is a problem that we have to solve"),
)

_SEED = 2017
_MOST_TRIES = 60
_MOST_WORDS = 14
# Share of sentences written as in a chat: lower case, no full stop.
_CHAT_SHARE = 0.135
_CHATTY_SHARE = 0.36

# How many sentences to compose of each pattern.
_PATTERNS: dict[Callable[[Picker], Pair], int] = {
    statements.habit: 240,
    statements.past: 290,
    statements.future: 300,
    statements.progressive: 230,
    statements.frequency: 140,
    statements.perfect: 170,
    statements.attitude: 350,
    statements.polite_wish: 90,
    statements.thing_done: 500,
    statements.event: 190,
    statements.purchase: 190,
    statements.meeting: 80,
    statements.gift: 90,
    statements.object_pronoun: 140,
    statements.wish_with_pronoun: 100,
    statements.topic: 60,
    statements.travel: 140,
    statements.liking: 140,
    statements.need: 80,
    statements.language: 80,
    statements.animal: 130,
    statements.nobody: 70,
    statements.order: 40,
    statements.skill: 110,
    statements.duty: 400,
    statements.seeming: 400,
    descriptions.trait: 120,
    descriptions.mood: 130,
    descriptions.quality: 250,
    descriptions.feeling: 100,
    descriptions.pain: 30,
    descriptions.age: 40,
    descriptions.job: 60,
    descriptions.location: 170,
    descriptions.existence: 120,
    descriptions.weather: 100,
    descriptions.schedule: 70,
    descriptions.belonging: 80,
    descriptions.possession: 60,
    descriptions.comparison: 90,
    descriptions.author: 90,
    descriptions.appearance: 120,
    descriptions.kind_of_thing: 110,
    descriptions.greeting: 40,
    questions.yes_or_no: 230,
    questions.yes_or_no_be: 90,
    questions.yes_or_no_thing: 90,
    questions.where: 90,
    questions.question_word: 110,
    questions.what: 60,
    questions.who_did: 80,
    questions.how_much: 90,
    questions.how_is: 40,
    questions.whose: 40,
    questions.what_time: 30,
    questions.request: 30,
    compounds.because_of_past: 90,
    compounds.obstacle: 130,
    compounds.contrast: 90,
    compounds.when_arriving: 80,
    compounds.when_habit: 70,
    compounds.condition: 100,
    compounds.meanwhile: 90,
    compounds.opinion: 120,
    compounds.report: 90,
    compounds.relative_clause: 70,
    compounds.person_seen: 60,
    compounds.sequence: 90,
    compounds.visit_and_gift: 40,
}
_CHATTY = (statements.seeming, statements.duty)


def corpus_text() -> str:
    r"""Compose the corpus: a pair a line, ``Portuguese\tEnglish``.

    No Portuguese and no English sentence is in the corpus twice, not even with other capitals or
    punctuation, so that no split shares a sentence with another. The order follows a checksum of the
    Portuguese, which mixes the patterns evenly.
    """
    pairs = sorted(_compose(), key=lambda pair: (zlib.crc32(pair.pt.encode()), pair))
    return "".join(f"{pair.pt}\t{pair.en}\n" for pair in pairs)


def write_corpus(file: Path) -> None:
    """Write the corpus as a ``.gz`` file without a time stamp: the same text gives the same bytes.

    Another build of zlib may compress the same text to other bytes.
    """
    file.write_bytes(gzip.compress(corpus_text().encode(), mtime=0))


def _compose() -> Iterator[Pair]:
    """Compose the sentences of all patterns."""
    pick = Picker(_SEED)
    seen = {_plain(sentence) for pair in UNSEEN for sentence in pair}
    for pattern, count in _PATTERNS.items():
        chat_share = _CHATTY_SHARE if pattern in _CHATTY else _CHAT_SHARE
        for _ in range(count):
            pair = _unseen_sentence(pattern, pick, seen)
            yield _as_in_chat(pair) if pick.chance(chat_share) else pair


def _unseen_sentence(pattern: Callable[[Picker], Pair], pick: Picker, seen: set[str]) -> Pair:
    """Try a pattern until both sentences are new and short enough."""
    for _ in range(_MOST_TRIES):
        pair = finish(pattern(pick))
        plain = {_plain(sentence) for sentence in pair}
        longest = max(len(sentence.split()) for sentence in pair)
        if seen.isdisjoint(plain) and longest <= _MOST_WORDS:
            seen |= plain
            return pair
    raise AssertionError(f"{pattern.__name__} has no more than these sentences")


def _plain(sentence: str) -> str:
    """Reduce a sentence to what makes it another sentence."""
    return " ".join(sentence.lower().rstrip("?!. ").split())


def _as_in_chat(pair: Pair) -> Pair:
    """Write a pair in lower case and without its full stop."""
    return Pair(pair.pt.lower().removesuffix("."), pair.en.lower().removesuffix("."))
