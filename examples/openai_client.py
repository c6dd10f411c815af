"""Ask a contract through `softlookup serve` with the official openai package: streamed words, then the citations.

    softlookup serve                                      # in another terminal
    python examples/openai_client.py contract.docx "Who may terminate?"

SOFTLOOKUP_URL names another address, SOFTLOOKUP_TOKEN the token of a server that wants one.
"""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI, OpenAIError


def main() -> int:
    """Stream one answer; exit code 3 when there is no evidence, as the command line has it."""
    if len(sys.argv) != 3:
        sys.stderr.write("usage: openai_client.py FILE QUESTION\n")
        return 2
    try:
        told = ask(Path(sys.argv[1]), sys.argv[2])
    except (OpenAIError, OSError) as error:  # no server, no such file, or a refusal with its reason
        sys.stderr.write(f"openai_client.py: {printable(str(error))}\n")
        return 1
    sys.stdout.write("\n\n")
    for citation in told["citations"]:
        page = "" if citation["page"] is None else f", page {citation['page']}"
        line = f"clause {citation['clause']}{page} ({citation['via']}): {citation['quote']}"
        sys.stdout.write(printable(line) + "\n")
    for note in told["notes"]:
        sys.stderr.write(f"note: {printable(note)}\n")
    return 3 if told["answer"]["outcome"] == "no_evidence" else 0


def ask(path: Path, question: str) -> dict[str, Any]:
    """Print the words as they come; return what softlookup adds to the last chunk: answer, citations, notes."""
    client = OpenAI(
        base_url=os.environ.get("SOFTLOOKUP_URL", "http://127.0.0.1:8321") + "/v1",
        api_key=os.environ.get("SOFTLOOKUP_TOKEN", "none"),
    )
    data = base64.b64encode(path.read_bytes()).decode()
    document = {"type": "file", "file": {"filename": path.name, "file_data": f"data:;base64,{data}"}}
    content: Any = [{"type": "text", "text": question}, document]
    stream = client.chat.completions.create(
        model="softlookup", messages=[{"role": "user", "content": content}], stream=True
    )
    told: dict[str, Any] = {}
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            sys.stdout.write(printable(chunk.choices[0].delta.content))
            sys.stdout.flush()
        told = (chunk.model_extra or {}).get("softlookup", told)
    return told


def printable(text: str) -> str:
    """Words of a model or of a contract without control characters: a terminal would obey them."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


if __name__ == "__main__":
    sys.exit(main())
