"""The threat list, line by line: each test tries one of the attacks."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import re
import socket
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

import taxosphere
from support.workbenches import ADDRESS, TOKENS, Client, access, load
from taxosphere.errors import InputError
from taxosphere.service import limits
from taxosphere.service.app import make_app
from taxosphere.service.auth import Access, local_token, read_tokens
from taxosphere.service.model_answers import ANSWERS
from taxosphere.service.server import Listening, bind, check, is_loopback
from taxosphere.service.store_access import Person
from taxosphere.taxonomy import Taxonomy

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench

SOURCE = Path(taxosphere.__file__).parent
SCRIPT = "<script>alert(1)</script>"


def guarded(bench: Workbench, role: str | None = "admin") -> Client:
    return Client(make_app(bench, access(bench)), role)


# 1. -------------------------------------------------------------------------------------------------------------------


def test_1_open_to_the_network_by_default(tmp_path: Path) -> None:
    assert Listening().host == "127.0.0.1"
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        assert not is_loopback(host)
        with pytest.raises(InputError, match="--tokens"):
            check(Listening(host=host))
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada admin {'0' * 64}\n")
    assert [token.person for token in check(Listening(host="0.0.0.0", tokens=tokens))] == [Person("ada", "admin")]


def test_1_another_machine_reaches_nothing() -> None:
    """What listens by default is not reached by this machine's own address in the network either."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address in a network")
        address = probe.getsockname()[0]
    with bind(Listening(port=0)) as opened:
        port = opened.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=5).close()


def test_1_plain_http_beyond_this_machine_is_warned_of(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from taxosphere.cli.commands import serve
    from taxosphere.service import server

    class Stopped:
        workbench, address, link = bench, "http://0.0.0.0:8000", "http://0.0.0.0:8000/"

        def run(self) -> None:
            pass

    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada admin {'0' * 64}\n")
    monkeypatch.setattr(server, "prepare", lambda setup, listening: Stopped())
    stated: dict[str, Any] = {"new": None, "db": "", "port": 0, "allow_host": [], "no_reconcile": False, "demo": False}
    serve.serve(bench.setup.model, host="0.0.0.0", tokens=tokens, **stated)
    assert "is plain http: put a reverse proxy with https in front of it" in capsys.readouterr().err
    serve.serve(bench.setup.model, host="127.0.0.1", tokens=None, **stated)
    assert "plain http" not in capsys.readouterr().err


# 2. -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "evil.example/127.0.0.1",
        "",
    ],
)
def test_2_dns_rebinding_and_forged_hosts(bench: Workbench, host: str) -> None:
    client = guarded(bench)
    for path in ("/api/v1/queue", "/", "/reconcile", "/openapi.json"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "evil" not in answer.text
    assert client.get("/api/v1/queue", headers={"X-Forwarded-Host": "evil.example"}).status_code == 200


def test_2_two_hosts_in_one_request(bench: Workbench) -> None:
    app = make_app(bench, access(bench))
    token = f"Bearer {TOKENS['admin']}".encode()
    headers = [(b"host", b"127.0.0.1"), (b"host", b"evil.example"), (b"authorization", token)]
    assert asyncio.run(status_of(app, "GET", "/api/v1/queue", headers)) == 421


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /api/v1/queue HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n",
        b"GET /api/v1/queue HTTP/1.1\r\nHost: 127.0.0.1, evil.example\r\n",
        b"GET http://evil.example/api/v1/queue HTTP/1.1\r\nHost: evil.example\r\n",
        b"GET /api/v1/queue HTTP/1.1\r\n",
        b"GET /api/v1/queue HTTP/1.0\r\n",
        b"GET /api/v1/queue HTTP/1.1\r\nHost : 127.0.0.1\r\nHost:\tevil.example\r\n",
    ],
)
def test_2_hosts_on_the_wire(bench: Workbench, request_: bytes) -> None:
    """As bytes to the real server: its parser must not hide a second host, or make one up."""
    with serving(make_app(bench, access(bench))) as port, socket.create_connection(("127.0.0.1", port), 30) as wire:
        token = f"Authorization: Bearer {TOKENS['admin']}\r\nConnection: close\r\n\r\n"
        wire.sendall(request_ + token.encode())
        answer = b"".join(iter(lambda: wire.recv(65_536), b""))
    assert re.match(rb"HTTP/1\.[01] (400|421) ", answer), answer[:200]
    assert b'"items"' not in answer


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """Port of a real server for an application, while the block runs."""
    opened = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
    thread.start()
    try:
        yield opened.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        opened.close()


