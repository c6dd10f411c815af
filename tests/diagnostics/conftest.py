"""Cases on the tiny models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from softlookup.diagnostics.case import Case, Fed  # noqa: E402
from softlookup.diagnostics.place import expected_place  # noqa: E402
from softlookup.documents.read import read_document  # noqa: E402
from softlookup.evidence.reading import Reading  # noqa: E402
from softlookup.retrieval.chunks import passages  # noqa: E402
from softlookup.retrieval.context import full_context  # noqa: E402
from softlookup.runtime.prefilled import prefill  # noqa: E402
from softlookup.runtime.prompt import PromptTemplate  # noqa: E402


@pytest.fixture
def make_case(tiny_loaded, contract):
    """A case on the mooring contract with the whole text fed, or ``context`` of it."""

    def make(
        expect="3", question="Who repairs the jetty?", *, kind="llama", context=None, path=None, retrieved=False,
        loaded=None,
    ):  # fmt: skip
        document = read_document(path or contract)
        loaded = loaded or tiny_loaded(kind)
        template = PromptTemplate(loaded.tokenizer)
        context = context(document) if context is not None else full_context(document)
        return Case(
            document,
            Fed(context, retrieved, 1000, 500, 4 if retrieved else None),
            question,
            expected_place(document, expect),
            loaded=loaded,
            template=template,
            open_reading=lambda: Reading(prefill(loaded, template, context.text), context, passages(document)),
        )

    return make
