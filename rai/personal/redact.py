"""Personal data taken out of what goes to logs, ledger, web queries and models.

A mask is as long as what it hides, so every offset into the text stays exact. What a recogniser of presidio does well
(phones, cards, bank accounts) is left to it; the rest is found by `rai.personal`. No model is loaded and nothing is
looked up on a network.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from grounding.text import terms
from rai.entry_schema import FREE, Leaf, changed, texts
from rai.personal.forms import find_forms
from rai.personal.glued import back, unglued
from rai.personal.known import Kind, KnownPersonalData, Personal
from rai.personal.labelled import find_labelled
from rai.personal.listed import find_listed
from rai.personal.names import find_names
from rai.personal.numbers import ABROAD, CARD, DIALLED, EMAIL, LONG, SSN, find_accounts, find_references
from rai.personal.ordinary import is_ordinary
from rai.personal.places import find_births
from rai.personal.postal import find_postal
from rai.personal.scripts import find_foreign_names
from rai.personal.signatures import find_companies

MASK = "█"
"""The character that stands for each character of personal data."""
REGIONS = ("US", "GB", "DE", "FR")
"""Regions that a phone number without country code may come from, unless others are set."""
_LONG = 20_000
"""Characters of a text from which on every long number is masked, without the slow grammar of phone numbers."""
_LEAST = 3
"""Characters of a word from which on it is masked alone in text that is made of single words."""
_WORD = re.compile(r"\w+")
_LONG_DIGITS = re.compile(r"(?<!\d)\+?\d(?:[\s().-]{0,2}\d){6,18}(?!\d)")
_DIGITS = re.compile(r"\d")
_CHECKED = (
    "AbaRouting AuAbn AuAcn AuMedicare AuTfn Crypto DeHealthInsurance DeIdCard DePassport DeSocialSecurity DeTaxId DeVatId EsNie EsNif "
    "FiPersonalIdentityCode InAadhaar InGstin ItFiscalCode ItVatCode KrDriverLicense KrRrn MedicalLicense NgNin Nhs PlPesel SePersonnummer SgUen "
    "ThTnin TrNationalId UkDrivingLicence UsNpi ZaIdNumber"
).split()
"""presidio's recognisers of ids that have a check digit; what fails it is left to labels (`rai.personal.labelled`)."""
_CERTAIN = 1.0
"""presidio's score of what passed its check digit."""
_KINDS: dict[str, Kind] = {"PHONE_NUMBER": "PHONE", "CREDIT_CARD": "CARD", "IBAN_CODE": "IBAN"}
FEWEST_DIGITS = 6
"""Fewest digits of a telephone, card or account number; a text with fewer needs no recogniser and does not pay for loading them."""


class Redactor:
    """Finds and masks personal data. `regions`: where a phone number without country code may come from.

    The first text with enough digits loads presidio, one to two seconds; `warm` does that ahead, in the background.
    """

    def __init__(self, regions: Sequence[str] = REGIONS) -> None:
        self._regions = tuple(regions)
        self._lock = threading.Lock()
        self._recognizers: list[tuple[Any, list[str]]] | None = None

    def warm(self) -> threading.Thread:
        """Starts loading in a background thread, which it returns."""
        thread = threading.Thread(target=self._load, name="redactor", daemon=True)
        thread.start()
        return thread

    def find(self, text: str) -> list[Personal]:
        """The personal data in `text`, ascending, made one where they overlap."""
        parted, places = unglued(text) or (text, [])
        found = ((back(places, start), back(places, end), kind) for start, end, kind in self._found(parted))
        kept = (f for f in found if not is_ordinary(text, *f))
        return merged(text, (Personal(start, end, kind, text[start:end]) for start, end, kind in kept))

    def _found(self, text: str) -> list[tuple[int, int, Kind]]:
        found: list[tuple[int, int, Kind]] = [(*span, "PERSON") for span in find_names(text)]
        found += [(*span, "PERSON") for span in find_foreign_names(text)]
        found += [(*span, "PERSON") for span in find_listed(text)]
        found += [(*span, "COMPANY") for span in find_companies(text)]
        found += [(*m.span(), "EMAIL") for m in EMAIL.finditer(text)]
        found += find_forms(text) + find_labelled(text)
        found += [(*span, "ADDRESS") for span in find_postal(text)]
        if _DIGITS.search(text):
            found += [(*span, "NUMBER") for span in find_references(text)]
            found += [(*m.span(), "NUMBER") for p in (SSN, LONG) for m in p.finditer(text)]
            found += [(*m.span(), "PHONE") for m in ABROAD.finditer(text)]
            found += [(*m.span(), "CARD") for m in CARD.finditer(text)]
            found += [(*m.span(1), "PHONE") for m in DIALLED.finditer(text)]
            found += [(*span, "IBAN") for span in find_accounts(text)]
            found += [(*span, "BIRTHDATE") for span in find_births(text)]
        if len(text) > _LONG:  # the phone grammar is slow; every long number is masked instead
            found += [(*m.span(), "NUMBER") for m in _LONG_DIGITS.finditer(text)]
        elif len(_DIGITS.findall(text)) >= FEWEST_DIGITS:
            found += self._numbers(text)
        return found

    def redact(self, text: str, keep: Collection[str] = ()) -> str:
        """`text` with personal data masked, in the same length. What equals one of `keep`, up to spelling, stays."""
        kept = {_normal(k) for k in keep}
        return masked(text, [p for p in self.find(text) if _normal(p.value) not in kept])

    def redact_entry(self, body: dict[str, Any], kind: str = "turn", told: Iterable[Personal] = ()) -> dict[str, Any]:
        """A ledger body of this kind with what people gave away in it (question, history, agent context, notes) masked in all its free text.

        `told`: what somebody else found there. What also stands in the text of the evidence is the company's own and stays. Raises
        UnknownFieldError for a body that names its schema and holds what that does not know.
        """
        stands = texts(body, kind)
        found = [personal for text in stands[Leaf.GIVEN] for personal in self.find(text)] + list(told)
        return redact_body(body, KnownPersonalData(found, stands[Leaf.OWN]), kind, found)

    def _numbers(self, text: str) -> list[tuple[int, int, Kind]]:
        found: list[tuple[int, int, Kind]] = []
        for recognizer, entities in self._load():
            # without artifacts: they serve context words only, which raise a score that is not used here
            results = recognizer.analyze(text, entities, None) or ()
            found += [
                (r.start, r.end, _KINDS.get(r.entity_type, "NUMBER"))
                for r in results
                if (r.entity_type in _KINDS or (r.score >= _CERTAIN and _alone(text, r.start, r.end)))
                and not _in_address(text, r.start)
            ]
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
                checked = [getattr(known, f"{name}Recognizer")() for name in _CHECKED]
                self._recognizers += [(recognizer, recognizer.supported_entities) for recognizer in checked]
            return self._recognizers


