"""A run under evaluation: its translations and their speed, its teacher-forced loss."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ptenmt.config.loading import override_decoding
from ptenmt.data.batches import encode_pairs, sorted_batches
from ptenmt.data.readers import SentencePair
from ptenmt.data.text import preparation_options
from ptenmt.errors import OnProgress
from ptenmt.evaluation.test_sets import Hypotheses, TestSet
from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
from ptenmt.runs import Choice, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import TokenizerPair
from ptenmt.translation import Translation, Translator
from ptenmt.translation.engine import EngineName

_BUFFER_SIZE = 512
_LOSS_BATCH = 64  # sentences of similar length


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
        translator = Translator.from_trained_model(trained, options.engine, decoding)
        return cls(trained=trained, translator=translator)

    def translate(self, test_set: TestSet, on_progress: OnProgress) -> tuple[Hypotheses, SearchFacts]:
        """Translate all sources of a test set, which must be known.

        Sentences of a corpus are read as in training; other texts, and those of a corpus that was prepared in
        another way, as users' texts are.
        """
        sources, prepared = test_set.sources, test_set.prepared
        assert sources is not None
        assert prepared is not None
        configs = test_set.data, self.translator.config.data
        form, own_form = ((preparation_options(config), config.languages) for config in configs)
        is_prepared = test_set.is_corpus and form == own_form
        started = time.perf_counter()
        translations: list[Translation] = []
        for buffer in self.translator.translate_buffers(
            prepared if is_prepared else sources,
            buffer_size=_BUFFER_SIZE,
            is_prepared=is_prepared,
            with_scores=False,
        ):
            translations += buffer
            on_progress("translating", len(translations), len(sources))
        seconds = time.perf_counter() - started
        hypotheses = test_set.hypotheses_from_translations(translations)
        engine, decoding = self.translator.engine, self.translator.config.decoding
        facts = SearchFacts(
            engine=engine.name,
            compute_type=engine.compute_type,
            beam_size=decoding.beam_size,
            length_penalty=decoding.length_penalty,
            num_truncated=sum(not translation.is_complete for translation in translations),
            num_split=sum(translation.is_split for translation in translations),
            seconds=seconds,
        )
        return hypotheses, facts


def teacher_forced(
    model: NumpyTransformer | NumpyNextWord,
    tokenizers: TokenizerPair,
    pairs: Sequence[SentencePair],
    on_progress: OnProgress,
) -> TeacherForced:
    """Teacher forcing: score the reference tokens, in batches of similar length."""
    encoded, num_truncated = encode_pairs(tokenizers, pairs, model.config.max_positions)
    tokens, loss, num_correct = 0, 0.0, 0
    total = -(-len(encoded) // _LOSS_BATCH)
    for done, (source, target) in enumerate(sorted_batches(encoded, _LOSS_BATCH), start=1):
        losses, correct = model.token_losses(source, target)
        tokens += len(losses)
        loss += float(losses.sum(dtype="float64"))
        num_correct += int(correct.sum())
        on_progress("scoring references", done, total)
    return TeacherForced(loss=loss / tokens, accuracy=num_correct / tokens, num_truncated=num_truncated)
