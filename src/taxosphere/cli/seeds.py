"""Bounds of ``--seed``, as several commands take it."""

from __future__ import annotations

from taxosphere.errors import InputError
from taxosphere.typing import RANDOM_STATES

LAST_SEED = RANDOM_STATES - 1


def refuse_seeds(seed: int, runs: int) -> None:
    """Runs take random states in a row, and there must be as many."""
    if seed + runs > RANDOM_STATES:
        raise InputError(f"--seed {seed} and the {runs} runs from it exceed {LAST_SEED}, the last random state")
