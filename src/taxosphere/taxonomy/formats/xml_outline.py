"""XML files of no known kind whose elements nest in themselves: `<item><name>A</name><item>…</item></item>`.

The element that nests is the concept. Its name, id and description are attributes or inner elements with a usual title;
all others are kept as extras.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import titles
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.outline import Outline
from taxosphere.taxonomy.formats.io.streams import bare_suffix
from taxosphere.taxonomy.formats.io.xml_tree import Element, parse, root_tag

_RDF = b"rdf:about="  # in RDF/XML without the usual root
_OTHERS = ("rdf", "ontology")  # roots of RDF/XML and OWL/XML
NESTED = 0.3  # share of the elements that nest which stand in another, at least
NAMED = 0.9  # share of the elements that nest which have a name, at least
KINDS = "OPML, GraphML, ClaML, ICD-10-CM, MeSH, RDF/XML, OWL/XML and nested elements with names"


def recognise(path: Path, head: bytes) -> bool:
    """Return whether the root of an `.xml` file is none of RDF or OWL."""
    root = root_tag(head)
    return bare_suffix(path) == ".xml" and bool(root) and root.lower() not in _OTHERS and _RDF not in head


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the elements that nest in themselves as concepts.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `encoding` is used.

    Raises
    ------
    InputError
        Where no element nests in itself, or too few of those that do have a name.
    """
    draft = Draft(path=path, format="xml")
    top = parse(path, None, options.encoding)
    tag = _nesting_tag(top)
    if tag is None:
        message = (
            f"is XML with the root <{top.tag}>, and no element nests in another of its kind; of XML are read: {KINDS}"
        )
        raise InputError(message, path, top.line)
    outline = Outline(draft)
    described = {id(element): _details(element, tag) for element in top.walk() if element.tag == tag}
    nameless = sum(not details[0] for details in described.values())
    if nameless > (1 - NAMED) * len(described):
        message = f"the elements <{tag}> nest, but {nameless:,} of {len(described):,} have no name"
        raise InputError(f"{message}; save it as OPML, Newick or a table with names", path, top.line)
    if _inside(top, tag) < NESTED * len(described):
        message = f"few of the {len(described):,} elements <{tag}> stand in another one, so they are no hierarchy"
        raise InputError(f"{message}; of XML are read: {KINDS}", path, top.line)
    waiting: list[tuple[Element, str | None]] = [(top, None)]
    while waiting:
        element, parent = waiting.pop()
        if element.tag == tag:
            name, key, description, synonyms, extras = described[id(element)]
            if name or key:
                parent = outline.add(name or key, parent, key, description, synonyms, (), extras, element.line)
        waiting += [(item, parent) for item in reversed(list(element.elements()))]
    outline.close()
    draft.notes.append(f"elements <{tag}> inside each other read as concepts")
    if nameless:
        draft.left_out(f"{counted(nameless, 'element')} without a name, called by id or left out")
    return draft


def _nesting_tag(top: Element) -> str | None:
    """The most frequent of the tags whose elements stand in one of the same tag, directly or in a list around them."""
    counts: Counter[str] = Counter()
    nesting: set[str] = set()
    waiting: list[tuple[Element, tuple[str, ...]]] = [(top, ())]
    while waiting:
        element, above = waiting.pop()
        counts[element.tag] += 1
        if element.tag in above[-2:]:
            nesting.add(element.tag)
        waiting += [(item, (*above[-1:], element.tag)) for item in element.elements()]
    return max(nesting, key=lambda tag: counts[tag], default=None)


def _inside(top: Element, tag: str) -> int:
    """How many elements with this tag stand in another one, at any depth."""
    inside = 0
    waiting = [(top, False)]
    while waiting:
        element, below = waiting.pop()
        inside += below and element.tag == tag
        waiting += [(item, below or element.tag == tag) for item in element.elements()]
    return inside


_Details = tuple[str, str, str, list[str], list[tuple[str, str]]]


def _details(element: Element, tag: str) -> _Details:
    """Name, id, description, synonyms and everything else that attributes and inner elements say of a concept."""
    texts: dict[str, list[str]] = {role: [] for role in ("name", "id", "description", "synonyms")}
    extras: list[tuple[str, str]] = []
    for title, text in _fields(element, tag):
        meaning = titles.meaning(title)
        role = meaning.role if meaning is not None else ""
        if role in texts and (role == "synonyms" or not texts[role]):
            texts[role].append(text)
        else:
            extras.append((title, text))
    text = " ".join("".join(part for part in element.content if isinstance(part, str)).split())
    if text and not texts["name"]:
        texts["name"].append(text)
    name, key, description = ((*texts[role], "")[0] for role in ("name", "id", "description"))
    return name, key, description, texts["synonyms"], extras


def _fields(element: Element, tag: str) -> Iterator[tuple[str, str]]:
    for title, text in element.attributes.items():
        if text.strip() and not title.startswith("xmlns"):
            yield title, text.strip()
    for item in element.elements():
        if item.tag != tag and item.first(tag) is None and (text := item.text()):
            yield item.tag, text
