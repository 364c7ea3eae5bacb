"""The words of OWL in Manchester syntax, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from taxosphere.errors import InputError

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\n?\s*)*(?:
      (?P<text>"[^"\\]*(?:\\.[^"\\]*)*")(?:@(?P<language>[A-Za-z0-9-]+)|\^\^(?P<type><[^<>\s]*>|[^\s,()\[\]{}"]+))?
    | (?P<iri><[^<>"{}|^`\\\s]*>)
    | (?P<facet><=|>=|<|>)
    | (?P<mark>[,()\[\]{}])
    | (?P<number>[+-]?\d+(?:\.\d+)?[fF]?)(?=[\s,()\[\]{}]|\Z)
    | (?P<name>[^\s,()\[\]{}"<>]+)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A word, text, number, address or mark."""

    kind: str
    text: str
    match: re.Match[str]


class Tokens:
    """Steps through the tokens of a text.

    Parameters
    ----------
    text : str
        The document.
    path : Path
        The file that errors name.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self.tokens = self._tokens()
        self.at = 0
        self.line, self.counted = 1, 0

    def _tokens(self) -> list[Token]:
        tokens, position = [], 0
        while True:
            match = _TOKEN.match(self.text, position)
            if match is None:
                line = self.text.count("\n", 0, position) + 1
                raise InputError("OWL syntax error: a text is not closed", path=self.path, line=line)
            kind = "text" if match["text"] is not None else match.lastgroup or "end"
            tokens.append(Token(kind, match[kind], match))
            if kind == "end":
                return tokens
            position = match.end()

    @property
    def next(self) -> Token:
        """The token that comes now."""
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def take(self, *texts: str) -> bool:
        """Whether the next token is one of these words; if so, it is stepped over."""
        if self.next.kind in ("mark", "name") and self.next.text in texts:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Step over a word that must come now."""
        if not self.take(text):
            raise self.fault(f"expected '{text}'")

    def fault(self, message: str) -> InputError:
        """An error at the next token."""
        token = self.next
        shown = f"'{token.text[:30]}'" if token.kind != "end" else "the end of the file; is it cut off?"
        line = self.text.count("\n", 0, token.match.start(token.kind)) + 1
        return InputError(f"OWL syntax error: {message}, not {shown}", path=self.path, line=line)

    def line_now(self) -> int:
        """The line of the next token."""
        start = self.next.match.start(self.next.kind)
        self.line += self.text.count("\n", self.counted, start)
        self.counted = start
        return self.line
