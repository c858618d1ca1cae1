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


def answer(script: Script, field: str, facts: Facts, status: int = 200) -> None:
    """Answer requests with this field by these facts, and translate the others."""
    script.translate = lambda request: (status, facts, {}) if field in request else shouted(request)


def reload(browser: "Browser") -> None:
    """Load the page again, and go to its history."""
    browser.driver.refresh()
    browser.until(lambda: "·" in browser.driver.title)
    browser["tab-history"].click()


def stored(browser: "Browser") -> str:
    """What the page keeps in the browser."""
    return str(browser.script("return JSON.stringify(localStorage)"))


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


def test_sentences_are_cut_without_losing_a_character(modules: "Browser") -> None:
    for text, sentences in SENTENCES.items():
        cut = from_module(modules, "texts.js", "splitSentences", text, "pt")
        assert [part["text"] for part in cut if part["text"]] == sentences
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
    words = {"source_words": ["um", " dois"], "target_words": ["UM", " DOIS"]}
    answer(script, "prefix", words | {"weights": [[1, 0], [0.8, 0.2]]})
    browser.translate("um dois", "UM DOIS")
    browser.point_at(browser.words("target")["DOIS"])
    assert browser.until(lambda: browser.strengths("mirror")) == {"um": 1, "dois": 0.25}
    browser.point_at(browser.words("mirror")["um"])
    browser.until(lambda: browser.strengths("mirror") == {"um": 1})
    assert browser.until(lambda: browser.strengths("target")) == {"UM": 1, "DOIS": 1}
    browser.point_at(browser["count"])
    browser.until(lambda: not browser.strengths("mirror") and not browser.strengths("target"))
    assert script.asked[-1] == {"q": "um dois", "prefix": "UM DOIS", "source": "pt", "target": "en"}


def test_only_new_sentences_are_asked_for(browser: "Browser", script: Script) -> None:
    browser.translate("Um. Dois.", "UM. DOIS.")
    browser["source"].send_keys(" Dois. Três.")
    browser.until(lambda: browser["target"].text == "UM. DOIS. DOIS. TRÊS.")
    assert [script.texts.count(text) for text in ("Um.", "Dois.", "Três.")] == [1, 1, 1]
    assert (script.asked[0]["source"], script.asked[0]["target"]) == ("pt", "en")


def test_a_request_has_room_for_sentences_that_the_server_cuts_in_two(
    browser: "Browser", script: Script
) -> None:
    text = " ".join(f"Gato {number} dorme." for number in range(10))
    pasted = "new InputEvent('input', {inputType: 'insertFromPaste'})"
    browser.script(f"source.value = arguments[0]; source.dispatchEvent({pasted})", text)
    browser.until(lambda: browser["target"].text == text.upper())
    assert [len(request["q"]) for request in script.asked] == [4, 4, 2]


def test_what_is_outdated_is_cancelled_and_never_shown(browser: "Browser", script: Script) -> None:
    go = threading.Event()

    def slow_at_first(request: Facts) -> Answer:
        if request["q"] == ["velho"]:
            go.wait(300)
        return shouted(request)

    script.translate = slow_at_first
    browser.write("velho")
    browser.until(lambda: script.texts == ["velho"])
    browser.translate("novo", "NOVO")
    go.set()
    browser.until(lambda: script.abandoned == ["velho"])
    assert browser["target"].text == "NOVO"


def test_typing_is_translated_by_sentences_and_at_pauses(browser: "Browser", script: Script) -> None:
    browser["source"].click()
    with browser.pauses_held():
        for letter in "o gato dorme":
            browser.press(letter)
        assert browser.script("return heldPauses().length") == 1
    browser.until(lambda: browser["target"].text == "O GATO DORME")
    assert script.texts == ["o gato dorme"]

    script.begin()
    browser.write("")
    with browser.pauses_held():  # for which finished sentences do not wait
        browser["source"].send_keys("O gato dorme. O cão")
        browser.until(lambda: browser["target"].text == "O GATO DORME. …")
        assert script.texts == ["O gato dorme."]


def test_a_cleared_text_comes_back(browser: "Browser", script: Script) -> None:
    browser.translate("o gato", "O GATO")
    browser["clear"].click()
    browser.until(lambda: browser["target"].text == "")
    assert browser["clear"].text == "Undo"
    browser["clear"].click()
    browser.until(lambda: browser["target"].text == "O GATO")
    browser["clear"].click()
    browser["source"].send_keys("\ue009z")  # Ctrl+Z
    browser.until(lambda: browser["target"].text == "O GATO")
    assert script.texts == ["o gato"]


