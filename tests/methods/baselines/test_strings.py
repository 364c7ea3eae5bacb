from __future__ import annotations

import os
import subprocess
import sys
from difflib import SequenceMatcher

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taxosphere import Concept
from taxosphere.methods.baselines.strings import Definitions, Names, all_text_features, name_features, text_features

names = st.text("abc ", max_size=12)


def naive(query: str, parent: str) -> list[float]:
    suffix = 0
    while suffix < min(len(query), len(parent)) and query[-1 - suffix] == parent[-1 - suffix]:
        suffix += 1
    common = SequenceMatcher(None, query, parent, autojunk=False).find_longest_match().size
    total = max(1, len(query) + len(parent))
    return [
        query.endswith(parent),
        parent in query,
        min(7, suffix) / 7,
        2 * common / total,
        2 * (len(query) - len(parent)) / total,
    ]


@given(st.lists(st.tuples(names, names), min_size=1, max_size=6))
def test_name_features_agree_with_plain_string_code(pairs: list[tuple[str, str]]) -> None:
    queries, parents = zip(*pairs)
    found = name_features(Names.of(queries), Names.of(parents))
    np.testing.assert_allclose(found, [naive(q, p) for q, p in pairs], rtol=1e-6)


def test_one_query_meets_many_parents() -> None:
    parents = ["acid", "amino acid", "", "Nucleic ACID"]
    found = name_features(Names.of(["Nucleic acid"]), Names.of(parents))
    np.testing.assert_allclose(found, [naive("nucleic acid", p.lower()) for p in parents], rtol=1e-6)


def test_long_names_are_compared_by_their_ends() -> None:
    features = name_features(Names.of(["x" * 100 + " receptor"]), Names.of(["receptor"]))
    assert features[0, :3].tolist() == [1, 1, 1]


CONCEPTS = [
    Concept("1", "animal", "a living thing"),
    Concept("2", "farm animal", "an animal kept by people"),
    Concept("3", "stone", ""),
]


def test_definition_overlap_by_hand() -> None:
    definitions = Definitions(CONCEPTS)
    query = definitions.matrices([Concept("q", "farm", "an animal in a barn")])
    found = all_text_features(query, definitions.matrices(CONCEPTS))[0]
    assert found[:, 0].tolist() == [1.0, 0.5, 0.0]  # 'animal' is said, 'farm' is not, nor is 'stone'
    assert found[:, 1].tolist() == [0.0, 0.0, 0.0]  # nobody's definition says 'farm'
    # Known words of the definition: an (in 1 of 3), animal (in 1), a (in 1); 'in' and 'barn' are new.
    # 'a' is the one shared word of three with the first definition, 'an' and 'animal' two of five with the second.
    np.testing.assert_allclose(found[:, 2], [1 / 3, 2 / np.sqrt(15), 0], rtol=1e-6)


def test_aligned_and_crossed_features_agree() -> None:
    rows = Definitions(CONCEPTS).matrices(CONCEPTS)
    crossed = all_text_features(rows, rows)
    left, right = np.array([0, 1, 2, 1]), np.array([1, 0, 2, 1])
    aligned = text_features(tuple(m[left] for m in rows), tuple(m[right] for m in rows))
    np.testing.assert_allclose(aligned, crossed[left, right], rtol=1e-6)


FINGERPRINT = """
import hashlib
from taxosphere import Concept
from taxosphere.methods.baselines.strings import Definitions, all_text_features

words = "root stem leaf petal seed bark twig thorn berry pollen sap bud".split()
concepts = [Concept(str(i), w, f"{' '.join(words[i:])} grows by the {w} of {words[-i]}") for i, w in enumerate(words)]
rows = Definitions(concepts).matrices(concepts)
digest = hashlib.sha256(all_text_features(rows, rows).tobytes())
for matrix in rows:
    digest.update(matrix.indices.tobytes() + matrix.data.tobytes())
print(digest.hexdigest())
"""


def test_features_have_the_same_bits_in_every_process() -> None:
    """The order of a set of strings changes with PYTHONHASHSEED, which every process draws anew."""
    found = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
