"""Some damaged and made-up inputs for each thing that reads what others wrote: accepted, or refused in one line.

The long run is benchmarks/faults/fuzz.py; taxonomy files are in test_damaged_files.py.
"""

from __future__ import annotations

import random
import warnings

import pytest

from support.fuzzing import ACCEPTED, REFUSED, TARGETS

for needed in ("pyarrow", "openpyxl", "fastapi", "mcp"):
    pytest.importorskip(needed)

from support.fuzzed_service import SERVICES  # noqa: E402 - needs what was looked for

INPUTS = 60


@pytest.mark.parametrize("name", [*TARGETS, *SERVICES])
def test_every_input_is_accepted_or_refused(name: str) -> None:
    outcomes = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers of a damaged model may overflow
        with {**TARGETS, **SERVICES}[name]() as attempt:
            for number in range(INPUTS):
                outcomes.add(attempt(random.Random(f"{name} {number} of the suite")))
    assert outcomes == {ACCEPTED, REFUSED}
