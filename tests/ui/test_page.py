"""The page as HTML: documents, parts, questions, diagnosis, comparison; what is hostile shows as text."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import softlookup.ui.page.sheets as sheets_module
from softlookup.diagnostics.place import expected_place
from softlookup.documents.read import read_document
from softlookup.errors import UsageError
from softlookup.ui.page.expect import expectation
from softlookup.ui.page.forms import local_path
from softlookup.ui.page.preferences import accepted
from softlookup.ui.page.rendering import STATIC
from softlookup.ui.page.words import PAGE_WORDS
from softlookup.ui.server.app import create_app
from softlookup.ui.templating import UI_FOLDER as FOLDER
from tiny_models import CONTRACT, CONTRACT_ZH


def _beside(path):
    """A module that lies beside the tests."""
    spec = importlib.util.spec_from_file_location(f"ui_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


inputs = _beside(Path(__file__).parent / "page_inputs.py")
pdf = _beside(Path(__file__).parents[1] / "documents" / "pdf_builders.py")
EVIL, EVIL_NAME, RAW, dangers, look = inputs.EVIL, inputs.EVIL_NAME, inputs.RAW, inputs.dangers, inputs.look

HOST = "http://127.0.0.1:8321"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory, tiny_folder):
    """One server for all tests that change nothing of one another."""
    app = create_app(inputs.settings(tmp_path_factory.mktemp("store"), tiny_folder))
    with TestClient(app, base_url=HOST) as client:
        yield inputs.Visitor(client)


@pytest.fixture(scope="module")
def lease(visitor):
    return visitor.upload("lease.txt", CONTRACT.encode())


@pytest.fixture(scope="module")
def asked(visitor, lease):
    """Two answered questions on the lease."""
    return [visitor.ask(lease, question) for question in ("Who repairs the jetty?", "Which law governs?")]


def fields(html, name):
    return [value for _, attribute, value in look(html).attributes if attribute == name]


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-GB,zh;q=0.9", "en"), ("de, zh;q=0.4, en;q=0.3", "zh"),
     ("zh;q=0, en;q=0.1", "en"), ("fr", "en"), ("zh;q=x", "en"), (";;,,=", "en"), ("zh-Hant-TW", "zh")],
)  # fmt: skip
def test_the_language_that_the_browser_ranks_first(header, language):
    assert accepted(header) == language


@pytest.mark.parametrize(
    ("given", "path"),
    [("/documents/x?a=1", "/documents/x?a=1"), ("//evil.example", "/"), ("https://evil.example", "/"),
     ("/\\evil.example", "/"), ("javascript:alert(1)", "/"), ("", "/"), ("/a\nb", "/")],
)  # fmt: skip
def test_nobody_is_sent_elsewhere(given, path):
    assert local_path(given) == path


def test_both_languages_have_the_same_words_and_templates_use_only_these():
    english, chinese = PAGE_WORDS["en"], PAGE_WORDS["zh"]
    assert english.keys() == chinese.keys()
    pieces = re.compile(r"{[^}]*}")
    for key, value in english.items():
        if isinstance(value, str):
            assert sorted(pieces.findall(value)) == sorted(pieces.findall(chinese[key])), key
    source = "".join(path.read_text("utf-8") for path in (FOLDER / "templates").glob("*page_*.html"))
    source += "".join(path.read_text("utf-8") for path in (FOLDER / "page").glob("routes_*.py"))
    named = set(re.findall(r"\bt\.(\w+)", source)) | set(re.findall(r'PAGE_WORDS\[\w+\]\["(\w+)"\]', source))
    phases = {key for key in english if key.startswith("phase_")}
    themes = {"auto", "light", "dark"}
    assert named - english.keys() == set()
    assert english.keys() - named - phases - themes == set()


def test_static_files_are_those_of_the_folder_and_named_with_their_versions(visitor):
    readme = (FOLDER / "static" / "README.md").read_text("utf-8")
    for name, kind in STATIC.items():
        answer = visitor.client.get(f"/static/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.content == (FOLDER / "static" / name).read_bytes()
    assert hashlib.sha256((FOLDER / "static" / "htmx.min.js").read_bytes()).hexdigest() in readme
    for name in ("../page/words.py", "README.md", "..%2f..%2fescape.py", "nothing.js"):
        assert visitor.client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize(("language", "words"), [("en", "Choose a file"), ("zh", "选择文件")])
def test_home_speaks_the_language_and_keeps_to_its_policy(visitor, lease, language, words):
    answer = visitor.client.get("/", headers={"Accept-Language": language})
    assert words in answer.text
    assert f'href="/documents/{lease}"' in answer.text
    assert dangers(answer.text) == []
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "same-origin"  # under no-referrer a form names no origin


def test_a_cookie_is_asked_before_the_header(visitor):
    set_it = visitor.client.get("/settings/language/zh", params={"back": "//evil.example"}, follow_redirects=False)
    assert set_it.headers["location"] == "/"
    assert "softlookup_language=zh" in set_it.headers["set-cookie"]
    try:
        assert "选择文件" in visitor.client.get("/", headers={"Accept-Language": "en"}).text
        dark = visitor.client.get("/settings/theme/dark", follow_redirects=False)
        assert "softlookup_theme=dark" in dark.headers["set-cookie"]
        assert 'data-theme="dark"' in visitor.client.get("/").text
    finally:
        visitor.client.cookies.clear()
    assert visitor.client.get("/settings/language/xx").status_code == 400


def test_uploads_need_the_token_of_this_process(visitor):
    before = len(visitor.client.app.state.server.store.list())
    files = {"file": ("a.txt", b"1. Rent. The tenant pays.")}
    for data, headers in (({}, {}), ({"csrf": "x"}, {}), ({}, {"X-CSRF-Token": "x", "HX-Request": "true"})):
        answer = visitor.client.post("/documents", files=files, data=data, headers=headers)
        assert answer.status_code == 403
        assert "<strong>" in answer.text if headers else "<h1>" in answer.text
    assert len(visitor.client.app.state.server.store.list()) == before
    right = {"X-CSRF-Token": visitor.csrf, "HX-Request": "true"}
    answer = visitor.client.post("/documents", files=files, headers=right)
    assert answer.status_code == 201
    document = answer.headers["location"].rpartition("/")[2]
    assert visitor.client.get(f"/documents/{document}").status_code == 200
    assert visitor.post(f"/documents/{document}/delete").headers["location"] == "/"
    assert visitor.client.get(f"/documents/{document}").status_code == 404
    assert len(visitor.client.app.state.server.store.list()) == before


def test_a_file_that_cannot_be_read_is_told(visitor):
    answer = visitor.client.post(
        "/documents", files={"file": ("a.pdf", b"%PDF-1.7 nothing")}, data={"csrf": visitor.csrf}
    )
    assert answer.status_code == 422
    assert "<h1>" in answer.text


def test_the_document_page_has_tree_parts_and_the_question_box(visitor, lease):
    html = visitor.client.get(f"/documents/{lease}").text
    page = look(html)
    roles = [value for _, name, value in page.attributes if name == "role"]
    assert roles.count("tree") == 1
    assert roles.count("treeitem") >= 8
    assert dangers(html) == []
    assert "Either party may end this Agreement by notice of ninety days." in page.text
    levels = fields(html, "aria-level")
    assert set(levels) == {"1", "2"}


def test_a_long_document_is_sent_in_parts(visitor):
    clauses = "\n\n".join(f"{n}. Duty {n}. The keeper cleans boat number {n} every day." for n in range(1, 900))
    document = visitor.upload("long.txt", clauses.encode())
    html = visitor.client.get(f"/documents/{document}").text
    parts = [value for value in fields(html, "data-part") if value]
    assert len(parts) > 5
    assert "boat number 1 every" in html
    assert "boat number 880 every" not in look(html).text
    assert fields(html, "aria-setsize")[0] == "899"
    assert len(fields(html, "aria-posinset")) == 200
    found = "".join(visitor.client.get(f"/documents/{document}/parts/{n}").text for n in parts)
    assert re.findall(r"boat number (\d+) every", found) == [str(n) for n in range(1, 900)]
    assert visitor.client.get(f"/documents/{document}/parts/{len(parts)}").status_code == 404
    more = visitor.client.get(f"/documents/{document}/tree?offset=200").text
    assert fields(more, "aria-posinset") == [str(n) for n in range(201, 401)]
    there = visitor.client.get(f"/documents/{document}?clause=870").text
    assert "boat number 871 every" in look(there).text  # without script too
    first = [int(value) for value in fields(html, "data-first")]
    assert first == sorted(first)
    for place, part in enumerate(parts[:-1]):
        inside = fields(visitor.client.get(f"/documents/{document}/parts/{part}").text, "id")
        assert f"cl-{first[place]}" in inside
        assert f"cl-{first[place + 1] - 1}" in inside
        assert f"cl-{first[place + 1]}" not in inside


def test_an_answer_says_outcome_reason_citations_and_how(visitor, lease, asked):
    for html in asked:
        assert dangers(html) == []
        (outcome,) = [c.split()[1] for c in fields(html, "class") if c.startswith("answer ")]
        assert outcome in ("answered", "conflict")  # at this alpha
        assert "softlookup" not in html
        for part in ("p = ", "score ", "What was read", "Plan", "Time"):
            assert part.lower() in html.lower()
    html = visitor.client.get(f"/documents/{lease}").text
    assert dangers(html) == []
    assert fields(html, "data-turn") == ["1", "0"]  # the latest first


def test_the_second_question_does_not_read_the_document_again(visitor, lease, asked):
    state = visitor.client.app.state.server
    talk = visitor.client.app.state.page.talk(lease)
    seconds = [turn.answer.seconds for turn in talk.turns]
    assert seconds[0].prefill > 0
    assert seconds[1].prefill == 0
    assert seconds[1].load == 0
    assert lease in state.opened._open
    assert "the document was read already" in asked[1]
    assert "the document was read already" not in asked[0]


def test_a_citation_leads_to_its_mark(visitor, lease, asked):
    talk = visitor.client.app.state.page.talk(lease)
    html = asked[0]
    targets = fields(html, "data-target")
    links = [value for value in fields(html, "href") if "turn=0&part=" in value]
    assert len(targets) == len(links) == len(talk.turns[0].answer.citations)
    parts = {part for value in fields(html, "data-parts") for part in value.split()}
    text = "".join(visitor.client.get(f"/documents/{lease}/parts/{part}?turn=0").text for part in parts)
    for target, citation in zip(targets, talk.turns[0].answer.citations, strict=True):
        assert f'id="{target}"' in text
        marked = re.search(rf'<mark[^>]* id="{target}">(.*?)</mark>', text)[1]
        assert look(marked).text.split()[0] in citation.quote
    without = visitor.client.get(f"/documents/{lease}/parts/0").text
    assert "<mark" not in without
    for link in links:  # the same for a browser without script
        assert f'id="{link.partition("#")[2]}"' in visitor.client.get(link).text


def test_two_answers_side_by_side(visitor, lease, asked):
    html = visitor.client.get(f"/documents/{lease}/compare", params={"q": [0, 1]}).text
    assert dangers(html) == []
    assert "Who repairs the jetty?" in html
    assert "Which law governs?" in html
    assert html.count('class="strip"') == 1
    assert f'<a href="/documents/{lease}?clause=' in html
    doubted = [turn.answer for turn in visitor.client.app.state.page.talk(lease).turns if turn.answer.needs_review]
    assert html.count("Check by hand") == len(doubted)
    assert all(look(html).text.count(reason) for answer in doubted for reason in answer.reasons)
    for wrong in ([0], [0, 0], [0, 99], []):
        assert visitor.client.get(f"/documents/{lease}/compare", params={"q": wrong}).status_code == 400


def test_a_diagnosis_by_a_click_on_a_clause(visitor, lease, asked):
    document = visitor.client.app.state.page._shown[lease].document
    index = next(clause.index for clause in document.clauses if clause.number == "5")
    begun = visitor.post(f"/documents/{lease}/diagnose", script=True, turn="1", clause=str(index))
    html = visitor.wait(begun)
    assert 'class="diagnosis"' in html
    assert dangers(html) == []
    turn = visitor.client.app.state.page.talk(lease).turns[1]
    assert turn.diagnosis.expected.clause == "5"
    assert turn.diagnosis.sentence.split()[0] in html
    assert 'class="diagnosis"' in visitor.client.get(f"/documents/{lease}").text  # still there when it is loaded again
    for wrong in (
        {"turn": "1"},
        {"turn": "9", "clause": "1"},
        {"turn": "1", "clause": "999"},
        {"turn": "x", "expect": "5"},
    ):
        assert visitor.post(f"/documents/{lease}/diagnose", script=True, **wrong).status_code in (400, 404)


def test_every_clause_can_be_clicked(tmp_path):
    for text in (CONTRACT, CONTRACT_ZH, EVIL):
        path = tmp_path / "contract.txt"
        path.write_text(text, "utf-8")
        document = read_document(path)
        for clause in document.clauses:
            place = expected_place(document, expectation(document, clause.index))
            assert place.span.overlap(clause.span) == len(place.span) > 0
    twice = tmp_path / "twice.txt"
    twice.write_text("LEASE\n\nThe tenant pays.\n\nThe tenant pays.\n", "utf-8")
    document = read_document(twice)
    for clause in document.clauses:  # a place that is not unique is refused, never guessed
        try:
            words = expectation(document, clause.index)
        except UsageError:
            continue
        assert document.text.count(words) == 1


def test_no_evidence_looks_different_and_offers_a_person(tmp_path, tiny_folder):
    with TestClient(create_app(inputs.settings(tmp_path / "store", tiny_folder, alpha=0.025)), base_url=HOST) as client:
        visitor = inputs.Visitor(client)
        document = visitor.upload("lease.txt", CONTRACT.encode())
        found = [visitor.ask(document, question) for question in ("Who flies to the moon?", "What do ducks eat?")]
        html = next(text for text in found if 'class="answer no_evidence"' in text)
        assert "No evidence found" in html
        assert 'class="hand"' in html
        assert 'class="model"' not in html
        assert "Nearest passages" in html
        link = next(value for value in fields(html, "href") if "/files/handover" in value)
        saved = client.get(link)
        assert saved.status_code == 200
        assert "Who flies to the moon?" in saved.text
        assert client.get(f"/documents/{document}/files/report?lang=zh").status_code == 200


def test_there_is_nothing_to_take_away_before_a_question(visitor):
    document = visitor.upload("new.txt", b"1. Rent. The tenant pays on Monday.")
    assert visitor.client.get(f"/documents/{document}/files/report").status_code == 400


def test_a_question_without_script_is_queued_shown_and_stopped(visitor, lease):
    gate = threading.Event()
    state = visitor.client.app.state.server
    state.jobs.submit("upkeep", lambda _: gate.wait(30), background=True)
    try:
        begun = visitor.post(f"/documents/{lease}/ask", question="What is the fee?")
        assert begun.status_code == 303
        html = visitor.client.get(begun.headers["location"]).text
        (name,) = fields(html, "data-run")
        assert f'action="/jobs/{name}/cancel"' in html
        assert "What is the fee?" in html
        stopped = visitor.post(f"/jobs/{name}/cancel", back=begun.headers["location"])
        assert stopped.headers["location"] == begun.headers["location"]
        text = visitor.client.get(f"/jobs/{name}", headers={"HX-Request": "true"}).text
        assert "Stopped" in text
        assert "data-events" not in text
    finally:
        gate.set()
    events = visitor.client.get(f"/jobs/{name}/events").text
    assert "event: done" in events


def test_a_waiting_diagnosis_is_there_after_a_reload_and_can_be_stopped(visitor, lease, asked):
    gate = threading.Event()
    visitor.client.app.state.server.jobs.submit("upkeep", lambda _: gate.wait(30), background=True)
    try:
        begun = visitor.post(f"/documents/{lease}/diagnose", turn="0", expect="5")
        html = visitor.client.get(begun.headers["location"]).text
        (name,) = fields(html, "data-run")
        assert f'id="{name}" data-run="{name}" data-events="/jobs/{name}/events"' in html
        visitor.post(f"/jobs/{name}/cancel", back=begun.headers["location"])
        assert "data-run" not in visitor.client.get(begun.headers["location"]).text
    finally:
        gate.set()


def test_a_wrong_address_is_told_to_a_person_as_a_page(visitor):
    person = visitor.client.get("/nothing", headers={"Accept": "text/html"})
    assert person.status_code == 404
    assert "There is no such page" in person.text
    assert visitor.client.get("/nothing").json()["error"]["code"] == "not_found"
    assert visitor.client.get("/v1/nothing", headers={"Accept": "text/html"}).json()["error"]["code"] == "not_found"
    gone = visitor.client.get("/documents/doc_0", headers={"Accept": "text/html"}).text
    assert "There is no such document" in gone
    assert "/v1/" not in gone


def test_wrong_questions_are_told_where_the_reader_is(visitor, lease):
    for question in ("", "   ", "why " * 5000):
        answer = visitor.post(f"/documents/{lease}/ask", script=True, question=question)
        assert 400 <= answer.status_code < 500
        assert answer.text.lstrip().startswith('<div class="note">')
    assert visitor.client.post(f"/documents/{lease}/ask", data={"question": "x"}).status_code == 403
    assert visitor.client.get("/jobs/job_0").status_code == 404
    assert visitor.client.get("/documents/doc_0").status_code == 404
    assert visitor.client.get(f"/documents/{lease}?session=ses_0").status_code == 404


def test_starting_over_begins_an_empty_session(visitor):
    document = visitor.upload("again.txt", CONTRACT.replace("Heron", "Egret").encode())
    visitor.ask(document, "Who repairs the jetty?")
    first = visitor.client.app.state.page.talk(document)
    visitor.post(f"/documents/{document}/restart")
    assert fields(visitor.client.get(f"/documents/{document}").text, "data-turn") == []
    assert fields(visitor.client.get(f"/documents/{document}?session={first.id}").text, "data-turn") == ["0"]
    earlier = f'href="/documents/{document}?session={first.id}"'
    assert earlier in visitor.client.get(f"/documents/{document}").text
    assert earlier not in visitor.client.get(f"/documents/{document}?session={first.id}").text


def test_a_hostile_contract_shows_as_text(visitor):
    document = visitor.upload(EVIL_NAME, EVIL.encode())
    fragment = visitor.ask(document, "Which <b>law</b>\u202e governs {{ 7 * 7 }}?")
    tree = visitor.client.get(f"/documents/{document}/tree").text
    part = visitor.client.get(f"/documents/{document}/parts/0?turn=0").text
    page = visitor.client.get(f"/documents/{document}").text
    home = visitor.client.get("/").text
    for html in (fragment, tree, part, page, home):
        assert dangers(html) == []
        assert "49" not in re.sub(r"[0-9a-f]{12,}|\d*[.,]\d+", "", look(html).text)
    shown = look(page).text
    for words in (
        "<script>alert(1)</script>",
        "![logo](http://evil.example/y.png)",
        "{{ 7 * 7 }}",
        "\\x1b[31m",
        "\\u202e",
    ):
        assert words in shown, words
    assert "<img src=x onerror=alert(1)>" in look(home).text


@pytest.mark.parametrize(
    "planted",
    ["<p onclick=x>", "<script>1</script>", '<img src="/a">', '<a href="http://evil.example">', "<p style=x>",
     "a\u202eb", "\x1b[31m", '<div hx-on="x">', "<style>"],
)  # fmt: skip
def test_the_check_of_pages_sees_planted_faults(planted):
    assert dangers(f"<html><body><p>{planted}</p></body></html>")
    assert dangers('<html><script src="/static/a.js"></script><p class="x">a</p></html>') == []


def test_pages_of_a_pdf_are_drawn_in_batches_with_boxes(visitor, monkeypatch):
    calls = []
    real = sheets_module.page_images

    def counted(data, pages):
        calls.append(list(pages))
        return real(data, pages)

    monkeypatch.setattr(sheets_module, "page_images", counted)
    lines = ["1. Rent. The tenant pays 400 pounds.", "2. Term. It lasts two years.",
             "3. Law. The law of Malta governs.", "4. Notice. By post.",
             "5. Repairs. The owner repairs the roof."]  # fmt: skip
    document = visitor.upload("lease.pdf", pdf.build([pdf.sheet([(72, 700, line)]) for line in lines]))
    html = visitor.client.get(f"/documents/{document}").text
    assert fields(html, "data-page") == ["1", "2", "3", "4", "5"]
    assert calls == []
    svg = visitor.client.get(f"/documents/{document}/pages/2").text
    assert calls == [[1, 2, 3, 4]]
    assert fields(svg, "viewbox") == ["0 0 612 792"]
    assert dangers(svg) == []
    png = visitor.client.get(next(value for value in fields(svg, "href")))
    assert png.content.startswith(b"\x89PNG")
    assert png.headers["cache-control"].startswith("private")
    visitor.client.get(f"/documents/{document}/pages/4")
    assert calls == [[1, 2, 3, 4]]
    assert visitor.client.get(f"/documents/{document}/pages/5").status_code == 200
    assert calls == [[1, 2, 3, 4], [5]]
    assert visitor.client.get(f"/documents/{document}/pages/6").status_code == 404
    visitor.ask(document, "Which law governs?")
    citation = visitor.client.app.state.page.talk(document).turns[0].answer.citations[0]
    box = citation.boxes[0]
    marked = visitor.client.get(f"/documents/{document}/pages/{box.page}?turn=0").text
    place = f'class="box" x="{box.left - 1.5:.1f}" y="{792 - box.top - 1.5:.1f}"'
    assert place in marked
    assert 'class="box"' not in visitor.client.get(f"/documents/{document}/pages/{box.page}").text
    shown = visitor.client.app.state.page._shown[document]
    for line in shown.document.lines:
        index = shown.document.clause_at(line.span.start).index
        assert f'data-clause="{index}"' in visitor.client.get(f"/documents/{document}/pages/{line.box.page}").text
    text = visitor.client.get(f"/documents/{document}?show=text").text
    assert "The owner repairs the roof." in look(text).text


def test_log_in_with_the_token(tmp_path, tiny_folder):
    app = create_app(inputs.settings(tmp_path / "store", tiny_folder, token="a-token-of-many-letters"))
    with TestClient(app, base_url=HOST, headers={"Accept": "text/html"}) as client:
        visitor = inputs.Visitor(client)
        closed = client.get("/")
        assert closed.url.path == "/login"
        assert dangers(closed.text) == []
        assert client.get("/static/page.css").status_code == 200
        assert visitor.post("/login", token="wrong").status_code == 403
        assert client.get("/", follow_redirects=False).status_code == 303
        right = visitor.post("/login", token="a-token-of-many-letters")
        assert right.status_code == 303
        assert "HttpOnly" in right.headers["set-cookie"]
        assert "SameSite=strict" in right.headers["set-cookie"]
        assert client.get("/", follow_redirects=False).status_code == 200


@pytest.mark.parametrize("history", [False, True])
def test_the_page_says_that_answers_are_forgotten_unless_they_are_kept(tmp_path, tiny_folder, history):
    app = create_app(replace(inputs.settings(tmp_path, tiny_folder), history=history))
    with TestClient(app, base_url=HOST) as client:
        visitor = inputs.Visitor(client)
        page = client.get(f"/documents/{visitor.upload('lease.txt', CONTRACT.encode())}").text
    assert (PAGE_WORDS["en"]["forgotten"] in page) is not history
