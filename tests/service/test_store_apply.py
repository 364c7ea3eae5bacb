from __future__ import annotations

import random
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.decisions import spreadsheets
from taxosphere.decisions.applying import carry_out, read_decisions
from taxosphere.decisions.events import digest
from taxosphere.decisions.fold import Fold
from taxosphere.decisions.review import WORDS
from taxosphere.decisions.review_reader import Origin
from taxosphere.errors import InputError
from taxosphere.service import store_apply, store_events, store_items
from taxosphere.service.store import Store
from taxosphere.service.store_expand import Memory
from taxosphere.service.store_items import QueueItem
from taxosphere.service.store_ledger import Ledger
from taxosphere.taxonomy import Concept


@pytest.fixture
def products() -> Taxonomy:
    return Taxonomy.from_edges(
        [(f"P-{(i - 1) // 3}", f"P-{i}") for i in range(1, 40)], {f"P-{i}": f"p {i}" for i in range(40)}
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two hundred random decisions."""
    source = random.Random(5)
    rows = []
    for i in range(200):
        word = source.choice(WORDS)
        parent = f"p {source.randrange(40)}" if word in ("accept", "move", "same") else ""
        rows.append(
            [word, parent, f"new {i}", source.choice(("", "a thing")), f"P-{100 + i}", source.choice(("", "x"))]
        )
    spreadsheets.write(tmp_path / "r.csv", ["decision", "parent", "name", "description", "id", "SKU"], rows)
    return tmp_path / "r.csv"


def shape(taxonomy: Taxonomy) -> tuple[object, ...]:
    return taxonomy.ids, taxonomy.names, taxonomy.synonyms, taxonomy.extras, list(taxonomy.edges())


def test_200_decisions_through_the_store_give_the_taxonomy_of_the_table(
    store: Store, url: str, products: Taxonomy, table: Path
) -> None:
    events = read_decisions(table, products, Origin(by="Anna", base=digest(products)))
    alone = Fold(products)
    carry_out(alone, events, table)
    batch = store_apply.record(store, store_apply.replayed(store, products), events, table)
    assert len(batch.events) == 200
    with Store(url) as again:
        assert shape(Ledger(again).taxonomy()) == shape(alone.taxonomy())
        last = store_events.verify(again)
    assert last is not None
    assert last.seq == 200
    repeated = store_apply.record(store, store_apply.replayed(store, products), events, table)
    assert (len(repeated.events), repeated.repeated) == (0, 200)


def test_nothing_is_recorded_where_one_row_is_wrong(store: Store, products: Taxonomy, table: Path) -> None:
    events = read_decisions(table, products, Origin(base=digest(products)))
    other = products.keep([i for i in range(len(products)) if i != 7])
    with pytest.raises(InputError, match=r"r\.csv:\d+: the concept 'p 7' \(P-7\) is not in the taxonomy"):
        store_apply.record(store, store_apply.replayed(store, other), events, table)
    assert store_events.all_events(store) == []


def test_a_list_is_sorted_by_what_was_decided(store: Store, products: Taxonomy, table: Path) -> None:
    events = read_decisions(table, products, Origin(by="Anna", at="2026-01-02", base=digest(products)))
    store_apply.record(store, store_apply.replayed(store, products), events, table)
    with store.writing() as connection:
        store_items.add(connection, [QueueItem(concept=Concept("P-900", "Waiting"))])
    states = {event.concept.name: event.kind for _, event in events if event.concept is not None}
    names = [*states, "never seen", "waiting"]
    memory = Memory(store, products)
    result = memory.sort_out((i, Concept("", name.upper(), "")) for i, name in enumerate(names))
    rejected = [name for name, kind in states.items() if kind == "reject"]
    later = [name for name, kind in states.items() if kind == "later"]
    assert [row.concept.name for row in result.rejected] == [name.upper() for name in rejected]
    assert {row.why for row in result.rejected} == {"rejected by Anna on 2026-01-02"}
    assert [concept.name for _, concept in result.open] == [name.upper() for name in (*later, "never seen", "waiting")]
    assert result.open[-1][1].id == "P-900"
    assert result.settled == 200 - len(rejected) - len(later)
    assert memory.reserved >= {"P-100", "P-299", "P-900"}
