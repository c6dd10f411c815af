"""Fixtures of every test: an empty cache, tiny models, the embedded model, evaluation data, a seed that is printed."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:  # importlib mode leaves it out; `tiny_models` is shared by several folders
    sys.path.insert(0, str(HERE))

# two threads that spin for a tiny matrix take ten times as long as one, most of all on a busy machine
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tiny_models  # noqa: E402

# before the fixture below hides it: where the caller keeps the embedded model
_REAL_CACHE = os.environ.get("SOFTLOOKUP_CACHE")


@pytest.fixture(autouse=True, scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No fixture of a whole module does either, before the cache of its first test is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTLOOKUP_CACHE", str(tmp_path_factory.mktemp("shared-cache")))
        patch.setenv("SOFTLOOKUP_STATE", str(tmp_path_factory.mktemp("shared-state")))
        yield


@pytest.fixture(autouse=True)
def isolated_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees or changes the caller's cache or state."""
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SOFTLOOKUP_CACHE", str(path))
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(path.parent / f"{path.name}-state"))
    return path


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A new number each run (SOFTLOOKUP_TEST_SEED fixes it), shown with the report of a failure."""
    fixed = os.environ.get("SOFTLOOKUP_TEST_SEED")
    value = int(fixed) if fixed else random.getrandbits(31)
    request.node.add_report_section("call", "seed", f"SOFTLOOKUP_TEST_SEED={value}")
    return value


@pytest.fixture
def generator(seed: int) -> Any:
    """A torch generator with the test's seed."""
    import torch

    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folder of the tiny model of a kind; built once, so nobody may change it."""
    built: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in built:
            built[kind] = tiny_models.save_folder(tmp_path_factory.mktemp("tiny") / f"tiny-{kind}", kind)
        return built[kind]

    return folder


@pytest.fixture(scope="session")
def tiny_folder(tiny_folders: Callable[[str], Path]) -> Path:
    """Folder of the tiny Llama."""
    return tiny_folders("llama")


@pytest.fixture(scope="session")
def tiny_loaded(tiny_folders: Callable[[str], Path]) -> Callable[[str], Any]:
    """The loaded tiny model of a kind, shared by all tests; its attention implementation must stay SDPA."""
    from softlookup.runtime.load import load_model

    loaded: dict[str, Any] = {}

    def load(kind: str) -> Any:
        if kind not in loaded:
            loaded[kind] = load_model(tiny_folders(kind))
        return loaded[kind]

    return load


@pytest.fixture
def eager() -> Iterator[Callable[[Any], Any]]:
    """Switches a shared model to eager attention for one test."""
    switched = []

    def switch(model: Any) -> Any:
        switched.append((model, model.config._attn_implementation))
        model.set_attn_implementation("eager")
        return model

    yield switch
    for model, before in reversed(switched):
        model.set_attn_implementation(before)


@pytest.fixture(scope="session")
def weights() -> Path:
    """Folder of the embedded model in the caller's own cache."""
    import platformdirs

    from softlookup.runtime import embedded

    cache = Path(_REAL_CACHE) if _REAL_CACHE else Path(platformdirs.user_cache_dir("softlookup"))
    folder = cache / "models" / f"{embedded.NAME}-{embedded.GGUF_SHA256[:12]}"
    if not (folder / "softlookup-model.json").is_file():
        pytest.skip(f"the embedded model is not in {cache}: run `softlookup model pull`")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The evaluation data."""
    named = os.environ.get("SOFTLOOKUP_SHARED")
    path = (Path(named) if named else HERE.parents[1] / "shared") / "data"
    if not path.is_dir():
        pytest.skip("evaluation data not found by SOFTLOOKUP_SHARED or ../shared")
    return path


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A short English contract as a file."""
    path = tmp_path / "mooring.txt"
    path.write_text(tiny_models.CONTRACT, "utf-8")
    return path
