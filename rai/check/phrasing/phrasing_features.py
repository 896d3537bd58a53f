"""Features of a sentence beside the sources, as numbers: what is missing, replaced, turned round or said in another order.

Every number is 0 for a sentence that stands in a source word for word. What each means stands beside its name in `FEATURES`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from rai.check.phrasing.antonyms import alike, exclusive, generic, has_kind, negated_form, opposite, opposites
from rai.check.phrasing.evidence import EvidenceLine, Word, WordEvidence, gather, read
from rai.check.phrasing.plain import plain_words
from rai.records import Source

FEATURES = (
    "unsaid",  # share of content words that no source has in any form
    "unsaid_generic",  # share of them that no source has, but which frame rather than tell
    "not_in_best",  # share that the best line and its title lack
    "not_in_two",  # share that the best two lines lack
    "unsaid_many",  # log of 1 + how many no source has
    "unsaid_names",  # capitalised ones of them, at most 3
    "synonyms",  # share that a source has as a synonym
    "derived",  # share that a source has with another ending
    "opposite_new",  # words whose opposite stands in the best line and which no source has, or prefixed opposites
    "opposite_old",  # the same, but some source has the word
    "opposite_far",  # words whose opposite stands somewhere else in the sources
    "opposite_small",  # opposites one of which is a small word: before, after, up, down
    "other_new",  # words of a kind of which the best line has another: Monday, Tuesday; no source has the word
    "other_old",  # the same, but some source has the word
    "other_far",  # words of such a kind that no source has
    "sense",  # 1 if negated an odd number of times more or less than the best line
    "negated_more",  # 1 if it has more negations than the best line
    "negated_less",  # 1 if it has fewer
    "negated_alone",  # 1 if it negates and no source does
    "turned",  # share of the common words that are negated on one side only
    "quoted_turned",  # "sense" times the share of words that the best line has
    "parted",  # share of neighbouring words that no source says together
    "reordered",  # share of neighbouring common words in another order than in the best line
    "quantity",  # a quantifier of another sort than in the best line: all, some, most, only, none
    "stronger",  # will or must where the best line has may or might
    "rare_unsaid",  # share of the weight of its words that no source has
    "left_out",  # share of the best line's words that it leaves out
    "replaced",  # unsaid words in the place of others of the best line
    "replaced_alike",  # synonyms in such a place
    "replaced_name",  # 1 if a name stands in the place of another name
    "replaced_old",  # words in such a place that some other line has
    "inserted",  # words put between neighbouring words of the best line
    "swapped",  # words that stand in each other's place
    "values",  # unsupported values within the sentence, at most 2
    "names",  # unsupported names within the sentence, at most 2
)

_QUANTIFIERS = (
    ("all", "every", "each", "both", "always"),
    ("some", "several", "sometimes", "many", "few"),
    ("most", "mostly", "usually"),
    ("only",),
    ("none", "no", "never"),
)
_KINDS = {word: kind for kind, words in enumerate(_QUANTIFIERS) for word in words}
_MAY = frozenset("may might could possibly perhaps can sometimes".split())
_WILL = frozenset("will shall must always definitely guaranteed".split())
_CANDIDATES = 6
_REACH = 5
"""Most words from a negation to one that it reaches."""


@dataclass(slots=True)
class Weighed:
    """A sentence beside the sources. `best`: the line that shares most with it, None if none does; `values`: its features by name.

    For a person who asks why: `unsaid`, words that no source has; `opposites` and `others`, pairs of a word and the one in the best line that
    excludes it.
    """

    words: tuple[Word, ...]
    best: EvidenceLine | None
    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FEATURES, 0.0))
    unsaid: list[str] = field(default_factory=list)
    opposites: list[tuple[Word, Word]] = field(default_factory=list)
    others: list[tuple[Word, Word]] = field(default_factory=list)

    def row(self) -> list[float]:
        """The features in the order of `FEATURES`."""
        return [self.values[name] for name in FEATURES]


@lru_cache(maxsize=2048)
def beside(sentence: str, sources: tuple[Source, ...]) -> Weighed | None:
    """The features of a sentence beside `sources`, as by `weigh`. Kept, for a sentence is weighed for its status, for its score and after a repair."""
    return weigh(sentence, gather(sources))


def weigh(sentence: str, evidence: WordEvidence) -> Weighed | None:
    """The features of a sentence beside `evidence`; None if it has no word to compare. Takes time linear in the lines that share a word."""
    words = read(plain_words(sentence))
    if all(w.stop for w in words):
        return None
    best, second = _nearest(words, evidence)
    weighed = Weighed(words, best)
    content = [w for w in words if w.content and not w.digits]
    _missing(weighed, content, evidence, second)
    _clashes(weighed, evidence)
    _negations(weighed, evidence)
    _order(weighed, content, evidence)
    _modes(weighed)
    _replacements(weighed, evidence)
    return weighed


def _nearest(words: Sequence[Word], evidence: WordEvidence) -> tuple[EvidenceLine | None, EvidenceLine | None]:
    """The line that shares most with `words` by weight, and of the next ones that which adds most of what it lacks."""
    shared: defaultdict[int, float] = defaultdict(float)
    for word in words:
        if word.stop and not word.negates:
            continue
        for n in evidence.lines_of.get(word.key, ()):
            shared[n] += evidence.weight[word.key]
    ranked = [n for n, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_CANDIDATES]]
    if not ranked:
        return None, None
    best = evidence.lines[ranked[0]]
    rest = {w.key for w in words if w.content and not w.digits} - best.keys - best.title
    second = max(ranked[1:], key=lambda n: len(rest & evidence.lines[n].keys), default=None)
    return best, None if second is None else evidence.lines[second]


def _within(line: EvidenceLine | None) -> frozenset[str]:
    return line.keys | line.title if line else frozenset()


def _missing(weighed: Weighed, content: Sequence[Word], evidence: WordEvidence, second: EvidenceLine | None) -> None:
    v, n = weighed.values, max(1, len(content))
    best = _within(weighed.best)
    both = best | _within(second)
    v["not_in_best"] = sum(w.key not in best for w in content) / n
    v["not_in_two"] = sum(w.key not in both for w in content) / n
    missing: list[Word] = []
    for word in content:
        kind = _missing_kind(word, evidence)
        if kind == "opposite_new":
            v[kind] += 1
        if kind in ("opposite_new", "unsaid"):
            missing.append(word)
        elif kind:
            v[kind] += 1 / n
    v["unsaid"], v["unsaid_many"] = len(missing) / n, math.log1p(len(missing))
    v["unsaid_names"] = min(3, sum(w.name for w in missing))
    total = sum(evidence.weight.get(w.key, 3.5) for w in content)
    v["rare_unsaid"] = 1 - sum(evidence.weight.get(w.key, 0.0) for w in content) / total if total else 0.0
    weighed.unsaid = [w.text for w in missing]


def _missing_kind(word: Word, evidence: WordEvidence) -> str:
    """The name of the feature that a word adds to; "" if a source has the word."""
    k = word.key
    if k in evidence.vocabulary:
        return ""
    if negated_form(k, evidence.vocabulary):
        return "opposite_new"
    if not alike(k).isdisjoint(evidence.vocabulary):
        return "synonyms"
    if len(k) > 4 and any(_same_root(k, other) for other in evidence.by_beginning.get(k[:4], ())):
        return "derived"
    return "unsaid_generic" if generic(k) else "unsaid"


def _same_root(a: str, b: str) -> bool:
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= max(4, min(len(a), len(b)) - 2)


def _clashes(weighed: Weighed, evidence: WordEvidence) -> None:
    """Fills in the features of opposites and of kinds: words of which the best line has the opposite, or another of their kind."""
    v, keys, within = weighed.values, {w.key for w in weighed.words}, _within(weighed.best)
    theirs = [w for w in (weighed.best.words if weighed.best else ()) if w.key not in keys]
    for word in weighed.words:
        if word.key in within:
            continue
        said = word.key in evidence.vocabulary
        rival = next((g for g in theirs if opposite(word.key, g.key)), None)
        if rival:
            small = word.stop or rival.stop
            v["opposite_small" if small else "opposite_old" if said else "opposite_new"] += 1
            weighed.opposites.append((word, rival))
            continue
        v["opposite_far"] += not said and not opposites(word.key).isdisjoint(evidence.vocabulary)
        rival = next((g for g in theirs if exclusive(word.key, g.key)), None)
        if rival:
            v["other_old" if said else "other_new"] += 1
            weighed.others.append((word, rival))
        else:
            v["other_far"] += not said and has_kind(word.key)


def _negations(weighed: Weighed, evidence: WordEvidence) -> None:
    v, theirs = weighed.values, weighed.best.words if weighed.best else ()
    mine, other = sum(w.negates for w in weighed.words), sum(w.negates for w in theirs)
    v["sense"] = float(mine % 2 != other % 2)
    v["negated_more"], v["negated_less"] = float(mine > other), float(mine < other)
    v["negated_alone"] = float(mine > 0 and not evidence.negates)
    v["quoted_turned"] = v["sense"] * (1 - v["not_in_best"])
    reached = _reached(theirs)
    common = [(k, states) for k, states in _reached(weighed.words).items() if k in reached]
    v["turned"] = sum(s.isdisjoint(reached[k]) for k, s in common) / max(1, len(common))


def _reached(words: Sequence[Word]) -> dict[str, set[bool]]:
    """For each content word, whether a negation stands at most `_REACH` words before it."""
    found: dict[str, set[bool]] = defaultdict(set)
    last = -99
    for at, word in enumerate(words):
        if word.negates:
            last = at
        elif not word.stop:
            found[word.key].add(at - last <= _REACH)
    return found


def _order(weighed: Weighed, content: Sequence[Word], evidence: WordEvidence) -> None:
    v, keys = weighed.values, [w.key for w in content]
    pairs = list(pairwise(keys))
    known = [p for p in pairs if p[0] in evidence.vocabulary and p[1] in evidence.vocabulary]
    v["parted"] = sum(p not in evidence.together for p in known) / max(1, len(pairs))
    theirs = weighed.best.words if weighed.best else ()
    place = {w.key: at for at, w in reversed(list(enumerate(theirs)))}
    places = [place[k] for k in keys if k in place]
    v["reordered"] = sum(a > b for a, b in pairwise(places)) / max(1, len(places) - 1)
    told = [w.key for w in theirs if not w.stop]
    mine = {w.key for w in weighed.words}
    v["left_out"] = 1 - sum(k in mine for k in told) / len(told) if told else 0.0


def _modes(weighed: Weighed) -> None:
    mine = {w.text for w in weighed.words}
    theirs = {w.text for w in weighed.best.words} if weighed.best else set()
    kinds = {_KINDS[t] for t in theirs if t in _KINDS}
    weighed.values["quantity"] = float(any(_KINDS[t] not in kinds for t in mine if t in _KINDS))
    weighed.values["stronger"] = float(bool(mine & _WILL) and bool(theirs & _MAY) and not mine & _MAY)


def _replacements(weighed: Weighed, evidence: WordEvidence) -> None:
    """Fills in the features of words that are replaced, inserted or swapped, compared with the best line."""
    theirs = weighed.best.words if weighed.best else ()
    within = _within(weighed.best)
    matcher = SequenceMatcher(None, [w.key for w in theirs], [w.key for w in weighed.words], autojunk=False)
    steps = matcher.get_opcodes()
    added: set[str] = set()
    gone: set[str] = set()
    same = 0
    for at, (tag, a, b, c, d) in enumerate(steps):
        same += d - c if tag == "equal" else 0
        if tag == "equal":
            continue
        mine = [w for w in weighed.words[c:d] if w.content and not w.digits]
        other = [w for w in theirs[a:b] if w.content]
        gone.update(w.key for w in theirs[a:b] if not w.stop)
        added.update(w.key for w in mine)
        if tag == "insert" or (tag == "replace" and not other):
            if 0 < at < len(steps) - 1:
                weighed.values["inserted"] += sum(_put_in(w, within, evidence) for w in mine)
        elif tag == "replace" and len(mine) <= 3 and len(other) <= 4:
            _replace(weighed.values, mine, other, within, evidence)
    weighed.values["swapped"] = min(3, len(added & gone & within)) * same / max(1, len(weighed.words))


def _put_in(word: Word, within: frozenset[str], evidence: WordEvidence) -> bool:
    return word.key not in within and not generic(word.key) and alike(word.key).isdisjoint(evidence.vocabulary)


def _replace(
    v: dict[str, float], mine: Sequence[Word], other: Sequence[Word], within: frozenset[str], evidence: WordEvidence
) -> None:
    keys = {w.key for w in other}
    for word in mine:
        if word.key in keys:
            continue
        if not alike(word.key).isdisjoint(keys):
            v["replaced_alike"] += 1
        elif word.key in evidence.vocabulary:
            v["replaced_old"] += word.key not in within
        else:
            v["replaced"] += 1
            v["replaced_name"] = max(v["replaced_name"], float(word.name and any(w.name for w in other)))
