"""Exports for CTranslate2 as files: what is in them, what harms them, who is at work on them."""

import json
import threading
import time
import zlib
from dataclasses import replace
from pathlib import Path

import ctranslate2
import numpy as np
import pytest
from random_models import SMALL, made_up_words, random_model, weights_of

from ptenmt.config import ModelConfig
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.ctranslate2 import CTRANSLATE2, CTranslate2Export, make_export, nearest_quantization
from ptenmt.export.folders import Export, NoExportError
from ptenmt.export.formats import Quantization
from ptenmt.export.limits import why_not_ctranslate2

SIZE = 40
WORDS = made_up_words(SIZE, SIZE)


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    return weights_of(random_model(SMALL, SIZE, SIZE))


@pytest.fixture(scope="module")
def export(weights: dict[str, np.ndarray]) -> CTranslate2Export:
    return make_export(SMALL, weights, WORDS, "weights-7:0123abcd")


@pytest.fixture
def folder(export: CTranslate2Export, tmp_path: Path) -> Path:
    """Of an export."""
    CTRANSLATE2.write(tmp_path / "new" / "export", export)
    return tmp_path / "new" / "export"


def test_what_is_written_is_read_again_and_opened_by_ctranslate2_itself(
    export: CTranslate2Export, folder: Path
):
    assert CTRANSLATE2.read(folder) == export
    assert export.facts.weights == "weights-7:0123abcd"
    names = {"config.json", "model.bin", "source_vocabulary.json", "target_vocabulary.json", "export.json"}
    assert {file.name for file in folder.iterdir()} == names
    assert [file.name for file in folder.parent.iterdir()] == ["export"]
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777
    translator = ctranslate2.Translator(str(folder), "cpu")
    (result,) = translator.translate_batch([["[START]", "s5", "[END]"]], max_decoding_length=9)
    assert set(result.hypotheses[0]) <= set(WORDS.target.pieces(range(SIZE)))


def test_exporting_leaves_the_weights_as_they_are(weights: dict[str, np.ndarray]):
    before = {name: array.copy() for name, array in weights.items()}
    make_export(SMALL, weights, WORDS, "", "int8")
    make_export(SMALL, weights, WORDS, "", "int16")
    assert all((weights[name] == array).all() for name, array in before.items())


def test_fewer_bits_take_less_room(weights: dict[str, np.ndarray]):
    def size(quantization: Quantization) -> int:
        return make_export(SMALL, weights, WORDS, "", quantization).num_bytes

    sizes = [size("int8"), size("int16"), size("float32")]
    assert size("float16") < sizes[2]
    assert sizes == sorted(sizes)
    matrices = {name: array for name, array in weights.items() if name.endswith(("kernel", "embeddings"))}
    numbers = sum(array.size for array in matrices.values())
    rows = sum(array.shape[name.endswith("kernel")] for name, array in matrices.items())  # a scale each
    assert sizes[2] - sizes[0] == pytest.approx(3 * numbers - 4 * rows, rel=0.05)


def test_tied_tables_are_stored_once(weights: dict[str, np.ndarray]):
    weights, sizes = dict(weights), []
    for tied, spared in {
        "none": "",
        "target": "final/kernel",
        "all": "decoder/embedding/tokens/embeddings",
    }.items():
        weights.pop(f"transformer/{spared}", None)
        config = replace(SMALL, tied_embeddings=tied)
        sizes.append(make_export(config, weights, WORDS, "", "float32").num_bytes)
    table = 4 * SIZE * SMALL.d_model
    assert [larger - smaller for larger, smaller in zip(sizes, sizes[1:], strict=False)] == [
        pytest.approx(table, rel=0.05)
    ] * 2


def damage(folder: Path, what: str) -> None:
    model = folder / "model.bin"
    content = model.read_bytes()
    facts = json.loads((folder / "export.json").read_text())
    if what == "cut":
        model.write_bytes(content[:-100])
    elif what == "a bit":
        model.write_bytes(content[:500] + bytes([content[500] ^ 4]) + content[501:])
    elif what == "lost":
        (folder / "source_vocabulary.json").unlink()
    elif what == "no facts":
        (folder / "export.json").write_text("{}")
    elif what == "half the facts":
        (folder / "export.json").write_text('{"format": 1, "files": [')
    elif what == "strange files":
        (folder / "export.json").write_text(json.dumps(facts | {"files": {"../../secret": [1, 2]}}))
    elif what == "the future":
        (folder / "export.json").write_text(json.dumps(facts | {"format": 2}))


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("cut", "model.bin is not what was written"),
        ("a bit", "model.bin is not what was written"),
        ("lost", "source_vocabulary.json is missing"),
        ("no facts", "format"),
        ("half the facts", "Expecting value"),
        ("strange files", "secret"),
        ("the future", "it has format 2, and this ptenmt reads format 1"),
    ],
)
def test_damage_is_noticed(folder: Path, what: str, told: str):
    damage(folder, what)
    with pytest.raises(ExportError, match="is damaged: .*") as failure:
        CTRANSLATE2.read(folder)
    assert told in failure.value.message


