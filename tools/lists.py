"""Lists in the documents that the program decides: settings, commands, metrics, seams, roles. `make lists` writes them, `--check` only looks.

A list stands in a document between `<!-- generated: NAME … -->` and `<!-- end -->`; what stands around it is written by hand. Every list is
made of the program itself: what a setting takes and needs is what the program refuses, an implementation is a class that has what its seam asks.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import pkgutil
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from prometheus_client import Counter
from pydantic import SecretStr, ValidationError
from typer.main import get_command

from bot.cli import app
from bot.http.metrics import Metrics
from bot.review.roles import RIGHTS, Right, Role
from bot.settings.forms import PREFIX
from bot.settings.load import choices_of, load_settings
from bot.settings.settings import PLACES, Place, Settings
from grounding.errors import SettingsError
from tools.capacity import table as capacity

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("grounding", "rai", "bot")
COMMAND = "make lists"
_BLOCK = re.compile(r"(<!-- generated: ([a-z]+)\b[^>]*-->\n)(.*?)(<!-- end -->)", re.DOTALL)
_VARIABLE = re.compile(r"\bATTEST_[A-Z_]*[A-Z](?:=\w+)?")
_REFUSED = "\0"
_EXAMPLES = (
    "x",
    "xx",
    "1",
    "100",
    "name.example",
    "https://name.example",
    "10.0.0.7",
    "US",
    "USD",
    "hate=2",
    "feedback=90",
    "attest",
    "https://name.example/.default",
    "openid",
    "postgresql://name.example/attest",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
)
"""Values of every form that a setting has; the first that a setting takes shows what it needs beside it."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as a table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)


def code(*words: str, between: str = " ") -> str:
    return between.join(f"`{word}`" for word in words)


