"""The rest of a body written shorter, and as it was again: what the body says twice is left out, and rows of the same names become columns.

Nothing here knows what may be left out of a record: whatever `unfold` does not give back exactly must not be folded, and whoever folds
tries that (`rai.ledger.contents`). The form is part of the ledger: a change of it needs another name of the form, and the old one stays readable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

COLUMNS = "|"
"""The one name of an object that stands for a list of rows: its values by name, one a row."""
_LEAST_ROWS = 2
_HOLDING = (list, dict)
"""What JSON is read as that can hold something."""


class FoldingError(ValueError):
    """What was to be folded, or unfolded, is of another form."""


@dataclass(frozen=True)
class Known:
    """What the rest of a body is read beside. `ids`: of the passages that were found; `evidence`: the passages that were used; `texts`: by which a
    prompt is told, `evidence` not among them; `answer`: what was delivered.
    """

    ids: Sequence[Any] = ()
    evidence: Sequence[Mapping[str, Any]] = ()
    texts: Sequence[str] = ()
    answer: object = None

    def said(self, chunk_id: object, field: object, start: object, end: object) -> str | None:
        """What stands in a passage that was used, None where that is not known."""
        item = self._by_id.get(chunk_id) if isinstance(chunk_id, str) else None
        return None if item is None else cut(item.get(str(field)), start, end)

    @cached_property
    def _by_id(self) -> dict[Any, Mapping[str, Any]]:
        return {item["chunk_id"]: item for item in reversed(self.evidence) if isinstance(item.get("chunk_id"), str)}


def cut(text: object, start: object, end: object) -> str | None:
    """`text[start:end]`, None unless these are a text and two places in it."""
    if isinstance(text, str) and type(start) is int and type(end) is int and 0 <= start <= end <= len(text):
        return text[start:end]
    return None


def fold(rest: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """`rest` without what `known` tells again. Raises FoldingError for what could be read in two ways."""
    folded = _each(rest, _Folder(known))
    return {name: _columns(value) for name, value in folded.items()}


def unfold(folded: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """What was folded. Raises FoldingError for what no folding gave."""
    try:
        return _each({name: _rows(value) for name, value in folded.items()}, _Unfolder(known))
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise FoldingError(f"no folded body: {type(error).__name__}") from None


def _each(rest: Mapping[str, Any], worker: _Folder | _Unfolder) -> dict[str, Any]:
    """`rest` with its claims, grades and prompts as `worker` has them."""
    done = dict(rest)
    reply = done.get("reply")
    if isinstance(reply, dict):
        reply = done["reply"] = dict(reply)
        _change(reply, "claims", worker.claims(worker.known.answer))
        _change(reply, "grades", worker.grades)
        draft = reply.get("draft")
        if isinstance(draft, dict):
            reply["draft"] = draft = dict(draft)
            _change(draft, "claims", worker.claims(draft.get("text")))
    _change(done, "prompt", worker.prompt)
    again = done.get("regeneration")
    if isinstance(again, dict):
        done["regeneration"] = again = dict(again)
        _change(again, "prompt", worker.prompt)
    return done


def _change(where: dict[str, Any], name: str, change: Callable[[Any], Any]) -> None:
    if where.get(name):
        where[name] = change(where[name])


class _Folder:
    """Leaves out what is known."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._places = {i: n for n, i in reversed(list(enumerate(known.ids))) if isinstance(i, str)}
        texts = [*known.texts, *(item.get("text") for item in known.evidence)]
        self._texts = [(n, text) for n, text in enumerate(texts) if isinstance(text, str) and text]

    def claims(self, text: object) -> Callable[[Any], Any]:
        return lambda claims: [self._claim(claim, text) for claim in claims]

    def grades(self, grades: Any) -> Any:
        return [self._grade(grade) for grade in grades]

    def prompt(self, prompt: Any) -> Any:
        return {**prompt, "parts": [{**part, "text": self._pieces(part["text"])} for part in prompt["parts"]]}

    def _claim(self, claim: Any, text: object) -> Any:
        folded = dict(claim)
        if cut(text, claim["start"], claim["end"]) == claim["text"]:
            del folded["text"]
        folded["evidence"] = [self._span(span) for span in claim["evidence"]]
        if claim.get("instead"):
            folded["instead"] = self._span(claim["instead"])
        return folded

    def _span(self, span: Any) -> Any:
        folded = dict(span)
        if self.known.said(span["source"], span["field"], span["start"], span["end"]) == span["text"]:
            del folded["text"]
        folded["source"] = self._place(span["source"])
        return folded

    def _grade(self, grade: Any) -> Any:
        folded = {**grade, "id": self._place(grade["id"])}
        extract = grade.get("extract")
        if extract and self.known.said(grade["id"], "text", extract["start"], extract["end"]) == extract["text"]:
            folded["extract"] = {name: value for name, value in extract.items() if name != "text"}
        return folded

    def _place(self, chunk_id: Any) -> Any:
        return self._places.get(chunk_id, chunk_id)

    def _pieces(self, text: Any) -> Any:
        """A text as a list: numbers of the known texts, and what stands between them."""
        if not isinstance(text, str):
            raise FoldingError("a prompt's part is no text")
        pieces: list[str | int] = []
        at = 0
        stands = {n: text.find(known) for n, known in self._texts}
        while at < len(text):
            for n, known in self._texts:
                if 0 <= stands[n] < at:
                    stands[n] = text.find(known, at)
            found = [(stands[n], -len(known), n) for n, known in self._texts if stands[n] >= 0]
            start, size, number = min(found, default=(len(text), 0, -1))
            if start > at:
                pieces.append(text[at:start])
            if number >= 0:
                pieces.append(number)
            at = start - size
        return pieces


