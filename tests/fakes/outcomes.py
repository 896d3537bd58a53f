"""Replies of every outcome, each with the passages behind it.

What is in an answer, its claims and the evidence all point at the same characters, as the real pipeline guarantees.
"""

from __future__ import annotations

from bot.records import Citation, InternalNote, Refusal, Reply, Struck
from grounding.corrective.decide import Decision
from grounding.corrective.find import Correction
from grounding.query.clarify import Clarification
from grounding.records import Action, Grade, Label, Passage, Span, WebResult
from rai.records import Claim, EvidenceSpan, Kind, Outcome, Status
from tests.fakes.library import passage_of
from tests.fakes.replies import reply_of, told
from tests.fakes.shop import HOSTILE, NASTY, PLANS, RETURNS


def claim(
    answer: str,
    text: str,
    kind: Kind,
    status: Status,
    source: Passage | None = None,
    *,
    of: str | None = None,
    why: str = "",
) -> Claim:
    """A claim on the first `text` of `answer`, supported by the first `of` (or `text`) of `source`."""
    start = answer.index(text)
    evidence: tuple[EvidenceSpan, ...] = ()
    if source is not None:
        there = of or text
        at = source.text.index(there)
        evidence = (EvidenceSpan(source.chunk_id, "text", at, at + len(there), there),)
    reason = why or f"{there!r} stands in the source" if source is not None else why or "no source says this"
    return Claim(kind, text, start, start + len(text), text.lower(), None, status, evidence, reason)


def citation(n: int, passage: Passage, quote: str) -> Citation:
    return Citation(
        n,
        passage.title,
        passage.url,
        passage.doc_id,
        passage.chunk_id,
        passage.locator,
        quote,
        passage.origin,
        passage.tier,
    )


def grade_of(passage: Passage, score: float) -> Grade:
    label: Label = "Perfect" if score >= 0.8 else "Good" if score >= 0.4 else "Poor"
    extract = Span(0, 20, passage.text[:20])
    return Grade(passage.chunk_id, score, label, "yes" if score >= 0.4 else "no", extract, "names the same thing")


def answered() -> tuple[Reply, tuple[Passage, ...]]:
    first, second = passage_of(RETURNS), passage_of(PLANS)
    text = (
        "You can return an unused item within 30 days of delivery [1]. Return shipping costs €4.90 [1]. "
        "For questions call +44 20 7946 0018 [1]. Northwind Care is €79.00 a year [2]."
    )
    sentence = "You can return an unused item within 30 days of delivery [1]."
    claims = (
        claim(
            text,
            sentence,
            "statement",
            "entailed",
            first,
            of="You can return an unused item within 30 days of delivery.",
        ),
        claim(text, "30 days", "quantity", "exact", first),
        claim(text, "€4.90", "money", "exact", first),
        claim(text, "+44 20 7946 0018", "phone", "exact", first),
        claim(text, "Northwind Care", "entity", "exact", second),
        claim(text, "€79.00", "money", "exact", second),
    )
    cited = (
        citation(1, first, "You can return an unused item within 30 days of delivery."),
        citation(2, second, "Northwind Care costs €7.99 a month or €79.00 a year."),
    )
    notes = (InternalNote("Escalation rules", "escalation", "c9", "Goodwill credits above €50 need a team lead."),)
    grades = (grade_of(first, 0.93), grade_of(second, 0.55))
    return reply_of(
        Outcome.ANSWERED,
        text,
        citations=cited,
        claims=claims,
        grades=grades,
        action=Action.CORRECT,
        internal_notes=notes,
        relevance=0.88,
        decision=Decision(Action.CORRECT, (first.chunk_id,), "max_at_least_correct", 0.8, 0.13, 0.93),
    ), (first, second)


def repaired() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(RETURNS)
    draft = "Refunds reach your card in 5 to 7 working days [1]. Return shipping costs €5.90 [1]. Call +44 20 7946 0081 [1]."
    text = "Refunds reach your card in 5 to 7 working days [1]."
    days = claim(text, "5 to 7 working days", "quantity", "exact", first)
    struck = Struck(
        draft,
        (
            claim(draft, "5 to 7 working days", "quantity", "exact", first),
            claim(draft, "€5.90", "money", "absent", first, of="€4.90", why="the source says €4.90, not €5.90"),
            claim(
                draft,
                "+44 20 7946 0081",
                "phone",
                "lookalike",
                first,
                of="+44 20 7946 0018",
                why="the source has +44 20 7946 0018: two digits are swapped",
            ),
        ),
    )
    cited = (citation(1, first, "Refunds reach the card that was charged in 5 to 7 working days."),)
    return reply_of(
        Outcome.REPAIRED,
        text,
        citations=cited,
        claims=(days,),
        grades=(grade_of(first, 0.9),),
        action=Action.CORRECT,
        draft=struck,
        relevance=0.8,
        notes=("two sentences were taken out",),
    ), (first,)


