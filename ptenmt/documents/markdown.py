"""Markdown: prose is translated in the places where markdown-it-py finds it, and all else stays.

Of front matter titles and descriptions are translated, of HTML blocks the text. Code, the definitions of
links, URLs and blocks of other dialects are not touched; neither is how a paragraph is quoted, indented and
divided into lines, or a table into cells.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from html import escape, unescape
from itertools import accumulate, chain, pairwise, starmap
from typing import Any

from markdown_it import MarkdownIt, rules_block, rules_inline
from yaml import YAMLError

from ptenmt.documents.html import BLOCKS
from ptenmt.documents.inline import (
    LINE_BREAK,
    PLACEHOLDER,
    POINT,
    TaggedText,
    check_tags,
    html_tag,
    limited,
)
from ptenmt.documents.strings import yaml_values
from ptenmt.documents.text import Parsed, TextFile, Unit, tagged, wrapped
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

MAX_CHARACTERS = 2_000_000
MAX_TAGS = 50_000
"""Characters that could be syntax of a paragraph, line ends included."""
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
_TITLE = re.compile(
    r"""(?<=\s)("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\))\s*\)\Z""", re.DOTALL
)
"""The title at the end of a link's or an image's syntax."""
_Token = Any
_Inline = tuple[_Token, list[tuple[int, int]], list[str]]


def markdown(source: str) -> Parsed:
    """Read Markdown; refuses a file that is too long or has too many texts."""
    if len(source) > MAX_CHARACTERS:
        raise DocumentError(f"the Markdown has more than {MAX_CHARACTERS:,} characters", is_too_large=True)
    check_tags(sum(map(source.count, "*_~`[!<&|\\\n")), MAX_TAGS)
    return _Markdown(source)


class _Markdown:
    """Prose, then the descriptions of images and the titles, which are written first."""

    def __init__(self, source: str) -> None:
        inline = list(_inline(source))
        attributes = chain.from_iterable(starmap(partial(_attributes, source), inline))
        self._attributes = TextFile(source, attributes)
        self._prose = TextFile(source, _prose(source, inline))
        self.texts = limited([*self._prose.texts, *self._attributes.texts])

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        prose, num_prose = self._prose, len(self._prose.texts)
        if num_prose < len(texts):
            source = self._attributes.with_texts(texts[num_prose:])
            prose = TextFile(source, _prose(source, _inline(source)))
            if prose.texts != self._prose.texts:  # a sign closed what an unpaired one before it had begun
                prose = self._prose
        return prose.with_texts(texts[:num_prose])


def _prose(source: str, inline: Iterable[_Inline]) -> list[tuple[int, int, Unit]]:
    """The prose of front matter, paragraphs, headings, cells and HTML blocks, in order."""
    found: list[tuple[int, int, Unit]] = []
    if (front_matter := _FRONT_MATTER.match(source)) and front_matter[1] == "---":
        with suppress(YAMLError):
            begin = front_matter.start(2)
            values = [value for value in yaml_values(front_matter[2]) if value[0].lower() in _VALUES]
            found += [(begin + first, begin + last, value) for _, first, last, value in values]
    for token, ranges, breaks in inline:
        if token.type == "html_block":
            found += _html_texts(source, ranges[0][0], ranges[-1][1])
        else:
            kind = _Cell if "is_cell" in token.meta else _Paragraph
            found.append((ranges[0][0], ranges[-1][1], kind(token, breaks)))
    return found


def _html_texts(source: str, begin: int, end: int) -> Iterator[tuple[int, int, Unit]]:
    """The texts of an HTML block."""
    ends = [(begin, begin), *(tag.span() for tag in _HTML_END.finditer(source, begin, end)), (end, end)]
    for (_, first), (last, _) in pairwise(ends):
        if text := source[first:last].strip():
            first = source.index(text, first)
            yield first, first + len(text), _HtmlText(text)


def _inline(source: str) -> Iterator[_Inline]:
    """The token of each paragraph, heading, cell and HTML block, where its lines are, and what is between."""
    front_matter = _FRONT_MATTER.match(source)
    begin = front_matter.end() if front_matter else 0
    lines = [line.span(1) for line in _LINE.finditer(source, begin)]
    parent, cell_end = "", 0
    tokens: list[_Token] = _parser().parse(source[begin:])
    for token in tokens:
        if token.type == "html_block" and not _HTML_KEPT.search(token.content):
            ranges = lines[token.map[0] : token.map[0] + token.content.rstrip("\n").count("\n") + 1]
            if [source[slice(*line)].strip() for line in ranges] == list(
                map(str.strip, token.content.rstrip("\n").split("\n"))
            ):
                yield token, ranges, []
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


