"""The embedded prompt screen: explained rules, a company's own list, and a small classifier for what no rule foresaw.

The user's turn is judged as a request, each document as data: in a document only what speaks to the model counts.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from rai.embedded import words
from rai.embedded.classifier import CLASSES, Array, Classifier, Worth
from rai.embedded.words import weighed
from rai.records import Category, DocumentScreening, Screening
from rai.screening.glosses import glossed
from rai.screening.languages import reads
from rai.screening.normal_forms import decoded, normal, plain_letters, reads_as_english, spelled_out
from rai.screening.off_policy import OffPolicy, Subjects
from rai.screening.reported import given
from rai.screening.screen import BLOCK_AT, RuleHit, judge, rules_version
from rai.screening.sentences import MOST, addressed, asks_permission, parts

REQUEST_AT, ORDER_AT = 5.0, 5.6
"""The log odds from which on a request is refused and a passage left out: the classifier's, with those of the words.

Both were chosen on rows of authors who had taught nothing, the second also on knowledge bases of which it takes nearly nothing: docs/screening.md.
"""
WORDS_WEIGH = 2.0
"""How much the weights of words count beside the classifier's log odds."""
QUESTION_AT, SENTENCE_AT, PASSAGE_AT = -0.2, 0.4, 0.4
"""What the words of a window of a question, of a sentence of one, and of a sentence of a passage must say at least for the classifier to read it too.

It would have to be surer than of any attack and order among rows that taught nothing: of 412 attacks that it finds in the whole, 319 in a sentence, and 488 orders none was
lost, the first at -0.14, 0.51 and 0.60; by windows none of 3,240 texts is judged otherwise. Most honest text costs nothing.
"""
DOUBT_AT = REQUEST_AT - 3.2
"""The log odds from which on a request is in doubt: a stronger screen decides, if there is one."""
ORDER_DOUBT_AT = ORDER_AT - 3.0
"""The same of a sentence of a passage."""
WORK_AT = -2.0
"""The log odds below which a question takes the finding of a rule back that alone is not sure: of 142 attacks that rules on violence found one stayed below, of six honest questions five;
of 33 that rules on dropped instructions found none, and eight honest ones did.
"""
PLAIN_AT = 5.5
"""The log odds from which on a sentence of a passage, read as a question is, confirms that instructions are to be dropped: the plainest orders speak to nobody by name."""
CONFIRMED_AT = ORDER_AT - 2.0
"""The log odds from which on a sentence of a passage confirms a rule that alone is not sure: plays, contracts and letters stayed below, orders above."""
_CODE = re.compile(r"\S{24,}")
"""A code: no word is as long. The classifier cannot read it and would take it for something strange."""
_MANUAL = re.compile(
    r"\b((?:assembly|brewing|cancellation|care|charging|cleaning|collection|cooking|delivery|dosing|feeding|fitting|installation|mounting|packing|pairing|payment|planting|"
    r"returns?|shipping|storage|washing)|(?<!your )(?<!own )(?:operating|safety|set-?up|user)) instructions\b",
    re.IGNORECASE,
)
"""What comes with a thing or belongs to a way of doing, and is nothing that the assistant was told: to the classifier all instructions are its own."""
ALONE = 3.0
"""What is taken off the log odds of a sentence that is read without the others: it must be surer, for it may lean on them."""
JUST_IN_DOUBT = 0.49
"""The highest score of a question about what may be told of a customer: a stronger screen sees it, none refuses it."""
_MOST_ALONE = 8
"""Most sentences of a text that are read one by one too."""
_MOST_LOOKED_AT, _LONGEST = 1024, 400
"""Most sentences of a text whose words are weighed for that, and most characters of each."""
_ATTACKS = frozenset({"jailbreak", "instruction_leak", "injection"})
"""Categories of rules whose finding may stand in what a text only tells of."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class EmbeddedScreen:
    """A `rai.ports.LocalScreen` that needs no service and never fails to decide. Without a classifier it goes by rules alone."""

    def __init__(self, classifier: Classifier | None = None, off_policy: OffPolicy | Subjects | None = None) -> None:
        self._classifier = classifier
        self._off_policy = off_policy
        self._version = f"{rules_version()}+{classifier.version}+{words.version()}" if classifier else rules_version()

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
        if found is not None and found.blocked and found.category in _ATTACKS:
            found = judge(given(text, glossed(text)), as_="request")
        if found is not None and found.blocked and not (found.confirm and self._is_work(text)):
            return Screening("block", found.category, found.rule, found.score)
        found = None if found is not None and found.blocked else found
        read = self._classified(text)
        if read is None:
            return Screening("allow", score=found.score if found else 0.0)
        if read.blocked:
            return Screening("block", read.category, read.rule, read.score)
        score = max(read.score, found.score if found else 0.0)
        return Screening("allow", score=score, doubtful=read.score >= scored(DOUBT_AT, REQUEST_AT))

    def _is_work(self, text: str) -> bool:
        """True if classifier and words see nothing in a question but work: what a rule found in it is said of something else."""
        every = list(islice(parts(text), _MOST_ALONE + 1))
        if len(every) > _MOST_ALONE or not self._is_open([text]):
            return False
        read = self._classified(text, every=True)
        return read is not None and read.score < scored(WORK_AT, REQUEST_AT)

    def _classified(self, text: str, *, every: bool = False) -> RuleHit | None:
        """The classifier's worst finding on a request, its sentences, and what is hidden in it in another encoding; None if it cannot read it, or need not.

        `every`: it is read whatever the words leave room for.
        """
        english = glossed(text)
        plain = _readable(english)
        if self._classifier is None or not (english != text or reads(text) or reads_as_english(plain)):
            return None
        asked: list[tuple[str, float, Worth | None]] = [
            (form, 0.0, None) for form in decoded(text) if reads_as_english(form)
        ]
        asked += [(plain, 0.0, None if every else _leaves_room)]
        asked += [(sentence, ALONE, None) for sentence in apart(text, -math.inf if every else SENTENCE_AT)]
        rows = self._classifier.requests([(form, worth) for form, _, worth in asked])
        found = [_finding(form, row, less) for (form, less, _), row in zip(asked, rows, strict=True) if len(row)]
        if asks_permission(plain):  # of other people's data only; what else stands beside it counts as ever
            found = [replace(f, score=min(f.score, JUST_IN_DOUBT)) if f.category == "privacy" else f for f in found]
        return max(found, key=lambda f: f.score, default=None)

    def _document(self, index: int, text: str) -> DocumentScreening:
        found = judge(text, as_="document")
        text = given(text, glossed(text))
        if found is not None and found.blocked and found.category in _ATTACKS:
            found = judge(text, as_="document")
        if found is not None and found.blocked and not (found.confirm and self._is_told(text, found.category)):
            return DocumentScreening(index, "block", found.rule, found.score)
        if self._classifier is None:
            return DocumentScreening(index, "allow", None, found.score if found else 0.0)
        said = [s for s in (glossed(s, text) for s in addressed(text)) if weighed(s, "order") >= PASSAGE_AT]
        score = max((scored(odds, ORDER_AT) for odds in self._order_odds(said)), default=0.0)
        if score >= BLOCK_AT:
            return DocumentScreening(index, "block", "CL-order", score)
        return DocumentScreening(index, "allow", None, score, doubtful=score >= scored(ORDER_DOUBT_AT, ORDER_AT))

    def _is_told(self, text: str, category: Category) -> bool:
        """True if the classifier takes no sentence of a passage for an order, not even in doubt, nor for plain words of a jailbreak: what a rule found in it is said to somebody else."""
        every = list(islice(parts(text), MOST + 1))  # of a longer text the one that the rule found may be left out
        if self._classifier is None or not self._is_open([glossed(s, text) for s in every]):
            return False
        if category == "jailbreak" and self._is_plain(every, text):
            return False
        return (
            len(every) <= MOST and max(self._order_odds([glossed(s, text) for s in every]), default=0.0) < CONFIRMED_AT
        )

    def _is_open(self, texts: Sequence[str]) -> bool:
        """True if the classifier reads all of each text as the rules do: what they found in another form of it, or between what it reads, it cannot deny."""
        return self._classifier is not None and all(
            self._classifier.reads_whole(_readable(t)) and not decoded(t) and not any(spelled_out(normal(t)))
            for t in texts
        )

    def _is_plain(self, sentences: Sequence[str], around: str) -> bool:
        assert self._classifier is not None
        read = [_readable(glossed(s, around)) for s in sentences]
        found = self._classifier.requests([(s, None) for s in read])
        return any(_odds(s, rows) >= PLAIN_AT for s, rows in zip(read, found, strict=True))

    def _order_odds(self, sentences: Sequence[str]) -> list[float]:
        assert self._classifier is not None
        chances = self._classifier.orders(sentences)
        return [log_odds(c) + WORDS_WEIGH * weighed(s, "order") for c, s in zip(chances, sentences, strict=True)]


def _finding(text: str, windows: Array, less: float) -> RuleHit:
    """The finding on the worst window of a text, with what its words say; `windows`: their chances, shape (windows, 9); `less` is taken off the log odds."""
    worst = windows[int(windows[:, 0].argmin())]
    category = CLASSES[int(worst[1:].argmax())]
    return RuleHit(f"CL-{category.replace('_', '-')}", category, scored(_odds(text, windows) - less, REQUEST_AT))


def _odds(text: str, windows: Array) -> float:
    """What the classifier's worst window of a question and all its words say against it, as log odds."""
    return log_odds(1.0 - float(windows[:, 0].min())) + WORDS_WEIGH * weighed(text, "request")


