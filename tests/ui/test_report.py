"""The report: complete, escaped, self-contained, the same bytes, small enough, in both languages; nothing is timed."""

from __future__ import annotations

import html
import importlib.util
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.evidence.answer import ModelSummary, Seconds
from softlookup.ui.report import Record, ReportInput, build_report
from softlookup.ui.report.words import WORDS, clause_name
from tiny_models import CONTRACT, CONTRACT_ZH

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


inputs = _load("ui_report_inputs", HERE / "report_inputs.py")
pdf = _load("ui_report_pdf_builders", HERE.parent / "documents" / "pdf_builders.py")

EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} {% raw %} ![x](http://evil.test/x.png) "
    "\u202edrawkcab\u202c \x1b[31m\x07 <|im_end|> </style></title><!-- \" ' & &lt; \u200b"
)
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags, attributes, ids, links, headings and text; tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.links, self.headings, self.words = [], [], [], [], [], []
        self.open = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture
def read(tmp_path):
    def build(text, name="c.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_document(path)

    return build


def everything(document, **more):
    """A report with every part: three outcomes, an inspection, a diagnosis."""
    records = (
        inputs.record(document, "Who pays?", inspected=True, diagnosed=True),
        inputs.record(document, "Who sings?", "no_evidence"),
        inputs.record(document, "Who ends it?", "conflict"),
    )
    return ReportInput(document, records, **more)


def check_sound(text):
    """Self-contained, linked, in order; returns the parsed page."""
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    broken = [link for link in page.links if not link.startswith("data:") and link[1:] not in set(page.ids)]
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.links)
    assert broken == []
    assert not {"script", "iframe", "object", "embed", "link", "form", "img", "base"} & set(page.tags)
    assert not [a for a in page.attributes if a[1].startswith("on") or a[1] in ("src", "srcset", "style", "action")]
    policy = [value for tag, name, value in page.attributes if tag == "meta" and name == "content"]
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in policy
    assert "url(" not in text
    assert "@import" not in text
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert {"header", "nav", "main", "footer"} <= set(page.tags)
    return page


# --- what is in it


def test_a_reader_finds_outcome_reason_quotes_and_numbers(read):
    document = read(CONTRACT)
    page = check_sound(build_report(everything(document)))
    for expected in (
        "Who pays?", "Evidence found", "No evidence found", "Evidence and answer disagree", "Check by hand",
        "first reason", "second reason", "The keeper pays.", "0.0310", "p = 0.020", "a cited passage refers",
        "it defines a term", "A plain sentence.", "A remedy.", "seen, not selected", "head_entropy_low",
        document.source.sha256, "1" * 64, "2" * 64, "1-2, 3-4", "9.9", "57",
    ):  # fmt: skip
        assert expected in page.text, expected
    for cited in everything(document).records[0].answer.citations:
        assert " ".join(cited.quote.split()) in " ".join(page.text.split())


def test_the_plain_sentence_names_what_the_attention_cites_and_nothing_else(read):
    document = read(CONTRACT)
    clauses = inputs.numbered(document)
    page = check_sound(build_report(ReportInput(document, (inputs.record(document),))))
    assert f"The model looked at clause {clauses[0].path} when it read your question" in page.text
    both = (inputs.citation(document, clauses[0]), inputs.citation(document, clauses[1]))
    page = check_sound(build_report(ReportInput(document, (inputs.record(document, citations=both),))))
    assert f"looked at clause {clauses[0].path} and clause {clauses[1].path} when" in page.text


def test_the_whole_text_stands_below_with_a_mark_for_every_citation(read):
    document = read(CONTRACT)
    text = build_report(ReportInput(document, (inputs.record(document),)))
    below = text[text.index('id="document"') :]
    assert re.sub(r"\s", "", document.text) in re.sub(r"\s", "", html.unescape(re.sub(r"<[^>]+>", "", below)))
    for number in range(1, 5):
        assert f'id="q1-m{number}"' in below
    assert below.count('<mark class="cited"') >= 2


