"""Every format in one table, and the four functions around it: recognise, read, write, and what stops a write.

A format is one module with `read(path, options) -> Draft` and, where it can be written, `write(taxonomy, path,
options)`. To add one, write the module and a row of `FORMATS`.
"""

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
    claml,
    class_table,
    concept_table,
    cub,
    edges,
    food_facts,
    freemind,
    graphml,
    icd10cm,
    image_folder,
    json_tree,
    jsonl,
    level_table,
    mesh_xml,
    native,
    ncbi_taxdump,
    nested_codes,
    newick,
    obo,
    obographs,
    opml,
    outline,
    parquet,
    path_list,
    rdf,
    semeval,
    snomed_rf2,
    table_layouts,
    wordnet,
    yaml_tree,
)
from taxosphere.taxonomy.formats.io import grid, kept_text, obsolete
from taxosphere.taxonomy.formats.io.archives import TAR_SUFFIXES
from taxosphere.taxonomy.formats.io.compression import single_member
from taxosphere.taxonomy.formats.io.draft import Draft, build
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions, option_name, option_names
from taxosphere.taxonomy.formats.io.rdf_syntax import SYNTAX_OF_SUFFIX
from taxosphere.taxonomy.formats.io.streams import (
    STREAM,
    UTF8_BOM,
    bare_suffix,
    open_raw_bytes,
    open_to_write,
    reading,
    suffix_to_write,
    writing,
)
from taxosphere.taxonomy.graph import Taxonomy

__all__ = [
    "FORMATS",
    "Draft",
    "Format",
    "ReadOptions",
    "WriteOptions",
    "build",
    "check_target",
    "format_to_write",
    "read",
    "recognise",
    "unsupported_content",
    "write",
]

FOLDER = "/"  # stands for a folder where others have a suffix
HEAD = 1 << 16  # bytes that a recogniser is shown


