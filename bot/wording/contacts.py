"""Contacts that nobody answers for, and whose they are: in the same words on every surface, in the language of the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from grounding.evidence.web import site_of
from grounding.records import Passage, Trust
from rai.records import Claim

SIGN = "(⚠)"
"""What stands behind a contact that nobody answers for, in a text that can be pasted."""


def whose(trust: Trust | None, language: str = FALLBACK) -> str:
    """A few words beside a contact: whose word it is. Empty where somebody answers for it."""
    return EvidenceWords(language)(trust) if trust in ("inbound", "ordinary") else ""


def source_tag(trust: Trust | None, language: str = FALLBACK) -> str:
    """A few words beside a document of the knowledge base that came in from outside, as an e-mail does; else empty."""
    return EvidenceWords(language)("outside") if trust == "inbound" else ""


def with_marks(text: str, unvouched: Iterable[str]) -> str:
    """`text`, as it is copied for a customer, with a sign behind each contact that nobody answers for."""
    for contact in sorted(dict.fromkeys(unvouched), key=len, reverse=True):
        text = text.replace(contact, f"{contact} {SIGN}")
    return text


def contact_notice(
    claims: Iterable[Claim], held: Mapping[str, tuple[int, Passage]], language: str = FALLBACK
) -> str | None:
    """The line under an answer with contacts that nobody answers for: each, whose it is, and what an official source gives. None where there is none.

    `held`: number and passage of each piece of evidence, by its chunk.
    """
    w = EvidenceWords(language)
    told = dict.fromkeys(_told(claim, held, w) for claim in claims if claim.trust is not None)
    return f"{w('look_first')}: {'; '.join(told)}" if told else None


def _told(claim: Claim, held: Mapping[str, tuple[int, Passage]], w: EvidenceWords) -> str:
    places = [held[e.source] for e in claim.evidence if e.source in held]
    n, passage = places[0] if places else (0, None)
    name = (
        ""
        if passage is None
        else (site_of(passage.url) if passage.origin == "web" else passage.title) or passage.doc_id
    )
    source = f"[{n}] {name}, " if passage is not None else ""
    official = f"; {w('official', value=claim.instead.text)}" if claim.instead is not None else ""
    return f"{claim.text} ({source}{whose(claim.trust, w.language)}{official})"
