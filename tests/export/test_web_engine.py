"""The engine of a web page, in JavaScript: the same tokens, translations and attention as in Python."""

import base64
import json
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest
from int8_weights import rounded
from untrained_runs import MODEL, PAIRS

from ptenmt.config import DataConfig, DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.data.text import TextPreparation
from ptenmt.export.web_page import ENGINE, joined, model_parts
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel, assign_weights
from ptenmt.tokenizers import END, START, UNK, build_tokenizers, suppressed_ids
from ptenmt.translation.engine import SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

SENTENCES = [source for source, _ in PAIRS] + [
    "",
    "a",
    "Que cão é este?",
    "gato gato gato",
    "Ela não vê; ouve!",
]
ODD = [
    *(
        "",
        "  ",
        "▁",
        "a▁",
        "▁▁a b",
        "a ▁ b",
        "日本語 e 中文",
        "😀😀 ok 😀",
        "a\u200bb",
        "a \u200b b",
        "e\u0301 É",
    ),
    *(
        "\u00a0a\u3000b",
        "\t\n a\r\nb\x85c",
        "ﬁm ² ½ …",
        "....",
        "a.....b",
        "[UNK] [PAD] <s>",
        "ΣΑΣ",
        "\ufeffa",
    ),
]
MODELS = {
    "post-norm": {},
    "pre-norm, all tied": {"norm": "pre", "tied_embeddings": "all"},
    "gelu, target tied": {"activation": "gelu", "tied_embeddings": "target", "decoder_layers": 3},
    "swiglu": {"activation": "swiglu", "norm": "pre"},
    "swish, without start": {"activation": "swish", "source_marks": "end", "norm_epsilon": 1e-3},
    "without marks": {"source_marks": "none", "key_size": 5, "value_size": 5, "d_model": 14},
}


def in_node(facts: dict[str, Any], content: bytes, program: str, given: object) -> Any:
    """What a program returns in Node.js, where ``engine`` is the page's, and ``given`` a value."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    values = {"facts": facts, "bytes": base64.b64encode(content).decode(), "given": given}
    code = f"""{joined("export/web", ENGINE)}
    const {{ facts, bytes, given }} = JSON.parse(require("fs").readFileSync(0));
    const engine = new Engine(facts, Uint8Array.from(Buffer.from(bytes, "base64")));
    process.stdout.write(JSON.stringify((() => {{ {program} }})()));"""
    found = subprocess.run(
        [node, "--eval", code], input=json.dumps(values), capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.parametrize("name", MODELS)
def test_it_computes_what_keras_computes(make_run: Callable[..., Run], name: str):
    """Greedy and beam search, and the attention of every head."""
    model = ModelConfig(**{**vars(MODEL), **MODELS[name]})
    options = DecodingConfig(length_penalty=0.5)
    run = make_run("sentencepiece", shared=model.tied_embeddings == "all", model=model, decoding=options)
    trained = TrainedModel.load(run)
    assign_weights(trained.keras_model, rounded(trained.weights), trained.info.file)
    keras = KerasEngine(trained.keras_model, suppressed_ids(trained.config.tokenizer))
    sources = [[START, *ids, END] for ids in trained.tokenizers.source.encode(SENTENCES) if ids]
    program = """
    const searched = [1, 4].map((beamSize) => given.map((ids) => engine.search.translate(ids, { beamSize })));
    return [searched, engine.model.attention(given[0], [2, ...searched[1][0].ids.slice(0, -1)])];"""
    searched, weights = in_node(*model_parts(trained), program, sources)
    for beam_size, found in zip((1, 4), searched, strict=True):
        for source, hypothesis in zip(sources, found, strict=True):
            longest = min(options.limit(len(source)), model.max_positions)
            request = SearchRequest([source], longest, replace(options, beam_size=beam_size))
            ((best, *_),) = keras.submit(request)()
            assert [START, *hypothesis["ids"]] == best.ids
            assert hypothesis["score"] == pytest.approx(best.score, rel=1e-4)

    fed = np.array([[START, *searched[1][0]["ids"][:-1]]])
    expected = trained.keras_model.attention(np.array([sources[0]]), fed)
    assert weights.keys() == expected.keys()
    read = slice(model.source_marks != "both", -1 if model.source_marks == "none" else None)
    for key, tensor in expected.items():
        array = tensor[0].numpy()
        array = array if key.endswith("block1") else array[..., read]
        array = array[:, read] if key.startswith("encoder") else array
        np.testing.assert_allclose(weights[key], array, atol=1e-4)


def test_the_length_limit_and_the_tokens_of_the_run(make_run: Callable[..., Run]):
    """The run's own limit, and only the tokens that its targets have."""
    run = make_run("sentencepiece", shared=True, decoding=DecodingConfig(max_length=5))
    allowed = [END, 40, 41, 42, 43]
    run.record_output_ids(allowed)
    facts, arrays = model_parts(TrainedModel.load(run))
    program = "return given.map((beamSize) => engine.search.translate([2, 9, 8, 7, 3], { beamSize }).ids)"
    for ids in in_node(facts, arrays, program, [1, 4]):
        assert set(ids) <= set(allowed)
        assert len(ids) == 5 or (ids[-1] == END and len(ids) < 5)


def test_its_tokens_are_sentencepieces(make_run: Callable[..., Run]):
    """Ties, unknown characters, white space of all kinds, invisible marks, and tokens that are symbols."""
    pair = build_tokenizers(
        TokenizerConfig(kind="sentencepiece", vocabulary_size=160, shared=True),
        PAIRS,
        ("pt", "en"),
        ["❶", "❷", ">>pt<<", "gato vê"],
    )
    lower = DataConfig(source="files", path="pairs.tsv", normalization="NFKC", lowercase=True)
    for given, data in ((pair, lower), (None, DataConfig(source="files", path="pairs.tsv"))):
        run = make_run("sentencepiece", shared=True, data=data, pair=given)
        loaded = TrainedModel.load(run)
        tokenizer, preparation = loaded.tokenizers.source, TextPreparation(data)
        texts = [*ODD, *chain(*PAIRS), *_mixed_up([*chain(*PAIRS), *ODD])]
        program = """
        const encoded = given.map((text) => engine.source.encode(text).map(({ id }) => id));
        return [encoded, encoded.map((ids) => engine.target.decode(ids))];"""
        found, decoded = in_node(*model_parts(loaded), program, texts)
        expected = tokenizer.encode([preparation.prepare_input(text, "pt") for text in texts])
        assert [pair for pair in zip(texts, found, expected, strict=True) if pair[1] != pair[2]] == []
        known = [(ids, text) for ids, text in zip(found, decoded, strict=True) if UNK not in ids]
        assert [text for _, text in known] == tokenizer.decode([ids for ids, _ in known])


def _mixed_up(texts: Sequence[str]) -> list[str]:
    """Sentences of parts of words of others, always the same."""
    chance = random.Random(5)
    parts = [text[start : start + 3] for text in texts for start in range(0, len(text), 2)]
    return ["".join(chance.choices([*parts, "❶", "gato vê", ">>pt<<"], k=12)) for _ in range(400)]
