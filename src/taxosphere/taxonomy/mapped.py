"""A taxonomy as arrays, which are mapped into memory instead of read: it opens at once, whatever its size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.taxonomy.graph import Taxonomy
from taxosphere.taxonomy.string_column import Lookup, StringColumn, TupleColumn, string_arrays
from taxosphere.taxonomy.structure import Csr

MAPPED = 1 << 14
"""Of a taxonomy of more concepts a model folder holds arrays: columns, lookup tables, matrices. Those of a smaller one
are computed anew in less time than they take to store."""
_TEXTS = ("ids", "names", "descriptions")
_LISTS = ("synonyms", "images", "extras")
_DERIVED = ("levels", "_nearest_root")


def to_arrays(taxonomy: Taxonomy) -> dict[str, NDArray[Any]]:
    """Columns, edges, and what takes long to compute of them; ``meta`` is not among them.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without a cycle.

    Returns
    -------
    dict of str to array
        For `from_arrays`.
    """
    arrays: dict[str, NDArray[Any]] = {"edges": taxonomy.edge_array}
    for name in _TEXTS:
        arrays |= _named(name, string_arrays(getattr(taxonomy, name)))
    for name in _LISTS:
        rows = getattr(taxonomy, name)
        if any(rows):
            arrays |= _named(name, TupleColumn.arrays(rows))
    arrays |= _named("positions", Lookup.arrays(taxonomy.ids))
    arrays |= _named("ancestors", taxonomy.ancestor_csr._asdict())
    return arrays | {name: getattr(taxonomy, name) for name in _DERIVED}


def from_arrays(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Taxonomy:
    """The taxonomy that `to_arrays` wrote.

    Parameters
    ----------
    arrays : mapping of str to array
    meta : mapping
        What its file said beside its concepts.

    Returns
    -------
    Taxonomy
        Its texts are decoded when they are asked for.
    """
    ids, names, descriptions = (_strings(arrays, name) for name in _TEXTS)
    synonyms, images, extras = (
        TupleColumn(_strings(arrays, name)) if f"{name}.data" in arrays else () for name in _LISTS
    )
    taxonomy = Taxonomy(ids, names, descriptions, arrays["edges"], synonyms, images, extras, meta)
    checksums = arrays["positions.checksums"].view(np.uint32)
    vars(taxonomy).update(  # as if each had been asked for before
        _positions=Lookup(ids, checksums, arrays["positions.places"]),
        ancestor_csr=Csr(arrays["ancestors.indptr"], arrays["ancestors.indices"]),
        **{name: arrays[name] for name in _DERIVED},
    )
    return taxonomy


def _named(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}.{key}": values for key, values in arrays.items()}


def _strings(arrays: Mapping[str, NDArray[Any]], name: str) -> StringColumn:
    return StringColumn.from_ends(arrays[f"{name}.data"], arrays[f"{name}.ends"])
