"""Whether the CTranslate2 engine gives the same translations as the Keras engine, the reference.

Translates the run's test pairs with both engines, with greedy search and with beam 4, and compares the
log-probabilities of given translations. Where greedy translations differ, it reports the difference between
the two tokens' logits of the Keras model. The float32 and int8 models are converted in memory; the run is not
changed.

    python benchmarks/parity.py --run DIR/base [--data-dir DIR]
"""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import ctranslate2
import numpy as np
import tensorflow as tf
from baselines.criteria import Criterion, at_least, at_most, print_criteria, print_table
from baselines.machine import describe, same_command

from ptenmt.data.batches import encode_pairs, sorted_batches
from ptenmt.data.corpus import load_split
from ptenmt.data.readers import SentencePair
from ptenmt.evaluation.test_sets import TestSet
from ptenmt.model.ctranslate2_model import CTranslate2Model, convert
from ptenmt.model.transformer import Transformer
from ptenmt.runs import find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.scores import Scorer
from ptenmt.tokenizers import PAD, UNK, TokenizerPair, frame, suppressed_ids
from ptenmt.translation import Translation, Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine, available_cores

BEAMS = (1, 4)
BATCH = 32
REFERENCE = "Keras"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", help="the trained run (default: the latest)")
    parser.add_argument("--data-dir", help="TFDS folder with the run's corpus, if it was moved")
    parser.add_argument("--sentences", type=int, help="use only the first N test pairs")
    return parser.parse_args()


@dataclass(frozen=True)
class EngineResult:
    """One engine's translations of the test pairs."""

    translations: dict[int, list[Translation]]
    """By beam size."""
    bleu: dict[int, dict[str, float]]
    """By beam size, then by form of the text."""


class Difference(NamedTuple):
    """The first difference between two greedy translations."""

    sentence: int
    position: int
    """Position of the first different token, without [START]."""
    tokens: tuple[str, str]
    """The reference's token and the other engine's."""
    gap: float
    """Difference between the logits of the two tokens in the reference model."""


def translator_of(export: CTranslate2Model, reference: Translator) -> Translator:
    """A translator with a CTranslate2 engine."""
    config, tokenizers = reference.config, reference.tokenizers
    engine = CTranslate2Engine(export, tokenizers, with_unknown=UNK not in suppressed_ids(config.tokenizer))
    quantization = export.quantization
    assert engine.compute_type == quantization, f"{quantization} is not supported: {engine.compute_type}"
    return Translator(engine, tokenizers, config)


def translate(translator: Translator, pairs: Sequence[SentencePair]) -> EngineResult:
    result = EngineResult({}, {})
    test_set = TestSet.from_pairs(pairs, translator.config.data)
    for beam_size in BEAMS:
        # Second tries that avoid loops are for CTranslate2 only.
        options = replace(translator.config.decoding, beam_size=beam_size, safeguards=False)
        sources = [source for source, _ in pairs]
        translations = list(chain(*translator.translate_buffers(sources, options, is_prepared=True)))
        result.translations[beam_size] = translations
        hypotheses = test_set.hypotheses_from_translations(translations)
        result.bleu[beam_size] = {
            form: Scorer(form, references, ("BLEU",)).values(hypotheses.in_form(form))["BLEU"]
            for form, references in test_set.references_by_form.items()
        }
    return result


def share_identical(one: EngineResult, other: EngineResult, beam_size: int) -> float:
    """The share of sentences with identical tokens."""
    both = list(zip(one.translations[beam_size], other.translations[beam_size], strict=True))
    return sum(first.tokens == second.tokens for first, second in both) / len(both)


def differences(reference: Translator, one: EngineResult, other: EngineResult) -> Iterator[Difference]:
    """The first difference of each pair of greedy translations."""
    tokenizers, longest = reference.tokenizers, reference.config.model.max_positions
    target_pieces = tokenizers.target.pieces(range(tokenizers.target.vocabulary_size))
    ids = {piece: token for token, piece in enumerate(target_pieces)}
    both = zip(one.translations[1], other.translations[1], strict=True)
    for sentence, (first, second) in enumerate(both):
        if first.tokens == second.tokens:
            continue
        steps = zip(first.tokens, second.tokens, strict=False)
        position = next(place for place, (token, its) in enumerate(steps) if token != its)
        source = frame(tokenizers.source.encode([first.source])[0], longest)
        prefix = [ids[piece] for piece in first.tokens[:position]]
        logits = reference.engine.model((np.array([source]), np.array([prefix]))).numpy()[0, -1]
        tokens = first.tokens[position], second.tokens[position]
        gap = float(logits[ids[tokens[0]]] - logits[ids[tokens[1]]])
        yield Difference(sentence, position - 1, tokens, abs(gap))


