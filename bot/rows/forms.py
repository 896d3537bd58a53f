"""The rows of `--jsonl` commands: reads them into records, and makes the rows that come back. A row that cannot be read raises InputError."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.http.json_forms import check_id, parse_check
from bot.rows import fields
from bot.rows.fields import Json
from bot.system import CheckRequest, System
from bot.turn.conversation.transcript import turns_from_json
from grounding.errors import InputError, ServiceError
from grounding.records import Access, Passage, Query, Retrieval, Turn
from rai.records import Screening

MAX_K = 1000
"""Passages that one row of `retrieve` may ask for."""


def check_request(data: Json) -> CheckRequest:
    """Read a row of `check`, as the HTTP API reads it, so that both take and refuse the same."""
    try:
        check_id(data)
        return parse_check(data)
    except InputError as error:
        raise InputError(str(error), code="bad_field") from None


def screening_json(row_id: str, screening: Screening) -> dict[str, Any]:
    """The row that `screen` gives back."""
    documents = [
        {"index": d.index, "verdict": d.verdict, "rule": d.rule, "score": d.score} for d in screening.documents
    ]
    return {
        "id": row_id,
        "verdict": screening.verdict,
        "category": screening.category,
        "rule": screening.rule,
        "score": screening.score,
        "documents": documents,
    }


def history(data: Json) -> tuple[Turn, ...]:
    """Read the field `history`: at least one turn."""
    turns = turns_from_json(data.get("history"), "history")
    if not turns:
        raise InputError("field 'history' is empty; allowed: at least one turn", code="bad_field")
    return turns


def query_json(row_id: str, query: Query) -> dict[str, Any]:
    """The row that `query` gives back."""
    return {
        "id": row_id,
        "query": query.text,
        "sentences": [asdict(sentence) for sentence in query.sentences],
        "entities": list(query.entities),
        "why": list(query.why),
        "note": query.note,
    }


def retrieval_json(query: str, retrieval: Retrieval) -> dict[str, Any]:
    """The row that `retrieve` gives back, without its id."""
    return {
        "query": query,
        "results": [passage_json(passage) for passage in retrieval.passages],
        "kb_version": retrieval.kb_version,
        "mode": retrieval.mode,
        "notes": list(retrieval.notes),
    }


def passage_json(passage: Passage) -> dict[str, Any]:
    """One passage in the row that `retrieve` gives back."""
    names = ("chunk_id", "doc_id", "title", "text", "locator", "score", "bm25", "semantic")
    return {name: getattr(passage, name) for name in names}


def passages_to_grade(data: Json) -> tuple[Passage, ...]:
    """Read the field `passages` of a row of `grade`; ids must differ, for grades are told apart by them."""
    made = tuple(
        Passage(chunk_id=given, doc_id=given, title=fields.optional_text(item, "title") or "", text=text)
        for item in fields.objects(data, "passages")
        for given, text in [(fields.text(item, "id"), fields.text(item, "text"))]
    )
    if len({passage.chunk_id for passage in made}) < len(made):
        raise InputError("field 'passages' has two passages of the same id", code="bad_field")
    return made


async def access_of(system: System, user: str | None, product: str | None) -> Access:
    """The rights of `user`: their groups, as the directory knows them. Without a user, or where the directory does not answer, what everyone may see."""
    if user is None:
        return Access(product=product)
    try:
        groups = await system.directory.groups(user)
    except ServiceError:
        groups = frozenset()
    return Access(user=user, groups=groups, product=product)


async def retrieve(system: System, data: Json, k: int, user: str | None, product: str | None) -> dict[str, Any]:
    """Search for the `query` or `history` of a row, and make the row that comes back, without its id. The row's own `k`, `as` and `product` win."""
    if ("query" in data) == ("history" in data):
        raise InputError("a row has either 'query' or 'history'", code="bad_field")
    wanted = fields.whole_number(data, "k", k, 1, MAX_K)
    access = await access_of(
        system, fields.optional_text(data, "as") or user, fields.optional_text(data, "product") or product
    )
    typed = "query" in data
    query = Query(fields.text(data, "query")) if typed else await system.queries.build(history(data), access)
    return retrieval_json(query.text, await system.retriever.retrieve(query, access, wanted))
