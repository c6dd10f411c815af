"""The sample contracts: reproducible bytes, right numbers, and questions that match the text."""

from __future__ import annotations

import importlib
import json
import re
import sys
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from softlookup.documents.read import read_document

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
if str(SAMPLES) not in sys.path:
    sys.path.insert(0, str(SAMPLES))
markup = importlib.import_module("contract_markup")
builder = importlib.import_module("build_samples")

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
NAMES = tuple(builder.SAMPLES)
QUESTIONS = json.loads((SAMPLES / "questions.json").read_text(encoding="utf-8"))
BY_FILE = {sample["file"]: sample for sample in QUESTIONS["samples"]}
PARTS = ("document", "numbering", "styles", "settings", "header1", "footer1")


def source_of(name: str) -> str:
    return (SAMPLES / builder.SAMPLES[name]).read_text(encoding="utf-8")


def contract_of(name: str):
    return markup.parse_contract(source_of(name))


def part(data: bytes, name: str) -> ET.Element:
    with zipfile.ZipFile(BytesIO(data)) as package:
        return ET.fromstring(package.read(f"word/{name}.xml"))


def value(element: ET.Element | None) -> str:
    return "" if element is None else element.get(f"{W}val", "")


# --- a second opinion on the numbers: counts the levels of numbering.xml the way Word does


@dataclass
class Numbered:
    label: str
    text: str
    bookmarks: tuple[str, ...]


