"""Selection of the evidence: kept passages, without repetition, numbered for the prompt, within a budget of number and tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from grounding.evidence.overlap import apart
from grounding.policy import Policy
from grounding.records import Evidence, Grade, Passage, Span, WebResult
from grounding.text import terms
from grounding.tokens import count_tokens


def web_passage(result: WebResult, place: int) -> Passage:
    """A web result as a passage with an id and origin of its own. `place` counts from 0; its score falls by a tenth each."""
    digest = hashlib.sha256(f"{result.url}\x00{result.snippet}".encode()).hexdigest()[:24]
    return Passage(
        chunk_id=digest,
        doc_id=result.url,
        title=result.title,
        text=result.snippet,
        url=result.url,
        origin="web",
        score=max(0.1, 1 - place / 10),
        tokens=count_tokens(result.snippet),
        updated=result.published.isoformat() if result.published else None,
        tier=result.tier,
        trust="ordinary" if result.tier == "trusted" else "inbound",
    )


SAME_TITLE = 0.3
"""Share of title terms (Jaccard) from which two documents are taken to be about the same thing."""


_RETIRED = re.compile(
    r"\b(?:old|outdated|obsolete|superseded|expired|withdrawn|archived?|no longer valid|not valid|veraltet|abgelaufen|ungültig|périmée?|ancienne?)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:(?:replaced|superseded) by|(?:ersetzt|abgelöst) durch|remplacée?s? par|sustituid[oa]s? por|substituíd[oa]s? por|sostituit[oaie] da|vervangen door|"
    r"zastąpion\w+ przez)\b",
    re.IGNORECASE,
)
_REPLACING = re.compile(r"\b(?:replaces|supersedes|instead of|ersetzt|remplace)\b", re.IGNORECASE)
_OLD = r"(?:archived?|archives|archiv|old|obsolete|superseded|outdated|retired|alt|veraltet)"
_ARCHIVED = re.compile(rf"(?:(?<=/)|^){_OLD}/|[_-]{_OLD}(?=\.\w+$)", re.IGNORECASE)
"""A folder of documents that no longer hold, or the end of a file's name."""
_LOOSE_SIGNS = re.compile(r"[-_ ]+(?=[./]|$)|(?<=/)[-_ ]+")
"""What stood beside a year in a name."""
_YEAR = re.compile(r"(?<![^\W_])(?:19|20)\d\d(?![^\W_])")


def superseded(passages: Sequence[Passage]) -> dict[str, Passage]:
    """Ids of passages that a newer document of much the same title, also among `passages`, makes out of date, each with the passage of the
    newer one.

    Newer is what its date says; without two dates, what the titles say: one calls itself old, or names an earlier year.
    """
    out: dict[str, Passage] = {}
    for old in passages:
        for new in passages:
            if old.doc_id != new.doc_id and _is_older(old, new):
                mine, theirs = _title_terms(old.title), _title_terms(new.title)
                alike = bool(mine) and len(mine & theirs) >= SAME_TITLE * len(mine | theirs)
                if _of_one_series(old, new) or (alike and _models(mine) == _models(theirs)):
                    out[old.chunk_id] = new
    return out


def retired(passages: Sequence[Passage]) -> dict[str, frozenset[str]]:
    """Ids of passages of an edition that another one among `passages` has replaced, each with the documents that did: it calls itself old, or has the
    same title with an earlier year.

    Fewer than `superseded`: what these say is not to be quoted beside the newer edition.
    """
    out: dict[str, frozenset[str]] = {}
    for old in passages:
        newer = frozenset(
            new.doc_id
            for new in passages
            if old.doc_id != new.doc_id and _is_older(old, new) and _same_but_age(old, new)
        )
        if newer:
            out[old.chunk_id] = newer
    return out


def _same_but_age(old: Passage, new: Passage) -> bool:
    mine, theirs = _title_terms(old.title), _title_terms(new.title)
    if _of_one_series(old, new):
        return True
    if _is_retired(old):
        return bool(mine) and len(mine & theirs) >= SAME_TITLE * len(mine | theirs)
    years = _YEAR.findall(old.title)
    if not years or not mine:
        return False
    dated = bool(new.updated) and not _YEAR.search(new.title) and max(years) < str(new.updated)[:4]
    return mine == theirs or (dated and len(mine & theirs) >= SAME_TITLE * len(mine | theirs))


