"""``softlookup serve`` as a process: its address, its end, and what is left after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from served import EAGER, process, wait_until
from softlookup.cli import main
from softlookup.ui.server.store import DocumentStore
from tiny_models import CONTRACT

LONG = {"question": "Which law governs?", "alpha": EAGER, "max_answer_tokens": 1024}


def add(client, text=CONTRACT):
    response = client.post("/v1/documents", files={"file": ("mooring.txt", text.encode())})
    assert response.status_code == 201
    return response.json()["id"]


def first_word(client, body, seen):
    """Stream an answer; ``seen`` is set at its first word. The whole text of the stream."""
    lines = []
    with client.stream("POST", "/v1/ask", json={**body, "stream": True}) as response:
        for line in response.iter_lines():
            lines.append(line)
            if line == "event: delta":
                seen.set()
    return lines


def test_a_kill_in_the_middle_of_an_answer_loses_nothing_stored(tiny_folder, tmp_path):
    store = tmp_path / "store"
    with process(store, tiny_folder, "--history") as (server, client):
        names = [add(client, CONTRACT + f"\n{number}. More.") for number in range(7, 10)]
        session = client.post("/v1/sessions", json={"document": names[0]}).json()["id"]
        assert (
            client.post(f"/v1/sessions/{session}/ask", json={"question": "Who repairs the jetty?"}).status_code == 200
        )
        before = client.get(f"/v1/sessions/{session}").json()
        seen = threading.Event()

        def stream():
            with pytest.raises(httpx.TransportError):
                first_word(client, {"document": names[1], **LONG}, seen)

        thread = threading.Thread(target=stream)
        thread.start()
        assert seen.wait(60)
        server.kill()
        thread.join()
        server.wait()
    (store / "documents" / ".incoming-left").mkdir()  # as a kill between two writes leaves it
    (store / "documents" / ".incoming-left" / "original.txt").write_text("half")
    with process(store, tiny_folder, "--history") as (_, client):
        listed = client.get("/v1/documents").json()["data"]
        assert [facts["id"] for facts in listed] == names
        assert client.get(f"/v1/sessions/{session}").json() == before
        for number, name in enumerate(names, 7):
            assert client.get(f"/v1/documents/{name}/text").json()["text"].endswith(f"{number}. More.")
        assert client.post("/v1/ask", json={"document": names[1], "question": "Why?"}).status_code == 200
        assert not (store / "documents" / ".incoming-left").exists()


def test_a_document_is_there_whole_or_not_at_all_wherever_the_kill_falls(tmp_path):
    """A child dies before each step of publishing in turn; the next start finds the old state or the new one."""
    code = """
import os, sys
from pathlib import Path
from softlookup.ui.server import store as module
from softlookup.ui.server.store import DocumentStore, StoredDocument, new_id
step, at = int(sys.argv[2]), 0
def counted(real):
    def call(*arguments, **keywords):
        global at
        at += 1
        if at == step: os._exit(9)
        return real(*arguments, **keywords)
    return call
for name in ("fsync", "open", "mkdir", "rename"):
    setattr(os, name, counted(getattr(os, name)))
