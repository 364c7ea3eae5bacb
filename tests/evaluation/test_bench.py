from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.evaluation import bench, records
from taxosphere.evaluation.datasets import Dataset, find

# A method from another package: it waits to be killed once so many runs are recorded, and is random enough that a lost
# seed would show.
PLUGIN = """
import os, time
from pathlib import Path
import numpy as np
RECORDS, MOST = Path(os.environ.get("DICE_RECORDS", "none")), int(os.environ.get("DICE_MOST", "0"))
class Dice:
    def fit(self, seed, *, encoder, random_state):
        parent = os.getppid()
        while RECORDS.is_file() and RECORDS.read_bytes().count(b"\\n") >= MOST and os.getppid() == parent:
            time.sleep(0.005)
        self.size, self.state = len(seed), random_state
        return self
    def score(self, queries):
        return np.random.default_rng(self.state).random((len(queries), self.size), np.float32)
class Broken(Dice):
    def fit(self, seed, *, encoder, random_state):
        raise RuntimeError("no luck")
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Two small taxonomies (one with a cycle), an encoder of looked-up vectors, a plug-in package."""
    rng = np.random.default_rng(0)
    texts = []
    for name in ("first", "second"):
        pairs = [(f"{name}{rng.integers(0, i)}", f"{name}{i}") for i in range(1, 30)]
        texts += [f"{name}{i}" for i in range(30)]
        if name == "second":
            pairs += [("second2", "second1"), ("second1", "second2")]
        Taxonomy.from_edges(pairs).write(tmp_path / name)
    np.save(tmp_path / "vectors.npy", rng.normal(size=(len(texts), 8)).astype(np.float32))
    (tmp_path / "vectors.txt").write_text("".join(f"{text}\n" for text in texts))
    package = tmp_path / "package"
    info = package / "dice-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "dice.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[taxosphere.methods]\ndice = dice:Dice\nbroken = dice:Broken\n")
    return tmp_path


def start(
    world: Path, out: str, methods: str = "dice,tfidf", workers: int = 2, **variables: str
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "taxosphere", "bench", "--out", str(world / out), "--methods", methods]
    command += ["--datasets", f"{world / 'first'},{world / 'second'}", "--encoder", str(world / "vectors.npy")]
    command += ["--runs", "4", "--workers", str(workers)]
    command += ["--compare", "dice"]
    environment = os.environ | {"PYTHONPATH": str(world / "package")} | variables
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finished(world: Path, out: str) -> int:
    file = world / out / bench.RUNS
    return file.read_bytes().count(b"\n") if file.exists() else 0


def kill_after(world: Path, out: str, lines: int) -> None:
    process = start(world, out, DICE_RECORDS=str(world / out / bench.RUNS), DICE_MOST=str(lines))
    while finished(world, out) < lines and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"


def test_two_kills_change_no_table(world: Path) -> None:
    calm = start(world, "calm", workers=1)
    printed, _ = calm.communicate()
    assert calm.returncode == 0
    kill_after(world, "killed", 3)
    with (world / "killed" / bench.RUNS).open("ab") as file:
        file.write(b'{"dataset": "first", "me')  # what a kill in the middle of a write leaves
    kill_after(world, "killed", 8)
    before = finished(world, "killed")
    assert 8 <= before < 16
    last = start(world, "killed", workers=1)
    assert last.communicate()[0] == printed
    assert last.returncode == 0
    assert (world / "killed" / "tables.md").read_bytes() == (world / "calm" / "tables.md").read_bytes()
    assert finished(world, "killed") == 16
    assert "first: dice minus the others" in printed
    assert "cycles repaired" in (world / "calm" / "tables.md").read_text()
    page = (world / "calm" / "report.html").read_text()
    assert "<svg" in page
    assert "http" not in page
    assert json.loads((world / "calm/runs/first/dice/seed-2/record.json").read_text())["seed"] == 2


def test_one_failing_method_costs_no_other_its_results(world: Path) -> None:
    process = start(world, "out", "broken,tfidf", workers=1)
    printed, said = process.communicate()
    assert process.returncode == 1
    assert "first broken 0 failed: RuntimeError: no luck" in said
    assert said.splitlines()[-1].startswith("error: 8 of 16 cells failed")
    assert "tfidf" in printed
    assert len(records.read(world / "out" / bench.RUNS)) == 8


def test_another_setup_needs_another_folder(tmp_path: Path) -> None:
    bench.settle(tmp_path / "out", bench.Setup())
    bench.settle(tmp_path / "out", bench.Setup())
    with pytest.raises(InputError, match="holds runs with encoder minilm; choose another --out"):
        bench.settle(tmp_path / "out", bench.Setup(encoder="other"))


def test_references_run_once_on_a_published_split(tmp_path: Path) -> None:
    (tmp_path / "split.tsv").touch()
    place = Dataset("x", tmp_path)
    assert len(bench.cells([place], ["tfidf"], 5, 0, bench.Setup())) == 1
    assert len(bench.cells([place], ["tfidf"], 5, 0, bench.Setup("leaves"))) == 5
    usual = {cell.method for cell in bench.cells([place], [], 1, 0, bench.Setup())}
    assert {"polaris", "polaris-paper-frozen", "steam"} <= usual
    assert "polaris-paper" not in usual  # trains an encoder in every run: only where it is named
    assert len(bench.cells([place], ["polaris-paper"], 2, 0, bench.Setup())) == 2
    with pytest.raises(InputError, match="no method"):
        bench.cells([place], ["guess"], 5, 0, bench.Setup())


def test_scenarios_are_asked_of_the_method_with_probabilities_alone(tmp_path: Path) -> None:
    places = [Dataset("animals", tmp_path), find("edam")]
    todo = bench.cells(places, [], 2, 0, bench.Setup(split="scenarios"), "somewhere")
    assert [cell.key for cell in todo] == [(name, "polaris", state) for name in ("animals", "edam") for state in (0, 1)]
    assert [dict(cell.settings) for cell in todo[1:3]] == [{}, {"ranking.prior": "false"}]  # it has seen EDAM
    assert {cell.data for cell in todo} == {"somewhere"}
    with pytest.raises(InputError, match="tfidf"):
        bench.cells(places, ["tfidf"], 1, 0, bench.Setup(split="scenarios"))
