"""A translator in one file: a web page with the weights and an engine in JavaScript, which needs no network.

``web/`` has its sources, and ``server/page/`` what it shares with the server's page.
"""

import base64
import hashlib
import json
import re
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import numpy as np

from ptenmt.config import Config
from ptenmt.errors import ExportError
from ptenmt.export.card import lacking, never_generated
from ptenmt.model.ctranslate2_model import specification, why_not_ctranslate2
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_STYLES = ("style", "panes", "inside")
_IMPORT = re.compile(r'from "\./(.+?)\.js";$', re.MULTILINE)
_MODULE_SYNTAX = re.compile(r"^import .*\n|^export ", re.MULTILINE)


def check_web(trained: TrainedModel) -> None:
    """Raise ExportError, with the reason, for a run that the page's engine cannot express."""
    config, kind = trained.config, trained.tokenizers.source.kind
    reason = why_not_ctranslate2(config.model)  # weights are in its layout
    if kind != "sentencepiece" or config.tokenizer.algorithm != "unigram":
        algorithm = f", tokenizer.algorithm={config.tokenizer.algorithm}" if kind == "sentencepiece" else ""
        reason = f"a web page has no tokenizer.kind={kind}{algorithm}"
    elif missing := lacking(config):
        reason = f"a web page has no {missing}"
    if reason:
        raise ExportError(reason, "export with another --format, such as ctranslate2")


def page_name(config: Config) -> str:
    """The name of a page's file, such as ``pt-en.html``."""
    return f"{'-'.join(config.data.languages)}.html"


def web_page(trained: TrainedModel, card: str) -> bytes:
    """The page with a model card in Markdown, for a run that ``check_web`` accepts."""
    from jinja2 import Template

    facts, arrays = model_parts(trained)
    facts["portuguese"] = json.loads(_text("export/web/portuguese.json"))
    style = "".join(_text(f"server/page/{sheet}.css") for sheet in _STYLES) + _text("export/web/page.css")
    script = joined("page")
    hashes = [f"'sha256-{_base64(hashlib.sha256(text.encode()).digest())}'" for text in (script, style)]
    page: str = Template(_text("export/web/page.html")).render(
        policy="default-src 'none'; script-src {}; style-src {}; worker-src blob:; img-src data:; "
        "base-uri 'none'; form-action 'none'".format(*hashes),
        icon=f"data:image/svg+xml;base64,{_base64(_text('server/page/icon.svg').encode())}",
        style=style,
        script=script,
        engine=joined("worker"),
        facts=json.dumps(facts, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        weights=_base64(arrays),
        beam_size=trained.config.decoding.beam_size,
        inside=_shared_element("section", "view-inside"),
        keys=_shared_element("details", "keys"),
        card=_html(card),
    )
    return page.encode()


def joined(name: str) -> str:
    """A JavaScript module after those that it imports, in one: no two may declare the same name."""
    return "".join(_modules(name).values())


def _modules(name: str) -> dict[str, str]:
    is_own = (files("ptenmt") / f"export/web/{name}.js").is_file()
    text = _text(f"{'export/web' if is_own else 'server/page'}/{name}.js")
    modules: dict[str, str] = {}
    for imported in _IMPORT.findall(text):
        modules |= _modules(imported)
    return modules | {name: _MODULE_SYNTAX.sub("", text)}


def _shared_element(tag: str, name: str) -> str:
    """The source of an element of the server's page, by its id."""
    pattern = rf'<{tag} [^>]*id="{name}".*?</{tag}>'
    (found,) = re.findall(pattern, _text("server/page/index.html"), re.DOTALL)
    return str(found)


def _text(path: str) -> str:
    return (files("ptenmt") / path).read_text("utf-8")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _html(markdown: str) -> str:
    """Markdown as HTML, its headings one level lower."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{int(token.tag[1:]) + 1}"
    return str(parser.renderer.render(tokens, parser.options, {}))


def model_parts(trained: TrainedModel) -> tuple[dict[str, Any], bytes]:
    """What the page's engine reads: tokens, options and an index of arrays; and the arrays, as in int8."""
    config, pair = trained.config, trained.tokenizers
    spec = specification(config.model, trained.weights, pair, trained.alignment_layer)
    spec.validate()
    spec.optimize("int8")
    values = {name: value for name, value in spec.variables(ordered=True) if "position" not in name}
    arrays = {name: value.numpy() for name, value in values.items() if not isinstance(value, str)}
    tokenizers: list[dict[str, Any]] = []
    for tokenizer in dict.fromkeys((pair.source, pair.target)):
        assert isinstance(tokenizer, SentencePieceTokenizer)
        symbols = [tokenizer.vocabulary.index(symbol) for symbol in tokenizer.symbols]
        arrays[f"scores{len(tokenizers)}"] = np.array(tokenizer.scores, "float32")
        tokenizers.append({"pieces": tokenizer.vocabulary, "symbols": symbols})
    index: dict[str, list[int]] = {}
    content = bytearray()
    for name, array in sorted(arrays.items(), key=lambda item: item[1].ndim):  # float32 first, to be aligned
        if array.ndim:
            index[name] = [len(content), *array.shape]
            content += array.tobytes()
    stacks = {name: getattr(config.model, name) for name in ("num_encoder_layers", "num_decoder_layers")}
    facts = {
        "languages": config.data.languages,
        "preparation": {"normalization": config.data.normalization, "lowercase": config.data.lowercase},
        "placeholders": config.data.augment.placeholders > 0,
        "tokenizers": tokenizers,
        "model": asdict(config.model) | stacks,
        "alignment_layer": trained.alignment_layer,
        "decoding": asdict(config.decoding),
        "never": never_generated(trained),
        "index": index,
        "aliases": {name: value for name, value in values.items() if isinstance(value, str)},
    }
    return facts, bytes(content)
