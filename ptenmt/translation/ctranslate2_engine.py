"""The production engine: CTranslate2, which needs neither TensorFlow nor Keras."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import ctranslate2

from ptenmt.config import DecodingConfig
from ptenmt.cores import available_cores
from ptenmt.errors import ConfigError, ExportError
from ptenmt.export.ctranslate2 import CTranslate2Export, nearest_quantization
from ptenmt.tokenizers import PAD, SPECIAL_PIECES, START, TokenizerPair
from ptenmt.translation.engine import Found, Hypothesis
from ptenmt.translation.windows import BATCH_SENTENCES, BATCH_TOKENS

if TYPE_CHECKING:
    import numpy as np

QUEUED_BATCHES = 8
"""A thread's share of what is given to CTranslate2 at a time: enough that none idles while texts are read."""

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.01  # seconds


class CTranslate2Engine:
    """Translates ids to ids with an exported model; several batches at a time.

    Args:
        export: The model.
        tokenizers: Of both languages: CTranslate2 knows pieces, not ids.
        with_unknown: Whether [UNK] may be produced.
        device: ``cpu``, ``cuda`` or ``auto``.
        threads: How many batches are translated at a time, a thread each; by default as many as this process
            may use cores.

    Raises:
        ConfigError: This machine has no such device.
        ExportError: CTranslate2 cannot use the export.
    """

    name = "ctranslate2"
    batch_sentences, batch_tokens = BATCH_SENTENCES, BATCH_TOKENS

    def __init__(
        self,
        export: CTranslate2Export,
        tokenizers: TokenizerPair,
        *,
        with_unknown: bool,
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self._export, self._tokenizers, self._device = export, tokenizers, device
        self._with_unknown = with_unknown
        self._source_pieces = tokenizers.source.pieces(range(tokenizers.source.vocabulary_size))
        self._target_pieces = tokenizers.target.pieces(range(tokenizers.target.vocabulary_size))
        self._target_ids = {piece: token for token, piece in enumerate(self._target_pieces)}
        threads = threads or available_cores()
        self.queue = QUEUED_BATCHES * threads
        self.compute_type = nearest_quantization(export.facts.quantization, _compute_types(device))
        self.identity = (
            f"ctranslate2 {ctranslate2.__version__} {device} {self.compute_type} {export.facts.weights}"
        )
        try:
            self._translator = ctranslate2.Translator(
                export.facts.weights,
                device,
                compute_type=self.compute_type,
                inter_threads=threads,
                intra_threads=1,  # several batches at a time are far faster than several threads a batch
                # One more would be waited for where no signal is heard; with attention each sentence is one.
                max_queued_batches=(self.queue + 1) * self.batch_sentences,
                files=export.files,
            )
        except (RuntimeError, ValueError) as error:
            raise ExportError(f"CTranslate2 cannot use the export: {_line(error)}") from error

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        limit: int,
        options: DecodingConfig,
        *,
        prefixes: Sequence[Sequence[int]] = (),
        branches: int = 0,
        with_attention: bool = False,
        with_scores: bool = True,
    ) -> Callable[[], list[Found]]:
        """Begin to translate a batch; see ``Engine.submit``."""
        # Greedy search with a coverage penalty would look for attention that was not asked for.
        needs_attention = with_attention or options.coverage_penalty != 0
        changes = {"num_hypotheses": branches, "return_alternatives": True, "length_penalty": 0.0}
        answers = self._translator.translate_batch(
            [[self._source_pieces[token] for token in ids] for ids in sources],
            [[self._target_pieces[token] for token in ids] for ids in prefixes] or None,
            asynchronous=True,
            max_decoding_length=limit,
            return_attention=needs_attention,
            return_scores=with_scores,
            # Several beams of several sentences get the first token's attention from one another.
            max_batch_size=1 if needs_attention and options.beam_size > 1 else 0,
            **self._options(options) | (changes if branches else {}),
        )

        def wait() -> list[Found]:
            found = [self._hypotheses(_waited_for(answer), with_attention) for answer in answers]
            return [_of_one_scale(each, options) for each in found] if branches else found

        return wait

    def seeded(self, seed: int) -> Self:
        """One with a single thread, whose random numbers begin anew."""
        ctranslate2.set_random_seed(seed)  # obeyed by threads that are yet to start
        return type(self)(
            self._export, self._tokenizers, with_unknown=self._with_unknown, device=self._device, threads=1
        )

    def _options(self, options: DecodingConfig) -> dict[str, Any]:
        """Our options as CTranslate2 names them."""
        return {
            "beam_size": options.beam_size,
            "num_hypotheses": options.num_hypotheses,
            "length_penalty": options.length_penalty,
            "coverage_penalty": options.coverage_penalty,
            "repetition_penalty": options.repetition_penalty,
            "no_repeat_ngram_size": options.no_repeat_ngram,
            "sampling_topk": min(options.top_k, len(self._target_pieces)),
            "sampling_topp": options.top_p,
            "sampling_temperature": options.temperature,
            "disable_unk": not self._with_unknown,
            "suppress_sequences": [[SPECIAL_PIECES[PAD]], [SPECIAL_PIECES[START]]],
            "min_decoding_length": 0,  # 1 by default: nothing is never said
            "max_input_length": 0,  # no source is longer than the model can read
            "return_end_token": True,
        }

    def _hypotheses(self, result: Any, with_attention: bool) -> Found:
        found = result.hypotheses  # each reading copies it
        attention = result.attention if with_attention else [None] * len(found)
        scores = result.scores or [math.nan] * len(found)
        return [
            Hypothesis(
                [START, *map(self._target_ids.__getitem__, pieces)],
                score,
                None if weights is None else _array(weights),
            )
            for pieces, score, weights in zip(found, scores, attention, strict=True)
        ]


def _of_one_scale(branches: Found, options: DecodingConfig) -> Found:
    """Branches with the score that other hypotheses have; theirs is the sum alone."""
    return [
        replace(branch, score=branch.score / max(len(branch.ids) - 1, 1) ** options.length_penalty)
        for branch in branches
    ]


def _array(weights: list[list[float]]) -> "np.ndarray":
    import numpy as np  # 70 ms: only those wait who asked for attention

    return np.array(weights)


def _waited_for(answer: Any) -> Any:
    """The result, once it is there; CTranslate2's own waiting would not hear Ctrl-C."""
    pause = _SHORTEST_PAUSE
    while not answer.done():
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)
    try:
        return answer.result()
    except (RuntimeError, ValueError) as error:
        raise ExportError(f"CTranslate2 cannot translate: {_line(error)}") from error


def _compute_types(device: str) -> set[str]:
    try:
        types: set[str] = ctranslate2.get_supported_compute_types(device)
    except (RuntimeError, ValueError) as error:
        raise ConfigError(
            f"CTranslate2 cannot compute on device {device}: {_line(error)}", "use the device cpu"
        ) from error
    return types


def _line(error: Exception) -> str:
    return str(error).splitlines()[0]
