"""What the geometric and the probabilistic loss contribute.

The paper's row "without both" beats its rows with one of the two, and equals a row of its SVGD study. Without both
losses only the regulariser is left to train on.
"""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, table, winner

STUDY = Study(
    name="losses",
    title="Loss components",
    claim="the geometric and the probabilistic loss are both needed",
    datasets=("mesh", "semeval_verb"),
    variants=(
        Variant("without geometric", assignments(loss__geometric=0)),
        Variant("without probabilistic", assignments(loss__probabilistic=0)),
        Variant("without both", assignments(loss__geometric=0, loss__probabilistic=0)),
        Variant("full"),
        Variant(
            "listwise instead", assignments(loss__geometric=0, loss__probabilistic=0, loss__svgd=0, loss__listwise=1)
        ),
    ),
    verdict=winner("full", ignoring=("listwise instead",)),  # which the paper does not have
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "without geometric"): "28.31 54.00 23.26 43.98 33.71",
            ("mesh", "without probabilistic"): "28.20 54.94 22.35 45.88 33.19",
            ("mesh", "without both"): "32.25 58.88 26.85 50.95 36.23",
            ("mesh", "full"): "33.59 62.66 27.03 51.95 37.85",
            ("semeval_verb", "without geometric"): "9.31 26.41 9.29 26.35 17.07",
            ("semeval_verb", "without probabilistic"): "11.37 27.23 10.38 27.17 18.61",
            ("semeval_verb", "without both"): "14.12 35.00 13.77 32.57 23.21",
            ("semeval_verb", "full"): "16.27 39.71 16.24 39.63 27.03",
        },
    ),
)
