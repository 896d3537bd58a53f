"""Reader of e-mail messages: the subject is the title, the plain part is the text; attachments are read as files of their own.

An attachment stands under the locator "attachment NAME". A message within the message is read like one, and its attachments too, down to
`MAX_DEPTH`.
"""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime
from typing import Any, cast

from grounding.ingest.readers import content_types
from grounding.ingest.readers.archive import damage_refused
from grounding.ingest.readers.detect import detect
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.read import reader_of
from grounding.ingest.readers.texts.encoding import decode
from grounding.ingest.readers.texts.plain import paragraphs
from grounding.ingest.readers.texts.web_page import write_html

CONTENT_TYPE = content_types.MAIL
MAX_DEPTH = 3
MAX_ATTACHMENTS = 50

_LOCKED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_SHOWN_HEADERS = ("from", "date", "subject")


@dataclass(slots=True)
class _Budget:
    """Number of attachments that may still be read, those of inner messages counted."""

    left: int = MAX_ATTACHMENTS


def read_mail(data: bytes, name: str) -> Extract:
    """Extract of a message; `meta["updated"]` is its date. Raises Refused.

    An attachment that cannot be read is named with the code of its refusal and does not keep the message out.
    """
    with damage_refused("an e-mail"):
        try:
            message = _parsed(data)
            writer = Writer()
            _message(message, writer, 0, _Budget())
            return writer.extract(one_line(_header(message, "subject")) or name, CONTENT_TYPE, _dated(message))
        except RecursionError:
            raise Refused("too_large", "an e-mail whose parts are nested too deep") from None


def _parsed(data: bytes) -> EmailMessage:
    return email.message_from_bytes(data, policy=email.policy.default)


def _message(message: EmailMessage, writer: Writer, depth: int, budget: _Budget) -> None:
    """Write body and attachments. Raises Refused `encrypted`."""
    if message.get_content_type() in _LOCKED:
        raise Refused("encrypted", "an encrypted e-mail; save it decrypted")
    body = message.get_body(preferencelist=("plain", "html"))
    attached: list[EmailMessage] = []
    for leaf, alternative in _leaves(message):
        if leaf is body or (_is_text(leaf) and not leaf.get_filename() and not alternative):
            _write_text(leaf, writer)
        elif leaf.get_filename() or leaf.get_content_type() == CONTENT_TYPE or leaf is message:
            attached.append(leaf)
    _attachments(attached, writer, depth, budget)


def _leaves(message: EmailMessage) -> Iterator[tuple[EmailMessage, bool]]:
    """Parts that hold no others, in order, and whether each is one of several forms of the same text."""
    waiting: list[tuple[Any, bool]] = [(message, False)]
    while waiting:
        part, alternative = waiting.pop()
        kind = part.get_content_type()
        if not part.is_multipart() or kind == CONTENT_TYPE:
            if kind not in _SIGNATURES:
                yield part, alternative
            continue
        alternative = alternative or kind == "multipart/alternative"
        waiting += [(inner, alternative) for inner in reversed(part.get_payload()) if isinstance(inner, Message)]


def _is_text(part: EmailMessage) -> bool:
    return part.get_content_type() in ("text/plain", "text/html")


def _write_text(part: EmailMessage, writer: Writer) -> None:
    text = _text(part)
    if part.get_content_type() == "text/html":
        write_html(text, writer)
        return
    for paragraph in paragraphs(text):
        writer.block(paragraph)


def _attachments(parts: list[EmailMessage], writer: Writer, depth: int, budget: _Budget) -> None:
    """Write the names of all attachments, then those that can be read."""
    listed, found = [], []
    for number, part in enumerate(parts, 1):
        name = _name(part) or f"{number}"
        try:
            found.append((name, _attachment(part, name, depth, budget)))
            listed.append(name)
        except Refused as refusal:
            listed.append(name if refusal.code == "unsupported" else f"{name} (not read: {refusal.code})")
    if listed:
        writer.block(f"Attachments: {', '.join(listed)}")
    for name, extract in found:
        writer.include(extract, f"attachment {name}")


def _name(part: EmailMessage) -> str:
    own = one_line(part.get_filename() or "")
    if own or part.get_content_type() != CONTENT_TYPE:
        return own
    inner = part.get_payload()
    return one_line(_header(cast(EmailMessage, inner[0]), "subject")) if isinstance(inner, list) and inner else ""


def _attachment(part: EmailMessage, name: str, depth: int, budget: _Budget) -> Extract:
    """Extract of one attachment. Raises Refused, also when it lies too deep or is one too many."""
    if depth >= MAX_DEPTH or budget.left <= 0:
        raise Refused("too_large", "too many attachments, or one within another too often")
    budget.left -= 1
    inner = part.get_payload()
    if isinstance(inner, list):
        if not inner:
            raise Refused("empty", "an empty message")
        return _inner(cast(EmailMessage, inner[0]), depth, budget)
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        raise Refused("corrupt", "an attachment that cannot be decoded")
    kind = detect(data, name)
    if kind == CONTENT_TYPE:
        return _inner(_parsed(data), depth, budget)
    if kind == "application/zip":
        raise Refused("unsupported", "a ZIP archive")
    return reader_of(kind)(data, name)


def _inner(message: EmailMessage, depth: int, budget: _Budget) -> Extract:
    """Extract of a message within a message, its sender, date and subject as its first lines."""
    writer = Writer()
    headers = ((name.title(), one_line(_header(message, name))) for name in _SHOWN_HEADERS)
    writer.lines([f"{name}: {value}" for name, value in headers if value])
    _message(message, writer, depth + 1, budget)
    return writer.extract("", CONTENT_TYPE)


def _text(part: EmailMessage) -> str:
    try:
        text = str(part.get_content())
    except (LookupError, ValueError, KeyError):  # a charset that nobody knows
        text = "\ufffd"
    if "\ufffd" not in text:
        return text
    payload = part.get_payload(decode=True)
    return decode(payload) if isinstance(payload, bytes) else text


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except (ValueError, IndexError, AttributeError, TypeError, KeyError):  # the library trips over some broken headers
        return ""


def _dated(message: EmailMessage) -> dict[str, Any]:
    try:
        return {"updated": parsedate_to_datetime(_header(message, "date")).isoformat()}
    except (TypeError, ValueError, OverflowError, IndexError):
        return {}
