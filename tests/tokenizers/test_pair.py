import json
import shutil
from pathlib import Path

import pytest

from ptenmt.config import TokenizerConfig
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import TokenizerPair, build_tokenizers, load_tokenizers

Pairs = list[tuple[str, str]]
LANGUAGES = ("pt", "en")
TEXTS = ["A menina viu o pão.", "He didn't eat the 1st dog!", "", "😀 [START]"]


def encodings(pair: TokenizerPair) -> list[list[list[int]]]:
    return [pair.source.encode(TEXTS), pair.target.encode(TEXTS)]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_saved_pair_loads_from_a_copy_and_encodes_alike(any_pair: TokenizerPair, tmp_path: Path) -> None:
    any_pair.save(tmp_path / "run" / "tokenizer")
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    loaded = load_tokenizers(tmp_path / "elsewhere" / "tokenizer")
    assert encodings(loaded) == encodings(any_pair)
    assert encodings(loaded)[0] != encodings(loaded)[1]
    assert not loaded.shared
    for side in ("source", "target"):
        ours, theirs = getattr(any_pair, side), getattr(loaded, side)
        every_id = range(ours.vocabulary_size)
        assert type(theirs) is type(ours)
        assert theirs.pieces(every_id) == ours.pieces(every_id)


@pytest.mark.parametrize("kind", ["sentencepiece", "words"])
def test_a_shared_vocabulary_is_one_object_and_stays_one(kind: str, pairs: Pairs, tmp_path: Path) -> None:
    config = TokenizerConfig(kind=kind, shared=True, vocabulary_size=150)
    pair = build_tokenizers(config, pairs, LANGUAGES)
    assert pair.shared
    pair.save(tmp_path / "tokenizer")
    loaded = load_tokenizers(tmp_path / "tokenizer")
    assert loaded.shared
    assert encodings(loaded) == encodings(pair)
    assert sum(name.startswith("shared") for name in files(tmp_path / "tokenizer")) == 1
    known = set(pair.source.pieces(range(pair.source.vocabulary_size)))
    assert {"ã", "k"} <= set("".join(known))


@pytest.mark.parametrize("kind", ["sentencepiece", "words"])
def test_separate_vocabularies_learn_from_their_own_side(kind: str, pairs: Pairs) -> None:
    config = TokenizerConfig(kind=kind, vocabulary_size=150)
    pair = build_tokenizers(config, pairs, LANGUAGES)
    swapped = build_tokenizers(config, [(b, a) for a, b in pairs], ("en", "pt"))
    assert not pair.shared
    assert encodings(swapped) == encodings(pair)[::-1]
    assert encodings(pair)[0] != encodings(pair)[1]


def test_wordpiece_comes_from_the_config_path(published_folder: Path, published: TokenizerPair) -> None:
    config = TokenizerConfig(path=str(published_folder))
    assert encodings(build_tokenizers(config, [], LANGUAGES)) == encodings(published)
    assert encodings(build_tokenizers(config, [], ("en", "pt"))) == encodings(published)[::-1]


def test_saving_twice_gives_the_same_files_and_leaves_nothing_else(
    words: TokenizerPair, sentencepiece: TokenizerPair, tmp_path: Path
) -> None:
    folder = tmp_path / "tokenizer"
    words.save(folder)
    sentencepiece.save(folder)
    first = files(folder)
    sentencepiece.save(folder)
    assert files(folder) == first
    assert set(first) == {"source.model", "target.model", "tokenizer.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer"]


def test_every_file_is_missed_when_it_is_gone_or_changed(any_pair: TokenizerPair, tmp_path: Path) -> None:
    any_pair.save(tmp_path / "whole")
    for name, content in files(tmp_path / "whole").items():
        broken = tmp_path / "broken"
        shutil.copytree(tmp_path / "whole", broken)
        (broken / name).write_bytes(content[: len(content) // 2])
        for message in (rf"{Path(name).name}.* is damaged", Path(name).name):
            with pytest.raises(TokenizerError, match=message) as error:
                load_tokenizers(broken)
            assert error.value.hint
            (broken / name).unlink(missing_ok=True)
        shutil.rmtree(broken)


def test_a_folder_that_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="no tokenizer in"):
        load_tokenizers(tmp_path)
    with pytest.raises(TokenizerError, match="no tokenizer in"):
        load_tokenizers(tmp_path / "absent")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "morse"}, r"tokenizer\.json"),
        ({"kind": ["words"]}, r"tokenizer\.json"),
        ({"files": ["source.txt"]}, r"tokenizer\.json"),
        ({"source": "absent.txt", "files": {}}, r"absent\.txt"),
        ({"format": 2, "more": True}, "has format 2; this version of ptenmt reads format 1"),
    ],
)
def test_wrong_facts_are_an_error(
    changes: dict[str, object], message: str, words: TokenizerPair, tmp_path: Path
) -> None:
    words.save(tmp_path / "tokenizer")
    path = tmp_path / "tokenizer" / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(TokenizerError, match=message):
        load_tokenizers(tmp_path / "tokenizer")
