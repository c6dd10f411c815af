"""The process that reads one document for the server: limits first, then the reader, the Document as JSON on stdout.

Run as ``python -m softlookup.ui.server.reading_child SECONDS BYTES PATH``. The exit status tells a crash from an end;
an error of the reader is part of the JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any


def main() -> int:
    """Read the file that is named, write one JSON object."""
    seconds, size, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it has no business to write a file
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print
    try:
        out.write(json.dumps(_result(path), separators=(",", ":")).encode("ascii"))
        out.close()
    except BrokenPipeError:  # whoever asked has left
        os._exit(0)
    return 0


def _result(path: str) -> dict[str, Any]:
    from softlookup.documents.read import read_document
    from softlookup.errors import SoftlookupError
    from softlookup.ui.server.transfer import plain

    try:
        return {"document": plain(read_document(path))}
    except SoftlookupError as error:
        return {"error": {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}}
    except (MemoryError, RecursionError):
        return {"error": {"kind": "MemoryError", "message": "", "remedy": ""}}


if __name__ == "__main__":
    sys.exit(main())