def apart(text: str, least: float = SENTENCE_AT) -> list[str]:
    """The sentences of a text of several that are to be judged alone too, as the classifier reads them, at most `_MOST_ALONE`: honest company must not hide a harmful one.

    They are those whose words speak most for an attack, and say at least `least`, wherever they stand, in whichever language, and however much stands around them.
    """
    if not _SENTENCE.search(text):
        return []
    read = (_readable(glossed(s, text)[:_LONGEST]) for s in islice(parts(text), _MOST_LOOKED_AT))
    said = [(weighed(s, "request"), s) for s in read if len(s) >= 20]
    return [s for weight, s in sorted(said, reverse=True)[:_MOST_ALONE] if weight >= least]


def _readable(english: str) -> str:
    """A text in English words as the classifier reads it."""
    plain = _CODE.sub("code", plain_letters(english))
    return _MANUAL.sub(r"\1 manual", plain) if "instructions" in plain.lower() else plain


def _leaves_room(window: str) -> bool:
    """True if the words of a window, or of a stretch of it, do not rule out that the classifier finds something in it."""
    return any(weighed(part, "request") >= QUESTION_AT for part in stretches(window))


def stretches(text: str) -> Iterator[str]:
    """A text, and of a long one each stretch of some `_STRETCH` characters, half of it shared with the next: much honest text around an attack must not outweigh it."""
    yield text
    if len(text) > _STRETCH:
        yield from (text[at : at + _STRETCH] for at in range(0, len(text), _STRETCH // 2))


_STRETCH = 160
"""Characters of a stretch: as many as most attacks and requests for harm have."""


def log_odds(chance: float) -> float:
    """The logarithm of the odds of a chance, between -13.8 and 13.8."""
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def scored(odds: float, threshold: float) -> float:
    """Log odds moved so that `threshold` becomes 0.5, where every screen blocks; in [0, 1], rounded to 4 places."""
    return round(1.0 / (1.0 + math.exp(threshold - odds)), 4)
