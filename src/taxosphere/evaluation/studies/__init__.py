"""The paper's ablations, sensitivity studies and figures: one file each, found by name."""

from __future__ import annotations

from importlib import import_module

from taxosphere.errors import InputError
from taxosphere.evaluation.studies.base import Study

MODULES = {
    "kernels": "kernels",
    "vmf": "vmf",
    "anchor": "anchor",
    "svgd": "svgd",
    "kappa-align": "kappa_align",
    "kappa-repel": "kappa_repel",
    "losses": "losses",
    "gate": "gate",
    "dimension": "dimension",
    "welsch": "welsch",
    "edges": "edges",
    "time": "time",
    "significance": "significance",
    "angles": "angles",
    "features": "features",
    "descriptions": "descriptions",
}


def get(name: str) -> Study:
    """The study of that name; `InputError` where there is none."""
    if name not in MODULES:
        raise InputError(f"there is no study '{name}'; choose one of: {', '.join(MODULES)}")
    study: Study = import_module(f"{__name__}.{MODULES[name]}").STUDY
    return study
