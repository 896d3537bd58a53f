"""Claims in the contract's JSON form as records, for views of what was checked before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from grounding.errors import InputError
from grounding.records import Trust
from rai.records import Claim, EntityType, EvidenceSpan, Kind, Status

_KINDS, _STATUSES, _ENTITIES = get_args(Kind), get_args(Status), get_args(EntityType)


def parse_claims(value: Any, name: str) -> tuple[Claim, ...]:
    """`value` as claims; fields that the form does not have are let be. Raises InputError, which names the claim."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} must be a list of claims")
    return tuple(_claim(item, f"{name}[{i}]") for i, item in enumerate(value))


def _claim(item: Any, where: str) -> Claim:
    try:
        instead = item.get("instead")
        made = Claim(
            kind=item["kind"],
            text=item["text"],
            start=item["start"],
            end=item["end"],
            value=item.get("value"),
            entity=item.get("entity"),
            status=item["status"],
            evidence=tuple(_span(span) for span in item.get("evidence") or ()),
            why=item.get("why") or "",
            instead=None if instead is None else _span(instead),
            rule=_text(item.get("rule")),
            formula=_text(item.get("formula")),
            p=_share(item.get("p")),
            struck=item.get("struck") if isinstance(item.get("struck"), bool) else None,
            trust=next((t for t in get_args(Trust) if t == item.get("trust")), None),
        )
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{where} is not in the form of a claim") from None
    known = made.kind in _KINDS and made.status in _STATUSES and (made.entity is None or made.entity in _ENTITIES)
    texts = (made.text, made.value or "", made.why, *(x for s in made.evidence for x in (s.source, s.field, s.text)))
    if (
        not known
        or type(made.start) is not int
        or type(made.end) is not int
        or not all(isinstance(t, str) for t in texts)
    ):
        raise InputError(f"{where} is not in the form of a claim")
    return made


def _span(item: Mapping[str, Any]) -> EvidenceSpan:
    start, end = item["start"], item["end"]
    if type(start) is not int or type(end) is not int:
        raise TypeError
    return EvidenceSpan(item["source"], item.get("field", "text"), start, end, item["text"])


def _text(item: Any) -> str | None:
    if item is not None and not isinstance(item, str):
        raise TypeError
    return item


def _share(item: Any) -> float | None:
    if item is None:
        return None
    if isinstance(item, bool) or not isinstance(item, int | float) or not 0 <= item <= 1:
        raise TypeError
    return float(item)
