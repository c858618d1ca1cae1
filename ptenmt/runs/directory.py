"""The run directory: one self-contained folder per training, ``checkpoints/<run>/``.

- ``run.json``: format version, package versions, data fingerprint, sizes, the layer that aligns words
- ``config.yaml``: every option
- ``tokenizer/``: both languages' tokenizers
- ``state/``: TensorFlow's checkpoints of all that the next training step depends on; only training reads them
- ``weights/``: the best and the latest weights, which everything else reads (``ptenmt.runs.weights``)
- ``ctranslate2/``: the best weights for CTranslate2, a cache (``ptenmt.runs.trained_model``)
- ``export/``: what ``ptenmt export`` wrote for other programs
- ``history.jsonl``: one JSON object per line, a validation (it has ``validation``) or a point of the training
  curves
"""

import difflib
import json
import logging
import math
import os
import platform
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from ptenmt.atomic_files import check_writable, held, json_text, make_folder, output_errors, write_text
from ptenmt.config import Config, TaskName
from ptenmt.config.loading import build_config, dump_config
from ptenmt.errors import ConfigError, RunError

FORMAT_VERSION = 1
RUNS_FOLDER = Path("checkpoints")
STARTER = "starter"
"""Name of the trained run that comes with the package."""
SEARCH_FACTS = ("alignment_layer", "output_ids")
"""What ``run.json`` has for search, which training measures when it ends."""
NOTHING = "–"
"""Shown in place of a missing value."""
NOTICE = 25
"""Level of log messages that are no warnings, but shown by commands."""
Choice = Literal["best", "latest"]
"""Which of a run's weights: the best by validation, or the newest."""

logger = logging.getLogger(__name__)
logging.addLevelName(NOTICE, "NOTICE")

_YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # not every PyYAML has the fast one
_LIBRARIES = ("tensorflow", "keras", "tensorflow-datasets", "ctranslate2", "sentencepiece", "tokenizers")

UNITS: dict[TaskName, str] = {"translation": "pairs", "next-word": "windows"}
"""The unit in which each task's data is counted."""
COMMANDS: dict[TaskName, str] = {"translation": "translate", "next-word": "complete"}
"""The command that uses a trained model of each task."""

_TYPES = {"data": dict, "vocabulary_sizes": list, "corpora": list, "trained": str}
"""Of entries of ``run.json``."""
_OTHER_NAME = "choose another name for the run"
_COPY_HINT = "restore it from a copy, or copy the whole run folder again"
_TRAIN_HINT = "train one first: ptenmt train --config {}.yaml"
_MAX_LOSS = 20.0  # nats per token; exp(20) is 5e8


@dataclass(frozen=True, kw_only=True)
class SplitRecord:
    """The data of a split when the run was trained."""

    size: int
    """Pairs, or windows of a next-word model."""
    fingerprint: str


