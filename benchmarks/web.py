"""Whether ``ptenmt export --format web`` translates as Keras does, and how fast, in headless Chromium.

Translates sentences with the file's engine, greedily and with beam 4, and with the Keras model, whose weights
are rounded to int8 alike; compares tokens. Compares token ids with SentencePiece's. Measures opening, speed,
size and memory.

    python benchmarks/web.py --run starter --sentences FILE ... --texts FILE
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from baselines.criteria import Criterion, at_least, at_most, print_criteria
from baselines.machine import describe, same_command
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

from ptenmt import export_model
from ptenmt.runs.trained_model import TrainedModel, assign_weights
from ptenmt.tokenizers import START, encode_framed, suppressed_ids
from ptenmt.translation.engine import Hypothesis, SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

_OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# A second worker with the file's own program, and two more methods.
_WORKER = """
const extra = `
  Engine.prototype.tokens = function (texts) {
    return texts.map((text) => this.source.encode(text).map(({ id }) => id));
  };
  Engine.prototype.searched = function (ids, beamSize) { return this.search.translate(ids, { beamSize }) };`;
const program = document.getElementById("engine").textContent + extra;
const worker = new Worker(URL.createObjectURL(new Blob([program])));
window.ask = (method, ...values) => new Promise((resolve, reject) => {
  worker.onmessage = ({ data: { answer, error } }) =>
    answer === undefined && !error ? null : error ? reject(new Error(error)) : resolve(answer);
  worker.postMessage({ number: 1, method, values });
});
const facts = JSON.parse(document.getElementById("facts").textContent);
await ask("load", facts, document.getElementById("weights").textContent);
"""
_OPENED = """
new MutationObserver((_, observer) => {
  if (!document.title.includes("·")) return;
  observer.disconnect();
  window.usable = performance.now();
  document.getElementById("source").focus();
  document.execCommand("insertText", false, "Ela vem. ");
  const target = document.getElementById("target");
  new MutationObserver((_, second) => {
    if (target.querySelector(".stale, .waiting") || !target.textContent.trim()) return;
    second.disconnect();
    window.translated = performance.now();
  }).observe(target, { childList: true, subtree: true });
}).observe(document, { childList: true, subtree: true, characterData: true });
"""
_TWELVE_WORDS = "A minha amiga comprou muita fruta fresca no mercado da cidade ontem."
_LONGEST_TIE = 1e-4  # in score


def main() -> None:
    """Print the criteria."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", default="starter")
    parser.add_argument("--sentences", nargs="+", type=Path, default=[], help="a source sentence a line")
    parser.add_argument("--texts", type=Path, help="texts to tokenize, one a line")
    given = parser.parse_args()
    trained = TrainedModel.load(given.run)
    print(f"{describe(None)}\n{same_command(for_page=True)}\n")
    with tempfile.TemporaryDirectory() as folder:
        file = export_model(given.run, format="web", output=Path(folder) / "web.html").path
        num_weights = sum(array.size for array in trained.weights.values())
        criteria = [
            at_most("size", file.stat().st_size / 1e6, (1.5 * num_weights + 150e3) / 1e6, "{:.2f} MB")
        ]
        criteria += _opening(file)
        chrome = _chrome()
        chrome.get(file.as_uri())
        time.sleep(3)  # until the model is loaded
        criteria += _speed(chrome)
        chrome.execute_async_script(_asynchronous(_WORKER))
        if given.texts:
            texts = given.texts.read_text(encoding="utf-8").splitlines()
            criteria.append(_tokens(chrome, trained, texts))
        sentences = [
            line for path in given.sentences for line in path.read_text(encoding="utf-8").splitlines()
        ]
        if sentences:
            criteria += _translations(chrome, trained, sentences)
        chrome.quit()
    print_criteria(criteria)


def _chrome(early: str = "") -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for option in _OPTIONS:
        options.add_argument(option)
    chrome = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    chrome.set_script_timeout(3600)
    if early:
        chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": early})
    return chrome


def _asynchronous(code: str) -> str:
    return f"(async (done) => {{ {code}; return null }})().then(arguments[arguments.length - 1])"


def _ask(chrome: webdriver.Chrome, method: str, *values: object) -> Any:
    code = "const done = arguments[arguments.length - 1]; ask(...arguments[0]).then(done)"
    return chrome.execute_async_script(code, [method, *values])


def _opening(file: Path) -> list[Criterion]:
    """When a fresh browser's field takes input, and when the first sentence is translated."""
    times = []
    for _ in range(5):
        chrome = _chrome(_OPENED)
        chrome.get(file.as_uri())
        WebDriverWait(chrome, 60, 0.02).until(
            lambda chrome: chrome.execute_script("return window.translated")
        )
        times.append(chrome.execute_script("return [window.usable, window.translated]"))
        chrome.quit()
    usable, translated = (statistics.median(each) for each in zip(*times, strict=True))
    return [
        at_most("field usable", usable, 1500, "{:.0f} ms"),
        at_most("first sentence of two words translated", translated, 1500, "{:.0f} ms"),
    ]


