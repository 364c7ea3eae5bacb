from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from taxosphere import Taxonomy
from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Conflict
from taxosphere.errors import InputError
from taxosphere.service import store_access, store_backup, store_bases, store_events, store_items, store_jobs
from taxosphere.service.store import DatabaseUnavailable, Store, StoreError
from taxosphere.service.store_access import Person
from taxosphere.service.store_events import KeyReused, verify
from taxosphere.service.store_items import NoSuchItem, QueueItem, StaleVersion
from taxosphere.service.store_ledger import Ledger
from taxosphere.service.store_tables import EVENTS, ITEMS
from taxosphere.taxonomy import Concept


def accept(number: int, parent: str = "bird", **more: object) -> Event:
    concept = Concept(f"n{number}", f"new {number}", extras=(("Lieferant", "Müller"),))
    fields: dict[str, object] = {"by": "Anna", "at": "2026-01-02T03:04:05Z", "probability": 0.75} | more
    return Event(id=f"e{number}", kind="accept", item=concept.id, concept=concept, parents=(parent,), **fields)  # type: ignore[arg-type]


@pytest.fixture
def ledger(store: Store, animals: Taxonomy) -> Ledger:
    store_bases.put(store, animals)
    return Ledger(store)


def test_decisions_are_there_after_a_restart(ledger: Ledger, url: str, animals: Taxonomy) -> None:
    recorded = [ledger.decide(accept(number)) for number in range(3)]
    assert [one.seq for one in recorded] == [1, 2, 3]
    ledger.decide(Event(id="u", kind="undo", item="n1", undoes="e1"))
    with Store(url) as again:
        assert [event.id for event in store_events.all_events(again)] == ["e0", "e1", "e2", "u"]
        assert store_events.all_events(again)[0] == recorded[0].event
        grown = Ledger(again).taxonomy()
        assert grown.ids == (*animals.ids, "n0", "n2")
        assert grown.extras[-1] == (("Lieferant", "Müller"),)
        last = verify(again)
        assert last is not None
        assert last.seq == 4


def test_a_database_that_fails_is_said_in_one_line(ledger: Ledger) -> None:
    ledger.decide(accept(0))
    failed = sa.exc.OperationalError("COMMIT", {}, Exception("database or disk is full\nand more"))
    with pytest.raises(DatabaseUnavailable, match="database or disk is full") as refused, ledger.store.writing():
        raise failed
    assert "\n" not in str(refused.value)
    assert len(store_events.all_events(ledger.store)) == 1


def test_a_changed_byte_in_a_decision_is_noticed(tmp_path: Path, animals: Taxonomy) -> None:
    path = tmp_path / "decisions.db"
    with Store(str(path)) as store:
        store_bases.put(store, animals)
        Ledger(store).decide(accept(0))
    content = path.read_bytes()
    assert content.count(b"M\xc3\xbcller") >= 1
    path.write_bytes(content.replace(b"M\xc3\xbcller", b"K\xc3\xbcller"))
    with Store(str(path)) as store, pytest.raises(StoreError, match="decision 1 is not what was recorded"):
        Ledger(store).taxonomy()


