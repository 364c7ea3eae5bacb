"""Folders of pictures as taxonomies: plain, captioned, and the birds of Caltech-UCSD as they are packed."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.encoders.image import files
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import image_folder, registry


def touch(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def test_folders_are_the_tree_and_pictures_show_their_folder(tmp_path: Path) -> None:
    touch(tmp_path / "zoo", "animals/birds/b.PNG", "animals/birds/a.jpg", "animals/001.Big_cats/x.gif", "top.jpeg")
    found = Taxonomy.read(tmp_path / "zoo")
    assert registry.recognise(tmp_path / "zoo").name == "image folder"
    assert dict(zip(found.ids, found.names, strict=True)) == {
        ".": "zoo",
        "animals": "animals",
        "animals/001.Big_cats": "Big cats",
        "animals/birds": "birds",
    }
    assert set(found.edges()) == {(".", "animals"), ("animals", "animals/001.Big_cats"), ("animals", "animals/birds")}
    birds = tmp_path / "zoo" / "animals" / "birds"
    assert found.concept(found.position("animals/birds")).images == (str(birds / "a.jpg"), str(birds / "b.PNG"))
    assert found.concept(0).images == (str(tmp_path / "zoo" / "top.jpeg"),)
    assert not found.reading


def test_a_captioned_picture_is_a_concept(tmp_path: Path) -> None:
    touch(tmp_path, "birds/snowy_owl.png", "birds/other.png", "birds/notes.txt")
    (tmp_path / "birds" / "snowy_owl.txt").write_text("\ufeffA snowy  owl.\nfr.utf8=Un harfang.\n", encoding="utf-8")
    found = Taxonomy.read(tmp_path)
    owl = found.concept(found.position("birds/snowy_owl"))
    assert (owl.name, owl.description, owl.images) == (
        "snowy owl",
        "A snowy owl.",
        (str(tmp_path / "birds/snowy_owl.png"),),
    )
    assert found.parents("birds/snowy_owl") == ("birds",)
    assert found.concept(found.position("birds")).images == (str(tmp_path / "birds" / "other.png"),)
    assert [problem.text for problem in found.reading] == ["1 files that are no images here (.txt)"]


def test_a_caption_and_a_folder_of_one_name_stay_apart(tmp_path: Path) -> None:
    touch(tmp_path, "owl/a.png", "owl.png", "owl.txt")
    found = Taxonomy.read(tmp_path)
    assert sorted(found.ids) == [".", "owl", "owl.txt"]
    assert found.concept(found.position("owl.txt")).description == ""


def test_what_holds_no_picture_is_left_out_and_said(tmp_path: Path) -> None:
    touch(tmp_path, "a/x.jpg", "empty/deep/readme.md", ".hidden/x.jpg", "a/.x.jpg", "b/drawing.svg")
    found = Taxonomy.read(tmp_path)
    assert found.ids == (".", "a")
    assert [problem.text for problem in found.reading] == [
        "2 files that are no images here (.md, .svg)",
        "3 folders without an image",
    ]


def test_names_that_are_no_text_are_passed_over(tmp_path: Path) -> None:
    touch(tmp_path, "a/x.jpg")
    try:
        (Path(str(tmp_path)) / "bad\udcff").mkdir()
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes only text for names")
    assert Taxonomy.read(tmp_path).ids == (".", "a")


def test_a_folder_without_pictures_or_tables(tmp_path: Path) -> None:
    touch(tmp_path, "a/readme.md")
    with pytest.raises(InputError, match=r"no nodes\.tsv"):
        Taxonomy.read(tmp_path)
    with pytest.raises(InputError, match="holds no pictures"):
        image_folder.read(tmp_path, registry.ReadOptions())


def test_tables_win_over_pictures_beside_them(tmp_path: Path) -> None:
    touch(tmp_path / "t", "pictures/x.jpg")
    (tmp_path / "t" / "nodes.tsv").write_text("id\tname\timage\na\tA\tpictures/*.jpg\n")
    (tmp_path / "t" / "edges.tsv").write_text("parent_id\tchild_id\n")
    assert Taxonomy.read(tmp_path / "t").images == (("pictures/*.jpg",),)


def test_the_native_form_keeps_it_all(tmp_path: Path) -> None:
    touch(tmp_path / "zoo", "a|b/1.jpg", "a|b/2,3.jpg", "c/x.png", "c/x.txt")
    found = Taxonomy.read(tmp_path / "zoo")
    found.write(tmp_path / "native")
    again = Taxonomy.read(tmp_path / "native")
    assert list(again.concepts()) == list(found.concepts())
    assert list(again.edges()) == list(found.edges())
    with pytest.raises(InputError, match="holds other files"):
        found.write(tmp_path / "zoo")


def test_what_is_a_picture_is_agreed_on() -> None:
    assert image_folder.SUFFIXES == files.SUFFIXES


def cub(top: Path) -> Path:
    touch(
        top / "images", "001.Black_footed_Albatross/A_1.jpg", "001.Black_footed_Albatross/A_2.jpg", "002.Crow/C_1.jpg"
    )
    (top / "classes.txt").write_text("1 001.Black_footed_Albatross\n2 002.Crow\n")
    (top / "images.txt").write_text(
        "1 001.Black_footed_Albatross/A_1.jpg\n2 001.Black_footed_Albatross/A_2.jpg\n3 002.Crow/C_1.jpg\n"
    )
    (top / "image_class_labels.txt").write_text("1 1\n2 1\n3 2\n")
    (top / "train_test_split.txt").write_text("1 0\n2 1\n3 1\n")
    return top


@pytest.mark.parametrize("inside", [".", "CUB_200_2011"])
def test_birds_as_packed(tmp_path: Path, inside: str) -> None:
    top = cub(tmp_path / inside)
    found = Taxonomy.read(tmp_path)
    assert registry.recognise(tmp_path).name == "cub"
    assert found.names == ("bird", "Black footed Albatross", "Crow")
    assert set(found.edges()) == {("birds", "001.Black_footed_Albatross"), ("birds", "002.Crow")}
    assert found.images[1] == tuple(
        str(top.absolute() / "images/001.Black_footed_Albatross" / f"A_{n}.jpg") for n in (1, 2)
    )
    assert "train_test_split.txt" in found.reading[0].text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("image_class_labels.txt", "1 1\n9 1\n", r"image_class_labels\.txt:2: names '9', which images\.txt does not"),
        ("image_class_labels.txt", "1 7\n", r"image_class_labels\.txt:1: names '7', which classes\.txt does not"),
        ("classes.txt", "1 a\n1 b\n", r"classes\.txt:2: the number 1 is used twice"),
        ("images.txt", "1 a\n2\n", r"images\.txt:2: a number and an entry are needed"),
    ],
)
def test_birds_with_a_fault(tmp_path: Path, name: str, content: str, message: str) -> None:
    cub(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        Taxonomy.read(tmp_path)
