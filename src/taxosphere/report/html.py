"""A self-contained HTML page: one file, no network, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_STYLE = """
:root { --ink: #1c2330; --soft: #5b6577; --line: #dfe3ea; --paper: #ffffff; --card: #f5f7fa;
        --accent: #2f6fde; --good: #1c8a5a; --bad: #c2453b; --warm: #d98a1f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #2d3442; --paper: #12161d; --card: #1a2029;
          --accent: #6ea2ff; --good: #4cc38a; --bad: #ef7b70; --warm: #f0b04f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 66rem; background: var(--paper); color: var(--ink);
       font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; } h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
p { max-width: 46rem; } .soft, figcaption, caption { color: var(--soft); font-size: .9rem; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.4rem 0; }
.card { background: var(--card); border-radius: .7rem; padding: .8rem 1.1rem; min-width: 9rem; }
.card b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 1.2rem 0; width: max-content; min-width: 100%;
          max-width: min(calc(100vw - 3.5rem), calc(50vw + 30rem)); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.accent { color: var(--accent); }
.good { color: var(--good); } .bad { color: var(--bad); } .warm { color: var(--warm); }
figure { margin: 1.2rem 0; } figure svg { max-width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--ink); } svg .soft { fill: var(--soft); font-size: 12px; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; } summary { cursor: pointer; }
details .scroll { width: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: .5rem 2.5rem; }
.charts figure { margin: .6rem 0; }
.row { display: flex; flex-wrap: wrap; gap: 2rem; align-items: flex-start; }
"""


class Markup(str):
    """Text that is HTML already; any other string is escaped where it enters a page."""

    __slots__ = ()


def html(value: object) -> str:
    """The value as HTML: escaped unless it is `Markup`."""
    return value if isinstance(value, Markup) else escape(str(value))


def tag(name: str, *content: object, **attributes: str) -> Markup:
    """An element, as in ``tag("td", "a < b", class_="number")``; content is escaped unless it is `Markup`."""
    written = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{''.join(map(html, content))}</{name}>")


def table(
    header: Sequence[object], rows: Iterable[Sequence[object]], *, numbers: Iterable[int] = (), caption: str = ""
) -> Markup:
    """A table that scrolls sideways where it is wide; ``numbers`` are the columns to align right."""
    right = set(numbers)

    def row(cells: Sequence[object], kind: str) -> Markup:
        return tag("tr", *(tag(kind, c, class_="number") if i in right else tag(kind, c) for i, c in enumerate(cells)))

    head = tag("thead", row(header, "th"))
    body = tag("tbody", *(row(cells, "td") for cells in rows))
    top = [tag("caption", caption)] if caption else []
    return tag("div", tag("table", *top, head, body), class_="scroll")


def cards(values: Iterable[tuple[str, str]]) -> Markup:
    """Large numbers with what they mean below: (number, meaning) pairs."""
    return tag(
        "div", *(tag("div", tag("b", number), meaning, class_="card") for number, meaning in values), class_="cards"
    )


def figure(content: Markup, caption: str) -> Markup:
    """A figure with its caption."""
    return tag("figure", content, tag("figcaption", caption))


def provenance(made: Mapping[str, Any]) -> Markup:
    """Commands, and then the other facts, a line each."""
    facts = (f"{name}: {value}" for name, value in made.items() if name != "commands")
    return tag("pre", "\n".join([*made.get("commands", ()), *facts]))


def page(title: str, *body: object) -> str:
    """The whole document."""
    head = Markup(
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{"".join(map(html, body))}</body></html>\n'
