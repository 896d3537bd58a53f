"""What is said in many turns, stored once: a body split into what is its own and the contents that it refers to, and put together again.

An entry of kind `content` holds one value, such as a policy, a passage, the fixed part of a prompt. A turn refers to it by the number of its
entry, which stands before it in the same chain. The places of references are known by their names, never looked for: no value of a body is
taken for a reference. What is left is written short (`rai.ledger.folding`) and deflated; SHA-256 of the whole body stands with it. What a
body comes to when it is put together is tried before it is stored, so `join` after `split` gives the same body for every body.

    {"schema": 2, "ask": …, "reply": …, "stored": {"form": 1, "policy": 12, "evidence": [15, 16], …, "sha256": …, "rest": …}}

`rest` is base 85 (the alphabet of RFC 1924, which JSON escapes nothing of) of raw DEFLATE with a dictionary (`_dictionary`) that holds nothing but contents and what stands beside `stored`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import string
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from grounding.errors import StoreError
from rai.entry_schema import NAME, ONCE, SCHEMA, STORED, Once
from rai.ledger.chain import canonical
from rai.ledger.folding import FoldingError, Known, fold, unfold

CONTENT = "content"
"""The kind of an entry that holds one value."""
FORM = 1
"""The form of what stands under `stored`."""
MASK = "█"
"""What was masked is never a content: where it stands would tell, beside the text as it is elsewhere, what it hides."""
UNREADABLE = "unreadable"
"""The name under which a body says that it cannot be put together, and why."""
_CONTENT_TEXT = re.compile(rf'{{"{NAME}":{SCHEMA},"sha256":"([0-9a-f]{{64}})","value":')
_MASKED = json.dumps(MASK)[1:-1]
_ROWS = 4_096
"""Rows whose SHA-256 is remembered: the same passages are found again and again."""
_LEAST = 1_000
"""Characters of a body from which on it is split."""
_LEAST_TEXT = 100
"""Characters of a prompt's part from which on it is a content."""
_LEVEL = 6
"""Of DEFLATE: 9 saves one byte in a hundred and takes half as long again."""
_WINDOW = 32_768
"""Bytes that DEFLATE looks back."""
REST_MAX = 64 << 20
"""Bytes that a rest may come to."""
_ALPHABET = (string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~").encode(
    "ascii"
)
"""Of base 85, in the order of its digits (RFC 1924)."""
_DIGITS = bytes(_ALPHABET.find(byte) % 256 for byte in range(256))
"""By character its digit, 255 for those that it does not have."""
_GROUP = 5
"""Characters of base 85 that stand for four bytes."""
_WORDS = "words"
_PARTS = "prompt"
_OF_ANOTHER_SHAPE = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    RecursionError,
    StoreError,
    zlib.error,
)
"""What reading raises of something that is not what it is taken for; a `FoldingError` is among them."""


