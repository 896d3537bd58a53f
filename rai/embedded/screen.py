"""The embedded prompt screen: explained rules, a company's own list, and a small classifier for what no rule foresaw.

The user's turn is judged as a request, each document as data: in a document only what speaks to the model counts.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from rai.embedded.classifier import CLASSES, Classifier
from rai.records import DocumentScreening, Screening
from rai.screening.languages import reads
from rai.screening.normal_forms import decoded, plain_letters, reads_as_english
from rai.screening.off_policy import OffPolicy, Subjects
from rai.screening.screen import BLOCK_AT, RuleHit, judge, rules_version
from rai.screening.sentences import addressed, asks_permission, names_the_model

REQUEST_AT, JAILBREAK_AT = 0.97, 0.99
"""The classifier's chances from which on a request is refused; more for jailbreaks, which honest role play resembles and rules know best."""
DOUBT_AT = 0.6
"""The chance from which on a request is in doubt: a stronger screen decides, if there is one."""
NAMED_AT, ORDER_AT = 0.85, 0.9975
"""The chances from which on a passage is left out: of a sentence that names the model or its answer, and of any other.

All are chosen on sets that taught nothing, see docs/screening.md.
"""
_CODE = re.compile(r"\S{24,}")
"""A code: no word is as long. The classifier cannot read it and would take it for something strange."""
ALONE = 0.2
"""What is taken off the score of a sentence that is read without the others: it must be surer, for it may lean on them."""
JUST_IN_DOUBT = 0.49
"""The highest score of a question about what may be told of a customer: a stronger screen sees it, none refuses it."""
_MOST_SENTENCES = 8
"""Most sentences of a text that are read one by one too."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class EmbeddedScreen:
    """A `rai.ports.LocalScreen` that needs no service and never fails to decide. Without a classifier it goes by rules alone."""

    def __init__(self, classifier: Classifier | None = None, off_policy: OffPolicy | Subjects | None = None) -> None:
        self._classifier = classifier
        self._off_policy = off_policy
        self._version = f"{rules_version()}+{classifier.version}" if classifier else rules_version()

    @property
    def name(self) -> str:
        return "rules+classifier" if self._classifier else "rules"

    @property
    def version(self) -> str:
        """Changes whenever a verdict on a document may change."""
        return self._version

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judges `text` as a request and each of `documents` as data. `score` in [0, 1]; 0.5 and above blocks."""
        return await asyncio.to_thread(self.judged, text, tuple(documents))

    def judged(self, text: str, documents: Sequence[str]) -> Screening:
        """As `screen`, but without waiting: takes milliseconds of this thread."""
        judged = tuple(self._document(i, d) for i, d in enumerate(documents))
        return replace(self._request(text), documents=judged) if text.strip() else Screening("allow", documents=judged)

    def _request(self, text: str) -> Screening:
        if self._off_policy and (subject := self._off_policy.found(text)):
            return Screening("block", "off_policy", f"OP-{subject.id}", 1.0)
        found = judge(text, as_="request")
        if found is not None and found.blocked:
            return Screening("block", found.category, found.rule, found.score)
        read = self._classified(text)
        if read is None:
            return Screening("allow", score=found.score if found else 0.0)
        if read.blocked:
            return Screening("block", read.category, read.rule, read.score)
        score = max(read.score, found.score if found else 0.0)
        return Screening("allow", score=score, doubtful=read.score >= scaled(DOUBT_AT, REQUEST_AT))

    def _classified(self, text: str) -> RuleHit | None:
        """The classifier's worst finding on a request, its sentences, and what is hidden in it in another encoding; None if it cannot read it."""
        plain = _CODE.sub("code", plain_letters(text))
        if self._classifier is None or not (reads(text) or reads_as_english(plain)):
            return None
        forms = (plain, *filter(reads_as_english, decoded(text)))
        found = [self._read(form, 0.0) for form in forms]
        found += [
            f for s in apart(plain) if (f := self._read(s, ALONE)).category not in ("jailbreak", "instruction_leak")
        ]
        if asks_permission(plain):  # of other people's data only; what else stands beside it counts as ever
            found = [replace(f, score=min(f.score, JUST_IN_DOUBT)) if f.category == "privacy" else f for f in found]
        return max(found, key=lambda f: f.score)

    def _read(self, text: str, less: float) -> RuleHit:
        """The classifier's finding on the worst window of a text; `less` is taken off its score."""
        assert self._classifier is not None
        found = []
        for row in self._classifier.request(text):
            category = CLASSES[int(row[1:].argmax())]
            threshold = JAILBREAK_AT if category == "jailbreak" else REQUEST_AT
            score = max(0.0, scaled(1.0 - float(row[0]), threshold) - less)
            found.append(RuleHit(f"CL-{category.replace('_', '-')}", category, round(score, 4)))
        return max(found, key=lambda f: f.score)

    def _document(self, index: int, text: str) -> DocumentScreening:
        found = judge(text, as_="document")
        if found is not None and found.blocked:
            return DocumentScreening(index, "block", found.rule, found.score)
        if self._classifier is None:
            return DocumentScreening(index, "allow", None, found.score if found else 0.0)
        score = max((self._order(s) for s in addressed(text)), default=0.0)
        if score >= BLOCK_AT:
            return DocumentScreening(index, "block", "CL-order", score)
        return DocumentScreening(index, "allow", None, score)

    def _order(self, sentence: str) -> float:
        assert self._classifier is not None
        return scaled(self._classifier.order(sentence), NAMED_AT if names_the_model(sentence) else ORDER_AT)


def apart(text: str) -> list[str]:
    """The commands and questions of a text of a few sentences, to be judged alone too: honest company must not hide a harmful one."""
    if not 1 < len(_SENTENCE.findall(text)) + 1 <= _MOST_SENTENCES:
        return []
    return [s for s in addressed(text) if len(s) >= 20]


def scaled(chance: float, threshold: float) -> float:
    """A chance moved on the logit scale so that `threshold` becomes 0.5, where every screen blocks; in [0, 1], rounded to 4 places."""
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    odds = math.log(chance / (1 - chance)) - math.log(threshold / (1 - threshold))
    return round(1.0 / (1.0 + math.exp(-odds)), 4)
