"""The lexicon: words and phrases that turn, bound or order what is said, in eight languages, and their places in a text.

A concept is a file beside this module: `concept.tsv`, a row a key, a column a language, phrases in a cell parted by "|"; a word that ends
in "*" stands for all that begin with it. A key of `opposites` has two parts, the scale and its side ("cost/free", "cost/charged").

A text is read once for all concepts, word by word, and the longest phrase that begins at a word wins over all shorter ones, those of other
concepts too: "no later than" is a bound and no negation, "not only" negates nothing. Offsets are those of the text. Time is linear in
the text: a phrase has at most `LONGEST` words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from grounding.text import fold

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl")
"""The languages of the tables, as ISO 639-1 codes, in the order of their columns."""
CONCEPTS = tuple(
    "bounds bounds_behind past negation opposites hedges conditions universals frequency derivation order "
    "qualifiers".split()
)
LONGEST = 6
"""Most words of a phrase."""
_WORD = re.compile(r"[^\W_]+|%")
_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase of a concept at `text[start:end]`, half open, in code points; `key`: which row of its concept."""

    concept: str
    key: str
    start: int
    end: int

    @property
    def scale(self) -> str:
        """The scale that an opposite is a side of: "cost" of "cost/free"."""
        return self.key.partition("/")[0]


@dataclass(slots=True)
class _Node:
    """A place in the tree of phrases. `beginnings`: of words, by their length. `means`: concepts and keys of the phrase that ends here."""

    words: dict[str, _Node] = field(default_factory=dict)
    beginnings: dict[int, dict[str, _Node]] = field(default_factory=dict)
    means: list[tuple[str, str]] = field(default_factory=list)

    def after(self, word: str) -> list[_Node]:
        """The places in the tree that a word leads to from here: as itself, and by its beginnings."""
        found = [self.words[word]] if word in self.words else []
        found += [longer[word[:size]] for size, longer in self.beginnings.items() if word[:size] in longer]
        return found


@cache
def rows(concept: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """The phrases of a concept by key and language. Raises ValueError naming the file and line that is malformed."""
    text = files(__package__).joinpath(f"{concept}.tsv").read_text("utf-8")
    head, *lines = text.splitlines()
    if head.split("\t") != ["key", *LANGUAGES]:
        raise ValueError(f"{concept}.tsv, line 1: the columns are not key, {', '.join(LANGUAGES)}")
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for number, line in enumerate(lines, 2):
        key, *cells = line.split("\t")
        if len(cells) != len(LANGUAGES) or key in found:
            raise ValueError(f"{concept}.tsv, line {number}: a key of its own and {len(LANGUAGES)} cells are needed")
        found[key] = {code: tuple(cell.split("|")) for code, cell in zip(LANGUAGES, cells, strict=True)}
    return found


@cache
def pattern(concept: str, key: str, *, parts: bool = False) -> re.Pattern[str]:
    """A pattern that finds any phrase of a key, of every language, as whole words; with `parts` also as the beginning of longer ones."""
    phrases = {phrase for cell in rows(concept)[key].values() for phrase in cell}
    every = "|".join(re.escape(p) for p in sorted(phrases, key=lambda p: (-len(p), p)))
    return re.compile(rf"\b(?:{every})" + ("" if parts else r"\b"), re.IGNORECASE)


def cues(text: str, language: str = "en") -> tuple[Cue, ...]:
    """Every phrase of `text`, from left to right; where phrases overlap, the one that begins first and is longest.

    One phrase that stands in several concepts gives a cue for each. A language without a column is read as English.
    """
    return _cues(text, language if language in LANGUAGES else "en")


@lru_cache(maxsize=8192)
def _cues(text: str, language: str) -> tuple[Cue, ...]:
    words = [(m.start(), m.end(), m.group()) for m in _WORD.finditer(fold(text).lower())]
    found: list[Cue] = []
    until = 0
    for at, (start, _, word) in enumerate(words):
        if at < until or not (nodes := _first(language, word)):
            continue
        length, means = _longest(nodes, words, at)
        found += [Cue(concept, key, start, words[at + length - 1][1]) for concept, key in means]
        until = at + length
    return tuple(found)


@lru_cache(maxsize=32768)
def _first(language: str, word: str) -> tuple[_Node, ...]:
    """Where the phrases that begin with a word begin."""
    return tuple(_tree(language).after(word))


def of_concept(concept: str, text: str, language: str = "en") -> tuple[Cue, ...]:
    """The cues of one concept in a text."""
    return tuple(cue for cue in cues(text, language) if cue.concept == concept)


def _longest(
    nodes: Sequence[_Node], words: Sequence[tuple[int, int, str]], at: int
) -> tuple[int, list[tuple[str, str]]]:
    """How many words the longest phrase from `at` on has, and what it means; 0 and nothing if none ends. `nodes`: after its first word."""
    best, means = 0, list[tuple[str, str]]()
    for length in range(1, LONGEST + 1):
        told = [meaning for node in nodes for meaning in node.means]
        if told:
            best, means = length, list(dict.fromkeys(told))
        if at + length == len(words):
            break
        nodes = [after for node in nodes for after in node.after(words[at + length][2])]
        if not nodes:
            break
    return best, means


@cache
def _tree(language: str) -> _Node:
    root = _Node()
    for concept in CONCEPTS:
        for key, cells in rows(concept).items():
            for phrase in cells[language]:
                for spelt in {phrase, phrase.translate(_SPELT) if language == "de" else phrase}:
                    _plant(root, spelt, (concept, key))
    return root


def _plant(root: _Node, phrase: str, means: tuple[str, str]) -> None:
    node = root
    for word in _WORD.finditer(fold(phrase).lower()):
        begins = phrase[word.end() : word.end() + 1] == "*"
        found = node.beginnings.setdefault(len(word.group()), {}) if begins else node.words
        node = found.setdefault(word.group(), _Node())
    node.means.append(means)
