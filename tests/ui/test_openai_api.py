"""The OpenAI-compatible endpoint with the official client: both kinds of body, citations, refusals by name."""

from __future__ import annotations

import base64
import json
import runpy
from pathlib import Path

import openai
import pytest

from served import EAGER
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTION = "Which law governs?"
IMAGE = {"type": "image_url", "image_url": {"url": "http://x/y"}}


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.address}/v1", api_key="not-used", max_retries=0) as made:
        yield made


@pytest.fixture(scope="module")
def document(server):
    return server.add(CONTRACT)


def with_file(question, **file):
    return [{"role": "user", "content": [{"type": "text", "text": question}, {"type": "file", "file": file}]}]


def text_of(citations, document=CONTRACT):
    return [document[c["start"] : c["end"]] for c in citations]


def test_models_are_listed(client, server):
    (model,) = client.models.list().data
    assert model.id == server.state.session.source.name


def test_a_whole_answer_has_citations_and_counts(client, document):
    done = client.chat.completions.create(
        model="softlookup", messages=with_file(QUESTION, file_id=document), max_tokens=4, extra_body={"alpha": EAGER}
    )
    choice, told = done.choices[0], done.model_extra["softlookup"]
    assert choice.message.content == told["answer"]["answer"]
    assert choice.finish_reason == "length"
    assert told["citations"]
    assert text_of(told["citations"]) == [c["quote"] for c in told["citations"]]
    cited = [note["file_citation"] for note in choice.message.model_extra.get("annotations") or
             [a.model_dump() for a in choice.message.annotations]]  # fmt: skip
    assert [c["quote"] for c in cited] == [c["quote"] for c in told["citations"]]
    assert {c["file_id"] for c in cited} == {document}
    assert done.usage.completion_tokens == 4
    assert done.usage.prompt_tokens > told["answer"]["coverage"]["tokens_read"] > 100
    assert done.usage.total_tokens == done.usage.prompt_tokens + 4


def test_a_stream_gives_the_same_words_and_citations(client, document):
    asked = {
        "model": "softlookup", "messages": with_file(QUESTION, file_id=document), "max_tokens": 4,
        "extra_body": {"alpha": EAGER},
    }  # fmt: skip
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    words = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert words == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    last, usage = chunks[-2], chunks[-1]
    assert last.choices[0].finish_reason == "length"
    assert usage.usage == whole.usage
    told = last.model_extra["softlookup"]
    assert told["citations"] == whole.model_extra["softlookup"]["citations"]
    assert [n["file_citation"]["quote"] for n in last.choices[0].delta.model_extra["annotations"]] == [
        c["quote"] for c in told["citations"]
    ]


def test_no_evidence_is_a_sentence_in_the_language_of_the_question(client, server):
    name = server.add(CONTRACT_ZH, "租赁.txt")
    for question, begin in (("谁修理屋顶？", "未在文件中找到依据"), ("Who feeds the penguins?", "No evidence found")):
        done = client.chat.completions.create(
            model="softlookup", messages=with_file(question, file_id=name), extra_body={"alpha": 0.025}
        )
        answer = done.model_extra["softlookup"]["answer"]
        if answer["outcome"] == "no_evidence":
            assert done.choices[0].message.content.startswith(begin)
            assert done.usage.completion_tokens == 0
            break
    else:
        pytest.fail("both questions found evidence: nothing was tested")


def test_a_document_inside_the_request_is_read_once(client, server):
    data = "data:text/plain;base64," + base64.b64encode((CONTRACT + "\n9. Inline.").encode()).decode()
    names = set()
    for _ in range(2):
        done = client.chat.completions.create(
            model="softlookup", messages=with_file(QUESTION, file_data=data, filename="../inline.txt")
        )
        names.add(done.model_extra["softlookup"]["document"])
    (name,) = names
    assert server.state.store.get(name).name == "inline.txt"


