"""Routes that look inside."""

import numpy as np
import pytest

from ptenmt.errors import ExportError


def test_an_alignment_is_between_words_of_a_translation_that_starts_with_the_prefix(served) -> None:
    answer = served.post("/v1/alignment", q=" o gato bebe leite .")
    assert answer["translation"] == " O GATO BEBE LEITE ."
    assert answer["source_words"] == [" o", " gato", " bebe", " leite", " ."]
    assert answer["target_words"] == [" O", " GATO", " BEBE", " LEITE", " ."]
    assert np.shape(answer["weights"]) == (5, 5)
    assert np.sum(answer["weights"], axis=1) == pytest.approx(1, abs=1e-3)
    assert np.argmax(answer["weights"], axis=1).tolist() == [0, 1, 2, 3, 4]

    answer = served.post("/v1/alignment", q="o gato bebe", prefix="A MÃE")
    assert answer["translation"].startswith("A MÃE")
    assert served.post("/v1/alignment", q="o gato bebe", prefix="O GATO")["translation"] == "O GATO BEBE"


def test_next_token_alternatives_are_whole_translations(served) -> None:
    best, *others = served.post("/v1/alternatives", q="o gato", prefix="O", count=3)["alternatives"]
    assert best == {"text": "O GATO", "score": 0.0, "probability": 1.0}
    assert len(others) == 2
    for other in others:
        assert other["text"].startswith("O")
        assert not other["text"][1].isalnum()
        assert 0.01 <= other["probability"] < 1
    assert len(served.post("/v1/alternatives", q="o gato")["alternatives"]) == 5
    assert "equal to 10" in served.refused("/v1/alternatives", 400, json={"q": "o gato", "count": 11})


def test_attention_of_every_layer_and_head(served) -> None:
    assert served.post("/v1/attention", q="o gato")["translation"] == "O GATO"
    answer = served.post("/v1/attention", q="o gato", translation="A MÃE")
    assert answer["translation"] == "A MÃE"
    source, target = answer["source_pieces"], answer["target_pieces"]
    assert (source[0], source[-1], target[0]) == ("[START]", "[END]", "[START]")
    assert "[END]" not in target
    assert answer["written_pieces"] == [*target[1:], "[END]"]
    assert answer["alignment_layer"] == 1
    assert "".join(target[1:]).replace("▁", " ").strip() == "A MÃE"
    sizes = {"encoder_layer1": (source, source), "decoder_layer1_block1": (target, target)}
    sizes |= {"decoder_layer1_block2": (target, source), "encoder_layer2": (source, source)}
    assert answer["weights"].keys() == sizes.keys()
    for name, (rows, columns) in sizes.items():
        weights = np.array(answer["weights"][name])
        assert weights.shape == (2, len(rows), len(columns))
        assert weights.sum(axis=-1) == pytest.approx(np.ones(weights.shape[:-1]), abs=1e-3)


def test_of_nothing_there_is_nothing(served) -> None:
    alignment = served.post("/v1/alignment", q="  \n")
    assert alignment["translation"] == "  \n"
    assert np.sum(alignment["weights"]) == 0
    assert served.post("/v1/alternatives", q="  \n")["alternatives"][0]["text"] == "  \n"
    assert served.post("/v1/attention", q="")["target_pieces"] == ["[START]"]


def test_without_weights_there_is_no_attention_and_the_reason_is_logged(
    serve, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ExportError("no weights in /secret", "export them")

    with serve(load_model=fail) as served, caplog.at_level("INFO", "ptenmt.server"):
        message = served.refused("/v1/attention", 501, json={"q": "o gato"})
        assert "/secret" not in message
        assert "no weights in /secret (export them)" in caplog.text
        assert served.post("/v1/alignment", q="o gato")["translation"] == "O GATO"


def test_what_is_no_sentence_is_said(serve) -> None:
    with serve(attention_tokens=20, characters=1000, sentences=1) as served:
        for path in ("/v1/alignment", "/v1/alternatives", "/v1/attention"):
            assert "there are 2 sentences in" in served.refused(path, 400, json={"q": "o gato .\no cão ."})
            assert "1,200 characters" in served.refused(path, 400, json={"q": "gato " * 240})
        for path in ("/v1/alignment", "/v1/alternatives"):
            for prefix, message in (
                ("A " * 300, "the prefix has"),
                ("日本", "contains characters outside the model's vocabulary"),
            ):
                assert message in served.refused(path, 400, json={"q": "o gato", "prefix": prefix})
        message = "tokens; attention is returned for sentences of at most 20"
        for body in ({"q": "gato " * 8}, {"q": "o", "translation": "gato " * 8}):
            assert message in served.refused("/v1/attention", 400, json=body)
