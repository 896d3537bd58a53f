"""Personal data taken out of what goes to logs, ledger and web queries.

A mask is as long as what it hides, so every offset into the text stays exact. What a recogniser of presidio does well
(phones, cards, bank accounts) is left to it; addresses of mail, reference numbers and names are found here. No model
is loaded and nothing is looked up on a network.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from grounding.records import Span

MASK = "█"
REGIONS = ("US", "GB", "DE", "FR")
_LONG = 20_000
_BLIND_KEYS = frozenset({"chunk_id", "doc_id", "entry_id", "version", "kb_version", "digest", "id", "at", "policy"})

_NAME = r"[A-ZÀ-ÖØ-Þ][\w’'-]{1,30}(?:[ \t]+(?:[a-z]{2,3}[ \t]+)?[A-ZÀ-ÖØ-Þ][\w’'-]{1,30}){0,2}"
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-zA-Z]{2,24}(?![\w-])")
_REFERENCE = re.compile(
    r"\b(?:order|account|customer|member(?:ship)?|invoice|ticket|case|reference|ref|booking|reservation|confirmation"
    r"|policy|contract|claim|tracking|parcel|shipment|card|passport|licen[cs]e|ssn|social\s+security|insurance|tax"
    r"|iban|client|subscription|transaction|payment|loan|patient|employee|user)"
    r"(?:\s+(?:number|numbers|no\.?|nr\.?|id|code|ref|reference))?\s{0,2}(?:is|was|[:#=])?\s{0,2}#?\s?"
    r"((?=[A-Z0-9/-]{0,20}\d)[A-Z0-9](?:[A-Z0-9/-]|[ ](?=\d)){3,28}[A-Z0-9])(?![\w])",
    re.IGNORECASE,
)
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_LONG_DIGITS = re.compile(r"(?<!\d)\+?\d(?:[\s().-]{0,2}\d){6,18}(?!\d)")
_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Mm]y|[Tt]he|[Hh]is|[Hh]er)\s+(?:(?:full|first|last|customer'?s?)\s+)?[Nn]ame(?:'s|\s+is|:)\s+({_NAME})",
        rf"\b[Nn]ame:\s*({_NAME})",
        rf"\b[Tt]his\s+is\s+({_NAME})(?=\s+(?:speaking|calling|here|from|again|writing)\b|[.,!]?\s*$|,)",
        rf"\b(?:[Ii]\s+am|[Ii][’']m)\s+({_NAME})(?=\s*(?:,|\.|!|$|\s(?:and|from|calling|writing|here)\b))",
        rf"\b(?:Hi|Hello|Hey|Dear|Hallo|Good\s(?:morning|afternoon|evening)|Thanks|Thank\syou)[ \t,]+(?:(?:Mr|Mrs|Ms|Miss|Dr|Herr|Frau)\.?[ \t]+)?({_NAME})(?=\s*[,.!?:;\n—–-]|\s*$)",
        rf"\b(?:Mr|Mrs|Ms|Miss|Dr|Herr|Frau)\.?[ \t]+({_NAME})",
        rf"(?:^|\n)\s*(?:(?:Best|Kind|Warm)[ \t]+)?(?:[Rr]egards|Sincerely|Cheers|Best)[ \t]*,?[ \t]*\n+\s*({_NAME})",
    )
)
_NOT_NAMES = frozenset({
    "there", "team", "all", "everyone", "everybody", "again", "support", "agent", "assistant", "bot", "sir",
    "madam", "customer", "guys", "folks", "just", "not", "sorry", "having", "trying", "using", "still", "unable",
    "looking", "very", "so", "the", "a", "an", "in", "on", "at", "from", "happy", "glad", "afraid", "sure", "new",
    "interested", "calling", "writing", "good", "hello", "hi", "for", "you", "advance", "and", "but", "it",
    "i", "we", "this", "that", "what", "how", "when", "where", "why", "can", "could", "please", "monday",
    "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
})  # fmt: skip
_DIGITS = re.compile(r"\d")
FEWEST_DIGITS = 6
"""No telephone, card or account number has fewer; a text with fewer needs no recogniser and does not pay for loading them."""


class Redactor:
    """Finds and masks personal data. `regions`: where a phone number without country code may come from.

    The first text with enough digits loads presidio, one to two seconds; `warm` does that ahead, in the background.
    """

    def __init__(self, regions: Sequence[str] = REGIONS) -> None:
        self._regions = tuple(regions)
        self._lock = threading.Lock()
        self._recognizers: list[tuple[Any, list[str]]] | None = None

    def warm(self) -> threading.Thread:
        """Start loading in a background thread and return it."""
        thread = threading.Thread(target=self._load, name="redactor", daemon=True)
        thread.start()
        return thread

    def find(self, text: str) -> list[Span]:
        """Personal data in `text`: ascending, merged where spans touch the same characters."""
        found = [(m.start(), m.end()) for p in (_EMAIL, _SSN) for m in p.finditer(text)]
        found += [m.span(1) for m in _REFERENCE.finditer(text)]
        found += [span for p in _NAMES for m in p.finditer(text) if (span := _name_span(m))]
        if len(text) > _LONG:  # the phone grammar is slow; every long number is masked instead
            found += [m.span() for m in _LONG_DIGITS.finditer(text)]
        elif len(_DIGITS.findall(text)) >= FEWEST_DIGITS:
            found += self._numbers(text)
        return [Span(start, end, text[start:end]) for start, end in _merged(found)]

    def redact(self, text: str, keep: Collection[str] = ()) -> str:
        """`text` with personal data masked, same length. What equals one of `keep`, up to spelling, stays."""
        kept = {_normal(k) for k in keep}
        parts, last = [], 0
        for span in self.find(text):
            if _normal(span.text) not in kept:
                parts += [text[last : span.start], MASK * (span.end - span.start)]
                last = span.end
        return "".join([*parts, text[last:]])

    def redact_entry(self, body: dict[str, Any]) -> dict[str, Any]:
        """A ledger body with what the user gave away (question, history, agent context) masked wherever it stands."""
        personal = {span.text for text in _given(body) for span in self.find(text)}
        return redact_body(body, personal)

    def _numbers(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for recognizer, entities in self._load():
            # without artifacts: they serve context words only, which raise a score that is not used here
            found += [(r.start, r.end) for r in recognizer.analyze(text, entities, None) or ()]
        return found

    def _load(self) -> list[tuple[Any, list[str]]]:
        with self._lock:
            if self._recognizers is None:
                # imported late: a second of start-up that a command without personal data need not pay
                known = importlib.import_module("presidio_analyzer.predefined_recognizers")
                self._recognizers = [
                    (known.PhoneRecognizer(supported_regions=self._regions), ["PHONE_NUMBER"]),
                    (known.CreditCardRecognizer(), ["CREDIT_CARD"]),
                    (known.IbanRecognizer(), ["IBAN_CODE"]),
                ]
            return self._recognizers


_default = Redactor()


def redact(text: str, keep: Collection[str] = ()) -> str:
    """`Redactor.redact` with the default regions."""
    return _default.redact(text, keep)


def redact_entry(body: dict[str, Any]) -> dict[str, Any]:
    """`Redactor.redact_entry` with the default regions."""
    return _default.redact_entry(body)


def redact_body(body: dict[str, Any], personal: set[str]) -> dict[str, Any]:
    """`body` with each of `personal` masked wherever it stands, in any spelling of a number and any case.

    What also stands in the text of the evidence is the company's own and stays. Keys, ids and hashes are left alone;
    the passages of the evidence are what was retrieved and are left alone too. Lengths never change.
    """
    trusted = "\n".join(_texts(body.get("evidence"), "text"))
    patterns = [p for p in map(_anywhere, sorted(personal, key=len, reverse=True)) if p and not p.search(trusted)]
    masked = _walk(body, patterns)
    assert isinstance(masked, dict)
    return masked


def _walk(value: Any, patterns: list[re.Pattern[str]]) -> Any:
    if isinstance(value, str):
        for pattern in patterns:
            value = pattern.sub(_mask, value)
        return value
    if isinstance(value, dict):
        return {k: v if k in _BLIND_KEYS else _walk(v, patterns) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(v, patterns) for v in value]
    return value


def _mask(match: re.Match[str]) -> str:
    return MASK * len(match.group())


@lru_cache(maxsize=4096)
def _anywhere(text: str) -> re.Pattern[str] | None:
    """Finds `text` again: numbers whatever their separators and country code, words whatever their case."""
    digits = "".join(_DIGITS.findall(text))
    if len(digits) >= 7 and not re.search(r"[^\W\d_]", text):
        core = digits.lstrip("0")
        cores = {core, core[-10:] if len(core) > 10 else core}
        spelled = "|".join(r"[\s()./–-]{0,3}".join(c) for c in sorted(cores, key=len, reverse=True))
        return re.compile(rf"(?<!\d)(?:\+?\d{{1,4}}[\s()./–-]{{0,3}})?\(?(?:{spelled})(?!\d)")
    if len(text) < 2:
        return None
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)


def _name_span(match: re.Match[str]) -> tuple[int, int] | None:
    start, end = match.span(1)
    words = list(re.finditer(r"[^\W\d_][\w’'-]*", match.group(1)))
    while words and words[0].group().lower() in _NOT_NAMES:
        return None
    while words and words[-1].group().lower() in _NOT_NAMES:
        words.pop()
        end = start + words[-1].end() if words else start
    return (start, end) if words else None


def _merged(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _normal(text: str) -> str:
    digits = "".join(_DIGITS.findall(text))
    return digits.lstrip("0")[-10:] if len(digits) >= 7 and "@" not in text else text.casefold().strip()


def _given(body: dict[str, Any]) -> list[str]:
    ask = body.get("ask")
    if not isinstance(ask, dict):  # feedback, the report of a refusal, a reviewer's note
        return [v for k in ("text", "comment", "note") if isinstance(v := body.get(k), str)]
    alone = [v for k in ("question", "context") if isinstance(v := ask.get(k), str)]
    return alone + _texts(ask.get("history"), "text")


def _texts(items: object, key: str) -> list[str]:
    if not isinstance(items, list | tuple):
        return []
    return [t for item in items if isinstance(item, dict) and isinstance(t := item.get(key), str)]
