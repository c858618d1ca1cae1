"""Marian's models, OPUS-MT's among them: as Marian writes them (npz), and as Hugging Face has them.

Both compute what CTranslate2 and Hugging Face compute with them: layer norms with an epsilon of 1e-5, and
the positions of Vaswani et al. 2017. Marian itself spaces the frequencies of its positions by 1 / (D/2 - 1)
instead of 1 / (D/2).
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import DecodingConfig, ModelConfig
from ptenmt.config.loading import build_config
from ptenmt.config.schema import Activation
from ptenmt.errors import ModelImportError
from ptenmt.importing.ctranslate2 import read_ctranslate2
from ptenmt.importing.foreign import (
    ForeignModel,
    Vocabulary,
    check_architecture,
    most_unpacked,
    open_tensors,
    read_json,
    reading,
    sentencepiece_models,
)
from ptenmt.model.layouts import in_hugging_face

_EPSILON = 1e-5
_MAX_POSITIONS = 512
"""Of OPUS-MT's models, which were trained on sentences up to this length."""
_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu"}
_SEARCH_OPTIONS = ("beam_size", "length_penalty", "no_repeat_ngram")
_CONFIG = "special:model.yml"
"""Marian's array with its config, as text."""


def read_hugging_face(folder: Path) -> ForeignModel:
    """Read a model of Hugging Face's class Marian; raises ModelImportError."""
    file = folder / "config.json"
    config = read_json(file)
    expressible = {
        "activation_function": ("gelu", *_ACTIVATIONS),
        "static_position_embeddings": (True,),
        "normalize_before": (False,),
        "normalize_embedding": (False,),
        "add_final_layer_norm": (False,),
        "share_encoder_decoder_embeddings": (True,),
        "decoder_attention_heads": (config.get("encoder_attention_heads"),),
        "decoder_ffn_dim": (config.get("encoder_ffn_dim"),),
    }
    options = {option: (config.get(option, values[0]), values) for option, values in expressible.items()}
    needed = {"model_type": "marian", "scale_embedding": True}
    options |= {option: (config.get(option), (value,)) for option, value in needed.items()}
    check_architecture(file, options)
    vocabulary = _vocabulary(folder, config)
    with reading(file):
        model = ModelConfig(
            num_layers=config["encoder_layers"],
            decoder_layers=config["decoder_layers"],
            d_model=config["d_model"],
            num_heads=config["encoder_attention_heads"],
            d_ff=config["encoder_ffn_dim"],
            max_positions=config["max_position_embeddings"],
            norm="post",
            activation=_ACTIVATIONS[config.get("activation_function", "gelu")],
            norm_epsilon=config.get("norm_epsilon", _EPSILON),
            source_marks="end",
            tied_embeddings="all" if config.get("tie_word_embeddings", True) else "none",
        )
    generation = folder / "generation_config.json"
    searched = read_json(generation, needed=False)
    tokenizer = read_json(folder / "tokenizer_config.json", needed=False)
    return ForeignModel(
        form="Hugging Face's Marian",
        model=model,
        source=vocabulary,
        target=vocabulary,
        spm=sentencepiece_models(folder),
        tensors=open_tensors(folder),
        place=in_hugging_face,
        languages=(str(tokenizer.get("source_lang") or ""), str(tokenizer.get("target_lang") or "")),
        decoding=_decoding(generation, searched, "num_beams", "length_penalty", "no_repeat_ngram_size"),
        exported=read_json(folder / "export.json", needed=False),
    )


def read_npz(folder: Path) -> ForeignModel:
    """Read a model of Marian's with the files of OPUS-MT's archives, which CTranslate2's converter reads.

    Raises ModelImportError, and OutputError if there is no room for the converted model.
    """
    from ctranslate2.converters import MarianConverter

    options = folder / "decoder.yml"
    with reading(options):
        decoder = dict(yaml.safe_load(options.read_text(encoding="utf-8")))
        names = (decoder["models"][0], *decoder["vocabs"])
        file, *vocabularies = (folder / Path(name).name for name in names)
    _check_marian(file)
    with temporary_folder() as converted:
        with reading(file), file.open("rb") as stream:  # an own one, since the converter closes none
            converter = MarianConverter(stream, [*map(str, vocabularies)])
            converter.convert(str(converted), force=True)
        found = read_ctranslate2(folder, converted)
    return replace(
        found,
        form="Marian",
        model=replace(found.model, max_positions=_MAX_POSITIONS),
        decoding=_decoding(options, decoder, "beam-size", "normalize"),
    )


def _check_marian(file: Path) -> None:
    """Raise ModelImportError for a file that is too large, or has what the converter does not see."""
    with reading(file), file.open("rb") as stream, np.load(stream) as archive:
        unpacked = sum(entry.file_size for entry in archive.zip.infolist())
        if unpacked > most_unpacked(file):
            raise ValueError(f"it would have {unpacked:,} bytes unpacked")
        config = yaml.safe_load(archive[_CONFIG].tobytes().rstrip(b"\0"))
    expressible = {
        "transformer-ffn-depth": 2,
        "transformer-tied-layers": [],
        "transformer-train-positions": False,
        "transformer-train-position-embeddings": False,
        "lemma-dim-emb": 0,
    }
    check_architecture(
        file, {option: (config.get(option, value), (value,)) for option, value in expressible.items()}
    )


def _vocabulary(folder: Path, config: Mapping[str, Any]) -> Vocabulary:
    """Hugging Face's, of both languages; its decoder starts from the token for padding."""
    vocabulary = folder / "vocab.json"
    ids = read_json(vocabulary)
    tokens = sorted(ids, key=lambda token: int(ids[token]))
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ModelImportError(f"the ids in {vocabulary} are not 0 to {len(tokens) - 1}", "copy it again")
    file, pad = folder / "config.json", config.get("pad_token_id")
    check_architecture(file, {"decoder_start_token_id": (config.get("decoder_start_token_id", pad), (pad,))})
    if not isinstance(pad, int) or pad not in range(len(tokens)):
        raise ModelImportError(f"{file}: pad_token_id={pad!r} is no id of {vocabulary}")
    return Vocabulary(tokens=tokens, start=tokens[pad], unknown="<unk>", end="</s>")


def _decoding(file: Path, found: Mapping[str, Any], *names: str) -> DecodingConfig:
    """The search of another program's config, by its names of the options; raises ModelImportError."""
    options = dict(zip(_SEARCH_OPTIONS, names, strict=False))
    with reading(file):
        values = {own: found[theirs] for own, theirs in options.items() if found.get(theirs)}
        return build_config({"decoding": values}).decoding