async def status_of(app: Any, method: str, path: str, headers: list[tuple[bytes, bytes]], body: Any = None) -> int:
    """Status that the application answers to a request as it comes from the wire."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8000),
    }
    statuses: list[int] = []
    parts = iter(body or [b""])

    async def receive() -> dict[str, Any]:
        part = next(parts, None)
        if part is None:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": part, "more_body": body is not None}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await asyncio.wait_for(app(scope, receive, send), 60)
    return statuses[0]


# 3. -------------------------------------------------------------------------------------------------------------------


def session(bench: Workbench) -> tuple[Client, Access]:
    """A browser that came in by a one-time link."""
    door = access(bench)
    client = Client(make_app(bench, door), None)
    secret = door.one_time_link(Person("ada", "admin"))
    answer = client.get(f"/?token={secret}", follow_redirects=False)
    assert answer.status_code == 303
    return client, door


def test_3_cross_site_request_forgery(bench: Workbench) -> None:
    client, _ = session(bench)
    body = {"item": "new0", "kind": "reject", "version": 0}
    forged = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    for headers in forged:
        answer = client.post("/api/v1/decisions", json=body, headers=headers)
        assert answer.status_code == 403, headers
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post("/api/v1/decisions", content=json.dumps(body), headers={"Content-Type": kind})
        assert answer.status_code == 415, kind
    assert client.get("/api/v1/decisions").json()["decisions"] == []
    own = client.post("/api/v1/decisions", json=body, headers={"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"})
    assert own.status_code == 200


def test_3_no_get_changes_anything_and_the_cookie_is_strict(bench: Workbench) -> None:
    door = access(bench)
    client = Client(make_app(bench, door), None)
    answer = client.get(f"/?token={door.one_time_link(Person('ada', 'admin'))}", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "samesite=strict" in cookie
    assert "httponly" in cookie
    for path in ("decisions/bulk?threshold=0", "queue", "jobs"):
        client.get(f"/api/v1/{path}")
    assert client.get("/api/v1/decisions").json()["decisions"] == []
    assert client.get("/api/v1/jobs").json()["jobs"] == []


# 4. -------------------------------------------------------------------------------------------------------------------


def test_4_cross_origin_reads(bench: Workbench) -> None:
    client, _ = session(bench)
    for origin in ("http://evil.example", "null"):
        answer = client.get("/api/v1/queue", headers={"Origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
        preflight = client.options(
            "/api/v1/decisions", headers={"Origin": origin, "Access-Control-Request-Method": "POST"}
        )
        assert preflight.status_code in (403, 405)
        assert "access-control-allow-origin" not in preflight.headers
    open_to_all = client.get("/reconcile", headers={"Origin": "http://refine.example"})
    assert open_to_all.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in open_to_all.headers
    assert "set-cookie" not in open_to_all.headers
    assert "access-control-allow-origin" not in client.get("/reconcile", headers={"Origin": "null"}).headers


# 5. -------------------------------------------------------------------------------------------------------------------


def test_5_script_in_names_and_definitions(bench: Workbench) -> None:
    client = guarded(bench)
    body = {"concepts": [{"name": SCRIPT, "definition": f'"><img src=x onerror=alert(1)>{SCRIPT}', "id": "evil"}]}
    assert client.send_json("queue", body).status_code == 200
    accepted = {"item": "evil", "kind": "move", "parents": ["bird"], "version": 0}
    assert client.send_json("decisions", accepted).status_code == 200
    for path in ("/api/v1/queue/evil", "/api/v1/concepts/evil", "/api/v1/decisions"):
        answer = client.get(path)
        assert answer.headers["content-type"].startswith("application/json")
        assert answer.headers["x-content-type-options"] == "nosniff"
    preview = client.get("/reconcile/preview?id=evil")
    assert SCRIPT not in preview.text
    assert "<img" not in preview.text
    assert "&lt;script&gt;" in preview.text
    assert "default-src 'none'" in preview.headers["content-security-policy"]


def test_5_policy_of_the_page(bench: Workbench) -> None:
    answer = guarded(bench, None).get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"<script(?![^>]*\bsrc=)", answer.text), "no script stands in the page itself"


# 6. -------------------------------------------------------------------------------------------------------------------

TRAVERSALS = [
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "....//....//etc/passwd",
    "/etc/passwd",
    "assets/../../app.py",
    "..\\..\\app.py",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_6_path_traversal(bench: Workbench, path: str) -> None:
    client = guarded(bench)
    for prefix in ("/", "/assets/", "/api/v1/concepts/", "/api/v1/queue/"):
        answer = client.get(prefix + path)
        assert answer.status_code in (404, 422)
        assert "root:" not in answer.text
        assert "import" not in answer.text
    answer = client.send_json(f"imports/{path}", {"mapping": {"name": "name"}})
    assert answer.status_code in (404, 405, 422)
    content = base64.b64encode(b"name\npink boat\n").decode()
    before = sorted(bench.setup.folder.rglob("*"))
    shown = client.send_json("imports", {"name": f"{path}/x.csv", "content_base64": content})
    assert shown.status_code == 200
    new = set(bench.setup.folder.rglob("*")) - set(before)
    assert [file.parent for file in new] == [bench.setup.uploads], "a file name of a client is never a path"
    assert client.get("/api/v1/export", params={"as": "taxonomy", "suffix": f".{path}"[:20]}).status_code == 422


# 7. -------------------------------------------------------------------------------------------------------------------


def test_7_no_address_is_fetched() -> None:
    fetching = re.compile(
        r"\b(urlopen|urlretrieve|requests\.|httpx|aiohttp|http\.client|ftplib|socket\.create_connection)"
    )
    for path in [*(SOURCE / "service").rglob("*.py"), *(SOURCE / "taxonomy").rglob("*.py")]:
        assert not fetching.search(path.read_text("utf-8")), path


def test_7_addresses_in_files_are_not_visited(tmp_path: Path) -> None:
    """Imports, contexts, entities and schemas that name an address: nobody comes to it."""
    visitors: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.2)
        there = f"http://127.0.0.1:{trap.getsockname()[1]}/x"
        owl = f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF SYSTEM "{there}.dtd" [<!ENTITY a SYSTEM "{there}">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="urn:o"><owl:imports rdf:resource="{there}"/></owl:Ontology>
<owl:Class rdf:about="urn:a"><rdfs:label>a</rdfs:label></owl:Class>
<owl:Class rdf:about="urn:b"><rdfs:label>b</rdfs:label><rdfs:subClassOf rdf:resource="urn:a"/></owl:Class></rdf:RDF>"""
        turtle = f"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<urn:o> a owl:Ontology ; owl:imports <{there}> . <urn:a> a skos:Concept ; skos:prefLabel "a" .
