"""The whole check: verdict, score, relevance, repair."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.bounded.pool import shared_pool
from grounding.errors import ServiceUnavailable
from grounding.observe import Operation, RuleFailed, watched_by
from grounding.policy import DoubtKind
from rai.check.context import Finding
from rai.check.match import check_claims
from rai.check.provenance import CheckPolicy, CheckPorts, check
from rai.check.rules.place_rules import placed
from rai.check.value_rules import FAILED
from rai.check.verdict import struck_by
from rai.embedded.tagger import GazetteerTagger
from rai.records import STRUCK_DOUBT, Claim, EntityType, Kind, Source

ROOT = Path(__file__).parents[3]

PHONE = Source("s1", "For help call +1 415 555 0132. The lid is red. The plan costs $19 a month.", "Plan and help")


ALL = CheckPorts()


class FixedScorer:
    """AnswerScorer that finds every answer as relevant as it was told."""

    def __init__(self, relevance: float) -> None:
        self._relevance = relevance

    async def relevance(self, question: str, answer: str) -> float:
        return self._relevance


async def test_supported_answer() -> None:
    """All values traced: supported, low score, no repair."""
    report = await check("Call (415) 555-0132 for help. The lid is red.", [PHONE], ports=ALL)
    assert (report.verdict, report.repaired, report.relevance) == ("supported", None, None)
    assert report.score <= 0.5


@pytest.mark.row("4-21")
@pytest.mark.parametrize(
    "bad",
    [
        "It has 77 lids.",
        "See https://contoso.com/x for help.",
        "It ends on 5 May 2026.",
        "Call (415) 555-0199 for help.",
    ],
    ids=["number", "url", "date", "phone"],
)
async def test_each_invented_value_is_taken_out(bad: str) -> None:
    """An invented number, URL, date or phone number makes the answer unsupported; the rest is kept and checks."""
    report = await check(f"The lid is red. {bad}", [PHONE], ports=ALL)
    assert (report.verdict, report.repaired) == ("unsupported", "The lid is red.")
    assert report.score > 0.5
    again = await check(report.repaired or "", [PHONE], ports=ALL)
    assert again.verdict == "supported"


async def test_nothing_left_is_no_repair() -> None:
    """Only courtesies left: withheld, not repaired."""
    report = await check("Hello! Call (415) 555-0199. Is there anything else?", [PHONE], ports=ALL)
    assert (report.verdict, report.repaired) == ("unsupported", None)


async def test_courtesy_is_unchecked() -> None:
    """An answer that claims nothing is unchecked, not supported, and has no claim that anybody need look at."""
    report = await check("Happy to help! Anything else?", [PHONE], ports=ALL)
    assert (report.verdict, report.score, report.claims) == ("unchecked", 0.0, ())


async def test_greetings_lead_ins_and_markers_alone_are_no_claims() -> None:
    answer = "Hi Nadia! The lid is red. [1]\n\nIf you need more:\n- The plan costs $19 a month."
    report = await check(answer, [PHONE], ports=ALL)
    told = [c for c in report.claims if c.kind == "statement"]
    assert [("red" in c.text, "$19" in c.text, c.status) for c in told] == [
        (True, False, "entailed"),
        (False, True, "entailed"),
    ]


async def test_irrelevant_only_when_supported() -> None:
    """Relevance is asked of the scorer, reported, and counts below the threshold; wrong beats irrelevant."""
    ports = CheckPorts(scorer=FixedScorer(0.1))
    report = await check("The lid is red.", [PHONE], "What does it cost?", ports=ports)
    assert (report.verdict, report.relevance) == ("irrelevant", 0.1)
    wrong = await check("The lid is red. It has 77 lids.", [PHONE], "What does it cost?", ports=ports)
    assert (wrong.verdict, wrong.repaired) == ("unsupported", None)
    lenient = await check(
        "The lid is red.", [PHONE], "What does it cost?", ports=ports, policy=CheckPolicy(relevance_at=0.1)
    )
    assert lenient.verdict == "supported"


DESK = Source("s1", "The desk is open Monday to Friday. It moved in May.")


@pytest.mark.parametrize(
    ("doubt", "verdict"),
    [({}, "supported"), ({"quantity": "conflict"}, "supported"), ({"quantity": "struck"}, "unsupported")],
)
async def test_a_policy_strikes_doubt_by_kind(doubt: dict[Kind, str], verdict: str) -> None:
    policy = CheckPolicy(struck=struck_by(doubt))
    report = await check("The desk is open Monday to Friday, a fortnight long.", [DESK], ports=ALL, policy=policy)
    (spoken,) = [c for c in report.claims if c.kind == "quantity"]
    assert spoken.status == "unchecked"
    assert spoken.unsupported == (verdict == "unsupported")
    assert (report.verdict == "unsupported") == (verdict == "unsupported")


def test_a_policy_can_name_every_kind_of_claim() -> None:
    assert get_args(DoubtKind) == get_args(Kind)


async def test_contacts_in_doubt_are_struck_unless_a_policy_says_marked() -> None:
    answer, asked = "Try +1 415 555 0132.", "Is it +1 415 555 0132?"
    report = await check(answer, [DESK], asked, ports=ALL)
    (phone,) = [c for c in report.claims if c.kind == "phone"]
    assert (phone.status, phone.unsupported) == ("unchecked", True)
    marked = await check(answer, [DESK], asked, ports=ALL, policy=CheckPolicy(struck=struck_by({"phone": "marked"})))
    assert not any(c.unsupported for c in marked.claims)
    assert ("phone", "unchecked") not in struck_by({"phone": "marked"})
    assert struck_by({}) == STRUCK_DOUBT
    assert {pair for pair in struck_by({"date": "struck"}) if pair[0] == "phone"} == {
        ("phone", "unchecked"),
        ("phone", "conflict"),
    }


async def test_no_question_no_relevance() -> None:
    """Without a question there is nothing to be relevant to."""
    report = await check("The lid is red.", [PHONE], ports=CheckPorts(scorer=FixedScorer(0.0)))
    assert (report.verdict, report.relevance) == ("supported", None)


async def test_tagger_adds_names_that_grammar_cannot_see() -> None:
    """A listed one-word product that no source names is found and flagged."""
    ports = CheckPorts(tagger=GazetteerTagger({"Zephyrine": "product"}))
    report = await check("The zephyrine lid is red.", [PHONE], ports=ports)
    assert [(c.text, c.entity, c.status) for c in report.claims if c.kind == "entity"] == [
        ("zephyrine", "product", "absent")
    ]
    assert report.verdict == "unsupported"


async def test_listed_codes_keep_their_dashes() -> None:
    """A listed part number that the source has is traced, dash and all."""
    ports = CheckPorts(tagger=GazetteerTagger({"ab-cd": "code"}))
    report = await check("The lid ab-cd is red.", [Source("s1", "The lid AB-CD is red.")], ports=ports)
    assert [(c.text, c.status) for c in report.claims if c.kind == "entity"] == [("ab-cd", "normalised")]


async def test_threshold_decides_between_scores() -> None:
    """With nothing unsupported, only a score above the threshold makes a verdict unsupported."""
    text = "The red lid of the plan shines in bright gold."
    assert (await check(text, [PHONE], ports=ALL)).verdict == "unchecked"
    assert (await check(text, [PHONE], policy=CheckPolicy(unsupported_at=0.1), ports=ALL)).verdict == "unsupported"


@pytest.mark.row("4-27")
async def test_forced_deletion_answer_with_an_en_dash() -> None:
    """The flag with an en dash is the flag of the source; every name in the answer is traced."""
    source = Source(
        "s1",
        "In the portal: Overview, Delete, Apply force delete, Ok. For az vm delete use --force-deletion. For Remove-AzVm use -ForceDeletion.",
    )
    report = await check(
        "For az vm delete use –force-deletion. For Remove-AzVm use -ForceDeletion.", [source], ports=ALL
    )
    assert report.verdict == "supported"
    assert [(c.text, c.status) for c in report.claims if c.kind == "entity"] == [
        ("–force-deletion", "normalised"),
        ("Remove-AzVm", "exact"),
        ("-ForceDeletion", "exact"),
    ]


PARTS = st.lists(
    st.sampled_from(
        [
            "The lid is red.",
            "The plan costs $19 a month.",
            "It has 77 lids.",
            "Call (415) 555-0199.",
            "1. Open.\n",
            "Hello!",
            "Bright gold tones shine long.",
            "[1]",
        ]
    ),
    max_size=6,
)


@given(PARTS)
@settings(max_examples=40, deadline=None)
async def test_repaired_text_checks(parts: list[str]) -> None:
    """A repaired text holds no unsupported claim; the score lies in [0, 1] and grows with what is unsupported."""
    answer = " ".join(parts)
    report = await check(answer, [PHONE], ports=ALL)
    assert 0.0 <= report.score <= 1.0
    assert report.verdict == "unsupported" or not any(c.unsupported for c in report.claims)
    if report.repaired is not None:
        assert not any(c.unsupported for c in check_claims(report.repaired, [PHONE]))
        assert (await check(report.repaired, [PHONE], ports=ALL)).verdict in ("supported", "unchecked")


async def test_score_grows_with_unsupported_claims() -> None:
    """Two inventions weigh more than one, one more than none."""
    answers = ("The lid is red.", "The lid is red. It has 77 lids.", "The lid is red. It has 77 lids and 78 bolts.")
    scores = [(await check(answer, [PHONE], ports=ALL)).score for answer in answers]
    assert scores == sorted(scores)
    assert len(set(scores)) == 3


async def test_without_ports_only_values_are_judged() -> None:
    """Names, codes and sentences are told and left `unchecked`; a wrong number is still found and mended."""
    report = await check("Ask Nora Quill. The lid AB-12 is green. It has 77 lids.", [PHONE])
    assert {(c.kind, c.status) for c in report.claims} == {
        ("statement", "unchecked"),
        ("entity", "unchecked"),
        ("number", "absent"),
    }
    assert [layer.name for layer in report.layers if layer.verdict == "unsupported"] == ["values"]


async def test_each_layer_says_what_it_finds() -> None:
    """The union is unsupported if one layer is; a layer without claims is left out."""
    ports = CheckPorts(scorer=FixedScorer(0.9))
    report = await check("The lid is red. It has 77 lids.", [PHONE], "What colour is the lid?", ports=ports)
    told = {layer.name: layer.verdict for layer in report.layers}
    assert told["values"] == "unsupported"
    assert told["relevance"] == "supported"
    assert "entities" not in told
    assert report.verdict == "unsupported"


class _Failing:
    """A tagger and scorer whose service is down."""

    async def tag(self, text: str) -> tuple[tuple[int, int, EntityType], ...]:
        raise ServiceUnavailable("names", "no answer")

    async def relevance(self, question: str, answer: str) -> float:
        raise ServiceUnavailable("relevance", "no answer")


async def test_a_failing_service_is_noted_and_the_rest_stands() -> None:
    """Values and sentences are judged as ever; the report says what was not asked."""
    ports = CheckPorts(tagger=_Failing(), scorer=_Failing())
    report = await check("The lid is red. It has 77 lids.", [PHONE], "What colour?", ports=ports)
    assert report.verdict == "unsupported"
    assert report.relevance is None
    assert len(report.notes) == 2


async def test_tomorrow_is_a_date_once_the_time_is_known() -> None:
    """Unresolved it is `unchecked`; of the day of the conversation it agrees or does not."""
    source = Source("s", "The outage ends on 4 May 2026.")
    at = datetime(2026, 5, 3, 9, 0)
    statuses = [
        next(c.status for c in (await check("The outage ends tomorrow.", [source], at=when)).claims if c.kind == "date")
        for when in (None, at, datetime(2026, 5, 4, 9, 0))
    ]
    assert statuses == ["unchecked", "normalised", "absent"]


class Never(datetime):
    """A time on no day."""

    def date(self) -> date:
        raise ArithmeticError("the 3rd of Neverember")


async def test_what_no_source_holds_stays_condemned_where_the_rule_that_might_leave_it_open_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raising(*_parts: Any) -> Finding:
        raise ArithmeticError("a calculation")

    monkeypatch.setattr("rai.check.value_rules.likely_worked_out", raising)
    report = await check("The plan costs $23 a month.", [Source("s", "The plan is sold by the month.")], ports=ALL)
    assert [(c.status, c.rule) for c in report.claims if c.kind == "money"] == [("absent", "no-source")]
    assert any("a rule failed" in note for note in report.notes)


async def test_a_rule_that_raises_is_one_rule_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its claim is open, every other one is judged, and the report and whoever watches are told the line of ours."""

    def judged(n: int, claim: Claim, *parts: Any) -> Finding:
        if claim.kind == "money":
            raise KeyError("the words of the text")
        return placed(n, claim, *parts)

    monkeypatch.setattr(
        "rai.check.value_rules.placed", judged
    )  # no rule is known to raise, and none that is found will stay
    seen: list[Operation] = []

    @contextmanager
    def watcher(operation: Operation) -> Iterator[None]:
        seen.append(operation)
        yield

    with watched_by(watcher):
        report = await check("For help call +1 415 555 0132. The plan costs $19 a month.", [PHONE], ports=ALL)
    status = {c.kind: (c.status, c.why) for c in report.claims}
    assert status["money"] == ("unchecked", FAILED)
    assert status["phone"][0] == "exact"
    assert report.repaired is None  # an amount that is open is marked; it is struck where something speaks against it
    (note,) = report.notes
    assert re.search(r": KeyError at rai/check/value_rules\.py:\d+$", note)
    assert "words" not in note
    assert {o.rule for o in seen if isinstance(o, RuleFailed)} == {note.rpartition(": ")[2]}


