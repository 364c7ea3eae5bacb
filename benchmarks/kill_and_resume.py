"""Kills one fit again and again, and checks that nothing unreadable is left and that it ends as if never interrupted.

    python benchmarks/kill_and_resume.py TAX [--kills 10] [-- more arguments of taxosphere fit]

A first fit runs through and tells how much processor time it takes. A second one is killed (SIGKILL) at random moments
of that time, each time gone on with by --resume; after every kill all files it left are opened. At last it may finish.
Linux only: the moment is read from /proc, so that it does not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors import safe_open

from taxosphere import artifact
from taxosphere.cli.commands.fit import checkpoint_folder


def start(taxonomy: str, model: Path, more: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "taxosphere", "fit", taxonomy, "-o", str(model), "--resume", *more]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Of all its threads so far."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in threads) / 1e9


def run_until(process: subprocess.Popen[bytes], moment: float) -> tuple[bool, float]:
    """Kill at ``moment``; whether that happened, and the processor time spent."""
    spent = 0.0
    while process.poll() is None:
        try:
            spent = processor_seconds(process)
        except (OSError, IndexError):  # it ended while we looked
            break
        if spent >= moment:
            process.kill()
            process.wait()
            return True, spent
        time.sleep(0.01)
    if process.wait() != 0:
        raise SystemExit(f"the fit failed with exit code {process.returncode}")
    return False, spent


def readable(model: Path) -> int:
    """Open everything that a killed fit left under a final name; how many files that were."""
    count = 0
    for file in checkpoint_folder(model).glob("*.safetensors"):
        with safe_open(file, framework="np") as opened:
            for name in opened.keys():  # noqa: SIM118
                opened.get_tensor(name)
        count += 1
    if model.exists():
        artifact.load(model, "polaris")
        count += 1
    return count


def hashes(model: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((model / artifact.MANIFEST).read_text(encoding="utf-8"))["files"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taxonomy")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("more", nargs="*")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        _, needed = run_until(start(options.taxonomy, whole, options.more), float("inf"))
        print(f"uninterrupted: {needed:.1f} s of processor time", flush=True)
        kills = 0
        while kills < options.kills:
            happened, spent = run_until(start(options.taxonomy, killed, options.more), rng.uniform(0, needed))
            if not happened:  # what was left to do took less than that
                break
            kills += 1
            print(f"kill {kills} after {spent:.1f} s; {readable(killed)} files, all readable", flush=True)
        run_until(start(options.taxonomy, killed, options.more), float("inf"))
        same = hashes(whole) == hashes(killed)
        print(f"{kills} kills; {len(hashes(whole))} files of the model {'equal' if same else 'DIFFER'} bit for bit")
        left = [path.name for path in Path(folder).iterdir() if path not in (whole, killed)]
        print(f"left beside the models: {', '.join(left) or 'nothing'}")
    sys.exit(0 if same and not left and kills == options.kills else 1)


if __name__ == "__main__":
    main()
