"""Construction of the five-part prompt, in ascending importance, within its token budget.

1 system instructions · 2 grounding and RAI guidance with the numbered evidence · 3 history · 4 agent context (optional) · 5 assistant
message, the example of the answer wanted. The question follows as the user message. When the whole is too long, history is cut oldest
first, then agent context, then the example, then the lowest-ranked evidence; never the instructions, the guidance or the question. Each cut
is recorded.

Where a policy has the prompt of its source document, that is the user message, and the evidence stands there. Evidence, history and agent
context are quoted between random markers (`grounding.model_calls.spotlight`). All that is the same from turn to turn comes before the first of
them, so that a service can keep its work on that beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

from grounding.model_calls.spotlight import block
from grounding.model_calls.templates import blank, fill, template, template_names
from grounding.policy import MOST_REWRITES, MOST_SENTENCES, Policy
from grounding.quoting.question_parts import Reading, read
from grounding.records import Evidence, Prompt, PromptPart, Turn
from grounding.tokens import CHAT_OVERHEAD, count_tokens

_ROLE_NAMES = {"customer": "Customer", "agent": "Agent", "user": "User message", "assistant": "AI Assistant message"}
_ORIGINS = {"kb": "document", "web": "web page"}
_INBOUND = "document from outside the company"
_STAND_IN = "8e0b4f6d1a93c752"
"""Counted in place of a marker, so that what the budget cuts does not hang on chance."""


def insufficient_sentence() -> str:
    """The exact sentence for an insufficient knowledge base (requirement 0-20)."""
    return template("insufficient")


def own_texts(company: str) -> tuple[str, ...]:
    """All text that our templates write themselves, whatever the policy: no line of it is anybody's data."""
    ours = [blank(name, insufficient=insufficient_sentence()) for name in template_names() if name != "system"]
    origins = [f"[{n}] {origin}" for n in range(1, 100) for origin in (*_ORIGINS.values(), _INBOUND)]
    roles = [f"{name}:" for name in _ROLE_NAMES.values()]
    systems = [fill("system", company=company, answer_sentences=str(size)) for size in range(1, MOST_SENTENCES + 1)]
    asked = [fill("query_rephrase", question="", count=str(n)) for n in range(1, MOST_REWRITES + 1)]
    return (*ours, *systems, *asked, "\n".join((*origins, *roles)))


def build_prompt(
    question: str,
    evidence: Sequence[Evidence],
    policy: Policy,
    *,
    company: str,
    marker: str,
    history: Sequence[Turn] = (),
    context: str | None = None,
    query: str = "",
    asked: str = "",
) -> Prompt:
    """The prompt for a question: templates filled, within `policy.prompt_tokens`. What is left out is said in `cuts`. `asked`: the question as it stands in
    `query`.

    `marker`: delimiter from `spotlight.new_marker`, one for a turn; the same marker gives the same text.
    """
    cuts: list[str] = []
    turns = _within_history(list(history), policy, cuts)
    context = _within_context(context, policy, cuts)
    kept, example = list(evidence), policy.answer == "five-part"
    shown = _example(read(query or question, asked or question), marker) if example else ""

    def made() -> Prompt:
        parts = _parts(kept, policy, company, turns, context, marker=marker, example=shown if example else "")
        message = _message(kept, policy, question, marker)
        tokens = _tokens(parts, message or question, marker)
        return Prompt(parts, question, tuple(kept), tuple(cuts), tokens, query, marker, message, asked)

    while (prompt := made()).tokens > policy.prompt_tokens:
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
    return prompt


def revision_request(question: str, draft: str, problems: Sequence[str], marker: str) -> str:
    """User message that asks for a revision of `draft`; `problems`: one line for each thing in it that no evidence supports."""
    listed = "\n".join(f"- {' '.join(problem.split())}" for problem in problems)
    return fill("revision", question=question, draft=block(draft, marker), problems=block(listed, marker))


def _parts(
    evidence: Sequence[Evidence],
    policy: Policy,
    company: str,
    turns: Sequence[Turn],
    context: str | None,
    *,
    marker: str,
    example: str,
) -> tuple[PromptPart, ...]:
    system = fill("system", company=company, answer_sentences=str(policy.answer_sentences))
    insufficient = insufficient_sentence()
    if policy.answer == "five-part":
        listed = "\n".join(_evidence_text(e, marker) for e in evidence) or "(none)"
        guidance = fill("guidance", insufficient=insufficient, evidence=listed)
    else:
        guidance = fill("guidance_apart", insufficient=insufficient)
    parts = [PromptPart("system", system), PromptPart("guidance", guidance)]
    if turns:
        said = block("\n".join(_turn_text(t) for t in turns), marker)
        parts.append(PromptPart("history", fill("history", history=said)))
    if context:
        parts.append(PromptPart("agent_context", fill("agent_context", context=block(context, marker))))
    if example:
        parts.append(PromptPart("example", example))
    return tuple(parts)


def _example(reading: Reading, marker: str) -> str:
    """Example of an answer of the form that is wanted; before it, where several things are asked, each on a line."""
    if len(reading.parts) == 1:
        return template(f"example_{reading.form}")
    listed = block("\n".join(f"{n}. {part.text}" for n, part in enumerate(reading.parts, 1)), marker)
    return f"{fill('asked', asked=listed)}\n{template('example_parts')}"


def _message(evidence: Sequence[Evidence], policy: Policy, question: str, marker: str) -> str:
    """User message of a source document's own prompt, its evidence quoted in it; empty where the question is the message."""
    if policy.answer == "five-part":
        return ""
    if policy.web_joined:  # one text of all pages, as requirement 2-16 has it; they are cited one by one all the same
        own = [_evidence_text(e, marker) for e in evidence if e.passage.origin == "kb"]
        pages = "\n".join(e.passage.text for e in evidence if e.passage.origin == "web")
        listed = "\n".join([*own, *([block(pages, marker)] if pages else [])])
    else:
        listed = "\n".join(_evidence_text(e, marker) for e in evidence)
    if policy.answer == "rag":
        return fill("answer_rag", question=question, context=listed or "(none)")
    return fill("answer_hybrid-crag", query=question, information=listed or "(none)")


def _evidence_text(item: Evidence, marker: str) -> str:
    """One piece of evidence in the prompt: its number and origin, which are ours, and quoted what is not: title and place on one line, then
    the text.
    """
    passage = item.passage
    place = f" · {passage.locator}" if passage.locator else ""
    changed = f" · last changed {passage.updated[:10]}" if passage.updated else ""
    whole = "\n".join((" ".join(f"{passage.title}{place}{changed}".split()), passage.text))
    inbound = passage.origin == "kb" and passage.trust == "inbound"
    return f"[{item.n}] {_INBOUND if inbound else _ORIGINS[passage.origin]}\n{block(whole, marker)}"


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


def _tokens(parts: Sequence[PromptPart], question: str, marker: str) -> int:
    texts = [*(part.text for part in parts), question]
    return sum(count_tokens(text.replace(marker, _STAND_IN) if marker else text) for text in texts) + CHAT_OVERHEAD