@pytest.mark.parametrize("damage", [b"CREATE \xf4ABLE", b"CREATE tABLe ("])
def test_a_damaged_schema_is_said_in_one_line(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "decisions.db"
    Store(str(path)).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", damage[:12]).replace(b"events (", b"ev\xf4nts ("))
    with pytest.raises(InputError, match="cannot be opened as a database of decisions") as refused:
        Store(str(path))
    assert "\n" not in str(refused.value)


def test_a_damaged_base_is_said_in_one_line(tmp_path: Path, animals: Taxonomy) -> None:
    path = tmp_path / "decisions.db"
    with Store(str(path)) as store:
        store_bases.put(store, animals)
    content = path.read_bytes()
    assert b"PK\x05\x06" in content
    path.write_bytes(content.replace(b"PK\x05\x06", b"PK\x05\x07"))
    with Store(str(path)) as store, pytest.raises(StoreError, match="the taxonomy in it is damaged"):
        store_bases.load(store)


def test_a_damaged_document_of_an_item_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "decisions.db"
    with Store(str(path)) as store, store.writing() as connection:
        store_items.add(connection, [QueueItem(concept=Concept("n1", "new"))])
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE items SET concept = '{\"name\": x'")
    raw.close()
    with Store(str(path)) as store, pytest.raises(DatabaseUnavailable, match=r"no JSON.*damaged") as refused:  # noqa: SIM117
        with store.reading() as connection:
            store_items.get(connection, "n1")
    assert "\n" not in str(refused.value)


def test_a_refused_decision_leaves_no_trace(ledger: Ledger) -> None:
    ledger.decide(accept(0))
    with pytest.raises(Conflict):
        ledger.decide(accept(1, "nowhere"))
    with pytest.raises(Conflict):
        ledger.decide_all([accept(2), accept(3, "nowhere")])
    assert len(store_events.all_events(ledger.store)) == 1
    assert "n2" not in ledger.taxonomy()
    assert ledger.decide(accept(2)).seq == 2


def test_two_ledgers_see_each_other(ledger: Ledger, url: str) -> None:
    with Store(url) as other_store:
        other = Ledger(other_store)
        ledger.decide(accept(0))
        other.decide(accept(1, "n0"))
        with pytest.raises(Conflict, match="'accept' of 'new 1' by Anna on 2026-01-02"):
            ledger.decide(Event(id="u", kind="undo", item="n0", undoes="e0"))
        assert ledger.taxonomy().ids == other.taxonomy().ids


def test_an_idempotency_key_adds_one_event(ledger: Ledger) -> None:
    first = ledger.decide(accept(0), key="k")
    again = ledger.decide(accept(0, by="Anna"), key="k")
    assert (again.seq, again.hash, again.replayed) == (first.seq, first.hash, True)
    with pytest.raises(KeyReused):
        ledger.decide(accept(1), key="k")
    with pytest.raises(Conflict, match="carried out before"):
        ledger.decide(accept(0, "mammal"), key="other")
    assert len(store_events.all_events(ledger.store)) == 1


def test_a_version_that_is_no_longer_the_items_is_refused(ledger: Ledger) -> None:
    with ledger.store.writing() as connection:
        assert store_items.add(connection, [QueueItem(concept=Concept("n0", "new 0"))]) == 1
    ledger.decide(accept(0), version=0)
    with pytest.raises(StaleVersion) as stale:
        ledger.decide(Event(id="r", kind="reject", item="n0"), version=0)
    assert (stale.value.item.version, stale.value.item.state) == (1, "accepted")
    ledger.decide(Event(id="r", kind="reject", item="n0"), version=1)
    with pytest.raises(NoSuchItem):
        ledger.decide(accept(7), version=0)
    edited = Concept("n0", "newer", "text", extras=(("own", "x"),))
    ledger.decide(Event(id="t", kind="edit", item="n0", concept=edited), version=2)
    with ledger.store.reading() as connection:
        item = store_items.get(connection, "n0")
    assert (item.version, item.state, ledger.fold.text("n0")) == (3, "rejected", edited)
    assert item.concept.name == "new 0", "what came with the list stays, or an undo could not bring it back"
    ledger.decide(Event(id="back", kind="undo", item="n0", undoes="t"), version=3)
    with ledger.store.reading() as connection:
        assert [item.concept.name for item in store_items.page(connection, containing="new 0")] == ["new 0"]


@pytest.mark.parametrize("statement", ["UPDATE events SET body = '{}'", "DELETE FROM events", "DELETE FROM bases"])
def test_the_database_refuses_to_change_history(ledger: Ledger, statement: str) -> None:
    ledger.decide(accept(0))
    with pytest.raises(sa.exc.DatabaseError, match="only ever added"), ledger.store.writing() as connection:
        connection.execute(sa.text(statement))
    assert len(store_events.all_events(ledger.store)) == 1


def test_postgresql_refuses_to_empty_the_table(ledger: Ledger) -> None:
    if ledger.store.is_file:
        pytest.skip("SQLite has no TRUNCATE")
    with pytest.raises(sa.exc.DatabaseError, match="only ever added"), ledger.store.writing() as connection:
        connection.execute(sa.text("TRUNCATE events"))


def tamper(store: Store, *statements: str) -> None:
    """What somebody with full rights could do."""
    off, on = (
        (["DROP TRIGGER events_no_update", "DROP TRIGGER events_no_delete"], [])
        if store.is_file
        else (["ALTER TABLE events DISABLE TRIGGER ALL"], ["ALTER TABLE events ENABLE TRIGGER ALL"])
    )
    with store.writing() as connection:
        for statement in (*off, *statements, *on):
            connection.exec_driver_sql(statement)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("UPDATE events SET body = replace(body, 'bird', 'mammal') WHERE seq = 2", "decision 2"),
        ("UPDATE events SET by = 'Bert' WHERE seq = 2", "columns of decision 2"),
        ("UPDATE events SET key = 'other' WHERE seq = 1", "decision 1"),
        ("DELETE FROM events WHERE seq = 2", "decision 2 is missing"),
        ("DELETE FROM events WHERE seq = 1", "decision 1 is missing"),
    ],
)
def test_a_changed_history_is_noticed(ledger: Ledger, statement: str, word: str, tmp_path: Path) -> None:
    for number in range(3):
        ledger.decide(accept(number))
    verify(ledger.store)
    tamper(ledger.store, statement.replace("SET by", 'SET "by"'))
    with pytest.raises(StoreError, match=word):
        verify(ledger.store)
    with pytest.raises(StoreError, match=word):
        store_backup.backup(ledger.store, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


def test_a_backup_is_one_file_and_fills_a_store_of_either_kind(
    ledger: Ledger, url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for number in range(3):
        ledger.decide(accept(number))
    with ledger.store.writing() as connection:
        store_items.add(connection, [QueueItem(concept=Concept("n9", "new 9"), suggestions={"a": [1.5, None]})])
        store_access.add_token(connection, Person("Anna", "curator"))
        store_access.add_session(connection, Person("Anna", "curator"), store_access.NEVER)
        store_jobs.add(connection, "expand", {"file": "x"})
    folder = tmp_path / "backups"
    folder.mkdir()
    assert store_backup.backup(ledger.store, folder / "b.db") == 3
    assert [path.name for path in folder.iterdir()] == ["b.db"]
    from support.postgres import new_database

    others = [str(tmp_path / "restored.db"), new_database(request.getfixturevalue("postgres"), f"r{abs(hash(url))}")]
    for other in others:
        with Store(other) as restored:
            assert store_backup.restore(folder / "b.db", restored) == 3
            assert store_events.all_events(restored) == store_events.all_events(ledger.store)
            assert Ledger(restored).taxonomy().ids == ledger.taxonomy().ids
            with restored.reading() as one, ledger.store.reading() as two:
                assert store_items.page(one) == store_items.page(two)
                assert store_jobs.latest(one) == store_jobs.latest(two)
                assert one.scalar(sa.text("SELECT count(*) FROM sessions")) == 0
                assert one.scalar(sa.text("SELECT count(*) FROM tokens")) == 1
            assert Ledger(restored).decide(accept(4)).seq == 4
            with pytest.raises(InputError, match="is not empty"):
                store_backup.restore(folder / "b.db", restored)
    with pytest.raises(InputError, match="no such database"):
        store_backup.restore(folder / "missing.db", ledger.store)


def test_the_queue_in_pages(store: Store) -> None:
    concepts = [Concept(f"c{i}", f"50 % of {i}", extras=(("SKU", str(i)),)) for i in range(25)]
    with store.writing() as connection:
        assert store_items.add(connection, [QueueItem(concept=concept) for concept in concepts]) == 25
        assert store_items.add(connection, [QueueItem(concept=concepts[3])]) == 0
        store_items.assign(connection, "c7", "Anna")
    with store.reading() as connection:
        items, after = [], 0
        while page := store_items.page(connection, after=after, limit=10):
            items += page
            after = page[-1].position
        assert [item.concept for item in items] == concepts
        assert [item.id for item in store_items.page(connection, assignee="Anna")] == ["c7"]
        assert [item.id for item in store_items.page(connection, containing="% OF 24")] == ["c24"]
        assert store_items.page(connection, containing="_") == []
        assert store_items.counts(connection) == {"open": 25}


def test_a_job_has_one_worker_and_survives_it(store: Store) -> None:
    with store.writing() as connection:
        first = store_jobs.add(connection, "expand", {"rows": 3}, "Anna")
        store_jobs.add(connection, "fit", {})
    with store.writing() as connection:
        assert store_jobs.claim(connection, "w1", ["expand"]).id == first.id  # type: ignore[union-attr]
        assert store_jobs.claim(connection, "w2", ["expand"]) is None
        assert store_jobs.progress(connection, first.id, 1, 3, "placing")
        assert store_jobs.release(connection, "2000-01-01") == 0
        assert store_jobs.release(connection, "9000-01-01") == 1  # the worker was killed
        assert not store_jobs.progress(connection, first.id, 2, 3)
        again = store_jobs.claim(connection, "w2")
        assert again is not None
        assert (again.id, again.payload, again.done) == (first.id, {"rows": 3}, 1)
        store_jobs.finish(connection, first.id, {"attached": 2})
        assert store_jobs.get(connection, first.id).result == {"attached": 2}
        with pytest.raises(store_jobs.NoSuchJob):
            store_jobs.cancel(connection, first.id)
        fit = store_jobs.claim(connection, "w2")
        assert fit is not None
        assert store_jobs.cancel(connection, fit.id).state == "cancelled"
        assert not store_jobs.progress(connection, fit.id, 1, 1)
        store_jobs.finish(connection, fit.id, {})
        assert store_jobs.get(connection, fit.id).state == "cancelled"


def test_one_model_is_active(store: Store) -> None:
    with store.writing() as connection:
        for name in ("a", "b"):
            record = store_jobs.ModelRecord(
                id=name, path=f"/models/{name}", base="x", active=True, figures={"mrr": 0.5}
            )
            store_jobs.add_model(connection, record)
        assert [model.active for model in store_jobs.models(connection)] == [False, True]
        store_jobs.activate_model(connection, "a")
        assert [model.active for model in store_jobs.models(connection)] == [True, False]
    with pytest.raises(StoreError), store.writing() as connection:
        store_jobs.activate_model(connection, "c")
    with store.reading() as connection:
        assert [model.active for model in store_jobs.models(connection)] == [True, False]


def test_tokens_are_kept_as_hashes(store: Store) -> None:
    anna = Person("Anna", "curator")
    with store.writing() as connection:
        token = store_access.add_token(connection, anna)
        session = store_access.add_session(connection, anna, "2999-01-01")
        old = store_access.add_session(connection, anna, "2000-01-01")
        store_access.add_token(connection, Person("Bert", "viewer"), hashed=store_access.sha256("secret"))
        assert store_access.holder(connection, token) == store_access.holder(connection, session) == anna
        assert store_access.holder(connection, "secret") == Person("Bert", "viewer")
        assert store_access.holder(connection, old) is None
        assert store_access.holder(connection, store_access.sha256("secret")) is None
        stored = json.dumps([list(row) for row in connection.execute(sa.text("SELECT * FROM tokens"))])
        assert token not in stored
        store_access.end_session(connection, session)
        assert store_access.holder(connection, session) is None
        assert store_access.revoke(connection, "Anna") == 1
        assert store_access.holder(connection, token) is None
        with pytest.raises(StoreError, match="no role"):
            store_access.add_token(connection, Person("Eve", "root"))


def test_a_base_is_kept_as_the_file_it_was(store: Store, tmp_path: Path, animals: Taxonomy) -> None:
    with pytest.raises(InputError, match="holds no taxonomy yet"):
        Ledger(store)
    path = tmp_path / "animals.obo"
    animals.write(path)
    taxonomy = Taxonomy.read(path)
    first = store_bases.put(store, taxonomy, path)
    assert store_bases.put(store, taxonomy, path) == first
    with store_bases.source(store) as (copy, base):
        assert copy.read_bytes() == path.read_bytes()
        assert (base.seq, base.digest, base.name) == (1, first, "animals.obo")
    ledger = Ledger(store)
    ledger.decide(accept(0))
    store_bases.put(store, ledger.taxonomy())  # the grown taxonomy is the next base
    assert store_bases.load(store).seq == 2
    assert ledger.fold.alias("n0") == "n0"
    assert ledger.taxonomy().ids == (*animals.ids, "n0")


def test_an_edge_list_is_read_again_as_it_was_read(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("sparrow\tbird\ndog\tmammal\n", encoding="utf-8")
    from taxosphere.taxonomy.formats import registry

    options = registry.ReadOptions(columns=("child", "parent"))
    store_bases.put(store, registry.read(path, options), path, options)
    assert set(store_bases.load(store).taxonomy.edges()) == {("bird", "sparrow"), ("mammal", "dog")}


# -- databases that are not ours --------------------------------------------------------------------------------------


def test_what_is_no_database_of_decisions_is_refused(tmp_path: Path) -> None:
    text, other, folder = tmp_path / "t.obo", tmp_path / "other.db", tmp_path / "folder"
    text.write_text("format-version: 1.4\n" * 10, encoding="utf-8")
    folder.mkdir()
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE shopping (what TEXT)")
    connection.close()
    for place in (
        text,
        other,
        folder,
        tmp_path / "none" / "x.db",
        "mysql://host/x",
        "://",
        "postgresql://localhost:1/x",
    ):
        with pytest.raises(InputError) as error:
            Store(str(place))
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="no such database"):
        Store(str(tmp_path / "missing.db"), create=False)
    assert not (tmp_path / "missing.db").exists()


def test_a_newer_database_is_refused(store: Store, url: str) -> None:
    with store.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer taxosphere"):
        Store(url)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(InputError) as error:
        Store("postgresql://anna:hunter2@localhost:1/x")
    assert "hunter2" not in str(error.value)


def test_the_tables_are_those_of_the_newest_migration(store: Store) -> None:
    inspector = sa.inspect(store.engine)
    for table in EVENTS.metadata.sorted_tables:
        columns = {column["name"]: column for column in inspector.get_columns(table.name)}
        assert set(columns) == set(table.c.keys())
        assert not any(column["nullable"] for column in columns.values())


def test_several_processes_open_a_new_database_at_once(url: str) -> None:
    code = f"from taxosphere.service.store import Store\nStore({url!r}).close()"
    started = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]
    for process in started:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()


def test_several_processes_open_many_new_files_at_once(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from taxosphere.service import store\n"
        "sys.stdin.readline()\n"
        "for number in range(60):\n"
        f"    store._engine(store._parsed(f'{tmp_path}/{{number}}.db')).connect().close()\n"
    )
    command = [sys.executable, "-c", code]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for process in started:  # each has imported what it needs when it is told to begin
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in started:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()


def test_a_store_of_the_first_tables_is_brought_up_to_date(url: str) -> None:
    """What was in the queue stays there, with its suggestions, its best parent and its order."""
    from alembic import command
    from alembic.config import Config

    from taxosphere.service import store as opening

    config = Config()
    config.set_main_option("script_location", str(Path(opening.__file__).parent / "migrations"))
    engine = opening._engine(opening._parsed(url))
    first = {"id": "fish", "name": "fish", "path": ["thing", "fish"], "probability": 0.7}
    contents = [{"none_probability": 0.1, "best": None, "suggestions": [first]}, {}]
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for number, content in enumerate(contents):
            row = {"id": f"n{number}", "position": number + 1, "name": f"new {number}", "probability": 0.7, "why": ""}
            row |= {"state": "open", "version": 3, "assignee": "", "added_at": "2026-01-01T00:00:00Z"}
            texts = {"concept": json.dumps({"id": row["id"], "name": row["name"]}), "suggestions": json.dumps(content)}
            columns = ", ".join({**row, **texts})
            values = ", ".join(f":{name}" for name in {**row, **texts})
            connection.execute(sa.text(f"INSERT INTO items ({columns}) VALUES ({values})"), {**row, **texts})
        connection.commit()
    engine.dispose()
    with Store(url) as store, store.reading() as connection:
        items = store_items.page(connection)
        assert [(item.id, item.version, item.suggestions) for item in items] == [
            ("n0", 3, contents[0]),
            ("n1", 3, contents[1]),
        ]
        shown = list(connection.scalars(sa.select(ITEMS.c.summary).order_by(ITEMS.c.position)))
        assert shown[0] == {"best": {**first, "path": ["thing"]}, "none_probability": 0.1}
        assert shown[1] == {"best": None, "none_probability": None}


def test_decisions_of_many_threads_are_recorded_together_and_refused_one_by_one(ledger: Ledger) -> None:
    """One transaction serves all who wait; a decision that cannot be carried out spoils none of the others."""
    commits: list[int] = []
    sa.event.listen(ledger.store.engine, "commit", lambda connection: commits.append(1))
    with ThreadPoolExecutor(12) as threads, ledger._lock:  # so that all of them wait
        good = [threads.submit(ledger.decide, accept(number), key=f"k{number}") for number in range(10)]
        bad = threads.submit(ledger.decide, accept(10, "nowhere"))
        again = threads.submit(ledger.decide, accept(3), key="k3")
        while len(ledger._waiting) < 12:
            time.sleep(0.001)
        commits.clear()
        ledger._record_waiting()
        assert len(commits) == 1
    assert sorted(one.result().seq for one in good) == list(range(1, 11))
    assert again.result().seq == good[3].result().seq
    with pytest.raises(Conflict):
        bad.result()
    assert len(store_events.all_events(ledger.store)) == 10
    assert verify(ledger.store) is not None
