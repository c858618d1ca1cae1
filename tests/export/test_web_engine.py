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
from random_models import attention_of
from untrained_runs import MODEL, PAIRS, tokenizers

from ptenmt.config import DataConfig, DecodingConfig, ModelConfig
from ptenmt.data.text import TextPreparation
from ptenmt.export.web_page import joined, model_parts
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel, assign_weights
from ptenmt.tokenizers import END, START, UNK, suppressed_ids
from ptenmt.translation.engine import SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

SENTENCES = [PAIRS[0][0], "a", "Que cão é este?", "gato gato gato"]
ODD = [
    *("", "  ", "▁", "a▁", "▁▁a b", "a ▁ b", "日本語 e 中文", "😀😀 ok 😀", "a\u200bb", "a \u200b b"),
    *("e\u0301 É", "\u00a0a\u3000b", "\t\n a\r\nb\x85c", "ﬁm ² ½ …", "....", "a.....b", "[UNK] [PAD] <s>"),
    *("ΣΑΣ", "\ufeffa"),
]
MODELS = {
    "pre-norm, swiglu, all tied": {"norm": "pre", "activation": "swiglu", "tied_embeddings": "all"},
    "gelu, target tied": {"activation": "gelu", "tied_embeddings": "target", "decoder_layers": 3},
    "swish, without start": {"activation": "swish", "source_marks": "end", "norm_epsilon": 1e-3},
    "relu, without marks": {"source_marks": "none", "key_size": 5, "value_size": 5, "d_model": 14},
}


def in_node(facts: dict[str, Any], content: bytes, program: str, given: object) -> Any:
    """What a program returns in Node.js, where ``engine`` is the page's, and ``given`` a value."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    values = {"facts": facts, "bytes": base64.b64encode(content).decode(), "given": given}
    code = f"""{joined("engine")}
    const {{ facts, bytes, given }} = JSON.parse(require("fs").readFileSync(0));
    const engine = new Engine(facts, Uint8Array.from(Buffer.from(bytes, "base64")));
    const end = (found) => process.stdout.write(JSON.stringify(found), () => process.exit());
    (async () => {{ {program} }})().then(end);"""
    found = subprocess.run(
        [node, "--eval", code], input=json.dumps(values), capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.usefixtures("_uncompiled")
@pytest.mark.filterwarnings("ignore:You are using a softmax over axis -1")  # of a first token
@pytest.mark.parametrize("name", MODELS)
def test_it_computes_what_keras_computes(make_run: Callable[..., Run], name: str):
    """Greedy and beam search, and the attention of every head."""
    model = ModelConfig(**{**vars(MODEL), **MODELS[name]})
    options = DecodingConfig(length_penalty=0.5, max_length=12)
    run = make_run("sentencepiece", shared=model.tied_embeddings == "all", model=model, decoding=options)
    trained = TrainedModel.load(run)
    assign_weights(trained.keras_model, rounded(trained.weights), trained.info.file)
    keras = KerasEngine(trained.keras_model, suppressed_ids(trained.config.tokenizer))
    sources = [[START, *ids, END] for ids in trained.tokenizers.source.encode(SENTENCES)]
    program = """
    const searched = [1, 4].map((beamSize) => given.map((ids) => engine.search.translate(ids, { beamSize })));
    return [searched, engine.model.attention(given[0], [2, ...searched[1][0].ids.slice(0, -1)])];"""
    searched, weights = in_node(*model_parts(trained), program, sources)
    for beam_size, found in zip((1, 4), searched, strict=True):
        expected = keras.submit(SearchRequest(sources, 12, replace(options, beam_size=beam_size)))()
        for hypothesis, (best, *_) in zip(found, expected, strict=True):
            assert [START, *hypothesis["ids"]] == best.ids
            assert hypothesis["score"] == pytest.approx(best.score, rel=1e-4)

    fed = np.array([[START, *searched[1][0]["ids"][:-1]]])
    theirs = attention_of(trained.keras_model, np.array([sources[0]]), fed)
    assert weights.keys() == theirs.keys()
    read = slice(model.source_marks != "both", -1 if model.source_marks == "none" else None)
    for key, tensor in theirs.items():
        array = tensor[0]
        array = array if key.endswith("block1") else array[..., read]
        array = array[:, read] if key.startswith("encoder") else array
        np.testing.assert_allclose(weights[key], array, atol=1e-4)


def test_the_length_limit_and_the_tokens_of_the_run(make_run: Callable[..., Run]):
    """The run's own limit, and only the tokens that its targets have."""
    allowed = [END, 40, 41, 42, 43]
    program = "return given.map((beamSize) => engine.search.translate([2, 9, 8, 7, 3], { beamSize }).ids)"
    for limit, longest in ((5, 5), (None, DecodingConfig().max_length_for(5))):
        run = make_run("sentencepiece", shared=True, decoding=DecodingConfig(max_length=limit))
        run.record_output_ids(allowed)
        for ids in in_node(*model_parts(TrainedModel.load(run)), program, [1, 4]):
            assert set(ids) <= set(allowed)
            assert len(ids) == longest or (ids[-1] == END and len(ids) < longest)


def test_its_tokens_are_sentencepieces(make_run: Callable[..., Run]):
    """Ties, unknown characters, white space of all kinds, invisible marks, and tokens that are symbols."""
    pair = tokenizers("sentencepiece", ["❶", "❷", ">>pt<<", "gato vê"], shared=True, vocabulary_size=160)
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


