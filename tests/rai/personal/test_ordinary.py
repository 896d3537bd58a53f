"""Freephone numbers, mailboxes of roles, addresses inside a network and codes of articles stay; what is somebody's does not."""

from __future__ import annotations

import pytest

from rai.personal.redact import MASK, Redactor

REDACTOR = Redactor()


@pytest.mark.parametrize(
    "text",
    [
        "our hotline 0800 765 4321 is busy",
        "call 1-800-555-0199 or +1 (888) 555-0142",
        "dial 900 123 456 for the service line",
        "mail support@halden.example or Help@halden.example",
        "write to kundenservice@halden.example",
        "the gateway is 192.168.1.1, the mask 255.255.255.0",
        "listen on 127.0.0.1 and 0.0.0.0",
        "is build 10.4.7.210 out?",
        "EAN 4006381333931 is sold out",
        '{"sku": "4411-2093-7710-5528", "ean": "5901234123457"}',
        "does the Mr. Otter 40 fit the Mr. Otter 30?",
    ],
)
def test_what_is_nobodys_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("call me on 0161 496 0123 please", "0161 496 0123"),
        ("her mail is info.berg@halden.example", "info.berg@halden.example"),
        ("the vpn shows me as 10.44.8.19", "10.44.8.19"),
        ("blocked from 10.12.129.54 again", "10.12.129.54"),
        ("blocked from 81.164.23.17 again", "81.164.23.17"),
        ("order 4006381333931 is late", "4006381333931"),
        ("ask Mr. Otter 40 times", "Otter"),
    ],
)
def test_what_is_somebodys_goes(text: str, secret: str) -> None:
    assert REDACTOR.redact(text) == text.replace(secret, MASK * len(secret))
