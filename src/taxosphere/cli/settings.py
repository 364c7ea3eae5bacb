"""``--set key=value``, as several commands take it."""

from __future__ import annotations

from collections.abc import Iterable

from taxosphere.errors import InputError


def parse(pairs: Iterable[str]) -> dict[str, str]:
    """Keys to texts; what the texts mean is for the receiver of the settings to say."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(f"'--set {pair}' must look like --set training.epochs=20")
        settings[key.strip()] = value.strip()
    return settings
