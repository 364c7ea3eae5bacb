"""One concept, taken by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept as a person would describe it, with no position in any hierarchy."""

    id: str
    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    extras: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """What an encoder reads: ``name: description``, without saying the name twice."""
        if not self.name or not self.description:
            return self.name or self.description
        name, description = self.name.lower(), self.description.lower()
        if description.startswith(name) and not description[len(name) : len(name) + 1].isalnum():
            return self.description
        return f"{self.name}: {self.description}"
