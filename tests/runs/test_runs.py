"""Run directories: what is written is read back, and damage is reported."""

import errno
import json
import os
import re
import stat
from datetime import datetime
from pathlib import Path

import pytest

from ptenmt.atomic_files import write_text
from ptenmt.config import Config, ModelConfig, TokenizerConfig, ValidationConfig
from ptenmt.errors import OutputError, RunError
from ptenmt.runs import Run, find_run, list_runs, run_path
from ptenmt.runs.directory import SplitRecord


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new_run(name: str, trained: str = "", version: int = 1, config: Config | None = None) -> Run:
    """A run with an empty file of weights."""
    run = Run(Path("checkpoints") / name)
    run.write(config or Config(), {"parameters": 3})
    run.weights_folder.mkdir()
    (run.weights_folder / "best.safetensors").touch()
    facts = run.facts() | {"format_version": version}
    write_text(run.path / "run.json", json.dumps(facts | ({"trained": trained} if trained else {})))
    return run


def test_a_run_is_what_was_written_last(here: Path) -> None:
    run = Run(here / "checkpoints" / "one")
    run.write(Config(), {})
    first = run.facts()
    assert run.config() == Config()
    assert (run.splits(), run.data_fingerprint("train")) == ({}, None)

    config = Config(seed=3, model=ModelConfig(d_model=64))
    data = {"train": {"pairs": 7, "fingerprint": "çé"}, "validation": {"windows": 3}}
    run.write(config, {"parameters": 12, "data": data, "steps_per_epoch": {"1": 8, "3": 3}})
    facts = run.facts()
    assert (run.name, run.config()) == ("one", config)
    assert (facts["parameters"], facts["data"], facts["format_version"]) == (12, data, 1)
    assert {"python", "ptenmt", "tensorflow", "keras"} <= facts["versions"].keys()
    assert datetime.fromisoformat(facts["created"]).utcoffset() is not None
    assert facts["created"] == first["created"]
    assert facts["trained"] > first["trained"]
    assert run.splits()["train"] == SplitRecord(size=7, fingerprint="çé")
    assert run.splits()["validation"] == SplitRecord(size=3, fingerprint="")
    assert (run.data_fingerprint("train"), run.data_fingerprint("validation")) == ("çé", None)
    assert run.steps_per_epoch() is None, "of an older version, whose epochs differ"
    run.write(config, {"steps_per_epoch": {"1": 8, "3": 8}})
    assert run.steps_per_epoch() == 8


def test_checkpoints_are_listed_newest_first(here: Path) -> None:
    names = ["ckpt-9.index", "ckpt-9.data-00000-of-00001", "ckpt-10.index", "ckpt-2.data-00000-of-00001"]
    (here / "state").mkdir()
    for name in [*names, "ckpt-x.index", "checkpoint", "ckpt-3"]:
        (here / "state" / name).touch()
    assert Run(here).checkpoints() == [here / "state" / "ckpt-10", here / "state" / "ckpt-9"]


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("run.json", [b"", b"{", b"[]", b"3", b"{}", b'{"format_version": "x"}', None]),
        ("config.yaml", [b"", b"model: [", b"model: {d_modl: 1}", b"\xff", b"seed: many", None]),
    ],
)
def test_a_damaged_or_missing_file_is_an_error(name: str, contents: list[bytes | None]) -> None:
    run = new_run("one")
    for content in contents:
        (run.path / name).unlink()
        if content is not None:
            (run.path / name).write_bytes(content)
        with pytest.raises(RunError, match=rf"{re.escape(name)} is (damaged: \S|missing)") as caught:
            run.config()
        assert "\n" not in caught.value.message


def test_the_default_is_the_run_trained_last_that_can_be_read() -> None:
    runs = {name: new_run(name, trained=f"2026-01-0{day}") for name, day in (("a", 3), ("b", 5), ("c", 4))}
    newer = new_run("newer-format", trained="2027-01-01", version=7)
    assert [run.name for run in list_runs()] == ["b", "c", "a"]
    assert find_run() == Run(Path("checkpoints/b"))
    (runs["b"].path / "config.yaml").unlink()
    assert find_run() == runs["c"]
    for name in "ac":
        (runs[name].path / "config.yaml").write_text("model: 1")
    with pytest.raises(RunError, match="that can be read: checkpoints/newer-format is of run format 7"):
        find_run()
    (newer.path / "run.json").unlink()
    with pytest.raises(RunError, match=r"that can be read: checkpoints/b/config\.yaml is missing"):
        find_run()


