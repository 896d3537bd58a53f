"""The rules that decide a sentence beside the sources, in order. Each has a name, so that how often it is right can be counted.

A rule gives the decision, `contradicted` or `entailed`, or None where it does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rai.check.lexicon.load import Cue
from rai.check.phrasing.denied import denied_apart
from rai.check.phrasing.entail import judge
from rai.check.phrasing.one_word_changed import decide_one_word
from rai.check.phrasing.phrasing_features import beside as beside_line
from rai.check.statements.bounds import bound_turned
from rai.check.statements.cell_denied import cell_denied
from rai.check.statements.clauses import Clause, clauses
from rai.check.statements.contrast import Beside, Turn, bounds_of, denies, same_word, side_of, turned
from rai.check.statements.free_denied import free_denied
from rai.check.statements.order import reversed_order, sequence
from rai.check.statements.polarity import clash
from rai.check.statements.prepared import ClauseCandidate, Decision, PreparedClause, PreparedStatement
from rai.check.statements.tax_basis import TAX, tax_basis_turned

CLOSE = 0.5
"""Least share of what a clause tells that a clause of a source has to hold before the two are set against each other."""
WHOLE = 0.9
"""Least share of what a clause of a source tells that the answer has to say where the source holds less than `CLOSE` of the answer's."""
RIVAL = 0.6
"""How much lower the rank of a clause that agrees may be than that of one that contradicts, and still spare the answer."""
NEARLY = 0.25
"""How much lower the rank of a clause that speaks of all may be, and still spare an answer that does."""
_FEWEST = 2
"""Fewest words that two clauses share which speak of one matter."""


@dataclass(frozen=True, slots=True)
class StatementRule:
    """A rule that may decide a sentence. `id`: its name in the claim, the ledger and the page; `judge`: gives the decision, None where it does not apply."""

    id: str
    judge: Callable[[PreparedStatement], Decision | None]


def negation_turned(said: PreparedStatement) -> Decision | None:
    """`contradicted` if a source says the same with the opposite sense: one is negated, or on the other side of a scale (included, charged)."""
    for part in said.parts:
        decision = _turned_part(said, part)
        if decision:
            return decision
    return None


def _turned_part(said: PreparedStatement, part: PreparedClause) -> Decision | None:
    near = [c for c in part.candidates if _speaks_of_it(c.two)]
    if not near or near[0].unit.row or (part is not said.parts[0] and _NOT_THE_OTHER.match(part.clause.text)):
        return None
    first = near[0]
    turn = turned(first.two)
    if turn is None or denied_apart(said.plain, first.unit.span.text) or _of_others(said.plain, first.unit.span.text):
        return None
    if sum(not t.digits for t in first.two.piece.terms) <= _LABEL and not _is_denying(first.two.piece, turn):
        return (
            None  # "Click & collect" says nothing of whether there is any, nor do "8 working days" and "Handling fee"
        )
    if _limited(said, first) or _has_other_figures(said, part, first) or _denied_before(said, part, first, turn):
        return None
    if any(_agrees(c, turn, first) for c in part.candidates if c is not first and c.rank >= first.rank - RIVAL):
        return None
    return Decision("contradicted", (first.unit.span,), _difference(turn, first))


def _is_denying(piece: Clause, turn: Turn) -> bool:
    """True if few words of a source deny all the same: "not included"."""
    return bool(turn.theirs) and (denies(piece.cues) or side_of(piece, turn.scale) is False)


_LABEL = 2
"""Most words of a piece that only names something and says nothing of it."""
_NOT_THE_OTHER = re.compile(
    r"\W*(?:and |but )?(?:not|nicht|pas|non|no|niet|nie) (?!(?:be|is|are|was|were|do|does|have|has|can|will|may)\b)",
    re.IGNORECASE,
)
"""Behind the rest of a sentence: 18 months after the last purchase, not 12 months after they were earned."""