def printed(count: int, fmt: str) -> str:
    if fmt == "decimal":
        return str(count)
    if fmt in ("lowerLetter", "upperLetter"):
        letter = "abcdefghijklmnopqrstuvwxyz"[count - 1]
        return letter.upper() if fmt.startswith("upper") else letter
    if fmt == "lowerRoman":
        return ["i", "ii", "iii", "iv", "v", "vi"][count - 1]
    assert fmt in ("chineseCounting", "chineseCountingThousand"), fmt
    ones = ["", *"一二三四五六七八九"]
    return ones[count] if count < 10 else ("" if count < 20 else ones[count // 10]) + "十" + ones[count % 10]


def word_numbers(data: bytes) -> list[Numbered]:
    """Every paragraph of the body with the label that numbering.xml and styles.xml give it."""
    numbering, styles = part(data, "numbering"), part(data, "styles")
    lists = {item.get(f"{W}abstractNumId"): item for item in numbering.iter(f"{W}abstractNum")}
    numbers = {}
    for item in numbering.iter(f"{W}num"):
        numbers[item.get(f"{W}numId")] = lists[value(item.find(f"{W}abstractNumId"))]
    places = {}
    for style in styles.iter(f"{W}style"):
        number, depth = (value(style.find(f".//{W}{tag}")) for tag in ("numId", "ilvl"))
        if number:
            places[style.get(f"{W}styleId")] = (number, int(depth))
    counters: dict[str, list[int]] = defaultdict(list)
    result = []
    for paragraph in part(data, "document").iter(f"{W}p"):
        text = "".join(node.text or "" for node in paragraph.iter(f"{W}t"))
        marks = tuple(mark.get(f"{W}name", "") for mark in paragraph.iter(f"{W}bookmarkStart"))
        number, depth = places.get(value(paragraph.find(f".//{W}pStyle")), ("", 0))
        label = ""
        if number:
            levels = list(numbers[number].iter(f"{W}lvl"))
            start = int(value(levels[depth].find(f"{W}start")))
            counts = counters[number]
            fresh = len(counts) <= depth
            counters[number] = counts = [*counts[: depth + 1], *[start] * (depth + 1 - len(counts))]
            counts[depth] += 0 if fresh else 1
            label = value(levels[depth].find(f"{W}lvlText"))
            for at in range(depth + 1):
                label = label.replace(f"%{at + 1}", printed(counts[at], value(levels[at].find(f"{W}numFmt"))))
        result.append(Numbered(label, text, marks))
    return result


def named_paths(sample) -> list[tuple[str, str]]:
    items = [*sample["answerable"], *sample["near_miss"]]
    return [(item["id"], path) for item in items for path in [*item["clauses"], *item.get("decoys", ())]]


def question_faults(contract, sample) -> list[str]:
    """What questions.json says about ``contract`` that is not so."""
    faults = []
    paths = {paragraph.path for paragraph in contract.paragraphs if paragraph.path}
    whole = "\n".join(paragraph.text for paragraph in contract.paragraphs).casefold()
    faults += [f"{key}: no clause {path}" for key, path in named_paths(sample) if path not in paths]
    for item in [*sample["answerable"], *sample["near_miss"]]:
        expected = bool(item["phrase"]) if item.get("expect", "clause") == "clause" else not item["clauses"]
        texts = [contract.clause_text(path) for path in item["clauses"] if path in paths]
        if not expected or (item["phrase"] and not any(item["phrase"] in text for text in texts)):
            faults.append(f"{item['id']}: phrase {item['phrase']!r}")
    for item in sample["unanswerable"]:
        faults += [f"{item['id']}: {word!r} occurs" for word in item["absent"] if word.casefold() in whole]
    return faults


# --- the files


@pytest.mark.parametrize("name", NAMES)
def test_same_source_gives_the_committed_bytes(name):
    first, second = builder.build_docx(source_of(name)), builder.build_docx(source_of(name))
    assert first == second
    assert (SAMPLES / name).read_bytes() == first


@pytest.mark.parametrize("name", NAMES)
def test_package_is_well_formed_and_names_nobody(name):
    with zipfile.ZipFile(SAMPLES / name) as package:
        assert package.testzip() is None
        members = {member.filename: package.read(member) for member in package.infolist()}
        assert {member.compress_type for member in package.infolist()} == {zipfile.ZIP_STORED}
        assert {member.date_time for member in package.infolist()} == {(2025, 1, 1, 0, 0, 0)}
    assert {f"word/{item}.xml" for item in PARTS} <= set(members)
    for xml in members.values():
        ET.fromstring(xml)
    core = members["docProps/core.xml"].decode("utf-8")
    assert re.findall(r"<dc:creator>(.*?)</dc:creator>", core) == ["softlookup"]
    assert "lastModifiedBy" not in core


def test_markup_characters_are_escaped():
    source = ':title A & B <C> "D"\n:1 [#x] Tom & Jerry’s <w:t>\n:body see [^x]\n:row 1 < 2 | R&D\n'
    data = builder.build_docx(source)
    texts = [node.text for node in part(data, "document").iter(f"{W}t")]
    assert texts == ['A & B <C> "D"', "Tom & Jerry’s <w:t>", "see ", "1", "1 < 2", "R&D"]


def test_check_passes_on_the_committed_files_and_catches_an_edit(tmp_path, capsys):
    assert builder.main(["--check"]) == 0
    for name, source in builder.SAMPLES.items():
        (tmp_path / source).write_text(source_of(name), encoding="utf-8")
    assert builder.main([], folder=tmp_path) == 0
    assert builder.main(["--check"], folder=tmp_path) == 0
    edited = source_of(NAMES[0]).replace("125%", "150%")
    (tmp_path / builder.SAMPLES[NAMES[0]]).write_text(edited, encoding="utf-8")
    assert builder.main(["--check"], folder=tmp_path) == 1
    (tmp_path / NAMES[1]).unlink()
    assert builder.main(["--check"], folder=tmp_path) == 1
    assert f"{NAMES[1]}: differs" in capsys.readouterr().out


# --- numbers


@pytest.mark.parametrize("name", NAMES)
def test_word_counts_the_same_numbers_as_the_source(name):
    expected = [(item.label, item.text) for item in contract_of(name).paragraphs if item.label]
    assert len(expected) > 150
    assert [(n.label, n.text) for n in word_numbers((SAMPLES / name).read_bytes()) if n.label] == expected


def test_second_opinion_notices_a_wrong_start(monkeypatch):
    source, original = ":1 First\n:2 One\n", builder.numbering_xml
    assert [n.label for n in word_numbers(builder.build_docx(source))] == ["1.", "1.1"]
    start = '<w:start w:val="{}"/>'
    monkeypatch.setattr(
        builder, "numbering_xml", lambda lang: original(lang).replace(start.format(1), start.format(3), 1)
    )
    assert [n.label for n in word_numbers(builder.build_docx(source))] == ["3.", "3.1"]


@pytest.mark.parametrize("name", NAMES)
def test_no_number_is_typed_where_word_counts(name):
    typed = re.compile(r"\d+\.\d*\s|\(\w+\)|（\w+）|第[一二三四五六七八九十]+[章条]\s|Schedule \d|附件[一二三]")
    assert typed.match("1.1 text")
    assert typed.match("（二）原文")
    assert typed.match("第二条　原文")
    for item in contract_of(name).paragraphs:
        if item.label:
            assert not typed.match(item.text), item.path


@pytest.mark.parametrize("name", NAMES)
def test_cached_results_of_ref_fields_are_the_numbers_of_their_targets(name):
    contract, body = contract_of(name), part((SAMPLES / name).read_bytes(), "document")
    paragraphs = list(body.iter(f"{W}p"))
    targets = {
        mark.get(f"{W}name"): "".join(node.text or "" for node in paragraph.iter(f"{W}t"))
        for paragraph in paragraphs
        for mark in paragraph.iter(f"{W}bookmarkStart")
    }
    path_by_text = {item.text: item.path for item in contract.paragraphs if item.path}
    results = []
    for paragraph in paragraphs:
        state, code, result = "", "", ""
        for run in paragraph.iter(f"{W}r"):
            mark = run.find(f"{W}fldChar")
            state = mark.get(f"{W}fldCharType", "") if mark is not None else state
            code += "".join(node.text or "" for node in run.iter(f"{W}instrText"))
            result += "".join(node.text or "" for node in run.iter(f"{W}t")) if state == "separate" else ""
            if mark is not None and state == "end":
                results.append((code.split()[0], path_by_text[targets[code.split()[1]]], result))
                code, result = "", ""
    assert len(results) == 3
    assert all(kind == "REF" and path == result for kind, path, result in results), results


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (":body see [@nowhere]\n", "nowhere"),
        (":sched One\n:s1 [#a] Two\n:body see [^a]\n", "cannot point to Schedule 1/1"),
        (":1 [#a] One\n:1 [#a] Two\n", "used twice"),
        (":body [#a] text\n", "unnumbered"),
        (":body **open\n", "bold"),
        (":5 text\n", "unknown tag"),
        ("text without a tag\n", "line 1"),
    ],
)
def test_faulty_markup_is_refused(source, words):
    with pytest.raises(markup.MarkupError, match=words):
        markup.parse_contract(source)


