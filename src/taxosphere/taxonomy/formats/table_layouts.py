"""How a table is to be understood: which row holds the titles, and which columns make the hierarchy in which way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import (
    cell_kinds,
    depth_column,
    header_row,
    level_columns,
    paths,
    self_reference,
    titles,
)
from taxosphere.taxonomy.formats.io.codes import nesting_share
from taxosphere.taxonomy.formats.io.grid import Grid, is_markdown, is_workbook, read_grid, sheet_grids
from taxosphere.taxonomy.formats.io.level_columns import Levels
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.table_reading import Reading, column, width_of
from taxosphere.taxonomy.formats.io.table_roles import stated_roles, title_roles
from taxosphere.taxonomy.formats.outline import is_outline

EDGES, CONCEPTS, CLASSES = "edges", "concept table", "class table"
LEVELS, PATHS, CODES, OUTLINE, DEPTHS = "level table", "path list", "nested codes", "outline", "depth table"
CLASS_TITLES = {"Class ID", "Preferred Label", "Parents"}
NESTED = 0.9  # share of codes with a code above them that makes a table of nested codes believed
MOSTLY = 0.8  # share of rows with a code of their own in such a table
FEW_ROWS = 3


def open_table(path: Path, options: ReadOptions, most: int | None = None) -> tuple[Grid, Reading]:
    """Read a table and understand it.

    Parameters
    ----------
    path : Path
        A text table or a workbook.
    options : ReadOptions
        What the user said about it.
    most : int, optional
        Read no more lines of a text file than this.

    Raises
    ------
    InputError
        Where the table cannot be read, can be understood in no way, or in several ways that are equally good.
    """
    if not is_workbook(path):
        grid = read_grid(path, options, most)
        return grid, understand(grid, options)
    readings: list[tuple[Grid, Reading]] = []
    fault: InputError | None = None
    names = []
    for grid in sheet_grids(path, options):
        names.append(grid.sheet)
        try:
            readings.append((grid, understand(grid, options)))
        except InputError as error:
            fault = fault or error
    if not readings:
        raise fault or InputError("no sheet of the workbook holds a cell", path=path)
    # Any table could be an edge list, so that one comes last.
    sure = [item for item in readings if item[1].layout != EDGES or "parent" in item[1].roles or width_of(item[0]) == 2]
    grid, reading = max(sure or readings, key=lambda item: len(item[0].rows))
    if len(names) > 1:
        others = ", ".join(f"'{name}'" for name in names if name != grid.sheet)
        grid.notes.append(f"sheet '{grid.sheet}' read, not {others}; --sheet names another")
    return grid, reading


def recognise(path: Path, options: ReadOptions) -> str:
    """Name of the layout of a table, of a text table by its beginning."""
    return open_table(path, options, most=None if is_workbook(path) else _MOST_LINES)[1].layout


_MOST_LINES = 5000


def understand(grid: Grid, options: ReadOptions) -> Reading:
    """How the table is to be read, judged by its beginning."""
    grid = grid.head()
    if not grid.rows:
        raise InputError("holds nothing but comments", path=grid.path)
    _check_quotes(grid)
    one_column = grid.source is not None and not grid.delimiter and not options.mapping
    if one_column and (is_markdown(grid.path) or is_outline([row[0] for row in grid.rows])):
        return Reading(OUTLINE)
    header = header_row.find(grid, options)
    names = [cell.strip() for cell in grid.rows[header]] if header >= 0 else []
    reading = Reading("", header, names)
    columns = {role: title for role, title in options.mapping.items() if role != "separator"}
    reading.roles = stated_roles(columns, reading.titles, width_of(grid), grid.path) if columns else {}
    for attempt in (_by_mapping, _by_codes_stated, _by_titles, _by_content):
        if attempt(grid, reading, options):
            return reading
    raise _not_understood(grid, reading)


def _check_quotes(grid: Grid) -> None:
    """Refuse cells in single quotation marks, which would be part of every name and code."""
    cells = [cell.strip() for row in grid.rows[1:] for cell in row if cell.strip()]
    if sum(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells) > 0.5 * len(cells) > FEW_ROWS:
        message = "most cells stand in single quotation marks; save the table with double ones or without"
        raise InputError(message, path=grid.path, line=grid.lines[0])


def _by_mapping(grid: Grid, reading: Reading, options: ReadOptions) -> bool:
    """What the columns that `--map` names say."""
    stated = reading.roles
    if not stated:
        return False
    level = sorted((role for role in stated if role.startswith("level")), key=lambda role: int(role.split()[-1]))
    if level:
        reading.levels = Levels([stated[role] for role in level], [])
        reading.layout = LEVELS
    elif "path" in stated:
        reading.layout = PATHS
        cells = column(grid, reading, stated["path"])
        reading.style = paths.recognise_style(cells, options.mapping.get("separator"), with_ids=False)
        if reading.style is None:
            raise InputError("no separator parts the paths; state one with --map separator=…", path=grid.path)
    elif "depth" in stated:
        if depth_column.depths(column(grid, reading, stated["depth"])) is None:
            message = (
                f"the cells of {reading.title(stated['depth'])} are no depths: whole numbers, each at most one more"
            )
            raise InputError(f"{message} than that of the row above", grid.path, grid.lines[reading.header + 1])
        reading.layout = DEPTHS
    elif options.nested:
        return False
    elif "child" in stated:
        reading.roles = _assigned(grid, reading, options) | stated
        reading.layout = EDGES
    elif "parent" in stated:
        reading.layout = CONCEPTS
    else:
        reading.roles = _assigned(grid, reading, options) | stated
        return False
    reading.roles = _assigned(grid, reading, options) | stated
    return True


def _by_codes_stated(grid: Grid, reading: Reading, options: ReadOptions) -> bool:
    """Codes that nest, where the user says so."""
    if not options.nested:
        return False
    if reading.header < 0 and not any(map(str.isdecimal, "".join(grid.rows[0]))):
        reading.header, reading.titles = 0, [cell.strip() for cell in grid.rows[0]]
    reading.roles = _assigned(grid, reading, options) | reading.roles
    reading.layout = CODES
    if "id" not in reading.roles:
        codes = [i for i in range(width_of(grid)) if cell_kinds.is_code_column(column(grid, reading, i))]
        if not codes:
            raise InputError("--nested needs the column of codes; name it with --map id=TITLE", path=grid.path)
        reading.roles["id"] = max(codes, key=lambda i: nesting_share(column(grid, reading, i)))
    if "name" not in reading.roles:
        texts = [i for i in range(width_of(grid)) if i != reading.roles["id"]]
        longest = max(texts, key=lambda i: sum(map(len, column(grid, reading, i))), default=None)
        if longest is not None:
            reading.roles["name"] = longest
    return True


def _by_titles(grid: Grid, reading: Reading, options: ReadOptions) -> bool:
    """The first layout that the titles name."""
    if reading.header < 0:
        return False
    if set(reading.titles) >= CLASS_TITLES:
        reading.layout = CLASSES
        return True
    roles = reading.roles = _assigned(grid, reading, options) | reading.roles
    if {"parent", "child", "id"} <= roles.keys() and _is_no_child(grid, reading):
        del roles["child"]
    if "parent" in roles and "child" in roles:
        reading.layout = EDGES
        return True
    levels = level_columns.find(reading.titles)
    if "parent" in roles and "id" not in roles:
        ids = self_reference.ids_of([column(grid, reading, i) for i in range(width_of(grid))], roles["parent"])
        roles |= {"id": ids} if ids is not None and ids != roles.get("name") else {}
    if "parent" in roles and ({"name", "id", "description"} & roles.keys()):
        reading.layout = CONCEPTS
        if levels.names and "name" not in roles and "id" in roles:
            reading.levels = levels
        elif levels.names:
            reading.notes.append(f"{level_columns.shown(reading.titles, levels)} kept, but not read as levels")
        return True
    rows = {cell for role in ("id", "name") if role in roles for cell in column(grid, reading, roles[role])}
    if {"child", "id"} <= roles.keys() and self_reference.are_references(column(grid, reading, roles["child"]), rows):
        reading.layout = CONCEPTS
        return True
    if _is_levels(grid, reading, levels):
        reading.layout, reading.levels = LEVELS, levels
        return True
    depth = depth_column.column(reading.titles)
    named = {"name", "id", "description"} & roles.keys()
    if depth is not None and named and depth_column.depths(column(grid, reading, depth)) is not None:
        reading.layout, reading.roles = DEPTHS, {**roles, "depth": depth}
        return True
    if "path" in roles:
        reading.style = paths.recognise_style(column(grid, reading, roles["path"]), with_ids="id" not in roles)
        if reading.style is not None:
            reading.layout = PATHS
            return True
    return False


def _is_no_child(grid: Grid, reading: Reading) -> bool:
    """Whether the rows are no edges: most have no child, or the parents are ids of other rows."""
    child, parent, ids = (column(grid, reading, reading.roles[role]) for role in ("child", "parent", "id"))
    return 2 * sum(map(bool, child)) < len(child) or self_reference.are_references(parent, set(ids))


def _is_levels(grid: Grid, reading: Reading, levels: Levels) -> bool:
    """Whether at least two of the columns that their titles make levels hold a cell, and these are no numbers."""
    filled = [cells for i in levels.names if any(cells := column(grid, reading, i))]
    return len(filled) > 1 and not cell_kinds.are_numbers(filled)


def _by_content(grid: Grid, reading: Reading, options: ReadOptions) -> bool:
    """Paths in a column, levels without titles, codes that nest, or an edge list."""
    if "parent" not in reading.roles and "child" not in reading.roles and options.columns is None:
        tries: tuple[Callable[[Grid, Reading], bool], ...] = (
            _refers_to_itself,
            _is_path_column,
            _is_level_block,
            _is_code_table,
        )
        if any(attempt(grid, reading) for attempt in tries):
            return True
    reading.layout = EDGES
    return _is_edge_list(grid, reading, options)


def _refers_to_itself(grid: Grid, reading: Reading) -> bool:
    """A column of parents under an unusual title, below a row of titles."""
    header = max(reading.header, 0)
    columns = [column(grid, Reading("", header), i) for i in range(width_of(grid))]
    pair = self_reference.find(columns) if len(columns) > 2 and len(grid.rows) > FEW_ROWS else None
    if pair is None:
        return False
    reading.layout, reading.header, reading.titles = CONCEPTS, header, [cell.strip() for cell in grid.rows[header]]
    usual = title_roles(reading.titles)
    roles = {role: i for role, i in usual.items() if role in ("name", "description") and i not in pair}
    texts = [i for i, cells in enumerate(columns) if i not in pair and not cell_kinds.are_numbers([cells])]
    roles = roles or ({"name": max(texts, key=lambda i: len(set(columns[i])))} if texts else {})
    reading.roles = {**roles, "id": pair[0], "parent": pair[1]}
    stand = f"the cells of {reading.title(pair[1])} stand in {reading.title(pair[0])}, so they are read as parents"
    reading.notes.append(f"{stand}; --map id=TITLE,parent=TITLE says otherwise")
    return True


def _is_path_column(grid: Grid, reading: Reading) -> bool:
    """The column whose cells are paths, and the one that holds ids beside it."""
    width = width_of(grid)
    styles = {i: paths.recognise_style(column(grid, reading, i), with_ids=width == 1) for i in range(width)}
    measured = any(cell_kinds.are_measures(column(grid, reading, i)) for i in range(width))  # a list of bookings
    candidates = {
        i: style
        for i, style in styles.items()
        if style is not None
        and (width == 1 or paths.is_believable(column(grid, reading, i), style))
        and (style.separator in paths.CLEAR or not measured)
    }
    if not candidates:
        return False
    best = max(candidates, key=lambda i: candidates[i].score)
    reading.layout, reading.style = PATHS, candidates[best]
    reading.roles["path"] = best
    first, *others = map(candidates[best].split_path, column(grid, reading, best))
    if reading.header < 0 and width > 1 and len(first) == 1 and all(path[:1] != first for path in others):
        reading.header, reading.titles = 0, [cell.strip() for cell in grid.rows[0]]  # nothing is below it: a title
    if "id" not in reading.roles:
        ids = [i for i in range(width) if i != best and cell_kinds.is_code_column(column(grid, reading, i))]
        reading.roles |= {"id": ids[0]} if ids else {}
    reading.roles.pop("name", None)
    return True


def _is_level_block(grid: Grid, reading: Reading) -> bool:
    """Columns at the right end of the table in which every row is a path, filled from the left."""
    block = level_columns.by_content(grid.rows[reading.header + 1 :], width_of(grid))
    untitled = reading.header < 0 and len(grid.rows) > 1
    if untitled and (block is None or level_columns.begins_with_titles(grid.rows, block)):
        below = level_columns.by_content(grid.rows[1:], width_of(grid))
        if below is not None and level_columns.begins_with_titles(grid.rows, below):
            block = below
            reading.header, reading.titles = 0, [cell.strip() for cell in grid.rows[0]]
    if block is None or cell_kinds.are_numbers([column(grid, reading, i) for i in block.names]):
        return False
    reading.layout, reading.levels = LEVELS, block
    if "id" not in reading.roles:
        others = [i for i in range(width_of(grid)) if i not in block.names]
        ids = [i for i in others if i > block.names[-1] or cell_kinds.is_code_column(column(grid, reading, i))]
        reading.roles |= {"id": ids[0]} if ids else {}
    reading.roles = {role: i for role, i in reading.roles.items() if i not in block.names}
    return True


def _is_code_table(grid: Grid, reading: Reading) -> bool:
    """A titled column of codes that nest nearly all, and names."""
    roles = reading.roles
    if "id" not in roles or not {"name", "description"} & roles.keys():
        return False
    cells = column(grid, reading, roles["id"])
    codes = list(dict.fromkeys(cells))  # some lists have several rows on a code
    if (
        len(codes) < max(10, MOSTLY * len(cells))
        or "://" in codes[0]
        or nesting_share(codes) < NESTED
        or cell_kinds.are_row_numbers(codes)
    ):
        return False
    reading.layout = CODES
    reading.notes.append("--map parent=TITLE names a column of parents, if there is one")
    return True


def _is_edge_list(grid: Grid, reading: Reading, options: ReadOptions) -> bool:
    """Two columns that share values or repeat them; where nothing does, they are no edges."""
    if options.columns is not None:
        return True
    _check_packed(grid, reading)
    titled = reading.header >= 0 and ("parent" in reading.roles) != ("child" in reading.roles)
    if titled or width_of(grid) != 2 or len(grid.rows) < FEW_ROWS:
        return True  # the reader of edge lists says which title is missing
    left, right = ([row[i].strip() if i < len(row) else "" for row in grid.rows] for i in (0, 1))
    described = reading.header >= 0 and "id" in reading.roles and len(reading.roles) == 2  # an id and its text
    if described or cell_kinds.are_measures(left[1:]) or cell_kinds.are_measures(right[1:]):
        raise _not_understood(grid, reading)
    if len(set(left)) < len(left) or set(left) & set(right):
        return True
    if 2 * len(set(right)) < len(right):
        message = "every value of the first column stands there once and none in the second, so they are no parents"
        ways = "--columns child,parent makes those of the second column parents, --columns parent,child the first"
        raise InputError(f"{message}; {ways}", path=grid.path, line=grid.lines[0])
    raise _not_understood(grid, reading)


def _check_packed(grid: Grid, reading: Reading) -> None:
    """Refuse cells that hold several fields each, where no other column says what is above a row."""
    for i, title in enumerate(reading.titles):
        if (cell := cell_kinds.packed(column(grid, reading, i))) and "parent" not in reading.roles:
            message = (
                f"the cells of '{title}' hold several fields each ('{cell[:40]}'); if they name parents, put these"
            )
            raise InputError(f"{message} alone into a column and state it with --map parent=TITLE", grid.path)


def _not_understood(grid: Grid, reading: Reading) -> InputError:
    line = grid.lines[0]
    shown = ", ".join(f"'{name}'" for name in reading.titles[:12] if name)
    if reading.titles and shown:
        seen = f"the columns {shown} name no parents, levels or paths"
    else:
        seen = "no value of the first column is repeated or stands in the second, so the two are no edges"
    ways = "--map id=TITLE --nested reads codes that nest, --map parent=TITLE names the parents, --map path=TITLE paths"
    if not reading.titles:
        ways = "--nested reads codes that nest (--map id=1,name=2), --columns parent,child says that they are edges"
    return InputError(f"{seen}; {ways}", path=grid.path, line=line)


def _assigned(grid: Grid, reading: Reading, options: ReadOptions) -> dict[str, int]:
    """The column of each role, by titles; asks for `--map` where two would do equally well."""
    stated = set(reading.roles)
    roles = title_roles(reading.titles, options.language)
    meant = [(i, item) for i, name in enumerate(reading.titles) if (item := titles.meaning(name)) is not None]
    rivals = [i for i, item in meant if item.role == "parent" and not item.by_id]
    rivals = [i for i in rivals if "name" not in titles.words(reading.titles[i]).split()]
    if "parent" not in stated and len(rivals) > 1 and roles["parent"] in rivals:
        first, other = (column(grid, reading, i) for i in rivals[:2])
        line = grid.lines[reading.header]
        if titles.words(reading.titles[rivals[0]]) == titles.words(reading.titles[rivals[1]]):
            raise InputError(f"the header names the column '{reading.titles[rivals[0]]}' twice", grid.path, line)
        if any(first) and any(other) and first != other:
            names = " and ".join(f"'{reading.titles[i]}'" for i in rivals[:2])
            raise InputError(f"{names} could both be the parents; say which with --map parent=TITLE", grid.path, line)
    if "name" not in stated and "name" in roles and not all(column(grid, reading, roles["name"])):
        others = [i for i, item in meant if item.role == "name" and not item.language]
        full = [i for i in others if all(column(grid, reading, i))]  # not a rank that is called `class`
        roles["name"] = [*full, roles["name"]][0]
    return roles
