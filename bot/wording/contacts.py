"""Contacts that nobody answers for, and whose they are: in the same words on every surface, in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from bot.wording.values import joined, value_spans
from grounding.evidence.web import site_of
from grounding.records import Passage, Trust
from rai.records import Claim


def whose(trust: Trust | None, language: str = FALLBACK) -> str:
    """A few words beside a contact: whose word it is. Empty where somebody answers for it."""
    return EvidenceWords(language)(trust) if trust in ("inbound", "ordinary") else ""


def source_tag(trust: Trust | None, language: str = FALLBACK) -> str:
    """A few words beside a document of the knowledge base that came in from outside, as an e-mail does; else empty."""
    return EvidenceWords(language)("outside") if trust == "inbound" else ""


def unvouched_spans(text: str, unvouched: Iterable[str]) -> set[tuple[int, int]]:
    """Where contacts that nobody answers for stand in `text`, each as a whole: `contoso.com` does not stand in `https://contoso.com/help`, if it stands by itself as well."""
    values, found = value_spans(text), set[tuple[int, int]]()
    for contact in dict.fromkeys(unvouched):
        whole = {span for span in values if text[slice(*span)] == contact}
        found |= whole
        for match in re.finditer(rf"(?<!\w){re.escape(contact)}(?!\w)", text, re.ASCII):
            start, end = match.span()
            around = [span for span in values if span[0] < end and start < span[1]]
            if not (around and whole):  # by itself nowhere: then what it is within is marked
                found.update(joined([(start, end), *around]))
    return found


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