def test_alternatives_are_shown_with_their_probabilities(browser: "Browser", script: Script) -> None:
    found = [("O GATO BEBE", 0.6), ("O GATO COME BEM", 0.25), ("O GATO COME BEM", 0.1)]
    facts = {"alternatives": [{"text": text, "probability": share} for text, share in found]}
    answer(script, "count", facts)
    browser.translate("o gato bebe", "O GATO BEBE")
    browser.words("target")["BEBE"].click()
    browser.until(lambda: browser.all("#menu button"))
    assert browser["menu"].text.split("\n") == ["O GATO …", "COME BEM", "25%"]
    assert "prefix" in script.asked[-1]
    browser.press("\ue004")  # Tab: past the word that the menu is of
    assert not browser["menu"].is_displayed()
    assert browser.script("return document.activeElement.textContent") == "Request and response"
    browser.words("target")["O"].click()
    browser.until(lambda: browser.all("#menu button"))
    assert browser["menu"].text.split("\n") == ["O GATO COME BEM", "25%"]  # without a prefix


def test_it_speaks_portuguese(browser: "Browser", server: Script) -> None:
    agent = {"userAgent": browser.script("return navigator.userAgent")}
    browser.driver.execute_cdp_cmd("Network.setUserAgentOverride", agent | {"acceptLanguage": "fr,pt-PT,en"})
    try:
        browser.open(server.address)
        assert browser["tab-translate"].get_property("textContent") == "Traduzir"
        assert browser.driver.title == "De português para inglês · ptenmt"
        assert browser.script("return document.documentElement.lang") == "pt-PT"
        assert browser["menu"].get_attribute("aria-label") == "Alternativas"
    finally:
        browser.driver.execute_cdp_cmd("Network.setUserAgentOverride", agent | {"acceptLanguage": "en"})


def test_an_example_is_on_the_first_screen(browser: "Browser", script: Script) -> None:
    browser.until(lambda: browser["model"].text)
    example = browser.all("#examples button")[0]
    text = example.text
    example.click()
    browser.until(lambda: browser["target"].text == text.upper())
    assert not browser["examples"].is_displayed()
    assert script.texts == [text]


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
    browser.script(
        "source.value = 'x'.repeat(801); source.dispatchEvent(new Event('input'))"
    )  # four requests
    browser.until(lambda: "Too long" in browser["notice"].text)
    assert "801 of 800" in browser["count"].text
    script.translate = shouted
    browser.translate("olá", "OLÁ")
    assert "error" not in browser["status"].get_attribute("class")


def test_a_server_that_does_not_answer_is_asked_again(browser: "Browser") -> None:
    with scripted_server() as script:
        browser.open(script.address)
        browser.translate("olá", "OLÁ")
    browser.write("adeus")
    browser.until(lambda: browser["status"].text == "The server cannot be reached. Trying again …")
    assert "error" in browser["status"].get_attribute("class")
    assert not browser["copy"].is_displayed()  # what is shown is of the earlier text
    with scripted_server(port=int(script.address.split(":")[2].split("/")[0])):
        browser.until(lambda: browser["target"].text == "ADEUS")
    assert browser["status"].text == ""


def test_a_key_is_asked_for_and_sent(browser: "Browser", script: Script) -> None:
    def locked(request: Facts) -> Answer:
        return shouted(request) if request.get("api_key") == "sesame" else (403, {"error": "no key"}, {})

    script.translate = locked
    browser.write("olá")
    browser.until(lambda: browser["key"].is_displayed())
    browser["key"].send_keys("simsim\n")
    browser.until(lambda: browser["key-error"].text == "That key is not valid.")
    assert browser["key"].get_attribute("aria-invalid") == "true"
    browser.write("olé")
    browser.until(lambda: script.asked[-1]["q"] == ["olé"] and browser["status"].text == "no key")
    assert browser["key-error"].text == "That key is not valid."
    browser["key"].clear()
    browser["key"].send_keys("sesame\n")
    browser.until(lambda: browser["target"].text == "OLÉ")
    assert not browser["key"].is_displayed()
    script.translate = lambda _request: (403, {"error": "no key"}, {})  # it was taken from the file of keys
    browser.write("adeus")
    browser.until(lambda: browser["key-error"].text == "That key is not valid.")


