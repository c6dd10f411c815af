"""POST /v1/chat/completions: OpenAI's shape around the same answers, with their citations in both kinds of body."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from softlookup.documents.language import language_of
from softlookup.evidence.answer import Answer
from softlookup.ui.escape import json_line
from softlookup.ui.server.access import Server
from softlookup.ui.server.events import EVENT_STREAM, HEARTBEAT, outcome, unless_gone
from softlookup.ui.server.jobs import Job
from softlookup.ui.server.openai_request import MOST_INLINE, ChatBody, ChatRequest, InlineFile, chat_request
from softlookup.ui.server.openapi import Responses, errors
from softlookup.ui.server.problems import NotFoundError
from softlookup.ui.server.responses import Json
from softlookup.ui.server.state import ServerState
from softlookup.ui.server.work import Asked, Question, ask, check

router = APIRouter(prefix="/v1", tags=["openai"])
ALIAS = "softlookup"
_RESPONSES: Responses = {
    **errors(400, 404, 408, 413, 422, 500, 503),
    200: {
        "content": {"application/json": {"schema": {"type": "object"}}, EVENT_STREAM: {}},
        "description": "A chat.completion, or chat.completion.chunk events; `softlookup` holds the answer object, the "
        "citations and notes, `annotations` the citations again.",
    },
}
_NONE_FOUND = {"en": "No evidence found in the document: {reason}.", "zh": "未在文件中找到依据：{reason}。"}
_NO_WORDS = {
    "en": "Evidence found, see the citations; the model gave no words.",
    "zh": "已找到依据，见引用；模型未给出文字。",
}


@dataclass(frozen=True, slots=True)
class _Reply:
    """What every body of one completion shares."""

    id: str
    created: int
    model: str
    request: ChatRequest
    document: str

    def body(self, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        facts = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return {**facts, "choices": choices, **more}


@router.post("/chat/completions", responses=_RESPONSES, response_class=Json)
async def complete(body: ChatBody, request: Request, state: Server) -> Response:
    """Answer the last user message from the document, in OpenAI's shape."""
    asked = await asyncio.to_thread(chat_request, body, min(MOST_INLINE, state.settings.max_upload))
    source = await asyncio.to_thread(lambda: state.planning.source)
    if body.model not in (source.name, ALIAS):
        raise NotFoundError(f"the model here is {source.name}, another one is named", "see GET /v1/models")
    name = await unless_gone(request, _stored(state, asked.document))
    document = await unless_gone(request, state.documents.open(name))
    question = Question(name, document, (asked.question,), asked.alpha, asked.max_answer_tokens)
    await check(state.planning, question)
    job = state.jobs.submit("ask", ask(state.opened, question), name)
    reply = _Reply(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), source.name, asked, name)
    if asked.stream:
        return StreamingResponse(_chunks(state, job, reply), media_type=EVENT_STREAM)
    found: list[Asked] = await outcome(request, state.jobs, job)
    answer = found[0].answer
    message = {"role": "assistant", "content": words_of(answer), "annotations": annotated(answer, name)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(state, found[0], asked)}
    return Json(
        reply.body("chat.completion", [choice], usage=_usage(state, found[0]), softlookup=_softlookup(answer, reply))
    )


async def _stored(state: ServerState, given: str | InlineFile) -> str:
    """The id of the document; an inline one is added to the store, unless it is there already."""
    if isinstance(given, str):
        return state.store.get(given).id
    known = state.store.with_digest(hashlib.sha256(given.content).hexdigest())
    if known is not None:
        return known.id
    incoming = state.store.begin(given.name)
    await asyncio.to_thread(incoming.write, given.content)
    return (await state.documents.add(incoming)).id


async def _chunks(state: ServerState, job: Job, reply: _Reply) -> AsyncIterator[bytes]:
    """Chunks of the answer; comments tell how far it is before its first word."""

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data(reply.body("chat.completion.chunk", [choice], **more))

    told = ""
    try:
        yield chunk({"role": "assistant", "content": ""})
        async for event in job.follow(HEARTBEAT):
            if event is None:
                yield b": waiting\n\n"
            elif event.name == "progress":
                yield f": {event.data['phase']} {event.data['fraction']}\n\n".encode()
            elif event.name == "delta":
                told += event.data["text"]
                yield chunk({"content": event.data["text"]})
            elif event.name == "error":
                yield _data(event.data)
                return
        answer = job.result[0].answer
        words = words_of(answer)
        if words.startswith(told) and len(words) > len(told):
            yield chunk({"content": words[len(told) :]})
        yield chunk(
            {"annotations": annotated(answer, reply.document)},
            _finish(state, job.result[0], reply.request),
            softlookup=_softlookup(answer, reply),
        )
        if reply.request.include_usage:
            yield _data(reply.body("chat.completion.chunk", [], usage=_usage(state, job.result[0])))
        yield b"data: [DONE]\n\n"
    finally:
        if not job.finished:
            state.jobs.cancel(job)


def words_of(answer: Answer) -> str:
    """The text of the assistant's message: the answer, or a sentence that says why there is none."""
    language = language_of(answer.question)
    if answer.outcome == "no_evidence":
        return _NONE_FOUND[language].format(reason=answer.reason.rstrip(".。"))
    return answer.answer or _NO_WORDS[language]


def annotated(answer: Answer, document: str) -> list[dict[str, Any]]:
    """The citations as annotations of a message."""
    return [
        {
            "type": "file_citation",
            "file_citation": {
                "file_id": document, "filename": answer.document.path, "clause": c.clause, "heading": c.heading,
                "page": c.page, "start": c.start, "end": c.end, "quote": c.quote, "score": c.score,
                "p_value": c.p_value, "via": c.via, "why": c.why,
            },
        }
        for c in answer.citations
    ]  # fmt: skip


def _softlookup(answer: Answer, reply: _Reply) -> dict[str, Any]:
    return {
        "answer": answer.to_dict(),
        "citations": [asdict(citation) for citation in answer.citations],
        "document": reply.document,
        "notes": list(reply.request.notes),
    }


def _finish(state: ServerState, asked: Asked, request: ChatRequest) -> str:
    """``length`` when the answer has all the tokens that it was allowed, else ``stop``."""
    most = request.max_answer_tokens or state.settings.options.max_answer_tokens
    return "length" if asked.tokens >= most else "stop"


def _usage(state: ServerState, asked: Asked) -> dict[str, int]:
    """Tokens of what the model read (document and question) and of the words that it gave."""
    coverage = asked.answer.coverage
    read = max(coverage.tokens_read, coverage.tokens_seen)
    prompt = read + state.planning.count_tokens(asked.answer.question)
    return {"prompt_tokens": prompt, "completion_tokens": asked.tokens, "total_tokens": prompt + asked.tokens}


def _data(body: dict[str, Any]) -> bytes:
    return f"data: {json_line(body)}\n\n".encode()