def _attributes(
    source: str, token: _Token, ranges: Sequence[tuple[int, int]], _breaks: Sequence[str]
) -> Iterator[tuple[int, int, "_Attribute"]]:
    """The descriptions of images, and the titles of images and links; not those on several lines."""
    if token.type == "html_block":
        return
    lines = token.content.split("\n")
    line_begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for begin, attribute in _attributes_of(token):
        row = bisect_right(line_begins, begin) - 1
        indentation = len(lines[row]) - len(lines[row].lstrip())
        place = ranges[row][0] + begin - line_begins[row] - indentation
        if "\n" not in attribute.source and source.startswith(attribute.source, place):
            yield place, place + len(attribute.source), attribute


def _attributes_of(token: _Token) -> Iterator[tuple[int, "_Attribute"]]:
    """Where the attributes begin in the content of an inline token."""
    title_of_link = ""
    for child in token.children:
        title = child.attrs.get("title", title_of_link)
        if child.type == "link_open":
            title_of_link = title
        if child.type not in ("image", "link_close") or "range" not in child.meta:  # an address in < >
            continue
        begin, end = child.meta["range"]
        syntax, label = token.content[begin:end], child.meta["label"]
        if child.type == "image":
            description = "".join(part.content for part in child.children or ())
            if syntax[2 + len(label) :] in ("]", "][]"):  # the label names the definition
                yield begin + 2, _Attribute(syntax[2:], description, _SYNTAX, after=f"][{label}]")
            else:
                yield begin + 2, _Attribute(label, description, _SYNTAX)
        if written := _TITLE.search(syntax):
            first, last = written[1][0], written[1][-1]
            signs = re.compile(rf"[\\{first}{last}]")
            yield begin + written.start(1), _Attribute(written[1], title, signs, first, last)


class _Attribute:
    """The description of an image, or a title.

    Args:
        source: What stands for it in the file.
        value: The text.
        syntax: Characters that are escaped in a text.
        before: What precedes the text.
        after: What follows it.
    """

    def __init__(
        self, source: str, value: str, syntax: re.Pattern[str], before: str = "", after: str = ""
    ) -> None:
        self.source, self._value, self._syntax = source, value, syntax
        self._before, self._after = before, after
        self.spans: list[Fragment] = [(value, ())]

    def written(self, spans: Sequence[Fragment]) -> str:
        """The attribute with another text; | is escaped as it could end a cell."""
        text = " ".join(text_of(spans).split())
        if text == self._value:
            return self.source
        escaped = self._syntax.sub(r"\\\g<0>", text).replace("|", r"\|")
        return self._before + escaped + self._after


class _HtmlText:
    """A text of an HTML block."""

    def __init__(self, source: str) -> None:
        lines = source.splitlines()
        self._num_lines = len(lines)
        self._line_end = source[len(lines[0]) : source.index(lines[1].lstrip())] if len(lines) > 1 else ""
        pieces = tagged(" ".join(map(str.strip, lines)), _TAG, html_tag)
        self._text = TaggedText((part if name else unescape(part), name) for part, name in pieces)
        self.spans = self._text.spans

    def written(self, spans: Sequence[Fragment]) -> str:
        """The text with another one, on as many lines, if possible."""
        text = self._text.written(spans, partial(escape, quote=False))
        return self._line_end.join(wrapped(text, self._num_lines, re.compile(_TAG)))


