"""From hypotheses and references to all that is found about them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ptenmt.config import Config
from ptenmt.data.corpus import HeldOutSplit, fingerprint, load_split, load_training_pairs
from ptenmt.data.text import spacing
from ptenmt.errors import ConfigError, PtenmtError, RunError
from ptenmt.evaluation.contrasts import find_contrasts
from ptenmt.evaluation.likelihood import Likelihood, likelihood
from ptenmt.evaluation.material import (
    PLAIN,
    TOKENISED,
    Files,
    Material,
    Output,
    material_of_files,
    material_of_pairs,
    output_of_file,
)
from ptenmt.evaluation.results import (
    Comparison,
    Difference,
    Evaluation,
    Score,
    SearchFacts,
    Sentence,
    TextForm,
    Texts,
)
from ptenmt.evaluation.scores import Counts, MetricName, References, Scorer
from ptenmt.evaluation.systems import Loading, Progress, System, baseline_run
from ptenmt.evaluation.weaknesses import Sources, Vocabulary, count_words, find_weaknesses
from ptenmt.runs import Run, find_run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import load_tokenizers

SENTENCE_METRIC: MetricName = "chrF2++"
COUNTED_SENTENCES = 500_000
"""Of more training pairs, so many or some more, evenly spread, tell how often words were seen."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is to be scored."""

    run: Run | None
    """None: hypotheses and references are files, and nothing else is known."""
    split: HeldOutSplit | None
    """None: files."""
    files: Files
    material: Material
    loading: Loading

    @classmethod
    def of(cls, run: str | Path | Run | None, split: HeldOutSplit, files: Files, loading: Loading) -> Self:
        """Find the run and read what it is to be scored on.

        Raises:
            RunError: There is no such run, or it does not translate.
            DataError: The pairs cannot be read.
            ConfigError: Files are said to be tokenised as the run's corpus is, which is plain text; or there
                are translations alone, and no run.
        """
        is_alone = run is None and files.hypotheses is not None and bool(files.references)
        found = None if is_alone else _scored_run(run, files)
        plain = TOKENISED if files.tokenised else PLAIN
        data = plain if found is None else found.config().data
        if files.tokenised and spacing(data) == "none":
            raise ConfigError("--tokenised: the corpus of this run is plain text", "leave it out")
        if files.references:
            material = material_of_files(files, data)
            return cls(run=found, split=None, files=files, material=material, loading=loading)
        assert found is not None
        material = own_material(found, split, loading)
        return cls(run=found, split=split, files=files, material=material, loading=loading)

    @property
    def pairs_name(self) -> str:
        """What is scored, in a few words."""
        return f"{self.split} pairs" if self.split else f"pairs of {self.files.references[0]}"

    def system(self, run: Run, *, with_model: bool = False) -> System:
        """A run, ready to translate (see ``Loading.system``)."""
        if self.material.sources is None:
            raise ConfigError(
                f"{run.name} cannot translate: only references are known",
                "give the sources, too: --source FILE",
            )
        return self.loading.system(run, run.config(), with_model=with_model)


@dataclass(frozen=True)
class _Compared:
    """Hypotheses in one form, with what sacreBLEU counted, and the baseline's counts."""

    scorer: Scorer
    counts: Counts
    baseline: Counts | None

    def scores(self) -> tuple[list[Score], list[Difference]]:
        """The scores, and how they differ from the baseline's."""
        if self.baseline is None:
            return self.scorer.scores(self.counts), []
        differences = self.scorer.differences(self.counts, self.baseline)
        return [difference.score for difference in differences], differences


@dataclass(frozen=True)
class _Answer:
    """The hypotheses, and what made them."""

    output: Output
    system: System | None
    """None: they were given."""
    search: SearchFacts | None


def judged(question: Question, baseline: str | None, show: Progress) -> Evaluation:
    """Translate, if nothing is given; score; find weaknesses.

    Args:
        question: What is to be scored.
        baseline: A run, or a file of hypotheses, to compare with.
        show: Told how far it is.
    """
    material = question.material
    rival = None if baseline is None else _rival(question, baseline)
    answer = _answer(question, show)
    other = rival.translate(material, show)[0] if isinstance(rival, System) else rival
    found = None if answer.system is None else _likelihood(answer.system, material, show)
    show("comparing", 0, 1)
    compared = _compared(material, answer.output, other)
    main = compared["detokenised"]
    sentences = _sentences(material, answer.output, other, main)
    scored = [each.scores() for each in compared.values()]
    differences = [difference for _, each in scored for difference in each]
    return Evaluation(
        **_origin(question, answer),
        fingerprint=material.fingerprint(),
        num_pairs=len(material),
        num_references=len(material.references),
        loss=None if found is None else found.loss,
        accuracy=None if found is None else found.accuracy,
        num_shortened=None if found is None else found.num_shortened,
        scores=[score for scores, _ in scored for score in scores],
        comparison=None if baseline is None else Comparison(name=baseline, differences=differences),
        search=answer.search,
        weaknesses=find_weaknesses(sentences, main.scorer, main.counts, _sources(question, show)),
        contrasts=None if answer.system is None else find_contrasts(answer.system.translator),
        sentences=sentences,
        texts=_texts(material, answer.output, other),
    )


