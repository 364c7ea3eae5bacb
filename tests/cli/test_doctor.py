from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from taxosphere.cli import main


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


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, found = findings(capsys, "--port", str(port))
    assert code == 0  # the main job needs no port
    assert found[f"port {port}"]["state"] == "in use"
