"""``ptenmt backtranslate``: pairs of a translation and its line, the same in one go and in several."""

import gzip
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import CorpusFile
from ptenmt.data.readers import read_pairs
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers.base import suppressed_ids
from ptenmt.translation import Translator
from ptenmt.translation.backtranslation import BackTranslation
from ptenmt.translation.engine import mean_log_probability
from ptenmt.translation.resumable_output import OutputChunk

WORDS = ["o gato", "a ave", "o rei", "a mãe", "come", "dorme", "canta", "hoje .", "agora .", ", não é ?"]
FOREIGN = "There is nothing in this sentence that anybody could mistake for Portuguese."
SAMPLED = ("--sample", "--set", "decoding.temperature=3")


def sentences(count: int) -> list[str]:
    chosen = random.Random(1)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(1, 5))) for _ in range(count)]


def write_lines(file: Path, lines: list[str]) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def mono(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two whole buffers and a third, with lines of no use in the first and the last."""
    lines = sentences(140)
    lines[5], lines[6], lines[135], lines[136] = "", FOREIGN, " ", "gato " * 101
    return write_lines(tmp_path_factory.mktemp("mono") / "mono.pt", lines)


@pytest.fixture(autouse=True)
def _small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.translation.backtranslation.BUFFER_SIZE", 64)


@pytest.fixture
def job(ptenmt, trained: Path, mono: Path, tmp_path: Path):
    """Translates a file into bt.tsv.gz, and returns what the file holds and what was said."""

    def backtranslate(*arguments: str, file: Path = mono, name: str = "bt.tsv.gz", code: int = 0):
        run, output = str(trained / "checkpoints" / "tiny"), tmp_path / name
        files = ["--run", run, "--input", str(file), "--output", str(output)]
        answer = ptenmt("backtranslate", *files, *arguments, code=code)
        content = output.read_bytes() if output.exists() else b""
        return gzip.decompress(content) if name.endswith("gz") else content, answer

    return backtranslate


def test_each_line_becomes_a_pair_with_its_score_or_is_counted(
    job, trained: Path, mono: Path, tmp_path: Path
):
    content, answer = job("--set", "decoding.length_penalty=0.5", "--set", "decoding.beam_size=2")
    rows = [line.split("\t") for line in content.decode().splitlines()]
    lines = mono.read_text(encoding="utf-8").splitlines()
    usable = [line for number, line in enumerate(lines) if number not in (5, 6, 135, 136)]
    translator = Translator.load(trained / "checkpoints" / "tiny")
    options = replace(translator.config.decoding, length_penalty=0.5, beam_size=2)
    translations = translator.translate(usable, options)

    complete = [each for each in translations if each.is_complete]
    assert [row[:2] for row in rows] == [[" ".join(each.text.split()), each.source] for each in complete]
    assert list(read_pairs(CorpusFile(path=str(tmp_path / "bt.tsv.gz")))) == [(a, b) for a, b, _ in rows]
    said = f"{len(rows):,} pairs in {tmp_path / 'bt.tsv.gz'}; left out: "
    reasons = answer.stderr.partition(said)[2].strip().split(", ")
    assert {"2 empty", "1 in another language", "1 too long"} <= set(reasons)


def test_the_score_is_the_mean_log_probability_of_the_tokens(trained: Path) -> None:
    model = TrainedModel.load(trained / "checkpoints" / "tiny")
    translator = Translator.load(model.run, engine="keras")
    options = replace(model.config.decoding, length_penalty=0.3, beam_size=3)
    texts = ["a ave", "o rei canta agora , não é ?"]
    for translation in translator.translate(texts, options):
        ((source,), _) = translator.encoder.sources([translation.source])
        logits = model.numpy_model.logits(np.array([source]), np.array([translation.ids[:-1]]))[0]
        logits[:, suppressed_ids(model.config.tokenizer)] = -np.inf
        log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        mean = log_probabilities[range(len(logits)), translation.ids[1:]].mean()
        scored = mean_log_probability(translation.ids, translation.score, 0.3)
        assert scored == pytest.approx(mean, abs=1e-3)
        assert translation.score < scored - 0.01


def test_sampling_gives_the_same_file_with_the_same_seed(job) -> None:
    options = (SAMPLED, SAMPLED, (*SAMPLED, "--set", "decoding.seed=1"))
    first, again, other = (job(*given, name=f"{number}.tsv.gz")[0] for number, given in enumerate(options))
    assert first == again != other


def test_an_interrupted_file_resumes_and_counts_what_was_before(job, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, answer = job(*SAMPLED, name="whole.tsv.gz")
    chunks = BackTranslation.chunks

    def interrupted(*given: object, **options: object) -> Iterator[OutputChunk]:
        yield next(chunks(*given, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(BackTranslation, "chunks", interrupted)
        stopped = job(*SAMPLED, code=130)[1].stderr
    assert "stopped: 64 lines saved; resume with\n  ptenmt backtranslate --resume" in stopped
    resumed, resumed_answer = job("--resume", *SAMPLED)
    assert resumed == whole
    last = answer.stderr.splitlines()[-1].replace("whole.tsv", "bt.tsv")
    assert resumed_answer.stderr.splitlines()[-1] == last


def test_a_corpus_of_tokens_gets_tokens(trained: Path, ptenmt, tmp_path: Path) -> None:
    run = Run(tmp_path / "given")
    shutil.copytree(trained / "checkpoints" / "tiny", run.path)
    config = run.path / "config.yaml"
    config.write_text(config.read_text().replace("tokenization: null", "tokenization: given"))
    text = write_lines(tmp_path / "few.pt", ["O gato come, não é?", "o gato come , não é ?"])
    ptenmt("backtranslate", "--run", str(run.path), "-i", str(text), "-o", str(tmp_path / "few.tsv"))
    rows = (tmp_path / "few.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[1].startswith("the cat eats , is n't it ?\to gato come , não é ?")
    assert rows[0].split("\t")[1] == "O gato come , não é ?"


def test_text_in_another_language_is_warned_of(job, tmp_path: Path) -> None:
    lines = [FOREIGN, "Nobody has ever seen anything like it before, they said.", "o gato come hoje ."]
    content, answer = job(file=write_lines(tmp_path / "text.en", lines))
    assert len(content.splitlines()) == 1
    assert "warning: most lines are not in Portuguese, from which the run translates\n" in answer.stderr
    assert "1 pair in" in answer.stderr
    # the last line alone, a buffer of its own, is no warning
    _, answer = job(
        file=write_lines(tmp_path / "text.pt", [*["o gato come hoje ."] * 64, FOREIGN]), name="b.tsv"
    )
    assert "left out: 1 in another language" in answer.stderr
    assert "warning" not in answer.stderr


def test_what_cannot_be_translated_back_is_one_line(job, tmp_path: Path) -> None:
    empty = write_lines(tmp_path / "empty.pt", [])
    assert "error: no line gives a pair: the text is empty\n" in job(file=empty, code=1)[1].stderr
    blank = write_lines(tmp_path / "blank.pt", [""] * 200)
    assert "error: no line gives a pair: 200 empty\n" in job(file=blank, code=1)[1].stderr
    assert {file.name for file in tmp_path.iterdir()} == {"blank.pt", "empty.pt"}
    for options, message in (
        (("--sample", "--set", "decoding.beam_size=2"), "needs decoding.beam_size=1, not 2"),
        (("--engine", "keras", "--sample"), "the Keras engine does not sample"),
    ):
        assert message in job(*options, code=1)[1].stderr
    assert "must end in .tsv or .tsv.gz" in job(name="bt.txt", code=1)[1].stderr
