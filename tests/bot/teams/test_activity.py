"""What is read out of an activity: the question, the pasted conversation, the feedback, the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.records import Actor
from bot.settings.load import load_settings
from bot.teams.activity import actor_of, addressed, question_text, read_feedback, user_of

Json = dict[str, Any]


def message(text: str | None, *, channel: str = "msteams", entities: list[Json] | None = None) -> Json:
    return {
        "type": "message",
        "id": "m1",
        "channelId": channel,
        "serviceUrl": "https://smba.trafficmanager.net/",
        "conversation": {"id": "a:1"},
        "from": {"id": "29:u", "aadObjectId": "oid"},
        "recipient": {"id": "28:bot"},
        "text": text,
        "entities": entities,
    }


BOT = {"type": "mention", "text": "<at>Attest</at>", "mentioned": {"id": "28:bot"}}
ADA = {"type": "mention", "text": '<at id="1">Ada</at>', "mentioned": {"id": "29:ada"}}


@pytest.mark.parametrize(
    ("text", "entities", "question"),
    [
        ("<at>Attest</at> what now?", [BOT], "what now?"),
        ("ask <at>Attest</at>&nbsp;about <at>Attest</at> lamps", [BOT, BOT], "ask about lamps"),
        ('<at>Attest</at> tell <at id="1">Ada</at>', [BOT, ADA], "tell Ada"),
        ("is 5 &lt; 6 &amp; 7?", None, "is 5 < 6 & 7?"),
        ("a\r\nb\xa0 c", None, "a\nb c"),
        ("x", [{"type": "mention"}, {"type": "mention", "text": "x", "mentioned": None}, {"type": "clientInfo"}], "x"),
        ("x", [{"type": "mention", "text": "", "mentioned": {"id": "28:bot"}}], "x"),
        (None, None, ""),
    ],
)
def test_question(text: str | None, entities: list[Json] | None, question: str) -> None:
    assert question_text(message(text, entities=entities)) == question


def test_only_teams_text_is_unescaped() -> None:
    assert question_text(message("&lt;b&gt;", channel="emulator")) == "&lt;b&gt;"


@pytest.mark.parametrize(
    ("feedback", "text"),
    [
        ('{"feedbackText":"good"}', "good"),
        ({"feedbackText": "good"}, "good"),
        ("good", "good"),
        ("{broken", "{broken"),
        ('"quoted"', '"quoted"'),
        ("[" * 100_000, ("[" * 100_000)[:2000]),
        ('{"other":1}', ""),
        ({"feedbackText": 5}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_feedback_forms(feedback: Any, text: str) -> None:
    read = read_feedback({"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": feedback}})
    assert read is not None
    assert (read.reaction, read.text) == ("like", text)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        [],
        {},
        {"actionName": "feedback"},
        {"actionName": "feedback", "actionValue": "like"},
        {"actionName": "feedback", "actionValue": {"reaction": "love"}},
        {"actionName": "feedback", "actionValue": {"reaction": ["like"]}},
        {"actionName": "other", "actionValue": {"reaction": "like"}},
    ],
)
def test_what_is_not_feedback(value: Any) -> None:
    assert read_feedback(value) is None


@pytest.mark.parametrize(
    ("host", "sender", "user"),
    [
        ("127.0.0.1", {"id": "29:u", "aadObjectId": "oid"}, "oid"),
        ("127.0.0.1", {"id": "dev"}, "dev"),
        ("0.0.0.0", {"id": "29:u", "aadObjectId": "oid"}, "oid"),
        ("0.0.0.0", {"id": "29:u"}, None),
        ("0.0.0.0", {"id": "29:u", "aadObjectId": ""}, None),
    ],
)
def test_who_asks(tmp_path: Path, host: str, sender: Json, user: str | None) -> None:
    assert user_of({"from": sender}, load_settings(home=tmp_path, host=host)) == user


@pytest.mark.parametrize(
    ("host", "sender", "actor"),
    [
        ("127.0.0.1", {"id": "29:u", "aadObjectId": "oid"}, Actor("oid", "local", "t1")),
        ("0.0.0.0", {"id": "29:u", "aadObjectId": "oid"}, Actor("oid", "aad", "t1")),
        ("0.0.0.0", {"id": "29:u"}, Actor("29:u", "channel", "t1")),
    ],
)
def test_who_it_was_for_the_record(tmp_path: Path, host: str, sender: Json, actor: Actor) -> None:
    """A stranger has at least the channel's own id; the tenant is named in one of two places."""
    settings = load_settings(home=tmp_path, host=host)
    named = {"conversation": {"id": "a:1", "tenantId": "t1"}}, {"channelData": {"tenant": {"id": "t1"}}}
    for place in named:
        assert actor_of({**message("x"), **place, "from": sender}, settings) == actor
    bare = actor_of({**message("x"), "from": sender}, settings)
    assert (bare.user, bare.tenant) == (actor.user, None)


