"""Keys by which names are compared: equal for spellings of one name, different for different names.

======================  ==================================================================
differs in              example
======================  ==================================================================
case, accents, hyphens  ``Sea-bird`` and ``sea bird``
number                  ``mitochondria`` and ``mitochondrion``
British and American    ``colour`` and ``color``
heading order           ``bird, sea`` and ``sea bird``
written together        ``data base`` and ``database``
======================  ==================================================================

A plural may have several possible singulars (``axes``: ax, axe, axis). All are tried: a wrong one is no word, so it
meets nothing. Where wrong ones are words (``ammonia`` is no plural of ammonium), the true plurals are listed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from taxosphere.ranking.lexical.parse import WORD, in_natural_order

# C++ is not C, a cell with CD4+ is not one with CD4-, and 1.5 is not 5.1.
_WORDS = re.compile(rf"(?:{WORD}|[+#<>♯♭]|(?<=\d)[.,](?=\d)|(?<=\w)-(?!\w))+")
_ACCENT = re.compile(r"([a-z\u0370-\u03ff])[\u0300-\u036f]+")  # in other scripts an accent makes another letter: и, й
_BRACKETS = re.compile(r"^([^()\[\]]*)[(\[]([^()\[\]]+)[)\]]([^()\[\]]*)$")
_QUOTES = "'\"‘’“”«»`"
_SHORT = re.compile(r"[^\W_][\w./&-]{1,9}")
_LETTERS = {"x": ("cross", "ex", "trans")}  # beginnings of words that a letter may stand for, beside itself
_LONG, _LONG_WORD = 8, 5  # letters of a name, and of a word in it, from which on a single one may be a slip
_OBSOLETE = re.compile(r"^\s*[\[(]?(?:obsolete|deprecated|retired)[\])]?[\s:_-]+", re.IGNORECASE)

_IRREGULAR = {
    **{"feet": "foot", "teeth": "tooth", "geese": "goose", "mice": "mouse", "lice": "louse", "men": "man"},
    **{"women": "woman", "children": "child", "oxen": "ox", "people": "person", "dice": "die"},
    **{"genera": "genus", "viscera": "viscus", "corpora": "corpus", "foramina": "foramen", "lumina": "lumen"},
}
_IRREGULAR |= {f"{stem}ves": f"{stem}f" for stem in "lea loa wol hal shel cal thie el scar hoo".split()}
_IRREGULAR |= {f"{stem}ves": f"{stem}fe" for stem in ("kni", "li", "wi")}
_IRREGULAR |= {f"{stem}ices": f"{stem}ix" for stem in "matr append hel cerv var cicatr rad".split()}
_IRREGULAR |= {f"{stem}ices": f"{stem}ex" for stem in "vert vort ind cort ap cod".split()}
_IRREGULAR |= {
    f"{stem}i": f"{stem}us"
    for stem in "nucle fung stimul loc foc radi bacill cact alumn bronch thromb embol syllab uter gyr sulc cocc".split()
}
_MORE_READINGS = ("people", "dice", "leaves", "lives", "calves", "halves")  # that are other words too
# Plurals in -a of nouns in -um and -on, or their last parts. Many other nouns in -a are singular beside a different one
# in -um or -on (silica and silicon, magnesia and magnesium), so that no rule can replace the lists.
_FROM_UM = (
    "addenda antra aquaria atria bacteria cerebella cilia compendia consortia crania curricula data desiderata dicta "
    "diverticula endometria errata equilibria flagella herbaria infundibula labia maxima media memoranda millennia "
    "minima mycelia opercula optima ostia ova pericardia peritonea phyla primordia quanta referenda reticula rostra "
    "sanatoria septa sera spectra sporangia stadia sterna strata symposia terraria thelia ultimata vacua vela vestibula"
).split()
_FROM_ON = "automata criteria ganglia hedra chondria noumena phenomena taxa zoa".split()
_LATIN_A = {**dict.fromkeys(_FROM_UM, "um"), **dict.fromkeys(_FROM_ON, "on")}
_ALSO_ENDINGS = ("bacteria", "thelia", "chondria", "hedra", "ganglia", "sporangia", "zoa", "strata", "flagella")
_UNCHANGED = frozenset(
    "species series news means genus lens gas bus alms chassis corps debris rabies scabies herpes diabetes caries "
    "pancreas atlas canvas".split()
)
_FAMILIES = ("idae", "inae", "aceae", "oideae", "phyceae")  # names of families of living things are no plurals
_ENDINGS = (  # of a plural, with the endings of its possible singulars, the likeliest first
    ("ss", ("ss",)),
    ("ies", ("y", "ie")),
    ("eaux", ("eau",)),
    ("mata", ("ma",)),
    ("ices", ("ice", "ix", "ex")),
    ("nges", ("nge", "nx")),
    ("yses", ("ysis", "yse")),
    ("oses", ("osis", "ose", "os")),
    ("eses", ("esis", "ese")),
    ("sses", ("ss",)),
    ("uses", ("us", "use")),
    ("ases", ("ase", "asis", "as")),
    ("ses", ("se", "s", "sis")),
    ("xes", ("x", "xe", "xis")),
    ("zzes", ("zz", "z")),
    ("zes", ("ze", "z")),
    ("ches", ("ch", "che")),
    ("shes", ("sh", "she")),
    ("ves", ("ve", "f", "fe")),
    ("oes", ("o", "oe")),
    ("ics", ("ic",)),
    ("is", ("is", "i")),
    ("us", ("us", "u")),
    ("s", ("",)),
    ("ae", ("a",)),
    ("i", ("i", "us")),
    ("men", ("men", "man")),
)
# British spellings and what they are in American. Both sides of a comparison pass through this, so that it need not be
# right for every word, only never the same for two different ones.
_AMERICAN = (
    (re.compile(r"isation$"), "ization"),
    (re.compile(r"(?<=\w{4})is(e|ed|er|ing)$"), r"iz\1"),
    (re.compile(r"(?<=\w{3})ys(e|ed|er|ing)$"), r"yz\1"),
    (re.compile(r"(?<=\w{3})our(?=$|al|ed|ing|less|ful)"), "or"),
    (re.compile(r"(?<=[bt])re$"), "er"),
    (re.compile(r"(?<=\w{3})ogue$"), "og"),
    (re.compile(r"^h?ae|(?<=\w\w)ae(?=\w{3})"), lambda match: match[0].replace("ae", "e")),
    (re.compile(r"^oe(?=\w{4})|(?<=^f)oe(?=t)|oe(?=dem)"), "e"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"^programme$"), "program"),
    (re.compile(r"^alumini?um$"), "aluminum"),
    (re.compile(r"^grey$"), "gray"),
)


@lru_cache(maxsize=1 << 14)  # a query's name is read in several ways, and those of its candidates again and again
def words(name: str) -> tuple[str, ...]:
    """The words of a name without case and accents, inverted headings in natural order."""
    plain = in_natural_order(name).casefold()
    if not plain.isascii():
        plain = _ACCENT.sub(r"\1", unicodedata.normalize("NFKD", plain))
    return tuple(_WORDS.findall(plain))


def fold(name: str) -> str:
    """One key of a name, equal for its spellings and for any order of its words."""
    return " ".join(sorted(readings(word)[0] for word in words(name)))


def spellings(name: str) -> Iterator[str]:
    """Keys of which two spellings of one name share at least one; none for a name of punctuation alone.

    The first is the likeliest singular of every word. Where a word has other possible singulars, each makes one more
    key. The last has the words written together.
    """
    parts = words(name)
    options = [readings(word) for word in parts]
    likeliest = [singulars[0] for singulars in options]
    if not likeliest:
        return
    yield " ".join(likeliest)
    for place, singulars in enumerate(options):
        for other in singulars[1:]:
            yield " ".join([*likeliest[:place], other, *likeliest[place + 1 :]])
    if len("".join(parts)) > 4:
        yield "=" + "".join([*parts[:-1], likeliest[-1]])


def aliases(name: str) -> tuple[str, ...]:
    """Names inside a name with brackets: a quoted one, or an abbreviation and what it stands for.

    What else stands in brackets tells apart (``mercury (planet)``) and makes no alias.

    Examples
    --------
    >>> aliases("magnetic resonance imaging (MRI)"), aliases("mercury (planet)")
    (('magnetic resonance imaging', 'MRI'), ())
    >>> aliases("Improper Neutralization of Input ('Cross-site Scripting')")
    ('Improper Neutralization of Input', 'Cross-site Scripting')
    """
    parts = _BRACKETS.match(name.strip())
    if parts is None:
        return ()
    outside = " ".join(f"{parts[1]} {parts[3]}".split())
    inside = parts[2].strip()
    bare = inside.strip(_QUOTES).strip()
    quoted = len(inside) - len(inside.strip(_QUOTES)) >= 2
    if outside and bare and (quoted or abbreviates(bare, outside) or abbreviates(outside, bare)):
        return outside, bare
    return ()


def abbreviates(short: str, long: str) -> bool:
    """Whether a name in capitals is made of letters of another, in their order, from the beginning of its first word.

    Every letter begins a word, or stands in the word that the letter before it began.
    """
    if not _SHORT.fullmatch(short) or sum(letter.isupper() for letter in short) < 2 or len(long) < 2 * len(short):
        return False
    letters = [letter for letter in short.casefold().removesuffix("s") if letter.isalnum()]
    return _spells(letters, [word.casefold() for word in re.findall(r"[^\W_]+", long)])


def _spells(letters: list[str], long_words: list[str]) -> bool:
    """Whether the letters can be taken from the words in order; words between may be left out, the first may not."""
    reached = {(0, 0)}  # (word, letters of it that are passed) after the letters so far
    for number, letter in enumerate(letters):
        following = set()
        for word, passed in reached:
            if number:
                further = long_words[word].find(letter, passed)
                if further >= 0:
                    following.add((word, further + 1))
            for later in range(word + 1 if number else 0, len(long_words) if number else 1):
                if long_words[later].startswith((letter, *_LETTERS.get(letter, ()))):
                    following.add((later, 1))
        reached = following
    last = max((word for word, _ in reached), default=-1)
    return (last == len(long_words) - 1 and len(long_words) > 1) or (last == 0 and len(letters) > 2)


def letters(name: str) -> str:
    """The letters and figures of a name, the last word in the singular, for the comparison of spellings."""
    parts = words(name)
    return "".join([*parts[:-1], readings(parts[-1])[0]]) if parts else ""


def halves(written: str, *, asked: bool = False) -> list[str]:
    """Keys of both halves of a spelling: one letter more, less or other leaves one half as it is.

    With ``asked`` those of all names that are as long, or a letter longer or shorter. Short ones have no keys: too many
    words are near them.
    """
    size = len(written)
    if size < _LONG:
        return []
    sizes = (size - 1, size, size + 1) if asked else (size,)
    keys = [f"{length}<{written[: length // 2]}" for length in sizes]
    return keys + [f"{length}>{written[size - (length - length // 2) :]}" for length in sizes]


def one_slip(one: str, other: str) -> bool:
    """Whether two names differ in one letter of one long word: another, one more, one less, or two exchanged.

    Figures, single letters and Roman numbers tell names apart, and so do short words.
    """
    ours, theirs = words(one), words(other)
    if len(ours) != len(theirs):
        return False
    different = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b and not {*readings(a)} & {*readings(b)}]
    if len(different) != 1 or min(map(len, different[0])) < _LONG_WORD or not "".join(different[0]).isalpha():
        return False
    a, b = (readings(word)[0] for word in different[0])
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest, others = a[start:], b[start:]
    exchanged = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return exchanged or rest[1:] == others[1:] or rest[1:] == others or rest == others[1:]


def without_obsolete_mark(name: str) -> str:
    """The name without a leading "obsolete", as ontologies mark terms that are no longer used."""
    return _OBSOLETE.sub("", name)


@lru_cache(maxsize=1 << 16)  # a taxonomy repeats its words
def readings(word: str) -> tuple[str, ...]:
    """Possible singulars of a word in lower case, the likeliest first, in American spelling.

    Examples
    --------
    >>> readings("mitochondria"), readings("axes"), readings("colours"), readings("glass")
    (('mitochondrion',), ('ax', 'axe', 'axis'), ('color',), ('glass',))
    """
    singulars = [_IRREGULAR.get(singular, singular) for singular in _singulars(word)]
    return tuple(dict.fromkeys(map(american, singulars)))


def american(word: str) -> str:
    """The American spelling of a word in lower case, so that British and American ones are equal."""
    if word.isascii() and len(word) > 3:
        for pattern, spelling in _AMERICAN:
            word = pattern.sub(spelling, word)
    return word


def _singulars(word: str) -> list[str]:
    if word in _IRREGULAR:
        return [_IRREGULAR[word], word.removesuffix("s")] if word in _MORE_READINGS else [_IRREGULAR[word]]
    if word in _LATIN_A:
        return [word[:-1] + _LATIN_A[word]]
    if len(word) < 4 or not word.isalpha() or word in _UNCHANGED or word.endswith(_FAMILIES):
        return [word]
    for ending in _ALSO_ENDINGS:
        if word.endswith(ending):
            return [word[:-1] + _LATIN_A[ending]]
    if word.endswith("ies") and len(word) == 4:
        return [word[:-1]]  # pies, ties
    for ending, singular_endings in _ENDINGS:
        if word.endswith(ending):
            return [word.removesuffix(ending) + singular for singular in singular_endings]
    return [word]