def _speaks_of_it(two: Beside) -> bool:
    shared = len(two.shared) + bool(two.scales)
    if shared < _FEWEST:
        return False
    return (two.mine >= CLOSE and two.theirs >= 0.4) or (two.mine >= 0.35 and two.theirs >= WHOLE and bool(two.scales))


def _limited(said: PreparedStatement, candidate: ClauseCandidate) -> bool:
    """True if one of the two sets a condition, the source a bound that the answer leaves, or the answer has both sides: "a fee applies, but we waive it"."""
    cues = [c for p in said.parts for c in p.clause.cues]
    if any(c.concept == "conditions" and c.key in ("if", "unless") for c in cues):
        return True
    if any(c.concept == "conditions" and c.key in ("if", "unless") for c in candidate.unit.cues):
        return True
    clause, piece = candidate.two.clause, candidate.two.piece
    if _told_of(said.plain, clause.start + len(clause.text)) or _told_of(
        candidate.unit.span.text, piece.start + len(piece.text)
    ):
        return True
    if denies(candidate.unit.over) or any(c.concept == "conditions" for c in candidate.unit.over):
        return True
    theirs = bounds_of(candidate.unit.cues)
    if not bounds_of(candidate.two.clause.cues) <= theirs <= bounds_of(cues):
        return True
    sides = {c.key for c in cues if c.scale in candidate.two.scales and c.concept == "opposites"}
    return any(len([s for s in sides if s.startswith(f"{scale}/")]) > 1 for scale in candidate.two.scales)


def _denied_before(said: PreparedStatement, part: PreparedClause, candidate: ClauseCandidate, turn: Turn) -> bool:
    """True if the side that lacks a negation may have it from what stands before it: "has no gym | or fitness centre"."""
    if turn.mine and turn.theirs:
        return False
    if not turn.mine:
        return any(denies(p.clause.cues) for p in said.parts if p.clause.start < part.clause.start)
    return denies([c for c in candidate.unit.cues if c.start < candidate.two.piece.start])


def _told_of(text: str, end: int) -> bool:
    """True if what follows tells which are meant: "guests | who cancel early"."""
    return text[end:].lstrip(" ,").lower().startswith(_RELATIVE)


_RELATIVE = ("who ", "which ", "whose ", "that ")


def _has_other_figures(said: PreparedStatement, part: PreparedClause, candidate: ClauseCandidate) -> bool:
    """True if a number or code of the answer's clause stands where the source has another."""
    shared = [a for a, _ in candidate.two.shared]
    alone = [t for t in part.clause.terms if all(t is not a for a in shared) and t.key not in candidate.unit.above]
    figures = any(t.digits for t in candidate.two.piece.terms if all(t is not b for _, b in candidate.two.shared))
    return any(
        (figures if t.digits else any(c.isdigit() for c in t.word)) or (t.digits and t.key not in said.field.keys)
        for t in alone
    )


def _agrees(candidate: ClauseCandidate, turn: Turn, first: ClauseCandidate) -> bool:
    """True if another clause speaks of the same matter and does not turn it."""
    if turn.scale in candidate.two.scales:
        return side_of(candidate.two.clause, turn.scale) == side_of(candidate.two.piece, turn.scale)
    return _same_matter(candidate.two, first.two) and turned(candidate.two) is None


def _same_matter(other: Beside, first: Beside) -> bool:
    return len([a for a, _ in other.shared if any(a is b for b, _ in first.shared)]) >= _FEWEST


def _difference(turn: Turn, candidate: ClauseCandidate) -> str:
    source = candidate.unit.span.source
    if turn.mine and turn.theirs:
        return f"Says “{turn.mine}” where {source} says “{turn.theirs}”: {candidate.two.piece.text.strip(' ,;:')}"
    if turn.mine:
        return f"Says “{turn.mine}” where {source} says that it is so: {candidate.two.piece.text.strip(' ,;:')}"
    return f"Says that it is so where {source} says “{turn.theirs}”: {candidate.two.piece.text.strip(' ,;:')}"


_MOST = 6
"""Most pieces of the sources that are looked at for each word of a sentence."""


