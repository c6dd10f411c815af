"""The API on a real port with a tiny model: documents, questions, sessions, downloads, and order under load."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from served import EAGER, SHORT, served, wait_until
from softlookup import Session
from softlookup.evidence.answer import Answer
from softlookup.ui.server.transfer import from_plain
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTIONS = ("Who repairs the jetty?", "Which law governs?", "谁修理屋顶？", "What does the Keeper pay?")


def timeless(answer):
    """An answer without what a clock measured and where the file lay."""
    return {name: value for name, value in answer.items() if name not in ("seconds", "document", "plan")}


def events_of(text):
    """(name, data) of server-sent events; comments are left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    pairs = [block.split("\n") for block in blocks]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in pairs]


@pytest.fixture(scope="module")
def document(server):
    return server.add(CONTRACT)


def test_a_document_is_described(server):
    response = server.client.post("/v1/documents", files={"file": ("租赁.txt", CONTRACT_ZH.encode())})
    assert response.status_code == 201
    facts = response.json()
    assert facts["name"] == "租赁.txt"
    assert facts["format"] == "text"
    assert facts["characters"] == len(CONTRACT_ZH)
    assert facts["tokens"] > 50
    assert facts["plan"]["strategy"] == "full_context"
    assert facts["coverage"]["complete"]
    assert server.client.get(f"/v1/documents/{facts['id']}").json() == facts
    assert facts in server.client.get("/v1/documents").json()["data"]


def test_the_same_file_stays_one_document(server):
    assert server.add(CONTRACT, "twice.txt") == server.add(CONTRACT, "twice.txt")
    assert server.add(CONTRACT, "twice.txt") != server.add(CONTRACT, "other.txt")


def test_text_clauses_and_offsets(server, document):
    whole = server.client.get(f"/v1/documents/{document}/text").json()
    assert whole == {"start": 0, "end": len(CONTRACT), "text": CONTRACT}
    piece = server.client.get(f"/v1/documents/{document}/text?start=10&end=40").json()
    assert piece["text"] == CONTRACT[10:40]
    clauses = server.client.get(f"/v1/documents/{document}/clauses?limit=3&offset=1").json()
    assert len(clauses["clauses"]) == 3
    assert clauses["total"] > 8
    first = clauses["clauses"][0]
    assert CONTRACT[first["start"] : first["end"]].startswith(first["label"])


def test_an_answer_is_that_of_the_session(server, document, tiny_folder, contract):
    body = {"document": document, "questions": list(QUESTIONS[:2])}
    answers = server.client.post("/v1/ask", json=body).json()["answers"]
    opened = Session(tiny_folder, options=SHORT).open(contract)
    expected = [json.loads(json.dumps(answer.to_dict())) for answer in opened.ask_all(QUESTIONS[:2])]
    assert [timeless(answer) for answer in answers] == [timeless(answer) for answer in expected]
    assert answers[0]["document"]["path"] == "mooring.txt"


