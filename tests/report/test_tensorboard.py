from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere.report import tensorboard


def test_curves_and_metrics_can_be_read_back(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "runs" / "zoo" / "polaris" / "seed-0"
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps({"metrics": {"mrr": 61.5}}))
    (folder / "history.tsv").write_text("epoch\tloss\tmrr\n1\t3\t0.25\n2\t2.5\t\n")
    assert tensorboard.export(tmp_path / "runs", tmp_path / "board") == 1
    events = reader.EventAccumulator(str(tmp_path / "board" / "zoo" / "polaris" / "seed-0")).Reload()
    assert [(e.step, e.value) for e in events.Scalars("training/loss")] == [(1, 3.0), (2, 2.5)]
    assert [(e.step, e.value) for e in events.Scalars("training/mrr")] == [(1, 0.25)]
    assert [e.value for e in events.Scalars("test/mrr")] == [61.5]
