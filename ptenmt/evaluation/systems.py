"""A run under evaluation: its translations, their speed and confidences, and its teacher-forced loss."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ptenmt.config.loading import override_decoding
from ptenmt.data.batches import encode_pairs, num_batches, sorted_batches
from ptenmt.data.readers import SentencePair
from ptenmt.data.text import preparation_options
from ptenmt.errors import ConfigError, OnProgress
from ptenmt.evaluation.test_set import Hypotheses, TestSet
from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
from ptenmt.runs import Choice, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.scores import References, Scorer
from ptenmt.tokenizers import TokenizerPair
from ptenmt.translation import Translation, Translator
from ptenmt.translation.confidence import Calibration
from ptenmt.translation.engine import EngineName
from ptenmt.translation.scoring import scored_sentences, with_confidence

_BUFFER_SIZE = 512
_LOSS_BATCH = 64  # sentences of similar length
_MAX_SENTENCES = 500
NUM_BINS = 10


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How runs are loaded for an evaluation."""

    checkpoint: Choice = "best"
    """``best``: the weights with the best validation score; ``latest``: the newest."""
    engine: EngineName = "auto"
    overrides: Sequence[str] = ()
    """``decoding.option=value`` each: changes to the section ``decoding`` of the runs' configs."""
    on_warning: Callable[[str], None] = warnings.warn
    """Called with a message, such as for a damaged checkpoint that is skipped."""


@dataclass(frozen=True, kw_only=True)
class SearchFacts:
    """How a run translated."""

    engine: str
    compute_type: str
    beam_size: int
    length_penalty: float
    num_truncated: int
    """Translations that reached the length limit before [END]."""
    num_split: int
    """Sentences longer than the model's positions, translated in parts."""
    seconds: float

    @property
    def description(self) -> str:
        """Such as ``ctranslate2, int8, beam 4``."""
        search = "greedy" if self.beam_size == 1 else f"beam {self.beam_size}"
        return f"{self.engine}, {self.compute_type}, {search}"


@dataclass(frozen=True, kw_only=True)
class TeacherForced:
    """Means over the real target tokens, each predicted from the source and the correct tokens before it."""

    loss: float
    """Cross-entropy in nats."""
    accuracy: float
    num_truncated: int
    """Sources and references truncated to the model's positions."""


@dataclass(frozen=True, kw_only=True)
class System:
    """A run that is ready to translate."""

    trained: TrainedModel
    translator: Translator

    @classmethod
    def load(cls, run: Run, options: LoadOptions) -> "System":
        """Load a run; errors as of ``evaluate``, ConfigError also for an override that does not fit."""
        choice, warn = options.checkpoint, options.on_warning
        trained = TrainedModel.load(run, checkpoint=choice, task="translation", on_warning=warn)
        decoding = override_decoding(replace(trained.config.decoding, num_hypotheses=1), options.overrides)
        if decoding.num_hypotheses > 1:
            raise ConfigError(
                f"decoding.num_hypotheses={decoding.num_hypotheses}: one hypothesis per sentence is scored"
            )
        translator = Translator.from_trained_model(trained, options.engine, decoding)
        return cls(trained=trained, translator=translator)

    def translate(self, test_set: TestSet, on_progress: OnProgress) -> tuple[Hypotheses, SearchFacts]:
        """Translate all sources of a test set, which must be known.

        Sentences of a corpus are read as in training; other texts, and those of a corpus that was prepared in
        another way, as users' texts are.
        """
        sources, prepared = test_set.sources, test_set.prepared
        if sources is None or prepared is None:
            raise ValueError("a test set without sources cannot be translated")
        configs = test_set.data, self.translator.config.data
        form, own_form = ((preparation_options(config), config.languages) for config in configs)
        is_prepared_alike = form == own_form
        started = time.perf_counter()
        translations: dict[int, Translation] = {}
        if test_set.is_corpus and is_prepared_alike:
            for batch in self.translator.translate_prepared(prepared, with_scores=False):
                translations |= batch
                on_progress("translating", len(translations), len(sources))
        else:
            buffers = self.translator.translate_buffers(sources, buffer_size=_BUFFER_SIZE, with_scores=False)
            for buffer in buffers:
                translations |= dict(enumerate(buffer, start=len(translations)))
                on_progress("translating", len(translations), len(sources))
        seconds = time.perf_counter() - started
        ordered = [translations[row] for row in range(len(sources))]
        if is_prepared_alike:
            hypotheses = test_set.hypotheses_from_translations(ordered)
        else:
            hypotheses = test_set.hypotheses_from_texts([translation.text for translation in ordered])
        engine, decoding = self.translator.engine, self.translator.config.decoding
        facts = SearchFacts(
            engine=engine.name,
            compute_type=engine.compute_type,
            beam_size=decoding.beam_size,
            length_penalty=decoding.length_penalty,
            num_truncated=sum(not translation.is_complete for translation in ordered),
            num_split=sum(translation.is_split for translation in ordered),
            seconds=seconds,
        )
        return replace(hypotheses, translations=ordered), facts


