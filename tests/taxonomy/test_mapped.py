from pathlib import Path

import numpy as np

from taxosphere import Concept, Taxonomy
from taxosphere.artifact import map_arrays
from taxosphere.taxonomy.mapped import from_arrays, to_arrays


def test_a_mapped_taxonomy_equals_the_one_that_was_stored(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    taxonomy = Taxonomy.from_concepts(
        [
            Concept("A:1", "organ"),
            Concept("A:2", "liver", "a large gland", ("hepar", "jecur"), ("liver.png",), (("xref", "B:7"),)),
            Concept("A:3", "lobe", "a part of an organ"),
            Concept("A:4", "caudate lobe", ""),
        ],
        [("A:1", "A:2"), ("A:1", "A:3"), ("A:3", "A:4"), ("A:2", "A:4")],
    )
    save_file({key: np.ascontiguousarray(value) for key, value in to_arrays(taxonomy).items()}, tmp_path / "t")
    mapped = from_arrays(map_arrays(tmp_path / "t"), {"title": "organs"})
    assert list(mapped.concepts()) == list(taxonomy.concepts())
    assert list(mapped.edges()) == list(taxonomy.edges())
    assert mapped.meta == {"title": "organs"}
    for id in taxonomy.ids:
        assert (mapped.position(id), mapped.path(id), mapped.depth(id)) == (
            taxonomy.position(id),
            taxonomy.path(id),
            taxonomy.depth(id),
        )
    assert [row.tolist() for row in map(mapped.ancestor_csr.row, range(4))] == [[], [0], [0], [0, 1, 2]]
    assert "A:5" not in mapped
    grown = mapped.add([Concept("A:5", "left lobe")], [("A:3", "A:5")])
    assert grown.children("A:3") == ("A:4", "A:5")
    assert grown.concept(1) == taxonomy.concept(1)
    assert list(mapped.keep(np.array([0, 2])).names) == ["organ", "lobe"]
