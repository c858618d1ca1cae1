import gzip
import hashlib
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ptenmt.data.readers import DEMO_FILE, demo_pairs
from tools.demo_corpus import UNSEEN, english, portuguese, statements
from tools.demo_corpus.features import Pair
from tools.demo_corpus.grammar import Picker, finish
from tools.demo_corpus.lexicon import NOUNS

SPLITS = ("train", "validation", "test")
TRAIN = demo_pairs("train")
ALL = [pair for split in SPLITS for pair in demo_pairs(split)]
SHA256 = "52c549c1c0b07885b791858ae0aa62c325ce73938b994f69d580573089b7872a"


def tokens(sentence: str) -> list[str]:
    return re.findall(r"[\w'-]+", sentence.lower())


def plain(sentence: str) -> str:
    return " ".join(sentence.lower().rstrip("?!. ").split())


def test_sizes():
    assert 7_500 <= len(TRAIN) <= 9_000
    assert len(demo_pairs("validation")) == len(demo_pairs("test")) == 300


@pytest.mark.parametrize("side", [0, 1])
def test_no_sentence_comes_twice_in_or_across_the_splits(side):
    counts = Counter(plain(pair[side]) for pair in ALL)

    assert [sentence for sentence, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("side", [0, 1])
def test_enough_word_types_and_held_out_words_are_known(side):
    known = Counter(word for pair in TRAIN for word in tokens(pair[side]))
    held_out = [word for split in SPLITS[1:] for pair in demo_pairs(split) for word in tokens(pair[side])]

    assert len(known) >= 600
    assert sum(word in known for word in held_out) / len(held_out) > 0.98


def test_sentences_are_short_and_some_are_very_short():
    lengths = [len(pair[side].split()) for pair in ALL for side in (0, 1)]

    assert min(lengths) >= 2
    assert max(lengths) <= 14
    assert 5 <= sum(lengths) / len(lengths) <= 8


@pytest.mark.parametrize("side", [0, 1])
def test_typography(side):
    for pair in ALL:
        sentence = pair[side]
        assert sentence == unicodedata.normalize("NFC", sentence)
        assert re.fullmatch(r"[A-Za-zÀ-ÿ'?!., -]+", sentence), sentence
        assert not re.search(r"  | [?!.,]|[?!.,]{2}|^ | $", sentence), sentence
        assert re.search(r"[?!.]$", sentence) or sentence == sentence.lower(), sentence


def test_a_share_is_written_as_in_a_chat_on_both_sides():
    chat = [pair for pair in TRAIN if pair[0] == pair[0].lower()]

    assert 0.12 <= len(chat) / len(TRAIN) <= 0.18
    assert all(en == en.lower() and not pt.endswith(".") and not en.endswith(".") for pt, en in chat)
    assert any(pt.endswith("?") and en.endswith("?") for pt, en in chat)
    assert all(pt[0].isupper() and en[0].isupper() for pt, en in set(TRAIN) - set(chat))
    assert all((pt[-1] == "?") == (en[-1] == "?") for pt, en in ALL)


@pytest.mark.parametrize("side", [0, 1])
def test_readme_sentences_are_unseen_but_their_words_are_frequent(side):
    counts = Counter(word for pair in TRAIN for word in tokens(pair[side]))
    corpus = [plain(pair[side]) for pair in ALL]

    for unseen in UNSEEN:
        assert not any(unseen[side] in sentence for sentence in corpus)
        assert {word: counts[word] for word in tokens(unseen[side]) if counts[word] < 25} == {}


@pytest.mark.parametrize(
    ("pt", "en"),
    [
        (r"(est|aquel)[ea]s? \w+ parecem? \w+r [\w ]+", r"(this|that|these|those) \w+ seems? to \w+ [\w ]+"),
        (
            r"est[ea] é (um|uma|o|a) [\w ]+ que \w*.*(tenho|tens|tem|temos|têm) que \w+",
            r"this is .* (has|have) to \w+",
        ),
    ],
)
def test_readme_patterns_are_frequent_and_often_in_chat_style(pt, en):
    alike = [pair for pair in TRAIN if re.fullmatch(pt, plain(pair[0]))]
    chat = [pair for pair in alike if pair[0] == pair[0].lower()]

    assert len(alike) >= 60
    assert all(re.fullmatch(en, plain(pair[1])) for pair in alike)
    assert 0.25 <= len(chat) / len(alike) <= 0.5


def test_readme_sentences_are_sentences_of_the_grammar():
    pick = Picker(0)
    made = {
        plain(finish(pattern(pick)).pt)
        for pattern in (statements.seeming, statements.duty)
        for _ in range(20_000)
    }

    assert {pair.pt for pair in UNSEEN} <= made


def test_the_grammar_writes_the_bundled_file(tmp_path):
    """With another hash seed, and compared unpacked, since builds of zlib compress differently."""
    file = tmp_path / "demo.tsv.gz"
    subprocess.run(
        [sys.executable, "-m", "tools.demo_corpus", str(file)],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
    )

    written, bundled = (gzip.decompress(path.read_bytes()) for path in (file, DEMO_FILE))
    assert written == bundled
    assert hashlib.sha256(bundled).hexdigest() == SHA256


def test_prepositions_are_contracted():
    articles = r"(o|a|os|as|est[ea]s?|ess[ea]s?|aquel[ea]s?|el[ea]s?)"
    uncontracted = re.compile(rf"\b((em|de) {articles}|em uma?|por (o|a|os|as)|a (o|a|os|as|aquel[ea]s?))\b")
    contracted = Counter(word for pair in TRAIN for word in tokens(pair[0]))
    expected = ("no", "na", "do", "da", "ao", "à", "às", "pelo", "pela", "dele", "neste", "àquela")

    assert [pair[0] for pair in ALL if uncontracted.search(pair[0].lower())] == []
    assert [word for word in expected if not contracted[word]] == []


def _nouns(gender, number):
    return {getattr(noun, number).pt for nouns in NOUNS.values() for noun in nouns if noun.gender == gender}


@pytest.mark.parametrize(
    ("gender", "number", "determiners"),
    [
        ("f", "singular", "o um este aquele do no ao pelo neste naquele deste meu teu nosso"),
        ("f", "plural", "os a uma este esta estes aqueles dos nos aos meus teus nossos dois quantos"),
        ("m", "singular", "a uma esta aquela da na à pela nesta naquela desta minha tua nossa"),
        ("m", "plural", "as o um este estas aquelas das nas às minhas tuas nossas duas quantas"),
    ],
)
def test_determiners_agree_with_nouns(gender, number, determiners):
    nouns = _nouns(gender, number)
    for other_gender in "mf":
        for other_number in ("singular", "plural"):
            if (other_gender, other_number) != (gender, number):
                nouns -= _nouns(other_gender, other_number)
    wrong = set(determiners.split())
    seen = 0
    for pt, _ in ALL:
        for first, second in pairwise(tokens(pt.lower().replace("a pé", ""))):
            seen += second in nouns
            assert second not in nouns or first not in wrong, pt

    assert seen > 100


def test_verbs_agree_with_english_subjects():
    wrong = re.compile(
        r"\b(he|she|it) (am|are|were|have|do|don't|aren't|weren't|haven't|go|want|like|need)\b"
        r"|\b(i|we|you|they) (is|has|does|doesn't|isn't|hasn't|goes|wants|likes|needs)\b"
        r"|\bi (are|were)\b|\b(we|you|they) (am|was)\b"
    )

    # The subject of a question follows its verb, so that only statements are looked at.
    assert [en for _, en in ALL if not en.endswith("?") and wrong.search(en.lower())] == []


@pytest.mark.parametrize(("pronouns", "ending"), [("nós", "mos"), ("eles|elas", "(m|ão)")])
def test_verbs_agree_with_portuguese_pronouns(pronouns, ending):
    subject = re.compile(rf"(?:{pronouns}) (?:(?:não|nunca|já|ainda|raramente) )*([\w]+)")
    verbs = [match[1] for pt, _ in ALL if (match := subject.match(pt.lower()))]

    assert len(verbs) > 50
    assert [verb for verb in verbs if not re.search(f"{ending}$", verb)] == []


def test_object_pronouns_precede_the_verb_after_nao_only():
    after_nao = re.compile(r"\bnão (me|te|nos) \w+")
    enclitic = re.compile(r"\w+(am|[aeiou]u)-(me|te|nos)\b")

    assert any(after_nao.search(pt) for pt, _ in ALL)
    assert any(enclitic.search(pt) for pt, _ in ALL)
    assert [pt for pt, _ in ALL if re.search(r"\bnão \w+(am|[aeiou]u)-(me|te|nos)\b", pt)] == []


def test_english_articles():
    assert [en for _, en in ALL if re.search(r"\b(a [aeio]\w+|an [^aeiouh]\w+)", en.lower())] == []
    assert any(" an umbrella" in en for _, en in ALL)


@pytest.mark.parametrize(
    ("infinitive", "tense", "forms"),
    [
        ("comprar", "present", "compro compras compra compramos compram"),
        ("comprar", "past", "comprei compraste comprou comprámos compraram"),
        ("tocar", "past", "toquei tocaste tocou tocámos tocaram"),
        ("chegar", "past", "cheguei chegaste chegou chegámos chegaram"),
        ("conhecer", "present", "conheço conheces conhece conhecemos conhecem"),
        ("partir", "past", "parti partiste partiu partimos partiram"),
        ("fazer", "future", "farei farás fará faremos farão"),
        ("gostar", "conditional", "gostaria gostarias gostaria gostaríamos gostariam"),
        ("ler", "present", "leio lês lê lemos leem"),
    ],
)
def test_portuguese_verbs(infinitive, tense, forms):
    assert [portuguese.conjugate(infinitive, tense, person) for person in portuguese.PERSONS] == forms.split()


def test_orders_take_the_subjunctive_after_nao():
    infinitives = ["fechar", "pagar", "brincar", "ler", "trazer", "abrir", "comer"]

    assert [portuguese.forbid(verb) for verb in infinitives] == (
        ["feches", "pagues", "brinques", "leias", "tragas", "abras", "comas"]
    )


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("viagem", "viagens"),
        ("animal", "animais"),
        ("papel", "papéis"),
        ("telemóvel", "telemóveis"),
        ("azul", "azuis"),
        ("difícil", "difíceis"),
        ("canção", "canções"),
        ("flor", "flores"),
        ("lápis", "lápis"),
    ],
)
def test_portuguese_plurals(singular, plural):
    assert portuguese.plural(singular) == plural


@pytest.mark.parametrize(
    ("base", "tense", "person", "negative", "expected"),
    [
        ("try", "past", "3s", False, "tried"),
        ("wash", "present", "3s", False, "washes"),
        ("study", "present", "3s", True, "doesn't study"),
        ("swim", "progressive", "1s", False, "am swimming"),
        ("write", "perfect", "3s", False, "has written"),
        ("be", "past", "1p", True, "weren't"),
        ("can", "present", "3s", True, "can't"),
        ("stop", "past", "3p", False, "stopped"),
        ("eat", "future", "2s", True, "won't eat"),
    ],
)
def test_english_verbs(base, tense, person, negative, expected):
    assert english.verb_group(base, tense, person, negative) == expected


def test_finish_contracts_capitalises_and_punctuates():
    draft = Pair("a chave está em a casa de o João", "a egg is at a university")

    assert finish(draft) == ("A chave está na casa do João.", "An egg is at a university.")
    assert finish(Pair("o livro? comprei-o", "the book? i bought it ?")).pt == "O livro? Comprei-o."
