"""The rows of the table of phenomena, read from the YAML files beside this module, and what each of them expects.

A file is a list of rows; its name is the kind of its rows unless a row says otherwise. A row:

    id          unique, a few words with hyphens
    answer      the text that is checked
    source      one source, or `sources`: a list of texts or of {id, title, text, updated}; `title`: that of the one source
    question, given, tags (text and entity type, as a tagger would give them): optional
    claim       the characters of the answer to look at, their first occurrence; absent: the whole answer
    kind        a kind, or the kinds that are all right; `entity`: its type, where that matters
    status      a status, or those that are all right, or one of the words below
    evidence    the characters that have to be among the evidence, or a list of them
    at          a snippet of a source in which one piece of evidence has to lie
    why         a word that the reason has to contain
    repaired    the text the repair has to give, a list of those that are all right, or {has: [...], lacks: [...]}
    near_miss   what looks alike and must come out otherwise: fields that differ from the row's, `status` always

Words for a status: `ok` supported in any way; `same` exact or normalised; `flagged` never delivered whatever the kind;
`held` flagged, or an open contact or amount; `silent` nothing of the answer there is held, found as a claim or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rai.records import Claim, EntityType, Source

HERE = Path(__file__).parent
SUPPORTED = frozenset({"exact", "normalised", "rounded", "derived", "given", "entailed"})
STATUSES = SUPPORTED | {"conflict", "wrong_role", "lookalike", "absent", "contradicted", "unchecked"}
WORDS = {
    "ok": SUPPORTED,
    "same": frozenset({"exact", "normalised"}),
    "flagged": frozenset({"wrong_role", "lookalike", "contradicted", "absent"}),
}
FIELDS = frozenset(
    "id answer source sources title question given tags claim kind entity status evidence at why repaired near_miss".split()
)
_DEFAULT_KINDS = dict.fromkeys(("person", "organisation", "product", "code", "address"), "entity")


@dataclass(frozen=True, slots=True)
class Case:
    """One answer with its sources and what has to come out; a row gives one, its near miss another."""

    name: str
    file: str
    answer: str
    sources: tuple[Source, ...]
    question: str | None
    given: tuple[str, ...]
    tags: tuple[tuple[int, int, EntityType], ...]
    start: int
    end: int
    kinds: tuple[str, ...]
    entity: str | None
    expected: tuple[str, ...]
    evidence: tuple[str, ...]
    at: str | None
    why: str | None
    repaired: Any

    @property
    def statuses(self) -> frozenset[str]:
        """The statuses that are all right, words resolved; empty if only `held` or `silent` is asked for."""
        return frozenset().union(*(WORDS.get(e, frozenset({e}) & STATUSES) for e in self.expected))

    def met_by(self, claim: Claim) -> bool:
        """True if the status of `claim` is among those expected."""
        return claim.status in self.statuses or ("held" in self.expected and claim.unsupported)


def cases(folder: Path = HERE) -> list[Case]:
    """Every row and near miss of the YAML files in `folder`. Raises ValueError naming the row that is malformed."""
    return [case for path in sorted(folder.glob("*.yaml")) for case in read(path.stem, path.read_text("utf-8"))]


def read(name: str, text: str) -> list[Case]:
    """The cases of one file, whose stem is `name`."""
    found = []
    for row in yaml.load(text, Loader=yaml.CSafeLoader) or []:
        found.append(_case(name, row["id"], row))
        near = row.get("near_miss")
        if not near or "status" not in near:
            raise ValueError(f"{name}.yaml, {row['id']}: a near miss with its status is missing")
        found.append(_case(name, f"{row['id']}~near", _nearly(row, near)))
    return found


def _nearly(row: dict[str, Any], near: dict[str, Any]) -> dict[str, Any]:
    """The near miss as a row of its own: what it does not name stays; what was expected of the row does not."""
    left = {k: v for k, v in row.items() if k not in ("evidence", "at", "why", "repaired")}
    if "source" in near or "sources" in near:
        left.pop("source", None)
        left.pop("sources", None)
    return left | near


def _case(file: str, name: str, row: dict[str, Any]) -> Case:
    unknown = set(row) - FIELDS
    if unknown:
        raise ValueError(f"{file}.yaml, {name}: unknown fields {sorted(unknown)}")
    answer = row["answer"]
    start, end = _span(file, name, answer, row.get("claim"))
    case = Case(
        name=name,
        file=file,
        answer=answer,
        sources=_sources(row),
        question=row.get("question"),
        given=tuple(_list(row.get("given"))),
        tags=tuple((*_span(file, name, answer, t), kind) for t, kind in (row.get("tags") or {}).items()),
        start=start,
        end=end,
        kinds=tuple(_list(row.get("kind") or _DEFAULT_KINDS.get(file, file))),
        entity=row.get("entity"),
        expected=tuple(_list(row["status"])),
        evidence=tuple(_list(row.get("evidence"))),
        at=row.get("at"),
        why=row.get("why"),
        repaired=row.get("repaired"),
    )
    bad = set(case.expected) - STATUSES - set(WORDS) - {"held", "silent", "any"}
    if bad:
        raise ValueError(f"{file}.yaml, {name}: unknown status {sorted(bad)}")
    return case


def _span(file: str, name: str, answer: str, part: str | None) -> tuple[int, int]:
    if part is None:
        return 0, len(answer)
    start = answer.find(str(part))
    if start < 0:
        raise ValueError(f"{file}.yaml, {name}: {part!r} does not stand in the answer")
    return start, start + len(str(part))


def _sources(row: dict[str, Any]) -> tuple[Source, ...]:
    given = row.get("sources") or [{"text": row["source"], "title": row.get("title", "")}]
    made = []
    for n, item in enumerate(given, 1):
        fields = {"text": item} if isinstance(item, str) else item
        updated = fields.get("updated")
        made.append(
            Source(fields.get("id", f"s{n}"), fields["text"], fields.get("title", ""), updated and str(updated))
        )
    return tuple(made)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
