"""What a curator should look at in a hierarchy, and how a cycle is broken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: its kind, where it is (``FILE:LINE`` or ids), what to do about it; fatal when nothing works with it."""

    kind: str
    where: str
    text: str
    fatal: bool
