"""Scoring a run on validation or test pairs."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ptenmt.config import Config
from ptenmt.corpus.batches import num_batches, sorted_batches
from ptenmt.corpus.encoding import encode_pairs
from ptenmt.corpus.pairs import HeldOutSplit, SentencePair, fingerprint, load_split
from ptenmt.corpus.text import TextPreparation, spacing
from ptenmt.evaluation.likelihood import compile_token_sums
from ptenmt.evaluation.scores import Score, detokenised_scores, tokenised_scores
from ptenmt.model import TokenSums, Transformer
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.translation import Translation, Translator
from ptenmt.translation.loading import EngineName, Loader

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
    num_split: int
    """Sentences longer than the model's positions, translated in parts."""
    engine: str
    """What translated: ``ctranslate2`` or ``keras``."""
    compute_type: str
    """What it computed in, such as ``int8``."""
    beam_size: int
    """1: greedily."""
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
    checkpoint: Choice = "best",
    engine: EngineName = "auto",
    beam_size: int | None = None,
    on_progress: Progress | None = None,
    on_warning: Callable[[str], None] = warnings.warn,
) -> Evaluation:
    """Score a trained run.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        split: Which pairs of the run's own data.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        engine: What translates, as for ``Translator.load``; loss and accuracy are the Keras model's always.
        beam_size: How many beams; by default as ``decoding.beam_size`` says.
        on_progress: Told how far it is.
        on_warning: Told of a damaged checkpoint that was passed over for an older one.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no checkpoint that can be read.
        DataError: Its data cannot be read any more.
        ExportError: The engine cannot express the model.
        ConfigError: The beam size does not go with the other options of the section ``decoding``.
    """
    run = run if isinstance(run, Run) else find_run(run)
    config = run.config()
    check_task(run, config.task, "translation")
    pairs = _load_pairs(run, config, split, on_warning)
    loader = Loader(run, config, load_tokenizers(run.tokenizer_folder), checkpoint, on_warning)
    translator = Translator(loader.engine(engine), loader.tokenizers, config)
    beams = {} if beam_size is None else {"beam_size": beam_size}
    translator = translator.with_options(num_hypotheses=1, **beams)
    show = on_progress or (lambda _what, _done, _total: None)
    loss, accuracy = _likelihood(loader.model, loader.tokenizers, pairs, config, show)
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
        num_split=sum(translation.is_split for translation in translations),
        engine=translator.engine.name,
        compute_type=translator.engine.compute_type,
        beam_size=translator.config.decoding.beam_size,
        seconds=seconds,
    )


def _load_pairs(
    run: Run, config: Config, split: HeldOutSplit, on_warning: Callable[[str], None]
) -> list[SentencePair]:
    """The pairs; that they are other ones than were set aside is told."""
    pairs = load_split(config.data, config.seed, split)
    if run.data_fingerprint(split) not in (None, fingerprint(pairs)):
        on_warning(
            f"the {split} pairs are not those that were set aside when {run.name} was trained: "
            "it may have seen some of them"
        )
    return pairs


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
    model: Transformer,
    tokenizers: TokenizerPair,
    pairs: Sequence[SentencePair],
    config: Config,
    show: Progress,
) -> tuple[float, float]:
    """Mean loss and accuracy over the real target tokens."""
    encoded, _ = encode_pairs(tokenizers, pairs, config.model.max_positions)
    score = compile_token_sums(model)
    total = num_batches(encoded, config.batch.sentences)
    sums = TokenSums(0.0, 0.0, 0.0)
    for done, (source, target) in enumerate(sorted_batches(encoded, config.batch.sentences), 1):
        sums = sums.plus(score(source, target))
        show("scoring references", done, total)
    return sums.loss / sums.tokens, sums.correct / sums.tokens


def _translate(translator: Translator, pairs: Sequence[SentencePair], show: Progress) -> list[Translation]:
    translations: dict[int, Translation] = {}
    for found in translator.translate_prepared([source for source, _ in pairs]):
        translations |= found
        show("translating", len(translations), len(pairs))
    return [translations[row] for row in range(len(pairs))]
