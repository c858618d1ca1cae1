"""A text as windows of words."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import DataConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.data.word_windows import WordWindows, read_prose, split_for_windows
from ptenmt.errors import DataError

TEXT = "Alice was -- beginning; to\nget very\ttired of sitting by\r\nher sister's side.\n"
WORDS = TEXT.lower().translate(str.maketrans("-;.", "   ")).split()


def rows(windows: WordWindows) -> np.ndarray:
    return np.arange(len(windows))


@pytest.mark.parametrize("name", ["book.txt", "book.txt.gz"])
def test_words_of_a_file(tmp_path: Path, name: str):
    content = TEXT.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    data = DataConfig(path=str(tmp_path / name), lowercase=True)
    assert read_prose(data, "space") == WORDS
    assert read_prose(DataConfig(path=data.path), "kept")[:4] == ["Alice", "was", "-", "-"]


@pytest.mark.parametrize(("characters", "count"), [(1, 1), (27, 4), (28, 5), (1000, 13)])
def test_the_first_characters_alone(tmp_path: Path, characters: int, count: int):
    """A cut word is the part that is left of it."""
    (tmp_path / "book.txt").write_text(TEXT, encoding="utf-8")
    data = DataConfig(path=str(tmp_path / "book.txt"), lowercase=True, characters=characters)
    words = read_prose(data, "space")
    assert (len(words), words[:-1]) == (count, WORDS[: count - 1])
    assert WORDS[count - 1].startswith(words[-1])


def test_without_a_file_it_is_the_target_side():
    words = read_prose(DataConfig(source="demo", lowercase=True), "space")
    first = next(iter(demo_pairs("train")))[1]
    assert words[:3] == first.lower().replace(",", " ").split()[:3]
    assert len(words) > 40_000


@pytest.mark.parametrize("content", ["", " \n\n", "... !\n"])
def test_a_text_without_words(tmp_path: Path, content: str):
    (tmp_path / "book.txt").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"there is no word in .*book\.txt"):
        read_prose(DataConfig(path=str(tmp_path / "book.txt")), "space")


@pytest.mark.parametrize(("count", "training"), [(30, 8), (22, 1)])
def test_the_first_four_fifths_of_the_windows_are_trained_on(count: int, training: int):
    words = [str(number) for number in range(count)]
    first, second = split_for_windows(words, 20)
    assert (len(first) - 20, len(second) - 20) == (training, count - 20 - training)
    assert first == words[: training + 20]
    assert second == words[training:]


def test_windows_and_the_word_after_each():
    windows = WordWindows([10, 11, 12, 13, 14], 3)
    source, target = windows.batch(rows(windows), None, ())
    assert source.tolist() == [[10, 11, 12], [11, 12, 13]]
    assert target.tolist() == [[2, 13], [2, 14]]
    assert (windows.longest().tolist(), windows.window(1)) == ([3, 3], ([11, 12, 13], 14))


def test_every_word_predicts_the_one_after_it():
    windows = WordWindows([10, 11, 1, 13, 14], 3, predicts="every")
    source, target = windows.batch(rows(windows), None, ())
    assert source.tolist() == [[10, 11, 1], [11, 1, 13]]
    assert target.tolist() == [[2, 11, 0, 13], [2, 0, 13, 14]], "what is unknown is not to be predicted"


def test_the_word_after_the_last_one_alone():
    windows = WordWindows([10, 11, 12, 13, 14], 3, predicts="last")
    assert windows.batch(rows(windows), None, ())[1].tolist() == [[2, 0, 0, 13], [2, 0, 0, 14]]


def test_a_window_before_an_unknown_word_is_left_out():
    windows = WordWindows([10, 11, 12, 1, 14], 2)
    assert (len(windows), windows.num_left_out) == (2, 1)
    assert [windows.window(row) for row in range(2)] == [([10, 11], 12), ([12, 1], 14)]


def test_where_every_word_predicts_a_window_needs_one_known_label():
    windows = WordWindows([10, 11, 12, 1, 1, 1, 1], 2, predicts="every")
    assert [windows.window(row)[0][0] for row in rows(windows)] == [10, 11]
    assert windows.num_left_out == 3
