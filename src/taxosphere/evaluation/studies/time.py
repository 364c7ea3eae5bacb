"""What the regulariser and the distributions cost: seconds per epoch and milliseconds per query.

The paper fine-tunes an encoder on a graphics card, so only ratios can be compared.
"""

from statistics import median

from taxosphere.evaluation.records import Record
from taxosphere.evaluation.studies.base import Findings, Study, Variant, assignments, sentence


def derive(record: Record) -> dict[str, float]:
    """Seconds of an epoch and of a fit, milliseconds of a query."""
    epochs = record["history"].get("seconds") or [record["seconds"]["fit"]]
    return {
        "epoch s": median(epochs),  # a busy machine stretches some epochs, seldom half of them
        "fit s": record["seconds"]["fit"],
        "query ms": 1000 * record["seconds"]["per_query"],
    }


def verdict(findings: Findings) -> str:
    """Modest: under a tenth of an epoch. A query is the same matrix product either way, so its time is only stated."""
    parts: dict[str, list[str]] = {}
    for dataset in findings.datasets:
        if {"full", "without SVGD"} <= set(findings.labels(dataset)):
            full, without = (findings.mean(dataset, label, "epoch s") for label in ("full", "without SVGD"))
            asked, faster = (findings.mean(dataset, label, "query ms") for label in ("full", "without SVGD"))
            decision = "holds" if full <= 1.1 * without else "does not hold"
            text = f"{without:.3g} s an epoch and {faster:.2g} ms a query without, {full:.3g} s and {asked:.2g} ms with"
            parts.setdefault(decision, []).append(f"{dataset} ({text})")
    return sentence(findings.study, parts)


STUDY = Study(
    name="time",
    title="Time per epoch and per query, with and without SVGD and vMF",
    claim="SVGD adds a modest overhead to an epoch (4 % in its table) and none to a query",
    datasets=("mesh",),
    variants=(
        Variant("full"),
        Variant("without SVGD", assignments(loss__svgd=0)),
        Variant("without vMF", assignments(loss__probabilistic=0)),
    ),
    verdict=verdict,
    metrics=("epoch s", "fit s", "query ms"),
    printed={
        ("mesh", "full"): {"epoch s": 540.0, "query ms": 92.0},
        ("mesh", "without SVGD"): {"epoch s": 520.0, "query ms": 92.0},
        ("mesh", "without vMF"): {"epoch s": 527.0, "query ms": 92.0},
    },
    derive=derive,
)
