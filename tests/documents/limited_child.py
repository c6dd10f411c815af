"""The child of ``limited.py``: reads jobs from stdin, one outcome each on stdout; run as a script, never imported.

Arguments: bytes of address space, processor seconds per job, 1 to fork the PDF process.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from invariants import check_document

from softlookup.documents.read import read_document
from softlookup.errors import DocumentError, UsageError


def _raise(data: bytes) -> None:
    raise KeyError("planted")


def _segfault(data: bytes) -> None:
    ctypes.string_at(8)


def _sleep(data: bytes) -> None:
    signal.pause()


def _burn(data: bytes) -> None:
    while True:
        pass


def _allocate(data: bytes) -> None:
    bytearray(1 << 40)


def _grow(data: bytes) -> None:
    pieces = []
    while True:
        pieces.append(bytearray(1 << 24))


FAULTS = {
    "untyped": _raise, "segfault": _segfault, "sleep": _sleep, "burn": _burn, "allocate": _allocate, "grow": _grow,
}  # fmt: skip


class ForkedPopen(subprocess.Popen):
    """``Popen`` for the PDF process that forks this one, where pdfium is loaded already, instead of an interpreter.

    Limits, pipes, deadline and death of the process stay those of the product; only the start differs.
    """

    def _execute_child(self, args, *others) -> None:
        """Everything of ``Popen`` but the execution; the pipes are the six numbers after ``shell``."""
        from softlookup.documents.readers.pdf import child as pdf_child

        ends = others[9:15]
        stdin, _, _, stdout, _, _ = ends
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.dup2(stdin, 0)
                os.dup2(stdout, 1)
                for end in ends:
                    if end > 2:
                        os.close(end)
                sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
                sys.argv = list(args[2:])
                status = pdf_child.main()
                sys.stdout.flush()
            finally:
                os._exit(status)
        self._child_created = True
        for end in (stdin, stdout):
            if end > 2:
                os.close(end)


def main() -> None:
    """Answer jobs until stdin ends."""
    memory, cpu_seconds, forked = (int(argument) for argument in sys.argv[1:4])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not break the protocol
    if forked:
        import pypdfium2  # noqa: F401

        subprocess.Popen = ForkedPopen
    # soft limits: the PDF process sets its own, which may be higher
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _send(answers, {})
    with tempfile.TemporaryDirectory() as folder:
        while head := sys.stdin.buffer.read(8):
            data, name, options, fault = pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", head)[0]))
            used = resource.getrusage(resource.RUSAGE_SELF)
            spent = int(used.ru_utime + used.ru_stime)
            resource.setrlimit(resource.RLIMIT_CPU, (spent + cpu_seconds, resource.RLIM_INFINITY))
            _reset_peak()
            fields = _outcome(Path(folder) / name, data, options, fault)
            fields["peak"] = _peak()
            _send(answers, fields)


def _send(answers, fields: dict) -> None:
    message = pickle.dumps(fields)
    answers.write(struct.pack("<Q", len(message)) + message)
    answers.flush()


def _outcome(path: Path, data: bytes, options: dict, fault: str) -> dict:
    try:
        if fault:
            FAULTS[fault](data)
        path.write_bytes(data)
        document = read_document(path, **options)
    except (DocumentError, UsageError) as error:
        return {"kind": "refused", "detail": str(error)}
    except MemoryError:
        return {"kind": "memory", "detail": "MemoryError"}
    except BaseException:  # noqa: BLE001 - this is what the tests look for
        return {"kind": "untyped", "detail": traceback.format_exc()[-1500:]}
    try:
        check_document(document)
    except Exception:  # noqa: BLE001
        return {"kind": "broken", "detail": traceback.format_exc()[-1500:]}
    return {
        "kind": "document", "characters": len(document.text), "clauses": len(document.clauses),
        "terms": len(document.terms), "references": len(document.references),
        "states": tuple(sorted({row.state for row in document.coverage.rows})), "notes": document.coverage.notes,
    }  # fmt: skip


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except OSError:
        return  # not Linux: the peak is then that of all jobs so far


def _peak() -> int:
    """Peak resident bytes of this job; of its children too, if they were larger."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return max(children, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    own = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    return max(children, own)


if __name__ == "__main__":
    main()
