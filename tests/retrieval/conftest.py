"""Documents from an indented outline, so that retrieval tests need no reader."""

import re
from collections.abc import Callable

import pytest

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Clause, Coverage, Document, Source, Span
from softlookup.documents.references.resolve import find_references

_LABEL = re.compile(
    r"\s*((?:Section|Clause|Article|ARTICLE|Schedule|Exhibit)\s[\w.]+|第[一二三四五六七八九十百]+[章条]|附件\S|"
    r"\d+(?:\.\d+)*|\([a-z]+\)|（[一二三四五六七八九十]+）)?[.、]?\s*([^\n.。]*)"
)


def document_of(text: str) -> Document:
    """One clause per line of ``text``; two spaces of indentation make a level."""
    rows = [(m.start(), (len(m.group()) - len(m.group().lstrip(" "))) // 2, m.group())
            for m in re.finditer(r"[^\n]*\S[^\n]*", text)]  # fmt: skip
    rows = [(0 if i == 0 else start, level, line) for i, (start, level, line) in enumerate(rows)]
    clauses: list[Clause] = []
    stack: list[int] = []
    for index, (start, level, line) in enumerate(rows):
        end = next((s for s, other, _ in rows[index + 1 :] if other <= level), len(text))
        stack = stack[:level]
        label = _LABEL.match(line)
        number, heading = (label[1] or "", label[2].strip()) if label else ("", "")
        above = clauses[stack[-1]] if stack else None
        nested = number[:1] in ("(", "（")
        path = (above.path if above and nested else "") + number
        clauses.append(Clause(index, number, heading[:60], Span(start, end), stack[-1] if stack else None, level, path))
        stack.append(index)
    found = tuple(clauses)
    terms = find_definitions(text, found)
    return Document(text, Source("memory.txt", "0" * 64, "text", len(text)), (), found, Coverage(()),
                    terms, find_references(text, found, terms))  # fmt: skip


@pytest.fixture(scope="session")  # it has no state, and property tests may use it too
def make_document() -> Callable[[str], Document]:
    return document_of
