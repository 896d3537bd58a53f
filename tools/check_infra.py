"""Check infra/ without a cloud: Bicep that its two parsers read, and that every parameter, variable, module, output, role, plan and setting is defined and used.

No compiler of Bicep is to be had without a download, so this stands in for the part of one that finds misspelt and forgotten names. With --types FOLDER, a copy
of the folder `generated` of the public repository Azure/bicep-types-az, resource types, API versions and names of properties are compared with what Microsoft
publishes. What it cannot tell: whether a value is allowed, and whether Azure does what it says. docs/deploy.md has what was run and what was only checked.

With --checkov PROGRAM that is run too, by the rules of infra/checkov.yaml; a file that it cannot read, which it passes over, is a problem here.

  python -m tools.check_infra
  python -m tools.check_infra --types ../bicep-types-az/generated
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_bicep
from pycep import BicepParser

from bot.settings.forms import PREFIX
from bot.settings.settings import PLACES

ROOT = Path(__file__).resolve().parent.parent
INFRA = ROOT / "infra"
MAIN = "main.bicep"
FUNCTIONS = frozenset(
    "concat dateTimeAdd dateTimeToEpoch empty environment guid json loadJsonContent loadTextContent resourceId string subscription subscriptionResourceId "
    "toLower uniqueString utcNow".split()
)
"""Functions of Bicep that infra/ calls; another one is added here when its name was looked up."""
DECORATORS = frozenset("allowed description maxLength minLength secure".split())
KINDS = ("bicep", "dockerfile")
"""What checkov is to look at."""
BY_AZD = frozenset(("AZURE_ENV_NAME", "AZURE_LOCATION", "AZURE_SUBSCRIPTION_ID"))
"""What the Azure Developer CLI sets by itself."""
_SETTING = re.compile(rf"\b{PREFIX}[A-Z0-9_]*[A-Z0-9]\b")
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?:=([^}]*))?\}")
_SHELL = re.compile(r"\$\{?([A-Z][A-Z0-9_]+)")
_SHELL_MAY = re.compile(r"\$\{([A-Z][A-Z0-9_]+):[-?]")
_SHELL_GIVES = re.compile(r"^\s*(?:export )?([A-Z][A-Z0-9_]+)=", re.MULTILINE)
_JSON_TYPES = {str: "string", bool: "bool", int: "int", list: "array", dict: "object"}
Node = tree_sitter.Node


@dataclass(frozen=True)
class Call:
    """A module as another file uses it: the file that it names, what it is given, each value as text."""

    path: str
    given: Mapping[str, str]


@dataclass(frozen=True)
class File:
    """What a Bicep file declares, and what its expressions name."""

    name: str
    params: Mapping[str, str]
    required: frozenset[str]
    variables: frozenset[str]
    resources: frozenset[str]
    existing: frozenset[str]
    modules: Mapping[str, Call]
    outputs: Mapping[str, str]
    names: frozenset[str]
    loops: frozenset[str]
    functions: frozenset[str]
    decorators: frozenset[str]
    members: frozenset[str]
    problems: tuple[str, ...] = field(default=())

    @property
    def declared(self) -> frozenset[str]:
        """Every name that an expression of the file may use."""
        return frozenset((*self.params, *self.variables, *self.resources, *self.modules, *self.loops))


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))


@cache
def _plain_parser() -> BicepParser:
    return BicepParser()


def text_of(node: Node | None) -> str:
    """The source of a node; empty for none."""
    return "" if node is None or node.text is None else node.text.decode()


def walked(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for child in node.children:
        yield from walked(child)


def below(node: Node, kind: str) -> list[Node]:
    return [child for child in node.named_children if child.type == kind]


@cache
def read(name: str, source: str) -> File:
    """A file as its declarations and uses. What a parser does not read is a problem of the file."""
    root = _parser().parse(source.encode()).root_node
    problems = [
        f"{name}:{node.start_point[0] + 1}: not read by tree-sitter-bicep"
        for node in walked(root)
        if node.type == "ERROR" or node.is_missing
    ]
    try:
        _plain_parser().parse(text=source)
    except Exception as error:  # noqa: BLE001 - it is the grammar's, of whatever library stands under the parser
        problems.append(f"{name}: not read by pycep-parser: {str(error).splitlines()[0]}")
    top = root.named_children
    params = [node for node in top if node.type == "parameter_declaration"]
    resources = [node for node in top if node.type == "resource_declaration"]
    return File(
        name=name,
        params={_name(node): _type(node) for node in params},
        required=frozenset(_name(node) for node in params if not _has_default(node)),
        variables=frozenset(_name(node) for node in top if node.type == "variable_declaration"),
        resources=frozenset(map(_name, resources)),
        existing=frozenset(_name(node) for node in resources if any(c.type == "existing" for c in node.children)),
        modules={_name(node): _call(node) for node in top if node.type == "module_declaration"},
        outputs={_name(node): text_of(node.named_children[-1]) for node in top if node.type == "output_declaration"},
        names=frozenset(_used_names(root)),
        loops=frozenset(_loop_names(root)),
        functions=frozenset(_functions(root, decorators=False)),
        decorators=frozenset(_functions(root, decorators=True)),
        members=frozenset(text_of(node) for node in walked(root) if node.type == "member_expression"),
        problems=tuple(problems),
    )


def _name(declaration: Node) -> str:
    return text_of(next(node for node in declaration.named_children if node.type == "identifier"))


def _type(parameter: Node) -> str:
    return text_of(next(iter(below(parameter, "type")), None))


def _has_default(parameter: Node) -> bool:
    return any(child.type == "=" for child in parameter.children)


def _call(module: Node) -> Call:
    path = next(text_of(node).strip("'") for node in module.named_children if node.type == "string")
    given: dict[str, str] = {}
    for node in walked(module):
        if node.type == "object_property" and text_of(node.named_children[0]) == "params":
            for one in below(node.named_children[1], "object_property"):
                given[text_of(one.named_children[0])] = text_of(one.named_children[1])
            break
    return Call(path, given)


_DECLARES = (
    "parameter_declaration",
    "variable_declaration",
    "resource_declaration",
    "module_declaration",
    "output_declaration",
    "object_property",
)


def _used_names(root: Node) -> Iterator[str]:
    """Identifiers that stand for a value: no keys, no names of members, no names that are just being declared, no functions."""
    for node in walked(root):
        above = node.parent
        if node.type not in ("identifier", "variable_access") or above is None or node.named_children:
            continue
        first = above.named_children[0] == node
        declared = above.type in _DECLARES and (
            first if above.type == "object_property" else node == _declared_node(above)
        )
        called = above.type == "call_expression" and first
        item = above.type == "for_statement" and first
        if not (declared or called or item or (above.type == "decorator")):
            yield text_of(node)


def _declared_node(declaration: Node) -> Node:
    return next(node for node in declaration.named_children if node.type == "identifier")


def _loop_names(root: Node) -> Iterator[str]:
    for node in walked(root):
        if node.type in ("loop_variable", "loop_enumerator"):
            yield text_of(node)
        elif node.type == "for_statement" and node.named_children[0].type == "identifier":
            yield text_of(node.named_children[0])


def _functions(root: Node, *, decorators: bool) -> Iterator[str]:
    for node in walked(root):
        if node.type == "call_expression" and node.named_children[0].type == "identifier":
            of_decorator = any(above.type in ("decorator", "decorators") for above in _above(node))
            if of_decorator == decorators:
                yield text_of(node.named_children[0])


def _above(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def files_of(folder: Path) -> dict[str, File]:
    """Every Bicep file below a folder, by its path in it."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.bicep"))}
    return {name: read(name, path.read_text("utf-8")) for name, path in found.items()}


