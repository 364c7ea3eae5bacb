"""Write the bill of materials as CycloneDX 1.6 JSON: what an installation with all extras runs and what the page has.

Python packages are those installed here that `taxosphere[all]` requires, directly or not, with the licence their
metadata state. Packages of the page are those that its sources import and what these depend on, by their lock file.

Usage: python scripts/make_sbom.py [-o FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
NAME, EXTRA = "taxosphere", "all"


def required(of: Distribution, extras: frozenset[str]) -> Iterator[Requirement]:
    """Requirements of a distribution that hold here with these extras."""
    for text in of.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield requirement


def closure(name: str, extra: str) -> tuple[dict[str, Distribution], dict[str, set[str]]]:
    """Installed distributions that a name with an extra requires, and which requires which."""
    distributions: dict[str, Distribution] = {}
    edges: dict[str, set[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(name), frozenset({extra}))]
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        try:
            distributions[item[0]] = found = distribution(item[0])
        except PackageNotFoundError:
            continue  # optional on this platform
        for requirement in required(found, item[1]):
            needed = canonicalize_name(requirement.name)
            if needed != item[0]:
                edges.setdefault(item[0], set()).add(needed)
            waiting.append((needed, frozenset(requirement.extras)))
    return distributions, {one: others & distributions.keys() for one, others in edges.items()}


def licence(of: Distribution) -> list[dict[str, Any]]:
    """The licence that the metadata of a distribution state."""
    expression = of.metadata.get("License-Expression")
    if expression:
        return [{"expression": expression}]
    classifiers = of.metadata.get_all("Classifier") or []
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    stated = (of.metadata.get("License") or "").strip().splitlines()
    names = named or [line for line in stated[:1] if len(line) < 60]
    return [{"license": {"name": name}} for name in names]


def python_component(of: Distribution) -> dict[str, Any]:
    name = canonicalize_name(of.metadata["Name"])
    purl = f"pkg:pypi/{name}@{of.version}"
    component: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": of.version, "purl": purl}
    found = licence(of)
    return component | ({"licenses": found} if found else {})


def page_components() -> list[dict[str, Any]]:
    """Packages that are part of the built page."""
    web = ROOT / "web"
    locked = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    sources = [
        path.read_text(encoding="utf-8") for path in (web / "src").rglob("*") if path.suffix in (".ts", ".svelte")
    ]
    imported = set(re.findall(r"(?:from|import) ?['\"]((?:@[^/'\"]+/)?[^./'\"]+)", "\n".join(sources)))
    names: set[str] = set()
    waiting = [name for name in imported if f"node_modules/{name}" in locked]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += locked[f"node_modules/{name}"].get("dependencies", {})
    components = []
    for name in sorted(names):
        entry = locked[f"node_modules/{name}"]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
        licences = {"licenses": [{"expression": entry["license"]}]} if entry.get("license") else {}
        component = {"type": "library", "bom-ref": purl, "name": name, "version": entry["version"], "purl": purl}
        components.append(component | licences)
    return components


def bill() -> dict[str, Any]:
    """The whole document; the same for the same packages and SOURCE_DATE_EPOCH."""
    distributions, edges = closure(NAME, EXTRA)
    project = python_component(distributions.pop(NAME)) | {"type": "application"}
    refs = {NAME: project["bom-ref"]}
    parts = {name: python_component(found) for name, found in sorted(distributions.items())}
    refs |= {name: part["bom-ref"] for name, part in parts.items()}
    page = page_components()
    depends = [
        {"ref": refs[name], "dependsOn": sorted(refs[other] for other in edges.get(name, set()))} for name in refs
    ]
    depends[0]["dependsOn"] += [component["bom-ref"] for component in page]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    components = [*parts.values(), *page]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([project, components], sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": re.sub(r"\+00:00$", "Z", datetime.fromtimestamp(seconds, UTC).isoformat()),
            "component": project,
        },
        "components": components,
        "dependencies": depends,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=None)
    out: Path | None = parser.parse_args().out
    text = json.dumps(bill(), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