# ── settings ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def nothing_set() -> Iterator[None]:
    """As on a machine where no setting is set: without variables and far from any `.env`."""
    names, here = [name for name in os.environ if name.startswith(PREFIX)], Path.cwd()
    kept = {name: os.environ.pop(name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            os.environ.update(kept)


def settings() -> str:
    """Every setting, a table for each group."""
    parts = []
    with nothing_set():
        for group, at in Settings.model_fields.items():
            own = [(name, place) for name, place in PLACES.items() if place.group == group]
            rows = [(code(variable(n)), default(p), form(n, p), meaning(n, p)) for n, p in own]
            kind: Any = at.annotation
            title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()
            parts.append(f"## {title}\n{kind.__doc__}\n\n{table(('Variable', 'Default', 'Takes', 'What'), rows)}")
    return "\n".join(parts)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def default(place: Place) -> str:
    """The value without a line; a folder that each user has their own of is not named."""
    if place.info.default_factory is not None:
        return "in your user's folders"
    value = place.info.default
    if value is None or value == ():
        return "–"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(
        ",".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)
    )


def choices(place: Place) -> list[str]:
    return choices_of(place.info)


def form(name: str, place: Place) -> str:
    """What a value has to look like: the choices, or what the program says when it refuses one, or the type alone."""
    if found := choices(place):
        return code(*found, between=" · ")
    kinds = {place.info.annotation, *get_args(place.info.annotation)}
    if bool in kinds:
        return code("true", "false", between=" · ")
    try:
        load_settings(**{name: _REFUSED})
    except SettingsError as refused:
        said = re.fullmatch(rf"{variable(name)}=.* \(option\): allowed is (one of )?(.*)", str(refused))
        if said:
            return code(*said[2].split(", "), between=" · ") if said[1] else said[2].split(", such as")[0]
    several = get_origin(place.info.annotation) is tuple
    if SecretStr in kinds:
        return "secrets" if several else "a secret"
    return "a path" if Path in kinds else "words" if several else "text"


def needs(name: str, place: Place) -> str:
    """What has to be set beside a setting, in the words with which the program refuses it alone."""
    tried = choices(place) or [example(name, place)]
    found: dict[str, list[str]] = {}
    for value in tried:
        lines = [
            re.match(rf"{variable(name)}(?:={re.escape(value)})? needs ([^;]*)", line)
            for line in refusals(name, place, value)
        ]
        needed = [_VARIABLE.sub(r"`\g<0>`", said[1]) for said in lines if said]
        if needed:
            found.setdefault((", and " if any("," in n for n in needed) else " and ").join(needed), []).append(value)
    return ". ".join(
        f"Needs {needed}"
        if values == tried
        else f"{code(*values, between=' and ')} need{'s' * (len(values) == 1)} {needed}"
        for needed, values in found.items()
    )


def example(name: str, place: Place) -> str:
    """A value that the setting takes."""
    for value in _EXAMPLES:
        try:
            with_one(name, place, value)
        except ValidationError:
            continue
        return value
    raise ValueError(f"no example is a value of {variable(name)}: add one to tools/lists.py")


def with_one(name: str, place: Place, value: object) -> Settings:
    """The settings where this one alone is set."""
    return Settings.model_validate(
        {group: {name: value} if group == place.group else {} for group in Settings.model_fields},
        context={"home": Path()},
    )


def refusals(name: str, place: Place, value: object) -> list[str]:
    found: list[str] = []
    with suppress(SettingsError):  # the file that it names is not there
        found.extend(line for wrong, line in with_one(name, place, value).conflicts() if wrong)
    return found


def meaning(name: str, place: Place) -> str:
    described, needed = place.info.description or "", needs(name, place)
    return f"{described}. {needed}." if needed else described


# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def commands() -> str:
    """Every command of `attest`, with what it takes."""
    rows = [
        (code(" ".join([*path, *needed(command)])), purpose(command), code(*optional(command)) or "–")
        for path, command in leaves(("attest",), get_command(app))
    ]
    return table(("Command", "Does", "Options"), rows)


def leaves(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Commands that do something, groups opened."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    for name in command.list_commands(None):
        yield from leaves((*path, name), command.get_command(None, name))


def purpose(command: Any) -> str:
    """The first paragraph of the help."""
    return " ".join(command.help.split("\n\n")[0].split()).removesuffix(".")


def needed(command: Any) -> Iterator[str]:
    """Arguments, those that may be left out in brackets, and options without which the command does not run."""
    for part in command.params:
        if part.param_type_name == "argument":
            yield part.metavar if part.required or part.metavar.startswith("[") else f"[{part.metavar}]"
        elif part.required:
            yield option(command, part)


def optional(command: Any) -> list[str]:
    return [option(command, p) for p in command.params if p.param_type_name == "option" and not p.required]


def option(command: Any, part: Any) -> str:
    """An option as the help shows it: with the word for its value or the values that it takes; a flag has none."""
    shown: str = part.get_help_record(typer.Context(command))[0]
    return shown


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Shut:
    """A breaker that lets every call pass, so that the series of breakers has one to tell of."""

    state = "closed"


def metrics() -> str:
    """Every series of `/metrics`, with its labels."""
    found, breaker = Metrics(), _Shut()
    found.breakers.know("any", breaker)  # type: ignore[arg-type]  # it is told of, never asked
    for part in vars(found).values():
        if hasattr(part, "labels"):
            use(part)
    rows = []
    for family in found.registry.collect():
        labels = {label: None for sample in family.samples for label in sample.labels if label != "le"}
        name = f"{family.name}_total" if family.type == "counter" else family.name
        rows.append((code(name), family.type, code(*labels) or "–", family.documentation.removesuffix(".")))
    return table(("Series", "Kind", "Labels", "What"), rows)


def use(part: Counter) -> None:
    """Give a series one value of each label: before, it does not say which it has."""
    for count in range(1, 6):
        try:
            part.labels(*["any"] * count)
        except ValueError:
            continue
        return


# ── seams ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def seams() -> str:
    """Every seam, a table for each module of them, with the classes that have what it asks."""
    modules = [importlib.import_module(name) for name in module_names()]
    known = [c for m in modules for c in vars(m).values() if inspect.isclass(c) and c.__module__ == m.__name__]
    known = [c for c in known if not c.__name__.startswith("_")]  # what a module keeps to itself, nobody chooses
    ports = [c for c in known if is_protocol(c) and c.__module__.endswith(".ports")]
    whole = sorted(
        {c for c in known if not is_protocol(c) and not any(c in other.__bases__ for other in known)}, key=place_of
    )
    rows: dict[str, list[tuple[str, ...]]] = {}
    for seam in ports:
        fit = [c for c in whole if fits(c, seam)]
        over = [c for c in fit if leans_on(c, seam)]
        alone = [c for c in fit if c not in over]
        row = (code(seam.__name__), first_line(seam), links(alone) or "–", links(over) or "–")
        rows.setdefault(path_of(seam), []).append(row)
    heads = ("Seam", "What it is", "Implemented by", "With another behind it")
    return "\n".join(f"Of [`{path}`](../{path}):\n\n{table(heads, of_one)}" for path, of_one in rows.items())


def place_of(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__name__


def module_names() -> list[str]:
    """Modules of the packages; what is run as a program, and the sample, are none."""
    found = [m.name for p in PACKAGES for m in pkgutil.walk_packages([str(ROOT / p)], f"{p}.") if not m.ispkg]
    return [name for name in found if not name.endswith(".__main__") and not name.startswith("bot.sample")]


def is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def asked(seam: type) -> Mapping[str, Any]:
    """What a Protocol, with those that it builds on, asks of a class."""
    bases = [vars(c) for c in reversed(seam.__mro__) if is_protocol(c)]
    return {name: member for names in bases for name, member in names.items() if name[0] != "_"}


def fits(kind: type, seam: type) -> bool:
    """True if the class has every property of the seam, and every method with the same parameters, async where it is."""
    return all(
        has_property(kind, name) if isinstance(member, property) else has_method(kind, name, member)
        for name, member in asked(seam).items()
    )


def has_property(kind: type, name: str) -> bool:
    return any(name in vars(c) or name in vars(c).get("__annotations__", {}) for c in kind.__mro__)


def has_method(kind: type, name: str, wanted: Callable[..., Any]) -> bool:
    own = inspect.getattr_static(kind, name, None)
    if not inspect.isfunction(own) or inspect.iscoroutinefunction(own) != inspect.iscoroutinefunction(wanted):
        return False
    needed = list(inspect.signature(wanted).parameters)
    return list(inspect.signature(own).parameters)[: len(needed)] == needed


def leans_on(kind: Any, seam: type) -> bool:
    """True if the class is made with another implementation of the seam, which it asks."""
    wanted = inspect.signature(kind).parameters.values()
    return any(re.search(rf"\b{seam.__name__}\b", str(parameter.annotation)) for parameter in wanted)


def first_line(kind: type) -> str:
    return re.split(r"(?<=[.:])\s", (kind.__doc__ or "").strip())[0].removesuffix(".").removesuffix(":")


def links(kinds: Iterable[type]) -> str:
    return ", ".join(f"[`{c.__name__}`](../{path_of(c)})" for c in kinds)


def path_of(kind: type) -> str:
    return f"{kind.__module__.replace('.', '/')}.py"


# ── documents ───────────────────────────────────────────────────────────────────────────────────────────────────────────

# ── roles ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def roles() -> str:
    """What each page, action and export of the reviewers' desk takes, the least role first."""
    known = [right for right in RIGHTS if right.least is not None]
    rows = [
        (right.what, code(f"{right.method} {right.path}"), *(_mark(right, role) for role in Role)) for right in known
    ]
    return table(("What", "Route", *(role.label for role in Role)), rows)


def _mark(right: Right, role: Role) -> str:
    return "yes" if right.least is not None and role >= right.least else "–"


LISTS: Mapping[str, Callable[[], str]] = {
    "settings": settings,
    "commands": commands,
    "metrics": metrics,
    "seams": seams,
    "roles": roles,
    "capacity": lambda: "\n".join(capacity()) + "\n",
}


def pages(root: Path) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def renewed(text: str, lists: Mapping[str, Callable[[], str]]) -> tuple[str, list[str], list[str]]:
    """A document with its lists as they are now, the names of all that it holds, and of those that were stale."""
    named, stale = [], []

    def put(block: re.Match[str]) -> str:
        start, name, old, end = block.groups()
        if name not in lists:
            raise ValueError(f"no such list: {name}; there are {', '.join(lists)}")
        new = lists[name]()
        named.append(name)
        stale.extend([name] if new != old else [])
        return f"{start}{new}{end}"

    return _BLOCK.sub(put, text), named, stale


def main(given: Sequence[str] | None = None, root: Path = ROOT, lists: Mapping[str, Callable[[], str]] = LISTS) -> int:
    """Write the lists into the documents; with `--check` write nothing. 1: one was stale then, or stands in no document."""
    parser = argparse.ArgumentParser(prog="python -m tools.lists", description="lists in the documents")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a list is stale")
    check = parser.parse_args(given).check
    found, missing = False, set(lists)
    for page in pages(root):
        text = page.read_text("utf-8")
        new, named, stale = renewed(text, lists)
        missing -= set(named)
        found |= bool(stale)
        for name in stale:
            where = f"{page.relative_to(root)}: the list of {name}"
            print(f"{where} is not what the program says: {COMMAND}" if check else f"{where} is written")
        if stale and not check:
            page.write_text(new, "utf-8")
    for name in sorted(missing):
        print(f"no document holds the list of {name}")
    return 1 if missing or (found and check) else 0


if __name__ == "__main__":
    sys.exit(main())