_default = Redactor()


def redact(text: str, keep: Collection[str] = ()) -> str:
    """`Redactor.redact` with the default regions."""
    return _default.redact(text, keep)


def redact_entry(body: dict[str, Any], kind: str = "turn") -> dict[str, Any]:
    """`Redactor.redact_entry` with the default regions."""
    return _default.redact_entry(body, kind)


def redact_body(
    body: dict[str, Any], known: KnownPersonalData, kind: str = "turn", found: Iterable[Personal] = ()
) -> dict[str, Any]:
    """A ledger body with the personal data that is `known` masked in all its free text; structure and passages stay.

    `found`: the data itself, of which single words are masked too where a text is made of single words. Lengths never change.
    """
    if not known:
        return body
    single = _words(p for p in found if not known.is_own(p))

    def mask(text: str, leaf: Leaf) -> str:
        if leaf not in FREE:
            return text
        places = list(known.find(text))
        if leaf is Leaf.DERIVED and single is not None:
            places += [
                Personal(*m.span(), "NUMBER", m.group())
                for m in single.finditer(text)
                if not known.is_own_wording(text, *m.span())
            ]
        return masked(text, merged(text, places))

    return changed(body, kind, mask)


def masked(text: str, personal: Iterable[Personal]) -> str:
    """`text` with each of `personal`, ascending and not overlapping, masked."""
    parts, last = [], 0
    for p in personal:
        parts += [text[last : p.start], MASK * (p.end - p.start)]
        last = p.end
    return "".join([*parts, text[last:]])


def is_masked(text: str, kept: str) -> bool:
    """Whether `kept` is `text`, as it is or with personal data masked."""
    return len(text) == len(kept) and all(now in (was, MASK) for was, now in zip(text, kept, strict=True))


def merged(text: str, found: Iterable[Personal]) -> list[Personal]:
    """`found` ascending; what overlaps becomes one, of the kind of its longest part."""
    out: list[Personal] = []
    longest = 0
    for p in sorted(found):
        size = p.end - p.start
        if out and p.start < out[-1].end:
            before = out[-1]
            end = max(before.end, p.end)
            out[-1] = Personal(before.start, end, p.kind if size > longest else before.kind, text[before.start : end])
            longest = max(longest, size)
        elif size:
            out.append(p)
            longest = size
    return out


def _words(found: Iterable[Personal]) -> re.Pattern[str] | None:
    """A pattern that finds single words and groups of digits of personal data, as written or as an index has them; None without any."""
    words = {w.casefold() for p in found for w in [*_WORD.findall(p.value), *terms(p.value)] if len(w) >= _LEAST}
    if not words:
        return None
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})(?!\w)", re.IGNORECASE
    )


def _alone(text: str, start: int, end: int) -> bool:
    """True if `text[start:end]` is no piece of a longer word; some of presidio's patterns look inside digests."""
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or text[end - 1] == " ")


def _in_address(text: str, at: int) -> bool:
    """True if the offset `at` is inside a web address, where a long number names a page."""
    return "://" in (
        word := text[max(0, at - 200) : at].rsplit(" ", maxsplit=1)[-1].rsplit("\n", maxsplit=1)[-1]
    ) or word.startswith("www.")


def _normal(text: str) -> str:
    digits = "".join(_DIGITS.findall(text))
    return digits.lstrip("0")[-10:] if len(digits) >= 7 and "@" not in text else text.casefold().strip()
