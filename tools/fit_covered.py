"""Fits the logistic for the chance that the sources support a sentence in other words, on answers whose errors are marked.

usage: python -m tools.fit_covered ANSWERS.jsonl... [--aside ANSWERS.jsonl]

ANSWERS are rows as `attest eval answers` reads them: question, sources, answer, honest, type, start, end. Honest sentences are
held; those with an error are not, nor are honest ones that are changed here (a negation put in or taken out, a bound or side turned,
"only" or a condition dropped) or whose nearest piece is taken from the sources. Written to rai/check/statements/covered.json.
The threshold holds at most `ASSURED` of the sentences with an error in them that no value carries. Repeated runs give the same.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bot.evaluate.rows import json_lines
from grounding.text import sentences
from rai.check.context import CheckContext
from rai.check.lexicon.load import Cue, cues, rows
from rai.check.phrasing.plain import plain_words, substance
from rai.check.reading.sources import prepare
from rai.check.statements.covered import MODEL, open_whatever
from rai.check.statements.prepared import PreparedStatement, read_statement
from rai.check.statements.statement_features import FEATURES, features
from rai.check.statements.statement_rules import RULES
from rai.claims.contacts.phones import REGIONS
from rai.records import Source
from tools.fitting.logistic import Matrix, newton

VALUES = frozenset("digit wrong_role unit date contact name derived".split())
ASSURED = 0.06
PENALTY = 1.0
WEIGHTS = {"held": 1.0, "wrong": 6.0, "value": 0.5, "changed": 1.0, "bare": 1.0, "beside": 0.0}
_TURNED = {"least": "most", "most": "least", "until": "from", "from": "until", "over": "under", "under": "over"}
_DENIED = {
    "en": (" is / is not ", " can / cannot ", " are / are not ", " will / will not ", " must / need not "),
    "de": (" ist / ist nicht ", " kann / kann nicht ", " wird / wird nicht ", " können / können nicht "),
    "fr": (" est / n'est pas ", " peut / ne peut pas ", " sont / ne sont pas "),
    "es": (" es / no es ", " se / no se ", " puede / no puede "),
    "it": (" è / non è ", " può / non può ", " sono / non sono "),
    "pt": (" é / não é ", " pode / não pode ", " são / não são "),
    "nl": (" is / is niet ", " kan / kan niet ", " wordt / wordt niet "),
    "pl": (" jest / nie jest ", " można / nie można ", " są / nie są "),
}
_AFFIRMED = {
    "can't": "can",
    "cannot": "can",
    "won't": "will",
    "doesn't": "does",
    "don't": "do",
    "isn't": "is",
    "aren't": "are",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence: its features, what it is (a key of `WEIGHTS`), and whether a rule flags it or keeps it open."""

    values: list[float]
    kind: str
    flagged: bool


def changed(sentence: str, code: str) -> Iterator[str]:
    """The sentence with its sense turned or narrowed, one change each."""
    found = cues(sentence, code)
    yield from _negated(sentence, found, code)
    for cue in found:
        if cue.concept == "bounds" and cue.key in _TURNED and cue.end - cue.start > 3:
            yield _with(sentence, cue, rows("bounds")[_TURNED[cue.key]][code][0])
            break
    for cue in found:
        if cue.concept == "opposites" and cue.scale not in ("way", "extent", "time"):
            other = next(k for k in rows("opposites") if k.startswith(f"{cue.scale}/") and k != cue.key)
            yield _with(sentence, cue, rows("opposites")[other][code][0])
            break
    for cue in found:
        if cue.concept == "conditions" and (cue.key == "only" or (cue.key in ("if", "unless") and cue.start > 20)):
            yield _with(sentence, cue, "") if cue.key == "only" else f"{sentence[: cue.start].rstrip(' ,')}."
            break


def _negated(sentence: str, found: Sequence[Cue], code: str) -> Iterator[str]:
    cue = next((c for c in found if c.concept == "negation" and c.key == "not"), None)
    if cue is not None:
        yield _with(sentence, cue, _AFFIRMED.get(sentence[cue.start : cue.end].lower(), ""))
        return
    for pair in _DENIED[code]:
        mine, other = pair.split("/")
        if mine.rstrip() + " " in sentence:
            yield sentence.replace(mine.rstrip() + " ", other.rstrip().replace("  ", " ") + " ", 1)
            return


def _with(sentence: str, cue: Cue, words: str) -> str:
    return re.sub(r" {2,}", " ", sentence[: cue.start] + words + sentence[cue.end :])


