"""Classifications in ClaML, as the WHO and national bodies publish ICD-10, ICD-O and ICF (read only).

Each `<Class>` is a concept: its code is the id, its preferred rubric the name, its definition the description. Other
rubrics (inclusions, exclusions, notes) are kept as extras under their kind. Modifiers describe further digits that
may follow a code; they are no classes and stay out.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix
from taxosphere.taxonomy.formats.io.xml_tree import Element, parse, root_tag

PREFERRED = ("preferred", "preferredLong", "preferredlong", "title")
DEFINITION = ("definition", "text")
SYNONYM = ("synonym", "preferredLong", "preferredlong", "shortTitle")
USUAL_LANGUAGE = "en"


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a file has our suffix or, as `.xml`, the root `<ClaML>`."""
    return bare_suffix(path) == ".claml" or root_tag(head).lower() == "claml"


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the classes of a ClaML file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `language` chooses among labels in several languages; English, else the first, where it is not stated.
    """
    draft = Draft(path=path, format="claml")
    top = parse(path, "ClaML", options.encoding)
    edges: dict[tuple[str, str], int] = {}
    left = Counter(element.tag for element in top.elements("Modifier", "ModifierClass"))
    for element in top.elements("Class"):
        code = element.attributes.get("code", "")
        if not code:
            raise InputError("a <Class> without a code", path, element.line)
        _read_class(draft, element, code, options.language)
        for above in element.elements("SuperClass"):
            edges.setdefault((above.attributes.get("code", ""), code), element.line)
    codes = set(draft.ids)
    for element in top.elements("Class"):  # what only the upper class says
        for below in element.elements("SubClass"):
            pair = (element.attributes["code"], below.attributes.get("code", ""))
            if pair[1] in codes:
                edges.setdefault(pair, below.line)
    for (parent, child), line in edges.items():
        draft.edge(parent, child, line)
    if left:
        draft.left_out(f"{counted(left.total(), 'modifier')} that refine codes by further digits left out")
    return draft


def _read_class(draft: Draft, element: Element, code: str, language: str | None) -> None:
    rubrics: dict[str, list[str]] = {}
    for rubric in element.elements("Rubric"):
        text = _label(rubric, language)
        if text:
            rubrics.setdefault(rubric.attributes.get("kind", ""), []).append(text)
    name_kind = next((kind for kind in PREFERRED if kind in rubrics), "")
    name = rubrics[name_kind].pop(0) if name_kind else code
    definition_kind = next((kind for kind in DEFINITION if rubrics.get(kind)), "")
    description = " ".join(rubrics.pop(definition_kind)) if definition_kind else ""
    synonyms = [text for kind in SYNONYM if kind != name_kind for text in rubrics.pop(kind, [])]
    extras = [(kind or "rubric", text) for kind, texts in rubrics.items() for text in texts]
    if element.attributes.get("kind"):
        extras.insert(0, ("kind", element.attributes["kind"]))
    extras += [(key, value) for key, value in element.attributes.items() if key not in ("code", "kind")]
    for meta in element.elements("Meta"):
        extras.append((meta.attributes.get("name") or "meta", meta.attributes.get("value", "")))
    draft.concept(code, name, description, dict.fromkeys(synonyms), extras=extras, line=element.line)


def _label(rubric: Element, language: str | None) -> str:
    labels = {label.attributes.get("lang", ""): label for label in reversed(list(rubric.elements("Label")))}
    if not labels:
        return ""
    chosen = next((labels[each] for each in (language, USUAL_LANGUAGE) if each in labels), None)
    return _spaced(chosen or labels[next(reversed(labels))])


def _spaced(label: Element) -> str:
    """The text of a label, with a blank between its parts and references in round brackets."""
    parts = []
    for item in label.content:
        if isinstance(item, str):
            parts.append(item)
        elif item.tag == "Reference":
            parts.append(f" ({item.text()})")
        else:
            parts.append(f" {_spaced(item)} ")
    return " ".join("".join(parts).split()).replace("( ", "(").replace(" )", ")")
