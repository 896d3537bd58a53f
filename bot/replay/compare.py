"""Two bodies of the same turn side by side: as it was recorded, and as it would be recorded now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

Body = Mapping[str, Any]
Ranked = dict[str, tuple[int, Mapping[str, Any], Mapping[str, Any]]]
"""By chunk its rank, the passage and its grade."""
_GONE, _NOT_FOUND = "–", "not found"
_SHOWN = 20
"""Passages that are told of a search, the best first."""
_LINES = 80
"""Lines of a difference between two texts."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing, as it was and as it is. `lines`: how two long texts differ, a line each that begins with +, - or a blank."""

    what: str
    then: str
    now: str
    lines: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        return self.then != self.now or bool(self.lines)

    def as_json(self) -> dict[str, Any]:
        more = {"lines": list(self.lines)} if self.lines else {}
        return {"what": self.what, "then": self.then, "now": self.now, "differs": self.differs, **more}


@dataclass(frozen=True, slots=True)
class Compartment:
    """What was compared of one stage, under its name; `told`: in a sentence what was done for it."""

    name: str
    title: str
    told: str
    rows: tuple[Compared, ...]

    @property
    def differs(self) -> bool:
        return any(row.differs for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "differs": self.differs, "rows": [row.as_json() for row in self.rows]}


def compared(then: Body, now: Body) -> Iterator[Compartment]:
    """The stages of a turn in their order, but for the check of the recorded answer."""
    yield Compartment("versions", "What it ran on", "", tuple(_versions(then, now)))
    yield Compartment("query", "Query", "Made anew of the recorded conversation.", tuple(_query(then, now)))
    yield Compartment(
        "passages",
        "Passages and grades",
        "Searched for and graded again in the knowledge base as it is now, with the rights that the turn had.",
        tuple(_passages(then, now)),
    )
    yield Compartment("decision", "Decision", "By the policy of that name as it is now.", tuple(_decision(then, now)))
    yield Compartment("prompt", "Prompt", "Put together anew of what was found now.", tuple(_prompt(then, now)))


def answers(then: Body, now: Body, told: str) -> Compartment:
    """How the turn ended, and with which words."""
    one, other = (_object(body.get("reply")) for body in (then, now))
    fields = ("outcome", "code")
    rows = [_pair(name, (_word(reply.get(name)) for reply in (one, other))) for name in fields]
    texts = [str(reply.get("answer") or "") for reply in (one, other)]
    rows.append(_texts("answer", texts[0], texts[1]))
    cited = [sorted({str(c.get("doc_id")) for c in _objects(r.get("citations"))}) for r in (one, other)]
    rows.append(_pair("documents quoted", (", ".join(names) or _GONE for names in cited)))
    return Compartment("reply", "Reply", told, tuple(rows))


def claims(then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], told: str) -> Compartment:
    """What was found of each claim of the same text, then and now. Claims are the same where kind and place are."""
    one, other = ({(c.get("start"), c.get("end"), c.get("kind")): c for c in found} for found in (then, now))
    keys = sorted(one.keys() | other.keys(), key=lambda key: (int(key[0] or 0), int(key[1] or 0), str(key[2])))
    rows = []
    for key in keys:
        text = _clipped(str((one.get(key) or other[key]).get("text") or ""))
        rows.append(Compared(f"{key[2]} “{text}”", _status(one.get(key)), _status(other.get(key))))
    return Compartment("check", "Check", told, tuple(rows))


def _versions(then: Body, now: Body) -> Iterator[Compared]:
    one, other = (_object(body.get("versions")) for body in (then, now))
    for name in ("program", "settings", "kb"):
        yield Compared(name if name != "kb" else "knowledge base", _word(one.get(name)), _word(other.get(name)))
    models = [_object(versions.get("models")) for versions in (one, other)]
    for name in sorted({*models[0], *models[1]}):
        yield _pair(f"model for {name}", (_word(known.get(name)) for known in models))
    policies = [_object(body.get("policy")) for body in (then, now)]
    yield _pair("policy", (_word(policy.get("name")) for policy in policies))
    if policies[0] and policies[1]:
        for name in sorted({*policies[0], *policies[1]}):
            values = [policy.get(name) for policy in policies]
            if values[0] != values[1] and name != "name":
                yield _pair(f"policy: {name}", (_clipped(_word(value), 200) for value in values))


def _query(then: Body, now: Body) -> Iterator[Compared]:
    one, other = (_object(body.get("query")) for body in (then, now))
    yield Compared("question", _word(one.get("text")), _word(other.get("text")))
    yield Compared("searched for", _word(then.get("searched")), _word(now.get("searched")))
    names = [", ".join(map(str, query.get("entities") or ())) or _GONE for query in (one, other)]
    yield _pair("names taken along", names)


