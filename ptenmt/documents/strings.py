"""Strings of programs, of which the values are translated and all else stays: gettext, JSON, YAML."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import yaml

from ptenmt.data.kept_parts import without_kept_parts
from ptenmt.documents.inline import StringText, check_text, html_tag, tagged
from ptenmt.documents.plain_text import TextFile
from ptenmt.errors import DocumentError

MAX_DEPTH = 200
_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAG = r"</?(?:[A-Za-z][^<>]*|\d+ ?/?)>"
_IDENTIFIER = re.compile(r"[\w.:/@+-]*(?:\w[.:]\w|\d)[\w.:/@+-]*|[/:.]\S+")
"""One word that a program reads, such as a version, a key, a path or a size, and no kept part."""
_MOST_OF_CODE = 500
"""Characters; of longer strings only the choices among texts are looked for."""
_MESSAGE_FORMAT = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,")
"""ICU's choice among texts."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ACCELERATOR = re.compile(r"(?<!\S)(?:(?:[^\W\d_]{1,2}(?=&[a-zà-ÿ]{2}))?&|_)(?=[^\W\d_][^\s&_;=/]*(?!\S))")
"""What ends with the mark before the letter of a keyboard shortcut: & before or in a word, _ before one."""
_BEGIN_OF_WORD = re.compile(r"(?<!\S)(?=[^\W\d_])")


def _string(value: str, encoded: Callable[[str], str]) -> StringText:
    """A string in a file, as ``encoded`` writes one; one that programs read has no text.

    Raises DocumentError for a lone surrogate, which is half of a character.
    """
    if surrogate := _SURROGATE.search(value):
        raise DocumentError(f"a string has half of a surrogate pair, {surrogate[0]!r}")
    return StringText([] if _is_code(value) else tagged(value, _TAG, html_tag), encoded=encoded)


def _is_code(value: str) -> bool:
    """Whether a string is for programs: a choice among texts, an identifier, nothing but kept parts."""
    is_choice = _MESSAGE_FORMAT.search(value) is not None
    if is_choice or len(value) > _MOST_OF_CODE:
        return is_choice
    has_words = any(map(str.isalpha, without_kept_parts(value)))
    return _IDENTIFIER.fullmatch(value) is not None or (any(map(str.isalpha, value)) and not has_words)


_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_GETTEXT_LINE = re.compile(
    r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,9}\])?)?[ \t]*("((?:[^"\\]|\\.)*)")[ \t]*'
)
_WITH_TWO_NUMBERS = ("de", "en", "es", "it", "nl", "pt")
_PLURALS_OF_TEMPLATES = "nplurals=INTEGER; plural=EXPRESSION;"


def gettext_messages(source: str, languages: tuple[Collection[str], str] | None = None) -> TextFile:
    """A gettext catalogue: ``msgid`` is translated where ``msgstr`` is empty; all other bytes stay.

    The second of the ``languages`` becomes the one that the header names. A template gets a character set.
    """
    check_text(source, source.count("<"))
    if languages:
        header = re.compile(r'^("Language: )[^"\\]*', re.MULTILINE)
        source = header.sub(rf"\g<1>{languages[1]}", source, count=1)
        source = source.replace("charset=CHARSET", "charset=UTF-8", 1)
        if languages[1] in _WITH_TWO_NUMBERS:
            source = source.replace(_PLURALS_OF_TEMPLATES, "nplurals=2; plural=(n != 1);", 1)
    return TextFile(source, _gettext_ranges(source))


def _gettext_ranges(source: str) -> Iterator[tuple[int, int, StringText]]:
    line_end = "\r\n" if "\r\n" in source else "\n"
    texts = {"msgid": "", "msgid_plural": ""}
    for keyword, begin, end, text, is_fuzzy in _gettext_fields(source):
        value = re.sub(r"\\(.)", lambda sign: _CONTROLS.get(sign[1], sign[1]), text)
        if not keyword.startswith("msgstr"):
            texts[keyword] = value
        elif not value and not is_fuzzy:
            text = texts["msgid" if keyword in ("msgstr", "msgstr[0]") else "msgid_plural"]
            mark = _accelerator(text)
            encoded = partial(_gettext_string, mark=mark, line_end=line_end)
            yield begin, end, _string(text.replace(mark, "") if mark else text, encoded)


