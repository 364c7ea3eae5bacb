from __future__ import annotations

import json
import socket
from pathlib import Path

import numpy as np
import pytest

from taxosphere import Taxonomy, artifact
from taxosphere.cli import main
from taxosphere.cli.commands import doctor


def findings(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, dict[str, object]]]:
    code = main(["doctor", "--json", *options])
    return code, {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)["findings"]}


def test_a_whole_installation_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = findings(capsys)
    assert code == 0
    assert found["encoder minilm"]["good"]
    assert found["torch"]["state"]
    assert main(["doctor"]) == 0
    assert "encoder minilm" in capsys.readouterr().out


def test_a_cache_that_cannot_be_written_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "file"))
    code, found = findings(capsys)
    assert code == 1
    assert not found["cache"]["good"]
    assert "TAXOSPHERE_CACHE" in str(found["cache"]["advice"])


def test_everything_that_was_looked_at_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, everything = findings(capsys)
    assert code == 0
    wanted = {"Python", "taxosphere", "torch", "encoder minilm", "cache", "memory", "disk", "write permission"}
    assert wanted | {"page of the workbench", "port 8000"} <= everything.keys()
    monkeypatch.setattr(doctor, "find_spec", lambda _module: None)
    monkeypatch.setattr(doctor, "_ENOUGH_MEMORY", 1e9)
    monkeypatch.setattr(doctor, "_ENOUGH_DISK", 1e9)
    monkeypatch.setattr(doctor.taxosphere, "__file__", str(tmp_path / "__init__.py"))
    code, broken = findings(capsys)
    assert code == 1
    bad = {name for name, finding in broken.items() if not finding["good"]}
    assert {"memory", "disk", "page of the workbench", "extra train", "extra mcp"} <= bad
    assert all(broken[name]["advice"] for name in bad)


def test_a_folder_that_cannot_be_written_to_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(doctor.Path, "cwd", lambda: tmp_path / "file")
    monkeypatch.setattr(doctor, "_disk", lambda _place: doctor.Finding("disk", True, ""))
    _, found = findings(capsys)
    assert not found["write permission"]["good"]
    assert "folder of your own" in str(found["write permission"]["advice"])


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, found = findings(capsys, "--port", str(port))
    assert code == 0  # the main job needs no port
    assert found[f"port {port}"]["state"] == "in use"


def test_a_model_is_checked_file_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], animals: Taxonomy) -> None:
    folder = tmp_path / "model"
    artifact.save(folder, "made-up", {}, {"head": {"w": np.zeros(3)}}, animals)
    code, found = findings(capsys, "--model", str(folder))
    assert (code, found["model"]["good"]) == (0, True)
    (folder / "head.safetensors").write_bytes(b"")
    code, found = findings(capsys, "--model", str(folder))
    assert code == 1
    assert "head.safetensors" in str(found["model"]["state"])
