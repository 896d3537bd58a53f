"""Personal data in a conversation, found by Azure AI Language: a presidio recogniser over the service, and the finder that uses it.

presidio's own AzureAILanguageRecognizer drops the error of a document above 5,120 text elements as if it held nothing. Here longer
texts go in pieces, and a piece that is refused is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from grounding.azure.language.client import Mask
from grounding.services.remote import Remote
from rai.azure.language import LanguageRecognizer
from rai.personal.known import Kind, Personal
from rai.personal.redact import MASK
from rai.ports import EntityTagger

FEWEST = 4
"""Fewest letters and digits of a reference: a shorter one would be found again in every other text."""
_KINDS: dict[str, Kind] = {
    "Person": "PERSON",
    "Email": "EMAIL",
    "PhoneNumber": "PHONE",
    "Address": "ADDRESS",
    "CreditCardNumber": "CARD",
    "InternationalBankingAccountNumber": "IBAN",
}
_NOBODYS = frozenset({"Organization", "PersonType", "DateTime", "Quantity", "Age", "URL"})
"""Categories that the service calls personal and a question needs: firms, professions, dates, amounts, links."""


class PersonalRecognizer(LanguageRecognizer):
    """A presidio recogniser over `recognize_pii_entities`. Results carry our kinds of personal data; offsets are code points.

    The service's some eighty numbers of states and banks are NUMBER. What has no digit is no number and no address: a town alone is
    often what is asked about. A name with a digit is a product's.
    """

    label = "Azure AI Language PII"
    task = "PiiEntityRecognition"
    kinds = frozenset(get_args(Kind))

    def _kind(self, entity: Mapping[str, Any]) -> str | None:
        category, text = entity["category"], entity["text"]
        if category in _NOBODYS or MASK in text:
            return None
        kind = _KINDS.get(category, "NUMBER")
        digits = any(c.isdigit() for c in text)
        if kind in ("PERSON", "EMAIL"):
            return None if kind == "PERSON" and digits else kind
        return kind if digits and sum(c.isalnum() for c in text) >= FEWEST else None


class LanguagePersonal:
    """A `rai.ports.PersonalFinder` that asks the service.

    `own`: a tagger that knows the names of the company, which are no persons', whatever the service takes them for; `mask`: masks in what
    is sent what is known to be personal already.
    """

    def __init__(
        self,
        recognizer: PersonalRecognizer,
        remote: Remote,
        *,
        own: EntityTagger | None = None,
        mask: Mask | None = None,
    ) -> None:
        self._recognizer = recognizer
        self._remote = remote
        self._own = own
        self._mask = mask

    async def find(self, texts: Sequence[str]) -> tuple[Personal, ...]:
        """The personal data in `texts`, read as one text of a line each; offsets count in that text.

        Read so they take few requests, and what introduces a number may stand a turn before it. Raises ServiceError if any part could not be
        read.
        """
        sent = texts if self._mask is None else await self._mask(texts)
        text = "\n".join(t for t in sent if t.strip())
        found = await self._remote.call(lambda: self._recognizer.read(text))
        known = await self._own.tag(text) if self._own else ()
        own = [(start, end) for start, end, kind in known if kind in ("product", "organisation")]
        personal = (Personal(r.start, r.end, cast(Kind, r.entity_type), text[r.start : r.end]) for r in found)
        return tuple(p for p in personal if p.kind != "PERSON" or all(p.end <= a or b <= p.start for a, b in own))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._recognizer.aclose()
