"""Marian's models as runs, against what ``transformers`` computed (marian/README.md)."""

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from ctranslate2.converters import OpusMTConverter

from ptenmt import export_model
from ptenmt.config import DecodingConfig
from ptenmt.errors import ExportError, ModelImportError, RunError, TokenizerError
from ptenmt.export.packaging import Format
from ptenmt.importing.foreign import most_unpacked
from ptenmt.importing.run import import_model
from ptenmt.model.ctranslate2_model import convert
from ptenmt.model.layouts import in_hugging_face
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, PAD, START, UNK, suppressed_ids
from ptenmt.translation import Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

MADE = Path(__file__).parent / "marian"
MODEL = MADE / "huggingface"


@dataclass
class Comparison:
    """An imported run, and what transformers computed, in the run's ids."""

    trained: TrainedModel
    texts: list[str]
    sources: list[list[int]]
    fed: np.ndarray
    logits: np.ndarray
    """Of all of their tokens."""
    columns: np.ndarray
    """The run's id of each of their tokens."""
    found: dict[int, list[list[int]]]
    """By number of beams."""

    @classmethod
    def of(cls, run: Run) -> "Comparison":
        trained = TrainedModel.load(run)
        ids = json.loads((MODEL / "vocab.json").read_text(encoding="utf-8"))
        own = {piece: token for token, piece in enumerate(trained.tokenizers.target.vocabulary)}
        special = {"</s>": END, "<unk>": UNK, "<pad>": START}
        columns = np.array([special.get(piece, own.get(piece)) for piece in sorted(ids, key=ids.get)])
        with np.load(MADE / "expected.npz") as arrays:
            theirs, pad = dict(arrays), len(columns) - 1

        def translated(row: np.ndarray) -> list[int]:
            tokens = [int(columns[token]) for token in row[1:] if token >= 0]
            return [START, *tokens[: tokens.index(END) + 1 if END in tokens else None]]

        return cls(
            trained,
            theirs["texts"].tolist(),
            [[START, *(int(columns[token]) for token in row if token != pad)] for row in theirs["source"]],
            columns[theirs["fed"]],
            theirs["logits"],
            columns,
            {beams: [translated(row) for row in theirs[f"beams{beams}"]] for beams in (1, 4)},
        )

    @property
    def padded(self) -> np.ndarray:
        longest = max(map(len, self.sources))
        return np.array([ids + [PAD] * (longest - len(ids)) for ids in self.sources])

    def check_logits(self, logits: Any, *, has_padding: bool = True) -> None:
        columns = slice(None if has_padding else -1)
        found = np.asarray(logits)[:, :, self.columns]
        np.testing.assert_allclose(found[..., columns], self.logits[..., columns], atol=1e-4)


def test_a_model_of_hugging_faces_gives_the_same_logits_and_translations(tmp_path: Path):
    """The same logits by NumPy and Keras, and translations by Keras and CTranslate2."""
    run = import_model(MODEL, tmp_path / "run")
    comparison = Comparison.of(run)
    trained, sources = comparison.trained, comparison.sources
    assert trained.tokenizers.source.encode(comparison.texts) == [ids[1:-1] for ids in sources]
    comparison.check_logits(trained.numpy_model.logits(comparison.padded, comparison.fed))
    comparison.check_logits(trained.keras_model((comparison.padded, comparison.fed)))
    exported = convert(trained.config.model, trained.weights, trained.tokenizers, "", "float32")
    engines = (
        KerasEngine(trained.keras_model, suppressed_ids(trained.config.tokenizer)),
        CTranslate2Engine(exported, trained.tokenizers, with_unknown=False, threads=1),
    )
    for engine, (beams, expected) in product(engines, comparison.found.items()):
        options = DecodingConfig(beam_size=beams)
        found = [engine.submit(SearchRequest([ids], 20, options))()[0][0].ids for ids in sources]
        assert found == expected
    assert len({tuple(ids) for ids in comparison.found[4]}) > 2
    whole = replace(run.config().decoding, split_sentences=False)
    translations = Translator.load(run).translate(comparison.texts, whole)
    assert len(translations) == len(comparison.texts)


def test_where_it_comes_from_is_recorded(tmp_path: Path):
    run = import_model(MODEL, tmp_path / "run")
    origin = run.facts()["imported_from"]
    assert (origin["path"], origin["licence"]) == (str(MODEL), "cc-by-4.0")
    assert len(origin["files"]["huggingface/model.safetensors"]) == 64
    assert run.config().data.languages == ("pt", "en")
    again = import_model(MODEL, tmp_path / "again", source_language="gl", licence="my own")
    assert again.config().data.languages == ("gl", "en")
    assert again.facts()["imported_from"]["licence"] == "my own"
    with pytest.raises(RunError, match="exists already"):
        import_model(MODEL, tmp_path / "run")


