"""Replies as activities: Teams' limits hold for every reply, and what is internal stays marked as internal."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.records import Citation, InternalNote, Refusal, Reply
from bot.teams.shown.answer_card import Shown
from bot.teams.shown.message_limits import (
    MAX_ABSTRACT,
    MAX_BYTES,
    MAX_CITATIONS,
    MAX_KEYWORD,
    MAX_NAME,
    MESSAGE,
    check_activity,
    size,
    utf16,
)
from bot.teams.shown.render import TOO_LONG, SourceLink, cited, plain, render, safe_markdown, shorten
from bot.view.reply import view_of
from bot.wording.conversation.card import CardWords
from grounding.query.clarify import Clarification
from rai.records import Outcome
from rai.screening.languages import unread
from tests.bot.teams.conftest import REPLY
from tests.fakes.replies import reply_of, told

Json = dict[str, Any]


def page_of(n: int) -> str:
    return f"https://bot.example/source/e1/{n}"


def citation(n: int, **changes: Any) -> Citation:
    made = Citation(n, f"Title {n}", f"https://example.com/{n}", f"doc-{n}", f"chunk-{n}", None, f"quote {n}")
    return replace(made, **changes)


def root(message: Json) -> Json:
    return dict(next(e for e in message["entities"] if e["type"] == MESSAGE))


def test_the_words_of_the_answer_are_not_changed() -> None:
    assert render(REPLY, teams=True)["text"] == REPLY.answer


def test_items_of_a_list_are_set_apart_on_teams_alone() -> None:
    """In a tight list the client leaves `[n]` as it is."""
    reply = replace(REPLY, answer="- within 30 days [1]\n- refunds take 5 days [2]")
    assert render(reply, teams=True)["text"] == "- within 30 days [1]\n\n- refunds take 5 days [2]"
    assert render(reply, teams=False)["text"].startswith(reply.answer)


def test_only_citations_whose_marker_occurs_are_attached_each_once() -> None:
    reply = replace(REPLY, citations=(citation(2), citation(1), citation(2, title="again"), citation(7)))
    assert [(c.n, c.name) for c in cited(view_of(reply))] == [(1, "Title 1"), (2, "Title 2")]
    assert [c["position"] for c in root(render(reply, teams=True))["citation"]] == [1, 2]


def test_more_than_twenty_citations_go_on_in_the_text() -> None:
    answer = " ".join(f"part [{n}]" for n in range(1, 24))
    message = render(replace(REPLY, answer=answer, citations=tuple(map(citation, range(1, 24)))), teams=True)
    assert len(root(message)["citation"]) == MAX_CITATIONS
    assert "- [21] Title 21" in message["text"]
    assert check_activity(message) == []


def test_long_and_empty_fields_are_made_to_fit() -> None:
    odd = (
        citation(1, title="T" * 300, quote="word " * 100, locator="L" * 60),
        citation(2, title="  ", quote="", locator="page 3", origin="web", tier="unlisted"),
    )
    message = render(replace(REPLY, citations=odd), teams=True)
    first, second = (c["appearance"] for c in root(message)["citation"])
    assert utf16(first["name"]) == MAX_NAME
    assert utf16(first["abstract"]) <= MAX_ABSTRACT
    assert "keywords" not in first
    assert (second["name"], second["abstract"], second["keywords"]) == (
        "doc-2",
        "doc-2",
        ["page 3", "Web, unlisted site"],
    )
    assert check_activity(message) == []


@pytest.mark.parametrize(
    ("url", "source", "link"),
    [
        ("https://example.com/a", None, "https://example.com/a"),
        ("https://example.com/a", page_of, "https://example.com/a"),
        (None, page_of, "https://bot.example/source/e1/1"),
        ("javascript:alert(1)", page_of, "https://bot.example/source/e1/1"),
        ("file:///etc/passwd", None, None),
        ("https://example.com/a b", None, None),
        (None, None, None),
    ],
)
def test_links(url: str | None, source: SourceLink | None, link: str | None) -> None:
    reply = replace(REPLY, answer="x [1]", citations=(citation(1, url=url),))
    [claim] = root(render(reply, teams=True, source=source))["citation"]
    assert claim["appearance"].get("url") == link


def test_the_sensitivity_label_is_the_messages_by_its_id() -> None:
    message = render(REPLY, teams=True, shown=Shown(CardWords("en"), label="8d3c-label"))
    [root] = message["entities"]
    assert root["usageInfo"] == {"@type": "CreativeWork", "@id": "8d3c-label"}
    assert check_activity(message) == []
    assert "usageInfo" not in render(REPLY, teams=True, shown=Shown(CardWords("en")))["entities"][0]
    assert "entities" not in render(Reply(Outcome.FAILED, "No."), teams=True, shown=Shown(CardWords("en"), label="x"))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_what_was_generated_is_labelled_as_generated(outcome: Outcome) -> None:
    message = render(replace(REPLY, outcome=outcome), teams=True)
    delivered = outcome in (Outcome.ANSWERED, Outcome.REPAIRED)
    assert ("entities" in message) == delivered
    if delivered:
        assert root(message)["additionalType"] == ["AIGeneratedContent"]


def test_what_is_internal_is_marked_and_stands_below_the_answer() -> None:
    notes = (InternalNote("Escalation", "d", "c", "Call the *duty* manager\non 5555"),)
    for teams in (True, False):
        text = render(replace(REPLY, internal_notes=notes), teams=teams)["text"]
        below = text.removeprefix(REPLY.answer)
        mark = below.index("Internal, not for the customer")
        assert below.index("duty") > mark
        assert all(line.startswith(">") for line in below[mark:].splitlines()[1:])


def test_what_comes_closest_is_listed_under_its_own_heading() -> None:
    reply = Reply(
        outcome=Outcome.INSUFFICIENT,
        answer="Nothing.",
        offered=(replace(citation(1), quote=""),),
        offered_as="Am nächsten",
    )
    text = render(reply, teams=True)["text"]
    assert "**Am nächsten**\n\n- Title 1" in text
    assert "You may want to read" not in text


def test_offered_sources_and_notes_are_listed() -> None:
    reply = reply_of(
        outcome=Outcome.WITHHELD,
        answer="No supported answer.",
        offered=(citation(1),),
        notes=("answered from the knowledge base only",),
    )
    text = render(reply, teams=True)["text"]
    assert "**You may want to read**\n\n- Title 1" in text
    assert "_answered from the knowledge base only_" in text
    assert "channelData" not in render(reply, teams=True)  # nothing in the ledger to give feedback on


def test_a_quote_in_place_of_an_answer_is_not_cut_before_its_point() -> None:
    quote = f"Opened microSD cards {'and whatever else was unsealed ' * 6}cannot be returned."
    reply = reply_of(
        outcome=Outcome.WITHHELD, answer="No supported answer.", offered=(replace(citation(1), quote=quote),)
    )
    assert f'"{quote}"' in render(reply, teams=True)["text"]


def test_a_note_that_is_for_the_record_alone_is_not_shown() -> None:
    reply = told(
        REPLY, notes=(unread("Wo ist meine Bestellung?") or "", "tavily: failed; answered from the knowledge base only")
    )
    text = render(reply, teams=True)["text"]
    assert "do not read" not in text
    assert text.endswith("_answered from the knowledge base only_")


def test_a_document_cannot_plant_markup() -> None:
    title = "<b>x</b> [click](https://evil.example) ![i](https://evil.example/?q=1)"
    text = render(replace(REPLY, citations=(citation(1, title=title, url=None),)), teams=False)["text"]
    assert "[click](" not in text
    assert "<b>" not in text
    assert "![i](" not in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a < b and 3 <4", "a < b and 3 <4"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("<!-- x -->", "&lt;!-- x -->"),
        ("![a](https://x.example)", "!\u200b[a](https://x.example)"),
        ("Great![1]", "Great![1]"),
        ("**bold** [a](https://x.example)", "**bold** [a](https://x.example)"),
    ],
)
def test_safe_markdown(text: str, safe: str) -> None:
    assert safe_markdown(text) == safe


ASKED = Clarification(
    "Which one do you mean: Wren X1, Wren *X2* or another?", ("Wren X1", "Wren *X2*"), "two titles answer alike"
)


@pytest.mark.parametrize("teams", [True, False])
def test_a_question_back_stands_above_the_sources_with_its_choices(teams: bool) -> None:
    reply = replace(REPLY, clarification=ASKED, offered=(citation(4),))
    message = render(reply, teams=teams, question="How long does it charge?")
    text = message["text"]
    assert "**Ask back:** Which one do you mean: Wren X1, Wren \\*X2\\* or another?" in text
    assert text.index("Ask back") < text.index("Sources" if not teams else "You may want to read")
    assert message["suggestedActions"]["actions"] == [
        {"type": "imBack", "title": option, "value": f"For {option}: How long does it charge?"}
        for option in ASKED.options
    ]
    assert check_activity(message) == []


def test_a_question_with_which_the_answer_ends_is_not_said_again() -> None:
    question = "Is it the Wren X1 or the Wren X2?"
    asked = Clarification(question, ("Wren X1", "Wren X2"), "why")
    reply = replace(REPLY, answer=f"{REPLY.answer} {question}", clarification=asked)
    message = render(reply, teams=False, question="How long?")
    assert message["text"].count(question) == 1
    assert len(message["suggestedActions"]["actions"]) == 2


def test_choices_are_shown_only_where_a_chat_has_buttons_for_them() -> None:
    reply = replace(REPLY, clarification=ASKED)
    assert "suggestedActions" not in render(reply, teams=True)
    assert "Ask back" in render(reply, teams=True)["text"]
    assert "suggestedActions" not in render(
        replace(reply, clarification=replace(ASKED, options=())), teams=True, question="x"
    )
    assert "suggestedActions" not in render(REPLY, teams=True, question="x")
    assert "suggestedActions" not in render(reply, teams=True, question="x" * 1000)


@pytest.mark.parametrize("teams", [True, False])
def test_our_own_words_are_in_the_language_of_the_question(teams: bool) -> None:
    quoted = replace(REPLY, answer="Quoted from the sources:\n- Offen bis 9 [1].")
    asked = replace(quoted, clarification=Clarification("Welches Gerät?", ("Wren X1",), "why"))
    text = render(asked, teams=teams, shown=Shown(CardWords("de")))["text"]
    assert "Aus den Quellen zitiert:" in text
    assert "**Rückfrage:**" in text
    assert "Quoted" not in text
    assert "Ask back" not in text


def test_a_refusal_keeps_its_card_and_shows_no_choices() -> None:
    refused = replace(REPLY, outcome=Outcome.BLOCKED, refusal=Refusal("jailbreak", "en"), clarification=ASKED)
    message = render(refused, teams=True, question="x")
    assert check_activity(message) == []
    assert message["attachments"]
    assert "suggestedActions" not in message


def test_a_question_back_outlives_the_asides_of_a_long_message() -> None:
    long = told(REPLY, notes=("n" * 200,) * 100, clarification=ASKED)
    text = render(long, teams=True, question="x")["text"]
    assert text.startswith(REPLY.answer)
    assert "Ask back" in text
    assert "nnn" not in text


def test_an_answer_is_never_cut_in_the_middle() -> None:
    fits = told(REPLY, notes=("n" * 200,) * 100)
    message = render(fits, teams=True)
    assert message["text"] == REPLY.answer
    assert render(replace(REPLY, answer="word " * 10_000), teams=True)["text"] == TOO_LONG


_text = st.text(st.characters(codec="utf-8"), max_size=400)
_citations = st.builds(
    Citation,
    n=st.integers(0, 30),
    title=_text,
    url=st.none() | _text | st.just("https://example.com/x"),
    doc_id=st.text("abc-", min_size=1, max_size=9),
    chunk_id=st.just("c"),
    locator=st.none() | _text,
    quote=_text,
    origin=st.sampled_from(["kb", "web"]),
)
_replies = st.builds(
    reply_of,
    outcome=st.sampled_from(list(Outcome)),
    answer=st.lists(_text | st.integers(0, 30).map("[{}]".format), max_size=12).map(" ".join).map(lambda t: t + "."),
    citations=st.lists(_citations, max_size=30).map(tuple),
    offered=st.lists(_citations, max_size=3).map(tuple),
    notes=st.lists(_text, max_size=3).map(tuple),
    internal_notes=st.lists(st.builds(InternalNote, _text, _text, _text, _text), max_size=3).map(tuple),
    entry_id=st.sampled_from(["", "entry-1"]),
    clarification=st.none() | st.builds(Clarification, _text, st.lists(_text, max_size=4).map(tuple), _text),
)


@given(reply=_replies, teams=st.booleans(), question=st.none() | _text)
@settings(max_examples=80, deadline=None)
def test_every_reply_can_be_sent(reply: Reply, teams: bool, question: str | None) -> None:
    message = render(reply, teams=teams, source=page_of, question=question)
    assert check_activity(message) == []
    assert size(message) <= MAX_BYTES


@given(text=st.text(), limit=st.integers(2, 60))
def test_shortened_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert utf16(short) <= limit
    assert short == text or text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize("limit", range(25, 50))
def test_no_contact_is_shortened(limit: int) -> None:
    short = shorten("We are there, so call +49 30 12345678 now and tell us", limit)
    assert "+49" not in short or "+49 30 12345678" in short


@given(text=st.text())
def test_plain_text_loses_nothing(text: str) -> None:
    assert plain(text).replace("\\", "") == text.replace("\\", "")


GOOD = render(replace(REPLY, citations=(citation(1, locator="page 3"), citation(2))), teams=True)
STREAM = {"type": "streaminfo", "streamType": "informative", "streamSequence": 1}


def _broken(path: list[Any], value: Any) -> Json:
    message = copy.deepcopy(GOOD)
    place: Any = message
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return message


CLAIM = ["entities", 0, "citation", 0]
LOOK = [*CLAIM, "appearance"]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (_broken(["type"], "event"), "type"),
        (_broken(["text"], "x" * 20_000 + "[1][2]"), "larger"),
        (_broken(["entities"], [GOOD["entities"][0]] * 2), "more than one root"),
        (_broken(["entities", 0, "@type"], "Thing"), "@type"),
        (_broken(["entities", 0, "citation"], [GOOD["entities"][0]["citation"][0]] * 21), "more than 20"),
        (_broken([*CLAIM, "position"], 2), "unique"),
        (_broken([*CLAIM, "position"], 0), "positive"),
        (_broken([*CLAIM, "position"], 9), "marker"),
        (_broken([*LOOK, "name"], None), "name"),
        (_broken([*LOOK, "name"], "x" * 81), "name"),
        (_broken([*LOOK, "name"], "😀" * 41), "name"),
        (_broken([*LOOK, "abstract"], "x" * 161), "abstract"),
        (_broken([*LOOK, "keywords"], ["a", "b", "c", "d"]), "keywords"),
        (_broken([*LOOK, "keywords"], ["x" * (MAX_KEYWORD + 1)]), "keyword"),
        (_broken([*LOOK, "url"], "javascript:alert(1)"), "url"),
        (_broken([*LOOK, "url"], None), "url"),
        (_broken([*LOOK, "image"], {"@type": "ImageObject", "name": "Cat"}), "icon"),
        (_broken([*LOOK, "usageInfo"], {"@id": "label-2"}), "sensitivity"),
        (_broken(["channelData"], {"feedbackLoop": {"type": "x"}}), "feedback"),
        (_broken(["channelData"], {"feedbackLoop": {"type": "default"}, "feedbackLoopEnabled": True}), "twice"),
        (
            {**GOOD, "suggestedActions": {"actions": []}, "attachments": [{}]} | {"suggestedActions": {"to": []}},
            "suggested",
        ),
        ({"type": "typing", "text": "x", "entities": [{**STREAM, "streamType": "odd"}]}, "stream type"),
        ({"type": "message", "text": "x", "entities": [STREAM]}, "does not fit"),
        ({"type": "typing", "text": "", "entities": [STREAM]}, "without text"),
        ({"type": "typing", "text": "x" * 1001, "entities": [STREAM]}, "informative"),
        ({"type": "typing", "text": "x", "entities": [{**STREAM, "streamSequence": 2}]}, "stream id"),
        ({"type": "typing", "text": "x", "entities": [{**STREAM, "streamSequence": 0}]}, "sequence"),
        ({"type": "message", "text": "x", "entities": [{"type": "streaminfo", "streamType": "final"}]}, "stream id"),
        ({"type": "typing", "text": "x", "entities": [STREAM], "attachments": [{}]}, "attachments"),
        ({"type": "typing", "channelData": {"feedbackLoop": {"type": "default"}}}, "feedback"),
    ],
)
def test_every_limit_of_teams_is_checked(message: Json, problem: str) -> None:
    assert [p for p in check_activity(message) if problem in p], check_activity(message)


def test_what_is_within_the_limits_passes() -> None:
    assert check_activity(GOOD) == []
    assert check_activity(_broken([*LOOK, "name"], "x" * 80)) == []
    assert check_activity(_broken([*LOOK, "abstract"], "x" * 160)) == []
    assert check_activity({"type": "typing"}) == []
    assert check_activity({"type": "typing", "text": "x" * 1000, "entities": [STREAM]}) == []