# ── what is checked ─────────────────────────────────────────────────────────────────────────────────────────────────────


def names_of(files: Iterable[File]) -> Iterator[str]:
    """Names that are used and not declared, or declared and not used, in one file."""
    for file in files:
        yield from file.problems
        for name in sorted(file.names - file.declared):
            yield f"{file.name}: {name} is used and not declared"
        for name in sorted(frozenset((*file.params, *file.variables, *file.existing)) - file.names):
            yield f"{file.name}: {name} is declared and not used"
        for name in sorted(file.functions - FUNCTIONS):
            yield f"{file.name}: {name}() is no function that is known here"
        for name in sorted(file.decorators - DECORATORS):
            yield f"{file.name}: @{name}() is no decorator that is known here"


def modules_of(files: Mapping[str, File]) -> Iterator[str]:
    """Modules that are not there, parameters that are not given or not taken, outputs that nobody reads or that are not there."""
    targets = {(file.name, name): _target(file, call) for file in files.values() for name, call in file.modules.items()}
    read_outputs: set[tuple[str, str]] = set()
    for (where, name), target in targets.items():
        if target not in files:
            yield f"{where}: {name} names {files[where].modules[name].path}, which is not there"
            continue
        yield from _given(files[where], name, files[target])
        wanted = {m.split(".")[2] for m in files[where].members if m.startswith(f"{name}.outputs.")}
        read_outputs |= {(target, one) for one in wanted}
        for one in sorted(wanted - files[target].outputs.keys()):
            yield f"{where}: {name} has no output {one}"
    for name, file in files.items():
        if name not in {MAIN, *targets.values()}:
            yield f"{name}: no file uses it"
        elif name != MAIN:
            for one in sorted({one for one in file.outputs if (name, one) not in read_outputs}):
                yield f"{name}: output {one} is read by nobody"


