from __future__ import annotations

from pathlib import Path

import pytest

from support.tiny_encoder import build_tiny_encoder


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))
