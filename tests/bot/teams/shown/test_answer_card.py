"""The card below an answer: every outcome tells its own and offers the next step, and Teams takes each card."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.records import Ask, Citation, OnStage, Refusal, Reply, Rework, Struck
from bot.teams.shown.answer_card import (
    GAP,
    VERSION,
    Gap,
    Shown,
    answer_card,
    card_of,
    read_gap,
    read_rework,
    read_web,
    text_block,
)
from bot.teams.shown.message_limits import MAX_BYTES, check_activity, check_card, size
from bot.teams.shown.render import render
from bot.turn.rework import offered_reworks
from bot.view.reply import view_of
from bot.view.verdict import changes, verdict_line
from bot.wording.conversation.card import CardWords
from grounding.query.clarify import Clarification
from grounding.quoting.coverage import Covered
from rai.records import Claim, EvidenceSpan, Kind, Outcome, Status
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer
from tests.fakes.channel import FakeChannel
from tests.fakes.replies import told

Json = dict[str, Any]
WORDS = CardWords("en")
SHOWN = Shown(
    WORDS, asked="How long does it charge?", evidence="https://attest.example/evidence/e1", dates={1: "2026-03-01"}
)
ANSWER = "It charges in 5 h [1]. It weighs 2 kg [1]."
DRAFT = "It charges in 4 h [1]. It weighs 2 kg [1]. It floats."
MANUAL = Citation(1, "Manual", None, "manual", "c1", "Battery", "charges in 5 h")


def claim(text: str, within: str, kind: Kind = "quantity", status: Status = "exact", **more: Any) -> Claim:
    start = within.index(text)
    return Claim(
        kind, text, start, start + len(text), status=status, evidence=(EvidenceSpan("c1", "text", 0, 3, "5 h"),), **more
    )


FIVE = EvidenceSpan("c1", "text", 11, 14, "5 h")
REPAIRED = replace(
    REPLY,
    outcome=Outcome.REPAIRED,
    answer=ANSWER,
    citations=(MANUAL,),
    claims=(
        claim("5 h", ANSWER),
        claim("2 kg", ANSWER, status="unchecked"),
        claim("It weighs 2 kg [1].", ANSWER, "statement", "entailed"),
    ),
    draft=Struck(
        DRAFT,
        (
            claim("4 h", DRAFT, status="contradicted", instead=FIVE),
            claim("It charges in 4 h [1].", DRAFT, "statement", "contradicted"),
            claim("It floats.", DRAFT, "statement", "absent"),
        ),
    ),
)
WITHHELD = replace(
    REPLY,
    outcome=Outcome.WITHHELD,
    answer="I am holding it back.",
    citations=(),
    offered=(MANUAL,),
    draft=Struck("It charges in 4 h.", (claim("4 h", "It charges in 4 h.", status="contradicted"),)),
)
INSUFFICIENT = Reply(Outcome.INSUFFICIENT, "Not enough.", entry_id="e1", offered=(MANUAL,))
FAILED = Reply(Outcome.FAILED, "Please try again.", code="model_unavailable", entry_id="e1")
HELD = told(WITHHELD, mode={"generator": "model:x"})
ALL = {"answered": REPLY, "repaired": REPAIRED, "withheld": WITHHELD, "insufficient": INSUFFICIENT, "failed": FAILED}

REWORKS = offered_reworks(REPLY.answer, drafts=True)


def card(reply: Reply, shown: Shown = SHOWN) -> Json:
    made = answer_card(view_of(reply), shown)
    assert made is not None
    return dict(made["content"])


def said(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False)


def offered(content: Json) -> list[Json]:
    rows = [item["actions"] for item in content["body"] if item["type"] == "ActionSet"]
    return [action for row in (*rows, content.get("actions", ())) for action in row]


def words_of(block: Json) -> str:
    """The words of a block of literal text."""
    return "".join(run["text"] for run in block["inlines"])


def buttons(content: Json) -> list[str]:
    return [action["title"] for action in offered(content)]


def part(content: Json, name: str) -> Json:
    return next(dict(item) for item in content["body"] if item.get("id") == name)


@pytest.mark.parametrize("language", list(CardWords.texts()))
@pytest.mark.parametrize("outcome", list(ALL))
def test_teams_takes_each_card_in_each_language(outcome: str, language: str) -> None:
    message = render(ALL[outcome], teams=True, shown=replace(SHOWN, words=CardWords(language), reworks=REWORKS))
    assert check_activity(message) == []
    [attached] = message["attachments"]
    assert attached["content"]["version"] == VERSION
    assert message["summary"] == attached["content"]["fallbackText"] != ""


def test_each_outcome_reads_differently_and_offers_its_own_step() -> None:
    heads = {name: said(card(reply)["body"][0]) for name, reply in ALL.items()}
    assert len(set(heads.values())) == len(ALL)
    assert "Ask without it" in buttons(card(HELD))
    assert "Ask without it" not in buttons(card(WITHHELD)), "who quotes cannot leave out"
    assert "Sources" in buttons(card(WITHHELD))
    assert "Report a gap" in buttons(card(INSUFFICIENT))
    assert "Try again" in buttons(card(FAILED))
    assert not {"Try again", "Report a gap", "Ask without it"} & set(buttons(card(REPLY)))
    assert all(buttons(card(reply))[-1] == "Open evidence" for reply in ALL.values())


def test_the_verdict_names_what_was_corrected_and_counts_what_was_taken_out() -> None:
    view = view_of(REPAIRED)
    assert verdict_line(view, WORDS) == "2 values checked · 1 corrected: 4 h → 5 h · 1 part taken out · 1 not decided"
    assert verdict_line(view, CardWords("de")) == (
        "2 Werte geprüft · 1 berichtigt: 4 h → 5 h · 1 Teil gestrichen · 1 nicht entschieden"
    )
    assert [(c.claim.text, c.now) for c in changes(view)] == [("4 h", "5 h"), ("It floats.", None)]
    assert verdict_line(view_of(WITHHELD), WORDS) == ""
    assert verdict_line(view_of(REPLY), WORDS) == "No values in this answer"


def test_values_sources_and_reasons_are_folded_and_one_unfolds_at_a_time() -> None:
    content = card(REPAIRED)
    rows = part(content, "claims")["items"]
    texts_of = [[words_of(column["items"][0]) for column in row["columns"]] for row in rows]
    assert texts_of == [["2 kg", "not decided", "[1] Manual"], ["5 h", "same in the source", "[1] Manual"]]
    assert "as of 1 Mar 2026" in said(part(content, "sources"))
    assert "4 h → 5 h: the source says otherwise" in said(part(content, "why"))
    assert "It floats.: in no source" in said(part(content, "why"))
    toggle = next(a for a in offered(content) if a["title"] == "Why?")
    assert toggle["targetElements"][0] == "why"
    assert {t["elementId"] for t in toggle["targetElements"][1:]} == {"claims", "sources", "customer"}


def test_a_withheld_draft_is_shown_with_what_no_source_supports_struck_out() -> None:
    [block] = [i for i in card(WITHHELD)["body"] if any(r.get("strikethrough") for r in i.get("inlines", ()))]
    struck = [run["text"] for run in block["inlines"] if run.get("strikethrough")]
    assert struck == ["4 h"]
    assert "".join(run["text"] for run in block["inlines"]) == "It charges in 4 h."


def test_ask_without_it_names_what_to_leave_out() -> None:
    [action] = [a for a in offered(card(HELD)) if a["title"] == "Ask without it"]
    assert action["data"]["msteams"]["text"] == "How long does it charge?\nPlease leave this out: 4 h"


def test_a_part_of_a_value_is_no_correction_of_it() -> None:
    """An address that was taken out is not "corrected" to the 4 that stands somewhere else in the answer."""
    draft = "Send it to 0 place du Beffroi, 99400 Valmontel. It is 2 km away, 3 km by bus."
    wrong = (
        claim(
            "0 place du Beffroi, 99400 Valmontel",
            draft,
            "entity",
            "absent",
            instead=EvidenceSpan("c1", "text", 0, 1, "4"),
        ),
        claim("2 km", draft, status="absent", instead=EvidenceSpan("c1", "text", 0, 4, "3 km")),
    )
    reply = replace(REPAIRED, answer="Four or 4 of them, 3 km by bus and 2 km on foot.", draft=Struck(draft, wrong))
    assert [c.now for c in changes(view_of(reply))] == [None, None]


@pytest.mark.parametrize("generator", ["model:x", "demo"])
def test_a_draft_that_was_held_back_can_be_asked_for_again(generator: str) -> None:
    held = card(told(WITHHELD, mode={"generator": generator}))
    assert {"Ask without it", "Try again"} <= set(buttons(held))
    assert "Try again" not in buttons(card(WITHHELD)), "who quotes quotes the same again"


def test_what_is_said_twice_stands_once_among_the_values() -> None:
    answer = "It charges in 5 h [1]. Yes, 5 h [1]."
    again = Claim("quantity", "5 h", 28, 31, status="exact", evidence=(EvidenceSpan("c1", "text", 0, 3, "5 h"),))
    rows = part(card(replace(REPAIRED, answer=answer, claims=(claim("5 h", answer), again))), "claims")["items"]
    assert len(rows) == 1


def test_the_web_is_offered_where_it_can_be_searched_and_was_not() -> None:
    assert "Search the web" not in buttons(card(INSUFFICIENT))
    content = card(INSUFFICIENT, replace(SHOWN, web=True))
    [action] = [a for a in offered(content) if a["title"] == "Search the web"]
    sent = action["data"]["msteams"]
    assert sent["text"] == "How long does it charge?"
    assert read_web(sent["value"])
    assert read_web(json.dumps(sent["value"]))
    assert not read_web({"verb": GAP})
    assert "Search the web" not in buttons(card(REPLY, replace(SHOWN, web=True)))


async def test_the_button_asks_once_more_with_the_web(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start(answer=FakeAnswer(INSUFFICIENT), web="sample")
    await bot.post(channel.inbound("How long does it charge?"))
    [message] = await channel.until_messages(1)
    [action] = [a for a in offered(message["attachments"][0]["content"]) if a["title"] == "Search the web"]
    pressed = action["data"]["msteams"]
    await bot.post(channel.inbound(pressed["text"], value=pressed["value"]))
    await channel.until_messages(2)
    assert [(ask.question, ask.web) for ask in bot.answer.asked] == [
        ("How long does it charge?", False),
        ("How long does it charge?", True),
    ]


def test_what_is_missing_is_named() -> None:
    missing = (Covered("glass break sensor", answered=False),)
    assert "No source answers this: glass break sensor" in said(card(replace(INSUFFICIENT, coverage=missing)))
    assert "No source answers this" not in said(card(INSUFFICIENT)), "the question stands above"


def test_small_talk_refusals_and_what_has_no_record_have_no_card() -> None:
    for reply in (
        replace(REPLY, intent="greeting"),
        replace(REPLY, entry_id=""),
        Reply(Outcome.BLOCKED, "No.", entry_id="e1", refusal=Refusal("jailbreak", "en")),
    ):
        assert answer_card(view_of(reply), SHOWN) is None


def test_elsewhere_the_verdict_is_a_line_of_the_text() -> None:
    message = render(REPAIRED, teams=False, shown=SHOWN)
    assert "attachments" not in message
    assert message["text"].endswith("_2 values checked · 1 corrected: 4 h → 5 h · 1 part taken out · 1 not decided_")


def test_no_score_rule_or_service_is_named() -> None:
    known = told(REPAIRED, notes=("compose: openai: failed (status 500)",))
    known = replace(
        known, claims=tuple(replace(c, rule="cell-role", p=0.93, why="rule cell-role of c1") for c in known.claims)
    )
    text = said(render(known, teams=True, shown=SHOWN))
    assert not any(word in text for word in ("openai", "cell-role", "0.93"))


_words = st.text(st.characters(codec="utf-8"), max_size=300)


@settings(max_examples=60, deadline=None)
@given(st.lists(_words, max_size=40), _words, st.sampled_from(list(ALL)), st.booleans())
def test_whatever_a_reply_holds_teams_takes_the_message(
    values: list[str], title: str, outcome: str, drafts: bool
) -> None:
    answer = " ".join(["The answer [1].", *values])[:3000]
    claims = tuple(Claim("number", v, 0, len(v), status="absent", evidence=()) for v in values)
    made = replace(
        ALL[outcome],
        answer=answer,
        claims=claims,
        draft=Struck(" ".join(values), claims),
        citations=(replace(MANUAL, title=title),),
        clarification=Clarification(title or "x", tuple(values[:3]), "why"),
    )
    options = tuple((value, value) for value in values[:3])
    made = told(made, mode={"generator": "model:x" if drafts else "extractive"})
    message = render(made, teams=True, shown=replace(SHOWN, choices=options, reworks=REWORKS))
    assert check_activity(message) == []
    assert size(message) <= MAX_BYTES


def test_the_text_for_the_customer_stands_in_the_card_of_an_answer_alone() -> None:
    assert "Items may be returned within 30 days. Refunds take 5 business days." in said(part(card(REPLY), "customer"))
    assert not any(item.get("id") == "customer" for item in card(WITHHELD)["body"])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"body": [{"type": "ActionSet", "actions": [{"type": "Action.Submit"}] * 7}]}, "more than 6 buttons in a row"),
        ({"version": "1.6"}, "card of a version that Teams does not show"),
        ({"body": [{"type": "Media"}]}, "card with Media"),
        (
            {"body": [{"type": "Container", "id": "a", "items": [{"type": "TextBlock", "id": "a"}]}]},
            "ids of a card are not unique",
        ),
        ({"actions": [{"type": "Action.OpenUrl", "url": "javascript:x"}]}, "card opens what is not http or https"),
        (
            {"actions": [{"type": "Action.ToggleVisibility", "targetElements": ["b"]}]},
            "card toggles b, which it has not",
        ),
    ],
)
def test_a_card_that_teams_would_not_show_is_found(changed: Json, problem: str) -> None:
    assert check_card({**card_of([text_block("x")], "x"), **changed}) == [problem]
    assert check_card(None) == ["attachment is no Adaptive Card"]


@pytest.mark.parametrize(
    "value", [None, "x", {}, {"verb": "other", "entry_id": "e1"}, {"verb": GAP}, {"action": {"data": 7}}]
)
def test_what_is_no_gap_is_none(value: object) -> None:
    assert read_gap(value) is None
    assert read_gap({"action": {"data": {"verb": GAP, "entry_id": "e1"}}}) == Gap("e1", "en")


async def test_a_gap_is_recorded_once_and_only_for_what_was_asked_here(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start(answer=FakeAnswer(INSUFFICIENT))
    asked = {"conversation": "a:chat-1", "question": "How long does it charge?"}
    open_ = replace(INSUFFICIENT, coverage=(Covered("glass break sensor", answered=False),))
    mine = await bot.ledger.append("turn", {"ask": asked, "reply": open_.as_json()})
    other = await bot.ledger.append("turn", {"ask": {"conversation": "a:chat-2"}})

    async def press(entry_id: str, language: str = "de") -> Json:
        data = {"verb": GAP, "entry_id": entry_id, "language": language}
        value = {"action": {"type": "Action.Execute", "verb": GAP, "data": data}}
        reply = await bot.post(channel.inbound(None, type="invoke", name="adaptiveCard/action", value=value))
        assert reply.status == 200
        return dict(await reply.json())

    for _ in range(2):
        content = (await press(mine.entry_id))["value"]
        assert CardWords("de")("gap_told") in said(content)
        assert "glass break sensor" in said(content), "the card stays"
        assert CardWords("de")("gap") not in buttons(content)
    assert (await press(other.entry_id))["statusCode"] == 400
    assert (await press("e99"))["statusCode"] == 400
    [body] = bot.ledger.of("feedback")
    assert (body["reaction"], body["entry_id"], body["actor"]["tenant"]) == ("gap", mine.entry_id, "tenant-1")
    submitted = {"verb": GAP, "entry_id": mine.entry_id, "language": "fr"}
    await bot.post(channel.inbound(None, value=submitted))
    [message] = await channel.until_messages(1)
    assert message["text"] == CardWords("fr")("gap_told")


async def test_the_card_comes_with_the_answer_over_the_wire(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start(answer=FakeAnswer(REPAIRED), port=3978)
    await bot.post(channel.inbound("How long does it charge?"))
    [message] = await channel.until_messages(1)
    content = message["attachments"][0]["content"]
    assert content["fallbackText"].startswith("2 values checked · 1 corrected: 4 h → 5 h")
    assert content["actions"][-1]["url"].startswith("http://127.0.0.1:3978/evidence/entry-1?exp=")


def made_of(content: Json) -> list[Json]:
    """The buttons that make something else of the answer."""
    return [button for row in part(content, "rework")["items"] for button in row["actions"]]


def test_what_can_be_made_of_an_answer_is_a_button_that_names_it() -> None:
    content = card(REPLY, replace(SHOWN, reworks=REWORKS))
    assert [button["title"] for button in made_of(content)] == [
        *("E-mail", "Chat message", "Shorter", "Friendlier"),
        *("Deutsch", "Français", "Español", "Italiano", "Português", "Nederlands"),
    ]
    sent = [button["data"]["msteams"] for button in made_of(content)]
    assert [read_rework(each["value"]) for each in sent] == [replace(r, entry_id="entry-1") for r in REWORKS]
    assert [read_rework(json.dumps(each["value"])) for each in sent] == [
        replace(r, entry_id="entry-1") for r in REWORKS
    ]
    assert (sent[2]["text"], sent[4]["text"]) == ("Shorter", "Auf Deutsch")
    assert "Rework" in buttons(content)
    for reply in (WITHHELD, INSUFFICIENT, FAILED):
        assert "Rework" not in buttons(card(reply, replace(SHOWN, reworks=REWORKS)))


def test_without_a_model_only_fewer_quotes_are_offered_and_only_of_several() -> None:
    assert offered_reworks("Quoted:\n- a [1]\n- b [2]", drafts=False) == (Rework("shorter"),)
    assert offered_reworks("Quoted:\n- a [1]", drafts=False) == ()
    german = offered_reworks("Die Clips werden 30 Tage lang aufbewahrt und nicht gelöscht [1].", drafts=True)
    assert [r.language for r in german if r.how == "translate"] == ["en", "fr", "es", "it", "pt", "nl"]


@pytest.mark.parametrize(
    "value",
    [
        *(None, "x", "{", [], {}, {"verb": "rework"}, {"verb": "rework", "how": "delete", "entry_id": "e"}),
        *({"verb": "rework", "how": "shorter"}, {"verb": "rework", "how": "shorter", "entry_id": 7}),
    ],
)
def test_what_is_no_rework_is_none(value: object) -> None:
    assert read_rework(value) is None


async def test_a_pressed_rework_is_asked_of_its_entry_and_only_its_text_is_remembered(
    bots: Bots, channel: FakeChannel
) -> None:
    class Reworking(FakeAnswer):
        async def __call__(self, ask: Ask, on_stage: OnStage | None) -> Reply:
            self.reply = told(REPLY, ask=ask, mode={"generator": "model:x"}, entry_id=f"entry-{len(self.asked) + 1}")
            return await super().__call__(ask, on_stage)

    bot = await bots.start(answer=Reworking())
    await bot.post(channel.inbound("What is the return window?"))
    [message] = await channel.until_messages(1)
    shorter = next(b for b in made_of(message["attachments"][0]["content"]) if b["title"] == "Shorter")
    sent = shorter["data"]["msteams"]
    await bot.post(channel.inbound(sent["text"], value=sent["value"]))
    [_, reworked] = await channel.until_messages(2)
    assert bot.answer.asked[1].rework == Rework("shorter", "entry-1")
    assert bot.answer.asked[1].answered == "entry-1"
    assert "Try again" not in said(reworked["attachments"][0]["content"])
    await bot.post(channel.inbound("And the refund?"))
    await channel.until_messages(3)
    assert [t.text for t in bot.answer.asked[2].history] == ["What is the return window?", REPLY.answer, REPLY.answer]


def verdict_colour(reply: Reply) -> str:
    content = card(reply)
    line = verdict_line(view_of(reply), WORDS)
    [run] = [run for item in content["body"] for run in item.get("inlines", ()) if run["text"] == line]
    return str(run["color"])


GREEN = replace(REPAIRED, outcome=Outcome.ANSWERED, draft=None, claims=(claim("5 h", ANSWER),))


@pytest.mark.parametrize(
    ("reply", "colour"),
    [
        pytest.param(GREEN, "Good", id="each value stands in a source"),
        pytest.param(replace(GREEN, claims=()), "Default", id="nothing was checked"),
        pytest.param(replace(GREEN, citations=()), "Default", id="a summary rests on what was said"),
        pytest.param(
            replace(GREEN, coverage=(Covered("a", answered=True), Covered("b", answered=False))),
            "Default",
            id="a part is left open",
        ),
        pytest.param(
            replace(GREEN, clarification=Clarification("Which one: A or B?", ("A", "B"), "why")),
            "Default",
            id="it is asked back which is meant",
        ),
        pytest.param(
            replace(GREEN, claims=(claim("5 h", ANSWER, status="unchecked"),)), "Default", id="a value is in doubt"
        ),
    ],
)
def test_green_is_what_sources_say_and_nothing_is_left_open(reply: Reply, colour: str) -> None:
    assert verdict_colour(reply) == colour


def test_what_not_everyone_may_read_is_marked_where_it_is_copied() -> None:
    second = replace(MANUAL, n=2, title="Desk notes", chunk_id="c2")
    answer = "It charges in 5 h [1]. We may give 10 % off [2]."
    reply = replace(GREEN, answer=answer, citations=(MANUAL, second), claims=(claim("5 h", answer),))
    content = card(reply, replace(SHOWN, internal={2}))
    head, text = part(content, "customer")["items"]
    assert words_of(head) == WORDS("look_internal")
    assert words_of(text) == "It charges in 5 h. We may give 10 % off [internal]."
    first, other = (words_of(line) for line in part(content, "sources")["items"])
    assert WORDS("not_for_all") not in first
    assert other.endswith(WORDS("not_for_all"))
    open_to_all = part(card(reply), "customer")["items"]
    assert [words_of(item) for item in open_to_all] == [WORDS("customer"), "It charges in 5 h. We may give 10 % off."]
