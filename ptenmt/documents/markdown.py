"""Markdown: prose is translated in the places where markdown-it-py finds it, and all else stays.

Of front matter titles and descriptions are translated, of HTML blocks the text. Code, the definitions of
links, URLs and blocks of other dialects are not touched; neither is how a paragraph is quoted, indented and
divided into lines, or a table into cells.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from html import escape, unescape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt, rules_block
from yaml import YAMLError

from ptenmt.documents.html import BLOCKS
from ptenmt.documents.inline import LINE_BREAK, Piece, StringText, check_text, html_tag, is_prose, tagged
from ptenmt.documents.text_files import TextFile, wrapped, yaml_values
from ptenmt.translation.markup import Fragment

_DIALECT = re.compile(r"^(?:!!!|\?\?\?|:::|\$\$)", re.MULTILINE)
"""Begins a line of an admonition, a container or a formula, which CommonMark has not."""
_DEFINITION = re.compile(r"\[\^[^\]\s]{1,99}\]:\s|[:~] ")
"""Begins a footnote or the definition of a term, which CommonMark has not, either."""
_VALUES = {
    *("title", "subtitle", "description", "summary", "excerpt", "caption", "lead", "abstract", "alt"),
    *("título", "titulo", "subtítulo", "subtitulo", "descrição", "descricao", "resumo", "legenda"),
}
"""The keys of front matter whose values are prose."""

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n((?:.*\n)*?)\1[ \t]*(?:\r?\n|\Z)")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_PREFIX = re.compile(r"\[\^[^\]\s]{1,99}\]:\s+|[:~] +|\[[ xX]\]\s+|\[![A-Z]+\](?:\n|$)")
"""A footnote's label, a definition's sign, a task's check box, or an alert's type: extensions that most
renderers know."""
_POINT = re.compile(r"(\[\^[^\]\s]{1,99}\]| ?(?<![\w:]):(?:[+-]1|\d*[a-z][a-z\d_+-]*):(?![\w:]))")
"""A footnote, or the short name of an emoji."""
_HTML_END = re.compile(rf"(?:</?(?:{'|'.join(BLOCKS)})\b[^<>]*>|{LINE_BREAK.pattern})", re.IGNORECASE)
"""Where a text of an HTML block begins or ends."""
_HTML_KEPT = re.compile(
    r"<(?:!|\?|(?:code|iframe|kbd|math|pre|samp|script|style|svg|template|textarea|var)\b)|\b(?:no)?translate\b",
    re.IGNORECASE,
)
"""What HTML blocks that stay have in them."""
_TAG = r"</?[A-Za-z][^<>]*>"
_UNBROKEN = re.compile(r"`[^`]*`|\]\([^()]*\)")
_SYNTAX = re.compile(r"[\\`*_\[\]<>~]")
_BLOCK = re.compile(r"(?:\d{1,9}(?=[.)](?:\s|$)))?([.)](?=\s|$)|[-+*=]+(?=\s|$)|#{1,6}(?=\s|$)|>)")
"""A block marker at the start of a line: of a list, heading, quote or thematic break (CommonMark)."""
_SIGNS = ("em", "strong", "s")
"""Elements that are left out where the translation has no words for them."""
_Token = Any


def markdown(source: str) -> TextFile:
    """Read Markdown; refuses a file that is too long or has too many texts or signs that could be syntax."""
    check_text(source, sum(map(source.count, "*_~`[!<&|\\\n")))
    return TextFile(source, _prose(source))


def _prose(source: str) -> Iterator[tuple[int, int, StringText]]:
    """The prose of front matter, paragraphs, headings, cells and HTML blocks, in order."""
    front_matter = _FRONT_MATTER.match(source)
    if front_matter and front_matter[1] == "---":
        with suppress(YAMLError):
            begin = front_matter.start(2)
            values = [value for value in yaml_values(front_matter[2]) if value[0].lower() in _VALUES]
            yield from ((begin + first, begin + last, value) for _, first, last, value in values)
    for token, ranges, breaks in _inline(source, front_matter.end() if front_matter else 0):
        if token.type == "html_block":
            yield from _html_texts(source, ranges[0][0], ranges[-1][1])
        else:
            yield ranges[0][0], ranges[-1][1], _Paragraph(token, breaks)


def _html_texts(source: str, begin: int, end: int) -> Iterator[tuple[int, int, StringText]]:
    """The texts of an HTML block, each of which is written on one line."""
    ends = [(begin, begin), *(tag.span() for tag in _HTML_END.finditer(source, begin, end)), (end, end)]
    for (_, first), (last, _) in pairwise(ends):
        if text := source[first:last].strip():
            first = source.index(text, first)
            tags = tagged(" ".join(map(str.strip, text.splitlines())), _TAG, html_tag)
            read = (tag._replace(item=unescape(tag.item)) if tag.kind == "text" else tag for tag in tags)
            yield first, first + len(text), StringText(read, escaped=partial(escape, quote=False))


def _inline(source: str, begin: int) -> Iterator[tuple[_Token, list[tuple[int, int]], list[str]]]:
    """The token of each paragraph, heading, cell and HTML block, where its lines are, and what is between."""
    lines = [line.span(1) for line in _LINE.finditer(source, begin)]
    parent, cell_end = "", 0
    tokens: list[_Token] = _parser().parse(source[begin:])
    for token in tokens:
        if token.type == "html_block" and token.level == 0 and not _HTML_KEPT.search(token.content):
            yield token, lines[slice(*token.map)], []
        elif token.type != "inline":
            parent = token.type
        elif parent in ("paragraph_open", "heading_open") and not _DIALECT.search(token.content):
            ranges, first = list[tuple[int, int]](), token.map[0]
            content_lines = token.content.split("\n")
            for (start, end), content in zip(lines[first:], content_lines, strict=False):
                place = source.find(content.strip(), start, end)
                ranges.append((place, place + len(content.strip())))
            if min(ranges)[0] >= 0:
                breaks = [source[end:start].lstrip(" \t") for (_, end), (start, _) in pairwise(ranges)]
                yield token, ranges, breaks
        elif parent in ("th_open", "td_open"):
            row_begin, row_end = lines[token.map[0]]
            cell = token.content.replace("|", r"\|")
            place = source.find(cell, max(row_begin, cell_end), row_end)
            if place >= 0:
                cell_end = place + len(cell)
                token.meta["is_cell"] = True
                yield token, [(place, cell_end)], []


class _Paragraph(StringText):
    """A paragraph, a heading, or a cell of a table.

    Args:
        token: Its inline token, of a ``_parser``.
        breaks: What stands between its lines: a line end, and what precedes the next line.
    """

    def __init__(self, token: _Token, breaks: Sequence[str]) -> None:
        prefix = _PREFIX.match(token.content)
        self._prefix = prefix[0] if prefix else ""
        self._is_cell = "is_cell" in token.meta
        self._begins_anything = self._is_cell or bool(_BLOCK.match(token.content))
        """Whether a block marker may begin it, as in a heading or a cell."""
        self._breaks = breaks
        self._hard_breaks: list[str] = []
        self._num_lines = [1]
        """Between hard breaks."""
        self._literal = set[str]()
        """Characters that stand in the text without being syntax, though they could be."""
        self._has_prose = any(child.type == "text" and is_prose(child.content) for child in token.children)
        super().__init__(self._pieces(token.content, token.children), escaped=self._with_escapes)
        self._literal.difference_update(
            child.content for child in token.children if child.type == "text_special"
        )

    def _pieces(self, content: str, children: Sequence[_Token]) -> Iterator[Piece]:
        end = len(self._prefix)
        for child in children:
            begin, next_end = child.meta.get("range", (-1, -1))
            if child.type in ("em_open", "strong_open"):
                begin = next_end - len(child.markup)
            elif child.type in ("em_close", "strong_close"):
                next_end = begin + len(child.markup)
            if begin < end or child.type == "text":  # it has no range, stands in the prefix, or is no syntax
                continue
            if child.type in ("softbreak", "hardbreak"):
                text = content[end:begin].rstrip(" ")
                yield from self._text_pieces(text)
                line_end = content.index("\n", begin) + 1
                yield self._break(child.type, content[end + len(text) : line_end])
            else:
                is_apart = child.type == "image" and self._has_prose and content[end:begin].endswith(" ")
                begin -= is_apart  # the space before an image goes where it goes
                yield from self._text_pieces(content[end:begin])
                self._num_lines[-1] += content.count("\n", begin, next_end)
                yield from self._syntax_pieces(child, content[begin:next_end].replace("\n", " "))
            end = next_end
        yield from self._text_pieces(content[end:])

    def _text_pieces(self, text: str) -> Iterator[Piece]:
        for at, part in enumerate(_POINT.split(text)):
            self._literal.update(() if at % 2 else _SYNTAX.findall(part))
            yield Piece("point" if at % 2 else "text", part)

    def _break(self, kind: str, source: str) -> Piece:
        """A line break in the text: only hard ones end a sentence."""
        if kind == "softbreak":
            self._num_lines[-1] += 1
            return Piece("text", " ")
        self._hard_breaks.append(source)  # two spaces, a backslash, or <br>
        self._num_lines.append(1)
        return Piece("break", "\n")

    def _syntax_pieces(self, child: _Token, source: str) -> Iterator[Piece]:
        kind, _, end = child.type.rpartition("_")
        label = child.meta.get("label", "")
        if child.type == "text_special":  # \* is an asterisk, which is escaped again
            yield Piece("text", child.content)
        elif re.fullmatch(r"<br ?/?>", source):
            yield self._break("hardbreak", source)
        elif child.type == "html_inline":
            yield from tagged(source, _TAG, html_tag)
        elif child.type == "image" and not self._has_prose:  # its description is all that there is
            yield Piece("open", "![", "image")
            yield Piece("text", "".join(part.content for part in child.children or ()))
            yield Piece("close", _end_of_label(source[len(label) + 2 :], label), "image")
        elif child.type == "image":
            yield Piece("point", source)
        elif child.type == "code_inline" or child.markup == "autolink":
            yield Piece("placeholder", source)
        elif end == "close":
            yield Piece("close", _end_of_label(source, label), kind)
        else:
            yield Piece("open", source, kind)

    def written(self, spans: Sequence[Fragment]) -> str:
        """The paragraph with another text, on as many lines, if possible."""
        words = [(text, path) for text, path in spans if text or self.elements[path[-1]].name not in _SIGNS]
        parts = super().written(words).split("\n")
        if len(parts) != len(self._num_lines):
            parts, self._num_lines = [" ".join(parts)], [sum(self._num_lines)]
        text = self._prefix
        for part, num_lines, end in zip(parts, self._num_lines, [*self._hard_breaks, ""], strict=False):
            text += "\n".join(map(self._begun, wrapped(part, num_lines, _UNBROKEN))) + end
        first, *others = text.split("\n")
        text = first + "".join(map("".join, zip(self._breaks, others, strict=False)))
        return text.replace("|", r"\|") if self._is_cell else text

    def _begun(self, line: str) -> str:
        """A line of the paragraph that begins nothing else."""
        found = None if self._begins_anything else _BLOCK.match(line)
        return f"{line[: found.start(1)]}\\{line[found.start(1) :]}" if found else line

    def _with_escapes(self, text: str) -> str:
        return _SYNTAX.sub(lambda sign: sign[0] if sign[0] in self._literal else f"\\{sign[0]}", text)


def _end_of_label(source: str, label: str) -> str:
    """What ends a link or an image; a label that is translated no longer names the definition."""
    return f"][{label}]" if source in ("]", "][]") else source


def _parser() -> MarkdownIt:
    """A parser that notes where inline tokens stand, and the labels of links, in their ``meta``."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.disable(["fragments_join", "text_join"])
    parser.block.ruler.before("reference", "definition", _definition, {"alt": ["paragraph", "reference"]})
    inline = parser.inline.ruler
    for name, rule in zip(inline.get_active_rules(), inline.getRules(""), strict=True):
        if name not in ("text", "entity"):  # what these find stays as it is typed
            inline.at(name, partial(_with_ranges, rule))
    return parser


