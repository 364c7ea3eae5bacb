"""Real tables whose counts other programs have made, as far as they lie beside the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

pytestmark = pytest.mark.slow  # large files

# file → options, concepts, edges
COUNTS: dict[str, list[tuple[dict[str, Any], int, int]]] = {
    "google_with_ids.de-DE.txt": [({}, 5427, 5406)],
    "google_with_ids.en-US.xls": [({}, 5427, 5406)],
    "shopify_categories.txt": [({}, 14606, 14580)],
    "UAT.csv": [({}, 3297, 3286), ({"merge": "names"}, 2275, 2645)],
    "iab_content_3.1.tsv": [({}, 704, 667)],
    "coldp_taxon.tsv": [({}, 23, 22)],
    # Codes such as '31-33' hold the codes in them, which gives 44 edges more than beginnings alone.
    "naics_2017.csv": [({}, 2196, 2132 + 44), ({"mapping": {"id": "Code"}, "nested": True}, 2196, 2132 + 44)],
    "msc_chinese.tsv": [({"nested": True}, 6199, 6136)],
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_other_readers(real_files: Path, name: str) -> None:
    for options, concepts, edges in COUNTS[name]:
        taxonomy = Taxonomy.read(real_files / name, **options)
        assert (len(taxonomy), len(taxonomy.edge_array)) == (concepts, edges)
        assert taxonomy.reading_notes


def test_codes_and_names_are_no_edges(real_files: Path) -> None:
    with pytest.raises(InputError, match="--nested"):
        Taxonomy.read(real_files / "msc_chinese.tsv")


@pytest.mark.parametrize("name", [name for name in COUNTS if not name.endswith(".xls")])
@pytest.mark.parametrize("placement", ["end", "siblings"])
def test_written_back_only_the_new_rows_differ(real_files: Path, tmp_path: Path, name: str, placement: str) -> None:
    options, *_ = COUNTS[name][-1]
    source = (real_files / name).read_bytes()
    taxonomy = Taxonomy.read(real_files / name, **options)
    taxonomy.write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == source
    parent = len(taxonomy) // 2
    new = f"{taxonomy.ids[parent]}9" if options.get("nested") or name.endswith(".txt") else "New concept"
    grown = taxonomy.add([Concept(new, "New concept")], [(taxonomy.ids[parent], new)])
    grown.write(tmp_path / name, placement=placement)
    before, after = source.splitlines(keepends=True), (tmp_path / name).read_bytes().splitlines(keepends=True)
    added = [line for line in after if b"New concept" in line]
    assert len(added) == 1
    assert [line for line in after if line not in added] == before
    if placement == "end":
        assert after[-1] == added[0]
    again = Taxonomy.read(tmp_path / name, **options)
    assert (len(again), len(again.edge_array)) == (len(grown), len(grown.edge_array))
