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

from ptenmt.config import ModelConfig
from ptenmt.errors import ConfigError, ModelImportError
from ptenmt.importing.foreign import ForeignModel, Vocabulary
from ptenmt.importing.tensors import open_npz, open_tensors, read_json, reading
from ptenmt.model.layouts import hugging_face_name, marian_names
from ptenmt.tokenizers import SPECIAL_PIECES

_EPSILON = 1e-5
_MAX_POSITIONS = 512
"""Of OPUS-MT's models, which were trained on sentences up to this length."""
_ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish"}
_HUGGING_FACES = {**_ACTIVATIONS, "gelu": "gelu"}
_UNK, _END, _PAD = "<unk>", "</s>", "<pad>"


def check_architecture(
    file: Path, found: Mapping[str, Any], expressible: Mapping[str, tuple[Any, ...]]
) -> None:
    """Raise ModelImportError for an option of another program with a value that ptenmt cannot express.

    ``expressible`` has the values that it can; the first is that of an option that is not given.
    """
    for option, values in expressible.items():
        value = found.get(option, values[0])
        if value not in values:
            known = ", ".join(map(repr, values))
            raise ModelImportError(
                f"{file}: ptenmt cannot express {option}={value!r}", f"it knows {option}: {known}"
            )


def read_hugging_face(folder: Path) -> ForeignModel:
    """Read a Marian model, or one that ptenmt exported as Pegasus; raises ModelImportError."""
    file = folder / "config.json"
    config = read_json(file)
    is_marian = config.get("model_type") == "marian"
    check_architecture(
        file,
        config,
        {
            "model_type": ("", "marian", "pegasus"),
            "activation_function": ("gelu", *_HUGGING_FACES),
            "scale_embedding": (False, True) if is_marian else (True,),
            "static_position_embeddings": (True,),
            "normalize_before": (not is_marian,),
            "normalize_embedding": (False,),
            "add_final_layer_norm": (False, not is_marian),
            "decoder_attention_heads": (config.get("encoder_attention_heads"),),
            "decoder_ffn_dim": (config.get("encoder_ffn_dim"),),
        },
    )
    if not config.get("scale_embedding", False):
        raise ModelImportError(f"{file}: ptenmt cannot express scale_embedding=False", "it scales by √D")
    tensors = open_tensors(folder)
    own = folder / "spiece.model"
    has_own_tokenizer = own.exists()
    if has_own_tokenizer:
        source, target, spm = _own_vocabulary(own)
    elif is_marian:
        source, target = _vocabularies(folder, config)
        spm = _spm(folder)
    else:
        raise ModelImportError(f"{folder}: only Pegasus models that ptenmt exported can be imported")
    names = {
        "encoder": tensors.first("model.encoder.embed_tokens.weight", "model.shared.weight"),
        "decoder": tensors.first("model.decoder.embed_tokens.weight", "model.shared.weight"),
    }
    is_tied = bool(config.get("tie_word_embeddings", True))
    is_shared = bool(config.get("share_encoder_decoder_embeddings", True))
    model = _model_config(
        file,
        config,
        {
            "num_layers": "encoder_layers",
            "decoder_layers": "decoder_layers",
            "d_model": "d_model",
            "num_heads": "encoder_attention_heads",
            "d_ff": "encoder_ffn_dim",
            "max_positions": "max_position_embeddings",
        },
        norm="post" if is_marian else "pre",
        activation=_HUGGING_FACES[config.get("activation_function", "gelu")],
        source_marks="both" if has_own_tokenizer else "end",
        tied_embeddings=("all" if is_shared else "target") if is_tied else "none",
    )
    sizes = {"encoder": len(source.tokens), "decoder": len(target.tokens)}

    def layer(path: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
        name = hugging_face_name(path)
        kernel, bias = tensors.get(f"{name}.weight", shape[::-1]).T, tensors.get(f"{name}.bias", shape[-1:])
        return {"kernel": kernel, "bias": bias} if len(shape) == 2 else {"gamma": kernel, "beta": bias}

    def embedding(stack: str) -> np.ndarray:
        return tensors.get(names[stack] or "model.shared.weight", (sizes[stack], model.d_model))

    def bias() -> np.ndarray | None:
        name = tensors.first("final_logits_bias")
        return None if name is None else tensors.get(name, (sizes["decoder"],))

    def projection() -> np.ndarray:
        return tensors.get("lm_head.weight", (sizes["decoder"], model.d_model)).T

    generation = read_json(folder / "generation_config.json", needed=False)
    options = {"beam_size": "num_beams", "length_penalty": "length_penalty"}
    tokenizer = read_json(folder / "tokenizer_config.json", needed=False)
    return ForeignModel(
        form=f"Hugging Face's {'Marian' if is_marian else 'Pegasus'}",
        model=model,
        source=source,
        target=target,
        spm=spm,
        layer=layer,
        embedding=embedding,
        bias=bias,
        projection=None if is_tied else projection,
        has_sines_first=True,
        languages=_languages(tokenizer.get("source_lang"), tokenizer.get("target_lang")),
        decoding={own: generation[theirs] for own, theirs in options.items() if generation.get(theirs)},
    )


def read_npz(folder: Path) -> ForeignModel:
    """Read a model of Marian's with the files of OPUS-MT's archives; raises ModelImportError."""
    decoder = _yaml(folder / "decoder.yml")
    file = _file_of(folder, decoder.get("models"), "*.npz")
    tensors = open_npz(file)
    text = tensors.get("special:model.yml").astype(np.int8).tobytes().rstrip(b"\0")
    with reading(file):
        config = yaml.safe_load(text)
    check_architecture(
        file,
        config,
        {
            "type": ("", "transformer"),
            "transformer-preprocess": ("",),
            "transformer-postprocess": ("dan",),
            "transformer-postprocess-emb": ("d", ""),
            "transformer-postprocess-top": ("",),
            "transformer-ffn-activation": ("swish", *_ACTIVATIONS),
            "transformer-ffn-depth": (2,),
            "transformer-decoder-autoreg": ("self-attention",),
            "transformer-no-projection": (False,),
            "transformer-tied-layers": ([],),
            "transformer-train-positions": (False,),
            "transformer-train-position-embeddings": (False,),
            "lemma-dim-emb": (0,),
        },
    )
    vocabularies = decoder.get("vocabs") or [path.name for path in folder.glob("*vocab*.yml")]
    files = [_file_of(folder, [name], "*vocab*.yml") for name in vocabularies or ["vocab.yml"]]
    source, target = (_marian_vocabulary(path) for path in (files[0], files[-1]))
    tables = {stack: tensors.first(f"{stack}_Wemb", "Wemb") or "Wemb" for stack in ("encoder", "decoder")}
    output = tensors.first("decoder_ff_logit_out_Wt", "decoder_ff_logit_out_W")
    tied = "all" if tables["encoder"] == tables["decoder"] else "target"
    model = _model_config(
        file,
        config,
        {
            "num_layers": "enc-depth",
            "decoder_layers": "dec-depth",
            "d_model": "dim-emb",
            "num_heads": "transformer-heads",
            "d_ff": "transformer-dim-ffn",
        },
        activation=_ACTIVATIONS[config.get("transformer-ffn-activation", "swish")],
        source_marks="end",
        tied_embeddings="none" if output else tied,
        max_positions=_MAX_POSITIONS,
    )
    sizes = {"encoder": len(source.tokens), "decoder": len(target.tokens)}

    def layer(path: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
        first, second = marian_names(path)
        names = ("kernel", "bias") if len(shape) == 2 else ("gamma", "beta")
        return {names[0]: tensors.get(first, shape), names[1]: tensors.get(second, shape[-1:])}

    def projection() -> np.ndarray:
        assert output is not None
        if output.endswith("Wt"):
            return tensors.get(output, (sizes["decoder"], model.d_model)).T
        return tensors.get(output, (model.d_model, sizes["decoder"]))

    options = {"beam_size": "beam-size", "length_penalty": "normalize"}
    return ForeignModel(
        form="Marian",
        model=model,
        source=source,
        target=target,
        spm=_spm(folder),
        layer=layer,
        embedding=lambda stack: tensors.get(tables[stack], (sizes[stack], model.d_model)),
        bias=lambda: tensors.get("decoder_ff_logit_out_b", (sizes["decoder"],)),
        projection=projection if output else None,
        has_sines_first=True,
        decoding={own: decoder[theirs] for own, theirs in options.items() if decoder.get(theirs)},
    )


def _model_config(
    file: Path, found: Mapping[str, Any], names: Mapping[str, str], **options: Any
) -> ModelConfig:
    """The section ``model``: ``names`` are the other program's names of ptenmt's options."""
    with reading(file):
        sizes = {own: found[theirs] for own, theirs in names.items()}
        try:
            model = ModelConfig(norm_epsilon=found.get("norm_epsilon", _EPSILON), **sizes, **options)
        except ConfigError as error:
            raise ModelImportError(f"{file}: {error.message}", error.hint) from error
    return replace(model, decoder_layers=None) if model.decoder_layers == model.num_layers else model


def _spm(folder: Path) -> tuple[bytes, bytes]:
    if not (folder / "source.spm").exists() and any(folder.glob("*.bpe")):
        raise ModelImportError(
            f"{folder} has sub-words by BPE (source.bpe), not by SentencePiece",
            "choose a model with source.spm",
        )
    files = folder / "source.spm", folder / "target.spm"
    contents = []
    for file in files:
        with reading(file):
            contents.append(file.read_bytes())
    return contents[0], contents[1]


def _vocabularies(folder: Path, config: Mapping[str, Any]) -> tuple[Vocabulary, Vocabulary]:
    files = [folder / "vocab.json", folder / "target_vocab.json"]
    found = [_numbered(file, read_json(file)) for file in files if file.exists() or file == files[0]]
    start = config.get("decoder_start_token_id", len(found[-1]) - 1)
    vocabularies = []
    for tokens in (found[0], found[-1]):
        if start != config.get("pad_token_id", start) or not 0 <= start < len(tokens):
            raise ModelImportError(
                f"{folder / 'config.json'}: decoder_start_token_id={start} is not the token for padding"
            )
        vocabularies.append(Vocabulary(tokens=tokens, unknown=_UNK, end=_END, start=tokens[start]))
    return vocabularies[0], vocabularies[1]


def _own_vocabulary(file: Path) -> tuple[Vocabulary, Vocabulary, tuple[bytes, bytes]]:
    """The vocabulary of a model that ptenmt exported."""
    import sentencepiece

    with reading(file):
        content = file.read_bytes()
        processor = sentencepiece.SentencePieceProcessor(model_proto=content)
        tokens = [processor.id_to_piece(id) for id in range(processor.get_piece_size())]
    _, unknown, start, end = SPECIAL_PIECES
    vocabulary = Vocabulary(tokens=tokens, unknown=unknown, end=end, start=start)
    return vocabulary, vocabulary, (content, content)


def _marian_vocabulary(file: Path) -> Vocabulary:
    """Read a vocabulary of Marian's: YAML, a token and its id in each line.

    YAML itself would read plain keys such as ``no`` and ``1`` as values of other types.
    """
    with reading(file):
        ids = {}
        long_key = ""
        for line in file.read_text(encoding="utf-8").split("\n"):
            if line.startswith("? "):
                long_key = line[2:]
                continue
            if line.strip():
                key, _, id = line.rpartition(":")
                ids[_scalar(long_key or key)] = int(id)
                long_key = ""
    return Vocabulary(tokens=_numbered(file, ids), unknown=_UNK, end=_END, start=None)


def _scalar(key: str) -> str:
    return str(yaml.safe_load(key)) if key[:1] in ("'", '"') else key


def _numbered(file: Path, ids: Mapping[str, Any]) -> list[str]:
    """The tokens of a vocabulary in the order of ids, which must be 0, 1, 2 and so on."""
    tokens = sorted(ids, key=lambda token: int(ids[token]))
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ModelImportError(
            f"the ids in {file} are not 0 to {len(tokens) - 1}", "copy or download it again"
        )
    return tokens


def _file_of(folder: Path, named: Any, pattern: str) -> Path:
    """The file that ``decoder.yml`` names, or else the only one of this pattern."""
    if named:
        return folder / Path(str(named[0])).name
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        raise ModelImportError(
            f"{folder} has {len(files)} files {pattern}, and no decoder.yml that names one",
            "leave only one there",
        )
    return files[0]


def _languages(source: Any, target: Any) -> tuple[str, str] | None:
    codes = {"por": "pt", "eng": "en"}
    found = tuple(codes.get(str(code), str(code)) for code in (source, target))
    return (found[0], found[1]) if all(len(code) == 2 for code in found) else None


def _yaml(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    with reading(file):
        return dict(yaml.safe_load(file.read_text(encoding="utf-8")))
