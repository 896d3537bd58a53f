"""The body of a turn's entry: every path is in the schema, and nobody who asks can change what happened to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest

from bot.records import Actor, Ask, Code, Intent, Reply, TurnRecord
from bot.turn.entries.record import turn_body
from grounding.policy import Policy, Rule, Step, Style
from grounding.records import Access, Action, Evidence, Label, Origin, Passage, Role, Tier, Turn
from rai.entry_schema import FREE, KINDS, Leaf, changed, paths
from rai.personal.known import Personal
from rai.personal.redact import MASK, Redactor
from rai.records import Category, EntityType, Kind, Outcome, Status
from tests.filled import filled

REDACTOR = Redactor()
ENUMS = (Code, Intent, Rule, Step, Style, Label, Origin, Role, Tier, Category, EntityType, Kind, Status)


def whole(origin: Origin = "kb") -> Reply:
    """A reply of which every field is filled, whose evidence and citations are of this origin, and to which a corrective step added."""
    reply: Reply = filled(Reply)
    record = reply.record
    assert record.policy is not None
    record = replace(
        record,
        evidence=tuple(replace(e, passage=replace(e.passage, origin=origin)) for e in record.evidence),
        found=replace(record.found, graded=(Passage("another", "b.md", "B", "two", version="v2"),)),
        stages=(("retrieve", 1.5),),
        policy=replace(record.policy, nodes={"retrieve": "search"}),
    )
    return replace(reply, citations=tuple(replace(c, origin=origin) for c in reply.citations), record=record)


WRITTEN = frozenset(
    "question text context product excluded answer title locator quote value why formula query queries justification snippet notes note trail options "
    "part suggestions understood web_notice contact_notice message cuts prompt reply entities imagined english general asked searched line unfit".split()
)
"""Names under which free text stands in a turn, told here apart from the schema."""


def structure(value: Any, path: str = "") -> Any:
    """The body without its free text, whatever the schema says of it. A policy is structure all the way down, an address is but for the web's."""
    if isinstance(value, dict):
        return {name: structure(inner, f"{path}.{name}") for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [structure(item, path) for item in value]
    name = path.rpartition(".")[2]
    free = path == ".reply.web.url" or (name in WRITTEN and not path.startswith((".policy.", ".evidence.")))
    return "" if free and isinstance(value, str) else value


def strings(value: Any) -> Iterator[str]:
    """Every string in a value, names of objects apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def known_paths(node: Any, path: str = "") -> Iterator[str]:
    """The paths of a schema, as `paths` writes those of a body; `*` for names that are open."""
    if isinstance(node, Leaf):
        yield path
    elif isinstance(node, list):
        yield from known_paths(node[0], f"{path}[]")
    else:
        for name, inner in node.items():
            yield from known_paths(inner, f"{path}.{name}" if path else name)


@pytest.mark.parametrize("origin", get_args(Origin))
def test_every_path_of_the_fullest_turn_is_in_the_schema(origin: Origin) -> None:
    """`changed` refuses what it does not know: a field that is new must be told to be structure or free text."""
    body = turn_body(whole(origin))
    assert body["schema"] == 2
    assert plain_lists(changed(body, "turn", lambda text, _leaf: text)) == plain_lists(body)


def plain_lists(value: Any) -> Any:
    """The value with lists for tuples."""
    if isinstance(value, dict):
        return {name: plain_lists(inner) for name, inner in value.items()}
    return [plain_lists(item) for item in value] if isinstance(value, list | tuple) else value


def test_the_schema_of_a_turn_knows_nothing_that_no_turn_has() -> None:
    """Every path of the schema is one of the fullest turn, so that a name that is gone goes from the schema too."""
    body = turn_body(whole("web"))
    written = {*paths(body)} - {"schema"}
    open_ = {path.removesuffix(".*") for path in known_paths(KINDS["turn"]) if path.endswith(".*")} | {"policy"}
    closed = {path for path in known_paths(KINDS["turn"]) if not path.endswith(".*")} - {"policy"}
    closed -= {"unreadable"}  # of a turn that is read in part, never of one that is written
    closed -= {"actor.name", "actor.role"}  # of a reviewer who is signed in; no reviewer asks a turn
    assert {path for path in written if not any(path.startswith(f"{each}.") for each in open_)} == closed
    assert all(any(path.startswith(f"{each}.") for path in written) for each in open_)


def test_a_path_that_the_schema_does_not_know_is_refused() -> None:
    body = turn_body(whole())
    body["reply"]["claims"][0]["new"] = 1
    with pytest.raises(ValueError, match=r"does not know turn\.reply\.claims\[\]\.new"):
        REDACTOR.redact_entry(body)


def said(name: str) -> dict[str, Any]:
    """A body of a turn in which the customer gives this name away in every place there is."""
    ask = Ask(
        f"My name is {name}. What is the fee?\nYours, Mr {name}",
        history=(Turn("customer", f"Hi, this is {name} speaking."), Turn("agent", f"Dear Mr {name}, welcome.")),
        context=f"Customer: {name}",
        user="alice",
        channel="msteams",
        conversation="19:chat",
        actor=Actor("alice", "aad", "halden"),
    )
    reply = whole()
    groups = frozenset({"billing", "everyone"})
    record = replace(reply.record, ask=ask, access=Access("alice", groups), held=groups)
    return turn_body(replace(reply, record=record))


def values() -> list[str]:
    """Every string of an entry's structure, every value of an enumeration, every name of a field, and user ids."""
    own = set(strings(structure(said("Nobody"))))
    enums = {v for each in ENUMS for v in get_args(each)} | {*Outcome} | {*Action}
    names = {part.rstrip("[]") for path in paths(said("Nobody")) for part in path.split(".")}
    return sorted(str(v) for v in own | enums | names | {"alice", "Review", "cli", "http"} if str(v).strip())


def test_no_name_changes_what_an_entry_says_of_the_turn() -> None:
    """Each value of the structure as the customer's name, written in three ways; only free text is masked, and it is."""
    before = structure(said("Nobody"))
    for value in values():
        spaced = " ".join(value.replace("_", " ").split())
        for name in {value, spaced.title(), spaced.upper()}:
            found = [Personal(0, len(name), "PERSON", name)]
            body = REDACTOR.redact_entry(said(name), "turn", found)
            assert structure(body) == before, name
            own = name.casefold() in str(body["evidence"]).casefold()
            assert own or name != spaced.title() or len(name) < 2 or MASK in body["ask"]["question"], name


NOTES: dict[str, tuple[dict[str, Any], str]] = {
    "feedback": (
        {
            "entry_id": "e1",
            "assumed": False,
            "reaction": "dislike",
            "user": "alice",
            "channel": "msteams",
            "message": "m",
            "actor": {"user": "alice", "authenticated_by": "aad", "tenant": "halden"},
        },
        "text",
    ),
    "refusal_report": (
        {
            "entry_id": "e1",
            "user": "alice",
            "channel": "msteams",
            "actor": {"user": "alice", "authenticated_by": "aad", "tenant": "halden"},
        },
        "comment",
    ),
    "refusal_decision": (
        {
            "entry_id": "e1",
            "report": "e2",
            "decision": "wrong",
            "channel": "review",
            "actor": {"user": None, "authenticated_by": "review 1a2b3c4d", "tenant": None},
        },
        "note",
    ),
    "quarantine_decision": (
        {
            "decision": "released",
            "channel": "review",
            "actor": {"user": "alice", "authenticated_by": "aad", "tenant": "halden"},
            "passage": {
                "id": "abc",
                "doc_id": "released.md",
                "title": "Review",
                "chunk_id": "c",
                "locator": "page 3",
                "text": "Review the order.",
                "rule": "IN-1",
                "score": 0.5,
            },
        },
        "note",
    ),
    "verdict": (
        {
            "entry_id": "e1",
            "verdict": "wrong",
            "replaces": "e2",
            "channel": "review",
            "actor": {"user": None, "authenticated_by": "review 1a2b3c4d", "tenant": None},
        },
        "comment",
    ),
    "erase": ({"entry_id": "e1"}, "reason"),
}


@pytest.mark.parametrize("kind", NOTES)
def test_no_note_changes_its_entry(kind: str) -> None:
    """A reviewer, a reporter, whoever erases: "Ms Review" in a note masks neither the channel nor the passage."""
    rest, note = NOTES[kind]
    for name in {text.title() for text in (*strings(rest), "review", *rest)}:
        body = {"schema": 2, **rest, note: f"Thanks, this was Ms {name}. Yours, {name}"}
        masked = REDACTOR.redact_entry(body, kind, [Personal(0, len(name), "PERSON", name)])
        assert {k: v for k, v in masked.items() if k != note} == {"schema": 2, **rest}, name
        assert len(name) < 2 or MASK in masked[note]


def test_the_passages_stay_and_every_free_text_is_masked() -> None:
    """A name in each free text of the fullest turn is in none of them afterwards."""
    body = said("Zebedea Quillfeather")
    planted = changed(body, "turn", lambda text, leaf: f"{text} Zebedea" if leaf in FREE else text)
    masked = REDACTOR.redact_entry(planted)
    assert "Zebedea" not in str(masked)
    assert masked["evidence"] == plain_lists(body["evidence"])
    assert len(str(masked)) == len(str(planted))


def test_words_of_what_is_masked_are_not_told_one_by_one() -> None:
    """A grader's reason is made of single words of the question, and of an account number as of a name."""
    body = said("Anna Berg")
    body["ask"]["context"] = "IBAN: DE89 3704 0044 0532 0130 00, anna.berg@example.com"
    body["reply"]["grades"][0]["justification"] = "covers fee; lacks 0044, 0130, 0532, berg"
    told = REDACTOR.redact_entry(body)["reply"]["grades"][0]["justification"]
    assert told.startswith(f"covers fee; lacks {MASK * 4}, {MASK * 4}, {MASK * 4}, {MASK * 4}")


def test_the_actor_stands_apart_with_the_groups_of_the_turn() -> None:
    body = said("Nobody")
    assert body["actor"] == {
        "user": "alice",
        "authenticated_by": "aad",
        "tenant": "halden",
        "groups": ["billing", "everyone"],
    }
    assert "actor" not in body["ask"]


def test_who_asks_in_a_group_is_the_actor_and_reads_as_a_stranger() -> None:
    ask = Ask("What is the fee?", user=None, channel="msteams", actor=Actor("alice", "aad", "halden"))
    record = TurnRecord(ask=ask, access=Access(), held=frozenset({"billing"}))
    body = turn_body(Reply(Outcome.ANSWERED, "5", record=record))
    assert (body["ask"]["user"], body["actor"]["user"], body["actor"]["groups"]) == (None, "alice", ["billing"])
    assert body["access"] == {"user": None, "groups": []}


def test_without_an_actor_the_user_is_one_of_whom_nothing_else_is_known() -> None:
    body = turn_body(Reply(Outcome.FAILED, "", record=TurnRecord(ask=Ask("?", user="alice"))))
    assert body["actor"] == {"user": "alice", "authenticated_by": None, "tenant": None, "groups": None}
    assert body["access"] is None


def test_every_passage_seen_stands_with_its_version() -> None:
    """Those of the first search with the passages, those that were added later by themselves."""
    first, added, page = (
        Passage("c1", "a.md", "A", "one", version="v1"),
        Passage("c2", "b.md", "B", "two", version="v2"),
        Passage("c3", "https://x.example", "X", "three", origin="web"),
    )
    reply = Reply(Outcome.ANSWERED, "one", record=TurnRecord(policy=Policy(), evidence=(Evidence(1, added),)))
    found = reply.record.found
    found = replace(found, retrieval=replace(found.retrieval, passages=(first,)), graded=(first, added, page))
    body = turn_body(replace(reply, record=replace(reply.record, found=found)))
    assert [(p["chunk_id"], p["version"]) for p in body["passages"]] == [("c1", "v1")]
    assert body["seen"] == [
        {"chunk_id": "c2", "doc_id": "b.md", "version": "v2", "origin": "kb"},
        {"chunk_id": "c3", "doc_id": "https://x.example", "version": "", "origin": "web"},
    ]