<urn:b> a skos:Concept ; skos:prefLabel "b" ; skos:broader <urn:a> ."""
        jsonld = json.dumps({"@context": there, "@id": "urn:a", "@type": "skos:Concept"})
        opml = f'<?xml version="1.0"?><!DOCTYPE opml SYSTEM "{there}"><opml><body><outline text="a"/></body></opml>'
        obo = f"format-version: 1.2\nimport: {there}\n\n[Term]\nid: X:1\nname: a\n"
        files = {"a.owl": owl, "a.ttl": turtle, "a.jsonld": jsonld, "a.opml": opml, "a.obo": obo}
        for name, text in files.items():
            path = tmp_path / name
            path.write_text(text)
            with suppress(InputError):  # to refuse it is fine, to go there is not
                Taxonomy.read(path)
            with suppress(TimeoutError):
                visitors.append((name, trap.accept()[1]))
    assert visitors == []


def test_7_imports_of_an_uploaded_ontology_are_not_followed(bench: Workbench) -> None:
    content = base64.b64encode(b"name,image\nhttp://169.254.169.254/latest,http://127.0.0.1:1/x.png\n").decode()
    shown = guarded(bench).send_json("imports", {"name": "list.csv", "content_base64": content})
    assert shown.json()["rows"] == [["http://169.254.169.254/latest", "http://127.0.0.1:1/x.png"]]


# 8. -------------------------------------------------------------------------------------------------------------------


def test_8_nothing_is_unpickled() -> None:
    risky = re.compile(
        r"^\s*(import|from) (pickle|cloudpickle|joblib|marshal|shelve|dill)\b|allow_pickle=True|\bexec\(", re.M
    )
    for path in SOURCE.rglob("*.py"):
        assert not risky.search(path.read_text("utf-8")), path


def test_8_a_model_that_was_changed_is_refused(meadow_model: Path, tmp_path: Path) -> None:
    import shutil

    copied = shutil.copytree(meadow_model, tmp_path / "copy")
    weights = next(copied.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(InputError, match="changed or damaged"):
        load(str(copied))


# 9. -------------------------------------------------------------------------------------------------------------------


def bomb(size: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"\0" * size)
    return packed.getvalue()


REGRESSIONS = Path(__file__).parents[1] / "regressions"
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bomb.xlsx", bomb(50 << 20)),
        ("entities.xlsx", ENTITIES),
        ("names.xlsx", (REGRESSIONS / "names-that-are-no-utf-8.xlsx").read_bytes()),
        ("version.xlsx", (REGRESSIONS / "unknown-zip-version.xlsx").read_bytes()),
        ("deep.jsonl", b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("gzip.csv", __import__("gzip").compress(b"name\n" + b"a" * (80 << 20))),
        ("rows.csv", b"name\n" + b"x\n" * (limits.LIST_ROWS + 1)),
        ("wide.txt", b"x" * (3 << 20)),
    ],
)
def test_9_bombs(bench: Workbench, name: str, content: bytes) -> None:
    body = {"name": name, "content_base64": base64.b64encode(content).decode()}
    client = guarded(bench)
    answer = client.send_json("imports", body)
    if answer.status_code == 200:  # read, but no concept of it is taken
        answer = client.send_json(f"imports/{answer.json()['upload']}", {"mapping": {"name": "name"}})
    assert answer.status_code == 422
    assert not list(bench.setup.uploads.iterdir()) or name == "wide.txt"


def test_9_deep_and_odd_json(bench: Workbench) -> None:
    client = guarded(bench)
    for body in (
        "[" * 200_000,
        '{"a":' * 50_000,
        "1" * 10_000,
        '"\\ud800"',
        "NaN",
        '{"concepts": [{"name": "\\ud800"}]}',
    ):
        answer = client.post("/api/v1/suggest", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), body[:20]


def test_9_a_query_is_no_pattern(bench: Workbench) -> None:
    for query in ("(a+)+$" * 100, "%" * 1000, "_" * 1000, "\\" * 1000, "a* " * 600):
        assert guarded(bench).get("/api/v1/concepts", params={"query": query[:2000]}).status_code == 200
        assert guarded(bench).get("/api/v1/queue", params={"query": query[:2000]}).json()["items"] == []


# 10. ------------------------------------------------------------------------------------------------------------------


def test_10_limits_of_requests(bench: Workbench) -> None:
    client = guarded(bench)
    large = {"concepts": [{"name": "x", "definition": "y" * (limits.BODY_BYTES + 1)}]}
    assert client.send_json("suggest", large).status_code == 413
    many = {"concepts": [{"name": "x"}] * (limits.BATCH + 1)}
    assert client.send_json("suggest", many).status_code == 422
    assert client.send_json("suggest", {"concepts": [{"name": "x" * (limits.NAME + 1)}]}).status_code == 422
    assert client.get("/api/v1/queue", params={"limit": limits.PAGE + 1}).status_code == 422
    assert client.get("/api/v1/queue", params={"limit": 10**30}).status_code == 422
    queries = json.dumps({str(number): {"query": "x"} for number in range(limits.RECONCILE_QUERIES + 1)})
    assert client.post("/reconcile", data={"queries": queries}).status_code == 413


def test_10_a_body_that_is_longer_than_it_says(bench: Workbench) -> None:
    app = make_app(bench, access(bench))
    headers = [
        (b"host", b"127.0.0.1:8000"),
        (b"content-type", b"application/json"),
        (b"authorization", f"Bearer {TOKENS['admin']}".encode()),
    ]
    endless = [b"[" + b" " * 65_536 for _ in range(100)]
    assert asyncio.run(status_of(app, "POST", "/api/v1/suggest", headers, endless)) == 413
    assert (
        asyncio.run(status_of(app, "POST", "/api/v1/suggest", [*headers, (b"content-length", b"99999999999")])) == 413
    )


def test_10_a_body_that_never_ends(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    app = make_app(bench, access(bench))
    headers = [
        (b"host", b"127.0.0.1:8000"),
        (b"content-type", b"application/json"),
        (b"authorization", f"Bearer {TOKENS['admin']}".encode()),
    ]
    assert asyncio.run(status_of(app, "POST", "/api/v1/suggest", headers, [b"{"])) == 408


def test_10_a_full_queue_answers_429(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    release = threading.Event()
    monkeypatch.setitem(ANSWERS, "wait", lambda model, question: release.wait(120))
    blocked = bench.suggester.ask("wait")
    try:
        monkeypatch.setattr(limits, "WAITING_CONCEPTS", 300)
        waiting = bench.suggester.suggest([load_concept()] * 299, 1)
        answer = guarded(bench).send_json("suggest", {"concepts": [{"name": "x"}] * 10})
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert guarded(bench).get("/api/v1/queue").status_code == 200, "what needs no model is answered meanwhile"
    finally:
        release.set()
    assert blocked.result(120)
    assert len(waiting.result(120)) == 299


def load_concept() -> Any:
    from taxosphere import Concept

    return Concept("", "green bird")


def test_10_too_many_listeners(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LISTENERS", 0)
    answer = guarded(bench).get("/api/v1/events")
    assert answer.status_code == 429
    assert "retry-after" in answer.headers


# 11. ------------------------------------------------------------------------------------------------------------------


def test_11_formulas_in_exports(bench: Workbench) -> None:
    client = guarded(bench)
    formula = '=HYPERLINK("http://evil.example","click")'
    assert client.send_json("queue", {"concepts": [{"name": formula, "id": "evil"}]}).status_code == 200
    decision = {"item": "evil", "kind": "move", "parents": ["bird"], "version": 0, "note": "@SUM(A1)"}
    assert client.send_json("decisions", decision).status_code == 200
    answer = client.get("/api/v1/export", params={"as": "decisions-csv"})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    cells = re.split(r"[;,\r\n]", answer.content.decode("utf-8-sig"))
    assert not [cell for cell in cells if cell.lstrip('"').startswith(("=", "@", "+", "-"))]


# 12. ------------------------------------------------------------------------------------------------------------------


def test_12_secrets(bench: Workbench, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "token"
    secret = local_token(path)
    assert len(secret) >= 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert local_token(path) == secret, "it is made once"
    path.chmod(0o644)
    with pytest.raises(InputError, match="readable by others"):
        local_token(path)
    for folder in (bench.setup.folder, bench.setup.uploads, bench.setup.models):
        assert not stat.S_IMODE(folder.stat().st_mode) & 0o077 or folder == bench.setup.folder
    logging.getLogger("httpx2").disabled = True  # the client of this test, not the service
    with caplog.at_level(logging.DEBUG):
        client = guarded(bench, None)
        client.get("/api/v1/queue", headers={"Authorization": "Bearer secret-that-is-wrong"})
        client.get("/?token=secret-that-is-wrong")
        client.post("/api/v1/session", json={"token": "secret-that-is-wrong"})
    assert "secret-that-is-wrong" not in caplog.text
    logging.getLogger("httpx2").disabled = False
    assert "compare_digest" in (SOURCE / "service" / "auth.py").read_text()


def test_12_only_hashes_are_kept(bench: Workbench) -> None:
    client, _ = session(bench)
    secret = client.cookies["taxosphere_session"]
    for file in bench.setup.folder.glob("decisions.db*"):
        assert secret.encode() not in file.read_bytes()


def test_12_a_one_time_link_works_once(bench: Workbench) -> None:
    door = access(bench)
    secret = door.one_time_link(Person("ada", "admin"))
    first, second = Client(make_app(bench, door), None), Client(make_app(bench, door), None)
    assert first.get(f"/?token={secret}", follow_redirects=False).status_code == 303
    assert second.get(f"/?token={secret}", follow_redirects=False).status_code == 403
    assert first.get("/api/v1/me").json() == {"name": "ada", "role": "admin"}
    assert second.get("/api/v1/me").status_code == 401
    assert first.post("/api/v1/session/end", json={}).status_code == 200
    assert first.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize("line", ["ada admin", "ada admin secret", "ada root " + "0" * 64, "x y z w"])
def test_12_a_token_file_with_faults_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# name role sha256\n{line}\n")
    with pytest.raises(InputError) as refused:
        read_tokens(path)
    assert refused.value.line == 2


# 13. ------------------------------------------------------------------------------------------------------------------


def test_13_open_redirects_and_echoes(bench: Workbench) -> None:
    client, door = session(bench)
    secret = door.one_time_link(Person("ada", "admin"))
    answer = client.get(f"/?token={secret}&next=http://evil.example&url=//evil.example", follow_redirects=False)
    assert answer.headers["location"] == "/"
    for path in (
        "//evil.example",
        "//evil.example/..",
        "/api/v1/queue/",
        f"/{SCRIPT}",
        "/api/v1/evil",
        "/evil.example",
    ):
        answer = client.get(path, follow_redirects=False)
        assert answer.status_code < 300 or answer.status_code >= 400
        assert "location" not in answer.headers
        assert "evil" not in answer.text
        assert SCRIPT not in answer.text


# 14. is test_permissions.py -------------------------------------------------------------------------------------------


def test_14_a_viewer_cannot_change_anything(bench: Workbench) -> None:
    client = guarded(bench, "viewer")
    for path, body in [
        ("decisions", {"item": "new0", "kind": "accept", "version": 0}),
        ("decisions/bulk", {"threshold": 0}),
        ("queue", {"concepts": [{"name": "x"}]}),
        ("queue/new0/assign", {"to": "x", "version": 0}),
        ("imports", {"name": "x.csv", "content_base64": ""}),
        ("jobs", {"kind": "retrain"}),
        ("model/activate", {"id": "x"}),
    ]:
        assert client.send_json(path, body).status_code == 403, path
    assert guarded(bench, "curator").send_json("jobs", {"kind": "retrain"}).status_code == 403


# 15. ------------------------------------------------------------------------------------------------------------------


def test_15_supply_chain() -> None:
    from taxosphere.encoders import weights

    root = SOURCE.parents[1]
    assert "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db" in Path(weights.__file__).read_text()
    pinned = (root / "constraints.txt").read_text().lower()
    for name in ("fastapi", "starlette", "uvicorn", "sqlalchemy", "mcp", "psycopg"):
        assert re.search(rf"^{name}==", pinned, re.M), name
    assert (root / "SECURITY.md").is_file()
    code = "import taxosphere.service.app, sys; assert 'torch' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


# 16. prompt injection is in test_mcp.py -------------------------------------------------------------------------------
