"""A translator in one file: a web page with the weights and an engine in JavaScript, which needs no network.

``web/`` has its sources, and ``server/page/`` what it shares with the server's page.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import numpy as np

from ptenmt.config import DecodingConfig
from ptenmt.data.text import spacing
from ptenmt.errors import ExportError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import suppressed_ids
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

ENGINE = ("tokenizer", "transformer", "search", "worker")
"""The modules of the page's worker, in their order."""
_MODULE_SYNTAX = re.compile(r"^import .*\n|^export ", re.MULTILINE)
_NOT_SEARCHED = ("coverage_penalty", "repetition_penalty", "no_repeat_ngram", "top_k")


def check_web(trained: TrainedModel) -> None:
    """Raise ExportError, with the reason, for a run that the page's engine cannot express."""
    config, kind = trained.config, trained.tokenizers.source.kind
    reason = why_not_ctranslate2(config.model)  # weights are in its layout
    if kind != "sentencepiece" or config.tokenizer.algorithm != "unigram":
        reason = (
            f"a web page has no tokenizer.kind={kind} with tokenizer.algorithm={config.tokenizer.algorithm}"
        )
    elif spacing(config.data) != "none":
        reason = f"a web page has no data.tokenization={spacing(config.data)}"
    for name in _NOT_SEARCHED:
        if (value := getattr(config.decoding, name)) != getattr(DecodingConfig(), name):
            reason = f"a web page has no decoding.{name}={value}"
    if reason:
        raise ExportError(reason, "export with another --format, such as ctranslate2")


def joined(folder: str, names: Iterable[str]) -> str:
    """JavaScript modules in one: no two may declare the same name."""
    texts = [(files("ptenmt") / folder / f"{name}.js").read_text("utf-8") for name in names]
    return _MODULE_SYNTAX.sub("", "".join(texts))


def model_parts(trained: TrainedModel) -> tuple[dict[str, Any], bytes]:
    """What the page's engine reads: tokens, options and an index of arrays; and the arrays, as in int8."""
    from ptenmt.model.ctranslate2_specification import specification

    config, pair = trained.config, trained.tokenizers
    spec = specification(config.model, trained.weights, pair, trained.alignment_layer)
    spec.validate()
    spec.optimize("int8")
    values = {name: value for name, value in spec.variables(ordered=True) if "position" not in name}
    arrays = {name: value.numpy() for name, value in values.items() if not isinstance(value, str)}
    tokenizers: list[dict[str, Any]] = []
    for tokenizer in dict.fromkeys((pair.source, pair.target)):
        assert isinstance(tokenizer, SentencePieceTokenizer)
        symbols = [tokenizer.vocabulary.index(symbol) for symbol in tokenizer.symbols]
        arrays[f"scores{len(tokenizers)}"] = np.array(tokenizer.scores, "float32")
        tokenizers.append({"pieces": tokenizer.vocabulary, "symbols": symbols})
    index: dict[str, list[int]] = {}
    content = bytearray()
    for name, array in sorted(arrays.items(), key=lambda item: item[1].ndim):  # float32 first, to be aligned
        if array.ndim:
            index[name] = [len(content), *array.shape]
            content += array.tobytes()
    target_ids = set(range(pair.target.vocabulary_size))
    never = set(suppressed_ids(config.tokenizer)) | (target_ids - set(trained.output_ids or target_ids))
    stacks = {name: getattr(config.model, name) for name in ("num_encoder_layers", "num_decoder_layers")}
    facts = {
        "languages": config.data.languages,
        "preparation": {"normalization": config.data.normalization, "lowercase": config.data.lowercase},
        "placeholders": config.data.augment.placeholders > 0,
        "tokenizers": tokenizers,
        "model": asdict(config.model) | stacks,
        "alignment_layer": trained.alignment_layer,
        "decoding": asdict(config.decoding),
        "never": sorted(never),
        "index": index,
        "aliases": {name: value for name, value in values.items() if isinstance(value, str)},
    }
    return facts, bytes(content)