@dataclass(frozen=True)
class Run:
    """A run directory; the folder is the only state."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.absolute().name

    @property
    def tokenizer_folder(self) -> Path:
        """Where the run's tokenizers are saved."""
        return self.path / "tokenizer"

    @property
    def state_folder(self) -> Path:
        """Where training saves its state."""
        return self.path / "state"

    @property
    def weights_folder(self) -> Path:
        """Where the best and the latest weights are."""
        return self.path / "weights"

    @property
    def ctranslate2_folder(self) -> Path:
        """Where the best weights are cached in CTranslate2's form."""
        return self.path / "ctranslate2"

    @property
    def is_bundled(self) -> bool:
        """Whether it came with the package, where nothing is written."""
        bundled = _bundled_run()
        return bundled is not None and self.path.resolve() == bundled.path.resolve()

    @property
    def has_weights(self) -> bool:
        """Whether any weights were saved so far."""
        return any(self.weights_folder.glob("*.safetensors"))

    def facts(self, needed: Collection[str] = ()) -> dict[str, Any]:
        """The content of ``run.json``, which must have the entries that are ``needed``.

        Raises RunError if it is missing, damaged, or of a newer format than this program knows.
        """
        file = self.path / "run.json"
        try:
            facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            version = facts.get("format_version") if isinstance(facts, dict) else None
            if not isinstance(version, int):
                raise TypeError("it has no format_version")
            if wrong := [
                name for name, kind in _TYPES.items() if not isinstance(facts.get(name, kind()), kind)
            ]:
                raise TypeError(f"not as training writes it: {', '.join(wrong)}")
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"{file} is {_what_is_wrong(error)}", _COPY_HINT) from error
        if version > FORMAT_VERSION:
            raise RunError(
                f"{self.path} is of run format {version}; this ptenmt knows formats up to {FORMAT_VERSION}",
                "upgrade ptenmt: git pull and pip install . in its clone",
            )
        untrained = {"steps_per_epoch"} if "imported_from" in facts else set()
        if missing := sorted(set(needed) - facts.keys() - untrained):
            raise RunError(f"{file} is damaged: it lacks {', '.join(missing)}", _COPY_HINT)
        return facts

    def splits(self) -> dict[str, SplitRecord]:
        """The data of each split when the run was trained, as far as it is known."""
        return {
            name: SplitRecord(
                size=part.get("pairs", part.get("windows", 0)), fingerprint=part.get("fingerprint", "")
            )
            for name, part in self.facts().get("data", {}).items()
        }

    def data_fingerprint(self, split: str) -> str | None:
        """The fingerprint of a split when the run was trained, if it is known."""
        splits = self.splits()
        return splits[split].fingerprint or None if split in splits else None

    def steps_per_epoch(self) -> int | None:
        """The steps of an epoch; None if an older version trained it with epochs of different lengths.

        Raises RunError if the run does not say, or another program trained it.
        """
        steps: int | dict[str, int] | None = self.facts({"steps_per_epoch"}).get("steps_per_epoch")
        if steps is None:
            raise RunError(f"{self.path} was imported: its training is unknown", "choose another with --run")
        if isinstance(steps, dict):
            first, *others = steps.values()
            return None if any(other != first for other in others) else first
        return steps

    @property
    def licence(self) -> str:
        """The licence of the weights: as published, of the model they come from, or of the demo corpus."""
        facts, demo = self.facts(), "Apache-2.0" if self.config().data.source == "demo" else ""
        return str(facts.get("licence") or facts.get("imported_from", {}).get("licence") or demo)

    def config(self) -> Config:
        """The options this run was trained with; raises RunError if ``config.yaml`` is damaged."""
        self.facts()  # checks the format
        file = self.path / "config.yaml"
        try:
            options = yaml.load(file.read_text(encoding="utf-8"), _YamlLoader)
            return build_config(options, self.path)
        except (OSError, ValueError, yaml.YAMLError, ConfigError) as error:
            raise RunError(f"{file} is {_what_is_wrong(error)}", _COPY_HINT) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run until the process ends in any way; RunError if another one trains it; OutputError."""
        hint = "wait for it or stop it, or train beside it with --run NAME"
        with held(
            self.path, lambda process: RunError(f"{self.path} is being trained by process {process}", hint)
        ):
            yield

    def check_writable(self) -> None:
        """Raise RunError or OutputError if the folder cannot be written."""
        if self.path.is_file():
            raise RunError(f"{self.path} is a file, not a run", _OTHER_NAME)
        if not self.path.name:
            raise RunError(f"{self.path} cannot be a run", _OTHER_NAME)
        if self.path == RUNS_FOLDER / STARTER and not (self.path / "run.json").exists():
            raise RunError(f"{STARTER} is the name of the model that comes with ptenmt", _OTHER_NAME)
        check_writable(self.path / "run.json")

    def write(self, config: Config, facts: dict[str, Any]) -> None:
        """Write ``run.json``, which makes the folder a run, then ``config.yaml``; raises OutputError.

        ``facts`` are further entries of ``run.json``; another run's format, times and versions are replaced.
        """
        make_folder(self.path)
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        old = self.facts() if (self.path / "run.json").exists() else {}
        kept = {name: old[name] for name in ("created", *SEARCH_FACTS) if name in old}
        own = {"format_version": FORMAT_VERSION, "created": now, "trained": now, "versions": versions()}
        self._write_facts(own | facts | own | kept)
        write_text(self.path / "config.yaml", dump_config(config))

    def exported_facts(self) -> dict[str, Any]:
        """What exports say, for importing them: ``SEARCH_FACTS``, and the licence as far as it is known."""
        facts = self.facts()
        return {"licence": self.licence} | {name: facts[name] for name in SEARCH_FACTS if name in facts}

    def record_alignment_layer(self, layer: int) -> None:
        """Add to ``run.json`` which layer aligns words, see ``TrainedModel``; raises OutputError."""
        self._write_facts(self.facts() | {"alignment_layer": layer})

    def recorded_ids(self, name: str) -> list[int] | None:
        """The target tokens that an entry of ``run.json`` has as bits; None if it is not there."""
        bits = self.facts().get(name)
        if not isinstance(bits, str):
            return None
        return [token for token, bit in enumerate(reversed(f"{int(bits, 16):b}")) if bit == "1"]

    def record_output_ids(self, ids: Iterable[int]) -> None:
        """Add to ``run.json`` which target tokens search generates, as bits; raises OutputError."""
        self._write_facts(self.facts() | {"output_ids": f"{sum(1 << token for token in set(ids)):x}"})

    def _write_facts(self, facts: dict[str, Any]) -> None:
        write_text(self.path / "run.json", json_text(facts, indent=2) + "\n")

    def checkpoints(self) -> list[Path]:
        """The checkpoints of the training state, without suffixes, newest first, damaged ones included."""
        numbers = {file.stem.removeprefix("ckpt-") for file in self.state_folder.glob("ckpt-*.index")}
        newest_first = sorted(map(int, filter(str.isdigit, numbers)), reverse=True)
        return [self.state_folder / f"ckpt-{number}" for number in newest_first]


def _what_is_wrong(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "missing"
    if isinstance(error, OSError):
        return f"unreadable: {error.strerror}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | yaml.YAMLError):
        return "damaged: it cannot be parsed"
    return f"damaged: {error}"


def check_task(run: Run, trained_task: TaskName, needed_task: TaskName) -> None:
    """Raise RunError if the task that a run was trained for is not the needed one."""
    if trained_task != needed_task:
        raise RunError(
            f"{run.path} is a {trained_task} run; this command needs a {needed_task} run",
            f"choose another; ptenmt {COMMANDS[trained_task]} is for this one",
        )


def find_run(name: str | Path | Run | None = None, task: TaskName | None = None) -> Run:
    """Find an existing run, or raise RunError.

    ``name`` is a path, a folder's name below ``checkpoints/``, or ``starter``, the bundled run, if no folder
    has this name. None means the run trained, averaged or imported last, for ``task``, that has weights and
    can be read; without any, the bundled run. A ``Run`` is returned as it is.
    """
    if isinstance(name, Run):
        return name
    if name is None:
        return _newest_run(task)
    path = run_path(name)
    if (path / "run.json").is_file():
        return Run(path)
    if str(name) == STARTER and (starter := _bundled_run()):
        return starter
    if path.is_dir() and any((path / part).exists() for part in ("config.yaml", "weights", "tokenizer")):
        raise RunError(f"{path / 'run.json'} is missing", _COPY_HINT)
    hint = _TRAIN_HINT.format("demo")
    known = [run.name for run in list_runs()]
    if near := difflib.get_close_matches(path.name, [*known, STARTER], 1):
        hint = f"did you mean {near[0]}?"
    elif known:
        hint = f"runs here: {', '.join(known)}; or {STARTER}, the bundled model"
    raise RunError(f"no run in {path}", hint)


def _newest_run(task: TaskName | None) -> Run:
    """The run that ``find_run`` takes without a name."""
    unreadable: list[str] = []
    for run in list_runs(unreadable.append):
        try:
            run_task = run.config().task
        except RunError as error:
            unreadable.append(error.message)
        else:
            if run.has_weights and task in (None, run_task):
                if not (run.weights_folder / "best.safetensors").exists():
                    _mention(f"using {run.name}, whose weights were not validated; --run names another run")
                return run
    starter = None if unreadable or task == "next-word" else _bundled_run()
    if starter is None:
        kind, config = ("next-word run", "next-word") if task == "next-word" else ("run", "demo")
        reason = f" that can be read: {unreadable[0]}" if unreadable else ""
        raise RunError(f"no {kind} in {RUNS_FOLDER.absolute()}{reason}", _TRAIN_HINT.format(config))
    _mention("using the bundled starter model; train your own: ptenmt train --config demo.yaml")
    return starter


def _bundled_run() -> Run | None:
    """The trained run that comes with the package; None in an installation without it."""
    package = Path(__file__).parents[1]
    places = (package / "models" / STARTER, package.parent / "models" / STARTER)
    return next((Run(place) for place in places if (place / "run.json").is_file()), None)


@cache  # once a process
def _mention(message: str) -> None:
    logger.log(NOTICE, message)


def run_path(name: str | Path) -> Path:
    """The folder for ``--run``: a run's path, or below ``checkpoints/``; a new one with / is a path."""
    if not str(name).strip():
        raise RunError("the name of the run is empty", "give a name or a folder with --run")
    given = Path(name).expanduser()
    below = RUNS_FOLDER / given
    is_path = "/" in str(name) or os.sep in str(name)
    if (given / "run.json").is_file():
        return given
    return given if is_path and not (below / "run.json").is_file() else below


