"""Versions with known faults are neither locked, nor allowed, nor installed."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FLOORS = {canonicalize_name(name): entry for name, entry in PROJECT["tool"]["taxosphere"]["floors"].items()}
LOCKED = {
    canonicalize_name(name): Version(number)
    for name, number in re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
}


def requirements() -> list[Requirement]:
    project = PROJECT["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    return [Requirement(text) for text in texts if not text.startswith("taxosphere[")]


def lower_bound(requirement: Requirement) -> Version | None:
    bounds = [Version(each.version) for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    return max(bounds, default=None)


@pytest.mark.parametrize("name", FLOORS)
def test_no_locked_or_installed_version_is_below_its_floor(name: str) -> None:
    floor = Version(FLOORS[name]["version"])
    assert LOCKED[name] >= floor, FLOORS[name]["why"]
    try:
        assert Version(version(name)) >= floor, FLOORS[name]["why"]
    except PackageNotFoundError:
        pytest.skip("is not installed here")


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_lower_bounds_allow_nothing_below_a_floor_and_what_is_locked(requirement: Requirement) -> None:
    name = canonicalize_name(requirement.name)
    bound = lower_bound(requirement)
    if name in FLOORS:
        assert bound is not None
        assert bound >= Version(FLOORS[name]["version"]), FLOORS[name]["why"]
    if name in LOCKED:
        assert requirement.specifier.contains(LOCKED[name], prereleases=True)


def test_all_that_runs_is_locked() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    needed = [*PROJECT["project"]["dependencies"], *(text for extra in extras.values() for text in extra)]
    names = {canonicalize_name(Requirement(text).name) for text in needed if not text.startswith("taxosphere[")}
    assert sorted(names - LOCKED.keys()) == []
