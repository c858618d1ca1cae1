"""What the bundled model knows is in its exports: they translate as it does without safeguards."""

import zipfile
from dataclasses import replace
from pathlib import Path

import ctranslate2
import pytest
import sentencepiece
from test_huggingface import by_transformers
from test_web_engine import in_node

from ptenmt import export_model
from ptenmt.export.web_page import model_parts
from ptenmt.runs import find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START, UNK
from ptenmt.translation import Translator

SETS = Path(__file__).parents[2] / "benchmarks"
EVERY = 48
"""One in so many sentences of the acceptance sets is translated."""


@pytest.fixture(scope="module")
def starter() -> Translator:
    return Translator.load(find_run("starter"))


@pytest.fixture(scope="module")
def sentences(starter: Translator) -> list[str]:
    """Sentences of the acceptance sets with quantities and names, whose characters the model knows."""
    rows = [
        line
        for name in ("templates", "fillers", "names")
        for line in (SETS / f"acceptance_{name}.tsv").read_text(encoding="utf-8").splitlines()[::EVERY]
    ]
    sources = [row.split("\t")[0] for row in rows]
    encoded = starter.tokenizers.source.encode([*map(starter.encoder.prepare_source, sources)])
    return [source for source, ids in zip(sources, encoded, strict=True) if UNK not in ids]


def own(starter: Translator, sentences: list[str], beam_size: int, max_length: int | None = 128) -> list[str]:
    plain = replace(
        starter.config.decoding,
        safeguards=False,
        split_sentences=False,
        beam_size=beam_size,
        max_length=max_length,
    )
    # One by one: in a batch with others, float sums may differ in the last digit, and words with them.
    return [starter.translate(sentence, plain)[0].text for sentence in sentences]


@pytest.mark.parametrize("form", ["ctranslate2", "argos"])
def test_ctranslate2s(starter: Translator, sentences: list[str], form: str, tmp_path: Path) -> None:
    path = export_model("starter", format=form, output=tmp_path / "model.argosmodel").path  # type: ignore[arg-type]
    frame: tuple[list[str], list[str]] = ["[START]"], ["[END]"]
    if form == "argos":
        zipfile.ZipFile(path).extractall(tmp_path / "unpacked")
        (folder,) = (tmp_path / "unpacked").iterdir()
        path, frame = folder / "model", ([], [])  # its config adds them
    (spm,) = path.parent.rglob("sentencepiece.model") if form == "argos" else path.glob("*.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(spm))
    tokens = [[*frame[0], *pieces, *frame[1]] for pieces in processor.encode(sentences, out_type=str)]
    results = ctranslate2.Translator(str(path)).translate_batch(
        tokens,
        replace_unknowns=True,
        beam_size=4,
        max_decoding_length=128,
        max_batch_size=1,
        use_vmap=form == "ctranslate2",
    )
    found = [processor.decode(result.hypotheses[0]) for result in results]
    assert len(sentences) > 20
    same = sum(one == other for one, other in zip(found, own(starter, sentences, 4), strict=True))
    # Argos Translate lets the model choose among all tokens, so that the last digits of sums may differ.
    assert same >= (0.95 if form == "argos" else 1.0) * len(sentences)


def test_the_page_in_one_file(starter: Translator, sentences: list[str]) -> None:
    sources = sentences[::3]
    program = "return given.map((ids) => engine.search.translate(ids, { beamSize: 1 }).ids);"
    trained = TrainedModel.load(find_run("starter"))
    encoded = trained.tokenizers.source.encode([*map(starter.encoder.prepare_source, sources)])
    ids = in_node(*model_parts(trained), program, [[START, *row, END] for row in encoded])
    found = trained.tokenizers.target.decode(ids)
    expected = own(starter, sources, 1)
    same = sum(one == other for one, other in zip(found, expected, strict=True))
    assert same >= 0.8 * len(sources), "integer sums on one side, float sums of 8-bit weights on the other"


@pytest.mark.slow
def test_hugging_faces(
    starter: Translator, sentences: list[str], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    folder = export_model("starter", format="huggingface", output=tmp_path / "new").path
    found = by_transformers(pytestconfig, folder, sentences)["beams4"]
    expected = own(starter, sentences, 4, max_length=30)
    same = sum(one == other for one, other in zip(found, expected, strict=True))
    assert same >= 0.9 * len(sentences), "float sums on one side, integer sums of 8-bit weights on the other"
