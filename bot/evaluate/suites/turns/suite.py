"""The suite `turns`: a company's own questions asked as whole turns, verdicts by kind, and the stage that lost each wrong one."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.evaluate.bench import Bench, Company
from bot.evaluate.hits import documents, hits_of, sought_of, titles_of
from bot.evaluate.questions import Question
from bot.evaluate.results import SetResult, SuiteResult, WrongRow
from bot.evaluate.rows import Row, load, spread
from bot.evaluate.statistics import metrics
from bot.evaluate.suites.turns.facts import VERDICTS, WORST, TurnRow, Verdict, judged, normal, turn_row
from bot.evaluate.suites.turns.lost import (
    FIRST,
    STAGES,
    Held,
    PassageTexts,
    Stage,
    Trail,
    held_in,
    lost_at,
    trails,
    why_lost,
)
from bot.http.json_forms import parse_ask
from bot.records import Reply
from bot.system import System
from bot.view.reply import DELIVERED
from grounding.errors import InputError, UserError
from grounding.records import Query, Turn

TURNS = "turns.jsonl"
_NOTHING = Held((), {}, frozenset(), {})


@dataclass(frozen=True, slots=True)
class _Asked:
    """A row that was asked, and what became of it. `reply` None: the question was not taken."""

    row: TurnRow
    reply: Reply | None
    verdict: Verdict
    lost: Stage | None
    why: tuple[str, ...]
    ways: tuple[Trail, ...]
    held: Held
    ms: float

    @property
    def words(self) -> int | None:
        """Length of what was answered to a question that can be answered."""
        said = self.reply and self.reply.outcome in DELIVERED and self.row.is_answerable
        return len(normal(self.reply.answer).split()) if self.reply and said else None


async def turns(bench: Bench) -> SuiteResult:
    """Every company of the folder, each in a knowledge base of its own: verdicts by kind, and the stage that lost a turn."""
    read = [(company, _rows(bench, company)) for company in companies(bench.data)]
    sets, wrong = list[SetResult](), list[WrongRow]()
    for company, rows in read:
        async with bench.open(company) as system:
            titles, texts = await titles_of(system), PassageTexts(system)
            asked = [await _ask(system, row, texts) for row in bench.track(company.name, rows)]
        sets.append(_measure(company.name, asked, tuple(_question(a, titles) for a in worst_first(asked))))
        kinds = dict.fromkeys(a.row.kind for a in asked)
        sets += [_part(company.name, kind, [a for a in asked if a.row.kind == kind]) for kind in kinds]
        wrong += [
            WrongRow(a.row.id, f"{company.name}:{a.row.kind}", a.verdict, a.why, a.lost, str(a.row.asked["question"]))
            for a in worst_first(asked)
            if a.lost
        ]
    return SuiteResult("turns", tuple(sets), tuple(wrong))


def companies(data: Path) -> list[Company]:
    """The company in `data`, or those in its folders. Raises InputError where one is not whole."""
    found = [data] if (data / TURNS).is_file() else sorted(path.parent for path in data.glob(f"*/{TURNS}"))
    return [_company(folder) for folder in found]


def _company(folder: Path) -> Company:
    if not (folder / "kb").is_dir():
        raise InputError(
            f"--data {folder}: no folder kb beside {TURNS}; needed: kb/ and {TURNS}, and where documents are not for all readers.yaml and directory.yaml",
            code="no_file",
        )
    readers, directory = folder / "readers.yaml", folder / "directory.yaml"
    return Company(
        folder.absolute().name,
        folder / "kb",
        folder / TURNS,
        readers if readers.is_file() else None,
        directory if directory.is_file() else None,
    )


def _rows(bench: Bench, company: Company) -> list[TurnRow]:
    """Rows to ask: of the kinds that were wanted, at most `limit`, evenly spread. Raises InputError."""
    rows = [turn_row(company.turns, row) for row in load(company.turns)]
    known = dict.fromkeys(row.kind for row in rows)
    unknown = [kind for kind in bench.kinds if kind not in known]
    if unknown:
        raise InputError(f"--kind {unknown[0]}: {company.turns} has none; allowed: {', '.join(known)}")
    for row in rows:
        if row.asked["as"] and company.directory is None:
            raise InputError(
                f"{company.turns}, row {row.id}: 'as' needs directory.yaml beside it: users: NAME: [group]"
            )
    return spread([row for row in rows if not bench.kinds or row.kind in bench.kinds], bench.limit)


async def _ask(system: System, row: TurnRow, texts: PassageTexts) -> _Asked:
    began = time.monotonic()
    reply = await _reply(system, row)
    ms = 1000 * (time.monotonic() - began)
    form = reply.as_json() if reply else None
    verdict = judged(row, form)
    held, ways = _NOTHING, tuple[Trail, ...]()
    if reply and (body := await _record(system, reply)):
        policy = system.settings.files.policies[system.settings.answering.policy]
        held = await held_in(body, reply.record.found.grades, texts)
        answer = reply.answer if reply.outcome in DELIVERED else ""
        ways = await trails(row, held, answer, policy, texts)
    why = () if verdict == "right" else why_lost(row, verdict, form, ways)
    return _Asked(row, reply, verdict, lost_at(row, verdict, form, ways), why, ways, held, ms)


async def _reply(system: System, row: TurnRow) -> Reply | None:
    """The reply to a row as `POST /api/ask` would take it; None where it would not."""
    try:
        asked = parse_ask(row.asked, system.settings.answering.policy, system.settings.files.policies)
        return await system.answer(replace(asked, channel="eval"), None)
    except UserError:
        return None


async def _record(system: System, reply: Reply) -> Mapping[str, Any] | None:
    entry = await system.ledger.get(reply.entry_id) if reply.entry_id else None
    return entry.body if entry else None


def worst_first(asked: Sequence[_Asked]) -> list[_Asked]:
    """Wrong answers first, right ones last; of the same verdict the latest stage that lost it last."""
    order = (*WORST, "right")
    return sorted(asked, key=lambda a: (order.index(a.verdict), STAGES.index(a.lost) if a.lost else 0))


def _measure(name: str, asked: Sequence[_Asked], questions: tuple[Question, ...]) -> SetResult:
    sizes = [a.words for a in asked if a.words is not None]
    more = metrics.defined(
        **_on_the_way(asked),
        words=statistics.median_high(sizes) if sizes else None,
        ms_p50=statistics.median_high(a.ms for a in asked) if asked else None,
    )
    return SetResult(name, len(asked), _shares(asked) | more, questions)


def _part(name: str, kind: str, asked: Sequence[_Asked]) -> SetResult:
    return SetResult(f"{name}:{kind}", len(asked), _shares(asked), part=True)


def _shares(asked: Sequence[_Asked]) -> dict[str, float]:
    """Share of each verdict, and of the turns that each stage lost."""
    verdicts, lost = Counter(a.verdict for a in asked), Counter(a.lost for a in asked)
    of = len(asked) or 1
    return {v: verdicts[v] / of for v in VERDICTS} | {f"lost_{s}": lost[s] / of for s in STAGES}


def _on_the_way(asked: Sequence[_Asked]) -> dict[str, float | None]:
    """Of the turns that have facts and are to be answered, the share of which every fact was still there, stage by stage."""
    ways = [a.ways for a in asked if a.ways and a.row.expect == "answered"]

    def share(still_there: Callable[[Trail], bool]) -> float | None:
        return metrics.share([all(map(still_there, way)) for way in ways])

    return {
        "facts_found": share(lambda w: w.place is not None),
        "facts_in_first_five": share(lambda w: w.place is not None and w.place <= FIRST),
        "facts_graded": share(lambda w: w.passed or w.kept),
        "facts_kept": share(lambda w: w.kept),
        "facts_in_prompt": share(lambda w: w.shown),
        "facts_said": share(lambda w: w.said),
    }


def _question(asked: _Asked, titles: Mapping[str, str]) -> Question:
    """The turn as the page lists it."""
    row, reply = asked.row, asked.reply
    cited = list(dict.fromkeys(c.doc_id for c in reply.citations)) if reply else []
    shown = {p.doc_id for p in asked.held.found if p.chunk_id in asked.held.evidence}
    ranked = documents(asked.held.found)
    grades = {chunk: grade.score for chunk, grade in asked.held.grades.items()}
    lost = (f"{asked.verdict}, lost at {asked.lost}",) if asked.lost else ()
    return Question(
        id=row.id,
        turns=(*_turns(row.asked["history"]), Turn("user", str(row.asked["question"]))),
        query=Query(reply.record.query.text if reply else ""),
        metrics={"right": float(asked.verdict == "right")},
        tags=(row.kind,),
        sought=sought_of(row.docs, ranked, titles, cited=cited),
        hits=hits_of(asked.held.found, row.docs, grades, cited, shown),
        kind=row.expect.replace("_", " "),
        action=reply.outcome.value if reply else "not taken",
        answer=reply.answer if reply else "",
        why=(*lost, *asked.why),
        severity=-WORST.index(asked.verdict) if asked.verdict in WORST else -len(WORST),
    )


def _turns(history: Sequence[Row]) -> list[Turn]:
    """The conversation as far as it has the form of one."""
    try:
        return list(parse_ask({"question": "?", "history": history}, "").history)
    except InputError:
        return []
