"""Folders for Hugging Face's transformers: weights, configs and a tokenizer.

Pre-norm is its class Pegasus, post-norm its class Marian. Both have their sines in the first half of a
position, and layer norms with an epsilon of 1e-5.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from ptenmt.config import Config
from ptenmt.errors import ExportError
from ptenmt.export.argos import with_preparation
from ptenmt.export.card import json_file, lacking, never_generated
from ptenmt.model.layouts import in_hugging_face, in_order, interleaving, variable_shapes
from ptenmt.model.numpy_transformer import positional_encoding
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, PAD, SPECIAL_PIECES, START, UNK, suppressed_ids
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_NEVER = -1e9
"""Logit of tokens that are never generated."""


def check_hugging_face(trained: TrainedModel) -> None:
    """Raise ExportError, with the reason, for a run that no class of transformers can express."""
    config, tokenizer = trained.config, trained.tokenizers.source
    model, is_imported = config.model, isinstance(tokenizer, ImportedTokenizer)
    even, algorithm = model.d_model // model.num_heads, config.tokenizer.algorithm
    tag = tokenizer.tag if isinstance(tokenizer, ImportedTokenizer) else ""
    missing = lacking(config, known=("no_repeat_ngram",))
    is_own = isinstance(tokenizer, SentencePieceTokenizer) and trained.tokenizers.shared
    reasons = {
        f"model.activation={model.activation}": model.activation == "swiglu",
        f"model.positions={model.positions}": model.positions == "none",
        f"model.key_size={model.key_size}": model.key_size not in (None, even),
        f"model.value_size={model.value_size}": model.value_size not in (None, even),
        f"model.tied_embeddings={model.tied_embeddings}": model.tied_embeddings != "all",
        f"model.source_marks={model.source_marks}": model.source_marks != ("end" if is_imported else "both"),
        f"model.norm={model.norm} of an imported model": is_imported and model.norm == "pre",
        f"tokenizer.kind={tokenizer.kind}, tokenizer.shared={str(trained.tokenizers.shared).lower()}": not (
            is_own or is_imported
        ),
        f"tokenizer.algorithm={algorithm}": is_own and algorithm != "unigram",
        f"the tag {tag}, which is not like >>por<<,": bool(tag)
        and not (tag[:2] == ">>" and tag[-2:] == "<<"),
        missing: bool(missing),
    }
    if wrong := [reason for reason, holds in reasons.items() if holds]:
        raise ExportError(
            f"no class of transformers has {wrong[0]}",
            "export with --format weights, for any framework, or train with --set tokenizer.shared=true "
            "--set model.tied_embeddings=all",
        )


def hugging_face_files(trained: TrainedModel) -> dict[str, bytes]:
    """The files of a folder that transformers loads; the run is one that ``check_hugging_face`` accepts."""
    config, tokenizer = trained.config, trained.tokenizers.source
    target = trained.tokenizers.target
    size = tokenizer.vocabulary_size
    rows, pad, end, start = np.arange(size), PAD, END, START
    if isinstance(tokenizer, ImportedTokenizer) and isinstance(target, ImportedTokenizer):
        rows = np.array([END, UNK, *range(len(SPECIAL_PIECES), size), START])  # as Marian orders them
        pad = start = len(rows) - 1
        end = 0
        files = _marian_tokenizer(tokenizer, target, rows)
    else:
        assert isinstance(tokenizer, SentencePieceTokenizer)
        if config.model.norm == "pre":
            rows[PAD], start = START, PAD  # CTranslate2's converter starts Pegasus from [PAD]
        files = _unigram_tokenizer(tokenizer, config)
    special = {"pad_token_id": pad, "eos_token_id": end, "decoder_start_token_id": start}
    generation = {
        "num_beams": config.decoding.beam_size,
        "length_penalty": config.decoding.length_penalty,
        "early_stopping": True,
        "max_length": config.model.max_positions,
        "no_repeat_ngram_size": config.decoding.no_repeat_ngram,
        "suppress_tokens": np.flatnonzero(np.isin(rows, never_generated(trained))).tolist(),
        "renormalize_logits": True,
        "forced_eos_token_id": None,
        **special,
    }
    return {
        **files,
        "config.json": json_file(_model_config(config, len(rows)) | special | {"forced_eos_token_id": None}),
        "generation_config.json": json_file(generation),
        "model.safetensors": _weights(trained, rows),
    }


def metadata(trained: TrainedModel) -> str:
    """The head of a model card for Hugging Face's hub, in YAML."""
    facts: dict[str, Any] = {
        "language": list(trained.config.data.languages),
        "license": trained.run.licence.lower().replace(" ", "-") or "other",
        "library_name": "transformers",
        "pipeline_tag": "translation",
        "tags": ["translation", "ptenmt"],
    }
    return f"---\n{yaml.safe_dump(facts, sort_keys=False, allow_unicode=True)}---\n\n"