def test_none_is_told_apart_from_a_damaged_one(folder: Path):
    (folder / "export.json").unlink()
    with pytest.raises(NoExportError, match="there is no export in"):
        CTRANSLATE2.read(folder)
    with pytest.raises(NoExportError):
        CTRANSLATE2.read(folder.parent / "nowhere")


def test_what_is_no_export_is_left_alone(export: CTranslate2Export, folder: Path, tmp_path: Path):
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(OutputError, match=r"holds what is no part of an export: thesis.txt") as failure:
        CTRANSLATE2.write(folder, export)
    assert "--output" in failure.value.hint
    (folder / "thesis.txt").rename(folder / ".git")
    with pytest.raises(OutputError, match=r"no part of an export: .git"):
        CTRANSLATE2.write(folder, export)
    assert (folder / ".git").read_text() == "precious"
    (tmp_path / "file").write_text("precious")
    with pytest.raises(OutputError, match="is a file, or below one"):
        CTRANSLATE2.write(tmp_path / "file", export)
    with pytest.raises(OutputError, match="below is a file, or below one"):
        CTRANSLATE2.write(tmp_path / "file" / "below", export)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_link_to_a_folder_is_followed(export: CTranslate2Export, folder: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(folder)
    CTRANSLATE2.write(tmp_path / "link", replace(export, facts=replace(export.facts, weights="other")))
    assert (tmp_path / "link").is_symlink()
    assert CTRANSLATE2.read(folder).facts.weights == "other"


def test_a_full_disk_leaves_the_old_one(
    export: CTranslate2Export, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ptenmt.atomic_files.sync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        CTRANSLATE2.write(folder, replace(export, facts=replace(export.facts, weights="other")))
    assert CTRANSLATE2.read(folder) == export
    assert [file.name for file in folder.parent.iterdir()] == ["export"]


def test_readers_see_whole_exports_while_two_writers_replace_them(
    export: CTranslate2Export, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each export has a model of its own, so that a mixture would be noticed."""
    monkeypatch.setattr("ptenmt.atomic_files.sync", lambda _path: None)
    failures: list[BaseException] = []
    seen: list[str] = []
    done = threading.Event()

    def write(writer: int) -> None:
        for number in range(40):
            CTRANSLATE2.write(folder, _other(export, f"{writer}-{number}"))
            time.sleep(0.002)

    def read() -> None:
        while not done.is_set():
            found = CTRANSLATE2.read(folder)
            seen.append(found.facts.weights)
            assert found == export or found == _other(export, found.facts.weights)

    def guarded(work: object, *arguments: int) -> None:
        try:
            work(*arguments)  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=guarded, args=(write, number)) for number in range(2)]
    reader = threading.Thread(target=guarded, args=(read,))
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert failures == []
    assert len(set(seen)) > 3
    assert [file.name for file in folder.parent.iterdir()] == ["export"]


def _other(export: CTranslate2Export, name: str) -> CTranslate2Export:
    """Another export: as large as this one, with another model."""
    content = name.encode().ljust(len(export.files["model.bin"]), b"-")
    files = export.facts.files | {"model.bin": (len(content), zlib.crc32(content))}
    facts = replace(export.facts, weights=name, files=files)
    return Export(facts, export.files | {"model.bin": content})


@pytest.mark.parametrize(
    ("wanted", "supported", "nearest"),
    [
        ("int8", {"int8", "float32"}, "int8"),
        ("int8", {"int8_float32", "int16", "float32"}, "int8_float32"),
        ("float16", {"int8", "bfloat16", "float32"}, "float32"),
        ("int16", {"int8", "float16", "float32"}, "float32"),
        ("float16", {"int8", "bfloat16", "int16", "float32"}, "int16"),
        ("bfloat16", {"int8_float32", "float16", "float32"}, "float16"),
        ("float32", {"int8"}, "float32"),
    ],
)
def test_the_nearest_type_is_the_next_more_exact_one(wanted: str, supported: set[str], nearest: str):
    assert nearest_quantization(wanted, supported) == nearest


def test_two_widths_of_a_head_cannot_be_expressed():
    two = ModelConfig(d_model=16, num_heads=2, key_size=5, value_size=7)
    assert "(model.key_size=5, model.value_size=7)" in why_not_ctranslate2(two)
    assert why_not_ctranslate2(replace(two, value_size=5)) == ""
    assert why_not_ctranslate2(ModelConfig(d_model=16, num_heads=2, key_size=8)) == ""
    assert why_not_ctranslate2(ModelConfig(d_model=16, num_heads=2, key_size=5)) != ""
    with pytest.raises(ExportError, match="one width for a head") as failure:
        make_export(two, {}, WORDS, "")
    assert failure.value.hint == "translate with the engine keras"
