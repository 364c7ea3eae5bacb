"""Titles of columns in several languages, and what each of them means.

A title is compared as words: `parentID`, `Parent_ID` and `PARENT ID` are all "parent id".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CAMEL = re.compile(r"(?<=[a-zà-öø-ÿ0-9])(?=[A-ZÀ-Ö])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[\W_]+")
_LETTER_NUMBER = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")

ID_WORDS = frozenset("id ids code codes key uri iri uid uuid guid notation identifier number nr no".split())
LANGUAGES = {
    **{code: code for code in "en de fr es it pt nl pl cs sv da fi no nb ru zh ja ko ar tr uk el hu ro".split()},
    **{"english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es"},
    **{"español": "es", "italian": "it", "italiano": "it", "portuguese": "pt", "dutch": "nl", "chinese": "zh"},
}
# How words begin that mean "standing above" in several languages: `Übergeordnete Gruppe`.
_ABOVE = tuple("übergeordnet uebergeordnet superordinat överordna overordne bovenliggend nadrzędn nadřazen".split())
_NO_PARENT = frozenset("path level levels count type depth order language number is has count".split())

ID = (
    "id", "identifier", "unique id", "concept id", "category id", "node id", "term id", "class id", "taxon id",
    "taxonomy id", "group id", "type id", "product type id", "element id", "tax id",
    "item id", "topic id", "entity id", "record id", "external id", "cat id", "uid", "uuid", "guid", "code",
    "category code", "concept code", "item code", "key", "notation", "uri", "iri", "concept uri", "kennung",
    "schlüssel", "kürzel", "nummer", "nr", "identifiant", "code catégorie", "clé", "código", "codigo", "clave",
    "identificador", "codice", "identificativo", "sleutel", "kod", "identyfikator", "kód", "kode", "код",
    "идентификатор", "编码", "代码", "编号", "コード", "코드",
)  # fmt: skip
NAME = (
    "name", "label", "title", "pref label", "preferred label", "preferred term", "preferred name", "concept name",
    "category name", "node name", "term name", "class name", "topic name", "display name", "full label",
    "scientific name", "canonical name", "term", "concept", "heading", "caption", "category", "category title", "node",
    "topic", "subject", "item", "item name", "entity", "class", "bezeichnung", "benennung", "begriff", "titel",
    "kategorie", "kategoriename", "vorzugsbenennung", "nom", "libellé", "libelle", "intitulé", "terme", "catégorie",
    "nombre", "denominación", "denominacion", "título", "término", "etiqueta", "categoría", "categoria", "nome",
    "denominazione", "titolo", "termine", "termo", "denominação", "naam", "benaming", "categorie", "nazwa", "název",
    "namn", "benämning", "navn", "nimi", "название", "наименование", "категория", "名称", "名前", "类别", "分类",
    "名稱", "이름", "ad", "adı", "product", "article", "produkt", "artikel", "produit", "producto", "artículo",
    "prodotto", "articolo", "produto",
)  # fmt: skip
PARENT = (
    "parent", "parents", "broader", "broader term", "broader terms", "broader concept", "bt", "superclass",
    "super class", "superclasses", "sub class of", "subclass of", "is a", "isa", "hypernym", "child of", "higher taxon",
    "oberbegriff", "oberbegriffe", "oberkategorie", "oberklasse", "obergruppe", "eltern", "elternteil",
    "elternkategorie", "elternelement", "elternknoten", "übergeordnet", "übergeordneter begriff",
    "übergeordnete kategorie", "terme générique", "catégorie parente", "catégorie parent", "parente",
    "concept générique", "catégorie supérieure", "supérieur", "padre", "categoría padre", "categoria padre",
    "término genérico", "superior", "sub type of", "subtype of",
    "categoría superior", "pai", "categoria pai", "termo genérico", "genitore", "categoria genitore",
    "termine generico", "bovenliggend", "bovenliggende categorie", "bovenliggende", "ouder", "bredere term",
    "nadrzędny", "kategoria nadrzędna", "nadřazený", "nadřazená kategorie", "överordnad", "överordnat begrepp",
    "overordnet", "yläkäsite", "родитель", "родительская категория", "父级", "父类", "父节点", "上级", "上位概念",
    "上位語", "親", "親カテゴリ", "상위", "상위어", "üst kategori",
)  # fmt: skip
CHILD = (
    "child", "children", "child name", "hyponym", "narrower", "narrower term", "nt", "subclass", "sub class",
    "unterbegriff", "enfant", "hijo", "figlio", "filho",
)  # fmt: skip
DESCRIPTION = (
    "description", "definition", "desc", "definitions", "long description", "short description", "scope note", "gloss",
    "beschreibung", "erläuterung", "definición", "descripción", "descripcion", "définition", "descrizione",
    "definizione", "descrição", "definição", "omschrijving", "definitie", "opis", "popis", "beskrivning", "beskrivelse",
    "описание", "определение", "描述", "定义", "説明", "定義", "설명",
)  # fmt: skip
SYNONYMS = (
    "synonyms", "synonym", "alt label", "alt labels", "alternative label", "alternative labels", "alternate names",
    "alternative names", "alternative terms", "aliases", "alias", "also known as", "aka", "used for", "uf",
    "entry terms", "non preferred terms", "synonyme", "synonymes", "sinónimos", "sinonimos", "sinonimi", "sinônimos",
    "synoniemen", "synonymy", "synonyma", "synonymer", "синонимы", "同义词", "同義語",
)  # fmt: skip
PATH = (
    "path", "full path", "category path", "full category path", "taxonomy path", "breadcrumb", "breadcrumbs",
    "hierarchy", "full name", "full hierarchy", "category hierarchy", "full category", "tree", "pfad",
    "taxon", "lineage", "kategoriepfad", "chemin", "fil d ariane", "ruta", "percorso", "caminho", "pad", "путь", "路径",
)  # fmt: skip
LEVEL_WORDS = frozenset(
    "level lvl l lev tier ebene stufe niveau nivel livello nível poziom úroveň nivå niva taso seviye layer hierarchy "
    "hierarchie hierarchieebene category cat categories kategorie catégorie categoría categoria subcategory sub "
    "depth rank taxonomy group gruppe class h t c degree grade topic term concept variable уровень 层级 级 階層 "
    "department product type family segment".split()
)
PLAIN_LEVELS = frozenset("level lvl tier ebene niveau nivel livello nível poziom úroveň nivå taso уровень".split())
# Columns that nest without numbers, outermost first; at least two of a line, in this order.
LEVEL_LINES = (
    ("domain", "superkingdom", "kingdom", "subkingdom", "phylum", "division", "class", "subclass", "order", "suborder",
     "superfamily", "family", "subfamily", "tribe", "genus", "subgenus", "species", "subspecies"),
    ("segment", "family", "class", "commodity"),
    ("segment", "family", "class", "brick", "attribute"),
    ("section", "division", "group", "class", "subclass"),
    ("sector", "subsector", "industry group", "industry", "national industry"),
    ("sector", "industry group", "industry", "sub industry"),
    ("major group", "sub major group", "minor group", "unit group"),
    ("major group", "minor group", "broad group", "broad occupation", "detailed occupation"),
    ("department", "category", "subcategory", "product type", "product"),
    ("main category", "category", "subcategory", "sub subcategory"),
    ("category", "topic", "term", "variable level 1", "variable level 2", "variable level 3", "detailed variable"),
    ("category", "class", "type", "subtype", "short name"),
    ("category", "subcategory", "sub subcategory", "sub sub subcategory"),
    ("category", "sub category", "sub sub category", "sub sub sub category"),
    ("category", "subcategory", "item"),
    ("domain", "area", "topic", "subtopic"),
    ("area", "topic", "subtopic"),
    ("field", "subfield", "topic"),
    ("domain", "field", "subfield", "topic"),
    ("topic", "subtopic", "sub subtopic"),
    ("theme", "topic", "subtopic"),
    ("group", "subgroup", "sub subgroup"),
    ("class", "subclass", "sub subclass"),
    ("chapter", "heading", "subheading"),
    ("section", "chapter", "heading", "subheading"),
    ("section", "subsection", "paragraph"),
    ("type", "subtype"),
    ("kategorie", "unterkategorie", "artikel"),
    ("kategorie", "unterkategorie", "produkt"),
    ("hauptkategorie", "kategorie", "unterkategorie", "unterunterkategorie"),
    ("oberkategorie", "kategorie", "unterkategorie"),
    ("hauptgruppe", "gruppe", "untergruppe"),
    ("abschnitt", "abteilung", "gruppe", "klasse", "unterklasse"),
    ("bereich", "unterbereich"),
    ("catégorie", "sous catégorie", "sous sous catégorie"),
    ("rayon", "famille", "sous famille"),
    ("categoría", "subcategoría"),
    ("categoria", "subcategoria", "sottocategoria"),
    ("categoria", "sottocategoria"),
    ("категория", "подкатегория"),
)  # fmt: skip

EXTRA = "extra:"  # marks a column whose title would be mistaken for something else
ROLES = {
    "id": ID,
    "name": NAME,
    "parent": PARENT,
    "child": CHILD,
    "description": DESCRIPTION,
    "synonyms": SYNONYMS,
    "image": ("image", "images", "picture", "bild", "imagen", "immagine"),
    "path": PATH,
}
_EXACT = {title: (role, rank) for role, titles in ROLES.items() for rank, title in enumerate(titles)}
_COUNTING = frozenset(("nummer", "nr", "编号"))
UNUSUAL = 1000  # rank of a title that only a pattern makes one of its role


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a title says: the role of its column, how usual it is for it (less is more), by id or not, language."""

    role: str
    rank: int
    by_id: bool = False
    language: str = ""


