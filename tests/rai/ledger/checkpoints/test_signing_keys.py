"""One signing key follows another: by the ledger's word, side by side for a while, and whatever moment a process dies at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grounding.errors import InputError, SettingsError, StoreError
from rai.ledger.chain import KEY
from rai.ledger.checkpoints.checkpoint import SigningKey, load_signing_seed
from rai.ledger.checkpoints.signing_keys import SigningKeys, finish, rotate
from rai.records import Entry
from tests.fakes.form2 import LEDGER_ID, ORIGIN


class Named:
    """A ledger that keeps what it is told; `fails`: it cannot be written."""

    def __init__(self, first: str) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.first = first
        self.fails = False

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        if self.fails:
            raise StoreError("the disk is full")
        assert kind == KEY
        self.bodies.append(body)
        return Entry("e", len(self.bodies), "", kind, body, "", "")

    async def verifier_key(self) -> str | None:
        return self.bodies[-1]["verifier_key"] if self.bodies else self.first


@pytest.fixture
def path(tmp_path: Path) -> Path:
    load_signing_seed(tmp_path / "s.key")
    return tmp_path / "s.key"


@pytest.fixture
def keys(path: Path) -> SigningKeys:
    return SigningKeys(path, LEDGER_ID)


def line_of(path: Path) -> str:
    return SigningKey(ORIGIN, load_signing_seed(path, make=False)).verifier().line()


@pytest.fixture
def ledger(path: Path) -> Named:
    return Named(line_of(path))


def signing(keys: SigningKeys, named: str) -> list[str]:
    return [key.verifier().line() for key in keys.signers(named)]


def files(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir())


async def test_old_then_both_then_new(path: Path, keys: SigningKeys, ledger: Named) -> None:
    old = line_of(path)
    assert signing(keys, old) == [old]
    new = (await rotate(ledger, keys)).line()
    assert new not in (old, "")
    assert line_of(path) == new
    assert signing(keys, new) == [old, new]
    assert keys.is_changing()
    assert (await finish(ledger, keys)).line() == old
    assert signing(keys, new) == [new]
    assert not keys.is_changing()
    assert files(path) == ["s.key"]
    assert ledger.bodies == [
        {"schema": 2, "verifier_key": new, "before": old},
        {"schema": 2, "verifier_key": new, "retired": old},
    ]


@pytest.mark.parametrize("name", ["s.key", "s.key.old"])
async def test_every_key_stays_its_owners(path: Path, keys: SigningKeys, ledger: Named, name: str) -> None:
    await rotate(ledger, keys)
    assert (path.parent / name).stat().st_mode & 0o777 == 0o600
    (path.parent / name).chmod(0o644)
    with pytest.raises(SettingsError, match="read by others"):
        signing(keys, line_of(path) if name != "s.key" else "x")


async def test_one_change_at_a_time(path: Path, keys: SigningKeys, ledger: Named) -> None:
    await rotate(ledger, keys)
    before = files(path)
    with pytest.raises(InputError, match="rotate-key --finish"):
        await rotate(ledger, keys)
    assert (len(ledger.bodies), files(path)) == (1, before)
    await finish(ledger, keys)
    with pytest.raises(InputError, match="no change of keys is under way"):
        await finish(ledger, keys)
    await rotate(ledger, keys)
    assert len(ledger.bodies) == 3


async def test_what_could_not_be_recorded_did_not_happen(path: Path, keys: SigningKeys, ledger: Named) -> None:
    old = line_of(path)
    ledger.fails = True
    with pytest.raises(StoreError):
        await rotate(ledger, keys)
    assert signing(keys, old) == [old]
    with pytest.raises(InputError, match="has not come to its end"):
        await finish(ledger, keys)
    ledger.fails = False
    new = (await rotate(ledger, keys)).line()
    assert (len(ledger.bodies), signing(keys, new)) == (1, [old, new])


async def test_a_crash_after_the_entry_is_gone_on_with(path: Path, keys: SigningKeys, ledger: Named) -> None:
    """Until then both keys sign already: the new one is named, and its seed is there."""
    old = line_of(path)
    new = keys.following().line()
    await ledger.append(KEY, {"schema": 2, "verifier_key": new, "before": old})
    assert signing(keys, new) == [old, new]
    assert (await rotate(ledger, keys)).line() == new
    assert (len(ledger.bodies), signing(keys, new)) == (1, [old, new])


async def test_a_crash_between_the_two_files_is_gone_on_with(path: Path, keys: SigningKeys, ledger: Named) -> None:
    old = line_of(path)
    new = keys.following().line()
    await ledger.append(KEY, {"schema": 2, "verifier_key": new, "before": old})
    (path.parent / "s.key.old").write_text(path.read_text())
    (path.parent / "s.key.old").chmod(0o600)
    assert signing(keys, new) == [old, new]
    await rotate(ledger, keys)
    assert signing(keys, new) == [old, new]
    assert files(path) == ["s.key", "s.key.old"]


async def test_a_key_that_the_ledger_does_not_name_changes_nothing(path: Path, keys: SigningKeys) -> None:
    """Somebody else's key in the place of the ledger's, or a lost one: nobody outside would believe what it names."""
    stranger = Named(SigningKey(ORIGIN, bytes(32)).verifier().line())
    with pytest.raises(SettingsError, match="is not the one whose public key the ledger names"):
        await rotate(stranger, keys)
    assert (stranger.bodies, files(path)) == ([], ["s.key"])
    path.unlink()
    with pytest.raises(SettingsError, match="is missing"):
        await rotate(stranger, keys)
    with pytest.raises(InputError, match="names no public key yet"):
        await rotate(Named(None), keys)  # type: ignore[arg-type]


async def test_a_folder_that_cannot_be_written_changes_nothing(
    path: Path, keys: SigningKeys, ledger: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = line_of(path), keys.following().line()

    def refuse(_self: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StoreError, match="cannot be changed"):
        await rotate(ledger, keys)
    assert line_of(path) == old
    assert signing(keys, new) == [old, new]
