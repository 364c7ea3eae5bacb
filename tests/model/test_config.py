from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from taxosphere.errors import InputError
from taxosphere.model.config import LossConfig, PolarisConfig


def test_toml_round_trip(tmp_path: Path) -> None:
    config = PolarisConfig().with_overrides(
        ["loss.welsch_c=0.7", "orbit.gamma=3", 'encoder.prefix="a \\"b\\" é😀\\u007f: "', "seed=5"]
    )
    config.write(tmp_path / "c.toml")
    assert PolarisConfig.read(tmp_path / "c.toml") == config
    assert tomllib.loads(config.to_toml())["loss"]["welsch_c"] == 0.7
    assert PolarisConfig.from_mapping(tomllib.loads(PolarisConfig().to_toml())) == PolarisConfig()


def test_overrides_take_toml_values_and_bare_words() -> None:
    config = PolarisConfig().with_overrides(
        [
            "training.epochs=3",
            "loss.kernel=rbf",
            'loss.anchor = "self"',
            "training.bf16=true",
            "ranking.families=['votes','names']",
        ]
    )
    assert (config.training.epochs, config.loss.kernel, config.loss.anchor, config.training.bf16) == (
        3,
        "rbf",
        "self",
        True,
    )
    assert config.ranking.families == ("votes", "names")
    assert PolarisConfig().training.epochs != 3


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("loss.welsh_c=0.4", r"no setting 'loss\.welsh_c'; did you mean 'loss\.welsch_c'\?"),
        ("zzz=1", "no setting 'zzz'; known here: encoder, network"),
        ("loss.zzz=1", r"no setting 'loss\.zzz'; known here: loss\.listwise"),
        ("loss.welsch_c=much", r"setting 'loss\.welsch_c': .*valid number.*'much'"),
        ("loss.welsch_c=-1", r"setting 'loss\.welsch_c': .*greater than 0"),
        ("loss.temperature=nan", r"setting 'loss\.temperature': .*finite"),
        ("loss.kernel=linear", r"setting 'loss\.kernel': .*'vmf'.*'linear'"),
        ("seed.x=1", "'seed' is a value"),
        ("loss.listwise=0", "at least one loss weight"),
        (["loss.geometric=1", "training.negatives=0"], "^loss.geometric and loss.probabilistic compare with negatives"),
        (["loss.probabilistic=1", "training.negatives=0"], "set training.negatives"),
        ("training.siblings=1", "shares of siblings"),
        ("ranking.families=[]", r"setting 'ranking\.families'"),
        ("network.kappa_start=0.5", "kappa_min < kappa_start"),
        ("loss.welsch_c", "expected section.key=value"),
        ("=1", "expected section.key=value"),
    ],
)
def test_a_wrong_assignment_is_explained(assignment: str | list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PolarisConfig().with_overrides([assignment] if isinstance(assignment, str) else assignment)


def test_files_with_unknown_keys_or_bad_syntax_are_named(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[training]\nepoch = 3\n")
    with pytest.raises(
        InputError, match=r"c\.toml: there is no setting 'training\.epoch'; did you mean 'training\.epochs'"
    ):
        PolarisConfig.read(file)
    file.write_text("[training\n")
    with pytest.raises(InputError, match=r"c\.toml: not a readable TOML"):
        PolarisConfig.read(file)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        LossConfig().welsch_c = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("text", ["x = " + "[" * 3000, "seed = " + "9" * 5000, "x = '\x00'"])
def test_a_file_that_no_parser_can_hold_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="not a readable TOML file") as refused:
        PolarisConfig.read(path)
    assert "\n" not in str(refused.value)


def test_what_is_shown_are_the_settings_that_were_changed() -> None:
    assert repr(PolarisConfig()) == "PolarisConfig()"
    changed = PolarisConfig().with_overrides(["network.dim=64", "training.epochs=5"])
    assert repr(changed) == "PolarisConfig(network=NetworkConfig(dim=64), training=TrainingConfig(epochs=5))"
