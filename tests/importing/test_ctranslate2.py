"""CTranslate2's folders and Argos packages as runs."""

import json
import shutil
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest
import sentencepiece
from random_models import write_run

from ptenmt import export_model
from ptenmt.config import AugmentConfig, Config, DataConfig, DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.data.augmentation import tokenizer_symbols
from ptenmt.errors import ModelImportError
from ptenmt.importing.run import import_model
from ptenmt.model.ctranslate2_model import convert
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.translation import Translator

SPM = Path(__file__).parent / "marian" / "huggingface" / "source.spm"
OLDER = Path(__file__).parent / "older"
"""A package as ``opennmt`` makes one, of random weights, as an older version of CTranslate2 wrote it."""
BINARY, VOCABULARY = "model/model.bin", "model/shared_vocabulary.json"
TEXTS = ["Ba di fu.", "Gadi ga.", "Hi jo ki lu mi no pe."]
PAIRS = [("O gato não vê o cão.", "The cat doesn't see the dog."), ("Quem és tu?", "Who are you?")]
LOWER_CASE = DataConfig(source="demo", lowercase=True)
SIZES: dict[str, Any] = {"d_model": 16, "num_heads": 2, "d_ff": 24, "max_positions": 40}


def translations(run: Path | Run) -> list[str]:
    options = {"max_length": 12, "beam_size": 3, "safeguards": False}
    translator = Translator.load(run, threads=1)
    decoding = replace(translator.config.decoding, **options)
    return [each.raw for each in translator.translate(TEXTS, decoding)]


def own_run(folder: Path, *, shared: bool = True, data: DataConfig = LOWER_CASE, **model: Any) -> Run:
    tokenizer = TokenizerConfig(kind="sentencepiece", vocabulary_size=60, shared=shared)
    config = Config(data=data, tokenizer=tokenizer, model=ModelConfig(num_layers=2, **SIZES | model))
    pair = build_tokenizers(tokenizer, PAIRS, ("pt", "en"), tokenizer_symbols(data))
    return write_run(folder, config, pair)


def imported_run(folder: Path, **model: Any) -> Run:
    """As if it had been imported: a vocabulary of its own."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(SPM))
    pieces = [processor.id_to_piece(id) for id in range(processor.get_piece_size())]
    pieces = [piece for piece in pieces if piece not in ("<unk>", "</s>")]
    tokenizers = [ImportedTokenizer(SPM.read_bytes(), [*SPECIAL_PIECES, *pieces]) for _ in range(2)]
    config = Config(
        data=DataConfig(source="imported"),
        tokenizer=TokenizerConfig(kind="imported"),
        model=ModelConfig(num_layers=2, **SIZES | model),
    )
    return write_run(folder, config, TokenizerPair(*tokenizers))


@pytest.mark.parametrize(
    ("form", "quantization"),
    [("argos", "int8"), ("ctranslate2", "float32"), ("ctranslate2", "int16")],
)
def test_an_export_imported_again_translates_alike(form: Any, quantization: Any, tmp_path: Path):
    run = own_run(tmp_path / "run", norm="pre", tied_embeddings="all", activation="swiglu")
    expected = translations(run)
    exported = export_model(run, format=form, quantization=quantization, output=tmp_path / "export")
    again = import_model(exported.path, tmp_path / "again")
    config = again.config()
    assert (config.tokenizer.kind, config.tokenizer.shared) == ("sentencepiece", True)
    assert (config.data.languages, config.model.source_marks) == (("pt", "en"), "both")
    model = run.config().model
    for option in ("norm", "tied_embeddings", "activation", "d_ff", "num_heads", "norm_epsilon", "key_size"):
        assert getattr(config.model, option) == getattr(model, option)
    assert len(set(expected)) > 1
    if quantization == "int8":  # int16 rounds otherwise
        assert translations(again) == expected
    before, after = TrainedModel.load(run).weights, TrainedModel.load(again).weights
    for name, array in before.items():
        tolerance = 0 if quantization == "float32" else np.abs(array).max() / 120
        suppressed = 3 if form == "argos" and name.endswith("final/bias") else 0
        np.testing.assert_allclose(after[name][suppressed:], array[suppressed:], atol=tolerance, err_msg=name)


@pytest.mark.parametrize("form", ["ctranslate2", "argos"])
def test_a_run_of_our_own_translates_as_before_with_safeguards(form: Any, tmp_path: Path):
    augment = AugmentConfig(placeholders=0.5)
    run = own_run(tmp_path / "run", data=DataConfig(source="demo", augment=augment), tied_embeddings="all")
    run.record_alignment_layer(1)
    run.record_output_ids(range(40))
    exported = export_model(run, format=form, output=tmp_path / "export")
    again = import_model(exported.path, tmp_path / "again")
    texts = ["Vi 12 gatos.", "O gato não vê 1.234 cães."]
    short = DecodingConfig(max_length=12)
    found, expected = (Translator.load(each, threads=1).translate(texts, short) for each in (again, run))
    assert [each.text for each in found] == [each.text for each in expected]
    assert again.exported_facts() == run.exported_facts()
    assert again.licence == "Apache-2.0"  # the demo corpus'
    assert again.config().data.augment.placeholders > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tokens: [f"{token}\r" for token in tokens], r"has no token|it lacks 5\d of 5\d tokens"),
        (lambda tokens: [*tokens[:4], *reversed(tokens[4:])], "another order"),
        (lambda tokens: [tokens[-1], *tokens[:-1]], "another order"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(change: Any, message: str, tmp_path: Path):
    exported = export_model(own_run(tmp_path / "run"), output=tmp_path / "export").path
    file = exported / "shared_vocabulary.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(ModelImportError, match=r"shared_vocabulary\.json is not the file that SHA256SUMS"):
        import_model(exported, tmp_path / "again")
    (exported / "SHA256SUMS").unlink()
    with pytest.raises(ModelImportError, match=message):
        import_model(exported, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_another_sentencepiece_model_is_refused(tmp_path: Path):
    folder = opennmt(tmp_path)
    own = export_model(own_run(tmp_path / "other"), output=tmp_path / "export").path
    shutil.copy(own / "sentencepiece.model", folder)
    with pytest.raises(ModelImportError, match="does not fit the SentencePiece model: it lacks"):
        import_model(folder, tmp_path / "imported")


def test_two_vocabularies_and_no_ties(tmp_path: Path):
    run = own_run(tmp_path / "run", shared=False, decoder_layers=1, key_size=5, value_size=5)
    exported = export_model(run, output=tmp_path / "export")
    assert {"source.spm", "target.spm"} <= {file.name for file in exported.path.iterdir()}
    again = import_model(exported.path, tmp_path / "again")
    assert (again.config().tokenizer.kind, again.config().model.tied_embeddings) == ("imported", "none")
    assert translations(again) == translations(run)


@pytest.mark.parametrize("marks", ["end", "none"])
@pytest.mark.parametrize("form", ["ctranslate2", "argos"])
def test_an_imported_model_is_exported_and_imported_again(form: Any, marks: Any, tmp_path: Path):
    run = imported_run(tmp_path / "run", source_marks=marks, activation="swish", tied_embeddings="all")
    exported = export_model(run, format=form, output=tmp_path / "export")
    again = import_model(exported.path, tmp_path / "again")
    assert again.config().model.source_marks == marks
    assert translations(again) == translations(run)


def opennmt(folder: Path, **config: Any) -> Path:
    """A package as OpenNMT-py's models make them: other special tokens, sources of bare sub-words."""
    run = imported_run(folder / "run", source_marks="none", norm="pre", tied_embeddings="all")
    trained = TrainedModel.load(run)
    model = convert(trained.config.model, trained.weights, trained.tokenizers, "", "int8")
    place = folder / "translate-pt_en-1_0" / "model"
    place.mkdir(parents=True)
    names = dict(zip(SPECIAL_PIECES, ("<blank>", "<unk>", "<s>", "</s>"), strict=True))
    for name, content in model.files.items():
        for own, theirs in names.items():
            content = content if name == "model.bin" else content.replace(own.encode(), theirs.encode())
        (place / name).write_bytes(content)
    facts = json.loads((place / "config.json").read_text()) | config
    (place / "config.json").write_text(json.dumps(facts))
    (place.parent / "metadata.json").write_text(json.dumps({"from_code": "gl", "to_code": "en"}))
    shutil.copy(SPM, place.parent / "sentencepiece.model")
    return place.parent


