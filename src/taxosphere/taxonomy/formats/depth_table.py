"""Tables with a row per concept and a column that says how deep it stands, as statistical offices publish them.

A row is below the nearest row above it that is less deep. The columns of codes and names are found by their titles; all
others are kept. Read only.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import cells, depth_column
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.table_layouts import open_table


def read(path: Path, options: ReadOptions) -> Draft:
    """Read the concepts of a table with depths.

    Parameters
    ----------
    path : Path
        The table.
    options : ReadOptions
        What the user said about its columns.
    """
    grid, reading = open_table(path, options)
    draft = Draft(path=path, format="depth table", notes=[*grid.notes])
    depth, roles = reading.roles["depth"], reading.roles
    name = roles.get("name", roles.get("description", roles.get("id", -1)))
    taken = {depth, name, *([roles["id"]] if "id" in roles else [])}
    details = cells.detail_names(reading.titles, taken)
    width = len(reading.titles)
    lines = grid.lines[reading.header + 1 :]
    rows = [[*row, *[""] * (width - len(row))] for row in grid.rows[reading.header + 1 :]]
    steps = depth_column.depths([row[depth] for row in rows])
    if steps is None:  # the beginning of the table looked otherwise
        message = f"not every cell of {reading.title(depth)} is a whole number, or one is more than a step deeper"
        wrong = next((line for row, line in zip(rows, lines, strict=True) if not row[depth].strip().isdigit()), None)
        raise InputError(f"{message} than the row above it; --map parent=TITLE names a column of parents", path, wrong)
    ids = [row[roles["id"]].strip() for row in rows] if "id" in roles else []
    unique = bool(ids) and all(ids) and len(set(ids)) == len(ids)
    above: list[tuple[int, str]] = []  # depth and id of the rows that the next one may stand below
    for place, (row, line, step) in enumerate(zip(rows, lines, steps, strict=True)):
        while above and above[-1][0] >= step:
            above.pop()
        called = row[name].strip() if name < len(row) else ""
        id = ids[place] if unique else f"{above[-1][1]} > {called}" if above else called
        description, synonyms, images, extras = cells.read_details(details, row)
        draft.concept(id, called or id, description, synonyms, images, extras, line)
        if above:
            draft.edge(above[-1][1], id, line)
        above.append((step, id))
    shown = f", ids in {reading.title(roles['id'])}" if unique else ""
    draft.notes.append(
        f"a row per concept: depths in column {reading.title(depth)}, names in {reading.title(name)}{shown}"
    )
    draft.notes += cells.kept_note(details)
    return draft
