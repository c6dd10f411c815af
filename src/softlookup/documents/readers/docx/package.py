"""The DOCX container: a zip opened with limits, its parts as XML without entities; no meaning of parts."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import unquote

from lxml import etree

from softlookup.errors import DocumentError

MAX_MEMBERS = 10_000
MAX_PART_BYTES = 128 * 1024 * 1024
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
_MAX_RATIO = 400  # XML compresses about 20 to 1; far more is a bomb
_RATIO_FLOOR = 8 * 1024 * 1024
_DAMAGED = "save it again from Word or LibreOffice"
_MAX_TAGS = 8_000_000  # angle brackets of one part; the tree of more would not fit ordinary memory
_ENCODINGS = frozenset(("utf-8", "utf8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "windows-1252"))
# in any encoding that is let through, and in UTF-32, whose letters have three zero bytes between them
_DOCTYPE = re.compile(rb"<\0{0,3}!\0{0,3}" + rb"\0{0,3}".join(re.findall(b".", b"DOCTYPE")), re.I)
_DECLARED = re.compile(r"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([^\"']{1,40})", re.I)


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
        self._folded = {name.casefold(): name for name in self.names}
        self._roots: dict[str, etree._Element] = {}
        self._read_total = 0
        if "mimetype" in self.names and self._bytes("mimetype").startswith(b"application/vnd.oasis"):
            raise DocumentError(
                "DOCX or PDF is required, this is an OpenDocument (.odt) file", "save it as DOCX or PDF"
            )
        self.main = self._find_main()

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        names = [member.filename.casefold() for member in members]  # part names do not heed case
        if len(members) > MAX_MEMBERS:
            raise DocumentError(
                f"a DOCX of at most {MAX_MEMBERS} members is required, this one has {len(members)}", _DAMAGED
            )
        if len(set(names)) != len(names):
            raise DocumentError("a DOCX must not hold two members of one name, this one does", _DAMAGED)
        for member in members:
            parts = member.filename.replace("\\", "/").split("/")
            unsafe = not parts[0] or ".." in parts or parts[0].endswith(":")
            if unsafe:
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
        """Root of the part ``name``; None when there is no such part. The same object on every call."""
        if name not in self.names:
            return None
        if name not in self._roots:
            self._roots[name] = _parse(name, self._bytes(name))
        return self._roots[name]

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
                target = unquote(target.partition("#")[0])
                target = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
                target = self._folded.get(target.casefold(), target)
            found.append(
                Relationship(attribute(element, "Id"), attribute(element, "Type").rsplit("/", 1)[-1], target, external)
            )
        return found

    def all_relationships(self) -> list[Relationship]:
        """Relationships of the package, of the main part and of the parts that it names, in this order."""
        direct = self.relationships("") + self.relationships(self.main)
        inner = dict.fromkeys(r.target for r in direct if not r.external and r.target != self.main)
        return direct + [r for part in inner for r in self.relationships(part)]

    def part(self, kind: str) -> str:
        """Name of the part of this kind: as the main part says, else where Word puts it."""
        named = next((r.target for r in self.relationships(self.main) if r.kind == kind and not r.external), "")
        return named if named in self.names else f"{self.main.rpartition('/')[0]}/{kind}.xml".lstrip("/")

    def _find_main(self) -> str:
        main = next((r.target for r in self.relationships("") if r.kind == "officeDocument"), "word/document.xml")
        main = main if main in self.names else self._folded.get("word/document.xml", main)
        if main not in self.names:
            raise DocumentError(
                "a DOCX needs a main document part, this archive has none",
                "give a DOCX, PDF, HTML, Markdown or text file",
            )
        if not main.lower().endswith(".xml") or main.startswith(("xl/", "ppt/")):
            raise DocumentError(
                "DOCX or PDF is required, this is another Office file (a spreadsheet or slides)",
                "save the contract as DOCX or PDF",
            )
        return main


def _parse(name: str, data: bytes) -> etree._Element:
    """Root of a part; raises ``DocumentError`` for what is no plain XML of a sensible size."""
    head = data[:400].replace(b"\0", b"").decode("latin-1")
    declared = _DECLARED.search(head)
    if _DOCTYPE.search(data):
        raise DocumentError(
            f"DOCX parts need no DTD, {name} declares one", "do not open this file; ask for a clean copy"
        )
    if declared is not None and declared[1].lower() not in _ENCODINGS:
        # a DTD could hide in an encoding in which it does not look like one
        raise DocumentError(f"DOCX parts must be in UTF-8 or UTF-16, {name} says {declared[1]!a}", _DAMAGED)
    if data.count(b"<") > _MAX_TAGS:
        raise DocumentError(f"a DOCX of sensible size is required, {name} holds too many elements", _DAMAGED)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        is_large = any(word in str(error) for word in ("xcessive", "huge", "HUGE", "limit"))
        what = "nests too deeply or holds an absurdly long text" if is_large else "is not well-formed XML"
        raise DocumentError(f"a sound DOCX is required, its part {name} {what}", _DAMAGED) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise DocumentError(f"DOCX parts need no DTD, {name} declares one", "do not open this file")
    return root