def _is_older(one: Passage, other: Passage) -> bool:
    if _is_retired(one) != _is_retired(other):
        return _is_retired(one)
    if _of_one_series(one, other):  # a file may have been copied or mended at any time
        return _series(one.doc_id)[0] < _series(other.doc_id)[0]
    if one.updated and other.updated and one.updated[:10] != other.updated[:10]:
        return one.updated[:10] < other.updated[:10]
    mine, theirs = _YEAR.findall(one.title), _YEAR.findall(other.title)
    return bool(mine and theirs) and max(mine) < max(theirs)


def _of_one_series(one: Passage, other: Passage) -> bool:
    """True for documents whose names are the same but for the year, or for the archive that one of them lies in: `prices-2026.csv` and `archive/prices-2025.csv`."""
    (mine, name), (theirs, other_name) = _series(one.doc_id), _series(other.doc_id)
    return name == other_name and (
        (bool(mine and theirs) and mine != theirs) or _archived(one.doc_id) != _archived(other.doc_id)
    )


@lru_cache(maxsize=4096)
def _series(doc_id: str) -> tuple[tuple[str, ...], str]:
    """The years in the name of a document, and its name without them and without an archive's folder or ending."""
    return tuple(_YEAR.findall(doc_id)), _LOOSE_SIGNS.sub("", _YEAR.sub("", _ARCHIVED.sub("", doc_id)))


def _is_retired(passage: Passage) -> bool:
    """Whether a document calls itself old, by its title or by the folder that it lies in."""
    return _retired(passage.title) or _archived(passage.doc_id)


@lru_cache(maxsize=4096)
def _archived(doc_id: str) -> bool:
    return _ARCHIVED.search(doc_id) is not None


@lru_cache(maxsize=4096)
def _retired(title: str) -> bool:
    """True for a title that calls its document old; one that says what it replaces does not."""
    return bool(_REPLACED.search(title) or _RETIRED.search(_REPLACING.split(title)[0]))


def _models(title: frozenset[str]) -> frozenset[str]:
    """Models and codes in a title: the page of a Wren X2 does not replace that of a Wren X1."""
    return frozenset(t for t in title if any(c.isdigit() for c in t))


@lru_cache(maxsize=4096)
def _title_terms(title: str) -> frozenset[str]:
    """Terms of a title without numbers and without what it says of its age, and by what it was replaced."""
    told = _REPLACED.split(title)[0].strip() or title
    return frozenset(t for t in terms(_RETIRED.sub(" ", told)) if not t.isdigit())


def extracted(passages: Sequence[Passage], grades: Iterable[Grade]) -> list[Passage]:
    """Each passage cut to what its grade extracted (requirement 1-06), under its own id; one without an extract stays whole."""
    extracts = {g.chunk_id: g.extract for g in grades if g.extract is not None}
    return [_cut(p, extracts[p.chunk_id]) if p.chunk_id in extracts else p for p in passages]


def _cut(passage: Passage, extract: Span) -> Passage:
    return replace(passage, text=extract.text, start=passage.start + extract.start, tokens=count_tokens(extract.text))


def choose(passages: Sequence[Passage], scores: Mapping[str, float], policy: Policy) -> tuple[Evidence, ...]:
    """Number `passages` 1, 2, … in the order given; equal texts of one document once, and equal sentences where chunks overlap.

    The first passage always enters; a later one that would break `evidence_tokens` is left out.
    """
    chosen: list[Passage] = []
    spent = 0
    said: set[tuple[str, str]] = set()
    for passage in passages:
        if len(chosen) == policy.evidence_k:
            break
        tokens = passage.tokens or count_tokens(passage.text)
        if (passage.doc_id, passage.text) in said or (chosen and spent + tokens > policy.evidence_tokens):
            continue
        said.add((passage.doc_id, passage.text))
        chosen.append(passage)
        spent += tokens
    return tuple(Evidence(n, p, scores.get(p.chunk_id, 0.0)) for n, p in enumerate(apart(chosen), 1))