def _scored_run(run: str | Path | Run | None, files: Files) -> Run:
    """The run that is scored, or whose pairs finished translations are of."""
    if isinstance(run, Run):
        return run
    try:
        return find_run(run)
    except RunError as error:
        if run is not None or files.hypotheses is None:
            raise
        raise ConfigError(
            f"{files.hypotheses}: there is nothing to score these translations against: {error.message}",
            "give what is right, --reference FILE, or the run whose pairs they are of, --run NAME",
        ) from error


def _answer(question: Question, show: Progress) -> _Answer:
    given, material = question.files.hypotheses, question.material
    if given is not None:
        return _Answer(output_of_file(given, material, tokenised=question.files.tokenised), None, None)
    assert question.run is not None
    system = question.system(question.run, with_model=True)
    output, search = system.translate(material, show)
    return _Answer(output, system, search)


def _rival(question: Question, baseline: str) -> Output | System:
    """The baseline's hypotheses, or the run that is to translate."""
    if Path(baseline).is_file():
        return output_of_file(Path(baseline), question.material, tokenised=question.files.tokenised)
    return question.system(baseline_run(baseline))


def own_material(run: Run, split: HeldOutSplit, loading: Loading) -> Material:
    """The run's own pairs; that they are other ones than were set aside is told."""
    config = run.config()
    check_task(run, config.task, "translation")
    if config.data.source == "tfds":
        loading.on_tensorflow()  # TensorFlow Datasets imports it
    pairs = load_split(config.data, config.seed, split)
    if run.data_fingerprint(split) not in (None, fingerprint(pairs)):
        loading.on_warning(
            f"the {split} pairs are not those that were set aside when {run.name} was trained: "
            "it may have seen some of them"
        )
    return material_of_pairs(pairs, config.data)


def _origin(question: Question, answer: _Answer) -> dict[str, Any]:
    """Which translations these are, and of what."""
    run, given = question.run, question.files.hypotheses
    return {
        "name": str(given) if given is not None or run is None else run.name,
        "folder": None if run is None else str(run.path),
        "checkpoint": None if answer.system is None else answer.system.trained.info.label,
        "split": question.split,
        "pairs_name": question.pairs_name,
        "files": question.files.names,
    }


def _likelihood(system: System, material: Material, show: Progress) -> Likelihood:
    trained = system.trained
    return likelihood(trained.keras_model, trained.tokenizers, material.pairs(), trained.config, show)


def _compared(material: Material, output: Output, other: Output | None) -> dict[TextForm, _Compared]:
    """The hypotheses in every form in which they can be compared."""
    compared = {}
    for form, (references, column) in _forms(material).items():
        scorer = Scorer(form, references)
        baseline = None if other is None else scorer.count(column(other))
        compared[form] = _Compared(scorer, scorer.count(column(output)), baseline)
    return compared


def _forms(material: Material) -> dict[TextForm, tuple[References, Callable[[Output], list[str]]]]:
    """For each form its references, and what takes that form out of hypotheses."""
    forms: dict[TextForm, tuple[References, Callable[[Output], list[str]]]] = {
        "detokenised": (material.references, lambda output: output.texts)
    }
    if material.token_references is not None:
        forms["tokenised"] = (material.token_references, lambda output: output.tokens or [])
    return forms


def _texts(material: Material, output: Output, other: Output | None) -> dict[TextForm, Texts]:
    return {
        form: Texts(
            hypotheses=column(output),
            references=[list(texts) for texts in references],
            baseline=None if other is None else column(other),
        )
        for form, (references, column) in _forms(material).items()
    }


def _sentences(
    material: Material, output: Output, other: Output | None, compared: _Compared
) -> list[Sentence]:
    scorer = compared.scorer
    scores = scorer.sentence_values(compared.counts, SENTENCE_METRIC)
    rivals = None if compared.baseline is None else scorer.sentence_values(compared.baseline, SENTENCE_METRIC)
    return [
        Sentence(
            row=row + 1,
            source=None if material.sources is None else material.sources[row],
            references=material.references_of(row),
            hypothesis=text,
            score=scores[row],
            baseline=None if other is None else other.texts[row],
            baseline_score=None if rivals is None else rivals[row],
        )
        for row, text in enumerate(output.texts)
    ]


def _sources(question: Question, show: Progress) -> Sources | None:
    """The sources as words, and which of them the run knows."""
    run, prepared = question.run, question.material.prepared
    if run is None or prepared is None:
        return None
    config = run.config()
    show("reading training pairs", 0, 1)
    tokenizer = load_tokenizers(run.tokenizer_folder).source
    try:
        if config.data.source == "tfds":
            question.loading.on_tensorflow()
        seen = count_words(_training_sources(config))
    except PtenmtError as error:
        reason = f"the training pairs cannot be read: {error.message}"
        return Sources(prepared, Vocabulary(tokenizer, None, reason))
    return Sources(prepared, Vocabulary(tokenizer, seen))


def _training_sources(config: Config) -> Iterator[str]:
    """The sources of the training pairs; of very many, some, evenly spread."""
    train = load_training_pairs(config.data, config.seed)
    step = max(1, len(train) // COUNTED_SENTENCES)
    if step == 1:
        return (source for source, _ in train)
    return (train[row][0] for row in range(0, len(train), step))
