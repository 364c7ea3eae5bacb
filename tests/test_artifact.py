from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from taxosphere import Taxonomy, artifact
from taxosphere.errors import InputError


@pytest.fixture
def saved(tmp_path: Path, animals: Taxonomy) -> Path:
    head = {"w": np.arange(6.0).reshape(2, 3)}
    artifact.save(tmp_path / "model", "made-up", {"kind": "test"}, {"head": head}, animals)
    return tmp_path / "model"


def test_what_is_saved_is_loaded(saved: Path, animals: Taxonomy) -> None:
    loaded = artifact.load(saved, "made-up")
    assert loaded.manifest["kind"] == "test"
    assert loaded.manifest["seed_hash"] == artifact.seed_hash(animals)
    assert loaded.tensors["head"]["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded.taxonomy.ids == animals.ids
    assert list(loaded.taxonomy.edges()) == list(animals.edges())


def test_the_hash_tells_seeds_apart(animals: Taxonomy) -> None:
    other = animals.add([], [("mammal", "duck")])
    assert artifact.seed_hash(other) != artifact.seed_hash(animals)
    first, *rest = animals.concepts()
    named = Taxonomy.from_concepts([replace(first, synonyms=("beast",)), *rest], animals.edges())
    assert artifact.seed_hash(named) != artifact.seed_hash(animals)


@pytest.mark.parametrize("name", ["head.safetensors", "seed/nodes.tsv", "seed/edges.tsv"])
def test_a_changed_file_is_refused_by_name(saved: Path, name: str) -> None:
    file = saved / name
    content = bytearray(file.read_bytes())
    content[-2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match="changed or damaged") as caught:
        artifact.load(saved, "made-up")
    assert name in str(caught.value)
    file.unlink()
    with pytest.raises(InputError, match="missing"):
        artifact.load(saved, "made-up")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', '{"format": "x", "files": {}}'])
def test_a_damaged_manifest_is_refused(saved: Path, text: str) -> None:
    (saved / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="damaged"):
        artifact.load(saved, "made-up")


def test_a_newer_format_is_refused(saved: Path) -> None:
    manifest = json.loads((saved / "manifest.json").read_text())
    (saved / "manifest.json").write_text(json.dumps(manifest | {"format": artifact.FORMAT + 1}))
    with pytest.raises(InputError, match="update taxosphere"):
        artifact.load(saved, "made-up")


def test_a_model_of_another_method_is_refused(saved: Path) -> None:
    with pytest.raises(InputError, match="holds 'made-up', not polaris"):
        artifact.load(saved, "polaris")


def test_saving_replaces_a_model_but_nothing_else(saved: Path, tmp_path: Path, animals: Taxonomy) -> None:
    artifact.save(saved, "made-up", {"kind": "second"}, {}, animals)
    assert artifact.load(saved, "made-up").manifest["kind"] == "second"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]
    (tmp_path / "papers").mkdir()
    with pytest.raises(InputError, match="is no model"):
        artifact.save(tmp_path / "papers", "made-up", {}, {}, animals)
    with pytest.raises(InputError, match="no model folder"):
        artifact.load(tmp_path / "papers", "made-up")


def test_a_model_of_an_older_format_is_refused_and_made_again(saved: Path, animals: Taxonomy) -> None:
    config = {"kind": "test"}
    artifact.save(saved, "made-up", {"config": config}, {}, animals)
    assert artifact.holds(saved, config, animals)
    manifest = json.loads((saved / artifact.MANIFEST).read_text(encoding="utf-8"))
    (saved / artifact.MANIFEST).write_text(json.dumps(manifest | {"format": artifact.FORMAT - 1}), encoding="utf-8")
    assert not artifact.holds(saved, config, animals)
    with pytest.raises(
        InputError, match=r"written by another version of taxosphere; fit it again: taxosphere fit .*seed"
    ):
        artifact.load(saved, "made-up")


def test_mapped_arrays_are_those_of_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "floats": rng.normal(size=(3, 4)).astype(np.float32),
        "half": rng.normal(size=5).astype(np.float16),
        "longs": np.arange(7),
        "bytes": np.frombuffer(b"abc", np.uint8),
        "flags": np.array([True, False]),
        "empty": np.zeros((0, 3), np.float32),
    }
    save_file(arrays, tmp_path / "a.safetensors")
    mapped = artifact.map_arrays(tmp_path / "a.safetensors")
    assert mapped.keys() == arrays.keys()
    for key, values in arrays.items():
        assert mapped[key].dtype == values.dtype
        np.testing.assert_array_equal(mapped[key], values)
    mapped["longs"][0] = 9  # stays in this process
    assert artifact.map_arrays(tmp_path / "a.safetensors")["longs"][0] == 0


@pytest.mark.parametrize("content", [b"", b"123", b"\xff" * 30, b"\x02\x00\x00\x00\x00\x00\x00\x00{}x"[:9]])
def test_what_is_no_safetensors_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        artifact.map_arrays(tmp_path / "a.safetensors")


def _damage(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def test_damage_of_a_large_file_is_found_at_the_latest_when_all_of_it_was_compared(
    tmp_path: Path, animals: Taxonomy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(artifact, "_CHECKED_AT_ONCE", 1 << 16)
    saved, head = tmp_path / "model", {"w": np.zeros(1 << 20, np.float32)}
    artifact.save(saved, "made-up", {}, {"head": head}, animals)
    artifact.load(saved, "made-up").check.refuse_damage(wait=True)
    assert not caplog.records
    file = saved / "head.safetensors"
    _damage(file, 10_000)  # between two parts of the sample
    check = artifact.load(saved, "made-up").check
    with pytest.raises(InputError, match=r"head\.safetensors: was changed or damaged"):
        check.refuse_damage(wait=True)
    with pytest.raises(InputError, match="was changed or damaged"):
        check.refuse_damage()
    assert "head.safetensors: was changed or damaged" in caplog.text


@pytest.mark.parametrize("damage", ["beginning", "end", "length", "emptied"])
def test_coarse_damage_of_a_large_file_is_found_before_it_is_loaded(
    tmp_path: Path, animals: Taxonomy, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(artifact, "_CHECKED_AT_ONCE", 1 << 16)
    saved, head = tmp_path / "model", {"w": np.ones(1 << 20, np.float32)}
    artifact.save(saved, "made-up", {}, {"head": head}, animals)
    file = saved / "head.safetensors"
    size = file.stat().st_size
    if damage in ("beginning", "end"):
        _damage(file, 9 if damage == "beginning" else -1)
    else:
        with file.open("r+b") as handle:
            handle.truncate(size - 4 if damage == "length" else size // 2)
            handle.truncate(size - 4 if damage == "length" else size)  # half of it is zeros
    with pytest.raises(InputError, match="changed or damaged"):
        artifact.load(saved, "made-up")


def test_a_check_of_files_is_not_pickled(saved: Path) -> None:
    copy = pickle.loads(pickle.dumps(artifact.load(saved, "made-up").check))
    copy.refuse_damage(wait=True)
