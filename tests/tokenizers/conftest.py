import re
import unicodedata
from pathlib import Path

import pytest

from ptenmt.config import TokenizerConfig
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared/data/ted_hrlr_translate_pt_en_converter"

_WHO = [("A menina", "The girl"), ("O João", "João"), ("A minha avó", "My grandmother"), ("Ele", "He")]
_DOES = [("não comeu", "didn't eat"), ("viu", "saw"), ("procura", "looks for"), ("lê sobre", "reads about")]
_WHAT = [
    ("o pão", "the bread"),
    ("um coração", "a heart"),
    ("o 1.º cão", "the 1st dog"),
    ("peixe às três", "fish at three"),
    ("a guarda-chuva", "the umbrella"),
    ("a lição [n.º 3]", "lesson [no. 3]"),
    ("STARTPADENDUNK", "STARTPADENDUNK"),
]
_HOW = [(".", "."), ("!", "!")]


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """224 sentence pairs with accents, capitals, digits and brackets."""
    return [
        (f"{who[0]} {does[0]} {what[0]}{how[0]}", f"{who[1]} {does[1]} {what[1]}{how[1]}")
        for who in _WHO
        for does in _DOES
        for what in _WHAT
        for how in _HOW
    ]


@pytest.fixture(scope="session")
def published_folder() -> Path:
    if not PUBLISHED.is_dir():
        pytest.skip(f"needs the published tokenizer in {PUBLISHED}")
    return PUBLISHED


@pytest.fixture(scope="session")
def published(published_folder: Path) -> TokenizerPair:
    return TokenizerPair(*WordPieceTokenizer.load_published(published_folder, ("pt", "en")))


def _without_accents(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))


@pytest.fixture(scope="session")
def wordpiece(pairs: list[tuple[str, str]]) -> TokenizerPair:
    """WordPiece with vocabularies of its own: the pairs' words, and their characters."""
    tokenizers = []
    for side, language in enumerate(("pt", "en")):
        texts = [re.findall(r"\w+|[^\w\s]", pair[side].lower()) for pair in pairs]
        words = {_without_accents(word) for text in texts for word in text}
        characters = set("".join(words))
        pieces = [*sorted(words | characters), *(f"##{character}" for character in sorted(characters))]
        vocabulary = "".join(f"{piece}\n" for piece in (*SPECIAL_PIECES, *pieces))
        tokenizers.append(WordPieceTokenizer(language, vocabulary.encode()))
    return TokenizerPair(*tokenizers)


@pytest.fixture(scope="session")
def sentencepiece(pairs: list[tuple[str, str]]) -> TokenizerPair:
    config = TokenizerConfig(kind="sentencepiece", vocabulary_size=120)
    return build_tokenizers(config, pairs, ("pt", "en"))


@pytest.fixture(scope="session")
def words(pairs: list[tuple[str, str]]) -> TokenizerPair:
    return build_tokenizers(TokenizerConfig(kind="words"), pairs, ("pt", "en"))


@pytest.fixture(params=["wordpiece", "sentencepiece", "words"])
def any_pair(request: pytest.FixtureRequest) -> TokenizerPair:
    """A pair of each kind in turn."""
    pair: TokenizerPair = request.getfixturevalue(request.param)
    return pair