def teacher_forced(
    model: NumpyTransformer | NumpyNextWord,
    tokenizers: TokenizerPair,
    pairs: Sequence[SentencePair],
    on_progress: OnProgress,
) -> TeacherForced:
    """Teacher forcing: score the reference tokens, in batches of similar length."""
    encoded, num_truncated = encode_pairs(tokenizers, pairs, model.config.max_positions)
    tokens, loss, num_correct = 0, 0.0, 0
    total = num_batches(encoded, _LOSS_BATCH)
    for done, (source, target) in enumerate(sorted_batches(encoded, _LOSS_BATCH), start=1):
        losses, correct = model.token_losses(source, target)
        tokens += len(losses)
        loss += float(losses.sum(dtype="float64"))
        num_correct += int(correct.sum())
        on_progress("scoring references", done, total)
    return TeacherForced(loss=loss / tokens, accuracy=num_correct / tokens, num_truncated=num_truncated)


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Confidences beside the sentence chrF / 100 of the same translations."""

    num_sentences: int
    """Those that have a confidence."""
    confidence: float
    """The mean."""
    chrf: float
    """The mean."""
    calibration_error: float
    """ECE: in ten bins of equally many sentences, in order of their confidence, the mean absolute difference
    between the two means."""
    rank_correlation: float
    """Spearman's; NaN if all are equal."""

    @classmethod
    def measure(cls, system: System, output: Hypotheses, references: References) -> "Reliability | None":
        """Compare the confidences and scores of a run's translations; None if none has a confidence."""
        confidences = [
            translation.confidence for translation in with_confidence(system.translator, output.translations)
        ]
        pairs = zip(confidences, _chrf(output.texts, references), strict=True)
        known = np.array([pair for pair in pairs if pair[0] is not None], float)  # [N, 2]
        return cls.of_values(*known.T) if len(known) else None

    @classmethod
    def of_values(cls, confidences: np.ndarray, scores: np.ndarray) -> "Reliability":
        """Compare confidences [N] and scores [N]."""
        bins = np.array_split(np.argsort(confidences, kind="stable"), min(NUM_BINS, len(confidences)))
        errors = [abs((confidences[rows] - scores[rows]).sum()) for rows in bins]
        ranks = np.stack([_ranks(confidences), _ranks(scores)])
        return cls(
            num_sentences=len(confidences),
            confidence=float(confidences.mean()),
            chrf=float(scores.mean()),
            calibration_error=float(sum(errors) / len(confidences)),
            rank_correlation=float(np.corrcoef(ranks)[0, 1]) if np.ptp(ranks, axis=1).all() else math.nan,
        )


def calibrate(
    system: System,
    pairs: Sequence[SentencePair],
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> None:
    """Fit confidences on at most 500 held-out pairs of the corpus, and keep the calibration in the run.

    Raises:
        OutputError: The run cannot be written.
    """
    trained = system.trained
    chosen = [pairs[row] for row in range(0, len(pairs), -(-len(pairs) // _MAX_SENTENCES))]
    test_set = TestSet.from_pairs(chosen, trained.config.data)
    output, _ = system.translate(test_set, on_progress)
    scored = scored_sentences(system.translator, output.translations)
    labels = _chrf(output.texts, test_set.references)
    rows = [row for row, sentences in enumerate(scored) if len(sentences) == 1]
    if rows:
        features = [scored[row][0].features for row in rows]
        Calibration.fit(trained.info.checksum, features, [labels[row] for row in rows]).write(trained.run)


def _ranks(values: np.ndarray) -> np.ndarray:
    """The sums of the first and the last rank of each value, which differ where several are equal."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")


def _chrf(texts: Sequence[str], references: References) -> list[float]:
    """The sentence chrF / 100 of each text."""
    values = Scorer("detokenized", references, ("chrF",)).sentence_values(texts, "chrF")
    return [value / 100 for value in values]
