"""What the person who decides needs of a run: answers, the nearest clauses with their text, and what was not read.

Gathers only; nothing is computed anew and nothing is printed. The file formats are ``ui/handover.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from softlookup.documents.language import Language, language_of
from softlookup.documents.model import Document, Span
from softlookup.evidence.answer import Answer
from softlookup.evidence.not_fed import clauses_not_fed
from softlookup.evidence.question_bank import question_bank

SCHEMA = 1
MOST_NEAREST = 5

NOT_TESTED: dict[Language, tuple[str, ...]] = {
    "en": (
        "whether a cited clause answers the question: it was looked at more than for off-topic questions, no more",
        "whether the answer in words is right: it is the model's, unverified",
        "whether the question is about another party, event or amount than the clause: only its words were compared",
        "whether the document contains no answer: where nothing stood out, it may still stand there in other words",
        "anything outside this file: annexes that are not in it, other agreements, the law",
    ),
    "zh": (
        "所引条款是否真正回答了问题：仅表明模型对它的关注多于无关问题",
        "文字回答是否正确：那是模型原话，未经核实",
        "问题与条款是否指向同一方、同一事件或同一金额：只比较了用词",
        "文件中是否确无答案：未见突出依据时，答案仍可能以其他措辞存在",
        "本文件以外的内容：未包含的附件、其他协议及法律规定",
    ),
}


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage of the display order with its text: ``document.text[start:end] == text``."""

    clause: str
    heading: str
    page: int | None
    start: int
    end: int
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question: its answer, the nearest passages, and labels of the clauses that the model did not read."""

    answer: Answer
    nearest: tuple[NearPassage, ...]
    not_fed: tuple[str, ...]

    @property
    def language(self) -> Language:
        """The question's language: that of its labels."""
        return language_of(self.answer.question)

    @property
    def off_topic(self) -> int | None:
        """How many off-topic questions the p-value compares with; None without a p-value."""
        answer = self.answer
        return None if answer.p_value is None else len(question_bank(self.language, answer.alpha).compared)


@dataclass(frozen=True, slots=True)
class Handover:
    """The whole run on one document. ``created`` is a time in ISO 8601, ``version`` that of softlookup."""

    document: Document
    records: tuple[QuestionRecord, ...]
    created: str
    version: str

    @property
    def language(self) -> Language:
        """The language of what concerns all questions."""
        return language_of("\n".join(record.answer.question for record in self.records))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of a hand-over file."""
        document = self.document
        return {
            "schema": SCHEMA,
            "softlookup": self.version,
            "created": self.created,
            "document": {
                "path": document.source.path, "sha256": document.source.sha256, "format": document.source.format,
                "characters": len(document.text), "clauses": len(document.clauses),
            },
            "coverage": {
                "complete": document.coverage.complete, "pages": document.coverage.pages,
                "rows": [asdict(row) for row in document.coverage.rows], "notes": list(document.coverage.notes),
            },
            "questions": [
                {
                    **record.answer.to_dict(),
                    "nearest": [asdict(passage) for passage in record.nearest],
                    "not_read_by_model": list(record.not_fed),
                    "off_topic_questions": record.off_topic,
                    "not_tested": list(NOT_TESTED[record.language]),
                }
                for record in self.records
            ],
        }  # fmt: skip


def question_record(document: Document, answer: Answer, fed: Sequence[Span]) -> QuestionRecord:
    """Record of one answer; ``fed`` are the spans of the document that the model had read for it."""
    nearest = []
    for passage in answer.ranking[:MOST_NEAREST]:
        clause = document.clause_at(passage.start)
        heading = next((c.heading for c in (clause, *document.ancestors(clause.index)) if c.heading), "")
        page, text = document.page_at(passage.start), document.text[passage.start : passage.end]
        nearest.append(NearPassage(passage.clause, heading, page, passage.start, passage.end, passage.score, text))
    return QuestionRecord(answer, tuple(nearest), clauses_not_fed(document, fed))
