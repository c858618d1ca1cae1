"""The script of the attention page, run by a browser: what it shows of weights that are known."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from ptenmt.inspection.attention import AttentionWeights, attention_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOURCE, TARGET = ["[START]", "o", "gato", "[END]"], ["[START]", "the", "<b>"]
CROSS = np.array(  # [H, T, S]
    [
        [[0.1, 0.7, 0.1, 0.1], [0.0, 0.25, 0.75, 0.0], [1.0, 0.0, 0.0, 0.0]],
        [[0.1, 0.1, 0.7, 0.1], [0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.0, 1.0]],
    ]
)
SELF = np.array([[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.2, 0.6]]] * 2)
ENCODER = np.array([np.eye(4), np.full((4, 4), 0.25)])

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]


class Shown(HTMLParser):
    """The texts of a page, by the id of the nearest element around them that has one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link"):  # which have no end
            self.open.append((tag, dict(attrs).get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        place = next((name for _, name in reversed(self.open) if name), "")
        if data.strip():
            self.texts.setdefault(place, []).append(data.strip())


def shown(folder: Path, action: str = "") -> Shown:
    """What the page shows, after a script has acted on it."""
    found = AttentionWeights(
        source_pieces=SOURCE,
        target_pieces=TARGET,
        written_pieces=[*TARGET[1:], "[END]"],
        weights={
            "encoder_layer1": ENCODER[::-1],
            "encoder_layer2": ENCODER,
            "decoder_layer1_block1": SELF,
            "decoder_layer1_block2": CROSS,
        },
    )
    file = folder / "page.html"
    file.write_text(attention_page(found).replace("</body>", f"<script>{action}</script></body>"), "utf-8")
    answer = subprocess.run(
        [str(BROWSER), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return Shown(re.sub(r"<(style|script).*?</\1>", "", answer.stdout, flags=re.DOTALL))


def test_a_page_shows_the_mean_over_the_heads_of_the_first_word(tmp_path: Path) -> None:
    page = shown(tmp_path)
    assert page.texts["source"] == ["[START]", "10%", "o", "40%", "gato", "40%", "[END]", "10%"]
    assert page.texts["target"] == ["[START]", "100%", "the", "<b>", "[END]"]
    assert page.texts["described"] == [
        "“the”, when the decoder writes it (layer 1, mean over the heads):",
        "in the source: o 40%, gato 40%, [START] 10%, [END] 10%",
        "in the translation so far: [START] 100%",
    ]
    cells = page.texts["grids"]
    assert cells[1:6] == ["mean", "head 1", "head 2", "layer 1", "40% o"]


def test_a_row_of_the_decoder_is_the_token_that_it_writes(tmp_path: Path) -> None:
    page = shown(tmp_path, "document.querySelectorAll('#target .token')[2].click()")
    assert page.texts["source"] == ["[START]", "25%", "o", "25%", "gato", "50%", "[END]"]
    assert page.texts["target"] == ["[START]", "40%", "the", "60%", "<b>", "[END]"]
    assert page.texts["described"][0] == "“<b>”, when the decoder writes it (layer 1, mean over the heads):"
    start = shown(tmp_path, "document.querySelectorAll('#target .token')[0].click()")
    assert start.texts["described"][0].startswith("“the”"), "nothing writes [START]"


def test_a_click_asks_for_a_word_and_for_a_head(tmp_path: Path) -> None:
    head = shown(tmp_path, "document.querySelector('[data-place=cross-1-2]').click()")
    assert head.texts["source"] == ["[START]", "10%", "o", "10%", "gato", "70%", "[END]", "10%"]
    assert head.texts["described"][0].endswith("(layer 1, head 2):")
    word = shown(tmp_path, "document.querySelectorAll('#source .token')[1].click()")
    assert word.texts["source"] == ["[START]", "13%", "o", "63%", "gato", "13%", "[END]", "13%"]
    assert word.texts["target"] == [*TARGET, "[END]"], "the encoder sees no translation"
    assert word.texts["described"][0] == "“o” (layer 2, mean over the heads):", "the encoder's last"
    assert [text for text in word.texts["grids"] if text.startswith("layer")] == ["layer 1", "layer 2"]