# The search finds the source again, or what is left of it without a sign.
COPY = """
let read = [];
engine.search.steps = function* (ids) {
  read.push(engine.source.decode(ids));
  yield ids.slice(1, 2);
  return { ids: ids.slice(1, -1).filter((id) => !given.lost || engine.source.pieces[id] !== "❶") };
};
const last = (steps) => { let step; do step = steps.next(); while (!step.done); return step.value; };
"""


@pytest.fixture(scope="module")
def copying(make_run: Callable[..., Run]) -> tuple[dict[str, Any], bytes]:
    """The parts of a model that was trained to place signs."""
    pair = tokenizers("sentencepiece", ["❶", "❷"], shared=True, vocabulary_size=160)
    facts, content = model_parts(TrainedModel.load(make_run("sentencepiece", shared=True, pair=pair)))
    return facts | {"placeholders": True}, content


@pytest.mark.parametrize("lost", [False, True])
def test_all_that_is_asked_of_a_sentence_is_asked_of_what_the_model_read(
    copying: tuple[dict[str, Any], bytes], lost: bool
):
    """Of the sentence with signs for its numbers; but of its own text, if the translation loses a sign."""
    program = f"""{COPY}
    const sentence = "O gato custa 350, a avó 50.";
    const translation = last(engine.translate(sentence, 1));
    const {{ source_words, target_words }} = engine.align(sentence, translation);
    const {{ source_pieces, target_pieces }} = engine.attention(sentence, translation);
    engine.search.alternatives = (ids, prefix) => {{
      read.push(engine.source.decode(ids));
      return [{{ ids: [...prefix, ...engine.target.encode("❷").map(({{ id }}) => id)], probability: 1 }}];
    }};
    const [{{ text }}] = engine.alternatives(sentence, "O gato custa 350,", 1);
    return [translation, read, source_words.join(""), target_words.join(""), text,
      [...source_pieces, ...target_pieces].filter((piece) => "❶❷".includes(piece))];"""
    translation, read, source, target, alternative, signs = in_node(*copying, program, {"lost": lost})
    sentence, masked = "O gato custa 350, a avó 50.", "O gato custa ❶, a avó ❷."
    assert (translation, source, target) == (sentence, sentence, sentence)
    assert read == ([masked, sentence, sentence] if lost else [masked, masked])
    assert alternative == ("O gato custa 350, ❷" if lost else "O gato custa 350, 50")
    assert signs == ([] if lost else ["❶", "❷", "❶", "❷"])


def test_signs_of_the_text_itself_stay(copying: tuple[dict[str, Any], bytes]):
    program = f"{COPY} return last(engine.translate(given.text, 1))"
    text = "❶ O gato custa 350, a avó 50."
    assert in_node(*copying, program, {"text": text}) == text


def test_a_long_word_is_cut_between_characters(copying: tuple[dict[str, Any], bytes]):
    facts, content = copying
    program = f"""{COPY}
    const encode = engine.source.encode.bind(engine.source);
    const lengths = [];
    engine.source.encode = (text) => {{
      lengths.push([text.length, text.isWellFormed()]);
      return Array.from(text, () => encode("a")[0]); // a token a character
    }};
    last(engine.translate(given, 1));
    return lengths;"""
    model = facts["model"] | {"max_positions": 6}
    found = in_node(facts | {"model": model}, content, program, "a" + 9 * "𝒜")
    assert [length for length, _ in found] == [19, 9, 5, 4, 10, 6, 4]
    assert all(is_whole for _, is_whole in found)


def test_the_worker_answers_between_tokens_and_can_be_stopped(copying: tuple[dict[str, Any], bytes]):
    program = f"""
    const posted = [];
    globalThis.postMessage = (message) => posted.push(message);
    let receive;
    globalThis.self = {{ addEventListener: (_, listener) => (receive = (data) => listener({{ data }})) }};
    (() => {{ {joined("worker").removeprefix(joined("engine"))} }})();
    receive({{ number: 1, method: "load", values: [facts, bytes] }});
    const sentence = "O gato não vê o cão da vizinha.";
    receive({{ number: 2, method: "translate", values: [sentence, 4] }});
    receive({{ number: 3, method: "translate", values: [sentence, 1] }});
    receive({{ number: 4, method: "align", values: [sentence, sentence] }});
    receive({{ number: 2, method: "stop" }});
    while (!posted.some(({{ number, answer }}) => number === 3 && answer !== undefined))
      await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => setTimeout(done, 50));
    return posted.map(({{ number, answer, text }}) => [number, answer !== undefined, text !== undefined]);"""
    posted = in_node(*copying, program, None)
    assert posted[:4] == [[1, True, False], [2, False, True], [3, False, True], [4, True, False]]
    assert {number for number, *_ in posted[4:]} == {3}
    assert posted[-1] == [3, True, False]


def _mixed_up(texts: Sequence[str]) -> list[str]:
    """Sentences of parts of words of others, always the same."""
    chance = random.Random(5)
    parts = [text[start : start + 3] for text in texts for start in range(0, len(text), 2)]
    return ["".join(chance.choices([*parts, "❶", "gato vê", ">>pt<<"], k=12)) for _ in range(400)]
