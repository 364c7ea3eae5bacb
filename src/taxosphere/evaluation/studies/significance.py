"""Whether the gain over each baseline is more than luck, by the paired bootstrap and by the paper's z-test."""

from taxosphere.evaluation.studies.base import Study, Variant, winner

METHODS = ("polaris", "polaris-cosine", "polaris-paper-frozen", "steam", "tmn", "gumbel-box", "box", "sibling-vote")

STUDY = Study(
    name="significance",
    title="Significance of the gains",
    claim="its gain over the strongest baseline is significant",
    datasets=("semeval_sci", "wordnet_pooled", "semeval_env"),
    variants=tuple(Variant(method, method=method, base=()) for method in METHODS),
    verdict=winner("polaris", ignoring=("polaris-cosine", "polaris-paper-frozen")),  # which are no baselines
    metrics=("hit@1", "hit@5", "mr", "mrr"),
    tested="polaris",
)