class _Unfolder:
    """Puts in again what is known."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._texts: list[Any] = [*known.texts, *(item.get("text") for item in known.evidence)]

    def claims(self, text: object) -> Callable[[Any], Any]:
        return lambda claims: [self._claim(claim, text) for claim in claims]

    def grades(self, grades: Any) -> Any:
        return [self._grade(grade) for grade in grades]

    def prompt(self, prompt: Any) -> Any:
        return {**prompt, "parts": [{**part, "text": self._joined(part["text"])} for part in prompt["parts"]]}

    def _claim(self, claim: Any, text: object) -> Any:
        whole = {"text": cut(text, claim["start"], claim["end"]), **claim}
        whole["evidence"] = [self._span(span) for span in claim["evidence"]]
        if claim.get("instead"):
            whole["instead"] = self._span(claim["instead"])
        return whole

    def _span(self, span: Any) -> Any:
        source = self._id(span["source"])
        return {"text": self.known.said(source, span["field"], span["start"], span["end"]), **span, "source": source}

    def _grade(self, grade: Any) -> Any:
        chunk_id = self._id(grade["id"])
        extract = grade.get("extract")
        if not extract:
            return {**grade, "id": chunk_id}
        said = self.known.said(chunk_id, "text", extract["start"], extract["end"])
        return {**grade, "id": chunk_id, "extract": {"text": said, **extract}}

    def _id(self, place: Any) -> Any:
        return self.known.ids[place] if type(place) is int else place

    def _joined(self, pieces: Any) -> str:
        return "".join(self._texts[piece] if isinstance(piece, int) else piece for piece in pieces)


def _columns(value: Any) -> Any:
    """`value` with each list of rows that have the same names as columns."""
    if isinstance(value, dict):
        if COLUMNS in value:
            raise FoldingError(f"an object has the name {COLUMNS!r}")
        return {name: _columns(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    items = [_columns(item) for item in value]
    if len(items) < _LEAST_ROWS or not all(isinstance(item, dict) and item for item in items):
        return items
    names = items[0].keys()
    if any(item.keys() != names or COLUMNS in item for item in items):
        return items
    return {COLUMNS: {name: [item[name] for item in items] for name in names}}


def _rows(value: Any) -> Any:
    """`value` with columns as the rows that they were. Only what can hold columns is looked into: of a turn's thousands of values few do."""
    if type(value) is list:
        return [_rows(item) if type(item) in _HOLDING else item for item in value]
    if type(value) is not dict:
        return value
    if COLUMNS not in value:
        return {name: _rows(inner) if type(inner) in _HOLDING else inner for name, inner in value.items()}
    columns = value[COLUMNS]
    names, lists = list(columns), [_rows(column) for column in columns.values()]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]