def examples(row: dict[str, Any], *, more: bool) -> Iterator[Example]:
    """The sentences of a row, and with `more` what is made of honest ones."""
    sources = tuple(Source(s["id"], s["text"], s.get("title", "")) for s in row["sources"])
    context = _setting(sources, row["question"])
    for sentence in sentences(row["answer"]):
        if not substance(sentence.text):
            continue
        plain = plain_words(sentence.text)
        said = read_statement(plain, context)
        kind = _kind(row, sentence.start, sentence.end)
        yield _example(said, kind)
        if more and kind == "held":
            for text in changed(plain, said.code):
                yield _example(read_statement(text, context), "changed")
            if zlib.crc32(plain.encode()) % 2:
                yield _example(read_statement(plain, _setting(_without(said, sources), row["question"])), "bare")


def _setting(sources: Sequence[Source], question: str) -> CheckContext:
    return CheckContext(
        tuple(prepare(s, REGIONS) for s in sources), (), prepare(Source("question", question), REGIONS), frozenset()
    )


def _kind(row: dict[str, Any], start: int, end: int) -> str:
    if row["honest"]:
        return "held"
    if start < row["end"] and row["start"] < end:
        return "value" if row["type"] in VALUES else "wrong"
    return "beside"


def _example(said: PreparedStatement, kind: str) -> Example:
    decision = next((d for rule in RULES if (d := rule.judge(said))), None)
    flagged = decision is not None and decision.status != "entailed"
    values = features(said)
    return Example(values, kind, flagged or open_whatever(said, values))


def _without(said: PreparedStatement, sources: Iterable[Source]) -> tuple[Source, ...]:
    """The sources without the piece that each clause is nearest to."""
    spans = {p.aligned.units[0].span for p in said.parts if p.aligned}
    kept = []
    for source in sources:
        text = source.text
        for span in sorted((s for s in spans if s.source == source.id), key=lambda s: -s.start):
            text = text[: span.start] + text[span.end :]
        kept.append(Source(source.id, text, source.title))
    return tuple(kept)


def fit(values: Matrix, held: Matrix, weight: Matrix, penalty: float = PENALTY) -> tuple[Matrix, float]:
    """Coefficients, shape (values.shape[1],), and bias of a logistic with a ridge over standardised features."""
    middle, spread = values.mean(0), values.std(0) + 1e-6
    rows_ = np.c_[(values - middle) / spread, np.ones(len(values))]
    ridge = penalty * np.r_[np.ones(values.shape[1]), 1e-6]
    found = newton(rows_, held, weight, ridge, rounds=60)
    return found[:-1] / spread, float(found[-1] - (found[:-1] / spread * middle).sum())


def report(name: str, found: Sequence[Example], logits: Matrix, at: float) -> None:
    """Print what share of each kind of sentence counts as held from `at`, of those that no rule flags."""
    vetoed = np.array([e.flagged for e in found])
    for kind in WEIGHTS:
        mine = np.array([e.kind == kind for e in found])
        if mine.any():
            print(f"{name:6s} {kind:8s} {int(mine.sum()):5d} held {float(((logits >= at) & ~vetoed)[mine].mean()):.3f}")


def main(arguments: Sequence[str]) -> None:
    """Fit, print and write."""
    at = arguments.index("--aside") if "--aside" in arguments else len(arguments)
    known = [e for row in _read(arguments[:at]) for e in examples(row, more=True)]
    values = np.array([e.values for e in known])
    held = np.array([float(e.kind in ("held", "beside")) for e in known])
    weights, bias = fit(values, held, np.array([WEIGHTS[e.kind] for e in known]))
    logits = values @ weights + bias
    wrong = [x for x, e in zip(logits, known, strict=True) if e.kind == "wrong" and not e.flagged]
    many = sum(e.kind == "wrong" for e in known)
    spared = int(ASSURED * many)
    held_from = float(sorted(wrong, reverse=True)[spared]) + 1e-6 if len(wrong) > spared else float(min(wrong))
    real = np.array([e.kind in ("held", "beside", "wrong", "value") for e in known])
    slope, shift = fit(logits[real][:, None], held[real], np.ones(int(real.sum())))
    model = {
        "weights": {n: round(float(w), 4) for n, w in zip(FEATURES, weights, strict=True)},
        "bias": round(bias, 4),
        "held_from": round(held_from, 4),
        "scale": [round(float(slope[0]), 4), round(shift, 4)],
    }
    MODEL.write_text(json.dumps(model, indent=1) + "\n", "utf-8")
    report("fitted", known, logits, held_from)
    aside = [e for row in _read(arguments[at + 1 :]) for e in examples(row, more=False)]
    if aside:
        report("aside", aside, np.array([e.values for e in aside]) @ weights + bias, held_from)


def _read(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    return chain.from_iterable(json_lines(Path(name)) for name in names)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit((__doc__ or "").split("\n\n")[1])
    main(sys.argv[1:])
