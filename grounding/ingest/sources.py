"""Discovery of documents for an ingest: folders, single files and .jsonl corpora, with the metadata that is kept beside them.

Everything that is wrong with the arguments, with attest.yaml, with the --acl file or with a corpus line is found before the first item is
handed out, so that nothing is half-ingested. A file that cannot be read is found when it is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from grounding.errors import InputError
from grounding.ingest.readers.content_types import MAIL
from grounding.ingest.readers.extract import MAX_FILE_BYTES, Reason, Refused, clean, one_line
from grounding.ingest.readers.guarded.guard import Guard
from grounding.ingest.readers.metadata import BadField, checked
from grounding.ingest.readers.metadata_file import METADATA_FILE, Rules, read_acl, read_rules
from grounding.ingest.runs import PlannedItem
from grounding.records import Document, Trust

_MAX_LINE = 25_000_000
_UNNAMED = "unnamed"
"""Stamp of a file whose name is not UTF-8."""
MISSING: Reason = "missing"
"""Code of a document that a run has planned and that is not there for whoever is to read it."""
_INBOUND: dict[str, Trust] = {MAIL: "inbound"}
"""Formats in which somebody outside may have written, unless a rule says whose word they are."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A document that can be loaded. `root` is the absolute path of the folder or corpus that it belongs to.

    `stamp` changes when the file, its line, or a metadata rule that applies to it changes. `load` returns the Document or raises Refused. `place`: byte at which its
    line begins in a corpus, 0 in a folder.
    """

    doc_id: str
    root: str
    stamp: str
    load: Callable[[], Document]
    place: int = 0


def find(paths: Sequence[Path], acl: Path | None = None, root: str | None = None) -> Iterator[SourceItem]:
    """All documents under `paths`, in a fixed order, one at a time. `root`: what they belong to, whatever folder they stand in here.

    Raises InputError, before the first item, for a path that does not exist, metadata that cannot be used, or a corpus line with a wrong
    field. Symbolic links that leave a folder are not followed.
    """
    rights = read_acl(acl) if acl is not None else Rules(())
    guard = Guard()
    sources = [_source(Path(path), rights, guard) for path in paths]
    with guard:
        for source in sources:
            yield from source() if root is None else (replace(item, root=root) for item in source())


def placed(path: Path, acl: Path | None, root: str, items: Sequence[PlannedItem]) -> Iterator[SourceItem]:
    """Documents that were found under `path` before, here or where it is mounted otherwise, as they stand now. One that is not there is refused when it is loaded,
    as MISSING.

    Raises InputError for metadata that cannot be used, and for a corpus that is another one by now.
    """
    rights = read_acl(acl) if acl is not None else Rules(())
    full = path.resolve()
    if full.is_file():
        found: Iterator[SourceItem] = (_line_at(full, rights, item) for item in items)
        yield from (replace(item, root=root) for item in found)
        return
    rules = read_rules(full)
    with Guard() as guard:
        for item in items:
            yield replace(_file_at(full, item, rules, rights, guard), root=root)


def is_there(path: Path, item: PlannedItem) -> bool:
    """True if what was planned can be read below `path`."""
    return path.is_file() or _standing(path.resolve(), item.doc_id) is not None


def rights_of(path: Path, acl: Path | None) -> str:
    """Digest of the files that say who may read what below `path`: attest.yaml and that of --acl."""
    files = (path / METADATA_FILE, acl) if path.is_dir() else (acl,)
    return _hash(b"\x00".join(file.read_bytes() if file is not None and file.is_file() else b"" for file in files))


def _file_at(root: Path, item: PlannedItem, rules: Rules, rights: Rules, guard: Guard) -> SourceItem:
    standing = _standing(root, item.doc_id)
    if standing is not None:
        return _file(standing, root, rules, rights, guard)
    refused = partial(_unnamed if item.stamp == _UNNAMED else _missing, item.doc_id)
    return SourceItem(item.doc_id, str(root), item.stamp, refused)


def _standing(root: Path, doc_id: str) -> Path | None:
    """The file of a document below `root`; None if it is not there, or a link leads out of it."""
    file = root / doc_id
    return file if file.is_file() and _stays(file, root) else None


def _missing(doc_id: str) -> Document:
    raise Refused(MISSING, f"{doc_id}: is not there since the run was planned; it stays as it was until the next run")


def _line_at(corpus: Path, rights: Rules, item: PlannedItem) -> SourceItem:
    with corpus.open("rb") as file:
        file.seek(item.place)
        line = file.readline(_MAX_LINE + 1)
    try:
        row = _row(corpus, 0, line)
    except InputError:
        row = {}
    if row.get("doc_id") != item.doc_id:
        raise InputError(
            f"{corpus.name}: is another corpus than the run was planned for; end the run (--end) and begin anew"
        )
    return _of_line(corpus, rights, line, row, item.place)


def look(paths: Sequence[Path], acl: Path | None = None) -> dict[str, tuple[int, int, int]]:
    """Fingerprint of the files under `paths`, to tell whether anything changed: (bytes, time of change in ns, inode) of each, metadata
    included.

    Two equal results mean that nothing has changed in between. Reads no file, so it is cheap enough to be taken again and again; what
    cannot be seen is left out.
    """
    seen: dict[str, tuple[int, int, int]] = {}
    for path in (*paths, *([acl] if acl is not None else [])):
        if path.is_dir():
            _look_below(str(path.resolve()), seen)
        else:
            _look_at(str(path), seen)
            _look_at(str(path.parent / METADATA_FILE), seen)
    return seen


def _look_below(folder: str, seen: dict[str, tuple[int, int, int]]) -> None:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith((".", "~$")):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        _look_at(entry.path, seen)
        except OSError:  # it vanished while we looked
            continue


def _look_at(path: str, seen: dict[str, tuple[int, int, int]]) -> None:
    try:
        state = Path(path).stat()
    except OSError:
        return
    seen[path] = (state.st_size, state.st_mtime_ns, state.st_ino)


def _source(path: Path, rights: Rules, guard: Guard) -> Callable[[], Iterator[SourceItem]]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    full = path.resolve()
    if full.is_dir():
        return partial(_folder, full, read_rules(full), rights, guard)
    if not full.is_file():
        raise InputError(f"{path}: neither a file nor a folder")
    if is_corpus(full):
        for _ in _lines(full):
            pass
        return partial(_corpus, full, rights)
    return lambda: iter([_file(full, full.parent, read_rules(full.parent), rights, guard)])


def _folder(root: Path, rules: Rules, rights: Rules, guard: Guard) -> Iterator[SourceItem]:
    for path in _walk(root, root):
        yield _file(path, root, rules, rights, guard)


def _walk(folder: Path, root: Path) -> Iterator[Path]:
    """Files below `folder`, sorted; hidden ones, metadata and links that lead out of `root` or to a folder left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed ({error.strerror})") from None
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith((".", "~$")) or (folder == root and entry.name == METADATA_FILE):
            continue
        if entry.is_symlink() and not _stays(path, root):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(path, root)
        elif entry.is_file():
            yield path


