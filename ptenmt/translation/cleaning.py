"""Cleaning: two models, one in each direction, score the training pairs, and the best are kept.

The score is that of Junczys-Dowmunt (2018), "Dual Conditional Cross-Entropy Filtering of Noisy Parallel
Corpora": high where both models find a pair probable, and about equally probable.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from ptenmt.atomic_files import json_checksum, written_whole
from ptenmt.config import Config
from ptenmt.config.schema import require
from ptenmt.data.corpus import load_corpus, original_pairs
from ptenmt.data.filters import FilterReport, Removed
from ptenmt.data.readers import tsv_line
from ptenmt.data.store import TextPairs
from ptenmt.data.text import preparation_differences
from ptenmt.errors import OnProgress, OutputError, RunError
from ptenmt.runs import Run, check_task
from ptenmt.translation import Translator
from ptenmt.translation.resumable_output import locked, write_buffers
from ptenmt.translation.scoring import score_prepared


def dual_scores(forward: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Return ``exp(-(|F - B| + (F + B) / 2))`` of each pair, the paper's *adq*, between 0 and 1.

    F and B, [pairs], are cross-entropies in nats per token: of the targets given the sources, and reversed.
    """
    return np.asarray(np.exp(-(np.abs(forward - backward) + (forward + backward) / 2)))


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """The training pairs of a config, two runs that score them, and the file for the best.

    Raises:
        ConfigError: ``keep`` is out of range, or the config has no pairs, or weights, tags or stages.
        RunError: A run is of another task, direction or text preparation than the config.
        OutputError: The output has an unknown ending, or is a file of the config.
    """

    config: Config
    forward: Run
    """Translates in the config's direction."""
    backward: Run
    """Translates in the other direction."""
    keep: float
    """The share of the pairs to keep, above 0 and at most 1."""
    output: Path
    """A ``.tsv`` or ``.tsv.gz`` file."""

    def __post_init__(self) -> None:
        data = self.config.data
        require(0 < self.keep <= 1, f"--keep {self.keep:g} must be above 0 and at most 1")
        require(self.config.task == "translation", f"task={self.config.task} has no sentence pairs")
        require(
            not data.stages and all(file.weight == 1 and not file.tag for file in data.train),
            "one file of clean pairs cannot have the weights, tags or stages of this config: name the files "
            "to clean in a config without them",
        )
        if not self.output.name.lower().endswith((".tsv", ".tsv.gz")):
            raise OutputError(f"--output {self.output} must end in .tsv or .tsv.gz")
        files = (*data.train, *data.validation, *data.test)
        named = {data.path, *(path for file in files for path in (file.path, file.source, file.target))}
        existing = [path for path in named if path and os.path.exists(path)]
        if self.output.exists() and any(map(self.output.samefile, existing)):
            raise OutputError(f"--output {self.output} is a file of the config", "choose another file")
        self._check_runs()

    def _check_runs(self) -> None:
        data, wrong = self.config.data, []
        other = replace(data, reverse=not data.reverse)
        for option, run, like in (("--forward", self.forward, data), ("--backward", self.backward, other)):
            config = run.config()
            check_task(run, config.task, "translation")
            differences = preparation_differences(config.data, like)
            wrong += [f"{option} {run.name} has {difference}" for difference in differences]
        if wrong:
            hint = "both must read text prepared as the config's, --backward in the other direction"
            raise RunError("; ".join(wrong), hint)

    def run(
        self,
        on_progress: OnProgress = lambda _activity, _done, _total: None,
        *,
        device: str = "cpu",
        threads: int | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
    ) -> list[FilterReport]:
        """Score all pairs that the config's filters leave, and write the best to the output.

        It has the pairs as the files have them, in their order and direction; the third column is the score.
        Pairs that are split off for validation or test are there too, without a score, so that the same
        config, with the output in place of its files, has the same splits. Scores are cached.

        CTranslate2 computes on ``device``, ``cpu``, ``cuda`` or ``auto``, and scores ``threads`` batches in
        parallel, by default one per core.

        Returns:
            For each training file how many pairs are left, and examples of the others.

        Raises:
            PtenmtError: A model or a file cannot be read or written, or no pair is left.
        """
        with locked(self.output):
            models = [
                Translator.load(run, on_warning, engine="ctranslate2", device=device, threads=threads)
                for run in (self.forward, self.backward)
            ]
            on_progress("reading the pairs", 0, 1)
            corpus = load_corpus(self.config.data, self.config.seed)
            scores = dual_scores(
                _cross_entropies(models[0], corpus.train, (0, 1), on_progress),
                _cross_entropies(models[1], corpus.train, (1, 0), on_progress),
            )
            num_removed = len(scores) - max(1, round(self.keep * len(scores)))
            lowest = np.partition(scores, num_removed)[num_removed]
            reports = [
                FilterReport(report.name, report.num_left + report.num_drawn, report.num_drawn)
                for report in corpus.reports
            ]
            with written_whole(self.output) as stream:
                for number, chunk in original_pairs(self.config.data, corpus):
                    report, low = reports[number], []
                    for pair, row in chunk:
                        if row is None:
                            stream.write(tsv_line(*pair))
                        elif scores[row] >= lowest:
                            stream.write(tsv_line(*pair, f"{scores[row]:.4g}"))
                            report.num_left += 1
                        else:
                            low.append(pair)
                    report.removed.setdefault(f"score under {lowest:.3g}", Removed()).add(low, len(low))
            return reports


def _cross_entropies(
    model: Translator, pairs: TextPairs, sides: tuple[int, int], on_progress: OnProgress
) -> np.ndarray:
    """Return the cross-entropy of each target in nats per token, float32 [pairs].

    They are written to a file beside the pairs, and read from there the next time. ``sides``: which of a
    pair's sentences, 0 or 1, is the source and which the target.
    """

    def start(lines: list[str]) -> Callable[[], str]:
        columns = list(zip(*(line.split("\t") for line in lines), strict=True))
        wait = score_prepared(model, columns[sides[0]], columns[sides[1]])
        return lambda: "".join(f"{-fmean(log_probs):.6g}\n" for log_probs in wait())

    def show(num_done: int) -> None:
        on_progress(f"scoring {'→'.join(model.config.data.languages)}", num_done, len(pairs))

    name = json_checksum({"engine": model.engine.identity, "sides": sides})[:16]
    file = pairs.folder / f"scores-{name}.txt"
    write_buffers(file, (f"{source}\t{target}" for source, target in pairs), start, show)
    return np.fromfile(file, np.float32, sep="\n")
