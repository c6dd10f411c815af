"""`softlookup serve` under load on loopback: start, first and further answers, 50 at once, memory over many requests.

    python benchmarks/server_load.py [--out FILE] [--model PATH] [--requests 500] [--only STAGE ...]

Stages: start (seconds from the process to its first response), answers (seconds of the first and of further questions
on one document), together (50 questions sent at once against the same one by one: how many answers differ), leave
(seconds until the worker is free when a client leaves during the prefill), memory (resident bytes of the server after
every fifth of --requests requests of all kinds), kill (documents that are whole after a kill -9 in mid-answer).
Each finished stage is a line of --out and is not run again; the machine should do nothing else. About ten minutes.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from results import append_result

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
DOCUMENT = SAMPLES / "supply-agreement.docx"
QUESTIONS = (
    "Who may terminate the agreement?", "Which law governs?", "How long is the notice period?",
    "What is the weather on Mars?", "When must the price be paid?",
)  # fmt: skip
AT_ONCE = 50
FIFTHS = 5


@contextmanager
def server(options: argparse.Namespace, store: str) -> Iterator[tuple[Any, httpx.Client]]:
    """A server process and a client of it."""
    command = [
        sys.executable,
        "-m",
        "softlookup",
        "serve",
        "--port",
        "0",
        "--store",
        store,
        "--max-answer-tokens",
        "16",
    ]
    command += [] if options.model is None else ["--model", options.model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()[-1]
            with httpx.Client(base_url=address, timeout=300) as client:
                yield process, client
        finally:
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()


def add(client: httpx.Client, path: Path = DOCUMENT, more: bytes = b"") -> str:
    """Id of a new document: the file, or a text of the given bytes."""
    content = (path.name, path.read_bytes()) if not more else ("more.txt", more)
    response = client.post("/v1/documents", files={"file": content})
    response.raise_for_status()
    return response.json()["id"]


def ask(client: httpx.Client, document: str, question: str) -> dict[str, Any]:
    """One answer without its seconds."""
    response = client.post("/v1/ask", json={"document": document, "question": question})
    response.raise_for_status()
    (answer,) = response.json()["answers"]
    return {name: value for name, value in answer.items() if name != "seconds"}


def resident(process: Any) -> int:
    """Resident bytes of the server's process."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def seconds_of(work: Callable[[], Any]) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def start_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """From the start of the process to its first response, and to the model in memory."""
    begun = time.perf_counter()
    with server(options, store) as (_, client):
        client.get("/healthz").raise_for_status()
        first = time.perf_counter() - begun
        name = add(client)
        ask(client, name, QUESTIONS[0])
        return {"first_response_seconds": first, "first_answer_seconds": time.perf_counter() - begun}


def answers_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """The first question on a document that was never read, and each further one; the model is in memory."""
    with server(options, store) as (_, client):
        ask(client, add(client, more=b"1. Warm. The model is loaded for this."), QUESTIONS[0])
        reading = seconds_of(lambda: add(client))
        name = add(client)
        times = [seconds_of(lambda q=question: ask(client, name, q)) for question in QUESTIONS]
        tokens = client.get(f"/v1/documents/{name}").json()["tokens"]
    return {"upload_seconds": reading, "tokens": tokens, "first_seconds": times[0], "further_seconds": times[1:]}


def together_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """50 questions at once against the same questions one by one."""
    with server(options, store) as (_, client):
        name = add(client)
        alone = [ask(client, name, question) for question in QUESTIONS]
        start = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = list(
                threads.map(lambda number: ask(client, name, QUESTIONS[number % len(QUESTIONS)]), range(AT_ONCE))
            )
        seconds = time.perf_counter() - start
    differ = sum(answer != alone[number % len(QUESTIONS)] for number, answer in enumerate(found))
    return {"questions": AT_ONCE, "distinct": len({json.dumps(a) for a in alone}), "differ": differ, "seconds": seconds}


def leave_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """A client closes its connection during the prefill; until the next question of another document is answered."""
    with server(options, store) as (_, client):
        small = add(client, more=b"1. Small. Nothing much stands here.")
        ask(client, small, QUESTIONS[0])
        alone = seconds_of(lambda: ask(client, small, QUESTIONS[1]))
        large = add(client, more=(SAMPLES / "supply-agreement.txt").read_bytes() * 2)
        body = json.dumps({"document": large, "question": QUESTIONS[0], "stream": True}).encode()
        port = client.base_url.port
        head = f"POST /v1/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        seen = b""
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            while b'"phase": "prefill"' not in seen:
                piece = connection.recv(65536)
                if not piece:
                    raise RuntimeError("the stream ended before its prefill")
                seen += piece
        after = seconds_of(lambda: ask(client, small, QUESTIONS[1]))
    return {"alone_seconds": alone, "after_leaving_seconds": after, "freed_within_seconds": max(0.0, after - alone)}


def memory_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """Resident bytes after each fifth of the requests: questions, readings of text, uploads, deletions, refusals."""
    held = []
    with server(options, store) as (process, client):
        name = add(client)
        ask(client, name, QUESTIONS[0])
        for number in range(options.requests):
            kind = number % 5
            if kind < 2:
                ask(client, name, QUESTIONS[(number // 5 + kind) % len(QUESTIONS)])
            elif kind == 2:
                client.get(f"/v1/documents/{name}/text").raise_for_status()
            elif kind == 3:
                gone = add(client, more=f"{number}. Short lived.".encode())
                client.delete(f"/v1/documents/{gone}").raise_for_status()
            else:
                client.post("/v1/ask", json={"document": "doc_none", "question": "Why?"})
            if (number + 1) % max(1, options.requests // FIFTHS) == 0:
                held.append(resident(process))
    return {"requests": options.requests, "resident_bytes": held, "last_to_first": held[-1] / held[0]}


def kill_stage(options: argparse.Namespace, store: str) -> dict[str, Any]:
    """Kill -9 while an answer is made; what the next start finds."""
    with server(options, store) as (process, client):
        names = [add(client), *(add(client, more=f"{number}. More text.".encode()) for number in range(9))]
        asking = threading.Thread(target=lambda: _until_cut(client, names[0]))
        asking.start()
        time.sleep(2.0)
        process.kill()
        asking.join()
    with server(options, store) as (_, client):
        whole = sum(client.get(f"/v1/documents/{name}/text").status_code == 200 for name in names)
    return {"documents": len(names), "whole": whole}


def _until_cut(client: httpx.Client, document: str) -> None:
    with suppress(httpx.TransportError):
        while True:
            ask(client, document, QUESTIONS[0])


STAGES = {
    "start": start_stage, "answers": answers_stage, "together": together_stage, "leave": leave_stage,
    "memory": memory_stage, "kill": kill_stage,
}  # fmt: skip


def main() -> None:
    """Run the stages that are not in --out yet, and print all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("server_load.jsonl"))
    parser.add_argument("--model", help="default: the embedded model")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--only", nargs="+", choices=tuple(STAGES), default=list(STAGES))
    options = parser.parse_args()
    lines = options.out.read_text("utf-8").splitlines() if options.out.is_file() else []
    done = {row["stage"]: row for row in map(json.loads, lines)}
    for stage in options.only:
        if stage not in done:
            with tempfile.TemporaryDirectory() as store:
                done[stage] = {"stage": stage, **STAGES[stage](options, store)}
            append_result(options.out, done[stage])
        print(json.dumps(done[stage]))


if __name__ == "__main__":
    main()
