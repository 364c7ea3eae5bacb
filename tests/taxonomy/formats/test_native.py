"""The native folder: plain tables, escapes only where needed, and nothing lost on the way."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry


def folder(path: Path, nodes: str, edges: str = "parent_id\tchild_id\n") -> Path:
    path.mkdir()
    (path / "nodes.tsv").write_text(nodes, encoding="utf-8")
    (path / "edges.tsv").write_text(edges, encoding="utf-8")
    return path


def test_quotes_and_backslashes_stand_for_themselves(tmp_path: Path) -> None:
    nodes = 'id\tname\tdescription\n1\t5" disk\tC:\\new\\table\n2\t"quoted"\t\n'
    taxonomy = registry.read(folder(tmp_path / "in", nodes))
    assert taxonomy.names == ('5" disk', '"quoted"')
    assert taxonomy.descriptions == ("C:\\new\\table", "")
    registry.write(taxonomy, tmp_path / "out")
    assert (tmp_path / "out" / "nodes.tsv").read_text(encoding="utf-8") == nodes
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["edges.tsv", "nodes.tsv"]


def test_tabs_line_breaks_and_bars_survive(tmp_path: Path) -> None:
    concept = Concept("a\tb", "x\ny", "back\\slash \\n", ("a|b", "c\\", "", "\\e"), ("i|.png",), (("k\n", "v\r"),))
    registry.write(Taxonomy.from_concepts([concept], []), tmp_path / "out")
    assert registry.read(tmp_path / "out").concept(0) == concept


def test_unknown_columns_and_the_split_come_back_where_they_were(tmp_path: Path) -> None:
    nodes = "id\tname\tRank\tdescription\n1\tanimal\tkingdom\t\n2\tdog\t\tbarks\n"
    path = folder(tmp_path / "in", nodes, "child_id\tparent_id\n2\t1\n")
    (path / "split.tsv").write_text("id\tsplit\n1\ttrain\n2\ttest\n", encoding="utf-8")
    taxonomy = registry.read(path)
    assert taxonomy.concept(0).extras == (("Rank", "kingdom"), ("split", "train"))
    assert list(taxonomy.edges()) == [("1", "2")]
    registry.write(taxonomy, tmp_path / "out")
    assert (tmp_path / "out" / "split.tsv").read_text(encoding="utf-8") == "id\tsplit\n1\ttrain\n2\ttest\n"
    expected = "id\tname\tdescription\tRank\n1\tanimal\t\tkingdom\n2\tdog\tbarks\t\n"
    assert (tmp_path / "out" / "nodes.tsv").read_text(encoding="utf-8") == expected


def test_a_definition_is_the_description_where_there_is_no_other(tmp_path: Path) -> None:
    nodes = "id\tname\tDefinition\n1\tanimal\tit lives\n"
    assert registry.read(folder(tmp_path / "a", nodes, "parent\tchild\n")).descriptions == ("it lives",)
    nodes = "id\tname\tdefinition\tdescription\n1\tanimal\tit lives\tmoves\n"
    both = registry.read(folder(tmp_path / "b", nodes, "parent\tchild\n"))
    registry.write(both, tmp_path / "out")
    for taxonomy in (both, registry.read(tmp_path / "out")):
        assert taxonomy.descriptions == ("moves",)
        assert taxonomy.concept(0).extras == (("definition", "it lives"),)


def test_repeated_extras_and_meta_go_to_side_files(tmp_path: Path) -> None:
    concept = Concept("1", "a", extras=(("xref", "X:1"), ("xref", "X:2")))
    taxonomy = Taxonomy.from_concepts([concept], [], meta={"format": "obo", "obo": {"header": ["ontology: x"]}})
    registry.write(taxonomy, tmp_path / "out")
    again = registry.read(tmp_path / "out")
    assert again.concept(0) == concept
    assert again.meta["obo"] == {"header": ["ontology: x"]}
    assert again.meta["format"] == "obo"


def test_gzipped_tables_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.mkdir()
    (path / "nodes.tsv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfid\tname\r\n1\ta\r\n\r\n2\tb\r\n"))
    (path / "edges.tsv").write_bytes(b"parent_id\tchild_id\r\n1\t2")
    taxonomy = registry.read(path)
    assert taxonomy.names == ("a", "b")
    assert list(taxonomy.edges()) == [("1", "2")]


def test_a_long_table_keeps_its_line_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{i}\tconcept {i}\tsome text to fill the block\n" for i in range(20_000))
    path = folder(tmp_path / "in", "id\tname\tdescription\n\n" + rows + "17\tagain\t\n")
    with pytest.raises(InputError) as caught:
        registry.read(path)
    assert caught.value.line == 20_003
    assert "first in line 20" in caught.value.message
    taxonomy = Taxonomy.read(path, strict=False)
    assert len(taxonomy) == 20_000
    assert [problem.kind for problem in taxonomy.reading] == ["duplicate id"]


def test_faults_of_edges_name_the_edge_file(tmp_path: Path) -> None:
    edges = "parent_id\tchild_id\n1\t2\n1\t2\n2\t2\n1\t9\n"
    path = folder(tmp_path / "in", "id\tname\n1\ta\n2\tb\n", edges)
    taxonomy = Taxonomy.read(path, strict=False)
    found = [(problem.kind, Path(problem.where).name, problem.fatal) for problem in taxonomy.reading]
    assert found == [
        ("duplicate edge", "edges.tsv:3", False),
        ("self loop", "edges.tsv:4", True),
        ("dangling edge", "edges.tsv:5", True),
    ]
    assert list(taxonomy.edges()) == [("1", "2")]
    with pytest.raises(InputError, match=r"edges\.tsv:4: 'b?2' is its own parent"):
        registry.read(path)


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path, animals: Taxonomy) -> None:
    registry.write(animals, tmp_path / "out")
    registry.write(animals, tmp_path / "out")
    (tmp_path / "out" / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        registry.write(animals, tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").exists()


COUNTS = {
    "cub200_wikispecies": (383, 382, 1, 200),
    "mesh": (9710, 10498, 1514, 6613),
    "semeval_env": (261, 261, 1, 201),
    "semeval_food": (1486, 1533, 1, 1184),
    "semeval_food_temp": (1486, 1533, 1, 1184),
    "semeval_sci": (429, 441, 1, 312),
    "semeval_verb": (13936, 13407, 560, 10581),
    "wordnet_bansal": (15633, 14872, 761, 11586),
    "wordnet_pooled": (2309, 2226, 109, 1724),
}


@pytest.mark.parametrize("name", COUNTS)
def test_benchmark_folders_have_their_published_counts(name: str, shared_data: Path, tmp_path: Path) -> None:
    taxonomy = registry.read(shared_data / name)
    assert (len(taxonomy), len(taxonomy.edge_array), len(taxonomy.roots), len(taxonomy.leaves)) == COUNTS[name]
    registry.write(taxonomy, tmp_path / name)
    for table in ("nodes.tsv", "edges.tsv"):
        assert (tmp_path / name / table).read_bytes() == (shared_data / name / table).read_bytes()
    shutil.rmtree(tmp_path / name)