@pytest.mark.parametrize(
    ("stated", "languages", "missing"),
    [
        ({"source_lang": "spa", "target_lang": "deu"}, ("es", "de"), []),
        ({"source_lang": "es"}, ("es", "en"), ["target"]),
        ({}, ("pt", "en"), ["source", "target"]),
    ],
)
def test_its_languages_are_those_that_the_files_state(
    stated: dict[str, str], languages: tuple[str, str], missing: list[str], tmp_path: Path
):
    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    (folder / "tokenizer_config.json").write_text(json.dumps(stated))
    warnings: list[str] = []
    run = import_model(folder, tmp_path / "run", on_warning=warnings.append)
    assert run.config().data.languages == languages
    assert [line.split()[1] for line in warnings] == missing


@pytest.mark.filterwarnings("ignore:the .* language is not stated")
def test_the_forms_of_a_model_are_one_run(tmp_path: Path):
    expected = TrainedModel.load(import_model(MODEL, tmp_path / "run"))
    opus = MADE / "opus"
    with zipfile.ZipFile(tmp_path / "opus.zip", "w") as archive:
        for file in opus.iterdir():
            archive.write(file, file.name)
    converted = Path(OpusMTConverter(str(opus)).convert(str(tmp_path / "ctranslate2")))
    for name in ("source.spm", "target.spm"):
        shutil.copy(opus / name, converted)
    for form in (converted, opus, tmp_path / "opus.zip"):
        run = import_model(form, tmp_path / f"run-{form.name}")
        found = TrainedModel.load(run)
        assert found.tokenizers.source.vocabulary == expected.tokenizers.source.vocabulary
        assert found.weights.keys() == expected.weights.keys()
        for name, array in found.weights.items():
            if name.endswith("final/bias"):  # only Hugging Face's has a token for padding
                array[START] = expected.weights[name][START]
            np.testing.assert_array_equal(array, expected.weights[name], err_msg=name)
    assert run.config().decoding.beam_size == 6
    assert run.licence == "Creative Commons Attribution 4.0"
    Comparison.of(run).check_logits(
        found.numpy_model.logits(Comparison.of(run).padded, Comparison.of(run).fed), has_padding=False
    )


def with_tag(folder: Path) -> Path:
    """A model that knows the tag ``>>por<<``."""
    shutil.copytree(MODEL, folder)
    text = (folder / "vocab.json").read_text(encoding="utf-8")
    (folder / "vocab.json").write_text(text.replace('"\\u2581"', '">>por<<"').replace('"▁"', '">>por<<"'))
    return folder


@pytest.mark.parametrize("form", ["huggingface", "ctranslate2"])
def test_exports_keep_the_tag(form: Format, tmp_path: Path):
    run = import_model(with_tag(tmp_path / "model"), tmp_path / "run", tag=">>por<<")
    folder = export_model(run, format=form, output=tmp_path / "export").path
    assert ">>por<<" in (folder / "README.md").read_text(encoding="utf-8")
    again = import_model(folder, tmp_path / "again")
    ids = [TrainedModel.load(each).tokenizers.source.encode(["Ba di."]) for each in (run, again)]
    assert ids[0] == ids[1]
    texts = Comparison.of(import_model(MODEL, tmp_path / "plain")).texts
    plain = replace(run.config().decoding, safeguards=False)
    found, expected = (
        [each.raw for each in Translator.load(one).translate(texts, plain)] for one in (again, run)
    )
    assert found == expected
    with pytest.raises(ExportError, match="puts no tag before a source, and this run needs >>por<<"):
        export_model(run, format="argos", output=tmp_path / "new.argosmodel")


def test_a_tag_stands_before_every_source(tmp_path: Path):
    folder = with_tag(tmp_path / "model")
    run = import_model(folder, tmp_path / "run", tag=">>por<<")
    tokenizer = TrainedModel.load(run).tokenizers.source
    plain = TrainedModel.load(import_model(folder, tmp_path / "plain")).tokenizers.source
    (ids, nothing) = tokenizer.encode(["Ba.", " "])
    assert tokenizer.pieces(ids[:1]) == [">>por<<"]
    assert ([ids[1:]], nothing) == (plain.encode(["Ba."]), [])
    assert tokenizer.checksum != plain.checksum
    with pytest.raises(TokenizerError, match=r"no tag >>deu<<"):
        import_model(folder, tmp_path / "other", tag=">>deu<<")


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda found: {name: value for name, value in found.items() if name not in names}


