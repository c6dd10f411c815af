"""Mutations of the objects of a PDF: values, keys, references, streams and their lengths; then the table is rebuilt."""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

import random
import re

from .fuzz_seeds import assembled, pdf_objects

_NUMBER = re.compile(rb"(?<![\w#.])-?\d+(?:\.\d+)?(?![\w.])")
_KEY = re.compile(rb"/[A-Za-z]\w*")
_REFERENCE = re.compile(rb"\d+ 0 R")
_NUMBERS = (
    b"0", b"1", b"-1", b"2", b"90", b"45", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967296", b"99999999999999999999", b"1e9", b"0.00001", b"--3",
    b"NaN", b"792", b"14401", b"null", b"true", b"[ ]", b"<< >>", b"(x)", b"/Name",
)  # fmt: skip
_KEYS = (
    b"/Pages", b"/Page", b"/Kids", b"/Count", b"/Parent", b"/Contents", b"/Resources", b"/Font", b"/Type1", b"/Type0", b"/Type3", b"/TrueType", b"/ToUnicode",
    b"/Rotate", b"/MediaBox", b"/CropBox", b"/UserUnit", b"/Annots", b"/AcroForm", b"/XFA", b"/Filter", b"/FlateDecode", b"/LZWDecode", b"/ASCII85Decode",
    b"/DCTDecode", b"/JPXDecode", b"/JBIG2Decode", b"/Length", b"/Predictor", b"/ObjStm", b"/XRef", b"/Encrypt", b"/Form", b"/Image", b"/Helvetica",
    b"/Symbol", b"/ZapfDingbats", b"/STSong-Light", b"/Identity-H", b"/UniGB-UCS2-H", b"/Dest", b"/AA", b"/OpenAction", b"/JavaScript", b"/Widget", b"/Btn",
)  # fmt: skip
_OPERATORS = (
    b" q " * 40, b" Q " * 3, b" BT BT BT ", b" ET ", b" 0 0 0 0 0 0 Tm ", b" 1e30 0 0 1e30 0 0 Tm ", b" 1 0 0 1 1e9 -1e9 cm ", b" 0 Tf ", b" /F9 12 Tf ",
    b" /F1 0 Tf ", b" /F1 -12 Tf ", b" /F1 1000000 Tf ", b" 3 Tr ", b" 7 Tr ", b" 1 1 1 rg ", b" (x) Tj ", b" (1. Label) Tj ", b" ((((", b" <41", b" <zz> Tj ",
    b" [(a) -99999 (b)] TJ ", b" /Im1 Do ", b" /Nothing Do ", b" BI /W 9 /H 9 ID xx EI ", b" 0 0 0 0 re W n ", b" 0.7 0.7 -0.7 0.7 300 300 Tm (turned) Tj ",
    b" \\377\\376 ", b" 200 TL T* ", b" 50 Tz ", b" 300 Tw ", b" 90 Tc ", b" /Artifact BMC ", b" EMC ",
)  # fmt: skip


def mutated_pdf(source: random.Random) -> bytes:
    """The seed with one to eight objects mutated; the cross-reference table fits in most cases."""
    objects = pdf_objects()
    for _ in range(source.choice((1, 2, 3, 8))):
        at = _place(source, objects)
        objects[at] = _mutated(source, objects[at])
    roll = source.random()
    if roll < 0.1:  # two objects change places
        first, second = source.randrange(len(objects)), source.randrange(len(objects))
        objects[first], objects[second] = objects[second], objects[first]
    elif roll < 0.15:
        objects[source.randrange(1, len(objects))] = b"null"
    elif roll < 0.2:
        objects.append(source.choice(objects) * source.randint(1, 3))
    shift = source.choice((0, 0, 0, 0, 0, 0, 1, -7, 100_000))
    trailer = (
        b""
        if source.random() < 0.9
        else source.choice((b"/Prev 9", b"/Encrypt 3 0 R", b"/XRefStm 200", b"/Root 2 0 R", b"/Size 9999999"))
    )
    data = assembled(objects, trailer=trailer, shift=shift)
    return data[: source.randrange(len(data) // 2, len(data))] if source.random() < 0.05 else data


def _place(source: random.Random, objects: list[bytes]) -> int:
    """An object; the catalogue and the page tree, on which everything hangs, are chosen seldom."""
    return source.randrange(len(objects)) if source.random() < 0.15 else source.randrange(2, len(objects))


def _mutated(source: random.Random, body: bytes) -> bytes:
    head, mark, stream = body.partition(b"stream\n")
    if mark and b"/FlateDecode" not in head and source.random() < 0.6:
        at = source.choice([0] + [m.end() for m in re.finditer(rb"\n", stream)])
        operator = source.choice(_OPERATORS)
        stream = stream[:at] + operator + stream[at + source.choice((0, 0, 0, 5)) :]
        if source.random() < 0.7:  # the length fits again
            head = re.sub(rb"/Length -?\d+", b"/Length %d" % (len(stream) - len(b"\nendstream")), head)
        return head + mark + stream
    kind = source.randrange(6)
    if kind <= 1:
        head = _replaced(source, _NUMBER, head, source.choice(_NUMBERS))
    elif kind == 2:
        head = _replaced(source, _KEY, head, source.choice(_KEYS))
    elif kind == 3:
        head = _replaced(source, _REFERENCE, head, b"%d 0 R" % source.choice((0, 1, 2, 3, 6, 9, 13, 99, 2_000_000_000)))
    elif kind == 4:
        at = source.randrange(len(head) + 1)
        head = (
            head[:at]
            + source.choice(
                (b"<<", b">>", b"[", b"]", b"(", b")", b"%", b"\n", b"\x00", b" R ", b"[[[[" * 50, b"<<" * 200)
            )
            + head[at:]
        )
    else:
        at = source.randrange(len(head) + 1)
        head = head[:at] + head[at + source.randint(1, 8) :]
    return head + mark + stream


def _replaced(source: random.Random, pattern: re.Pattern[bytes], body: bytes, value: bytes) -> bytes:
    found = list(pattern.finditer(body))
    if not found:
        return body
    match = source.choice(found)
    return body[: match.start()] + value + body[match.end() :]
