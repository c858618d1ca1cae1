"""Folders for Hugging Face's transformers."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import tokenizers
import yaml
from untrained_runs import DECODING, MODEL, PAIRS, float32_translator

from ptenmt import export_model
from ptenmt.config import DataConfig, DecodingConfig, TokenizerConfig
from ptenmt.errors import ExportError
from ptenmt.importing.run import import_model
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation import Translator

TEXTS = [source for source, _ in PAIRS] + ["  Dois  gatos e o cão de Coimbra, 3 ſ. "]
IMPORTED = Path(__file__).parents[1] / "importing" / "marian" / "huggingface"
TIED = replace(MODEL, tied_embeddings="all")


@pytest.fixture(scope="module", params=[("pre", 0), ("post", 2)])
def tied(request: pytest.FixtureRequest, make_run: Callable[..., Run]) -> Run:
    norm, no_repeat_ngram = request.param
    tokenizer = TokenizerConfig(kind="sentencepiece", shared=True)
    model = replace(TIED, norm=norm, activation="gelu")
    decoding = replace(DECODING, no_repeat_ngram=no_repeat_ngram)
    return make_run("sentencepiece", shared=True, tokenizer=tokenizer, model=model, decoding=decoding)


def translations(run: Run, texts: list[str], beams: int) -> list[str]:
    whole = {"split_sentences": False, "safeguards": False, "beam_size": beams, "max_length": 30}
    options = replace(run.config().decoding, **whole)
    return [each.raw for each in float32_translator(run).translate(texts, options)]


def test_its_tokens_and_weights_are_the_runs_in_the_order_of_transformers(tied: Run, tmp_path: Path):
    folder = export_model(tied, format="huggingface", output=tmp_path / "new").path
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    expected, _ = Translator.load(tied).encoder.sources(TEXTS)
    assert [tokenizer.encode(text).ids for text in TEXTS] == expected
    assert tokenizer.decode(expected[0]) == TEXTS[0]
    found = safetensors.numpy.load_file(folder / "model.safetensors")
    weights = TrainedModel.load(tied).weights
    query = weights["transformer/encoder/block1/self_attention/query/kernel"]
    sines_first = [*range(0, len(query), 2), *range(1, len(query), 2)]
    np.testing.assert_array_equal(
        found["model.encoder.layers.0.self_attn.q_proj.weight"], query[sines_first].T
    )
    contract = weights["transformer/decoder/block1/feed_forward/contract/kernel"]
    np.testing.assert_array_equal(found["model.decoder.layers.0.fc2.weight"], contract[:, sines_first].T)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(card.split("---\n")[1])["language"] == ["pt", "en"]


def test_an_imported_model_is_as_it_was(tmp_path: Path):
    run = import_model(IMPORTED, tmp_path / "run")
    folder = export_model(run, format="huggingface", output=tmp_path / "new").path
    for name in ("source.spm", "target.spm"):
        assert (folder / name).read_bytes() == (IMPORTED / name).read_bytes()
    vocabularies = [
        json.loads((place / "vocab.json").read_text(encoding="utf-8")) for place in (folder, IMPORTED)
    ]
    assert vocabularies[0] == vocabularies[1]
    found, expected = (
        safetensors.numpy.load_file(place / "model.safetensors") for place in (folder, IMPORTED)
    )
    suppressed = [1, len(vocabularies[0]) - 1]
    expected["final_logits_bias"][:, suppressed] = -1e9
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert "licence: cc-by-4.0" in (folder / "README.md").read_text(encoding="utf-8")


def test_tokens_that_search_never_generates_are_suppressed(tied: Run, tmp_path: Path):
    run = Run(Path(shutil.copytree(tied.path, tmp_path / "run")))
    run.record_output_ids({3, 5, *range(8, 130)})
    folder = export_model(run, format="huggingface", output=tmp_path / "new").path
    generation = json.loads((folder / "generation_config.json").read_text())
    assert generation["suppress_tokens"] == [0, 1, 2, 4, 6, 7]


WITH_MOSES = DataConfig(source="files", path="pairs.tsv", tokenization="moses")


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"decoding": DecodingConfig(repetition_penalty=1.5)}, "decoding.repetition_penalty=1.5"),
        ({"data": WITH_MOSES}, "data.tokenization=moses"),
        ({"model": replace(TIED, activation="swiglu")}, "model.activation=swiglu"),
        ({"model": replace(TIED, key_size=3, value_size=3)}, "model.key_size=3"),
        ({"model": replace(TIED, tied_embeddings="none"), "shared": False}, "model.tied_embeddings=none"),
    ],
)
def test_what_transformers_cannot_express_is_refused_with_the_reason(
    sections: dict[str, Any], reason: str, make_run: Callable[..., Run], tmp_path: Path
):
    run = make_run("sentencepiece", **{"model": TIED, "shared": True} | sections)
    with pytest.raises(ExportError, match=f"no class of transformers has {reason}"):
        export_model(run, format="huggingface", output=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    warnings: list[str] = []
    if "model" not in sections:  # others translate without it
        export_model(run, output=tmp_path / "ctranslate2", on_warning=warnings.append)
        assert bool(warnings) == ("data" in sections)
        export_model(run, format="argos", output=tmp_path / "new.argosmodel", on_warning=warnings.append)
        assert warnings[-1].startswith(f"Argos Translate has no {reason}")


def by_transformers(pytestconfig: pytest.Config, folder: Path, texts: list[str]) -> dict[str, Any]:
    python: str | None = pytestconfig.getoption("--transformers-python")
    if python is None and (find_spec("transformers") is None or find_spec("torch") is None):
        pytest.skip("no Python with transformers; --transformers-python may name one")
    script = Path(__file__).parent / "run_transformers.py"
    command = [python or sys.executable, script, folder, *texts]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


@pytest.mark.slow
def test_transformers_computes_the_same(tied: Run, tmp_path: Path, pytestconfig: pytest.Config):
    folder = export_model(tied, format="huggingface", output=tmp_path / "new").path
    found = by_transformers(pytestconfig, folder, TEXTS)
    is_pre = tied.config().model.norm == "pre"
    assert found["class"] == ("PegasusForConditionalGeneration" if is_pre else "MarianMTModel")
    expected, _ = Translator.load(tied).encoder.sources(TEXTS)
    assert found["ids"] == expected
    longest, fed = max(map(len, expected)), np.array(found["fed"])
    fed[:, 0] = 2
    source = np.array([ids + [0] * (longest - len(ids)) for ids in expected])
    logits = TrainedModel.load(tied).numpy_model.logits(source, fed)  # type: ignore[call-arg]
    # transformers' layer norms have another epsilon.
    np.testing.assert_allclose(np.array(found["logits"])[..., 3:], logits[..., 3:], atol=2e-4)
    for name, beams in (("beams1", 1), ("beams4", 4), ("ctranslate2", 4), ("pipeline", 3)):
        if name in found:
            assert found[name] == translations(tied, TEXTS, beams), name
    assert is_pre == ("ctranslate2" in found)


@pytest.mark.slow
def test_transformers_translates_alike_with_an_imported_model(tmp_path: Path, pytestconfig: pytest.Config):
    run, texts = import_model(IMPORTED, tmp_path / "run"), ["Ba di fu.", "Gadi ga.", "Hi jo."]
    folder = export_model(run, format="huggingface", output=tmp_path / "new").path
    found = by_transformers(pytestconfig, folder, texts)
    assert found["class"] == "MarianMTModel"
    for name, beams in (("beams1", 1), ("beams4", 4), ("ctranslate2", 4)):
        assert found[name] == translations(run, texts, beams), name
