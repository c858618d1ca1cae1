"""Baseline: the tutorial's decoding loop: one sentence at a time, no key-value cache, nothing compiled.

It uses the run's weights. If the tutorial's model cannot represent the run (other norms or activations, tied
embeddings), the loop runs ptenmt's model.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baselines.translation_task import Measured, Segment, Task

PAD, UNK, START, END = 0, 1, 2, 3

Model = Callable[[Any, Any], Any]
"""``model(source [1, S], target [1, T]) -> logits [1, T, V]``"""


def translate_with_tutorial_loop(task: Task, num_sentences: int) -> Measured:
    """Translate a sample, evenly spread over the sentences sorted by length."""
    segments = task.segments()
    step = max(1, len(segments) // num_sentences)
    sample = segments[step // 2 :: step][:num_sentences]
    suppressed = [PAD, START] if task.has_unknown else [PAD, UNK, START]
    model = _model(task.run)
    evaluate(model, sample[-1]._replace(limit=2), suppressed)  # warm-up
    started = time.perf_counter()
    tokens = sum(len(evaluate(model, segment, suppressed)) - 1 for segment in sample)
    return Measured(len(sample), time.perf_counter() - started, tokens)


def evaluate(model: Model, segment: Segment, suppressed: list[int]) -> list[int]:
    """The ids of a translation, [START] first."""
    import tensorflow as tf

    source = tf.constant([segment.ids], tf.int64)
    output = tf.constant([[START]], tf.int64)
    for _ in range(segment.limit):
        last = model(source, output)[:, -1].numpy()
        last[:, suppressed] = float("-inf")
        predicted = tf.argmax(last, axis=-1)
        output = tf.concat([output, predicted[:, tf.newaxis]], axis=-1)
        if predicted[0] == END:
            break
    return output[0].numpy().tolist()


def _model(name: str) -> Model:
    from ptenmt.runs import find_run
    from ptenmt.translation import Translator

    run = find_run(name)
    config = run.config().model
    transformer = Translator.load(run, engine="keras").engine.model
    kind = config.norm, config.activation, config.tied_embeddings, config.key_size, config.value_size
    if kind != ("post", "relu", "none", None, None):
        return lambda source, target: transformer((source, target), training=False)
    tutorial = _tutorial_model(config, transformer)
    return lambda source, target: tutorial((source, target), training=False)[0]


def _tutorial_model(config: Any, transformer: Any) -> Any:
    """The tutorial's model with the weights of ptenmt's model."""
    import tensorflow as tf

    sys.path.append(str(Path(__file__).parent))  # the other programs run in this folder
    from task import Sizes
    from tutorial_model import TutorialTransformer

    tables = transformer.encoder.embedding.embedding, transformer.decoder.embedding.embedding
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
    model = TutorialTransformer(sizes)
    model((tf.ones((1, 2), tf.int64), tf.ones((1, 2), tf.int64)))
    _copy(model.source_embedding.words, tables[0])
    _copy(model.target_embedding.words, tables[1])
    _copy(model.final, transformer.final)
    for layer, block in zip(model.encoder_layers, transformer.encoder.blocks, strict=True):
        _copy_attention(layer.attention, block.self_attention)
        _copy_rest(layer, block, [block.self_attention_norm, block.feed_forward_norm])
    for layer, block in zip(model.decoder_layers, transformer.decoder.blocks, strict=True):
        _copy_attention(layer.self_attention, block.self_attention)
        _copy_attention(layer.cross_attention, block.cross_attention)
        norms = [block.self_attention_norm, block.cross_attention_norm, block.feed_forward_norm]
        _copy_rest(layer, block, norms)
    return model


def _copy_attention(layer: Any, attention: Any) -> None:
    _copy(layer.to_query, attention.query_projection)
    _copy(layer.to_key, attention.key_projection)
    _copy(layer.to_value, attention.value_projection)
    _copy(layer.to_output, attention.output_projection)


def _copy_rest(layer: Any, block: Any, norms: list[Any]) -> None:
    """The feed-forward layer and the norms."""
    expand, contract = layer.feed_forward.layers
    _copy(expand, block.feed_forward.expand)
    _copy(contract, block.feed_forward.contract)
    for norm, ours in zip(layer.norms, norms, strict=True):
        _copy(norm, ours.norm)


def _copy(layer: Any, ours: Any) -> None:
    layer.set_weights(ours.get_weights())
