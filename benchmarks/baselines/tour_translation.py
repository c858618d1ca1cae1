"""Baseline: the decoding loop of docs/tour/transformer.py: a sentence at a time, no cache, nothing compiled.

It uses the run's weights. If the file's model cannot represent the run (other norms or activations, tied
embeddings), the loop runs ptenmt's model.
"""

import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from baselines.translation_task import Measured, Task


def translate_with_tour(task: Task, num_sentences: int) -> Measured:
    """Translate a sample, evenly spread over the sentences sorted by length."""
    sys.path.append(str(Path(__file__).parent))  # the other programs run in this folder
    from tour_training import load_tour

    segments = task.segments()
    step = max(1, len(segments) // num_sentences)
    sample = segments[step // 2 :: step][:num_sentences]
    tour = load_tour()
    model = _model(tour, task.run)
    tour.translate(model, np.array([sample[-1].ids]), max_length=2)  # warm-up
    started = time.perf_counter()
    tokens = sum(
        len(tour.translate(model, np.array([segment.ids]), max_length=segment.limit)) - 1
        for segment in sample
    )
    return Measured(len(sample), time.perf_counter() - started, tokens)


def _model(tour: ModuleType, name: str) -> Any:
    """The file's model with the weights of a run, or the run's own."""
    from task import Sizes
    from tour_training import tour_model

    from ptenmt.runs import find_run
    from ptenmt.translation import Translator

    config = find_run(name).config().model
    ours = Translator.load(name, engine="keras").engine.model
    kind = config.norm, config.activation, config.tied_embeddings, config.key_size, config.value_size
    if kind != ("post", "relu", "none", None, None):
        return ours
    tables = ours.encoder.embedding.embedding, ours.decoder.embedding.embedding
    sizes = Sizes(
        num_layers=config.num_layers,
        d_model=config.d_model,
        d_ff=config.d_ff,
        num_heads=config.num_heads,
        dropout=config.dropout,
        max_positions=config.max_positions,
        source_vocabulary=tables[0].input_dim,
        target_vocabulary=tables[1].input_dim,
    )
    model = tour_model(tour, sizes)
    model((np.ones((1, 2), int), np.ones((1, 2), int)))
    weights = {variable.path.replace("/norm/", "/"): variable for variable in ours.trainable_variables}
    for variable in model.trainable_variables:
        variable.assign(weights[variable.path])
    return model
