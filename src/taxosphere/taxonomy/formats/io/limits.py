"""What an XML or JSON text must not do: nest without end, define entities that grow or lead elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat

from taxosphere.errors import InputError

DEEPEST = 500  # elements inside each other; parsers of RDF need time that grows with the square
LONGEST_ENTITY = 1_000  # characters; ontologies abbreviate addresses with entities
BLOCK = 1 << 18
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_CUT_OFF = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)


def check_xml(path: Path, text: str) -> None:
    """Raise where an XML text is not well formed, or made to exhaust whoever reads it.

    RDF parsers are content with a file that ends before its elements do, and expand entities without limit.

    Parameters
    ----------
    path : Path
        The file that errors name.
    text : str
        Its whole text.

    Raises
    ------
    InputError
        With the line of the fault.
    """
    parser = expat.ParserCreate()
    _watch(parser, path)
    try:
        for start in range(0, len(text), BLOCK):
            parser.Parse(text[start : start + BLOCK])
        parser.Parse("", True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        hint = "; is the file cut off?" * (message in _CUT_OFF)
        raise InputError(f"XML syntax error: {message}{hint}", path=path, line=error.lineno) from None


def _watch(parser: expat.XMLParserType, path: Path) -> None:
    depth = 0

    def fault(message: str) -> InputError:
        return InputError(message, path=path, line=parser.CurrentLineNumber)

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise fault(f"more than {DEEPEST} XML elements inside each other")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(
        name: str, parameter: bool, value: str | None, base: str | None, system: str | None, *rest: str | None
    ) -> None:
        if value is None or system is not None or parameter:
            raise fault(f"the XML entity '{name}' leads out of the file; replace it by its text")
        if len(value) > LONGEST_ENTITY or "&" in value:
            raise fault(f"the XML entity '{name}' is long or built of others; replace it by its text")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity


def check_json_depth(path: Path, text: str) -> None:
    """Raise where objects and lists stand more than `DEEPEST` times inside each other.

    Parameters
    ----------
    path : Path
        The file that errors name.
    text : str
        Its whole text.
    """
    depth = 0
    for match in _JSON_TOKEN.finditer(text):
        first = match[0][0]
        if first in "[{":
            depth += 1
            if depth > DEEPEST:
                line = text.count("\n", 0, match.start()) + 1
                raise InputError(f"more than {DEEPEST} objects and lists inside each other", path=path, line=line)
        elif first in "]}":
            depth -= 1
