"""networkx graphs and pandas tables."""

from __future__ import annotations

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

networkx = pytest.importorskip("networkx")
pandas = pytest.importorskip("pandas")

CONCEPTS = [
    Concept("1", "animal", "a living thing", ("beast", "a|b"), ("a.png",), (("rank", "kingdom"), ("n", "5"))),
    Concept("2", "bird", "", (), (), (("xref", "X:1"), ("xref", "X:2"))),
    Concept("3", "stone"),
]
ZOO = Taxonomy.from_concepts(CONCEPTS, [("1", "2")])


def same(one: Taxonomy, other: Taxonomy) -> bool:
    return list(one.concepts()) == list(other.concepts()) and list(one.edges()) == list(other.edges())


def test_networkx_there_and_back() -> None:
    graph = ZOO.to_networkx()
    assert set(graph.edges) == {("1", "2")}
    assert graph.nodes["1"]["name"] == "animal"
    assert graph.nodes["1"]["n"] == 5
    assert same(Taxonomy.from_networkx(graph), ZOO)


def test_pandas_there_and_back() -> None:
    nodes, edges = ZOO.to_pandas()
    assert list(nodes.columns[:5]) == ["id", "name", "description", "synonyms", "image"]
    assert edges.to_dict("records") == [{"parent_id": "1", "child_id": "2"}]
    assert same(Taxonomy.from_pandas(nodes, edges), ZOO)


def test_networkx_nodes_of_any_kind() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_node((1, "x"), label="odd")
    graph.add_edge(1, 2)
    graph.add_edge(1, 2)
    taxonomy = Taxonomy.from_networkx(graph)
    assert taxonomy.ids == ("(1, 'x')", "1", "2")
    assert taxonomy.names == ("odd", "1", "2")
    assert len(taxonomy.edge_array) == 1
    assert not taxonomy.reading


def test_pandas_with_gaps_and_other_columns() -> None:
    nodes = pandas.DataFrame({"ID": [1, 2], "Name": ["a", None], "synonyms": ["x|y", float("nan")], "w": [0.5, None]})
    edges = pandas.DataFrame({"child": [2], "parent": [1]})
    taxonomy = Taxonomy.from_pandas(nodes, edges)
    assert taxonomy.names == ("a", "2")
    assert taxonomy.synonyms == (("x", "y"), ())
    assert taxonomy.extras == ((("w", "0.5"),), ())
    assert list(taxonomy.edges()) == [("1", "2")]
    assert Taxonomy.from_pandas(None, edges).names == ("1", "2")


def test_whole_numbers_in_columns_with_gaps() -> None:
    edges = pandas.DataFrame({"parent": [float("nan"), 1, 2], "child": [1, 2, 3]}).dropna()
    assert list(Taxonomy.from_pandas(None, edges).edges()) == [("1", "2"), ("2", "3")]
    nodes = pandas.DataFrame({"id": [1.0, 2.0, 3.5], "name": ["a", "b", "c"]})
    edges = pandas.DataFrame({"parent": [1, 2], "child": [2, 3.5]})
    assert list(Taxonomy.from_pandas(nodes, edges).edges()) == [("1", "2"), ("2", "3.5")]
    graph = networkx.from_pandas_edgelist(edges, "parent", "child", create_using=networkx.DiGraph)
    assert Taxonomy.from_networkx(graph).ids == ("1", "2", "3.5")


def test_two_columns_for_a_name_are_both_kept() -> None:
    nodes = pandas.DataFrame({"id": [1], "name": ["a"], "label": ["A"]})
    taxonomy = Taxonomy.from_pandas(nodes, pandas.DataFrame({"parent": [], "child": []}))
    assert taxonomy.concept(0) == Concept("1", "a", extras=(("label", "A"),))


def test_faults_are_input_errors() -> None:
    with pytest.raises(InputError, match="directed"):
        Taxonomy.from_networkx(networkx.Graph([(1, 2)]))
    with pytest.raises(InputError, match="used twice"):
        Taxonomy.from_networkx(networkx.DiGraph([(1, "1")]))
    with pytest.raises(InputError, match="own parent"):
        Taxonomy.from_networkx(networkx.DiGraph([(1, 1)]))
    with pytest.raises(InputError, match="'child_id'"):
        Taxonomy.from_pandas(None, pandas.DataFrame({"parent": [1]}))
    with pytest.raises(InputError, match="'id'"):
        Taxonomy.from_pandas(pandas.DataFrame({"name": ["a"]}), pandas.DataFrame({"parent": [], "child": []}))
    with pytest.raises(InputError, match="no concept"):
        Taxonomy.from_pandas(pandas.DataFrame({"id": ["a"]}), pandas.DataFrame({"parent": ["a"], "child": ["b"]}))


def test_synonyms_of_another_kind_stay_beside_ours() -> None:
    """OBO keeps the scope of a synonym as an extra of that name: one of them, or several."""
    for extras in ((("synonym", '"s" EXACT []'),), (("synonym", '"s" EXACT []'), ("synonym", '"t" BROAD []'))):
        given = Taxonomy.from_concepts([Concept("1", "x", "", ("s",), (), extras)], [])
        assert Taxonomy.from_pandas(*given.to_pandas()).concept(0) == given.concept(0)
