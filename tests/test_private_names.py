"""No test reaches a private name of the packages: what a test asks, a caller could ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "grounding", "rai", "tools")
TESTS = sorted(p.relative_to(ROOT) for p in (ROOT / "tests").rglob("*.py"))
BY_NAME = {"getattr", "setattr", "delattr", "hasattr"}
"""Calls that take an attribute's name as a string, whether alone or as methods of a patching fixture."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def defined(tree: ast.AST, owner: str = "") -> Iterator[str]:
    """Private names that this code defines: functions, classes, variables, attributes; `__x` as its class `owner` mangles it."""
    for node in ast.iter_child_nodes(tree):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
        if is_private(name):
            yield f"_{owner.lstrip('_')}{name}" if name.startswith("__") else name
        yield from defined(node, node.name if isinstance(node, ast.ClassDef) else owner)


@cache
def private_names(folder: str = "") -> frozenset[str]:
    """Those that modules of the packages define, or one module of them."""
    files = [ROOT / folder] if folder else [p for room in PACKAGES for p in (ROOT / room).rglob("*.py")]
    return frozenset(name for p in files for name in defined(ast.parse(p.read_text("utf-8"))))


def imported(tree: ast.Module) -> dict[str, str]:
    """Names that a test has from the packages, each with the file of its module."""
    return {
        alias.asname or alias.name: f"{node.module.replace('.', '/')}.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES
        for alias in node.names
    }


def reached(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and the private names of the packages that they reach."""
    ours = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            yield from ((node.lineno, alias.name) for alias in node.names if is_private(alias.name))
        elif isinstance(node, ast.Attribute) and node.attr in private_names():
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and called(node.func) in BY_NAME:
            for given in node.args:
                if isinstance(given, ast.Constant) and str(given.value).rpartition(".")[2] in private_names():
                    yield node.lineno, str(given.value)
        elif isinstance(node, ast.ClassDef):
            bases = [ours[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in ours]
            theirs = {name for base in bases if (ROOT / base).is_file() for name in private_names(base)}
            yield from ((node.lineno, name) for name in sorted(theirs & own_names(node)))


def called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def own_names(node: ast.ClassDef) -> set[str]:
    """What a class defines, and what it asks of itself: a class of the packages above it may have the same."""
    asked = (n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and ast.unparse(n.value) in ("self", "cls"))
    return {*asked, *defined(node)}


def test_no_test_reaches_a_private_name() -> None:
    for path in TESTS:
        found = list(reached(ast.parse((ROOT / path).read_text("utf-8"))))
        assert not found, "; ".join(f"{path}:{line} reaches {name}" for line, name in found)


GUARD = "from grounding.ingest.readers.guarded.guard import Guard\n"


@pytest.mark.parametrize(
    "code",
    [
        "from bot.cli import _usage",
        f"{GUARD}Guard()._stop()",
        f"{GUARD}Guard()._limits = None",
        f"{GUARD}class Own(Guard):\n    def _start(self): ...",
        f"{GUARD}class Own(Guard):\n    def more(self): self._child.end()",
        f"{GUARD}class Own(Guard):\n    def more(self): super()._stop()",
        f"{GUARD}getattr(Guard(), '_stop')()",
        "def test(monkeypatch): monkeypatch.setattr('grounding.tokens._bisect', len)",
        "def test(monkeypatch, guard): monkeypatch.setattr(guard, '_limits', None)",
        "screened._ScreenedModel__call('')",
    ],
)
def test_each_way_to_reach_one_is_seen(code: str) -> None:
    assert list(reached(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        f"{GUARD}Guard().read(b'', 'a')",
        "class Own:\n    def __init__(self): self._limits = 1",
        "import os\nos._exit(0)",
        "Thing().__class__",
        f"{GUARD}class Own(Guard):\n    def __init__(self): self._seen = []",
    ],
)
def test_what_is_a_tests_own_is_not(code: str) -> None:
    assert not list(reached(ast.parse(code)))