def withheld() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(PLANS)
    draft = "The plan costs €9.99 a month."
    struck = Struck(draft, (claim(draft, "€9.99", "money", "absent", first, of="€7.99", why="the source says €7.99"),))
    return reply_of(
        Outcome.WITHHELD,
        "I found sources, but could not support an answer with them.",
        offered=(citation(1, first, "Northwind Care costs €7.99 a month"),),
        draft=struck,
        grades=(grade_of(first, 0.7),),
        action=Action.AMBIGUOUS,
    ), (first,)


def insufficient() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(RETURNS)
    text = "The provided information is not sufficient to answer this question."
    return reply_of(
        Outcome.INSUFFICIENT,
        text,
        offered=(citation(1, first, "Returns and refunds"),),
        grades=(grade_of(first, 0.1),),
        action=Action.INCORRECT,
    ), (first,)


def asks_back() -> tuple[Reply, tuple[Passage, ...]]:
    """Not enough, asked in other words and on the web, a question to the human agent."""
    reply, passages = insufficient()
    at_first = Decision(Action.INCORRECT, (), "max_below_keep", 0.4, 0.3, 0.1)
    in_doubt = Decision(Action.AMBIGUOUS, (passages[0].chunk_id,), "max_below_correct", 0.8, 0.25, 0.55)
    options = ("Northwind Care", f"Northwind Care Plus {HOSTILE}"[:80])
    return told(
        reply,
        action=Action.AMBIGUOUS,
        decided_first=at_first,
        decision=in_doubt,
        corrections=(
            Correction("rewrites", ("price of the plan", f"cost of the plan {HOSTILE}"), 1, in_doubt),
            Correction("web", why="web search is off"),
        ),
        clarification=Clarification(
            f"Which plan do you mean: {', '.join(options)} or another?",
            options,
            "“this plan” points at something that no turn names",
        ),
        usage={"calls": 2, "prompt_tokens": 210, "completion_tokens": 18},
    ), passages


def from_web() -> tuple[Reply, tuple[Passage, ...]]:
    text = "A flat white has less foam [1]."
    page = Passage(
        "w1",
        "web:1",
        "Coffee basics",
        "A flat white has a thin layer of microfoam.",
        origin="web",
        url="https://coffee.example/flat-white",
        tier="unlisted",
    )
    web = (
        WebResult(
            "Coffee basics",
            "https://coffee.example/flat-white",
            "A flat white has a thin layer of microfoam.",
            query="flat white",
        ),
    )
    cited = (citation(1, page, "a thin layer of microfoam"),)
    return reply_of(Outcome.ANSWERED, text, citations=cited, web=web, action=Action.INCORRECT), (page,)


def blocked() -> tuple[Reply, tuple[Passage, ...]]:
    text = "This question cannot be answered within the limits of our search policies."
    return Reply(Outcome.BLOCKED, text, refusal=Refusal("jailbreak", "en")), ()


def failed() -> tuple[Reply, tuple[Passage, ...]]:
    text = "The language model did not answer. Please try again."
    return Reply(Outcome.FAILED, text, code="model_unavailable"), ()


def hostile() -> tuple[Reply, tuple[Passage, ...]]:
    first = passage_of(NASTY)
    text = f"𝒜𝒷 {HOSTILE} The lens cloth costs €3.50 [1]."
    return reply_of(
        Outcome.ANSWERED,
        text,
        citations=(citation(1, first, HOSTILE),),
        claims=(claim(text, "€3.50", "money", "exact", first),),
        web=(WebResult(HOSTILE, "javascript:alert(1)", HOSTILE),),
        notes=(HOSTILE,),
        internal_notes=(InternalNote(HOSTILE, "nasty", "c", HOSTILE),),
    ), (first,)
