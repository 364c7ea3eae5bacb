"""The spelling of values in OBO 1.2/1.4: escapes, quoted strings, trailing qualifiers and comments."""

from __future__ import annotations

import re

BLANKS = " \t"  # other white space, such as a no-break space, belongs to the text
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_STRING = r'"(?:[^"\\]|\\.)*"'
_LIST = rf'\{{\s*[^\s="{{}}]+\s*=\s*{_STRING}(?:[^{{}}"\\]|\\.|{_STRING})*\}}'
_QUALIFIERS = rf"{_LIST}(?:[ \t]*{_LIST})*"
# Text, qualifiers, comment. Escapes are stepped over in pairs, so that no brace can be one that belongs to the text.
_PARTS = re.compile(rf"((?:[^\\]|\\.)*?)(?:[ \t]*+({_QUALIFIERS}))?[ \t]*+((?<=[ \t])!.*)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
SPACE = "\\W"
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "W": " "}
_IN_TEXT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "!": "\\!", "{": "\\{", "}": "\\}"}
_IN_QUOTES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"'}
_IN_ID = _IN_TEXT | {" ": "\\ ", '"': '\\"'}


def goes_on(line: str) -> bool:
    """Whether a line ends in a backslash that no other one escapes, so that the next line continues it."""
    return line.endswith("\\") and (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescape(text: str) -> str:
    """The text that a value with backslash escapes stands for."""
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), text) if "\\" in text else text


def split_text(value: str) -> tuple[str, str]:
    """Text and trailing qualifiers of an unquoted value; a comment after ``!`` is dropped."""
    if "\\" not in value and "}" not in value and "\t" not in value:
        end = value.find(" !")
        return (value if end < 0 else value[:end].rstrip(" ")), ""
    parts = _parts(value)
    return (unescape(parts[1]), parts[2] or "") if parts else (unescape(value), "")


def has_qualifiers(value: str) -> bool:
    """Whether a value ends in qualifiers, with no comment behind them."""
    parts = _parts(value)
    return parts is not None and bool(parts[2]) and not parts[3]


def _parts(value: str) -> re.Match[str] | None:
    """Text, qualifiers and comment; None where a value can have no more than text, as most."""
    return _PARTS.fullmatch(value) if "}" in value or "!" in value else None


def split_quoted(value: str) -> tuple[str, str] | None:
    """The quoted string a value begins with and what follows it; None when no string is closed."""
    if "\\" not in value and value.startswith('"'):  # most values; finding a mark is faster than the pattern
        end = value.find('"', 1)
        return (value[1:end], value[end + 1 :].strip(BLANKS)) if end > 0 else None
    match = _QUOTED.match(value)
    return (unescape(match[1]), value[match.end() :].strip(BLANKS)) if match else None


def escape_text(text: str) -> str:
    """A name or comment as it is written."""
    return _escape(text, _IN_TEXT)


def escape_id(text: str) -> str:
    """An id as it is written."""
    return _escape(text, _IN_ID)


def _escape(text: str, table: dict[str, str]) -> str:
    """For values without quotes, where spaces at the ends would be lost."""
    if text.isalnum():
        return text
    inner = text.strip(" ")
    left = len(text) - len(text.lstrip(" "))
    right = len(text) - len(inner) - left
    return SPACE * left + "".join(table.get(char, char) for char in inner) + SPACE * right


def quote(text: str) -> str:
    """A definition or synonym as it is written, with its quotation marks."""
    return '"' + "".join(_IN_QUOTES.get(char, char) for char in text) + '"'
