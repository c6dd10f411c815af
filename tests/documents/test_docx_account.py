"""Nothing of a DOCX is lost or told twice: every character of its XML is in the text or aside, in every view."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import os
import random
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from softlookup.documents.read import read_document
from softlookup.documents.readers import ReaderResult, ReadOptions
from softlookup.documents.readers.docx.reader import read_docx
from softlookup.errors import DocumentError

from .builders import (
    bookmark,
    change,
    docx,
    field,
    level,
    marked,
    numbering,
    paragraph,
    relationships,
    run,
    story,
    table,
)
from .test_structure import check_invariants

VIEWS = ("final", "original", "markup")
REAL = Path(os.environ.get("SOFTLOOKUP_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "data/awkward/docx"
_STORIES = re.compile(r"word/(?:document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml")


def local(element: etree._Element) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def letters(text: str) -> Counter[str]:
    return Counter(c for c in text if not c.isspace())


def stored(data: bytes) -> Counter[str]:
    """Characters that the package stores, counted by another way than the reader's."""
    found: Counter[str] = Counter()
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        for name in filter(_STORIES.fullmatch, opened.namelist()):
            for element in etree.fromstring(opened.read(name)).iter():
                separator = any(
                    local(a) in ("footnote", "endnote") and any(k.endswith("}type") for k in a.attrib)
                    for a in element.iterancestors()
                )
                if local(element) in ("t", "delText") and not separator:
                    found += letters(element.text or "")
                found["-"] += local(element) == "noBreakHyphen"
    return +found


def told(result: ReaderResult) -> Counter[str]:
    """Characters in the text without generated ones, and aside; a header that several sections use once."""
    generated = set(itertools.chain.from_iterable(range(s.start, s.end) for s in result.generated))
    found = letters("".join(c for i, c in enumerate(result.text) if i not in generated))
    beside = {
        (a.where, a.text) if a.kind in ("header", "footer") else (at,): a.text for at, a in enumerate(result.aside)
    }
    for text in beside.values():
        found += letters(text)
    return found


def check_account(data: bytes) -> None:
    texts = []
    for view in VIEWS:
        result = read_docx(data, ReadOptions(view=view))
        assert told(result) == stored(data), view
        check_shape(result)
        assert read_docx(data, ReadOptions(view=view)) == result
        texts.append(result)
    counts = [r.coverage.counts for r in texts]
    assert len({(c.insertions, c.deletions, c.moves, c.pictures, c.form_fields) for c in counts}) == 1


def check_shape(result: ReaderResult) -> None:
    """Blocks are in order, hold all words, do not overlap; everything that points into the text stays in it."""
    end = 0
    for block in result.blocks:
        assert block.span.start >= end
        assert not result.text[end : block.span.start].strip()
        assert block.span.end > block.span.start
        end = block.span.end
    assert not result.text[end:].strip()
    starts = {block.span.start for block in result.blocks}
    assert all(link.target in starts and len(link.span) and link.span.end <= len(result.text) for link in result.links)
    assert all(len(mark.span) and mark.span.end <= len(result.text) for mark in result.marks)
    assert all(0 <= aside.anchor <= len(result.text) for aside in result.aside)
    assert list(result.generated) == sorted(result.generated)
    assert all(a.end <= b.start for a, b in itertools.pairwise(result.generated))
    assert (
        sum(row.characters for row in result.coverage.rows) in (len(result.text), len(result.text) - 1, 0)
        or result.text
    )
    beside = sum(row.characters_aside for row in result.coverage.rows if row.state == "read")
    assert beside == sum(len(aside.text) for aside in result.aside)


LISTS = numbering(level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)"))
WORDS = st.text(alphabet="abz租 .-1", min_size=1, max_size=6)
RUNS = st.one_of(
    st.builds(
        run, WORDS, st.sampled_from(["", "<w:b/>", "<w:vanish/>", '<w:sz w:val="2"/>', '<w:color w:val="FFFFFF"/>'])
    ),
    st.builds(change, st.sampled_from(["ins", "del", "moveFrom", "moveTo"]), WORDS),
    st.builds(
        field, st.sampled_from(["REF m \\r", "REF n", "TOC", "SEQ x", "IF", "PAGE"]), st.one_of(st.none(), WORDS)
    ),
    st.builds(bookmark, st.sampled_from(["m", "n"]), WORDS.map(run)),
    st.sampled_from(["begin", "separate", "end"]).map(lambda k: f'<w:r><w:fldChar w:fldCharType="{k}"/></w:r>'),
    st.sampled_from(["footnote", "endnote", "comment"]).map(lambda k: f'<w:r><w:{k}Reference w:id="1"/></w:r>'),
    WORDS.map(lambda t: f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run(t)}</w:sdtContent></w:sdt>"),
    WORDS.map(lambda t: f"<w:r><w:pict><w:txbxContent>{paragraph(t, num=(1, 0))}</w:txbxContent></w:pict></w:r>"),
    WORDS.map(lambda t: f"<w:r><w:ruby><w:rt>{run(t)}</w:rt><w:rubyBase>{run(t)}</w:rubyBase></w:ruby></w:r>"),
    st.just("<w:r><w:tab/><w:br/><w:noBreakHyphen/></w:r>"),
)
INLINE = st.lists(RUNS, max_size=4).map("".join)
NUMBER = st.sampled_from([None, (1, 0), (1, 1)])
HIDDEN_MARK = "<w:rPr><w:vanish/><w:specVanish/></w:rPr></w:pPr>"
SECTION = '<w:sectPr xmlns:r="r"><w:headerReference r:id="h"/></w:sectPr></w:pPr>'
PARAGRAPHS = st.one_of(
    st.builds(lambda r, n: paragraph(runs=r or run("x"), num=n), INLINE, NUMBER),
    st.builds(lambda k, r, n: marked(k, "", runs=r or run("y"), num=n), st.sampled_from(["ins", "del", "moveTo", "moveFrom"]), INLINE, NUMBER),
    st.builds(lambda r, end: paragraph(runs=r or run("z"), num=(1, 0)).replace("</w:pPr>", end, 1), INLINE, st.sampled_from([HIDDEN_MARK, SECTION])),
)  # fmt: skip


