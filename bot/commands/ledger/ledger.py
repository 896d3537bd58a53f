"""`attest ledger`: reads, verifies, exports and proves the provenance log."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from bot.commands.ledger.affected import affected
from bot.commands.ledger.replay import replay
from bot.commands.ledger.search import search
from bot.commands.privacy import erase
from bot.commands.shared import options
from bot.commands.shared.following import followed
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.recording import record_or_note
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened_ledger, opened_record
from bot.events.copies import Exported, record_export
from bot.events.kinds import EVERY, NAMES, listed, shows
from bot.system import OpenLedger
from bot.turn.entries.delivery import Arrival, Arrivals, arrival_of
from bot.view.decisions import decided
from grounding.errors import AttestError, InputError
from grounding.records import OnProgress
from rai.ledger.chain import GENESIS
from rai.ledger.checkpoints.checkpoint import Checkpoint, origin_of, parse_checkpoint, parse_note
from rai.ledger.checkpoints.proof_file import proof_document
from rai.ledger.checkpoints.signing_keys import SigningKeys, rotate
from rai.ledger.checkpoints.signing_keys import finish as finish_change
from rai.ledger.contents import UNREADABLE
from rai.ledger.export import FORMAT, FORMAT_1, lenient_json, verify_export
from rai.ledger.key import load_key
from rai.ledger.secret_file import write_durably
from rai.ports import Ledger
from rai.records import Break, Entry, Verification

app = options.command_app("Read, verify, export and prove the provenance log.")
_END = '{"end"'
"""What the last line of an export begins with."""
_SHOWN = 20
"""Breaks that are printed; the JSON form has them all."""


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=100_000, help="How many entries at most, newest first.")
    ] = 20,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only entries of this kind, or `all`; may be given more than once."),
    ] = None,
    undelivered: Annotated[
        bool, typer.Option("--undelivered", help="Only turns whose reply is not known to have arrived.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """List the newest entries, and how far the reply of each turn came.

    Arrived: delivered, failed with the channel's status or a word, handed over (the channel did not answer), recorded (nothing more is
    known: the process ended, or the reply is on its way). Turns of older programs, and those of `attest eval`, do not tell.

    Without --kind the many small ones are left out: deliveries, pages that reviewers read, opened sources, checks by API.

    Examples:
      attest ledger list --limit 100
      attest ledger list --undelivered
      attest ledger list --kind start --kind stop
      attest ledger list --kind all
    """
    kinds = _known(kind or [""])
    if undelivered and not any(shows("turn", wanted) for wanted in kinds):
        raise InputError(f"--undelivered shows turns alone, and --kind {' and '.join(kinds)} leaves them out")
    found = run(_newest(context, limit, kinds, undelivered=undelivered))
    if json:
        emit({"entries": [_entry_json(entry, told) for entry, told in found]})
        return
    if not found and undelivered:
        note("no reply is known that did not arrive")
        return
    if not found and kind:
        note(f"no entry of the kind {' or '.join(kinds)}")
        return
    if not found:
        note("the ledger is empty; every turn and every change of the knowledge base will be written to it")
        return
    rows = [(e.seq, e.at, e.kind, _outcome(e), told.word if told else "–", e.entry_id) for e, told in found]
    console().print(table(("seq", "at", "kind", "outcome", "arrived", "entry"), rows, right=("seq",)))


@app.command()
def show(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the entry, as a reply names it.")],
    json: options.JsonFlag = False,
) -> None:
    """Show one entry with all that was recorded; of a turn also whether its reply arrived.

    Exit code 1 where the entry is not what was sealed: it is shown as it is stored. Whether it stands in its place says attest ledger verify.

    Example:
      attest ledger show 01JD3Z… --json
    """
    entry, told, whole = run(_entry(context, entry_id))
    if not whole:
        note(f"entry {entry.entry_id} is not what was sealed: it was changed in the store; see attest ledger verify")
    if json:
        emit({**_entry_json(entry, told), "intact": whole})
        raise typer.Exit(0 if whole else 1)
    out = console()
    out.print(f"{entry.kind} · {entry.at} · entry {entry.entry_id} · number {entry.seq}")
    if told:
        out.print(plain(told.line))
    for line in decided_in(entry):
        out.print(plain(line))
    if UNREADABLE in entry.body:
        out.print(plain(f"cannot be read whole: {entry.body[UNREADABLE]}"), style="bold red")
    out.print(plain(jsonlib.dumps(entry.body, ensure_ascii=False, indent=2)), soft_wrap=True)
    out.print(f"chained to {entry.prev}\nsealed with {entry.mac}", style="dim")
    raise typer.Exit(0 if whole else 1)


@app.command()
def verify(
    context: typer.Context,
    *,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check what `ledger export` wrote, instead of the store.")
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Say whether the chain is intact.

    Walks the whole chain with its key: nothing was changed, removed or put in. Exit code 1 if it does not hold;
    every break is named, with the entries around it. Nothing is written. An exported file needs nothing but the key in
    ATTEST_LEDGER_KEY_FILE; where there is a ledger here, it must be an export of that one.

    Examples:
      attest ledger verify && echo intact
      attest ledger verify --export ledger-2026-11.jsonl
    """
    if export is None:
        with followed() as on_progress:
            result = run(_verify(context, on_progress))
    else:
        result = verify_file(export, settings_of().files.ledger_key, run(_ledger_here(context)))
    if json:
        emit(asdict(result))
    elif result.ok:
        of = f" of ledger {result.ledger_id}" if result.ledger_id else ""
        console().print(f"intact: {result.entries} entries{of}, head {result.head}")
    else:
        said = f"NOT INTACT at {result.broken or 'the end'}: {result.why}"
        console().print(plain(said), style="bold red")
        for line in _around(result.breaks):
            console().print(plain(line))
    for line in () if json else result.notes:
        note(line)
    raise typer.Exit(0 if result.ok else 1)


