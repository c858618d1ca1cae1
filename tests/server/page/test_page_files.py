"""The page's files hold together, obey the strictest content policy, and can be read by weak eyes."""

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import pytest

import ptenmt

PAGE = Path(ptenmt.__file__).parent / "server" / "page"
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in PAGE.iterdir()}
MODULES = sorted(name for name in TEXTS if name.endswith(".js"))
UNTRANSLATED = {"ptenmt", "Ctrl", "Enter", "Esc", "←", "→", "0%", "100%", "⇄"}
ROUTES = {"docs", ".", "openapi.json", "frontend/settings", "languages", "v1/models"}
REFERENCES = ("aria-controls", "aria-describedby", "aria-labelledby", "for")


class Markup(HTMLParser):
    """Every element with its attributes, and what stands inside script and style elements."""

    def __init__(self, name: str = "index.html") -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inline = ""
        self.texts: set[str] = set()
        self._open = ""
        self.feed(TEXTS[name])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open if tag != self._open else ""

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style"):
            self.inline += data.strip()
        elif text := re.sub(r"\s+", " ", data.strip()):
            self.texts.add(text)


@pytest.fixture(scope="module")
def markup() -> Markup:
    return Markup()


def attributes(markup: Markup, *names: str) -> list[str]:
    return [found[name] or "" for _, found in markup.elements for name in names if name in found]


def test_nothing_is_inline(markup: Markup) -> None:
    assert markup.inline == ""
    names = {name for _, found in markup.elements for name in found}
    assert [name for name in names if name == "style" or name.startswith("on")] == []


def test_nothing_comes_from_elsewhere_and_no_text_becomes_markup_or_code() -> None:
    risky = (
        r"(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\b|new Function|createContextualFragment"
    )
    for name, text in TEXTS.items():
        places = text.replace("http://www.w3.org/2000/svg", "")  # the name of a language, not a place
        assert re.findall(r"https?:|//\w+\.\w+/|@import|url\(", places) == [], name
        assert re.findall(risky, text) == [] or name not in MODULES, name


def test_every_file_is_used_and_there_and_modules_are_fetched_at_once(markup: Markup) -> None:
    both = [*attributes(markup, "src", "href"), *attributes(Markup("docs.html"), "src", "href")]
    named = {name.removeprefix("page/") for name in both} - ROUTES
    imported = {found for name in MODULES for found in re.findall(r'from "\./(.+?)"', TEXTS[name])}
    assert named | imported | {"index.html", "docs.html"} == set(TEXTS)
    preloaded = [found["href"] for name, found in markup.elements if found.get("rel") == "modulepreload"]
    assert preloaded == [f"page/{name}" for name in MODULES if name not in ("app.js", "docs.js")]


def test_every_element_that_is_meant_is_there(markup: Markup) -> None:
    known = Counter(attributes(markup, "id"))
    meant = {word for name in REFERENCES for words in attributes(markup, name) for word in words.split()}
    app = TEXTS["app.js"] + TEXTS["translation-page.js"]
    looked_up = set(re.findall(r'part\("([\w-]+)"\)', app))
    for several in re.findall(r"parts\(\{(.+?)\}\)", app, re.DOTALL):
        looked_up |= set(re.findall(r'"([\w-]+)"', several))
    assert [name for name, count in known.items() if count > 1] == []
    assert (meant | looked_up) - known.keys() == set()
    assert {"source", "target", "heads"} <= looked_up


def test_whatever_the_page_says_has_a_translation(markup: Markup) -> None:
    scripts = " ".join(TEXTS[name] for name in MODULES if name != "strings.js")
    known = set(re.findall(r'^  "(.+?)":', TEXTS["strings.js"], re.MULTILINE))
    said = set(re.findall(r'\bsay\(\s*"(.+?)"', scripts + TEXTS["strings.js"]))
    shown = {*markup.texts, *attributes(markup, "aria-label")} - UNTRANSLATED
    assert (said | shown) - known == set()
    assert [text for text in known - said - shown if f'"{text}"' not in scripts] == []


def luminance(colour: str) -> float:
    """The relative luminance of ``#rrggbb``, as WCAG 2.2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_enough_to_read() -> None:
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TEXTS["style.css"])
    pairs = [*product(("ink", "soft", "bad", "accent"), ("paper", "ground")), ("on-accent", "accent")]
    pairs += [("ink", "hover"), ("ink", "marked")]
    for scheme, (one, other) in product((0, 1), pairs):
        colours = {name: both[scheme] for name, *both in found}
        dark, light = sorted(luminance(colours[name]) for name in (one, other))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (scheme, one, other)
