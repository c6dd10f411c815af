"""The OpenAPI document against the running app: no 500, statuses and bodies as described."""

from __future__ import annotations

import json
import warnings

import hypothesis
import pytest

from softlookup.ui.server.schemas import AnswerBody
from tiny_models import CONTRACT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 10


@pytest.fixture(scope="module")
def described(server):
    return server.client.get("/openapi.json").json()


def operations(document):
    return [(method, path, facts) for path, methods in document["paths"].items() for method, facts in methods.items()]


def test_every_operation_says_what_can_happen(described):
    found = operations(described)
    assert len(found) >= 18
    for method, path, facts in found:
        assert facts["responses"].keys() >= {"401", "403", "421"}, path
        for code, response in facts["responses"].items():
            assert response["description"], (path, code)
            if code >= "400":
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}, (method, path, code)
        if "{" in path:
            assert "404" in facts["responses"], path
    assert "HTTPValidationError" not in json.dumps(described)


def test_the_answer_is_described_as_it_is(server, described):
    name = server.add(CONTRACT)
    answer = server.client.post("/v1/ask", json={"document": name, "question": "Which law governs?"}).json()["answers"][
        0
    ]
    assert AnswerBody.model_validate(answer).model_dump(by_alias=True, mode="json") == answer
    assert set(described["components"]["schemas"]["Answer"]["properties"]) == set(answer)


def test_the_document_finds_no_server_error(server, described):
    """Generated requests, wrong ones too, to every operation; ids of things that are there among them."""
    name = server.add(CONTRACT)
    session = server.client.post("/v1/sessions", json={"document": name}).json()["id"]
    schema = schemathesis.openapi.from_dict(described)
    tried = []

    def attempt(operation):
        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )  # fmt: skip
        def one(case):
            if case.method.upper() != "DELETE":  # what is there stays there for the others
                case.path_parameters = {
                    key: {"document": name, "session": session}.get(key, value)
                    for key, value in (case.path_parameters or {}).items()
                }
            if isinstance(case.body, dict) and "document" in case.body and len(tried) % 2:
                case.body = {**case.body, "document": name}
            response = case.call(base_url=server.address, timeout=120)
            case.validate_response(response, checks=CHECKS)
            tried.append((operation.label, response.status_code))

        one()

    for result in schema.get_all_operations():
        attempt(result.ok())
    statuses = {status for _, status in tried}
    assert {label for label, _ in tried} == {f"{m.upper()} {p}" for m, p, _ in operations(described)}
    assert statuses >= {200, 201, 400, 404}


def test_a_planted_server_error_is_found(server, described, monkeypatch):
    from softlookup.ui.server.talks import Talks

    def broken(self):
        raise RuntimeError("planted: secret detail")

    monkeypatch.setattr(Talks, "list", broken)
    response = server.client.get("/v1/sessions")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"
    operation = schemathesis.openapi.from_dict(described)["/v1/sessions"]["GET"]
    case = operation.Case()
    with pytest.raises(BaseExceptionGroup):
        case.validate_response(case.call(base_url=server.address), checks=CHECKS)
