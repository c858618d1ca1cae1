"""``distil``: which translations a student learns from, and that nothing is done twice."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import TrainedRun, copy_config, write_pairs

from ptenmt.config import (
    Config,
    CorpusFile,
    DataConfig,
    StageConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.data.corpus import load_corpus
from ptenmt.data.readers import read_pairs
from ptenmt.errors import DataError, PtenmtError
from ptenmt.evaluation.comparison import compare
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.training import distillation
from ptenmt.training.distillation import distil, distilled_data, is_kept, write_distilled
from ptenmt.training.events import CorpusReady
from ptenmt.training.session import train
from ptenmt.translation import Translator, resumable_output


def test_the_worst_are_dropped() -> None:
    scores = np.array([-1.0, -3.0, -np.inf, -2.0, -2.0])
    assert is_kept(scores, 1).tolist() == [True, True, False, True, True]
    assert is_kept(scores, 0.75).tolist() == [True, False, False, True, True]
    assert is_kept(scores, 0.5).tolist() == [True, False, False, True, False]
    assert is_kept(scores, 0.01).tolist() == [True, False, False, False, False]


SENTENCES = [
    ("Não o vi; não é ele?", "I didn't see it; isn't it him?"),
    ("«Bom dia», disse a Ana.", "“Good morning,” Ana said."),
    ("Custa 3,5 € (ou menos).", "It costs 3.5 € (or less)."),
    ("O João's é um bar.", "João's is a bar; the owners' car isn't."),
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tokenization": "moses"},
        {"tokenization": "given", "lowercase": True, "reverse": True},
        {"tokenization": "moses", "reverse": True, "normalization": "NFKC"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_references_as_translations_give_the_same_corpus(tmp_path: Path, options: dict[str, Any]) -> None:
    """Two files with weights, a tag and stages; validation pairs drawn, test pairs of their own."""
    numbers = random.Random(1)
    for name in ("a", "b", "test"):
        lines = [
            f"{pt} {number} ok\t{en} {number} {name}\n"
            for pt, en in SENTENCES * 20
            for number in (numbers.randint(0, 10**6),)
        ]
        (tmp_path / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    data = DataConfig(
        train=(
            CorpusFile(path=str(tmp_path / "a.tsv"), name="one"),
            CorpusFile(path=str(tmp_path / "b.tsv"), name="two", tag="<bt>"),
        ),
        test=(CorpusFile(path=str(tmp_path / "test.tsv")),),
        stages=(StageConfig(mix={"one": 1.0, "two": 0.5}),),
        validation_pairs=10,
        cache_dir=str(tmp_path / "cache"),
        **options,
    )
    untagged = replace(data, train=tuple(replace(file, tag=None) for file in data.train))
    corpus, tagged = load_corpus(untagged, 1), load_corpus(data, 1)
    translations = tmp_path / "translated.tsv"
    translations.write_text("".join(f"{target}\t-0.5\n" for _, target in corpus.train), encoding="utf-8")
    write_distilled(untagged, corpus, translations, tmp_path / "distilled", keep=1)

    again = load_corpus(distilled_data(data, tmp_path / "distilled", corpus.train.sizes), 1)
    assert list(again.train) == list(tagged.train)
    assert again.train.sizes == tagged.train.sizes
    assert (again.validation, again.test) == (tagged.validation, tagged.test)
    assert len(again.train) > 100


def test_the_best_of_each_file_are_kept(tmp_path: Path) -> None:
    """All translations of the second file are worse than those of the first."""
    for name, num in (("good", 20), ("bad", 3)):
        write_pairs(tmp_path / f"{name}.tsv", num, seed=num)
    train = tuple(CorpusFile(path=str(tmp_path / f"{name}.tsv")) for name in ("good", "bad"))
    held_out = (CorpusFile(path=str(write_pairs(tmp_path / "held.tsv", 3, seed=1))),)
    data = DataConfig(train=train, validation=held_out, test=held_out, cache_dir=str(tmp_path / "cache"))
    corpus = load_corpus(data, 1)
    scores = [-0.1 * (row + 1) for row in range(len(corpus.train))]

    def written(scores: list[float], folder: str) -> list[int]:
        translations = tmp_path / "translated.tsv"
        translations.write_text("".join(f"x\t{score}\n" for score in scores))
        write_distilled(data, corpus, translations, tmp_path / folder, keep=0.5)
        again = distilled_data(data, tmp_path / folder, corpus.train.sizes)
        return [len(list(read_pairs(file))) for file in again.train]

    good, bad = corpus.train.sizes
    assert written([*scores], "distilled") == [-(-good // 2), -(-bad // 2)]
    with pytest.raises(DataError, match="no translation of bad is complete"):
        written([*scores[:good], *[-np.inf] * bad], "other")
    assert not (tmp_path / "other").exists()


@pytest.fixture
def student(copied: TrainedRun, tmp_path: Path) -> Config:
    """The teacher's data, half of its width, two epochs."""
    return replace(
        copied.config,
        data=replace(copied.config.data, cache_dir=str(tmp_path / "cache")),
        model=replace(copied.config.model, d_model=16, d_ff=32),
        training=TrainingConfig(epochs=2, warmup_steps=20),
        validation=ValidationConfig(every_epochs=None),
    )


