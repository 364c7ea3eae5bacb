"""What each family of features adds to the learned ranker: all of them, and all but one."""

from taxosphere.evaluation.studies.frame import Study, Variant, winner

STUDY = Study(
    name="features",
    title="Feature families of the ranker",
    claim="every feature family of the ranker contributes",
    datasets=("semeval_env", "semeval_sci", "semeval_food_temp", "wordnet_pooled"),
    variants=(Variant("all", method="polaris", base=()),),
    verdict=winner("all"),
    metrics=("hit@1", "hit@5", "mr", "mrr"),
    ours=True,
)
