"""The text of a file that was read, kept to be written back as it was where nothing or little has changed.

A digest of the content says whether a taxonomy still begins with what the file held. Without any addition the text is
written unchanged: line ends, quoting, order and byte order mark stay. With additions a format may extend it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.formats.io import obsolete
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.streams import open_raw_bytes
from taxosphere.taxonomy.graph import Taxonomy

META = "source"
LARGEST = 32 << 20  # bytes; larger files are written anew
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)""")

Extend = Callable[[str, Taxonomy, int, int], str | None]


def keep(taxonomy: Taxonomy, path: Path, format: str) -> Taxonomy:
    """Return the taxonomy with the text of its file in `meta`.

    Parameters
    ----------
    taxonomy : Taxonomy
        What was read, without a fault.
    path : Path
        The file.
    format : str
        Name of its format.
    """
    if path.stat().st_size > LARGEST or any(problem.fatal for problem in taxonomy.reading):
        return taxonomy
    with open_raw_bytes(path) as handle:
        content = handle.read(LARGEST + 1)
    declared = _DECLARED.match(content)
    if len(content) > LARGEST or (declared and declared[1].lower() not in (b"utf-8", b"us-ascii")):
        return taxonomy
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return taxonomy
    size, edges = len(taxonomy), len(taxonomy.edge_array)
    source = {"format": format, "text": text, "digest": _digest(taxonomy, size, edges), "size": [size, edges]}
    return replace(taxonomy, meta={**taxonomy.meta, META: source})


def text_for(taxonomy: Taxonomy, format: str, extend: Extend | None = None) -> str | None:
    """Return the text to write for a taxonomy, or None where it has to be written anew.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is to be written.
    format : str
        Name of the format to write.
    extend : callable, optional
        ``extend(text, taxonomy, size, edges)`` returns the text with the concepts from number `size` and the edges
        from number `edges` added, or None where it cannot.
    """
    source: dict[str, Any] = taxonomy.meta.get(META, {})
    if source.get("format") != format:
        return None
    size, edges = source["size"]
    if len(taxonomy) < size or len(taxonomy.edge_array) < edges or source["digest"] != _digest(taxonomy, size, edges):
        return None
    text: str = source["text"]
    if (len(taxonomy), len(taxonomy.edge_array)) == (size, edges):
        return text
    return extend(text, taxonomy, size, edges) if extend is not None else None


def reads_as(draft: Draft, taxonomy: Taxonomy) -> bool:
    """Return whether a draft holds exactly the concepts and edges of a taxonomy, beside obsolete ones.

    Parameters
    ----------
    draft : Draft
        What an extended text was read as.
    taxonomy : Taxonomy
        What was to be written.
    """
    aside = {concept.id for concept in obsolete.concepts(taxonomy)}
    names = {id: name for id, name in zip(draft.ids, draft.names, strict=True) if id not in aside or id in taxonomy}
    edges = set(zip(draft.parents, draft.children, strict=True))
    return names == dict(zip(taxonomy.ids, taxonomy.names, strict=True)) and edges == set(taxonomy.edges())


def _digest(taxonomy: Taxonomy, size: int, edges: int) -> str:
    """Of the first concepts and edges, everything that a file could hold of them."""
    digest = hashlib.blake2b(digest_size=16)
    for column in (taxonomy.ids, taxonomy.names, taxonomy.descriptions):
        digest.update("\x1f".join(column[:size]).encode("utf-8", "surrogatepass") + b"\x1e")
    for lists in (taxonomy.synonyms, taxonomy.images, taxonomy.extras):
        digest.update(repr([sorted(items) for items in lists[:size] if items]).encode("utf-8", "surrogatepass"))
        digest.update(bytes(bool(items) for items in lists[:size]))
    digest.update(taxonomy.edge_array[:edges].tobytes())
    return digest.hexdigest()