def _model_config(config: Config, size: int) -> dict[str, Any]:
    model, is_pre = config.model, config.model.norm == "pre"
    stacks = {"encoder": model.num_encoder_layers, "decoder": model.num_decoder_layers}
    facts: dict[str, Any] = {
        "architectures": ["PegasusForConditionalGeneration" if is_pre else "MarianMTModel"],
        "model_type": "pegasus" if is_pre else "marian",
        "vocab_size": size,
        "d_model": model.d_model,
        "max_position_embeddings": model.max_positions,
        "activation_function": model.activation,
        "scale_embedding": True,
        "normalize_before": is_pre,
        "normalize_embedding": False,
        "static_position_embeddings": True,
        "tie_word_embeddings": True,
        "is_encoder_decoder": True,
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "activation_dropout": model.activation_dropout,
        "norm_epsilon": model.norm_epsilon,
    }
    for stack, depth in stacks.items():
        facts[f"{stack}_layers"] = depth
        facts[f"{stack}_attention_heads"] = model.num_heads
        facts[f"{stack}_ffn_dim"] = model.d_ff
    return facts


def _weights(trained: TrainedModel, rows: np.ndarray) -> bytes:
    """``model.safetensors``: the vocabulary in the order of ``rows``, ptenmt's ids."""
    from safetensors.numpy import save

    order = np.argsort(interleaving(trained.config.model.d_model))
    weights = {path.partition("/")[2]: array for path, array in trained.weights.items()}
    weights["encoder/embedding/tokens/embeddings"] = weights["encoder/embedding/tokens/embeddings"][rows]
    weights["final/bias"] = weights["final/bias"][rows]
    weights["final/bias"][np.isin(rows, suppressed_ids(trained.config.tokenizer))] = _NEVER
    arrays = {}
    for path, _ in variable_shapes(trained.config.model, trained.tokenizers.vocabulary_sizes):
        place, array = in_hugging_face(path), in_order(path, weights[path], order)
        arrays[place.names[-1]] = array.T if place.is_transposed else array
    arrays["final_logits_bias"] = arrays["final_logits_bias"][None]
    if trained.config.model.norm == "pre":  # Marian computes them, Pegasus loads them
        positions = positional_encoding(trained.config.model.max_positions, len(order))[:, order]
        for stack in ("encoder", "decoder"):
            arrays[f"model.{stack}.embed_positions.weight"] = positions
    # safetensors writes the memory of an array, whatever its order of axes is.
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return bytes(save(contiguous, {"format": "pt"}))


def _marian_tokenizer(
    source: ImportedTokenizer, target: ImportedTokenizer, rows: np.ndarray
) -> dict[str, bytes]:
    names = {END: "</s>", UNK: "<unk>", START: "<pad>"}
    vocabulary = {names.get(row, source.vocabulary[row]): id for id, row in enumerate(rows.tolist())}
    return {
        "source.spm": source.model,
        "target.spm": target.model,
        "vocab.json": json_file(vocabulary),
        "tokenizer_config.json": json_file({"tokenizer_class": "MarianTokenizer"}),
    }


def _unigram_tokenizer(tokenizer: SentencePieceTokenizer, config: Config) -> dict[str, bytes]:
    """The files of a tokenizer of sub-words, with the run's text preparation."""
    content = with_preparation(tokenizer.model, config.data)
    names = dict(zip(("pad_token", "unk_token", "bos_token", "eos_token"), SPECIAL_PIECES, strict=True))
    source, target = config.data.languages
    facts: Mapping[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config.model.max_positions,
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "source_lang": source,
        "target_lang": target,
        **names,
    }
    return {
        "tokenizer.json": _fast_tokenizer(content, tokenizer.symbols),
        "tokenizer_config.json": json_file(facts),
        "spiece.model": content,
    }


def _fast_tokenizer(content: bytes, symbols: Sequence[str]) -> bytes:
    """A SentencePiece model of unigrams for the package tokenizers."""
    import tokenizers
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto.FromString(content)
    scored = [(piece.piece, piece.score) for piece in model.pieces]
    fast = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=UNK, byte_fallback=False))
    normalizers, blanks = tokenizers.normalizers, tokenizers.Regex(" {2,}")
    fast.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(),
            normalizers.Replace(blanks, " "),
        ]
    )
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    fast.decoder = tokenizers.decoders.Metaspace(replacement="▁", prepend_scheme="always")
    fast.add_special_tokens(list(SPECIAL_PIECES))
    fast.add_tokens([tokenizers.AddedToken(symbol, normalized=False) for symbol in symbols])
    start, end = SPECIAL_PIECES[START], SPECIAL_PIECES[END]
    fast.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{start} $A {end}", special_tokens=[(start, START), (end, END)]
    )
    return bytes(fast.to_str(pretty=False).encode())
