"""E-mail messages: the subject is the title, the plain part is the text, attachments are named and left closed."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any

from grounding.readers.extract import Extract, Refused, Writer, one_line
from grounding.readers.plain import decode, paragraphs
from grounding.readers.web_page import read_html

CONTENT_TYPE = "message/rfc822"

_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]{1,60}):[ \t]?(.*)$")
_TELLING = frozenset(
    [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "received",
        "message-id",
        "mime-version",
        "return-path",
        "delivered-to",
        "reply-to",
        "content-type",
        "x-mailer",
    ]
)


def looks_like_mail(text: str) -> bool:
    """True if `text` begins with a block of mail headers: From and two others that mail has, then a blank line."""
    names: set[str] = set()
    for line in text.lstrip("\ufeff")[:65_536].splitlines():
        header = _HEADER.match(line)
        if header is not None:
            names.add(header.group(1).lower())
        elif not line.strip():
            break
        elif not line.startswith((" ", "\t") if names else "From "):
            return False
    return "from" in names and len(names & _TELLING) >= 3


def read_mail(data: bytes, name: str) -> Extract:
    """Extract of a message; `meta["updated"]` is its date. Raises Refused."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if message.get_content_type() in ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"):
        raise Refused("encrypted", "an encrypted e-mail; save it decrypted")
    writer = Writer()
    body = message.get_body(preferencelist=("plain", "html"))
    extract = None
    if isinstance(body, EmailMessage):
        text = _text(body)
        if body.get_content_type() == "text/html":
            extract = read_html(text, name) if text.strip() else None
        else:
            for part in paragraphs(text):
                writer.block(part)
    names = [one_line(part.get_filename() or "") for part in message.iter_attachments()]
    return _finish(message, writer, extract, [n for n in names if n], name)


def _finish(message: EmailMessage, writer: Writer, html: Extract | None, attachments: list[str], name: str) -> Extract:
    if html is not None:
        writer.block(html.text)
    if attachments:
        writer.block(f"Attachments: {', '.join(attachments)}")
    subject = one_line(_header(message, "subject"))
    extract = writer.extract(subject or name, CONTENT_TYPE, _dated(message))
    return Extract(extract.title, extract.text, CONTENT_TYPE, html.locators if html else (), extract.meta)


def _text(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):  # a charset that nobody knows
        payload = part.get_payload(decode=True)
        return decode(payload) if isinstance(payload, bytes) else ""


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except (ValueError, IndexError, AttributeError):  # the standard library trips over some broken headers
        return ""


def _dated(message: EmailMessage) -> dict[str, Any]:
    try:
        return {"updated": parsedate_to_datetime(_header(message, "date")).isoformat()}
    except (TypeError, ValueError):
        return {}
