"""The schema of the ledger's entries: for each kind, which paths of a body are structure and which are free text.

Structure is what the program decided, measured or knows by name: outcomes, codes, ids, policies, kinds, numbers, who asked. It is sealed as
it is. Only free text is ever masked, so nothing that a person writes can change what happened to it. A body that names its
schema holds nothing that the schema does not know; one without is of an older program and is read by the same table as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

SCHEMA = 2
"""The version that a body names as `schema`. Bodies of version 1 name none, and any string in them may be masked."""
NAME = "schema"


class Leaf(Enum):
    """What stands at a path.

    STRUCTURE: a value of ours; TREE: structure all the way down; GIVEN: free text that a person gave, which is read for personal data;
    TEXT: other free text; DERIVED: free text made of single words of what was given; PASSAGE: a part of a passage, kept as it was
    found; OWN: a passage's text, whose contents are nobody's secret.
    """

    STRUCTURE = "structure"
    TREE = "tree"
    GIVEN = "given"
    TEXT = "text"
    DERIVED = "derived"
    PASSAGE = "passage"
    OWN = "own"


FREE = frozenset({Leaf.GIVEN, Leaf.TEXT, Leaf.DERIVED})
"""What is masked."""
ANY = "*"
"""Every name of an object whose names are ours."""
_S, _TREE, _GIVEN, _TEXT, _DERIVED, _PASSAGE, _OWN = Leaf
_OLD_STRUCTURE = frozenset(
    "chunk_id doc_id entry_id version kb_version digest id at policy marker sha256 usage prices evidence".split()
)
"""Names that are never masked in a body without schema, wherever they stand."""


class UnknownFieldError(ValueError):
    """A body that names this schema holds what the schema does not know: a mistake of ours. It names the path and no value."""


def _s(names: str) -> dict[str, Any]:
    """These names, each structure."""
    return dict.fromkeys(names.split(), _S)


_SPAN = {**_s("source field start end"), "text": _TEXT}
_CLAIM = {
    **_s("kind entity start end status rule p score struck trust"),
    **dict.fromkeys(("text", "value", "why", "formula"), _TEXT),
    "evidence": [_SPAN],
    "instead": _SPAN,
}
_CITATION = {**_s("n url doc_id chunk_id origin tier trust"), "title": _TEXT, "locator": _TEXT, "quote": _TEXT}
_DECISION = {**_s("action rule threshold margin value"), "kept": [_S]}
_GRADE = {
    **_s("id score label binary"),
    "extract": {**_s("start end"), "text": _TEXT},
    "justification": _DERIVED,
}
_REPLY = {
    **_s("outcome code action kb_version entry_id relevance policy turn_id intent offered_as"),
    **dict.fromkeys(("answer", "query", "understood", "web_notice", "contact_notice"), _TEXT),
    "citations": [_CITATION],
    "offered": [_CITATION],
    "claims": [_CLAIM],
    "grades": [_GRADE],
    "web": [{"tier": _S, "title": _TEXT, "url": _TEXT, "snippet": _TEXT}],
    "timings_ms": {ANY: _S},
    "mode": {ANY: _S},
    "usage": {ANY: _S},
    "notes": [_TEXT],
    "internal_notes": [{**_s("doc_id chunk_id"), "title": _TEXT, "quote": _TEXT}],
    "draft": {"text": _TEXT, "claims": [_CLAIM]},
    "refusal": _s("category language"),
    "decided_first": _DECISION,
    "decision": _DECISION,
    "corrections": [{**_s("step added"), "queries": [_TEXT], "decision": _DECISION, "why": _DERIVED, "trail": [_TEXT]}],
    "clarification": {"question": _TEXT, "options": [_TEXT], "why": _DERIVED},
    "suggestions": [_TEXT],
    "coverage": [{"part": _TEXT, "answered": _S}],
}
_PROMPT = {
    **_s("tokens marker sha256"),
    "parts": [{"name": _S, "text": _TEXT}],
    "question": _TEXT,
    "message": _TEXT,
    "cuts": [_TEXT],
}
_WHO = {"actor": _s("user authenticated_by tenant name role")}
_ACTOR = {**_WHO["actor"], "groups": [_S]}
_TURN = {
    "delivery": _S,
    "ended": _S,  # where the person who waited ended it
    "unreadable": _S,  # of one that is put together: why it is not whole
    "ask": {
        **_s("user policy channel conversation at locale"),
        "question": _GIVEN,
        "history": [{"role": _S, "text": _GIVEN}],
        "context": _GIVEN,
        "rework": _s("how entry_id language"),  # of a turn that reworks an earlier answer
        "product": _TEXT,
        "excluded": [_TEXT],
        "web": _S,  # whether the web was asked for
    },
    "actor": _ACTOR,
    "access": {"user": _S, "groups": [_S]},
    "versions": {**_s("program settings kb"), "models": {ANY: _S}},
    "reply": _REPLY,
    "policy": _TREE,
    "searched": _TEXT,
    "decision": _DECISION,
    "query": {
        "by": _S,
        "sentences": [{**_s("turn start end rank_score"), "text": _TEXT}],
        "entities": [_TEXT],
        "text": _TEXT,
        "imagined": _TEXT,
        "english": _TEXT,
        "general": _TEXT,
        "asked": _TEXT,
        "note": _DERIVED,
        "why": [_DERIVED],
    },
    "evidence": [
        {
            **_s("n chunk_id doc_id version start end origin score updated tier trust"),
            **dict.fromkeys(("title", "url", "locator"), _PASSAGE),
            "text": _OWN,
        }
    ],
    "passages": [
        {**_s("chunk_id doc_id version start end score bm25 semantic screened quarantine reranked"), "title": _TEXT},
    ],
    "seen": [_s("chunk_id doc_id version origin")],
    "web": [{**_s("n url site tier"), "query": _TEXT, "snippet": _TEXT, "line": _TEXT}],
    "prompt": _PROMPT,
    "regeneration": {"used": _S, "prompt": _PROMPT, "text": _TEXT, "why": _TEXT},
    "judgements": [{"model": _S, "prompt": _TEXT, "reply": _TEXT}],
    "screenings": [{**_s("what verdict category rule score threshold doubtful by"), "notes": [_TEXT]}],
    "unfit": [_TEXT],
    "calls": [{**_s("purpose model ended ms temperature backend"), "usage": {ANY: _S}}],
    "prices": {ANY: _S},
    "stages": [_s("name node ms")],
}
_INGEST = {
    **_WHO,
    **_s(
        "added changed unchanged deleted chunks embedded kb_version seconds chunking long_chunks reembedded waiting held_index"
    ),
    "paths": [_S],
    "opened": [_S],
    "rechunked": {ANY: _S},
    "refused": [{**_s("doc code"), "reason": _TEXT}],
}
_WANTED = {
    **_s(
        "outcome kind state category arrived before since until channel claim status struck feedback use n by seed verdict queue sampled"
    ),
    **dict.fromkeys("entry words user product document version rule".split(), _GIVEN),
}
"""What a reviewer narrowed a list to."""
_QUARANTINED = {**_s("id doc_id chunk_id rule score"), **dict.fromkeys(("title", "locator", "text"), _PASSAGE)}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "turn": _TURN,
    "ingest": _INGEST,
    "remove": {**_s("doc_id"), **_WHO},
    "restore": {**_s("doc_id"), **_WHO},
    "delivery": _s("entry_id channel handed_over delivered failed message"),
    "feedback": {**_s("entry_id assumed reaction user channel message"), **_WHO, "text": _GIVEN},
    "refusal_report": {**_s("entry_id user channel"), **_WHO, "comment": _GIVEN},
    "refusal_decision": {**_s("entry_id report decision channel"), **_WHO, "note": _GIVEN},
    "quarantine_decision": {**_s("decision channel"), **_WHO, "note": _GIVEN, "passage": _QUARANTINED},
    "genesis": _s("ledger_id verifier_key"),
    "upgrade": _s("ledger_id verifier_key"),
    "erase": {"entry_id": _S, "entry_ids": [_S], **_WHO, "reason": _GIVEN},
    "guard": {"put_back": [_S]},
    "key": _s("verifier_key before retired"),
    "anchor": {**_s("found count head"), "before": _s("count head"), "reason": _GIVEN},
    "moved": {**_s("to"), **_WHO},
    "opened": {**_s("moved place"), **_WHO, "reason": _GIVEN},
    "restored": {
        **_s("count head"),
        "missing": _s("first last"),
        "before": _s("count head"),
        "dropped": _s("answers messages sessions"),
        **_WHO,
        "reason": _GIVEN,
    },
    "hold": {**_s("on target"), "reason": _GIVEN, "actor": _ACTOR},
    "release": {"hold": _S, "reason": _GIVEN, "actor": _ACTOR},
    "start": {
        **_s("program settings directory worker workers"),
        **_WHO,
        "models": {ANY: _S},
        "given": {ANY: _S},
    },
    "stop": _s("start signal"),
    "settings": {**_s("before after"), "changed": [_S]},
    "directory": _s("file before after"),
    "export": {**_s("form entries head complete person entry_id"), **_WHO},
    "backup": {**_s("file bytes sha256"), **_WHO},
    "index": {**_s("action index before"), **_WHO},
    "rebuild": {**_s("kb_version documents chunks embedder waiting seconds"), **_WHO},
    "check": {
        **_s("items refused"),
        **_WHO,
        "answers": [_S],
        "sources": [_S],
        "verdicts": {ANY: _S},
        "statuses": {ANY: _S},
    },
    "source_opened": {**_s("entry_id n doc_id chunk_id"), **_WHO},
    "read": {
        **_s("page entry_id"),
        **_WHO,
        "wanted": _WANTED,
    },
    "verdict": {
        **_s("entry_id verdict replaces channel"),
        **_WHO,
        "comment": _GIVEN,
        "correction": _TEXT,  # the company's words: its numbers and addresses are what a right answer says
        "facts": [[_TEXT]],
        "wrong": [_TEXT],
        "documents": [_S],
    },
    "sample": {**_s("seed by number"), **_WHO, "entry_ids": [_S], "wanted": _WANTED},
    "content": {"sha256": _S, "value": _TREE},
}
"""The schema of each kind: an object by name, a list by its items, a leaf. An object, a list and a text may each be None or missing."""


@dataclass(frozen=True, slots=True)
class Once:
    """What of a kind's body is stored once and referred to, and what of the rest stands in the clear.

    `whole`: paths of values; `rows`: of the items of a list the names that are the same whenever a passage is met again; `parts`: parts of the
    prompt, each up to the first quotation. Nothing that a person gave is among them, so a content is nobody's. `clear`: by object, names of
    what an entry says for everybody who reads it raw; None for a value by itself.
    """

    whole: tuple[str, ...] = ()
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    clear: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)


_OF_A_PASSAGE = ("chunk_id", "doc_id", "version", "title", "start", "end")
ONCE: Mapping[str, Once] = {
    "turn": Once(
        whole=("policy", "versions", "prices", "reply.mode"),
        rows={
            "passages": _OF_A_PASSAGE,
            "evidence": (*_OF_A_PASSAGE, "url", "locator", "text", "origin", "updated", "tier", "trust"),
        },
        parts=("system", "guidance", "example"),
        clear={
            "actor": ("user", "authenticated_by", "tenant", "groups"),
            "ask": ("user", "channel", "conversation", "at", "question", "history", "context", "product"),
            "reply": ("outcome", "code", "answer", "action", "refusal", "turn_id"),
            "unfit": None,
        },
    )
}
"""By kind; what stands here for none is stored as it is."""
STORED = "stored"
"""The name under which a body that is stored in parts has its references and the rest. No caller may give it: the schema does not know it."""
_OLDER: Mapping[str, Any] = dict.fromkeys(("text", "comment", "note"), _GIVEN)
"""What a person gave in a body of a kind that has no schema."""

Change = Callable[[str, Leaf], str]
_SINGLE = frozenset((str, int, float, bool, type(None)))
_Way = tuple[Any, str]
"""A path while it is walked: the way to what it is in, and the last step. It is put into words where something is refused, and else never."""


def texts(body: Mapping[str, Any], kind: str) -> dict[Leaf, list[str]]:
    """The strings of a body by what they are, structure apart, each in the order of the body. Raises UnknownFieldError."""
    found: dict[Leaf, list[str]] = {leaf: [] for leaf in Leaf}

    def keep(text: str, leaf: Leaf) -> str:
        found[leaf].append(text)
        return text

    changed(body, kind, keep)
    return found


def changed(body: Mapping[str, Any], kind: str, change: Change) -> dict[str, Any]:
    """A body with each string that is no structure as `change` has it, everything else as it is.

    In a body that names no schema, strings at paths that are not known are text. Raises UnknownFieldError where it names one.
    """
    strict = NAME in body
    if strict and (body[NAME] != SCHEMA or kind not in KINDS):
        raise UnknownFieldError(f"there is no schema {body[NAME]!r} of entries of the kind {kind!r}")
    known = KINDS.get(kind, _OLDER)
    walk = _Walk(change, strict=strict)
    return {
        name: value if name == NAME else walk.field(known, name, value, (None, kind)) for name, value in body.items()
    }


def paths(body: Mapping[str, Any]) -> Iterator[str]:
    """Every path of a body that leads to a value: names joined by dots, `[]` for the items of a list."""
    yield from dict.fromkeys(_paths(body, ""))


def _paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _paths(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and value:
        for item in value:
            yield from _paths(item, f"{path}[]")
    else:
        yield path


def _told(way: _Way) -> str:
    before, step = way
    return step if before is None else f"{_told(before)}{step}"


class _Walk:
    """A walk through one body along its schema."""

    __slots__ = ("_change", "_strict")

    def __init__(self, change: Change, *, strict: bool) -> None:
        self._change = change
        self._strict = strict

    def field(self, node: Mapping[str, Any], name: str, value: Any, path: _Way) -> Any:
        inner = node.get(name, node.get(ANY))
        return self._value(inner, value, (path, f".{name}")) if inner is not None else self._older(name, value, path)

    def _value(self, node: Any, value: Any, path: _Way) -> Any:
        if value is None or node is Leaf.TREE:
            return value
        if isinstance(node, Leaf):
            return self._leaf(node, value, path)
        if isinstance(node, list) and isinstance(value, list | tuple):
            return [self._value(node[0], item, (path, "[]")) for item in value]
        if isinstance(node, Mapping) and isinstance(value, Mapping):
            # most of an entry is names, numbers and places: those need no way to them
            return {
                name: inner
                if node.get(name) is Leaf.STRUCTURE and type(inner) in _SINGLE
                else self.field(node, name, inner, path)
                for name, inner in value.items()
            }
        return self._other(value, path)

    def _leaf(self, leaf: Leaf, value: Any, path: _Way) -> Any:
        if leaf is Leaf.STRUCTURE and not isinstance(value, Mapping | list | tuple):
            return value
        if isinstance(value, str):
            return self._change(value, leaf)
        return self._other(value, path)

    def _older(self, name: str, value: Any, path: _Way) -> Any:
        """What stands under a name that the schema does not know."""
        return self._other(value, (path, f".{name}")) if self._strict or name not in _OLD_STRUCTURE else value

    def _other(self, value: Any, path: _Way) -> Any:
        """What stands where the schema has nothing, or something else."""
        if self._strict:
            raise UnknownFieldError(f"the ledger's schema {SCHEMA} does not know {_told(path)} in this form")
        if isinstance(value, str):
            return self._change(value, Leaf.TEXT)
        if isinstance(value, Mapping):
            return {k: v if k in _OLD_STRUCTURE else self._other(v, path) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._other(item, path) for item in value]
        return value