def _speed(chrome: webdriver.Chrome) -> list[Criterion]:
    """Time of a sentence of 12 words after the page is loaded; a text of 10,000 characters; memory then."""
    found = [at_most("memory of the page's process, loaded", _memory(chrome) / 1e6, 150, "{:.0f} MB")]
    for beam_size, limit in ((1, 400), (4, 1500)):
        code = """
        const [words, beams, done] = arguments;
        const [field, select] = ["source", "beams"].map((name) => document.getElementById(name));
        field.value = "";
        field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
        select.value = beams;
        select.dispatchEvent(new Event("change"));
        const target = document.getElementById("target");
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (target.querySelector(".stale, .waiting") || !target.textContent.trim()) return;
          observer.disconnect();
          done(performance.now() - began);
        }).observe(target, { childList: true, subtree: true });
        field.value = words;
        field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));"""
        chrome.execute_async_script(code, "Ela vem.", beam_size)
        times = []
        for number in range(9):
            times.append(chrome.execute_async_script(code, f"{_TWELVE_WORDS[:-1]} {number}.", beam_size))
        name = "greedy search" if beam_size == 1 else f"beam {beam_size}"
        found.append(at_most(f"12 words, {name}", statistics.median(times), limit, "{:.0f} ms"))
    found.append(at_most("memory after 20 sentences", _memory(chrome) / 1e6, 150, "{:.0f} MB"))
    long = " ".join(f"{_TWELVE_WORDS[:-1]} {number}." for number in range(140))
    started = time.perf_counter()
    chrome.execute_async_script(code, long, 4)
    found.append(at_most(f"{len(long):,} characters, beam 4", time.perf_counter() - started, 120, "{:.0f} s"))
    return [*found, at_most("memory after that text", _memory(chrome) / 1e6, 150, "{:.0f} MB")]


def _memory(chrome: webdriver.Chrome) -> float:
    """Private memory of the largest renderer process, in bytes."""
    browser = chrome.service.process.pid
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue

    def is_ours(process: int) -> bool:
        return process == browser or (process in parents and is_ours(parents[process]))

    sizes = [0.0]
    for process in parents:
        if is_ours(process) and b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes():
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            sizes.append(sum(1024 * float(line.split()[1]) for line in lines if line.startswith("Private_")))
    return max(sizes)


def _tokens(chrome: webdriver.Chrome, trained: TrainedModel, texts: Sequence[str]) -> Criterion:
    expected = trained.tokenizers.source.encode(texts)
    found: list[list[int]] = []
    for first in range(0, len(texts), 1000):
        found += _ask(chrome, "tokens", texts[first : first + 1000])
    equal = sum(ids == other for ids, other in zip(found, expected, strict=True))
    return at_least(f"token ids of {len(texts):,} texts equal", 100 * equal / len(texts), 100, "{:.2f} %")


def _translations(
    chrome: webdriver.Chrome, trained: TrainedModel, sentences: Sequence[str]
) -> list[Criterion]:
    assign_weights(trained.keras_model, _rounded(trained.weights), trained.info.file)
    engine = KerasEngine(trained.keras_model, suppressed_ids(trained.config.tokenizer))
    sources, _ = encode_framed(trained.tokenizers.source, sentences, trained.config.model.max_positions)
    criteria = []
    for beam_size in (1, 4):
        expected = _keras(engine, trained, sources, beam_size)
        found = [_ask(chrome, "searched", ids, beam_size) for ids in sources]
        equal = 0
        for sentence, own, hypothesis in zip(sentences, found, expected, strict=True):
            if [START, *own["ids"]] == hypothesis.ids:
                equal += 1
                continue
            gap = abs(own["score"] - hypothesis.score)
            print(
                f"{'a tie' if gap < _LONGEST_TIE else 'DIFFERENT'}, {gap:.1e}, beam {beam_size}: {sentence}"
            )
        name = f"translations of {len(sentences)} sentences equal, beam {beam_size}"
        criteria.append(at_least(name, 100 * equal / len(sentences), 99.5, "{:.2f} %"))
    return criteria


def _rounded(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Weights as int8, by output or token, in float32 again."""
    found = {}
    for path, array in weights.items():
        if array.ndim == 2:
            largest = np.abs(array).max(axis=1 if path.endswith("embeddings") else 0, keepdims=True)
            scale = np.float32(127) / np.where(largest == 0, np.float32(127), largest)
            array = np.asarray(np.rint(array * scale) / scale, "float32")
        found[path] = array
    return found


def _keras(
    engine: KerasEngine, trained: TrainedModel, sources: Sequence[Sequence[int]], beam_size: int
) -> list[Hypothesis]:
    options = replace(trained.config.decoding, beam_size=beam_size, num_hypotheses=1)
    alike: dict[int, list[int]] = defaultdict(list)
    for row, source in enumerate(sources):
        alike[min(options.max_length_for(len(source)), trained.config.model.max_positions)].append(row)
    found: dict[int, Hypothesis] = {}
    for limit, rows in alike.items():
        for first in range(0, len(rows), 64):
            batch = rows[first : first + 64]
            hypotheses = engine.submit(SearchRequest([sources[row] for row in batch], limit, options))()
            found |= {row: best for row, (best, *_) in zip(batch, hypotheses, strict=True)}
    return [found[row] for row in range(len(sources))]


if __name__ == "__main__":
    main()
