"""Which kernel spreads the particles best: RBF, IMQ, vMF, or vMF with the structural score."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, table, winner

STUDY = Study(
    name="kernels",
    title="SVGD kernels",
    claim="the vMF kernel with the structural score beats the other kernels",
    datasets=("mesh", "semeval_verb"),
    variants=tuple(Variant(kernel, assignments(loss__kernel=kernel)) for kernel in ("rbf", "imq", "vmf", "vmf+score")),
    verdict=winner("vmf+score"),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "rbf"): "31.12 54.18 25.07 47.24 37.40",
            ("mesh", "imq"): "31.01 55.28 24.98 48.42 34.10",
            ("mesh", "vmf"): "30.23 54.27 23.25 44.80 34.73",
            ("mesh", "vmf+score"): "33.59 62.66 27.03 51.95 38.72",
            ("semeval_verb", "rbf"): "13.10 36.54 13.07 35.65 23.92",
            ("semeval_verb", "imq"): "13.71 35.41 11.23 34.72 24.31",
            ("semeval_verb", "vmf"): "11.36 32.45 10.32 29.32 22.60",
            ("semeval_verb", "vmf+score"): "15.05 39.20 15.01 38.77 26.34",
        },
    ),
)