@dataclass(frozen=True, kw_only=True)
class Format:
    """A row of the table of formats.

    Parameters
    ----------
    name : str
        What messages and `Taxonomy.meta` call it.
    summary : str
        What such a file is, in a few words.
    suffixes : tuple of str
        Of files that are read, and written where there is a writer; `FOLDER` for folders.
    reads_also : tuple of str
        Suffixes of files that are read where `recognise` says so, and never written.
    read : callable
        ``read(path, options) -> Draft``.
    write : callable, optional
        ``write(taxonomy, path, options)``.
    recognise : callable, optional
        ``recognise(path, head) -> bool`` with the first bytes of the file, decompressed and without byte order mark
        (empty for folders). Rows are asked from top to bottom; one without takes every file that has its suffix.
    options : frozenset of str
        Fields of `ReadOptions` that the reader uses. `strict` and `dangling` work for all.
    unsupported : callable, optional
        ``unsupported(taxonomy) -> list of str``: what a file of this format cannot hold, one line each.
    keeps_text : bool
        Whether the text of the file is kept and written back where nothing has changed.
    extend : callable, optional
        See `kept_text.text_for`; makes the kept text hold what was added.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Draft]
    write: Callable[[Taxonomy, Path, WriteOptions], None] | None = None
    recognise: Callable[[Path, bytes], bool] | None = None
    reads_also: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    unsupported: Callable[[Taxonomy], list[str]] | None = None
    keeps_text: bool = False
    extend: kept_text.Extend | None = None


TABLES = (".tsv", ".csv", ".xlsx")
TABLE_OPTIONS = frozenset({"mapping", "sheet", "encoding"})
RECORD_OPTIONS = frozenset({"mapping", "columns", "language"})
FORMATS = {
    item.name: item
    for item in (
        Format(
            name="cub",
            summary="folder of Caltech-UCSD Birds-200-2011",
            suffixes=(FOLDER,),
            read=cub.read,
            recognise=cub.recognise,
        ),
        Format(
            name="wordnet",
            summary="WordNet database",
            suffixes=(*wordnet.LETTERS, FOLDER),
            read=wordnet.read,
            recognise=wordnet.recognise,
        ),
        Format(
            name="ncbi taxdump",
            summary="NCBI's taxonomy dump, a folder or an archive",
            suffixes=(".dmp",),
            reads_also=(FOLDER, ".zip", *TAR_SUFFIXES),
            read=ncbi_taxdump.read,
            recognise=ncbi_taxdump.recognise,
        ),
        Format(
            name="snomed rf2",
            summary="release of SNOMED CT, a folder or an archive",
            suffixes=(),
            reads_also=(FOLDER, ".zip", *TAR_SUFFIXES),
            read=snomed_rf2.read,
            recognise=snomed_rf2.recognise,
            options=frozenset({"language"}),
        ),
        Format(
            name="image folder",
            summary="folders of images, each folder a concept",
            suffixes=(FOLDER,),
            read=image_folder.read,
            recognise=image_folder.recognise,
        ),
        Format(
            name="native",
            summary="folder with nodes.tsv and edges.tsv",
            suffixes=(FOLDER,),
            read=native.read,
            write=native.write,
        ),
        Format(
            name="open food facts",
            summary="taxonomy of Open Food Facts as text",
            suffixes=(),
            reads_also=(".txt",),
            read=food_facts.read,
            recognise=food_facts.recognise,
            options=frozenset({"language"}),
        ),
        Format(
            name="class table",
            summary="class table of an ontology portal",
            suffixes=grid.SUFFIXES,
            read=class_table.read,
            options=frozenset({"sheet", "encoding"}),
        ),
        Format(
            name="concept table",
            summary="a row per concept that names its parent",
            suffixes=TABLES,
            reads_also=grid.SUFFIXES,
            read=concept_table.read,
            write=concept_table.write,
            options=TABLE_OPTIONS | {"language"},
        ),
        Format(
            name="level table",
            summary="a column per level",
            suffixes=TABLES,
            reads_also=grid.SUFFIXES,
            read=level_table.read,
            write=level_table.write,
            options=TABLE_OPTIONS | {"merge"},
        ),
        Format(
            name="path list",
            summary="a path per line, with or without ids",
            suffixes=(*TABLES, ".txt"),
            reads_also=grid.SUFFIXES,
            read=path_list.read,
            write=path_list.write,
            options=TABLE_OPTIONS | {"merge"},
        ),
        Format(
            name="nested codes",
            summary="codes that nest, with names",
            suffixes=TABLES,
            reads_also=grid.SUFFIXES,
            read=nested_codes.read,
            write=nested_codes.write,
            options=TABLE_OPTIONS | {"nested", "language"},
        ),
        Format(
            name="outline",
            summary="indented text, or Markdown headings and lists",
            suffixes=(*outline.MARKDOWN, ".txt"),
            read=outline.read,
            options=frozenset({"encoding", "merge"}),
        ),
        Format(
            name="edges",
            summary="edge list of names, parent and child",
            suffixes=TABLES,
            reads_also=grid.SUFFIXES,
            read=edges.read,
            write=edges.write,
            options=TABLE_OPTIONS | {"columns"},
        ),
        Format(
            name="semeval",
            summary="SemEval terms and edges",
            suffixes=(".taxo", ".terms"),
            read=semeval.read,
            options=frozenset({"columns"}),
        ),
        Format(
            name="obo",
            summary="OBO ontology",
            suffixes=(".obo",),
            read=obo.read,
            write=obo.write,
            options=frozenset({"relations", "equivalents"}),
        ),
        Format(
            name="mesh",
            summary="descriptors of the Medical Subject Headings in XML",
            suffixes=(".xml",),
            read=mesh_xml.read,
            recognise=mesh_xml.recognise,
        ),
        Format(
            name="opml",
            summary="OPML outline",
            suffixes=(".opml",),
            reads_also=(".xml",),
            read=opml.read,
            write=opml.write,
            keeps_text=True,
            recognise=opml.recognise,
        ),
        Format(name="freemind", summary="mind map of FreeMind or Freeplane", suffixes=(".mm",), read=freemind.read),
        Format(
            name="graphml",
            summary="GraphML, edges from parent to child",
            suffixes=(".graphml",),
            reads_also=(".xml",),
            read=graphml.read,
            write=graphml.write,
            keeps_text=True,
            recognise=graphml.recognise,
            options=frozenset({"columns", "mapping"}),
        ),
        Format(
            name="claml",
            summary="classification in ClaML, such as ICD-10",
            suffixes=(".claml",),
            reads_also=(".xml",),
            read=claml.read,
            recognise=claml.recognise,
            options=frozenset({"language"}),
        ),
        Format(
            name="icd10cm",
            summary="tabular list of ICD-10-CM in XML",
            suffixes=(),
            reads_also=(".xml",),
            read=icd10cm.read,
            recognise=icd10cm.recognise,
        ),
        Format(
            name="newick",
            summary="Newick trees",
            suffixes=(".tre", ".nwk", ".newick", ".tree"),
            read=newick.read,
            write=newick.write,
            keeps_text=True,
            unsupported=newick.unsupported_content,
        ),
        Format(
            name="rdf",
            summary="SKOS or OWL/RDFS",
            suffixes=tuple(SYNTAX_OF_SUFFIX),
            reads_also=(".json",),
            read=rdf.read,
            write=rdf.write,
            recognise=rdf.recognise,
            options=frozenset({"language", "relations", "equivalents"}),
        ),
        Format(
            name="obographs",
            summary="OBO Graphs, the JSON of ROBOT",
            suffixes=(".json",),
            read=obographs.read,
            write=obographs.write,
            recognise=obographs.recognise,
            options=frozenset({"relations", "equivalents"}),
        ),
        Format(
            name="json",
            summary="JSON tree of name and children, or objects that name their parents or children",
            suffixes=(".json",),
            read=json_tree.read,
            write=json_tree.write,
            keeps_text=True,
            options=RECORD_OPTIONS,
        ),
        Format(
            name="parquet",
            summary="Parquet or Arrow table, a row per concept or per edge",
            suffixes=(*parquet.PARQUET, *parquet.ARROW),
            read=parquet.read,
            write=parquet.write,
            options=frozenset({"mapping", "language"}),
        ),
        Format(
            name="yaml",
            summary="YAML tree of name and children, or objects that name their parents or children",
            suffixes=(".yaml", ".yml"),
            read=yaml_tree.read,
            write=yaml_tree.write,
            keeps_text=True,
            options=RECORD_OPTIONS,
        ),
        Format(
            name="jsonl",
            summary="JSON lines, one concept each",
            suffixes=(".jsonl", ".ndjson"),
            read=jsonl.read,
            write=jsonl.write,
            keeps_text=True,
            options=frozenset({"mapping", "language"}),
        ),
    )
}


def read(path: str | PathLike[str], options: ReadOptions | None = None) -> Taxonomy:
    """Read any supported file or folder.

    Parameters
    ----------
    path : path-like
        The file or folder.
    options : ReadOptions, optional
        How to read it.

    Raises
    ------
    InputError
        Where the format is not recognised, an option is stated that it does not use, or the content is at fault.
    """
    path, options = Path(path), options or ReadOptions()
    form = recognise(path, options)
    _check_options(path, form, options)
    with _without_garbage_collection():
        draft = form.read(path, options)
        if form.name != "native":
            obsolete.set_aside(draft)
        taxonomy = build(draft, options)
    return kept_text.keep(taxonomy, path, form.name) if form.keeps_text else taxonomy


def write(taxonomy: Taxonomy, path: str | PathLike[str], options: WriteOptions | None = None) -> None:
    """Write in the format the suffix names; no suffix means the native folder, and what came from a concept table goes
    back into one.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write, obsolete concepts that were set aside on reading included.
    path : path-like
        The file or folder; it appears whole or not at all.
    options : WriteOptions, optional
        How to write it.
    """
    path = Path(path)
    with writing(path):
        check_target(path)
        form = format_to_write(taxonomy, path, (options or WriteOptions()).as_)
        assert form.write is not None  # or it would have been refused
        text = kept_text.text_for(taxonomy, form.name, form.extend)
        if text is not None:
            with open_to_write(path) as handle:
                handle.write(text)
            return
        whole = taxonomy if form.name == "native" else obsolete.brought_back(taxonomy)
        form.write(whole, path, options or WriteOptions())


def check_target(path: str | PathLike[str]) -> None:
    """Raise what would stop `write` later, before any work is done."""
    path = Path(path)
    suffix = suffix_to_write(path) or path.suffix.lower()  # .gz alone names no format
    if path.is_dir() or not suffix:
        native.check_target(path)
        return
    forms = [form for form in FORMATS.values() if form.write is not None]
    writable = dict.fromkeys(each for form in forms for each in form.suffixes if each != FOLDER)
    if suffix not in writable:
        message = f"the suffix '{suffix}' names no format to write ({', '.join(writable)}, or a folder)"
        raise InputError(message, path=path)
    atomic.refuse_file(path)


def unsupported_content(taxonomy: Taxonomy, path: str | PathLike[str]) -> list[str]:
    """What the source said beside its concepts and a file of this name could not hold, one line each; and what only
    `--columns` can tell whoever reads the file."""
    path = Path(path)
    form = format_to_write(taxonomy, path)
    lines = []
    if form.name == "edges" and edges.unstated_order(taxonomy, path):
        lines.append(
            "the child stands first and no header says so, as in the source; read it with --columns child,parent"
        )
    for name, other_content in (("obo", obo.other_content), ("rdf", rdf.other_content)):
        if form.name not in ("native", name):
            lines += other_content(taxonomy)
    if form.unsupported is not None:
        lines += form.unsupported(taxonomy)
    if form.name not in ("native", "json", "yaml") and taxonomy.meta.get("json", {}).get("top"):
        lines.append("keys beside the children at the top of the JSON source left out")
    return lines


def recognise(path: Path, options: ReadOptions | None = None) -> Format:
    """The format of an existing file or folder: the first row of `FORMATS` with its suffix that takes its content.

    Parameters
    ----------
    path : Path
        The file or folder.
    options : ReadOptions, optional
        What is said about a table decides how it is understood.
    """
    if path == STREAM:
        raise InputError("standard input has no suffix to name its format; save it as a file that has one", path=path)
    with reading(path):
        exists, folder, regular = path.exists(), path.is_dir(), path.is_file()
    if not exists:
        raise InputError("no such file or folder", path=path)
    if not regular and not folder:
        raise InputError("is neither a file nor a folder; save its content as a file", path=path)
    suffix = FOLDER if folder else bare_suffix(path)
    rows = [form for form in FORMATS.values() if suffix in (*form.suffixes, *form.reads_also)]
    head = b"" if folder or suffix == ".zip" or not any(form.recognise for form in rows) else _head(path)
    for form in rows:
        if form.recognise is None and suffix in grid.SUFFIXES:
            return FORMATS[table_layouts.recognise(path, options or ReadOptions())]
        if form.recognise is None or form.recognise(path, head):
            return form
    if suffix == ".zip":
        single_member(path)  # says what it holds instead
    raise _unknown_suffix(path)


def _head(path: Path) -> bytes:
    with open_raw_bytes(path) as handle:
        return handle.read(HEAD).removeprefix(UTF8_BOM)


def format_to_write(taxonomy: Taxonomy, path: Path, as_: str | None = None) -> Format:
    """The format in which `write` would write a taxonomy to a path."""
    if path.is_dir() or not bare_suffix(path):
        return FORMATS["native"]
    suffix = bare_suffix(path)
    if as_ is not None:
        return _named(path, as_)
    if suffix in (*TABLES, ".txt"):
        return _table_to_write(taxonomy, suffix)
    if suffix == ".json":
        return FORMATS["obographs" if obographs.META in taxonomy.meta else "json"]
    for form in FORMATS.values():
        if suffix in form.suffixes and form.write is not None:
            return form
    raise _unknown_suffix(path)


def _named(path: Path, as_: str) -> Format:
    """The format that `WriteOptions.as_` names; SKOS and OWL are the two vocabularies of RDF."""
    fitting = [form for form in FORMATS.values() if form.write is not None and bare_suffix(path) in form.suffixes]
    names = {name: form for form in fitting for name in (("skos", "owl") if form.name == "rdf" else (form.name,))}
    if as_ not in names:
        listed = ", ".join(names) or "nothing"
        raise InputError(f"as '{as_}' is nothing that {bare_suffix(path)} can hold; there is: {listed}", path=path)
    return names[as_]


def _table_to_write(taxonomy: Taxonomy, suffix: str) -> Format:
    """The kind of table that the taxonomy came from; else a path list, a concept table or an edge list."""
    kinds = {
        concept_table.META: "concept table",
        level_table.META: "level table",
        path_list.META: "path list",
        nested_codes.META: "nested codes",
        edges.META: "edges",
    }
    usual = {".txt": "path list", ".xlsx": "concept table"}.get(suffix, "edges")
    name = next((name for key, name in kinds.items() if key in taxonomy.meta), usual)
    return FORMATS[name if suffix in FORMATS[name].suffixes else usual]


def _unknown_suffix(path: Path) -> InputError:
    suffixes = dict.fromkeys(suffix for form in FORMATS.values() for suffix in form.suffixes[:1] if suffix != FOLDER)
    text = f"the suffix '{bare_suffix(path)}' names no known format ({', '.join(suffixes)} and others, or a folder)"
    return InputError(text, path=path)


def _check_options(path: Path, form: Format, options: ReadOptions) -> None:
    unused = [name for name in options.stated() if name not in form.options]
    if unused:
        usable = f"it has {option_names(sorted(form.options))}" if form.options else "it has no options"
        raise InputError(f"{option_name(unused[0])} says nothing about the format '{form.name}'; {usable}", path=path)


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
