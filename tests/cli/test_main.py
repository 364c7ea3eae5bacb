from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from types import SimpleNamespace

import pytest

from support import malformed
from taxosphere import __version__, atomic, cli
from taxosphere.cli import COMMANDS, main, output
from taxosphere.errors import InputError, TaxosphereError

NO_MEMORY = "not enough memory; 'taxosphere doctor' says how much is free, and other programs may hold it"
Capture = pytest.CaptureFixture[str]


def test_help_lists_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in shown


def test_nothing_typed_is_a_question_for_help(capsys: Capture) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: taxosphere")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_page_with_an_example(capsys: Capture, name: str) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"taxosphere {name}" in shown.split("Example", 1)[1]


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"taxosphere {__version__}\n"


@pytest.mark.parametrize(
    "args",
    [["nonsense"], ["--nonsense"], ["inspect"], ["inspect", "a", "b"], ["convert", "a"], ["inspect", "a", "--x"]],
)
def test_a_usage_error_is_one_line_that_points_to_help(capsys: Capture, args: list[str]) -> None:
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "--help'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("is wrong", "a.tsv", 3), 2, "error: a.tsv:3: is wrong\n"),
        (TaxosphereError("did not\nwork"), 1, "error: did not work\n"),
        (MemoryError(), 1, f"error: {NO_MEMORY}\n"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), 1, f"error: {NO_MEMORY}\n"),
        (ImportError("x.so: failed to map segment from shared object"), 1, f"error: {NO_MEMORY}\n"),
        (
            ModuleNotFoundError("No module named 'safetensors'", name="safetensors.numpy"),
            1,
            "error: this needs the package 'safetensors': pip install 'taxosphere[train]'\n",
        ),
        (RuntimeError("std::bad_alloc"), 1, f"error: {NO_MEMORY}\n"),
        (OSError(28, "No space left on device", "out.obo"), 1, "error: out.obo: No space left on device\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_end_in_one_line(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(inspect=fail))
    assert main(["inspect"]) == code
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_allocator_that_gives_up_ends_in_the_same_line(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    def ask_for_too_much() -> None:
        import_module(library).empty(1 << 50)

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(inspect=ask_for_too_much))
    assert main(["inspect"]) == 1
    assert capsys.readouterr().err == f"error: {NO_MEMORY}\n"


@pytest.mark.parametrize("mistake", [ZeroDivisionError, RuntimeError, ModuleNotFoundError])
def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]) -> None:
    def fail() -> None:
        raise mistake

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(inspect=fail))
    with pytest.raises(mistake):
        main(["inspect"])


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    rows = "".join(f"root\tconcept {i}\n" for i in range(5000))
    (tmp_path / "t.tsv").write_text(
        "parent\tchild\n" + rows + "".join(f"x\tConcept {i}\n" for i in range(5000)), "utf-8"
    )
    command = [sys.executable, "-m", "taxosphere", "inspect", "--all", str(tmp_path / "t.tsv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_terminal_can_show_any_name(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("parent\tchild\n動物\t鳥\n鳥\tа → б\nа → б\t動物\n", "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "taxosphere", "inspect", str(path)]
    plain = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert plain.stderr == b""
    shown = subprocess.run([*command, "--json"], capture_output=True, env=environment, check=True)
    assert set(json.loads(shown.stdout.decode(encoding))["cycles"][0]) == {"動物", "鳥", "а → б"}


def test_malformed_inputs_end_in_one_line_and_write_nothing(tmp_path: Path, capsys: Capture) -> None:
    cases = malformed.cases(tmp_path)
    assert len(cases) >= 24
    before = sorted(tmp_path.iterdir())
    for label, path in [*cases, ("cyclic", malformed.cyclic(tmp_path))]:
        for command in (
            ["convert", str(path), str(tmp_path / "out.tsv")],
            ["convert", str(path), str(tmp_path / "out")],
        ):
            code = main(command)
            out, err = capsys.readouterr()
            assert (code, out) == (2, ""), f"{label}: {code} {out} {err}"
            assert err.startswith(f"error: {path}"), f"{label}: {err}"
            assert err.count("\n") == 1, f"{label}: {err}"
            assert len(err) < 500, f"{label}: {err}"
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "cyclic.tsv"])


def test_a_file_that_must_not_be_read_is_named_by_our_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The library of the command line would ask for permissions itself, and name the argument before the file."""
    (tmp_path / "x.csv").write_text("parent,child\na,b\n")
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    assert main(["inspect", str(tmp_path / "x.csv")]) == 0, capsys.readouterr().err


def test_inspecting_malformed_inputs_fails_too(tmp_path: Path, capsys: Capture) -> None:
    for label, path in malformed.cases(tmp_path):
        assert main(["inspect", str(path)]) == 2, label
        err = capsys.readouterr().err
        assert err.startswith(f"error: {path}"), f"{label}: {err}"
        assert err.count("\n") == 1, f"{label}: {err}"


def test_plain_tables_line_up(capsys: Capture) -> None:
    output.table(("name", "size", "share"), [("bird", 1200, 0.25), ("dog", 7, 1.0)], title="animals")
    assert capsys.readouterr().out.splitlines() == [
        "animals",
        "name   size  share",
        "bird  1,200   0.25",
        "dog       7      1",
    ]


def test_a_terminal_gets_a_drawn_table(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    output.table(("name",), [("[bold]brackets[/bold] stay",)])
    shown = capsys.readouterr().out
    assert "[bold]brackets[/bold] stay" in shown
    assert "│" in shown


def test_a_title_may_hold_brackets(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    output.table(("name",), [("a name as wide as its title",)], title="pipe [/b] fitting")
    assert "pipe [/b] fitting" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="closes streams as a POSIX shell does")
@pytest.mark.parametrize("more", [">&-", "--json >&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_error(tmp_path: Path, more: str) -> None:
    (tmp_path / "t.tsv").write_text("parent\tchild\na\tb\n", "utf-8")
    command = f"'{sys.executable}' -m taxosphere inspect t.tsv {more}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["demo", "fit t.tsv -o m", "evaluate t.tsv", "bench", "study kernels"])
@pytest.mark.parametrize("seed", ["18446744073709551616", "-1"])
def test_random_states_have_bounds(capsys: Capture, command: str, seed: str) -> None:
    assert main([*command.split(), "--seed", seed]) == 2
    assert "--seed" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate t.tsv", "bench", "study kernels"])
def test_the_last_run_has_a_random_state_too(capsys: Capture, command: str) -> None:
    assert main([*command.split(), "--seed", "4294967295", "--runs", "2"]) == 2
    assert "exceed 4294967295" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_unfinished_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def stopped() -> None:
        with atomic.file(tmp_path / "o.obo") as part:
            part.write_text("half", "utf-8")
            os.kill(os.getpid(), number)

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(inspect=stopped))
    before = signal.signal(number, signal.SIG_DFL)  # whoever started the suite may ignore it, as nohup does
    try:
        assert main(["inspect"]) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_a_signal_waits_for_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> None:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            pool.submit(os.getpid).result()
            pool.submit(time.sleep, 600)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(inspect=stopped))
    assert main(["inspect"]) == 128 + signal.SIGTERM
    assert active_children() == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_what_nohup_ignores_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cli, "import_module", lambda _: SimpleNamespace(inspect=lambda: os.kill(os.getpid(), signal.SIGHUP))
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main(["inspect"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