def test_context_stands_around_a_quote_and_is_not_marked(read):
    document = read(CONTRACT)
    start = document.text.index("Late payment")
    cited = replace(
        inputs.citation(document, document.clause_at(start)), start=start, end=start + 12, quote="Late payment"
    )
    text = build_report(ReportInput(document, (inputs.record(document, citations=(cited,)),)))
    (before, quote, after) = re.search(
        r"<blockquote>(.*?)<mark[^>]*>(.*?)</mark>(.*?)</blockquote>", text, re.S
    ).groups()
    assert quote == "Late payment"
    assert before.endswith("2.2 ")
    assert after.startswith(" bears interest")


def test_everything_is_there_in_chinese_by_the_document_and_by_choice(read):
    document = read(CONTRACT_ZH)
    page = check_sound(build_report(everything(document)))
    assert ("html", "lang", "zh-CN") in page.attributes
    assert "找到依据" in page.text
    assert "阅读您的问题时，模型对第一条的关注" in page.text
    assert "Evidence found" not in page.text
    english = check_sound(build_report(everything(document, language="en")))
    assert ("html", "lang", "en") in english.attributes
    assert "Evidence found" in english.text
    assert "松涛物流有限公司" in english.text
    chinese = check_sound(build_report(everything(read(CONTRACT), language="zh")))
    assert "引用的段落" in chinese.text


@pytest.mark.parametrize(
    ("label", "english", "chinese"),
    [
        ("8.2(a)", "clause 8.2(a)", "条款 8.2(a)"),
        ("(A)", "clause (A)", "条款 (A)"),
        ("Schedule 2/1", "Schedule 2/1", "条款 Schedule 2/1"),
        ("第三条（一）", "clause 第三条（一）", "第三条（一）"),
        ("附件一", "附件一", "附件一"),
        ("", "passage without a number", "无编号段落"),
    ],
)
def test_a_clause_is_named_as_a_reader_would(label, english, chinese):
    assert (clause_name(label, "en"), clause_name(label, "zh")) == (english, chinese)


def test_both_languages_say_the_same_with_the_same_facts():
    def fields(text):
        return sorted(re.findall(r"{(\w*)", text))

    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for key in WORDS["en"]:
        ours, theirs = fields(WORDS["en"][key]), fields(WORDS["zh"][key])
        assert key == "page" or ours == theirs, key


@pytest.mark.parametrize("outcome", ["answered", "no_evidence", "conflict"])
def test_a_record_without_anything_is_shown(read, outcome):
    document = read("hello there, this is no contract at all")
    record = Record(
        replace(inputs.ANSWER, question="?", outcome=outcome, citations=(), ranking=(), clauses=(), answer="")
    )
    check_sound(build_report(ReportInput(document, (record,))))


def test_a_report_needs_a_question(read):
    with pytest.raises(ValueError, match="at least one question"):
        ReportInput(read(CONTRACT), ())


def test_questions_read_in_the_same_way_are_told_once_and_others_apart(read):
    document = read(CONTRACT)
    one, two = inputs.record(document, "A?"), inputs.record(document, "B?")
    apart = replace(two, answer=replace(two.answer, plan=replace(two.answer.plan, reason="another reason")))
    same, other = (build_report(ReportInput(document, (one, second))) for second in (two, apart))
    assert same.count("<dt>Left out</dt>") == 1
    assert other.count("<dt>Left out</dt>") == 2
    assert "another reason" in other


# --- the same bytes


def test_the_same_input_gives_the_same_bytes_and_seconds_stand_in_one_place(read):
    document = read(CONTRACT)
    given = everything(document, count_tokens=len)
    one = build_report(given)
    assert one == build_report(everything(read(CONTRACT), count_tokens=len))
    slower = tuple(replace(r, answer=replace(r.answer, seconds=Seconds(1, 2, 3, 4, 5, 6, 21.5))) for r in given.records)
    other = build_report(replace(given, records=slower))
    assert other != one

    def cut(text):
        return re.sub(r"<!-- measured -->.*?<!-- /measured -->", "", text, flags=re.S)

    assert cut(other) == cut(one)
    assert "21.5 s" in other
    assert "21.5 s" not in cut(other)


