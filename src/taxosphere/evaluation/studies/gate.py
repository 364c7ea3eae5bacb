"""What the orbital gate adds, to the whole objective and to each loss alone.

"hard" is the paper's gate, which makes seed leaves unreachable; "hybrid" is ours, which only orders.
"""

from taxosphere.evaluation.studies.base import Findings, Study, Variant, assignments, decide, gap, sentence, table

LOSSES = {
    "full": assignments(),
    "geometric only": assignments(loss__probabilistic=0, loss__svgd=0),
    "vMF only": assignments(loss__geometric=0, loss__svgd=0),
}
GATES = ("off", "hard", "hybrid")


def verdict(findings: Findings) -> str:
    """The better of the two gates against none, per data set and objective."""
    parts: dict[str, list[str]] = {}
    for dataset in findings.datasets:
        for loss in LOSSES:
            gated = [f"{loss}, {gate}" for gate in GATES[1:] if f"{loss}, {gate}" in findings.labels(dataset)]
            if not gated or f"{loss}, off" not in findings.labels(dataset):
                continue
            best = findings.best(dataset, among=gated)
            test = findings.compare(dataset, best, f"{loss}, off")
            parts.setdefault(decide(test), []).append(f"{dataset} ({best}: {gap(test)})")
    return sentence(findings.study, parts)


STUDY = Study(
    name="gate",
    title="Orbital gate on and off, per loss",
    claim="the gate improves every objective",
    datasets=("semeval_env", "mesh"),
    variants=tuple(
        Variant(f"{loss}, {gate}", (*settings, *assignments(orbit__gate=gate)))
        for loss, settings in LOSSES.items()
        for gate in GATES
    ),
    verdict=verdict,
    metrics=("recall@1", "mr", "mrr"),
    printed=table(
        "recall@1 mrr",
        {
            ("semeval_env", "full, off"): "46.3 56.3",
            ("semeval_env", "full, hard"): "51.9 60.8",
            ("mesh", "full, off"): "24.6 36.5",
            ("mesh", "full, hard"): "27.1 37.7",
            ("mesh", "geometric only, off"): "20.5 30.7",
            ("mesh", "geometric only, hard"): "22.8 34.2",
            ("mesh", "vMF only, off"): "21.8 32.2",
            ("mesh", "vMF only, hard"): "23.1 33.4",
        },
    ),
)
