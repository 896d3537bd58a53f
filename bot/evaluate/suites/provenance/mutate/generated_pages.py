"""Generated pages: a title, a text with a table or with prose, and where it says what."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from bot.evaluate.suites.provenance.mutate.generated_values import BRANDS, Value, column
from rai.records import Source

LAYOUTS = ("labelled rows", "pipe table", "bullets", "prose", "prose")
"""How a page says its values; prose twice, for it is what most pages are."""

_LINES = (
    "All details are reviewed every year.",
    "Please read the terms before you order.",
    "Ask our team if anything is unclear.",
    "Changes are announced on this page first.",
    "We thank all customers for their trust.",
    "Older offers are no longer sold.",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a page: its templates and a value for each subject. `in_label`: the unit, where the label has it."""

    label: str
    ask: str
    prose: tuple[str, ...]
    answers: tuple[str, ...]
    short: tuple[str, ...]
    values: tuple[Value, ...]
    in_label: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A generated page. `told[s, c]`: the sentence, row or item of `source` that tells column `c` of subject `s`."""

    id: str
    domain: str
    source: Source
    layout: str
    the: str
    subjects: tuple[str, ...]
    columns: tuple[Column, ...]
    facts: tuple[tuple[str, str], ...]
    told: dict[tuple[int, int], str]

    def named(self, template: str, subject: int, value: str = "{v}") -> str:
        """A template with its subject in full and its value."""
        return fill(template, self.the.replace("{s}", self.subjects[subject]), self.subjects[subject], value)


def fill(template: str, the: str, name: str, value: str) -> str:
    """`template` with {The}, {the}, {s} and {v} filled in; its first letter is a capital."""
    text = template.replace("{The}", the).replace("{the}", the).replace("{s}", name).replace("{v}", value)
    return text[0].upper() + text[1:]


@lru_cache(maxsize=1)
def domains() -> list[dict[str, Any]]:
    """The entries of `generated_pages.yaml`."""
    loaded: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("generated_pages.yaml").read_text("utf-8"))
    return loaded


@lru_cache(maxsize=1)
def _turns() -> list[dict[str, Any]]:
    """Domains in turn, those with contact data three times and those with dates twice: other texts have few."""
    kinds = [(d, {str(c["value"]).split()[0] for c in d["columns"]}) for d in domains()]
    contact = [d for d, has in kinds if has & {"phone", "url", "email"}]
    dated = [d for d, has in kinds if has & {"date", "weekday"}]
    return [*domains(), *contact, *dated, *contact]


def page(number: int, seed: int) -> Page:
    """Page `number` of a seeded run: domains and layouts in turn, everything else drawn."""
    rng = random.Random(f"page:{seed}:{number}")  # noqa: S311 - a seeded instrument, no secret
    turn = _turns()
    spec = turn[number % len(turn)]
    layout = LAYOUTS[(number + number // len(turn)) % len(LAYOUTS)]
    brand = rng.choice(BRANDS)
    subjects = tuple(rng.sample([str(s) for s in spec["subjects"]], min(len(spec["subjects"]), rng.choice((3, 4, 5)))))
    columns = tuple(_column(c, brand, subjects, layout, rng) for c in spec["columns"])
    facts = tuple((f, a) for f, a in spec["facts"])
    the = str(spec["the"])
    text, told = _text(layout, spec, subjects, columns, rng)
    source = Source(f"page{number}", text, str(spec["title"]).replace("{brand}", brand))
    return Page(f"g{number}", str(spec["name"]), source, layout, the, subjects, columns, facts, told)


def _column(spec: dict[str, Any], brand: str, subjects: tuple[str, ...], layout: str, rng: random.Random) -> Column:
    values = tuple(column(str(spec["value"]), len(subjects), brand, subjects, rng))
    label = str(spec["label"])
    unit = (
        str(spec["value"]).split()[-1]
        if values[0].kind == "quantity" and layout.endswith(("rows", "table")) and rng.random() < 0.3
        else ""
    )
    return Column(
        f"{label} ({unit})" if unit else label,
        str(spec["ask"]),
        tuple(spec["prose"]),
        tuple(spec["answers"]),
        tuple(spec["short"]),
        values,
        unit,
    )


def _text(
    layout: str, spec: dict[str, Any], subjects: tuple[str, ...], columns: tuple[Column, ...], rng: random.Random
) -> tuple[str, dict[tuple[int, int], str]]:
    """The text of a page, and what of it tells each value."""
    told: dict[tuple[int, int], str] = {}
    labels = [str(spec["key"]), *(c.label for c in columns)]
    lines = [rng.choice(_LINES)]
    if layout == "pipe table":
        lines += [f"| {' | '.join(labels)} |", "|" + "---|" * len(labels)]
    for s, subject in enumerate(subjects):
        line, pieces = _of_subject(layout, str(spec["the"]), (labels, columns), (s, subject), rng)
        told |= {(s, c): piece for c, piece in enumerate(pieces)}
        lines.append(line)
    full = [str(spec["the"]).replace("{s}", subjects[(n * 2) % len(subjects)]) for n in range(len(spec["facts"]))]
    facts = [fill(fact, the, "", "") for the, (fact, _) in zip(full, spec["facts"], strict=True)]
    lines += [" ".join(facts), rng.choice(_LINES)]
    return ("\n\n" if layout in ("prose", "bullets") else "\n").join(lines), told


def _of_subject(
    layout: str,
    the: str,
    table: tuple[list[str], tuple[Column, ...]],
    subject: tuple[int, str],
    rng: random.Random,
) -> tuple[str, list[str]]:
    """What a page says of one subject, and which piece of it tells each column."""
    labels, columns = table
    s, name = subject
    if layout == "prose":
        pieces = [fill(rng.choice(c.prose), the.replace("{s}", name), name, c.values[s].forms[0]) for c in columns]
        return " ".join(pieces), pieces
    cells = [c.values[s].bare if c.in_label else c.values[s].forms[0] for c in columns]
    if layout == "bullets":
        items = [f"- {c.label}: {cell}" for c, cell in zip(columns, cells, strict=True)]
        return "\n".join([f"## {name}", "", *items]), items
    row = [name, *cells]
    labelled = " | ".join(f"{a}: {b}" for a, b in zip(labels, row, strict=True))
    line = labelled if layout == "labelled rows" else f"| {' | '.join(row)} |"
    return line, [line] * len(columns)
