"""The forms of the desk: which fields came, of whose session, and whether a decision is one of those allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiohttp import web

from bot.http.errors import Refused
from bot.records import Actor
from bot.review.door import session_of
from bot.review.session import Session, admits_form, named
from bot.turn.entries.disputes import WORDS_MAX


async def own_form(request: web.Request, session: Session) -> Mapping[str, str]:
    """The fields of a form that a page of this session sent. Raises Refused for any other."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Refused(415, "unsupported_media_type", "Content-Type must be application/x-www-form-urlencoded")
    fields = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    if not admits_form(session, fields.get("form", "")):
        raise Refused(403, "form", "This form is of another session. Open the page again.", title="Not from here")
    return fields


async def decision_form(request: web.Request, allowed: Sequence[str]) -> tuple[str, str, Mapping[str, str], Actor]:
    """Decision, note and all fields that a reviewer sent, and who that is. Raises Refused for a form that is not of this session or not to be understood."""
    session = session_of(request)
    fields = await own_form(request, session)
    decision, note = fields.get("decision", ""), fields.get("note", "")
    if decision not in allowed:
        raise Refused(400, "decision", f"decision must be one of {', '.join(allowed)}")
    if len(note) > WORDS_MAX:
        raise Refused(400, "note", f"The note has {len(note)} characters; allowed: at most {WORDS_MAX}")
    return decision, note, fields, named(session)
