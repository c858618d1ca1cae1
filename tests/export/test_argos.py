"""A package for Argos Translate, used the way Argos Translate uses it."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import ctranslate2
import pytest
import sentencepiece
from untrained_runs import float32_translator

from ptenmt import export_model
from ptenmt.config import DataConfig, DecodingConfig
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ExportError
from ptenmt.export.argos import package_files, with_preparation
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import load_tokenizers

TEXTS = ["O gato não vê o cão da vizinha.", "Quem e\u0301s\u00a0tu?", "A avó\u200b ouve  música à noite."]
FOLDER = "translate-pt_en-1_0"


def as_argos_does(installed: Path, sentences: list[str], **options: object) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(installed / "sentencepiece.model"))
    translator = ctranslate2.Translator(str(installed / "model"), "cpu", compute_type="float32")
    pieces = [processor.encode(sentence, out_type=str) for sentence in sentences]
    results = translator.translate_batch(
        pieces, replace_unknowns=True, beam_size=4, num_hypotheses=1, length_penalty=0.2, **options
    )
    joined = ["".join(result.hypotheses[0]).replace("▁", " ") for result in results]
    return [text.removeprefix(" ") for text in joined]


def test_argos_translates_as_ptenmt_does(plain_run: Run, installed: Path):
    same = DecodingConfig(beam_size=4, length_penalty=0.2, max_length=30, safeguards=False)
    expected = [translation.text for translation in float32_translator(plain_run).translate(TEXTS, same)]
    assert as_argos_does(installed, TEXTS, max_decoding_length=30) == expected
    assert len(set(expected)) == 3


def test_sentences_of_any_length_do_no_harm(plain_run: Run, installed: Path):
    assert plain_run.config().model.max_positions == 40
    (translation,) = as_argos_does(
        installed, ["gato cão " * 300], min_decoding_length=42, max_decoding_length=44
    )
    assert translation


def test_what_is_in_it(installed: Path):
    assert installed.name == FOLDER
    metadata = json.loads((installed / "metadata.json").read_text(encoding="utf-8"))
    assert (metadata["from_code"], metadata["from_name"]) == ("pt", "Portuguese")
    assert (metadata["to_code"], metadata["to_name"]) == ("en", "English")
    assert metadata["package_version"] == "1.0"
    assert (installed / "spacy" / "config.cfg").exists()
    assert 'install_from_path("mine.argosmodel")' in (installed / "README.md").read_text(encoding="utf-8")
    content = b"".join(file.read_bytes() for file in installed.rglob("*") if file.is_file())
    assert b"jdoe" not in content
    assert b"ptenmt-" not in content, "no name of a temporary folder"


def test_equal_models_make_equal_packages(plain_run: Run, package: Path, tmp_path: Path):
    again = tmp_path / "mine.argosmodel"
    export_model(plain_run, format="argos", quantization="float32", output=again)
    dated = {f"{FOLDER}/README.md", f"{FOLDER}/SHA256SUMS"}
    entries = [
        {each.filename: (each.CRC, each.date_time) for each in zipfile.ZipFile(file).infolist()}
        for file in (again, package)
    ]
    assert entries[0].keys() == entries[1].keys()
    assert {name for name, entry in entries[0].items() if entry != entries[1][name]} <= dated


@pytest.mark.parametrize(
    "data",
    [
        DataConfig(source="demo"),
        DataConfig(source="demo", lowercase=True),
        DataConfig(source="demo", normalization="NFKC", lowercase=True),
    ],
)
def test_sentencepiece_prepares_text_as_the_run_does(plain_run: Run, data: DataConfig):
    tokenizer = load_tokenizers(plain_run.tokenizer_folder).source
    processor = sentencepiece.SentencePieceProcessor(model_proto=with_preparation(tokenizer.model, data))
    preparation = TextPreparation(data)
    texts = [
        *TEXTS,
        "E\u0301 MANHÃ… ﬁm \u00adx\ufeffy\u2028z\x85 m² 1.ª",
        "",
        " \t\n",
        "i\u0302\u0301 ế e\u0302\u0301",
    ]
    expected = tokenizer.encode([preparation.prepare_input(text, "pt") for text in texts])
    assert processor.encode(texts) == expected


def test_sentencepiece_lower_cases_input_for_ted(plain_run: Run):
    tokenizer = load_tokenizers(plain_run.tokenizer_folder).source
    model = with_preparation(tokenizer.model, DataConfig(source="tfds"))
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert processor.encode("É o GATO") == tokenizer.encode(["é o gato"])[0]


def test_runs_that_argos_cannot_use(make_run: Callable[..., Run], tmp_path: Path):
    run = make_run("sentencepiece", shared=False)
    with pytest.raises(ExportError, match=r"tokenizer.kind=sentencepiece, tokenizer.shared=false") as failure:
        export_model(run, format="argos", output=tmp_path / "new.argosmodel")
    assert failure.value.hint == "train with --set tokenizer.kind=sentencepiece --set tokenizer.shared=true"
    assert not (tmp_path / "new.argosmodel").exists()


def test_forbidden_tokens_are_never_said(plain_run: Run, tmp_path: Path):
    """Where [UNK] and [PAD] would be the likeliest."""
    trained = TrainedModel.load(plain_run)
    trained.weights["transformer/final/bias"][[0, 1, 2]] = 50
    for name, content in package_files(trained, "float32").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    said = "".join(as_argos_does(tmp_path, TEXTS, max_decoding_length=30))
    assert said
    assert not any(mark in said for mark in ("[UNK]", "[PAD]", "[START]"))