def test_a_stream_tells_progress_words_answer_and_end(server, document):
    body = {"document": document, "question": QUESTIONS[0], "alpha": EAGER, "stream": True}
    response = server.client.post("/v1/ask", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    names = [name for name, _ in events]
    assert names[-1] == "done"
    assert names[-2] == "answer"
    assert names.index("progress") < names.index("delta") < names.index("answer")
    answer = events[-2][1]["answer"]
    assert "".join(data["text"] for name, data in events if name == "delta").strip() == answer["answer"]
    plain = server.client.post("/v1/ask", json={**body, "stream": False}).json()["answers"][0]
    assert timeless(plain) == timeless(answer)


def test_a_question_may_set_what_a_session_sets(server, document):
    def ask(**more):
        return server.client.post("/v1/ask", json={"document": document, "question": QUESTIONS[1], **more})

    assert ask(alpha=0.2).json()["answers"][0]["alpha"] == 0.2
    assert ask().json()["answers"][0]["alpha"] == 0.05
    refused = ask(alpha=0.001)
    assert refused.status_code == 400
    assert "alpha" in refused.json()["error"]["message"]


def test_a_session_remembers_and_is_taken_away(server, document):
    client = server.client
    name = client.post("/v1/sessions", json={"document": document}).json()["id"]
    for question in QUESTIONS[:2]:
        assert client.post(f"/v1/sessions/{name}/ask", json={"question": question}).status_code == 200
    client.post("/v1/ask", json={"document": document, "question": "Not remembered?"})
    detail = client.get(f"/v1/sessions/{name}").json()
    assert detail["questions"] == list(QUESTIONS[:2])
    assert [answer["question"] for answer in detail["answers"]] == list(QUESTIONS[:2])
    handed = client.get(f"/v1/sessions/{name}/handover?format=json")
    assert [question["question"] for question in handed.json()["questions"]] == list(QUESTIONS[:2])
    assert "attachment" in handed.headers["content-disposition"]
    assert client.get(f"/v1/sessions/{name}/handover?format=csv").text.startswith("\ufeff")
    page = client.get(f"/v1/sessions/{name}/handover")
    assert "sandbox" in page.headers["content-security-policy"]
    assert QUESTIONS[0] in page.text
    assert client.delete(f"/v1/sessions/{name}").json() == {"id": name, "deleted": True}
    assert client.get(f"/v1/sessions/{name}").status_code == 404


def test_a_report_is_one_file(server, document):
    pytest.importorskip("softlookup.ui.report")
    client = server.client
    name = client.post("/v1/sessions", json={"document": document}).json()["id"]
    assert client.get(f"/v1/sessions/{name}/report").status_code == 400  # nothing was asked yet
    client.post(f"/v1/sessions/{name}/ask", json={"question": QUESTIONS[1]})
    plain = client.get(f"/v1/sessions/{name}/report?lang=zh")
    assert plain.status_code == 200
    assert QUESTIONS[1] in plain.text
    assert "<script" not in plain.text
    inspected = client.get(f"/v1/sessions/{name}/report?inspect=true")
    assert len(inspected.text) > len(plain.text)


def test_diagnose_and_inspect(server, document):
    client = server.client
    name = client.post("/v1/sessions", json={"document": document}).json()["id"]
    body = {"question": QUESTIONS[1], "expect": "5"}
    diagnosis = client.post(f"/v1/sessions/{name}/diagnose", json=body).json()
    assert diagnosis["expected"]["clause"] == "5"
    assert diagnosis["tests"]
    events = events_of(client.post(f"/v1/sessions/{name}/inspect", json={**body_of(body), "stream": True}).text)
    assert events[-1] == ("done", {"state": "done"})
    assert events[-2][1]["question"] == QUESTIONS[1]
    unknown = client.post(f"/v1/sessions/{name}/diagnose", json={**body, "expect": "99.99"})
    assert unknown.status_code == 400


def body_of(body):
    return {"question": body["question"]}


def test_a_deleted_document_is_gone_with_its_sessions(server):
    client, name = server.client, server.add(CONTRACT + "\n7. Last.", "gone.txt")
    session = client.post("/v1/sessions", json={"document": name}).json()["id"]
    client.post("/v1/ask", json={"document": name, "question": QUESTIONS[0]})
    folder = server.state.store.folder / name
    assert folder.is_dir()
    assert client.delete(f"/v1/documents/{name}").status_code == 200
    assert not folder.exists()
    for path in (f"/v1/documents/{name}", f"/v1/sessions/{session}", f"/v1/documents/{name}/text"):
        assert client.get(path).status_code == 404
    assert client.post("/v1/ask", json={"document": name, "question": QUESTIONS[0]}).status_code == 404
    wait_until(lambda: name not in server.state.opened._open)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "Why?"}, 400),
        ({"document": "doc_0", "question": "Why?"}, 404),
        ({"document": "{d}"}, 400),
        ({"document": "{d}", "question": "Why?", "questions": ["Why?"]}, 400),
        ({"document": "{d}", "question": "   "}, 400),
        ({"document": "{d}", "question": "\ud800"}, 400),
        ({"document": "{d}", "question": "why " * 4000}, 413),
        ({"document": "{d}", "question": "Why?", "max_answer_tokens": 0}, 400),
        ({"document": "{d}", "question": "Why?", "colour": "red"}, 400),
    ],
    ids=str,
)
def test_a_wrong_question_is_refused_with_its_reason(server, document, body, status):
    filled = {name: document if value == "{d}" else value for name, value in body.items()}
    raw = json.dumps(filled).encode()
    response = server.client.post("/v1/ask", content=raw, headers={"content-type": "application/json"})
    assert response.status_code == status
    error = response.json()["error"]
    assert error["message"]
    assert "\n" not in error["message"]
    assert set(error) == {"message", "remedy", "type", "code", "param"}