def _target(file: File, call: Call) -> str:
    return (Path(file.name).parent / call.path).as_posix()


def _given(file: File, name: str, target: File) -> Iterator[str]:
    given = file.modules[name].given.keys()
    for one in sorted(target.required - given):
        yield f"{file.name}: {name} is not given {one}"
    for one in sorted(given - target.params.keys()):
        yield f"{file.name}: {name} is given {one}, which {target.name} does not take"


def tables_of(files: Mapping[str, File], folder: Path) -> Iterator[str]:
    """Plans and roles: what is named there is used, what is used is named there, and a plan's values are of the type that takes them."""
    plans = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((folder / "plans").glob("*.json"))}
    main = files[MAIN]
    used = {m.split(".")[1] for m in main.members if m.startswith("plan.")}
    for name, plan in plans.items():
        for one in sorted(used - plan.keys()):
            yield f"plans/{name}.json: {one} is missing"
        for one in sorted(plan.keys() - used):
            yield f"plans/{name}.json: {one} is used by nobody"
        yield from _plan_types(name, plan, files)
    roles = json.loads((folder / "roles.json").read_text("utf-8"))
    named = {(file.name, m.split(".")[1]) for file in files.values() for m in file.members if m.startswith("roles.")}
    for where, one in sorted(named):
        if one not in roles:
            yield f"{where}: role {one} is not in roles.json"
    for one in sorted(roles.keys() - {role for _, role in named}):
        yield f"roles.json: {one} is given to nobody"


def _plan_types(name: str, plan: Mapping[str, Any], files: Mapping[str, File]) -> Iterator[str]:
    main = files[MAIN]
    for module, call in main.modules.items():
        for parameter, value in call.given.items():
            key = value.removeprefix("plan.")
            wanted = files[call.path].params.get(parameter) if call.path in files else None
            if value.startswith("plan.") and key in plan and wanted not in (None, _JSON_TYPES[type(plan[key])]):
                yield f"plans/{name}.json: {key} is no {wanted}, which {parameter} of {module} takes"


def parameters_of(files: Mapping[str, File], folder: Path, others: str) -> Iterator[str]:
    """The parameters file and the outputs of main. `others` is the text of what reads outputs: hooks and the page."""
    main = files[MAIN]
    given = json.loads((folder / "main.parameters.json").read_text("utf-8"))["parameters"]
    for one in sorted(given.keys() - main.params.keys()):
        yield f"main.parameters.json: {one} is no parameter of {MAIN}"
    for one in sorted(main.required - given.keys()):
        yield f"main.parameters.json: {one} is missing"
    for variable in sorted(variables_of(folder)):
        if variable not in BY_AZD and variable not in others:
            yield f"main.parameters.json: ${{{variable}}} is explained nowhere"
    for one in sorted(main.outputs):
        if not re.search(rf"\b{one}\b", others):
            yield f"{MAIN}: output {one} is read by no hook and named on no page"


def variables_of(folder: Path) -> set[str]:
    """Variables of the azd environment that the parameters file reads."""
    return {found[0] for found in _VARIABLE.findall((folder / "main.parameters.json").read_text("utf-8"))}


