"""``distil``: which translations a student learns from, and that nothing is done twice."""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copy_task import TrainedRun, copy_config, write_pairs

from ptenmt.config import (
    Config,
    CorpusFile,
    DataConfig,
    DecodingConfig,
    StageConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.data.corpus import load_corpus
from ptenmt.data.readers import read_pairs
from ptenmt.errors import DataError, PtenmtError, RunError
from ptenmt.evaluation.comparison import compare
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.training import distillation
from ptenmt.training.distillation import (
    Teacher,
    choose_translations,
    distil,
    distilled_data,
    is_kept,
    joint_n_best,
    write_distilled,
)
from ptenmt.training.events import CorpusReady, StepDone
from ptenmt.translation import Translation, Translator, resumable_output


class Canned:
    """A teacher with known translations and scores."""

    def __init__(self, n_best: list[dict[str, float]], scores: dict[tuple[str, str], float]) -> None:
        self._n_best, self._scores = n_best, scores
        self.num_scored = 0

    def n_best(self, sources: Sequence[str], on_done: Callable[[int], None]) -> list[dict[str, float]]:
        on_done(len(sources))
        return [dict(each) for each in self._n_best]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        self.num_scored += len(sources)
        return [self._scores[pair] for pair in zip(sources, targets, strict=True)]


def test_several_teachers_average_their_scores_over_all_translations() -> None:
    one = Canned([{"a": -0.5, "b": -1.0}, {"x": -2.0}, {}], {("s1", "c"): -3.0})
    two = Canned([{"a": -0.7, "c": -0.1}, {"x": -1.0}, {}], {("s1", "b"): -0.2})
    done: list[int] = []
    found = joint_n_best([one, two], ["s1", "s2", "s3"], done.append)  # type: ignore[list-item]
    assert [[text for text, _ in each] for each in found] == [["a", "b", "c"], ["x"], []]
    assert [score for _, score in found[0]] == pytest.approx([-0.6, -0.6, -1.55])
    assert found[1][0][1] == pytest.approx(-1.5)
    assert (one.num_scored, two.num_scored, done) == (1, 1, [3, 3])


def test_the_best_by_score_or_by_sentence_bleu() -> None:
    lists = [[("the dog sleeps on a mat", -0.1), ("the cat sleeps on the mat", -0.4)], [("x", -1.0)], []]
    references = ["the cat sleeps on the mat", "the cat", "the cat"]
    assert list(choose_translations(lists, references, "score", is_tokenized=True)) == [
        (0, -0.1),
        (0, -1.0),
        (0, -np.inf),
    ]
    by_bleu = choose_translations(lists, references, "bleu", is_tokenized=True)
    assert list(by_bleu) == [(1, -0.4), (0, -1.0), (0, -np.inf)]
    equal = [[("no match", -0.1), ("nor here", -0.2)]]
    assert list(choose_translations(equal, ["the cat"], "bleu", is_tokenized=True)) == [(0, -0.1)]


def test_the_worst_are_dropped() -> None:
    scores = np.array([-1.0, -3.0, -np.inf, -2.0, -2.0])
    assert is_kept(scores, 1).tolist() == [True, True, False, True, True]
    assert is_kept(scores, 0.75).tolist() == [True, False, False, True, True]
    assert is_kept(scores, 0.5).tolist() == [True, False, False, True, False]
    assert is_kept(scores, 0.01).tolist() == [True, False, False, False, False]


def test_scores_do_not_depend_on_tokens_and_keep_the_order_of_the_translator() -> None:
    """Two teachers with other vocabularies; the second translation lost a number."""
    lists = []
    for num_tokens in (4, 9):
        ids = [2, *range(4, 3 + num_tokens), 3]
        ranked = [
            Translation(
                source="o 7",
                text=text,
                raw=text,
                score=total / num_tokens,
                tokens=[],
                ids=ids,
                is_complete=whole,
            )
            for text, total, whole in (("a 7", -2.0, True), ("a  ", -1.0, True), ("abcd", -0.1, False))
        ]
        best = replace(ranked[0], alternatives=ranked[1:])
        options = SimpleNamespace(decoding=DecodingConfig())
        fake = SimpleNamespace(config=options, translate_prepared=lambda _sources, best=best: [{0: best}])
        lists += Teacher(None, fake).n_best(["o 7"], lambda _count: None)  # type: ignore[arg-type]
    assert lists[0] == pytest.approx({"a 7": -0.5, "a  ": -0.5})
    assert lists[1] == pytest.approx(lists[0])


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
    n_best = tmp_path / "n-best.jsonl.gz"
    lists = "".join(f"{json.dumps([[target, -0.5]])}\n" for _, target in corpus.train)
    n_best.write_bytes(gzip.compress(lists.encode()))
    write_distilled(untagged, corpus, n_best, tmp_path / "distilled", choose="score", keep=1)

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

    def written(scores: list[float | None], folder: str) -> list[int]:
        lists = (json.dumps([] if score is None else [["x", score]]) for score in scores)
        n_best = tmp_path / "n-best.jsonl"
        n_best.write_text("".join(f"{each}\n" for each in lists))
        write_distilled(data, corpus, n_best, tmp_path / folder, choose="score", keep=0.5)
        again = distilled_data(data, tmp_path / folder, corpus.train.sizes)
        return [len(list(read_pairs(file))) for file in again.train]

    good, bad = corpus.train.sizes
    assert written([*scores], "distilled") == [-(-good // 2), -(-bad // 2)]
    with pytest.raises(DataError, match="no translation of bad is complete"):
        written([*scores[:good], *[None] * bad], "other")
    assert not (tmp_path / "other").exists()


def teacher_of(run: TrainedRun, beam_size: int) -> Teacher:
    changes = {"beam_size": beam_size, "num_hypotheses": beam_size}
    trained = TrainedModel.load(run.path)
    options = replace(trained.config.decoding, **changes)
    return Teacher(trained, Translator.from_trained_model(trained, options=options))


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
    done = distil([copied.path], student, tmp_path / "student", keep=0.8, on_event=events.append)
    corpus = load_corpus(student.data, student.seed)
    teacher = teacher_of(copied, 4)
    sources = [source for source, _ in corpus.train]
    translated = {
        source: next(iter(found.items()))
        for source, found in zip(sources, teacher.n_best(sources, lambda _count: None), strict=True)
        if found
    }
    pairs = distilled_pairs(done.folder)
    assert len(pairs) == int(np.ceil(0.8 * len(translated)))
    assert all(translated[source][0] == target for source, target in pairs)
    lowest = min(translated[source][1] for source, _ in pairs)
    dropped = translated.keys() - {source for source, _ in pairs}
    assert all(translated[source][1] <= lowest + 1e-6 for source in dropped)

    (ready,) = (event for event in events if isinstance(event, CorpusReady))
    assert ready.validation == len(corpus.validation) == 20
    run = Run(done.training.run)
    assert load_corpus(run.config().data, student.seed).validation == corpus.validation
    assert run.facts()["distilled_from"]["teachers"] == [str(copied.path.absolute())]
    comparison = compare([run, *done.teachers], "validation")
    assert [compared.run for compared in comparison.runs] == ["student", copied.path.name]
    assert [scores.search.beam_size for scores in comparison.scores] == [1, 4]
    bleu, teachers_bleu = (scores.differences[0].score.value for scores in comparison.scores)
    assert teachers_bleu > 50 > bleu

    monkeypatch.setattr(Teacher, "n_best", lambda *_arguments: pytest.fail("translated twice"))
    events.clear()
    again = distil([copied.path], student, tmp_path / "student", keep=0.8, on_event=events.append)
    assert not [event for event in events if isinstance(event, StepDone)], "trained twice"
    assert again.folder == done.folder
    with pytest.raises(RunError, match="student was trained on other pairs than"):
        distil([copied.path], student, tmp_path / "student", keep=0.5)
    write = distillation.write_distilled
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: pytest.fail("trained"))
    monkeypatch.setattr(distillation, "write_distilled", lambda *given, **how: (write(*given, **how), 1 / 0))
    with pytest.raises(ZeroDivisionError):  # other pairs are chosen from the same lists
        distil([copied.path], student, tmp_path / "other", keep=0.5, choose="bleu")


def test_an_interrupted_translation_resumes_with_the_same_pairs(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distillation, "train", lambda *_arguments, **_options: 1 / 0)
    monkeypatch.setattr(resumable_output, "BUFFER_SIZE", 100)
    translate = distillation.joint_n_best
    translated: list[int] = []

    def interrupted(teachers: Any, sources: Sequence[str], *how: Any) -> Any:
        if len(translated) == 2:
            translated.append(0)
            raise KeyboardInterrupt
        translated.append(len(sources))
        return translate(teachers, sources, *how)

    monkeypatch.setattr(distillation, "joint_n_best", interrupted)
    with pytest.raises(KeyboardInterrupt):
        distil([copied.path], student, tmp_path / "student")
    with pytest.raises(ZeroDivisionError):
        distil([copied.path], student, tmp_path / "student")
    assert translated == [100, 100, 0, 100, 100, 50]
    (folder,) = (tmp_path / "cache").glob("distilled-*")
    pieces = {file.name: file.read_bytes() for file in folder.iterdir()}

    monkeypatch.setattr(distillation, "joint_n_best", translate)
    data = replace(student.data, cache_dir=str(tmp_path / "whole"))
    with pytest.raises(ZeroDivisionError):
        distil([copied.path], replace(student, data=data), tmp_path / "student")
    (folder,) = (tmp_path / "whole").glob("distilled-*")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == pieces
    assert distilled_pairs(folder)


def test_a_teacher_scores_as_its_search_does(copied: TrainedRun) -> None:
    teacher = teacher_of(copied, 3)
    sources = ["hime bala", "galo", "rota rota lume dico"]
    found = teacher.n_best(sources, lambda _count: None)
    pairs = [(source, text) for source, each in zip(sources, found, strict=True) for text in each]
    scores = teacher.score(*map(list, zip(*pairs, strict=True)))  # type: ignore[arg-type]
    expected = list(chain(*(each.values() for each in found)))
    assert len(pairs) >= 6
    lowered = list(chain(*(accumulate(part, min) for part in _split(scores, map(len, found)))))
    assert lowered == pytest.approx(expected, abs=0.02)


def _split(values: list[float], sizes: Iterable[int]) -> list[list[float]]:
    rest = iter(values)
    return [list(islice(rest, size)) for size in sizes]


@pytest.mark.usefixtures("_uncompiled")
def test_what_cannot_be_distilled_is_refused_before_anything_is_translated(
    copied: TrainedRun, student: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Teacher, "n_best", lambda *_arguments: pytest.fail("translated"))
    run, data = tmp_path / "student", student.data

    def error(
        teachers: list[Any] | None = None, into: Path = run, data: DataConfig = data, **how: Any
    ) -> str:
        with pytest.raises(PtenmtError) as raised:
            distil([copied.path] if teachers is None else teachers, replace(student, data=data), into, **how)
        assert "\n" not in raised.value.message
        return raised.value.message

    assert "no run in" in error([tmp_path / "nowhere"])
    assert error([]) == "a student needs a teacher"
    assert error(into=copied.path) == f"{copied.path} cannot be its own teacher"
    reverse = replace(data, reverse=True)
    unfit = f"{copied.path} does not fit the student: it has"
    assert error(data=reverse) == f"{unfit} direction pt→en, not en→pt"
    assert error(data=replace(data, lowercase=True)) == f"{unfit} lowercase False, not True"
    assert error(data=replace(data, tokenization="moses")) == f"{unfit} tokenization none, not moses"
    assert "data.hold_out=false" in error(data=replace(data, hold_out=False))
    assert "keep=0 must be above 0" in error(keep=0)
    assert "keep=1.1 must be above 0 and at most 1" in error(keep=1.1)
    assert "beam_size=1 gives one translation" in error(choose="bleu", beam_size=1)
    assert "decoding.beam_size=0 must be 1 or more" in error(beam_size=0)
    other = copy_config(write_pairs(tmp_path / "other.tsv", 60), training=TrainingConfig(epochs=1))
    from ptenmt.training.session import train

    train(other, run)
    assert error() == f"{run} was not trained by ptenmt distil"
