"""What the page asks for, and what it does while a server is slow, busy, or gone."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Answer, Facts, Script, scripted_server, shouted

if TYPE_CHECKING:
    from conftest import Browser


@pytest.fixture(scope="module")
def server() -> Iterator[Script]:
    with scripted_server() as script:
        yield script


@pytest.fixture
def script(browser: "Browser", server: Script) -> Script:
    """What a page that was just opened is answered."""
    server.begin()
    browser.open(server.address)
    return server


@pytest.fixture(scope="module")
def modules(browser: "Browser", server: Script) -> "Browser":
    """Some page, whose modules can be tried."""
    browser.open(server.address)
    return browser


def from_module(browser: "Browser", name: str, call: str, *arguments: object) -> Any:
    """Call what one of the page's modules exports."""
    return browser.script(
        "const [name, call, given] = arguments; return (await import(name))[call](...given)",
        f"./page/{name}",
        call,
        arguments,
    )


SENTENCES = {
    "": [],
    " \n": [],
    "o gato dorme": ["o gato dorme"],
    "O gato dorme. O cão come!  Porquê?": ["O gato dorme.", "O cão come!", "Porquê?"],
    "  Olá.\n\n\nUma linha\noutra linha \n": ["Olá.", "Uma linha", "outra linha"],
    "O Sr. Silva chegou. A Dra. Ana não.": ["O Sr. Silva chegou.", "A Dra. Ana não."],
    "Custa 3.50 euros. É caro…": ["Custa 3.50 euros.", "É caro…"],
    "😀 Olá. <b>Não</b> é\u00a0HTML.": ["😀 Olá. <b>Não</b> é\u00a0HTML."],  # b is no capital
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_are_cut_without_losing_a_character(modules: "Browser", text: str) -> None:
    cut = from_module(modules, "texts.js", "splitSentences", text, "pt")
    assert [part["text"] for part in cut if part["text"]] == SENTENCES[text]
    assert "".join(part["text"] + part["gap"] for part in cut) == text


def test_words_are_aligned_through_the_servers_own_words(modules: "Browser") -> None:
    alignment = {
        "source_words": ["não", " tenho", "."],
        "target_words": ["i", " do", " n't", " have", "."],
        "weights": [[0.2, 0.6, 0.2], [0.5, 0.5, 0], [0.9, 0.1, 0], [0, 0.8, 0.2], [0, 0, 0]],
    }
    source, target = (
        from_module(modules, "texts.js", "splitWords", text) for text in ("não tenho.", "i do n't have.")
    )
    assert [word["text"] for word in target] == ["i", "do", "n't", "have", "."]
    found = from_module(modules, "alignment.js", "alignWords", source, target, alignment)
    assert found[0] == pytest.approx([1 / 3, 1, 1 / 3])
    assert found[2:] == [[1, pytest.approx(1 / 9), 0], [0, 1, pytest.approx(0.25)], [0, 0, 0]]


def test_words_are_marked_as_they_are_aligned(browser: "Browser", script: Script) -> None:
    alignment = {
        "source_words": ["um", " dois"],
        "target_words": ["UM", " DOIS"],
        "weights": [[1, 0], [0.8, 0.2]],
    }
    script.translate = lambda request: (200, alignment, {}) if "prefix" in request else shouted(request)
    browser.translate("um dois", "UM DOIS")
    browser.point_at(browser.words("target")["DOIS"])
    assert browser.until(lambda: browser.strengths("mirror")) == {"um": 1, "dois": 0.25}
    browser.point_at(browser.words("mirror")["um"])
    assert browser.until(
        lambda: browser.strengths("mirror") == {"um": 1} and browser.strengths("target")
    ) == {
        "UM": 1,
        "DOIS": 1,
    }
    assert script.asked[-1] == {"q": "um dois", "prefix": "UM DOIS"}


def test_only_new_sentences_are_asked_for(browser: "Browser", script: Script) -> None:
    browser.translate("Um. Dois.", "UM. DOIS.")
    browser["source"].send_keys(" Dois. Três.")
    browser.until(lambda: browser["target"].text == "UM. DOIS. DOIS. TRÊS.")
    assert [script.texts.count(text) for text in ("Um.", "Dois.", "Três.")] == [1, 1, 1]
    assert script.asked[0]["source"] == "pt"
    assert script.asked[0]["target"] == "en"


def test_a_request_has_room_for_sentences_that_the_server_cuts_in_two(
    browser: "Browser", script: Script
) -> None:
    text = " ".join(f"Gato {number} dorme." for number in range(10))
    browser.script("source.value = arguments[0]; source.dispatchEvent(new Event('input'))", text)  # pasted
    browser.until(lambda: browser["target"].text == text.upper())
    assert [len(request["q"]) for request in script.asked] == [4, 4, 2]


def test_what_is_outdated_is_cancelled_and_never_shown(browser: "Browser", script: Script) -> None:
    go = threading.Event()

    def slow_at_first(request: Facts) -> Answer:
        if request["q"] == ["velho"]:
            go.wait(20)
        return shouted(request)

    script.translate = slow_at_first
    browser.write("velho")
    browser.until(lambda: script.texts == ["velho"])
    browser.translate("novo", "NOVO")
    go.set()
    browser.until(lambda: script.abandoned == ["velho"])
    assert browser["target"].text == "NOVO"


def test_typing_is_not_translated_letter_by_letter(browser: "Browser", script: Script) -> None:
    browser["source"].click()
    for letter in "o gato dorme":
        browser.press(letter)
    browser.until(lambda: browser["target"].text == "O GATO DORME")
    assert len(script.asked) <= 5


def test_a_busy_server_is_retried_after_its_pause(browser: "Browser", script: Script) -> None:
    def busy_once(_request: Facts) -> Answer:
        script.translate = shouted
        return 503, {"error": "too busy"}, {"Retry-After": "1"}

    script.translate = busy_once
    browser.translate("olá", "OLÁ")
    assert script.texts == ["olá", "olá"]


def test_errors_are_shown_and_mended(browser: "Browser", script: Script) -> None:
    script.translate = lambda _request: (400, {"error": "no such language"}, {})
    browser.write("olá")
    browser.until(lambda: browser["status"].text == "no such language")
    browser.write("x" * 201)
    browser.until(lambda: "Too long" in browser["status"].text)
    assert "201 of 200" in browser["count"].text
    script.translate = shouted
    browser.translate("olá", "OLÁ")
    assert "error" not in browser["status"].get_attribute("class")


def test_a_server_that_does_not_answer_is_reported(browser: "Browser") -> None:
    with scripted_server() as script:
        browser.open(script.address)
        browser.translate("olá", "OLÁ")
    browser.write("adeus")
    browser.until(lambda: browser["status"].text == "the server cannot be reached")


def test_a_key_is_asked_for_and_sent(browser: "Browser", script: Script) -> None:
    def locked(request: Facts) -> Answer:
        return shouted(request) if request.get("api_key") == "sesame" else (403, {"error": "no key"}, {})

    script.translate = locked
    browser.write("olá")
    browser.until(lambda: browser["key"].is_displayed())
    browser["key"].send_keys("simsim\n")
    browser.until(lambda: browser["key-error"].text == "That key is not valid.")
    assert browser["key"].get_attribute("aria-invalid") == "true"
    browser["key"].clear()
    browser["key"].send_keys("sesame\n")
    browser.until(lambda: browser["target"].text == "OLÁ")
    assert not browser["key"].is_displayed()
    script.translate = lambda _request: (403, {"error": "no key"}, {})  # it was taken from the file of keys
    browser.write("adeus")
    browser.until(lambda: browser["key-error"].text == "That key is not valid.")


def test_without_attention_inside_shows_only_a_message(browser: "Browser", script: Script) -> None:
    def inside(status: int) -> None:
        script.translate = lambda request: (
            (status, {"error": f"failed with {status}"}, {}) if "translation" in request else shouted(request)
        )
        browser["tab-translate"].click()
        browser["tab-inside"].click()
        browser.until(lambda: browser["inside-status"].text == f"failed with {status}")

    browser.translate("olá", "OLÁ")
    inside(501)
    assert browser["inside"].text == "failed with 501"
    assert [found for found in browser.all("#inside *") if found.is_displayed()] == [browser["inside-status"]]
    inside(400)  # of this sentence; there may be others
    assert browser["inside-sentence"].is_displayed()
    assert not browser["inside-layer"].is_displayed()


def test_translations_are_text_whatever_they_look_like(browser: "Browser", script: Script) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>&amp;"
    script.translate = lambda request: (200, {"translatedText": [evil] * len(request["q"])}, {})
    browser.translate("olá", evil)
    browser["tab-history"].click()
    browser.until(lambda: browser["history"].text)
    assert evil in browser["history"].text
    assert browser.all("main img, main script") == []
    assert browser.complaints() == []


@pytest.mark.usefixtures("script")
def test_history_stays_in_the_browser(browser: "Browser") -> None:
    browser.translate("o rato", "O RATO")
    browser["source"].send_keys(" rói")
    browser.until(lambda: browser.script("return localStorage.length"))
    browser.driver.refresh()
    browser.until(lambda: "→" in browser["direction"].text)
    browser["tab-history"].click()
    assert [line.text.splitlines() for line in browser.all("#history .again")] == [
        ["o rato rói", "O RATO RÓI"]
    ]
    browser.all("#history .again")[0].click()
    browser.until(lambda: browser["target"].text == "O RATO RÓI")
    browser["tab-history"].click()
    browser["forget-all"].click()
    assert browser["history"].text == ""
    assert "rato" not in str(browser.script("return JSON.stringify(localStorage)"))