@app.command()
def export(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Write the whole ledger as JSON lines that can be verified elsewhere.

    A heading, every entry, oldest first, and a sealed last line; `ledger verify --export` checks them. With --json it is
    one document instead, which is held in memory and is for reading alone. Afterwards the ledger gets an entry of who exported it
    up to where; where it cannot be written, a line on stderr says so. Exit code 1 if the ledger does not hold: it is written out all the same.

    Example:
      attest ledger export > ledger-2026-11.jsonl
    """
    found = run(_export(context, as_document=json))
    if not found.ok:
        note(f"this ledger does not hold ({found.why}): it was written out as it is stored; see attest ledger verify")
    raise typer.Exit(0 if found.ok else 1)


@app.command()
def checkpoint(
    context: typer.Context,
    *,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write it to this new file, - is stdout; default: ATTEST_LEDGER_CHECKPOINTS."
        ),
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Sign a checkpoint over all entries, now.

    It is published where ATTEST_LEDGER_CHECKPOINTS says, if something was added since the last; without such a place, and
    with --to, it is written out. A ledger that does not hold is not signed. A file is never written over.

    Examples:
      attest ledger checkpoint
      attest ledger checkpoint --to 2026-11.txt
    """
    found = run(_checkpoint(context, to))
    if json:
        emit(found)
    elif found["note"] is not None:
        typer.echo(found["note"], nl=False)
    elif found["new"]:
        console().print(plain(f"{found['entries']} entries signed: {found['name']} in {found['place']}"))
    else:
        console().print(plain(f"nothing was added since {found['name']} in {found['place']}"))


@app.command("public-key")
def public_key(context: typer.Context, json: options.JsonFlag = False) -> None:
    """Print the public key that verifies checkpoints, one line to hand to an auditor.

    Hand it over on another way than the export. After `ledger rotate-key` it is the new one.

    Example:
      attest ledger public-key > key.txt
    """
    ledger_id, line = run(_public_key(context))
    if json:
        emit({"ledger_id": ledger_id, "verifier_key": line})
    else:
        typer.echo(line)


@app.command()
def prove(
    context: typer.Context,
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY", help="Id of the entry, as a reply names it.")],
    *,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Prove it against this checkpoint; default: the newest that is published."),
    ] = None,
) -> None:
    """Write the proof of one entry as JSON, for somebody who is not to have the whole ledger.

    It holds the entry and the hashes that lead from it to the root of a checkpoint; `attest-verify --proof` checks it with
    that checkpoint and the public key. Where none is published, it leads to all entries there are now. Afterwards the ledger gets
    an entry of who wrote it.

    Examples:
      attest ledger prove 01JD3Z… > proof.json
      attest ledger prove 01JD3Z… --checkpoint 2026-11.txt > proof.json
    """
    document, published = run(_prove(context, entry_id, checkpoint))
    left = Exported(document["format"], 1, None, complete=True, entry_id=entry_id)
    run(record_or_note(context, "the proof", lambda ledger: record_export(ledger, left)))
    if not published:  # to all entries there are now, that one too: a checkpoint that is signed next covers as many
        document, _ = run(_prove(context, entry_id, checkpoint))
    emit(document)
    if not published:
        note(
            f"made for all {document['size']} entries; attest ledger checkpoint --to FILE signs that many, until one is added"
        )


