"""``ptenmt export --format web``, as somebody opens it: a file, in a browser without a network."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from int8_weights import rounded

from ptenmt import export_model
from ptenmt.model.numpy_transformer import NumpyTransformer
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START, suppressed_ids

if TYPE_CHECKING:
    from conftest import Browser

SENTENCE = "A minha amiga comprou fruta no mercado."
ADDRESS = "https://example.org/a?b=1"


@pytest.fixture(scope="module")
def trained() -> TrainedModel:
    return TrainedModel.load("starter")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_model("starter", format="web", output=tmp_path_factory.mktemp("web") / "pt-en.html").path


@pytest.fixture
def page(browser: "Browser", file: Path) -> "Browser":
    browser.open(file.as_uri())
    return browser


def translated(page: "Browser", text: str) -> str:
    """What the page makes of a text, once it is done."""
    page.write(text)
    page.until(lambda: page["copy"].is_displayed(), 60)
    return page["target"].text


def greedy(trained: TrainedModel, sentence: str) -> str:
    """The translation by the model in NumPy, one whole pass a token, with weights rounded to int8."""
    model = NumpyTransformer(trained.config.model, rounded(trained.weights))
    source = np.array([[START, *trained.tokenizers.source.encode([sentence])[0], END]])
    ids = [START]
    while ids[-1] != END:
        logits = model.logits(source, np.array([ids]))[0, -1]
        logits[suppressed_ids(trained.config.tokenizer)] = -np.inf
        ids.append(int(logits.argmax()))
    return trained.tokenizers.target.decode([ids])[0]


def word_with_alternatives(page: "Browser") -> str:
    """Open the menu of a word of which the model is not certain: the last of them."""
    for word, element in reversed(page.words("target").items()):
        page.script("arguments[0].click()", element)
        page.until(lambda: page["menu"].text not in ("", "…"))
        if page.all("#menu button"):
            return word
    raise AssertionError("no word has alternatives")


def test_it_translates_and_shows_how(page: "Browser", trained: TrainedModel):
    translated(page, SENTENCE)
    page["tab-inside"].click()
    page.until(lambda: page.all("#map td:not(.corner)"))
    heads = trained.config.model.num_heads
    assert len(page.all("#heads button")) == (1 + heads) * trained.config.model.num_decoder_layers
    page["tab-translate"].click()
    page["beams"].send_keys("Greedy")
    page.until(lambda: page["copy"].is_displayed(), 60)
    translation = greedy(trained, SENTENCE)
    assert page["target"].text == translation

    page["tab-inside"].click()  # after another search, each part still acts once
    page.until(lambda: not page["inside-status"].text)
    checked = [head.get_attribute("aria-checked") for head in page.all("#heads button")]
    page.script("document.querySelector('#heads [aria-checked=true]').focus()")
    page.press("\ue014")  # →
    moved = [head.get_attribute("aria-checked") for head in page.all("#heads button")]
    assert moved.index("true") == checked.index("true") + 1

    page["tab-translate"].click()
    page.point_at(page.words("target")["friend"])
    page.until(lambda: page.strengths("mirror").get("amiga") == 1)
    word = word_with_alternatives(page)
    options = page.all("#menu button")
    page.script("arguments[0].click()", options[0])
    changed = page["target"].text
    assert changed != translation
    assert changed.startswith(re.split(rf"\b{word}\b", translation)[0].rstrip())
    page["tab-about"].click()
    assert "CC-BY-SA-4.0" in page["view-about"].text
    assert page.complaints() == []


def test_a_text_can_be_stopped_and_goes_on(page: "Browser"):
    page["beams"].send_keys("Greedy")
    text = " ".join(f"Eu vi {number} gatos na rua." for number in range(2, 6))
    # In the page itself: by the time that a driver on a slow machine clicks, all may be translated.
    code = """
        const [source, stop, text] = arguments;
        source.value = text;
        source.dispatchEvent(new Event("input"));
        while (stop.offsetParent === null) await new Promise((done) => setTimeout(done, 5));
        stop.click();
    """
    page.script(code, page["source"], page["stop"], text)
    page.until(lambda: page["status"].text.endswith("of 4 sentences"), 300)
    page.until(lambda: page["target-pane"].get_attribute("aria-busy") == "false")
    page["stop"].click()
    page.until(lambda: page["copy"].is_displayed(), 300)
    assert all(str(number) in page["target"].text for number in range(2, 6))


def test_ctrl_enter_goes_to_the_translation_when_it_is_complete(page: "Browser"):
    page["beams"].send_keys("Greedy")
    code = """
        const [source, copy, text] = arguments;
        const put = (value) => {
          source.value = value;
          source.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
        };
        put(text);
        while (!document.querySelector("#target .word")) await new Promise((done) => setTimeout(done, 5));
        put(`${text} ${text.replaceAll("vi", "vejo")}`);
        source.focus();
        source.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true }));
        while (document.activeElement === source) await new Promise((done) => setTimeout(done, 5));
        return !copy.hidden && document.activeElement === document.querySelector("#target .word");
    """
    page.driver.set_script_timeout(120)
    assert page.script(code, page["source"], page["copy"], "Eu vi 2 gatos na rua. Eu vi 3 gatos na rua.")


def test_an_error_is_shown_until_the_text_changes_which_the_browser_navigates_back_to(page: "Browser"):
    page.script("window.post = Worker.prototype.postMessage")
    page.script("Worker.prototype.postMessage = () => { throw Error('broken') }")
    page.write("Ela vem.")
    page.until(lambda: page["status"].text == "broken")
    assert "error" in page["status"].get_attribute("class")
    page.script("Worker.prototype.postMessage = window.post")
    translation = translated(page, SENTENCE)
    assert page["status"].text == ""
    assert "error" not in page["status"].get_attribute("class")
    page.driver.get("about:blank")
    page.driver.back()
    page.until(lambda: "·" in page.driver.title)
    page.until(lambda: page["copy"].is_displayed(), 60)
    assert page["target"].text == translation


def test_what_is_no_text_stays_and_nobody_is_asked_for_anything(
    page: "Browser", file: Path, trained: TrainedModel
):
    text = f"{ADDRESS}\n\n12,50 €  --  ana@example.org"
    assert translated(page, text) == text
    assert ADDRESS in translated(page, f"Visite {ADDRESS} amanhã.")
    policy = page.all("meta[http-equiv=Content-Security-Policy]")[0].get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    assert page.script("return fetch('data:,x').then(() => 'sent', () => 'refused')") == "refused"
    assert page.script("return [localStorage.length, sessionStorage.length]") == [0, 0]
    assert file.stat().st_size < 1.5 * trained.run.facts()["parameters"] + 150_000


def test_axe_finds_nothing(page: "Browser", axe: str):
    translated(page, SENTENCE)
    page.driver.execute_script(axe)
    for name in ("translate", "inside", "about"):
        page[f"tab-{name}"].click()
        assert page.script("return (await axe.run()).violations.map((found) => found.id)") == [], name
