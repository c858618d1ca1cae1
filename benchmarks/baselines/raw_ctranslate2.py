"""Baseline: CTranslate2 alone, on prepared tokens; nothing is read, tokenized, detokenized or written."""

import time
from collections import defaultdict
from typing import NamedTuple

from baselines.translation_task import Measured, Task


class Setting(NamedTuple):
    """CTranslate2's options for batches."""

    batch_type: str
    max_batch_size: int

    def __str__(self) -> str:
        return f"{self.max_batch_size} {self.batch_type}"


SETTINGS = [
    *(Setting("examples", size) for size in (16, 32, 64, 128)),
    *(Setting("tokens", size) for size in (512, 1024, 2048, 4096)),
]
WARM_UP = 64


def translate_raw(task: Task, beam_size: int, repeat: int, setting: Setting) -> Measured:
    """Translate all sentences ``repeat`` times, with ptenmt's limits and suppressed tokens.

    A call has one length limit for all its segments. So there is one asynchronous call for each limit, and
    the longest sentences come first, so that all threads end at about the same time. Copies of a sentence are
    not adjacent, as in a file that repeats all sentences: the hypotheses of a batch of copies would all end
    at the same step, which takes 7% less time than different sentences.
    """
    import ctranslate2

    from ptenmt.translation.ctranslate2_engine import available_cores

    translator = ctranslate2.Translator(
        task.export_folder,
        inter_threads=available_cores(),
        intra_threads=1,
        max_queued_batches=-1,
    )
    options = {
        "beam_size": beam_size,
        "disable_unk": not task.has_unknown,
        "suppress_sequences": [["[PAD]"], ["[START]"]],
        "min_decoding_length": 0,
        "max_input_length": 0,
        "return_end_token": True,
        "max_batch_size": setting.max_batch_size,
        "batch_type": setting.batch_type,
    }
    calls: dict[int, list[list[str]]] = defaultdict(list)
    for segment in task.segments() * repeat:
        calls[segment.limit].append(segment.pieces)
    translator.translate_batch(next(iter(calls.values()))[-WARM_UP:], **options)
    started = time.perf_counter()
    answers = [
        answer
        for limit, pieces in calls.items()
        for answer in translator.translate_batch(
            pieces, max_decoding_length=limit, asynchronous=True, **options
        )
    ]
    tokens = sum(len(answer.result().hypotheses[0]) for answer in answers)
    return Measured(len(task.sentences(repeat)), time.perf_counter() - started, tokens)
