"""Whatever is done to a file, the answer is its text or a refusal; no reader fails in a way that it does not know of."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounding.ingest.readers.extract import Extract, Refused
from grounding.ingest.readers.guarded.guard import LIMITS, Guard
from tests.grounding.ingest.readers import files
from tests.grounding.ingest.readers.sound import SOUND

_HEADS = (
    b"",
    b"%PDF-1.4\n",
    b"PK\x03\x04",
    b"{\\rtf1 ",
    b"<html>",
    b"From: a@b.example\nTo: c\nSubject: x\n",
    b'{"a": ',
    b"# a\n",
)
_BITS = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"}",
    b"<",
    b">",
    b"&",
    b'"',
    b"\\u-1?",
    b"\\'8",
    b"=?utf-8?q?",
    b"0",
    b"999999999999",
    b"\n",
    b"--b",
)
_FORMATS = sorted({file.kind for file in SOUND})


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    for kind in _FORMATS:
        _samples(kind)  # made before any is drawn: messages have random boundaries
    with Guard(replace(LIMITS, seconds=10.0, patience=12.0)) as shared:
        yield shared


def _check(guard: Guard, data: bytes, *, may_crash: bool = False) -> None:
    code, why = _refusal(guard, data)
    assert code != "crashed" or (may_crash and "makes its reader crash" in why), why


def _refusal(guard: Guard, data: bytes) -> tuple[str, str]:
    try:
        _check_extract(guard.read(data, "file"))
    except Refused as refusal:
        return refusal.code, str(refusal)
    return "", ""


def _check_extract(extract: Extract) -> None:
    assert extract.text.strip()
    extract.text.encode("utf-8")
    starts = [place.start for place in extract.locators]
    assert starts == sorted(starts)
    assert all(0 <= start < len(extract.text) and not extract.text[start].isspace() for start in starts)


@cache
def _samples(kind: str) -> list[bytes]:
    return [data for file in SOUND if file.kind == kind and len(data := file.data()) < 100_000]


def _changed(data: bytes, draw: st.DrawFn) -> bytes:
    """`data` cut short, or with stretches taken out, doubled or replaced."""
    if draw(st.integers(0, 4)) == 0:
        return data[: draw(st.integers(0, len(data)))]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(at + draw(st.sampled_from([0, 1, 2, 8, 40, 300])), len(data))
        bit = draw(st.one_of(st.sampled_from(_BITS), st.binary(max_size=8), st.just(data[at:end] * 2)))
        data = data[:at] + bit + data[end:]
    return data


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> bytes:
    """A sound file with damage: in its bytes, or in one member of a container that is then whole again."""
    data = draw(st.sampled_from(_samples(kind)))
    if not data.startswith(b"PK") or draw(st.booleans()):
        return _changed(data, draw)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from(sorted(parts)))
    if draw(st.integers(0, 5)) == 0:
        del parts[name]
    else:
        parts[name] = _changed(parts[name], draw)
    return files.archive(parts)


@pytest.mark.parametrize("kind", _FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_is_survived(guard: Guard, kind: str, data: st.DataObject) -> None:
    _check(guard, data.draw(damaged(kind)), may_crash="pdf" in kind)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(head=st.sampled_from(_HEADS), data=st.binary(max_size=400))
def test_any_bytes_are_survived(guard: Guard, head: bytes, data: bytes) -> None:
    _check(guard, head + data, may_crash=head.startswith(b"%PDF"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    head=st.sampled_from(_HEADS),
    text=st.text(max_size=200),
    encoding=st.sampled_from(["utf-8", "utf-16", "shift_jis", "cp1251"]),
)
def test_any_text_is_survived(guard: Guard, head: bytes, text: str, encoding: str) -> None:
    _check(guard, head + text.encode(encoding, "replace"), may_crash=head.startswith(b"%PDF"))
