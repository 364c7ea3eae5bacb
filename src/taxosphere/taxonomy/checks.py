"""What a curator should look at in a hierarchy, and how a cycle is broken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: what kind, where (``FILE:LINE`` or concept ids), what is wrong and what to do, and whether it must be mended."""

    kind: str
    where: str
    text: str
    fatal: bool
