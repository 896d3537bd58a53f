"""Mutation testing of the check: recall over supported answers changed in one place, and false positives on the originals.

The values, entities and sentences of every answer are checked as `check_claims` does it, without services or models, in
processes side by side.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.evaluate.bench import Bench
from bot.evaluate.results import SetResult
from bot.evaluate.statistics.metrics import defined, share
from bot.evaluate.suites.provenance.layers import layer_of
from bot.evaluate.suites.provenance.mistakes import Case, Mistake, falsely_flagged, missed
from bot.evaluate.suites.provenance.mutate.collected_answers import corpus, labelled, sample
from bot.evaluate.suites.provenance.mutate.generated_answers import generated
from bot.evaluate.suites.provenance.mutate.mutants import build
from bot.evaluate.suites.provenance.mutate.records import KINDS, Mutant, Supported
from grounding.text import sentences
from rai.check.match import check_claims
from rai.records import Claim

PAGES_PER_MUTANT = 1.0
"""Generated pages for each mutant that is wanted of a kind: enough for the rarest, changed contact data."""
IN_PROCESS = 400
"""Answers up to which starting processes would cost more than it saves."""
CHUNK = 200
_ORDER = {"phone": 0, "url": 0, "email": 0, "money": 1, "statement": 9}


@dataclass(frozen=True, slots=True)
class JudgedMutation:
    """The claims of one checked answer, those that cover the change first where there is one."""

    claims: tuple[Claim, ...]
    covering: tuple[Claim, ...] = ()

    @property
    def caught(self) -> bool:
        """True if a claim that covers the change is unsupported."""
        return any(c.unsupported for c in self.covering)

    @property
    def flagged(self) -> bool:
        """True if the answer as a whole would be."""
        return any(c.unsupported for c in self.claims)

    @property
    def value_flagged(self) -> bool:
        """True if a value, contact or name is unsupported; sentences aside."""
        return any(c.unsupported for c in self.claims if c.kind != "statement")

    def let_by(self, status: str) -> bool:
        """True if a covering value was taken for `status` and the change was missed by it."""
        return not self.caught and any(c.status == status for c in self.covering if c.kind != "statement")


Run = list[tuple[Mutant, JudgedMutation, JudgedMutation | None]]
"""Each mutant with what was found in it, and in the answer before it was changed, if that was checked."""


def mutations(bench: Bench, wanted: int) -> tuple[list[SetResult], list[Mistake]]:
    """The sets `mutation:…`, and the mistakes made on the development part."""
    made = build(list(_answers(bench.data, wanted)), wanted)
    originals = list({m.supported.id: m.supported for m in made.mutants[::2]}.values())
    judged = _check_all(bench, [*originals, *made.mutants])
    whole, changed = judged[: len(originals)], judged[len(originals) :]
    by_id = {o.id: j for o, j in zip(originals, whole, strict=True)}
    run: Run = [(m, j, by_id.get(m.supported.id)) for m, j in zip(made.mutants, changed, strict=True)]
    sets = [
        *_kinds(run, by_category=bench.by_category),
        *_originals(list(zip(originals, whole, strict=True))),
        *(SetResult(f"mutation:answers from {origin}", n, {}) for origin, n in made.answers.items()),
    ]
    return sets, list(_mistakes(run))


def _answers(data: Path, wanted: int) -> Iterator[Supported]:
    for path in sorted((data / "provenance").glob("*.jsonl")):
        yield from labelled(path)
    for path in sorted((data / "retrieval").glob("*/corpus.jsonl")):
        yield from corpus(path)
    yield from sample()
    yield from generated(max(100, int(wanted * PAGES_PER_MUTANT)))


def _check_all(bench: Bench, items: Sequence[Supported | Mutant]) -> list[JudgedMutation]:
    """Every item checked, in the order given; answers to one source stand together, for its reading is kept."""
    regions = tuple(bench.system.settings.answering.phone_regions)
    order = sorted(range(len(items)), key=lambda i: _supported(items[i]).sources[0].text)
    chunks = [order[i : i + CHUNK] for i in range(0, len(order), CHUNK)]
    work = partial(check_chunk, regions=regions)
    tasks = [[items[i] for i in chunk] for chunk in chunks]
    out: dict[int, JudgedMutation] = {}
    for chunk, judged in zip(bench.track("mutations", chunks), _mapped(work, tasks, len(items)), strict=True):
        out |= dict(zip(chunk, judged, strict=True))
    return [out[i] for i in range(len(items))]


def _mapped(
    work: partial[list[JudgedMutation]], tasks: list[list[Supported | Mutant]], count: int
) -> Iterator[list[JudgedMutation]]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if count <= IN_PROCESS or cores == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(min(cores, 8), mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, tasks)


def check_chunk(items: Sequence[Supported | Mutant], regions: tuple[str, ...]) -> list[JudgedMutation]:
    """Check some answers, one after the other."""
    return [_check(item, regions) for item in items]


def _check(item: Supported | Mutant, regions: tuple[str, ...]) -> JudgedMutation:
    base = _supported(item)
    claims = check_claims(item.answer, base.sources, base.question, given=base.given, regions=regions)
    if isinstance(item, Supported):
        return JudgedMutation(claims)
    start, end = item.span
    if item.edit.kind == "negation":
        held = next((s for s in sentences(item.answer) if s.start <= start < s.end), None)
        start, end = (held.start, held.end) if held else (start, end)
        covering = [c for c in claims if c.start < end and start < c.end and (c.kind == "statement" or c.unsupported)]
    else:
        covering = [c for c in claims if c.start < end and start < c.end]
    return JudgedMutation(claims, tuple(sorted(covering, key=lambda c: (_ORDER.get(c.kind, 2), c.start))))


def _supported(item: Supported | Mutant) -> Supported:
    return item if isinstance(item, Supported) else item.supported


def _kinds(run: Run, *, by_category: bool) -> Iterator[SetResult]:
    for kind in KINDS:
        rows = [r for r in run if r[0].edit.kind == kind]
        yield from _parts(f"mutation:{kind}", rows)
        if by_category:
            yield from _groups(f"mutation:{kind}", rows)
    foreign = [r for r in run if r[0].edit.kind in ("digit", "date", "unit", "phone", "host", "name")]
    for value in sorted({_value(r[0]) for r in foreign}):
        yield from _parts(f"mutation:of {value}", [r for r in foreign if _value(r[0]) == value])


def _groups(name: str, rows: Run) -> Iterator[SetResult]:
    """Per origin, per kind of value and per way of the change, on the development part."""
    groups: dict[str, Run] = defaultdict(list)
    for row in rows:
        if not row[0].supported.kept_aside:
            edit = row[0].edit
            for group in {f"from {row[0].supported.origin}", f"value {edit.value}", f"way {edit.how}"}:
                groups[group].append(row)
    for group, found in sorted(groups.items()):
        yield _measure(f"{name}:{group}", found)


def _value(mutant: Mutant) -> str:
    return "name" if mutant.edit.kind == "name" and mutant.edit.value not in ("code", "address") else mutant.edit.value


def _parts(name: str, rows: Run) -> Iterator[SetResult]:
    """The development part under the name, and the part kept aside."""
    for aside, ending in ((False, ""), (True, ":kept_aside")):
        part = [r for r in rows if r[0].supported.kept_aside == aside]
        if part:
            yield _measure(name + ending, part)


def _measure(name: str, rows: Run) -> SetResult:
    originals = {m.supported.id: whole for m, _, whole in rows if whole is not None}.values()
    return SetResult(
        name,
        len(rows),
        defined(
            recall=share([j.caught for _, j, _ in rows]),
            flagged=share([j.flagged for _, j, _ in rows]),
            false_flags=share([o.value_flagged for o in originals]),
            false_verdicts=share([o.flagged for o in originals]),
            values_recall=_by_layer(rows, "values"),
            entities_recall=_by_layer(rows, "entities"),
            statements_recall=_by_layer(rows, "statements"),
            rounded=share([j.let_by("rounded") for _, j, _ in rows]),
            derived=share([j.let_by("derived") for _, j, _ in rows]),
        ),
    )


def _by_layer(rows: Run, layer: str) -> float | None:
    return share([any(c.unsupported for c in j.covering if layer_of(c) == layer) for _, j, _ in rows])


def _originals(rows: list[tuple[Supported, JudgedMutation]]) -> Iterator[SetResult]:
    """Supported answers as they were: per part and origin, and per kind of claim with n claims."""
    groups = {"mutation:originals": [r for r in rows if not r[0].kept_aside]}
    groups["mutation:originals:kept_aside"] = [r for r in rows if r[0].kept_aside]
    for origin in dict.fromkeys(r[0].origin for r in rows):
        groups[f"mutation:originals:from {origin}"] = [r for r in rows if r[0].origin == origin]
    for name, part in groups.items():
        measured = defined(
            false_flags=share([j.value_flagged for _, j in part]), false_verdicts=share([j.flagged for _, j in part])
        )
        yield SetResult(name, len(part), measured)
    claims = [c for _, j in rows for c in j.claims]
    for kind in sorted({c.kind for c in claims}):
        held = [c.unsupported for c in claims if c.kind == kind]
        yield SetResult(f"mutation:originals:{kind} claims", len(held), defined(false_flags=share(held)))


def _mistakes(run: Run) -> Iterator[Mistake]:
    """Of the development part alone: what is kept aside must not be learnt from."""
    told: set[str] = set()
    for mutant, judged, whole in run:
        base, edit = mutant.supported, mutant.edit
        if base.kept_aside:
            continue
        if not judged.caught:
            form = f"{base.form}; {edit.value}, {edit.how}"
            case = Case(f"mutation:{edit.kind}", mutant.id, mutant.answer, base.question, base.sources, form)
            yield missed(case, judged.covering, was=base.answer[edit.start : edit.end], now=edit.now)
        if whole is not None and base.id not in told:
            told.add(base.id)
            case = Case("mutation:originals", base.id, base.answer, base.question, base.sources, base.form)
            if whole.flagged:
                yield from falsely_flagged(case, whole.claims)
