"""SemEval files in the task's own form and in those of the benchmarks made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import split


def write(folder: Path, **files: str) -> None:
    for suffix, text in files.items():
        (folder / f"zoo.{suffix}").write_text(text, encoding="utf-8")


def test_three_columns_of_terms(tmp_path: Path) -> None:
    write(tmp_path, taxo="0\tbird\tanimal\n1\tduck\tbird\n", terms="7\tanimal\n8\tbird\n9\tduck\n10\tstone\n")
    for name in ("zoo.taxo", "zoo.terms"):
        taxonomy = Taxonomy.read(tmp_path / name)
        assert taxonomy.ids == ("7", "8", "9", "10")
        assert taxonomy.names == ("animal", "bird", "duck", "stone")
        assert list(taxonomy.edges()) == [("7", "8"), ("8", "9")]


def test_two_columns_of_ids_senses_and_definitions(tmp_path: Path) -> None:
    write(
        tmp_path,
        taxo="run.v.01\tjog.v.01\nrun.v.01\trun.v.02\n",
        terms="run.v.01\trun||run.v.01\njog.v.01\tjog||jog.v.01\nrun.v.02\trun||run.v.02\n",
        desc="run.v.01\tto move fast\nqueryjog\tto run slowly\nrun.v.02\tto operate\n",
    )
    taxonomy = Taxonomy.read(tmp_path / "zoo.taxo")
    assert taxonomy.names == ("run", "jog", "run")
    assert taxonomy.descriptions == ("to move fast", "to run slowly", "to operate")
    assert list(taxonomy.edges()) == [("run.v.01", "jog.v.01"), ("run.v.01", "run.v.02")]


def test_edges_alone_in_either_order(tmp_path: Path) -> None:
    write(tmp_path, taxo="animal\tbird\nbird\tduck\n")
    assert list(Taxonomy.read(tmp_path / "zoo.taxo").edges()) == [("animal", "bird"), ("bird", "duck")]
    reverse = Taxonomy.read(tmp_path / "zoo.taxo", columns=("child", "parent"))
    assert list(reverse.edges()) == [("bird", "animal"), ("duck", "bird")]


def test_terms_that_are_not_listed_are_mentioned(tmp_path: Path) -> None:
    write(tmp_path, taxo="0\tbird\tanimal\n", terms="1\tbird\n", desc="stone\thard\n")
    taxonomy = Taxonomy.read(tmp_path / "zoo.taxo")
    assert taxonomy.names == ("bird", "animal")
    assert [note.text.split(" of ")[0] for note in taxonomy.reading] == ["1 term", "1 definition"]


TERMS = "7\tanimal\n8\tbird\n9\tduck\n10\tstone\n"
TAXO = "7\t8\n8\t9\n7\t10\n"


@pytest.mark.parametrize(
    ("train", "validation", "test"),
    [("7\n8\n", "10\n", "9\n9\n"), ("0\n1\n", "3\n", "2\n\n"), ("animal\nbird\n", "stone\n", "duck\n")],
    ids=["ids", "lines", "terms"],
)
def test_split_files_become_a_published_split(train: str, validation: str, test: str, tmp_path: Path) -> None:
    write(tmp_path, taxo=TAXO, terms=TERMS)
    write(tmp_path, **{"terms.train": train, "terms.validation": validation, "terms.test": test})
    for name in ("zoo.taxo", "zoo.terms"):
        taxonomy = Taxonomy.read(tmp_path / name)
        taxonomy.write(tmp_path / "native")
        parts = split.read_parts(tmp_path / "native")
        assert parts == {"7": "train", "8": "train", "10": "val", "9": "test"}
        published = split.published(taxonomy, parts)
        assert [query.name for query in published.queries] == ["duck"]
        assert published.seed.names == ("animal", "bird")


@pytest.mark.parametrize(
    ("test", "line", "said"),
    [("9\nghost\n", 2, "'ghost' is no id, term or line"), ("9\n\n8\n", 3, "'8' is in the part 'train' too")],
)
def test_split_files_that_do_not_fit_are_refused(test: str, line: int, said: str, tmp_path: Path) -> None:
    write(tmp_path, taxo=TAXO, terms=TERMS, **{"terms.train": "7\n8\n", "terms.test": test})
    with pytest.raises(InputError, match=said) as caught:
        Taxonomy.read(tmp_path / "zoo.taxo")
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "zoo.terms.test"), line)


def test_held_out_terms_with_their_parents_and_a_dictionary(tmp_path: Path) -> None:
    """`raw` names the gold edge of 'duck' and not that of 'Stone'; the dictionary knows more than is needed."""
    for name, text in {
        "zoo_raw_en.taxo": "animal\tbird\nbird\tduck\nthing\tanimal\n",
        "zoo_eval.terms": "duck\nStone\n",
        "zoo_eval.gt": "bird\nthing\n",
        "dic.json": '{"Bird": ["it  flies", "or not"], "duck": "it quacks", "ghost": ["boo"], "thing": []}',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "zoo_raw_en.taxo")
    assert taxonomy.names == ("animal", "bird", "duck", "thing", "Stone")
    assert taxonomy.descriptions == ("", "it flies", "it quacks", "", "")
    assert list(taxonomy.edges())[-1] == ("thing", "Stone")
    assert not taxonomy.reading
    taxonomy.write(tmp_path / "native")
    parts = split.read_parts(tmp_path / "native")
    assert {id for id, part in parts.items() if part == "test"} == {"duck", "Stone"}
    assert set(parts.values()) == {"train", "test"}


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("zoo_eval.gt", "bird\n", 2, "1 lines where zoo_eval.terms has 2"),
        ("dic.json", '{"a":\n }', 2, "not JSON"),
        ("dic.json", "[]", 1, "an object"),
        ("dic.json", "[" * 100_000, None, "nested too deeply"),
    ],
)
def test_what_stands_beside_is_checked(name: str, text: str, line: int | None, said: str, tmp_path: Path) -> None:
    (tmp_path / "zoo_train.taxo").write_text("animal\tbird\n")
    (tmp_path / "zoo_eval.terms").write_text("duck\nstone\n")
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        Taxonomy.read(tmp_path / "zoo_train.taxo")
    assert (caught.value.path, caught.value.line) == (str(tmp_path / name), line)


@pytest.mark.parametrize(("name", "lines"), [("mesh", True), ("semeval_food", False)])
def test_the_distributed_benchmarks_give_the_native_ones(
    name: str, lines: bool, shared_data: Path, tmp_path: Path
) -> None:
    """Written as QEN and TMN distribute them, MeSH with line numbers in its split files, and read back."""
    wanted, parts = Taxonomy.read(shared_data / name), split.read_parts(shared_data / name)
    place = {id: str(row) for row, id in enumerate(wanted.ids)} if lines else {id: id for id in wanted.ids}
    files = {
        "terms": "".join(f"{id}\t{text}||{id}\n" for id, text in zip(wanted.ids, wanted.names)),
        "desc": "".join(
            f"{name}||{id}\t{text}\n" for id, name, text in zip(wanted.ids, wanted.names, wanted.descriptions)
        ),
        "taxo": "".join(f"{parent}\t{child}\n" for parent, child in wanted.edges()),
    }
    for part, file in (("train", "train"), ("val", "validation"), ("test", "test")):
        files[f"terms.{file}"] = "".join(f"{place[id]}\n" for id, own in parts.items() if own == part)
    write(tmp_path, **files)
    found = Taxonomy.read(tmp_path / "zoo.taxo")
    found.write(tmp_path / "native")
    assert (found.ids, found.names) == (wanted.ids, wanted.names)
    assert list(found.edges()) == list(wanted.edges())
    assert found.descriptions == wanted.descriptions
    assert split.read_parts(tmp_path / "native") == parts