def log_probabilities(model: Transformer) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function of source ids [B, S] and target ids [B, T + 1] that returns float32 [B, T]."""
    ids = tf.TensorSpec([None, None], tf.int64)

    @tf.function(input_signature=[ids, ids])
    def score(source, target):
        every = tf.nn.log_softmax(model((source, target[:, :-1])))
        return tf.gather(every, target[:, 1:], axis=2, batch_dims=2)

    return lambda source, target: score(source, target).numpy()


def largest_difference(
    reference: Translator, exports: dict[str, CTranslate2Model], texts: Sequence[SentencePair]
) -> dict[str, float]:
    """The largest difference between log-probabilities of target tokens, for each converted model."""
    tokenizers, longest = reference.tokenizers, reference.config.model.max_positions
    score = log_probabilities(reference.engine.model)
    encoded, _ = encode_pairs(tokenizers, texts, longest)
    threads = {"inter_threads": available_cores(), "intra_threads": 1}
    scorers = {
        name: ctranslate2.Translator(name, compute_type=name, files=export.files, **threads)
        for name, export in exports.items()
    }
    largest = dict.fromkeys(exports, 0.0)
    for source, target in sorted_batches(encoded, BATCH):
        expected = score(source, target)
        for name, scorer in scorers.items():
            found = scorer.score_batch(*_pieces(tokenizers, source, target), max_input_length=0)
            for row, result in enumerate(found):
                length = np.count_nonzero(target[row]) - 1
                gaps = np.abs(np.array(result.log_probs) - expected[row, :length])
                largest[name] = max(largest[name], float(gaps.max()))
    return largest


def _pieces(
    tokenizers: TokenizerPair, source: np.ndarray, target: np.ndarray
) -> tuple[list[list[str]], list[list[str]]]:
    """Tokens for ``score_batch``, which adds [START] and [END] to the targets itself."""
    sources = [tokenizers.source.pieces(row[row != PAD].tolist()) for row in source]
    return sources, [tokenizers.target.pieces(row[row != PAD][1:-1].tolist()) for row in target]


def table(results: dict[str, EngineResult], gaps: dict[str, dict[str, float]]) -> list[list[str]]:
    rows = [["", *results]]
    reference = results[REFERENCE]
    for beam_size in BEAMS:
        shares = [f"{share_identical(reference, each, beam_size):.2%}" for each in results.values()]
        rows.append([f"{_search(beam_size)}: same translation as Keras", *shares])
    for name, largest in gaps.items():
        values = [f"{largest[engine]:.1e}" if engine in largest else "–" for engine in results]
        rows.append([f"log-probabilities of the {name}: largest difference", *values])
    for beam_size in BEAMS:
        for text in reference.bleu[beam_size]:
            values = [f"{each.bleu[beam_size][text]:.2f}" for each in results.values()]
            rows.append([f"{_search(beam_size)}: BLEU {text}", *values])
    return rows


def criteria(
    results: dict[str, EngineResult], gaps: dict[str, dict[str, float]], differing: Sequence[Difference]
) -> Iterator[Criterion]:
    exact, small = results["float32"], results["int8"]
    share = 100 * share_identical(results[REFERENCE], exact, 1)
    yield at_least("float32 greedy = Keras greedy", share, 99.8, "{:.2f}% of sentences")
    gap = max((each.gap for each in differing), default=0.0)
    yield at_most("largest difference of logits at first differing tokens", gap, 1e-4, "{:.1e}")
    for name, largest in gaps.items():
        yield at_most(f"float32, log-probabilities of the {name}", largest["float32"], 1e-3, "{:.1e}")
    yield at_most("greedy: int8 − float32", _largest_gap(small, exact, 1), 0.3, "{:.2f} BLEU")
    yield at_most("beam 4: Keras − float32", _largest_gap(results[REFERENCE], exact, 4), 0.1, "{:.2f} BLEU")


def _largest_gap(one: EngineResult, other: EngineResult, beam_size: int) -> float:
    """The largest difference between BLEU scores."""
    return max(abs(value - other.bleu[beam_size][text]) for text, value in one.bleu[beam_size].items())


def _search(beam_size: int) -> str:
    return "greedy" if beam_size == 1 else f"beam {beam_size}"


def main() -> None:
    options = parse()
    run = find_run(options.run)
    config = run.config()
    data = replace(config.data, data_dir=options.data_dir) if options.data_dir else config.data
    pairs = load_split(data, config.seed, "test")[: options.sentences]
    reference = Translator.load(run, engine="keras")
    trained = TrainedModel.load(run)
    exports = {
        name: convert(config.model, trained.weights, reference.tokenizers, trained.info.checksum, name)
        for name in ("float32", "int8")
    }
    engines = {name: translator_of(export, reference) for name, export in exports.items()}
    results = {name: translate(each, pairs) for name, each in ({REFERENCE: reference} | engines).items()}
    own = [(done.source, done.raw) for done in results[REFERENCE].translations[1]]
    texts = {"references": pairs, "Keras translations": own}
    gaps = {name: largest_difference(reference, exports, each) for name, each in texts.items()}
    differing = list(differences(reference, results[REFERENCE], results["float32"]))
    print(f"{describe(None)}\n{same_command(for_page=True)}\nrun {run.name}, {len(pairs):,} test pairs\n")
    print_table(table(results, gaps))
    print_criteria(criteria(results, gaps, differing))
    for each in differing:
        here, there = each.tokens
        print(
            f"sentence {each.sentence}, token {each.position}: {here} or {there}, difference {each.gap:.1e}"
        )


if __name__ == "__main__":
    main()