def test_a_translation_is_not_spoken_of_another_text(browser: "Browser", script: Script) -> None:
    browser.translate("olá", "OLÁ")
    spoken = "return spoken.textContent"
    browser.until(lambda: browser.script(spoken) == "OLÁ")
    go = threading.Event()
    script.translate = lambda request: (go.wait(300), shouted(request))[1]
    browser.write("adeus")
    browser.until(lambda: script.texts[-1] == "adeus")
    assert browser.script(spoken) == ""
    go.set()
    browser.until(lambda: browser.script(spoken) == "ADEUS")


def test_without_attention_inside_shows_only_a_message(browser: "Browser", script: Script) -> None:
    def inside(status: int) -> None:
        answer(script, "translation", {"error": f"failed with {status}"}, status)
        browser["tab-translate"].click()
        browser["tab-inside"].click()
        browser.until(lambda: browser["inside-status"].text == f"failed with {status}")

    browser.translate("olá", "OLÁ")
    inside(501)
    assert browser["inside"].text == "failed with 501"
    assert [found for found in browser.all("#inside *") if found.is_displayed()] == [browser["inside-status"]]
    inside(400)  # of this sentence; there may be others
    assert browser["inside-sentence"].is_displayed()
    assert not browser["inside-block"].is_displayed()


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
    browser.until(lambda: "rato rói" in stored(browser))
    reload(browser)
    shown = [["o rato rói", "O RATO RÓI"]]
    assert [line.text.splitlines() for line in browser.all("#history .again")] == shown
    assert browser.all("#history time")[0].text
    for wanted, found in (("gato", []), ("RÓI", shown)):
        browser["history-search"].clear()
        browser["history-search"].send_keys(wanted)
        assert [line.text.splitlines() for line in browser.all("#history .again")] == found
        assert browser["history-empty"].text == ("" if found else "Nothing found.")
    browser["forget-all"].click()
    assert browser["history"].text == ""
    assert "rato" not in stored(browser)
    browser["forget-all"].click()  # undo
    browser.all("#history .again")[0].click()
    browser.until(lambda: browser["target"].text == "O RATO RÓI")


@pytest.mark.usefixtures("script")
def test_the_focus_stays_near_a_removed_entry(browser: "Browser") -> None:
    entry = "{source: arguments[0][n], translation: 'X', sentences: [], languages: {}, time: n + 1}"
    code = f"localStorage['ptenmt.history'] = JSON.stringify([0, 1, 2].map((n) => ({entry})))"
    browser.script(code, ["um", "dois", "três"])
    reload(browser)
    for number, left in ((1, "três"), (1, "um")):
        browser.all("#history .forget")[number].click()
        label = browser.script("return document.activeElement.ariaLabel")
        assert label == f"Remove: {left}"


def test_a_link_fills_the_panes(browser: "Browser", script: Script) -> None:
    browser.open(f"{script.address}?source=en&target=pt&q=a+cat%0Aand+a+dog")
    browser.until(lambda: browser["target"].text == "A CAT\nAND A DOG")
    body = {"q": [], "format": "text", "source": "en", "target": "pt"}
    assert script.asked[0] | {"q": []} == body
    browser["share"].click()
    browser.until(lambda: browser["status"].text)
    assert browser.driver.current_url == f"{script.address}?source=en&target=pt&q=a+cat%0Aand+a+dog"


def test_languages_can_be_chosen_and_swapped(browser: "Browser", script: Script) -> None:
    browser.translate("o gato", "O GATO")
    options = [option.text for option in browser.all("#source-language option")]
    assert (options, browser["target-language"].is_displayed()) == (["Portuguese", "English"], False)
    browser["swap"].click()
    browser.until(lambda: script.texts == ["o gato", "O GATO"])
    assert browser["source"].get_property("value") == "O GATO"
    assert (script.asked[-1]["source"], script.asked[-1]["target"]) == ("en", "pt")
    assert browser["target-name"].get_property("textContent") == "Portuguese"
    browser.until(lambda: not browser["tab-inside"].is_displayed())  # no model of these languages is known
    script.translate = lambda request: (200, shouted(request)[1] | {"detected": ["pt"]}, {})
    browser.translate("gato", "GATO")
    assert browser["notice"].text.startswith("This looks like Portuguese.")
    browser["to-language"].click()
    browser.until(lambda: script.asked[-1]["source"] == "pt")
