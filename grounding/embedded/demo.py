"""Demo composer: drafts with errors planted in them, so that every path of the check can be seen without a key.

It takes another composer's draft and changes values the way a careless model does: a digit of a price or a phone number, a day, a letter of
a host, a digit of a part number, a "not". Which and how is decided by a hash of the seed, the question and how often it was asked: the same
question plants the same errors in each run, and others when it is tried again, as a model would draft anew. It says in its name, and in every draft, what it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from grounding.ports import Composer
from grounding.prompting.prompt import insufficient_sentence
from grounding.records import LEAD_IN, Draft, Prompt, Span

ValueKind = Literal["url", "email", "phone", "date", "time", "money", "part", "number", "negation"]

FURTHER_ONE_IN = 4
"""Beside the one error that is always planted, one value in so many is changed too."""
MAX_PLANTED = 3
_TRIES = 200
MOST_COUNTED = 1000
"""Questions of which it is known how often they were asked."""
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
_AMOUNT = r"\d{1,15}(?:[.,]\d{1,15}){0,5}"
_CURRENCY = r"(?:USD|EUR|GBP|CHF|€|£|\$|dollars|euros|pounds)"
_FORMS: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (
    ("url", re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"'`]*[^\s<>()\[\]\"'`.,;:!?]")),
    ("email", re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")),
    (
        "date",
        re.compile(rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.? {_MONTH}|{_MONTH} \d{{1,2}}\b(?![:.]\d)", re.IGNORECASE),
    ),
    ("date", re.compile(r"\b\d{1,2}[./]\d{1,2}[./]\d{4}\b")),
    ("phone", re.compile(r"(?:\+\d|\(?\b\d)(?:[ \t()./-]{0,2}\d){6,16}\b")),
    ("time", re.compile(r"\b\d{1,2}:\d\d\b")),
    ("money", re.compile(rf"[$€£] ?{_AMOUNT}|(?<![\w.,]){_AMOUNT} ?{_CURRENCY}(?!\w)", re.IGNORECASE)),
    (
        "part",
        re.compile(
            r"(?<![\w-])(?=[A-Za-z-]{0,40}\d)(?=[0-9-]{0,40}[A-Za-z])[A-Za-z0-9-]{2,60}(?![\w-])|\b\d{2,9}-\d{2,9}\b"
        ),
    ),
    ("number", re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?!\w)")),
    ("negation", re.compile(r"\b(?:cannot|(?:is|are|can|must|may|will|should|does|do)(?: not)?)\b")),
)
_UNTOUCHED = re.compile(r"\[\d{1,3}\]|(?m:^[ \t]*\d{1,3}[.)] )")
_NUMBERED_DAY = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Planted:
    """One planted error: the original value, and where in the new text the wrong one stands."""

    kind: ValueKind
    before: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Value:
    kind: ValueKind
    start: int
    text: str


class DemoComposer:
    """Composer that plants errors in the drafts of `inner`. For demonstration alone."""

    name = "demo"

    def __init__(self, inner: Composer, seed: int = 0) -> None:
        self._inner = inner
        self._seed = seed
        self._asked: dict[str, int] = {}

    async def compose(self, prompt: Prompt) -> Draft:
        """The inner draft with at least one error, if it holds anything to change. Raises what `inner` raises."""
        draft = await self._inner.compose(prompt)
        if draft.text == insufficient_sentence():
            return Draft(draft.text, "demo (plants errors)", draft.usage)
        told = "\n".join(e.passage.text for e in prompt.evidence)
        # What follows is no longer quoted.
        quoted = draft.text.removeprefix(LEAD_IN).lstrip()
        text, _planted = plant(quoted, self._seed_of(prompt.question), avoid=told)
        return Draft(text, "demo (plants errors)", draft.usage)

    def _seed_of(self, question: str) -> str:
        """What decides on the errors of the next draft to this question."""
        before = self._asked.pop(question, 0)
        while len(self._asked) >= MOST_COUNTED:  # the one that was asked longest ago
            self._asked.pop(next(iter(self._asked)))
        self._asked[question] = before + 1
        return f"{self._seed}:{question}" + (f":{before}" if before else "")


def plant(text: str, seed: str | int, *, avoid: str = "") -> tuple[str, tuple[Planted, ...]]:
    """`text` with errors, and what they are, in the order in which they stand; the same for the same seed.

    At least one, wherever there is a value or a plain verb to negate. Markers such as [1] and list numbers stay. A new value does not stand
    in `avoid` (the evidence) as far as one can be found that does not.
    """
    values = _values(text)
    pieces: list[str] = []
    planted: list[Planted] = []
    done = length = 0
    for value in _chosen(values, str(seed)):
        new = _wrong(value, f"{seed}:{value.start}", avoid)
        kept = text[done : value.start]
        pieces += [kept, new]
        length += len(kept)
        planted.append(Planted(value.kind, value.text, Span(length, length + len(new), new)))
        length += len(new)
        done = value.start + len(value.text)
    return "".join([*pieces, text[done:]]), tuple(planted)


def _values(text: str) -> list[_Value]:
    """Values of `text` that do not overlap, each of the first kind that claims it, in the order in which they stand."""
    taken = bytearray(len(text))
    for match in _UNTOUCHED.finditer(text):
        taken[match.start() : match.end()] = b"\1" * len(match.group())
    found: list[_Value] = []
    for kind, form in _FORMS:
        for match in form.finditer(text):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = b"\1" * len(match.group())
                found.append(_Value(kind, match.start(), match.group()))
    return sorted(found, key=lambda v: v.start)


def _chosen(values: list[_Value], seed: str) -> list[_Value]:
    """The values to change, chosen by hash: one, a real value before a verb, and some of the others."""
    real = [v for v in values if v.kind != "negation"] or values
    if not real:
        return []
    first = real[_hash(seed) % len(real)]
    more = [v for v in values if v is not first and _hash(f"{seed}:{v.start}:more") % FURTHER_ONE_IN == 0]
    return sorted([first, *more[: MAX_PLANTED - 1]], key=lambda v: v.start)


def _wrong(value: _Value, seed: str, avoid: str) -> str:
    """Another value of the same form. The last try is taken if all stand in `avoid`."""
    new = value.text
    for n in range(_TRIES):
        new = _CHANGES[value.kind](value.text, _hash(f"{seed}:{n}"))
        if not _stands_in(new, avoid):
            break
    return new


def _stands_in(new: str, avoid: str) -> bool:
    return bool(avoid) and re.search(rf"(?<!\w){re.escape(new)}(?!\w)", avoid) is not None


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def _digit(text: str, at: int, pick: int) -> str:
    """`text` with another digit at `at`; a number of several digits does not come to begin with 0."""
    begins = not _digits(text[:at]) and bool(_digits(text[at + 1 :]))
    others = [d for d in "0123456789" if d != text[at] and not (begins and d == "0")]
    return text[:at] + others[pick % len(others)] + text[at + 1 :]


def _digits(text: str) -> list[int]:
    return [i for i, c in enumerate(text) if c.isdigit()]


def _any_digit(text: str, pick: int) -> str:
    places = _digits(text)
    return _digit(text, places[pick % len(places)], pick // 16)


def _whole_digit(text: str, pick: int) -> str:
    """Change a digit of the first run: a price that is wrong by more than cents."""
    places = _digits(text)
    run = [p for i, p in enumerate(places) if p == places[0] + i]
    return _digit(text, run[pick % len(run)], pick // 16)


def _late_digit(text: str, pick: int) -> str:
    """Change one of the last four digits: the same office, another desk."""
    places = _digits(text)[-4:]
    return _digit(text, places[pick % len(places)], pick // 16)


def _other_day(text: str, pick: int) -> str:
    """Another day of the month, 1 to 28, or another year where the order of day and month is open."""
    runs = list(_NUMBERED_DAY.finditer(text))
    last = runs[-1]
    if len(last.group()) == 4:
        year = str(int(last.group()) + 1 + pick % 3)
        return text[: last.start()] + year.zfill(4)[-4:] + text[last.end() :]
    days = [str(d).zfill(len(last.group())) for d in range(1, 29) if d != int(last.group())]
    return text[: last.start()] + days[pick % len(days)] + text[last.end() :]


def _other_hour(text: str, pick: int) -> str:
    hour, _, minute = text.partition(":")
    hours = [str(h).zfill(len(hour)) for h in range(1, 24) if h != int(hour)]
    return f"{hours[pick % len(hours)]}:{minute}"


def _other_host(text: str, pick: int) -> str:
    """Misspell the longest label of the host: a letter doubled, dropped, or two of them swapped."""
    before, host, after = _split_host(text)
    labels = host.split(".")
    inner = [i for i, label in enumerate(labels[:-1]) if label != "www"] or [0]
    at = max(inner, key=lambda i: len(labels[i]))
    spellings = sorted(set(_misspelt(labels[at])) - {labels[at], ""})
    labels[at] = spellings[pick % len(spellings)]
    return f"{before}{'.'.join(labels)}{after}"


def _split_host(text: str) -> tuple[str, str, str]:
    match = re.match(r"(https?://|.*@|)([^/?#:]*)(.*)\Z", text, re.DOTALL)
    assert match is not None
    return match.group(1), match.group(2), match.group(3)


def _misspelt(label: str) -> Iterator[str]:
    yield f"{label}-support"
    for i in range(len(label)):
        yield label[:i] + label[i] + label[i:]
        if len(label) > 3 and 0 < i < len(label) - 1:
            yield label[:i] + label[i + 1 :]
        if i:
            yield label[: i - 1] + label[i] + label[i - 1] + label[i + 1 :]


def _turned_round(text: str, _pick: int) -> str:
    if text == "cannot":
        return "can"
    return text.removesuffix(" not") if text.endswith(" not") else f"{text} not"


_CHANGES: dict[ValueKind, Callable[[str, int], str]] = {
    "url": _other_host,
    "email": _other_host,
    "phone": _late_digit,
    "date": _other_day,
    "time": _other_hour,
    "money": _whole_digit,
    "part": _any_digit,
    "number": _whole_digit,
    "negation": _turned_round,
}
