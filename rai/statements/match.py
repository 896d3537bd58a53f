"""Statements of an answer against the sources."""

from __future__ import annotations

from rai.statements.cover import groups
from rai.statements.decide import decide
from rai.statements.entail import anywhere, judge
from rai.statements.features import Weighed, beside
from rai.statements.sense import sense
from rai.statements.wording import plain_words, substance
from rai.support.setting import Finding, Setting

ABSENT_BELOW = 0.2
"""A statement of four content words and more of which less than this share stands anywhere in the sources is absent."""
_NAMED = 3


def match_statement(sentence: str, setting: Setting, valued: frozenset[str] = frozenset()) -> Finding:
    """The status of one sentence; what words alone cannot decide is `unchecked`, with the line of a source that is nearest.

    `valued`: words of the values in the sentence, in lower case; these are judged by themselves.
    """
    if not substance(sentence):
        return Finding("unchecked", (), "A question, a courtesy or a lead-in claims nothing.")
    support = judge(sentence, setting.sources)
    if support is not None:
        return Finding(support.status, support.evidence, support.why)
    held = anywhere(sentence, (*setting.sources, *setting.given))
    if held < ABSENT_BELOW and len(groups(sense(plain_words(sentence)))) >= 4:
        return Finding("absent", (), f"Only {held:.0%} of its words stand in any source.")
    weighed = beside(sentence, tuple(p.source for p in setting.sources))
    if weighed is None or weighed.best is None:
        return Finding("unchecked", (), "No source has words of it that could be compared.")
    best = weighed.best
    decision = None if best.span.text.rstrip().endswith("?") else decide(weighed.words, best)
    if decision:
        return Finding(decision.status, (best.span,), decision.why)
    return Finding("unchecked", (best.span,), _reason(weighed, valued))


def _reason(weighed: Weighed, valued: frozenset[str]) -> str:
    """What speaks against a sentence that is not decided, in plain words."""
    if weighed.opposites:
        mine, theirs = weighed.opposites[0]
        return (
            f"Says “{mine.text}”, while the nearest line of a source says “{theirs.text}”; words alone cannot decide."
        )
    if weighed.others:
        mine, theirs = weighed.others[0]
        return (
            f"Says “{mine.text}”, while the nearest line of a source says “{theirs.text}”; words alone cannot decide."
        )
    if weighed.values["stronger"]:
        return "Is surer than the nearest line of a source, which says what may be; words alone cannot decide."
    unsaid = [w for w in weighed.unsaid if w not in valued and not w.isdigit()]
    if unsaid:
        words = ", ".join(f"“{w}”" for w in unsaid[:_NAMED])
        return f"No source says {words}; words alone cannot decide."
    share = 1 - weighed.values["not_in_best"]
    return f"{share:.0%} of its words stand in one sentence of a source; words alone cannot decide."
