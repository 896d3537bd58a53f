"""The rules of the house, held by reading every file: who may import whom, who may read the environment, who names adapters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = {"grounding": 0, "rai": 1, "bot": 2}
FILES = sorted(p.relative_to(ROOT) for room in ORDER for p in (ROOT / room).rglob("*.py"))
MODULES = {".".join(p.with_suffix("").parts).removesuffix(".__init__"): p for p in FILES}
REMOTE_SDKS = ("openai", "azure", "httpx", "httpx2")
WEB_SDKS = ("serpapi", "httpx2")
SIGN_IN = Path("bot/review/signin/provider.py")
CHANNEL_SDKS = {
    "botbuilder": Path("bot/teams/transports/botbuilder.py"),
    "botframework": Path("bot/teams/transports/botbuilder.py"),
    "msrest": Path("bot/teams/transports/botbuilder.py"),
    "microsoft_agents": Path("bot/teams/transports/agents_sdk.py"),
}
"""By the name of a package of a channel's SDK the one module that imports it."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module: read once, asked by many rules."""
    return tuple(ast.walk(tree(path)))


@cache
def imports(path: Path) -> tuple[tuple[ast.stmt, str], ...]:
    """Every import statement with the full name of what it imports."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[ast.stmt, str]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def room(path: Path) -> str:
    return path.parts[0]


def test_imports_go_one_way() -> None:
    """A package imports itself and what stands lower: bot -> rai -> grounding."""
    for path in FILES:
        for _, name in imports(path):
            other = name.split(".")[0]
            if other in ORDER:
                assert ORDER[other] <= ORDER[room(path)], f"{path} imports {name}, which stands higher"


def test_nothing_imports_in_a_circle() -> None:
    """The graph of our modules has no cycle, counting imports inside functions too."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        named = {n for _, n in imports(path)}
        graph[module] = {m for n in named for m in (n, n.rsplit(".", 1)[0]) if m in MODULES and m != module}
        graph[module] = {m for m in graph[module] if (ROOT / MODULES[m]).name != "__init__.py"}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in sorted(graph[module]):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def folder_of(module: str) -> str:
    """The folder below its package that a module is in, with its sub-folders; a module of the package's top level is its own."""
    parts = module.split(".")
    return ".".join(parts[:2])


