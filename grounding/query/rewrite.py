"""Query rewriting by a chat model: key words for the search, a better question for the web, other phrasings that are searched together.

What a model writes here is searched for and nothing else: it is no evidence, and a reply that cannot be used costs the turn nothing but the
call. Excluded words are taken out in code, whatever the model did with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.model_calls.loose_json import json_values
from grounding.model_calls.schema import TEXT, fields, listed
from grounding.model_calls.templates import fill, template
from grounding.ports import ChatModel
from grounding.query.conversation import without_words
from grounding.text import caseless, terms

LONGEST = 300
"""Characters of a query that a model wrote; a longer one is an answer or a lecture."""
REPLY_TOKENS = 200
PHRASINGS = fields(questions=listed(TEXT))
_LEAD = re.compile(
    r"^\s*(?:(?:example |improved |rewritten |better )?(?:output|question|query|version|search query)(?: is)?\s*:)\s*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+")
_QUOTES = "\"'“”„«»`"
_REFUSES = re.compile(
    r"^\W*(?:i['’ ]?m sorry|i am sorry|sorry\b|apologies|unfortunately|as an ai\b|i(?: am|['’]m) (?:unable|not able)|"
    r"i (?:can(?:no|['’])t|cannot|won['’]t|will not) (?:help|assist|do|provide|answer|comply|fulfil|create|write|generate|rewrite|discuss)\b)",
    re.IGNORECASE,
)
"""Not "I can't log in": that is how customers ask."""


async def keywords(model: ChatModel, question: str, excluded: Sequence[str] = ()) -> str | None:
    """Key-word query by the prompt of requirement 0-03, without any of `excluded`; None if the model wrote none.

    Raises ServiceError, ContentFiltered or PromptBlocked.
    """
    user = fill("query_keywords", input=question, excluded_keywords=", ".join(excluded))
    reply = await model.complete(template("query_guard"), user, purpose="rewrite", max_tokens=REPLY_TOKENS)
    return without_words(_line(reply.text), excluded) or None


async def for_web(model: ChatModel, question: str) -> str | None:
    """The question rewritten for a web search by the prompt of requirement 2-13; None if the model wrote none. Raises as `keywords`."""
    user = fill("query_web", question=question)
    reply = await model.complete(template("query_web_system"), user, purpose="rewrite", max_tokens=REPLY_TOKENS)
    return _line(reply.text) or None


async def rephrased(model: ChatModel, question: str, count: int) -> tuple[str, ...]:
    """At most `count` other phrasings of the question (requirement 3-12), each once and none of them the question itself.

    Raises as `keywords`.
    """
    user = fill("query_rephrase", question=question, count=str(count))
    reply = await model.complete(
        template("query_guard"), user, purpose="rewrite", max_tokens=REPLY_TOKENS * 2, schema=PHRASINGS
    )
    seen, out = {caseless(question).strip()}, []
    for line in _listed(reply.text):
        query = _line(line)
        key = caseless(query)
        if query and key not in seen and terms(query):
            seen.add(key)
            out.append(query)
    return tuple(out[:count])


def is_about(query: str, question: str) -> bool:
    """True if the query shares a word with the question: what does not is a remark, not a rewriting."""
    return bool(set(terms(query)) & set(terms(question)))


def _listed(text: str) -> list[str]:
    """The strings of the first list in a reply, else its lines."""
    for value in json_values(text):
        items = next((v for v in value.values() if isinstance(v, list)), None) if isinstance(value, dict) else value
        if isinstance(items, list):
            return [item for item in items if isinstance(item, str)]
    return [
        _NUMBERED.sub("", line) for line in text.splitlines() if _NUMBERED.match(line) or line.rstrip().endswith("?")
    ]


def _line(text: str) -> str:
    """The query in a reply: its first line of words, without lead-in and quotation marks; empty for a refusal or a lecture."""
    first = next((line for line in text.replace("```", "").splitlines() if terms(line)), "")
    query = " ".join(_LEAD.sub("", first).strip().strip(_QUOTES).split())
    return "" if len(query) > LONGEST or _REFUSES.match(query) else query
