"""Evaluate a run, or finished translations: scores, error analysis."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import make_folder, write_text
from ptenmt.data.corpus import HeldOutSplit, load_split
from ptenmt.data.store import fingerprint
from ptenmt.errors import ConfigError, OnProgress, PtenmtError, RunError
from ptenmt.evaluation.error_analysis import (
    ErrorAnalysis,
    EvaluatedSentence,
    NoiseScores,
    analyse_errors,
    score_robustness,
)
from ptenmt.evaluation.systems import LoadOptions, SearchFacts, System, teacher_forced
from ptenmt.evaluation.test_sets import PLAIN_TEXT, EvaluationFiles, Hypotheses, TestSet
from ptenmt.runs import Run, check_task, find_run, perplexity
from ptenmt.scores import MetricName, Score, Scorer, mean_score

SENTENCE_METRIC: MetricName = "chrF2++"
LENGTH_METRICS: tuple[MetricName, ...] = ("BLEU", "chrF2++")
"""By source length; TER takes long."""
_COMET_BATCH = 16


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything that ``ptenmt evaluate`` finds."""

    name: str
    folder: str | None
    """The run's; None if finished hypotheses were scored without a run."""
    checkpoint: str | None = None
    """Which weights translated, such as ``best, step 1,512``; None: the hypotheses were given."""
    split: HeldOutSplit | None
    """Which of the run's own pairs; None: files."""
    pairs_name: str
    """Such as ``test pairs``, or ``pairs of talk.en``."""
    files: dict[str, list[str]]
    """The files that were read, by role (see ``EvaluationFiles.names``)."""
    loss: float | None = None
    """Teacher-forced cross-entropy in nats per target token; None without a model."""
    accuracy: float | None = None
    """Share of the target tokens that had the highest logit, teacher-forced."""
    num_truncated: int | None = None
    """Sources and references that were truncated to the model's positions for loss and accuracy."""
    scores: list[Score]
    """BLEU, chrF2++ and TER, detokenized; then, where the corpus is tokenized, of its tokens."""
    search: SearchFacts | None = None
    """None: the hypotheses were given."""
    error_analysis: ErrorAnalysis
    robustness: list[NoiseScores] | None = None
    """The scores without noise and under each noise; None: not asked for."""
    sentences: list[EvaluatedSentence]
    test_set: TestSet
    output: Hypotheses

    @property
    def num_pairs(self) -> int:
        """How many sentences were scored."""
        return len(self.test_set)

    @property
    def num_references(self) -> int:
        """How many references a sentence has at most."""
        return len(self.test_set.references)

    @property
    def perplexity(self) -> float | None:
        """exp(loss), unless it is too large to be meaningful."""
        return perplexity(self.loss)

    @property
    def sentences_per_second(self) -> float | None:
        """Translation speed; None: the hypotheses were given."""
        return None if self.search is None else self.num_pairs / self.search.seconds

    def facts(self) -> dict[str, Any]:
        """Everything but the texts, as JSON values."""
        return {
            "name": self.name,
            "folder": self.folder,
            "checkpoint": self.checkpoint,
            "split": self.split,
            "files": self.files,
            "fingerprint": self.test_set.fingerprint(),
            "num_pairs": self.num_pairs,
            "num_references": self.num_references,
            "loss": self.loss,
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
            "num_truncated": self.num_truncated,
            "scores": list(map(asdict, self.scores)),
            "search": None if self.search is None else asdict(self.search),
            "sentences_per_second": self.sentences_per_second,
            "error_analysis": asdict(self.error_analysis),
            "robustness": None if self.robustness is None else list(map(asdict, self.robustness)),
        }

    def write_texts(self, folder: Path) -> None:
        """Write sources, references and hypotheses to a folder, one sentence per line.

        They are ``source.txt`` and, for each form, such as ``detokenized``: ``detokenized.hypotheses.txt``,
        ``detokenized.reference.txt`` and, if there are more references, ``detokenized.reference2.txt`` and so
        on. The folder is created if it is missing; files of these names are replaced. Raises OutputError.
        """
        columns: dict[str, Sequence[str | None]] = {}
        if self.test_set.sources is not None:
            columns["source"] = self.test_set.sources
        for form, of_form in self.test_set.references_by_form.items():
            columns[f"{form}.hypotheses"] = self.output.in_form(form)
            for number, references in enumerate(of_form, start=1):
                columns[f"{form}.reference{number if number > 1 else ''}"] = references
        make_folder(folder)
        for name, lines in columns.items():
            write_text(folder / f"{name}.txt", "".join(f"{line or ''}\n" for line in lines))


