"""Sequence-level distillation (Kim and Rush 2016): a student learns from its teachers' translations.

``distil`` translates the training sources into n-best lists, chooses a translation of each, drops the worst,
and trains the student on the rest. The lists and the pairs are cached by all
that they depend on; each step is resumed where it was interrupted.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np
from sacrebleu.metrics import BLEU

from ptenmt.atomic_files import (
    folder_written_whole,
    json_checksum,
    make_folder,
    output_errors,
    remove_unfinished,
    written_whole,
)
from ptenmt.config import Config, CorpusFile, DataConfig
from ptenmt.config.schema import NO_SAMPLING, require
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import Corpus, fetch_sources, load_corpus
from ptenmt.data.readers import SentencePair, read_lines, tsv_line
from ptenmt.data.store import corpus_cache, fingerprint
from ptenmt.data.text import TextPreparation, lowers_typed, preparation_differences, spacing
from ptenmt.errors import DataError, OnDownload, OnProgress, RunError
from ptenmt.runs import Run, run_path
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START
from ptenmt.training.events import Event, Warned
from ptenmt.training.preparation import is_resumable, load_warm_start
from ptenmt.training.session import TrainingResult, train
from ptenmt.translation import Translator
from ptenmt.translation.engine import EngineName, mean_log_probability
from ptenmt.translation.resumable_output import locked, write_buffers
from ptenmt.translation.scoring import score_prepared

Criterion = Literal["score", "bleu"]
"""Which translation of a source to choose: that with the best score, or with the best sentence-BLEU against
the reference (Kim and Rush's sequence-level interpolation)."""
NBest = Sequence[tuple[str, float]]
"""Different translations of a sentence with their scores, best first."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Outcome of ``distil``."""

    training: TrainingResult
    folder: Path
    """The distilled pairs, and the validation and test pairs unless the config has files of its own."""
    teachers: list[Run]
    """Each once."""


def distil(
    teachers: Sequence[str | Path],
    config: Config,
    run: str | Path = "student",
    *,
    choose: Criterion = "score",
    keep: float = 0.9,
    beam_size: int = 4,
    init_from: str | Path | None = None,
    fresh: bool = False,
    device: str = "cpu",
    threads: int | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnDownload | None = None,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> Distillation:
    """Train a run on translations of its training sources by other runs; call it again to resume.

    Args:
        teachers: The other runs, paths or names below ``checkpoints/``. A translation's score is the mean of
            theirs.
        config: The student's options. Its ``data`` names the sources, and what to validate and test on.
        run: The student; for this, ``init_from``, ``fresh``, ``on_event`` and ``on_download`` see ``train``.
        choose: See ``Criterion``.
        keep: The share of each file's pairs to train on, those with the best scores.
        beam_size: Of the teachers, and the length of their n-best lists.
        device: What the teachers compute on: ``cpu``, ``cuda`` or ``auto``.
        threads: How many batches they translate in parallel; by default one per core.
        on_progress: Called after every step of the other parts.

    Raises:
        RunError: A teacher is missing, not a translation model, of other languages or other text preparation;
            or the student cannot be resumed with these options.
        ConfigError: The options contradict each other.
        ExportError: CTranslate2 cannot express one of several teachers.
        PtenmtError: As for ``train``.
    """
    _check_options(config, len(teachers), choose, keep, beam_size)

    def warn(message: str) -> None:
        on_event(Warned(message=message))

    own = Run(run_path(run))
    loaded = _load_teachers(teachers, config.data, own, warn, beam_size, device, threads)
    on_progress("loading", 1, 1)
    fetch_sources(config, on_download)
    on_progress("reading", 0, 1)
    untagged = tuple(replace(file, tag=None) for file in config.data.train)
    corpus = load_corpus(replace(config.data, train=untagged), config.seed)
    origins = [teacher.facts() for teacher in loaded]
    facts: dict[str, Any] = {"teachers": origins, "pairs": corpus.train.fingerprint}
    cache = corpus_cache(config.data.cache_dir).folder
    n_best = cache / f"n-best-{json_checksum(facts)[:16]}.jsonl.gz"
    held_out = [fingerprint(corpus.validation), fingerprint(corpus.test)]
    teacher_runs = [teacher.trained.run for teacher in loaded]
    _check_held_out(teacher_runs, held_out[0], warn)
    facts |= {"choose": choose, "keep": keep, "reverse": config.data.reverse, "held out": held_out}
    folder = cache / f"distilled-{json_checksum(facts)[:16]}"
    student = _student(config, folder, corpus)
    if _is_resumable(own, student, folder.name, fresh):
        init_from = None
    elif init_from is not None:
        _ = load_warm_start(init_from, student, own, lambda _message: None).weights  # errors come early
    if not folder.exists():
        make_folder(cache)
        with locked(folder):
            remove_unfinished(cache, folder.name)
            _translate(loaded, corpus, n_best, on_progress)
            write_distilled(config.data, corpus, n_best, folder, choose=choose, keep=keep)
    on_progress("reading", 1, 1)
    training = train(
        student,
        run,
        fresh=fresh,
        init_from=init_from,
        facts=_origin(config.data, teacher_runs, pairs=folder.name, choose=choose, keep=keep),
        on_event=on_event,
        on_download=on_download,
    )
    return Distillation(training=training, folder=folder, teachers=teacher_runs)


def _student(config: Config, folder: Path, corpus: Corpus) -> Config:
    """The options of the student: it learns the distilled pairs, and translates by greedy search."""
    return replace(
        config,
        data=distilled_data(config.data, folder, corpus.train.sizes),
        decoding=replace(config.decoding, beam_size=1, **NO_SAMPLING),
    )


def _check_held_out(teachers: Sequence[Run], validation: str, warn: Callable[[str], None]) -> None:
    for run in teachers:
        if run.data_fingerprint("validation") != validation:
            warn(f"{run.path} has other validation pairs and may have learned the student's")


def _check_options(config: Config, num_teachers: int, choose: Criterion, keep: float, beam_size: int) -> None:
    require(config.task == "translation", f"task={config.task} has no translations to learn from")
    require(config.data.hold_out, "data.hold_out=false leaves no pairs to measure a student on")
    require(0 < keep <= 1, f"keep={keep} must be above 0 and at most 1")
    has_choice = choose == "score" or beam_size > 1 or num_teachers > 1
    require(has_choice, f"beam_size={beam_size} gives one translation: nothing to choose")


@dataclass(frozen=True)
class Teacher:
    """A run that translates the student's training sources."""

    trained: TrainedModel
    translator: Translator

    def facts(self) -> dict[str, Any]:
        """Everything that its translations depend on, besides the sources."""
        return {
            "weights": self.trained.info.checksum,
            "tokenizers": self.translator.tokenizers.checksums,
            "engine": self.translator.engine.identity,
            **asdict(self.translator.config.decoding),
        }

    def n_best(self, sources: Sequence[str], on_done: Callable[[int], None]) -> list[dict[str, float]]:
        """Complete translations of prepared sources, each with its log-probability per character.

        They are in the translator's order; none scores better than those before it.
        """
        lists: list[dict[str, float]] = [{} for _ in sources]
        penalty = self.translator.config.decoding.length_penalty
        for translations in self.translator.translate_prepared(sources):
            for row, best in translations.items():
                lowest = 0.0
                for translation in (best, *best.alternatives):
                    if translation.is_complete and not set(translation.ids) <= {START, END}:
                        mean = mean_log_probability(translation.ids, translation.score, penalty)
                        log_probability = mean * (len(translation.ids) - translation.ids.count(START))
                        lowest = min(lowest, _per_character(log_probability, translation.raw))
                        lists[row].setdefault(translation.raw, lowest)
            on_done(len(translations))
        return lists

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """The log-probability per character of prepared targets, teacher-forced."""
        scores = score_prepared(self.translator, sources, targets)()
        return [
            _per_character(sum(log_probabilities), target)
            for log_probabilities, target in zip(scores, targets, strict=True)
        ]


def _per_character(log_probability: float, text: str) -> float:
    """Of the characters and [END]: comparable between teachers, whose tokens differ."""
    return log_probability / (len(text) + 1)


def joint_n_best(
    teachers: Sequence[Teacher], sources: Sequence[str], on_done: Callable[[int], None] = lambda _count: None
) -> list[NBest]:
    """The translations of all teachers, each with the mean of their scores; ``on_done`` as of ``n_best``."""
    lists = [teacher.n_best(sources, on_done) for teacher in teachers]
    texts = [list(dict.fromkeys(chain(*of_source))) for of_source in zip(*lists, strict=True)]
    for teacher, own in zip(teachers, lists, strict=True):
        missing = [
            (row, text) for row, of_source in enumerate(texts) for text in of_source if text not in own[row]
        ]
        if missing:
            scores = teacher.score([sources[row] for row, _ in missing], [text for _, text in missing])
            for (row, text), score in zip(missing, scores, strict=True):
                own[row][text] = score
    return [
        sorted(
            ((text, fmean(own[row][text] for own in lists)) for text in of_source), key=lambda pair: -pair[1]
        )
        for row, of_source in enumerate(texts)
    ]


def choose_translations(
    n_best: Iterable[NBest], references: Iterable[str], choose: Criterion, *, is_tokenized: bool
) -> Iterator[tuple[int, float]]:
    """Choose a translation of each source; yields its index in the list and its score, or -inf if none."""
    bleu = BLEU(tokenize="none" if is_tokenized else "13a", effective_order=True)
    for translations, reference in zip(n_best, references, strict=True):
        rank = 0
        if choose == "bleu" and len(translations) > 1:
            scores = [bleu.sentence_score(text, [reference]).score for text, _ in translations]
            rank = scores.index(max(scores))
        yield rank, translations[rank][1] if translations else -np.inf


def is_kept(scores: np.ndarray, keep: float) -> np.ndarray:
    """Whether each score is among the best share of those that are not -inf; bool [pairs].

    Of equal scores the first are kept.
    """
    num_kept = int(np.ceil(keep * np.isfinite(scores).sum()))
    kept = np.zeros(len(scores), bool)
    kept[np.argsort(-scores, kind="stable")[:num_kept]] = True
    return kept


def _load_teachers(
    names: Sequence[str | Path],
    data: DataConfig,
    student: Run,
    warn: Callable[[str], None],
    beam_size: int,
    device: str,
    threads: int | None,
) -> list[Teacher]:
    """Load the teachers, each once, in an order that does not depend on that of the names."""
    if not names:
        raise RunError("a student needs a teacher", "name one or several with --teacher")
    engine: EngineName = "auto" if len(names) == 1 else "ctranslate2"  # the other one does not score
    teachers = {}
    for name in names:
        trained = TrainedModel.load(name, task="translation", on_warning=warn)
        path, languages = trained.run.path, trained.config.data.languages
        if path.resolve() == student.path.resolve():
            raise RunError(
                f"{path} cannot be its own teacher", "choose another run for the student: --run NAME"
            )
        if differences := preparation_differences(trained.config.data, data):
            hint = "teacher and student must translate the same way and prepare text alike"
            if languages == data.languages[::-1]:
                hint = "data.reverse=true trains the other direction"
            raise RunError(f"{path} does not fit the student: it has {'; '.join(differences)}", hint)
        changes = NO_SAMPLING | {"beam_size": beam_size, "num_hypotheses": beam_size}
        decoding = replace(trained.config.decoding, **changes)
        translator = Translator.from_trained_model(trained, engine, decoding, device=device, threads=threads)
        teacher = Teacher(trained, translator)
        teachers[json.dumps(teacher.facts())] = teacher
    return [teachers[facts] for facts in sorted(teachers)]


def _translate(teachers: Sequence[Teacher], corpus: Corpus, file: Path, on_progress: OnProgress) -> None:
    """Write the joint n-best lists of the training sources, a JSON value a line, unless they are there."""
    num_done = 0

    def show(count: int) -> None:
        nonlocal num_done
        num_done += count
        on_progress("translating", num_done, len(corpus.train) * len(teachers))

    def start(sources: list[str]) -> Callable[[], str]:
        lists = partial(joint_n_best, teachers, sources, show)
        return lambda: "".join(f"{json.dumps(n_best, ensure_ascii=False)}\n" for n_best in lists())

    def resumed(num_sources: int) -> None:
        nonlocal num_done
        num_done = num_sources * len(teachers)

    write_buffers(file, (source for source, _ in corpus.train), start, resumed)


def write_distilled(
    data: DataConfig, corpus: Corpus, n_best: Path, folder: Path, *, choose: Criterion, keep: float
) -> None:
    """Write the distilled pairs, with their scores, and the held-out pairs, as the config reads files."""
    preparation, is_tokenized = TextPreparation(data), spacing(data) != "none"

    def columns(pair: SentencePair) -> SentencePair:
        """The texts that the config prepares into these, in the direction of its files."""
        source, target = pair
        if spacing(data) == "moses":
            source, target = map(preparation.detokenize, pair, data.languages)
        return (target, source) if data.reverse else (source, target)

    lists, again = (map(json.loads, read_lines(n_best)) for _ in range(2))
    references = (target for _, target in corpus.train)
    chosen = choose_translations(lists, references, choose, is_tokenized=is_tokenized)
    with output_errors(f"write {folder}"), folder_written_whole(folder) as new:
        pairs = zip(corpus.train, again, strict=True)
        for number, size in enumerate(corpus.train.sizes):
            ranked = list(islice(chosen, size))
            kept = is_kept(np.array([score for _, score in ranked]), keep)
            if size and not kept.any():
                name = data.train[number].label if data.train else "the training file"
                raise DataError(f"no translation of {name} is complete", "leave it out of data.train")
            with written_whole(new / f"train-{number}.tsv.gz") as stream:
                rows = zip(islice(pairs, size), ranked, strict=True)
                for ((source, _), translations), (rank, score) in compress(rows, kept):
                    target, _ = translations[rank]
                    stream.write(tsv_line(*columns((source, target)), f"{score:.4f}"))
        for split, held_out in (("validation", corpus.validation), ("test", corpus.test)):
            with written_whole(new / f"{split}.tsv.gz") as stream:
                stream.writelines(tsv_line(*columns(pair)) for pair in held_out)


def distilled_data(data: DataConfig, folder: Path, sizes: Sequence[int]) -> DataConfig:
    """The section ``data`` with the pairs that ``write_distilled`` writes in place of its own.

    ``sizes`` are the numbers of pairs of its training files.
    """

    def written(stem: str, **facts: Any) -> CorpusFile:
        return CorpusFile(path=str(folder.absolute() / f"{stem}.tsv.gz"), **facts)

    own = data.train or (CorpusFile(path="-", name="distilled"),)
    return replace(
        data,
        source="files",
        path=None,
        train=tuple(
            written(f"train-{number}", name=file.label, weight=file.weight, tag=file.tag)
            for number, file in enumerate(own)
            if sizes[number]
        ),
        validation=data.validation or (written("validation"),),
        test=data.test or (written("test"),),
        limit=None,
        tokenization=spacing(data),
        lowercase=lowers_typed(data),
    )


def _is_resumable(run: Run, student: Config, pairs: str, fresh: bool) -> bool:
    """As ``is_resumable``; RunError also if the student learned from other distilled pairs, or from none."""
    if not fresh and run.checkpoints():
        ways_out = "distil beside it with --run NAME, or start over with --fresh"
        learned = run.record().distilled_from
        if learned is None:
            raise RunError(f"{run.path} was not trained by ptenmt distil", ways_out)
        if learned.get("pairs", pairs) != pairs:
            raise RunError(
                f"{run.path} was trained on other pairs than these teachers, data and options give",
                f"restore them (--choose, --keep, --beam-size, --device, CTranslate2's version), {ways_out}",
            )
    return is_resumable(run, student, fresh)


def _origin(data: DataConfig, teachers: Sequence[Run], **options: Any) -> dict[str, Any]:
    """Facts of the student: its teachers, and the public corpora that it or they learned from."""
    known = chain(fetch_corpora(data), *(teacher.record().corpora for teacher in teachers))
    corpora = {corpus["name"]: corpus for corpus in known}
    paths = [str(teacher.path.absolute()) for teacher in teachers]
    facts: dict[str, Any] = {"distilled_from": {"teachers": paths, **options}}
    if corpora:
        facts["corpora"] = [*corpora.values()]
    return facts
