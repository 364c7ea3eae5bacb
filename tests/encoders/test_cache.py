from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from taxosphere.encoders.cache import VectorCache, default_folder


def vectors(count: int, dim: int = 4) -> np.ndarray:
    return np.random.default_rng(count).normal(size=(count, dim)).astype(np.float32)


def test_gives_back_what_was_put_and_nothing_else(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    texts = [f"text {i}" for i in range(2500)]  # more than one lookup statement
    cache.put(texts, vectors(2500))
    found = VectorCache(tmp_path, "encoder", 4).get([*texts, "unknown"])
    assert list(found) != []
    assert set(found) == set(texts)
    np.testing.assert_array_equal(np.stack([found[text] for text in texts]), vectors(2500))


@pytest.mark.parametrize(("other", "text"), [("encoder 2", "text"), ("encoder", "text "), ("encodert", "ext")])
def test_another_encoder_or_text_is_another_entry(tmp_path: Path, other: str, text: str) -> None:
    VectorCache(tmp_path, "encoder", 4).put(["text"], vectors(1))
    assert VectorCache(tmp_path, other, 4).get([text]) == {}


def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    cache.path.write_bytes(b"this is no database" * 100)
    assert cache.get(["a"]) == {}
    cache.put(["a"], vectors(1))
    cache.put(["a"], vectors(1))
    assert set(cache.get(["a"])) == {"a"}


def test_a_folder_that_cannot_be_made_only_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "cache", "encoder", 4)
    cache.put(["a"], vectors(1))
    assert cache.get(["a"]) == {}


def test_a_damaged_cache_costs_another_nothing(tmp_path: Path) -> None:
    healthy, damaged = VectorCache(tmp_path / "a", "encoder", 4), VectorCache(tmp_path / "b", "encoder", 4)
    healthy.put(["one"], vectors(1))
    damaged.path.parent.mkdir()
    damaged.path.write_bytes(b"this is no database" * 100)
    assert damaged.get(["one"]) == {}
    assert set(healthy.get(["one"])) == {"one"}


@pytest.mark.parametrize("place", [0, 9, 15, 17, 23])
def test_a_changed_bit_in_a_row_is_noticed(tmp_path: Path, place: int) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    cache.put(["a", "b"], vectors(2))
    with sqlite3.connect(cache.path) as connection:
        [(key, blob)] = connection.execute("SELECT key, vector FROM vectors WHERE key = ?", [cache._key("a")])
        changed = bytearray(blob)
        changed[place] ^= 4
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", [bytes(changed), key])
    connection.close()
    assert set(cache.get(["a", "b"])) == {"b"}


def test_rows_of_the_first_version_have_no_checksum(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    cache.put(["a"], vectors(1))
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE vectors SET vector = substr(vector, 1, 16)")
    connection.close()
    np.testing.assert_array_equal(cache.get(["a"])["a"], vectors(1)[0])


def test_what_cannot_be_set_aside_stops_nothing(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    cache.path.write_bytes(b"this is no database" * 100)
    cache.path.with_suffix(".damaged").mkdir()
    cache.put(["a"], vectors(1))
    assert cache.get(["a"]) == {}


FORKING = """
import os, sys, time, pathlib, numpy as np
from taxosphere.encoders.cache import VectorCache
cache = VectorCache(pathlib.Path(sys.argv[1]), "encoder", 4)
cache.put(["parent"], np.zeros((1, 4), np.float32))
if os.fork():
    os._exit(0)  # the child goes on alone
time.sleep(0.2)
for number in range(1000, 1300):
    cache.put([f"text {number}"], np.full((1, 4), number, np.float32))
(pathlib.Path(sys.argv[1]) / "done").touch()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_may_outlive_its_parent(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING, str(tmp_path)], check=True)
    time.sleep(0.3)
    assert writer(tmp_path, 0, 300).wait() == 0
    while not (tmp_path / "done").exists():
        time.sleep(0.01)
    wanted = {f"text {n}": n for start in (0, 1000) for n in range(start, start + 300)}
    found = VectorCache(tmp_path, "encoder", 4).get(list(wanted))
    assert {text: row[0] for text, row in found.items()} == wanted


def test_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TAXOSPHERE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "taxosphere"
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"


WRITER = """
import sys, pathlib, numpy as np
from taxosphere.encoders.cache import VectorCache
cache = VectorCache(pathlib.Path(sys.argv[1]), "encoder", 4)
start = int(sys.argv[2])
for number in range(start, start + int(sys.argv[3])):
    cache.put([f"text {number}"], np.full((1, 4), number, np.float32))
"""


def writer(folder: Path, start: int, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(start), str(count)])


def test_a_file_that_another_process_is_about_to_fill_loses_nothing(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "encoder", 4)
    cache.path.touch()
    cache.put(["a"], vectors(1))
    assert set(cache.get(["a"])) == {"a"}


def test_processes_may_write_at_the_same_time(tmp_path: Path) -> None:
    writers = [writer(tmp_path, 0, 40), writer(tmp_path, 100, 40)]
    assert [process.wait() for process in writers] == [0, 0]
    wanted = {f"text {n}": n for start in (0, 100) for n in range(start, start + 40)}
    found = VectorCache(tmp_path, "encoder", 4).get(list(wanted))
    assert {text: row[0] for text, row in found.items()} == wanted


def test_a_killed_writer_leaves_whole_entries(tmp_path: Path) -> None:
    process = writer(tmp_path, 0, 1_000_000)
    cache = VectorCache(tmp_path, "encoder", 4)
    while not cache.get(["text 20"]):
        time.sleep(0.01)
    process.kill()
    process.wait()
    found = cache.get([f"text {n}" for n in range(2000)])
    assert all((row == int(text.split()[1])).all() for text, row in found.items())
    with sqlite3.connect(cache.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    cache.put(["after"], vectors(1))
    assert set(cache.get(["after"])) == {"after"}
