"""What a list says of an entry that is no turn, in a line: who said or did what, not the first field of its body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.wording.reviewing.verdicts import VERDICT_WORDS
from rai.entry_schema import NAME
from rai.records import Entry

TITLE_MAX = 240
_COUNTED = ("added", "changed", "deleted", "reembedded")
"""Numbers of documents of an import that changed something."""


def title_of(entry: Entry) -> str:
    """The line, at most `TITLE_MAX` characters; of a kind without one of its own, or a body of a shape that nobody knows, the first value that the body tells."""
    told = _TITLES.get(entry.kind)
    line = told(entry.body) if told else ""
    return (line or _first(entry))[:TITLE_MAX]


def _first(entry: Entry) -> str:
    told = ((k, v) for k, v in entry.body.items() if k != NAME and isinstance(v, str | int | float) and v != "")
    return next((f"{k}: {v}" for k, v in told), entry.kind)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _joined(head: object, words: object) -> str:
    return ": ".join(filter(None, (_text(head), _text(words))))


def _start(body: Mapping[str, Any]) -> str:
    worker, workers = body.get("worker"), body.get("workers")
    of = f", worker {worker} of {workers}" if isinstance(workers, int) and workers > 1 else ""
    return f"{_text(body.get('program'))}{of}"


def _verdict(body: Mapping[str, Any]) -> str:
    said = _text(body.get("verdict"))
    return _joined(f"{VERDICT_WORDS.get(said, said)} on {_text(body.get('entry_id'))}", body.get("comment"))


def _feedback(body: Mapping[str, Any]) -> str:
    said = {"like": "thumbs up", "dislike": "thumbs down"}.get(_text(body.get("reaction")), _text(body.get("reaction")))
    of = "" if _text(body.get("entry_id")) else "; it could not be tied to a turn" if said else ""
    return _joined(said, body.get("text")) + of


def _quarantine(body: Mapping[str, Any]) -> str:
    passage = body.get("passage")
    passage = passage if isinstance(passage, Mapping) else {}
    what = f"{_text(body.get('decision'))} {_text(passage.get('doc_id'))}".strip()
    return _joined(what, body.get("note") or passage.get("title"))


def _ingest(body: Mapping[str, Any]) -> str:
    refused = body.get("refused")
    return ", ".join(_numbers(body, refused if isinstance(refused, list) else [])) or "nothing changed"


def _numbers(body: Mapping[str, Any], refused: list[Any]) -> Iterator[str]:
    for name in _COUNTED:
        if isinstance(number := body.get(name), int) and number:
            yield f"{number} {name}"
    if refused:
        yield f"{len(refused)} refused"


def _sample(body: Mapping[str, Any]) -> str:
    turns = body.get("entry_ids")
    number, by = len(turns) if isinstance(turns, list) else 0, _text(body.get("by"))
    return f"{number} {'turn' if number == 1 else 'turns'} picked by chance" + (
        f", {body.get('number')} of each {by}" if by else ""
    )


def _erase(body: Mapping[str, Any]) -> str:
    gone = body.get("entry_ids")
    number = len(gone) if isinstance(gone, list) else 1
    return _joined(f"{number} {'entry' if number == 1 else 'entries'} erased", body.get("reason"))


def _export(body: Mapping[str, Any]) -> str:
    whole = "" if body.get("complete") is not False else ", not complete"
    return f"{body.get('entries')} entries as {_text(body.get('form'))}{whole}" if "entries" in body else ""


def _reported(body: Mapping[str, Any]) -> str:
    return _joined("called wrong", body.get("comment"))


_TITLES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "start": _start,
    "stop": lambda body: _joined("stopped", body.get("signal")),
    "remove": lambda body: f"{_text(body.get('doc_id'))} taken out",
    "index": lambda body: (
        f"{_text(body.get('index'))} {'taken into use' if body.get('action') == 'used' else 'removed'}"
    ),
    "restore": lambda body: f"{_text(body.get('doc_id'))} brought back",
    "verdict": _verdict,
    "feedback": _feedback,
    "refusal_report": _reported,
    "refusal_decision": lambda body: _joined(
        f"refused {'wrongly' if body.get('decision') == 'wrong' else 'rightly'}", body.get("note")
    ),
    "quarantine_decision": _quarantine,
    "ingest": _ingest,
    "sample": _sample,
    "erase": _erase,
    "export": _export,
}
