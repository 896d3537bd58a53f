"""Inspection of ZIP containers before they are opened, by names and declared sizes only, and access to the XML parts of Office files and
EPUBs.

Python's zipfile never yields more than the declared size of a member, so the declared sizes bound the memory.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from lxml import etree

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Refused

MAX_MEMBERS = 20_000
MAX_UNPACKED = 300_000_000
MAX_RATIO = 200
_SMALL = 5_000_000  # below this no ratio does harm
_END = struct.Struct("<4s4H2LH")  # end of central directory (APPNOTE.TXT 4.3.16)

DAMAGE = (  # what the libraries raise for Office files that are damaged inside
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    SyntaxError,
    OSError,
    NotImplementedError,
    RecursionError,
    AssertionError,
    EOFError,
    RuntimeError,
    zlib.error,
    zipfile.BadZipFile,
)

KINDS = {
    "word/document.xml": content_types.WORD,
    "xl/workbook.xml": content_types.EXCEL,
    "ppt/presentation.xml": content_types.SLIDES,
    "META-INF/container.xml": content_types.BOOK,
}


@contextmanager
def damage_refused(what: str, *also: type[Exception]) -> Iterator[None]:
    """Context manager that turns the errors of a library over a damaged file into `Refused("corrupt", …)`, whose message names `what` it is
    and the kind of the error.

    Counts as damage: DAMAGE, and `also` of a library's own errors. A Refused raised in the block passes as it is.
    """
    damage: tuple[type[Exception], ...] = (*DAMAGE, *also)
    try:
        yield
    except Refused:
        raise
    except damage as error:
        raise Refused("corrupt", f"{what} that cannot be read ({type(error).__name__})") from None


def kind_of(data: bytes) -> str:
    """Content type of the document in a ZIP container, else application/zip. Raises Refused."""
    _weigh_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, UnicodeDecodeError, struct.error):
        raise Refused("corrupt", "a ZIP container that is cut short or damaged") from None
    unpacked = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED:
        raise Refused("too_large", f"a ZIP container of {len(members)} parts and {unpacked:,} bytes unpacked")
    if unpacked > _SMALL and unpacked > MAX_RATIO * len(data):
        raise Refused("too_large", f"a ZIP container that unpacks to {unpacked // max(len(data), 1)} times its size")
    names = {member.filename for member in members}
    found = next((kind for part, kind in KINDS.items() if part in names), "application/zip")
    if any(member.flag_bits & 1 for member in members):
        raise Refused("encrypted", "a ZIP container with a password; save it without one")
    return found


def _weigh_directory(data: bytes) -> None:
    """Raise Refused for a directory of too many entries, before zipfile makes an object of each."""
    at = data.rfind(b"PK\x05\x06")
    if 0 <= at <= len(data) - _END.size:
        *_, entries, size, _, _ = _END.unpack_from(data, at)
        if entries > MAX_MEMBERS or size > 46 * 10 * MAX_MEMBERS:
            raise Refused("too_large", f"a ZIP container of more than {MAX_MEMBERS:,} parts")


def part(archive: zipfile.ZipFile, name: str) -> Any:
    """The root element of an XML part. Entities are not expanded, nothing is fetched.

    Raises KeyError if there is none, ValueError, OSError or zipfile's errors for one that is damaged.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(archive.read(name), parser)
    if root is None:
        raise ValueError("an XML part without content")
    return root


def target(base: str, reference: str) -> str:
    """Name of the part that `reference`, written in the part `base`, points to."""
    path = unquote(reference.split("#", 1)[0])
    if path.startswith("/"):
        return path.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))


def related(archive: zipfile.ZipFile, name: str) -> dict[str, tuple[str, str]]:
    """Relationships of an Office part: from id to the last word of its type and the part, or address, that it leads to."""
    folder, file = posixpath.split(name)
    try:
        root = part(archive, f"{folder}/_rels/{file}.rels")
    except KeyError:
        return {}
    found = {}
    for relation in root:
        address = relation.get("Target", "")
        outside = relation.get("TargetMode") == "External"
        found[relation.get("Id", "")] = (
            relation.get("Type", "").rsplit("/", 1)[-1],
            address if outside else target(name, address),
        )
    return found
