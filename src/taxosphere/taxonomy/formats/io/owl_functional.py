"""OWL in functional syntax, as most ontologies under development are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import owl_triples
from taxosphere.taxonomy.formats.io.rdf_terms import OWL, RDF, RDFS, XSD, oxigraph

DEEPEST = 200  # expressions inside each other
STANDARD_PREFIXES = {"owl": OWL, "rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_TOKEN = re.compile(
    r"""[\s]*(?:\#[^\n]*\n?[\s]*)*(?:
      (?P<open>[A-Za-z]+)\s*\(
    | (?P<bracket>[()])
    | <(?P<iri>[^<>"{}|^`\\\s]*)>
    | "(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"
      (?:@(?P<language>[A-Za-z0-9-]+)|\^\^(?:<(?P<type>[^<>\s]*)>|(?P<typename>[^\s()"]+)))?
    | _:(?P<node>[^\s()"<>]+)
    | (?P<equals>=)
    | (?P<number>\d+)(?=[\s()])
    | (?P<name>[^\s()"<>=:]*:[^\s()"<>=]*)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_DONE: list[Any] = []  # no longer collecting the head
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Terms:
    """RDF terms from the names of one OWL document; the same name gives the same object.

    Parameters
    ----------
    base : str
        What relative addresses are resolved against.
    prefixes : dict of str to str
        Abbreviations; grows while the document is read.
    """

    def __init__(self, base: str, prefixes: dict[str, str]) -> None:
        self.ox = oxigraph()
        self.base = base
        self.prefixes = prefixes
        self.nodes: dict[str, Any] = {}

    def iri(self, text: str) -> Any:
        """A full or relative address."""
        if text not in self.nodes:
            full = text if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) else urljoin(self.base, text) or self.base
            self.nodes[text] = self.ox.NamedNode(full)
        return self.nodes[text]

    def name(self, text: str) -> Any:
        """An abbreviated address, ``prefix:rest``."""
        prefix, _, rest = text.partition(":")
        start = self.prefixes.get(prefix, STANDARD_PREFIXES.get(prefix))
        if start is None:
            raise ValueError(f"the prefix '{prefix}:' is not declared")
        return self.iri(start + rest)

    def literal(self, text: str, language: str | None, datatype: Any | None) -> Any:
        """A text, tagged with a language or a datatype."""
        if language:
            return self.ox.Literal(text, language=language)
        return self.ox.Literal(text, datatype=datatype) if datatype is not None else self.ox.Literal(text)


@dataclass(slots=True)
class Axiom:
    """One axiom or head of an ontology, and where it stands in the text."""

    expression: tuple[Any, ...]
    line: int
    start: int
    end: int


def axioms(text: str, base: str, path: Path, prefixes: dict[str, str]) -> Iterator[tuple[Any, int]]:
    """The triples of an OWL document in functional syntax, each with the line of its axiom.

    Parameters
    ----------
    text : str
        The document.
    base : str
        What relative addresses are resolved against.
    path : Path
        The file that errors name.
    prefixes : dict of str to str
        Receives the prefixes of the document.

    Raises
    ------
    InputError
        For a syntax error, with its line.
    """
    translator = owl_triples.Translator()
    for axiom in expressions(text, base, path, prefixes):
        for triple in translate(translator, axiom, path):
            yield triple, axiom.line


def translate(translator: owl_triples.Translator, axiom: Axiom, path: Path) -> list[Any]:
    """The triples of one axiom of a document."""
    try:
        if axiom.expression[0] == "Ontology":
            return list(_ontology(axiom.expression))
        return translator.axiom(axiom.expression)
    except owl_triples.MisshapenError as error:
        raise InputError(f"OWL syntax error: {error}", path=path, line=axiom.line) from None


def _ontology(expression: tuple[Any, ...]) -> Iterator[Any]:
    iris = [part for part in expression[1:] if not isinstance(part, tuple)]
    imports = [part[1] for part in expression[1:] if isinstance(part, tuple) and part[0] == "Import"]
    notes = [part for part in expression[1:] if isinstance(part, tuple) and part[0] == "Annotation"]
    iri, version = (*iris, None, None)[:2]
    return owl_triples.header(iri, version, imports, notes)


def expressions(text: str, base: str, path: Path, prefixes: dict[str, str]) -> Iterator[Axiom]:
    """The head of the ontology and each of its axioms, in the order of the text.

    Parameters
    ----------
    text, base, path, prefixes
        As for `axioms`.
    """
    reader = _Reader(text, path, Terms(base, prefixes))
    head: list[Any] = []
    for axiom in reader.read():
        kind = axiom.expression[0]
        if kind in ("Import", "Annotation"):
            head.append(axiom.expression)
            continue
        if head is not _DONE:
            yield Axiom(("Ontology", *reader.iris, *head), 1, 0, 0)
            head = _DONE
        yield axiom
    if head is not _DONE:
        yield Axiom(("Ontology", *reader.iris, *head), 1, 0, 0)


class _Reader:
    """Splits a document into the expressions directly inside of ``Ontology(…)``."""

    def __init__(self, text: str, path: Path, terms: Terms) -> None:
        self.text = text
        self.path = path
        self.terms = terms
        self.iris: list[Any] = []
        self.line = 1
        self.counted = 0

    def read(self) -> Iterator[Axiom]:
        stack: list[list[Any]] = []
        starts: list[int] = []
        position = 0
        while True:
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self._fault(position, f"'{self.text[position : position + 20].split()[0][:20]}' is out of place")
            kind = "text" if match["text"] is not None else match.lastgroup or "end"
            start, position = match.start(kind), match.end()
            if kind == "end":
                break
            if kind == "open" or match["bracket"] == "(":
                stack.append([match["open"] or ""])
                starts.append(start)
                if len(stack) > DEEPEST:
                    raise self._fault(start, f"more than {DEEPEST} expressions inside each other")
            elif kind == "bracket":
                if not stack:
                    raise self._fault(start, "a bracket is closed that was never opened")
                done, begin = tuple(stack.pop()), starts.pop()
                if done[0] == "Prefix" and not stack:
                    self._prefix(done, begin)
                elif stack and stack[-1][0] == "Ontology" and len(stack) == 1:
                    yield Axiom(done, self._line_of(begin), begin, position)
                elif stack:
                    stack[-1].append(done)
            elif not stack:
                raise self._fault(start, "expected Prefix( or Ontology(")
            else:
                self._take(stack, match, kind, start)
        if stack:
            raise self._fault(len(self.text) - 1, "a bracket is not closed; is the file cut off?")

    def _take(self, stack: list[list[Any]], match: re.Match[str], kind: str, start: int) -> None:
        if stack[-1][0] == "Prefix":
            stack[-1].append(match[kind])
            return
        try:
            term = self._term(match, kind)
        except ValueError as error:
            raise self._fault(start, str(error)) from None
        if len(stack) == 1 and stack[0][0] == "Ontology":
            self.iris.append(term)
        else:
            stack[-1].append(term)

    def _term(self, match: re.Match[str], kind: str) -> Any:
        if kind == "iri":
            return self.terms.iri(match["iri"])
        if kind == "name":
            return self.terms.name(match["name"])
        if kind == "node":
            return self.terms.ox.BlankNode("n" + re.sub(r"\W", "_", match["node"]))
        if kind == "number":
            return self.terms.ox.Literal(match["number"])
        if kind == "equals":
            raise ValueError("'=' is out of place")
        datatype = None
        if match["type"] is not None:
            datatype = self.terms.iri(match["type"])
        elif match["typename"] is not None:
            datatype = self.terms.name(match["typename"])
        return self.terms.literal(_ESCAPE.sub(r"\1", match["text"]), match["language"], datatype)

    def _prefix(self, parts: tuple[Any, ...], start: int) -> None:
        if len(parts) != 4 or parts[2] != "=":
            raise self._fault(start, "expected Prefix(name:=<address>)")
        self.terms.prefixes[parts[1].removesuffix(":")] = parts[3]

    def _line_of(self, position: int) -> int:
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position
        return self.line

    def _fault(self, position: int, message: str) -> InputError:
        line = self.text.count("\n", 0, position) + 1
        return InputError(f"OWL syntax error: {message}", path=self.path, line=line)
