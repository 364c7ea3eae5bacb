"""The tabular list of ICD-10-CM as XML (read only): chapters, sections and diagnoses, one inside the other.

Inclusion terms are synonyms; other notes are kept as extras under their tag.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.xml_tree import Element, parse, root_tag

ROOTS = ("ICD10CM.tabular", "ICD10PCS.tabular")
CONCEPTS = ("chapter", "section", "diag")
_TEXTS = ("name", "desc", "inclusionTerm", "sectionIndex", *CONCEPTS)


def recognise(path: Path, head: bytes) -> bool:
    """Return whether the root of an XML file is `<ICD10CM.tabular>`."""
    return root_tag(head) in ROOTS


def read(path: Path, options: ReadOptions) -> Draft:
    """Return chapters, sections and diagnoses of the tabular list.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        None is used.
    """
    draft = Draft(path=path, format="icd10cm")
    top = parse(path, ROOTS[0], options.encoding)
    extensions = 0
    waiting: list[tuple[Element, str | None]] = [(item, None) for item in reversed(list(top.elements("chapter")))]
    while waiting:
        element, parent = waiting.pop()
        code = element.text_of("name") or element.attributes.get("id", "")
        if not code:
            raise InputError(f"a <{element.tag}> without a code", path, element.line)
        if element.tag == "chapter" or (element.tag == "section" and code in _codes(element)):
            code = f"{element.tag} {code}"
        terms = [note.text() for term in element.elements("inclusionTerm") for note in term.elements("note")]
        extras = [("kind", element.tag)]
        for item in element.elements():
            if item.tag == "sevenChrDef":
                extensions += 1
            elif item.tag not in _TEXTS:
                notes = [note.text() for note in item.elements("note")] or [item.text()]
                extras += [(item.tag, note) for note in notes if note]
        draft.concept(code, element.text_of("desc") or code, "", dict.fromkeys(terms), extras=extras, line=element.line)
        if parent is not None:
            draft.edge(parent, code, element.line)
        waiting += [(item, code) for item in reversed(list(element.elements("section", "diag")))]
    if extensions:
        draft.left_out(f"{counted(extensions, 'definition')} of seventh characters left out")
    return draft


def _codes(section: Element) -> set[str]:
    """The codes of the diagnoses in a section; one that holds a single category is called like it."""
    return {item.text_of("name") for item in section.elements("diag")}
