"""The DOCX container: a zip opened with limits, its parts as XML without entities; no meaning of parts."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

from softlookup.errors import DocumentError

MAX_MEMBERS = 10_000
MAX_PART_BYTES = 128 * 1024 * 1024
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
_MAX_RATIO = 400  # XML compresses about 20 to 1; far more is a bomb
_RATIO_FLOOR = 8 * 1024 * 1024
_DAMAGED = "save it again from Word or LibreOffice"
_STRICT = (
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
)
# in UTF-8, UTF-16 and UTF-32; what hides in another encoding is found after parsing
_DOCTYPE = re.compile(rb"\0{0,3}".join(bytes([c]) for c in b"<!DOCTYPE"), re.I)
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|\Z)", re.S)


def local(element: etree._Element) -> str:
    """Tag without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def attribute(element: etree._Element | None, name: str) -> str:
    """Value of the attribute ``name`` in any namespace; "" when there is none."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        if str(key).rsplit("}", 1)[-1] == name:
            return str(value)
    return ""


def children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Direct children with the local tag ``name``."""
    return (e for e in element if local(e) == name)


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """First direct child with the local tag ``name``."""
    return None if element is None else next(children(element, name), None)


@dataclass(frozen=True, slots=True)
class Relationship:
    """One row of a ``.rels`` part; ``kind`` is the last word of its type."""

    id: str
    kind: str
    target: str
    external: bool


def _dtd(name: str) -> DocumentError:
    return DocumentError(
        f"DOCX parts need no DTD, {name} declares one", "do not open this file; ask for a clean copy"
    )


class Package:
    """An opened DOCX. Raises ``DocumentError`` for anything that is not a sound one."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise DocumentError(
                "a DOCX must be a sound zip archive, this one is damaged or cut short", _DAMAGED
            ) from error
        self._check(self._zip.infolist())
        self.names = frozenset(self._zip.namelist())
        self._read_total = 0
        if "mimetype" in self.names and self._bytes("mimetype").startswith(b"application/vnd.oasis"):
            raise DocumentError(
                "DOCX or PDF is required, this is an OpenDocument (.odt) file", "save it as DOCX or PDF"
            )
        self.main = self._find_main()

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        names = [member.filename.casefold() for member in members]  # the format does not tell capitals apart
        if len(members) > MAX_MEMBERS:
            raise DocumentError(
                f"a DOCX of at most {MAX_MEMBERS} members is required, this one has {len(members)}", _DAMAGED
            )
        if len(set(names)) != len(names):
            raise DocumentError("a DOCX must not hold two members of one name, this one does", _DAMAGED)
        for member in members:
            if _OUTSIDE.match(member.filename):
                raise DocumentError("member names of a DOCX must stay inside it, this one points outside", _DAMAGED)
            if member.flag_bits & 1:
                raise DocumentError(
                    "a readable DOCX is required, this one is encrypted",
                    "remove the password and save it again",
                )
            bomb = member.file_size > _RATIO_FLOOR and member.file_size > _MAX_RATIO * max(1, member.compress_size)
            if member.file_size > MAX_PART_BYTES or bomb:
                raise DocumentError(
                    "a DOCX that unpacks to a sensible size is required, this one is a zip bomb or damaged",
                    _DAMAGED,
                )
        if sum(member.file_size for member in members) > MAX_TOTAL_BYTES:
            raise DocumentError(f"a DOCX of at most {MAX_TOTAL_BYTES} bytes unpacked is required", _DAMAGED)

    def _bytes(self, name: str) -> bytes:
        try:
            with self._zip.open(name) as member:
                data = member.read(MAX_PART_BYTES + 1)
        except (
            zipfile.BadZipFile,
            zipfile.LargeZipFile,
            OSError,
            EOFError,
            ValueError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            raise DocumentError(f"a sound DOCX is required, its part {name} is damaged", _DAMAGED) from error
        except Exception as error:  # zlib.error is no OSError
            raise DocumentError(f"a sound DOCX is required, its part {name} is damaged", _DAMAGED) from error
        self._read_total += len(data)
        if len(data) > MAX_PART_BYTES or self._read_total > MAX_TOTAL_BYTES:
            raise DocumentError("a DOCX that unpacks to a sensible size is required, this one does not", _DAMAGED)
        return data

    def xml(self, name: str) -> etree._Element | None:
        """Root of the part ``name``; None when there is no such part."""
        if name not in self.names:
            return None
        data = self._bytes(name)
        if _DOCTYPE.search(data):
            raise _dtd(name)
        for strict, transitional in _STRICT:
            data = data.replace(strict, transitional)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise DocumentError(
                f"a sound DOCX is required, its part {name} is not well-formed XML", _DAMAGED
            ) from error
        if root.getroottree().docinfo.internalDTD is not None:
            raise _dtd(name)
        return root

    def relationships(self, part: str) -> list[Relationship]:
        """Relationships of ``part`` ("" for the package), targets as member names."""
        folder, _, name = part.rpartition("/")
        rels = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        root = self.xml(rels)
        if root is None:
            return []
        found = []
        for element in root:
            target, external = attribute(element, "Target"), attribute(element, "TargetMode") == "External"
            if not external:
                target = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found.append(
                Relationship(attribute(element, "Id"), attribute(element, "Type").rsplit("/", 1)[-1], target, external)
            )
        return found

    def _find_main(self) -> str:
        main = next((r.target for r in self.relationships("") if r.kind == "officeDocument"), "word/document.xml")
        if main not in self.names:
            raise DocumentError(
                "a DOCX needs a main document part, this archive has none",
                "give a DOCX, PDF, HTML, Markdown or text file",
            )
        if not main.endswith(".xml") or main.startswith(("xl/", "ppt/")):
            raise DocumentError(
                "DOCX or PDF is required, this is another Office file (a spreadsheet or slides)",
                "save the contract as DOCX or PDF",
            )
        return main
