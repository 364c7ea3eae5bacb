"""Every format in one table.

A format is one module with `read(path, options) -> Draft` and, where it can be written, `write(taxonomy, path,
options)`. To add one, write the module and a row of `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from taxosphere.taxonomy.formats import (
    claml,
    class_table,
    concept_table,
    cub,
    depth_table,
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
    wordnet,
    xml_outline,
    yaml_tree,
)
from taxosphere.taxonomy.formats.io import grid, kept_text, markdown
from taxosphere.taxonomy.formats.io.archives import TAR_SUFFIXES
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import SYNTAX_OF_SUFFIX
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
RECORD_OPTIONS = frozenset({"mapping", "columns", "language", "encoding"})
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
            options=frozenset({"encoding"}),
        ),
        Format(
            name="snomed rf2",
            summary="release of SNOMED CT, a folder or an archive",
            suffixes=(),
            reads_also=(FOLDER, ".zip", *TAR_SUFFIXES),
            read=snomed_rf2.read,
            recognise=snomed_rf2.recognise,
            options=frozenset({"language", "encoding"}),
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
            options=frozenset({"language", "encoding"}),
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
            name="depth table",
            summary="a row per concept and a column that says how deep it stands",
            suffixes=(),
            reads_also=grid.SUFFIXES,
            read=depth_table.read,
            options=TABLE_OPTIONS | {"language"},
        ),
        Format(
            name="path list",
            summary="a path per line, with or without ids",
            suffixes=(*TABLES, ".txt"),
            reads_also=grid.SUFFIXES,
            read=path_list.read,
            write=path_list.write,
            unsupported=path_list.unsupported,
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
            suffixes=(*markdown.SUFFIXES, ".txt"),
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
            options=frozenset({"columns", "encoding"}),
        ),
        Format(
            name="obo",
            summary="OBO ontology",
            suffixes=(".obo",),
            read=obo.read,
            write=obo.write,
            options=frozenset({"relations", "equivalents", "encoding"}),
        ),
        Format(
            name="mesh",
            summary="descriptors of the Medical Subject Headings in XML",
            suffixes=(".xml",),
            read=mesh_xml.read,
            recognise=mesh_xml.recognise,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="opml",
            summary="OPML outline",
            suffixes=(".opml",),
            reads_also=(".xml",),
            read=opml.read,
            write=opml.write,
            keeps_text=True,
            extend=opml.extend,
            recognise=opml.recognise,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="freemind",
            summary="mind map of FreeMind or Freeplane",
            suffixes=(".mm",),
            read=freemind.read,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="graphml",
            summary="GraphML, edges from parent to child",
            suffixes=(".graphml",),
            reads_also=(".xml",),
            read=graphml.read,
            write=graphml.write,
            keeps_text=True,
            recognise=graphml.recognise,
            options=frozenset({"columns", "mapping", "encoding"}),
        ),
        Format(
            name="claml",
            summary="classification in ClaML, such as ICD-10",
            suffixes=(".claml",),
            reads_also=(".xml",),
            read=claml.read,
            recognise=claml.recognise,
            options=frozenset({"language", "encoding"}),
        ),
        Format(
            name="icd10cm",
            summary="tabular list of ICD-10-CM in XML",
            suffixes=(),
            reads_also=(".xml",),
            read=icd10cm.read,
            recognise=icd10cm.recognise,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="xml",
            summary="XML whose elements nest in themselves",
            suffixes=(),
            reads_also=(".xml",),
            read=xml_outline.read,
            recognise=xml_outline.recognise,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="newick",
            summary="Newick trees",
            suffixes=(".tre", ".nwk", ".newick", ".tree", ".nw", ".nh", ".nex", ".nexus", ".trees"),
            read=newick.read,
            write=newick.write,
            keeps_text=True,
            unsupported=newick.unsupported_content,
            options=frozenset({"encoding"}),
        ),
        Format(
            name="rdf",
            summary="SKOS or OWL/RDFS",
            suffixes=tuple(SYNTAX_OF_SUFFIX),
            reads_also=(".json",),
            read=rdf.read,
            write=rdf.write,
            recognise=rdf.recognise,
            options=frozenset({"language", "relations", "equivalents", "encoding"}),
        ),
        Format(
            name="obographs",
            summary="OBO Graphs, the JSON of ROBOT",
            suffixes=(".json",),
            read=obographs.read,
            write=obographs.write,
            recognise=obographs.recognise,
            options=frozenset({"relations", "equivalents", "encoding"}),
        ),
        Format(
            name="json",
            summary="JSON tree of name and children, or objects that name their parents or children",
            suffixes=(".json",),
            read=json_tree.read,
            write=json_tree.write,
            keeps_text=True,
            extend=json_tree.extend,
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
            extend=yaml_tree.extend,
            options=RECORD_OPTIONS,
        ),
        Format(
            name="jsonl",
            summary="JSON lines, one concept each",
            suffixes=(".jsonl", ".ndjson"),
            read=jsonl.read,
            write=jsonl.write,
            keeps_text=True,
            extend=jsonl.extend,
            options=frozenset({"mapping", "language", "encoding"}),
        ),
    )
}
