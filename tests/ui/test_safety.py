"""What must not get in, must not get out, and must not stay: hosts, origins, tokens, bodies, names, hostile files."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from served import served, wait_until
from softlookup.errors import CapacityError, DocumentError, UsageError
from softlookup.ui.server import reading
from softlookup.ui.server.reading import LimitedReading, ReadLimits
from softlookup.ui.server.settings import Settings
from softlookup.ui.server.store import DocumentStore
from tiny_models import CONTRACT

_SPEC = importlib.util.spec_from_file_location(
    "safety_pdf_builders", Path(__file__).parents[1] / "documents" / "pdf_builders.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
PDF = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = PDF  # its dataclasses look there for their module
_SPEC.loader.exec_module(PDF)

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def guarded(tiny_folder, tmp_path_factory):
    """A server that wants a token."""
    with served(model=tiny_folder, store=tmp_path_factory.mktemp("guarded"), token=TOKEN) as running:
        yield running


@pytest.fixture(scope="module")
def strict(tiny_folder, tmp_path_factory):
    """A server with small limits."""
    store = tmp_path_factory.mktemp("strict")
    with served(model=tiny_folder, store=store, max_upload=50_000, idle_seconds=1.0, max_documents=40) as running:
        yield running


def leftovers(running):
    return [path.name for path in running.state.store.folder.iterdir() if path.name.startswith(".")]


# -- who may ask ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.:{port}"]
)
def test_a_name_that_points_here_is_not_answered(server, host):
    port = server.state.settings.port
    response = server.client.get("/v1/models", headers={"host": host.format(port=port)})
    assert response.status_code == 421
    assert response.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_its_own_names_are_answered(server, host):
    port = server.state.settings.port
    assert server.client.get("/v1/models", headers={"host": host.format(port=port)}).status_code == 200


def test_further_names_are_answered_when_they_are_given(tiny_folder, tmp_path):
    with served(model=tiny_folder, store=tmp_path, allowed_hosts=("desk.example", "proxy.example:443")) as running:
        port = running.state.settings.port
        for host, status in ((f"desk.example:{port}", 200), ("proxy.example:443", 200), (f"proxy.example:{port}", 421)):
            assert running.client.get("/healthz", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"}, {"origin": "http://["},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
    ids=str,
)  # fmt: skip
def test_another_site_changes_nothing(server, headers):
    before = len(server.state.store.list())
    response = server.client.post("/v1/documents", files={"file": ("a.txt", b"One.")}, headers=headers)
    assert response.status_code == 403
    assert len(server.state.store.list()) == before


def test_its_own_page_and_programs_may(server):
    for headers in ({}, {"origin": server.address, "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        response = server.client.post("/v1/documents", files={"file": ("own.txt", b"One.")}, headers=headers)
        assert response.status_code == 201


def test_another_site_may_only_lead_to_the_first_page(server):
    assert server.client.get("/v1/documents", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert server.client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code != 403


def test_no_other_origin_may_read(server):
    response = server.client.get("/v1/documents", headers={"origin": "https://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]
    preflight = server.client.options("/v1/documents", headers={"origin": "https://evil.example"})
    assert preflight.status_code == 405
    assert not [name for name in preflight.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/healthz", "/v1/documents", "/v1/documents/none", "/nothing", "/openapi.json"])
def test_every_response_carries_the_headers(server, path):
    headers = server.client.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


def test_pages_that_load_from_elsewhere_are_not_there(server):
    assert server.client.get("/docs").status_code == 404
    assert server.client.get("/redoc").status_code == 404


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"cookie": f"softlookup={TOKEN}"}],
    ids=str,
)
def test_without_the_token_nothing_is_told(guarded, headers):
    response = guarded.client.get("/v1/documents", headers=headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert guarded.client.post("/v1/ask", json={}, headers=headers).status_code == 401


def test_with_the_token_it_answers(guarded):
    assert guarded.client.get("/v1/documents", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert guarded.client.get("/healthz").status_code == 200


def test_a_browser_logs_in_once_and_the_token_leaves_the_address(guarded):
    with httpx.Client(base_url=guarded.address) as browser:
        wrong = browser.get("/?token=wrong-wrong-wrong-wrong", headers={"accept": "text/html"})
        assert (wrong.status_code, wrong.headers["location"]) == (303, "/login")
        landed = browser.get(f"/?token={TOKEN}&lang=zh")
        assert (landed.status_code, landed.headers["location"]) == (303, "/?lang=zh")
        cookie = landed.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in cookie
        assert browser.get("/v1/documents").status_code == 200
    elsewhere = send_raw(
        guarded, f"GET //evil.example/?token={TOKEN} HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\n\r\n"
    )
    assert "location: /evil.example/\r\n" in elsewhere  # never a redirect to another host


def test_the_api_takes_no_token_in_the_address(guarded):
    assert guarded.client.get(f"/v1/documents?token={TOKEN}").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "contracts.example"])
def test_others_need_a_token(host):
    with pytest.raises(UsageError, match="token is required"):
        Settings(host=host)
    assert Settings(host=host, token=TOKEN).host == host


def test_weak_tokens_and_wrong_numbers_are_refused():
    for wrong in ({"token": "short"}, {"token": "with blanks in between"}, {"port": 70000}, {"queue": 0}):
        with pytest.raises(UsageError):
            Settings(**wrong)
    assert Settings(token=TOKEN).token == TOKEN
    assert TOKEN not in repr(Settings(token=TOKEN))


# -- uploads --------------------------------------------------------------------------------------------------------


def send_raw(running, head, *pieces, wait=8.0):
    """Write bytes as they are; everything that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", running.state.settings.port), timeout=wait) as connection:
        connection.sendall(head.replace("{host}", f"127.0.0.1:{running.state.settings.port}").encode())
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except (TimeoutError, ConnectionResetError):
            pass
        return answer.decode("utf-8", "replace")


