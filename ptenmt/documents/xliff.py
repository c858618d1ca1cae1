"""XLIFF 1.2 and 2: each ``target`` that is empty or missing becomes the translation of its ``source``."""

from collections.abc import Collection
from copy import deepcopy
from functools import partial
from typing import Any

from lxml import etree

from ptenmt.documents.html import Html
from ptenmt.errors import DocumentError

_UNITS = ("{*}trans-unit", "{*}segment")
_INLINE = ("g", "mrk", "pc", "sub")
"""Elements with text; the others stand for something in the original file."""
_BEGINS, _ENDS = ("bpt", "bx", "sc"), ("ept", "ex", "ec")
"""Elements that stand where something begins, and where it ends."""
_LANGUAGES = (("source-language", "srcLang"), ("target-language", "trgLang"))
"""The attributes, of version 1.2 and 2."""
MAX_NODES = 500
"""Of an element whose codes are paired, which takes time quadratic in their number."""
_PAIR = "ptenmt-pair"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_Element = Any


class Xliff(Html):
    """A file in XLIFF; ``languages``, if it names others, refuse it, and the second becomes its target's."""

    def __init__(self, source: str, languages: tuple[Collection[str], str] | None = None) -> None:
        try:
            super().__init__(source, roles=_roles)
        except ValueError as error:  # lxml makes no elements in namespaces that it cannot parse
            raise DocumentError(f"the file is not XLIFF: {error}") from error
        root = self.root.find(".//{*}xliff")
        if root is None:
            raise DocumentError("the file is not XLIFF: it has no element xliff")
        if languages:
            _name_languages(root, *languages)

    def _written(self, tree: Any) -> str:
        for pair in list(tree.iter(_PAIR)):
            begin, end = (etree.fromstring(pair.get(name)) for name in ("begin", "end"))
            begin.tail, pair.text = pair.text, None
            pair.insert(0, begin)
            pair.append(end)
        for line_break in tree.iter("br"):
            line_break.tail = f"\n{line_break.tail or ''}"
        etree.strip_tags(tree, _PAIR, "br")
        return super()._written(tree)


def _name_languages(root: _Element, sources: Collection[str], target: str) -> None:
    """Refuse a file of other languages; one without that of its targets gets it."""
    is_version_2 = root.get("version", "").startswith("2")
    for node in [root] if is_version_2 else root.iter("{*}file"):
        for names, accepted in zip(_LANGUAGES, (sources, [target]), strict=True):
            language = node.get(names[is_version_2], "")
            if language and language.lower().split("-")[0] not in accepted:
                raise DocumentError(f"the file's {names[0]} is {language}, not {' or '.join(accepted)}")
        name = _LANGUAGES[1][is_version_2]
        node.set(name, node.get(name, target))


def _roles(root: _Element) -> dict[_Element, str]:
    """The role of each node, as of HTML: new targets are blocks."""
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    units = [unit for unit in root.iter(*_UNITS) if next(unit.iterancestors(*_UNITS), None) is None]
    targets = {target for unit in units for target in _new_targets(unit)}
    roles: dict[_Element, str] = {}
    for node in root.iter():
        name = etree.QName(node).localname
        is_text = roles.get(node.getparent()) in ("block", "inline")
        if node in targets or (is_text and node.get("mtype") == "seg"):
            roles[node] = "block"
        elif not is_text:
            roles[node] = "untranslated"
        elif node.get("translate") == "no" or node.get("mtype") == "protected":
            roles[node] = "placeholder"
        elif name in _INLINE or name == _PAIR:
            roles[node] = "inline"
        else:
            roles[node] = "placeholder" if name in ("x", "ph", "br") else "point"
    return roles


def _new_targets(unit: _Element) -> list[_Element]:
    """The target of a unit, with the contents of its source; none if it has been translated."""
    source, target = unit.find("{*}seg-source"), unit.find("{*}target")
    source = unit.find("{*}source") if source is None else source
    around = [unit, *unit.iterancestors()]
    is_done = target is not None and "".join(target.itertext()).strip()
    if source is None or is_done or any(node.get("translate") == "no" for node in around):
        return []
    if target is None:
        target = unit.makeelement(unit.tag.replace(etree.QName(unit).localname, "target"))
        source.addnext(target)
        target.tail = source.tail
    target.text = source.text
    target[:] = [deepcopy(node) for node in source]
    if etree.QName(unit).localname == "segment":
        unit.set("state", "translated")
    else:
        target.set("state", "needs-review-translation")
        target.set("state-qualifier", "mt-suggestion")
    for parent in list(target.iter()):
        _pair_codes(parent)
    if "preserve" in [node.get(_SPACE) for node in (source, *around)]:
        for node in list(target.iter()):
            _mark_line_breaks(node, is_target=node is target)
    return [target]


def _pair_codes(parent: _Element) -> None:
    """Put what stands between the begin and the end of something into an element around it."""
    opened: list[_Element] = []
    nodes = list(parent) if len(parent) <= MAX_NODES else []
    for node in nodes:
        name = etree.QName(node).localname
        if name in _BEGINS:
            opened.append(node)
        key = node.get("startRef") or node.get("rid") or node.get("id")
        if name not in _ENDS or not opened or key not in (opened[-1].get("rid"), opened[-1].get("id")):
            continue
        begin = opened.pop()
        codes = (etree.tostring(code, encoding="unicode", with_tail=False) for code in (begin, node))
        pair = parent.makeelement(_PAIR, dict(zip(("begin", "end"), codes, strict=True)))
        first, last = parent.index(begin), parent.index(node)
        pair.text, pair.tail = begin.tail, node.tail
        pair[:] = parent[first + 1 : last]
        parent[first : first + 2] = [pair]  # in place of both


def _mark_line_breaks(node: _Element, *, is_target: bool) -> None:
    """Replace line ends that are preserved by elements, of which a text keeps the place."""
    node.text, *lines = (node.text or "").split("\n")
    node.tail, *tail_lines = [node.tail] if is_target else (node.tail or "").split("\n")
    for append, following in ((partial(node.insert, 0), lines), (node.addnext, tail_lines)):
        for line in reversed(following):
            line_break = node.makeelement("br")
            line_break.tail = line
            append(line_break)
