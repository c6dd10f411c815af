"""The whole story in Debian's Chromium: open, ask, jump, diagnose, report; and that no request leaves this machine."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import pytest

from served import served
from softlookup.session import Options
from tiny_models import CONTRACT, CONTRACT_ZH

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT = 30_000  # ms; the machine may be busy


def _beside(path):
    spec = importlib.util.spec_from_file_location(f"story_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


inputs = _beside(Path(__file__).parent / "page_inputs.py")
pdf = _beside(Path(__file__).parents[1] / "documents" / "pdf_builders.py")


@pytest.fixture(scope="module")
def address(tiny_folder, tmp_path_factory):
    """A server with the tiny model, which cites something at this alpha."""
    options = Options(alpha=inputs.ALPHA, max_answer_tokens=4, cache=False)
    with served(model=tiny_folder, store=tmp_path_factory.mktemp("store"), options=options) as running:
        yield running.address


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as runner:
        found = runner.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def watched(browser, address, request):
    """A page whose every request and error is heard; ``locale`` of the browser by parameter."""
    context = browser.new_context(locale=getattr(request, "param", "en-GB"), viewport={"width": 1280, "height": 800})
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.requests, page.troubles = [], []
    page.on("request", lambda one: page.requests.append(one.url))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("console", lambda said: page.troubles.append(said.text) if said.type == "error" else None)
    page.goto(address)
    yield page
    context.close()
    assert [url for url in page.requests if not url.startswith((f"{address}/", "data:"))] == []
    assert page.troubles == []


def upload(page, name, content):
    """Choose a file, and wait for its page."""
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})
    page.wait_for_url("**/documents/doc_*")


def ask(page, question, number):
    """Ask with the keyboard; the answer, number ``number`` from 0."""
    page.locator("body").press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.insert_text(question)
    page.keyboard.press("Enter")
    answer = page.locator(f"#turn-{number}")
    answer.wait_for()
    return answer


def in_sight(locator):
    """Whether the middle of an element lies within the pane that scrolls it, and within the window."""
    return locator.evaluate(
        """element => {
            const box = element.getBoundingClientRect();
            const pane = element.closest(".pane").getBoundingClientRect();
            const middle = (box.top + Math.min(box.bottom, box.top + 400)) / 2;
            return middle > pane.top && middle < Math.min(pane.bottom, innerHeight);
        }"""
    )


def docx(paragraphs):
    """A Word file of plain paragraphs."""
    import io
    import zipfile

    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            f'relationships+xml"/><Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}" Target="word/document.xml"/>'
            "</Relationships>",
        )
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    return held.getvalue()


def test_english_word_file_from_upload_to_report(watched, tmp_path):
    page = watched
    filler = [f"{n}. Duty {n}. The keeper cleans boat number {n} on every day of the week." for n in range(7, 82)]
    upload(page, "mooring.docx", docx([*CONTRACT.split("\n\n"), *filler]))
    assert page.locator("[role=treeitem]").count() > 70
    assert page.locator(".part:not(.loaded)").count() > 0
    answer = ask(page, "Who repairs the jetty?", 0)
    second = ask(page, "Which law governs?", 1)
    assert "already" in second.locator(".more-of-it > summary").inner_text()
    assert "already" not in answer.locator(".more-of-it > summary").inner_text()

    jumps = answer.locator(".jump")
    target = page.locator(f"#{jumps.first.get_attribute('data-target')}")
    jumps.first.click()
    target.wait_for(state="attached")
    page.wait_for_timeout(600)
    assert in_sight(target)
    assert target.evaluate("element => element.matches('mark')")
    quote = jumps.first.locator(".quote").inner_text()
    assert target.inner_text().split()[0] in quote
    if jumps.count() > 1:
        page.keyboard.press("j")
        page.locator(
            f"#turn-0 .passage.now .jump[data-target='{jumps.nth(1).get_attribute('data-target')}']"
        ).wait_for()
        page.keyboard.press("k")
        page.locator(f"#turn-0 .passage.now .jump[data-target='{jumps.first.get_attribute('data-target')}']").wait_for()

    answer.locator(".wrong > summary").click()
    page.locator("#picking").wait_for()
    page.keyboard.press("Escape")
    page.locator("#picking").wait_for(state="hidden")
    answer.locator(".wrong > summary").click()
    page.locator("[role=treeitem]", has_text="Repairs").first.locator("a").click()
    diagnosis = answer.locator(".diagnosis")
    diagnosis.wait_for()
    assert "Expected" in diagnosis.inner_text()
    page.locator("#picking").wait_for(state="hidden")
    assert page.locator("#said").inner_text().startswith("Diagnosis: ")

    with page.expect_download() as saved:
        page.locator("a.file", has_text="Report").first.click()
    path = tmp_path / "report.html"
    saved.value.save_as(path)
    report = path.read_text("utf-8")
    assert "Who repairs the jetty?" in report
    assert "<script" not in report
    page.locator("input[name=q]").nth(0).check()
    page.locator("input[name=q]").nth(1).check()
    page.locator("#comparing button").click()
    page.locator(".beside .answer").nth(1).wait_for()
    page.locator(".strip rect").first.click()
    page.wait_for_url("**clause=*")


@pytest.mark.parametrize("watched", ["zh-CN"], indirect=True)
def test_chinese_pdf_with_boxes_and_a_click_in_the_page(watched):
    page = watched
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    lines = [line for line in CONTRACT_ZH.splitlines() if line.strip()]
    sheets = [
        pdf.Sheet([pdf.Words(72, 700 - 30 * n, line, 12, font="F2") for n, line in enumerate(lines[at : at + 6])])
        for at in range(0, len(lines), 6)
    ]
    upload(page, "仓库租赁合同.pdf", pdf.build(sheets))
    assert "仓库租赁合同.pdf" in page.locator(".what h1").inner_text()
    page.locator("#part-1.loaded svg.page").wait_for()
    answer = ask(page, "逾期支付的违约金是多少？", 0)
    answer.locator(".jump").first.click()
    boxes = page.locator(f"#{answer.locator('.jump').first.get_attribute('data-target')} .box")
    boxes.first.wait_for(state="attached")
    page.wait_for_timeout(600)
    assert in_sight(boxes.first)
    answer.locator(".wrong > summary").click()
    hit = page.locator(".hit[data-clause]").last
    hit.scroll_into_view_if_needed()
    hit.click()
    answer.locator(".diagnosis").wait_for()
    page.locator(".views a", has_text="文字").click()
    page.locator(".doc .part.loaded").first.wait_for()
    assert "松涛物流有限公司" in page.locator("#text").inner_text()
    assert page.locator("#turn-0 .diagnosis").count() == 1


def test_a_pdf_of_150_pages_stays_fluid(watched):
    page = watched
    upload(page, "long.pdf", pdf.long_contract(150, 500))
    assert page.locator(".part").count() == 150
    page.locator("#part-1.loaded").wait_for()
    assert page.locator(".part.loaded").count() < 10
    # a fast scroll to the end loads what is in sight at the end, not what was passed
    page.locator("#text").evaluate("pane => pane.scrollTo(0, pane.scrollHeight)")
    page.locator("#part-150.loaded").wait_for()
    assert page.locator(".part.loaded").count() < 16
    page.locator("[role=treeitem]").nth(40).locator("a").first.click()
    wanted = page.locator("[role=treeitem]").nth(40).get_attribute("data-clause")
    place = page.locator(f"#text [data-clause='{wanted}']").first
    place.wait_for(state="attached")
    page.wait_for_timeout(600)
    assert in_sight(place)
    answer = ask(page, "Who pays rent for each boat?", 0)
    answer.locator(".jump").first.click()
    box = page.locator(f"#{answer.locator('.jump').first.get_attribute('data-target')} .box").first
    box.wait_for(state="attached")
    page.wait_for_timeout(600)
    assert in_sight(box)
    assert page.locator(".part.loaded").count() < 40


def test_a_hostile_contract_acts_on_nothing(watched, address):
    page = watched
    page.add_init_script("window.alerts = []; window.alert = text => window.alerts.push(text);")
    page.goto(address)
    upload(page, inputs.EVIL_NAME, inputs.EVIL.encode())
    ask(page, "Which <b>law</b> governs {{ 7 * 7 }}?", 0)
    shown = page.locator("#text").inner_text()
    for words in (
        "<script>alert(1)</script>",
        "![logo](http://evil.example/y.png)",
        "{{ 7 * 7 }}",
        "\\u202e",
        "\\x1b[31m",
    ):
        assert words in shown
    assert page.evaluate("window.alerts") == []
    assert page.locator("#text img, #text script, #text [onerror], #text [style*=fixed]").count() == 0
    assert page.locator("#turn-0 h3").inner_text() == "Which <b>law</b> governs {{ 7 * 7 }}?"


def test_a_question_is_stopped_with_the_keyboard(watched):
    page = watched
    page.route(
        "**/jobs/*/events", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=": \n\n")
    )
    upload(page, "lease.txt", CONTRACT.replace("Heron", "Swan").encode())
    page.locator("body").press("/")
    page.keyboard.insert_text("Who repairs the jetty?")
    page.keyboard.press("Enter")
    run = page.locator("article.run")
    run.wait_for()
    with page.expect_response(re.compile(r"/jobs/job_\w+/cancel")) as answer:
        page.keyboard.press("Escape")
    assert answer.value.status == 204


def test_the_tree_is_walked_with_the_arrows_and_colours_switch(watched):
    page = watched
    upload(page, "lease.txt", CONTRACT.replace("Heron", "Crane").encode())
    items = page.locator("[role=treeitem]")
    items.first.focus()
    focused = "document.activeElement.dataset.clause"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    third = page.evaluate(focused)
    assert third == items.nth(2).get_attribute("data-clause")
    payment = page.locator("[role=treeitem][aria-expanded]").first
    payment.focus()
    page.keyboard.press("ArrowLeft")
    assert payment.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowRight")
    assert payment.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "2"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert items.last.get_attribute("aria-selected") == "true"
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for theme in ("light", "dark"):
        page.locator("#theme").click()
        assert page.locator("html").get_attribute("data-theme") == theme
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".panels a[data-panel=text]").click()
    assert page.locator("#text").is_visible()
    assert not page.locator("#ask").is_visible()


def test_a_file_that_cannot_be_read_is_told_where_it_was_dropped(watched):
    page = watched
    page.set_input_files("#file", {"name": "a.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 nothing"})
    page.locator("#note .note").wait_for()
    assert page.locator(".drop .big").is_visible()
    page.troubles.clear()  # the browser says that the status was 422
    page.keyboard.press("Escape")
    assert page.locator("#note .note").count() == 0


def test_a_server_that_is_gone_and_one_that_refuses_are_told(watched):
    page = watched
    upload(page, "lease.txt", CONTRACT.replace("Heron", "Stork").encode())
    refusal = '{"error": {"message": "too many <b>questions</b>", "remedy": "wait"}}'
    for answer in (lambda route: route.abort(), lambda route: route.fulfill(status=503, body=refusal)):
        page.route("**/ask", answer)
        page.locator("#question").fill("Who repairs the jetty?")
        page.locator("#send").click()
        page.locator("#note .note").wait_for()
        shown = page.locator("#note p").inner_text()
        assert shown.startswith(("The server does not answer.", "too many <b>questions</b>. wait"))
        assert page.locator("#question").input_value() == "Who repairs the jetty?"  # nothing has to be written again
        page.locator("#note button").click()
        page.unroute("**/ask")
    page.troubles.clear()  # the browser says so too


def test_a_request_elsewhere_would_be_noticed(browser, address):
    context = browser.new_context()
    page = context.new_page()
    seen = []
    page.on("request", lambda one: seen.append(one.url))
    page.route("http://evil.example/**", lambda route: route.abort())
    page.set_content('<img src="http://evil.example/x.png">')
    page.wait_for_timeout(200)
    context.close()
    assert "http://evil.example/x.png" in seen
