"""How strongly points repel each other."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, peak, table

VALUES = (0.5, 1.5, 2.5, 3.5, 4.5)

STUDY = Study(
    name="kappa-repel",
    title="κ_repel from 0.5 to 4.5",
    claim="κ_repel between 3.5 and 4.5 is best",
    datasets=("mesh",),
    variants=tuple(Variant(str(value), assignments(loss__kappa_repel=value), x=value) for value in VALUES),
    verdict=peak(3.5, 4.5),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "0.5"): "28.54 53.93 22.99 45.34 33.01",
            ("mesh", "1.5"): "26.40 56.40 21.45 47.78 33.61",
            ("mesh", "2.5"): "29.32 58.65 23.62 50.14 35.57",
            ("mesh", "3.5"): "31.57 60.22 25.43 51.58 36.93",
            ("mesh", "4.5"): "34.61 60.00 27.87 51.04 37.99",
        },
    ),
    figure="lines",
    axis="κ_repel",
)
