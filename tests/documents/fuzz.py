"""Seeded mutations of small files, most of which still parse: ``mutants(format, seed, count)``.

Same seed, same files, in every process. Text formats are mutated as text and then, now and then, as bytes; DOCX and
PDF, which have an inner structure, in ``fuzz_docx.py`` and ``fuzz_pdf.py``.
"""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from .fuzz_docx import mutated_docx
from .fuzz_pdf import mutated_pdf
from .fuzz_seeds import EDGAR, HTML, MARKDOWN, TEXTS
from .limited import Job

# what the rules for clauses, definitions and references look for, and what they may choke on
TOKENS = (
    "1.", "1.1", "(a)", "(i)", "(aa)", "(iv)", "IX.", "§ 3", "Section 4.2(b)(iii)", "Sections 3 to 500", "Article V", "ARTICLE MMMCMXCIX",
    "1.1.1.1.1.1.1.1.1", "999999999999999999999.", "0.0", "Schedule 2", "Exhibit A-1", "Annex", "paragraph 3 of Schedule 2", "this Section",
    "the foregoing", "hereof", '"Rope" means', '("Rope")', '(the "Rope")', "“", "”", '"', "such Losses", "said Rope", "subject to", "notwithstanding",
    "except as provided in", "shall mean", "has the meaning given in Section", "IN WITNESS WHEREOF", "TABLE OF CONTENTS", "...... 12", "RECITALS",
    "第一条", "第九千九百九十九条", "第〇条", "第三十五条之一", "（一）", "一、", "第二款", "第（三）项", "前款", "前两款", "本条", "该绳索", "附件一", "附件",
    "以下简称“绳索”", "是指", "除第四条另有规定外", "《民法典》第五百条", "第三条至第二条", "、", "和第九条", "㈠", "１．", "①", "\u3000",
    "\n", "\n\n", "\t", "\r", "\x0c", "    ", "\u2028", "\u00a0", "\x85", "\x1b[31m", "\x07", "\x00", "\u200b", "\u202e", "\u2066", "\ufeff", "\ufffd", "\ue000",
    "\U0001f600", "\U000e0041", "е", "а.", "é", "İ", "ß", "ﬁ", "<|im_start|>system", "[***]", "____", "----------", "|", "****", "((((((((", "))))))))",
    "<PAGE>", "Page 3 of 9", "- 7 -", ".", ";", ",", "-", "$1,000,000.00", "12/31/1999", "a" * 300, "(" * 60, "1." * 60, "第" * 60, " " * 300,
)  # fmt: skip
HTML_TOKENS = (
    "<p>", "</p>", "<div>", "</div>", "<br>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<ol>", "<ol start=99999>", "<ol type=i>", "<li>", "</ol>",
    "<li value=-3>", "<ul>", "<pre>", "</pre>", "<h2>", "<s>", "</s>", "<del>", "<ins>", "<span style='display:none'>", "<span hidden>", "</span>",
    "<div style=\"visibility:hidden\">", "<script>", "</script>", "<style>", "<!--", "-->", "<![CDATA[", "]]>", "<?pi", "<%", "%>", "<a href='#s2'>",
    "<a href='#nowhere'>", "<a name=s2>", "<ix:header>", "<ix:nonNumeric>", "</html>", "<html>", "<body>", "<title>", "<select><option>", "<textarea>",
    "<input value='1.'>", "<svg>", "<math>", "<template>", "<iframe src=x>", "<object>", "<meta http-equiv=refresh>", "<base href='http://x'>",
    "&nbsp;", "&#0;", "&#x110000;", "&#xD800;", "&bogus;", "&lt;", "&amp;amp;", "&", "<", ">", "<p", "<td colspan=99999999>", "<td rowspan=-1>",
    "<p style='font-size:0'>", "<p style='mso-list:l0 level9 lfo1'>", "<div>" * 40, "<b>" * 200, "<table><tr><td>" * 20, "<ol><li>" * 30, "\x00", "\ufffe",
)  # fmt: skip
EDGAR_TOKENS = (
    "<DOCUMENT>", "</DOCUMENT>", "<TYPE>EX-10.9", "<TYPE>", "<SEQUENCE>9", "<TEXT>", "</TEXT>", "<PAGE>", "<TABLE>", "</TABLE>", "<CAPTION>", "<S>", "<C>",
    "<SEC-HEADER>", "</SEC-HEADER>", "<DESCRIPTION>", "<FILENAME>x.pdf", "<PDF>", "begin 644 x.pdf\nM", "<XBRL>", "<HTML><BODY>",
)  # fmt: skip
MARKDOWN_TOKENS = (
    "# ", "###### ", "####### ", "1. ", "   1. ", "      1) ", "- ", "* ", "> ", "|---|", "| a | b |", "```", "~~~", "***", "---", "[a](#rent)", "[x]: y",
    "<a id=x>", "{#law}", "\\", "1\\.", "**", "__", "===", "&nbsp;", "[^1]", "[^1]: ", "<!--", "![", "](", "\t1. ",
)  # fmt: skip
CODECS = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-8-sig",
    "gb18030",
    "big5",
    "cp1252",
    "latin-1",
    "utf-7",
    "shift_jis",
)

Mutation = Callable[[random.Random, str, Sequence[str], Sequence[str]], str]


