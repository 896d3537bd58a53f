"""Identifiers, the spellings that are the same, and words with figures that are none."""

from __future__ import annotations

import pytest

from rai.claims.find import find_values
from rai.claims.found import Found
from rai.claims.names.codes import find, spellings

READ = [
    # text, characters, normal form
    ("Fill in form 354-01", "354-01", "354-01"), ("Error 0x80070005 occurs", "0x80070005", "0x80070005"), ("Install KB5031356 first", "KB5031356", "kb5031356"),
    ("Needs version 2.3.1 now", "2.3.1", "2.3.1"), ("Needs version 2.3 now", "2.3", "2.3"), ("Needs v2.3", "v2.3", "v2.3"), ("on iOS 17.2 and up", "17.2", "17.2"),
    ("use –force-deletion here", "–force-deletion", "-force-deletion"), ("certified to ISO 27001", "ISO 27001", "iso 27001"),
    ("ISO/IEC 27001:2022", "ISO/IEC 27001:2022", "iso/iec 27001:2022"), ("flight LH 400 leaves", "LH 400", "lh 400"), ("at Gate B12", "B12", "b12"),
    ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
    ("DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00", "de88370400440532013000"),
    ("press Ctrl+Alt+Del", "Ctrl+Alt+Del", "ctrl+alt+del"), ("Strg + Alt + Entf", "Strg + Alt + Entf", "ctrl+alt+del"), ("Cmd-C", "Cmd-C", "cmd+c"),
    ("edit HKLM\\Software\\Foo.", "HKLM\\Software\\Foo", "hklm\\software\\foo"), ("C:\\Windows\\System32", "C:\\Windows\\System32", "c:\\windows\\system32"),
    ("see /etc/hosts.", "/etc/hosts", "/etc/hosts"), ("MAC 00-1A-2B-3C-4D-5E", "00-1A-2B-3C-4D-5E", "00:1a:2b:3c:4d:5e"),
    ("a 5G network", "5G", "5g"), ("a 4K video", "4K", "4k"), ("in 1080p", "1080p", "1080p"), ("3D glasses", "3D", "3d"), ("an MP3 file", "MP3", "mp3"),
    ("the X2 Pro is", "X2 Pro", "x2 pro"), ("the X2 is", "X2", "x2"), ("Covid-19 rules", "Covid-19", "covid-19"), ("error 404", "404", "404"),
    ("tracking 1Z999AA10123456784", "1Z999AA10123456784", "1z999aa10123456784"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "characters", "value"), READ)
def test_read(text: str, characters: str, value: str) -> None:
    """The whole identifier as one claim."""
    assert (characters, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.entity == "code"]


@pytest.mark.parametrize(
    "text",
    ["mid-2024", "a 1st-floor room", "3-in-1 printer", "the top-10", "an 18-year-old", "a 24-hour desk", "60x80cm", "the 1990s", "2nd", "5G of data",
     "8K users", "$5K", "10am-5pm", "2007-2008", "win-win", "alt-right", "and/or", "pre-2020", "either/or", "ISO standard", "flight 5 hours", "Monday",
     "a version for all", "4.5", "under-18s", "12:30", "1,000", "the 8-to-13s"],
)  # fmt: skip
def test_not_read(text: str) -> None:
    """Measures, ages, ordinals, years and plain words are no identifiers."""
    assert [text[f.start : f.end] for f in find(text)] == []


def code(text: str) -> Found:
    """The first identifier of a text."""
    return min(find(text), key=lambda f: (f.start, -f.end))


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("v2.3", "version 2.3", True), ("v2.3", "version 2.3.1", False), ("v2.3", "v2.30", False), ("ISO 27001", "ISO/IEC 27001", True),
        ("ISO 27001", "ISO 27002", False), ("ISO-27001", "ISO 27001", True), ("flight LH 400", "flight LH0400", True), ("flight LH 400", "flight LH 401", False),
        ("Ctrl+Alt+Del", "Strg+Alt+Entf", True), ("Ctrl+Alt+Del", "Ctrl+Del", False), ("X2 Pro", "X2", False), ("WPA-1234", "WPA1234", True),
        ("WPA-1234", "WPA-1235", False), ("--force-deletion", "–force-deletion", True), ("354-01", "354-02", False), ("5G", "4G", False),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00", True), ("DE88 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00", False),
        ("00:1A:2B:3C:4D:5E", "00-1A-2B-3C-4D-5E", True), ("HKLM\\A\\B", "HKLM\\A\\C", False),
    ],
)  # fmt: skip
def test_spellings(one: str, two: str, same: bool) -> None:
    """Two identifiers are one if a spelling of each is the other's."""
    assert bool(set(code(f"use {one} here").forms) & set(code(f"use {two} here").forms)) == same


@pytest.mark.parametrize("value", sorted({v for *_, v in READ}))
def test_spellings_begin_with_the_value(value: str) -> None:
    """The normal form is the first of its spellings, and its own."""
    assert spellings(value)[0] == value