def by_ctranslate2(package: Path) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(SPM))
    theirs = ctranslate2.Translator(str(package / "model"), compute_type="int8").translate_batch(
        [processor.encode(text, out_type=str) for text in TEXTS],
        beam_size=3,
        max_decoding_length=12,
        min_decoding_length=0,
        disable_unk=True,
        suppress_sequences=[["<s>"], ["<blank>"]],
    )
    return [processor.decode(each.hypotheses[0]) for each in theirs]


def test_a_model_of_opennmts_translates_as_ctranslate2_does(tmp_path: Path):
    package = opennmt(tmp_path)
    with zipfile.ZipFile(tmp_path / "gl.argosmodel", "w") as archive:
        for file in package.rglob("*"):
            archive.write(file, file.relative_to(tmp_path))
    run = import_model(tmp_path / "gl.argosmodel", tmp_path / "imported")
    assert (run.config().data.languages, run.config().model.source_marks) == (("gl", "en"), "none")
    expected = by_ctranslate2(package)
    assert len(set(expected)) > 1
    assert translations(run) == expected


def test_a_file_of_an_older_revision(tmp_path: Path):
    """Revision 4: the stacks share their options, and the encoder's embeddings have no number."""
    assert (OLDER / BINARY).read_bytes()[22:26] == struct.pack("<I", 4)
    run = import_model(OLDER, tmp_path / "imported")
    expected = by_ctranslate2(OLDER)
    assert len(set(expected)) > 1
    assert translations(run) == expected


def with_softplus(content: bytes) -> bytes:
    """A ``model.bin`` of another activation: a variable of one byte."""
    name = b"encoder/activation\0"
    place = content.index(name) + len(name) + 1 + 1 + 4
    return content[:place] + b"\1" + content[place + 1 :]


WHISPER = struct.pack("<IH", 6, 12) + b"WhisperSpec\0" + struct.pack("<II", 3, 0)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (BINARY, with_softplus, "express activation"),
        (BINARY, lambda _: WHISPER, "express WhisperSpec"),
        (BINARY, lambda content: content[:9000], r"model\.bin cannot be read"),
        (VOCABULARY, lambda _: b'["<unk>", "<s>", "</s>"]', "has the shape"),
        ("model/config.json", lambda _: b'{"unk_token": "?"}', r"the vocabulary has no token \?"),
        ("metadata.json", lambda _: b'{"target_prefix": "en"}', "express target_prefix='en'"),
        ("sentencepiece.model", None, "has no SentencePiece model"),
    ],
)
def test_what_cannot_be_imported_is_one_clear_error(name: str, change: Any, message: str, tmp_path: Path):
    file = opennmt(tmp_path) / name
    content = file.read_bytes()
    file.unlink()
    if change is not None:
        file.write_bytes(change(content))
    with pytest.raises(ModelImportError, match=message):
        import_model(tmp_path / "translate-pt_en-1_0", tmp_path / "imported")
    assert not (tmp_path / "imported").exists()
