"""Decisions through tables: the same taxonomy by every way, and bad tables refused with their row."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Taxonomy
from taxosphere.decisions import exchange, review, spreadsheets
from taxosphere.decisions.applying import Batch, carry_out, read_decisions
from taxosphere.decisions.events import digest
from taxosphere.decisions.fold import Fold
from taxosphere.decisions.review import COLUMNS, WORDS, ReviewRow
from taxosphere.decisions.review_reader import Origin
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.taxonomy import Concept

SUFFIXES = ("csv", "tsv", "xlsx")


@pytest.fixture(scope="module")
def catalogue() -> Taxonomy:
    """Sixty products in a tree of three levels, with awkward names, two of them equal."""
    concepts = [Concept("P-0", "products")]
    edges = []
    awkward = (
        "+plus",
        "=1+1",
        "-minus",
        "@home",
        "'quoted",
        'a "b"',
        "x; y, z",
        "übrig",
        "tab\tin",
        "pipe|d",
        "two\nlines",
    )
    for i in range(1, 60):
        name = awkward[i - 1] if i <= len(awkward) else "other" if i in (40, 50) else f"product {i}"
        concepts.append(Concept(f"P-{i}", name))
        edges.append((f"P-{(i - 1) // 4}", f"P-{i}"))
    return Taxonomy.from_concepts(concepts, edges)


def shape(taxonomy: Taxonomy) -> tuple[object, ...]:
    return (
        taxonomy.ids,
        taxonomy.names,
        taxonomy.descriptions,
        taxonomy.synonyms,
        taxonomy.extras,
        set(taxonomy.edges()),
    )


def applied(path: Path, taxonomy: Taxonomy, **more: bool | str) -> tuple[Taxonomy, Batch]:
    origin = Origin(by="Anna", at="2026-01-02T03:04:05Z", base=digest(taxonomy))
    events = read_decisions(path, taxonomy, origin, **more)  # type: ignore[arg-type]
    folding = Fold(taxonomy)
    batch = carry_out(folding, events, path)
    return folding.taxonomy(), batch


def random_rows(taxonomy: Taxonomy, count: int, seed: int) -> list[dict[str, str]]:
    """Filled-in rows as a person writes them: words in any case, parents by id or label, several at times."""
    source = random.Random(seed)
    label = review.References(taxonomy).label
    rows: list[dict[str, str]] = []
    placed: list[str] = []
    for number in range(count):
        word = source.choice((*WORDS, "accept", "move", "accept"))
        ids = [*taxonomy.ids, *placed]
        some = [source.choice(ids) for _ in range(source.choice((1, 1, 2)))]
        texts = [id if id not in taxonomy or source.random() < 0.5 else label(id) for id in dict.fromkeys(some)]
        row = dict.fromkeys((*COLUMNS, "Lieferant"), "")
        row |= {"decision": source.choice((word, word.upper(), f" {word.title()} ")), "id": f"P-{100 + number}"}
        row |= {"name": f"new – {number}", "description": source.choice(("", "=SUM(A1)", 'two\nlines; and "so"'))}
        row |= {"note": source.choice(("", "-weil")), "Lieferant": source.choice(("", "Müller & Söhne", "+49 30"))}
        if word in ("accept", "move"):
            row["parent"] = " | ".join(texts)
            if word == "accept" and source.random() < 0.5:
                row |= {"parent": "", "parent_1": label(taxonomy.ids[number % 60]), "parent_1_probability": "0,75"}
        elif word == "same":
            row["parent"] = label(source.choice(taxonomy.ids))
        if word in ("accept", "move", "top"):
            placed.append(row["id"])
        rows.append(row)
    return rows


def save(path: Path, rows: list[dict[str, str]], between: str = ",") -> Path:
    spreadsheets.write(path, list(rows[0]), [list(row.values()) for row in rows], between=between)
    return path


def test_200_random_decisions_give_the_same_taxonomy_by_every_way(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = random_rows(catalogue, 200, seed=1)
    ways = {suffix: applied(save(tmp_path / f"r.{suffix}", rows), catalogue) for suffix in SUFFIXES}
    ways["semicolons"] = applied(save(tmp_path / "s.csv", rows, ";"), catalogue)
    grown, batch = ways["csv"]
    assert len(batch.events) == 200
    for name in ("e.jsonl", "e.csv", "e.tsv", "e.xlsx"):
        exchange.write(tmp_path / name, batch.events)
        ways[name] = applied(tmp_path / name, catalogue)
    for other, _ in ways.values():
        assert shape(other) == shape(grown)
    expected = {row["id"] for row in rows if row["decision"].strip().lower() in ("accept", "move", "top")}
    assert set(grown.ids) - set(catalogue.ids) == expected
    suppliers = {row["id"]: row["Lieferant"] for row in rows}
    for concept in grown.concepts():
        if concept.id in expected:
            assert dict(concept.extras).get("Lieferant", "") == suppliers[concept.id]


def test_the_random_decisions_are_carried_out_as_written(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = random_rows(catalogue, 200, seed=2)
    grown, _ = applied(save(tmp_path / "r.csv", rows), catalogue)
    references = review.References(catalogue, ((row["id"], row["name"]) for row in rows))
    for row in rows:
        word = row["decision"].strip().lower()
        if word in ("accept", "move"):
            assert set(grown.parents(row["id"])) == set(references.resolve_all(row["parent"] or row["parent_1"]))
        elif word == "same":
            target = grown.concept(grown.position(references.resolve(row["parent"])))
            assert row["name"] in target.synonyms
        elif word == "top":
            assert grown.parents(row["id"]) == ()
        else:
            assert row["id"] not in grown


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_review_table_is_read_as_it_was(catalogue: Taxonomy, tmp_path: Path, suffix: str) -> None:
    concept = Concept(
        "P-99", "=cmd", 'say "hi"; now,\nthen', ("a", "b"), (), (("note", "mine"), ("SKU", "-1"), ("SKU", "2"))
    )
    path = tmp_path / f"r.{suffix}"
    review.write(path, [ReviewRow(concept, None, "not sure", "top", "@me")], catalogue)
    (_, header), rows = spreadsheets.read(path)
    assert header == [*COLUMNS, "synonyms", "extra:note", "SKU"]
    assert [cells[header.index("decision")] for _, cells in rows] == ["top"]
    grown, batch = applied(path, catalogue)
    extras = (("note", "mine"), ("SKU", "-1|2"))
    assert grown.concept(len(catalogue)) == replace(concept, extras=extras)
    assert batch.events[0].note == "@me"


def test_excel_opens_the_csv_as_it_writes_its_own(catalogue: Taxonomy, tmp_path: Path) -> None:
    review.write(tmp_path / "r.csv", [ReviewRow(Concept("x", "=HYPERLINK(1)", "ü"))], catalogue, between=";")
    data = (tmp_path / "r.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfdecision;parent;name")
    assert data.count(b"\r\n") == 2
    assert "'=HYPERLINK(1);ü" in data.decode("utf-8-sig")
    review.write(tmp_path / "r.tsv", [ReviewRow(Concept("x", "=HYPERLINK(1)", "ü"))], catalogue)
    assert (tmp_path / "r.tsv").read_bytes().split(b"\n")[1].startswith("\t\t=HYPERLINK(1)\tü".encode())


def test_labels_lead_back_to_their_concepts(catalogue: Taxonomy) -> None:
    references = review.References(catalogue)
    for id in catalogue.ids:
        assert references.resolve_all(references.label(id)) == (id,)
    assert references.label("P-41") == "product 41"
    assert references.label("P-40") == "other (P-40)"
    assert references.label("P-10") == "P-10"  # its name holds what separates parents


@pytest.mark.parametrize(
    ("cells", "part"),
    [
        ({"decision": "yes"}, "'yes' is no decision; write accept, move, top, same, reject, later"),
        ({"decision": "insert"}, "'insert' is no decision"),
        ({"decision": "=accept"}, "is no decision"),
        ({"parent": "nowhere"}, "no concept is called 'nowhere'"),
        ({"parent": "prodcut 57"}, "no concept is called 'prodcut 57' or has this id; is it 'product 57'?"),
        ({"parent": "", "parent_1": "nowhere"}, "was the table made for another version of the taxonomy?"),
        ({"parent": "other"}, "2 concepts are called 'other': other (P-40), other (P-50); write the id"),
        ({"parent": ""}, "'accept' needs a parent"),
        ({"decision": "move", "parent": "", "parent_1": "product 41"}, "'move' needs at least one concept"),
        ({"decision": "same", "parent": "P-1|P-2"}, "'same' needs one concept"),
        ({"name": " "}, "without a name"),
        ({"parent": "P-500"}, "cannot be its own parent"),
        ({"parent": "new 1"}, "no concept is called 'new 1'"),  # a row that is rejected
        ({"id": "P-501"}, "a second decision about 'new 0'; the first one is in row 2"),
        ({"parent": "=B7"}, "no concept is called '=B7'"),
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_bad_row_is_named_and_nothing_is_applied(
    catalogue: Taxonomy, tmp_path: Path, cells: dict[str, str], part: str, suffix: str
) -> None:
    rows = [dict.fromkeys(COLUMNS, "") for _ in range(3)]
    rows[0] |= {"decision": "reject", "name": "new 1", "id": "P-501"}
    rows[1] |= {"name": "nothing decided", "parent": "nowhere"}
    rows[2] |= {"decision": "accept", "name": "new 0", "id": "P-500", "parent": "product 41"} | cells
    path = save(tmp_path / f"r.{suffix}", rows)
    with pytest.raises(InputError) as caught:
        applied(path, catalogue)
    assert (caught.value.path, caught.value.line) == (str(path), 4)
    assert part in caught.value.message
    assert "\n" not in str(caught.value)


def test_new_concepts_below_each_other_are_refused(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = [dict.fromkeys(COLUMNS, "") for _ in range(3)]
    for number, parent in enumerate(("new 1", "new 2", "new 0")):
        rows[number] |= {"decision": "accept", "name": f"new {number}", "parent": parent}
    with pytest.raises(InputError, match="hang below itself, by way of row"):
        applied(save(tmp_path / "r.csv", rows), catalogue)
    rows[2]["parent"] = "products"  # in any order
    grown, _ = applied(save(tmp_path / "r.csv", rows), catalogue)
    assert [grown.names[grown.position(id)] for id in grown.path(grown.ids[grown.names.index("new 0")])] == [
        *("products", "new 2", "new 1", "new 0")
    ]


def test_a_formula_in_a_workbook_is_refused(catalogue: Taxonomy, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [dict.fromkeys(COLUMNS, "") | {"decision": "top", "name": "x", "why": "because"} for _ in range(1)]
    path = save(tmp_path / "r.xlsx", rows)
    for column, refused in (("A", True), ("B", True), ("C", True), ("E", False)):
        book = openpyxl.load_workbook(path)
        book.active[f"{column}2"] = '="accept"'
        book.save(tmp_path / "f.xlsx")
        if refused:
            with pytest.raises(InputError, match=r"f\.xlsx:2: a formula in the column"):
                applied(tmp_path / "f.xlsx", catalogue)
        else:
            applied(tmp_path / "f.xlsx", catalogue)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", b""),
        ("r.csv", b"name,parent\nx,y\n"),
        ("r.csv", b"decision,decision,name\naccept,,x\n"),
        ("r.csv", b'decision,name\naccept,"x\n'),
        ("r.csv", b"decision,name\naccept,x,y,z\n"),
        ("r.csv", b"\xff\xfe\x00"),
        ("r.csv", b"decision,name\nacc\0ept,x\n"),
        ("r.xlsx", b"decision,name\naccept,x\n"),
        ("r.xlsx", b"PK\x03\x04 not really"),
        ("r.ods", b"x"),
        ("r.jsonl", b"[]\n"),
        ("r.jsonl", b"{}\n"),
        ("r.jsonl", b'{"id":"1","kind":"agree","item":"x"}\n'),
        ("r.jsonl", b'{"id":"1","kind":"accept","item":"x","parents":["gone"]}\n'),
        ("r.jsonl", b"[" * 100_000),
        ("r.csv", b'event,record\n1,"{"\n'),
        (
            "r.csv",
            b'event,kind,item,parents,children,undoes,by,at,note,record\n2,top,x,,,,,,,"{""id"":""1"",""kind"":""top"",""item"":""x""}"\n',
        ),
    ],
)
def test_what_is_no_table_of_decisions_is_refused(
    catalogue: Taxonomy, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        applied(tmp_path / name, catalogue)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such file"):
        applied(tmp_path / "missing.csv", catalogue)


def test_decisions_on_another_base_need_rebase(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = random_rows(catalogue, 30, seed=3)
    _, batch = applied(save(tmp_path / "r.csv", rows), catalogue)
    exchange.write(tmp_path / "e.jsonl", batch.events)
    other = catalogue.keep([i for i in range(len(catalogue)) if i != 41])
    with pytest.raises(InputError, match=r"e.jsonl:1: was decided on another version"):
        applied(tmp_path / "e.jsonl", other)
    origin = Origin(base=digest(other))
    folding = Fold(other)
    events = read_decisions(tmp_path / "e.jsonl", other, origin, rebase=True)
    rebased = carry_out(folding, events, tmp_path / "e.jsonl", rebase=True)
    assert len(rebased.events) + len([n for n in rebased.notices if "left out" in n]) == len(batch.events)
    assert len(rebased.events) > 20


def test_applying_twice_changes_nothing(catalogue: Taxonomy, tmp_path: Path) -> None:
    path = save(tmp_path / "r.csv", random_rows(catalogue, 60, seed=4))
    grown, _ = applied(path, catalogue)
    again, batch = applied(path, grown)
    assert shape(again) == shape(grown)
    assert all("is in the taxonomy already" in notice for notice in batch.notices)


def test_an_id_that_is_taken_is_made_anew(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = [dict.fromkeys(COLUMNS, "") | {"decision": "top", "name": "new", "id": "P-41"}]
    warnings: list[str] = []
    path = save(tmp_path / "r.csv", rows)
    origin = Origin(base=digest(catalogue))
    ((row, event),) = read_decisions(path, catalogue, origin, warn=warnings.append)
    assert (row, event.item) == (2, "P-60")
    assert warnings == [f"{path}:2: the id P-41 belongs to 'product 41' by now; 'new' gets P-60"]
    ((_, event),) = read_decisions(path, catalogue, origin, ids="Q:{3}")
    assert event.item == "Q:000"


@pytest.mark.slow
def test_fifty_thousand_rows(catalogue: Taxonomy, tmp_path: Path) -> None:
    rows = [{"decision": "accept", "parent": "product 41", "name": f"n {i}", "id": f"N-{i}"} for i in range(50_000)]
    grown, _ = applied(save(tmp_path / "s.csv", rows[:5000]), catalogue)
    assert len(grown) == len(catalogue) + 5000
    rows[-1]["parent"] = "nowhere"
    with pytest.raises(InputError, match=r"r\.csv:50001: no concept is called 'nowhere'"):
        applied(save(tmp_path / "r.csv", rows), catalogue)


CELL = st.one_of(
    st.sampled_from([*WORDS, "P-1", "product 41", "other", "P-1|P-2", "", "=1", "new", "P-500", "0.5", "\0", "|", "'"]),
    st.text(max_size=12),
)
TITLE = st.one_of(st.sampled_from([*COLUMNS, "synonyms", "image", "event", "record", "kind", "x"]), st.text(max_size=8))


@pytest.mark.slow
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(TITLE, min_size=1, max_size=9),
    st.lists(st.lists(CELL, max_size=9), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
    st.binary(max_size=4),
)
def test_fuzzed_tables_end_in_one_line(
    catalogue: Taxonomy, tmp_path: Path, titles: list[str], rows: list[list[str]], between: str, tidy: bool, junk: bytes
) -> None:
    path = tmp_path / "fuzz.csv"
    header = [*dict.fromkeys(["decision", "name", "parent", *titles])] if tidy else titles
    with path.open("w", encoding="utf-8", errors="replace", newline="") as handle:
        writer = csv.writer(handle, delimiter=between, escapechar="\\")
        writer.writerows([header, *rows])
    if not tidy:
        path.write_bytes(path.read_bytes() + junk)
    try:
        grown, _ = applied(path, catalogue)
    except TaxosphereError as error:
        message = str(error)
        assert message
    else:
        grown.refuse_cycles()
        assert set(catalogue.ids) <= set(grown.ids)
