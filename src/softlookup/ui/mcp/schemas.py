"""Arguments of the tools as models that take nothing unknown; JSON schemas of results; text made safe to show."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from softlookup.errors import UsageError
from softlookup.ui.escape import printable
from softlookup.ui.server.schemas import QuestionText, Strict

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound=Strict)
MOST_QUOTE = 4000
PathText = Annotated[
    str,
    Field(min_length=1, max_length=4096, description="A document: relative to the server's folder, or absolute."),
]
ClauseText = Annotated[
    str,
    Field(
        min_length=1, max_length=300,
        description="A clause as printed, such as 8.2, Schedule 2/3.1 or 第三条; a heading; or #N, its index.",
    ),
]  # fmt: skip
Alpha = Annotated[
    float | None,
    Field(gt=0, lt=1, description="Error rate of 'evidence found' on off-topic questions; 0.05 if left out."),
]


class ReadArguments(Strict):
    """Arguments of ``read_document``."""

    path: PathText
    clause: ClauseText | None = None
    part: Annotated[int, Field(ge=1, le=1_000_000, description="Which part of a long result.")] = 1


class AskArguments(Strict):
    """Arguments of ``ask_document``."""

    path: PathText
    question: Annotated[QuestionText, Field(description="One question in full, in English or Chinese.")]
    alpha: Alpha = None
    max_answer_tokens: Annotated[int | None, Field(ge=1, le=1024, description="Longest answer.")] = None


class CheckArguments(Strict):
    """Arguments of ``check_clause``."""

    path: PathText
    question: Annotated[QuestionText, Field(description="The question that the citation is to answer.")]
    expect_clause: Annotated[ClauseText | None, Field(description="The clause that is cited, as printed.")] = None
    quote: Annotated[
        str | None, Field(min_length=1, max_length=MOST_QUOTE, description="The words that are cited.")
    ] = None
    alpha: Alpha = None


def arguments_of(kind: type[T], given: dict[str, Any] | None) -> T:
    """``given`` checked. Raises ``UsageError`` that names the first argument that is wrong."""
    try:
        return kind.model_validate(given or {})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = ".".join(str(step) for step in first["loc"]) or "arguments"
        raise UsageError(f"{name}: {first['msg']}", f"arguments are {', '.join(kind.model_fields)}") from error


def schema_of(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a result that is a dataclass."""
    return TypeAdapter(kind).json_schema(mode="serialization")


def content_of(result: DataclassInstance) -> dict[str, Any]:
    """A result as JSON that is safe to show."""
    content: dict[str, Any] = shown(asdict(result))
    return content


def shown(value: Any) -> Any:
    """``value`` with control, bidi and invisible characters of every text written as escapes; tuples become lists."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: shown(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(inner) for inner in value]
    return value