def test_numbers_in_words_and_letters():
    assert [markup.chinese_number(n) for n in (1, 9, 10, 11, 20, 28, 99)] == [
        "一", "九", "十", "十一", "二十", "二十八", "九十九",
    ]  # fmt: skip
    assert [markup.format_number(n, "lowerRoman") for n in (1, 4, 9, 14, 20)] == [
        "i",
        "iv",
        "ix",
        "xiv",
        "xx",
    ]
    assert [markup.format_number(n, "upperLetter") for n in (1, 20)] == ["A", "T"]
    with pytest.raises(markup.MarkupError, match="100"):
        markup.chinese_number(100)
    with pytest.raises(markup.MarkupError, match="21"):
        markup.format_number(21, "lowerLetter")


# --- questions and ingredients


@pytest.mark.parametrize("name", NAMES)
def test_questions_match_the_contract(name):
    sample = BY_FILE[name]
    assert len(sample["answerable"]) >= 14
    assert len(sample["near_miss"]) >= 10
    assert len(sample["unanswerable"]) >= 12
    identifiers = [item["id"] for kind in ("answerable", "near_miss", "unanswerable") for item in sample[kind]]
    assert len(set(identifiers)) == len(identifiers)
    assert question_faults(contract_of(name), sample) == []


def test_wrong_questions_are_noticed():
    contract = markup.parse_contract(":1 Cap\n:2 No more than £5.\n:head End\n:body Escrow.\n")
    sample = {
        "answerable": [
            {"id": "good", "clauses": ["1.1"], "phrase": "£5"},
            {"id": "clause", "clauses": ["1.2"], "phrase": "£5"},
            {"id": "words", "clauses": ["1"], "phrase": "Escrow"},
        ],
        "near_miss": [{"id": "decoy", "expect": "no_evidence", "clauses": [], "phrase": "", "decoys": ["9"]}],
        "unanswerable": [{"id": "topic", "absent": ["escrow"]}],
    }
    assert [fault.split(":")[0] for fault in question_faults(contract, sample)] == [
        "clause", "decoy", "clause", "words", "topic",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "first", "terms", "links"),
    [
        (
            NAMES[0],
            "Does the liability cap conflict with the termination right?",
            r"“(?:[A-Z][\w ]+)” (?:means|has the meaning)",
            (
                "such Losses",
                "Subject to clauses 15.1",
                "Except as provided in clauses",
                "notwithstanding clause 15",
            ),
        ),
        (
            NAMES[1],
            "责任限额与解除权是否冲突？",
            r"“[^”]+”(?:指|具有)",
            (
                "该等损失",
                "除本条第（一）款和第（三）款另有规定外",
                "尽管有第二十一条",
                "无论本合同其他条款有何相反规定",
            ),
        ),
    ],
)
def test_each_contract_has_its_ingredients(name, first, terms, links):
    contract = contract_of(name)
    text = "\n".join(item.text for item in contract.paragraphs)
    assert BY_FILE[name]["answerable"][0]["question"] == first
    assert len(re.findall(terms, text)) >= 18
    assert [link for link in links if link not in text] == []
    assert not re.search("[\"']", text)
    assert "“" in text
    assert {"row", "s1"} <= {item.tag for item in contract.paragraphs}
    footer = part((SAMPLES / name).read_bytes(), "footer1")
    codes = [(node.text or "").strip() for node in footer.iter(f"{W}instrText")]
    assert codes == ["PAGE", "NUMPAGES"]


