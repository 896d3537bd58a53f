"""Whose word the contacts of an answer are: a telephone number, link, e-mail or postal address that only a source from outside has, or one document alone.

What a planted sentence wants is that somebody calls, writes or clicks. The check finds such a contact *supported*, for it stands in a source; so beside the
check stands the question of which source that is. Nothing here condemns a claim: it is marked, with whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grounding.records import Passage, Trust
from grounding.tables import table, word_set
from grounding.text import fold, sentences, terms
from rai.check.comparison.contacts import agree
from rai.claims.contacts.links import parse
from rai.claims.contacts.phones import REGIONS
from rai.claims.contacts.regions import regions_of
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, SUPPORTED, Claim, EvidenceSpan

ALONE = 2
"""Documents that must have a contact, none of them from outside, for it to go unmarked where no official source has it."""
SAME_THING = 0.5
"""Share of the words around two contacts, of the fewer, from which they are taken to be for the same thing."""
_NO_ROLE = frozenset(
    term for line in word_set(table(__file__)["no_role"].values()) for term in terms(line)
)  # words that say that there is a contact, and nothing of what it is for
_DIGITS = re.compile(r"\D")
_ACCOUNT = re.compile(
    r"[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?|\d{2}(?: ?\d{4}){6}|@[a-z][\w.]+|[a-z][\w.]+#\d{4}|live:[\w.]+",
    re.IGNORECASE,
)
"""A bank account to pay to (IBAN, ISO 13616), and a name in a messenger."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A passage that has a contact, and where: `passage.text[start:end]`, or of its title."""

    passage: Passage
    span: EvidenceSpan


def is_contact(found: Claim | Found) -> bool:
    """Whether a value leads somewhere: a telephone number, link, e-mail or postal address, a name in a messenger, a bank account."""
    if found.entity == "code" and found.value is not None:
        return _ACCOUNT.fullmatch(found.value) is not None
    return found.kind in CONTACT_KINDS or found.entity == "address"


def unvouched(
    text: str, claims: Sequence[Claim], passages: Sequence[Passage], regions: tuple[str, ...] = REGIONS
) -> tuple[Claim, ...]:
    """`claims` of the answer `text`, each contact among them that nobody answers for with its `trust`, and with what an official passage gives `instead`.

    A contact is answered for where an official passage has it, or two documents that did not come from outside. What the person said
    themselves is theirs. `regions`: those in which telephone numbers are read, beside those that the passages speak of.
    """
    if not any(map(_is_asked, claims)):
        return tuple(claims)
    told = regions_of([text, *(f"{p.title}\n{p.text}" for p in passages)], regions)
    every = tuple(dict.fromkeys((*told, *regions)))
    return tuple(_read(text, c, passages, every) if _is_asked(c) else c for c in claims)


def _is_asked(claim: Claim) -> bool:
    return is_contact(claim) and claim.status in SUPPORTED and claim.status != "given"


def _read(text: str, claim: Claim, passages: Sequence[Passage], regions: tuple[str, ...]) -> Claim:
    mine = next((f for f in find_values(text, regions) if f.start < claim.end and claim.start < f.end), None)
    if mine is None or not is_contact(mine):
        # read otherwise than the check read it: only its very characters tell who answers for it
        return replace(claim, trust=None if _is_said_officially(claim.text, passages) else "ordinary")
    known = holders(text[mine.start : mine.end], mine, passages, regions)
    if is_vouched(known):
        return replace(claim, trust=None)
    trust: Trust = "ordinary" if any(h.passage.trust == "ordinary" for h in known) else "inbound"
    better = official_instead(text, mine, known, passages, regions)
    return replace(claim, trust=trust, instead=better.span if better else claim.instead)


def _is_said_officially(written: str, passages: Iterable[Passage]) -> bool:
    whole = re.compile(rf"(?<!\w){re.escape(written)}(?!\w)")
    return any(p.trust == "official" and bool(whole.search(f"{p.title}\n{p.text}")) for p in passages)


def is_vouched(known: Iterable[Holder]) -> bool:
    """Whether somebody answers for a contact that these passages have."""
    kept = list(known)
    documents = {h.passage.doc_id for h in kept if h.passage.trust != "inbound"}
    return any(h.passage.trust == "official" for h in kept) or len(documents) >= ALONE


def holders(
    written: str, contact: Found, passages: Iterable[Passage], regions: tuple[str, ...] = REGIONS
) -> list[Holder]:
    """The passages that have `contact`, which an answer gives as `written`."""
    sign = _sign(written, contact)
    found = []
    for passage in passages:
        for field, text in (("text", passage.text), ("title", passage.title)):
            if not _may_hold(text, sign):
                continue
            for other in find_values(text, regions):
                if agree(contact, other, _line(text, other)) is not None:
                    span = EvidenceSpan(passage.chunk_id, field, other.start, other.end, text[other.start : other.end])  # type: ignore[arg-type]
                    found.append(Holder(passage, span))
                    break
    return found


def _sign(written: str, contact: Found) -> str:
    """What every way to write the contact has in it: the last digits of a telephone number, else a host or the longest word."""
    if contact.kind == "phone":
        return _DIGITS.sub("", written)[-3:]
    if contact.kind == "email":
        return fold(contact.value.rpartition("@")[2])
    if contact.kind == "url":
        address = parse(contact.value)
        return fold(address.host if address else contact.value)
    return max(fold(written).split(), key=len, default="")


def _may_hold(text: str, sign: str) -> bool:
    return sign in (_DIGITS.sub("", text) if sign.isdigit() else fold(text))


def official_instead(
    text: str, mine: Found, known: Sequence[Holder], passages: Iterable[Passage], regions: tuple[str, ...] = REGIONS
) -> Holder | None:
    """The one contact of the same kind that official passages give for the same thing; None where there is none, or more than one."""
    title = " ".join(h.passage.title for h in known[:1])
    about = _about(f"{_sentence(text, mine)}\n{title}")
    best: dict[str, Holder] = {}
    for passage in passages:
        if passage.trust != "official":
            continue
        for other in find_values(passage.text, regions):
            if (other.kind, other.entity) != (mine.kind, mine.entity) or other.value in best:
                continue
            theirs = _about(f"{_sentence(passage.text, other)}\n{passage.title}")
            if about and theirs and len(about & theirs) >= SAME_THING * min(len(about), len(theirs)):
                written = passage.text[other.start : other.end]
                best[other.value] = Holder(
                    passage, EvidenceSpan(passage.chunk_id, "text", other.start, other.end, written)
                )
    return next(iter(best.values())) if len(best) == 1 else None


def _about(text: str) -> frozenset[str]:
    return frozenset(t for t in terms(text) if not any(c.isdigit() for c in t)) - _NO_ROLE


def _sentence(text: str, found: Found) -> str:
    """The sentence around a contact, without the contact."""
    for span in sentences(text):
        if span.start <= found.start and found.end <= span.end:
            return text[span.start : found.start] + " " + text[found.end : span.end]
    return ""


def _line(text: str, found: Found) -> str:
    start = text.rfind("\n", 0, found.start) + 1
    end = text.find("\n", found.end)
    return text[start : end if end >= 0 else len(text)]