@pytest.mark.parametrize(
    ("kind", "body", "message", "remedy", "param"),
    [
        ("application/json", b"{", "no JSON", "JSON object", None),
        ("application/json", b"[]", "a JSON object is required", "send one; see", None),
        ("application/json", b"", "a JSON object is required", "send one; see", None),
        ("application/x-www-form-urlencoded", b"question=a", "a JSON object is required", "content-type", None),
        ("application/json", b'{"document": "a"}', "the body: give either question or questions", "openapi", None),
        ("application/json", b'{"document": "a", "question": 5}', "question: ", "openapi", "question"),
    ],
)
def test_whoever_writes_a_request_by_hand_is_told_what_to_send(server, kind, body, message, remedy, param):
    response = server.client.post("/v1/ask", content=body, headers={"content-type": kind})
    assert response.status_code == 400
    error = response.json()["error"]
    assert message in error["message"]
    assert remedy in error["remedy"]
    assert error["param"] == param


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/nothing", 404), ("PUT", "/v1/ask", 405)])
def test_a_wrong_address_or_method_says_where_to_look(server, method, path, status):
    response = server.client.request(method, path)
    assert response.status_code == status
    assert response.json()["error"]["remedy"]


def test_fifty_at_once_get_the_answers_of_one_by_one(server, document):
    def ask(number):
        body = {"document": document, "question": QUESTIONS[number % len(QUESTIONS)], "alpha": EAGER}
        return httpx.post(f"{server.address}/v1/ask", json=body, timeout=120).json()["answers"][0]

    alone = [timeless(ask(number)) for number in range(len(QUESTIONS))]
    with ThreadPoolExecutor(50) as threads:
        together = list(threads.map(ask, range(50)))
    assert len({json.dumps(answer) for answer in alone}) == len(QUESTIONS)  # they differ, so that a mix-up shows
    for number, answer in enumerate(together):
        assert timeless(answer) == alone[number % len(QUESTIONS)]


class Gate:
    """Holds the worker inside a job, so that a queue builds up behind it."""

    def __init__(self, state):
        self._go = threading.Event()
        self._jobs, self.most = state.jobs, 0
        self.held = state.jobs.submit("upkeep", self._wait, background=True)
        wait_until(lambda: state.jobs.running is self.held)

    def _wait(self, job):
        while not self._go.wait(0.02):
            job.report("held", 0.0)
            self.most = max(self.most, self._jobs.waiting)

    def open(self):
        self._go.set()


def test_a_full_queue_says_when_to_come_again(tiny_folder, tmp_path):
    with served(model=tiny_folder, store=tmp_path, queue=2) as running:
        name = running.add(CONTRACT)
        gate = Gate(running.state)
        body = {"document": name, "question": QUESTIONS[0]}
        with ThreadPoolExecutor(2) as threads:
            waiting = [threads.submit(httpx.post, f"{running.address}/v1/ask", json=body, timeout=60) for _ in range(2)]
            wait_until(lambda: running.state.jobs.waiting == 2)
            refused = running.client.post("/v1/ask", json=body)
            gate.open()
            assert [one.result().status_code for one in waiting] == [200, 200]
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["code"] == "overloaded"
        assert running.client.post("/v1/ask", json=body).status_code == 200


def test_a_queue_tells_places(server, document):
    gate = Gate(server.state)
    body = {"document": document, "question": QUESTIONS[0], "stream": True}
    places = []
    with httpx.stream("POST", f"{server.address}/v1/ask", json=body, timeout=60) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: ") and "queue_position" in line:
                places.append(json.loads(line[6:])["queue_position"])
                gate.open()
    assert places[0] == 1
    assert places[-1] == 0


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_who_leaves_while_queued_frees_the_place(server, document, stream):
    gate = Gate(server.state)
    body = {"document": document, "question": QUESTIONS[0], "stream": stream}
    with httpx.Client(base_url=server.address) as leaver, pytest.raises(httpx.ReadTimeout):
        leaver.post("/v1/ask", json=body, timeout=3.0)
    assert gate.most == 1  # it had been there
    wait_until(lambda: server.state.jobs.waiting == 0)
    assert server.state.jobs.running is gate.held
    gate.open()


def test_who_leaves_during_the_prefill_frees_the_worker(server, monkeypatch):
    """The prefill is held until the client has left; it ends at its next layer, and the next question is answered."""
    name = server.add(CONTRACT + "\n8. Fresh.", "fresh.txt")
    left, seen, ended = threading.Event(), threading.Event(), []
    from softlookup.runtime import prefilled

    real = prefilled.prefill

    def slow(loaded, template, text, *, progress, **arguments):
        def held(phase, fraction):
            seen.set()
            left.wait(20)
            wait_until(lambda: server.state.jobs.running._cancelled is not None)
            progress(phase, fraction)

        try:
            return real(loaded, template, text, progress=held, **arguments)
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    monkeypatch.setattr(prefilled, "prefill", slow)
    body = {"document": name, "question": QUESTIONS[0]}
    with httpx.Client(base_url=server.address) as leaver, pytest.raises(httpx.ReadTimeout):
        leaver.post("/v1/ask", json=body, timeout=3.0)
    assert seen.is_set()
    left.set()
    wait_until(lambda: server.state.jobs.running is None)
    assert ended == ["CancellationError"]
    monkeypatch.setattr(prefilled, "prefill", real)
    assert server.client.post("/v1/ask", json=body).json()["answers"][0]["question"] == QUESTIONS[0]


