"""Lessons of the screen's classifier: short grammars in text files, expanded at random with a seed.

A file holds sections headed `== NAME`; a line is a text with choices, `{a|b}`, which may be empty. `#` starts a comment.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HARMS = ("hate", "sexual", "violence", "self_harm", "dangerous_help", "privacy", "jailbreak", "instruction_leak")
CLASSES = ("honest", *HARMS)

_CHOICE = re.compile(r"\{([^{}]*)\}")
_SLOT = re.compile(r"\{(act|acting)\}")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text with what is known of it. `kinds`: the classes of a request that it may be; None for the text of a document.

    `order`: of a document, whether it speaks to the model. `weight` scales its loss.
    """

    text: str
    kinds: tuple[str, ...] | None
    order: bool = False
    weight: float = 1.0


def sections(name: str) -> dict[str, list[str]]:
    """The lines of each section of a lesson file."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (HERE / name).read_text("utf-8").splitlines():
        if line.startswith("== "):
            lines = found.setdefault(line[3:].strip(), [])
        elif line.strip() and not line.startswith("#"):
            lines.append(line.strip())
    return found


def one(text: str, rng: random.Random) -> str:
    """`text` with each choice made at random."""
    return " ".join(_CHOICE.sub(lambda m: rng.choice(m.group(1).split("|")), text).split())


def all_of(text: str) -> Iterator[str]:
    """Every text that the choices of `text` allow."""
    match = _CHOICE.search(text)
    if match is None:
        yield " ".join(text.split())
        return
    for choice in match.group(1).split("|"):
        yield from all_of(text[: match.start()] + choice + text[match.end() :])


def put(frame: str, act: str, rng: random.Random) -> str:
    """The frame around the act: "How do I {act}?" around "bake bread"."""
    marked = _SLOT.sub(lambda m: f"<{m.group(1)}>", frame)
    return one(marked, rng).replace("<acting>", gerund(act)).replace("<act>", act)


def gerund(act: str) -> str:
    """The first verb of an act with -ing."""
    verb, _, rest = act.partition(" ")
    bare = verb.rstrip(",")
    if bare.endswith("ie"):
        made = bare[:-2] + "ying"
    elif bare.endswith("e") and not bare.endswith(("ee", "ye")):
        made = bare[:-1] + "ing"
    elif re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", bare) and bare != "work":
        made = bare + bare[-1] + "ing"
    else:
        made = bare + "ing"
    return f"{made} {rest}".strip()


def requests(rng: random.Random, *, each: int = 40) -> Iterator[Lesson]:
    """Requests, harmful and honest, each harmful act in honest frames and each harmful frame around honest acts."""
    frames = sections("frames.txt")
    for category, lines in sections("acts.txt").items():
        for act in _acts(lines):
            yield from (Lesson(put(f, act, rng), (category,)) for f in rng.sample(frames["asks"], 8))
            spared = rng.sample(frames["spares"], 5) + rng.sample(frames["settings"], 2)
            yield from (Lesson(put(f, act, rng), ("honest",)) for f in spared)
    for act in _acts(sections("harmless_acts.txt")["all"]):
        mixed = rng.sample(frames["asks"], 10) + rng.sample(frames["spares"], 2)
        yield from (Lesson(put(f, act, rng), ("honest",)) for f in mixed)
    for heading, lines in sections("texts.txt").items():
        verdict, category = heading.split()
        kinds = (category,) if verdict == "block" else ("honest",)
        for line in lines:
            yield from (Lesson(text, kinds) for text in sorted({one(line, rng) for _ in range(each)}))


def _acts(lines: Sequence[str]) -> Iterator[str]:
    return (act for line in lines for act in all_of(line))


def documents(rng: random.Random, *, each: int = 50) -> Iterator[Lesson]:
    """Sentences of documents: orders to the model, and what tells a reader what to do."""
    for heading, lines in sections("orders.txt").items():
        for line in lines:
            for text in sorted({one(line, rng) for _ in range(each)}):
                yield Lesson(text, None, order=heading.startswith("block"))


def joined(lessons: Sequence[Lesson], count: int, rng: random.Random) -> Iterator[Lesson]:
    """Longer texts: of honest parts alone, and with one harmful part among them."""
    requests = [x for x in lessons if x.kinds is not None and len(x.text) < 200]
    honest = [x.text for x in requests if x.kinds == ("honest",)]
    harmful = [x for x in requests if x.kinds != ("honest",)]
    for i in range(count):
        parts = rng.sample(honest, rng.randint(1, 3))
        if i % 3 == 0:
            bad = rng.choice(harmful)
            parts.insert(rng.randint(0, len(parts)), bad.text)
            yield Lesson(" ".join(parts), bad.kinds)
        else:
            yield Lesson(" ".join([*parts, rng.choice(honest)]), ("honest",))
