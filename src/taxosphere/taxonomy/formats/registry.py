"""One module per format, each with `read(path) -> Draft` and `write(taxonomy, path)`, found by suffix and content."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import (
    class_table,
    concept_table,
    cub,
    edges,
    image_folder,
    json_tree,
    jsonl,
    mesh_xml,
    native,
    obo,
    rdf,
    semeval,
    wordnet,
)
from taxosphere.taxonomy.formats.io import json_values, obsolete
from taxosphere.taxonomy.formats.io.draft import Draft, build, counted
from taxosphere.taxonomy.formats.io.rdf_syntax import SYNTAX_OF_SUFFIX
from taxosphere.taxonomy.formats.io.streams import STREAM, bare_suffix, open_bytes, reading, suffix_to_write, writing
from taxosphere.taxonomy.formats.io.tables import read_rows
from taxosphere.taxonomy.graph import Taxonomy

__all__ = ["FORMATS", "Draft", "Format", "build", "losses", "read", "recognise", "refuse", "write"]


@dataclass(frozen=True)
class Format:
    """A reader and a writer behind the same two functions; `suffixes` is empty for folders."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    read: Callable[..., Draft]
    write: Callable[[Taxonomy, Path], None] | None
    takes_columns: bool = False


FORMATS = {
    item.name: item
    for item in (
        Format("native", "folder with nodes.tsv and edges.tsv", (), native.read, native.write),
        Format("edges", "edge list of names, parent and child", (".tsv", ".csv"), edges.read, edges.write, True),
        Format("concept table", "a row per concept", (".tsv", ".csv"), concept_table.read, concept_table.write),
        Format("class table", "class table of an ontology portal", (".tsv", ".csv"), class_table.read, None),
        Format("semeval", "SemEval terms and edges", (".taxo", ".terms"), semeval.read, None, True),
        Format("obo", "OBO ontology", (".obo",), obo.read, obo.write),
        Format("rdf", "SKOS or OWL/RDFS", tuple(SYNTAX_OF_SUFFIX), rdf.read, rdf.write),
        Format("json", "JSON tree of name and children", (".json",), json_tree.read, json_tree.write),
        Format("jsonl", "JSON lines, one concept each", (".jsonl", ".ndjson"), jsonl.read, jsonl.write),
        Format("mesh", "descriptors of the Medical Subject Headings in XML", (), mesh_xml.read, None),
        Format("wordnet", "WordNet database", tuple(wordnet.LETTERS), wordnet.read, None),
        Format("image folder", "folders of pictures, each folder a concept", (), image_folder.read, None),
        Format("cub", "folder of Caltech-UCSD Birds-200-2011", (), cub.read, None),
    )
}


def read(path: str | PathLike[str], *, columns: tuple[str, str] | None = None, strict: bool = True) -> Taxonomy:
    """Read any supported file or folder. `columns` states the order of an edge list without a header."""
    path = Path(path)
    form = recognise(path)
    if columns is not None and not form.takes_columns:
        raise InputError(f"--columns is for edge lists; this is the format '{form.name}'", path=path)
    if columns is not None and tuple(columns) not in edges.ORDERS:
        raise InputError(f"--columns must be parent,child or child,parent, not {','.join(columns)}")
    with _without_garbage_collection():
        draft = form.read(path, columns) if form.takes_columns else form.read(path)
        if form.name != "native":
            obsolete.set_aside(draft)
        return build(draft, strict)


def write(taxonomy: Taxonomy, path: str | PathLike[str]) -> None:
    """Write in the format the suffix names; no suffix means the native folder, and what came from a concept table goes
    back into one."""
    path = Path(path)
    with writing(path):
        refuse(path)
        form = _to_write(taxonomy, path)
        assert form.write is not None  # or it would have been refused
        form.write(taxonomy if form.name == "native" else obsolete.brought_back(taxonomy), path)


