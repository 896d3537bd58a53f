"""Random companies for the test of trimming: people, groups, documents with words that stand nowhere else, and who may
read what, decided by the plainest rule that can be written down.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

GROUPS = ("billing", "Billing", "hr", "legal", "*", "g:hr", "everyone", "nobody", "p:Wren", "ärzte", "b i l l")
"""Some are named like the signs that an index could use, or differ by case alone."""
TOPICS = ("refund", "warranty", "delivery", "battery", "deposit", "invoice")
PRODUCTS = ("Wren", "Heron")
UNKNOWN = "mallory"
WORD = re.compile(r"zx(?:[bdfgklmnprstv][aeiou]){5}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Article:
    """A document. `name` may be said by anyone; `secret` stands in its id, address, title and text, and is never said."""

    name: str
    secret: str
    topic: str
    groups: tuple[str, ...] | None
    product: str | None
    internal: bool
    price: int

    @property
    def doc_id(self) -> str:
        return f"{self.secret}.md"

    @property
    def text(self) -> str:
        return (
            f"The {self.topic} of {self.name} is called {self.secret}. It costs €{self.price}.50 and takes"
            f" {self.price} days.\n\nAsk {self.secret.capitalize()} Limited about the {self.topic} of {self.name}:"
            f" {self.secret}@example.com, or https://{self.secret}.example/help."
        )

    def row(self) -> dict[str, object]:
        fields: dict[str, object] = {
            "doc_id": self.doc_id,
            "title": f"The {self.topic} of {self.name} ({self.secret})",
            "text": self.text,
            "url": f"https://kb.example/{self.secret}",
            "internal": self.internal,
        }
        if self.product is not None:
            fields["product"] = self.product
        if self.groups is not None:
            fields["groups"] = list(self.groups)
        return fields


@dataclass(frozen=True, slots=True)
class Company:
    """Who belongs to which groups, and the documents."""

    people: dict[str, tuple[str, ...]]
    articles: tuple[Article, ...]

    def readable(self, user: str | None, product: str | None = None) -> tuple[Article, ...]:
        """The plain reference: everyone reads what has no groups; else one group must be shared; a product narrows."""
        mine = self.people.get(user, ()) if user is not None else ()
        return tuple(
            a
            for a in self.articles
            if (a.groups is None or any(group in mine for group in a.groups))
            and (product is None or a.product is None or a.product == product)
        )

    def readable_by(self, people: dict[str, tuple[str, ...]], user: str | None) -> tuple[Article, ...]:
        """What `user` may read of these documents with the groups that `people` says."""
        return Company(people, self.articles).readable(user)

    def write(self, corpus: Path, directory: Path) -> None:
        """As the files that an ingest and a directory read."""
        corpus.write_text("".join(json.dumps(a.row(), ensure_ascii=False) + "\n" for a in self.articles), "utf-8")
        users = {user: list(groups) for user, groups in self.people.items()}
        directory.write_text(yaml.safe_dump({"users": users}, allow_unicode=True), "utf-8")

    def changed(self, draw: random.Random) -> Company:
        """The same documents after a reorganisation: rights redrawn for many, some gone, people in other groups."""
        kept = [a for a in self.articles if draw.random() > 0.1]
        moved = [replace(a, groups=rights(draw)) if draw.random() < 0.6 else a for a in kept]
        people = {user: members(draw) if draw.random() < 0.4 else groups for user, groups in self.people.items()}
        return Company(people, tuple(moved))


def company(draw: random.Random, people: int, articles: int) -> Company:
    """A company drawn at random; no two of its words are the same."""
    words = [word(draw) for _ in range(2 * articles)]
    assert len(set(words)) == len(words)
    drawn = (article(draw, name, secret) for name, secret in zip(words[::2], words[1::2], strict=True))
    return Company({f"user{n}": members(draw) for n in range(people)}, tuple(drawn))


def article(draw: random.Random, name: str, secret: str) -> Article:
    product = draw.choice((None, *PRODUCTS))
    return Article(name, secret, draw.choice(TOPICS), rights(draw), product, draw.random() < 0.15, draw.randint(3, 80))


def rights(draw: random.Random) -> tuple[str, ...] | None:
    """Everyone, nobody, or one to three groups."""
    kind = draw.random()
    if kind < 0.25:
        return None
    return () if kind < 0.35 else tuple(draw.sample(GROUPS, draw.randint(1, 3)))


def members(draw: random.Random) -> tuple[str, ...]:
    return tuple(draw.sample(GROUPS, draw.choice((0, 1, 1, 2, 3))))


def word(draw: random.Random) -> str:
    return "zx" + "".join(draw.choice("bdfgklmnprstv") + draw.choice("aeiou") for _ in range(5))


def misspelt(draw: random.Random, name: str) -> str:
    """`name` with one letter doubled, as a person or a recogniser of speech may write it."""
    at = draw.randrange(3, len(name))
    return name[:at] + name[at] + name[at:]


def words_of(text: str) -> frozenset[str]:
    """Every word of a document's own that `text` holds, whatever its case."""
    return frozenset(found.lower() for found in WORD.findall(text))


def own_words(articles: Iterable[Article]) -> frozenset[str]:
    return frozenset(w for a in articles for w in (a.name, a.secret))
