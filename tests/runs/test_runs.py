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
from ptenmt.runs import Run, find_run, list_runs, run_path, set_aside
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


def test_a_run_is_what_was_written(here: Path) -> None:
    run = Run(here / "checkpoints" / "one")
    config = Config(seed=3, model=ModelConfig(d_model=64))
    run.write(config, {"parameters": 12, "data": {"fingerprint": "çé"}})
    facts = run.facts()

    assert run.name == "one"
    assert run.config() == config
    assert facts["parameters"] == 12
    assert facts["data"] == {"fingerprint": "çé"}
    assert facts["format_version"] == 1
    assert {"python", "ptenmt", "tensorflow", "keras"} <= facts["versions"].keys()
    assert datetime.fromisoformat(facts["created"]).utcoffset() is not None


def test_writing_again_keeps_the_day_of_creation(here: Path) -> None:
    run = Run(here / "one")
    run.write(Config(), {})
    first = run.facts()
    run.write(Config(seed=1), {})
    second = run.facts()

    assert second["created"] == first["created"]
    assert second["trained"] > first["trained"]
    assert run.config().seed == 1


def test_checkpoints_are_listed_newest_first(here: Path) -> None:
    names = ["ckpt-9.index", "ckpt-9.data-00000-of-00001", "ckpt-10.index", "ckpt-2.data-00000-of-00001"]
    (here / "state").mkdir()
    for name in [*names, "ckpt-x.index", "checkpoint", "ckpt-3"]:
        (here / "state" / name).touch()
    assert Run(here).checkpoints() == [here / "state" / "ckpt-10", here / "state" / "ckpt-9"]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"format_version": "x"}', None])
def test_a_damaged_run_json_is_an_error(text: str | None) -> None:
    run = new_run("one")
    (run.path / "run.json").unlink()
    if text is not None:
        (run.path / "run.json").write_text(text)
    with pytest.raises(RunError, match=r"run\.json is (damaged: \S|missing)"):
        run.facts()


@pytest.mark.parametrize("content", [b"", b"model: [", b"model: {d_modl: 1}", b"\xff", b"seed: many", None])
def test_a_damaged_config_is_an_error(content: bytes | None) -> None:
    run = new_run("one")
    (run.path / "config.yaml").unlink()
    if content is not None:
        (run.path / "config.yaml").write_bytes(content)
    with pytest.raises(RunError, match=r"config\.yaml is (damaged: \S|missing)") as caught:
        run.config()
    assert "\n" not in caught.value.message


def test_the_latest_run_is_the_one_trained_last() -> None:
    new_run("a", trained="2026-01-03T00:00:00")
    new_run("b", trained="2026-01-05T00:00:00")
    new_run("c", trained="2026-01-04T00:00:00")
    new_run("newer-format", trained="2027-01-01T00:00:00", version=7)

    assert find_run() == Run(Path("checkpoints/b"))
    assert [run.name for run in list_runs()] == ["b", "c", "a"]


def test_a_run_without_its_config_is_not_taken_before_one_that_has_it() -> None:
    old, new = new_run("a", trained="2026-01-03T00:00:00"), new_run("b", trained="2026-01-05T00:00:00")
    (new.path / "config.yaml").unlink()
    assert find_run() == old
    (old.path / "config.yaml").write_text("model: 1")
    with pytest.raises(RunError, match=r"that can be read: .*config\.yaml is missing"):
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


def test_a_run_is_found_by_name_and_by_path(here: Path) -> None:
    run = new_run("one")
    copy = here / "elsewhere" / "copy"
    copy.parent.mkdir()
    run.path.rename(copy)
    new_run("one")

    assert find_run("one").path == Path("checkpoints/one")
    assert find_run("elsewhere/copy").path == Path("elsewhere/copy")
    assert find_run(copy) == Run(copy)
    assert find_run(copy).config() == Config()


def test_a_new_runs_place(here: Path) -> None:
    assert run_path("one") == Path("checkpoints/one")
    assert run_path("./one") == Path("one")
    assert run_path("a/b") == Path("a/b")
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


def test_when_no_run_can_be_read_it_is_said_why() -> None:
    new_run("future", version=7)
    with pytest.raises(RunError, match="that can be read: checkpoints/future is of run format 7"):
        find_run()


def test_setting_aside_keeps_everything() -> None:
    run = Run(Path("checkpoints/one"))
    run.write(Config(seed=3), {})
    aside = set_aside(run)
    assert not run.path.exists()
    assert re.fullmatch(r"one\.\d{8}-\d{6}", aside.name)
    assert Run(aside).config().seed == 3


class Interrupted(BaseException):
    pass


def test_a_file_is_written_whole_or_not_at_all(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_descriptor: int) -> None:
        raise Interrupted

    file = here / "out.txt"
    write_text(file, "old\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(Interrupted):
            write_text(file, "new\n")
    assert file.read_text() == "old\n"
    assert os.listdir(here) == ["out.txt"]

    write_text(file, "né\r\nw")
    assert file.read_bytes() == "né\r\nw".encode()
    assert os.listdir(here) == ["out.txt"]


def test_a_full_disk_leaves_the_old_content(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = here / "out.txt"
    write_text(file, "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError) as caught:
        write_text(file, "new")

    assert caught.value.message == f"cannot write {file}: No space left on device"
    assert file.read_text() == "old"
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


def test_the_data_and_steps_of_a_run() -> None:
    run = Run(Path("one"))
    run.write(Config(), {})
    assert (run.splits(), run.data_fingerprint("train")) == ({}, None)
    data = {"train": {"pairs": 7, "fingerprint": "a"}, "validation": {"windows": 3}}
    run.write(Config(), {"data": data, "steps_per_epoch": {"1": 8, "3": 3}})
    assert run.splits()["train"] == SplitRecord(size=7, fingerprint="a")
    assert run.splits()["validation"] == SplitRecord(size=3, fingerprint="")
    assert (run.data_fingerprint("train"), run.data_fingerprint("validation")) == ("a", None)
    assert run.steps_per_epoch() is None, "of an older version, whose epochs differ"
    run.write(Config(), {"steps_per_epoch": {"1": 8, "3": 8}})
    assert run.steps_per_epoch() == 8