def refuse(path: str | PathLike[str]) -> None:
    """What would stop `write` later, said before any work is done."""
    path = Path(path)
    suffix = suffix_to_write(path) or path.suffix.lower()  # .gz alone names no format
    if path.is_dir() or not suffix:
        native.refuse(path)
        return
    writable = dict.fromkeys(each for form in FORMATS.values() if form.write is not None for each in form.suffixes)
    if suffix not in writable:
        message = f"the suffix '{suffix}' names no format to write ({', '.join(writable)}, or a folder)"
        raise InputError(message, path=path)
    atomic.refuse_file(path)


def losses(taxonomy: Taxonomy, path: str | PathLike[str]) -> list[str]:
    """What the source said beside its concepts and a file of this name could not hold, one line each; and what only
    `--columns` can tell whoever reads the file."""
    path = Path(path)
    form = _to_write(taxonomy, path)
    kept = {
        "obo": ("header", "the header of the OBO source"),
        "rdf": ("statements", "statements of the RDF source that are not about its concepts"),
        "json": ("top", "keys beside the children at the top of the JSON source"),
    }
    lost = []
    if form.name == "edges" and edges.unstated_order(taxonomy, path):
        lost.append(
            "the child stands first and no header says so, as in the source; read it with --columns child,parent"
        )
    for name, (part, text) in kept.items():
        source = taxonomy.meta.get(name, {})
        if form.name in ("native", name):
            continue
        if source.get(part) and source[part] != [obo.FORMAT_VERSION]:
            lost.append(f"{text} left out")
        if source.get("frames"):
            lost.append(f"{counted(len(source['frames']), 'stanza')} of the OBO source beside its terms left out")
        if source.get("language"):
            lost.append(f"the language '{source['language']}' of names, definitions and synonyms left out")
    return lost


def recognise(path: Path) -> Format:
    """The format of an existing file or folder: by suffix, and by content where two share one."""
    if path == STREAM:
        raise InputError("standard input has no suffix to name its format; save it as a file that has one", path=path)
    with reading(path):
        exists, folder, regular = path.exists(), path.is_dir(), path.is_file()
    if not exists:
        raise InputError("no such file or folder", path=path)
    if folder:
        return _folder(path)
    if not regular:
        raise InputError("is neither a file nor a folder; save its content as a file", path=path)
    suffix = bare_suffix(path)
    if suffix == ".json" and _is_json_ld(path):
        return FORMATS["rdf"]
    if suffix == ".xml" and mesh_xml.is_mesh(path):
        return FORMATS["mesh"]
    if suffix in FORMATS["class table"].suffixes:
        first = next(read_rows(path), (1, []))[1]
        if class_table.is_header(first):
            return FORMATS["class table"]
        return FORMATS["concept table" if concept_table.is_header(first) else "edges"]
    return _by_suffix(path)


def _to_write(taxonomy: Taxonomy, path: Path) -> Format:
    if path.is_dir() or not bare_suffix(path):
        return FORMATS["native"]
    table = FORMATS["concept table"]
    return table if concept_table.META in taxonomy.meta and bare_suffix(path) in table.suffixes else _by_suffix(path)


def _folder(path: Path) -> Format:
    if cub.is_cub(path):
        return FORMATS["cub"]
    if wordnet.is_wordnet(path):
        return FORMATS["wordnet"]
    tables = native.OUR_FILES & {item.name for item in path.iterdir()}
    return FORMATS["image folder" if not tables and image_folder.holds_pictures(path) else "native"]


def _is_json_ld(path: Path) -> bool:
    with open_bytes(path) as handle:
        head = handle.read(1 << 16)
    return not {b'"@context"', b'"@graph"', b'"@id"'}.isdisjoint(json_values.outer_keys(head))


def _by_suffix(path: Path) -> Format:
    for form in FORMATS.values():
        if bare_suffix(path) in form.suffixes:
            return form
    known = ", ".join(dict.fromkeys(suffix for form in FORMATS.values() for suffix in form.suffixes))
    raise InputError(f"the suffix '{bare_suffix(path)}' names no known format ({known}, or a folder)", path=path)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Reading makes millions of objects and no cycles among them; searching for cycles would take most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
