"""How strongly points are held to their anchors."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, peak, table

STUDY = Study(
    name="kappa-align",
    title="κ_align from 1 to 5",
    claim="κ_align = 3 is the best trade-off",
    datasets=("mesh",),
    variants=tuple(Variant(str(value), assignments(loss__kappa_align=value), x=value) for value in (1, 2, 3, 4, 5)),
    verdict=peak(3, 3),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "1"): "33.25 61.01 27.79 51.54 38.36",
            ("mesh", "2"): "32.32 62.02 26.33 54.12 38.40",
            ("mesh", "3"): "33.71 61.80 27.15 52.57 38.77",
            ("mesh", "4"): "33.60 61.01 27.06 52.31 38.21",
            ("mesh", "5"): "34.61 60.00 27.88 51.04 38.42",
        },
    ),
    figure="lines",
    axis="κ_align",
)