PADS = ("pad_token_id", "decoder_start_token_id")
(QUERY,) = in_hugging_face("decoder/block1/cross_attention/query/kernel").names


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("model.safetensors", without(QUERY), f"has no weight {QUERY}"),
        (
            "model.safetensors",
            lambda found: found | {QUERY: found[QUERY][:-2]},
            rf"{QUERY} has the shape \(6, 8\)",
        ),
        ("config.json", lambda found: found | {"model_type": "bart"}, "cannot express model_type='bart'"),
        ("config.json", lambda found: found | {"encoder_ffn_dim": 12}, "decoder_ffn_dim=16"),
        ("config.json", lambda found: found | {"d_model": 9}, "model.d_model=9 must be even"),
        ("config.json", without("d_model"), "config.json has no d_model"),
        ("config.json", lambda found: found | dict.fromkeys(PADS, -1), "pad_token_id=-1 is no id of"),
        (
            "generation_config.json",
            lambda found: found | {"num_beams": "four"},
            r"n_config\.json: .*beam_size",
        ),
        (
            "tokenizer_config.json",
            lambda found: found | {"source_lang": "ROMANCE"},
            "states ROMANCE as the s",
        ),
        ("vocab.json", without("<unk>"), "the ids in .* are not 0 to"),
        ("vocab.json", lambda found: found | {"more": len(found)}, "has the shape"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(tmp_path: Path, name: str, change: Any, message: str):
    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    file = folder / name
    if name.endswith(".json"):
        file.write_text(json.dumps(change(json.loads(file.read_text(encoding="utf-8")))))
    else:
        safetensors.numpy.save_file(change(safetensors.numpy.load_file(file)), file)
    with pytest.raises(ModelImportError, match=message) as raised:
        import_model(folder, tmp_path / "run")
    assert str(folder) in raised.value.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "is no model"),
        ("vocab.json", "vocab.json"),
        ("model.safetensors", r"has no model\.safetensors"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, name: str, message: str):
    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    (folder / name).rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelImportError, match=message) as raised:
        import_model(folder, tmp_path / "run")
    assert ("save_pretrained" in raised.value.hint) == (name == "model.safetensors")


def test_bfloat16_is_named(tmp_path: Path):
    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    head = b'{"model.shared.weight": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}'
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(2))
    with pytest.raises(ModelImportError, match=r"model\.shared\.weight is in bfloat16"):
        import_model(folder, tmp_path / "run")


@pytest.mark.parametrize("inside", ["", "model/"])
def test_errors_name_the_archive_and_not_the_folder_of_its_files(tmp_path: Path, inside: str):
    given = tmp_path / "model.zip"
    for names, message in (
        (["target.spm"], f"{given} is no model that ptenmt knows"),
        (["config.json", "vocab.json", "model.safetensors"], f"{given} has no SentencePiece model"),
    ):
        with zipfile.ZipFile(given, "w") as archive:
            for name in names:
                archive.write(MODEL / name, f"{inside}{name}")
        with pytest.raises(ModelImportError) as raised:
            import_model(given, tmp_path / "run")
        assert message in raised.value.message
        assert str(tmp_path) not in (raised.value.message + raised.value.hint).replace(str(given), "")
        assert "unpacked" not in raised.value.message


def test_archives_that_are_truncated_or_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert most_unpacked(MODEL / "config.json") == 1_000_000_000
    for module in ("foreign", "run", "marian"):
        monkeypatch.setattr(f"ptenmt.importing.{module}.most_unpacked", lambda _: 1_000_000, raising=False)
    folder = Path(shutil.copytree(MADE / "opus", tmp_path / "opus"))
    with zipfile.ZipFile(tmp_path / "opus.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    content = (tmp_path / "opus.zip").read_bytes()
    (tmp_path / "half.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelImportError, match=r"half\.zip is no zip archive or is damaged"):
        import_model(tmp_path / "half.zip", tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vocab.yml", bytes(1_000_001))
    with pytest.raises(ModelImportError, match="the limit is 1,000,000"):
        import_model(tmp_path / "bomb.zip", tmp_path / "run")
    (weights,) = folder.glob("*.npz")
    content = weights.read_bytes()
    (tmp_path / "bomb.zip").replace(weights)
    with pytest.raises(ModelImportError, match=r"\.npz cannot be read: it would have 1,000,001 bytes"):
        import_model(folder, tmp_path / "run")
    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelImportError, match=r"\.npz cannot be read: "):
        import_model(folder, tmp_path / "run")


def test_an_architecture_of_marians_that_ptenmt_cannot_express_is_named(tmp_path: Path):
    folder = Path(shutil.copytree(MADE / "opus", tmp_path / "opus"))
    (file,) = folder.glob("*.npz")
    with np.load(file) as archive:
        arrays = dict(archive)
    options = arrays["special:model.yml"].tobytes().decode()
    for own, other, message in (
        ("transformer-ffn-depth: 2", "transformer-ffn-depth: 3", "cannot express transformer-ffn-depth=3"),
        ("type: transformer", "type: amun", "Option --type must be 'transformer'"),
    ):
        changed = np.frombuffer(options.replace(own, other).encode(), np.int8)
        np.savez(file, **arrays | {"special:model.yml": changed})
        with pytest.raises(ModelImportError, match=message):
            import_model(folder, tmp_path / "run")
