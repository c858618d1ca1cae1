"""``distil``: which translations a student learns from, and that nothing is done twice."""

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from copy_task import TrainedRun

from ptenmt.config import (
    Config,
    CorpusFile,
    DataConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.data.corpus import load_corpus
from ptenmt.data.readers import read_pairs
from ptenmt.errors import PtenmtError
from ptenmt.evaluation.comparison import compare
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.training import distillation
from ptenmt.training.distillation import distil, distilled_data, write_distilled
from ptenmt.training.events import CorpusReady
from ptenmt.translation import Translator, resumable_output

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
        {"tokenization": "given", "lowercase": True, "reverse": True},
        {"tokenization": "moses", "reverse": True, "normalization": "NFKC"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_references_as_translations_give_the_same_corpus(tmp_path: Path, options: dict[str, Any]) -> None:
    """Two files with weights and a tag; validation pairs drawn, test pairs of their own."""
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
            CorpusFile(path=str(tmp_path / "b.tsv"), name="two", weight=0.5, tag="<bt>"),
        ),
        test=(CorpusFile(path=str(tmp_path / "test.tsv")),),
        validation_pairs=10,
        cache_dir=str(tmp_path / "cache"),
        **options,
    )
    untagged = replace(data, train=tuple(replace(file, tag=None) for file in data.train))
    corpus, tagged = load_corpus(untagged, 1), load_corpus(data, 1)
    references = dict(corpus.train)

    def translate(sources: list[str], *, is_prepared: bool) -> Iterator[list[Any]]:
        assert is_prepared
        yield [SimpleNamespace(source=source, raw=references[source], is_complete=True) for source in sources]

    translator: Any = SimpleNamespace(translate_buffers=translate)
    write_distilled(translator, untagged, corpus, tmp_path / "distilled", lambda *_: None)

    again = load_corpus(distilled_data(data, tmp_path / "distilled", corpus.train.sizes), 1)
    assert list(again.train) == list(tagged.train)
    assert again.train.sizes == tagged.train.sizes
    assert (again.validation, again.test) == (tagged.validation, tagged.test)
    assert len(again.train) > 100


@pytest.fixture
def student(copied: TrainedRun, tmp_path: Path) -> Config:
    """The teacher's data, half of its width, three steps."""
    return replace(
        copied.config,
        data=replace(copied.config.data, cache_dir=str(tmp_path / "cache")),
        model=replace(copied.config.model, d_model=16, d_ff=32),
        training=TrainingConfig(epochs=1, max_steps=3, warmup_steps=3),
        validation=ValidationConfig(every_epochs=None),
    )


def distilled_pairs(folder: Path) -> list[tuple[str, str]]:
    return list(read_pairs(CorpusFile(path=str(folder / "train-0.tsv.gz"))))


@pytest.mark.usefixtures("_uncompiled")
def test_a_student_learns_its_teachers_translations_and_is_measured(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Any] = []
    done = distil(copied.path, student, tmp_path / "student", on_event=events.append)
    corpus = load_corpus(student.data, student.seed)
    translator = Translator.from_trained_model(TrainedModel.load(copied.path))
    sources = [source for source, _ in corpus.train]
    (found,) = translator.translate_buffers(sources, is_prepared=True)
    complete = [each for each in found if each.is_complete]
    assert distilled_pairs(done.folder) == [(each.source, each.raw) for each in complete if each.raw]

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

    monkeypatch.setattr(
        Translator, "translate_buffers", lambda *_arguments, **_options: pytest.fail("translated twice")
    )
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        distil(copied.path, student, tmp_path / "other")
    assert [*(tmp_path / "cache").glob("distilled-*")] == [done.folder]


def test_an_interrupted_translation_resumes_with_the_same_pairs(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: 1 / 0)
    monkeypatch.setattr(resumable_output, "BUFFER_SIZE", 100)
    translate = Translator.translate_buffers
    translated: list[int] = []

    def interrupted(translator: Translator, sources: Sequence[str], **options: Any) -> Any:
        translated.append(len(sources))
        if len(translated) == 3:
            raise KeyboardInterrupt
        return translate(translator, sources, **options)

    monkeypatch.setattr(Translator, "translate_buffers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        distil(copied.path, student, tmp_path / "student")
    with pytest.raises(ZeroDivisionError):
        distil(copied.path, student, tmp_path / "student")
    assert translated == [100] * 5 + [50]
    (folder,) = (tmp_path / "cache").glob("distilled-*")
    pieces = {file.name: file.read_bytes() for file in folder.iterdir()}

    monkeypatch.setattr(Translator, "translate_buffers", translate)
    data = replace(student.data, cache_dir=str(tmp_path / "whole"))
    with pytest.raises(ZeroDivisionError):
        distil(copied.path, replace(student, data=data), tmp_path / "student")
    (folder,) = (tmp_path / "whole").glob("distilled-*")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == pieces
    assert distilled_pairs(folder)


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
    assert "decoding.beam_size=0 must be 1 or more" in error(beam_size=0)
    shutil.copytree(copied.path, run)
    monkeypatch.setattr(
        Translator, "translate_buffers", lambda *_arguments, **_options: pytest.fail("translated")
    )
    assert "was trained with other options" in error()
