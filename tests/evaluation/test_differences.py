import pytest

from ptenmt.evaluation.differences import nearest_reference, word_differences

CASES = [
    ("The cat sat.", "The cat sat.", "", ""),
    ("The cat sat", "The dog sat", "cat", "dog"),
    ("The big cat sat.", "The cat sat!", "big|.", "!"),
    ("a b c d", "a d", "b c", ""),
    ("It's  fine , really", "It's fine, really", "", ""),
    ("isn't", "is n't", "isn't", "is n't"),
    ("", "Nothing at all", "", "Nothing at all"),
    ("  é  ", "e", "é", "e"),
    ("<b>", "b", "<|>", ""),
]


@pytest.mark.parametrize(("one", "other", "only_one", "only_other"), CASES)
def test_what_the_other_has_not_is_marked(one: str, other: str, only_one: str, only_other: str) -> None:
    found = word_differences(one, other)
    for pieces, text, expected in zip(found, (one, other), (only_one, only_other), strict=True):
        assert "".join(piece.text for piece in pieces) == text
        assert "|".join(piece.text for piece in pieces if not piece.is_shared) == expected
        assert all(
            one.is_shared != next_one.is_shared for one, next_one in zip(pieces, pieces[1:], strict=False)
        )


def test_the_nearest_reference_shares_most_words() -> None:
    references = ["She sleeps.", "The cat is asleep.", "The cat sleeps."]
    assert nearest_reference("The cat sleeps now.", references) == references[2]
    assert nearest_reference("", references) == references[0]
