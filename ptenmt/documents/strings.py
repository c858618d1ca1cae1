"""Strings of programs, of which the values are translated and all else stays: gettext (.po), JSON, YAML."""

import json
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import yaml

from ptenmt.data.kept_parts import find_kept_parts
from ptenmt.documents.inline import TaggedText, check_tags, html_tag
from ptenmt.documents.text import Parsed, TextFile, tagged
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

MAX_YAML_CHARACTERS = 2_000_000
MAX_DEPTH = 200
MAX_TAGS = 50_000
_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAG = r"</?(?:[A-Za-z][^<>]*|\d+ ?/?)>"
_IDENTIFIER = re.compile(
    r"[\w.:/@#$+=?&%*\\-]*(?:\w[_.:@=\\]\w|[a-z][A-Z]|\d)[\w.:/@#$+=?&%*\\-]*|[/#@$.\\]\S+|[A-Z\d_]*_[A-Z\d_]*"
)
"""One word that a program reads: snake_case, camelCase, a key, a path, a colour, a version, a URL."""
_MESSAGE_FORMAT = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,")
"""ICU's choice among texts."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ACCELERATOR = re.compile(r"(?<!\S)(?:(?:[^\W\d_]{1,2}(?=&[a-zà-ÿ]{2}))?&|_)(?=[^\W\d_][^\s&_;=/]*(?!\S))")
"""What ends with the mark before the letter of a keyboard shortcut: & before or in a word, _ before one."""


class _String:
    """A string in a file, as ``encoded`` writes one; one that programs read has no text.

    Raises DocumentError for a lone surrogate, which is half of a character.
    """

    def __init__(self, value: str, encoded: Callable[[str], str]) -> None:
        if surrogate := _SURROGATE.search(value):
            place = surrogate.start()
            context = value[max(0, place - 20) : place + 20]
            raise DocumentError(f"the string {context!r} has half of a surrogate pair, {surrogate[0]!r}")
        is_code = _MESSAGE_FORMAT.search(value) or (len(value) < 500 and _IDENTIFIER.fullmatch(value))
        self._text = TaggedText([] if is_code else tagged(value, _TAG, html_tag))
        self._encoded = encoded
        self.spans = self._text.spans

    def written(self, spans: Sequence[Fragment]) -> str:
        return self._encoded(self._text.written(spans))


class WithAccelerators:
    """A file whose strings are translated without their accelerator marks, such as those of ``&Abrir``.

    Only a sign that a string has once is such a mark. In the translation it stands before the same letter,
    at the beginning of a word if possible, or, without such a letter, before the first one. Text after a
    tab is not searched.

    Args:
        parse: Reads the file.
        source: The file.
        languages: As of ``Html``.
    """

    def __init__(
        self,
        parse: Callable[..., Parsed],
        source: str,
        languages: tuple[Collection[str], str] | None = None,
    ) -> None:
        self._file = parse(source, languages)
        self._marks = [_accelerator(text_of(spans)) for spans in self._file.texts]
        self.texts = [
            _spliced(spans, mark.end() - 1, mark.end(), "") if mark else spans
            for spans, mark in zip(self._file.texts, self._marks, strict=True)
        ]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        marked = (
            _with_mark(spans, mark) if mark else spans for spans, mark in zip(texts, self._marks, strict=True)
        )
        return self._file.with_texts(list(marked))


def _accelerator(text: str) -> re.Match[str] | None:
    found = _ACCELERATOR.search(text)
    sign = found[0][-1] if found else ""
    return found if found and text.replace(2 * sign, "").count(sign) == 1 else None


def _with_mark(spans: Sequence[Fragment], mark: re.Match[str]) -> Sequence[Fragment]:
    text = text_of(spans)
    wanted = mark.string[mark.end()].lower()
    kept = [part.span() for part in find_kept_parts(text)]
    letters = [
        place
        for place, char in enumerate(text.partition("\t")[0])
        if char.isalpha() and not any(begin <= place < end for begin, end in kept)
    ]
    if not letters:
        return spans
    place = min(letters, key=lambda at: (text[at].lower() != wanted, text[at - 1 : at].isalpha(), at))
    return _spliced(spans, place, place, mark[0][-1])


def _spliced(spans: Sequence[Fragment], begin: int, end: int, inserted: str) -> list[Fragment]:
    """Fragments with other characters from ``begin`` to ``end``, which lie in one of them."""
    spliced, place = list[Fragment](), 0
    for text, path in spans:
        if place <= begin < place + len(text):
            changed = text[: begin - place] + inserted + text[end - place :]
        else:
            changed = text
        spliced.append((changed, path))
        place += len(text)
    return [fragment for fragment in spliced if any(fragment)]


_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_GETTEXT_LINE = re.compile(
    r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,9}\])?)?[ \t]*("((?:[^"\\]|\\.)*)")[ \t]*'
)


def gettext_messages(source: str, languages: tuple[Collection[str], str] | None = None) -> TextFile:
    """A gettext catalogue: ``msgid`` is translated where ``msgstr`` is empty; all other bytes stay.

    The second of the ``languages`` becomes the one that the header names.
    """
    check_tags(source.count("<"), MAX_TAGS)
    if languages:
        header = re.compile(r'^("Language: )[^"\\]*', re.MULTILINE)
        source = header.sub(rf"\g<1>{languages[1]}", source, count=1)
    return TextFile(source, _gettext_ranges(source))


def _gettext_ranges(source: str) -> Iterator[tuple[int, int, _String]]:
    line_end = "\r\n" if "\r\n" in source else "\n"
    fields: list[tuple[str, int, int, list[str]]] = []
    for number, line in enumerate(re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", source), 1):
        found = _GETTEXT_LINE.match(line[0])
        if not line[0].strip() or line[0].lstrip()[0] == "#":
            continue
        if not found or line[0][found.end() :].strip() or not (found[1] or fields):
            raise DocumentError(f'line {number:,} is none of a gettext catalogue, such as msgid "text"')
        begin, end = line.start() + found.start(2), line.start() + found.end(2)
        keyword, values = found[1], [found[3]]
        if not keyword:
            keyword, begin, _, before = fields.pop()
            before.append(found[3])
            values = before
        fields.append((keyword, begin, end, values))
    texts = {"msgid": "", "msgid_plural": ""}
    for keyword, begin, end, values in fields:
        value = re.sub(r"\\(.)", lambda sign: _CONTROLS.get(sign[1], sign[1]), "".join(values))
        if not keyword.startswith("msgstr"):
            texts[keyword] = value
        elif not value:
            text = texts["msgid" if keyword in ("msgstr", "msgstr[0]") else "msgid_plural"]
            yield begin, end, _String(text, lambda text: _gettext_string(text, line_end))
    if not fields:
        raise DocumentError('the file has no messages: no line such as msgid "text"')


def _gettext_string(text: str, line_end: str) -> str:
    """A string; one with line ends inside stands on several lines."""
    lines = []
    for line in text.splitlines(keepends=True) or [""]:
        escaped = line.replace("\\", r"\\").replace('"', r"\"")
        for letter, control in _CONTROLS.items():
            escaped = escaped.replace(control, f"\\{letter}")
        lines.append(f'"{escaped}"')
    return line_end.join(lines if len(lines) == 1 else ['""', *lines])


def json_strings(source: str) -> TextFile:
    """JSON: every string but keys is a text."""
    check_tags(source.count("<"), MAX_TAGS)
    try:
        json.loads(source, parse_int=str)
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, ValueError) else "it is nested too deeply"
        raise DocumentError(f"the file is not JSON: {reason}") from error
    is_ascii = source.isascii() and "\\u" in source

    def encoded(text: str) -> str:
        return json.dumps(text, ensure_ascii=is_ascii)

    strings = re.finditer(r'"(?:[^"\\]|\\.)*"(\s*:)?', source)  # a colon follows keys only
    values = (string for string in strings if not string[1])
    return TextFile(source, ((*value.span(), _String(json.loads(value[0]), encoded)) for value in values))


def yaml_strings(source: str) -> TextFile:
    """YAML: every scalar that is a string, but keys, is a text; aliases, tagged scalars and comments stay."""
    if len(source) > MAX_YAML_CHARACTERS:
        raise DocumentError(f"the YAML has more than {MAX_YAML_CHARACTERS:,} characters", is_too_large=True)
    check_tags(source.count("<"), MAX_TAGS)
    try:
        return TextFile(source, (value[1:] for value in yaml_values(source)))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise DocumentError(f"the file is not YAML: {reason}") from error


def yaml_values(source: str) -> Iterator[tuple[str, int, int, _String]]:
    """The strings of YAML but keys, each after the last key, and where it begins and ends."""
    key = ""
    places = ["item"]  # of what comes next in each collection: item, key, value, or hidden in a key
    for event in _yaml_events(source):
        kind = type(event)
        if kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            places.pop()
        if not issubclass(kind, yaml.NodeEvent):
            continue
        place = places[-1]
        places[-1] = {"key": "value", "value": "key"}.get(place, place)
        if issubclass(kind, yaml.CollectionStartEvent):
            is_mapping = kind is yaml.MappingStartEvent
            places.append("hidden" if place in ("key", "hidden") else "key" if is_mapping else "item")
            if len(places) > MAX_DEPTH:
                raise DocumentError("the YAML is nested too deeply", is_too_large=True)
        elif place in ("item", "value") and _is_yaml_string(event):
            end = event.end_mark.index
            written = re.sub(r"^(?:[&!]\S*\s+)*", "", source[event.start_mark.index : end])  # anchor, tag
            yield key, end - len(written), end, _String(event.value, partial(_yaml_scalar, event, written))
        elif place == "key" and isinstance(event, yaml.ScalarEvent):
            key = event.value


def _yaml_events(source: str) -> Any:
    return yaml.parse(source, Loader=_YAML_LOADER)


def _is_yaml_string(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent):
        return False
    tag = event.tag or _YAML_LOADER("").resolve(yaml.ScalarNode, event.value, event.implicit)
    return bool(tag == "tag:yaml.org,2002:str")


def _yaml_scalar(event: Any, written: str, text: str) -> str:
    """A text in the style of the scalar that it replaces, or if that cannot have it, in double quotes."""
    if event.style in ("|", ">"):
        return _yaml_block(event, written, text)
    if event.style == "'" and "\n" not in text:
        return "'" + text.replace("'", "''") + "'"
    return text if not event.style and _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text is the same string without quotes, in every context."""
    try:
        _, _, _, event, *others = _yaml_events(f"[{text}]")
    except yaml.YAMLError:
        return False
    return _is_yaml_string(event) and event.value == text and len(others) == 3


def _yaml_block(event: Any, written: str, text: str) -> str:
    """A text as a block in the indentation of the one that it replaces."""
    header, *body = written.splitlines()
    first, first_value = (next(filter(str.strip, lines), "") for lines in (body, event.value.splitlines()))
    num_spaces = max(1, _num_spaces(first) - _num_spaces(first_value))
    text = text.rstrip("\n") if event.value[0].isspace() else text.strip("\n ")
    lines = text.split("\n")
    if event.style == ">" and any(line[:1].isspace() for line in lines):
        header = header.replace(">", "|", 1)  # such lines are not folded
    elif event.style == ">":
        text = re.sub("\n+", r"\g<0>\n", text)
        width = max(20, 80 - num_spaces)
        wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
        lines = [part for line in text.split("\n") for part in wrapper.wrap(line) or [""]]
    line_end = "\r\n" if "\r\n" in written else "\n"
    ends = written[len(written.rstrip()) :]
    return line_end.join([header, *(" " * num_spaces + line if line else "" for line in lines)]) + ends


def _num_spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