def list_runs(on_unreadable: Callable[[str], None] = lambda _reason: None) -> list[Run]:
    """All runs below ``checkpoints/``, trained last first; unfinished ones, named ``.…``, are left out.

    ``on_unreadable`` is called with a message for each run that cannot be read.
    """
    runs = []
    for file in sorted(RUNS_FOLDER.glob("[!.]*/run.json")):
        run = Run(file.parent)
        try:
            runs.append((run.facts().get("trained", ""), run))
        except RunError as error:
            on_unreadable(error.message)
    return [run for _, run in sorted(runs, key=lambda dated: dated[0], reverse=True)]


@contextmanager
def written_whole(run: Run, option: str) -> Iterator[Run]:
    """Write a new run whole or not at all: yields the run to write, which takes its place at the end.

    Raises RunError if it exists, naming the ``option`` that chooses another; OutputError.
    """
    run.check_writable()
    if run.path.exists():
        raise RunError(f"{run.path} exists already", f"choose another name with {option}")
    unfinished = Run(run.path.absolute().with_name(f".{run.name}.{os.getpid()}.new"))
    try:
        yield unfinished
        with output_errors(f"write {run.path}"):
            unfinished.path.rename(run.path)
    finally:
        shutil.rmtree(unfinished.path, ignore_errors=True)


