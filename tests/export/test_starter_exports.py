"""What the bundled model knows is in its exports: they translate as it does without safeguards."""

import zipfile
from dataclasses import replace
from pathlib import Path

import ctranslate2
import pytest
import sentencepiece

from ptenmt import export_model
from ptenmt.runs import find_run
from ptenmt.tokenizers import UNK
from ptenmt.translation import Translator

SETS = Path(__file__).parents[2] / "benchmarks"
EVERY = 16
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


def own(starter: Translator, sentences: list[str]) -> list[str]:
    plain = replace(starter.config.decoding, safeguards=False, split_sentences=False, max_length=128)
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
    assert len(sentences) > 50
    same = sum(one == other for one, other in zip(found, own(starter, sentences), strict=True))
    # Argos Translate lets the model choose among all tokens, so that the last digits of sums may differ.
    assert same >= (0.95 if form == "argos" else 1.0) * len(sentences)
