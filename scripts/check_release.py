"""Install a built wheel into bare environments outside the checkout and use it there as its users would.

Three environments: the core alone, [serve], and [all]. Each runs what its extras promise, among them
`taxosphere demo` and `taxosphere serve --demo`. Prints a line per check and ends with 1 where one failed.

Usage: python scripts/check_release.py dist/taxosphere-*.whl [--only core,serve,all] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "parent,child\nanimal,bird\nanimal,fish\nbird,owl\n"


class Environment:
    """A virtual environment with the wheel and one extra, and a folder to work in."""

    def __init__(self, folder: Path, wheel: Path, extra: str) -> None:
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TAXOSPHERE"))}
        self.environment = {**kept, "TAXOSPHERE_CACHE": str(folder / "cache")}
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        constraints = ROOT / "constraints.txt"
        pinned = [line for line in constraints.read_text("utf-8").splitlines() if line.startswith("torch==")]
        install = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "-c", str(constraints)]
        if extra:
            subprocess.run([*install, *pinned], check=True, env=self.environment)
        subprocess.run([*install, f"{wheel}[{extra}]" if extra else str(wheel)], check=True, env=self.environment)

    def run(self, *arguments: str, code: int = 0) -> str:
        """What `taxosphere ARGUMENTS` prints; AssertionError where it ends with another code or a traceback."""
        done = subprocess.run(
            [str(self.bin / "taxosphere"), *arguments],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, f"{arguments} ended with {done.returncode}: {said[-500:]}"
        assert "Traceback" not in said, said
        return said


def uses_the_core(env: Environment) -> None:
    (env.work / "t.csv").write_text(TABLE, encoding="utf-8")
    assert env.run("--version").startswith("taxosphere 0.")
    assert "4" in env.run("inspect", "t.csv")
    env.run("convert", "t.csv", "t.obo")
    assert "is_a: bird" in (env.work / "t.obo").read_text("utf-8")
    for extra, command in (("train", ("fit", "t.csv", "-o", "m")), ("serve", ("serve", "--demo"))):
        said = env.run(*command, code=1)
        assert f"pip install 'taxosphere[{extra}]'" in said, f"{command[0]} says: {said}"


def examines_itself(env: Environment) -> None:
    train = "torch" in {path.name for path in env.bin.parent.glob("lib/*/site-packages/*")}
    findings = json.loads(env.run("doctor", "--json", code=0 if train else 1))["findings"]
    assert all(finding["good"] or finding["advice"] for finding in findings)


def runs_the_demo(env: Environment) -> None:
    said = env.run("demo")
    assert re.search(r"wrote .*\.html", said) or list(env.work.rglob("*.html")), said[-500:]


def serves_the_demo(env: Environment) -> None:
    command = [str(env.bin / "taxosphere"), "serve", "--demo", "--port", "0"]
    with subprocess.Popen(
        command, cwd=env.work, env=env.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            assert link.startswith("http://127.0.0.1:"), link
            page = _get(link)
            assert "<title>Taxosphere</title>" in page, f"not the page of the workbench: {page[:200]}"
            script = re.search(r'src="([^"]+\.js)"', page)
            assert script is not None
            assert len(_get(link.split("/?")[0] + "/" + script[1].lstrip("/."))) > 10_000
        finally:
            process.terminate()


def _get(address: str) -> str:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    for _ in range(60):
        try:
            with opener.open(address, timeout=60) as answer:
                return str(answer.read().decode())
        except ConnectionError:
            time.sleep(1)
    raise AssertionError(f"{address} does not answer")


CHECKS: dict[str, tuple[Callable[[Environment], None], ...]] = {
    "core": (uses_the_core, examines_itself),
    "serve": (examines_itself, serves_the_demo),
    "all": (examines_itself, runs_the_demo, serves_the_demo),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--keep", type=Path, help="make the environments here and keep them")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="taxosphere-check-") as temporary:
        for name in options.only.split(","):
            began = time.perf_counter()
            extra = "" if name == "core" else name
            env = Environment((options.keep or Path(temporary)) / name, options.wheel.absolute(), extra)
            print(f"{name}: installed in {time.perf_counter() - began:.0f} s", flush=True)
            for check in CHECKS[name]:
                began = time.perf_counter()
                try:
                    check(env)
                    verdict = "ok"
                except AssertionError as error:
                    verdict, failed = f"FAILED: {error}", True
                print(f"{name}: {check.__name__.replace('_', ' ')}: {verdict} ({time.perf_counter() - began:.0f} s)")
    sys.exit(failed)


if __name__ == "__main__":
    main()
