"""How concepts spread over the sphere with and without the regulariser: histograms of angles, and how wide they are."""

import math
from typing import Any

import numpy as np
import torch

from taxosphere.evaluation.records import Record
from taxosphere.evaluation.studies.base import Findings, Study, Variant, assignments, sentence
from taxosphere.sphere.maps import to_angles
from taxosphere.taxonomy.split import Split

BINS = 48


def probe(method: Any, part: Split) -> dict[str, Any]:
    """Counts of θ, the first and last ψ, and the angle to the pole, over all concepts of the seed."""
    points = torch.as_tensor(method.sphere(), dtype=torch.float64)
    angles = to_angles(points)
    columns = {
        "θ": (angles[:, -1], 2 * math.pi),
        "first ψ": (angles[:, 0], math.pi),
        "last ψ": (angles[:, -2], math.pi),
        "angle to the pole": (torch.arccos(points[:, -1].clamp(-1, 1)), math.pi),
    }
    histograms: dict[str, Any] = {"concepts": len(part.seed)}
    for name, (values, top) in columns.items():
        counts, edges = np.histogram(values.numpy(), BINS, (0.0, top))
        histograms[name] = {"edges": edges.tolist(), "counts": counts.tolist(), "deviation": float(values.std())}
    return histograms


def derive(record: Record) -> dict[str, float]:
    """Deviation of each angle in degrees, and how far θ is from uniform (0 even, 1 all in one place)."""
    angles = record["probe"]
    shares = np.array(angles["θ"]["counts"]) / max(1, sum(angles["θ"]["counts"]))
    uneven = float(np.abs(shares - 1 / len(shares)).sum() / 2)
    widths = {
        f"{name}, deviation °": math.degrees(angles[name]["deviation"])
        for name in ("angle to the pole", "first ψ", "last ψ")
    }
    return widths | {"θ, unevenness": uneven, "mrr": record["metrics"]["mrr"]}


def verdict(findings: Findings) -> str:
    """Wider in latitude by more than a tenth."""
    width = "angle to the pole, deviation °"
    parts: dict[str, list[str]] = {}
    for dataset in findings.datasets:
        for label in ("SVGD as printed", "SVGD corrected"):
            if not {label, "without SVGD"} <= set(findings.labels(dataset)):
                continue
            wide, narrow = (findings.mean(dataset, each, width) for each in (label, "without SVGD"))
            decision = "holds" if wide > 1.1 * narrow else "does not hold"
            text = f"{dataset} ({label}: {wide:.1f}° against {narrow:.1f}° without)"
            parts.setdefault(decision, []).append(text)
    return sentence(findings.study, parts)


STUDY = Study(
    name="angles",
    title="Distribution of θ and ψ with and without SVGD",
    claim="SVGD keeps concepts from collapsing to the equator and spreads them over latitudes",
    datasets=("mesh",),
    variants=(
        Variant("without SVGD", assignments(loss__svgd=0)),
        Variant("SVGD as printed", assignments(loss__svgd_variant="paper")),
        Variant("SVGD corrected", assignments(loss__svgd_variant="corrected")),
    ),
    verdict=verdict,
    metrics=("angle to the pole, deviation °", "first ψ, deviation °", "last ψ, deviation °", "θ, unevenness", "mrr"),
    figure="histograms",
    probe=f"{__name__}:probe",
    derive=derive,
)
