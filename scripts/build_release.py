"""Build the files of a release into dist/: wheel, source archive, bill of materials and checksums.

Everything is built twice from two copies of the committed files, and the wheel once more from the source archive; the
build fails where a byte differs. The times in the archives are that of the last commit, or SOURCE_DATE_EPOCH.

Usage: python scripts/build_release.py [--out dist]
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "service/page/index.html"


def commit_time() -> str:
    """Seconds since 1970 of the last commit."""
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def copy_of_commit(target: Path) -> None:
    """The committed files, without anything that lies about in the checkout."""
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(target, filter="data")


def build(source: Path, out: Path, epoch: str) -> list[Path]:
    """Build wheel and source archive of a copy, page included."""
    subprocess.run([sys.executable, "web/build.py"], cwd=source, env=environment(epoch), check=True)
    pack(source, out, epoch)
    return sorted(out.iterdir())


def environment(epoch: str) -> dict[str, str]:
    """Variables under which the same files give the same archives."""
    return {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONDONTWRITEBYTECODE": "1"}


def pack(source: Path, out: Path, epoch: str, *options: str) -> None:
    """Let hatchling make the archives."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out), *options]
    subprocess.run(command, cwd=source, env=environment(epoch), check=True, stdout=subprocess.DEVNULL)


def wheel_of(archive: Path, folder: Path, epoch: str) -> Path:
    """The wheel that somebody builds from the source archive."""
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    pack(next(folder.iterdir()), folder / "dist", epoch, "-t", "wheel")
    return next((folder / "dist").iterdir())


def names_in(archive: Path) -> list[str]:
    """The files of a wheel or source archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as source:
        return source.getnames()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    out: Path = parser.parse_args().out.absolute()
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or commit_time()
    with tempfile.TemporaryDirectory(prefix="taxosphere-release-") as folder:
        builds = []
        for number in ("first", "second"):
            copy = Path(folder) / number / "taxosphere"
            copy.mkdir(parents=True)
            copy_of_commit(copy)
            builds.append(build(copy, Path(folder) / number / "dist", epoch))
        for one, other in zip(*builds, strict=True):
            if digest(one) != digest(other):
                sys.exit(f"{one.name}: two builds of the same files differ")
            if not any(name.endswith(PAGE) for name in names_in(one)):
                sys.exit(f"{one.name} does not hold the page of the workbench")
        archive, wheel = sorted(builds[0], key=lambda path: path.suffix)
        if digest(wheel_of(archive, Path(folder) / "again", epoch)) != digest(wheel):
            sys.exit("the wheel built from the source archive differs from the one built from the sources")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for path in builds[0]:
            shutil.copy(path, out)
    sbom = out / f"{next(out.glob('*.whl')).name.split('-py3')[0]}.cdx.json"
    command = [sys.executable, str(ROOT / "scripts" / "make_sbom.py"), "-o", str(sbom)]
    subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": epoch}, check=True)
    files = sorted(path for path in out.iterdir())
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in files)
    (out / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(f"two builds and one from the source archive: the same bytes (SOURCE_DATE_EPOCH={epoch})\n{sums}", end="")


if __name__ == "__main__":
    main()