FORM = "POST /v1/documents HTTP/1.1\r\nHost: {host}\r\nContent-Type: multipart/form-data; boundary=xx\r\n"
PART = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


def test_an_upload_within_the_limit_is_taken(strict):
    name = strict.add(CONTRACT)
    assert strict.state.store.get(name).bytes == len(CONTRACT.encode())


def test_a_large_upload_is_refused_by_what_it_announces_and_by_what_it_sends(strict):
    large = b"word " * 40_000
    announced = strict.client.post("/v1/documents", files={"file": ("a.txt", large)})
    assert announced.status_code == 413

    def pieces():
        yield PART
        for start in range(0, len(large), 8192):
            yield large[start : start + 8192]

    headers = {"content-type": "multipart/form-data; boundary=xx"}
    streamed = strict.client.post("/v1/documents", content=pieces(), headers=headers)  # no length: chunks
    assert streamed.status_code == 413
    assert streamed.json()["error"]["code"] == "too_large"
    assert leftovers(strict) == []


def test_a_small_lie_about_the_length_does_not_help(strict):
    answer = send_raw(strict, FORM + "Transfer-Encoding: chunked\r\nContent-Length: 10\r\n\r\n", b"0\r\n\r\n", wait=3)
    assert " 400 " in answer.splitlines()[0]


def test_a_slow_upload_is_ended_and_removed(strict):
    start = time.monotonic()
    answer = send_raw(strict, FORM + "Content-Length: 2000\r\n\r\n", PART + b"One")
    assert " 408 " in answer.splitlines()[0]
    assert time.monotonic() - start < 8
    wait_until(lambda: leftovers(strict) == [])


def test_a_client_that_never_ends_its_headers_is_cut(strict):
    start = time.monotonic()
    assert send_raw(strict, "GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Slow: ") == ""
    assert send_raw(strict, "") == ""
    assert 0.5 < time.monotonic() - start < 12
    assert strict.client.get("/healthz").status_code == 200


