"""Peers of `softlookup plan`, each in a virtual environment of its own, and what they answer; no tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAST_LINE = 110  # characters of an error that are shown


@dataclass(frozen=True)
class Peer:
    """A tool: its package, and programs that print one JSON object; they get config, path, tokens and device."""

    package: str
    how: str
    kv: str
    ttft: str = ""


_STUB = """
import ridgepoint.hf as hub
def local(repo, name, revision):
    if name == 'config.json': return config
    if name == 'model.safetensors.index.json': return {'metadata': {'total_size': 2 * parameters}, 'weight_map': {}}
    raise FileNotFoundError(name)
hub._download_json = local
import ridgepoint
found = json.loads(ridgepoint.fit('local/model', device, ctx=tokens, prompt=tokens, as_json=True))
"""
_SERVCALC = """
from servcalc.cli import main
import contextlib, io
text, errors = io.StringIO(), io.StringIO()
with contextlib.redirect_stdout(text), contextlib.redirect_stderr(errors):
    code = main([path, '--gpu', device, '--prompt', str(tokens), '--concurrency', '1', '--json'])
if code: raise SystemExit(errors.getvalue())
found = json.loads(text.getvalue())
"""
PEERS = (
    Peer(
        "hf-mem",
        "its function (the command takes hub names)",
        "from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size as kv\n"
        "answer(bytes=kv(config, 'BF16', tokens))",
    ),
    Peer(
        "modelinfo-cli",
        "its function (the command takes hub names or weights)",
        "from modelinfo.calculator import calculate_footprint\n"
        "meta = {'__metadata__': {'lazy_fetch': True, 'total_size': 2.0 * parameters}}\n"
        "found = calculate_footprint(meta, context_length=tokens, config=config)\n"
        "answer(bytes=found['kv_cache_bytes'])",
    ),
    Peer(
        "ggufit",
        "its function (the command takes hub names)",
        "from ggufit.hub import normalize, to_catalogue_record\nfrom ggufit.calculator import kv_cache_gb\n"
        "record = to_catalogue_record(normalize('local/model', config, parameters))\n"
        "answer(bytes=kv_cache_gb(record, tokens) * 2 ** 30)",
    ),
    Peer(
        "ridgepoint",
        "its function, fetching replaced",
        _STUB + "answer(bytes=found['capacity']['bytes_per_seq'])",
        _STUB + "answer(**found['speed']['ttft_s'])",
    ),
    Peer(
        "servcalc",
        "its command",
        _SERVCALC + "answer(bytes=found['kv_bytes_per_token'] * tokens)",
        _SERVCALC + "t = found['points'][0]['ttft_ms']\n"
        "answer(low=t['low'] / 1e3, best=t['mid'] / 1e3, high=t['high'] / 1e3)",
    ),
)
_PRELUDE = """
import json, sys
given = json.loads(sys.stdin.read())
config, path, tokens, device, parameters = (given[k] for k in ('config', 'path', 'tokens', 'device', 'parameters'))
def answer(**found): print('\\n' + json.dumps(found))
"""


def last_line(text: str) -> str:
    """The last line with words, cut; of a failure, usually what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines or ["no output"])[-1][:LAST_LINE]


def run(command: Sequence[str], given: str = "", limit: float = 600) -> tuple[str, str]:
    """(output, "") of a command, or ("", why it failed)."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=limit, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", last_line(str(error))
    return (done.stdout, "") if done.returncode == 0 else ("", last_line(done.stderr or done.stdout))


def install(peer: Peer, folder: Path) -> tuple[str, str, str]:
    """(python, version, error) of the peer in an environment of its own; kept when it is already there."""
    place = folder / peer.package
    python = str(place / "bin" / "python")
    if not Path(python).is_file():
        _, error = run([sys.executable, "-m", "venv", str(place)])
        if not error:
            _, error = run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", peer.package])
        if error:
            return python, "", f"not installed: {error}"
    code = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    version, error = run([python, "-c", code])
    return python, version.strip(), error


def ask(python: str, program: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a program of a peer answers to config, path, tokens, device and parameters; {"error": line} on failure."""
    output, error = run([python, "-c", _PRELUDE + program], json.dumps(dict(facts)))
    if error:
        return {"error": error}
    try:
        found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": last_line(output)}
    return found
