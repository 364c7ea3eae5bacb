"""Mind maps of FreeMind and Freeplane (read only): every `<node>` is a concept, notes are descriptions."""

from __future__ import annotations

import html
import re
from pathlib import Path

from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.outline import Outline
from taxosphere.taxonomy.formats.io.xml_tree import Element, parse

_TAG = re.compile(r"<[^<>]*>")
# Of no meaning outside the program: styles, places and times.
_STYLES = frozenset(
    (
        *("TEXT", "ID", "CREATED", "MODIFIED", "POSITION", "FOLDED", "COLOR", "BACKGROUND_COLOR", "STYLE", "STYLE_REF"),
        *("HGAP", "VGAP", "VSHIFT", "VGAP_QUANTITY", "HGAP_QUANTITY", "VSHIFT_QUANTITY", "LOCALIZED_STYLE_REF"),
        *("LOCALIZED_TEXT", "SIDE", "LAST_MODIFICATION", "MAX_WIDTH", "MIN_WIDTH", "FORMAT", "ENCRYPTED_CONTENT"),
    )
)


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the nodes of a mind map as concepts.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        None is used.
    """
    draft = Draft(path=path, format="freemind")
    top = parse(path, "map", options.encoding)
    outline = Outline(draft)
    nameless = arrows = 0
    waiting: list[tuple[Element, str | None]] = [(node, None) for node in reversed(list(top.elements("node")))]
    while waiting:
        node, parent = waiting.pop()
        name, inner = _name(node), list(node.elements("node"))
        arrows += sum(1 for _ in node.elements("arrowlink"))
        if name:
            notes = [item.text() for item in node.elements("richcontent") if item.attributes.get("TYPE") != "NODE"]
            extras = [(key, value) for key, value in node.attributes.items() if key not in _STYLES]
            extras += [
                (item.attributes["NAME"], item.attributes.get("VALUE", ""))
                for item in node.elements("attribute")
                if item.attributes.get("NAME")
            ]
            id = node.attributes.get("ID", "")
            parent = outline.add(name, parent, id, " ".join(filter(None, notes)), extras=extras, line=node.line)
        else:
            nameless += 1
        waiting += [(item, parent) for item in reversed(inner)]
    outline.close()
    if nameless:
        draft.left_out(f"{counted(nameless, 'node')} without text left out, what is below kept")
    if arrows:
        draft.left_out(f"{counted(arrows, 'arrow')} between nodes left out")
    return draft


def _name(node: Element) -> str:
    name = node.attributes.get("TEXT") or node.attributes.get("LOCALIZED_TEXT") or ""
    if name.lstrip().startswith("<html"):
        name = html.unescape(_TAG.sub(" ", name))
    if name.strip():
        return " ".join(name.split())
    return next((item.text() for item in node.elements("richcontent") if item.attributes.get("TYPE") == "NODE"), "")