def _accelerator(text: str) -> str:
    """The mark of a keyboard shortcut, as in ``&Abrir``; empty if a text has none, or the sign twice."""
    found = _ACCELERATOR.search(text)
    mark = found[0][-1] if found else ""
    return mark if text.count(mark) == 1 else ""


def _gettext_fields(source: str) -> Iterator[tuple[str, int, int, str, bool]]:
    """The keywords, each with where its string begins and ends, the string, and if its message is fuzzy."""
    fields: list[tuple[str, int, int, str, bool]] = []
    is_fuzzy = False
    for number, line in enumerate(re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", source), 1):
        found = _GETTEXT_LINE.match(line[0])
        if not line[0].strip() or line[0].lstrip()[0] == "#":
            is_fuzzy = line[0].startswith("#,") and "fuzzy" in line[0] or is_fuzzy and bool(line[0].strip())
            continue
        if not found or line[0][found.end() :].strip() or not (found[1] or fields):
            raise DocumentError(f'line {number:,} is none of a gettext catalogue, such as msgid "text"')
        keyword, begin, before = found[1], line.start() + found.start(2), ""
        if not keyword:
            keyword, begin, _, before, _ = fields.pop()
        fields.append((keyword, begin, line.start() + found.end(2), before + found[3], is_fuzzy))
    if not fields:
        raise DocumentError('the file has no messages: no line such as msgid "text"')
    yield from fields


def _gettext_string(text: str, mark: str, line_end: str) -> str:
    """A string, with a mark before its first word; one with line ends inside stands on several lines."""
    lines = _BEGIN_OF_WORD.sub(mark, text, count=1).splitlines(keepends=True) or [""]
    strings = [json.dumps(line, ensure_ascii=False) for line in lines]
    return line_end.join(strings if len(strings) == 1 else ['""', *strings])


def json_strings(source: str) -> TextFile:
    """JSON: every string but keys is a text."""
    check_text(source, source.count("<"))
    try:
        json.loads(source, parse_int=str)
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, ValueError) else "it is nested too deeply"
        raise DocumentError(f"the file is not JSON: {reason}") from error
    encoded = partial(json.dumps, ensure_ascii=source.isascii() and "\\u" in source)
    strings = re.finditer(r'"(?:[^"\\]|\\.)*"(\s*:)?', source)  # a colon follows keys only
    values = (string for string in strings if not string[1])
    return TextFile(source, ((*value.span(), _string(json.loads(value[0]), encoded)) for value in values))


def yaml_strings(source: str) -> TextFile:
    """YAML: every scalar that is a string, but keys, is a text; aliases, tagged scalars and comments stay."""
    check_text(source, source.count("<"))
    try:
        return TextFile(source, (value[1:] for value in yaml_values(source)))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise DocumentError(f"the file is not YAML: {reason}") from error


def yaml_values(source: str) -> Iterator[tuple[str, int, int, StringText]]:
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
            begin = event.start_mark.index
            written = source[begin : event.end_mark.index].rstrip()
            end = begin + len(written)
            written = re.sub(r"^(?:[&!]\S*\s+)*", "", written)  # without anchor and tag
            yield key, end - len(written), end, _string(event.value, partial(_yaml_scalar, event.style))
        elif place == "key" and isinstance(event, yaml.ScalarEvent):
            key = event.value


def _yaml_events(source: str) -> Any:
    return yaml.parse(source, Loader=_YAML_LOADER)


def _is_yaml_string(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent):
        return False
    tag = event.tag or _YAML_LOADER("").resolve(yaml.ScalarNode, event.value, event.implicit)
    return bool(tag == "tag:yaml.org,2002:str")


def _yaml_scalar(style: str | None, text: str) -> str:
    """A text with the quotes of what it replaces, or if it cannot have these, in double quotes."""
    if style == "'" and "\n" not in text:
        return "'" + text.replace("'", "''") + "'"
    return text if not style and _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text is the same string without quotes, in every context."""
    try:
        _, _, _, event, *others = _yaml_events(f"[{text}]")
    except yaml.YAMLError:
        return False
    return _is_yaml_string(event) and event.value == text and len(others) == 3