@dataclass(frozen=True, slots=True)
class Split:
    """A body in parts. `contents`: values by their SHA-256, in the order in which they are first needed; `body`: what is the entry's own; `places`: the
    SHA-256 of the content, or of each row's, by the name of the place that refers to it.
    """

    contents: Mapping[str, Any]
    body: Mapping[str, Any]
    places: Mapping[str, Any]

    def referring(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """The body that is stored. `numbers`: of the entries that hold the contents, by SHA-256."""
        stored = {**self.body[STORED], **_mapped(self.places, numbers.__getitem__)}
        return {**self.body, STORED: stored}


def sha256_of(value: Any) -> str:
    """SHA-256 of a value's one spelling, in hex."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def split(body: Mapping[str, Any], kind: str) -> Split | None:
    """The parts of a body that was masked; None for one that is stored as it is. `body` is JSON as it is read, without tuples."""
    once = ONCE.get(kind)
    if once is None or body.get(NAME) != SCHEMA:
        return None
    text = canonical(dict(body))
    if len(text) < _LEAST and STORED not in body:
        return None
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    try:
        return _split(body, kind, digest)
    except _OF_ANOTHER_SHAPE:
        return _plainly(text, digest)  # another shape than that of a turn: it is only deflated


def content_body(value: Any) -> dict[str, Any]:
    """The body of the entry that holds a content."""
    return {NAME: SCHEMA, "sha256": sha256_of(value), "value": value}


def named_in(text: object) -> str | None:
    """The SHA-256 of the value in the body of a content as it is stored; None where the text is any other."""
    begun = _CONTENT_TEXT.match(text) if isinstance(text, str) else None
    if begun is None or not isinstance(text, str):
        return None
    value = text[begun.end() : -1].encode("utf-8", "replace")
    return begun[1] if hashlib.sha256(value).hexdigest() == begun[1] and text.endswith("}") else None


def is_split(body: Mapping[str, Any], kind: str) -> bool:
    """True if a stored body of this kind refers to contents."""
    return kind in ONCE and body.get(NAME) == SCHEMA and STORED in body


def numbers_in(body: Mapping[str, Any]) -> Iterator[int]:
    """The numbers of the entries that a stored body refers to."""
    stored = body.get(STORED)
    if isinstance(stored, Mapping):
        yield from (n for value in _places_of(stored).values() for n in _flat(value) if type(n) is int)


def join(
    body: Mapping[str, Any], kind: str, values: Mapping[int, Any], spelled: Callable[[int], str] | None = None
) -> dict[str, Any]:
    """The body as it was before it was split. `values`: the contents by the numbers of their entries; `spelled`: the one spelling of such a value, for whoever
    puts many bodies together and keeps it.

    Where a content is gone, or anything is not what was recorded, the body is what can still be read, and says so as `unreadable`.
    """
    if not is_split(body, kind):
        return dict(body)
    try:
        return _joined(body, kind, values, spelled or (lambda number: canonical(values[number])))
    except _GoneError as error:
        why = f"the content in entry {error} that this entry refers to is gone"
    except _OF_ANOTHER_SHAPE:
        why = "what this entry refers to is not what was recorded; see attest ledger verify"
    return _what_is_left(body, kind, values, why)


class _GoneError(Exception):
    """A content that a body refers to is not there."""


def _split(body: Mapping[str, Any], kind: str, digest: str) -> Split:
    """The parts of a body of the shape that its schema tells. Raises one of _OF_ANOTHER_SHAPE for any other."""
    once, rest = ONCE[kind], dict(body)
    if STORED in rest or UNREADABLE in rest:
        raise FoldingError("a name that is not its own")
    contents: dict[str, Any] = {}
    places: dict[str, Any] = {}

    def content(value: Any, named: str | None = None) -> str | None:
        named = _named(value) if named is None else named
        if not named:
            return None
        contents.setdefault(named, value)
        return named

    places[_WORDS] = content(words())
    places[_PARTS] = [named for head in _heads(body, once) if (named := content(head)) is not None]
    for path in once.whole:
        inside, _, name = path.rpartition(".")
        holder = rest.get(inside) if inside else rest
        if isinstance(holder, dict) and holder.get(name) and (named := content(holder[name])) is not None:
            if inside:
                holder = rest[inside] = dict(holder)
            del holder[name]
            places[path] = named
    for path, names in once.rows.items():
        if rest.get(path):
            places[path], rest[path] = _split_rows(rest[path], names, content)
    clear = _cleared(rest, once)
    known, dictionary = _beside(places, contents.__getitem__, clear, lambda named: canonical(contents[named]))
    packed = _deflated(canonical(fold(rest, known)), dictionary)
    made = Split(contents, {**clear, STORED: {"form": FORM, "sha256": digest, "rest": packed}}, places)
    numbers = {named: number for number, named in enumerate(contents, start=1)}
    values = {numbers[named]: value for named, value in contents.items()}
    _joined(made.referring(numbers), kind, values, lambda number: canonical(values[number]))  # or it raises
    return made


def _named(value: Any) -> str:
    """The SHA-256 by which a value is known as a content; empty for one that is none."""
    text = canonical(value)
    return "" if value is None or _MASKED in text else hashlib.sha256(text.encode("ascii")).hexdigest()


@lru_cache(maxsize=_ROWS, typed=True)  # typed: 1 and true are not the same value
def _named_row(names: tuple[str, ...], *values: str | int | float | None) -> str:
    return _named(dict(zip(names, values, strict=True)))


def _plainly(text: str, digest: str) -> Split:
    return Split({}, {NAME: SCHEMA, STORED: {"form": FORM, "sha256": digest, "rest": _deflated(text, b"")}}, {})


def _heads(body: Mapping[str, Any], once: Once) -> Iterator[str]:
    """The fixed parts of the prompt: what stands before the first quotation of the turn."""
    prompt = body.get("prompt")
    if not isinstance(prompt, dict):
        return
    marker = prompt["marker"]
    for part in prompt["parts"] if marker else ():  # without one nobody can tell where a quotation begins
        head = part["text"].partition(marker)[0]
        if part["name"] in once.parts and len(head) >= _LEAST_TEXT:
            yield head


def _split_rows(
    rows: Sequence[Any], names: tuple[str, ...], content: Callable[[Any, str], str | None]
) -> tuple[list[str | None], list[Any]]:
    """Of each row the content, and what is its own. A row that cannot be one stays whole."""
    places: list[str | None] = []
    own: list[Any] = []
    for row in rows:
        known = row.keys() >= set(names)
        place = content({name: row[name] for name in names}, _named_row(names, *map(row.get, names))) if known else None
        places.append(place)
        own.append(row if place is None else {name: value for name, value in row.items() if name not in names})
    return places, own


def _cleared(rest: dict[str, Any], once: Once) -> dict[str, Any]:
    """What stands in the clear, taken out of `rest`: it is what it says of all that has a value."""
    clear: dict[str, Any] = {NAME: rest.pop(NAME)}
    for name, inner in once.clear.items():
        value = rest.get(name)
        if inner is None and value:
            clear[name] = rest.pop(name)
        elif inner is not None and isinstance(value, dict):
            clear[name] = {each: value[each] for each in inner if value.get(each)}
            rest[name] = {each: v for each, v in value.items() if each not in clear[name]}
    return {name: value for name, value in clear.items() if value}


def _joined(
    body: Mapping[str, Any], kind: str, values: Mapping[int, Any], spelled: Callable[[int], str]
) -> dict[str, Any]:
    once, stored = ONCE[kind], body[STORED]
    if stored.get("form") != FORM:
        raise FoldingError("another form")

    def value(number: int) -> Any:
        if number not in values:
            raise _GoneError(number)
        return values[number]

    places = _places_of(stored)
    if not places:
        whole: dict[str, Any] = json.loads(_inflated(stored["rest"], b""))
    else:
        clear = {name: inner for name, inner in body.items() if name != STORED}
        known, dictionary = _beside(places, value, clear, spelled)
        whole = unfold(json.loads(_inflated(stored["rest"], dictionary)), known)
        _put_back(whole, once, places, value)
        for name, inner in clear.items():
            whole[name] = {**whole[name], **inner} if isinstance(whole.get(name), dict) else inner
    text = canonical(whole)
    if hashlib.sha256(text.encode("ascii")).hexdigest() != stored["sha256"]:
        raise FoldingError("it is not what was recorded")
    again: dict[str, Any] = json.loads(text)  # in the order of names that a body has which was stored whole
    return again


def _put_back(whole: dict[str, Any], once: Once, places: Mapping[str, Any], value: Callable[[Any], Any]) -> None:
    """The contents where they were taken from."""
    for path in filter(places.__contains__, once.rows):
        rows = zip(places[path], whole[path], strict=True)
        whole[path] = [own if place is None else {**value(place), **own} for place, own in rows]
    for path in filter(places.__contains__, once.whole):
        inside, _, name = path.rpartition(".")
        (whole[inside] if inside else whole)[name] = value(places[path])


def _what_is_left(body: Mapping[str, Any], kind: str, values: Mapping[int, Any], why: str) -> dict[str, Any]:
    """What stands in the clear, and each content that is there."""
    left: dict[str, Any] = {
        name: dict(value) if isinstance(value, dict) else value for name, value in body.items() if name != STORED
    }
    left[UNREADABLE] = why
    places = _places_of(body[STORED]) if isinstance(body[STORED], Mapping) else {}
    there = {
        path: [values[n] for n in _flat(place) if type(n) is int and n in values] for path, place in places.items()
    }
    for path in ONCE[kind].whole:
        inside, _, name = path.rpartition(".")
        holder = left.setdefault(inside, {}) if inside else left
        if there.get(path) and isinstance(holder, dict):
            holder[name] = there[path][0]
    left |= {path: there[path] for path in ONCE[kind].rows if path in there}
    return left


def _beside(
    places: Mapping[str, Any], value: Callable[[Any], Any], clear: Mapping[str, Any], spelled: Callable[[Any], str]
) -> tuple[Known, bytes]:
    """What the rest is read beside, and the dictionary that it is deflated with."""
    used = places.get("evidence", ())
    evidence = [{} if place is None else value(place) for place in used]
    ids = [None if place is None else value(place)["chunk_id"] for place in places.get("passages", ())]
    heads = [value(place) for place in places.get(_PARTS, ())]
    reply = clear.get("reply")
    known = Known(ids, evidence, heads, reply.get("answer") if isinstance(reply, Mapping) else None)
    spellings = ["{}" if place is None else spelled(place) for place in used]
    return known, _dictionary(value(places[_WORDS]), ids, spellings, clear)


def _dictionary(common: str, ids: Sequence[Any], evidence: Sequence[str], clear: Mapping[str, Any]) -> bytes:
    """What the rest is likely to repeat; what is nearest to its end is cheapest. `evidence`: passages, each spelled."""
    # the one spelling of {"clear": …, "evidence": […], "ids": …}, of which the passages are not spelled for each turn that used them
    beside = f'{{"clear":{canonical(dict(clear))},"evidence":[{",".join(evidence)}],"ids":{canonical(list(ids))}}}'
    return (common + beside).encode("ascii")[-_WINDOW:]


def _deflated(text: str, dictionary: bytes) -> str:
    raw = text.encode("ascii")
    options = (_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY)
    packer = zlib.compressobj(*options, dictionary) if dictionary else zlib.compressobj(*options)
    return base64.b85encode(packer.compress(raw) + packer.flush()).decode("ascii")


def _inflated(packed: str, dictionary: bytes) -> str:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS, dictionary)
    text = unpacker.decompress(from_base_85(packed), REST_MAX)
    if not unpacker.eof or unpacker.unused_data:
        raise FoldingError("more or less than a rest")
    return text.decode("ascii")


def from_base_85(text: str) -> bytes:
    """What `base64.b85decode` gives of a text, in less than half the time: that walks through the characters in Python, and a turn has thousands. Raises ValueError."""
    raw = text.encode("ascii")
    if raw.translate(None, _ALPHABET):
        raise ValueError("a character that base 85 does not have")
    left = -len(raw) % _GROUP
    digits = (raw + b"~" * left).translate(_DIGITS)
    groups = zip(*(digits[at::_GROUP] for at in range(_GROUP)), strict=True)
    numbers = [(((a * 85 + b) * 85 + c) * 85 + d) * 85 + e for a, b, c, d, e in groups]
    try:
        return struct.pack(f">{len(numbers)}I", *numbers)[: len(numbers) * 4 - left]
    except struct.error:
        raise ValueError("five characters of base 85 that are more than four bytes") from None


def _places_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stored.items() if name not in ("form", "sha256", "rest")}


def _mapped(places: Mapping[str, Any], number: Callable[[str], int]) -> dict[str, Any]:
    return {
        name: [None if p is None else number(p) for p in place] if isinstance(place, list) else number(place)
        for name, place in places.items()
    }


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def words() -> str:
    """What rests are made of, from one turn over the sample: a content too, so that nobody needs this program to read a ledger."""
    return files("rai.ledger").joinpath("words.txt").read_text("ascii").strip()