def set_aside(run: Run) -> Path:
    """Rename a run's folder to free its name; nothing is deleted. Raises OutputError."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = run.path if run.path.name else run.path.absolute()  # of the current folder
    aside = path.with_name(f"{run.name}.{stamp}")
    with output_errors(f"rename {run.path} to {aside.name}"):
        return path.rename(aside)


def versions() -> dict[str, str]:
    """The versions of Python and of the installed packages that a run depends on."""
    from importlib import metadata  # takes 15 ms: imported only to train

    versions = {"python": platform.python_version()}
    for package in ("ptenmt", *_LIBRARIES):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


class History:
    """The validations and the training curves of the run in a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "history.jsonl"

    def validations(self) -> list[dict[str, Any]]:
        """The validations so far, oldest first."""
        return [line for line in self._lines() if "validation" in line]

    def curve(self) -> list[dict[str, Any]]:
        """The points of the training curves so far, oldest first: means since the point before."""
        return [line for line in self._lines() if "validation" not in line]

    def best(self, metric: str) -> dict[str, Any] | None:
        """The validation of the best model by ``validation.metric``, the earliest of equals, if any."""

        def quality(line: dict[str, Any]) -> tuple[float, float, int]:
            scores = line["validation"]
            return *rank(metric, scores.get(metric), scores.get("loss")), -line["step"]

        return max(self.validations(), key=quality, default=None)

    def last(self) -> dict[str, Any] | None:
        """The newest line of either kind, if there is one."""
        return next(reversed(list(self._lines())), None)

    def add(self, line: dict[str, Any]) -> None:
        """Append a line; figures that are not finite become null. Raises OutputError."""
        with output_errors(f"write {self._file}"), self._file.open("a", encoding="utf-8") as stream:
            stream.write(json_text(line) + "\n")

    def forget_after(self, step: int, validated: int) -> None:
        """Drop the lines after a checkpoint, at global step ``step``, and its last validation."""
        if not self._file.exists():
            return
        last = {True: validated, False: step}
        kept = [line for line in self._lines() if line["step"] <= last["validation" in line]]
        text = "".join(json_text(line) + "\n" for line in kept)
        if text.encode() != self._file.read_bytes():
            write_text(self._file, text)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """All lines up to one that is incomplete, such as a killed training leaves at the end."""
        if not self._file.exists():
            return
        for text in self._file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                return
            if not isinstance(line, dict) or not isinstance(line.get("step"), int):
                return
            yield line


def rank(metric: str, score: float | None, loss: float | None) -> tuple[float, float]:
    """A key that sorts models by score, then by loss, the best last; NaN comes first.

    Of the metrics, only ``loss`` is better when lower.
    """
    by_score = math.nan if score is None else score
    by_loss = math.nan if loss is None else loss
    ranks = (-by_score if metric == "loss" else by_score, -by_loss)
    return tuple(-math.inf if math.isnan(value) else value for value in ranks)  # type: ignore[return-value]


def perplexity(loss: float | None) -> float | None:
    """exp(loss), the effective branching factor; None where the loss is missing, not finite, or above 20."""
    return None if loss is None or not loss < _MAX_LOSS else math.exp(loss)
