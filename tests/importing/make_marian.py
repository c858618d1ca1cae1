"""Make a small Marian model with random weights, and what ``transformers`` computes with it.

It needs a Python with ``transformers``, ``torch`` and ``sentencepiece``, and nothing of ptenmt's:

    python tests/importing/make_marian.py FOLDER [--width 16] [--layers 2] [--seed 1] [--activation swish]

It writes ``FOLDER/huggingface``, a model as Hugging Face has it; ``FOLDER/opus``, the same as OPUS-MT's
archives have it; and ``FOLDER/expected.npz`` with source ids, decoder inputs, their logits, and the
translations by greedy search and by 4 beams. ``tests/importing/marian`` was made by it:

    python make_marian.py marian --width 8 --layers 1 --pieces 60 --sentences 4

without ``opus``, which ``opus_files.py`` writes again from the other.
"""

import argparse
import io
import json
import random
from pathlib import Path

import numpy as np
import sentencepiece
import torch
from opus_files import write_opus
from transformers import MarianConfig, MarianMTModel

SYLLABLES = ["ba", "di", "fu", "ga", "hi", "jo", "ki", "lu", "mi", "no", "pe", "ro", "sa", "te", "vi", "xa"]


def sentences(seed: int, count: int, endings: str) -> list[str]:
    chance = random.Random(seed)
    words = [
        "".join(chance.choices(SYLLABLES, k=chance.randint(1, 3))) + chance.choice(endings) for _ in range(60)
    ]
    return [" ".join(chance.choices(words, k=chance.randint(1, 7))).capitalize() + "." for _ in range(count)]


def spm(texts: list[str], pieces: int) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=pieces,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        bos_id=-1,
        minloglevel=2,
    )
    return model.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(id) for id in range(processor.get_piece_size())]


def random_model(config: MarianConfig, seed: int) -> MarianMTModel:
    torch.manual_seed(seed)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" in name:
                continue
            scale, mean = 0.2, 0.0
            if weight.dim() == 2:
                scale = 0.5 if "shared" in name or "embed_tokens" in name else 1.5 * weight.shape[1] ** -0.5
                scale *= 3 if "encoder_attn.v" in name or "encoder_attn.out" in name else 1
            elif "layer_norm" in name and name.endswith("weight"):
                mean = 1.0
            weight.normal_(mean, scale)
        for table in {model.model.encoder.embed_tokens.weight, model.model.decoder.embed_tokens.weight}:
            table[config.pad_token_id] = 0.0
        model.final_logits_bias.normal_(0, 0.3)
        model.final_logits_bias[0, 0] += 1.5  # </s> is not too rare
        model.final_logits_bias[0, config.pad_token_id] = 0.0
    return model


def write_hugging_face(
    folder: Path, model: MarianMTModel, vocabulary: list[str], spms: tuple[bytes, bytes]
) -> None:
    model.save_pretrained(folder)
    for name, content in zip(("source.spm", "target.spm"), spms, strict=True):
        (folder / name).write_bytes(content)
    (folder / "vocab.json").write_text(json.dumps({piece: id for id, piece in enumerate(vocabulary)}))
    tokenizer = {"tokenizer_class": "MarianTokenizer", "source_lang": "por", "target_lang": "eng"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# A model of random weights\n")


def expected(
    model: MarianMTModel, texts: list[str], vocabulary: list[str], source: bytes
) -> dict[str, np.ndarray]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=source)
    ids = {piece: id for id, piece in enumerate(vocabulary)}
    pad = model.config.pad_token_id
    rows = [[*(ids.get(piece, 1) for piece in processor.encode(text, out_type=str)), 0] for text in texts]
    longest = max(map(len, rows))
    padded = torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
    mask = (padded != pad).long()
    chance = np.random.default_rng(1)
    fed = torch.tensor(chance.integers(2, pad, (len(rows), 6)))
    fed[:, 0] = pad
    found = {"texts": np.array(texts), "source": padded.numpy(), "fed": fed.numpy()}
    with torch.no_grad():
        found["logits"] = model(input_ids=padded, attention_mask=mask, decoder_input_ids=fed).logits.numpy()
        for beams in (1, 4):
            # A sentence at a time: transformers' beams of a batch end together. <unk> is not generated, as
            # Marian does it; <pad> never is.
            outputs = [
                model.generate(
                    input_ids=padded[row : row + 1, : len(rows[row])],
                    num_beams=beams,
                    do_sample=False,
                    max_new_tokens=20,
                    early_stopping=beams > 1,
                    forced_eos_token_id=None,
                    suppress_tokens=[1, pad],
                    renormalize_logits=True,
                )[0]
                for row in range(len(rows))
            ]
            size = max(map(len, outputs))
            found[f"beams{beams}"] = np.array(
                [output.tolist() + [-1] * (size - len(output)) for output in outputs]
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    for name, default in (
        ("width", 16),
        ("layers", 2),
        ("seed", 1),
        ("pieces", 120),
        ("heads", 2),
        ("positions", 64),
        ("sentences", 8),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--activation", default="swish")
    options = parser.parse_args()
    texts = [sentences(options.seed + side, 400, "aoe" if side == 0 else "sdy") for side in (0, 1)]
    spms = spm(texts[0], options.pieces), spm(texts[1], options.pieces)
    both = [piece for model in spms for piece in pieces_of(model) if piece not in ("<unk>", "</s>")]
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(both), "<pad>"]
    size = len(vocabulary)
    config = MarianConfig(
        vocab_size=size,
        d_model=options.width,
        encoder_layers=options.layers,
        decoder_layers=options.layers,
        encoder_attention_heads=options.heads,
        decoder_attention_heads=options.heads,
        encoder_ffn_dim=2 * options.width,
        decoder_ffn_dim=2 * options.width,
        activation_function=options.activation,
        scale_embedding=True,
        max_position_embeddings=options.positions,
        pad_token_id=size - 1,
        decoder_start_token_id=size - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
    )
    model = random_model(config, options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    write_hugging_face(options.folder / "huggingface", model, vocabulary, spms)
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    write_opus(options.folder / "opus", state, config.to_dict(), vocabulary, spms)
    chosen = [text for text in texts[0] if len(text.split()) > 1][: options.sentences]
    np.savez_compressed(options.folder / "expected.npz", **expected(model, chosen, vocabulary, spms[0]))


if __name__ == "__main__":
    main()
