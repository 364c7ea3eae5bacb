from __future__ import annotations

import pytest

from taxosphere.placing.name_keys import abbreviates, aliases, fold, halves, letters, one_slip, readings, spellings

# From grammars of English and from the plurals that Latin and Greek nouns keep in it.
PLURALS = """
mitochondria mitochondrion  bacteria bacterium  cyanobacteria cyanobacterium  criteria criterion  phenomena phenomenon
ganglia ganglion  epithelia epithelium  protozoa protozoon  septa septum  spectra spectrum  strata stratum  ova ovum
nuclei nucleus  fungi fungus  streptococci streptococcus  larvae larva  vertebrae vertebra  formulae formula
analyses analysis  diagnoses diagnosis  hypotheses hypothesis  metastases metastasis  crises crisis  bases base
bases basis  axes axis  axes axe  matrices matrix  vertices vertex  indices index  helices helix  larynges larynx
stigmata stigma  stomata stoma  genera genus  corpora corpus  foramina foramen  plateaux plateau
leaves leaf  knives knife  valves valve  olives olive  women woman  firemen fireman  children child  teeth tooth
mice mouse  berries berry  potpies potpie  pies pie  cookies cookie  tomatoes tomato  shoes shoe  potatoes potato
boxes box  churches church  caches cache  dishes dish  glasses glass  gases gas  lenses lens  viruses virus  buses bus
quizzes quiz  prizes prize  metalizes metalize  roses rose  kinases kinase  enzymes enzyme  houses house  menus menu
souvlakis souvlaki  topics topic  services service  oranges orange  countries country  species species  series series
""".split()


@pytest.mark.parametrize(("plural", "singular"), list(zip(PLURALS[::2], PLURALS[1::2], strict=True)))
def test_a_plural_and_its_singular_share_a_key(plural: str, singular: str) -> None:
    assert set(spellings(f"big {plural}")) & set(spellings(f"big {singular}"))


@pytest.mark.parametrize(
    "pair",
    "ammonia ammonium|silica silicon|magnesia magnesium|alumina aluminum|plasma plasmon|tubes tub|planes plan|"
    "rosaceae rosacea|glass gla|news new|opera ova|cola colon|Felidae Felida|mercury mercurial|gas ga".split("|"),
)
def test_words_that_only_look_like_plurals_share_none(pair: str) -> None:
    one, other = pair.split()
    assert not set(spellings(one)) & set(spellings(other))


@pytest.mark.parametrize(
    "pair",
    "colours color|haemoglobin hemoglobin|organisation organization|oestrogen estrogen|palaeontology paleontology|"
    "oedema edema|centre center|catalogue catalog|sulphur sulfur|analysed analyzed|tumour tumor|fibres fiber".split(
        "|"
    ),
)
def test_british_and_american_spellings_are_one(pair: str) -> None:
    one, other = pair.split()
    assert readings(one)[0] == readings(other)[0]


def test_words_of_other_languages_stay_different() -> None:
    words = "Haus Häuser Maus maison moisson casa caso книга книги こども 猫 猫科 Käse Kasse perro perra".split()
    assert len({fold(word) for word in words}) == len(words)
    assert fold("maisons") == fold("Maison")


@pytest.mark.parametrize(
    "pair",
    [
        ("Sea-Bird", "sea birds"),
        ("bird, sea", "sea bird"),
        ("data base", "databases"),
        ("e-mail", "Email"),
        ("Cross Site Scripting", "cross-site scripting"),
    ],
)
def test_hyphens_order_of_headings_and_joined_words_do_not_matter(pair: tuple[str, str]) -> None:
    assert set(spellings(pair[0])) & set(spellings(pair[1]))


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("magnetic resonance imaging (MRI)", ("magnetic resonance imaging", "MRI")),
        ("MRI (magnetic resonance imaging)", ("MRI", "magnetic resonance imaging")),
        ("deoxyribonucleic acid [DNA]", ("deoxyribonucleic acid", "DNA")),
        ("Cross-Site Scripting (XSS)", ("Cross-Site Scripting", "XSS")),
        ("Improper Neutralization ('Cross-site Scripting')", ("Improper Neutralization", "Cross-site Scripting")),
        ("mercury (planet)", ()),
        ("Gene ID (CGD)", ()),
        ("Mercury (US)", ()),
        ("f(x) (y)", ()),
    ],
)
def test_only_quoted_names_and_abbreviations_in_brackets_are_names(name: str, inner: tuple[str, ...]) -> None:
    assert aliases(name) == inner


def test_an_abbreviation_takes_its_letters_in_order() -> None:
    assert abbreviates("SNPs", "single-nucleotide polymorphisms")
    assert not abbreviates("SPN", "single-nucleotide polymorphisms")
    assert not abbreviates("protein", "gene product")


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("marmelade", "marmalade", True),
        ("spagetti", "spaghetti", True),
        ("Protien structures", "protein structure", True),
        ("gorgonzolla", "gorgonzola", True),
        ("chromosome 15", "chromosome 16", False),
        ("world war ii", "world war i", False),
        ("cathepsin z", "cathepsin h", False),
        ("mayonnaise", "mayonese", False),
        ("sandwich", "sandwich", False),
    ],
)
def test_a_slip_of_one_letter_is_found_by_a_half_of_the_name(one: str, other: str, near: bool) -> None:
    assert one_slip(one, other) == one_slip(other, one) == near
    if near:
        assert set(halves(letters(one), asked=True)) & set(halves(letters(other)))
        assert set(halves(letters(other), asked=True)) & set(halves(letters(one)))


def test_short_names_have_no_slips() -> None:
    assert halves(letters("gull")) == halves(letters("gulls"), asked=True) == []
