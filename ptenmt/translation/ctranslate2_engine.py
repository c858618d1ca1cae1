"""The production engine: CTranslate2, without TensorFlow or Keras."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import ctranslate2

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import DecodingConfig
from ptenmt.errors import ConfigError, ExportError, PtenmtError
from ptenmt.model.ctranslate2_model import CTranslate2Model, nearest_quantization
from ptenmt.processes import available_cores
from ptenmt.tokenizers import PAD, SPECIAL_PIECES, START, TokenizerPair
from ptenmt.translation.engine import (
    BATCH_SENTENCES,
    BATCH_TOKENS,
    Hypothesis,
    PendingHypotheses,
    SearchRequest,
    attention_by_prefixes,
    with_attention,
)

if TYPE_CHECKING:
    import numpy as np

PENDING_BATCHES_PER_THREAD = 8
"""Enough that no thread idles while texts are read."""


class CTranslate2Engine:
    """Translates token ids with an exported model, several batches in parallel.

    CTranslate2 takes tokens, not ids: hence the tokenizers. ``with_unknown``: [UNK] may be generated.
    ``device`` is ``cpu``, ``cuda`` or ``auto``; ConfigError if this machine has no such device. Each of
    ``threads``, by default one per core, translates a batch.
    """

    name = "ctranslate2"
    batch_sentences, batch_tokens = BATCH_SENTENCES, BATCH_TOKENS

    def __init__(
        self,
        model: CTranslate2Model,
        tokenizers: TokenizerPair,
        *,
        with_unknown: bool,
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self._model, self._tokenizers, self._device = model, tokenizers, device
        self._with_unknown = with_unknown
        self._source_tokens = tokenizers.source.vocabulary
        self._target_tokens = tokenizers.target.vocabulary
        self._target_ids = {piece: token for token, piece in enumerate(self._target_tokens)}
        self._threads = threads or available_cores()
        self.max_pending_batches = PENDING_BATCHES_PER_THREAD * self._threads
        self.alignment_layer = model.alignment_layer
        # How many tokens at the start and at the end of a source the model does not read.
        self._unread = (int(model.source_marks != "both"), int(model.source_marks == "none"))
        with _errors(ConfigError, f"compute on device {device}", "use the device cpu"):
            compute_types = ctranslate2.get_supported_compute_types(device)
        self.compute_type = nearest_quantization(model.quantization, compute_types)
        self.identity = f"ctranslate2 {ctranslate2.__version__} {device} {self.compute_type} {model.weights}"
        self._translator = self._loaded()

    def _loaded(self) -> ctranslate2.Translator:
        """CTranslate2's translator; of files in memory it would keep a copy, so it reads a folder."""
        if self._model.folder is None:
            with temporary_folder() as folder:
                for name, content in self._model.files.items():
                    (folder / name).write_bytes(content)
                return self._of_folder(folder)
        translator = self._of_folder(self._model.folder)
        if self._model.folder.stat().st_ino != self._model.inode:
            raise ExportError(f"{self._model.folder} was replaced by a training", "run the command again")
        return translator

    def _of_folder(self, folder: Path) -> ctranslate2.Translator:
        with _errors(ExportError, "use the model"):
            return ctranslate2.Translator(
                str(folder),
                self._device,
                compute_type=self.compute_type,
                inter_threads=self._threads,
                intra_threads=1,  # batches in parallel are far faster than several threads for a batch
                # A full queue would block without handling signals. With attention every sentence is a batch.
                max_queued_batches=(self.max_pending_batches + 1) * self.batch_sentences,
            )

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        """Start to translate a batch."""
        options = request.options
        # With several beams and several sentences, CTranslate2 mixes up the first token's attention: beam
        # search is followed by a pass for it.
        has_attention = request.with_attention and options.beam_size == 1
        arguments = self._arguments(options)
        if request.next_token_alternatives:
            arguments |= {
                "num_hypotheses": request.next_token_alternatives,
                "return_alternatives": True,
                "length_penalty": 0.0,
            }
        pending = self._translator.translate_batch(
            self._read(request.sources),
            [[self._target_tokens[token] for token in ids] for ids in request.target_prefixes] or None,
            asynchronous=True,
            max_decoding_length=request.max_length,
            return_attention=has_attention,
            return_scores=request.with_scores,
            **arguments,
        )

        def wait() -> list[list[Hypothesis]]:
            penalty = options.length_penalty if request.next_token_alternatives else 0.0
            hypotheses = [self._hypotheses(_result(result), has_attention, penalty) for result in pending]
            if not request.with_attention or has_attention:
                return hypotheses
            return with_attention(self, request.sources, hypotheses)

        return wait

    def attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> "list[np.ndarray]":
        """The attention with which the decoder is fed targets; see ``Engine``."""
        return attention_by_prefixes(self, sources, targets)

    def seeded(self, seed: int) -> Self:
        """A new engine with a single thread and this seed."""
        ctranslate2.set_random_seed(seed)  # affects only threads that start later
        return type(self)(
            self._model, self._tokenizers, with_unknown=self._with_unknown, device=self._device, threads=1
        )

    def _read(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        """The tokens that the model reads of sources, whose ids are from [START] to [END]."""
        start, end = self._unread
        return [[self._source_tokens[token] for token in ids[start : len(ids) - end]] for ids in sources]

    def _arguments(self, options: DecodingConfig) -> dict[str, Any]:
        """CTranslate2's names of the options; it implements beam search, penalties and sampling."""
        return {
            "beam_size": options.beam_size,
            "num_hypotheses": options.num_hypotheses,
            "length_penalty": options.length_penalty,
            "repetition_penalty": options.repetition_penalty,
            "no_repeat_ngram_size": options.no_repeat_ngram,
            "sampling_topk": min(options.top_k, len(self._target_tokens)),
            "sampling_topp": options.top_p,
            "sampling_temperature": options.temperature,
            "disable_unk": not self._with_unknown,
            "use_vmap": True,  # if the model has one
            "suppress_sequences": [[SPECIAL_PIECES[PAD]], [SPECIAL_PIECES[START]]],
            "min_decoding_length": 0,  # the default, 1, forbids empty translations
            "max_input_length": 0,  # sources are segmented already
            "return_end_token": True,
        }

    def _hypotheses(self, result: Any, has_attention: bool, length_penalty: float) -> list[Hypothesis]:
        """Convert a result, and divide its scores by length ** ``length_penalty``."""
        hypotheses = result.hypotheses  # every access copies it
        attention: list[Any] = [None] * len(hypotheses)
        if has_attention:
            import numpy as np  # takes 70 ms to import, and only attention needs it

            unread = ((0, 0), self._unread)
            attention = [np.pad(np.array(weights), unread) for weights in result.attention]
        scores = result.scores or [math.nan] * len(hypotheses)
        return [
            Hypothesis(
                [START, *map(self._target_ids.__getitem__, tokens)],
                score / max(len(tokens), 1) ** length_penalty,
                weights,
            )
            for tokens, score, weights in zip(hypotheses, scores, attention, strict=True)
        ]


def _result(pending: Any) -> Any:
    """Wait for a result. CTranslate2's own wait blocks Ctrl-C until the batch is done, so poll instead."""
    pause = 0.0002  # seconds
    while not pending.done():
        time.sleep(pause)
        pause = min(1.5 * pause, 0.01)
    with _errors(ExportError, "translate"):
        return pending.result()


@contextmanager
def _errors(kind: type[PtenmtError], task: str, hint: str = "") -> Iterator[None]:
    """Raise errors of CTranslate2 as ours, with the first line of its message."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise kind(f"CTranslate2 cannot {task}: {str(error).splitlines()[0]}", hint) from error