# --- hostile words, everywhere they can come from


def test_hostile_text_is_text_everywhere(tmp_path):
    path = tmp_path / "evil<b>'\u202e{{x}}.txt"
    path.write_text(f"LEASE {EVIL}\n\n1. {EVIL} Rent. {EVIL} is paid, see clause 2.\n\n2. Fire {EVIL}\n" * 2, "utf-8")
    document = read_document(path)
    base = inputs.record(document, EVIL, inspected=True, diagnosed=True)
    answer = replace(
        base.answer,
        answer=EVIL,
        reasons=(EVIL,),
        alerts=(EVIL,),
        citations=tuple(replace(c, heading=EVIL, clause=EVIL, why=EVIL) for c in base.answer.citations),
        plan=replace(base.answer.plan, reason=EVIL),
        model=ModelSummary(EVIL, EVIL, EVIL, EVIL),
        coverage=replace(base.answer.coverage, clauses_not_fed=(EVIL,), skipped=(EVIL,), notes=(EVIL,)),
    )
    inspection = replace(
        base.inspection, question=EVIL, failure=EVIL, strip=(replace(inputs.STRIP[0], clause=EVIL),),
        alerts=(replace(base.inspection.alerts[0], detail=EVIL),),
        sinks=(replace(base.inspection.sinks[0], token=EVIL),),
    )  # fmt: skip
    diagnosis = replace(
        base.diagnosis, sentence=EVIL, remedy=EVIL, answer=EVIL, not_tested=(EVIL,),
        expected=replace(base.diagnosis.expected, clause=EVIL, quote=EVIL),
        tests=(replace(base.diagnosis.tests[0], name=EVIL, detail=EVIL),),
        distractor=replace(base.diagnosis.distractor, clause=EVIL),
    )  # fmt: skip
    record = Record(answer, base.fed, inspection, diagnosis)
    text = build_report(ReportInput(document, (record, record)))
    page = check_sound(text)
    healthy = check_sound(build_report(everything(document)))
    assert set(page.tags) <= set(healthy.tags)
    assert not set("\u202e\u202c\x1b\x07\u200b") & set(text)
    assert page.text.count("<script>alert(1)</script>") > 25
    assert page.text.count("{{ 7*7 }}") > 25
    assert "http://evil.test" not in "".join(str(a[2]) for a in page.attributes if a[1] in ("href", "src", "content"))


def test_a_planted_raw_string_is_seen(read, monkeypatch):
    """The check above can fail: what is not escaped becomes a tag."""
    from markupsafe import Markup

    document = read(CONTRACT)
    record = inputs.record(document, Markup("<script>x</script>"))
    with pytest.raises(AssertionError):
        check_sound(build_report(ReportInput(document, (record,))))


# --- PDF: page images with boxes


def lease(pages=3):
    sheets = [
        pdf.sheet(
            [
                (72, 700 - 20 * line, f"{page}.{line} The keeper of barge {page} pays {line}00 pounds.")
                for line in range(1, 9)
            ]
        )
        for page in range(1, pages + 1)
    ]
    return pdf.build(sheets)


def test_cited_pages_are_drawn_once_with_boxes_over_the_words(read):
    data = lease()
    document = read(data, "lease.pdf")
    clauses = inputs.numbered(document, least=10)
    cited = tuple(inputs.citation(document, clauses[n], length=30) for n in (0, 1, 9))
    record = inputs.record(document, citations=cited)
    text = build_report(ReportInput(document, (record, record), source=data))
    page = check_sound(text)
    assert [i for i in page.ids if i.startswith("img-")] == ["img-1", "img-2"]
    assert text.count("data:image/png;base64,") == 2
    assert page.tags.count("use") == 2 * 3 + 2
    assert 'id="pg-3"' in text
    box = cited[0].boxes[0]
    assert f'x="{box.left - 1.5:.1f}" y="{792 - box.top - 1.5:.1f}"' in text
    assert build_report(ReportInput(document, (record, record), source=data)) == text


