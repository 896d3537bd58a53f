"""The prompt of a judge: our template, and everything else as quoted data within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from grounding.model_calls.spotlight import block
from rai.check.judging.case import likely
from rai.judgement import Case
from rai.records import Claim, Source

REQUEST = "Judge every numbered claim."
"""The user message: all that is quoted stands in the system message, where the screen judges it as data."""
MOST_SOURCES = 24_000
"""Most characters of sources in one prompt, about 6,000 tokens; what goes beyond is cut off the last ones."""
MOST_SAID = 4_000
"""Most characters of the question and of what else is known."""
MOST_ANSWER = 12_000
"""Most characters of the answer's sentences."""
_KINDS = {"entity": "name", "money": "amount", "url": "link", "email": "mail address", "phone": "telephone number"}
_SLOTS = ("question", "sources", "answer", "claims")


@dataclass(frozen=True, slots=True)
class Judging:
    """The prompt of a judge. `labels`: the ids of its sources by what they are called there, in lower case ("s1")."""

    system: str
    labels: dict[str, str]


@cache
def instructions() -> str:
    """The template of the prompt; its lines are ours and trusted."""
    return files("rai").joinpath("prompts", "judge.txt").read_text("utf-8").rstrip("\n")


def prompt(case: Case, marker: str) -> Judging:
    """The prompt for `case`. `marker`: of the lines between which data stands."""
    labels = {f"s{n}": source.id for n, source in enumerate(case.sources, 1)}
    filled = {
        "question": "\n".join(block(text, marker) for text in _within(case.said, MOST_SAID)) or "(none)",
        "sources": "\n".join(_sources(case.sources, marker)),
        "answer": block("\n".join(_sentences(case)), marker),
        "claims": block("\n".join(_numbered(case)), marker),
    }
    parts, rest = [], instructions()
    for slot in _SLOTS:  # one after the other: what stands in data is no slot
        before, _, rest = rest.partition(f"{{{{{slot}}}}}")
        parts += [before, filled[slot]]
    return Judging("".join((*parts, rest)), labels)


def _sources(sources: Sequence[Source], marker: str) -> Iterator[str]:
    left = MOST_SOURCES
    for n, source in enumerate(sources, 1):
        text = source.text[:left]
        left -= len(text)
        if text:
            updated = f", last changed {line(source.updated)}" if source.updated else ""
            quoted = block(f"{line(source.title)}\n{text}", marker)
            yield f"S{n}{updated}\n{quoted}"


def _sentences(case: Case) -> Iterator[str]:
    texts = [line(sentence.text) for sentence in case.sentences]
    for n, text in enumerate(_within(texts, MOST_ANSWER), 1):
        yield f"A{n}: {text}"


def _numbered(case: Case) -> Iterator[str]:
    numbers = {(s.start, s.end): n for n, s in enumerate(case.sentences, 1)}
    for n, claim in enumerate(case.claims, 1):
        sentence = case.sentence_of(claim)
        place = (
            f"A{numbers[sentence.start, sentence.end]}" if (sentence.start, sentence.end) in numbers else "the answer"
        )
        yield f"{n}. {_asked(claim)} {place}"


def _asked(claim: Claim) -> str:
    if claim.kind == "statement":
        return "sentence (found)" if likely(claim) else "sentence"
    return f'{_KINDS.get(claim.kind, claim.kind)} "{line(claim.text)}" in'


def _within(texts: Sequence[str], most: int) -> Iterator[str]:
    """The first of `texts`, up to `most` characters together; the last one may be cut."""
    for text in texts:
        if most <= 0:
            return
        yield text[:most]
        most -= len(text)


def line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())
