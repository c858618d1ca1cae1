"""A person at the page, before the server itself, whose model answers in capitals."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

if TYPE_CHECKING:
    from conftest import Browser
    from selenium.webdriver.remote.webelement import WebElement

TEXT, TRANSLATION = "bala dico fute galo", "BALA DICO FUTE GALO"


@pytest.fixture(scope="module")
def address(browser: "Browser", serve: Callable[[], Any]) -> Iterator[str]:
    """Where a server answers."""
    with serve(characters=500) as served:
        yield f"{served.url}/"
        browser.driver.get("about:blank")  # or its connections would be waited for


@pytest.fixture
def page(browser: "Browser", address: str) -> "Browser":
    """The page with a text and its translation."""
    browser.open(address)
    browser.translate(TEXT, TRANSLATION)
    return browser


def focused(page: "Browser") -> str:
    return str(page.script("return document.activeElement.textContent"))


def offers(page: "Browser") -> list[str]:
    """The alternatives in the menu, without what all begin with and their probabilities."""
    code = "return [...document.querySelectorAll('#menu button')].map((each) => each.firstChild.data)"
    found: list[str] = page.script(code)
    return found


def test_the_page_obeys_its_own_policy(page: "Browser") -> None:
    policy = page.script(
        "const answer = await fetch('/'); return answer.headers.get('Content-Security-Policy')"
    )
    assert "unsafe" not in policy
    assert page.complaints() == []
    page.script(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.x = 1'}))"
    )
    assert page.script("return window.x") is None
    assert "Content Security Policy" in page.complaints()[0]


def test_clicking_a_word_offers_alternatives(page: "Browser") -> None:
    page.words("target")["FUTE"].click()
    offered = page.until(lambda: offers(page))
    assert page.all("#menu p")[0].text == "BALA DICO …"
    assert len(offered) == len(set(offered)) >= 3
    assert page.until(lambda: page.strengths("mirror"))["fute"] == 1  # while the menu is open
    page.all("#menu button")[1].click()
    page.until(lambda: page["target"].text == f"BALA DICO {offered[1]}")
    assert not page["menu"].is_displayed()
    assert page["source"].get_property("value") == TEXT
    page.point_at(page.all("#target .word")[1])
    assert page.until(lambda: page.strengths("mirror"))["dico"] == 1


def test_the_keyboard_is_enough(page: "Browser") -> None:
    right, down, enter, escape, control = "\ue014", "\ue015", "\ue007", "\ue00c", "\ue009"
    page["source"].send_keys(" hime", control, enter)
    page.until(lambda: focused(page) == "BALA")
    assert page["target"].text == f"{TRANSLATION} HIME"
    page.press(right)
    assert focused(page) == "DICO"
    page.until(lambda: page.strengths("mirror"))
    page.press(enter)
    first, second, *_ = page.until(lambda: offers(page))
    assert focused(page).startswith(first)
    page.press(down)
    assert focused(page).startswith(second)
    page.press(escape)
    assert focused(page) == "DICO"
    page.press(enter)
    page.until(lambda: focused(page).startswith(first))
    page.press(enter)
    page.until(lambda: page["target"].text == f"BALA {first}")
    page.press(escape)
    assert page.script("return document.activeElement.id") == "source"


def test_inside_shows_every_head_of_the_servers_answer(page: "Browser") -> None:
    page["tab-inside"].click()
    page.until(lambda: page.all("#map th"))
    answer = page.script(
        "const request = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: arguments[0]};"
        "return (await fetch('/v1/attention', request)).json()",
        json.dumps({"q": TEXT, "translation": TRANSLATION}),
    )
    heads = page.all("#heads [role=radio]")
    weights = answer["weights"]["decoder_layer1_block2"]
    assert [head.get_attribute("aria-label") for head in heads] == [
        "Layer 1, mean of all heads",
        *(f"Layer 1, head {n + 1}" for n in range(len(weights))),
    ]
    assert heads[0].get_attribute("aria-checked") == "true"  # its layer aligns words
    heads[2].click()
    assert table(page) == [[round(weight, 4) for weight in row] for row in weights[1]]
    assert [th.text for th in page.all("#map th[scope=row]")] == answer["written_pieces"]
    page.all("#inside-block option[value=encoder]")[0].click()
    assert [label.text for label in page.all("#heads span")] == ["", "Mean", "1", "2", "Layer 1", "Layer 2"]
    page.script("document.querySelector('#heads [tabindex=\"0\"]').focus()")
    page.press("\ue015")  # down: the same head of the next layer
    assert page.all("#map caption")[0].text == "Layer 2, head 2"
    page.all("#inside-block option[value=decoder]")[0].click()
    assert len(page.all("#heads [role=radio]")) == 1 + len(weights)
    page.until(lambda: len(page.all("#map th[scope=col]")) == len(answer["target_pieces"]))
    future = [weight for y, row in enumerate(table(page)) for x, weight in enumerate(row) if x > y]
    assert set(future) == {0.0}
    page.all("#map td[tabindex='0']")[0].click()
    page.press("\ue015")
    readout = f"“{answer['written_pieces'][1]}” is predicted attending to “[START]”: "
    assert page["readout"].text.startswith(readout)
    assert page.complaints() == []


def table(page: "Browser") -> list[list[float]]:
    """The weights of the cells, by rows."""
    code = (
        "return [...document.querySelectorAll('#map tr')].slice(1).map((row) =>"
        "[...row.querySelectorAll('td')].map((cell) => Number(cell.style.getPropertyValue('--weight'))))"
    )
    found: list[list[float]] = page.script(code)
    return found


def test_a_file_or_a_text_that_is_too_long_comes_back_translated(page: "Browser", tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("bala dico\n\nfute\n", encoding="utf-8")
    second = tmp_path / "page.htm"
    second.write_text("<p>galo</p>", encoding="utf-8")
    page["file"].send_keys(f"{file}\n{second}")
    links = page.until(lambda: len(page.all("#files a")) == 2 and page.all("#files a"))
    assert contents(page, links[0]) == "BALA DICO\n\nFUTE\n"
    assert "<p>GALO</p>" in contents(page, links[1])
    page.all("#files button")[1].click()
    page.script(
        "const data = new DataTransfer();"
        "data.items.add(new File(['galo'], 'drop.txt'));"
        "data.items.add(new File(['galo'], 'evil.exe'));"
        "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}))"
    )
    page.until(lambda: len(page.all("#files a")) == 2 and len(page.all("#files .error")) == 1)
    assert contents(page, page.all("#files a")[1]) == "GALO"
    assert ".exe: only .txt" in page["files"].text
    for left in (2, 1, 0):
        page.all("#files button")[0].click()
        assert len(page.all("#files li")) == left
    page.script("source.value = 'bala\\n'.repeat(401); source.dispatchEvent(new Event('input'))")
    page.until(lambda: page["to-document"].is_displayed())
    page["to-document"].click()
    link = page.until(lambda: page.all("#files a"))[0]
    assert contents(page, link) == "BALA\n" * 401
    page.all("#files button")[0].click()


def contents(page: "Browser", link: "WebElement") -> Any:
    return page.script("return (await fetch(arguments[0].href)).text()", link)


def test_nothing_is_wider_than_a_phone(page: "Browser") -> None:
    page.driver.set_window_size(320, 800)
    page.words("target")["GALO"].click()
    page.until(lambda: page.all("#menu button"))
    fits = "const {scrollWidth, clientWidth} = document.documentElement; return scrollWidth <= clientWidth"
    assert page.script(fits)
    for view in ("inside", "history"):
        page[f"tab-{view}"].click()
        assert page.script(fits), view
    page.driver.set_window_size(1200, 900)


def test_it_copies_and_shows_the_last_request_and_its_answer(page: "Browser") -> None:
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    page["copy"].click()
    page.until(lambda: page["status"].text == "Copied.")
    assert page.script("return navigator.clipboard.readText()") == TRANSLATION
    page.all("#exchange summary")[0].click()
    request = {"q": [TEXT], "format": "text", "source": "pt", "target": "en"}
    assert json.loads(page["exchange-request"].text.split("-d '")[1].rstrip("'")) == request
    assert json.loads(page["exchange-answer"].text) == {"translatedText": [TRANSLATION]}


def test_each_route_is_described_with_an_example_and_its_answer(browser: "Browser", address: str) -> None:
    paths = requests.get(f"{address}openapi.json", timeout=120).json()["paths"]
    browser.driver.get(f"{address}docs")
    names = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    browser.until(lambda: len(browser.all("h2")) == len(names))
    assert [title.text for title in browser.all("h2")] == names
    browser.until(lambda: not any(block.text == "…" for block in browser.all("pre")))
    blocks = iter(block.text for block in browser.all("pre"))
    shown = {command.split()[1].removeprefix(address): next(blocks) for command in blocks}
    text = "A minha amiga comprou fruta no mercado."
    assert json.loads(shown["translate"]) == {"translatedText": text.upper()}
    assert json.loads(shown["translate_file"])["translatedFileUrl"].startswith(f"{address}download_file/")
    assert json.loads(shown["languages"])[0]["code"] == "pt"
    assert not [path for path, text in shown.items() if text.startswith('{"error"')]
    assert browser.complaints() == []


def test_axe_finds_nothing_serious(page: "Browser", axe: str) -> None:
    page.script(axe)
    page.words("target")["FUTE"].click()
    page.until(lambda: page.all("#menu button"))
    for view in ("translate", "inside", "history"):
        if view != "translate":
            page[f"tab-{view}"].click()
            page.until(lambda: page.all("#map th") and page.all("#history li"))
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            result = page.script("return axe.run()")
            assert result["passes"]
            assert [f"{found['id']}: {found['nodes'][0]['html']}" for found in result["violations"]] == []
