"""The document as HTML pieces: nothing lost, nothing doubled, every clause has its anchor, no text is markup."""

from __future__ import annotations

import html
import random
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from softlookup.documents.model import CrossReference, Span
from softlookup.documents.read import read_document
from softlookup.ui.document_view import Highlight, clause_anchor, document_pieces, neighbourhood
from softlookup.ui.escape import printable
from tiny_models import CONTRACT, CONTRACT_ZH

EVIL = (
    "<script>alert(1)</script> {{ 7*7 }} ![x](http://evil/x.png) \u202eabc\u202c \x1b[31m "
    "<img src=x onerror=y> &amp; '\""
)


class Reader(HTMLParser):
    """Text, ids and nesting of tags; a tag that is closed out of order is an error."""

    def __init__(self):
        super().__init__()
        self.text, self.ids, self.open, self.marked, self.tags = "", [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not (tag == "a" and "a" in self.open)
        self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "mark":
            self.marked.append(dict(attrs).get("class"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(pieces):
    reader = Reader()
    for piece in pieces:
        reader.feed(piece.html)
        reader.text += "\n"
    assert reader.open == []
    return reader


def bare(text):
    return re.sub(r"\s+", "", text)


@pytest.fixture
def make(tmp_path):
    def build(text, name="c.txt"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return read_document(path)

    return build


@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH, CONTRACT.replace("\n\n", "\n")])
def test_the_pieces_hold_the_whole_text_and_every_clause_once(make, text):
    document = make(text)
    reader = read(document_pieces(document))
    assert bare(reader.text) == bare(document.text)
    assert sorted(reader.ids) == sorted(f"cl-{clause.index}" for clause in document.clauses)
    assert len(document.clauses) > 5


@pytest.mark.parametrize("name", ["supply-agreement.docx", "caigou-hetong.docx", "supply-agreement.txt"])
def test_the_same_of_the_samples(name):
    from pathlib import Path

    document = read_document(Path(__file__).parents[2] / "samples" / name)
    reader = read(document_pieces(document))
    assert bare(reader.text) == bare(document.text)
    assert sorted(reader.ids) == sorted(f"cl-{clause.index}" for clause in document.clauses)
    assert "a" in reader.tags  # cross references are links


def test_highlights_anywhere_keep_text_and_nesting(make, seed):
    document = make(CONTRACT)
    draw = random.Random(seed)
    for _ in range(40):
        spans = [sorted(draw.sample(range(len(document.text)), 2)) for _ in range(draw.randint(1, 5))]
        marks = [Highlight(Span(*span), "cited", f"q-{n}", 'a "title"') for n, span in enumerate(spans)]
        reader = read(document_pieces(document, marks))
        assert bare(reader.text) == bare(document.text)
        assert len(reader.ids) == len(set(reader.ids))
        for number, span in enumerate(spans):
            first = document.text[span[0]]
            assert first.isspace() or f"q-{number}" in reader.ids


def test_exactly_the_highlighted_words_are_marked(make):
    document = make(CONTRACT)
    words = "shall pay the Mooring Fee on the first day"
    start = document.text.index(words)
    joined = "".join(
        piece.html for piece in document_pieces(document, [Highlight(Span(start, start + len(words)), "cited", "q1-1")])
    )
    assert joined.count("<mark") == 1
    (inside,) = re.findall(r'<mark class="cited" id="q1-1">(.*?)</mark>', joined)
    assert re.sub(r"<[^>]+>", "", inside) == words


def test_a_highlight_of_two_paragraphs_is_marked_in_both_and_named_once(make):
    document = make(CONTRACT)
    start, end = document.text.index("Late payment"), document.text.index("after a written notice")
    reader = read(document_pieces(document, [Highlight(Span(start, end), "cited", "here")]))
    assert len(reader.marked) >= 2
    assert reader.ids.count("here") == 1


def test_references_lead_to_their_clause(make):
    document = make(CONTRACT)
    target = next(clause.index for clause in document.clauses if clause.number == "4.1")
    joined = "".join(piece.html for piece in document_pieces(document, prefix="d-"))
    assert f'<a href="#d-cl-{target}">clause 4.1</a>' in joined
    assert f'id="d-cl-{target}"' in joined


def test_references_within_one_another_are_one_link(make):
    document = make(CONTRACT)
    known = next(reference for reference in document.references if reference.targets)
    inner = CrossReference(Span(known.span.start + 2, known.span.end), known.source_clause, known.targets, "resolved")
    both = replace(document, references=(known, inner))
    assert bare(read(document_pieces(both)).text) == bare(document.text)


def test_hostile_text_is_text(make):
    document = make(f"1. Rent. {EVIL}\n\n2. {EVIL}\n\n{EVIL}\n")
    pieces = list(document_pieces(document, [Highlight(Span(3, 60), '"><script>', '"><b>', EVIL)]))
    reader = read(pieces)
    assert reader.tags <= {"p", "mark", "b", "a", "span"}
    assert bare(reader.text) == bare(printable(document.text))
    joined = "".join(piece.html for piece in pieces)
    assert not {"\x1b", "\u202e", "\u202c"} & set(joined)
    assert "\\u202e" in html.unescape(joined)
    assert "{{ 7*7 }}" in joined


def test_only_what_is_asked_for_is_shown(make):
    document = make(CONTRACT)
    clause = next(clause for clause in document.clauses if clause.number == "3")
    pieces = list(document_pieces(document, within=[clause.span]))
    assert len(pieces) == 1
    assert "repair the jetty" in pieces[0].html
    assert f'id="cl-{clause.index}"' in pieces[0].html
    assert pieces[0].clause == clause.index


def test_a_neighbourhood_holds_whole_paragraphs_and_merges(make):
    document = make(CONTRACT)
    start = document.text.index("six per cent")
    (near,) = neighbourhood(document, [Span(start, start + 12)], 60)
    assert document.text[near.start : near.end].startswith("2.1")
    assert near.start <= start - 60
    assert near.end >= start + 12 + 60 or near.end == len(document.text.rstrip())
    assert len(neighbourhood(document, [Span(start, start + 1), Span(start + 4, start + 9)], 60)) == 1
    far = document.text.index("Insurance")
    assert len(neighbourhood(document, [Span(far, far + 3), Span(0, 3)], 1)) == 2


def test_an_anchor_of_any_place(make):
    document = make(CONTRACT)
    clause = next(clause for clause in document.clauses if clause.number == "4.2")
    assert clause_anchor(document, clause.span.start + 3) == f"cl-{clause.index}"
    assert clause_anchor(document, 10**9) == ""