def hooks_of(files: Mapping[str, File], folder: Path, page: str) -> Iterator[str]:
    """Variables that a hook reads and nobody sets: azd sets its own, those of the environment and the outputs of main. One that a hook can do
    without, or asks for, a person sets who has read of it on the page.
    """
    known = BY_AZD | variables_of(folder) | files[MAIN].outputs.keys()
    for path in sorted((folder / "hooks").glob("*.sh")):
        text = path.read_text("utf-8")
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        explained = {one for one in _SHELL_MAY.findall(code) if f"`{one}`" in page}
        for one in sorted(set(_SHELL.findall(code)) - known - explained - set(_SHELL_GIVES.findall(code))):
            yield f"hooks/{path.name}: ${one} is set by nobody"


def settings_of(places: Iterable[Path]) -> Iterator[str]:
    """Settings that are set somewhere and that the program does not have."""
    known = {PREFIX + name.upper() for name in PLACES}
    for path in places:
        for one in sorted(set(_SETTING.findall(path.read_text("utf-8"))) - known):
            yield f"{path.name}: {one} is no setting"


def names_between(files: Mapping[str, Path]) -> Iterator[str]:
    """Names by which parts of the app and of its environment point at each other: secrets, volumes, shares."""
    app, environment = (files[name].read_text("utf-8") for name in ("app", "environment"))
    secrets = set(re.findall(r"name: '([\w-]+)'\s+keyVaultUrl:", app))
    for one in sorted(set(re.findall(r"secretRef: '([\w-]+)'", app)) ^ secrets):
        yield f"modules/app.bicep: secret {one} is not both given and used"
    volumes = dict(re.findall(r"name: '(\w+)'\s+storageType: '\w+'\s+storageName: '(\w+)'", app))
    for one in sorted(set(re.findall(r"volumeName: '(\w+)'", app)) ^ set(volumes)):
        yield f"modules/app.bicep: volume {one} is not both given and mounted"
    shares = set(re.findall(r"managedEnvironments/storages@[^']+' = \{\s+parent: \w+\s+name: '(\w+)'", environment))
    for one in sorted(set(volumes.values()) ^ shares):
        yield f"modules/app.bicep: share {one} is not both in the environment and mounted"


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is found without the published types, as lines."""
    folder = root / "infra"
    files = files_of(folder)
    texts = [*(folder / "hooks").glob("*.sh"), root / "azure.yaml", root / "docs" / "deploy.md"]
    others = "\n".join(path.read_text("utf-8") for path in texts)
    set_by = [p for p in (*folder.rglob("*"), root / "azure.yaml", *root.glob("compose*.yaml")) if p.is_file()]
    return [
        *names_of(files.values()),
        *modules_of(files),
        *tables_of(files, folder),
        *parameters_of(files, folder, others),
        *hooks_of(files, folder, texts[-1].read_text("utf-8")),
        *settings_of(p for p in set_by if p.suffix not in (".png", "")),
        *names_between({name: folder / "modules" / f"{name}.bicep" for name in ("app", "environment")}),
    ]


# ── published types ─────────────────────────────────────────────────────────────────────────────────────────────────────

_BY_BICEP = frozenset(("parent", "scope", "dependsOn", "name", "location", "tags"))
"""Names that a resource has in Bicep whatever its type, or that every type has."""


class Published:
    """Types of resources as Microsoft publishes them for Bicep: `types.json` of a provider and version, each a list whose parts refer to one another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def unknown(self, kind: str, version: str, body: Any, read: Iterable[str] = ()) -> list[str]:
        """What of a resource is not in its published type, as lines; one line if there is no such type. `read`: names of properties that others read of it."""
        provider = kind.split("/", 1)[0].lower()
        for path in sorted(self._folder.glob(f"*/{provider}/{version}/types.json")):
            types: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
            for one in types:
                if one["$type"] == "ResourceType" and one["name"].lower() == f"{kind}@{version}".lower():
                    wrong = [*_unknown(types, one, body, ""), *_unread(types, one, read)]
                    return [f"{kind}@{version}: {where} is not published" for where in wrong]
        return [f"{kind}@{version} is not published"]