def test_no_folders_import_each_other_in_a_circle() -> None:
    """Folders of a package, each with its sub-folders, can be put in an order in which every one imports those before it alone."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        named = {m for _, n in imports(path) for m in (n, n.rsplit(".", 1)[0]) if m in MODULES}
        graph.setdefault(folder_of(module), set()).update(folder_of(m) for m in named if m.count("."))
    left = {folder: others - {folder} for folder, others in graph.items()}
    while free := [folder for folder, others in left.items() if not others & left.keys()]:
        for folder in free:
            del left[folder]
    assert not left, f"these import each other: {sorted(left)}"


def test_no_sibling_folders_import_each_other_in_a_circle() -> None:
    """Nor do the folders inside a folder; those of `rai/check/` keep to the order below."""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        if len(path.parts) > 3 and path.parts[:2] != ("rai", "check"):
            own = ".".join(path.parts[:3])
            names = {".".join(name.split(".")[:3]) for _, name in imports(path)}
            graph.setdefault(own, set()).update(names)
    left = {own: {n for n in names if n in graph and n != own} for own, names in graph.items()}
    while free := [own for own, names in left.items() if not names & left.keys()]:
        for own in free:
            del left[own]
    assert not left, f"these import each other: {sorted(left)}"


CHECK = [
    {"lexicon"},
    {"comparison"},
    {"reading"},
    {"context", "roles", "operands", "contact_sources"},
    {"surroundings"},
    {"answer"},
    {"phrasing"},
    {"quoted", "statements", "places", "names"},
    {"rules"},
    {"working"},
    {"catalogue", "value_rules"},
    {"match"},
    {"judging", "repair"},
    {"verdict"},
    {"provenance"},
]
"""The folders and modules of `rai/check/`, each of which imports itself and those before it: texts are read before they are compared, rules decide what is read."""


def test_the_check_reads_in_one_direction() -> None:
    """A folder of the check imports no folder behind it, and each is known here."""
    for path in (p for p in FILES if p.parts[:2] == ("rai", "check")):
        if len(path.parts) == 3 and path.name == "__init__.py":
            continue
        floor = {name: n for n, names in enumerate(CHECK) for name in names}
        own = path.parts[2].removesuffix(".py")
        assert own in floor, f"{path}: say in CHECK what it may import"
        for _, name in imports(path):
            parts = name.split(".")
            if parts[:2] == ["rai", "check"] and len(parts) > 2 and parts[2] != own:
                assert floor[parts[2]] < floor[own], f"{path} imports {name}, which does not stand before it"


def test_packages_are_not_facades() -> None:
    """An `__init__.py` is empty."""
    for path in (p for p in FILES if p.name == "__init__.py"):
        assert (ROOT / path).read_text("utf-8").strip() == "", path


def late_imports(path: Path) -> list[str]:
    functions = [n for n in nodes(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = [(f.lineno, f.end_lineno or f.lineno) for f in functions]
    lines = {n.lineno for n, _ in imports(path)}
    return [f"{path}:{line}" for line in sorted(lines) if any(first <= line <= last for first, last in bodies)]


COMPOSE = {
    *(p for p in FILES if p.parts[:2] == ("bot", "compose") and p.name != "__init__.py"),
    Path("bot/places.py"),  # it makes the one database object of a process, and so knows who gives its password
}
LATE = {
    *COMPOSE,  # they pay only for what is switched on
    Path("grounding/embedded/recipes/quantise.py"),  # onnxruntime's quantiser reads the environment at import
}


def test_imports_stand_at_the_top() -> None:
    """Only what is on the list imports inside functions, so that a start pays only for what is switched on."""
    for path in (p for p in FILES if p not in LATE):
        assert late_imports(path) == []


def test_sdks_stay_in_their_rooms() -> None:
    """Azure and OpenAI SDKs only under azure/ or in openai-named modules; each SDK of the channel in its transport, aiohttp only in bot; SerpAPI only under web/; OpenTelemetry only in bot/observability/.

    The HTTP client below OpenAI's SDK is also that of the web searches, and of Authlib, which one module knows.
    """
    for path in FILES:
        for _, name in imports(path):
            top = name.split(".")[0]
            web = top in WEB_SDKS and "web" in path.parts[:-1]
            if top in ("authlib", "joserfc"):
                assert path == SIGN_IN, f"{path} imports {name}"
            if top in REMOTE_SDKS and not web and not (top == "httpx2" and path == SIGN_IN):
                assert "azure" in path.parts[:-1] or "openai" in path.name, f"{path} imports {name}"
            if top in CHANNEL_SDKS:
                assert path == CHANNEL_SDKS[top], f"{path} imports {name}"
            if top == "aiohttp":
                assert room(path) == "bot", f"{path} imports {name}"
            if top == "opentelemetry":
                assert path.parts[:2] == ("bot", "observability"), f"{path} imports {name}"
            if top == "serpapi":
                assert web, f"{path} imports {name}"


def test_only_settings_reads_the_environment() -> None:
    """No other module reads or changes environment variables."""
    for path in (p for p in FILES if p != Path("bot/settings/load.py")):
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in {("os", "environ"), ("os", "getenv"), ("os", "putenv")}, (
                    f"{path}:{node.lineno}"
                )


CONTEXT = {
    Path("bot/http/metrics.py"),
    Path("bot/observability/turn_mark.py"),
    Path("grounding/model_calls/reply_room.py"),
    Path("grounding/observe.py"),
    Path("grounding/store/once.py"),
    Path("rai/screening/turn.py"),
}
"""Where a context variable is made; docs/decisions/0017-the-turn-in-context.md says why each may be."""


def test_state_is_passed_and_not_found_in_context() -> None:
    """No other module makes a context variable, and only the wrappers of rai find the turn that is going on by one."""
    assert {p for p in FILES if any(name == "contextvars.ContextVar" for _, name in imports(p))} == CONTEXT
    for path in FILES:
        if room(path) != "rai":
            names = {name for _, name in imports(path)}
            assert not names & {"rai.screening.turn.current_turn", "rai.screening.turn.note"}, path


def is_adapter(name: str) -> bool:
    parts = name.split(".")
    return parts[0] in ("grounding", "rai") and len(parts) > 1 and parts[1] in ("embedded", "azure", "web", "store")


def test_only_compose_names_implementations() -> None:
    """Outside the adapters themselves, embedded, azure and web modules are named by bot/compose/ alone."""
    for path in (p for p in FILES if p not in COMPOSE):
        if is_adapter(".".join(path.with_suffix("").parts)):
            continue
        for _, name in imports(path):
            assert not is_adapter(name), f"{path} imports {name}"


def test_late_imports_are_really_late() -> None:
    """The list of exceptions holds no file that no longer needs one."""
    for path in LATE:
        assert late_imports(path), f"{path} has no late import: take it off the list"


SEAMS = [Path("grounding/ports.py"), Path("rai/ports.py")]


def test_records_are_frozen() -> None:
    """Every dataclass of the records modules is frozen."""
    for path in [Path("grounding/records.py"), Path("rai/records.py"), Path("bot/records.py")]:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and node.decorator_list:
                text = ast.unparse(node.decorator_list[0])
                assert "frozen=True" in text, f"{path}: {node.name} is not frozen"


@pytest.mark.parametrize("path", SEAMS, ids=str)
def test_seams_are_async(path: Path) -> None:
    """Each method of a port is async, properties aside; an async iterator may be handed out by a plain one."""
    for node in tree(path).body:
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    decorators = {ast.unparse(d) for d in item.decorator_list}
                    hands_out = item.returns is not None and "AsyncIterator" in ast.unparse(item.returns)
                    assert "property" in decorators or hands_out, f"{path}: {node.name}.{item.name}"


@pytest.mark.parametrize("package", list(ORDER))
def test_a_class_name_means_one_thing_in_a_package(package: str) -> None:
    """No class is defined twice: whoever looks for a name finds one place."""
    places: dict[str, list[Path]] = {}
    for path in FILES:
        if room(path) == package:
            for node in nodes(path):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_functions_stay_small() -> None:
    """No function over 60 lines. A module is as long as its idea."""
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                assert node.end_lineno - node.lineno < 60, f"{path}:{node.name}"
