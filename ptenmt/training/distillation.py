"""Sequence-level distillation (Kim and Rush 2016): a student learns from its teacher's translations.

``distil`` translates the training sources, and trains the student on the translations. They are cached by all
that they depend on; each step is resumed where it was interrupted.
"""

import gzip
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import json_checksum, make_folder, write_bytes
from ptenmt.config import Config, CorpusFile, DataConfig
from ptenmt.config.schema import NO_SAMPLING, require
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import Corpus, fetch_sources, load_corpus
from ptenmt.data.readers import tsv_line
from ptenmt.data.store import corpus_cache, fingerprint
from ptenmt.data.text import TextPreparation, lowers_typed, preparation_differences, spacing
from ptenmt.errors import OnDownload, OnProgress, RunError
from ptenmt.runs import Run, run_path
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.training.events import Event, Warned
from ptenmt.training.preparation import is_resumable, load_warm_start
from ptenmt.training.session import TrainingResult, train
from ptenmt.translation import Translator
from ptenmt.translation.resumable_output import write_buffers


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Outcome of ``distil``."""

    training: TrainingResult
    folder: Path
    """The distilled pairs, and the validation and test pairs unless the config has files of its own."""
    teacher: Run


def distil(
    teacher: str | Path,
    config: Config,
    run: str | Path = "student",
    *,
    beam_size: int = 4,
    init_from: str | Path | None = None,
    fresh: bool = False,
    device: str = "cpu",
    threads: int | None = None,
    on_event: Callable[[Event], None] = lambda _event: None,
    on_download: OnDownload | None = None,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> Distillation:
    """Train a run on translations of its training sources by another run; call it again to resume.

    Args:
        teacher: The other run, a path or a name below ``checkpoints/``.
        config: The student's options. Its ``data`` names the sources, and what to validate and test on.
        run: The student; for this, ``init_from``, ``fresh``, ``on_event`` and ``on_download`` see ``train``.
        beam_size: Of the teacher.
        device: What the teacher computes on: ``cpu``, ``cuda`` or ``auto``.
        threads: How many batches it translates in parallel; by default one per core.
        on_progress: Called after every step of the other parts.

    Raises:
        RunError: The teacher is missing, not a translation model, of other languages or other text
            preparation; or the student cannot be resumed with these options.
        ConfigError: The options contradict each other.
        PtenmtError: As for ``train``.
    """
    require(config.task == "translation", f"task={config.task} has no translations to learn from")
    require(config.data.hold_out, "data.hold_out=false leaves no pairs to measure a student on")

    def warn(message: str) -> None:
        on_event(Warned(message=message))

    own = Run(run_path(run))
    trained = _load_teacher(teacher, config.data, own, warn)
    decoding = replace(trained.config.decoding, **NO_SAMPLING, beam_size=beam_size)
    translator = Translator.from_trained_model(trained, options=decoding, device=device, threads=threads)
    on_progress("loading", 1, 1)
    fetch_sources(config, on_download)
    on_progress("reading", 0, 1)
    untagged = tuple(replace(file, tag=None) for file in config.data.train)
    corpus = load_corpus(replace(config.data, train=untagged), config.seed)
    held_out = [fingerprint(corpus.validation), fingerprint(corpus.test)]
    if trained.run.data_fingerprint("validation") != held_out[0]:
        warn(f"{trained.run.path} has other validation pairs and may have learned the student's")

    facts: dict[str, Any] = {
        "weights": trained.info.checksum,
        "tokenizers": translator.tokenizers.checksums,
        "engine": translator.engine.identity,
        "decoding": asdict(decoding),
        "pairs": corpus.train.fingerprint,
        "reverse": config.data.reverse,
        "held out": held_out,
    }
    folder = corpus_cache(config.data.cache_dir).folder / f"distilled-{json_checksum(facts)[:16]}"
    data = distilled_data(config.data, folder, corpus.train.sizes)
    greedy = replace(config.decoding, beam_size=1, **NO_SAMPLING)
    student = replace(config, data=data, decoding=greedy)
    if is_resumable(own, student, fresh):
        init_from = None
    elif init_from is not None:
        _ = load_warm_start(init_from, student, own, lambda _message: None).weights  # errors come early
    write_distilled(translator, config.data, corpus, folder, on_progress)
    on_progress("reading", 1, 1)
    training = train(
        student,
        run,
        fresh=fresh,
        init_from=init_from,
        facts=_origin(config.data, trained.run),
        on_event=on_event,
        on_download=on_download,
    )
    return Distillation(training=training, folder=folder, teacher=trained.run)


def _origin(data: DataConfig, teacher: Run) -> dict[str, Any]:
    """Facts of the student: its teacher, and the public corpora that it or the teacher learned from."""
    facts: dict[str, Any] = {"distilled_from": {"teachers": [str(teacher.path.absolute())]}}
    known = chain(fetch_corpora(data), teacher.facts().get("corpora", ()))
    if corpora := {corpus["name"]: corpus for corpus in known}:
        facts["corpora"] = [*corpora.values()]
    return facts


def _load_teacher(
    name: str | Path, data: DataConfig, student: Run, warn: Callable[[str], None]
) -> TrainedModel:
    trained = TrainedModel.load(name, task="translation", on_warning=warn)
    path = trained.run.path
    if path.resolve() == student.path.resolve():
        raise RunError(f"{path} cannot be its own teacher", "choose another run for the student: --run NAME")
    if differences := preparation_differences(trained.config.data, data):
        hint = "teacher and student must translate the same way and prepare text alike"
        if trained.config.data.languages == data.languages[::-1]:
            hint = "data.reverse=true trains the other direction"
        raise RunError(f"{path} does not fit the student: it has {'; '.join(differences)}", hint)
    return trained


def write_distilled(
    translator: Translator, data: DataConfig, corpus: Corpus, folder: Path, on_progress: OnProgress
) -> None:
    """Write the distilled pairs, and the held-out pairs, as the config reads files, unless they are there.

    A translation that is truncated or without words gives no pair.
    """
    preparation = TextPreparation(data)

    def line(source: str, target: str) -> str:
        """The texts that the config prepares into these, in the direction of its files."""
        if spacing(data) == "moses":
            source, target = map(preparation.detokenize, (source, target), data.languages)
        return tsv_line(target, source) if data.reverse else tsv_line(source, target)

    def distilled(sources: list[str]) -> str:
        found = chain(*translator.translate_buffers(sources, is_prepared=True))
        return "".join(line(each.source, each.raw) for each in found if each.is_complete and each.raw)

    make_folder(folder)
    first = 0
    for number, size in enumerate(corpus.train.sizes):
        sources = (corpus.train[row][0] for row in range(first, first + size))

        def show(num_done: int, first: int = first) -> None:
            on_progress("translating", first + num_done, len(corpus.train))

        write_buffers(folder / f"train-{number}.tsv.gz", sources, distilled, show)
        first += size
    for split, held_out in (("validation", corpus.validation), ("test", corpus.test)):
        file = folder / f"{split}.tsv.gz"
        if not file.exists():  # the cache of prepared pairs knows files by their times
            write_bytes(file, gzip.compress("".join(line(*pair) for pair in held_out).encode(), mtime=0))


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
        tokenization=spacing(data),
        lowercase=lowers_typed(data),
    )
