import shutil
import stat
import sys
from pathlib import Path

import pytest

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import UNK, TokenizerPair
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer


def copy_files(source: Path, target: Path) -> Path:
    """Copy without the modes, since the shared folder is read-only."""
    for file in source.rglob("*"):
        if file.is_file():
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return target


def test_golden_sizes_and_ids(published: TokenizerPair) -> None:
    assert (published.source.vocabulary_size, published.target.vocabulary_size) == (7765, 7010)
    assert published.source.encode(
        ["este modelo parece funcionar bem", "este é um problema que temos que resolver"]
    ) == [[125, 578, 364, 912, 140], [125, 44, 85, 231, 84, 130, 84, 742]]


def test_golden_round_trip(published: TokenizerPair) -> None:
    english = published.target
    ids = english.encode(["this model seems to work well , is n't it ?"])
    assert english.decode(ids) == ["this model seems to work well , is n ' t it ?"]


def test_pieces_agree_with_the_published_lookup(published: TokenizerPair, published_folder: Path) -> None:
    lines = (published_folder / "assets" / "pt_vocab.txt").read_text(encoding="utf-8").split("\n")
    assert published.source.pieces(range(7765)) == lines[:7765]
    (ids,) = published.source.encode(["desfuncionar"])
    pieces = published.source.pieces(ids)
    assert "".join(piece.removeprefix("##") for piece in pieces) == "desfuncionar"
    assert [piece.startswith("##") for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert len(pieces) > 1


def test_case_and_accents_are_stripped(published: TokenizerPair) -> None:
    assert published.source.encode(["Não É"]) == published.source.encode(["nao e"])


def test_more_texts_than_a_batch(published: TokenizerPair) -> None:
    texts = [f"sentença {number}" for number in range(5000)]
    encoded = published.source.encode(texts)
    assert published.source.encode(texts[4990:]) == encoded[4990:]
    assert published.source.decode(encoded) == [f"sentenca {number}" for number in range(5000)]


def test_emoji_are_unknown(published: TokenizerPair) -> None:
    assert published.target.encode(["😀"]) == [[UNK]]


def test_english_to_portuguese_swaps_the_members(published: TokenizerPair, published_folder: Path) -> None:
    english, portuguese = WordPieceTokenizer.load_published(published_folder, ("en", "pt"))
    assert (english.vocabulary_size, portuguese.vocabulary_size) == (7010, 7765)
    assert english.encode(["well"]) == published.target.encode(["well"])


@pytest.mark.parametrize("languages", [("gl", "en"), ("pt", "pt"), ("pt", "es")])
def test_other_languages_are_refused(languages: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="for pt and en, not for") as error:
        WordPieceTokenizer.load_published(tmp_path, languages)
    assert "sentencepiece" in error.value.hint


def test_a_folder_without_the_model(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"saved_model\.pb is missing") as error:
        WordPieceTokenizer.load_published(tmp_path, ("pt", "en"))
    assert str(tmp_path) in error.value.message
    assert "tokenizer.path" in error.value.hint


def test_without_tensorflow_text_the_error_names_the_way_out(
    published_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(TokenizerError, match="needs TensorFlow Text") as error:
        WordPieceTokenizer.load_published(published_folder, ("pt", "en"))
    assert "tokenizer.kind: sentencepiece" in error.value.hint


@pytest.mark.parametrize(
    "name",
    [
        "saved_model.pb",
        "variables/variables.index",
        "variables/variables.data-00000-of-00001",
        "assets/pt_vocab.txt",
        "assets/en_vocab.txt",
    ],
)
def test_every_damaged_file_is_noticed(name: str, published_folder: Path, tmp_path: Path) -> None:
    folder = copy_files(published_folder, tmp_path / "model")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(TokenizerError) as error:
        WordPieceTokenizer.load_published(folder, ("pt", "en"))
    assert str(folder) in error.value.message
    assert "\n" not in error.value.message


def test_another_saved_model_is_refused(published_folder: Path, tmp_path: Path) -> None:
    import tensorflow as tf

    folder = copy_files(published_folder, tmp_path / "model")
    tf.saved_model.save(tf.Module(), str(folder))
    with pytest.raises(TokenizerError, match="is not the published tokenizer: it has no member pt"):
        WordPieceTokenizer.load_published(folder, ("pt", "en"))


def test_saved_copies_can_be_changed_and_deleted(published: TokenizerPair, tmp_path: Path) -> None:
    published.save(tmp_path / "tokenizer")
    for path in (tmp_path / "tokenizer").rglob("*"):
        assert path.stat().st_mode & stat.S_IWUSR, path
