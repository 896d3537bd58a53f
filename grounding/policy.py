"""Policies: the settings of one turn's RAG (rules, thresholds, prompts and bounds). Frozen, named, stored with every ledger entry.

A policy says what the turn does and how strict it is; settings say which services it runs on. The policies that come with the product are
files under `policies/`; a company's own is such a file too (`grounding.policies.files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

from grounding.records import Label, SearchBy, plain

Style = Literal["score", "label", "binary", "confidence", "none"]
"""How a grader speaks: a score in [0, 1] (seed 000), a label with a justification (003), yes or no (002), a confidence with an
extract (001); none: passages are taken as they were found (004)."""
Rule = Literal["max_score", "irrelevant_over_70", "relevant_at_most_70", "mean_kept", "mean_all_retrieved", "top_k"]
"""What decides on the action, see `grounding.corrective.decide`."""
QueryBy = Literal["extract", "keywords"]
"""Who makes the search query: extractive summarization, and then a model that turns it into key words (000)."""
WebQuery = Literal["query", "rewritten"]
Step = Literal["rewrites", "hyde", "web", "plan"]
"""A corrective step: other phrasings searched together, a hypothetical answer searched for, the web, plan-step-evaluate."""
Answer = Literal["five-part", "hybrid-crag", "rag"]
"""The prompt of the answer: ours, or the user message of a source document within ours."""

Doubt = Literal["struck", "conflict", "marked"]
"""What becomes of a claim that the check leaves in doubt: struck, struck only where sources disagree, or delivered and marked."""
DoubtKind = Literal[
    "number",
    "quantity",
    "money",
    "percent",
    "date",
    "time",
    "url",
    "email",
    "phone",
    "entity",
    "statement",
]
"""Kinds of claims: those of `rai.records.Kind`, which this package may not import."""

DEFAULT_POLICY = "attest"
PLAIN = ":plain"
"""Behind a policy's name: the same without grading and correction."""
MOST_SENTENCES = 12
MOST_REWRITES = 10
Share = Annotated[float, Ge(0), Le(1)]
Few = Annotated[int, Ge(1), Le(50)]
Many = Annotated[int, Ge(1), Le(1000)]
Tokens = Annotated[int, Ge(1), Le(200_000)]
LABELS: dict[Label, float] = {"Awful": 0.0, "Poor": 0.3, "Good": 0.7, "Perfect": 1.0}
"""Numbers of the labels in the workshop's code (requirement 3-06); eShopSupport's own were 0, .33, .67 and 1."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One named policy. Scores and thresholds are in [0, 1]; budgets count GPT-4o byte-pair tokens.

    `correct_at`, `keep_at`: what the rule compares with, and the grade at or above which a passage is kept. Under `max_score` that is 0.8
        and 0.4 (requirements 0-14 to 0-16).
    `certain_at`: grading ends early once `evidence_k` passages reach it; None: every passage is graded.
    `grade_seconds`: wall time of one grading; after it the passages are ungraded.
    `corrective`: the steps, in order, that a turn takes while its passages are not correct, within `correct_seconds` of wall time and
        `correct_tokens` of model calls.
    `plan_steps`: a plan is cut to so many; the loop ends after twice as many rounds as its first plan has steps.
    `evidence`: whole passages, or only what the grader extracted.
    `fill`: evidence is filled up to its bounds with passages that were not kept, best grade first: the grades decide on correction, and
        whoever drafts decides whether anything answers.
    `clarify`: an underspecified request is answered by a question.
    `file_names`: the names of the documents that were used stand at the end of the answer.
    `strict_sentences`: what goes beyond `answer_sentences` is cut off, whoever wrote it.
    `web_joined`: web results stand in the prompt as one text, each still cited by itself.
    `relevance_at`: an answer less relevant to the question than this is not delivered.
    `unsupported_at`: a report with a score above this is `unsupported`.
    `doubt`: what becomes of what the check leaves in doubt, by kind; of kinds that it does not name contacts are struck, amounts where
        sources disagree, and the rest is delivered and marked.
    `nodes`: what the source document calls our stages; the record says both.
    """

    name: str = DEFAULT_POLICY
    about: str = ""
    query: QueryBy = "extract"
    search: SearchBy = "hybrid"
    retrieve_k: Many = 50
    style: Style = "score"
    grade_k: Many = 20
    grade_batch: Few = 10
    grade_seconds: Annotated[float, Gt(0), Le(600)] = 15.0
    certain_at: Share | None = None
    labels: Mapping[Label, Share] = field(default_factory=lambda: dict(LABELS))
    rule: Rule = "max_score"
    correct_at: Share = 0.8
    keep_at: Share = 0.4
    corrective: tuple[Step, ...] = ("web",)
    rewrites: Annotated[int, Ge(1), Le(MOST_REWRITES)] = 5
    web_query: WebQuery = "query"
    web_k: Few = 5
    web_joined: bool = False
    plan_steps: Few = 5
    correct_seconds: Annotated[float, Gt(0), Le(600)] = 25.0
    correct_tokens: Tokens = 40000
    clarify: bool = False
    evidence: Literal["passages", "extracts"] = "passages"
    evidence_k: Few = 5
    fill: bool = False
    answer: Answer = "five-part"
    file_names: bool = False
    relevance_at: Share = 0.3
    unsupported_at: Share = 0.5
    doubt: Mapping[DoubtKind, Doubt] = field(default_factory=dict)
    prompt_tokens: Tokens = 6000
    evidence_tokens: Tokens = 1500
    history_tokens: Tokens = 800
    context_tokens: Tokens = 400
    answer_sentences: Annotated[int, Ge(1), Le(MOST_SENTENCES)] = 3
    strict_sentences: bool = False
    nodes: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> Policy:
        """The same policy without grading and correction: traditional RAG, to compare with (requirement 2-23)."""
        return replace(
            self,
            name=f"{self.name}{PLAIN}",
            about=f"{self.name} without grading and correction, to compare with.",
            style="none",
            rule="top_k",
            correct_at=0.0,
            keep_at=0.0,
            corrective=(),
            evidence="passages",
            clarify=False,
        )

    def as_json(self) -> dict[str, Any]:
        """All fields by name, as the ledger keeps them."""
        kept: dict[str, Any] = plain(self)
        return kept