def test_an_aborted_upload_leaves_nothing(strict):
    port = strict.state.settings.port
    before = len(strict.state.store.list())
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = FORM.replace("{host}", f"127.0.0.1:{port}") + "Content-Length: 20000\r\n\r\n"
        connection.sendall(head.encode() + PART + b"half of it")
        wait_until(lambda: leftovers(strict) != [])
    wait_until(lambda: leftovers(strict) == [])
    assert len(strict.state.store.list()) == before


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data; boundary=xx", b"no boundary here"),
        ("multipart/form-data; boundary=xx", PART + b"never closed"),
        (
            "multipart/form-data; boundary=xx",
            b'--xx\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--xx--\r\n',
        ),
        ("multipart/form-data; boundary=xx", PART + b"a\r\n" + PART + b"b\r\n--xx--\r\n"),
        ("multipart/form-data; boundary=xx", PART.replace(b'"file"', b'"other"') + b"a\r\n--xx--\r\n"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=", b"x"),
        ("application/json", b'{"path": "/etc/passwd"}'),
        ("application/json", b"[1"),
        ("text/plain", b"x"),
    ],
)
def test_a_malformed_upload_is_refused(strict, kind, body):
    response = strict.client.post("/v1/documents", content=body, headers={"content-type": kind})
    assert response.status_code == 400
    assert response.json()["error"]["remedy"]
    assert leftovers(strict) == []


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a.pdf", b"%PDF-1.7 broken", 422), ("a.docx", b"PK\x03\x04broken", 422), ("a.txt", b"", 422),
        ("a.txt", b"\x89PNG\r\n", 422), ("a.exe", b"\x7fELF", 422), ("a.exe", b"A plain text.", 201),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_not_kept(strict, name, content, status):
    before = len(strict.state.store.list())
    response = strict.client.post("/v1/documents", files={"file": (name, content)})
    assert response.status_code == status
    assert len(strict.state.store.list()) == before + (status == 201)
    assert leftovers(strict) == []
    if status == 422:
        assert str(strict.state.folder) not in response.text
        assert "original" not in response.text


def test_a_locked_pdf_is_told_in_terms_of_this_interface(strict):
    locked = PDF.encrypted([PDF.sheet([(72, 700, "The fee is 500 dollars.")])], user=b"secret")
    response = strict.client.post("/v1/documents", files={"file": ("a.pdf", locked)})
    assert response.status_code == 422
    assert response.json()["error"]["remedy"].startswith("save a copy without a password")


