from __future__ import annotations

from pathlib import Path

import pytest

from support import malformed
from taxosphere import Taxonomy
from taxosphere.cli import main

Capture = pytest.CaptureFixture[str]


def test_a_table_becomes_a_folder_and_a_table_again(tmp_path: Path, capsys: Capture) -> None:
    first, folder, last = tmp_path / "a.tsv", tmp_path / "a", tmp_path / "b.tsv"
    first.write_text("parent\tchild\nanimal\tbird\nanimal\tdog\n", encoding="utf-8")
    assert main(["convert", str(first), str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    understood = "an edge list: parents in column 'parent', children in column 'child'\n"
    assert err == f"{understood}wrote 3 concepts and 2 edges to {folder}\n"
    assert main(["convert", str(folder), str(last)]) == 0
    assert last.read_text(encoding="utf-8") == first.read_text(encoding="utf-8")


def test_what_the_reader_met_is_said_in_a_few_lines(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("parent\tchild\n" + "animal\tbird\n" * 10, encoding="utf-8")
    assert main(["convert", str(path), str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("warning: ") for line in lines] == [False] + [True] * 4 + [False]
    assert lines[1].startswith(f"warning: {path}:3: ")
    assert "6 more of the kind 'duplicate edge'" in lines[4]


def test_a_cycle_is_passed_on_only_when_asked(tmp_path: Path, capsys: Capture) -> None:
    path, out = malformed.cyclic(tmp_path), tmp_path / "out"
    assert main(["convert", str(path), str(out)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {path}:5: ")
    assert "'duck' → 'animal' → 'bird' → 'duck'" in err
    assert not out.exists()
    assert main(["convert", str(path), str(out), "--keep-cycles"]) == 0
    assert Taxonomy.read(out).cycles
    capsys.readouterr()
    assert main(["convert", str(path), str(out), "--repair"]) == 0
    assert not Taxonomy.read(out).cycles
    assert "'duck' → 'animal' leads 2 levels back" in capsys.readouterr().err


def test_an_unknown_target_format_is_refused(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("parent\tchild\nanimal\tbird\n", encoding="utf-8")
    assert main(["convert", str(path), str(tmp_path / "out.docx")]) == 2
    assert ".docx" in capsys.readouterr().err
    assert main(["convert", str(path), str(tmp_path / "nowhere" / "out.tsv")]) == 2
    assert "folder does not exist" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.tsv"]


@pytest.mark.parametrize("target", ["-", "/dev/stdout", "taken"])
def test_an_output_without_a_suffix_that_can_be_no_folder(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("parent\tchild\nanimal\tbird\n", encoding="utf-8")
    Path("taken").write_text("something else", encoding="utf-8")
    assert main(["convert", "a.tsv", target]) == 2
    hint = "without a suffix this means a folder, and it is none; a name like out.obo or out.ttl says what to write"
    assert capsys.readouterr() == ("", f"error: {target}: {hint}\n")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.tsv", "taken"]


def test_standard_input_has_no_suffix(capsys: Capture) -> None:
    assert main(["convert", "-", "out.obo"]) == 2
    assert "error: -: standard input has no suffix to name its format" in capsys.readouterr().err


def test_the_input_is_never_replaced_unasked(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.csv"
    path.write_text("parent,child\na,b\n", encoding="utf-8")
    assert main(["convert", str(path), str(path)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert main(["convert", str(path), str(path), "--force"]) == 0
    assert path.read_text(encoding="utf-8") == "parent,child\na,b\n"


def test_options_say_how_to_read_and_what_to_write(tmp_path: Path, capsys: Capture) -> None:
    source, out = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("kode;text, long\n1;a\n11;b\n", encoding="utf-8")
    arguments = ["convert", str(source), str(out), "--map", "id=kode,name=text, long", "--nested"]
    assert main([*arguments, "--as", "level table"]) == 0
    assert out.read_text(encoding="utf-8") == "id,Level 1,Level 2\n1,a,\n11,a,b\n"
    assert main([*arguments, "--as", "path list"]) == 0
    assert out.read_text(encoding="utf-8") == "1 - a\n11 - a > b\n"
    capsys.readouterr()
    assert main([*arguments, "--as", "poem"]) == 2
    assert "'poem'" in capsys.readouterr().err
    assert main(["convert", str(source), str(out), "--map", "nonsense"]) == 2
    assert "--map wants ROLE=TITLE" in capsys.readouterr().err