class _Paragraph:
    """A paragraph, or a heading.

    Args:
        token: Its inline token, of a ``_parser``.
        breaks: What stands between its lines: a line end, and what precedes the next line.
    """

    def __init__(self, token: _Token, breaks: Sequence[str]) -> None:
        prefix = _PREFIX.match(token.content)
        self._prefix = prefix[0] if prefix else ""
        self._begins_anything = bool(_BLOCK.match(token.content))
        """Whether a block marker may begin it, as in a heading."""
        self._breaks = breaks
        self._hard_breaks: list[str] = []
        self._num_lines = [1]
        """Between hard breaks."""
        self._literal = set[str]()
        """Characters that stand in the text without being syntax, though they could be."""
        self._text = TaggedText(self._pieces(token.content, token.children))
        self._literal.difference_update(
            child.content for child in token.children if child.type == "text_special"
        )
        self.spans = self._text.spans

    def _pieces(self, content: str, children: Sequence[_Token]) -> Iterator[tuple[str, str | None]]:
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
                is_apart = child.type == "image" and content[end:begin].endswith(" ")
                begin -= is_apart  # the space before an image goes where it goes
                yield from self._text_pieces(content[end:begin])
                self._num_lines[-1] += content.count("\n", begin, next_end)
                yield from self._syntax_pieces(child, content[begin:next_end].replace("\n", " "))
            end = next_end
        yield from self._text_pieces(content[end:])

    def _text_pieces(self, text: str) -> Iterator[tuple[str, str | None]]:
        for at, part in enumerate(_POINT.split(text)):
            self._literal.update(() if at % 2 else _SYNTAX.findall(part))
            yield part, POINT if at % 2 else None

    def _break(self, kind: str, source: str) -> tuple[str, None]:
        """A line break in the text: only hard ones end a sentence."""
        if kind == "softbreak":
            self._num_lines[-1] += 1
            return " ", None
        self._hard_breaks.append(source)  # two spaces, a backslash, or <br>
        self._num_lines.append(1)
        return "\n", None

    def _syntax_pieces(self, child: _Token, source: str) -> Iterator[tuple[str, str | None]]:
        kind, _, end = child.type.rpartition("_")
        if child.type == "text_special":  # \* is an asterisk, which is escaped again
            yield child.content, None
        elif re.fullmatch(r"<br ?/?>", source):
            yield self._break("hardbreak", source)
        elif child.type == "html_inline":
            yield source, html_tag(source)
        elif child.type == "image":
            yield source, POINT
        elif child.type == "code_inline" or child.markup == "autolink":
            yield source, PLACEHOLDER
        elif end == "close":
            is_label = kind == "link" and source in ("]", "][]")  # which is translated
            yield f"][{child.meta['label']}]" if is_label else source, f"/{kind}"
        else:
            yield source, kind

    def written(self, spans: Sequence[Fragment]) -> str:
        """The paragraph with another text, on as many lines, if possible."""
        words = [span for span in spans if span[0] or not self._text.is_around(span[1], "*_~")]
        parts = self._text.written(words, self._escaped).split("\n")
        if len(parts) != len(self._num_lines):
            parts, self._num_lines = [" ".join(parts)], [sum(self._num_lines)]
        text = self._prefix
        for part, num_lines, end in zip(parts, self._num_lines, [*self._hard_breaks, ""], strict=False):
            text += "\n".join(map(self._begun, wrapped(part, num_lines, _UNBROKEN))) + end
        first, *others = text.split("\n")
        return first + "".join(map("".join, zip(self._breaks, others, strict=False)))

    def _begun(self, line: str) -> str:
        """A line of the paragraph that begins nothing else."""
        found = None if self._begins_anything else _BLOCK.match(line)
        return f"{line[: found.start(1)]}\\{line[found.start(1) :]}" if found else line

    def _escaped(self, text: str) -> str:
        return _SYNTAX.sub(lambda sign: sign[0] if sign[0] in self._literal else f"\\{sign[0]}", text)


class _Cell(_Paragraph):
    """A cell of a table."""

    def written(self, spans: Sequence[Fragment]) -> str:
        """The cell with another text."""
        return super().written(spans).replace("|", r"\|")

    def _begun(self, line: str) -> str:
        return line  # a cell cannot begin a block


def _parser() -> MarkdownIt:
    """A parser that notes where inline tokens stand, and the labels of links, in their ``meta``."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.disable(["fragments_join", "text_join"])
    rules: dict[str, Any] = {
        "newline": rules_inline.newline,
        "escape": rules_inline.escape,
        "backticks": rules_inline.backtick,
        "strikethrough": rules_inline.strikethrough.tokenize,
        "emphasis": rules_inline.emphasis.tokenize,
        "link": rules_inline.link,
        "image": rules_inline.image,
        "autolink": rules_inline.autolink,
        "html_inline": rules_inline.html_inline,
    }
    parser.block.ruler.before("reference", "definition", _definition, {"alt": ["paragraph", "reference"]})
    for name, rule in rules.items():
        parser.inline.ruler.at(name, partial(_with_ranges, rule))
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