NAMES = ("../../../tmp/evil.txt", "/etc/cron.d/evil.txt", "..\\..\\evil.txt", "a\x1b[31m\u202etxt.md", "CON.txt", ".",
         "..", ".html/../x", "é" * 400 + ".txt", "a\nb.txt", "{{7*7}}<script>.txt")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_never_becomes_a_path(server, name):
    quoted = name.replace('"', "%22").replace("\n", "%0A").encode()
    body = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="' + quoted + b'"\r\n\r\nOne.\r\n--xx--\r\n'
    headers = {"content-type": "multipart/form-data; boundary=xx"}
    response = server.client.post("/v1/documents", content=body, headers=headers)
    assert response.status_code == 201
    assert not set(response.text) & set("\x1b\u202e\n")  # escaped in JSON
    facts = response.json()
    assert "/" not in facts["name"]
    assert "\\" not in facts["name"]
    assert len(facts["name"]) <= 255
    folder = server.state.store.folder / facts["id"]
    assert sorted(path.name.split(".")[0] for path in folder.iterdir()) == ["meta", "original"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    server.client.delete(f"/v1/documents/{facts['id']}")


@pytest.mark.parametrize("name", ["..", "doc_", "../../etc", "doc_" + "0" * 24, "%2e%2e%2f", "doc_%00"])
def test_an_id_names_no_path(server, name):
    for path in ("", "/text", "/clauses", "/pages/1.png"):
        assert server.client.get(f"/v1/documents/{name}{path}").status_code in (400, 404)


def test_paths_are_taken_from_allowed_folders_only(tiny_folder, tmp_path):
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    allowed.mkdir()
    outside.mkdir()
    (allowed / "a.txt").write_text(CONTRACT)
    (outside / "secret.txt").write_text("Secret.")
    (allowed / "link.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(allowed / "pipe")
    with served(model=tiny_folder, store=tmp_path / "store", allowed_paths=(allowed,)) as running:

        def add(path):
            return running.client.post("/v1/documents", json={"path": str(path)})

        assert add(allowed / "a.txt").status_code == 201
        for path in (outside / "secret.txt", allowed / "link.txt", allowed / "../outside/secret.txt", "/etc/passwd"):
            assert add(path).status_code == 400
        assert add(allowed / "missing.txt").status_code == 404
        assert add(allowed / "pipe").status_code == 400
        assert add("a\0b").status_code == 400


def test_links_in_the_store_are_not_followed(tiny_folder, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("Secret.")
    with served(model=tiny_folder, store=tmp_path / "store") as running:
        name = running.add(CONTRACT)
        running.state.documents.forget(name)
        stored = running.state.store.path(running.state.store.get(name))
        stored.unlink()
        stored.symlink_to(secret)
        assert running.client.get(f"/v1/documents/{name}/text").status_code == 404
    folder = tmp_path / "store" / "documents"
    (folder / name).rename(tmp_path / "moved")
    (folder / name).symlink_to(tmp_path / "moved")
    store = DocumentStore(tmp_path / "store", 10)
    store.open()
    assert store.list() == ()
    store.close()


def test_two_servers_do_not_share_a_store(tiny_folder, server):
    with (
        pytest.raises(UsageError, match="used by another server"),
        served(model=tiny_folder, store=server.state.folder),
    ):
        pass


def test_the_store_has_an_end(tiny_folder, tmp_path):
    with served(model=tiny_folder, store=tmp_path, max_documents=1) as running:
        name = running.add(CONTRACT)
        full = running.client.post("/v1/documents", files={"file": ("b.txt", b"Two.")})
        assert full.status_code == 413
        running.client.delete(f"/v1/documents/{name}")
        running.add("Two.")


def test_a_full_disk_is_told_and_leaves_nothing(server, monkeypatch):
    from softlookup.ui.server import store

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "_write_bytes", full)
    response = server.client.post("/v1/documents", files={"file": ("full.txt", b"No room.")})
    assert response.status_code == 500
    assert "No space left" in response.json()["error"]["message"]
    assert leftovers(server) == []


# -- reading in a limited process -----------------------------------------------------------------------------------


@pytest.fixture
def child(tmp_path, monkeypatch):
    """A child that does something else instead of reading."""

    def make(code):
        (tmp_path / "child_of_test.py").write_text(code)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        return "child_of_test"

    return make


def test_a_document_comes_back_as_it_was_read(contract):
    from softlookup.documents.read import read_document

    found = LimitedReading(contract, "shown.txt", ReadLimits()).run()
    expected = read_document(contract)
    assert found == replace(expected, source=replace(expected.source, path="shown.txt"))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import os; os.abort()", DocumentError),
        ("print('{\"document\": 1}')", DocumentError),
        ('print(\'{"document": {"text": 3}}\')', DocumentError),
        ("print('no JSON')", DocumentError),
        ("import pickle, sys; sys.stdout.buffer.write(pickle.dumps(print))", DocumentError),
        ('print(\'{"error": {"kind": "SystemExit", "message": "m", "remedy": ""}}\')', Exception),
        ("while True: pass", CapacityError),
        ("import time; time.sleep(60)", CapacityError),
    ],
)
def test_a_child_that_misbehaves_costs_its_document_only(contract, child, code, kind):
    start = time.monotonic()
    with pytest.raises(kind, match=r"shown\.txt|m"):
        LimitedReading(contract, "shown.txt", ReadLimits(seconds=2.0), child(code)).run()
    assert time.monotonic() - start < 15


