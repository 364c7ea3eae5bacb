"""The recipes of docs/deploy at work: nginx in front of a real service, the systemd unit, the container file."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from support.ports import reserve_port

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs" / "deploy"
HOST = "taxonomy.example.org"
TOKEN = "0123456789abcdef" * 4
SERVE = """
import sys, threading
from pathlib import Path
from taxosphere.service.server import Listening, prepare
from taxosphere.service.workbench import Setup
model, folder, port, tokens, host = sys.argv[1:]
setup = Setup(Path(model), Path(folder), str(Path(folder) / "decisions.db"), lambda path: threading.Event().wait())
service = prepare(setup, Listening(port=int(port), tokens=Path(tokens), allowed_hosts=(host,)))
service.server.run(sockets=[service.socket])
"""


def until_open(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nothing listens")


def until_logged(file: Path, text: str) -> str:
    """The proxy's log once `text` is in it: nginx writes the line after the answer has left."""
    until = time.monotonic() + 60
    while text not in file.read_text():
        assert time.monotonic() < until, f"{text} is not in the log"
        time.sleep(0.05)
    return file.read_text()


def certificate(folder: Path) -> None:
    """A certificate for the public name, signed by itself."""
    wanted = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-days", "2", "-nodes"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run(["openssl", "req", "-x509", *curve, *wanted, *files], check=True, capture_output=True)


class Proxied:
    """A browser that reaches the service through the proxy, by its public name."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.folder = port, folder
        self.cookie = ""

    def connect(self) -> HTTPSConnection:
        trusted = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        connection = HTTPSConnection(HOST, self.port, context=trusted, timeout=60)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=60)  # the name is in no register
        connection.sock = trusted.wrap_socket(plain, server_hostname=HOST)
        return connection

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = self.connect()
        sent = {"Cookie": self.cookie, "Content-Type": "application/json", **headers}
        if method == "POST":
            sent["Origin"] = f"https://{HOST}:{self.port}"
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


@pytest.fixture(scope="module")
def proxied(meadow_model: Path, prepared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """The service behind nginx, with the recipe as it is but for names of files and ports."""
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if nginx is None or shutil.which("openssl") is None:
        pytest.skip("nginx and openssl are not on this machine")
    folder = tmp_path_factory.mktemp("proxy")
    shutil.copytree(prepared_folder, folder / "workbench")
    certificate(folder)
    (inner, inner_keeper), (outer, outer_keeper) = reserve_port(), reserve_port()
    (folder / "tokens").write_text(f"ada curator {hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
    recipe = (RECIPES / "nginx.conf").read_text()
    for written, here in (
        ("listen 443", f"listen 127.0.0.1:{outer}"),
        ("127.0.0.1:8000", f"127.0.0.1:{inner}"),
        ("/etc/letsencrypt/live/taxonomy.example.org", str(folder)),
        ("/var/log/nginx", str(folder)),
    ):
        assert written in recipe
        recipe = recipe.replace(written, here)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""  # the folder is for nobody else
    rest = f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
    (folder / "nginx.conf").write_text(f"{rest}\nhttp {{ {places}\n{recipe}\n}}\n")
    arguments = [meadow_model, folder / "workbench", str(inner), folder / "tokens", HOST]
    service = subprocess.Popen(
        [sys.executable, "-c", SERVE, *map(str, arguments)], env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    proxy = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.PIPE)
    try:
        until_open(inner)
        until_open(outer)
        yield Proxied(outer, folder)
    finally:
        for process in (proxy, service):
            process.terminate()
            process.wait()
        inner_keeper.close()
        outer_keeper.close()
        if proxy.stderr is not None:
            proxy.stderr.close()


def test_a_link_with_a_token_lets_somebody_in_by_https_only(proxied: Proxied) -> None:
    status, headers, _ = proxied.ask("GET", f"/?token={TOKEN}")
    assert (status, headers["location"]) == (303, "/")
    assert {"secure", "httponly", "samesite=strict"} <= set(headers["set-cookie"].lower().replace(" ", "").split(";"))
    assert "max-age" in headers["strict-transport-security"]
    proxied.cookie = headers["set-cookie"].partition(";")[0]
    status, headers, content = proxied.ask("GET", "/api/v1/me")
    assert (status, json.loads(content)) == (200, {"name": "ada", "role": "curator"})
    assert "default-src 'self'" in headers["content-security-policy"]
    log = until_logged(proxied.folder / "taxosphere.log", "/api/v1/me")
    assert TOKEN not in log


def test_a_decision_is_told_through_the_proxy_at_once(proxied: Proxied) -> None:
    bearer = f"Bearer {TOKEN}"
    stream = proxied.connect()
    stream.request("GET", "/api/v1/events", headers={"Authorization": bearer})
    answer = stream.getresponse()
    assert answer.readline() == b"retry: 2000\n", "the head of the stream is not kept back"
    told = threading.Event()

    def listen() -> None:
        for line in answer:
            if line.startswith(b"event: decision"):
                told.set()
                return

    threading.Thread(target=listen, daemon=True).start()
    body = {"item": "new3", "kind": "reject", "version": 0}
    assert proxied.ask("POST", "/api/v1/decisions", body, Authorization=bearer)[0] == 200
    assert told.wait(60)
    stream.close()


def test_large_answers_are_compressed_on_the_way(proxied: Proxied) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    plain = proxied.ask("GET", "/api/v1/queue?limit=200", **bearer)
    status, headers, content = proxied.ask("GET", "/api/v1/queue?limit=200", **bearer, **{"Accept-Encoding": "gzip"})
    assert (plain[0], status, headers["content-encoding"]) == (200, 200, "gzip")
    assert gzip.decompress(content) == plain[2]


def test_what_is_refused_without_a_proxy_is_refused_behind_one(proxied: Proxied) -> None:
    assert proxied.ask("GET", "/api/v1/queue", Cookie="")[0] == 401
    assert proxied.ask("GET", "/api/v1/queue", Host="elsewhere.example")[0] == 421
    connection = proxied.connect()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Origin": "https://evil.example"}
    connection.request("POST", "/api/v1/decisions", "{}", headers)
    assert connection.getresponse().status == 403
    connection.close()
    large = {"name": "list.csv", "content_base64": "YQ==" * 4_000_000}
    assert proxied.ask("POST", "/api/v1/imports", large, Authorization=f"Bearer {TOKEN}")[0] in (200, 422), (
        "16 MB arrive"
    )


def test_the_unit_is_one_that_systemd_understands(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        pytest.skip("systemd-analyze is not on this machine")
    unit = (RECIPES / "taxosphere.service").read_text()
    here = unit.replace("/opt/taxosphere/bin/taxosphere", sys.executable).replace("User=taxosphere", "User=daemon")
    (tmp_path / "taxosphere.service").write_text(here.replace("Group=taxosphere", "Group=daemon"))
    done = subprocess.run(
        [systemd, "verify", "--man=no", "--recursive-errors=no", str(tmp_path / "taxosphere.service")],
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if "taxosphere.service" in line]
    assert (done.returncode, said) == (0, [])


def test_the_unit_and_the_container_file_start_the_service_with_options_it_has() -> None:
    import typer

    from taxosphere.cli.commands.serve import serve

    app = typer.Typer(add_completion=False)
    app.command()(serve)
    options = {name for parameter in typer.main.get_command(app).params for name in parameter.opts}
    for file in ("taxosphere.service", "Containerfile"):
        used = re.findall(r"taxosphere serve ((?:\\\n#?|[^\n])+)", (RECIPES / file).read_text())
        assert used, file
        assert set(re.findall(r"--[a-z-]+", " ".join(used))) <= options, file
