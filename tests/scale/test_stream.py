"""Lists that are answered in parts: every format, foreign columns, repeated names, and runs that are stopped."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from taxosphere import Concept, Polaris
from taxosphere.cli import main
from taxosphere.errors import InputError
from taxosphere.placing.list_reader import stream_list
from taxosphere.scale import stream
from taxosphere.scale.answer_store import AnswerStore, key_of
from taxosphere.scale.executors import InProcess
from taxosphere.scale.placer import Placer

LIST = (
    'Produkt,name,description,Lieferant\n1,green bird,a bird,"Meyer, Söhne"\n2,winter cake,,\n3,green bird,a bird,Ott\n'
)


class CountingPlacer(Placer):
    """Remembers what it was asked."""

    def __init__(self, model: Path) -> None:
        super().__init__(model, k=3, sentences=False)
        self.asked: list[str] = []

    def documents(self, concepts: Sequence[Concept]) -> list[dict[str, Any]]:
        self.asked += [concept.name for concept in concepts]
        return super().documents(concepts)


def _stream(
    source: Path, placer: Placer, form: str, report: Callable[[int], object] = lambda done: None
) -> stream.Stream:
    return stream.Stream(
        rows=stream_list(source), source=source, form=form, placer=placer, executor=InProcess(), report=report
    )


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    (tmp_path / "new.csv").write_text(LIST, encoding="utf-8")
    return tmp_path / "new.csv"


@pytest.fixture
def long_list(tmp_path: Path, names: list[str]) -> Path:
    (tmp_path / "long.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    return tmp_path / "long.txt"


def test_a_csv_keeps_its_columns_and_gets_parents(model: Path, listed: Path, tmp_path: Path) -> None:
    assert main(["suggest", str(model), "--file", str(listed), "-o", str(tmp_path / "out.csv"), "-k", "2"]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"))))
    assert [row["Lieferant"] for row in rows] == ["Meyer, Söhne", "", "Ott"]
    assert list(rows[0])[:5] == ["Produkt", "name", "description", "Lieferant", "parent_1"]
    best = Polaris.load(model).suggest(("green bird", "a bird"), k=2)
    for row in (rows[0], rows[2]):
        assert (row["parent_1"], row["parent_2"]) == (best[0].id, best[1].id)
        assert float(row["parent_1_probability"]) == pytest.approx(best[0].probability, abs=1e-5)
        assert row["parent_1_path"] == " > ".join(best[0].path)
        assert float(row["none_probability"]) == pytest.approx(best.none_probability, abs=1e-5)


def test_every_format_says_the_same(model: Path, listed: Path, tmp_path: Path) -> None:
    for form in ("jsonl", "json", "tsv", "csv", "parquet"):
        assert main(["suggest", str(model), "--file", str(listed), "-o", str(tmp_path / f"out.{form}"), "-q"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == lines
    assert lines[0]["columns"] == {
        "Produkt": "1",
        "name": "green bird",
        "description": "a bird",
        "Lieferant": "Meyer, Söhne",
    }
    assert lines[0]["suggestions"][0]["sentences"]
    first = [line["suggestions"][0] for line in lines]
    tables = {}
    for form, between in (("tsv", "\t"), ("csv", ",")):
        text = (tmp_path / f"out.{form}").read_text(encoding="utf-8")
        tables[form] = list(csv.DictReader(io.StringIO(text), delimiter=between))
        assert [row["parent_1"] for row in tables[form]] == [one["id"] for one in first]
    assert tables["csv"] == tables["tsv"]
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["Lieferant"] for row in table] == ["Meyer, Söhne", "", "Ott"]
    assert [row["suggestions"][0]["probability"] for row in table] == [one["probability"] for one in first]
    assert [dict(row["suggestions"][0]["reasons"]) for row in table] == [one["reasons"] for one in first]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_unusual_titles_are_read_with_map(model: Path, listed: Path, tmp_path: Path, suffix: str) -> None:
    renamed = tmp_path / f"renamed.{suffix}"
    titles = {"name": "Ware", "description": "Text"}
    rows = [{titles.get(key, key): value for key, value in row.items()} for row in csv.DictReader(io.StringIO(LIST))]
    if suffix == "csv":
        renamed.write_text(LIST.replace("name,description", "Ware,Text"), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), renamed)
    out, usual = tmp_path / "out.jsonl", tmp_path / "usual.jsonl"
    stated = ["--map", "name=Ware", "--map", "description=Text"]
    assert main(["suggest", str(model), "--file", str(renamed), "-o", str(out), *stated]) == 0
    assert main(["suggest", str(model), "--file", str(listed), "-o", str(usual)]) == 0
    answers = [[json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in (out, usual)]
    for mapped, plain in zip(*answers, strict=True):
        assert mapped["query"] == plain["query"]
        assert mapped["suggestions"] == plain["suggestions"]
    assert [answer["columns"] for answer in answers[0]] == rows


def test_parquet_keeps_the_types_of_foreign_columns(model: Path, tmp_path: Path) -> None:
    schema = pa.schema([("name", pa.string()), ("price", pa.decimal128(8, 2)), ("seen", pa.timestamp("us"))])
    pq.write_table(pa.table([["green bird"], [None], [0]], schema=schema), tmp_path / "new.parquet")
    out = tmp_path / "out.parquet"
    assert main(["suggest", str(model), "--file", str(tmp_path / "new.parquet"), "-o", str(out)]) == 0
    assert pq.read_schema(out).field("price").type == pa.decimal128(8, 2)
    assert pq.read_table(out).select(["name", "price", "seen"]) == pq.read_table(tmp_path / "new.parquet")
    assert pq.read_schema(out).names[-4:] == ["none_probability", "parents", "already", "suggestions"]


def test_from_a_pipe_into_a_pipe(
    model: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = b'{"name": "green bird", "price": 3}\n{"name": "winter cake", "tags": ["x"]}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(rows))))  # type: ignore[arg-type]
    assert main(["suggest", str(model), "--file", "-", "-o", "-", "-q"]) == 0
    written = capfdbinary.readouterr()
    documents = [json.loads(line) for line in written.out.splitlines()]
    assert [one["columns"] for one in documents] == [json.loads(line) for line in rows.splitlines()]
    assert written.err == b""


def test_equal_names_are_ranked_once(model: Path, long_list: Path, names: list[str], tmp_path: Path) -> None:
    placer = CountingPlacer(model)
    target = io.BytesIO()
    assert _stream(long_list, placer, "jsonl").to_stream(target) == len(names)
    assert placer.asked == list(dict.fromkeys(names))
    answers = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [one["query"]["name"] for one in answers] == names
    assert [one["suggestions"] for one in answers[1600:]] == [one["suggestions"] for one in answers[:800]]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_stopped_run_goes_on_to_the_same_bytes(model: Path, long_list: Path, form: str, tmp_path: Path) -> None:
    def stop(done: int) -> None:
        if done >= stream.PART:
            raise KeyboardInterrupt

    whole, stopped = tmp_path / f"whole.{form}", tmp_path / f"stopped.{form}"
    request = {"form": form}
    _stream(long_list, CountingPlacer(model), form).to_file(whole, stream.work_beside(whole, request), resume=False)
    work = stream.work_beside(stopped, request)
    with pytest.raises(KeyboardInterrupt):
        _stream(long_list, CountingPlacer(model), form, stop).to_file(stopped, work, resume=False)
    assert not stopped.exists()
    assert [path.name for path in work.folder.glob("[0-9]*.part")] == ["00000000.part"]
    placer = CountingPlacer(model)
    _stream(long_list, placer, form).to_file(stopped, work, resume=True)
    assert stopped.read_bytes() == whole.read_bytes()
    assert len(placer.asked) == 1600 - stream.PART  # what was finished is not ranked again
    assert not work.folder.exists()


def test_a_part_that_was_being_written_is_not_finished(tmp_path: Path) -> None:
    work = stream.work_beside(tmp_path / "out.csv", {})
    work.begin(resume=False)
    work.write_part(0, b"")
    (work.folder / ".00000001.part.x.part").touch()  # as a kill leaves it
    assert work.begin(resume=True) == 1
    assert not list(work.folder.glob(".*.part"))


def test_a_damaged_part_is_made_again(tmp_path: Path) -> None:
    work = stream.work_beside(tmp_path / "out.csv", {})
    work.begin(resume=False)
    for number in range(3):
        work.write_part(number, b"some rows")
    assert work.begin(resume=True) == 3
    path = work.folder / "00000001.part"
    path.write_bytes(path.read_bytes().replace(b"rows", b"rowz"))
    assert work.begin(resume=True) == 1
    assert (work.read_part(0), work.read_part(1)) == (b"some rows", None)


def test_a_damaged_request_is_refused(tmp_path: Path) -> None:
    work = stream.work_beside(tmp_path / "out.csv", {"k": 3})
    work.begin(resume=False)
    (work.folder / "request.json").write_bytes(b'{"k": \xb9}')
    with pytest.raises(InputError, match="is damaged; start without --resume"):
        work.begin(resume=True)
    assert work.begin(resume=False) == 0


def test_a_stopped_run_that_is_not_resumed_is_said_to_be_lost(
    model: Path, listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["suggest", str(model), "--file", str(listed), "-o", str(listed.parent / "out.csv"), "--no-sentences"]
    stream.work_beside(listed.parent / "out.csv", {}).begin(resume=False)
    assert main(command) == 0
    assert "with --resume it would be gone on with" in capsys.readouterr().err
    assert main(command) == 0
    assert "--resume" not in capsys.readouterr().err


def test_another_request_is_not_resumed(long_list: Path, model: Path, tmp_path: Path) -> None:
    stream.work_beside(tmp_path / "out.csv", {"k": 3}).begin(resume=False)
    with pytest.raises(InputError, match="another list, model or option"):
        stream.work_beside(tmp_path / "out.csv", {"k": 4}).begin(resume=True)


def test_a_full_disk_names_the_file(model: Path, listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        _stream(listed, Placer(model), "jsonl").to_file(full, stream.Work(listed.parent / "work", {}), resume=False)
    assert caught.value.filename == "/dev/full"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["x", "-o", "out.csv"], "give it with --file"),
        (["--file", "new.csv", "--map", "name=Ware", "-o", "out.csv"], "names the column 'Ware'"),
        (["--file", "new.csv", "-o", "out.doc"], "suggestions are written to"),
        (["--file", "new.csv", "--as", "doc"], "there is no format 'doc'"),
        (["--file", "new.csv", "--list-as", "doc", "-o", "out.csv"], "there is no kind of list 'doc'"),
        (["--file", "new.csv", "-o", "new.csv"], "write to another file"),
        (["--file", "new.csv", "--resume"], "name it with -o"),
        (["--file", "-", "-o", "out.csv", "--list-as", "csv", "--resume"], "give it as a file"),
        (["--file", "new.csv", "--json", "-o", "out.csv"], "--json prints on standard output"),
        (["--file", "new.doc", "-o", "out.csv"], "a list of concepts is"),
        (["--file", "taken.csv", "-o", "out.csv"], "has a column 'parent_1'"),
    ],
)
def test_faults_are_said_in_one_line(
    model: Path,
    listed: Path,
    arguments: list[str],
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(listed.parent)
    Path("taken.csv").write_text("name,parent_1\nowl,x\n", encoding="utf-8")
    assert main(["suggest", str(model), *arguments]) == 2
    err = capsys.readouterr().err
    assert part in err.splitlines()[-1]
    assert Path("new.csv").read_text(encoding="utf-8") == LIST
    assert not Path("out.csv").exists()
    assert not Path(".out.csv.parts").exists()


def test_a_late_key_has_no_column_in_a_table(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f'{{"name": "bird {n % 7}"}}' for n in range(stream.PART)] + ['{"name": "bird", "late": 1}']
    (tmp_path / "new.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    arguments = ["suggest", str(model), "--file", str(tmp_path / "new.jsonl"), "-q", "-o"]
    assert main([*arguments, str(tmp_path / "out.csv")]) == 2
    assert f"new.jsonl:{stream.PART + 1}: the key 'late'" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "out.jsonl")]) == 0


def test_ids_do_not_tell_concepts_apart() -> None:
    assert key_of(Concept("1", "owl", "a bird")) == key_of(Concept("2", "owl", "a bird"))
    assert key_of(Concept("1", "owl", "a bird")) != key_of(Concept("1", "owl a", "bird"))


def test_a_store_remembers(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a") as store:
        store.put({b"1": {"x": 0.1}})
    with AnswerStore(tmp_path / "a") as store:
        assert store.missing([b"1", b"2"]) == {b"2"}
        assert store.get([b"1", b"2"]) == {b"1": {"x": 0.1}}


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_bytes(model: Path, long_list: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    command = [
        sys.executable,
        "-m",
        "taxosphere",
        "suggest",
        str(model),
        "--file",
        str(long_list),
        "-k",
        "3",
        "--resume",
    ]
    process = subprocess.Popen([*command, "-o", str(killed)])
    parts = tmp_path / ".killed.csv.parts"
    while process.poll() is None and not list(parts.glob("[0-9]*.part")):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert list(parts.glob("[0-9]*.part"))
    assert not killed.exists()
    for out in (killed, whole):
        assert main(["suggest", *command[4:], "-o", str(out), "-q"]) == 0
    assert killed.read_bytes() == whole.read_bytes()
    assert not parts.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["suggest", "MODEL"],
        ["suggest", "MODEL", "--file", "missing.csv", "-o", "out.csv"],
        ["suggest", "MODEL", "--file", "headless.csv", "-o", "out.csv"],
        ["expand", "MODEL", "headless.csv", "-o", "out.doc"],
        ["expand", "MODEL", "missing.csv", "-o", "out.obo"],
        ["expand", "nowhere", "new.csv", "-o", "out.obo"],
    ],
)
def test_a_fault_of_the_request_is_said_before_torch_is_loaded(
    model: Path, listed: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(listed.parent)
    Path("headless.csv").write_text("label_1,definition\na,b\n", encoding="utf-8")
    words = [str(model) if word == "MODEL" else word for word in arguments]
    code = f"import sys; from taxosphere.cli import main; code = main({words!r}); print(code, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"], done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