def test_no_more_than_so_many_documents_stay_open(tiny_folder, tmp_path):
    with served(model=tiny_folder, store=tmp_path, open_documents=2) as running:
        names = [running.add(CONTRACT + f"\n{number}. More.", f"{number}.txt") for number in range(7, 11)]
        first = [running.client.post("/v1/ask", json={"document": n, "question": QUESTIONS[0]}).json() for n in names]
        opened = running.state.opened
        wait_until(lambda: running.state.jobs.running is None)
        assert len(opened) == 2
        assert opened.held_bytes > 0
        again = running.client.post("/v1/ask", json={"document": names[0], "question": QUESTIONS[0]}).json()
        assert timeless(again["answers"][0]) == timeless(first[0]["answers"][0])
    with served(model=tiny_folder, store=tmp_path, open_bytes=1) as running:
        for name in names[:3]:
            running.client.post("/v1/ask", json={"document": name, "question": QUESTIONS[0]})
        wait_until(lambda: running.state.jobs.running is None and len(running.state.opened) == 1)


def test_history_outlives_the_server(tiny_folder, tmp_path):
    with served(model=tiny_folder, store=tmp_path, history=True) as running:
        name = running.add(CONTRACT)
        session = running.client.post("/v1/sessions", json={"document": name}).json()["id"]
        running.client.post(f"/v1/sessions/{session}/ask", json={"question": QUESTIONS[1]})
        before = running.client.get(f"/v1/sessions/{session}").json()
        kept = next((running.state.store.folder / name / "history").iterdir())
        assert kept.stat().st_mode & 0o077 == 0
    with served(model=tiny_folder, store=tmp_path, history=True) as running:
        assert running.client.get(f"/v1/sessions/{session}").json() == before
        assert running.client.get(f"/v1/sessions/{session}/handover?format=json").status_code == 200
    with served(model=tiny_folder, store=tmp_path) as running:
        assert running.client.get("/v1/sessions").json()["data"] == []


def test_without_history_nothing_that_was_asked_is_on_disk(server, document):
    session = server.client.post("/v1/sessions", json={"document": document}).json()["id"]
    secret = "Does the heron wear spectacles?"
    server.client.post(f"/v1/sessions/{session}/ask", json={"question": secret})
    files = [path for path in server.state.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_missing_model_is_told_and_documents_can_be_read(tmp_path):
    with served(model=None, store=tmp_path) as running:
        name = running.add(CONTRACT)
        facts = running.client.get(f"/v1/documents/{name}").json()
        assert (facts["tokens"], facts["plan"]) == (None, None)
        refused = running.client.post("/v1/ask", json={"document": name, "question": "Why?"})
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "model_missing"
        assert "model pull" in refused.json()["error"]["remedy"]
        assert running.client.get("/v1/models").status_code == 503
        assert running.client.get("/healthz").json()["model"] is None


def test_memory_is_bounded_over_many_requests(server, document):
    """The same work again and again: what is kept of jobs, sessions and documents does not grow with it."""
    body = {"document": document, "question": QUESTIONS[0]}
    for _ in range(60):
        assert server.client.post("/v1/ask", json=body).status_code == 200
    state = server.state
    held, jobs = state.opened.held_bytes, len(state.jobs._known)
    for _ in range(20):
        server.client.post("/v1/ask", json=body)
    assert state.opened.held_bytes == held
    assert len(state.jobs._known) <= max(jobs, 120)
    assert state.jobs.waiting == 0


def test_answers_survive_the_way_to_disk(server, document):
    answer = server.client.post("/v1/ask", json={"document": document, "question": QUESTIONS[1], "alpha": EAGER})
    found = answer.json()["answers"][0]
    found.pop("schema")
    assert json.loads(json.dumps(from_plain(Answer, found).to_dict())) == {"schema": 1, **found}
    with pytest.raises(ValueError, match="fields"):
        from_plain(Answer, {**found, "more": 1})
