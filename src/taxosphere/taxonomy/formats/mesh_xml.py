"""The descriptors of the Medical Subject Headings as NLM publishes them, `desc2026.xml` or packed (read only).

A descriptor is a concept; its scope note is the description, its entry terms are synonyms. The hierarchy is in the tree
numbers: the parent of C04.588.033 is the descriptor that holds C04.588. The file is read record by record; a document
type is passed over without being fetched, and entities may not be declared, so that no text can grow behind our back.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import open_bytes, open_text

TOP, RECORD = "DescriptorRecordSet", "DescriptorRecord"
_DEEPEST = 40  # elements inside each other; NLM needs nine
_BLOCK = 1 << 18


def recognise(path: Path, head: bytes) -> bool:
    return b"<" + TOP.encode() in head


def read(path: Path, options: ReadOptions) -> Draft:
    reader = _Reader(path)
    opened: AbstractContextManager[IO[Any]] = (
        open_bytes(path) if options.encoding is None else open_text(path, options.encoding)
    )
    with opened as handle:
        try:
            while block := handle.read(_BLOCK):
                reader.parser.Parse(block, False)  # texts count as UTF-8, whatever the document declares
            reader.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InputError(f"XML syntax error: {expat.ErrorString(error.code)}", path, error.lineno) from None
        except (ValueError, LookupError) as error:  # an encoding Python does not know
            raise InputError(f"cannot be read as XML: {error}", path, reader.parser.CurrentLineNumber) from None
    reader.connect()
    return reader.draft


class _Reader:
    """Takes what the parser meets and keeps no more than the record at hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.draft = Draft(path=path, format="mesh")
        self.trees: dict[str, tuple[str, int]] = {}  # tree number: descriptor, line
        self.permuted = 0
        self.depth = 0
        self.line = 0
        self.record: TreeBuilder | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.EntityDeclHandler = self.entity

    def entity(self, name: str, *_: object) -> None:
        message = f"declares the entity '{name[:40]}', which descriptor files do not; refused"
        raise InputError(message, self.path, self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth == 1 and name != TOP:
            raise InputError(f"begins with <{name[:40]}> where <{TOP}> is expected", self.path, self.here)
        if self.depth > _DEEPEST:
            raise InputError(f"more than {_DEEPEST} elements inside each other", self.path, self.here)
        if name == RECORD and self.record is None:
            self.record, self.line = TreeBuilder(), self.here
        if self.record is not None:
            self.record.start(name, attributes)

    def text(self, text: str) -> None:
        if self.record is not None:
            self.record.data(text)

    def end(self, name: str) -> None:
        self.depth -= 1
        if self.record is not None:
            self.record.end(name)
            if self.depth == 1:
                self.descriptor(self.record.close())
                self.record = None

    @property
    def here(self) -> int:
        return self.parser.CurrentLineNumber

    def descriptor(self, record: Element) -> None:
        id, name = _words(record, "DescriptorUI"), _words(record, "DescriptorName/String")
        for element, text in (("DescriptorUI", id), ("DescriptorName", name)):
            if not text:
                raise InputError(f"a descriptor without <{element}>", self.path, self.line)
        notes = {concept.get("PreferredConceptYN"): _words(concept, "ScopeNote") for concept in _concepts(record)}
        terms: dict[str, None] = {}
        for term in record.iterfind("ConceptList/Concept/TermList/Term"):
            if term.get("IsPermutedTermYN") == "Y":
                self.permuted += 1
            elif (spelling := _words(term, "String")) not in ("", name):
                terms[spelling] = None
        numbers = [number for item in record.iterfind("TreeNumberList/TreeNumber") if (number := _words(item))]
        for number in numbers:
            if number in self.trees:
                before = f"(first in line {self.trees[number][1]})"
                raise InputError(f"the tree number '{number[:60]}' is used twice {before}", self.path, self.line)
            self.trees[number] = id, self.line
        extras = [("tree number", number) for number in numbers]
        self.draft.concept(id, name, notes.get("Y", ""), terms, extras=extras, line=self.line)

    def connect(self) -> None:
        """From each tree number to the next shorter one that is there."""
        lifted = 0
        edges: dict[tuple[str, str], int] = {}
        for number, (child, line) in self.trees.items():
            above = number.rpartition(".")[0]
            lifted += bool(above) and above not in self.trees
            while above and above not in self.trees:
                above = above.rpartition(".")[0]
            if above:
                edges.setdefault((self.trees[above][0], child), line)
        for (parent, child), line in edges.items():
            self.draft.edge(parent, child, line)
        if lifted:
            self.draft.left_out(f"{counted(lifted, 'tree number')} without the one above; the next above that is taken")
        if self.permuted:
            self.draft.left_out(f"{counted(self.permuted, 'term')} that only permute the words of another left out")


def _concepts(record: Element) -> list[Element]:
    return record.findall("ConceptList/Concept")


def _words(element: Element, path: str = ".") -> str:
    holder = element if path == "." else element.find(path)
    return " ".join((holder.text or "").split()) if holder is not None else ""