def in_cell(inner: str) -> str:
    return f"<w:tc>{inner}</w:tc>"


def changed_row(kind: str, inner: str) -> str:
    return f"<w:tbl><w:tr><w:trPr><w:{kind}/></w:trPr><w:tc>{inner}</w:tc><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('m')}</w:tc></w:tr></w:tbl>"


BLOCKS = st.recursive(
    PARAGRAPHS,
    lambda inner: st.one_of(
        st.lists(st.lists(inner.map(in_cell), min_size=1, max_size=3), min_size=1, max_size=2).map(
            lambda rows: table(*rows)
        ),
        st.builds(changed_row, st.sampled_from(["ins", "del", "hidden"]), inner),
        inner.map(lambda i: f"<w:sdt><w:sdtContent>{i}</w:sdtContent></w:sdt>"),
    ),
    max_leaves=6,
)
PARTS = {
    "word/numbering.xml": LISTS,
    "word/footnotes.xml": story("footnotes", f'<w:footnote w:id="1">{paragraph("fn") + paragraph("fm")}</w:footnote>'),
    "word/endnotes.xml": story("endnotes", f'<w:endnote w:id="1">{paragraph("en")}</w:endnote>'),
    "word/comments.xml": story("comments", f'<w:comment w:id="1" w:author="Bo">{paragraph("co")}</w:comment>'),
    "word/header1.xml": story("hdr", paragraph(runs=run("he") + run("ad", "<w:vanish/>"))),
    "word/_rels/document.xml.rels": relationships(
        ("n", "numbering", "numbering.xml"), ("h", "header", "header1.xml"), ("f", "footnotes", "footnotes.xml"),
        ("e", "endnotes", "endnotes.xml"), ("c", "comments", "comments.xml"),
    ),
}  # fmt: skip
LAST = '<w:sectPr xmlns:r="r"><w:headerReference r:id="h"/></w:sectPr>'


@settings(max_examples=150, deadline=None)
@given(body=st.lists(BLOCKS, min_size=1, max_size=5).map("".join))
def test_every_character_is_in_the_text_or_aside_whatever_the_file_holds(body):
    check_account(docx(body + LAST, PARTS))


def test_a_lost_character_would_be_noticed():
    data = docx(paragraph("One") + paragraph("Two"), {})
    result = read_docx(data)
    assert told(result) == stored(data)
    assert told(result) != stored(docx(paragraph("One") + paragraph("Twos"), {}))


@pytest.mark.shared_data
@pytest.mark.skipif(not REAL.is_dir(), reason="evaluation data not found by SOFTLOOKUP_SHARED or ../shared")
@pytest.mark.parametrize("path", sorted(REAL.glob("*.docx")) if REAL.is_dir() else [], ids=lambda p: p.name)
def test_real_files_are_accounted_for(path):
    check_account(path.read_bytes())
    for view in VIEWS:
        document = read_document(path, view=view)
        check_invariants(document.text, document.clauses)


@pytest.mark.shared_data
@pytest.mark.skipif(not REAL.is_dir(), reason="evaluation data not found by SOFTLOOKUP_SHARED or ../shared")
def test_changes_of_a_real_redline_are_counted():
    path = next(REAL.glob("tracked_revisions*.docx"))
    counts = read_docx(path.read_bytes()).coverage.counts
    assert (counts.insertions, counts.deletions, counts.moves) == (138, 111, 15)


SEED = docx(
    paragraph("Scope", num=(1, 0)) + paragraph(runs=run("Under ") + field("REF m \\r", "1") + change("del", "old") + bookmark("m", run("x")))
    + table(["a", "b"]) + LAST,
    PARTS,
)  # fmt: skip


def test_misplaced_markup_gives_a_document_or_a_typed_error():
    with zipfile.ZipFile(io.BytesIO(SEED)) as opened:
        body = opened.read("word/document.xml")
    source = random.Random(11)
    read = 0
    for _ in range(300):
        root = etree.fromstring(body)
        for _ in range(source.randint(1, 5)):
            mutate(root, source)
        with contextlib.suppress(DocumentError):  # any other exception fails the test
            check_shape(read_docx(docx("", PARTS, document=etree.tostring(root, encoding="unicode"))))
            read += 1
    assert read > 200


def mutate(root: etree._Element, source: random.Random) -> None:
    """Drop, double, move, rename or empty one element somewhere."""
    elements = list(root[0].iterdescendants() if len(root) else root.iter())
    if not elements:
        return
    chosen, other = source.choice(elements), source.choice(elements)
    parent = chosen.getparent()
    kind = source.randrange(5)
    if kind == 0 and parent is not None:
        parent.remove(chosen)
    elif kind == 1 and parent is not None:
        parent.append(copy.deepcopy(chosen))
    elif kind == 2:
        other.append(copy.deepcopy(chosen))
    elif kind == 3:
        chosen.tag = other.tag
    else:
        for name in chosen.attrib:
            chosen.attrib[name] = source.choice(["", "-1", "99999999999", "x", "0"])
