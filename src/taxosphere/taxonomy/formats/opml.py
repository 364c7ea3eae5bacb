"""OPML outlines: every `<outline>` is a concept, named by `text` or `title`; those inside it are below it.

Other attributes are kept as extras. We write ids, descriptions, synonyms and images as attributes of these names, as
OPML allows, and a concept with several parents as an outline with its `id` and `reference="true"` below the others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import escapes, opml_edits
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.kept_text import reads_as
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.outline import Outline
from taxosphere.taxonomy.formats.io.record_writer import tree_steps
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_to_write
from taxosphere.taxonomy.formats.io.xml_extras import EXTRAS, check_characters, pairs_in, split_extras
from taxosphere.taxonomy.formats.io.xml_tree import Element, escape, parse, root_tag
from taxosphere.taxonomy.graph import Taxonomy

META = "opml"
NAMES = ("text", "title", "label", "name")
DESCRIPTIONS = ("description", "_note")
LISTS = ("synonyms", "images")
REFERENCE = "reference"
RESERVED = frozenset((*NAMES, *DESCRIPTIONS, *LISTS, REFERENCE, EXTRAS, "id"))


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a file has our suffix or, as `.xml`, the root `<opml>`."""
    return bare_suffix(path) == ".opml" or root_tag(head).lower() == "opml"


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the outlines of an OPML file as concepts.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        None is used.
    """
    draft = Draft(path=path, format="opml")
    top = parse(path, "opml", options.encoding)
    head, body = top.first("head"), top.first("body")
    if body is None:
        raise InputError("has no <body>; an OPML file holds its outlines there", path, top.line)
    if head is not None:
        lines = [[item.tag, item.text()] for item in head.elements() if item.text()]
        draft.meta[META] = {"head": lines} if lines else {}
    outline = Outline(draft)
    nameless = 0
    references: list[tuple[str, str, int]] = []
    waiting: list[tuple[Element, str | None]] = [(item, None) for item in reversed(list(body.elements("outline")))]
    while waiting:
        element, parent = waiting.pop()
        attributes = element.attributes
        if attributes.get(REFERENCE) == "true" and attributes.get("id") and parent is not None:
            references.append((parent, attributes["id"], element.line))
            continue
        name = next((attributes[key] for key in NAMES if attributes.get(key, "").strip()), "")
        inner = list(element.elements("outline"))
        if not name:
            nameless += 1  # a divider, or a frame around others: what is inside is below what is outside
            waiting += [(item, parent) for item in reversed(inner)]
            continue
        id = outline.add(name, parent, *_details(attributes, name), line=element.line)
        waiting += [(item, id) for item in reversed(inner)]
    for parent, child, line in references:
        draft.edge(parent, child, line)
    outline.close()
    if nameless:
        draft.left_out(f"{counted(nameless, 'outline')} without text left out, what is inside kept")
    return draft


def _details(
    attributes: dict[str, str], name: str
) -> tuple[str, str, tuple[str, ...], tuple[str, ...], list[tuple[str, str]]]:
    """Id, description, synonyms, images and extras."""
    description = next((attributes[key] for key in DESCRIPTIONS if key in attributes), "")
    used = {"id", *LISTS, EXTRAS, *(key for key in DESCRIPTIONS if attributes.get(key) == description)}
    used |= {key for key in NAMES if attributes.get(key) == name}
    extras = [(key, value) for key, value in attributes.items() if key not in used]
    synonyms, images = (escapes.split_list(attributes.get(key, ""), True) for key in LISTS)
    return attributes.get("id", ""), description, synonyms, images, [*extras, *pairs_in(attributes.get(EXTRAS, ""))]


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write an outline per concept."""
    check_characters(taxonomy, path)
    head = taxonomy.meta.get(META, {}).get("head") or [["title", "Taxonomy"]]
    with open_to_write(path) as handle:
        handle.write('<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n  <head>\n')
        handle.writelines(f"    <{tag}>{escape(text)}</{tag}>\n" for tag, text in head)
        handle.write("  </head>\n  <body>\n")
        _write_outlines(taxonomy, handle)
        handle.write("  </body>\n</opml>\n")


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return the text of an OPML file with the new concepts of a taxonomy in it.

    Parameters
    ----------
    text : str
        What the file held.
    taxonomy : Taxonomy
        The same and more.
    size, edges : int
        How many concepts and edges the text holds.

    Returns
    -------
    str or None
        None where the text cannot be extended so that it reads as this taxonomy.
    """
    places = opml_edits.places(text)
    named = [number for number, place in enumerate(places) if _is_concept(place.attributes)]
    if (taxonomy.edge_array[edges:, 1] < size).any() or len(named) != size:
        return None
    body = next(number for number, place in enumerate(places) if not _is_concept(place.attributes))
    below: dict[int, list[int]] = {}
    inside: dict[int, list[int]] = {}
    for child in range(size, len(taxonomy)):
        above = taxonomy.parent_csr.row(child).tolist()
        if len(above) > 1:
            return None
        if above and above[0] >= size:
            inside.setdefault(above[0], []).append(child)
        else:
            below.setdefault(named[above[0]] if above else body, []).append(child)

    def outline(position: int, indentation: str) -> str:
        shown = "".join(f' {key}="{escape(value)}"' for key, value in _attributes(taxonomy.concept(position)).items())
        children = [outline(child, indentation + "  ") for child in inside.get(position, ())]
        if not children:
            return f"{indentation}<outline{shown}/>"
        return "\n".join([f"{indentation}<outline{shown}>", *children, f"{indentation}</outline>"])

    longer = opml_edits.insert(text, below, places, outline)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "extended.opml"
        path.write_text(longer, encoding="utf-8", newline="")
        try:
            return longer if reads_as(read(path, ReadOptions()), taxonomy) else None
        except InputError:
            return None


def _is_concept(attributes: str) -> bool:
    return re.search(r"""\b(text|title|label|name)\s*=\s*["']\s*[^\s"']""", attributes) is not None


def _write_outlines(taxonomy: Taxonomy, handle: TextIO) -> None:
    depth = 2
    for step, position in tree_steps(taxonomy):
        leaf = not len(taxonomy.child_csr.row(position))
        if step == "close":
            depth -= 1
            handle.write("" if leaf else f"{'  ' * depth}</outline>\n")
            continue
        attributes = {"text": taxonomy.names[position]}
        if step == "reference":
            attributes |= {"id": taxonomy.ids[position], REFERENCE: "true"}
        else:
            attributes = _attributes(taxonomy.concept(position))
        shown = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
        handle.write(f"{'  ' * depth}<outline{shown}{'/' if leaf or step == 'reference' else ''}>\n")
        depth += step == "open"


def _attributes(concept: Concept) -> dict[str, str]:
    attributes = {"text": concept.name}
    if concept.id != concept.name:
        attributes["id"] = concept.id
    if concept.description:
        attributes["description"] = concept.description
    for key, texts in zip(LISTS, (concept.synonyms, concept.images), strict=True):
        if texts:
            attributes[key] = escapes.join_list(texts, True)
    plain, rest = split_extras(concept.extras, RESERVED)
    attributes |= plain
    if rest:
        attributes[EXTRAS] = json.dumps(rest, ensure_ascii=False)
    return attributes
