"""Answers to generated pages: row or sentence word for word, reworded, shortened, with the subject only in the question."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from bot.evaluate.suites.provenance.mutate.generated_pages import Column, Page, page
from bot.evaluate.suites.provenance.mutate.generated_values import Value
from bot.evaluate.suites.provenance.mutate.records import Slot, Supported
from rai.records import Source

_Written = tuple[str, list[Slot]]
OTHER_FORM = 0.3
"""Share of reworded answers that write the value in another form than the page does."""


def generated(count: int, seed: int = 1) -> Iterator[Supported]:
    """Supported answers to `count` generated pages, each page with the next two of other domains beside it."""
    held: list[Page] = [page(number, seed) for number in range(count + 2)]
    for number in range(count):
        yield from _of_page(held[number], (held[number + 1].source, held[number + 2].source), seed)


def _of_page(this: Page, beside: tuple[Source, ...], seed: int) -> Iterator[Supported]:
    rng = random.Random(f"answers:{seed}:{this.id}")  # noqa: S311 - a seeded instrument, no secret
    sources = (this.source, *beside)
    for c, column in enumerate(this.columns):
        s = rng.randrange(len(this.subjects))
        told = [_named(this, s, c, rng), _asked(this, s, c, rng), _short(this, s, c, rng), _verbatim(this, s, c)]
        questions = [None, column.ask, None, column.ask]
        forms = ["named", "in question", "short", "verbatim"]
        for written, ask, form in zip(told, questions, forms, strict=True):
            question = None if ask is None else this.named(ask, s)
            yield _answer(this, sources, f"{c}{form}", form, written, question=question)
    yield from _longer(this, sources, rng)
    for n, (_, answer) in enumerate(this.facts):
        subject = (n * 2) % len(this.subjects)
        yield _answer(this, sources, f"fact{n}", "fact", (this.named(answer, subject), []), question=None)


def _longer(this: Page, sources: tuple[Source, ...], rng: random.Random) -> Iterator[Supported]:
    """Two columns of one subject, two subjects of one column, and a list of all."""
    s, other = rng.sample(range(len(this.subjects)), 2)
    a, b = rng.sample(range(len(this.columns)), 2)
    answer = partial(_answer, this, sources, question=None)
    yield answer("two values", "two values", _joined([_named(this, s, a, rng), _asked(this, s, b, rng)], " "))
    yield answer("two subjects", "two subjects", _joined([_named(this, s, a, rng), _named(this, other, a, rng)], " "))
    column = this.columns[b]
    items = [
        _placed(f"- {name}: {{v}}", column, n, _source_form(column, n), this) for n, name in enumerate(this.subjects)
    ]
    lead: _Written = (f"{column.label.split(' (')[0]} by {this.domain}:", [])
    yield answer("list", "list", _joined([lead, *items], "\n"))


def _answer(
    this: Page, sources: tuple[Source, ...], name: str, form: str, written: _Written, *, question: str | None
) -> Supported:
    text, slots = written
    described = f"{this.layout}, {form}, {this.domain}"
    return Supported(f"{this.id}:{name}", text, sources, question, (), "generated", described, tuple(slots))


def _named(this: Page, s: int, c: int, rng: random.Random) -> _Written:
    column = this.columns[c]
    return _placed(this.named(rng.choice(column.answers), s), column, s, _form(column.values[s], rng), this)


def _asked(this: Page, s: int, c: int, rng: random.Random) -> _Written:
    column = this.columns[c]
    return _placed(rng.choice(column.short), column, s, _form(column.values[s], rng), this)


def _short(this: Page, s: int, c: int, rng: random.Random) -> _Written:
    column = this.columns[c]
    label = column.label.split(" (")[0]
    template = rng.choice(("{s}: {v} ({l}).", "{l} for {s}: {v}", "{s} – {l} {v}", "The {l} of {s} is {v}."))
    low = label if label.startswith("E-") else label[0].lower() + label[1:]
    return _placed(
        template.replace("{s}", this.subjects[s]).replace("{l}", low), column, s, _form(column.values[s], rng), this
    )


def _verbatim(this: Page, s: int, c: int) -> _Written:
    """The sentence or row as it stands, with every value of it; of bullets the item, with its subject before it."""
    line = this.told[s, c]
    text = f"{this.subjects[s]}: {line[2:]}" if line.startswith("- ") else line.strip("| ")
    if this.layout in ("labelled rows", "pipe table"):
        slots, at = [], 0
        for n, column in enumerate(this.columns):
            shown = column.values[s].bare if column.in_label else column.values[s].forms[0]
            at = text.index(f" {shown}", max(0, at - 1)) + 1
            if n == c:
                slots.append(_slot(column, s, shown, at, this))
            at += len(shown)
        return text, slots
    column = this.columns[c]
    shown = column.values[s].bare if column.in_label else column.values[s].forms[0]
    at = text.rindex(shown)
    return text, [_slot(column, s, shown, at, this)]


def _placed(template: str, column: Column, s: int, shown: str, this: Page) -> _Written:
    at = template.index("{v}")
    return template.replace("{v}", shown), [_slot(column, s, shown, at, this)]


def _slot(column: Column, s: int, shown: str, at: int, this: Page) -> Slot:
    """The value in the answer, and the others of its column in the same form."""
    mine = column.values[s]
    bare = shown == mine.bare
    which = 0 if bare else mine.forms.index(shown)
    others = tuple(
        v.bare if bare else v.forms[min(which, len(v.forms) - 1)] for n, v in enumerate(column.values) if n != s
    )
    return Slot(mine.kind, at, at + len(shown), others, prose=this.layout == "prose")


def _form(value: Value, rng: random.Random) -> str:
    return rng.choice(value.forms) if rng.random() < OTHER_FORM else value.forms[0]


def _source_form(column: Column, s: int) -> str:
    return column.values[s].forms[0]


def _joined(pieces: list[_Written], gap: str) -> _Written:
    text, slots = "", []
    for piece, inside in pieces:
        begin = len(text) + (len(gap) if text else 0)
        text = f"{text}{gap}{piece}" if text else piece
        slots += [Slot(s.kind, s.start + begin, s.end + begin, s.siblings, s.prose) for s in inside]
    return text, slots
