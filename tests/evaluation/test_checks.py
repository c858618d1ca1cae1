"""Reliability checks: a translator that copies passes them all, and each fault fails its own."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from copy_task import TrainedRun
from sample_evaluation import evaluation
from scripted import TextEngine

from ptenmt.config import Config, DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.data.readers import demo_pairs
from ptenmt.errors import ConfigError
from ptenmt.evaluation import EvaluationFiles, evaluate
from ptenmt.evaluation.checks import Check, run_checks
from ptenmt.evaluation.meaning import meaning_cases
from ptenmt.evaluation.report import report_text
from ptenmt.evaluation.systems import Reliability
from ptenmt.evaluation.tables import checks_table
from ptenmt.evaluation.test_set import TestSet as Sentences
from ptenmt.tokenizers import TokenizerPair, build_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.safeguards.glossary import Glossary

DATA = DataConfig(source="demo")
NAMES = [
    "sentences of a text, as alone",
    "entities, exactly once",
    "entities: BLEU of the rest",
    "numbers and codes, exactly once",
    "terms of a glossary, applied",
    "no terms inside words",
    "tags, kept and nested",
    "tags, around aligned words",
    "no loops",
    "capitals: chrF",
    "Title Case: chrF",
    *meaning_cases(),
    "texts without words, unchanged",
    "ECE of confidences",
]
COPIED = ["templates and HTML entities"]  # expected are English words next to a tag
SAMPLE = Check(
    name="no loops", num_cases=200, num_passed=199, value=0.995, threshold=0.99, examples=[("o", "a a a")]
)


@pytest.fixture(scope="module")
def tokenizers() -> TokenizerPair:
    texts = [source for source, _ in demo_pairs("validation")]
    texts += [*map(str.upper, texts), '0123456789 @#%{}_$/:?=()"«»“”']
    options = TokenizerConfig(kind="sentencepiece", vocabulary_size=500)
    return build_tokenizers(options, [(text, text) for text in texts], ("pt", "en"))


@pytest.fixture
def failing(tokenizers: TokenizerPair) -> Callable[..., list[str]]:
    """The names of the checks that a script fails, and the names of all."""
    pairs = [(source, source) for source, _ in list(demo_pairs("validation"))[:24]]
    test_set = Sentences.from_pairs(pairs, DATA)
    reliability = Reliability(
        num_sentences=24, confidence=0.5, chrf=0.5, calibration_error=0.04, rank_correlation=0.0
    )

    def run(script: Callable[[str], str] = str, **options: bool) -> list[str]:
        engine = TextEngine(tokenizers, lambda text: [script(text)] * 4)
        config = Config(data=DATA, decoding=DecodingConfig(beam_size=1, **options))
        checks = run_checks(Translator(engine, tokenizers, config), test_set, reliability, lambda *_: None)
        assert [check.name for check in checks] == NAMES
        return [check.name for check in checks if not check.is_passed]

    return run


def test_a_faithful_copy_passes(failing: Callable[..., list[str]]) -> None:
    assert failing() == COPIED


def test_every_fault_is_found(failing: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def without_entities(text: str) -> str:
        return re.sub(r"\S*[\d@#%{]\S*", "", text)

    def looping(text: str) -> str:
        return text if " " in text else " ".join([text] * 5)

    assert "entities, exactly once" in failing(without_entities, safeguards=False)
    assert failing(looping) == ["no loops", "quotation marks that pair", *COPIED]
    assert failing(lambda text: text.split(". ")[0], split_sentences=False) == [NAMES[0], *COPIED]
    assert "capitals: chrF" in failing(lambda text: "x" if text.isupper() else text, safeguards=False)
    with monkeypatch.context() as patch:
        patch.setattr(Glossary, "find", lambda *_: iter([((0, 1), "Zpart0")]))
        assert "no terms inside words" in failing()
    monkeypatch.setattr("ptenmt.translation.segmentation.TextEncoder._has_words", lambda *_: True)
    assert "texts without words, unchanged" in failing(lambda text: text if " " in text else "a b")


def test_each_check_of_meaning_can_fail(failing: Callable[..., list[str]]) -> None:
    assert set(meaning_cases()) <= set(failing(lambda text: f'{text[:-1]} "', safeguards=False))
    assert sum(map(len, meaning_cases().values())) >= 200
    case = meaning_cases()["hours"][0]
    assert all(map(case.is_kept, ["The shop opens at 9:00.", "It opens at 9 a.m. every day."]))
    assert not any(map(case.is_kept, ["It opens at 9h.", "It opens at 19:00.", 'It opens at 9:00".']))


def test_screen_and_reports_have_the_table() -> None:
    score = Check(name="capitals: chrF", num_cases=9, value=-2.5, threshold=-2)
    sample = evaluation(checks=[SAMPLE, score])
    assert checks_table([SAMPLE, score]).rows == [
        ("no loops", "200", "199", "99.5%", "≥ 99.0%", "ok"),
        ("capitals: chrF", "9", "", "-2.50", "≥ -2.00", "fails"),
    ]
    for form in ("html", "markdown"):
        assert "Reliability checks" in report_text(sample, form)
        assert "a a a" in report_text(sample, form)
    facts = json.loads(report_text(sample, "json"))["checks"]
    assert [each["is_passed"] for each in facts] == [True, False]


def test_checks_are_run_on_the_pairs_of_a_run(copied: TrainedRun) -> None:
    first, again = (evaluate(copied.path, with_checks=True).checks for _ in range(2))
    assert first == again
    names = [check.name for check in first or []]
    # No sentence has a capital and a full stop, and no word is long.
    assert names == [*NAMES[1:4], *NAMES[6:]]


def test_finished_translations_are_not_checked(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\n")
    with pytest.raises(ConfigError, match="--checks cannot be used with finished translations"):
        evaluate(files=EvaluationFiles(hypotheses=file, references=[file]), with_checks=True)
