from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy, artifact, fitting, persistence
from taxosphere.cli import main
from taxosphere.encoders.text.precomputed import PrecomputedEncoder
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.ranking.lexical import tokens
from taxosphere.taxonomy.string_column import StringColumn

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
)


@pytest.fixture(scope="module")
def model() -> Polaris:
    return Polaris(QUICK).fit(meadow(), encoder=GramEncoder())


def test_suggestions_are_probabilities_with_paths_and_reasons(model: Polaris) -> None:
    found = model.suggest("green bird", "a bird that is called green", k=3)
    assert len(found) == 3
    assert found[0].name == "bird"
    assert found[0].path == ("thing", "bird")
    assert set(found[0].siblings) <= set(model.taxonomy.children("bird"))
    assert found[0].reasons
    document = json.loads(json.dumps(found.as_dict()))
    assert set(document) >= {"query", "none_probability", "suggestions"}
    expected = {"id", "name", "path", "probability", "score", "cosine", "gate", "siblings", "reasons"}
    assert set(document["suggestions"][0]) == expected


def test_all_probabilities_add_up_to_one(model: Polaris) -> None:
    found = model.suggest("green bird", k=len(model.taxonomy))
    assert sum(s.probability for s in found) + found.none_probability == pytest.approx(1, abs=1e-4)


def test_what_is_there_already_is_pointed_out(model: Polaris) -> None:
    assert [match.name for match in model.suggest("Red Birds").already] == ["red bird"]


def test_saved_and_loaded_models_score_alike(model: Polaris, tmp_path: Path) -> None:
    queries = [Concept("a", "green fish"), Concept("b", "tall tree", "a tree that is called tall")]
    model.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    assert np.array_equal(loaded.score(queries), model.score(queries))
    ours, theirs = (list(m.suggest_many(queries)) for m in (model, loaded))
    assert [s.as_dict() for s in ours] == [s.as_dict() for s in theirs]


