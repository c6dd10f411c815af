"""One document from a multipart body into the store's temporary folder, piece by piece; nothing is read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from softlookup.errors import CapacityError, UsageError

if TYPE_CHECKING:
    from fastapi import Request

    from softlookup.ui.server.store import DocumentStore, Incoming

_MOST_PARTS = 20
_MOST_FIELD = 64 * 1024
_MOST_HEADER = 8 * 1024
_SEND_ONE = "send multipart/form-data with one part that is called `file` and has a file name"


@dataclass(slots=True)
class Upload:
    """What came: the file, and the other fields of the form by name."""

    incoming: Incoming
    fields: dict[str, str] = field(default_factory=dict)


async def receive_upload(request: Request, store: DocumentStore, most: int) -> Upload:
    """The file of a multipart request, not published yet; on any error nothing is left of it.

    Raises ``UsageError`` for a body that is no form with one file, ``CapacityError`` beyond ``most`` bytes.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 200:
        raise UsageError("a file is required, this is no form with one", _SEND_ONE)
    form = _Form(store, most)
    try:
        parser = MultipartParser(boundary, form.callbacks())  # type: ignore[arg-type]  # its TypedDict of callbacks
        async for piece in request.stream():
            parser.write(piece)
        parser.finalize()
        return form.result()
    except MultipartParseError as error:
        form.discard()
        raise UsageError("the form is damaged or cut off", _SEND_ONE) from error
    except BaseException:  # the client left, or it was too much: nothing stays
        form.discard()
        raise


class _Form:
    """Takes the parser's calls; a file goes to disk as it comes."""

    def __init__(self, store: DocumentStore, most: int) -> None:
        self._store, self._most = store, most
        self._incoming: Incoming | None = None
        self._fields: dict[str, str] = {}
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._field = ""
        self._to_file = self._whole = False
        self._text = bytearray()
        self._parts = 0

    def callbacks(self) -> dict[str, object]:
        """The functions that the parser calls."""
        return {
            "on_part_begin": self._begin, "on_part_data": self._data, "on_part_end": self._end,
            "on_header_field": self._header_name, "on_header_value": self._header_value,
            "on_header_end": self._header_end, "on_headers_finished": self._opened, "on_end": self._all,
        }  # fmt: skip

    def result(self) -> Upload:
        """What came. Raises ``UsageError`` when there was no file, or the form did not end."""
        if self._incoming is None or not self._whole:
            raise UsageError("a file is required, this form holds none, or was cut off", _SEND_ONE)
        return Upload(self._incoming, self._fields)

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._incoming is not None:
            self._incoming.discard()

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise UsageError(f"a form of at most {_MOST_PARTS} parts is taken", _SEND_ONE)
        self._headers, self._name, self._value = {}, b"", b""
        self._field, self._to_file = "", False
        self._text.clear()

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]
        self._short()

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._short()

    def _short(self) -> None:
        if len(self._name) + len(self._value) > _MOST_HEADER or len(self._headers) > _MOST_PARTS:
            raise UsageError("the headers of a part are too long", _SEND_ONE)

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _opened(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        name = options.get(b"filename")
        if name is None:
            return
        if self._field != "file" or self._incoming is not None:
            raise UsageError("one file is taken at a time", _SEND_ONE)
        self._incoming = self._store.begin(name.decode("utf-8", "replace"))
        self._to_file = True

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._to_file and self._incoming is not None:
            if self._incoming.size + end - start > self._most:
                raise CapacityError(
                    f"a file of at most {self._most:,} bytes is taken", "send a smaller one, or raise --max-upload"
                )
            self._incoming.write(data[start:end])
            return
        if len(self._text) + end - start > _MOST_FIELD:
            raise CapacityError(f"a field of at most {_MOST_FIELD:,} bytes is taken", _SEND_ONE)
        self._text += data[start:end]

    def _end(self) -> None:
        if not self._to_file:
            self._fields[self._field] = self._text.decode("utf-8", "replace")

    def _all(self) -> None:
        self._whole = True