def test_price_table_of_the_chinese_contract_adds_up():
    rows = [item.cells for item in contract_of(NAMES[1]).paragraphs if len(item.cells) == 6][1:]
    numbers = [[int(re.sub(r"\D", "", cell) or 0) for cell in row[3:]] for row in rows]
    assert [count * price for count, price, _ in numbers[:-1]] == [total for _, _, total in numbers[:-1]]
    assert sum(row[2] for row in numbers[:-1]) == numbers[-1][2] == 28_600_000


# --- what the reader makes of the files


@pytest.fixture(scope="module")
def documents():
    return {name: read_document(SAMPLES / name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_reader_finds_the_clauses_that_the_questions_name(name, documents):
    document = documents[name]
    labels = {item.path: item.label.rstrip(".") for item in contract_of(name).paragraphs if item.path}
    found = {clause.path: clause for clause in document.clauses if clause.number}
    wrong = []
    for key, path in named_paths(BY_FILE[name]):
        clause = found.get(path)
        printed_there = clause is not None and document.text[clause.span.start :].startswith(labels[path])
        if clause is None or clause.number != labels[path] or not printed_there:
            wrong.append((key, path))
    assert wrong == []
    for item in [*BY_FILE[name]["answerable"], *BY_FILE[name]["near_miss"]]:
        texts = [document.text[found[path].span.start : found[path].span.end] for path in item["clauses"]]
        assert not texts or any(item["phrase"] in text for text in texts), item["id"]
    assert document.coverage.complete


@pytest.mark.parametrize("name", NAMES)
def test_reader_gives_every_numbered_clause_its_path_once(name, documents):
    # parties and recitals stand before the first clause; the questions do not address them
    expected = [
        (item.path, item.label.rstrip("."))
        for item in contract_of(name).paragraphs
        if item.path and item.tag not in ("party", "recital")
    ]
    pairs = [(clause.path, clause.number) for clause in documents[name].clauses if clause.number]
    found = [pair for pair in pairs if pair in set(expected)]
    assert [pair for pair in expected if pair not in found] == []
    assert found == expected


@pytest.mark.parametrize(
    ("name", "words", "clause"),
    [(NAMES[0], "such Losses", "18.4"), (NAMES[1], "该等损失", "第二十四条（三）")],
)
def test_such_losses_lead_back_to_the_definition(name, words, clause, documents):
    document = documents[name]
    found = [item for item in document.references if document.text[item.span.start : item.span.end] == words]
    assert found
    assert {document.clauses[item.source_clause].path for item in found} == {clause}
    meaning = {"en": "“Losses” means", "zh": "“损失”指"}[BY_FILE[name]["language"]]
    for item in found:
        targets = [document.clauses[index].span for index in item.targets]
        assert any(meaning in document.text[span.start : span.end] for span in targets)
