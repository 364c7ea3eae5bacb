"""NLM's descriptor files, in the shape their document type describes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

HEAD = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20260101.dtd">
<DescriptorRecordSet LanguageCode = "eng">
"""


def record(ui: str, name: str, trees: tuple[str, ...] = (), note: str = "", terms: tuple[str, ...] = ()) -> str:
    numbers = "".join(f"\n   <TreeNumber>{tree}</TreeNumber>" for tree in trees)
    spelled = "".join(f'<Term IsPermutedTermYN="N"><String>{term}</String></Term>' for term in (name, *terms))
    scope = f"<ScopeNote>{note}\n    </ScopeNote>" if note else ""
    return f"""<DescriptorRecord DescriptorClass = "1">
  <DescriptorUI>{ui}</DescriptorUI>
  <DescriptorName><String>{name}</String></DescriptorName>
  <AllowableQualifiersList><AllowableQualifier><QualifierReferredTo><QualifierUI>Q000379</QualifierUI>
  <QualifierName><String>methods</String></QualifierName></QualifierReferredTo></AllowableQualifier>
  </AllowableQualifiersList>
  <TreeNumberList>{numbers}</TreeNumberList>
  <ConceptList>
   <Concept PreferredConceptYN="N"><ScopeNote>of a narrower concept</ScopeNote><TermList>
    <Term IsPermutedTermYN="N"><String>narrower {name}</String></Term></TermList></Concept>
   <Concept PreferredConceptYN="Y">{scope}<TermList>{spelled}
    <Term IsPermutedTermYN="Y"><String>permuted, {name}</String></Term></TermList></Concept>
  </ConceptList>
</DescriptorRecord>
"""


RECORDS = (
    record("D009369", "Neoplasms", ("C04",), "New abnormal growth &amp; more.", ("Tumors", "Cancer", "Tumors"))
    + record("D009371", "Neoplasms by Site", ("C04.588",))
    + record("D000008", "Abdominal Neoplasms", ("C04.588.033", "C04.999.100"), "In the abdomen.")
    + record("D005260", "Female")
)


def write(folder: Path, records: str = RECORDS, head: str = HEAD, tail: str = "</DescriptorRecordSet>\n") -> Path:
    path = folder / "desc2026.xml"
    path.write_text(head + records + tail, encoding="utf-8")
    return path


def test_descriptors_terms_notes_and_tree_numbers(tmp_path: Path) -> None:
    path = write(tmp_path)
    packed = tmp_path / "desc2026.gz.xml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        taxonomy = Taxonomy.read(file)
        assert taxonomy.ids == ("D009369", "D009371", "D000008", "D005260")
        assert taxonomy.names[2] == "Abdominal Neoplasms"
        assert taxonomy.descriptions == ("New abnormal growth & more.", "", "In the abdomen.", "")
        assert taxonomy.synonyms[0] == ("narrower Neoplasms", "Tumors", "Cancer")
        assert taxonomy.extras[2] == (("tree number", "C04.588.033"), ("tree number", "C04.999.100"))
        # C04.999 is nobody's, so C04.999.100 hangs below C04
        assert list(taxonomy.edges()) == [
            ("D009369", "D009371"),
            ("D009371", "D000008"),
            ("D009369", "D000008"),
        ]
        assert [note.text.split(" ")[:2] for note in taxonomy.reading] == [["1", "tree"], ["4", "terms"]]


def test_it_survives_conversion(tmp_path: Path) -> None:
    before = Taxonomy.read(write(tmp_path))
    before.write(tmp_path / "native")
    after = Taxonomy.read(tmp_path / "native")
    for column in ("ids", "names", "descriptions", "synonyms", "extras"):
        assert getattr(after, column) == getattr(before, column)
    assert list(after.edges()) == list(before.edges())


def test_a_rdf_file_of_the_same_suffix_is_still_rdf(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    path = tmp_path / "x.xml"
    path.write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:s="http://www.w3.org/2004/02/skos/core#"><s:Concept rdf:about="http://x/a">'
        '<s:broader rdf:resource="http://x/b"/></s:Concept></rdf:RDF>'
    )
    assert len(Taxonomy.read(path)) == 2


LINES = (HEAD + RECORDS).split("\n")
STARTS = [number for number, line in enumerate(LINES, 1) if line.startswith("<DescriptorRecord ")]
BOMB = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet [
 <!ENTITY a "aaaaaaaaaa">
 <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<DescriptorRecordSet>
"""


@pytest.mark.parametrize(
    ("changes", "line", "said"),
    [
        ({"head": BOMB}, 3, "entity 'a'"),
        ({"head": BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"')}, 3, "entity 'a'"),
        ({"tail": ""}, len(LINES), "no element found"),
        ({"records": RECORDS.replace("</ConceptList>", "", 1)}, STARTS[1] - 1, "mismatched tag"),
        ({"records": RECORDS.replace("D000008", "D009369")}, STARTS[2], "used twice (first in line 4)"),
        (
            {"records": RECORDS.replace("C04.999.100", "C04")},
            STARTS[2],
            "tree number 'C04' is used twice (first in line 4)",
        ),
        ({"records": RECORDS.replace("<DescriptorUI>D009371</DescriptorUI>", "")}, STARTS[1], "without <DescriptorUI>"),
        ({"records": RECORDS.replace("<String>Female</String>", "", 1)}, STARTS[3], "without <DescriptorName>"),
        ({"records": ""}, None, "no concepts"),
        ({"records": "<x>" * 50 + "</x>" * 50}, 4, "inside each other"),
        ({"head": "<a>\n<!-- <DescriptorRecordSet -->", "records": "", "tail": "</a>"}, 1, "begins with <a>"),
        ({"head": HEAD.replace('"1.0"', '"1.0" encoding="klingon"')}, 1, "encoding"),
    ],
)
def test_damaged_files_end_in_one_line(changes: dict[str, str], line: int | None, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(InputError) as caught:
        Taxonomy.read(path)
    assert said in caught.value.message
    assert caught.value.path == str(path)
    assert caught.value.line == line
