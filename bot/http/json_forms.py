"""JSON in, records out, and back: strict, with one line that names the field and what is allowed.

Lengths count Unicode code points.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NoReturn, TypeGuard, get_args

from bot.records import Ask, claim_json
from bot.system import CheckRequest
from bot.turn.entries.disputes import WORDS_MAX
from grounding.errors import InputError
from grounding.policies.files import policy_named
from grounding.policy import Policy
from grounding.records import Role, Turn
from rai.records import Report, Source

QUESTION_MAX = 8_000
TURNS_MAX = 400
TURN_MAX = 20_000
CONTEXT_MAX = 50_000
NAME_MAX = 200
ANSWER_MAX = 20_000
SOURCES_MAX = 100
SOURCE_MAX = 200_000
GIVEN_MAX = 100
ITEMS_MAX = 200
EXCLUDED_MAX = 20
ROLES = get_args(Role)
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)")
_REPORT = ("entry_id", "comment", "as")
_ASK = ("question", "history", "context", "product", "as", "policy", "excluded", "web", "answered")


def parse_json(raw: bytes) -> dict[str, Any]:
    """A JSON object of a request body. Raises InputError."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8", code="bad_json") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}", code="bad_json"
        ) from None
    except RecursionError:
        raise InputError("the body is nested too deeply", code="bad_json") from None
    if not isinstance(value, dict):
        raise InputError(f"the body must be a JSON object, not {_kind(value)}", code="bad_json")
    return value


def _no_constant(name: str) -> NoReturn:
    raise InputError(f"the body is not JSON: {name} is not allowed", code="bad_json")


def parse_ask(data: Mapping[str, Any], default_policy: str, policies: Mapping[str, Policy] | None = None) -> Ask:
    """The form of `POST /api/ask` as a turn; `as` becomes its user. Raises InputError."""
    unknown = [name for name in data if name not in _ASK]
    if unknown:
        raise InputError(f"{_shown(unknown[0])} is not a field; allowed: {', '.join(_ASK)}")
    policy = _optional(data, "policy", NAME_MAX) or default_policy
    return Ask(
        question=_text(data.get("question"), "question", QUESTION_MAX),
        history=_history(data.get("history")),
        context=_optional(data, "context", CONTEXT_MAX),
        product=_optional(data, "product", NAME_MAX),
        user=_optional(data, "as", NAME_MAX),
        policy=policy_named(policy, policies).name,
        channel="http",
        at=datetime.now().astimezone(),
        excluded=_words(data, "excluded", EXCLUDED_MAX),
        web=_flag(data, "web"),
        answered=_optional(data, "answered", NAME_MAX) or "",
    )


def parse_check(data: Mapping[str, Any]) -> CheckRequest:
    """The `check` form; fields that it does not know (labels of test sets) are let be. Raises InputError."""
    sources = [_source(item, f"sources[{i}]") for i, item in enumerate(_list(data, "sources", SOURCES_MAX))]
    twice = {s.id for s in sources if sum(other.id == s.id for other in sources) > 1}
    if twice:
        raise InputError(f"sources: the id {_shown(min(twice))} occurs twice; each source needs its own")
    given = _list(data, "given", GIVEN_MAX) if data.get("given") is not None else []
    return CheckRequest(
        answer=_text(data.get("answer"), "answer", ANSWER_MAX),
        sources=tuple(sources),
        question=_optional(data, "question", QUESTION_MAX),
        given=tuple(_text(item, f"given[{i}]", SOURCE_MAX, empty=True) for i, item in enumerate(given)),
        at=_moment(data.get("at")),
    )


@dataclass(frozen=True, slots=True)
class RefusalForm:
    """The form of `POST /api/refusals`."""

    entry_id: str
    comment: str
    user: str | None


def parse_report(data: Mapping[str, Any]) -> RefusalForm:
    """The report of a wrong refusal. Raises InputError."""
    unknown = [name for name in data if name not in _REPORT]
    if unknown:
        raise InputError(f"{_shown(unknown[0])} is not a field; allowed: {', '.join(_REPORT)}")
    return RefusalForm(
        _text(data.get("entry_id"), "entry_id", NAME_MAX),
        _optional(data, "comment", WORDS_MAX) or "",
        _optional(data, "as", NAME_MAX),
    )


