"""The rules of the prompt screen, and the judgement of a text by them.

A rule sees who is asked to do what to whom: a frame of asking, an act, and its object. A single word never fires one.
Three kinds of text are judged: the user's turn as a request, a passage as data (only orders to the assistant count),
and within either whatever was hidden in another encoding. Patterns run on automata (`rai.screening.automata`), so the work is linear in the text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, cast

from grounding.tables import yaml_table
from rai.records import Category
from rai.screening.automata import Hit, Linear, as_ascii
from rai.screening.normal_forms import decoded, normal, spelled_out

BLOCK_AT = 0.5
"""The score from which on a text is blocked."""
As = Literal["request", "document"]
"""What a text is judged as."""
_FILES = ("attacks.yaml", "orders.yaml", "harm.yaml", "people.yaml", "languages.yaml")
FORM = 9
"""The version of the code around the tables of rules."""
_END = 20_000
"""Characters that are judged at each end of a long text."""
_BLOCK = 500
"""Characters of a stretch of it that is judged if it holds a trigger word."""
_WINDOWED = 20_000
"""Most characters of such stretches."""


@dataclass(frozen=True, slots=True)
class ScreenRule:
    """A rule of the prompt screen. `judges`: as what a text is judged by it; `weight` in [0, 1]: how sure it is alone; `why`: what it is for.

    `needs`: it is tried only on a text that contains one of these. `unless` takes its finding back when it stands in
    the same sentence. `fires`: an example that must fire it, `spares`: one that must not. `confirm`: where it blocks alone only if the classifier,
    if there is one, confirms it: a play, a contract or a letter says such words to others, and a question tells of them.
    """

    id: str
    category: Category
    judges: frozenset[As]
    weight: float
    text: str
    unless_text: str | None
    needs: tuple[str, ...]
    fires: str
    spares: str
    why: str
    confirm: frozenset[As] = frozenset()

    @property
    def pattern(self) -> Linear:
        """The pattern that fires the rule; compiled when it is first tried, for most texts need few rules."""
        return _compiled(self.text)

    @property
    def unless(self) -> Linear | None:
        """The pattern that takes a finding back, or None."""
        return _compiled(self.unless_text) if self.unless_text is not None else None


@cache
def _compiled(pattern: str) -> Linear:
    return Linear(pattern)


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A finding on a text: the strongest rule that fired, its category, and the `score` of all that fired together, in [0, 1].

    `confirm`: only one rule fired, and it wants to be confirmed (`ScreenRule.confirm`).
    """

    rule: str
    category: Category
    score: float
    confirm: bool = False

    @property
    def blocked(self) -> bool:
        """True if the score is high enough to block the text."""
        return self.score >= BLOCK_AT


@cache
def rules() -> tuple[ScreenRule, ...]:
    """Every rule of the screen, in the order of the tables."""
    lexicon = _lexicon()
    return tuple(rule_of(row, lexicon) for name in _FILES for row in _table(name))


@cache
def rules_version() -> str:
    """The version of the rules, which changes whenever one does: `FORM` and the first digits of the tables' and the glosses' SHA-256."""
    names = (*_FILES, "lexicon.yaml", "triggers.yaml", "watched.yaml")
    tables = b"".join(resources.files("rai.screening.rules").joinpath(name).read_bytes() for name in names)
    tables += resources.files("rai.screening").joinpath("glosses.txt").read_bytes()
    return f"{FORM}-{hashlib.sha256(tables).hexdigest()[:10]}"


def judge(text: str, *, as_: As) -> RuleHit | None:
    """The finding on `text`, or None when no rule fires. Encoded parts are decoded once and judged too.

    Work is bounded. Of each form of a text longer than 40,000 characters its first and last 20,000 are judged, and between
    them the windows of about 1,000 characters that hold a trigger word: all of them up to 20,000 characters, and where
    there are more those with the most different trigger words. What stands outside is not judged.
    """
    plain = normal(text)
    fired = _fired(excerpt(plain), as_)
    fired += [r for form in spelled_out(plain) for r in _fired(excerpt(form), as_)]
    fired += [r for form in decoded(text) for r in _fired(excerpt(normal(form)), as_)]
    if not fired:
        return None
    first = max(fired, key=lambda rule: rule.weight)
    doubt, weights = 1.0, {rule.id: rule.weight for rule in fired}
    for weight in weights.values():
        doubt *= 1.0 - weight
    return RuleHit(first.id, first.category, round(1.0 - doubt, 4), as_ in first.confirm and len(weights) == 1)


