"""Reads, asks and checks a contract through `softlookup mcp`, with the official SDK.

python examples/mcp_client.py samples/supply-agreement.docx "Who may terminate?"
"""

# ruff: noqa: T201

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters


async def main(path: Path, question: str) -> None:
    """Print the tree's first lines, the answer, and the check of each of its citations."""
    command = [sys.executable, "-m", "softlookup", "mcp", "--root", str(path.parent)]
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        document = await client.call_tool("read_document", {"path": path.name})
        print(_text(document).split("coverage:")[0][:1500])
        if document.is_error:
            return
        asked = {"path": path.name, "question": question}
        answer = await client.call_tool("ask_document", asked, progress_callback=_tell)
        print(_text(answer))
        if answer.is_error:
            return
        for citation in answer.structured_content["citations"]:
            claim = {"quote": citation["quote"]} | ({"expect_clause": citation["clause"]} if citation["clause"] else {})
            checked = await client.call_tool("check_clause", {**asked, **claim})
            print(_text(checked).split("\n")[0])


async def _tell(progress: float, total: float | None, message: str | None) -> None:
    del total  # how many phases there will be is not known before
    sys.stderr.write(f"{progress:6.2f} {message}\n")


def _text(result: object) -> str:
    return str(result.content[0].text)  # type: ignore[attr-defined]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), sys.argv[2]))