def held_out_test_set(run: Run, split: HeldOutSplit, options: LoadOptions) -> TestSet:
    """A run's own validation or test pairs, with a warning if they differ from those of its training."""
    config = run.config()
    check_task(run, config.task, "translation")
    if run.is_bundled and split == "validation":
        hint = "evaluate your own sentences: --source FILE --reference FILE"
        raise RunError(f"the bundled run {run.name} comes without its validation pairs", hint)
    pairs = load_split(config.data, config.seed, split)
    if run.data_fingerprint(split) not in (None, fingerprint(pairs)):
        options.on_warning(
            f"the {split} pairs differ from those held out when {run.name} was trained: "
            "some of them may be in its training data"
        )
    return TestSet.from_pairs(pairs, config.data)


def evaluate(
    run: str | Path | Run | None = None,
    split: HeldOutSplit = "test",
    *,
    files: EvaluationFiles | None = None,
    load: LoadOptions | None = None,
    with_robustness: bool = False,
    comet: str | None = None,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> Evaluation:
    """Score a trained run, or finished translations.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the newest run; none is
            needed where hypotheses and references are files.
        split: Which of the run's own pairs to score, if no references are given.
        files: Files to translate or to score instead.
        load: How to load the run.
        with_robustness: Also translate the sources under each noise of ``data.augment``, which takes nine
            times as long.
        comet: Also score with this COMET model: a checkpoint, or a name that unbabel-comet knows.
        on_progress: Called after every step.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no readable weights.
        DataError: Its data, or a file, cannot be read, or files do not fit together.
        ExportError: The engine cannot express the model.
        ConfigError: The arguments contradict each other.
        PtenmtError: unbabel-comet is not installed, or has no such model.
    """
    files, load = files or EvaluationFiles(), load or LoadOptions()
    if files.hypotheses is not None:
        _check_hypotheses_alone(load, {"--robustness": with_robustness})
    directory, own_split, test_set = read_test_set(run, split, files, load)
    pairs_name = f"{own_split} pairs" if own_split else f"pairs of {files.references[0]}"
    metric = None if comet is None else Comet(comet, test_set)
    found: dict[str, Any] = {}
    if files.hypotheses is not None:
        owner = f" of {directory.path}" if own_split and directory is not None else ""
        output = test_set.hypotheses_from_file(Path(files.hypotheses), name=f"{pairs_name}{owner}")
    elif directory is not None:
        system = System.load(directory, load)
        # First, since it loads the weights, which a training may replace meanwhile.
        model, tokenizers = system.trained.numpy_model, system.trained.tokenizers
        found |= asdict(teacher_forced(model, tokenizers, test_set.pairs(), on_progress))
        found["checkpoint"] = system.trained.info.label
        output, found["search"] = system.translate(test_set, on_progress)
        if with_robustness:
            found["robustness"] = score_robustness(system, test_set, on_progress)
    on_progress("scoring", 0, 1)
    scores = [
        score
        for form, references in test_set.references_by_form.items()
        for score in Scorer(form, references).scores(output.in_form(form))
    ]
    if metric is not None:
        scores.append(metric.score(output.texts))
    sentences = _sentences(test_set, output)
    scorer = Scorer("detokenized", test_set.references, LENGTH_METRICS)
    return Evaluation(
        name=str(files.hypotheses or (directory and directory.name)),
        folder=None if directory is None else str(directory.path),
        split=own_split,
        pairs_name=pairs_name,
        files=files.names,
        scores=scores,
        error_analysis=analyse_errors(sentences, scorer, output.texts),
        sentences=sentences,
        test_set=test_set,
        output=output,
        **found,
    )


def _check_hypotheses_alone(load: LoadOptions, given: dict[str, bool]) -> None:
    """Refuse options that have no effect on finished translations."""
    given |= {
        "--checkpoint": load.checkpoint != "best",
        "--engine": load.engine != "auto",
        "decoding options": bool(load.overrides),
    }
    if names := " or ".join(name for name, is_given in given.items() if is_given):
        raise ConfigError(f"{names} cannot be used with finished translations: nothing is translated")


def read_test_set(
    run: str | Path | Run | None, split: HeldOutSplit, files: EvaluationFiles, options: LoadOptions
) -> tuple[Run | None, HeldOutSplit | None, TestSet]:
    """The run, if more than files is needed; which of its own pairs are scored, if not files; the pairs."""
    if run is None and files.hypotheses is not None and files.references:
        return None, None, TestSet.from_files(files, PLAIN_TEXT)
    directory = find_run(run, "translation")
    config = directory.config()
    if not files.references:
        return directory, split, held_out_test_set(directory, split, options)
    test_set = TestSet.from_files(files, config.data, is_lowercase=config.has_lowercase_text)
    return directory, None, test_set


def _sentences(test_set: TestSet, output: Hypotheses) -> list[EvaluatedSentence]:
    scorer = Scorer("detokenized", test_set.references, (SENTENCE_METRIC,))
    scores = scorer.sentence_values(output.texts, SENTENCE_METRIC)
    return [
        EvaluatedSentence(
            row=row + 1,
            source=None if test_set.sources is None else test_set.sources[row],
            references=test_set.references_of(row),
            hypothesis=text,
            score=scores[row],
        )
        for row, text in enumerate(output.texts)
    ]


class Comet:
    """COMET, a learned metric: a loaded model, to score translations of one test set.

    unbabel-comet is no dependency: it needs gigabytes, and a GPU.
    """

    def __init__(self, model: str, test_set: TestSet) -> None:
        """Load a model: a checkpoint, or a name such as Unbabel/wmt22-comet-da, which is downloaded once.

        Raises ConfigError if the sources are unknown, PtenmtError if unbabel-comet is not installed, or has
        no such model.
        """
        if test_set.sources is None:
            raise ConfigError("COMET needs the sources, but only references are given", "add --source FILE")
        try:
            import comet

            self._signature = {"model": model, "version": version("unbabel-comet")}
        except ImportError as error:  # or another package is named comet
            raise PtenmtError(
                f"COMET needs unbabel-comet, which cannot be imported: {error}", "pip install unbabel-comet"
            ) from error
        try:
            path = model if Path(model).is_file() else comet.download_model(model)
            self._model = comet.load_from_checkpoint(path)
        except Exception as error:  # whatever its libraries raise
            reason = str(error).strip("'\"").partition("\n")[0]
            raise PtenmtError(f"cannot load the COMET model {model}: {reason}") from error
        references = [test_set.references_of(row)[0] for row in range(len(test_set))]
        self._pairs = list(zip(test_set.sources, references, strict=True))

    def score(self, texts: Sequence[str]) -> Score:
        """100 times the mean of the sentences, with the first reference of each."""
        import torch  # of unbabel-comet

        samples = [
            {"src": source, "mt": text, "ref": reference}
            for (source, reference), text in zip(self._pairs, texts, strict=True)
        ]
        gpus = 1 if torch.cuda.is_available() else 0
        found: Any = self._model.predict(samples, batch_size=_COMET_BATCH, gpus=gpus, progress_bar=False)
        return mean_score("COMET", self._signature, [100 * float(score) for score in found.scores])