def test_grandchildren_are_killed_with_it(contract, child, tmp_path):
    code = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))\ntime.sleep(60)"
    )
    with pytest.raises(CapacityError):
        LimitedReading(contract, "shown.txt", ReadLimits(seconds=4.0), child(code)).run()
    number = int((tmp_path / "pid").read_text())
    wait_until(lambda: not alive(number))


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_the_memory_of_the_child_is_limited(tmp_path):
    large = tmp_path / "large.txt"
    large.write_text(CONTRACT * 3000)
    with pytest.raises((CapacityError, DocumentError)):
        LimitedReading(large, "shown.txt", ReadLimits(memory=64 << 20)).run()
    large.write_text(CONTRACT * 3)
    assert LimitedReading(large, "shown.txt", ReadLimits(memory=1 << 30)).run().clauses


def test_a_reading_that_is_stopped_ends(contract, child):
    import threading

    from softlookup.errors import CancellationError

    slow = LimitedReading(contract, "shown.txt", ReadLimits(), child("import time; time.sleep(60)"))
    threading.Timer(1.0, slow.stop).start()
    with pytest.raises(CancellationError):
        slow.run()


def test_the_child_does_not_see_the_token(contract, child, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_TOKEN", TOKEN)
    monkeypatch.setenv("SHOWN", "yes")
    code = (
        "import os, json\nerror = {'kind': 'DocumentError', 'remedy': '', 'message': str(dict(os.environ))}\n"
        "print(json.dumps({'error': error}))"
    )
    with pytest.raises(DocumentError) as told:
        LimitedReading(contract, "x", ReadLimits(), child(code)).run()
    assert "SHOWN" in str(told.value)
    assert TOKEN not in str(told.value)


def test_one_slow_document_blocks_nobody(tiny_folder, tmp_path, monkeypatch, child):
    code = "import time; time.sleep(60)"
    with served(model=tiny_folder, store=tmp_path / "store", readers=1, read_seconds=12.0) as running:
        name = running.add(CONTRACT)
        monkeypatch.setattr(reading.LimitedReading.__init__, "__defaults__", (child(code),))
        import threading

        slow = []
        thread = threading.Thread(
            target=lambda: slow.append(
                httpx.post(f"{running.address}/v1/documents", files={"file": ("slow.txt", b"Slow.")}, timeout=60)
            )
        )
        thread.start()
        wait_until(lambda: running.state.documents._reading == 1)
        start = time.monotonic()
        assert running.client.get("/healthz").status_code == 200
        assert running.client.post("/v1/ask", json={"document": name, "question": "Why?"}).status_code == 200
        assert not slow
        thread.join()
        assert slow[0].status_code == 413
        assert time.monotonic() - start < 60


# -- hostile text and the network -----------------------------------------------------------------------------------


def test_hostile_text_is_text_in_every_file(server):
    evil = "1. <script>alert(1)</script> \u202e gnp.exe {{7*7}} ![x](http://evil/x.png) \x07 <img src=x>\n\n2. End."
    name = server.add(evil, "<b>evil\u202e.txt")
    session = server.client.post("/v1/sessions", json={"document": name}).json()["id"]
    question = "What of <i>script</i> \u202e?"
    raw = server.client.post(f"/v1/sessions/{session}/ask", json={"question": question})
    assert not set(raw.text) & set("\u202e\x07")
    assert json.loads(raw.text)["answers"][0]["question"] == question
    page = server.client.get(f"/v1/sessions/{session}/handover").text
    assert "<script" not in page
    assert "<img" not in page
    assert "<i>" not in page
    assert "\u202e" not in page


def test_nothing_leaves_this_machine(tiny_folder, tmp_path, monkeypatch):
    """Every connection of the server's process is watched; one that goes out is caught."""
    went = []
    real = socket.socket.connect

    def watched(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
            went.append(address)
            raise OSError("watched")
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    with served(model=tiny_folder, store=tmp_path) as running:
        name = running.add(CONTRACT)
        running.client.post("/v1/ask", json={"document": name, "question": "Why?"})
        running.client.get("/openapi.json")
    assert went == []
    with socket.socket() as planted, pytest.raises(OSError, match="watched"):
        planted.connect(("192.0.2.1", 80))
    assert went == [("192.0.2.1", 80)]
