"""The part of OData's filter language that our filters use, evaluated over a document as the service would."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Test = Callable[[dict[str, Any]], bool]
_TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<word>[\w./]+)|(?P<sign>[(),:]))")


class BadFilterError(ValueError):
    """A filter that the service would answer with status 400."""


def compiled(text: str) -> Test:
    """`text` as a test of documents. Knows and, eq, ne, gt, null, booleans, brackets, any() and search.in()."""
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadFilterError(f"not OData at {at}")
        tokens.append(match.group(match.lastgroup or 0))
        at = match.end()
    parser = _Parser(tokens)
    test = parser.either()
    if parser.tokens:
        raise BadFilterError(f"more than a filter: {parser.tokens[:3]}")
    return test


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def take(self, wanted: str | None = None) -> str:
        if not self.tokens or (wanted is not None and self.tokens[0] != wanted):
            raise BadFilterError(f"expected {wanted}, found {self.tokens[:1]}")
        return self.tokens.pop(0)

    def value(self) -> Any:
        token = self.take()
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        return {"null": None, "true": True, "false": False}[token]

    def either(self) -> Test:
        tests = [self.both()]
        while self.tokens[:1] == ["or"]:
            self.take()
            tests.append(self.both())
        return lambda d: any(test(d) for test in tests)

    def both(self) -> Test:
        tests = [self.one()]
        while self.tokens[:1] == ["and"]:
            self.take()
            tests.append(self.one())
        return lambda d: all(test(d) for test in tests)

    def one(self) -> Test:
        if self.tokens[:1] == ["("]:
            self.take()
            test = self.either()
            self.take(")")
            return test
        name = self.take()
        if name == "search.in":
            return self.among()
        if name.endswith("/any"):
            self.take("(")
            variable = self.take()
            self.take(":")
            inner = self.one()
            self.take(")")
            field = name.removesuffix("/any")
            return lambda d: any(inner({variable: item}) for item in d.get(field) or [])
        operator, value = self.take(), self.value()
        if operator == "gt":
            return lambda d: d.get(name) is not None and d[name] > value
        if operator not in ("eq", "ne"):
            raise BadFilterError(operator)
        return lambda d: (d.get(name) == value) == (operator == "eq")

    def among(self) -> Test:
        self.take("(")
        name = self.take()
        self.take(",")
        values = str(self.value())
        delimiters = " ,"
        if self.tokens[:1] == [","]:
            self.take()
            delimiters = str(self.value())
        self.take(")")
        allowed = set(re.split(f"[{re.escape(delimiters)}]", values)) - {""}
        return lambda d: d.get(name) in allowed
