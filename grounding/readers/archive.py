"""ZIP containers are weighed before they are opened: names and declared sizes only, nothing unpacked.

Python's zipfile never yields more than the declared size of a member, so the declared sizes bound the memory.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from grounding.readers.extract import Refused

MAX_MEMBERS = 20_000
MAX_UNPACKED = 300_000_000
MAX_RATIO = 200
_SMALL = 5_000_000  # below this no ratio does harm

DAMAGE = (  # what the libraries raise for Office files that are damaged inside
    KeyError, ValueError, TypeError, AttributeError, IndexError, SyntaxError, OSError, NotImplementedError, RecursionError,
    zlib.error, zipfile.BadZipFile,
)  # fmt: skip

KINDS = {
    "word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ppt/presentation.xml": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


def kind_of(data: bytes) -> str:
    """Content type of the Office file in a ZIP container, else application/zip. Raises Refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, UnicodeDecodeError):
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
