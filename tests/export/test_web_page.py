"""The file that ``ptenmt export --format web`` writes; tests/server/page/test_one_file.py opens it."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from untrained_runs import MODEL

import ptenmt
from ptenmt import export_model
from ptenmt.config import DataConfig, DecodingConfig
from ptenmt.errors import ExportError
from ptenmt.runs import Run


@pytest.fixture(scope="module")
def page(plain_run: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    exported = export_model(
        plain_run, format="web", output=tmp_path_factory.mktemp("web") / "a" / "mine.html"
    )
    content = exported.path.read_bytes()
    assert (exported.num_bytes, exported.quantization) == (len(content), "int8")
    return content.decode()


def test_it_may_run_its_own_program_and_nothing_else(page: str):
    (policy,) = re.findall(r'Content-Security-Policy" content="(.+?)"', page)
    hashes = [
        b64encode(sha256(re.findall(pattern, page, re.DOTALL)[0].encode()).digest()).decode()
        for pattern in (r'<script type="module">(.*?)</script>', r"<style>(.*?)</style>")
    ]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert page.count("<script") == page.count("</script>") == 4
    assert "{{" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_it_has_the_card(page: str):
    assert "<h2>sentencepiece: Portuguese to English</h2>" in page
    assert "Open <code>mine.html</code> in a browser" in page
    assert "jdoe" not in page


def test_it_searches_as_the_run_does(page: str, make_run: Callable[..., Run]):
    """With the run's beam, or a greedy search; the other one can be chosen."""
    assert re.findall(r'<option value="(\d+)"( selected)?', page) == [("3", ""), ("1", "")]
    greedy = make_run("sentencepiece", shared=True, decoding=DecodingConfig(beam_size=1))
    exported = export_model(greedy, format="web").path.read_text(encoding="utf-8")
    assert re.findall(r'<option value="(\d+)"( selected)?', exported) == [("4", ""), ("1", " selected")]


WITH_MOSES = DataConfig(source="files", path="pairs.tsv", tokenization="moses")


@pytest.mark.parametrize(
    ("kind", "sections", "reason"),
    [
        ("words", {}, "no tokenizer.kind=words"),
        ("sentencepiece", {"data": WITH_MOSES}, "no data.tokenization=moses"),
        ("sentencepiece", {"decoding": DecodingConfig(no_repeat_ngram=3)}, "no decoding.no_repeat_ngram=3"),
        ("sentencepiece", {"model": replace(MODEL, positions="none")}, "model.positions=none"),
    ],
)
def test_what_it_cannot_express_is_refused(
    make_run: Callable[..., Run], kind: str, sections: dict[str, object], reason: str
):
    with pytest.raises(ExportError, match=reason):
        export_model(make_run(kind, **sections), format="web")


WEB, SERVER = (Path(ptenmt.__file__).parent / folder for folder in ("export/web", "server/page"))
UNTRANSLATED = {"", "ptenmt", "Ctrl", "Enter", "Esc", "←", "→", "0%", "100%"}
PROGRAMS = "".join(file.read_text(encoding="utf-8") for file in sorted(WEB.glob("*.js")))


def test_text_never_becomes_markup_or_code():
    assert (
        re.findall(r"(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\b|new Function", PROGRAMS)
        == []
    )


def test_whatever_the_page_says_has_a_translation():
    markup = re.sub(r"<style>.*?</style>|{.*?}+", "", (WEB / "page.html").read_text(encoding="utf-8"))
    shown = {" ".join(text.split()) for text in re.findall(r">([^<>]+)<", markup)}
    said = set(re.findall(r'\bsay\((?:[\w.#]+ \? )?"(.+?)"', PROGRAMS)) | set(
        re.findall(r'aria-label="(.+?)"', markup)
    )
    own = json.loads((WEB / "portuguese.json").read_text(encoding="utf-8"))
    shared = re.findall(r'^  "(.+?)":', (SERVER / "strings.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert (said | shown) - {*own, *shared} - UNTRANSLATED == set()
    assert {*own} - said - shown - set(re.findall(r'"(.+?)"', PROGRAMS)) == set()