@app.command("rotate-key")
def rotate_key(
    context: typer.Context,
    *,
    finish: Annotated[
        bool, typer.Option("--finish", help="End the change: the key before signs no longer and is removed.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Change the key that signs checkpoints.

    An entry names the new public key, and checkpoints carry both signatures from now on, so that whoever has the old public
    key finds the new one in an export. Finish when every auditor has a checkpoint that both have signed; one is published
    at once where ATTEST_LEDGER_CHECKPOINTS says. Of a change that was interrupted, the same command does the rest.

    Examples:
      attest ledger rotate-key
      attest ledger rotate-key --finish
    """
    line, published = run(_finish_key(context) if finish else _rotate_key(context))
    if json:
        emit({"retired" if finish else "verifier_key": line})
        return
    typer.echo(line)
    if finish:
        note("this key signs no longer; it still verifies the checkpoints that it has signed")
    elif not published:
        note("hand what `attest ledger checkpoint` writes to every auditor before attest ledger rotate-key --finish")


@app.command()
def anchor(
    context: typer.Context,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept in the entry.")],
    json: options.JsonFlag = False,
) -> None:
    """Anchor a ledger anew that was moved or restored.

    The anchor beside the key says how far the ledger had come, and is named after the store's place. The whole chain is
    verified first, and one that does not hold is refused. An entry says that it was anchored anew, why, and how far it had
    come, by the chain and by the anchor before. Stop servers that write to it first.

    Example:
      attest ledger anchor --reason "moved to the new server on 25 November"
    """
    entry = run(_anchor(context, reason))
    if json:
        emit(asdict(entry))
        return
    body = entry.body
    console().print(
        plain(f"anchored after {body['count']} entries, by entry {entry.entry_id}; before: {body['found']}")
    )


app.command("search")(search)
app.command("replay")(replay)
app.command("affected")(affected)
app.command("erase")(erase)  # the same as `attest privacy erase`, where who reads the log looks for it


def _around(breaks: tuple[Break, ...]) -> list[str]:
    """A line for each of the first breaks: where, why, and what lies before and after it."""
    lines = []
    for b in breaks[:_SHOWN]:
        where = f"entry {b.at}" if b.at is not None else "the whole"
        lies = f" ({b.before} entries before it and {b.after} after it hold)" if b.at is not None else ""
        lines.append(f"  {where}: {b.why}{lies}")
    if len(breaks) > _SHOWN:
        lines.append(f"  … and {len(breaks) - _SHOWN} more breaks; --json names them")
    return lines


def _outcome(entry: Entry) -> str:
    """How a turn ended; a dash for entries that are no turns."""
    reply = entry.body.get("reply")
    return str(reply.get("outcome") or "–") if isinstance(reply, dict) else "–"


def decided_in(entry: Entry) -> list[str]:
    """The lines that say what a turn decided on its passages; none for an entry that does not tell."""
    reply = entry.body.get("reply")
    return decided(reply).lines() if isinstance(reply, dict) else []


def _known(kinds: Sequence[str]) -> Sequence[str]:
    unknown = next((kind for kind in kinds if kind not in ("", EVERY, *NAMES)), None)
    if unknown is not None:
        raise InputError(f"--kind {unknown!r} is no kind of entry: allowed are {', '.join((*NAMES, EVERY))}")
    return kinds


async def _newest(
    context: typer.Context, limit: int, kinds: Sequence[str], *, undelivered: bool
) -> list[tuple[Entry, Arrival | None]]:
    """The newest entries of these kinds, each with how far its reply came; or of the turns alone whose reply is not known to have arrived."""
    arrivals, found = Arrivals(), list[tuple[Entry, Arrival | None]]()
    async with opened_record(context) as ledger:
        read = [listed("turn" if undelivered else kind) for kind in kinds]
        only = None if None in read else {name for names in read for name in names or ()}
        async for entry in ledger.entries(newest_first=True, kinds=only):
            told = arrivals.of(entry)
            if undelivered and (told is None or told.mark == "delivered"):
                continue
            if any(shows(entry.kind, kind) for kind in kinds):
                found.append((entry, told))
            if len(found) == limit:
                break
    return found


async def _entry(context: typer.Context, entry_id: str) -> tuple[Entry, Arrival | None, bool]:
    async with opened_record(context) as ledger:
        entry = await ledger.get(entry_id)
        if entry is None:
            raise InputError(f"ENTRY {entry_id!r} is not in the ledger; see `attest ledger list`")
        return entry, await arrival_of(ledger, entry), await ledger.holds(entry_id)


def _entry_json(entry: Entry, told: Arrival | None) -> dict[str, Any]:
    """The form of `list --json` and `show --json`. `delivery`: null for what is no turn, or does not tell."""
    return {**asdict(entry), "delivery": told.as_json() if told else None}


async def _verify(context: typer.Context, on_progress: OnProgress) -> Verification:
    async with opened_record(context) as ledger:
        return await ledger.verify(on_progress)


async def _ledger_here(context: typer.Context) -> str | None:
    """The id of the ledger under ATTEST_HOME; None if there is none, or it cannot be read or is of an older program."""
    try:
        async with opened_record(context) as ledger:
            return ledger.ledger_id
    except AttestError:
        return None


def verify_file(path: Path, key_file: Path, ledger_id: str | None = None) -> Verification:
    """Check an exported ledger with the key in `key_file`; it is to be `ledger_id` if that is given. Raises InputError for a file that is no export."""
    key = load_key(key_file, make=False)
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
            return _verified(stream, key, path, ledger_id)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None


def _verified(stream: TextIO, key: bytes, path: Path, ledger_id: str | None) -> Verification:
    heading = stream.readline()
    said = lenient_json(heading)
    if said.get("format") not in (FORMAT, FORMAT_1):
        raise InputError(f"{path}: not an exported ledger; allowed is what `attest ledger export` wrote")
    try:
        return verify_export(chain([heading], stream), key, ledger_id)
    except InputError as error:
        if error.code != "another_key":
            raise
        return _changed("the key file, or the first line of the export: they do not belong together")


def _changed(what: str) -> Verification:
    why = f"changed: {what}"
    return Verification(False, 0, GENESIS, None, why, breaks=(Break(None, why),))


@dataclass(slots=True)
class _Left:
    """What of an export has left so far."""

    form: str = ""
    lines: int = 0
    end: dict[str, Any] | None = None

    def line(self, line: str) -> None:
        typer.echo(line)
        self.tell(jsonlib.loads(line) if self.lines == 0 or line.startswith(_END) else {})

    def tell(self, said: dict[str, Any]) -> None:
        """A line has left; `said`: what it is, if it is the first or the last."""
        self.form = self.form or str(said.get("format", ""))
        self.end = said.get("end")
        self.lines += 1

    def told(self) -> Exported:
        if self.end is None:
            return Exported(self.form, max(0, self.lines - 1), None, complete=False)
        return Exported(self.form, self.end["count"], self.end["head"], complete=True)


async def _export(context: typer.Context, *, as_document: bool) -> Verification:
    """Writes the ledger out, and then finds out whether it holds."""
    left = _Left()
    try:
        async with opened_record(context) as ledger:
            await _write_out(ledger, left, as_document=as_document)
            return await ledger.verify()
    finally:
        if left.lines:
            await record_or_note(context, "the export", lambda ledger: record_export(ledger, left.told()))


async def _write_out(ledger: Ledger, left: _Left, *, as_document: bool) -> None:
    if not as_document:
        async for line in ledger.export():
            left.line(line)
        return
    heading, *entries, end = [jsonlib.loads(line) async for line in ledger.export()]
    emit({**heading, "entries": entries, **end})
    for said in (heading, *entries, end):
        left.tell(said if said is heading or said is end else {})


async def _checkpoint(context: typer.Context, to: str | None) -> dict[str, Any]:
    """What was signed: how many entries, and where it is, or the note itself where it is in no place."""
    async with opened_ledger(context) as found:
        publisher = found.publisher
        if to is None and publisher is not None:
            made = await publisher.publish()
            if made is None:
                await found.ledger.checkpoint()  # nothing is new; whether it still holds is asked all the same
            last = publisher.last
            told = {"entries": last.size, "name": last.name} if last else {"entries": 0, "name": None}
            return {**told, "place": publisher.place, "new": made is not None, "note": None}
        text = await found.ledger.checkpoint()
    size = parse_checkpoint(parse_note(text.encode())[0]).size
    if to is None or to == "-":
        return {"entries": size, "name": None, "place": None, "new": True, "note": text}
    path = Path(to)
    try:
        write_durably(path, text, mode=0o644)
    except FileExistsError:
        raise InputError(f"{path} is there already; a checkpoint is never written over") from None
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be written').lower()}") from None
    return {"entries": size, "name": path.name, "place": str(path.parent), "new": True, "note": None}


async def _public_key(context: typer.Context) -> tuple[str, str]:
    async with opened_ledger(context) as found:
        line = await found.ledger.verifier_key()
        return _id_of(found), line or ""


def _id_of(found: OpenLedger) -> str:
    if found.ledger.ledger_id is None:
        raise InputError("this ledger has no id and no public key yet: the first entry of this version gives it both")
    return found.ledger.ledger_id


async def _prove(context: typer.Context, entry_id: str, file: Path | None) -> tuple[dict[str, Any], bool]:
    """The proof, and whether there is a checkpoint that it leads to."""
    signed = None if file is None else _signed(file)
    async with opened_ledger(context) as found:
        _id_of(found)
        size = None if signed is None else signed.size
        if signed is None and found.publisher is not None and (last := await found.publisher.look()):
            size = last.size
        proof = await found.ledger.proof(entry_id, size)
    if signed is not None and (signed.root, signed.origin) != (proof.root, origin_of(proof.ledger_id)):
        raise InputError(f"{file}: not of this ledger as it is: its root for {signed.size} entries is another")
    body = None if proof.row.body is None else jsonlib.loads(proof.row.body)
    hashes = [step.hex() for step in proof.hashes]
    return proof_document(proof.ledger_id, proof.size, hashes, {**asdict(proof.row), "body": body}), size is not None


def _signed(file: Path) -> Checkpoint:
    try:
        return parse_checkpoint(parse_note(file.read_bytes())[0])
    except OSError as error:
        raise InputError(f"{file}: {(error.strerror or 'cannot be read').lower()}") from None
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


async def _rotate_key(context: typer.Context) -> tuple[str, bool]:
    """The new public key, and whether a checkpoint that both keys have signed is published."""
    async with opened_ledger(context, writes=True) as found:
        new = await rotate(found.ledger, SigningKeys(found.signing_key_file, _id_of(found)))
        if found.publisher is not None:
            await found.publisher.publish()
    return new.line(), found.publisher is not None


async def _finish_key(context: typer.Context) -> tuple[str, bool]:
    """The public key that is retired, once a checkpoint that it has signed names the next, where checkpoints are published."""
    async with opened_ledger(context, writes=True) as found:
        keys = SigningKeys(found.signing_key_file, _id_of(found))
        keys.before()
        if found.publisher is not None:
            await found.publisher.publish()
        return (await finish_change(found.ledger, keys)).line(), found.publisher is not None


async def _anchor(context: typer.Context, reason: str) -> Entry:
    async with opened_ledger(context, writes=True) as found:
        return await found.ledger.reanchor(reason)
