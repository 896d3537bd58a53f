"""The form of a reply that programs read."""

from __future__ import annotations

from dataclasses import asdict

from bot.records import Citation, Reply, claim_json, grade_json
from grounding.records import Action, Grade
from rai.records import Claim, Outcome


def test_a_reply_is_told_field_by_field_as_it_ever_was() -> None:
    """The order and every value of the form that programs read."""
    claim = Claim("percent", "12 %", 0, 4)
    reply = Reply(
        Outcome.REPAIRED, "12 %", citations=(Citation(1, "t", None, "d", "c", None, "q"),), claims=(claim,),
        grades=(Grade("c", 1.0, "Perfect", "yes", None, ""),), action=Action.CORRECT, timings_ms={"total": 1.0},
    )  # fmt: skip
    told, whole = reply.as_json(), asdict(reply)
    assert list(told) == [*whole, "web_notice"]
    assert told["claims"] == [claim_json(claim)]
    assert told["grades"] == [grade_json(reply.grades[0])]
    assert (told["outcome"], told["action"], told["draft"], told["web"]) == ("repaired", "correct", None, [])
    same = [name for name in whole if name not in ("claims", "grades", "outcome", "action", "web")]
    assert {name: told[name] for name in same} == {name: whole[name] for name in same}
