"""Loss curves and metrics of recorded runs, as TensorBoard reads them."""

from __future__ import annotations

import json
from pathlib import Path

from taxosphere.errors import require


def export(runs: Path, target: Path) -> int:
    """Write one TensorBoard run for every run folder below ``runs``; returns how many there were."""
    require("tensorboard", "tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    count = 0
    for record in sorted(runs.rglob("record.json")):
        entry = json.loads(record.read_text(encoding="utf-8"))
        name = record.parent.relative_to(runs)
        with SummaryWriter(str(target / name)) as writer:
            for curve, epoch, value in _points(record.parent / "history.tsv"):
                writer.add_scalar(f"training/{curve}", value, epoch)
            for metric, value in entry["metrics"].items():
                writer.add_scalar(f"test/{metric}", value)
        count += 1
    return count


def _points(history: Path) -> list[tuple[str, int, float]]:
    if not history.exists():
        return []
    header, *rows = (line.split("\t") for line in history.read_text(encoding="utf-8").splitlines())
    return [(name, int(row[0]), float(cell)) for row in rows for name, cell in zip(header[1:], row[1:]) if cell]