def _passages(then: Body, now: Body) -> Iterator[Compared]:
    one, other = _ranked(then), _ranked(now)
    evidence = [{e.get("chunk_id"): e.get("n") for e in _objects(body.get("evidence"))} for body in (then, now)]
    wanted = dict.fromkeys([*list(one)[:_SHOWN], *list(other)[:_SHOWN]])
    titles = {
        name: (p.get("title"), p.get("doc_id"))
        for ranked in (other, one)
        for name, (_, p, _) in ranked.items()
        if name in wanted
    }
    instead = {name: new for name, new in _in_its_place(one, other).items() if name in wanted}
    for name in wanted:
        if name in instead.values():
            continue  # told beside the passage that it took the place of
        title, document = titles[name]
        now_name = instead.get(name, name)
        then_told = _passage(one.get(name), evidence[0].get(name))
        now_told = _passage(other.get(now_name), evidence[1].get(now_name))
        rewritten = " · its text is another" if name in instead else ""
        yield Compared(f"{title or document} ({document}, {name})", then_told, now_told + rewritten)


def _in_its_place(one: Ranked, other: Ranked) -> dict[str, str]:
    """By chunk of before the one that stands at its place in its document now: what was written anew has another id."""
    free = {name: found[1] for name, found in other.items() if name not in one}
    taken: dict[str, str] = {}
    for name, (_, passage, _) in one.items():
        if name in other:
            continue
        overlaps = {new: _overlap(passage, there) for new, there in free.items() if new not in taken.values()}
        best = max(overlaps, key=lambda new: overlaps[new], default=None)
        if best is not None and overlaps[best] > 0:
            taken[name] = best
    return taken


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """Characters of the same document that both passages cover."""
    places = (one.get("start"), one.get("end"), other.get("start"), other.get("end"))
    if one.get("doc_id") != other.get("doc_id") or not all(isinstance(place, int) for place in places):
        return 0
    return min(int(one["end"]), int(other["end"])) - max(int(one["start"]), int(other["start"]))


def _ranked(body: Body) -> Ranked:
    """By chunk its rank, the passage and its grade, those that were used first."""
    grades = {g.get("id"): g for g in _objects(_object(body.get("reply")).get("grades"))}
    found = {str(p.get("chunk_id")): p for p in _objects(body.get("passages"))}
    for item in _objects(body.get("evidence")):
        found.setdefault(str(item.get("chunk_id")), item)
    return {name: (n, p, grades.get(name, {})) for n, (name, p) in enumerate(found.items(), 1)}


def _passage(found: tuple[int, Mapping[str, Any], Mapping[str, Any]] | None, number: object) -> str:
    if found is None:
        return _NOT_FOUND
    rank, _, grade = found
    score = grade.get("score")
    graded = f"{score:.2f} {grade.get('label') or ''}".strip() if isinstance(score, int | float) else "not graded"
    return f"rank {rank} · {graded}" + (f" · evidence [{number}]" if number else "")


def _decision(then: Body, now: Body) -> Iterator[Compared]:
    for what, name in (("at once", "decided_first"), ("in the end", "decision")):
        told = [_decided(_object(_object(body.get("reply")).get(name))) for body in (then, now)]
        yield _pair(what, told)
    steps = [_objects(_object(body.get("reply")).get("corrections")) for body in (then, now)]
    yield _pair("corrective steps", (", ".join(str(s.get("step")) for s in found) or "none" for found in steps))


def _decided(decision: Mapping[str, Any]) -> str:
    if not decision:
        return "nothing"
    value, threshold = decision.get("value"), decision.get("threshold")
    figures = f", {value:.2f} of {threshold:.2f}" if _is_number(value) and _is_number(threshold) else ""
    return f"{decision.get('action')} by {decision.get('rule')}{figures}, {len(decision.get('kept') or ())} kept"


def _prompt(then: Body, now: Body) -> Iterator[Compared]:
    one, other = _parts(then), _parts(now)
    for name in dict.fromkeys([*one, *other]):
        yield _texts(name, one.get(name, ""), other.get(name, ""))
    tokens = [_word(_object(body.get("prompt")).get("tokens")) for body in (then, now)]
    yield _pair("tokens", tokens)


def _parts(body: Body) -> dict[str, str]:
    """The parts of a prompt; the marker of each turn is another and says nothing."""
    prompt = _object(body.get("prompt"))
    marker = str(prompt.get("marker") or "")
    texts = {str(part.get("name")): str(part.get("text") or "") for part in _objects(prompt.get("parts"))}
    return {name: text.replace(marker, "marker") if marker else text for name, text in texts.items()}


def _pair(what: str, told: Iterable[str]) -> Compared:
    then, now = told
    return Compared(what, then, now)


def _texts(what: str, then: str, now: str) -> Compared:
    if then == now:
        return Compared(what, _size(then), _size(now))
    lines = list(unified_diff(then.splitlines(), now.splitlines(), n=1, lineterm=""))[2:]
    kept = [line for line in lines if not line.startswith("@@") and line.strip()]
    more = [f"… and {len(kept) - _LINES} more lines"] if len(kept) > _LINES else []
    return Compared(what, _size(then), _size(now), (*kept[:_LINES], *more))


def _size(text: str) -> str:
    return f"{len(text)} characters" if text else "none"


def _status(claim: Mapping[str, Any] | None) -> str:
    if claim is None:
        return _NOT_FOUND
    rule = claim.get("rule")
    return f"{claim.get('status')}{f' ({rule})' if rule else ''}"


def _clipped(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _word(value: object) -> str:
    return _GONE if value is None or value == "" else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
