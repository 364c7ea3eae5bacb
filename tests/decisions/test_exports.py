"""Every export, checked by whoever reads such files in the field."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import readers
from taxosphere import Taxonomy
from taxosphere.decisions import exchange, exports, provenance
from taxosphere.decisions.events import AUTOMATIC, Event, digest
from taxosphere.decisions.exports import kgcl, patch
from taxosphere.decisions.exports.changes import net
from taxosphere.decisions.fold import Fold
from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept

TERMS = {1: "root", 2: "cell", 3: "blood cell", 4: "red blood cell", 5: "nerve cell", 6: "tissue", 7: "nerve tissue"}
IS_A = [(1, 2), (2, 3), (3, 4), (2, 5), (1, 6), (6, 7)]


def go(number: int) -> str:
    return f"GO:{number:07d}"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lines = ["format-version: 1.2", "ontology: go", "! a comment", ""]
    for number, name in TERMS.items():
        lines += ["[Term]", f"id: {go(number)}", f"name: {name}", f'def: "The {name}." [x:y]']
        lines += [f"is_a: {go(parent)} ! {TERMS[parent]}" for parent, child in IS_A if child == number]
        lines += ["xref: other:1", ""]
    path = tmp_path / "source.obo"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def decided(base: Taxonomy) -> tuple[Fold, list[Event]]:
    def event(kind: str, item: int, name: str, *parents: int, **more: object) -> Event:
        concept = Concept(go(item), name, f"Any {name}, or 'so'.", ("avian",) if item == 101 else ())
        fields: dict[str, object] = {"by": "Anna Muster", "at": "2026-01-02T03:04:05Z", "base": digest(base)} | more
        names = tuple((go(parent), base.names[base.position(go(parent))]) for parent in parents if parent in TERMS)
        ids = tuple(map(go, parents))
        return Event(id=f"{kind}{item}", kind=kind, item=go(item), concept=concept, parents=ids, names=names, **fields)  # type: ignore[arg-type]

    events = [
        event("accept", 101, "bird's cell", 2, probability=0.93, model="m1", suggested=(go(2), go(3))),
        event("accept", 102, "white blood cell", 3, probability=0.5),
        event("insert", 103, "formed element", 2, children=(go(3),)),  # cell ─ formed element ─ blood cell
        event("move", 104, "nerve bundle", 6, 5),
        event("same", 105, "erythrocyte", 4),
        event("reject", 106, "motor", suggested=(go(5),)),
        event("top", 107, "organism"),
        event("accept", 108, "undone", 2),
        event("undo", 108, "undone", undoes="accept108"),
        event("accept", 109, "blue cell", 101, by=AUTOMATIC),
        event("later", 110, "vessel"),
    ]
    folding = Fold(base)
    return folding, [folding.apply(one) for one in events]


def content(source: Path) -> exports.Content:
    folding, events = decided(Taxonomy.read(source))
    return exports.Content(folding, events, source)


@pytest.mark.slow
def test_runoak_makes_the_same_edges_of_our_kgcl(source: Path, tmp_path: Path) -> None:
    readers.program("runoak")
    exported = content(source)
    notes = exports.write("kgcl", exported, tmp_path / "c.kgcl")
    assert notes == ["KGCL has no way to write an apostrophe in a text: ' was written as ’"]
    other = tmp_path / "theirs.obo"
    readers.run("runoak", "-i", f"simpleobo:{source}", "apply", "--changes-input", tmp_path / "c.kgcl", "-o", other)
    theirs, ours = Taxonomy.read(other), exported.folding.taxonomy()
    assert set(theirs.edges()) == set(ours.edges())
    assert dict(zip(theirs.ids, theirs.names)) == {id: n.replace("'", "’") for id, n in zip(ours.ids, ours.names)}
    synonyms = [dict(zip(t.ids, map(set, t.synonyms))) for t in (theirs, ours)]
    assert synonyms[0] == synonyms[1]
    definitions = [dict(zip(t.ids, (d.replace("'", "’") for d in t.descriptions))) for t in (theirs, ours)]
    assert definitions[0] == definitions[1]


@pytest.mark.slow
def test_the_kgcl_parser_takes_any_name(tmp_path: Path) -> None:
    readers.program("python")
    names = ["plain", "it's", 'a "b"', "x\ny", "«ü»", "a, b; c", "http://x.org/#y", "100 %", "a\\b"]
    base = Taxonomy.from_edges([("root of all", name) for name in names])
    folding = Fold(base)
    for number, name in enumerate(names):
        concept = Concept(f"new {number}", f"{name} 1", name, (f"{name} 2",))
        folding.apply(
            Event(
                id=str(number),
                kind="insert",
                item=concept.id,
                concept=concept,
                parents=("root of all",),
                children=(name,),
            )
        )
    lines = list(kgcl.commands(folding))
    assert len(lines) == 6 * len(names)
    (tmp_path / "c.kgcl").write_text("\n".join(lines), encoding="utf-8")
    code = f"from kgcl_schema.grammar.parser import parse\nprint(len(parse(open({str(tmp_path / 'c.kgcl')!r}).read())))"
    assert readers.run("python", "-c", code).strip() == str(len(lines))


@pytest.mark.slow
def test_sssom_py_reads_our_mappings(source: Path, tmp_path: Path) -> None:
    readers.program("sssom")
    exports.write("sssom", content(source), tmp_path / "m.sssom.tsv")
    readers.run("sssom", "validate", tmp_path / "m.sssom.tsv")
    code = (
        "from sssom.parsers import parse_sssom_table\n"
        f"table = parse_sssom_table({str(tmp_path / 'm.sssom.tsv')!r})\n"
        "rows = table.df.fillna('')\n"
        "print(rows[['subject_id', 'predicate_id', 'predicate_modifier', 'object_id', 'mapping_justification']]"
        ".to_csv(index=False, header=False), end='')"
    )
    mappings = {tuple(line.split(",")) for line in readers.run("python", "-c", code).splitlines()}
    manual, broader = "semapv:ManualMappingCuration", "rdfs:subClassOf"
    assert mappings == {
        (go(101), broader, "", go(2), manual),
        (go(102), broader, "", go(3), manual),
        (go(103), broader, "", go(2), manual),
        (go(104), broader, "", go(6), manual),
        (go(104), broader, "", go(5), manual),
        (go(105), "skos:exactMatch", "", go(4), manual),
        (go(106), broader, "Not", go(5), manual),
        (go(107), broader, "", "sssom:NoTermFound", manual),
        (go(109), broader, "", go(101), "semapv:CompositeMatching"),
    }


def test_sssom_of_a_thesaurus_and_of_plain_names(tmp_path: Path) -> None:
    for ids in (("http://x.org/t#a", "http://x.org/t#b"), ("food & drink", "tea, black")):
        base = Taxonomy.from_edges([ids])
        folding = Fold(base)
        folding.apply(
            Event(id="1", kind="accept", item="new\tone", concept=Concept("new\tone", "new"), parents=ids[1:])
        )
        exports.write("sssom", exports.Content(folding, []), tmp_path / "m.tsv")
        text = (tmp_path / "m.tsv").read_text(encoding="utf-8")
        assert "\tskos:broadMatch\t" in text
        head = [line for line in text.splitlines() if line.startswith("#  ")]
        prefixes = {line.split(":")[0].strip("# ") for line in head}
        row = text.splitlines()[-1].split("\t")
        assert {row[0].split(":")[0], row[4].split(":")[0]} <= prefixes


def test_sssom_gives_the_probability_of_a_parent_to_that_parent_alone(tmp_path: Path) -> None:
    folding = Fold(Taxonomy.from_edges([("food", "fruit"), ("food", "drink")]))
    for number, (kind, name, parents) in enumerate(
        (("accept", "juice", ("fruit", "drink")), ("same", "fruits", ("fruit",)))
    ):
        concept = Concept(name, name)
        folding.apply(Event(id=f"{number}", kind=kind, item=name, concept=concept, parents=parents, probability=0.7))
    exports.write("sssom", exports.Content(folding, []), tmp_path / "m.tsv")
    lines = (tmp_path / "m.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    assert [(row["predicate_id"], row["object_label"], row["confidence"]) for row in rows] == [
        ("skos:broadMatch", "fruit", "0.7000"),
        ("skos:broadMatch", "drink", ""),
        ("skos:exactMatch", "fruit", ""),
    ]


def test_the_robot_template_adds_what_is_new(source: Path, tmp_path: Path) -> None:
    notes = exports.write("robot", content(source), tmp_path / "t.tsv")
    assert notes == ["a ROBOT template cannot remove the 1 edges that insertions replace"]
    with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle, delimiter="\t"))
    assert rows[1] == ["ID", "LABEL", "A IAO:0000115", "A oboInOwl:hasRelatedSynonym SPLIT=|", "SC % SPLIT=|"]
    assert len({len(row) for row in rows}) == 1
    table = {row[0]: row for row in rows[2:]}
    assert table[go(101)] == [go(101), "bird's cell", "Any bird's cell, or 'so'.", "avian", go(2)]
    assert table[go(104)][4] == f"{go(6)}|{go(5)}"
    assert table[go(3)] == [go(3), "", "", "", go(103)]
    assert table[go(4)] == [go(4), "", "", "erythrocyte", ""]
    assert set(table) == {*map(go, (101, 102, 103, 104, 107, 109)), go(3), go(4)}


def test_the_taxonomy_says_who_added_what(source: Path, tmp_path: Path) -> None:
    exported = content(source)
    exports.write("taxonomy", exported, tmp_path / "grown.obo")
    text = (tmp_path / "grown.obo").read_text(encoding="utf-8")
    stanza = next(part for part in text.split("\n\n") if go(101) in part.split("\n")[1])
    assert "created_by: Anna Muster\ncreation_date: 2026-01-02T03:04:05Z" in stanza
    assert 'property_value: confidence "0.9300" xsd:string' in stanza
    old = source.read_text(encoding="utf-8").split("\n\n")
    untouched = [part for part in old if go(3) not in part and go(4) not in part]
    assert all(part.strip() in text for part in untouched)
    pytest.importorskip("pyoxigraph")
    exports.write("taxonomy", exported, tmp_path / "grown.ttl")
    import pyoxigraph

    triples = {
        (quad.subject.value, quad.predicate.value, quad.object.value)
        for quad in pyoxigraph.parse(path=tmp_path / "grown.ttl", format=pyoxigraph.RdfFormat.TURTLE)
        if isinstance(quad.subject, pyoxigraph.NamedNode)
    }
    iri = "http://purl.obolibrary.org/obo/GO_0000101"
    assert (iri, "http://purl.org/dc/terms/creator", "Anna Muster") in triples
    assert (iri, "http://purl.org/dc/terms/created", "2026-01-02T03:04:05Z") in triples
    note = "accept below 'cell' (probability 0.9300)"
    assert (iri, "http://www.w3.org/2004/02/skos/core#changeNote", note) in triples


@pytest.mark.parametrize(
    ("table", "parent"),
    [
        ("SKU,ID,Name,Parent ID\nA1,1,bird,\nA2,2,red bird,1\n", "1"),
        ("Level 1,Level 2,SKU\nbird,red bird,A2\nfish,ray,A3\n", "bird"),
        ("animal > bird > red bird\nanimal > fish > ray\nplant > tree > oak\n", "animal > bird"),
    ],
)
def test_a_table_gets_new_columns_only_where_somebody_signs(tmp_path: Path, table: str, parent: str) -> None:
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    base = Taxonomy.read(tmp_path / "t.csv")
    folding = Fold(base)
    folding.apply(
        Event(
            id="1",
            kind="accept",
            item="3",
            concept=Concept("3", "blue bird"),
            parents=(parent,),
            at="2026-01-01",
            probability=0.5,
        )
    )
    grown, events = folding.taxonomy(), folding.attached()
    assert provenance.add(grown, events, tmp_path / "o.csv").extras[-1] == ()
    marks = (("creation_date", "2026-01-01"), ("confidence", "0.5000"))
    assert provenance.add(grown, events, tmp_path / "o.csv", new_columns=True).extras[-1] == marks


def test_the_patch_turns_the_source_into_our_output(source: Path, tmp_path: Path) -> None:
    exported = content(source)
    exports.write("patch", exported, tmp_path / "c.patch")
    exports.write("taxonomy", exported, tmp_path / "grown.obo")
    lines = (tmp_path / "c.patch").read_text(encoding="utf-8").splitlines()
    removed = [line for line in lines if line.startswith("-") and not line.startswith("---")]
    assert removed == [f"-is_a: {go(2)} ! cell"]
    assert apply_patch(source.read_bytes(), tmp_path / "c.patch") == (tmp_path / "grown.obo").read_bytes()


def apply_patch(old: bytes, path: Path) -> bytes:
    """By the program `patch` or `git apply`, whichever is here."""
    folder = path.parent / "patched"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "source.obo").write_bytes(old)
    if shutil.which("patch"):
        command = ["patch", "--binary", "-p1", "-i", str(path)]
    elif shutil.which("git"):
        command = ["git", "apply", "-p1", str(path)]
    else:
        pytest.skip("neither patch nor git is installed")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "source.obo").read_bytes()


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"[Term]\n", b"\n", b"c\r\n", b"d\n", b"e\n"]), max_size=14)


@settings(max_examples=200, deadline=None)
@given(LINES, LINES, st.sampled_from([b"", b"end"]), st.sampled_from([b"", b"end"]))
def test_blocks_of_a_patch_rebuild_the_new_file(old: list[bytes], new: list[bytes], one: bytes, other: bytes) -> None:
    old, new = [*old, one][: len(old) + bool(one)], [*new, other][: len(new) + bool(other)]
    rebuilt, at = list[bytes](), 0
    for start, end, new_start, new_end in patch.changed_blocks(old, new):
        rebuilt += old[at:start] + new[new_start:new_end]
        at = end
    assert rebuilt + old[at:] == new
    assert bool(list(patch.unified("x", old, new))) == (old != new)


def test_a_patch_of_a_large_file_is_made_at_once(tmp_path: Path) -> None:
    old = [line for i in range(40_000) for line in (b"[Term]\n", b"id: %d\n" % i, b"is_a: 0\n", b"\n")]
    new = list(old)
    for place in (150_000, 90_000, 3):
        new[place:place] = [b"[Term]\n", b"id: new %d\n" % place, b"\n"]
    assert [end - start for *_, start, end in patch.changed_blocks(old, new)] == [3, 3, 3]


def test_a_folder_is_patched_file_by_file(tmp_path: Path) -> None:
    Taxonomy.from_edges([("food", "fruit"), ("food", "tea")]).write(tmp_path / "food")
    base = Taxonomy.read(tmp_path / "food")
    folding = Fold(base)
    folding.apply(Event(id="1", kind="accept", item="pear", concept=Concept("pear", "pear"), parents=("fruit",)))
    exports.write("patch", exports.Content(folding, [], tmp_path / "food"), tmp_path / "c.patch")
    text = (tmp_path / "c.patch").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("+")] == [
        *("+++ b/food/edges.tsv", "+fruit\tpear", "+++ b/food/nodes.tsv", "+pear\tpear\t")
    ]


def test_the_history_comes_back_as_it_was(source: Path, tmp_path: Path) -> None:
    exported = content(source)
    for name in ("h.jsonl", "h.csv", "h.tsv", "h.xlsx"):
        exports.write("decisions", exported, tmp_path / name)
        assert [event for _, event in exchange.read(tmp_path / name)] == list(exported.events)


def test_the_net_change_forgets_what_was_undone(source: Path) -> None:
    changes = net(content(source).folding)
    assert [concept.id for concept, _ in changes.new] == [*map(go, (101, 102, 103, 104, 107, 109))]
    assert changes.removed == ((go(2), go(3)),)
    assert changes.added == ((go(103), go(3)),)
    assert changes.synonyms == ((go(4), "erythrocyte"),)


@pytest.mark.parametrize(
    ("kind", "name"), [("agree", "x.txt"), ("kgcl", "x.obo"), ("sssom", "x.csv"), ("patch", "x.txt")]
)
def test_another_export_is_refused(source: Path, tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(InputError):
        exports.write(kind, content(source), tmp_path / name)
    assert not (tmp_path / name).exists()
