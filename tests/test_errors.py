from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere.errors import InputError, MissingExtra, TaxosphereError, require


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("is wrong",), "is wrong"),
        (("is wrong", "a.tsv"), "a.tsv: is wrong"),
        (("is wrong", Path("a.tsv"), 7), "a.tsv:7: is wrong"),
    ],
)
def test_an_input_error_begins_with_its_place(arguments: tuple[object, ...], text: str) -> None:
    error = InputError(*arguments)  # type: ignore[arg-type]
    assert str(error) == text
    assert isinstance(error, TaxosphereError)


def test_a_present_module_is_imported() -> None:
    assert require("json.decoder", "core").JSONDecoder


def test_a_missing_package_names_the_extra_that_brings_it() -> None:
    with pytest.raises(MissingExtra, match=r"'no_such_package'.*taxosphere\[rdf\]"):
        require("no_such_package.part", "rdf")


def test_a_fault_inside_a_present_package_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "present_package.py").write_text("import absent_dependency\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="absent_dependency"):
        require("present_package", "rdf")