def test_what_is_not_read_is_said(client, document):
    talk = [
        {"role": "system", "content": "You are a pirate."},
        *with_file("What is the fee?", file_id=document),
        {"role": "assistant", "content": "310."},
        {"role": "user", "content": QUESTION},
    ]
    done = client.chat.completions.create(model="softlookup", messages=talk, user="someone", seed=7)
    told = done.model_extra["softlookup"]
    assert told["answer"]["question"] == QUESTION
    notes = " ".join(told["notes"])
    assert "3 other message(s) (assistant, system, user)" in notes
    assert "user has no effect" in notes
    alone = client.chat.completions.create(model="softlookup", messages=with_file(QUESTION, file_id=document))
    assert alone.model_extra["softlookup"]["notes"] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", 2), ("temperature", 0.7), ("top_p", 0.5), ("logprobs", True), ("stop", ["x"]),
     ("tools", [{"type": "function", "function": {"name": "f"}}]), ("response_format", {"type": "json_object"}),
     ("presence_penalty", 1.0), ("store", True), ("reasoning_effort", "low"), ("nonsense", 1)],
)  # fmt: skip
def test_a_parameter_that_would_be_ignored_is_refused_by_name(client, document, name, value):
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="softlookup", messages=with_file(QUESTION, file_id=document), extra_body={name: value}
        )
    assert refused.value.param == name
    assert name in refused.value.message


def test_parameters_that_ask_for_what_happens_anyway_pass(client, document):
    done = client.chat.completions.create(
        model="softlookup", messages=with_file(QUESTION, file_id=document), n=1, temperature=0, top_p=1, stop=None,
        tools=[], response_format={"type": "text"}, logprobs=False, presence_penalty=0.0,
    )  # fmt: skip
    assert done.model_extra["softlookup"]["notes"] == []


@pytest.mark.parametrize(
    ("messages", "kind"),
    [
        ([{"role": "user", "content": "No document?"}], openai.BadRequestError),
        ([{"role": "system", "content": "x"}], openai.BadRequestError),
        (with_file("  ", file_id="{d}"), openai.BadRequestError),
        (with_file("Why?", file_id="doc_none"), openai.NotFoundError),
        (with_file("Why?", file_data="data:x;base64,!!!"), openai.BadRequestError),
        (with_file("Why?", file_data=base64.b64encode(b"\x89PNG").decode()), openai.UnprocessableEntityError),
        (with_file("Why?"), openai.BadRequestError),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}],
            openai.BadRequestError,
        ),
        (with_file("Why?", file_id="{d}") + with_file("Why?", file_id="doc_other"), openai.BadRequestError),
        (with_file("why " * 4000, file_id="{d}"), openai.APIStatusError),
    ],
)
def test_what_cannot_be_answered_is_an_error_of_the_client_library(client, document, messages, kind):
    filled = json.loads(json.dumps(messages).replace("{d}", document))
    with pytest.raises(kind) as refused:
        client.chat.completions.create(model="softlookup", messages=filled)
    assert 400 <= refused.value.status_code < 500
    assert refused.value.body["remedy"]


def test_another_model_is_not_found(client, document):
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="gpt-4o", messages=with_file(QUESTION, file_id=document))


def test_an_error_in_the_middle_of_a_stream_is_raised(client, document, server, monkeypatch):
    from softlookup.errors import ModelError
    from softlookup.session import OpenDocument

    def broken(self, questions):
        raise ModelError("the model computes NaN", "fetch it again")
        yield

    monkeypatch.setattr(OpenDocument, "ask_all", broken)
    stream = client.chat.completions.create(
        model="softlookup", messages=with_file(QUESTION, file_id=document), stream=True
    )
    with pytest.raises(openai.APIError, match="NaN"):
        list(stream)


def test_the_example_shows_a_terminal_nothing_that_it_obeys(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["openai_client.py", "contract.md", "What is the fee?"])
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "openai_client.py"))
    quote = "the fee is \x1b[31mEUR 5,000 \u202eEVIL"
    citation = {"clause": "99\x07", "page": None, "via": "attention", "quote": quote}
    told = {"citations": [citation], "notes": ["a\x1b[2J"], "answer": {"outcome": "answered"}}
    example["main"].__globals__["ask"] = lambda *_: told
    assert example["main"]() == 0
    shown = capsys.readouterr()
    assert "EUR 5,000" in shown.out
    assert not set(shown.out + shown.err) & set("\x1b\x07\u202e")
