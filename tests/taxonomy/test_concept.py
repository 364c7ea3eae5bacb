import pytest

from taxosphere import Concept


@pytest.mark.parametrize(
    ("name", "description", "text"),
    [
        ("duck", "", "duck"),
        ("duck", "a waterbird", "duck: a waterbird"),
        ("duck", "Duck is a waterbird", "Duck is a waterbird"),
        ("duck", "duck", "duck"),
        ("car", "carriage with an engine", "car: carriage with an engine"),  # begins with the letters, not the name
        ("", "a waterbird", "a waterbird"),
    ],
)
def test_text_says_the_name_once(name: str, description: str, text: str) -> None:
    assert Concept("1", name, description).text == text