def _insert(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    at = source.choice(_places(source, text))
    return text[:at] + source.choice(tokens) * source.choice((1, 1, 1, 2, 5)) + text[at:]


def _replace(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    at = source.choice(_places(source, text))
    return text[:at] + source.choice(tokens) + text[at + source.randint(1, 12) :]


def _delete(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    at = source.randrange(len(text) + 1)
    return text[:at] + text[at + source.choice((1, 3, 20, 100)) :]


def _lines(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    """Move, repeat, drop, join, indent or reverse whole lines: the structure changes, the words stay."""
    lines = text.split("\n")
    first = source.randrange(len(lines))
    last = min(len(lines), first + source.randint(1, 4))
    piece = lines[first:last]
    kind = source.randrange(6)
    if kind == 0:
        lines[first:last] = piece * source.randint(2, 6)
    elif kind == 1:
        del lines[first:last]
        at = source.randrange(len(lines) + 1)
        lines[at:at] = piece
    elif kind == 2:
        lines[first:last] = [source.choice(("", " ")).join(piece)]
    elif kind == 3:
        lines[first:last] = [" " * source.randint(1, 9) + line for line in piece]
    elif kind == 4:
        lines[first:last] = piece[::-1]
    else:
        del lines[first:last]
    return "\n".join(lines)


def _number(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    """Another digit or letter of a label."""
    places = [at for at, c in enumerate(text) if c.isdigit() or c in "一二三四五六七八九十ivxIVXabc"]
    if not places:
        return text
    at = source.choice(places)
    return text[:at] + source.choice("0123456789ivxabcZ一二十百千〇") + text[at + 1 :]


def _splice(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    other = source.choice(others)
    return text[: source.randrange(len(text) + 1)] + other[source.randrange(len(other)) :]


def _repeat(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    at = source.randrange(len(text) + 1)
    piece = text[at : at + source.randint(1, 60)]
    return text[:at] + piece * source.choice((2, 3, 50)) + text[at:]


def _cut(source: random.Random, text: str, tokens: Sequence[str], others: Sequence[str]) -> str:
    return text[: source.randrange(1, len(text) + 1)] if source.random() < 0.5 else text[source.randrange(len(text)) :]


_MUTATIONS: tuple[Mutation, ...] = (
    _insert, _insert, _insert, _replace, _replace, _delete, _lines, _lines, _number, _number, _splice, _repeat, _cut,
)  # fmt: skip


def _places(source: random.Random, text: str) -> list[int]:
    """Half of the time the starts of lines, where labels count; else anywhere."""
    if source.random() < 0.5:
        return [0] + [at + 1 for at, c in enumerate(text) if c == "\n"]
    return [source.randrange(len(text) + 1)]


def mutated_text(source: random.Random, seeds: Sequence[str], tokens: Sequence[str]) -> bytes:
    """One seed after one to eight mutations, encoded; one in ten has its bytes mutated too."""
    text = source.choice(seeds)
    for _ in range(source.choice((1, 2, 3, 4, 8))):
        text = source.choice(_MUTATIONS)(source, text, tokens, seeds)[:30_000] or "x"
    roll = source.random()
    if roll < 0.1:
        return text.encode(source.choice(CODECS), "replace")
    data = text.encode("utf-8", "replace")
    return mutated_bytes(source, data) if roll > 0.9 else data


def mutated_bytes(source: random.Random, data: bytes) -> bytes:
    """``data`` with flipped, dropped, repeated or foreign bytes."""
    out = bytearray(data)
    for _ in range(source.choice((1, 2, 4, 16))):
        at = source.randrange(len(out) + 1)
        kind = source.randrange(5)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << source.randrange(8)
        elif kind == 1 and at < len(out):
            out[at] = source.choice((0, 0x0A, 0x20, 0x7F, 0x80, 0xFF, source.randrange(256)))
        elif kind == 2:
            del out[at : at + source.choice((1, 2, 40))]
        elif kind == 3:
            out[at:at] = out[at : at + source.randint(1, 40)]
        else:
            out[at:at] = source.randbytes(source.randint(1, 8))
    return bytes(out) or b"x"


def mutants(name: str, seed: int, count: int) -> Iterator[Job]:
    """``count`` jobs of the format ``name``: docx, pdf, html, edgar, markdown or text."""
    source = random.Random(f"{name} {seed}")
    for _ in range(count):
        yield _mutant(name, source)


def _mutant(name: str, source: random.Random) -> Job:
    if name == "docx":
        data = mutated_docx(source, TOKENS)
        return Job(mutated_bytes(source, data) if source.random() < 0.08 else data, "fuzz.docx", _view(source))
    if name == "pdf":
        data = mutated_pdf(source)
        return Job(mutated_bytes(source, data) if source.random() < 0.3 else data, "fuzz.pdf")
    if name == "html":
        return Job(
            mutated_text(source, (HTML, HTML, f"<p>{TEXTS[2]}</p>"), HTML_TOKENS + TOKENS), "fuzz.htm", _view(source)
        )
    if name == "edgar":
        return Job(mutated_text(source, (EDGAR,), EDGAR_TOKENS * 3 + TOKENS), "fuzz.txt")
    if name == "markdown":
        return Job(mutated_text(source, (MARKDOWN, MARKDOWN, TEXTS[0]), MARKDOWN_TOKENS * 3 + TOKENS), "fuzz.md")
    return Job(mutated_text(source, TEXTS, TOKENS), "fuzz.txt")


def _view(source: random.Random) -> dict[str, str]:
    return {"view": source.choice(("final", "final", "original", "markup"))}
