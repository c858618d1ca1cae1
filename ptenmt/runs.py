"""The run directory: one self-contained folder per training, ``checkpoints/<run>/``.

- ``run.json``: format version, package versions, data fingerprint, sizes
- ``config.yaml``: every option
- ``tokenizer/``: both languages' tokenizers
- ``ckpt-*``: checkpoints, and ``checkpoint``, which names the latest and its step
- ``weights-*``: the best models, weights alone, and ``best.json``, which says how good
- ``export/ctranslate2/``: the best one of them for CTranslate2, which translates
- ``export/weights/``: the same in float32 as safetensors, which is what is looked into
- ``history.jsonl``: what the training told, a JSON object a line
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import yaml

from ptenmt.atomic_files import json_text, write_text
from ptenmt.config import Config
from ptenmt.config.loading import build_config, dump_config
from ptenmt.errors import ConfigError, OutputError, RunError
from ptenmt.locks import exclusive, holder

FORMAT_VERSION = 1
RUNS_FOLDER = Path("checkpoints")
Choice = Literal["best", "latest"]
"""Which of a run's weights: those that scored best in validation, or those of the newest checkpoint."""

_BEST = "best.json"
_YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # not every PyYAML has the fast one
_PACKAGES = (
    "ptenmt",
    "tensorflow",
    "keras",
    "tensorflow-datasets",
    "ctranslate2",
    "sentencepiece",
    "tokenizers",
)


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

    def export_folder(self, choice: Choice = "best", form: str = "ctranslate2") -> Path:
        """Where the export of a form is: of the ``best`` weights, or of the ``latest``."""
        return self.path / "export" / (form if choice == "best" else f"{form}-{choice}")

    def facts(self) -> dict[str, Any]:
        """What ``run.json`` says.

        Raises:
            RunError: It is damaged, or written by a newer format than this program knows.
        """
        file = self.path / "run.json"
        try:
            facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            version = int(facts["format_version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{file} is damaged or unreadable: {error}") from error
        if version > FORMAT_VERSION:
            raise RunError(
                f"{self.path} is of run format {version}; this ptenmt knows formats up to {FORMAT_VERSION}",
                "upgrade: pip install --upgrade ptenmt",
            )
        return facts

    def data_fingerprint(self, split: str) -> str | None:
        """The fingerprint of the pairs that were this split's when the run was trained, if it is known."""
        fingerprint = self.facts().get("data", {}).get(split, {}).get("fingerprint")
        return None if fingerprint is None else str(fingerprint)

    def config(self) -> Config:
        """The options this run was trained with.

        Raises:
            RunError: ``config.yaml`` is damaged.
        """
        self.facts()  # of a format that this program can read?
        file = self.path / "config.yaml"
        try:
            return build_config(yaml.load(file.read_text(encoding="utf-8"), _YamlLoader))
        except (OSError, ValueError, yaml.YAMLError, ConfigError) as error:
            raise RunError(f"{file} is damaged or unreadable: {' '.join(str(error).split())}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other trainings out of this run. The lock ends with the process, however that ends.

        Raises:
            RunError: Another training is at work on it.
            OutputError: The lock cannot be made.
        """
        path = self.path.resolve()  # a link to a run is that run
        file = path.with_name(f".{path.name}.lock")
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(file, wait=False))
            except BlockingIOError as error:
                raise RunError(
                    f"{self.path} is being trained by process {holder(file)}",
                    "wait for it or stop it, or train beside it with --run NAME",
                ) from error
            except OSError as error:
                raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
            yield

    def check_writable(self) -> None:
        """Raise RunError or OutputError if the folder cannot be written; it is not created yet."""
        if self.path.is_file():
            raise RunError(f"{self.path} is a file, not a run", "choose another name with --run")
        folder = next(
            folder for folder in (self.path.absolute(), *self.path.absolute().parents) if folder.exists()
        )
        if not folder.is_dir():
            raise OutputError(f"cannot create {self.path}: {folder} is a file")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"cannot create {self.path}: {folder} is read-only")

    def write(self, config: Config, facts: dict[str, Any]) -> None:
        """Write ``run.json``, which makes the folder a run, then ``config.yaml``.

        Args:
            config: The run's options.
            facts: What else ``run.json`` is to say. Another run's may be passed on: format, times and
                versions are this run's own all the same.

        Raises:
            OutputError: They cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot create {self.path}: {error.strerror or error}") from error
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        created = self.facts().get("created", now) if (self.path / "run.json").exists() else now
        own = {"format_version": FORMAT_VERSION, "created": created, "trained": now, "versions": versions()}
        write_text(self.path / "run.json", json_text(own | facts | own, indent=2) + "\n")
        write_text(self.path / "config.yaml", dump_config(config))

    def checkpoints(self) -> list[Path]:
        """The checkpoints' paths without their endings, newest first, damaged ones included."""
        names = {file.name.split(".")[0] for file in self.path.glob("ckpt-*.*")}
        numbers = {name.removeprefix("ckpt-") for name in names}
        return [
            self.path / f"ckpt-{number}" for number in sorted(filter(str.isdigit, numbers), key=int)[::-1]
        ]

    @property
    def has_weights(self) -> bool:
        """Whether anything was saved so far."""
        return bool(self.checkpoints()) or (self.path / _BEST).exists()

    def best_models(self) -> list["Model"]:
        """The best models so far, the best one first; none if there is no ``best.json``.

        Raises:
            RunError: It is damaged.
        """
        file = self.path / _BEST
        if not file.exists():
            return []
        try:
            return [Model(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError) as error:
            raise RunError(
                f"{file} is damaged or unreadable: {error}",
                "remove it: the best models are chosen anew, among those that follow",
            ) from error

    def write_best_models(self, models: Sequence["Model"]) -> None:
        """Replace ``best.json``."""
        entries = [asdict(model) for model in models]
        write_text(self.path / _BEST, json_text(entries, indent=2) + "\n")


@dataclass(frozen=True, kw_only=True)
class Model:
    """One of a run's best models."""

    name: str
    """Of its files, without their endings."""
    step: int
    """After which it was scored."""
    score: float | None
    """By ``validation.metric``; None if it was no number, and for an average, which nobody has scored."""
    loss: float | None = None
    """Of the validation: of models with equal scores the one with the lower loss is the better."""


def find_run(name: str | Path | None = None) -> Run:
    """Find an existing run.

    Args:
        name: A path, or a folder's name below ``checkpoints/``; None means the run trained or averaged last
            that has weights, or if none has, the last.

    Raises:
        RunError: There is no such run.
    """
    hint = "train one first: ptenmt train --config demo.yaml"
    if name is None:
        unreadable: list[str] = []
        runs = list_runs(unreadable.append)
        if not runs:
            reason = f" that can be read: {unreadable[0]}" if unreadable else ""
            raise RunError(f"no run in {RUNS_FOLDER.absolute()}{reason}", hint)
        return max(runs, key=lambda run: (run.has_weights, str(run.facts().get("trained"))))
    try:
        path = run_path(name)
        if (path / "run.json").is_file():
            return Run(path)
    except OSError as error:
        raise RunError(f"no run in {name}: {error.strerror or error}") from error
    known = ", ".join(run.name for run in list_runs())
    raise RunError(f"no run in {path}", f"runs here: {known}" if known else hint)


def run_path(name: str | Path) -> Path:
    """The folder that ``--run`` means: a path that exists or has a slash, else below ``checkpoints/``.

    Raises:
        RunError: The name is empty.
    """
    if not str(name).strip():
        raise RunError("the name of the run is empty", "give a name or a folder with --run")
    given = Path(name).expanduser()
    is_path = "/" in str(name) or os.sep in str(name) or (given / "run.json").is_file()
    return given if is_path else RUNS_FOLDER / given


def list_runs(on_unreadable: Callable[[str], None] = lambda _reason: None) -> list[Run]:
    """All runs below ``checkpoints/`` that this program can read, by name.

    Folders with a dot before their names are runs that were never finished.

    Args:
        on_unreadable: Told, in a sentence, of each that it cannot.
    """
    runs = []
    for file in sorted(RUNS_FOLDER.glob("[!.]*/run.json")):
        run = Run(file.parent)
        try:
            run.facts()
        except RunError as error:
            on_unreadable(error.message)
            continue
        runs.append(run)
    return runs


def set_aside(run: Run) -> Path:
    """Rename a run's folder so that its name is free again; nothing is deleted.

    Raises:
        OutputError: The system does not allow it.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = run.path.parent if run.path.name else run.path.absolute().parent
    aside = folder / f"{run.name}.{stamp}"
    number = 1
    while aside.exists():
        number += 1
        aside = folder / f"{run.name}.{stamp}-{number}"
    try:
        return run.path.absolute().rename(aside)
    except OSError as error:
        raise OutputError(f"cannot rename {run.path} to {aside.name}: {error.strerror or error}") from error


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that a run depends on, of those that are installed."""
    import platform
    from importlib import metadata  # 15 ms: only those wait who train

    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
