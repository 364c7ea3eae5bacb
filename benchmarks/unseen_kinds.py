"""Further files of registry packages that no reader had seen, chosen for their kinds, with the counts of other readers.

`unseen_files.py` reads them with its own; TriG, Django fixtures, taxtables, TreeLine, auspice trees, categories of
HomeBank, YAML schemas, unknown suffixes.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from real_files import Counts, by_expat, by_json, by_phylo, by_rdflib, by_stanzas

Kinds = tuple[str, str, str, Callable[[Path], Counts] | None, dict[str, Any] | None]
Walk = Iterator[tuple[str | None, str]]


def rows_below(rows: list[tuple[str, str]]) -> Counts:
    """Rows of (id, id of the parent); a row may be its own parent, which is no edge, nor is a parent that is no row."""
    ids = {id for id, _ in rows}
    return len(ids), len({(above, id) for id, above in rows if above in ids and above != id})


def by_columns(id: str, parent: str) -> Callable[[Path], Counts]:
    """A row per concept with the id of its parent."""

    def count(path: Path) -> Counts:
        rows = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8").replace("\r", "\n")))
        return rows_below([(row[id], row[parent]) for row in rows if row[id]])

    return count


def by_xlrd(path: Path) -> Counts:
    """The same in the first sheet of an old workbook: ids in the first column, parents in the third."""
    import xlrd

    sheet = xlrd.open_workbook(path).sheet_by_index(0)
    rows = [sheet.row_values(place) for place in range(1, sheet.nrows)]
    return rows_below([(str(row[0]), f"{row[2]:.0f}") for row in rows if row[0]])


def by_code(column: str) -> Callable[[Path], Counts]:
    """Codes, of which none is the beginning of another."""

    def count(path: Path) -> Counts:
        codes = {row[column] for row in csv.DictReader(path.open(encoding="utf-8", newline=""))}
        return len(codes), sum(any(code != other and code.startswith(other) for other in codes) for code in codes)

    return count


def by_blanks(path: Path) -> Counts:
    """Lines, and those that begin with a blank, which are below another."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    return len(lines), sum(line[0] == " " for line in lines)


def by_stars(path: Path) -> Counts:
    """Headings of org-mode, and those with more than one star."""
    stars = re.findall(r"^(\*+) ", path.read_text("utf-8"), re.MULTILINE)
    return len(stars), sum(len(each) > 1 for each in stars)


