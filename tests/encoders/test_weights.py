from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
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