@pytest.mark.parametrize(
    "settings",
    [
        {"bot_app_id": "x", "bot_app_type": "MultiTenant", "bot_app_password": "y"},
        {"api_keys": "k"},
        {"public_url": "https://a.example"},
    ],
)
def test_outside_local_mode_a_sender_is_not_taken_at_their_word(tmp_path: Path, settings: dict[str, str]) -> None:
    """Web chat lets whoever writes choose the sender's id; behind a proxy the server listens on loopback all the same."""
    assert user_of({"from": {"id": "alice"}}, load_settings(home=tmp_path, **settings)) is None


def test_an_answer_goes_back_to_where_the_question_came_from() -> None:
    sent = addressed(message("x") | {"locale": "de-DE"}, {"type": "message", "text": "y"})
    assert (sent["from"]["id"], sent["recipient"]["id"], sent["replyToId"]) == ("28:bot", "29:u", "m1")
    assert (sent["conversation"], sent["locale"], sent["text"]) == ({"id": "a:1"}, "de-DE", "y")
    assert "replyToId" not in addressed({**message("x"), "type": "conversationUpdate"}, {"type": "message"})


@pytest.mark.parametrize("kind", ["message", "messageUpdate"])
def test_a_reply_inside_a_channels_thread_hangs_on_the_threads_first_message(kind: str) -> None:
    asked = {**message("and this?"), "type": kind, "id": "1767000000009"}
    asked["conversation"] = {"id": "19:team@thread.tacv2;messageid=1767000000001", "conversationType": "channel"}
    assert addressed(asked, {"type": "message"})["replyToId"] == "1767000000001"
    asked["conversation"] = {"id": "19:team@thread.tacv2", "conversationType": "channel"}
    assert addressed(asked, {"type": "message"})["replyToId"] == "1767000000009"


PASTED = "Customer: Hello Agent: Hi, how can I help? Customer: How long is the warranty?"


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("<p>Customer: Hello</p><p>Agent: Hi, how can I help?</p><p>Customer: How long is the warranty?</p>", 3),
        ("<div>Customer: Hello<br>Agent: Hi, how&nbsp;can I help?<br/>Customer: How long is the warranty?</div>", 3),
        ("<p>Something else</p><p>that the text does not say</p>", 1),
        ("<p>Customer: Hello", 1),
        (7, 1),
    ],
)
def test_line_breaks_that_the_client_dropped_are_those_of_the_html(content: object, lines: int) -> None:
    activity = {
        "channelId": "msteams",
        "text": PASTED,
        "recipient": {"id": "b"},
        "attachments": [{"contentType": "text/html", "content": content}],
    }
    text = question_text(activity)
    assert text.count("\n") + 1 == lines
    assert " ".join(text.split()) == PASTED
    assert question_text(activity | {"text": "a\nb"}) == "a\nb"
