"""What an OpenAI chat request asks here: a question, a document; parameters that would change nothing are refused.

The model reads the document and the last user message. Nothing else of the conversation is read, and that is said.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from softlookup.errors import CapacityError, UsageError
from softlookup.ui.server.problems import UnsupportedError
from softlookup.ui.server.schemas import MOST_CHARACTERS

MOST_INLINE = 16 * 1024 * 1024  # of a document inside JSON; a larger one goes through POST /v1/documents
MOST_MESSAGES = 1000


class ChatMessage(BaseModel):
    """One message; ``content`` is text, or parts of type ``text`` and ``file``."""

    model_config = ConfigDict(extra="allow")
    role: str = Field(max_length=40, description="Only `user` is read.")
    content: str | list[dict[str, Any]] | None = Field(
        default=None,
        description='Text, or parts: {"type": "text", "text"} and {"type": "file", "file": {"file_id"}} or '
        '{"file_data": "data:...;base64,...", "filename"}.',
    )


class ChatBody(BaseModel):
    """OpenAI's request, as far as it means something here; another parameter is answered with 400."""

    model_config = ConfigDict(extra="allow")
    model: str = Field(max_length=300, description="An id of GET /v1/models, or softlookup.")
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = Field(default=None, description="Answer with chunks.")
    stream_options: dict[str, Any] | None = Field(default=None, description="include_usage.")
    max_tokens: int | None = Field(default=None, ge=1, le=1024, description="Longest answer.")
    max_completion_tokens: int | None = Field(default=None, ge=1, le=1024, description="Longest answer.")
    document: str | None = Field(default=None, max_length=64, description="Id of the document (not OpenAI's).")
    alpha: float | None = Field(default=None, gt=0, lt=1, description="As in POST /v1/ask (not OpenAI's).")


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A document that came inside the request."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked: a question on a stored document or an inline one; ``notes`` say what was not read."""

    question: str
    document: str | InlineFile
    stream: bool
    include_usage: bool
    alpha: float | None
    max_answer_tokens: int | None
    notes: tuple[str, ...]


# parameters that OpenAI's API has, and the values that ask for what happens here anyway
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "n": (1,), "temperature": (0, 0.0), "top_p": (1, 1.0), "presence_penalty": (0, 0.0),
    "frequency_penalty": (0, 0.0), "logprobs": (False,), "top_logprobs": (0,), "stop": ([],), "tools": ([],),
    "functions": ([],), "tool_choice": ("none", "auto"), "function_call": ("none", "auto"), "logit_bias": ({},),
    "response_format": ({"type": "text"},), "modalities": (["text"],), "store": (False,),
    "parallel_tool_calls": (True, False), "service_tier": ("auto", "default"), "best_of": (1,),
}  # fmt: skip
# parameters that name the caller or a seed: harmless, but not without saying so
_WITHOUT_EFFECT = ("user", "safety_identifier", "metadata", "seed", "prompt_cache_key")


def chat_request(body: ChatBody, most: int) -> ChatRequest:
    """What ``body`` asks. ``most`` bytes of an inline document.

    Raises ``UsageError`` (and ``UnsupportedError``, which names the parameter), ``CapacityError``.
    """
    notes = _checked_parameters(body)
    asked = next((at for at in reversed(range(len(body.messages))) if body.messages[at].role == "user"), None)
    if asked is None:
        raise UnsupportedError("messages", "a message with the role user is required", "put the question there")
    question = "\n".join(_texts(body.messages[asked])).strip()
    if not question:
        raise UnsupportedError("messages", "the last user message holds no text", "put the question there")
    if len(question) > MOST_CHARACTERS:
        raise CapacityError(
            f"the question has {len(question):,} characters, at most {MOST_CHARACTERS:,} are read",
            "a longer text belongs in a document: send it as a file part",
        )
    unread = [message.role for at, message in enumerate(body.messages) if at != asked and _says(message)]
    if unread:
        roles = ", ".join(sorted({role[:40] for role in unread}))
        notes.append(
            f"{len(unread)} other message(s) ({roles}) were not read by the model: it reads the document and the last "
            "user message"
        )
    options = body.stream_options or {}
    return ChatRequest(
        question,
        _document(body, most),
        bool(body.stream),
        bool(options.get("include_usage")),
        body.alpha,
        body.max_completion_tokens or body.max_tokens,
        tuple(notes),
    )


def _checked_parameters(body: ChatBody) -> list[str]:
    """Notes on parameters without effect. Raises ``UnsupportedError`` for one that would have to be ignored."""
    notes = []
    for name, value in (body.model_extra or {}).items():
        if value is None or any(type(value) is type(one) and value == one for one in _NEUTRAL.get(name, ())):
            continue
        if name in _WITHOUT_EFFECT:
            notes.append(f"{name} has no effect: answers do not depend on it, and nothing of it is kept")
            continue
        shown = name[:60]
        raise UnsupportedError(
            shown,
            f"the parameter {shown} with this value is not supported",
            "leave it out: nothing is ignored silently",
        )
    for name in body.stream_options or {}:
        if name not in ("include_usage", "include_obfuscation"):
            raise UnsupportedError("stream_options", f"stream_options.{name[:60]} is not supported", "leave it out")
    if body.max_tokens and body.max_completion_tokens and body.max_tokens != body.max_completion_tokens:
        raise UnsupportedError("max_tokens", "max_tokens and max_completion_tokens differ", "give one of them")
    return notes


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return message.content or []


def _texts(message: ChatMessage) -> list[str]:
    found = []
    for part in _parts(message):
        kind = part.get("type")
        if kind not in ("text", "file"):
            raise UnsupportedError(
                "messages", f"content parts of type {str(kind)[:40]} are not read", "send text and file parts"
            )
        if kind == "text":
            if not isinstance(part.get("text"), str):
                raise UnsupportedError("messages", "a text part needs text", 'send {"type": "text", "text": "..."}')
            found.append(part["text"])
    return found


def _says(message: ChatMessage) -> bool:
    """Whether a message holds more than the document."""
    return any(part.get("type") != "file" for part in _parts(message))


def _document(body: ChatBody, most: int) -> str | InlineFile:
    """The one document of the request."""
    found: list[str | InlineFile] = [] if body.document is None else [body.document]
    for message in body.messages:
        for part in _parts(message):
            if part.get("type") == "file":
                found.append(_file(part.get("file"), most))
    if not found:
        raise UnsupportedError(
            "messages", "a document is required",
            'add a content part {"type": "file", "file": {"file_id": ID}}, or the field document',
        )  # fmt: skip
    if any(other != found[0] for other in found):
        raise UnsupportedError("messages", "one document at a time is read, this names several", "ask one by one")
    return found[0]


def _file(given: Any, most: int) -> str | InlineFile:
    facts = given if isinstance(given, dict) else {}
    name, data, known = facts.get("filename"), facts.get("file_data"), facts.get("file_id")
    if isinstance(known, str) and data is None:
        return known[:64]
    if not isinstance(data, str) or known is not None:
        raise UnsupportedError("messages", "a file part needs either file_id or file_data", "see docs/api.md")
    if len(data) > most * 4 // 3 + 200:
        raise CapacityError(f"a document of at most {most:,} bytes is taken here", "use POST /v1/documents first")
    try:
        content = base64.b64decode(data.partition(";base64,")[2] if data.startswith("data:") else data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError("file_data is not base64", "send data:application/pdf;base64,...") from error
    return InlineFile(name[:255] if isinstance(name, str) else "document", content)