def check_id(data: Mapping[str, Any]) -> str:
    """The id of a `check` form, "" without one. Raises InputError."""
    return _optional(data, "id", NAME_MAX) or ""


def parse_items(data: Mapping[str, Any]) -> list[Any]:
    """The items of a request with many `check` forms. Raises InputError."""
    return _list(data, "items", ITEMS_MAX)


def report_json(identifier: str, report: Report) -> dict[str, Any]:
    """A report in the contract's form; `layers` and `notes` are there where the report has any."""
    form: dict[str, Any] = {
        "id": identifier,
        "verdict": report.verdict,
        "score": report.score,
        "claims": [claim_json(claim) for claim in report.claims],
        "relevance": report.relevance,
        "repaired": report.repaired,
    }
    if report.repair:
        form["repair"] = report.repair
    if report.layers:
        form["layers"] = [asdict(layer) for layer in report.layers]
    if report.notes:
        form["notes"] = list(report.notes)
    return form


def _history(value: Any) -> tuple[Turn, ...]:
    if value is None:
        return ()
    turns = []
    for index, item in enumerate(_list({"history": value}, "history", TURNS_MAX)):
        where = f"history[{index}]"
        if not isinstance(item, dict):
            raise InputError(f"{where} must be an object with role and text, not {_kind(item)}")
        role = item.get("role")
        if not _is_role(role):
            raise InputError(f"{where}.role: {_shown(role)} is not known; allowed: {', '.join(ROLES)}")
        turns.append(Turn(role, _text(item.get("text"), f"{where}.text", TURN_MAX, empty=True)))
    return tuple(turns)


def _is_role(value: object) -> TypeGuard[Role]:
    return isinstance(value, str) and value in ROLES


def _source(value: Any, where: str) -> Source:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object with id and text, not {_kind(value)}")
    title = value.get("title")
    return Source(
        id=_text(value.get("id"), f"{where}.id", NAME_MAX),
        text=_text(value.get("text"), f"{where}.text", SOURCE_MAX, empty=True),
        title="" if title is None else _text(title, f"{where}.title", TURN_MAX, empty=True),
        updated=_day(value.get("updated"), f"{where}.updated"),
    )


def _moment(value: Any) -> datetime | None:
    """`at`, with or without a zone."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and _DAY.match(value):
        with suppress(ValueError):
            return datetime.fromisoformat(value)
    raise InputError(
        f"at: {_shown(value)} is no time; allowed: ISO 8601, such as 2026-11-20T14:30 or 2026-11-20T14:30+01:00"
    )


def _day(value: Any, where: str) -> str | None:
    """A date, or a timestamp, as it was given."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and _DAY.match(value):
        with suppress(ValueError):
            datetime.fromisoformat(value)
            return value
    raise InputError(f"{where}: {_shown(value)} is no date; allowed: ISO 8601, such as 2026-11-20")


def _list(data: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = data.get(name)
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, not {_kind(value)}")
    if len(value) > most:
        raise InputError(f"{name} has {len(value)} items; allowed: at most {most}")
    return value


def _words(data: Mapping[str, Any], name: str, most: int) -> tuple[str, ...]:
    """A list of short texts, none of them empty; () without it."""
    items = _list(data, name, most) if data.get(name) is not None else []
    return tuple(_text(item, f"{name}[{i}]", NAME_MAX) for i, item in enumerate(items))


def _flag(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise InputError(f"{name} must be true or false, not {_kind(value)}")


def _optional(data: Mapping[str, Any], name: str, most: int) -> str | None:
    value = data.get(name)
    return None if value is None or value == "" else _text(value, name, most)


def _text(value: Any, name: str, most: int, *, empty: bool = False) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, not {_kind(value)}")
    if not empty and not value.strip():
        raise InputError(f"{name} is empty; it must say something")
    if len(value) > most:
        raise InputError(f"{name} has {len(value)} characters; allowed: at most {most}")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise InputError(f"{name} holds half of a surrogate pair, which is not text")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return "nothing" if value is None else names.get(type(value), "something else")


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]
