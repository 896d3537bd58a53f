"""Statements of an answer against the sources."""

from __future__ import annotations

from rai.statements.entail import anywhere, judge
from rai.statements.wording import substance
from rai.support.setting import Finding, Setting
from rai.support.words import role_terms

ABSENT_BELOW = 0.2
"""A statement of four content words and more of which less than this share stands anywhere in the sources is absent."""


def match_statement(sentence: str, setting: Setting) -> Finding:
    """The status of one sentence; what words alone cannot decide is `unchecked`."""
    if not substance(sentence):
        return Finding("unchecked", (), "A question, a courtesy or a lead-in claims nothing.")
    support = judge(sentence, setting.sources)
    if support.status in ("entailed", "contradicted"):
        return Finding("entailed" if support.status == "entailed" else "contradicted", support.evidence, support.why)
    held = anywhere(sentence, (*setting.sources, *setting.given))
    if held < ABSENT_BELOW and len(role_terms(sentence)) >= 4:
        return Finding("absent", (), f"Only {held:.0%} of its words stand in any source.")
    return Finding("unchecked", (), support.why)