store = DocumentStore(Path(sys.argv[1]), 10)
store.open()
incoming = store.begin("a.txt")
incoming.write(b"One.")
store.publish(incoming, StoredDocument(new_id(), "a.txt", ".txt", "text", "0" * 64, 4, 4, 1, {}, "2026"))
"""
    whole = 0
    for step in range(1, 30):
        folder = tmp_path / str(step)
        done = subprocess.run([sys.executable, "-c", code, str(folder), str(step)], check=False, capture_output=True)
        assert done.returncode in (0, 9), done.stderr
        store = DocumentStore(folder, 10)
        store.open()
        for facts in store.list():
            assert store.path(facts).read_bytes() == b"One."
        assert [path.name for path in store.folder.iterdir() if path.name.startswith(".")] == []
        whole += len(store.list())
        assert done.returncode == 9 or len(store.list()) == 1
        store.close()
        if done.returncode == 0:
            break
    else:
        pytest.fail("it never came to its end")
    assert step > 5  # several places to die at
    assert whole >= 1


def test_a_term_signal_lets_the_answer_finish_and_refuses_the_rest(tiny_folder, tmp_path):
    with process(tmp_path, tiny_folder, "--drain", "120") as (server, client):
        name = add(client)
        client.post("/v1/ask", json={"document": name, "question": "Why?"})
        body = {"document": name, **LONG, "max_answer_tokens": 256}
        with ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(client.post, "/v1/ask", json=body, timeout=120) for _ in range(6)]
            wait_until(lambda: client.get("/healthz").json()["waiting"] > 1, 60)
            server.send_signal(signal.SIGTERM)
            answers = [one.result() for one in asked]
        assert server.wait(60) == 0
        assert {answer.status_code for answer in answers} == {200, 503}  # nobody is cut off without a word
        (refused, *_) = [answer for answer in answers if answer.status_code == 503]
        assert "stopping" in refused.json()["error"]["message"]
        assert "Traceback" not in server.stderr.read()


def test_after_the_drain_time_it_ends_all_the_same(tiny_folder, tmp_path):
    with process(tmp_path, tiny_folder, "--drain", "1") as (server, client):
        name, seen = add(client), threading.Event()
        lines = []

        def stream():
            with suppress(httpx.TransportError):
                lines.extend(first_word(client, {"document": name, **LONG}, seen))

        running = threading.Thread(target=stream)
        running.start()
        assert seen.wait(60)
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        running.join(30)
        assert "event: answer" not in lines


# a worker that hears nothing, deep in the model: without a way out of its own such a process aborts at its end
DEAF = """
import sys
import torch
from softlookup.cli import main
from softlookup.ui.server.jobs import Job

def deaf(self):
    while True:
        torch.ones(400, 400) @ torch.ones(400, 400)

Job.run = deaf
sys.exit(main(sys.argv[1:]))
"""


def test_a_worker_that_hears_nothing_does_not_spoil_the_end(tiny_folder, tmp_path):
    command = ["serve", "--port", "0", "--drain", "1", "--store", str(tmp_path), "--model", str(tiny_folder)]
    started = subprocess.Popen(
        [sys.executable, "-c", DEAF, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with started as server:
        address = server.stdout.readline().split()[-1]
        with httpx.Client(base_url=address, timeout=60) as client:
            assert client.get("/healthz").status_code == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert "terminate" not in server.stderr.read()


def test_the_token_comes_from_a_file_or_the_environment(tiny_folder, tmp_path):
    secret = "correct-horse-battery-staple"
    with process(tmp_path, tiny_folder, SOFTLOOKUP_TOKEN=secret) as (_, client):
        assert client.get("/v1/documents").status_code == 401
        assert client.get("/v1/documents", headers={"authorization": f"Bearer {secret}"}).status_code == 200


def refused(capsys, *options):
    code = main(["serve", *options])
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return code, told


def test_wrong_settings_are_one_line(capsys, tmp_path):
    loose = tmp_path / "token"
    loose.write_text("correct-horse-battery-staple\n")
    loose.chmod(0o644)
    for options, word in (
        (("--host", "0.0.0.0"), "token"), (("--token-file", str(loose)), "read by others"),
        (("--token-file", str(tmp_path / "none")), "cannot be read"), (("--max-upload", "many"), "size"),
        (("--no-store", "--history"), "--history"), (("--port", "99999"), "--port"),
        (("--allow-path", str(tmp_path / "none")), "no folder"), (("--token", ""), "a token of at least"),
        (("--allowed-host", "http://desk.example/"), "--allowed-host"), (("--allowed-host", ""), "--allowed-host"),
    ):  # fmt: skip
        code, told = refused(capsys, *options)
        assert code == 2
        assert word in told


def test_a_port_in_use_is_told(capsys, server, tmp_path):
    code, told = refused(capsys, "--port", str(server.state.settings.port), "--store", str(tmp_path))
    assert code == 2
    assert "cannot be used" in told


def test_without_a_store_nothing_stays(tiny_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-m", "softlookup", "serve", "--port", "0", "--no-store", "--model", str(tiny_folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        address = server.stdout.readline().split()[-1]
        with httpx.Client(base_url=address) as client:
            add(client)
        assert list(tmp_path.glob("softlookup-serve-*"))
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    assert list(tmp_path.glob("softlookup-serve-*")) == []