def words(title: str) -> str:
    """A title in the form that is compared: words in lower case with one blank between them."""
    bare = title.strip().removesuffix("[]").lstrip("#*").strip()
    return _BETWEEN.sub(" ", _CAMEL.sub(" ", bare)).casefold().strip()


def meaning(title: str) -> Meaning | None:
    """The role that a column of this title plays, None where the title says nothing."""
    text = words(title)
    if not text or title.startswith(EXTRA):
        return None
    if result := _plain_meaning(text):
        return result
    if text in LANGUAGES and text != "no":  # the names in a language: CODE, DE, EN, FR
        return Meaning("name", UNUSUAL + 1, language=LANGUAGES[text])
    head, _, last = text.rpartition(" ")
    if head and last in LANGUAGES and (result := _plain_meaning(head)):
        return Meaning(result.role, result.rank, result.by_id, LANGUAGES[last])
    first, _, rest = text.partition(" ")
    if rest and first in LANGUAGES and len(first) > 2 and (result := _plain_meaning(rest)):
        return Meaning(result.role, result.rank, result.by_id, LANGUAGES[first])
    return None


def meaning_in_list(title: str) -> Meaning | None:
    """The same in a list of new concepts, where a number counts the rows: ids of the taxonomy are given later."""
    item = meaning(title)
    return None if item is not None and item.role == "id" and words(title) in _COUNTING else item


