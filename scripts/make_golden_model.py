"""Write the small model that every later version must be able to load: tests/golden/model-FORMAT.

Usage: python scripts/make_golden_model.py (once for each format; never over one that is there)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.gram_encoder import GramEncoder  # noqa: E402
from support.meadow import meadow  # noqa: E402
from taxosphere import Concept, Polaris, PolarisConfig, artifact  # noqa: E402

SETTINGS = (
    "network.dim=8",
    "network.hidden=16",
    "training.epochs=3",
    "ranking.folds=2",
    "ranking.nets=1",
    "ranking.hidden=4",
    "ranking.epochs=4",
    "ranking.prior=false",
)
QUERIES = [
    Concept("q0", "green bird", "a bird that is called green"),
    Concept("q1", "lemon cake"),
    Concept("q2", "zyx"),
]

if __name__ == "__main__":
    place = ROOT / "tests" / "golden" / f"model-{artifact.FORMAT}"
    if place.exists():
        raise SystemExit(f"{place} is there already, and stays as it is")
    place.parent.mkdir(exist_ok=True)
    model = Polaris(PolarisConfig().with_overrides(SETTINGS)).fit(meadow(), encoder=GramEncoder())
    model.save(place)
    answers = [suggestions.as_dict() for suggestions in model.suggest_many(QUERIES, k=5)]
    (place.parent / f"answers-{artifact.FORMAT}.json").write_text(
        json.dumps(answers, indent=1) + "\n", encoding="utf-8"
    )