def test_a_large_model_is_mapped_and_scores_alike(
    model: Polaris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (artifact, persistence, tokens):
        monkeypatch.setattr(module, "MAPPED", 10)
    queries = [Concept("a", "green fish"), Concept("b", "tall tree", "a tree that is called tall")]
    model.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    assert isinstance(loaded.taxonomy.names, StringColumn)
    assert np.array_equal(loaded.score(queries), model.score(queries))
    ours, theirs = (list(m.suggest_many(queries)) for m in (model, loaded))
    assert [s.as_dict() for s in ours] == [s.as_dict() for s in theirs]
    grown = loaded.expand(["violet bird"], accept=0.0).taxonomy
    assert list(grown.concepts())[:-1] == list(model.taxonomy.concepts())


def test_damage_in_a_large_file_is_refused_before_a_list_is_answered(
    model: Polaris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "text_vectors.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    monkeypatch.setattr(artifact, "_CHECKED_AT_ONCE", 0)  # and the manifest has no samples, as those of earlier models
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    with pytest.raises(InputError, match=r"text_vectors\.safetensors: was changed or damaged"):
        list(loaded.suggest_many(["green fish", "tall tree"]))
    with pytest.raises(InputError, match="was changed or damaged"):
        loaded.suggest("green fish")


@pytest.mark.parametrize("version", [None, -1])
def test_words_that_a_model_does_not_hold_are_read_again(model: Polaris, tmp_path: Path, version: int | None) -> None:
    model.save(tmp_path / "model")
    stored = artifact.load(tmp_path / "model", "polaris")
    tokens = stored.tensors["tokens"]
    tokens |= {name: values[:0] for name, values in tokens.items()}  # useless, should they be looked at
    manifest = stored.manifest | {"tokens": version}
    artifact.save(tmp_path / "model", "polaris", manifest, stored.tensors, stored.taxonomy)
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    queries = [Concept("a", "green fish"), Concept("b", "tall tree", "a tree that is called tall")]
    assert np.array_equal(loaded.score(queries), model.score(queries))


def test_a_model_is_not_read_with_another_encoder(model: Polaris, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match=r"was fitted with the encoder .*'grams'.*; give it"):
        Polaris.load(tmp_path / "model")
    with pytest.raises(InputError, match=f"with {GramEncoder.dim} dimensions, the encoder has 2"):
        Polaris.load(tmp_path / "model", encoder=PrecomputedEncoder(["a"], np.ones((1, 2))))


def test_every_fit_chooses_its_own_settings_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "auto", lambda seed: QUICK.with_overrides([f"training.batch={len(seed)}"]))
    small, large = meadow(), meadow().add([Concept("new", "new")], [])
    free = Polaris().fit(small, encoder=GramEncoder(), random_state=3)
    assert free.config is not None
    assert (free.config.seed, free.config.training.batch) == (3, len(small))
    free.fit(large, encoder=GramEncoder())
    assert (free.config.seed, free.config.training.batch) == (0, len(large))


def test_wrong_kinds_of_questions_are_refused(model: Polaris) -> None:
    with pytest.raises(TypeError, match="a list of new concepts"):
        model.expand("oil")
    with pytest.raises(TypeError, match="brings its own description"):
        model.suggest(("oil", "fat"), "more")
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.expand(["oil"], accept=80)
    with pytest.raises(ValueError, match="k is -1"):
        model.suggest("oil", k=-1)
    with pytest.raises(InputError, match="needs a name"):
        model.suggest("  ")
    with pytest.raises(InputError, match="holds no concepts"):
        Polaris(QUICK).fit(Taxonomy.from_concepts([], []), encoder=GramEncoder())
    with pytest.raises(InputError, match="fitted without images"):
        model.suggest("oil", images=["oil.png"])
    with pytest.raises(InputError, match="random state is 4294967296"):
        Polaris(QUICK).fit(meadow(), encoder=GramEncoder(), random_state=1 << 32)
    for odd in (["a", "b"], ("a", 3), (None, "a"), ("a", "b", "c"), None, 7):
        with pytest.raises(TypeError, match=r"a new concept is a name, .* not"):
            model.suggest(odd)
    with pytest.raises(ValueError, match="k is 0"):
        model.suggest_many(["oil"], k=0)
    with pytest.raises(TypeError, match="a Concept is scored, not a str"):
        model.score(["oil"])
    with pytest.raises(TypeError, match="settings are a PolarisConfig, not a dict"):
        Polaris({"seed": 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="holds no concepts"):
        model.adopt(Taxonomy.from_concepts([], []))
    with pytest.raises(TypeError, match="a Taxonomy is expected, not an int"):
        model.adopt(42)  # type: ignore[arg-type]
    for k in ("3", 2.5, None):
        with pytest.raises(TypeError, match="k is a whole number, not"):
            model.suggest("oil", k=k)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a description is a text, not an int"):
        model.suggest("oil", 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs a name"):
        model.suggest(Concept("", ""))
    for ask in (model.suggest_many, model.expand, model.predict, model.predict_proba, model.score):
        with pytest.raises(TypeError, match="a list of new concepts is expected, not an int"):
            ask(42)  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"accept \(x\)"):
        model.expand(["oil"], accept="x")  # type: ignore[arg-type]


def test_wrong_kinds_of_things_to_learn_from_are_refused(tmp_path: Path) -> None:
    for odd, kind in ((42, "an int"), (None, "None"), ([], "a list")):
        with pytest.raises(TypeError, match=f"a Taxonomy or the path of one is fitted, not {kind}"):
            Polaris(QUICK).fit(odd)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="path of the taxonomy is empty"):
        Polaris(QUICK).fit("")
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        Polaris(QUICK).fit(tmp_path / "none.csv")
    for options, message in (
        ({"random_state": 1.5}, "a random state is a whole number, not 1.5"),
        ({"start": 42}, "a fit starts from a fitted Polaris, not an int"),
        ({"progress": 42}, "progress is called as"),
        ({"encoder": GramEncoder}, "GramEncoder is a class: make one of it"),
    ):
        with pytest.raises(TypeError, match=message):
            Polaris(QUICK).fit(meadow(), **({"encoder": GramEncoder()} | options))


def test_a_changed_taxonomy_needs_concepts_and_no_cycle(model: Polaris) -> None:
    with pytest.raises(InputError, match=r"circle|cycle"):
        model.adopt(Taxonomy.from_edges([("a", "b"), ("b", "a")]))


def test_settings_that_do_not_fit_the_prior_are_refused_before_anything_is_learned() -> None:
    def learned(done: int, total: int, what: str) -> None:
        raise AssertionError(what)

    wide = PolarisConfig().with_overrides(["ranking.hidden=7"])
    with pytest.raises(InputError, match=r"set ranking\.prior=false"):
        Polaris(wide).fit(meadow(), encoder=GramEncoder(), progress=learned)


@pytest.mark.parametrize(
    ("part", "name", "there"),
    [
        ("ranker", "out_of_fold.parent_removed", False),  # before it was kept
        ("ranker", "out_of_fold.later", True),
        ("ranker", "none_model.weights", False),
        ("network", "later.weight", True),
        ("text_vectors", "name", False),
        ("text_vectors", "description", True),  # from when it was kept
    ],
)
def test_a_folder_of_another_layout_is_refused_in_one_line(
    model: Polaris, tmp_path: Path, part: str, name: str, there: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    model.save(tmp_path / "model")
    stored = artifact.load(tmp_path / "model", "polaris")
    assert (name in stored.tensors[part]) != there
    if there:
        stored.tensors[part][name] = np.zeros(3, np.float32)
    else:
        del stored.tensors[part][name]
    artifact.save(tmp_path / "model", "polaris", stored.manifest, stored.tensors, stored.taxonomy)
    assert main(["suggest", str(tmp_path / "model"), "green bird"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert (
        f"{tmp_path / 'model'}: this model folder was written by another version of taxosphere; fit it again" in message
    )


def test_the_same_seed_gives_the_same_model(model: Polaris) -> None:
    again = Polaris(QUICK).fit(meadow(), encoder=GramEncoder())
    queries = [Concept("a", "green fish")]
    assert np.array_equal(again.score(queries), model.score(queries))


def test_scores_of_a_query_do_not_depend_on_the_others(model: Polaris) -> None:
    queries = [Concept(str(i), f"{word} boat") for i, word in enumerate(("green", "tall", "quiet"))]
    together = model.score(queries)
    alone = np.concatenate([model.score([query]) for query in queries])
    # Products of one row and of many differ in their last bits, which may part two candidates that were level.
    np.testing.assert_allclose(together, alone, atol=0.1)
    assert (together.argmax(1) == alone.argmax(1)).all()


def test_expanding_builds_chains_of_new_concepts_and_keeps_the_seed(model: Polaris) -> None:
    new = [("tiny green bird", "a green bird that is called tiny"), ("green bird", "a bird that is called green")]
    expansion = model.expand(new, accept=0.0)
    grown = expansion.taxonomy
    grown.refuse_cycles()
    assert set(model.taxonomy.edges()) <= set(grown.edges())
    assert grown.parents("green bird") == ("bird",)
    assert len(expansion.attached) == 2
    careful = model.expand(new, accept=1.0)
    assert len(careful.review) == 2
    assert careful.taxonomy.ids == model.taxonomy.ids


def test_adopted_concepts_are_candidates_at_once() -> None:
    model = Polaris(QUICK).fit(meadow(), encoder=GramEncoder())
    expansion = model.expand([("green bird", "a bird that is called green")], accept=0.0)
    model.adopt(expansion.taxonomy)
    names = [s.name for s in model.suggest("tiny green bird", "a green bird that is called tiny", k=10)]
    assert "green bird" in names


def test_adopted_concepts_change_what_is_suggested_for_their_siblings() -> None:
    model = Polaris(QUICK).fit(meadow(), encoder=GramEncoder())
    query = ("tiny violet gadget", "a violet gadget that is called tiny")

    def probability(name: str) -> float:
        return {s.name: s.probability for s in model.suggest(*query, k=len(model.taxonomy))}.get(name, 0.0)

    before = probability("bird")
    decided = Concept("violet gadget", "violet gadget", "a gadget that is called violet")
    model.adopt(model.taxonomy.add([decided], [("bird", "violet gadget")]))
    assert probability("bird") > before


def test_a_tiny_taxonomy_falls_back_and_says_so(animals: Taxonomy) -> None:
    model = Polaris(QUICK).fit(animals, encoder=GramEncoder())
    assert "only" in model.summary()[0]
    found = model.suggest("goose", k=3)
    assert 0 < found[0].probability < 1


def test_asking_before_learning_and_learning_from_a_cycle_are_refused() -> None:
    with pytest.raises(TaxosphereError, match="not fitted yet"):
        Polaris().suggest("x")
    loop = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    with pytest.raises(InputError, match="circle"):
        Polaris(QUICK).fit(loop, encoder=GramEncoder())


def test_a_later_model_may_begin_from_an_earlier_one(model: Polaris) -> None:
    warm = Polaris(QUICK).fit(meadow(), encoder=GramEncoder(), start=model)
    assert warm.suggest("green bird")[0].name == "bird"
    with pytest.raises(InputError, match="another encoder or network"):
        Polaris(QUICK.with_overrides(["network.dim=16"])).fit(meadow(), encoder=GramEncoder(), start=model)


def test_a_killed_fit_leaves_no_model_and_resumes_to_the_same_one(model: Polaris, tmp_path: Path) -> None:
    tests = Path(__file__).parent
    script = (
        "import sys; from pathlib import Path\n"
        "from support.gram_encoder import GramEncoder; from support.meadow import meadow\n"
        "from taxosphere import Polaris, PolarisConfig\n"
        "config = PolarisConfig.read(sys.argv[1])\n"
        "Polaris(config).fit(meadow(), encoder=GramEncoder(), checkpoints=Path(sys.argv[2]), resume=True,\n"
        "    progress=lambda done, total, what: print(what, flush=True)).save(sys.argv[3])\n"
    )
    QUICK.write(tmp_path / "settings.toml")
    arguments = [str(tmp_path / name) for name in ("settings.toml", "checkpoints", "model")]
    path = [str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    for lines in (1, 4, 9):  # killed in the first epoch, in a later one, among the folds
        with subprocess.Popen(
            [sys.executable, "-c", script, *arguments], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(lines):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        assert not (tmp_path / "model").exists()
    subprocess.run([sys.executable, "-c", script, *arguments], env=environment, check=True, capture_output=True)
    resumed = Polaris.load(tmp_path / "model", encoder=GramEncoder())
    queries = [Concept("a", "green fish"), Concept("b", "tall tree")]
    assert np.array_equal(resumed.score(queries), model.score(queries))


def test_heads_of_folds_that_are_trained_are_not_trained_again(model: Polaris, tmp_path: Path) -> None:
    def stop(done: int, total: int, what: str) -> None:
        if what.startswith("training the ranker"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Polaris(QUICK).fit(meadow(), encoder=GramEncoder(), checkpoints=tmp_path, progress=stop)
    heads = {path: path.stat().st_mtime_ns for path in tmp_path.glob("fold-*.safetensors")}
    assert len(heads) == QUICK.ranking.folds
    resumed = Polaris(QUICK).fit(meadow(), encoder=GramEncoder(), checkpoints=tmp_path, resume=True)
    assert {path: path.stat().st_mtime_ns for path in heads} == heads
    queries = [Concept("a", "green fish"), Concept("b", "tall tree")]
    assert np.array_equal(resumed.score(queries), model.score(queries))


def test_questions_are_taken_in_every_shape_that_has_one_meaning(model: Polaris) -> None:
    assert model.suggest(("green bird", None)).as_dict() == model.suggest("green bird").as_dict()
    queries = [Concept("a", "green fish"), Concept("b", "tall tree")]
    assert np.array_equal(model.score(query for query in queries), model.score(queries))
    assert [found.query for found in model.suggest_many(query for query in queries)] == queries


def test_expanding_tells_how_far_it_is_before_and_after_each_concept(model: Polaris) -> None:
    told: list[tuple[int, int, str]] = []
    model.expand(["green bird", "tall tree"], progress=lambda *step: told.append(step))
    assert [step[:2] for step in told if step[2] == told[0][2]] == [(0, 2), (1, 2), (2, 2)]
    assert told[-1] == (1, 1, "done")


def test_what_a_new_concept_brings_is_in_the_grown_taxonomy(model: Polaris) -> None:
    new = Concept("C1", "green bird", extras=(("xref", "Y:2"),))
    grown = model.expand([new], accept=0.0).taxonomy
    assert grown.concept(grown.position("C1")) == new


def test_an_encoder_may_be_named_and_paths_and_numbers_are_as_callers_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_tiny_encoder(tmp_path / "tiny")
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    fitted = Polaris(QUICK).fit(meadow(), encoder="tiny", random_state=np.int64(3), checkpoints="ck")
    assert fitted.config is not None
    assert (fitted.config.encoder.name, fitted.config.seed) == (str(tmp_path / "tiny"), 3)
    fitted.save("model")
    (tmp_path / "tiny").rename(tmp_path / "moved")
    monkeypatch.chdir("/")
    again = Polaris.load(tmp_path / "model", encoder=tmp_path / "moved")
    assert again.suggest("green bird").as_dict() == fitted.suggest("green bird").as_dict()


def test_a_path_is_fitted_as_well(tmp_path: Path, model: Polaris) -> None:
    meadow().write(tmp_path / "meadow")
    again = Polaris(QUICK).fit(tmp_path / "meadow", encoder=GramEncoder())
    queries = [Concept("a", "green fish")]
    assert np.array_equal(again.score(queries), model.score(queries))
    with pytest.raises(TypeError, match="not a dict"):
        Polaris(QUICK).fit({"a": "b"})  # type: ignore[arg-type]


def test_embeddings_are_unit_directions_with_radii(model: Polaris) -> None:
    embeddings = model.embeddings()
    assert repr(embeddings).startswith(f"Embeddings of {len(meadow())} concepts: ids, points (")
    assert embeddings.ids == tuple(model.taxonomy.ids)
    for rows in (embeddings.points, embeddings.directions):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert (embeddings.kappa > 0).all()
    assert embeddings.radii[model.taxonomy.position("thing")] == embeddings.radii.min()
    frame = embeddings.to_frame()
    assert list(frame.index) == list(embeddings.ids)
    assert frame.loc["bird", "kappa"] == embeddings.kappa[model.taxonomy.position("bird")]


def test_features_of_a_query_are_a_table_of_candidates(model: Polaris) -> None:
    frame = model.features("green bird", "a bird that is called green")
    assert {s.id for s in model.suggest("green bird", "a bird that is called green")} <= set(frame.index)
    assert frame.loc["bird", "at the end of the query's name"] == 0.5  # one of its two words
    assert frame.loc["fish", "at the end of the query's name"] == 0
    with pytest.raises(InputError, match="a concept with a name"):
        model.features(Concept("x", "", images=("x.png",)))


def test_predict_and_its_probabilities_agree_with_suggest(model: Polaris) -> None:
    asked = ["green bird", ("lemon cake", "a cake that is called lemon")]
    probabilities = model.predict_proba(asked)
    assert list(model.classes_[probabilities.argmax(1)]) == list(model.predict(asked)) == ["bird", "cake"]
    for row, suggestions in zip(probabilities, model.suggest_many(asked)):
        assert row.sum() == pytest.approx(1 - suggestions.none_probability, abs=1e-4)
        assert row.max() == pytest.approx(suggestions[0].probability)


def test_parameters_are_those_of_a_scikit_learn_estimator() -> None:
    clone = pytest.importorskip("sklearn.base").clone
    encoder = GramEncoder()
    model = Polaris(QUICK, encoder=encoder, random_state=3)
    assert clone(Polaris(QUICK, random_state=3)).get_params() == Polaris(QUICK, random_state=3).get_params()
    fitted = model.fit(meadow())
    assert fitted.config is not None
    assert fitted.config.seed == 3
    assert repr(Polaris()) == "Polaris()"
    assert repr(fitted).endswith(f"# fitted on {len(meadow()):,} concepts")
    assert "not fitted" in Polaris(random_state=3)._repr_html_()
    assert f"fitted on {len(meadow()):,} concepts" in fitted._repr_html_()
    assert "hidden leaves" in fitted._repr_html_()
    with pytest.raises(TypeError, match="not a dict"):
        model.set_params(config={})
    assert model.set_params(random_state=4).get_params()["random_state"] == 4
    with pytest.raises(ValueError, match="no parameter 'seed'"):
        model.set_params(seed=1)


def test_a_device_is_a_parameter_and_an_unknown_one_is_refused(
    model: Polaris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = [Concept("a", "green fish")]
    again = Polaris(QUICK, device="cpu:0").fit(meadow(), encoder=GramEncoder())
    assert again.get_params()["device"] == "cpu:0"
    assert np.array_equal(again.score(queries), model.score(queries))
    again.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model", encoder=GramEncoder(), device="cpu")
    assert np.array_equal(loaded.score(queries), model.score(queries))
    with pytest.raises(InputError, match="no device 'nowhere'"):
        Polaris(QUICK, device="nowhere").fit(meadow(), encoder=GramEncoder())
    meadow().write(tmp_path / "meadow")
    for command in (
        ["fit", str(tmp_path / "meadow"), "-o", str(tmp_path / "m")],
        ["suggest", str(tmp_path / "model"), "x"],
    ):
        assert main([*command, "--device", "nowhere"]) == 2
        assert capsys.readouterr().err == "error: this machine has no device 'nowhere'; torch can use: cpu\n"
    assert not (tmp_path / "m").exists()


def test_suggestions_print_and_tabulate(model: Polaris) -> None:
    suggestions = model.suggest("green <bird>", k=3)
    frame = suggestions.to_frame()
    assert list(frame["parent"]) == [s.id for s in suggestions]
    assert list(frame["probability"]) == [s.probability for s in suggestions]
    assert suggestions[0].name in repr(suggestions)
    assert "green &lt;bird&gt;" in suggestions._repr_html_()


def test_the_logger_hears_the_steps(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="taxosphere"):
        Polaris(QUICK).fit(meadow(), encoder=GramEncoder())
    assert [message for message in caplog.messages if "encoding" in message] == [f"encoding {len(meadow()):,} concepts"]
