"""GraphML: compared with networkx, and as Gephi and yEd write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

nx = pytest.importorskip("networkx")

HEAD = '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
YED = (
    HEAD[:-1]
    + ' xmlns:y="http://www.yworks.com/xml/graphml">'
    + """<key for="node" id="d5" attr.name="description" attr.type="string"/>
<key for="node" id="d6" yfiles.type="nodegraphics"/>
<graph edgedefault="directed" id="G">
<node id="n0"><data key="d5"><![CDATA[lives]]></data><data key="d6"><y:ShapeNode><y:Geometry height="30.0"/>
<y:NodeLabel alignment="center">animal<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>bird</y:NodeLabel></y:ShapeNode></data></node>
<edge id="e0" source="n0" target="n1"/></graph></graphml>"""
)


def test_networkx_reads_what_we_write(tmp_path: Path, animals: Taxonomy) -> None:
    animals.write(tmp_path / "x.graphml")
    graph = nx.read_graphml(tmp_path / "x.graphml")
    assert set(graph.nodes) == set(animals.ids)
    assert set(graph.edges) == set(animals.edges())
    assert graph.nodes["duck"] == {"name": "duck", "description": "a waterbird that quacks"}


def test_we_read_what_networkx_writes(tmp_path: Path, animals: Taxonomy) -> None:
    graph = nx.DiGraph(list(animals.edges()))
    nx.set_node_attributes(graph, {node: f"the {node}" for node in graph}, "label")
    graph.nodes["duck"]["weight"] = 1.5
    nx.write_graphml(graph, tmp_path / "x.graphml")
    taxonomy = Taxonomy.read(tmp_path / "x.graphml")
    assert set(taxonomy.edges()) == set(animals.edges())
    assert taxonomy.names[taxonomy.position("duck")] == "the duck"
    assert taxonomy.extras[taxonomy.position("duck")] == (("weight", "1.5"),)


def test_labels_of_yed(tmp_path: Path) -> None:
    (tmp_path / "x.graphml").write_text(YED, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.graphml")
    assert (taxonomy.names, list(taxonomy.edges())) == (("animal", "bird"), [("n0", "n1")])
    assert taxonomy.descriptions[0] == "lives"


RELATION = '<key id="r" for="edge" attr.name="relation"><default>is_a</default></key>'


def graph(nodes: str, edges: str, keys: str = "") -> str:
    shown = "".join(f'<node id="{node}"/>' for node in nodes)
    links = "".join(f'<edge source="{source}" target="{target}"/>' for source, target in edges.split())
    return f'{HEAD}{keys}<graph edgedefault="directed">{shown}{links}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "columns", "edges"),
    [
        (graph("abc", "ab ac"), None, {("a", "b"), ("a", "c")}),
        (graph("abc", "ba ca"), None, {("a", "b"), ("a", "c")}),  # only so it has one root
        (graph("abc", "ba ca"), ("parent", "child"), {("b", "a"), ("c", "a")}),
        (graph("ab", "ba"), None, {("b", "a")}),
        (graph("ab", "ba"), ("child", "parent"), {("a", "b")}),
        (graph("ab", "ba", RELATION), None, {("a", "b")}),
        (graph("ab", "ba", RELATION.replace("is_a", "parentOf")), None, {("b", "a")}),
    ],
)
def test_the_direction_of_edges(
    tmp_path: Path, text: str, columns: tuple[str, str] | None, edges: set[tuple[str, str]]
) -> None:
    (tmp_path / "x.graphml").write_text(text, encoding="utf-8")
    assert set(Taxonomy.read(tmp_path / "x.graphml", columns=columns).edges()) == edges


def test_nodes_inside_nodes_where_there_are_no_edges(tmp_path: Path) -> None:
    inner = '<node id="b"/><node id="c"/>'
    (tmp_path / "x.graphml").write_text(
        f'{HEAD}<graph><node id="a"><graph>{inner}</graph></node></graph></graphml>', encoding="utf-8"
    )
    assert set(Taxonomy.read(tmp_path / "x.graphml").edges()) == {("a", "b"), ("a", "c")}


def test_stated_and_faulty_keys(tmp_path: Path) -> None:
    path = tmp_path / "x.graphml"
    key = '<key id="k" for="node" attr.name="wort"/>'
    path.write_text(
        f'{HEAD}{key}<graph><node id="a"><data key="k">Tier</data></node></graph></graphml>', encoding="utf-8"
    )
    assert Taxonomy.read(path).names == ("a",)
    assert Taxonomy.read(path, mapping={"name": "wort"}).names == ("Tier",)
    with pytest.raises(InputError, match="--map name=x: no node has that key; they have wort"):
        Taxonomy.read(path, mapping={"name": "x"})
    path.write_text(f"{HEAD}<graph>\n<edge source='a'/></graph></graphml>", encoding="utf-8")
    with pytest.raises(InputError, match=":2: an edge needs a source and a target"):
        Taxonomy.read(path)


def test_extras_are_columns_of_their_own(tmp_path: Path) -> None:
    concept = Concept("1", "a", extras=(("rank", "x"), ("xref", "p"), ("xref", "q"), ("label", "A")))
    Taxonomy.from_concepts([concept], []).write(tmp_path / "x.graphml")
    assert nx.read_graphml(tmp_path / "x.graphml").nodes["1"]["rank"] == "x"
    assert Taxonomy.read(tmp_path / "x.graphml").concept(0).extras[0] == ("rank", "x")
