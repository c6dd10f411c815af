"""A server with the tiny model, shared by the tests of a module that leave it as it was."""

from __future__ import annotations

import pytest

from served import served


@pytest.fixture(scope="module")
def server(tiny_folder, tmp_path_factory):
    with served(model=tiny_folder, store=tmp_path_factory.mktemp("store")) as running:
        yield running
