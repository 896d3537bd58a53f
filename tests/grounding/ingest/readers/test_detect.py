"""What a file is follows from its bytes, whatever it is called."""

from __future__ import annotations

import json

import pytest

from grounding.ingest.readers.detect import detect
from grounding.ingest.readers.extract import Refused
from tests.grounding.ingest.readers import files

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MAIL = b"From: a@example.com\r\nTo: b@example.com\r\nSubject: Hours\r\nDate: Mon, 2 Mar 2026 10:00:00 +0100\r\n\r\nWe open at 9.\r\n"


def _kinds() -> list[tuple[bytes, str]]:
    return [
        (files.pdf(), "application/pdf"),
        (b"\n\n" + files.pdf(), "application/pdf"),
        (files.word(lambda d: d.add_paragraph("Hello")), _WORD),
        (files.excel(lambda b: b.active.append(["a", "b"])), _EXCEL),
        (b"<!DOCTYPE html><title>x</title><p>Hello</p>", "text/html"),
        (b"\xef\xbb\xbf  <!-- note -->\n<HTML><body>Hello</body></HTML>", "text/html"),
        (b"<div><p>One</p><p>Two</p></div>", "text/html"),
        (_MAIL, "message/rfc822"),
        (b"Plan,Price,Data\nBasic,$9.00,50 GB\nPlus,$19.00,100 GB\n", "text/csv"),
        (b"Plan;Preis\nBasic;9,00\nPlus;19,00\n", "text/csv"),
        (b"Plan\tPrice\nBasic\t9\nPlus\t19\n", "text/csv"),
        (json.dumps({"a": [1, 2]}).encode(), "application/json"),
        (b'{"a": 1}\n{"a": 2}\n', "application/jsonl"),
        (b"[a note in brackets]\n\nCall us.\n", "text/plain"),
        (b"{\\rtf1\\ansi hello}", "application/rtf"),
        (b"---\ntitle: Plans\n---\nText.\n", "text/markdown"),
        (b"# Plans\n\nSee [help](https://x.example).\n", "text/markdown"),
        (b"Plans renew each month.\n\nCall us.\n", "text/plain"),
        ("Größe: 5\n".encode("utf-16"), "text/plain"),
        (b"Dear all,\nhello, world\nbye, world\n", "text/plain"),
        (b"Note: this, that\nAnd: more, less\n", "text/plain"),
    ]


@pytest.mark.row("4-23")
@pytest.mark.parametrize("name", ["file", "file.pdf", "file.docx", "file.csv", "file.html", "file.eml"])
@pytest.mark.parametrize(("data", "expected"), _kinds())
def test_content_decides_not_the_extension(data: bytes, expected: str, name: str) -> None:
    assert detect(data, name) == expected


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b" \r\n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\x00" * 50, "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "unsupported"),
        (b'{"plans": [{"name": "Basic"', "corrupt"),
        (b"[" * 5_000 + b"]" * 5_000, "too_large"),
        (bytes(range(256)) * 20, "unsupported"),
        (files.archive({"readme.txt": b"hello"}), "unsupported_zip"),
        (b"PK\x03\x04 cut short", "corrupt"),
        (files.word(lambda d: d.add_paragraph("x"))[:-200], "corrupt"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ],
)
def test_what_is_not_read_says_why(data: bytes, code: str) -> None:
    if code == "unsupported_zip":
        assert detect(data) == "application/zip"
        return
    with pytest.raises(Refused) as refusal:
        detect(data, "x.pdf")
    assert refusal.value.code == code


def test_a_bomb_is_refused_before_it_is_opened() -> None:
    bomb = files.archive({"word/document.xml": b"\x00" * 40_000_000})
    assert len(bomb) < 100_000
    with pytest.raises(Refused) as refusal:
        detect(bomb)
    assert refusal.value.code == "too_large"


def test_a_page_that_begins_with_many_comments_is_told_at_once() -> None:
    """A pattern that backtracks over comments would take longer than the test run."""
    assert detect(b"<!-- a --> " * 20_000 + b"hello") == "text/plain"
    assert detect(b"<!-- a --> " * 20_000 + b"<html>hello") == "text/html"


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(Refused) as refusal:
        detect(files.archive({f"xl/{i}.xml": b"" for i in range(20_001)}))
    assert refusal.value.code == "too_large"
