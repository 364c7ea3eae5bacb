"""Parquet and Arrow tables: compared with pyarrow and pandas, and refused before they grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_a_table_of_concepts(tmp_path: Path) -> None:
    columns = {
        "Code": [1, 2, 3],
        "Label": ["animal", "bird", "duck"],
        "Parent Code": [None, 1.0, 2.0],
        "n": [5, 6, None],
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    taxonomy = Taxonomy.read(tmp_path / "x.parquet")
    assert (taxonomy.ids, taxonomy.names) == (("1", "2", "3"), ("animal", "bird", "duck"))
    assert list(taxonomy.edges()) == [("1", "2"), ("2", "3")]
    assert taxonomy.extras[0] == (("n", "5"),)


@pytest.mark.parametrize(("parent", "child"), [("parent", "child"), ("Parent", "Child"), ("parent_id", "child_id")])
def test_a_table_of_edges(tmp_path: Path, parent: str, child: str) -> None:
    pq.write_table(pa.table({parent: ["a", "a"], child: ["b", "c"]}), tmp_path / "x.parquet")
    assert list(Taxonomy.read(tmp_path / "x.parquet").edges()) == [("a", "b"), ("a", "c")]


def test_columns_may_be_stated(tmp_path: Path) -> None:
    table = pa.table({"nr": ["1", "2"], "wort": ["a", "b"], "liegt_in": ["", "1"]})
    pq.write_table(table, tmp_path / "x.pq")
    taxonomy = Taxonomy.read(tmp_path / "x.pq", mapping={"id": "nr", "name": "wort", "parent": "liegt_in"})
    assert list(taxonomy.edges()) == [("1", "2")]


def test_others_read_what_we_write(tmp_path: Path) -> None:
    concepts = [Concept("1", "a", "d", ("s", "t"), (), (("k", "v"), ("k", "5"))), Concept("2", "b")]
    Taxonomy.from_concepts(concepts, [("1", "2")]).write(tmp_path / "x.parquet")
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert rows[0]["synonyms"] == ["s", "t"]
    assert rows[1]["parents"] == ["1"]
    assert rows[0]["extras"] == [{"key": "k", "value": "v"}, {"key": "k", "value": "5"}]


def test_a_small_file_cannot_fill_the_memory(tmp_path: Path) -> None:
    long = pa.array(["x" * 20_000])  # decoded, the table has 800 MB
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 40_000, pa.int32()), long)
    pq.write_table(pa.table({"name": column}), tmp_path / "x.parquet", compression="zstd")
    assert (tmp_path / "x.parquet").stat().st_size < 1_000_000
    with pytest.raises(InputError, match="far more than its size allows"):
        Taxonomy.read(tmp_path / "x.parquet")


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_damaged_tables_are_one_line(tmp_path: Path, name: str, animals: Taxonomy) -> None:
    animals.write(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read as"):
        Taxonomy.read(tmp_path / name)
    (tmp_path / name).write_bytes(b"no table at all")
    with pytest.raises(InputError, match="cannot be read as"):
        Taxonomy.read(tmp_path / name)
