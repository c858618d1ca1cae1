"""What a report says of the run that was scored: its curves, its options, and where it was made."""

import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import NOTHING
from ptenmt.config import Config
from ptenmt.config.loading import flat_options, show_value
from ptenmt.evaluation.report_parts import LineChart, Part, Section, Table
from ptenmt.history import History
from ptenmt.inspection.curves import history_plots
from ptenmt.runs import Run

_PACKAGES = ("ptenmt", "sacrebleu", "ctranslate2", "keras", "tensorflow", "numpy")
"""Those that a score may depend on."""
_SHOWN = (("loss", 3), ("accuracy", 3), ("bleu", 1), ("chrf", 1))
"""Of a validation, with as many digits as they deserve."""
_NAMES = {"loss": "loss", "accuracy": "accuracy", "bleu": "BLEU", "chrf": "chrF"}


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What a run's files say of it."""

    run: Run
    config: Config
    told: dict[str, Any]
    """``run.json``."""
    validations: list[dict[str, Any]]
    """Of the training, oldest first; empty if it has told none."""
    curve: list[dict[str, Any]]
    """Points of the training curves, oldest first."""
    best: dict[str, Any] | None
    """The best validation."""

    def facts(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {name: value for name, value in asdict(self).items() if name != "run"}


def run_facts(folder: Path) -> RunFacts:
    """Read what a run's files say of it.

    Raises:
        RunError: They are damaged.
    """
    run, history = Run(folder), History(folder)
    config = run.config()
    return RunFacts(
        run=run,
        config=config,
        told=run.facts(),
        validations=history.validations(),
        curve=history.curve(),
        best=history.best(config.validation.metric),
    )


def surroundings() -> dict[str, str]:
    """When and with which versions the report is made."""
    found = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found | {"machine": f"{platform.system()} {platform.machine()}"}


def curves(run: RunFacts) -> Section:
    """How the training went."""
    if not run.validations and not run.curve:
        return Section(title="Training", text="This run has told no history.")
    mark = None if run.best is None else float(run.best["step"])
    plots = history_plots([run.run])
    best = "" if run.best is None else f" The dashed line is the best validation, step {run.best['step']:,}."
    return Section(
        title="Training",
        text=f"Curves over the steps.{best}",
        parts=[
            *(LineChart(plot=plot, mark=mark, mark_name="best") for plot in plots),
            *_validations(run.validations),
        ],
    )


def options(config: Config) -> Section:
    """Every option."""
    rows = [(name, show_value(value)) for name, value in flat_options(config).items()]
    return Section(title="Config", parts=[Table(header=("option", "value"), rows=rows)], is_folded=True)


def _validations(validations: Sequence[dict[str, Any]]) -> list[Part]:
    if not validations:
        return []
    rows = []
    for line in validations:
        scores = {name: line["validation"].get(name) for name, _ in _SHOWN}
        shown = (NOTHING if scores[name] is None else f"{scores[name]:.{digits}f}" for name, digits in _SHOWN)
        rows.append((f"{line['epoch']:,}", f"{line['step']:,}", *shown))
    header = ("epoch", "step", *(_NAMES[name] for name, _ in _SHOWN))
    return [Table(header=header, rows=rows, numbers=frozenset(range(len(header))))]
