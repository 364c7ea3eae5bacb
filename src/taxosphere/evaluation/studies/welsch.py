"""Where the geometric loss stops caring. The paper gives a figure without numbers."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, peak

VALUES = (0.1, 0.2, 0.4, 0.55, 0.7, 1.0, 1.5, 2.0)

STUDY = Study(
    name="welsch",
    title="Scale c of the Welsch loss",
    claim="c between 0.4 and 0.7 is best",
    datasets=("semeval_sci", "semeval_env"),
    variants=tuple(Variant(str(value), assignments(loss__welsch_c=value), x=value) for value in VALUES),
    verdict=peak(0.4, 0.7),
    metrics=("recall@1", "recall@5", "wup", "mr", "mrr"),
    figure="lines",
    axis="c",
)