def _unknown(types: list[dict[str, Any]], kind: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    """Paths of keys that a type does not have. Of expressions nothing is known, and nothing said."""
    if isinstance(value, dict):
        value = {key.strip("'"): part for key, part in value.items()}  # a quoted key is the same key
    if kind["$type"] == "ResourceType":
        yield from _unknown(types, _referred(types, kind["body"]), value, where)
    elif kind["$type"] == "ArrayType" and isinstance(value, list):
        for one in value:
            yield from _unknown(types, _referred(types, kind["itemType"]), one, f"{where}[]")
    elif kind["$type"] == "ObjectType" and isinstance(value, dict) and not _expression(value):
        yield from _unknown_keys(types, kind.get("properties") or {}, kind.get("additionalProperties"), value, where)
    elif kind["$type"] == "DiscriminatedObjectType" and isinstance(value, dict) and not _expression(value):
        chosen = kind["elements"].get(value.get(kind["discriminator"]))
        if chosen is None:
            yield f"{where}.{kind['discriminator']}"
            return
        own = _referred(types, chosen)
        both = {**kind.get("baseProperties", {}), **own.get("properties", {})}
        yield from _unknown_keys(types, both, own.get("additionalProperties"), value, where)


def _unknown_keys(
    types: list[dict[str, Any]], properties: Mapping[str, Any], more: Any, value: Mapping[str, Any], where: str
) -> Iterator[str]:
    for key, part in value.items():
        path = f"{where}.{key}" if where else key
        if key in properties:
            yield from _unknown(types, _referred(types, properties[key]["type"]), part, path)
        elif more is None and not (not where and key in _BY_BICEP):
            yield path


def _unread(types: list[dict[str, Any]], kind: dict[str, Any], read: Iterable[str]) -> Iterator[str]:
    """Names below `properties` that a type does not have. One whose properties are of several kinds is not looked at."""
    properties = _referred(types, kind["body"]).get("properties", {}).get("properties")
    known = _referred(types, properties["type"]) if properties else {}
    if known.get("$type") == "ObjectType":
        yield from (f"properties.{one}" for one in sorted(set(read) - known.get("properties", {}).keys()))


def _referred(types: list[dict[str, Any]], reference: Mapping[str, str]) -> dict[str, Any]:
    return types[int(reference["$ref"].rsplit("/", 1)[1])]


def _expression(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & {"operator", "function_call", "functions", "loop_type"})


def types_of(folder: Path, published: Published) -> list[str]:
    """What resources of `folder` name that is not published."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.bicep")):
        source = path.read_text("utf-8")
        members = read(path.name, source).members
        parsed: Any = _plain_parser().parse(text=source)
        for name, one in parsed.get("resources", {}).items():
            taken = {re.split(r"[.\[]", m)[2] for m in members if m.startswith(f"{name}.properties.")}
            body = one["config"]
            while isinstance(body, dict) and "config" in body:  # of a loop, or behind a condition
                body = body["config"]
            lines = published.unknown(one["type"], one["api_version"], body, taken)
            found += [f"{path.relative_to(folder).as_posix()}: {line}" for line in lines]
    return found


# ── checkov ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def found_by(program: Path, root: Path = ROOT) -> list[str]:
    """What checkov finds in infra/, as lines; among them that it did not run."""
    command = [str(program.absolute()), "-d", "infra", "--config-file", "infra/checkov.yaml", "-o", "json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return [f"checkov: no report: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}"]
    reports = [one for one in (told if isinstance(told, list) else [told]) if "results" in one]
    lines = [f"checkov: {kind} was not looked at" for kind in sorted({*KINDS} - {one["check_type"] for one in reports})]
    for one in reports:
        failed = one["results"]["failed_checks"]
        lines += [f"{f['file_path']}: {f['check_id']} {f['check_name']} ({f['resource']})" for f in failed]
        if errors := one["summary"]["parsing_errors"]:
            lines.append(f"checkov: {errors} files of {one['check_type']} were not read")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="check_infra", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--types", type=Path, metavar="FOLDER", help="the folder `generated` of Azure/bicep-types-az")
    parser.add_argument("--checkov", type=Path, metavar="PROGRAM", help="checkov, of another environment than this one")
    given = parser.parse_args(arguments)
    if given.types is not None and not given.types.is_dir():
        print(f"--types: {given.types} is no folder", file=sys.stderr)
        return 2
    if given.checkov is not None and not given.checkov.is_file():
        print(f"--checkov: {given.checkov} is no program", file=sys.stderr)
        return 2
    found = problems()
    if given.types is not None:
        found += types_of(INFRA, Published(given.types))
    if given.checkov is not None:
        found += found_by(given.checkov)
    for line in found:
        print(line)
    if not found:
        types = ", and with the published types" if given.types is not None else ""
        checkov = "; checkov finds nothing" if given.checkov is not None else ""
        print(f"infra/: {len(files_of(INFRA))} Bicep files agree with each other{types}{checkov}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
