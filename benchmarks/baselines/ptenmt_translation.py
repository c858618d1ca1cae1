"""System under test: ptenmt's engines through ``Translator``, from sentences to translations."""

import time
from dataclasses import replace

from baselines.translation_task import Measured, Task

WARM_UP = 64


def translate_with(task: Task, engine: str, beam_size: int, repeat: int) -> Measured:
    """Translate all sentences ``repeat`` times; loading and compiling are not counted."""
    from ptenmt.translation import Translator

    translator = Translator.load(task.run, engine=engine)
    sentences = task.sentences(repeat)
    options = replace(translator.config.decoding, beam_size=beam_size)
    translator.translate(sentences[:WARM_UP], options)
    started = time.perf_counter()
    tokens = sum(len(done.tokens) - 1 for done in translator.translate(sentences, options))
    return Measured(len(sentences), time.perf_counter() - started, tokens)
