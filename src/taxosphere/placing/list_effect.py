"""What the other concepts of a list change about the answer for one of them.

`suggest` ranks a new concept in the taxonomy alone. `expand` ranks it once more with the other new concepts among the
candidates, which shifts every probability a little even where none of them is a parent. Such shifts say nothing, so the
answer of `suggest` stays unless the new concepts together are a likely parent; then the second answer is used, and it
is said what the list changed.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from taxosphere.placing.suggestions import Suggestions

LIKELY = 0.05  # probability of all new concepts together from which on the list changes an answer


def choose(alone: Suggestions, together: Suggestions, existing: Container[str]) -> Suggestions:
    """The answer for one concept of a list, with `Suggestions.list_effect` where the list changed it.

    Parameters
    ----------
    alone : Suggestions
        Ranked in the taxonomy alone, as `suggest` answers.
    together : Suggestions
        Ranked with the other new concepts among the candidates.
    existing : container of str
        Ids of the taxonomy's concepts.

    Returns
    -------
    Suggestions
        ``alone`` itself where new concepts have together less than `LIKELY`, otherwise ``together``.
    """
    new = [suggestion for suggestion in together if suggestion.id not in existing]
    if sum(suggestion.probability for suggestion in new) < LIKELY:
        return alone
    likeliest = new[0]
    without = f"without the list: '{alone[0].name}' ({alone[0].probability:.0%})" if alone else "without the list: none"
    if likeliest is together[0]:
        effect = f"its best parent '{likeliest.name}' ({likeliest.probability:.0%}) is new too; {without}"
    else:
        best = together[0]
        effect = (
            f"'{likeliest.name}' of the list may be its parent ({likeliest.probability:.0%}), "
            f"'{best.name}' has {best.probability:.0%}; {without}"
        )
    return replace(together, list_effect=effect)
