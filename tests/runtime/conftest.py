"""What several tests of the runtime read."""

from __future__ import annotations

import pytest

from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT


@pytest.fixture
def read(tiny_loaded):
    """A tiny model of a kind that has read the contract, and a question after it."""

    def read(kind="llama"):
        loaded = tiny_loaded(kind)
        template = PromptTemplate(loaded.tokenizer)
        return prefill(loaded, template, CONTRACT), template.suffix("Who repairs the jetty?")

    return read
