"""How many dimensions the sphere needs. The paper gives a figure without numbers."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, peak

VALUES = (8, 16, 32, 64, 128, 256, 512)

STUDY = Study(
    name="dimension",
    title="Dimension of the sphere",
    claim="64 to 128 dimensions are best and more degrade",
    datasets=("semeval_sci", "semeval_env"),
    variants=tuple(Variant(str(value), assignments(network__dim=value), x=value) for value in VALUES),
    verdict=peak(64, 128),
    metrics=("recall@1", "recall@5", "wup", "mr", "mrr"),
    figure="lines",
    axis="d",
)
