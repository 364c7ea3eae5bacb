"""Tables with pipes in Markdown documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions

ROWS = """# Products

Some text, | with a pipe.

| ID | Name | Parent | Note |
|:---|:-----|--------|-----:|
| 1  | **Food** |    | all |
| 2  | [Fruit](http://x.y) | 1 | sweet \\| sour |

```
| ID | Name | Parent | Note |
|----|------|--------|------|
| 9  | code | 1      |      |
```

| ID | Name | Parent | Note |
|---|---|---|---|
| 3 | Pears | 2 |
"""
LEVELS = "Level 1 | Level 2\n--- | ---\nAnimals |\nAnimals | Birds\n"
PATHS = (
    "| Category path | Items |\n|---|---|\n| Home > Kitchen > Pans | 5 |\n"
    "| Home > Kitchen > Pots | 3 |\n| Home > Bath | 1 |\n"
)
LISTS = "# Animals\n- Birds\n  - Ducks\n- Fish\n\n| parent | child |\n|---|---|\n| Fish | Carps |\n"


def read(folder: Path, text: str, **options: object) -> Taxonomy:
    (folder / "x.md").write_text(text, encoding="utf-8")
    return registry.read(folder / "x.md", ReadOptions(**options))  # type: ignore[arg-type]


def named_edges(taxonomy: Taxonomy) -> set[tuple[str, str]]:
    names = dict(zip(taxonomy.ids, taxonomy.names))
    return {(names[parent], names[child]) for parent, child in taxonomy.edges()}


def test_a_row_per_concept_over_tables_of_equal_titles(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, ROWS)
    assert (taxonomy.ids, taxonomy.names) == (("1", "2", "3"), ("Food", "Fruit", "Pears"))
    assert named_edges(taxonomy) == {("Food", "Fruit"), ("Fruit", "Pears")}
    assert taxonomy.extras[1] == (("Note", "sweet | sour"),)
    assert taxonomy.source is not None
    assert taxonomy.source.lines.tolist() == [7, 8, 18]
    taxonomy.write(tmp_path / "x.csv")
    assert named_edges(Taxonomy.read(tmp_path / "x.csv")) == named_edges(taxonomy)


def test_levels_and_paths(tmp_path: Path) -> None:
    assert named_edges(read(tmp_path, LEVELS)) == {("Animals", "Birds")}
    steps = {("Home", "Kitchen"), ("Kitchen", "Pans"), ("Kitchen", "Pots"), ("Home", "Bath")}
    assert named_edges(read(tmp_path, PATHS)) == steps


def test_longer_lists_win_unless_columns_are_named(tmp_path: Path) -> None:
    assert named_edges(read(tmp_path, LISTS)) == {("Animals", "Birds"), ("Birds", "Ducks"), ("Animals", "Fish")}
    table = read(tmp_path, LISTS, mapping={"parent": "parent", "child": "child"})
    assert named_edges(table) == {("Fish", "Carps")}


def test_a_table_that_is_no_hierarchy_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.md:2: .*--map"):
        read(
            tmp_path,
            "# Prices\n| Shop | Price | Date |\n|---|---|---|\n| a | 2.5 | 2020-01-01 |\n| b | 3.5 | 2020-01-02 |\n",
        )
