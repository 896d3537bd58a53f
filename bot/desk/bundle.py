"""What a search found as a bundle that proves itself: a zip of the entries, each with its proof, a signed checkpoint and the public key."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict
from typing import IO

from bot.desk import table
from bot.desk.index import Desk, DownloadRow, Draw
from bot.desk.search import DeskSearch
from grounding.errors import InputError
from rai.ledger.attest_verify import TABLE, cells_of
from rai.ledger.checkpoints.proof_file import Proven
from rai.ports import Ledger
from rai.records import Entry

MOST = 1_000
"""Entries of a bundle at most: each has a proof, and is read whole."""
FORMAT = "attest-ledger-bundle-1"
FOLDER = "found"
README = """\
# Entries of the ledger {ledger_id}

{count} entries that a search found, each with the proof that it stands in the ledger as it is here.

Searched for: {wanted}
Signed: a checkpoint over {size} entries.

| File | What it is |
|---|---|
| entries.jsonl | the entries, one a line, the newest first |
| proofs/ENTRY.json | for each entry its proof: the entry as it is stored, and the hashes that lead from it to the root of the checkpoint |
| checkpoint.txt | the signed checkpoint |
| key.txt | the public key that verifies it |
| found.csv | a row for each of these entries, for a spreadsheet; a cell that would run as a formula begins with '. Read it, and save what you change elsewhere: a file that was saved anew may differ |

## Check it

    attest-verify --bundle . --key key.txt

`attest-verify` comes with Attest, and is one file for the standard library of Python 3.11 or newer (`attest_verify.py`), so that it can be read first. **Have it, and the public key, from elsewhere than this
folder**: whoever made the folder could have made both. It checks the signature of the checkpoint, that each proof leads to its root, that each body is the one that was committed to, that entries.jsonl
says nothing else, and that found.csv is there and its rows are these entries and say what they say. Only its columns arrived and verdict are not checked: later entries say them. Exit code 0: sound. 1: broken, and each break is named. One entry alone:

    attest-verify --proof proofs/ENTRY.json --checkpoint checkpoint.txt --key key.txt

What it cannot tell: that everything which happened was written down, or that the search leaves nothing out. An entry without body was erased. Personal data is masked; treat this folder as confidential all the same.
"""

Prove = Callable[[Collection[str]], Awaitable[Proven]]


async def write_bundle(
    file: IO[bytes],
    desk: Desk,
    ledger: Ledger,
    prove: Prove,
    wanted: DeskSearch,
    *,
    draw: Draw | None = None,
    most: int = MOST,
) -> int:
    """Write the bundle of a search, or of a sample of it, into `file`, and say how many entries it has. Raises InputError where nothing or more than `most` is found, StoreError, SettingsError."""
    rows: list[DownloadRow] = []
    async for row in desk.rows(wanted.whole(), draw):
        if len(rows) == most:
            raise InputError(
                f"the search finds more than {most} entries; a bundle has at most so many: narrow it, by days for example"
            )
        rows.append(row)
    if not rows:
        raise InputError("the search finds nothing that could be bundled")
    found = [entry for row in rows if (entry := await ledger.get(row.row.entry_id)) is not None]
    held = {entry.entry_id for entry in found}
    rows = [row for row in rows if row.row.entry_id in held]
    proven = await prove([entry.entry_id for entry in found])
    await asyncio.to_thread(_write, file, rows, found, proven, _told(wanted, draw))
    return len(found)


def _told(wanted: DeskSearch, draw: Draw | None) -> str:
    """What the bundle is of, for its README."""
    told = ", ".join(f"{name} {value!r}" for name, value in wanted.conditions.items()) or "everything"
    if wanted.among is not None:
        told += "; among the turns that its reader may see, those of a team"
    return told if draw is None else f"{told}; of what was found a sample: {draw}"


def _write(file: IO[bytes], rows: list[DownloadRow], entries: list[Entry], proven: Proven, told: str) -> None:
    size = proven.documents[0]["size"]
    about = README.format(ledger_id=proven.documents[0]["ledger_id"], count=len(entries), size=size, wanted=told)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:

        def put(name: str, text: str) -> None:
            out.writestr(f"{FOLDER}/{name}", text.encode("utf-8", "replace"))

        put("README.md", about)
        put("checkpoint.txt", proven.checkpoint)
        put("key.txt", f"{proven.key}\n")
        bare = {document["entry"]["entry_id"] for document in proven.documents if document["entry"]["body"] is None}
        lines = [_line(entry, bare=entry.entry_id in bare) for entry in entries]
        put("entries.jsonl", "".join(lines))
        # by the rule of who checks it, not from the index: that may be older than an erasure, and words its titles as it likes
        cells = (cells_of(json.loads(line)) for line in lines)
        told_again = "".join(table.proven_line(row, each) for row, each in zip(rows, cells, strict=True))
        put(TABLE, table.BYTE_ORDER_MARK + table.heading("csv") + told_again)
        for document in proven.documents:
            put(f"proofs/{document['entry']['entry_id']}.json", json.dumps(document) + "\n")


def _line(entry: Entry, *, bare: bool) -> str:
    """An entry as it is told beside its proof; without the body where none is proven."""
    said = asdict(entry)
    kept = {name: said[name] for name in ("seq", "entry_id", "at", "kind", "body")}
    return json.dumps(kept | ({"body": None} if bare else {})) + "\n"
