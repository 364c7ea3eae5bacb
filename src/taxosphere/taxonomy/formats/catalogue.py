"""Every format in one table.

A format is a module with `read(path, options) -> Draft` and, where it can be written, `write(taxonomy, path, options)`
there or in another. To add one, write the module and a row of `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

from taxosphere.taxonomy.formats.io import suffixes
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.kept_text import Extend
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.graph import Taxonomy

FOLDER = "/"  # stands for a folder where others have a suffix


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
    reader : str
        The module here with ``read(path, options) -> Draft`` and, where suffixes are shared, ``recognise(path, head) ->
        bool`` with the first bytes of the file, decompressed and without byte order mark (empty for folders). Rows are
        asked from top to bottom; one without takes every file that has its suffix.
    writer : str, optional
        The module with ``write(taxonomy, path, options)``; with ``unsupported(taxonomy) -> list of str``, one line
        each, where a file cannot hold everything; and with ``extend`` (see `kept_text.text_for`) where the kept text
        can be made to hold what was added.
    options : frozenset of str
        Fields of `ReadOptions` that the reader uses. `strict` and `dangling` work for all.
    keeps_text : bool
        Whether the text of the file is kept and written back where nothing has changed.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str | None = None
    reads_also: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    keeps_text: bool = False

    @property
    def reading(self) -> ModuleType:
        """The module of the reader. Imported when it is needed: importing all takes longer than reading most files."""
        return import_module(f"{__package__}.{self.reader}")

    @property
    def writing(self) -> ModuleType | None:
        """The module of the writer, None for formats that are only read."""
        return import_module(f"{__package__}.{self.writer}") if self.writer else None

    @property
    def read(self) -> Callable[[Path, ReadOptions], Draft]:
        return cast("Callable[[Path, ReadOptions], Draft]", self.reading.read)

    @property
    def recognise(self) -> Callable[[Path, bytes], bool] | None:
        return getattr(self.reading, "recognise", None)

    @property
    def write(self) -> Callable[[Taxonomy, Path, WriteOptions], None] | None:
        return getattr(self.writing, "write", None)

    @property
    def unsupported(self) -> Callable[[Taxonomy], list[str]] | None:
        return getattr(self.writing, "unsupported", None)

    @property
    def extend(self) -> Extend | None:
        return getattr(self.writing, "extend", None)


TABLES = (".tsv", ".csv", ".xlsx")
TABLE_OPTIONS = frozenset({"mapping", "sheet", "encoding"})
RECORD_OPTIONS = frozenset({"mapping", "columns", "language", "encoding"})
FORMATS = {
    item.name: item
    for item in (
        Format(
            name="cub",
            summary="folder of Caltech-UCSD Birds-200-2011",
            suffixes=(FOLDER,),
            reader="cub",
        ),
        Format(
            name="wordnet",
            summary="WordNet database",
            suffixes=(*suffixes.WORDNET, FOLDER),
            reader="wordnet",
        ),
        Format(
            name="ncbi taxdump",
            summary="NCBI's taxonomy dump, a folder or an archive",
            suffixes=(".dmp",),
            reads_also=(FOLDER, ".zip", *suffixes.TARS),
            reader="ncbi_taxdump",
            options=frozenset({"encoding"}),
        ),
        Format(
            name="snomed rf2",
            summary="release of SNOMED CT, a folder or an archive",
            suffixes=(),
            reads_also=(FOLDER, ".zip", *suffixes.TARS),
            reader="snomed_rf2",
            options=frozenset({"language", "encoding"}),
        ),
        Format(
            name="image folder",
            summary="folders of images, each folder a concept",
            suffixes=(FOLDER,),
            reader="image_folder",
        ),
        Format(
            name="native",
            summary="folder with nodes.tsv and edges.tsv",
            suffixes=(FOLDER,),
            reader="native",
            writer="native",
        ),
        Format(
            name="open food facts",
            summary="taxonomy of Open Food Facts as text",
            suffixes=(),
            reads_also=(".txt",),
            reader="food_facts",
            options=frozenset({"language", "encoding"}),
        ),
        Format(
            name="class table",
            summary="class table of an ontology portal",
            suffixes=suffixes.TABLES,
            reader="class_table",
            options=frozenset({"sheet", "encoding"}),
        ),
        Format(
            name="concept table",
            summary="a row per concept that names its parent",
            suffixes=TABLES,
            reads_also=suffixes.TABLES,
            reader="concept_table",
            writer="concept_table",
            options=TABLE_OPTIONS | {"language"},
        ),
        Format(
            name="level table",
            summary="a column per level",
            suffixes=TABLES,
            reads_also=suffixes.TABLES,
            reader="level_table",
            writer="level_table",
            options=TABLE_OPTIONS | {"merge"},
        ),
        Format(
            name="depth table",
            summary="a row per concept and a column that says how deep it stands",
            suffixes=(),
            reads_also=suffixes.TABLES,
            reader="depth_table",
            options=TABLE_OPTIONS | {"language"},
        ),
        Format(
            name="path list",
            summary="a path per line, with or without ids",
            suffixes=(*TABLES, ".txt"),
            reads_also=suffixes.TABLES,
            reader="path_list",
            writer="path_list",
            options=TABLE_OPTIONS | {"merge"},
        ),
        Format(
            name="nested codes",
            summary="codes that nest, with names",
            suffixes=TABLES,
            reads_also=suffixes.TABLES,
            reader="nested_codes",
            writer="nested_codes",
            options=TABLE_OPTIONS | {"nested", "language"},
        ),
        Format(
            name="outline",
            summary="indented text, or Markdown headings and lists",
            suffixes=(*suffixes.MARKDOWN, ".txt"),
            reader="outline",
            options=frozenset({"encoding", "merge"}),
        ),
        Format(
            name="edges",
            summary="edge list of names, parent and child",
            suffixes=TABLES,
            reads_also=suffixes.TABLES,
            reader="edges",
            writer="edges",
            options=TABLE_OPTIONS | {"columns"},
        ),
        Format(
            name="semeval",
            summary="SemEval terms and edges",
            suffixes=(".taxo", ".terms"),
            reader="semeval",
            options=frozenset({"columns", "encoding"}),
        ),
        Format(
            name="obo",
            summary="OBO ontology",
            suffixes=(".obo",),
            reader="obo",
            writer="obo_writer",
            options=frozenset({"relations", "equivalents", "encoding"}),
        ),
        Format(
            name="mesh",
            summary="descriptors of the Medical Subject Headings in XML",
            suffixes=(".xml",),
            reader="mesh_xml",
            options=frozenset({"encoding"}),
        ),
        Format(
            name="opml",
            summary="OPML outline",
            suffixes=(".opml",),
            reads_also=(".xml",),
            reader="opml",
            writer="opml",
            keeps_text=True,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="freemind",
            summary="mind map of FreeMind or Freeplane",
            suffixes=(".mm",),
            reader="freemind",
            options=frozenset({"encoding"}),
        ),
        Format(
            name="graphml",
            summary="GraphML, edges from parent to child",
            suffixes=(".graphml",),
            reads_also=(".xml",),
            reader="graphml",
            writer="graphml",
            keeps_text=True,
            options=frozenset({"columns", "mapping", "encoding"}),
        ),
        Format(
            name="claml",
            summary="classification in ClaML, such as ICD-10",
            suffixes=(".claml",),
            reads_also=(".xml",),
            reader="claml",
            options=frozenset({"language", "encoding"}),
        ),
        Format(
            name="icd10cm",
            summary="tabular list of ICD-10-CM in XML",
            suffixes=(),
            reads_also=(".xml",),
            reader="icd10cm",
            options=frozenset({"encoding"}),
        ),
        Format(
            name="xml",
            summary="XML whose elements nest in themselves",
            suffixes=(),
            reads_also=(".xml",),
            reader="xml_outline",
            options=frozenset({"encoding"}),
        ),
        Format(
            name="newick",
            summary="Newick trees",
            suffixes=(".tre", ".nwk", ".newick", ".tree", ".nw", ".nh", ".nex", ".nexus", ".trees"),
            reader="newick",
            writer="newick",
            keeps_text=True,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="rdf",
            summary="SKOS or OWL/RDFS",
            suffixes=tuple(suffixes.RDF),
            reads_also=(".json",),
            reader="rdf_reader",
            writer="rdf_writer",
            options=frozenset({"language", "relations", "equivalents", "encoding"}),
        ),
        Format(
            name="obographs",
            summary="OBO Graphs, the JSON of ROBOT",
            suffixes=(".json",),
            reader="obographs",
            writer="obographs_writer",
            options=frozenset({"relations", "equivalents", "encoding"}),
        ),
        Format(
            name="json",
            summary="JSON tree of name and children, or objects that name their parents or children",
            suffixes=(".json",),
            reader="json_tree",
            writer="json_tree",
            keeps_text=True,
            options=RECORD_OPTIONS,
        ),
        Format(
            name="parquet",
            summary="Parquet or Arrow table, a row per concept or per edge",
            suffixes=(*suffixes.PARQUET, *suffixes.ARROW),
            reader="parquet",
            writer="parquet",
            options=frozenset({"mapping", "language"}),
        ),
        Format(
            name="yaml",
            summary="YAML tree of name and children, or objects that name their parents or children",
            suffixes=(".yaml", ".yml"),
            reader="yaml_tree",
            writer="yaml_tree",
            keeps_text=True,
            options=RECORD_OPTIONS,
        ),
        Format(
            name="jsonl",
            summary="JSON lines, one concept each",
            suffixes=(".jsonl", ".ndjson"),
            reader="jsonl",
            writer="jsonl",
            keeps_text=True,
            options=frozenset({"mapping", "language", "encoding"}),
        ),
    )
}
