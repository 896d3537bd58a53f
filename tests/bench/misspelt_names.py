"""Benchmark of entity linking: how many names of a knowledge base are still linked when people misspell them.

usage: python -m tests.bench.misspelt_names DATA

DATA/retrieval/NAME/{corpus,queries}.jsonl. In each conversation every place that speaks of the name asked about (a relevant
document's title begins with it) is spoilt in one way, and linked again. Printed for each way: the share of conversations in
which the name is still found where it stood, the share that an exact search for its words would find, and how many other
names are linked in those turns. Drawn with a fixed seed, so a repeated run gives the same.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate.rows import json_lines
from bot.evaluate.suites.retrieval.question_sets import folders_with_corpus
from grounding.query.gazetteer import Gazetteer, key_of, names_of
from grounding.records import Linked

SEED = 20
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SOUNDS = tuple(
    tuple(pair.split("="))
    for pair in (
        "ph=f ck=k gh= kn=n wh=w ee=ea ea=ee ai=ay ou=ow tion=shun que=k x=ks qu=kw z=s c=k y=i ie=y oo=u "
        "au=or er=a le=el v=f th=f two=to one=won four=for"
    ).split()
)
"""Spellings, and what they may be written as by ear: what speech recognition and people who heard a name write."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Turns of one conversation with the places in each that speak of the names asked about."""

    turns: tuple[str, ...]
    places: tuple[tuple[int, Linked], ...]


def typos(text: str, count: int, rng: random.Random) -> str:
    """A letter left out, doubled, taken for another, or two that changed places, `count` times, in words of four letters or more."""
    for _ in range(count):
        at = [m.start() + i for m in re.finditer(r"[^\W\d_]{4,}", text) for i in range(len(m.group()))]
        if not at:
            return text
        i = rng.choice(at)
        pair = text[i : i + 2]
        slip = rng.choice(("", text[i] * 2, rng.choice(LETTERS), pair[::-1] if pair.isalpha() else ""))
        text = text[:i] + slip + text[i + (2 if len(slip) == 2 and slip == pair[::-1] != pair else 1) :]
    return text


def dropped(text: str, rng: random.Random) -> str:
    """A letter of each word of four letters or more left out."""
    return re.sub(r"[^\W\d_]{4,}", lambda m: _without(m.group(), rng.randrange(len(m.group()))), text)


def _without(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def joined(text: str, rng: random.Random) -> str:
    """Two words written as one."""
    gaps = [m.start() for m in re.finditer(r" ", text)]
    return _without(text, rng.choice(gaps)) if gaps else text


def divided(text: str, rng: random.Random) -> str:
    """A word of six letters or more written as two."""
    at = [m.start() + i for m in re.finditer(r"[^\W\d_]{6,}", text) for i in range(2, len(m.group()) - 1)]
    if not at:
        return text
    i = rng.choice(at)
    return f"{text[:i]} {text[i:]}"


def sounding(text: str, rng: random.Random) -> str:
    """One spelling that sounds alike."""
    text = text.lower()
    able = [(a, b) for a, b in SOUNDS if a in text]
    return text.replace(*rng.choice(able), 1) if able else text


WAYS: dict[str, Callable[[str, random.Random], str]] = {
    "as typed": lambda text, _: text,
    "upper case": lambda text, _: text.upper(),
    "lower case": lambda text, _: text.lower(),
    "one typo": lambda text, rng: typos(text, 1, rng),
    "two typos": lambda text, rng: typos(text, 2, rng),
    "a letter of each word": dropped,
    "two words as one": joined,
    "a word as two": divided,
    "sounds alike": sounding,
    "sounds alike, one typo": lambda text, rng: typos(sounding(text, rng), 1, rng),
}


def read(folder: Path) -> tuple[Gazetteer, list[Asked], int]:
    """The names of a set, its conversations that speak of what they ask about, and how many have a relevant document."""
    titles = {row["doc_id"]: row["title"] for row in json_lines(folder / "corpus.jsonl")}
    gazetteer = Gazetteer(names_of(titles.values()))
    found, count = [], 0
    for row in json_lines(folder / "queries.jsonl"):
        keys = [key_of(titles[doc_id]) for doc_id in row["relevant"]]
        turns = tuple(t["text"] for t in row["history"])
        linked = [(i, name) for i, text in enumerate(turns) for name in gazetteer.link(text)]
        places = tuple((i, name) for i, name in linked if any(k[: len(name.key)] == name.key for k in keys))
        count += bool(keys)
        found += [Asked(turns, places)] if places else []
    return gazetteer, found, count


def measure(
    gazetteer: Gazetteer, asked: list[Asked], way: Callable[[str, random.Random], str]
) -> tuple[float, float, float]:
    """Shares of conversations in which the name is linked, and found by its exact words; other names for each conversation."""
    rng = random.Random(SEED)
    linked = exact = others = 0
    for one in asked:
        hit = same = False
        for turn, name in one.places:
            text = one.turns[turn]
            said = way(text[name.start : name.end], rng)
            spoilt = text[: name.start] + said + text[name.end :]
            now = gazetteer.link(spoilt)
            end = name.start + len(said)
            there = {n.key for n in now if n.start < end and n.end > name.start}
            hit |= name.key in there
            same |= f" {' '.join(name.key)} " in f" {' '.join(key_of(said))} "
            others += len(there - {name.key})
        linked, exact = linked + hit, exact + same
    return linked / len(asked), exact / len(asked), others / len(asked)


def main() -> int:
    """Measure every set in every way, print."""
    folders = folders_with_corpus(Path(sys.argv[1])) if len(sys.argv) == 2 else []
    if not folders:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    for folder in folders:
        gazetteer, asked, count = read(folder)
        sys.stdout.write(
            f"{folder.name}: {len(gazetteer)} names; {len(asked)} of {count} conversations speak of one they ask about\n"
        )
        for name, way in WAYS.items():
            linked, exact, others = measure(gazetteer, asked, way)
            told = f"  {name:24} linked {linked:.3f}  exact words {exact:.3f}  other names there {others:.3f}"
            sys.stdout.write(f"{told}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