def excerpt(plain: str) -> str:
    """The part of a text in normal form that is judged: all of it up to 40,000 characters, else its ends and the windows around trigger words."""
    if len(plain) <= 2 * _END:
        return plain
    blocks: dict[int, set[str]] = {}
    for word in _watched():
        at = plain.find(word, _END - len(word))
        while 0 <= at < len(plain) - _END:
            block = at // _BLOCK
            blocks.setdefault(block, set()).add(word)
            at = plain.find(word, (block + 1) * _BLOCK)
    densest = sorted(blocks, key=lambda block: (-len(blocks[block]), block))[: _WINDOWED // (2 * _BLOCK)]
    windows = (_window(plain, block) for block in sorted(densest))
    return "\n".join([plain[:_END], *windows, plain[-_END:]])


def _window(plain: str, block: int) -> str:
    """A block of a text with half a block on each side, cut between words."""
    start, end = max(block * _BLOCK - _BLOCK // 2, 0), (block + 1) * _BLOCK + _BLOCK // 2
    return plain[start:end].partition(" ")[2].rpartition(" ")[0] or plain[start:end]


def _fired(text: str, as_: As) -> list[ScreenRule]:
    data = as_ascii(text)
    return [rule for rule in rules() if as_ in rule.judges and _fires(rule, text, data)]


def _fires(rule: ScreenRule, text: str, data: bytes) -> bool:
    if rule.needs and not any(word in text for word in rule.needs):
        return False
    return any(rule.unless is None or not rule.unless.search(_sentence(text, hit)) for hit in rule.pattern.hits(data))


def _sentence(text: str, hit: Hit) -> str:
    before = text[max(hit.start - 240, 0) : hit.start]
    after = text[hit.end : hit.end + 240]
    start = max(before.rfind(c) for c in ".!?\n") + 1
    ends = [i for c in ".!?\n" if (i := after.find(c)) >= 0]
    return before[start:] + text[hit.start : hit.end] + after[: min(ends, default=len(after))]


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(name: str) -> Any:
    return yaml_table(__file__, f"rules/{name}")


@cache
def _lexicon() -> dict[str, str]:
    """The macros of the rule tables, each made of those above it: name -> pattern without groups."""
    macros: dict[str, str] = {}
    for name, value in _table("lexicon.yaml").items():
        text = "|".join(value) if isinstance(value, list) else value
        macros[name] = f"(?:{_expand(' '.join(text.split()), macros)})"
    return macros


@cache
def _watched() -> tuple[str, ...]:
    return tuple(_table("watched.yaml"))


def _expand(pattern: str, macros: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda m: macros[m.group(1)], pattern)


_NEEDED = frozenset({"id", "category", "why", "pattern", "fires", "spares"})
_FREE = frozenset({"as", "needs", "unless", "weight", "confirm"})


def rule_of(row: Mapping[str, Any], macros: Mapping[str, str]) -> ScreenRule:
    """The rule of a row of the tables. Raises ValueError, which names the rule, for a field that is missing or unknown and a macro that is not there."""
    wrong = {"missing": _NEEDED - row.keys(), "unknown": row.keys() - _NEEDED - _FREE}
    if said := "; ".join(f"{what}: {', '.join(sorted(fields))}" for what, fields in wrong.items() if fields):
        raise ValueError(f"rule {row.get('id')}: {said}")

    def expanded(key: str) -> str:
        try:
            return _expand(" ".join(row[key].split()), macros)
        except KeyError as error:
            raise ValueError(f"rule {row['id']}: no macro {error} in lexicon.yaml") from None

    judges: Iterable[str] = row.get("as", ["request"])
    return ScreenRule(
        id=row["id"],
        category=row["category"],
        judges=frozenset(cast("Iterable[As]", judges)),
        weight=float(row.get("weight", 0.9)),
        text=expanded("pattern"),
        unless_text=expanded("unless") if "unless" in row else None,
        needs=tuple(row.get("needs", ())),
        fires=row["fires"],
        spares=row["spares"],
        why=row["why"],
        confirm=frozenset(cast("Iterable[As]", row.get("confirm", ()))),
    )