def word_denied(said: PreparedStatement) -> Decision | None:
    """`contradicted` if it denies a word that a source affirms of the same thing, or affirms one that it denies, whatever else the two say."""
    near = (c.unit for p in said.parts for c in p.candidates)
    keyed = (
        said.field.units[n]
        for p in said.parts
        for t in p.clause.terms
        for n in said.field.places.get(t.key, ())[:_MOST]
    )
    units = tuple(dict.fromkeys((*near, *keyed)))
    found = clash(said.plain, units, said.code)
    if found is None or denied_apart(said.plain, found.unit.span.text) or _of_others(said.plain, found.unit.span.text):
        return None
    span = found.unit.span
    verb = "denies" if found.mine.denied else "says"
    other = "says" if found.mine.denied else "denies"
    why = f"It {verb} “{found.mine.word.word}” where {span.source} {other} it: {span.text.strip()}"
    return Decision("contradicted", (span,), why)


def _of_others(plain: str, text: str) -> bool:
    """True if both name things with a capital or a letter, and none that the other names: Service S, "included in M and L"."""
    mine, theirs = (frozenset(_NAME.findall(t)) for t in (plain, text))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


_NAME = re.compile(r"(?<=\w )(?:[A-Z]\b(?![–-])|[A-Z]\w+(?:[–-][A-Z]\w+)*)(?![.:])")
"""A letter that is a name, or a word with a capital, not at the beginning of a sentence; a route from one to another is one name."""


def condition_denied(said: PreparedStatement) -> Decision | None:
    """`contradicted` if it says "regardless" of what a source makes a condition or limits: "however many rides are on it", "as often as you like"."""
    for part in said.parts:
        loose = next((c for c in part.clause.cues if c.concept == "conditions" and c.key == "regardless"), None)
        if loose is None or any(_sets_aside(c) for c in part.candidates):
            continue
        for candidate in part.candidates[:3]:
            strict = _condition(loose, part.clause, candidate)
            if strict:
                mine = part.clause.text[loose.start : loose.end]
                span = candidate.unit.span
                return Decision("contradicted", (span,), f"Says “{mine}” where {span.source} says “{strict}”.")
        other = _other_side(part, said)
        if other is not None:
            mine = part.clause.text.strip(" ,;:.")
            return Decision(
                "contradicted",
                (other.unit.span,),
                f"Says “{mine}” where {other.unit.span.source} says: {other.unit.span.text.strip()}",
            )
    return None


def _other_side(part: PreparedClause, said: PreparedStatement) -> ClauseCandidate | None:
    """The source clause that holds the rest of the sentence, if it says that of the other side of a scale alone; None if there is none.

    "Even if it is used", of what is refunded unused.
    """
    mine = {c.scale: c.key for c in part.clause.cues if c.concept == "opposites"}
    rest = [p for p in said.parts if p is not part and p.candidates and p.candidates[0].two.mine >= CLOSE]
    for candidate in (p.candidates[0] for p in rest):
        theirs = [c for c in candidate.unit.cues if c.concept == "opposites" and c.scale in mine]
        if theirs and all(c.key != mine[c.scale] for c in theirs):
            return candidate
    return None


def _sets_aside(candidate: ClauseCandidate) -> bool:
    """True if the source itself says of the matter that it is so regardless."""
    return any(c.concept == "conditions" and c.key == "regardless" for c in candidate.two.piece.cues)


def _condition(loose: Cue, clause: Clause, candidate: ClauseCandidate) -> str:
    """The words of a source that set a condition or a bound to what the clause says holds without; "" if none do."""
    text, shared = candidate.unit.span.text, candidate.two.shared
    after = [t for t in clause.terms if t.start >= loose.end]
    for piece in clauses(text, clause.code):
        held = sum(any(same_word(a, b) for b in piece.terms) for a in after)
        for cue in piece.cues:
            condition = cue.concept == "conditions" and cue.key in ("if", "unless", "only")
            bound = piece is candidate.two.piece and (cue.concept, cue.key) in _LIMITS
            if (condition and held and 2 * held >= len(after)) or (
                bound and len(shared) >= _FEWEST and candidate.two.mine >= 0.4
            ):
                return piece.text[cue.start : cue.end]
    return ""