def _stays(link: Path, root: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _file(path: Path, root: Path, rules: Rules, rights: Rules, guard: Guard) -> SourceItem:
    doc_id = path.relative_to(root).as_posix()
    if not doc_id.isprintable() and doc_id.encode("utf-8", "ignore").decode() != doc_id:  # bytes that are no UTF-8
        shown = doc_id.encode("utf-8", "backslashreplace").decode()
        return SourceItem(shown, str(root), _UNNAMED, partial(_unnamed, shown))
    said = rules.fields(doc_id) | rights.fields(doc_id)
    try:
        state = path.stat()
        mark = f"{state.st_size}:{state.st_mtime_ns}"
    except OSError:
        mark = "unreadable"
    return SourceItem(
        doc_id, str(root), f"{mark}:{_hash(repr(sorted(said.items())))}", partial(_load, path, doc_id, said, guard)
    )


def _unnamed(shown: str) -> Document:
    raise Refused("unsupported", f"{shown}: its name is not UTF-8; rename it")


def _load(path: Path, doc_id: str, said: dict[str, Any], guard: Guard) -> Document:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Refused("corrupt", f"{doc_id}: cannot be read ({error.strerror})") from None
    if _is_line_of_corpus(data):
        advice = "a corpus of documents; ingest it by its own path, so that each line keeps its own rights"
        raise Refused("unsupported", f"{doc_id}: {advice}")
    extract = guard.read(data, doc_id)
    meta = {"title": extract.title, "trust": _INBOUND.get(extract.content_type, "ordinary")} | extract.meta | said
    return Document(
        doc_id=doc_id, text=extract.text, content_type=extract.content_type, locators=extract.locators, **meta
    )


def _is_line_of_corpus(data: bytes) -> bool:
    """True if the first line is an object with doc_id and text: read as rows, its `groups` would be words like others."""
    first = data[:_MAX_LINE].lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    if not first.startswith(b"{") or b'"doc_id"' not in first:
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and "doc_id" in row and "text" in row


def is_corpus(path: Path) -> bool:
    """Whether a path is a corpus: a .jsonl file, unless its first line is an object that has neither doc_id nor text."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    try:
        row = json.loads(first)
    except ValueError:
        return True
    return not isinstance(row, dict) or "doc_id" in row or "text" in row


def _corpus(path: Path, rights: Rules) -> Iterator[SourceItem]:
    place = 0
    for line, row in _lines(path):
        if row is not None:
            yield _of_line(path, rights, line, row, place)
        place += len(line)


def _of_line(path: Path, rights: Rules, line: bytes, row: dict[str, Any], place: int) -> SourceItem:
    said = rights.fields(row["doc_id"])
    stamp = f"{_hash(line)}:{_hash(repr(sorted(said.items())))}"
    return SourceItem(row["doc_id"], str(path), stamp, partial(_document, row | said), place)


def _document(row: dict[str, Any]) -> Document:
    if not row["text"]:
        raise Refused("empty", f"{row['doc_id']}: no text")
    return Document(**row)


def _lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
    """Each line of a corpus with its checked fields, None for an empty one. Raises InputError that names file, line and field."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_LINE + 1):
            number += 1
            yield line, _row(path, number, line) if line.strip(b"\xef\xbb\xbf \t\r\n") else None


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    where = f"{path.name}, line {number}"
    if len(line) > _MAX_LINE:
        raise InputError(f"{where}: longer than {_MAX_LINE:,} bytes")
    try:
        raw = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InputError(f"{where}: not a JSON object in UTF-8") from None
    if not isinstance(raw, dict):
        raise InputError(f"{where}: must be a JSON object with doc_id, title and text")
    for name in ("doc_id", "title", "text"):
        if not isinstance(raw.get(name), str):
            raise InputError(f"{where}: {name} must be text")
    if not one_line(raw["doc_id"]):
        raise InputError(f"{where}: doc_id must not be empty")
    try:
        fields = checked(raw)
    except BadField as error:
        raise InputError(f"{where}: {error}") from None
    return fields | {"doc_id": one_line(raw["doc_id"]), "title": one_line(raw["title"]), "text": clean(raw["text"])}


def _hash(content: str | bytes) -> str:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]
