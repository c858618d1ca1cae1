"""A Marian model as OPUS-MT's archives have it, from the weights of Hugging Face's form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml


def write_opus(
    folder: Path,
    state: dict[str, np.ndarray],
    config: dict[str, Any],
    vocabulary: list[str],
    spms: tuple[bytes, bytes],
) -> None:
    """Write weights by Hugging Face's names as OPUS-MT's archives have them; the config is theirs."""
    folder.mkdir(exist_ok=True)
    arrays = {
        "Wemb": state["model.shared.weight"][:-1],
        "decoder_ff_logit_out_b": state["final_logits_bias"][:, :-1],
    }
    for stack, depth in (("encoder", config["encoder_layers"]), ("decoder", config["decoder_layers"])):
        owners = (
            {"self_attn": "self", "encoder_attn": "context"} if stack == "decoder" else {"self_attn": "self"}
        )
        for number in range(depth):
            theirs, name = f"model.{stack}.layers.{number}", f"{stack}_l{number + 1}"
            for owner, marians in owners.items():
                for part, letter in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("out_proj", "o")):
                    arrays[f"{name}_{marians}_W{letter}"] = state[f"{theirs}.{owner}.{part}.weight"].T
                    arrays[f"{name}_{marians}_b{letter}"] = state[f"{theirs}.{owner}.{part}.bias"][None]
                arrays[f"{name}_{marians}_Wo_ln_scale"] = state[f"{theirs}.{owner}_layer_norm.weight"][None]
                arrays[f"{name}_{marians}_Wo_ln_bias"] = state[f"{theirs}.{owner}_layer_norm.bias"][None]
            for number_of, layer in ((1, "fc1"), (2, "fc2")):
                arrays[f"{name}_ffn_W{number_of}"] = state[f"{theirs}.{layer}.weight"].T
                arrays[f"{name}_ffn_b{number_of}"] = state[f"{theirs}.{layer}.bias"][None]
            arrays[f"{name}_ffn_ffn_ln_scale"] = state[f"{theirs}.final_layer_norm.weight"][None]
            arrays[f"{name}_ffn_ffn_ln_bias"] = state[f"{theirs}.final_layer_norm.bias"][None]
    options = {
        "type": "transformer",
        "dim-emb": config["d_model"],
        "enc-depth": config["encoder_layers"],
        "dec-depth": config["decoder_layers"],
        "transformer-heads": config["encoder_attention_heads"],
        "transformer-dim-ffn": config["encoder_ffn_dim"],
        "transformer-ffn-activation": config["activation_function"],
        "transformer-ffn-depth": 2,
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-decoder-autoreg": "self-attention",
        "transformer-no-projection": False,
        "transformer-tied-layers": [],
        "transformer-guided-alignment-layer": "last",
        "tied-embeddings-all": True,
    }
    arrays["special:model.yml"] = np.frombuffer(yaml.safe_dump(options).encode() + b"\0", np.int8)
    np.savez(folder / "opus.model1.npz.best-perplexity.npz", **arrays)
    lines = [f"{json.dumps(piece, ensure_ascii=False)}: {id}\n" for id, piece in enumerate(vocabulary[:-1])]
    lines = [line if id % 2 or id < 2 else plain(line) for id, line in enumerate(lines)]
    (folder / "opus.vocab.yml").write_text("".join(lines), encoding="utf-8")
    decoder = {
        "models": ["opus.model1.npz.best-perplexity.npz"],
        "vocabs": ["opus.vocab.yml", "opus.vocab.yml"],
        "beam-size": 6,
        "normalize": 1,
    }
    (folder / "decoder.yml").write_text(yaml.safe_dump(decoder))
    for name, content in zip(("source.spm", "target.spm"), spms, strict=True):
        (folder / name).write_bytes(content)
    (folder / "LICENSE").write_text("Creative Commons Attribution 4.0\n")


def plain(line: str) -> str:
    """A line of a vocabulary without quotes where Marian writes none."""
    key, _, id = line.rpartition(":")
    key = json.loads(key)
    return f"{key}:{id}" if key.replace("▁", "").isalpha() else line