_LIMITS = frozenset({("bounds", "most"), ("bounds", "until"), ("frequency", "once")})
"""No more than, within, once: what is said of a matter that holds without a limit has none of them."""


def scope_widened(said: PreparedStatement) -> Decision | None:
    """`contradicted` if it says of all what a source says of some alone: "in every zone" where it is "only in Zone B"."""
    cues = [c for p in said.parts for c in p.clause.cues]
    if any(c.concept == "conditions" and c.key in ("only", "unless", "if") for c in cues) or denies(cues):
        return None
    for part in said.parts:
        wide = [c for c in part.clause.cues if c.concept == "universals" and c.key == "all"]
        if not wide:
            continue
        for candidate in part.candidates[:2]:
            if any(c.rank >= candidate.rank - NEARLY and _tells_of_all(c) for c in part.candidates):
                continue
            narrow = [c for c in candidate.two.piece.cues if c.concept == "conditions" and c.key in ("only", "unless")]
            if (
                narrow
                and candidate.two.mine >= CLOSE
                and not any(c.concept == "universals" for c in candidate.unit.cues)
            ):
                return Decision(
                    "contradicted",
                    (candidate.unit.span,),
                    f"Says “{part.clause.text[wide[0].start : wide[0].end]}” where {candidate.unit.span.source} says “{candidate.two.piece.text[narrow[0].start : narrow[0].end]}”.",
                )
    return None


def _tells_of_all(candidate: ClauseCandidate) -> bool:
    """True if a source says "all" of the same: the row of one plan among rows of others."""
    universal = any(c.concept == "universals" and c.key == "all" for c in candidate.unit.cues)
    return universal and len(candidate.two.shared) >= _FEWEST


def order_reversed(said: PreparedStatement) -> Decision | None:
    """`contradicted` if it puts two steps in an order that a source has the other way round."""
    for pair in sequence(said.parts):
        found = reversed_order(*pair)
        if found:
            late, early = found
            spans = (early.unit.span, late.unit.span) if early.unit is not late.unit else (early.unit.span,)
            one, other = (c.two.piece.text.strip(" ,;:.") for c in (early, late))
            why = f"{early.unit.span.source} has it the other way round: “{one}” comes before “{other}”."
            return Decision("contradicted", spans, why)
    return None


def stands(said: PreparedStatement) -> Decision | None:
    """`entailed` if it stands in a source as it is, or but for articles and contractions; `contradicted` if a source says the opposite in the same words."""
    support = judge(said.plain, said.context.sources)
    return Decision(support.status, support.evidence, support.why) if support else None


def one_word_changed(said: PreparedStatement) -> Decision | None:
    """The decision of `decide_one_word` on a sentence that repeats a line of a source but for one word: its opposite, another of its kind, or more than was said."""
    weighed = beside_line(said.plain, tuple(p.source for p in said.context.sources))
    if weighed is None or weighed.best is None or weighed.best.span.text.rstrip(" *_").endswith("?"):
        return None
    decision = decide_one_word(weighed.words, weighed.best)
    return Decision(decision.status, (weighed.best.span,), decision.why) if decision else None


RULES: tuple[StatementRule, ...] = (
    StatementRule("statement-stands", stands),
    StatementRule("statement-word", one_word_changed),
    StatementRule("statement-cell", cell_denied),
    StatementRule(TAX, tax_basis_turned),
    StatementRule("statement-free", free_denied),
    StatementRule("statement-negated", negation_turned),
    StatementRule("statement-denied", word_denied),
    StatementRule("statement-bound", bound_turned),
    StatementRule("statement-regardless", condition_denied),
    StatementRule("statement-scope", scope_widened),
    StatementRule("statement-order", order_reversed),
)
"""The rules in the order in which they are asked; the first that decides gives the status."""
