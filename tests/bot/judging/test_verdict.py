"""Verdicts on turns: what is recorded, what counts, and what leaves the queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.desk.index import Desk
from bot.desk.search import DeskSearch
from bot.judging.sample import put_into_queue
from bot.judging.verdict import Assessment, judge, last_verdict, said_about
from bot.records import Actor, ReviewerActor
from bot.turn.entries.disputes import Reporter, dispute_of, report
from grounding.errors import InputError
from grounding.records import Document
from rai.ledger.store import SqlLedger
from rai.records import Entry
from tests.bot.desk.test_index import seqs, turn
from tests.fakes.library import FakeLibrary

LIBRARY = FakeLibrary({"returns.md": Document("returns.md", "Returns", "Returns take 30 days.")})
ANN, BEN = Actor("ann", "account"), Actor("ben", "account")


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    made = SqlLedger(tmp_path / "home" / "ledger.db", tmp_path / "ledger.key")
    yield made
    await made.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "home" / "review.db")
    yield made
    await made.close()


async def said(ledger: SqlLedger, desk: Desk, of: Entry, verdict: str, by: Actor = ANN, **more: str) -> Entry:
    return await judge(ledger, desk, LIBRARY, of.entry_id, Assessment.of(verdict, **more), channel="cli", by=by)


async def test_a_later_verdict_replaces_the_one_before_and_none_is_changed(ledger: SqlLedger, desk: Desk) -> None:
    of = await ledger.append("turn", turn("When do kettles arrive?"))
    first = await said(
        ledger, desk, of, "wrong", comment="Says Sunday.", correction="On Mondays.", facts="Mondays | Monday"
    )
    again = await said(
        ledger, desk, of, "wrong", comment="Says Sunday.", correction="On Mondays.", facts="Mondays|Monday"
    )
    assert again.entry_id == first.entry_id, "the same once more"
    assert first.body["facts"] == [["Mondays", "Monday"]]
    second = await said(ledger, desk, of, "partly", BEN)
    assert second.body["replaces"] == first.entry_id
    assert second.body["actor"]["user"] == "ben"
    newest = await last_verdict(ledger, desk, of.entry_id)
    assert newest is not None
    assert newest.entry_id == second.entry_id
    assert await seqs(desk, verdict="partly") == [of.seq]
    assert await seqs(desk, verdict="wrong") == []
    assert await seqs(desk, verdict="any") == [of.seq]
    assert await seqs(desk, kind="verdict", words="Sunday") == [first.seq]
    assert (await ledger.verify()).ok


async def test_the_same_person_in_another_session_says_the_same_once(ledger: SqlLedger, desk: Desk) -> None:
    of = await ledger.append("turn", turn("When do kettles arrive?"))
    given = [
        (await said(ledger, desk, of, "wrong", by)).entry_id
        for by in (
            ReviewerActor("rita", "oidc 00000001", "tenant", "Rita", "reviewer"),
            ReviewerActor("rita", "oidc 00000002", "tenant", "Rita R.", "administrator"),
            ReviewerActor("rita", "oidc 00000001", "another", "Rita", "reviewer"),
            Actor(authenticated_by="review 00000001"),
            Actor(authenticated_by="review 00000001"),
            Actor(authenticated_by="review 00000002"),
        )
    ]
    assert given[0] == given[1]
    assert given[3] == given[4]
    assert len(set(given)) == 4


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"verdict": "good"}, "verdict"),
        ({"verdict": "right", "comment": "x" * 2001}, "comment"),
        ({"verdict": "right", "correction": "x" * 8001}, "answer"),
        ({"verdict": "right", "facts": "x\n" * 21}, "facts"),
        ({"verdict": "right", "wrong": "x" * 201}, "wrong"),
    ],
)
def test_what_cannot_be_recorded_is_refused_by_name(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Assessment.of(**given)


async def test_only_turns_are_judged(ledger: SqlLedger, desk: Desk) -> None:
    other = await ledger.append("start", {"schema": 2, "program": "x"})
    for name in (other.entry_id, "nothing"):
        with pytest.raises(InputError, match="no turn"):
            await judge(ledger, desk, LIBRARY, name, Assessment("right"), channel="cli", by=ANN)


async def test_what_does_not_fit_its_turn_or_names_no_document_is_refused_and_not_recorded(
    ledger: SqlLedger, desk: Desk
) -> None:
    answered = await ledger.append("turn", turn("When do kettles arrive?"))
    withheld = await ledger.append("turn", turn("What does a kettle cost?", outcome="withheld"))
    with pytest.raises(InputError, match=r"an answer was delivered .*Allowed here: “Right”"):
        await said(ledger, desk, answered, "wrongly_refused")
    with pytest.raises(InputError, match="no answer was delivered"):
        await said(ledger, desk, withheld, "wrong")
    with pytest.raises(InputError, match=r"“lost\.md” is no id of a document"):
        await said(ledger, desk, answered, "wrong", documents="returns.md\nlost.md")
    assert [e.kind async for e in ledger.entries()] == ["genesis", "turn", "turn"]
    assert (await said(ledger, desk, answered, "wrong", documents="returns.md")).body["documents"] == ["returns.md"]


async def test_each_reason_holds_a_turn_until_it_is_judged(ledger: SqlLedger, desk: Desk) -> None:
    struck = turn("struck", outcome="repaired")
    claim = {"kind": "money", "status": "absent", "rule": "role", "start": 0, "end": 1, "text": "€9"}
    struck["reply"]["draft"] = {"text": "It costs €9.", "claims": [claim]}
    kept_out = turn("kept out")
    kept_out["passages"][0]["screened"] = "IN-01"
    asked_back = turn("asked back", outcome="insufficient")
    asked_back["reply"]["clarification"] = {"question": "Which?", "options": []}
    bodies = {
        "struck": struck,
        "withheld": turn("withheld", outcome="withheld"),
        "disliked": turn("disliked"),
        "sampled": turn("sampled"),
        "refusal": turn("refusal", outcome="blocked"),
        "quarantine": kept_out,
        "unanswered": turn("unanswered", outcome="insufficient"),
    }
    turns = {reason: await ledger.append("turn", body) for reason, body in bodies.items()}
    await ledger.append("turn", asked_back)
    plain = {"schema": 2, "user": "ada", "channel": "teams"}
    await ledger.append("feedback", plain | {"entry_id": turns["disliked"].entry_id, "reaction": "dislike", "text": ""})
    refused = turns["refusal"]
    await report(ledger, refused.entry_id, Reporter("ada", "teams", "case-17"))
    chosen = [turns["sampled"].entry_id]
    await put_into_queue(ledger, chosen, DeskSearch(kind="turn"), number=1, by="outcome", seed=7, who=ANN)
    await desk.follow(ledger)
    assert await desk.waiting() == dict.fromkeys(bodies, 1)
    for reason, of in turns.items():
        assert await seqs(desk, queue=reason) == [of.seq], reason
    assert await desk.reasons([t.seq for t in turns.values()]) == {t.seq: [reason] for reason, t in turns.items()}
    for of in turns.values():
        await said(ledger, desk, of, "wrongly_refused" if of is refused else "right")
    await desk.follow(ledger)
    assert await desk.waiting() == dict.fromkeys(bodies, 0)
    dispute = await dispute_of(ledger, refused)
    assert dispute is not None
    assert dispute.state == "wrong", "a verdict decides the report too"
    assert await desk.check(ledger) == 0


async def test_a_decision_on_the_passage_takes_its_turns_out_of_the_queue(
    ledger: SqlLedger, desk: Desk, tmp_path: Path
) -> None:
    """Each of a hundred turns that lost the same passage would have to be judged else."""
    bodies = [turn(f"question {n}") for n in range(4)]
    for body in bodies[:3]:
        body["passages"][0] |= {"screened": "IN-01", "chunk_id": "chunk-1"}
    bodies[2]["passages"].append(bodies[2]["passages"][0] | {"chunk_id": "chunk-2", "screened": "CL-order"})
    turns = [await ledger.append("turn", body) for body in bodies]
    await desk.follow(ledger)
    assert await seqs(desk, queue="quarantine") == [e.seq for e in reversed(turns[:3])]

    async def decide(chunk: str) -> Entry:
        passage = {"id": "3f9a", "doc_id": "a.md", "chunk_id": chunk, "title": "A", "text": "Say it."}
        body = {"decision": "confirmed", "note": "", "channel": "cli", "passage": passage}
        return await ledger.append("quarantine_decision", body)

    first = await decide("chunk-1")
    await desk.follow(ledger)
    assert await seqs(desk, queue="quarantine") == [turns[2].seq], "of the other passage nobody has decided"
    later = await ledger.append("turn", bodies[0])
    await decide("chunk-2")
    await desk.follow(ledger)
    assert (await desk.waiting())["quarantine"] == 0, "what is confirmed stays out, and asks nobody again"
    assert await seqs(desk, claim="passage", kind="turn") == [later.seq, *[e.seq for e in reversed(turns[:3])]]
    again = Desk(tmp_path / "again.db")
    await again.follow(ledger)
    assert (await again.waiting())["quarantine"] == 0, "made anew it says the same"
    await again.close()
    await ledger.erase([first.entry_id], "kept long enough")
    await desk.settle(ledger)
    assert (await desk.waiting())["quarantine"] == 0, "the decision holds, though its words are gone"


async def test_a_decision_holds_for_the_words_wherever_they_stand(ledger: SqlLedger, desk: Desk) -> None:
    """A line that is put in above them moves them, and makes another chunk of them."""
    body = turn("moved")
    body["passages"][0] |= {"screened": "IN-01", "chunk_id": "chunk-9", "quarantine": "3f9a5c001122"}
    other = turn("of an older program")
    other["passages"][0] |= {"screened": "IN-01", "chunk_id": "chunk-1"}
    await ledger.append("turn", body)
    await ledger.append("turn", other)
    await desk.follow(ledger)
    assert (await desk.waiting())["quarantine"] == 2
    passage = {"id": "3f9a5c001122", "doc_id": "a.md", "chunk_id": "chunk-1", "title": "A", "text": "Say it."}
    said = {"decision": "confirmed", "note": "", "channel": "cli", "passage": passage}
    await ledger.append("quarantine_decision", said)
    await desk.follow(ledger)
    assert (await desk.waiting())["quarantine"] == 0


async def test_an_erased_turn_leaves_the_queue_and_takes_its_verdict_along(
    ledger: SqlLedger, desk: Desk, tmp_path: Path
) -> None:
    of = await ledger.append("turn", turn("withheld", outcome="withheld"))
    verdict = await said(ledger, desk, of, "wrongly_refused", correction="Kestrel plumage")
    kept = await ledger.append("turn", turn("withheld too", outcome="withheld"))
    await desk.follow(ledger)
    assert (await desk.waiting())["withheld"] == 1
    await ledger.erase([verdict.entry_id], "taken back")
    await desk.settle(ledger)
    assert (await desk.waiting())["withheld"] == 2, "without its verdict it waits again"
    await ledger.erase([of.entry_id], "asked for")
    await desk.settle(ledger)
    assert await seqs(desk, queue="withheld") == [kept.seq]
    assert await said_about(ledger, desk, of.entry_id) == []
    await desk.close()
    assert b"Kestrel" not in (tmp_path / "home" / "review.db").read_bytes()
