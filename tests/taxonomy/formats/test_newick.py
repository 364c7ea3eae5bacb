"""Newick trees: compared with Biopython, with all that real files have."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry


def read(tmp_path: Path, text: str) -> Taxonomy:
    path = tmp_path / "x.nwk"
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


def test_labels_lengths_and_comments(tmp_path: Path) -> None:
    text = "[&R] ((Homo_sapiens:0.1,'Pan (chimp), ''x''':2e-3)Homininae[90]:1,\n Gorilla)Hominidae;"
    taxonomy = read(tmp_path, text)
    assert taxonomy.names == ("Hominidae", "Homininae", "Homo sapiens", "Pan (chimp), 'x'", "Gorilla")
    assert taxonomy.extras[2] == (("branch length", "0.1"),)
    assert list(taxonomy.edges())[-1] == ("Hominidae", "Gorilla")
    assert [problem.text for problem in taxonomy.reading] == ["1 comment in brackets left out"]


def test_inner_nodes_without_a_name(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "((a,b)95,(c,d)0.9)100;")  # support of branches is no name
    assert taxonomy.names == ("a … d", "a … b", "a", "b", "c … d", "c", "d")
    assert taxonomy.reading_notes == ("3 inner nodes without a name, called by the first and last leaf below",)
    replace(taxonomy, meta={}).write(tmp_path / "y.nwk")  # anew, not the text that was read
    assert (tmp_path / "y.nwk").read_text() == "((a,b)95,(c,d)0.9)100;\n"
    assert read(tmp_path, "((a,b),c);").names == ("a … c", "a … b", "a", "b", "c")
    assert read(tmp_path, "((9606,9598)207598,9593)9604;").names == ("9604", "207598", "9606", "9598", "9593")


def test_several_trees_and_repeated_names(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "(a,b)x;\n(c,(a)b)y;")
    assert taxonomy.ids == ("x", "a", "b", "y", "c", "y / b", "y / b / a")


def test_the_first_tree_of_a_nexus_file(tmp_path: Path) -> None:
    text = "#NEXUS\nbegin trees;\n translate\n 1 Homo_sapiens,\n 2 'Pan'\n;\n"
    text += "tree one = [&R] (1,2)root;\ntree two = (2,1);\nend;\n"
    taxonomy = read(tmp_path, text)
    assert taxonomy.names == ("root", "Homo sapiens", "Pan")
    assert [problem.text for problem in taxonomy.reading] == ["1 further tree of the NEXUS file left out"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("((a,b)x", 1, r"a '\(' is never closed; is the file cut off\?"),
        ("(a,b)x)y;", 1, r"'\)' outside of all brackets"),
        ("a,b;", 1, "',' outside of all brackets"),
        ("(a,\n,b)x;", 2, "a leaf has no label"),
        ("(a b,c)x;", 1, "two labels follow each other, 'a' and 'b'"),
        ("(a,b)x(c);", 1, r"'\(' after a label"),
        ("(a:x,b)y;", 1, "the branch length 'x' is no number"),
        ("(a,'b)x;", 1, "a quoted label without an end"),
        ("(a,\n[b)x;", 2, "a comment without an end"),
        (";", 1, "';' without a tree"),
        ("  \n", 1, "holds no tree"),
        ("(a,b)x (c)y;", 1, r"'\(' after a label"),
        ("#NEXUS\nbegin data;\n", None, "NEXUS file without a tree"),
    ],
)
def test_faults_have_a_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


@pytest.mark.slow
def test_a_tree_of_any_depth(tmp_path: Path) -> None:
    deep = 50_000
    taxonomy = read(tmp_path, "(" * deep + "leaf" + "".join(f")n{i}" for i in range(deep)) + ";")
    assert (len(taxonomy), len(taxonomy.edge_array)) == (deep + 1, deep)
    taxonomy.write(tmp_path / "y.nwk")
    assert Taxonomy.read(tmp_path / "y.nwk").names == taxonomy.names


def test_what_a_tree_cannot_hold_is_said(tmp_path: Path, animals: Taxonomy) -> None:
    assert registry.unsupported_content(animals, tmp_path / "x.nwk") == [
        "ids, definitions, synonyms and other attributes left out: a Newick tree holds names alone",
        "1 edge to second parents left out: a Newick tree has one parent for each name",
    ]
    tree = Taxonomy.from_edges([("a", "b"), ("a", "c")])
    assert registry.unsupported_content(tree, tmp_path / "x.nwk") == []
    cycle = Taxonomy.from_edges([("a", "b"), ("b", "a")])
    with pytest.raises(InputError, match="circle"):
        cycle.write(tmp_path / "x.nwk")
    assert not (tmp_path / "x.nwk").exists()


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda text: bool(text.strip()) and text == text.strip()
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=st.lists(names, min_size=2, max_size=8, unique=True), shape=st.randoms(use_true_random=False))
def test_any_names_survive(labels: list[str], shape: object, tmp_path: Path) -> None:
    edges = [(labels[shape.randrange(i)], labels[i]) for i in range(1, len(labels))]  # type: ignore[attr-defined]
    taxonomy = Taxonomy.from_concepts([Concept(label, label) for label in labels], edges)
    taxonomy.write(tmp_path / "x.nwk")
    again = Taxonomy.read(tmp_path / "x.nwk")
    assert set(again.edges()) == set(edges)
    assert set(again.names) == set(labels)


def test_biopython_reads_what_we_write(tmp_path: Path) -> None:
    phylo = pytest.importorskip("Bio.Phylo")
    tree = Taxonomy.from_edges([("life", "Homo sapiens"), ("life", "it's"), ("it's", "a,b"), ("it's", "(c)")])
    tree.write(tmp_path / "x.nwk")
    clades = list(phylo.read(io.StringIO((tmp_path / "x.nwk").read_text()), "newick").find_clades())
    assert len(clades) == 5
    assert {clade.name.replace("\\'", "'").replace("_", " ") for clade in clades} >= {
        "life",
        "Homo sapiens",
        "a,b",
        "(c)",
    }