def _plain_meaning(text: str) -> Meaning | None:
    if text in _EXACT:
        return Meaning(*_EXACT[text])
    parts = text.split()
    by_id = bool(ID_WORDS.intersection(parts))
    if _is_parent(parts):
        return Meaning("parent", UNUSUAL, by_id)
    if parts[0] in ("child", "narrower", "hyponym") and len(parts) == 2 and not _NO_PARENT.intersection(parts):
        return Meaning("child", UNUSUAL, by_id)
    if 2 <= len(parts) <= 5 and parts[-1] in ("name", "title", "label", "category", "term", "bezeichnung"):
        return Meaning("name", UNUSUAL)
    if len(parts) == 1 and text.endswith(("code", "kode", "codes")) and len(text) > 5:
        return Meaning("id", UNUSUAL)
    if 2 <= len(parts) <= 5 and parts[-1] in ("id", "code", "uri", "identifier") and not LEVEL_WORDS & set(parts[:-1]):
        return Meaning("id", UNUSUAL)
    return None


def _is_parent(parts: Sequence[str]) -> bool:
    """`Parent category ID`, `broaderUri`, `parentNameUsageID`, `Oberbegriff ID` …"""
    if _NO_PARENT.intersection(parts):
        return False
    if {"parent", "parents", "broader"}.intersection(parts):
        return len(parts) <= 4
    if len(parts) <= 3 and any(part.startswith(_ABOVE) for part in parts):
        return True
    stem = " ".join(part for part in parts if part not in ID_WORDS and part not in ("name", "label", "titel", "nom"))
    return _EXACT.get(stem, ("",))[0] == "parent"


def numbered(title: str) -> tuple[str, int] | None:
    """The title with its one number replaced, and the number: `Tier 1` gives ("tier #", 1); None without a number."""
    text = _LETTER_NUMBER.sub(" ", words(title))
    parts = text.split()
    places = [i for i, part in enumerate(parts) if part.isdecimal() or part in _COUNTED]
    if len(places) != 1:
        return None
    number = parts[places[0]]
    value = int(number[:9]) if number.isdecimal() else _COUNTED[number]
    parts[places[0]] = "#"
    rest = [part for part in parts if part not in ("st", "nd", "rd", "th", "er", "ème", "ª", "º")]
    return (" ".join(rest), value) if value <= 30 else None


_COUNTED = {
    **dict(zip("i ii iii iv v vi vii viii ix x".split(), range(1, 11), strict=True)),
    **dict(zip("one two three four five six seven eight".split(), range(1, 9), strict=True)),
    **dict(zip("first second third fourth fifth sixth seventh eighth".split(), range(1, 9), strict=True)),
    **dict(zip("erste zweite dritte vierte fünfte sechste".split(), range(1, 7), strict=True)),
}
