"""The keys that sign a ledger's checkpoints, and how one is changed for another.

Three files: `ledger-signing.key` holds the seed in use; `….next` one that is to follow and that no entry names yet; `….old` the one before, which signs side by side with
the one in use until the change is finished. An entry of the kind `key` names the next one before it takes its place, so that whoever has the old public key alone finds the
new one in the ledger, under a checkpoint that the old key has signed. Whenever a process dies on the way, the same step goes on where it ended.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any, Protocol

from grounding.errors import InputError, SettingsError, StoreError
from rai.entry_schema import NAME, SCHEMA
from rai.ledger.chain import KEY
from rai.ledger.checkpoints.checkpoint import SigningKey, VerifierKey, load_signing_seed, origin_of
from rai.ledger.secret_file import sync_folder, write_durably
from rai.records import Entry


class NamesKeys(Protocol):
    """What a change of keys asks of the ledger."""

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        """Writes an entry, as of `rai.ports.Ledger`."""
        ...

    async def verifier_key(self) -> str | None:
        """The public key that the ledger named last."""
        ...


class SigningKeys:
    """The signing keys of the ledger `ledger_id`, whose seed in use lies in `path`."""

    def __init__(self, path: Path, ledger_id: str) -> None:
        self._path = path
        self._old = path.with_name(f"{path.name}.old")
        self._next = path.with_name(f"{path.name}.next")
        self._origin = origin_of(ledger_id)

    def signers(self, named: str) -> list[SigningKey]:
        """The keys that sign now: those of before that are still here, then the one whose public key is `named`.

        Raises SettingsError if that is not here, or a file cannot be used.
        """
        here = [self._load(path) for path in (self._old, self._path) if path is self._path or path.exists()]
        if self._next.exists():  # it may be named already, and not yet in its place
            here += [key for key in [self._load(self._next)] if key.verifier().line() == named]
        by_line = {key.verifier().line(): key for key in here}
        if named not in by_line:
            raise SettingsError(
                f"the ledger's signing key: {self._path} is not the one whose public key the ledger names; put that back"
            )
        return [*(key for line, key in by_line.items() if line != named), by_line[named]]

    def is_changing(self) -> bool:
        """True while the key before signs as well, or a change was begun and has not come to its end."""
        return self._old.exists() or self._next.exists()

    def following(self) -> VerifierKey:
        """The public half of the key that is to follow, made once. Raises InputError while the last change is not finished."""
        if self._old.exists() and (not self._next.exists() or self._seeds_differ()):
            raise InputError(
                "the key before still signs side by side; finish that change first: attest ledger rotate-key --finish"
            )
        return self._load(self._next, make=True).verifier()

    def settle(self) -> None:
        """Puts the key that is to follow in the place of the one in use, which is kept beside it. Raises StoreError if it cannot."""
        try:
            if not self._old.exists():
                aside = self._path.with_name(f".{self._old.name}.{os.getpid()}.{secrets.token_hex(4)}")
                write_durably(aside, self._path.read_text("ascii"))
                aside.replace(self._old)
                sync_folder(self._path.parent)
            self._next.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            raise StoreError(f"the ledger's signing key cannot be changed ({error.strerror})") from None

    def before(self) -> VerifierKey:
        """The public half of the key before. Raises InputError if there is none, or a change has not come to its end."""
        if self._next.exists():
            raise InputError("a change of keys was begun and has not come to its end: attest ledger rotate-key")
        if not self._old.exists():
            raise InputError("no change of keys is under way; attest ledger rotate-key begins one")
        return self._load(self._old).verifier()

    def retire(self) -> None:
        """Removes the key before. Raises StoreError if it cannot."""
        try:
            self._old.unlink(missing_ok=True)
            sync_folder(self._path.parent)
        except OSError as error:
            raise StoreError(f"the ledger's old signing key cannot be removed ({error.strerror})") from None

    def _seeds_differ(self) -> bool:
        return self._load(self._old).seed != self._load(self._path).seed

    def _load(self, path: Path, *, make: bool = False) -> SigningKey:
        return SigningKey(self._origin, load_signing_seed(path, make=make))


async def rotate(ledger: NamesKeys, keys: SigningKeys) -> VerifierKey:
    """Names a new public key in the ledger, then signs with it and with the one before. Returns it; done again after a crash, it goes on.

    Raises InputError while the last change is not finished, SettingsError or StoreError where keys or ledger cannot be used.
    """
    named = await _named(ledger)
    keys.signers(named)  # who has lost the key cannot change it: nobody outside would believe the next
    following = keys.following()
    if named != following.line():
        await ledger.append(KEY, {NAME: SCHEMA, "verifier_key": following.line(), "before": named})
    keys.settle()
    return following


async def finish(ledger: NamesKeys, keys: SigningKeys) -> VerifierKey:
    """Records that the key before signs no longer, and removes it. Returns its public half. Raises InputError if no change is under way."""
    before = keys.before()
    named = await _named(ledger)
    await ledger.append(KEY, {NAME: SCHEMA, "verifier_key": named, "retired": before.line()})
    keys.retire()
    return before


async def _named(ledger: NamesKeys) -> str:
    named = await ledger.verifier_key()
    if named is None:
        raise InputError("this ledger names no public key yet; its first turn, or opening it to write, gives it one")
    return named
