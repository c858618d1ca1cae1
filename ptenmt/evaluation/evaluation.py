"""Scoring a run on validation or test pairs."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.corpus.batches import num_batches, sorted_batches
from ptenmt.corpus.encoding import encode_pairs
from ptenmt.corpus.pairs import HeldOutSplit, SentencePair, fingerprint, load_split
from ptenmt.corpus.text import TextPreparation, spacing
from ptenmt.evaluation.likelihood import compile_token_sums
from ptenmt.evaluation.scores import Score, detokenised_scores, tokenised_scores
from ptenmt.model import TokenSums
from ptenmt.runs import Run, find_run
from ptenmt.translation import Translation, Translator

if TYPE_CHECKING:
    from ptenmt.checkpoints import Choice

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much is done."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What ``ptenmt evaluate`` reports."""

    run: str
    split: HeldOutSplit
    num_pairs: int
    loss: float
    """Mean cross-entropy of the real target tokens, in nats."""
    accuracy: float
    """Share of the real target tokens that had the highest logit, given the right ones before them."""
    scores: list[Score]
    num_cut: int
    """Translations that reached the length limit before [END]."""
    num_sources_cut: int
    """Sentences longer than the model's positions, translated in part."""
    seconds: float
    """For translating alone."""

    @property
    def perplexity(self) -> float:
        """The exponential of the loss."""
        return math.exp(self.loss)

    def facts(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return asdict(self) | {"perplexity": self.perplexity}


def evaluate(
    run: str | Path | Run | None = None,
    split: HeldOutSplit = "test",
    *,
    checkpoint: "Choice" = "best",
    on_progress: Progress | None = None,
    on_warning: Callable[[str], None] = warnings.warn,
) -> Evaluation:
    """Score a trained run.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        split: Which pairs of the run's own data.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        on_progress: Told how far it is.
        on_warning: Told of a damaged checkpoint that was passed over for an older one.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no checkpoint that can be read.
        DataError: Its data cannot be read any more.
    """
    run = run if isinstance(run, Run) else find_run(run)
    config = run.config()
    pairs = load_split(config.data, config.seed, split)
    if run.data_fingerprint(split) not in (None, fingerprint(pairs)):
        on_warning(
            f"the {split} pairs are not those that were set aside when {run.name} was trained: "
            "it may have seen some of them"
        )
    translator = Translator.load(run, on_warning, checkpoint)
    show = on_progress or (lambda _what, _done, _total: None)
    loss, accuracy = _likelihood(translator, pairs, config.batch.sentences, show)
    started = time.perf_counter()
    translations = _translate(translator, pairs, show)
    seconds = time.perf_counter() - started
    return Evaluation(
        run=run.name,
        split=split,
        num_pairs=len(pairs),
        loss=loss,
        accuracy=accuracy,
        scores=score_translations(translations, pairs, translator),
        num_cut=sum(not translation.is_complete for translation in translations),
        num_sources_cut=sum(translation.is_source_cut for translation in translations),
        seconds=seconds,
    )


def score_translations(
    translations: Sequence[Translation], pairs: Sequence[SentencePair], translator: Translator
) -> list[Score]:
    """BLEU and chrF of translations against the references of the pairs.

    Detokenised always; on the corpus' own tokens too where the corpus comes tokenised.
    """
    data = translator.config.data
    preparation = TextPreparation(data)
    references = [preparation.finish(reference, data.target_language) for _, reference in pairs]
    scores = detokenised_scores([translation.text for translation in translations], references)
    if spacing(data) == "none":
        return scores
    raw = [translation.raw for translation in translations]
    return scores + tokenised_scores(raw, [reference for _, reference in pairs])


def _likelihood(
    translator: Translator, pairs: Sequence[SentencePair], sentences: int, show: Progress
) -> tuple[float, float]:
    """Mean loss and accuracy over the real target tokens."""
    encoded, _ = encode_pairs(translator.tokenizers, pairs, translator.config.model.max_positions)
    score = compile_token_sums(translator.engine.model)
    total = num_batches(encoded, sentences)
    sums = TokenSums(0.0, 0.0, 0.0)
    for done, (source, target) in enumerate(sorted_batches(encoded, sentences), 1):
        sums = sums.plus(score(source, target))
        show("scoring references", done, total)
    return sums.loss / sums.tokens, sums.correct / sums.tokens


def _translate(translator: Translator, pairs: Sequence[SentencePair], show: Progress) -> list[Translation]:
    sources = [source for source, _ in pairs]
    translations: dict[int, Translation] = {}
    for batch in translator.translate_batches(sources, sources):
        translations |= batch
        show("translating", len(translations), len(sources))
    return [translations[row] for row in range(len(sources))]