async def test_a_rule_that_raises_has_no_verdict_by_another_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence quotes a source that has another amount there; what the rule would have said of it nobody knows."""

    def raising(n: int, claim: Claim, *parts: Any) -> Finding:
        raise KeyError("the words of the text")

    monkeypatch.setattr("rai.check.value_rules.missing", raising)
    report = await check("The plan costs $777 a month.", [PHONE], ports=ALL)
    assert next(c for c in report.claims if c.kind == "money").status == "unchecked"


async def test_an_answer_that_cannot_be_read_beside_its_sources_is_open_and_its_contacts_are_held_back() -> None:
    report = await check("It opens tomorrow. Call +1 415 555 0132.", [PHONE], ports=ALL, at=Never(2026, 3, 1))
    assert {c.status for c in report.claims} == {"unchecked"}
    assert report.verdict == "unsupported"
    assert "ArithmeticError" in report.notes[0]


async def test_an_answer_that_cannot_be_read_at_all_has_no_report() -> None:
    """What is not found cannot be held back. The process that reads it tells where, in none of its words."""

    class Unread(str):
        __slots__ = ()

        def __getitem__(self, key: Any) -> str:
            raise MemoryError

    with pytest.raises(MemoryError):
        await check(Unread("Call +1 415 555 0132."), [PHONE], ports=ALL)


async def test_checked_elsewhere_it_comes_to_the_same() -> None:
    answer = "The plan costs $29 a month. Call (415) 555-0132. The lid is red."
    here = await check(answer, [PHONE], "What does the plan cost?", ports=ALL)
    assert await check(answer, [PHONE], "What does the plan cost?", ports=ALL, run=shared_pool().run) == here
    assert here.repaired is not None


def test_loading_reads_in_what_the_first_check_needs() -> None:
    """In a process of its own: nothing else has read it in there."""
    program = (
        "import sys; from rai.check.provenance import load; assert 'pint' not in sys.modules; load(); "
        "assert {'pint', 'phonenumbers', 'babel'} <= set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT).returncode == 0
