"""The Teams app package: what Teams would refuse is refused here, and the icons are what they say."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bot.teams.extension.messages import ANSWER_THIS, CHECK_THIS, SEARCH

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "teams_package.py"
APP = "11111111-2222-3333-4444-555555555555"


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _load(TOOL)
draw = _load(ROOT / "tools" / "icons" / "draw.py")
TEMPLATE = (ROOT / "infra" / "teams" / "manifest.json").read_text(encoding="utf-8")
GOOD: dict[str, Any] = tool.fill(TEMPLATE, app_id=APP, domain="bot.example.com", developer="Contoso", version="1.2.3")

_HTTPS = {"type": "string", "pattern": "^https://", "maxLength": 2048}
_SCOPES = {"type": "array", "items": {"enum": ["team", "personal", "groupChat", "copilot"]}, "minItems": 1}
SUBSET = {
    # our own reading of the rules of Teams manifest 1.25 for the fields that the package uses
    "type": "object",
    "additionalProperties": False,
    "required": ["manifestVersion", "version", "id", "developer", "name", "description", "icons", "accentColor"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "manifestVersion": {"const": "1.25"},
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$", "maxLength": 256},
        "id": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
        "developer": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name", "websiteUrl", "privacyUrl", "termsOfUseUrl"],
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 32},
                "websiteUrl": _HTTPS,
                "privacyUrl": _HTTPS,
                "termsOfUseUrl": _HTTPS,
            },
        },
        "name": {
            "type": "object",
            "required": ["short"],
            "properties": {"short": {"type": "string", "maxLength": 30}, "full": {"type": "string", "maxLength": 100}},
        },
        "description": {
            "type": "object",
            "required": ["short", "full"],
            "properties": {"short": {"type": "string", "maxLength": 80}, "full": {"type": "string", "maxLength": 4000}},
        },
        "icons": {"type": "object", "required": ["color", "outline"]},
        "accentColor": {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"},
        "composeExtensions": {
            "type": "array",
            "maxItems": 1,
            "items": {"type": "object", "required": ["botId", "commands"]},
        },
        "webApplicationInfo": {"type": "object", "additionalProperties": False, "required": ["id", "resource"]}
        | {"properties": {"id": {"type": "string"}, "resource": {"type": "string", "pattern": "^api://"}}},
        "localizationInfo": {"type": "object", "required": ["defaultLanguageTag", "additionalLanguages"]},
        "defaultInstallScope": {"enum": ["personal", "team", "groupChat", "meetings", "copilot"]},
        "validDomains": {"type": "array", "maxItems": 16, "items": {"type": "string", "pattern": "^[a-z0-9.-]+$"}},
        "bots": {
            "type": "array",
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["botId", "scopes"],
                "properties": {
                    "botId": {"type": "string"},
                    "scopes": _SCOPES,
                    "commandLists": {
                        "type": "array",
                        "maxItems": 3,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["scopes", "commands"],
                            "properties": {
                                "scopes": _SCOPES,
                                "commands": {
                                    "type": "array",
                                    "maxItems": 10,
                                    "items": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "required": ["title", "description"],
                                        "properties": {
                                            "title": {"type": "string", "maxLength": 32},
                                            "description": {"type": "string", "maxLength": 128},
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False)


def test_the_manifest_keeps_the_rules() -> None:
    jsonschema.Draft7Validator(SUBSET).validate(GOOD)
    assert tool.check_manifest(GOOD) == []
    assert GOOD["bots"][0]["botId"] == GOOD["id"] == APP
    assert GOOD["validDomains"] == ["bot.example.com"]
    assert set(GOOD["bots"][0]["scopes"]) == {"personal", "team", "groupChat"}
    assert ["personal"] in [c["scopes"] for c in GOOD["bots"][0]["commandLists"]]


def test_the_package_holds_manifest_icons_and_languages_at_its_root_and_is_the_same_each_time(tmp_path: Path) -> None:
    files = []
    for name in ("a.zip", "b.zip"):
        run = _run("--app-id", APP.upper(), "--domain", "Bot.Example.com", "--out", str(tmp_path / name))
        assert run.returncode == 0, run.stderr
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    with zipfile.ZipFile(tmp_path / "a.zip") as package:
        named = [f"{code}.json" for code in ("de", "fr", "es", "it", "pt", "nl")]
        assert package.namelist() == ["manifest.json", "color.png", "outline.png", *named]
        assert named == tool.languages_of(json.loads(package.read("manifest.json")))
        assert json.loads(package.read("manifest.json"))["validDomains"] == ["bot.example.com"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--app-id", "x", "--domain", "bot.example.com"], "--app-id"),
        (["--app-id", APP, "--domain", "https://bot.example.com"], "--domain"),
        (["--app-id", APP, "--domain", "bot.example.com:3978"], "--domain"),
        (["--app-id", APP, "--domain", "localhost"], "--domain"),
        (["--app-id", APP, "--domain", 'a"b.example'], "--domain"),
        (["--app-id", APP, "--domain", "bot.example.com", "--version", "1"], "--version"),
        (["--app-id", APP, "--domain", "bot.example.com", "--developer", "x" * 33], "--developer"),
        (["--app-id", APP, "--domain", "bot.example.com", "--privacy", "http://x.example"], "privacyUrl"),
    ],
)
def test_a_mistake_gets_one_line_and_no_file(tmp_path: Path, arguments: list[str], named: str) -> None:
    run = _run(*arguments, "--out", str(tmp_path / "a.zip"))
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1
    assert named in run.stderr
    assert not (tmp_path / "a.zip").exists()


def test_a_developer_name_cannot_break_out_of_its_field() -> None:
    name = 'A "quoted", {x}'
    made = tool.fill(TEMPLATE, app_id=APP, domain="bot.example.com", developer=name, version="1.0.0")
    assert made["developer"]["name"] == name


def test_help_says_what_is_needed() -> None:
    run = _run("--help")
    assert run.returncode == 0
    assert {"--app-id", "--domain", "--out"} <= set(run.stdout.replace("[", " ").split())


def _changed(path: list[Any], value: Any) -> dict[str, Any]:
    manifest = copy.deepcopy(GOOD)
    place: Any = manifest
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return manifest


COMMAND = ["bots", 0, "commandLists", 0, "commands", 0]
EXTENSION = ["composeExtensions", 0, "commands"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["name", "short"], "x" * 31),
        (["name", "short"], ""),
        (["description", "short"], "x" * 81),
        (["description", "full"], "x" * 4001),
        (["accentColor"], "blue"),
        (["manifestVersion"], "1.11"),
        (["version"], ""),
        (["developer", "websiteUrl"], "{{WEBSITE}}"),
        (["bots", 0, "botId"], "other"),
        (["bots", 0, "scopes"], ["everyone"]),
        ([*COMMAND, "title"], "x" * 33),
        ([*COMMAND, "description"], "x" * 129),
        (["bots", 0, "commandLists", 0, "commands"], [{"title": "t", "description": "d"}] * 11),
        (["composeExtensions", 0, "botId"], "other"),
        (EXTENSION, []),
        ([*EXTENSION, 0, "title"], "x" * 33),
        ([*EXTENSION, 0, "parameters"], []),
        ([*EXTENSION, 1, "fetchTask"], False),
        (["webApplicationInfo", "resource"], "api://bot.example.com"),
    ],
)
def test_near_misses_of_the_manifest_are_found(path: list[Any], value: Any) -> None:
    assert tool.check_manifest(_changed(path, value)) != []


@pytest.mark.parametrize("name", tool.languages_of(GOOD))
def test_each_language_says_all_that_is_said_and_nothing_else(name: str) -> None:
    words = json.loads((ROOT / "infra" / "teams" / "languages" / name).read_text("utf-8"))
    assert tool.check_language(words, GOOD) == []
    title = "composeExtensions[0].commands[0].title"
    assert tool.check_language({**words, title: "x" * 33}, GOOD) == [f"{title}: longer than 32"]
    assert tool.check_language({**words, "bots[7].title": "x"}, GOOD) != []
    del words[title]
    assert tool.check_language(words, GOOD) == [f"{title}: missing"]


def test_the_extension_has_the_commands_that_the_bot_answers() -> None:
    [made] = GOOD["composeExtensions"]
    assert [command["id"] for command in made["commands"]] == [SEARCH, ANSWER_THIS, CHECK_THIS]
    assert made["commands"][0]["parameters"][0]["name"] == "query"
    assert GOOD["webApplicationInfo"] == {"id": APP, "resource": f"api://bot.example.com/botid-{APP}"}


MICROSOFT = Path(os.environ.get("TEST_TEAMS") or ROOT / "build" / "teams") / "node_modules" / "@microsoft"
SCHEMAS = MICROSOFT / "app-manifest" / "build" / "json-schemas" / "teams"


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="Microsoft's schemas are not installed: make teams-tools")
@pytest.mark.parametrize("version", ["1.25", "1.30"])
def test_microsofts_own_schemas_take_the_package(version: str) -> None:
    text = json.dumps(GOOD).replace("1.25", version)
    schema = json.loads((SCHEMAS / f"v{version}" / "MicrosoftTeams.schema.json").read_text("utf-8-sig"))
    validator = jsonschema.Draft4Validator(schema)
    assert [error.message for error in validator.iter_errors(json.loads(text))] == []
    assert list(validator.iter_errors(json.loads(text) | {"name": {"short": "x" * 31}})) != []
    words = json.loads((SCHEMAS / f"v{version}" / "MicrosoftTeams.Localization.schema.json").read_text("utf-8-sig"))
    for name in tool.languages_of(GOOD):
        said = json.loads((ROOT / "infra" / "teams" / "languages" / name).read_text("utf-8"))
        assert [error.message for error in jsonschema.Draft4Validator(words).iter_errors(said)] == []


@pytest.mark.parametrize(("name", "size"), [("color.png", 192), ("outline.png", 32)])
def test_icons_are_valid_png_of_the_right_size(name: str, size: int) -> None:
    data = (ROOT / "infra" / "teams" / name).read_bytes()
    assert tool.check_icon(data, size) is None
    assert tool.check_icon(data, size + 1) is not None
    pixels = _pixels(data, size)
    alphas = {alpha for *_, alpha in pixels}
    if name == "color.png":
        assert alphas == {255}
    else:
        assert {0, 255} <= alphas
        assert {p[:3] for p in pixels} == {(255, 255, 255)}


def test_the_icons_are_those_that_the_script_draws() -> None:
    assert draw.png(draw.outline_rows()) == (ROOT / "infra" / "teams" / "outline.png").read_bytes()


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + b"\x00" * 40])
def test_what_is_not_an_icon_is_refused(data: bytes) -> None:
    assert tool.check_icon(data, 32) is not None


def _pixels(data: bytes, size: int) -> list[tuple[int, ...]]:
    """Pixels of a PNG as the script writes it: one IDAT, no filters; checksums are checked."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + length : at + 12 + length], "big")
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = size * 4 + 1
    assert len(raw) == stride * size
    rows = [raw[n * stride : (n + 1) * stride] for n in range(size)]
    assert {row[0] for row in rows} == {0}
    return [tuple(row[i : i + 4]) for row in rows for i in range(1, stride, 4)]