def test_without_the_file_or_with_another_there_are_no_images(read):
    data = lease()
    document = read(data, "lease.pdf")
    record = inputs.record(document)
    assert "<image" not in build_report(ReportInput(document, (record,)))
    text = build_report(ReportInput(document, (record,), source=b"%PDF-1.4 broken"))
    assert "<image" not in text
    assert "could not be drawn: 1" in text
    check_sound(text)


def test_images_that_do_not_fit_are_left_out_and_counted(read):
    data = lease()
    document = read(data, "lease.pdf")
    clauses = inputs.numbered(document, least=10)
    cited = tuple(inputs.citation(document, clauses[n], length=30) for n in (0, 9, 17))
    record = inputs.record(document, citations=cited)
    whole = build_report(ReportInput(document, (record,), source=data))
    one_image = max(len(found) for found in re.findall(r"data:image/png;base64,[^\"]+", whole))
    text = build_report(ReportInput(document, (record,), source=data, most_bytes=int(1.5 * one_image / 0.55)))
    assert whole.count("data:image") == 3
    assert text.count("data:image") == 1
    assert "Images of 2 cited pages were left out" in text
    check_sound(text)


# --- size


def long_text(clauses):
    return "LONG AGREEMENT\n\n" + "\n\n".join(
        f"{n}. The keeper of barge number {n} shall pay the fee for it under clause {n % 7 + 1}. " + "So it is. " * 30
        for n in range(1, clauses + 1)
    )


def test_a_long_document_keeps_the_limit_and_says_what_is_missing(read):
    document = read(long_text(1500))
    place = inputs.numbered(document)[700]
    record = inputs.record(document, citations=(inputs.citation(document, place),), diagnosed=True)
    whole = build_report(ReportInput(document, (record,)))
    assert len(whole.encode()) > 600_000
    assert "characters are not in this report" not in whole
    limit = 500_000
    text = build_report(ReportInput(document, (record,), most_bytes=limit))
    assert len(text.encode()) <= limit
    page = check_sound(text)  # every link of strip and text has its place, also into a gap
    shown, total = (
        int(n.replace(",", "")) for n in re.search(r"([\d,]+) of ([\d,]+) characters\.", page.text).groups()
    )
    assert 0 < shown < total
    gaps = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) characters are not in this report", page.text)]
    assert shown + sum(gaps) == total
    assert record.answer.citations[0].quote in page.text
    assert 'id="q1-m1"' in text
    assert f'id="cl-{inputs.numbered(document)[2].index}"' in text  # the expected clause


def test_many_questions_share_the_cells_of_the_strips(read):
    document = read(long_text(900))
    few = build_report(ReportInput(document, (inputs.record(document),)))
    many = build_report(ReportInput(document, tuple(inputs.record(document) for _ in range(30))))
    assert few.count("data-cell=") >= 900
    assert many.count("data-cell=") <= 31 * (4800 // 31) * 1.5
    assert "drawn together" in many
    assert "drawn together" not in few
    assert len(many.encode()) < 5_000_000
    check_sound(many)


def test_the_spans_that_were_fed_are_those_that_are_shown_as_read(read):
    document = read(CONTRACT)
    all_read = build_report(ReportInput(document, (inputs.record(document, fed=1),)))
    none = build_report(ReportInput(document, (inputs.record(document, fed=0),)))
    assert 'class="fn"' not in all_read
    assert 'class="fd"' not in none
    assert 'data-read="1"' in all_read
    assert 'data-read="0"' in none
    assert 'data-evidence="0.04"' in none
    assert none.count('class="fn"') == all_read.count('class="fd"')
    partly = build_report(ReportInput(document, (replace(inputs.record(document), fed=(Span(0, 300),)),)))
    assert 'class="fn"' in partly
    assert 'class="fd"' in partly
