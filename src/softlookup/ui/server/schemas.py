"""Bodies of the API as pydantic models, so that /openapi.json describes every field; no work is done here."""

from __future__ import annotations

import typing
from dataclasses import fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from softlookup.evidence.answer import Answer

MOST_QUESTIONS = 64
MOST_CHARACTERS = 20_000
QuestionText = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
DocumentId = Annotated[str, Field(max_length=64, description="Id of a document, as POST /v1/documents gave it.")]


class Strict(BaseModel):
    """A body in which an unknown field is an error: nothing is ignored silently."""

    model_config = ConfigDict(extra="forbid")


class ErrorFacts(BaseModel):
    """What went wrong."""

    message: str = Field(description="One line: what is required, what came, what to do.")
    remedy: str = Field(description="What to do about it; may be empty.")
    type: str = Field(description="invalid_request_error or server_error.")
    code: str = Field(description="A stable word for programs, such as not_found or overloaded.")
    param: str | None = Field(default=None, description="The parameter that is to blame, where there is one.")


class ErrorBody(BaseModel):
    """The body of every error, in the shape of OpenAI's API."""

    error: ErrorFacts


class Health(BaseModel):
    """The server answers."""

    status: str = Field(description="ok, or stopping.")
    version: str = Field(description="Version of softlookup.")
    model: str | None = Field(description="Name of the model; null while there is none.")
    waiting: int = Field(description="Questions in the queue.")


class Plan(BaseModel):
    """How a document will be read by the model."""

    strategy: str | None = Field(description="full_context, retrieval or hybrid; null when nothing is possible.")
    reason: str = Field(description="Why, in words.")
    change: str = Field(description="What would change that.")
    first_answer_seconds: float | None = Field(description="Predicted seconds until the first answer.")
    next_answer_seconds: float | None = Field(description="Predicted seconds for each further answer.")
    warnings: list[str] = Field(description="One line each.")


class DocumentBody(BaseModel):
    """A document of the store."""

    id: str = Field(description="Made by the server.")
    object: str = Field(default="document", description="Always document.")
    name: str = Field(description="The client's file name, as text: escape it where it is shown.")
    format: str = Field(description="pdf, docx, html, markdown, text or edgar, by content.")
    sha256: str = Field(description="Of the file.")
    bytes: int = Field(description="Of the file.")
    characters: int = Field(description="Of the reading text; offsets of citations count in it.")
    clauses: int = Field(description="Nodes of the clause tree.")
    created: str = Field(description="Time of arrival, ISO 8601.")
    tokens: int | None = Field(description="Of the model's tokenizer; null while there is no model.")
    coverage: dict[str, Any] = Field(description="What of the file was read, and what was not.")
    plan: Plan | None = Field(description="null while there is no model.")


class DocumentList(BaseModel):
    """Every document of the store, the oldest first."""

    object: str = "list"
    data: list[DocumentBody]


class PathBody(Strict):
    """A file of the server's machine, with --allow-path only."""

    path: str = Field(min_length=1, max_length=4096, description="Inside a folder that was allowed.")


class Deleted(BaseModel):
    """Something was deleted."""

    id: str
    deleted: bool


class ClauseList(BaseModel):
    """Clauses in document order, as `softlookup read --json` describes them."""

    total: int = Field(description="Of the whole document.")
    offset: int
    clauses: list[dict[str, Any]]


class TextBody(BaseModel):
    """A piece of the reading text."""

    start: int
    end: int = Field(description="Where the piece ends: not beyond the text.")
    text: str


class AskFields(Strict):
    """What is asked."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["question"]}, {"required": ["questions"]}]},
    )
    question: QuestionText | None = Field(default=None, description="One question; or give `questions`.")
    questions: list[QuestionText] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_QUESTIONS,
        description="Several, for which the document is read once.",
    )
    stream: bool = Field(default=False, description="Answer with server-sent events.")
    alpha: float | None = Field(
        default=None, gt=0, lt=1, description="Error rate of 'evidence found' on off-topic questions."
    )
    max_answer_tokens: int | None = Field(default=None, ge=1, le=1024, description="Longest answer.")

    @model_validator(mode="after")
    def _one_of_both(self) -> AskFields:
        if (self.question is None) == (self.questions is None):
            raise ValueError("give either question or questions")
        return self

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions in order."""
        return tuple(self.questions) if self.questions is not None else (self.question or "",)


class AskBody(AskFields):
    """Questions on one document."""

    document: DocumentId


def _answer_body() -> type[BaseModel]:
    """The public JSON of :class:`softlookup.evidence.answer.Answer`."""
    hints = typing.get_type_hints(Answer)
    parts: dict[str, Any] = {field.name: (hints[field.name], ...) for field in fields(Answer)}
    version = (int, Field(alias="schema", description="1"))
    made: type[BaseModel] = create_model(
        "Answer", __doc__="One answer; docs/json.md describes every field.", schema_version=version, **parts
    )
    return made


AnswerBody = _answer_body()


class Answers(BaseModel):
    """The answers in the order of the questions."""

    answers: list[AnswerBody]  # type: ignore[valid-type]


class SessionStart(Strict):
    """A session on a document."""

    document: DocumentId


class SessionBody(BaseModel):
    """A session: questions on one document, remembered in order."""

    id: str
    object: str = Field(default="session", description="Always session.")
    document: str
    created: str = Field(description="ISO 8601.")
    questions: list[str]


class SessionDetail(SessionBody):
    """A session with its answers."""

    answers: list[AnswerBody]  # type: ignore[valid-type]


class SessionList(BaseModel):
    """Every session, the oldest first."""

    object: str = "list"
    data: list[SessionBody]


class InspectBody(Strict):
    """A question to look into."""

    question: QuestionText
    stream: bool = Field(default=False, description="Progress as server-sent events, then `result`.")


class DiagnoseBody(InspectBody):
    """Why the answer to a question was wrong."""

    expect: str = Field(
        min_length=1, max_length=MOST_CHARACTERS,
        description="Number or words of the clause that holds the truth, or none.",
    )  # fmt: skip
    answer: QuestionText | None = Field(default=None, description="The answer to judge; the model's own if left out.")