def test_the_default_is_the_newest_run_of_the_task_that_has_weights() -> None:
    new_run("a", trained="2026-01-03T00:00:00")
    words, by_loss = TokenizerConfig(kind="words"), ValidationConfig(metric="loss")
    next_word = Config(task="next-word", tokenizer=words, validation=by_loss)
    new_run("b", trained="2026-01-04T00:00:00", config=next_word)
    (new_run("c", trained="2026-01-05T00:00:00").weights_folder / "best.safetensors").unlink()
    assert find_run().name == find_run(task="next-word").name == "b"
    assert find_run(task="translation").name == "a"
    assert find_run("b", "translation").name == "b", "a name is a name"


def test_a_default_that_was_not_validated_yet_is_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    weights = new_run("one").weights_folder
    with caplog.at_level("INFO", "ptenmt"):
        find_run()
        (weights / "best.safetensors").rename(weights / "latest.safetensors")
        find_run("one")
        assert caplog.records == []
        find_run()
    (record,) = caplog.records
    assert record.getMessage() == "using one, whose weights were not validated; --run names another run"


def test_a_run_has_a_name_or_a_path(here: Path) -> None:
    copy = here / "elsewhere" / "copy"
    copy.parent.mkdir()
    new_run("one").path.rename(copy)
    new_run("one")
    assert find_run("one").path == Path("checkpoints/one")
    assert find_run("elsewhere/copy").path == Path("elsewhere/copy")
    assert find_run(copy) == Run(copy)

    places = {"new": "checkpoints/new", "./new": "new", "a/b": "a/b"}
    assert {name: str(run_path(name)) for name in places} == places
    assert run_path(here) == here
    with pytest.raises(RunError, match="the name of the run is empty"):
        run_path(" ")


def test_no_run_yet(here: Path) -> None:
    assert find_run().name == find_run(task="translation").name == "starter"
    with pytest.raises(RunError, match=re.escape(f"no next-word run in {here / 'checkpoints'}")) as caught:
        find_run(task="next-word")
    assert "ptenmt train --config next-word.yaml" in caught.value.hint

    new_run("one")
    with pytest.raises(RunError, match="no run in checkpoints/two") as caught:
        find_run("two")
    assert caught.value.hint == "runs here: one; or starter, the bundled model"
    with pytest.raises(RunError) as caught:
        find_run("oen")
    assert caught.value.hint == "did you mean one?"
    (here / "checkpoints/one/run.json").unlink()
    with pytest.raises(RunError, match=r"^checkpoints/one/run\.json is missing$") as caught:
        find_run("one")
    assert "copy the whole run folder again" in caught.value.hint


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("error", [Interrupted(), OSError(errno.ENOSPC, "No space left on device")])
def test_a_file_is_written_whole_or_not_at_all(
    here: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(_descriptor: int) -> None:
        raise error

    file = here / "out.txt"
    write_text(file, "old\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises((Interrupted, OutputError)) as caught:
            write_text(file, "new\n")
    if isinstance(caught.value, OutputError):
        assert caught.value.message == f"cannot write {file}: No space left on device"
    assert file.read_text() == "old\n"
    assert os.listdir(here) == ["out.txt"]
    write_text(file, "né\r\nw")
    assert file.read_bytes() == "né\r\nw".encode()
    assert os.listdir(here) == ["out.txt"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(here: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_text(here / "out.txt", "x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((here / "out.txt").stat().st_mode) == mode


def test_a_device_is_not_replaced_by_a_file() -> None:
    before = Path(os.devnull).stat()
    write_text(Path(os.devnull), "x")
    after = Path(os.devnull).stat()
    assert stat.S_ISCHR(after.st_mode)
    assert after.st_ino == before.st_ino
