"""A small model on disk, and a list that takes several parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.meadow import KINDS, WORDS, meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Polaris
from taxosphere.model.config import PolarisConfig

QUICK = ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4")


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("scale")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXOSPHERE_CACHE", str(folder / "cache"))
        encoder = str(build_tiny_encoder(folder / "encoder"))
        Polaris(PolarisConfig().with_overrides(QUICK), encoder=encoder).fit(meadow()).save(folder / "model")
        yield folder / "model"


@pytest.fixture(scope="session")
def names() -> list[str]:
    """2,400 names, of which 1,600 differ: the last 800 repeat the first."""
    distinct = [f"{word} {kind} {number}" for number in range(25) for word in WORDS for kind in KINDS]
    return [*distinct, *distinct[:800]]
