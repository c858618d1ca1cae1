"""Sequence-level distillation (Kim and Rush 2016): a student learns from its teachers' translations.

``distil`` translates the training sources into n-best lists, chooses a translation of each, drops the worst,
trains the student on the rest, and measures it beside its teachers. The lists and the pairs are cached by all
that they depend on; each step is resumed where it was interrupted.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from ptenmt.atomic_files import folder_written_whole, make_folder, output_errors, written_whole
from ptenmt.config import Config, CorpusFile, DataConfig
from ptenmt.config.schema import require
from ptenmt.ctranslate2_export import ctranslate2_model, why_not_ctranslate2
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import Corpus, fetch_sources, load_corpus, load_split
from ptenmt.data.download import OnProgress as OnDownload
from ptenmt.data.readers import SentencePair, read_lines, tsv_line
from ptenmt.data.store import corpus_cache, fingerprint
from ptenmt.data.text import TextPreparation, lowers_typed, preparation_options, spacing
from ptenmt.errors import ConfigError, OutputError, RunError
from ptenmt.evaluation.scores import Scorer
from ptenmt.evaluation.sweep import NO_SAMPLING
from ptenmt.evaluation.systems import LoadOptions, OnProgress, System
from ptenmt.evaluation.test_set import TestSet
from ptenmt.events import Event, Warned
from ptenmt.runs import Run, run_path
from ptenmt.tokenizers import END, START, encode_framed
from ptenmt.trained_model import TrainedModel
from ptenmt.training.preparation import is_resumable
from ptenmt.training.session import TrainingResult, train
from ptenmt.translation import Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.postprocessing import mean_log_probability
from ptenmt.translation.resumable_output import ResumeError, locked, open_resumable, partial_file
from ptenmt.translation.translator import BUFFER_SIZE

Criterion = Literal["score", "bleu"]
"""Which translation of a source to choose: that with the best score, or with the best sentence-BLEU against
the reference (Kim and Rush's sequence-level interpolation)."""
NBest = Sequence[tuple[str, float]]
"""Different translations of a sentence with their scores, best first."""
MEASURED_BEAM_SIZE = 4
"""Of the teachers, beside the student's greedy search."""


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """How well and how fast a run translates the validation pairs."""

    name: str
    search: str
    """Such as ``ctranslate2, int8, beam 4``."""
    bleu: float
    """Detokenized."""
    sentences_per_second: float
    num_bytes: int | None
    """Of the int8 model; None if CTranslate2 cannot express it."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Outcome of ``distil``."""

    training: TrainingResult
    folder: Path
    """The distilled pairs, and the validation and test pairs unless the config has files of its own."""
    student: MeasuredRun | None
    """None if a signal ended the training."""
    teachers: list[MeasuredRun]


def distil(
    teachers: Sequence[str | Path],
    config: Config,
    run: str | Path = "student",
    *,
    choose: Criterion = "score",
    keep: float = 0.9,
    beam_size: int = 4,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnDownload | None = None,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> Distillation:
    """Train a run on translations of its training sources by other runs; call it again to resume.

    Args:
        teachers: The other runs, paths or names below ``checkpoints/``. A translation's score is the mean of
            theirs.
        config: The student's options. Its ``data`` names the sources, and what to validate and test on.
        run: The student, a path or a name below ``checkpoints/``.
        choose: See ``Criterion``.
        keep: The share of the pairs to train on, those with the best scores.
        beam_size: Of the teachers, and the length of their n-best lists.
        on_event: Called with every event of the training, and warnings.
        on_download: Called with the progress of a download.
        on_progress: Called after every step of the other parts.

    Raises:
        RunError: A teacher is missing, not a translation model, of other languages or other text preparation;
            or the student cannot be resumed with these options.
        ConfigError: The options contradict each other, or CTranslate2 cannot express one of several teachers.
        PtenmtError: As for ``train``.
    """
    require(config.task == "translation", f"task={config.task} has no translations to learn from")
    require(config.data.hold_out, "data.hold_out=false leaves no pairs to measure a student on")
    require(0 < keep <= 1, f"keep={keep} must be above 0 and at most 1")
    has_choice = beam_size > 1 or len(teachers) > 1
    require(
        choose == "score" or has_choice, f"beam_size={beam_size} gives one translation: nothing to choose"
    )

    def warn(message: str) -> None:
        on_event(Warned(message=message))

    loaded = _load_teachers(teachers, config.data, Run(run_path(run)), beam_size, warn)
    on_progress("loading", 1, 1)
    fetch_sources(config, on_download)
    on_progress("reading", 0, 1)
    untagged = tuple(replace(file, tag=None) for file in config.data.train)
    corpus = load_corpus(replace(config.data, train=untagged), config.seed)
    facts: dict[str, Any] = {
        "teachers": [teacher.facts() for teacher in loaded],
        "pairs": corpus.train.fingerprint,
    }
    cache = corpus_cache(config.data.cache_dir).folder
    n_best = cache / f"n-best-{_name(facts)}.jsonl.gz"
    held_out = [fingerprint(corpus.validation), fingerprint(corpus.test)]
    facts |= {"choose": choose, "keep": keep, "reverse": config.data.reverse, "held out": held_out}
    folder = cache / f"distilled-{_name(facts)}"
    student = replace(config, data=distilled_data(config.data, folder, corpus.train.sizes))
    is_resumable(Run(run_path(run)), student, fresh=False)  # or it is an error now, not after the long part
    if not folder.exists():
        make_folder(cache)
        with locked(n_best):
            _translate(loaded, corpus, n_best, on_progress)
            write_distilled(config.data, corpus, n_best, folder, choose=choose, keep=keep)
    on_progress("reading", 1, 1)
    paths = [str(teacher.run.path.absolute()) for teacher in loaded]
    origin: dict[str, Any] = {"distilled_from": {"teachers": paths, "choose": choose, "keep": keep}}
    if corpora := _corpora(config.data, loaded):
        origin["corpora"] = corpora
    training = train(student, run, facts=origin, on_event=on_event, on_download=on_download)
    if training.stopped_by is not None:
        return Distillation(training=training, folder=folder, student=None, teachers=[])
    pairs = load_split(student.data, student.seed, "validation")
    return Distillation(
        training=training,
        folder=folder,
        student=_measure(Run(training.run), pairs, 1, warn, on_progress),
        teachers=[_measure(each.run, pairs, MEASURED_BEAM_SIZE, warn, on_progress) for each in loaded],
    )


class Teacher:
    """A run that translates the student's training sources.

    Args:
        trained: The run.
        beam_size: Of the search, and the length of n-best lists.
    """

    def __init__(self, trained: TrainedModel, beam_size: int) -> None:
        self.run = trained.run
        options = NO_SAMPLING | {"beam_size": beam_size, "num_hypotheses": beam_size}
        self._translator = Translator.from_trained_model(trained).with_options(**options)
        self._trained = trained

    def facts(self) -> dict[str, Any]:
        """Everything that its translations depend on, besides the sources."""
        return {
            "weights": self._trained.info.checksum,
            "tokenizers": self._trained.tokenizers.checksums,
            "engine": self._translator.engine.identity,
            **asdict(self._translator.config.decoding),
        }

    def n_best(self, sources: Sequence[str], on_done: Callable[[int], None]) -> list[dict[str, float]]:
        """Complete translations of prepared sources, each with its mean log-probability per token."""
        found: list[dict[str, float]] = [{}] * len(sources)
        penalty = self._translator.config.decoding.length_penalty
        for translations in self._translator.translate_prepared(sources):
            for row, best in translations.items():
                found[row] = {}
                for each in (best, *best.alternatives):
                    if each.is_complete and not set(each.ids) <= {START, END}:
                        found[row].setdefault(each.raw, mean_log_probability(each, penalty))
            on_done(len(translations))
        return found

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """The mean log-probability per token of prepared targets, teacher-forced.

        Raises:
            ConfigError: CTranslate2 cannot express the model.
        """
        engine, tokenizers = self._translator.engine, self._translator.tokenizers
        if not isinstance(engine, CTranslate2Engine):
            raise ConfigError(
                f"{self.run.path} cannot score the translations of other teachers: "
                f"{why_not_ctranslate2(self._trained.config.model)}",
                "give a single teacher",
            )
        longest = self._trained.config.model.max_positions
        source_ids, _ = encode_framed(tokenizers.source, sources, longest)
        target_ids, _ = encode_framed(tokenizers.target, targets, longest)
        return list(map(fmean, engine.score(source_ids, target_ids)()))


def joint_n_best(
    teachers: Sequence[Teacher], sources: Sequence[str], on_done: Callable[[int], None] = lambda _count: None
) -> list[NBest]:
    """The translations of all teachers, each with the mean of their scores; ``on_done`` as of ``n_best``."""
    found = [teacher.n_best(sources, on_done) for teacher in teachers]
    texts = [list(dict.fromkeys(chain(*of_source))) for of_source in zip(*found, strict=True)]
    for teacher, own in zip(teachers, found, strict=True):
        missing = [(row, text) for row, each in enumerate(texts) for text in each if text not in own[row]]
        if missing:
            scores = teacher.score([sources[row] for row, _ in missing], [text for _, text in missing])
            for (row, text), score in zip(missing, scores, strict=True):
                own[row][text] = score
    return [
        sorted(((text, fmean(own[row][text] for own in found)) for text in each), key=lambda pair: -pair[1])
        for row, each in enumerate(texts)
    ]


def choose_translations(
    n_best: Iterable[NBest], references: Iterable[str], choose: Criterion, *, is_tokenized: bool
) -> Iterator[int]:
    """Choose a translation of each source; yields its index in the list, or -1 where there is none."""
    from sacrebleu.metrics import BLEU

    bleu = BLEU(tokenize="none" if is_tokenized else "13a", effective_order=True)
    for translations, reference in zip(n_best, references, strict=True):
        if choose == "score" or len(translations) < 2:
            yield min(len(translations), 1) - 1
        else:
            scores = [bleu.sentence_score(text, [reference]).score for text, _ in translations]
            yield scores.index(max(scores))


def best_share(scores: np.ndarray, keep: float) -> np.ndarray:
    """Whether each score is among the best share; bool [pairs].

    Args:
        scores: [pairs]; -inf for pairs that are dropped in any case. Of equal scores the first are kept.
        keep: The share of the others.
    """
    num_kept = int(np.ceil(keep * np.isfinite(scores).sum()))
    kept = np.zeros(len(scores), bool)
    kept[np.argsort(-scores, kind="stable")[:num_kept]] = True
    return kept


def _load_teachers(
    names: Sequence[str | Path], data: DataConfig, student: Run, beam_size: int, warn: Callable[[str], None]
) -> list[Teacher]:
    """Load the teachers, each once, in an order that does not depend on that of the names."""
    if not names:
        raise RunError("a student needs a teacher", "name one or several with --teacher")
    teachers = {}
    for name in names:
        trained = TrainedModel.load(name, task="translation", on_warning=warn)
        path, theirs = trained.run.path, trained.config.data
        if path.resolve() == student.path.resolve():
            raise RunError(
                f"{path} cannot be its own teacher", "choose another run for the student: --run NAME"
            )
        if theirs.languages != data.languages:
            raise RunError(
                f"{path} translates {'→'.join(theirs.languages)}, the student {'→'.join(data.languages)}",
                "data.reverse=true trains the other direction",
            )
        wanted, given = (
            preparation_options(each) | {"lowercase": lowers_typed(each)} for each in (data, theirs)
        )
        for option, value in wanted.items():
            if given[option] != value:
                raise RunError(
                    f"{path} reads text with data.{option}={given[option]}, the student with {value}",
                    "teacher and student must prepare text alike",
                )
        teacher = Teacher(trained, beam_size)
        teachers[json.dumps(teacher.facts())] = teacher
    return [teachers[facts] for facts in sorted(teachers)]


def _translate(teachers: Sequence[Teacher], corpus: Corpus, file: Path, on_progress: OnProgress) -> None:
    """Write the joint n-best lists of the training sources, a JSON value a line, unless they are there."""
    if file.exists():
        return
    sources = (source for source, _ in corpus.train)
    try:
        with open_resumable(file, {}, sources, resume=True) as output:  # its name has the facts
            num_done = output.num_saved * len(teachers)

            def show(count: int) -> None:
                nonlocal num_done
                num_done += count
                on_progress("translating", num_done, len(corpus.train) * len(teachers))

            while buffer := list(islice(sources, BUFFER_SIZE)):
                found = joint_n_best(teachers, buffer, show)
                output.append(buffer, "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in found))
    except ResumeError as error:
        hint = f"remove {partial_file(file)}* and run the command again"
        raise OutputError(error.message, hint) from error


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

    def lists() -> Iterator[NBest]:
        return map(json.loads, read_lines(n_best))

    references = (target for _, target in corpus.train)
    ranks = list(choose_translations(lists(), references, choose, is_tokenized=is_tokenized))
    scores = [each[rank][1] if each else -np.inf for each, rank in zip(lists(), ranks, strict=True)]
    kept = best_share(np.array(scores), keep)
    with output_errors(f"write {folder}"), folder_written_whole(folder) as new:
        pairs = zip(corpus.train, lists(), ranks, kept, strict=True)
        for number, size in enumerate(corpus.train.sizes):
            with written_whole(new / f"train-{number}.tsv.gz") as stream:
                for (source, _), translations, rank, is_kept in islice(pairs, size):
                    if is_kept:
                        target, score = translations[rank]
                        stream.write(tsv_line(*columns((source, target)), f"{score:.4f}"))
        for split, held_out in (("validation", corpus.validation), ("test", corpus.test)):
            with written_whole(new / f"{split}.tsv.gz") as stream:
                stream.writelines(tsv_line(*columns(pair)) for pair in held_out)


def distilled_data(data: DataConfig, folder: Path, sizes: Sequence[int]) -> DataConfig:
    """The section ``data`` with the pairs that ``write_distilled`` writes in place of its own.

    Args:
        data: Of the student's config.
        folder: As for ``write_distilled``.
        sizes: Number of pairs of each training file.
    """
    folder = folder.absolute()
    own = data.train or (CorpusFile(path="-", name="distilled"),)
    train = tuple(
        CorpusFile(
            path=str(folder / f"train-{number}.tsv.gz"), name=file.label, weight=file.weight, tag=file.tag
        )
        for number, file in enumerate(own)
        if sizes[number]
    )
    return replace(
        data,
        source="files",
        path=None,
        train=train,
        validation=data.validation or (CorpusFile(path=str(folder / "validation.tsv.gz")),),
        test=data.test or (CorpusFile(path=str(folder / "test.tsv.gz")),),
        limit=None,
        tokenization=spacing(data),
        lowercase=lowers_typed(data),
    )


def _corpora(data: DataConfig, teachers: Sequence[Teacher]) -> list[dict[str, Any]]:
    """Facts of the public corpora that the student or a teacher learned from, for licences and citations."""
    known = [*fetch_corpora(data), *chain(*(teacher.run.facts().get("corpora", []) for teacher in teachers))]
    return list({corpus["name"]: corpus for corpus in known}.values())


def _measure(
    run: Run,
    pairs: Sequence[SentencePair],
    beam_size: int,
    warn: Callable[[str], None],
    on_progress: OnProgress,
) -> MeasuredRun:
    system = System.load(run, LoadOptions(on_warning=warn))
    translator = system.translator.with_options(**NO_SAMPLING | {"beam_size": beam_size})
    test_set = TestSet.from_pairs(pairs, translator.config.data)
    hypotheses, search = replace(system, translator=translator).translate(test_set, on_progress)
    num_bytes = None
    if not why_not_ctranslate2(translator.config.model):
        num_bytes = sum(map(len, ctranslate2_model(system.trained).files.values()))
    return MeasuredRun(
        name=run.name,
        search=search.description,
        bleu=Scorer("detokenized", test_set.references, ("BLEU",)).values(hypotheses.texts)["BLEU"],
        sentences_per_second=len(pairs) / search.seconds,
        num_bytes=num_bytes,
    )


def _name(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
