"""Whether direction and concentration of a concept's distribution must be learned."""

from taxosphere.evaluation.studies.base import Study, Variant, assignments, table, winner

STUDY = Study(
    name="vmf",
    title="Constant κ, identity μ, or both learned",
    claim="learning both μ and κ beats fixing either",
    datasets=("mesh", "semeval_verb"),
    variants=(
        Variant("constant κ", assignments(network__kappa="constant", network__kappa_min=0.1, network__kappa_start=0.5)),
        Variant("identity μ", assignments(network__mu="identity")),
        Variant("learned μ and κ"),
    ),
    verdict=winner("learned μ and κ"),
    printed=table(
        "hit@1 hit@5 recall@1 recall@5 mrr",
        {
            ("mesh", "constant κ"): "31.57 62.32 26.69 51.76 38.22",
            ("mesh", "identity μ"): "31.14 60.78 25.07 52.39 35.57",
            ("mesh", "learned μ and κ"): "33.59 62.66 27.03 53.66 38.91",
            ("semeval_verb", "constant κ"): "13.21 35.93 12.32 35.16 24.76",
            ("semeval_verb", "identity μ"): "13.20 35.72 13.12 35.47 23.65",
            ("semeval_verb", "learned μ and κ"): "15.05 39.20 15.01 38.77 26.34",
        },
    ),
)
