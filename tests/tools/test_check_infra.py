"""What stands in infra/ agrees with itself, and what would not is found: each mistake is made in a copy, and named."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tables import Tables
from tools.check_infra import INFRA, ROOT, Published, files_of, found_by, main, problems, read, types_of

MISTAKES = Tables(__file__)


def copied(folder: Path) -> Path:
    """What the check reads, in a folder of its own."""
    shutil.copytree(INFRA, folder / "infra")
    for name in ("azure.yaml", "compose.yaml", "compose.postgres.yaml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "deploy.md", folder / "docs" / "deploy.md")
    return folder


def test_infra_agrees_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert problems() == []
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("infra/: ")


@MISTAKES.each("mistakes")
def test_a_mistake_is_found(file: str, old: str, new: str, told: str, tmp_path: Path) -> None:
    root = copied(tmp_path)
    text = (root / file).read_text("utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new, 1), "utf-8")
    assert told in problems(root)


def test_a_module_that_nobody_uses_is_found(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "infra" / "modules" / "spare.bicep").write_text("output x string = 'x'\n", "utf-8")
    assert problems(root) == ["modules/spare.bicep: no file uses it"]


def test_a_setting_that_does_not_exist_is_found_outside_of_bicep_too(tmp_path: Path) -> None:
    root = copied(tmp_path)
    with (root / "compose.yaml").open("a", encoding="utf-8") as file:
        file.write("# ATTEST_NO_SUCH_THING=1\n")
    assert problems(root) == ["compose.yaml: ATTEST_NO_SUCH_THING is no setting"]


@pytest.mark.parametrize("source", ["param x string =\n", "resource a 'b' = {\n", "var x = [for a in: a]\n"])
def test_what_a_parser_does_not_read_is_a_problem(source: str) -> None:
    assert read("x.bicep", source).problems


def test_declarations_and_uses_are_told_apart() -> None:
    file = read(
        "x.bicep",
        "@description('a')\nparam one string = 'x'\nparam two object\nvar three = '${one}-y'\n"
        "resource four 'A/b@2024-01-01' existing = {\n  name: three\n}\n"
        "module five 'y.bicep' = [for (item, index) in two.six: {\n  name: item.one\n  params: {\n    seven: index\n  }\n}]\n"
        "output eight string = four.id\n",
    )
    assert file.problems == ()
    assert file.params == {"one": "string", "two": "object"}
    assert file.required == {"two"}
    assert file.variables == {"three"}
    assert file.existing == file.resources == {"four"}
    assert file.modules["five"].path == "y.bicep"
    assert file.modules["five"].given == {"seven": "index"}
    assert file.loops == {"item", "index"}
    assert file.names == {"one", "two", "three", "four", "item", "index"}
    assert file.decorators == {"description"}
    assert set(file.outputs) == {"eight"}


def reference(number: int) -> dict[str, str]:
    return {"$ref": f"#/{number}"}


TYPES = [
    {"$type": "StringType"},
    {"$type": "ObjectType", "name": "part", "properties": {"size": {"type": reference(0), "flags": 0}}},
    {"$type": "ArrayType", "itemType": reference(1)},
    {
        "$type": "ObjectType",
        "name": "body",
        "properties": {"parts": {"type": reference(2), "flags": 0}, "kind": {"type": reference(4), "flags": 0}},
    },
    {
        "$type": "DiscriminatedObjectType",
        "discriminator": "type",
        "baseProperties": {"label": {"type": reference(0), "flags": 0}},
        "elements": {"A": reference(5)},
    },
    {"$type": "ObjectType", "name": "a", "properties": {"type": {"type": reference(0), "flags": 0}}},
    {"$type": "ResourceType", "name": "Microsoft.X/things@2024-01-01", "body": reference(3)},
]


@pytest.mark.parametrize(
    ("body", "unknown"),
    [
        ("name: 'n'\n  parts: [\n    {\n      size: 'x'\n    }\n  ]", []),
        ("parts: [\n    {\n      sise: 'x'\n    }\n  ]", ["parts[].sise is not published"]),
        ("parst: []", ["parst is not published"]),
        ("kind: {\n    type: 'A'\n    label: 'x'\n  }", []),
        ("kind: {\n    'type': 'A'\n    lable: 'x'\n  }", ["kind.lable is not published"]),
        ("kind: {\n    type: 'B'\n  }", ["kind.type is not published"]),
        ("parts: concat([], [])", []),
    ],
)
def test_properties_are_compared_with_the_published_types(body: str, unknown: list[str], tmp_path: Path) -> None:
    place = tmp_path / "types" / "x_0" / "microsoft.x" / "2024-01-01"
    place.mkdir(parents=True)
    (place / "types.json").write_text(json.dumps(TYPES), "utf-8")
    (tmp_path / "a.bicep").write_text(f"resource a 'Microsoft.X/things@2024-01-01' = {{\n  {body}\n}}\n", "utf-8")
    found = types_of(tmp_path, Published(tmp_path / "types"))
    assert found == [f"a.bicep: Microsoft.X/things@2024-01-01: {line}" for line in unknown]


def test_properties_that_are_read_are_compared_too(tmp_path: Path) -> None:
    kind = "Microsoft.X/things@2024-01-01"
    place = tmp_path / "types" / "x_0" / "microsoft.x" / "2024-01-01"
    place.mkdir(parents=True)
    types: list[Any] = [
        {"$type": "StringType"},
        {"$type": "ObjectType", "name": "inner", "properties": {"host": {"type": reference(0), "flags": 2}}},
        {"$type": "ObjectType", "name": "body", "properties": {"properties": {"type": reference(1), "flags": 0}}},
        {"$type": "ResourceType", "name": kind, "body": reference(2)},
    ]
    (place / "types.json").write_text(json.dumps(types), "utf-8")
    outputs = "output b string = a.properties.host\noutput c string = a.properties.hots\n"
    (tmp_path / "a.bicep").write_text(f"resource a '{kind}' = {{\n  name: 'n'\n}}\n{outputs}", "utf-8")
    assert types_of(tmp_path, Published(tmp_path / "types")) == [f"a.bicep: {kind}: properties.hots is not published"]


def test_a_version_that_is_not_published_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.bicep").write_text("resource a 'Microsoft.X/things@2099-01-01' = {\n  name: 'n'\n}\n", "utf-8")
    assert types_of(tmp_path, Published(tmp_path)) == ["a.bicep: Microsoft.X/things@2099-01-01 is not published"]


def test_a_folder_of_types_that_is_not_there_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--types", "nowhere"]) == 2
    assert capsys.readouterr().err == "--types: nowhere is no folder\n"


def report(kind: str, *, failed: int = 0, unread: int = 0) -> dict[str, Any]:
    one = {"file_path": "/a.bicep", "check_id": "CKV_1", "check_name": "Ensure that", "resource": "b"}
    return {
        "check_type": kind,
        "results": {"failed_checks": [one] * failed},
        "summary": {"parsing_errors": unread},
    }


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        (json.dumps([report("bicep"), report("dockerfile")]), []),
        (
            json.dumps([report("bicep", failed=1), report("dockerfile")]),
            ["/a.bicep: CKV_1 Ensure that (b)"],
        ),
        (
            json.dumps([report("bicep", unread=2), report("dockerfile")]),
            ["checkov: 2 files of bicep were not read"],
        ),
        (json.dumps(report("dockerfile")), ["checkov: bicep was not looked at"]),
        ("no report", ["checkov: no report: it broke"]),
    ],
)
def test_what_checkov_says_and_what_it_passes_over_is_told(told: str, lines: list[str], tmp_path: Path) -> None:
    program = tmp_path / "checkov"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{told}\nEND\necho it broke >&2\nexit 0\n", "utf-8")
    program.chmod(0o755)
    assert found_by(program) == lines


def test_every_rule_that_is_passed_over_has_a_reason() -> None:
    lines = (INFRA / "checkov.yaml").read_text("utf-8").split("skip-check:\n")[1].splitlines()
    assert len(lines) > 5
    for line in lines:
        assert re.fullmatch(r"  - CKV_\w+ +# .{20,}", line), line


def test_a_program_that_is_not_there_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--checkov", "nowhere"]) == 2
    assert capsys.readouterr().err == "--checkov: nowhere is no program\n"


def test_every_file_was_read() -> None:
    assert len(files_of(INFRA)) == len(list(INFRA.rglob("*.bicep"))) > 10