def _definition(state: Any, line: int, last_line: int, silent: bool) -> bool:
    """Take a footnote, or the definition of a term, for a paragraph, which ends the one before it."""
    begin = state.bMarks[line] + state.tShift[line]
    is_definition = not state.is_code_block(line) and _DEFINITION.match(state.src, begin)
    return bool(is_definition) and (silent or rules_block.paragraph(state, line, last_line, silent))


def _with_ranges(rule: Callable[[Any, bool], bool], state: Any, silent: bool) -> bool:
    """Apply a rule of markdown-it-py, and note what it found."""
    begin, sign, num_tokens = state.pos, state.src[state.pos], len(state.tokens) + bool(state.pending)
    label_begin, label_end = begin + (2 if sign == "!" else 1), -1
    if not silent and sign in "[!" and state.src[label_begin - 1 : label_begin] == "[":
        label_end = state.md.helpers.parseLinkLabel(state, label_begin - 1, sign == "[")
    found = rule(state, silent)
    tokens = [] if silent or not found else state.tokens[-1:] if sign == "\n" else state.tokens[num_tokens:]
    for token in tokens[:1]:
        token.meta["range"] = begin, state.pos
        token.meta["label"] = state.src[label_begin : max(label_begin, label_end)]
    if sign in "*_~":
        for token in tokens:
            token.meta["range"] = begin, begin + len(token.content)
            begin += len(token.content)
    elif sign == "[" and tokens:
        tokens[0].meta["range"] = begin, begin + 1
        tokens[-1].meta.update(range=(label_end, state.pos), label=tokens[0].meta["label"])
    return found