def by_depth(path: Path) -> Counts:
    """Lines `depth;sign;name`, of which those of depth 2 are below another."""
    depths = [line.split(";")[0] for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    return len(depths), depths.count("2")


def by_zipped_dump(path: Path) -> Counts:
    """Rows of nodes.dmp in an archive."""
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("nodes.dmp").decode().splitlines()
    return rows_below([(row[0], row[1]) for row in (line.split("\t|\t") for line in lines)])


def by_arrows(path: Path) -> Counts:
    """Arrows of a Graphviz file between plain names."""
    edges = set(re.findall(r"(\w+)\s*->\s*(\w+)", path.read_text("utf-8")))
    return len({end for edge in edges for end in edge}), len(edges)


def by_schema(path: Path) -> Counts:
    """Classes of a LinkML schema and what they are (`is_a`)."""
    import yaml

    classes = yaml.safe_load(path.read_text("utf-8"))["classes"]
    return rows_below([(name, (item or {}).get("is_a", "")) for name, item in classes.items()])


def by_elements(path: Path) -> Counts:
    """Elements `node` and `edge` of a GraphML file, those of graphs inside nodes too."""
    tags = [element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()]  # noqa: S314
    return tags.count("node"), tags.count("edge")


def fixtures(document: Any) -> Walk:
    """Rows of a database as Django stores them."""
    yield from ((item["fields"]["parent"] and str(item["fields"]["parent"]), str(item["pk"])) for item in document)


def members(document: Any) -> Walk:
    """Lists of members by category."""
    for name, item in document.items():
        yield None, name
        yield from ((name, member) for member in item["members"])


def nested(name: str, key: str = "") -> Callable[[Any], Walk]:
    """Objects in lists of children, with their names."""

    def walk(document: Any) -> Walk:
        waiting = [(None, document[key] if key else document)]
        while waiting:
            above, item = waiting.pop()
            yield above, item[name]
            waiting += [(item[name], child) for child in item.get("children", ())]

    return walk


def children_by_id(document: Any) -> Walk:
    """Objects with the ids of their children (TreeLine)."""
    for item in document["nodes"]:
        yield None, item["uid"]
        yield from ((item["uid"], child) for child in item["children"])


def territories(document: Any) -> Walk:
    """Lists of parts by territory (CLDR)."""
    for above, item in document["supplemental"]["territoryContainment"].items():
        yield None, above
        yield from ((above, part) for part in item["_contains"])


def languages(document: Any) -> Walk:
    """Codes in one text by group (CLDR)."""
    for above, codes in document["supplemental"]["languageGroups"].items():
        yield None, above
        yield from ((above, code) for code in codes.split())


TAXTASTIC, FISCAL = "taxtastic-0.12.0", "odoo/addons/l10n_br_fiscal/data/l10n_br_fiscal"
TABLE = by_columns("tax_id", "parent_id")
OPENMS, CHADO = "usr/share/openms/CV", "usr/share/gmod/chado/load/etc"
MODELS, SCHEMAS = "linkml_runtime/linkml_model", "oaklib/datamodels"
TREELINE, CLDR = "usr/share/doc/treeline", "package/supplemental"
MORE: list[Kinds] = [
    *(
        ("deb/zeitgeist", f"usr/share/zeitgeist/ontology/{name}.trig", "TriG", by_rdflib, None)
        for name in "nao ncal nco nfo nie nmm nmo zg".split()
    ),
    *(
        ("deb/genometools-common", f"usr/share/genometools/gtdata/obo_files/{name}.obo", "OBO", by_stanzas, None)
        for name in "so so-xp sofa".split()
    ),
    *(
        ("deb/openms-common", f"{OPENMS}/{name}.obo", "OBO", by_stanzas, None)
        for name in "brenda goslim_goa psi-mzdata qc-cv quality".split()
    ),
    *(
        ("deb/libchado-perl", f"{CHADO}/{name}.obo", "OBO", by_stanzas, None)
        for name in "chap cv_property feature_property genbank_feature_property".split()
    ),
    (
        "deb/r-bioc-gseabase",
        "usr/lib/R/site-library/GSEABase/extdata/goslim_plant.obo",
        "OBO",
        by_stanzas,
        None,
    ),
    *(
        ("sd/taxtastic", f"{TAXTASTIC}/testfiles/{name}", "taxtable", TABLE, None)
        for name in (
            "minimal_taxonomy.csv",
            "simple_taxtable.csv",
            "tax_table.csv",
            "taxids1.taxtable",
            "lactobacillus2-0.2.refpkg/taxtable.csv",
            "new_taxa_mac.csv",
        )
    ),
    ("sd/taxtastic", f"{TAXTASTIC}/testfiles/new_taxa.xls", "old Excel", by_xlrd, {"dangling": "drop"}),
    ("sd/taxtastic", f"{TAXTASTIC}/testfiles/taxdmp.zip", "NCBI taxdump, zip", by_zipped_dump, None),
    (
        "sd/taxtastic",
        f"{TAXTASTIC}/testfiles/lactobacillus2-0.2.refpkg/RAxML_result.lactobacillus2",
        "Newick without a suffix",
        by_phylo,
        None,
    ),
    ("sd/taxtastic", f"{TAXTASTIC}/testfiles/new_nodes_ok.yml", "YAML documents", lambda _: (3, 1), None),
    ("sd/taxtastic", f"{TAXTASTIC}/docs/outline.org", "org-mode", by_stars, None),
    ("sd/taxtastic", f"{TAXTASTIC}/tests/algotax_graphs/clade_coloring1.dot", "Graphviz", by_arrows, None),
    ("py/django-categories", "categories/fixtures/genres.txt", "indented text", by_blanks, None),
    ("py/django-categories", "categories/fixtures/musicgenres.json", "Django fixtures", by_json(fixtures), None),
    *(
        ("py/odoo14-addon-l10n-br-fiscal", f"{FISCAL}.{name}.csv", "Odoo table", by_columns("id", "parent_id:id"), None)
        for name in ("cnae", "service.type")
    ),
    (
        "py/odoo14-addon-l10n-br-fiscal",
        f"{FISCAL}.nbs.csv",
        "codes without the codes above",
        by_code("code"),
        {"nested": True, "mapping": {"id": "code"}},
    ),
    ("py/odoo14-addon-l10n-br-fiscal", f"{FISCAL}.product.genre.csv", "codes and names", None, None),
    *(
        ("npm/world-countries", f"package/dist/countries.{suffix}", "countries", None, None)
        for suffix in ("csv", "yml", "json", "xml")
    ),
    ("py/country-converter", "country_converter/country_data.tsv", "countries", None, None),
    ("npm/markmap", "package/examples/data/tree.json", "JSON tree", by_json(nested("name")), None),
    ("npm/auspice", "package/examples/minimal_v2.json", "auspice tree", by_json(nested("name", "tree")), None),
    ("npm/auspice", "package/test/data/generic.json", "auspice tree", by_json(nested("name", "tree")), None),
    ("npm/auspice", "package/examples/minimal_v1_tree.json", "auspice tree", by_json(nested("strain")), None),
    *(
        ("deb/treeline", f"{TREELINE}/{name}.trln", "TreeLine", by_json(children_by_id), None)
        for name in ("documentation", "samples/140en_sample_genealogy", "samples/220en_sample_bookmarks")
    ),
    ("npm/cldr-core", f"{CLDR}/territoryContainment.json", "JSON lists by key", by_json(territories), None),
    ("npm/cldr-core", f"{CLDR}/languageGroups.json", "JSON texts by key", by_json(languages), None),
    (
        "npm/@openstreetmap_id-tagging-schema",
        "package/dist/preset_categories.json",
        "JSON lists by key",
        by_json(members),
        None,
    ),
    ("npm/@openstreetmap_id-tagging-schema", "package/dist/presets.json", "JSON objects by path", None, None),
    *(
        ("deb/homebank-data", f"usr/share/homebank/datas/hb-categories-{name}.csv", "depths", by_depth, None)
        for name in ("en", "de", "ru")
    ),
    *(("py/oaklib", f"{SCHEMAS}/{name}.owl.ttl", "OWL, Turtle", by_rdflib, None) for name in ("similarity", "fhir")),
    ("py/linkml-runtime", f"{MODELS}/owl/meta.owl.ttl", "OWL, Turtle", by_rdflib, None),
    ("py/linkml-runtime", f"{MODELS}/excel/meta.xlsx", "workbook of forms", None, None),
    ("py/linkml-runtime", f"{MODELS}/model/schema/meta.yaml", "LinkML schema", by_schema, None),
    ("py/oaklib", f"{SCHEMAS}/similarity.yaml", "LinkML schema", by_schema, None),
    ("npm/@vocabulary_dpv", "package/dpv.nq", "N-Quads", by_rdflib, None),
    ("npm/@vocabulary_skosxl", "package/skosxl.nq", "N-Quads", by_rdflib, None),
    *(
        (
            "deb/libxml-opml-perl",
            f"usr/share/doc/libxml-opml-perl/examples/{name}.opml",
            "OPML",
            by_expat("outline"),
            None,
        )
        for name in ("modules", "mySubscriptions")
    ),
    *(
        (
            "deb/ruby-graphviz",
            f"usr/share/doc/ruby-graphviz/examples/graphml/{name}.graphml",
            "GraphML",
            by_elements,
            None,
        )
        for name in ("simple", "attributes", "port", "cluster")
    ),
    ("py/pykeen", "pykeen/datasets/umls/train.txt", "triples of many relations", None, None),
    ("py/pyobo", "pyobo/resources/so.tsv", "codes and names", None, None),
    ("py/langcodes", "langcodes/data/language-subtag-registry.txt", "registry of records", None, None),
    ("deb/debtags", "usr/share/debtags/vocabulary", "records", None, None),
]