def distilled_pairs(folder: Path) -> list[tuple[str, str]]:
    return list(read_pairs(CorpusFile(path=str(folder / "train-0.tsv.gz"))))


def test_a_student_learns_its_teachers_translations_and_is_measured(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Any] = []
    done = distil(copied.path, student, tmp_path / "student", keep=0.8, on_event=events.append)
    corpus = load_corpus(student.data, student.seed)
    translator = Translator.from_trained_model(TrainedModel.load(copied.path))
    sources = [source for source, _ in corpus.train]
    found = {row: each for part in translator.translate_prepared(sources) for row, each in part.items()}
    translated = {sources[row]: each for row, each in found.items() if each.is_complete and each.raw}
    pairs = distilled_pairs(done.folder)
    assert len(pairs) == int(np.ceil(0.8 * len(translated)))
    assert all(translated[source].raw == target for source, target in pairs)
    lowest = min(translated[source].score for source, _ in pairs)
    dropped = translated.keys() - {source for source, _ in pairs}
    assert all(translated[source].score <= lowest + 1e-4 for source in dropped)

    (ready,) = (event for event in events if isinstance(event, CorpusReady))
    assert ready.validation == len(corpus.validation) == 20
    run = Run(done.training.run)
    assert load_corpus(run.config().data, student.seed).validation == corpus.validation
    assert run.facts()["distilled_from"]["teachers"] == [str(copied.path.absolute())]
    comparison = compare([run, done.teacher], "validation")
    assert [compared.run for compared in comparison.runs] == ["student", copied.path.name]
    assert [scores.search.beam_size for scores in comparison.scores] == [1, 4]
    bleu, teachers_bleu = (scores.differences[0].score.value for scores in comparison.scores)
    assert teachers_bleu > 50 > bleu

    monkeypatch.setattr(Translator, "translate_prepared", lambda *_: pytest.fail("translated twice"))
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: 1 / 0)
    for keep, num_folders in ((0.8, 1), (0.5, 2)):  # other pairs are chosen of the same translations
        with pytest.raises(ZeroDivisionError):
            distil(copied.path, student, tmp_path / "other", keep=keep)
        assert len(list((tmp_path / "cache").glob("distilled-*"))) == num_folders


def test_an_interrupted_translation_resumes_with_the_same_pairs(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: 1 / 0)
    monkeypatch.setattr(resumable_output, "BUFFER_SIZE", 100)
    translate = Translator.translate_prepared
    translated: list[int] = []

    def interrupted(translator: Translator, sources: Sequence[str]) -> Any:
        translated.append(len(sources))
        if len(translated) == 3:
            raise KeyboardInterrupt
        return translate(translator, sources)

    monkeypatch.setattr(Translator, "translate_prepared", interrupted)
    with pytest.raises(KeyboardInterrupt):
        distil(copied.path, student, tmp_path / "student")
    with pytest.raises(ZeroDivisionError):
        distil(copied.path, student, tmp_path / "student")
    assert translated == [100] * 5 + [50]
    (folder,) = (tmp_path / "cache").glob("distilled-*")
    pieces = {file.name: file.read_bytes() for file in folder.iterdir()}

    monkeypatch.setattr(Translator, "translate_prepared", translate)
    data = replace(student.data, cache_dir=str(tmp_path / "whole"))
    with pytest.raises(ZeroDivisionError):
        distil(copied.path, replace(student, data=data), tmp_path / "student")
    (folder,) = (tmp_path / "whole").glob("distilled-*")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == pieces
    assert distilled_pairs(folder)


@pytest.mark.usefixtures("_uncompiled")
def test_what_cannot_be_distilled_is_refused_before_anything_is_translated(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, data = tmp_path / "student", student.data

    def error(teacher: Path = copied.path, into: Path = run, data: DataConfig = data, **how: Any) -> str:
        with pytest.raises(PtenmtError) as raised:
            distil(teacher, replace(student, data=data), into, **how)
        assert "\n" not in raised.value.message
        return raised.value.message

    assert "no run in" in error(tmp_path / "nowhere")
    assert error(into=copied.path) == f"{copied.path} cannot be its own teacher"
    unfit = f"{copied.path} does not fit the student: it has"
    assert error(data=replace(data, reverse=True)) == f"{unfit} direction pt→en, not en→pt"
    assert error(data=replace(data, lowercase=True)) == f"{unfit} lowercase False, not True"
    assert "data.hold_out=false" in error(data=replace(data, hold_out=False))
    assert "keep=0 must be above 0" in error(keep=0)
    assert "keep=1.1 must be above 0 and at most 1" in error(keep=1.1)
    assert "decoding.beam_size=0 must be 1 or more" in error(beam_size=0)
    train(copy_config(write_pairs(tmp_path / "other.tsv", 60), training=TrainingConfig(epochs=1)), run)
    monkeypatch.setattr(Translator, "translate_prepared", lambda *_arguments: pytest.fail("translated"))
    assert "was trained with other options" in error()
