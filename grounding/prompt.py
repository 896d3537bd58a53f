"""The five-part prompt, in ascending importance, and its budget.

1 system instructions · 2 grounding and RAI guidance with the numbered evidence · 3 history · 4 agent context (optional) ·
5 assistant message, the example of the answer wanted. The question follows as the user message. When the whole is too long,
history is cut oldest first, then agent context, then the example, then the lowest-ranked evidence; never the instructions,
the guidance or the question. Each cut is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from grounding.policy import Policy
from grounding.records import Evidence, Prompt, PromptPart, Turn
from grounding.tokens import count_tokens

_ROLE_NAMES = {"customer": "Customer", "agent": "Agent", "user": "User message", "assistant": "AI Assistant message"}
_OVERHEAD = 8
"""Tokens a chat format adds around two messages (OpenAI's cookbook counts 3 a message and 3 for the reply)."""


@cache
def template(name: str) -> str:
    """A template file without its final line break."""
    return files("grounding").joinpath("prompts", f"{name}.txt").read_text("utf-8").rstrip("\n")


def insufficient_sentence() -> str:
    """The exact sentence for an insufficient knowledge base (requirement 0-20)."""
    return template("insufficient")


def build_prompt(
    question: str,
    evidence: Sequence[Evidence],
    policy: Policy,
    *,
    company: str,
    history: Sequence[Turn] = (),
    context: str | None = None,
    query: str = "",
) -> Prompt:
    """Fill the templates and keep to `policy.prompt_tokens`. What is left out is said in `cuts`."""
    cuts: list[str] = []
    turns = _within_history(list(history), policy, cuts)
    context = _within_context(context, policy, cuts)
    kept, example = list(evidence), True
    parts = _parts(kept, policy, company, turns, context, example=example)
    while (tokens := _tokens(parts, question)) > policy.prompt_tokens:
        if turns:
            cuts.append(f"history: turn {len(history) - len(turns) + 1} of {len(history)}")
            turns.pop(0)
        elif context:
            cuts.append("agent context")
            context = None
        elif example:
            cuts.append("example")
            example = False
        elif len(kept) > 1:
            cuts.append(f"evidence [{kept.pop().n}]")
        else:
            break
        parts = _parts(kept, policy, company, turns, context, example=example)
    return Prompt(parts, question, tuple(kept), tuple(cuts), tokens, query)


def revision_request(question: str, draft: str, problems: Sequence[str]) -> str:
    """The user message that asks for `draft` again; `problems`: one line for each thing in it that no evidence supports."""
    listed = "\n".join(f"- {_quoted(' '.join(problem.split()))}" for problem in problems)
    return _fill("revision", question=question, draft=_quoted(draft), problems=listed)


def _parts(
    evidence: Sequence[Evidence],
    policy: Policy,
    company: str,
    turns: Sequence[Turn],
    context: str | None,
    *,
    example: bool,
) -> tuple[PromptPart, ...]:
    system = _fill("system", company=company, answer_sentences=str(policy.answer_sentences))
    listed = "\n".join(_evidence_text(e) for e in evidence) or "(none)"
    parts = [
        PromptPart("system", system),
        PromptPart("guidance", _fill("guidance", insufficient=insufficient_sentence(), evidence=listed)),
    ]
    if turns:
        parts.append(PromptPart("history", _fill("history", history="\n".join(_turn_text(t) for t in turns))))
    if context:
        parts.append(PromptPart("agent_context", _fill("agent_context", context=context)))
    if example:
        parts.append(PromptPart("example", template("example")))
    return tuple(parts)


def _fill(name: str, **values: str) -> str:
    """Fill a template in one pass, so that a value which looks like a placeholder stays text."""
    pieces = template(name).split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        key, _, rest = piece.partition("}}")
        out.append(values[key] + rest)
    return "".join(out)


def _evidence_text(item: Evidence) -> str:
    passage = item.passage
    place = f" · {passage.locator}" if passage.locator else ""
    origin = " (web)" if passage.origin == "web" else ""
    heading = " ".join(_quoted(f"{passage.title}{place}{origin}").split())
    return f"[{item.n}] {heading}\n<<<\n{_quoted(passage.text)}\n>>>"


def _quoted(text: str) -> str:
    """A passage cannot close its own quotation."""
    return text.replace("<<<", "‹‹‹").replace(">>>", "›››")


def _turn_text(turn: Turn) -> str:
    return f"{_ROLE_NAMES[turn.role]}: {turn.text.strip()}"


def _within_history(turns: list[Turn], policy: Policy, cuts: list[str]) -> list[Turn]:
    total = len(turns)
    sizes = [count_tokens(_turn_text(t)) for t in turns]
    while turns and sum(sizes) > policy.history_tokens:
        cuts.append(f"history: turn {total - len(turns) + 1} of {total}")
        turns.pop(0)
        sizes.pop(0)
    return turns


def _within_context(context: str | None, policy: Policy, cuts: list[str]) -> str | None:
    if context is None or not context.strip():
        return None
    if count_tokens(context) <= policy.context_tokens:
        return context.strip()
    cuts.append("agent context: cut to its budget")
    words = context.split()
    while words and count_tokens(" ".join(words)) > policy.context_tokens:
        words = words[: int(len(words) * 0.9)]
    return " ".join(words) or None


def _tokens(parts: Sequence[PromptPart], question: str) -> int:
    return (
        sum(count_tokens(line) for part in parts for line in part.text.split("\n<<<\n"))
        + count_tokens(question)
        + _OVERHEAD
    )
