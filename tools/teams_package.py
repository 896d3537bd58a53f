"""Make the Teams app package: fill in the manifest, check it, zip it with the icons. Standard library only."""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "infra" / "teams"
ICONS = {"color.png": 192, "outline.png": 32}
HOST = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
LENGTHS = {("name", "short"): 30, ("name", "full"): 100, ("description", "short"): 80, ("description", "full"): 4000}
PAGES = {"WEBSITE": "--website", "PRIVACY": "--privacy", "TERMS": "--terms"}
SCOPES = {"personal", "team", "groupChat"}
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal input gives an equal file


class Refused(Exception):
    """What was given cannot be used; the message is one line for a person."""


def fill(
    template: str, *, app_id: str, domain: str, developer: str, version: str, pages: dict[str, str | None] | None = None
) -> dict[str, Any]:
    """The manifest with every placeholder replaced; `pages` missing from WEBSITE, PRIVACY, TERMS are the domain's root.

    Raises Refused.
    """
    try:
        app_id = str(uuid.UUID(app_id))
    except ValueError:
        raise Refused(
            f"--app-id: {app_id!r} is not a Microsoft App ID such as 11111111-2222-3333-4444-555555555555"
        ) from None
    if not HOST.fullmatch(domain.lower()):
        raise Refused(f"--domain: {domain!r} is not a host name such as bot.example.com (no https://, port or path)")
    if not re.fullmatch(r"\d{1,5}\.\d{1,5}\.\d{1,5}", version):
        raise Refused(f"--version: {version!r} is not of the form 1.0.0")
    if not 0 < len(developer) <= 32:
        raise Refused("--developer: 1 to 32 characters are allowed")
    values = {"APP_ID": app_id, "DOMAIN": domain.lower(), "DEVELOPER": developer, "VERSION": version}
    values |= {name: (pages or {}).get(name) or f"https://{domain.lower()}/" for name in PAGES}
    for name, value in values.items():
        template = template.replace("{{" + name + "}}", json.dumps(value)[1:-1])
    return dict(json.loads(template))


def check_manifest(manifest: dict[str, Any]) -> list[str]:
    """Rules of manifest 1.25 that the package depends on and breaks, as short lines; empty means it can be uploaded."""
    problems = [
        f"{'.'.join(path)}: missing or longer than {limit}"
        for path, limit in LENGTHS.items()
        if not 0 < len(str(_at(manifest, *path) or "")) <= limit
    ]
    problems += [
        f"{name}: missing"
        for name in ("$schema", "version", "id", "developer", "icons", "accentColor")
        if not manifest.get(name)
    ]
    if manifest.get("manifestVersion") != "1.25" or "/v1.25/" not in str(manifest.get("$schema")):
        problems.append("manifestVersion: 1.25 is needed, in $schema as well")
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", str(manifest.get("accentColor"))):
        problems.append("accentColor: a colour such as #0B5563 is needed")
    for name in ("websiteUrl", "privacyUrl", "termsOfUseUrl"):
        if not str(_at(manifest, "developer", name)).startswith("https://"):
            problems.append(f"developer.{name}: an https address is needed")
    if "{{" in json.dumps(manifest):
        problems.append("a placeholder was not filled in")
    for bot in manifest.get("bots", []):
        problems += _check_bot(bot, manifest)
    for extension in manifest.get("composeExtensions", []):
        problems += _check_extension(extension, manifest)
    sign_on = manifest.get("webApplicationInfo", {})
    if sign_on and (
        sign_on.get("id") != manifest.get("id") or str(manifest.get("id")) not in str(sign_on.get("resource"))
    ):
        problems.append("webApplicationInfo: its id and resource are those of the app")
    return problems


def _check_extension(extension: dict[str, Any], manifest: dict[str, Any]) -> list[str]:
    problems = [] if extension.get("botId") == manifest.get("id") else ["composeExtensions.botId: differs from id"]
    commands = extension.get("commands", [])
    if not 0 < len(commands) <= 10:
        problems.append("composeExtensions.commands: 1 to 10")
    for command in commands:
        name = f"command {command.get('id')!r}"
        if not (0 < len(command.get("title", "")) <= 32 and len(command.get("description", "")) <= 128):
            problems.append(f"{name}: title up to 32, description up to 128 characters")
        if command.get("type") == "query" and not command.get("parameters"):
            problems.append(f"{name}: a query needs a parameter")
        if command.get("type") == "action" and not command.get("fetchTask"):
            problems.append(f"{name}: an action without a dialog needs parameters, and has none")
    return problems


def languages_of(manifest: dict[str, Any]) -> list[str]:
    """Names of the files with the words of other languages."""
    return [entry["file"] for entry in _at(manifest, "localizationInfo", "additionalLanguages") or ()]


def check_language(strings: dict[str, Any], manifest: dict[str, Any]) -> list[str]:
    """What is wrong with the words of one language: a path that the manifest has not, a text too long, or one that is missing."""
    problems = []
    wanted = dict(_said(manifest))
    given = {path: text for path, text in strings.items() if path != "$schema"}
    problems += [f"{path}: not in the manifest" for path in given if path not in wanted]
    problems += [f"{path}: missing" for path in wanted if path not in given]
    problems += [
        f"{path}: longer than {wanted[path]}"
        for path, text in given.items()
        if path in wanted and len(text) > wanted[path]
    ]
    return problems


def _said(manifest: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Each path whose text is said in every language, and how long it may be there."""
    yield from (("name.short", 30), ("name.full", 100), ("description.short", 80), ("description.full", 4000))
    for i, bot in enumerate(manifest.get("bots", [])):
        for j, listed in enumerate(bot.get("commandLists", [])):
            yield from _said_of(f"bots[{i}].commandLists[{j}].commands", listed["commands"])
    for i, extension in enumerate(manifest.get("composeExtensions", [])):
        path = f"composeExtensions[{i}].commands"
        yield from _said_of(path, extension["commands"])
        for j, command in enumerate(extension["commands"]):
            yield from _said_of(f"{path}[{j}].parameters", command.get("parameters", []))


def _said_of(path: str, items: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    for n, _ in enumerate(items):
        yield f"{path}[{n}].title", 32
        yield f"{path}[{n}].description", 128


def _check_bot(bot: dict[str, Any], manifest: dict[str, Any]) -> list[str]:
    problems = []
    if bot.get("botId") != manifest.get("id"):
        problems.append("bots.botId: differs from id")
    if not set(bot.get("scopes", [])) <= SCOPES or not bot.get("scopes"):
        problems.append(f"bots.scopes: allowed are {', '.join(sorted(SCOPES))}")
    lists = bot.get("commandLists", [])
    if len(lists) > 3:
        problems.append("bots.commandLists: at most 3")
    for commands in lists:
        if not 0 < len(commands["commands"]) <= 10:
            problems.append("bots.commandLists.commands: 1 to 10")
        problems += [
            f"command {command['title']!r}: title up to 32, description up to 128 characters"
            for command in commands["commands"]
            if not (0 < len(command["title"]) <= 32 and 0 < len(command["description"]) <= 128)
        ]
    return problems


def check_icon(data: bytes, size: int) -> str | None:
    """Why an icon cannot be used, or None: PNG, `size` pixels square, 8-bit with alpha."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return "is not a PNG file"
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if (width, height) != (size, size):
        return f"is {width} x {height}, {size} x {size} is needed"
    return None if (data[24], data[25]) == (8, 6) else "is not 8-bit RGBA"


def write_package(manifest: dict[str, Any], source: Path, target: Path) -> None:
    """Write the zip: manifest and icons at its root. Raises Refused, and then leaves no file."""
    problems = check_manifest(manifest)
    icons = {name: (source / name).read_bytes() for name in ICONS}
    problems += [f"{name} {why}" for name, size in ICONS.items() if (why := check_icon(icons[name], size))]
    words = {name: (source / "languages" / name).read_bytes() for name in languages_of(manifest)}
    for name, data in words.items():
        problems += [f"languages/{name}: {problem}" for problem in check_language(json.loads(data), manifest)]
    if problems:
        raise Refused("; ".join(problems))
    files = {"manifest.json": json.dumps(manifest, indent=2, ensure_ascii=False).encode(), **icons, **words}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="teams_package.py", description=__doc__)
    parser.add_argument("--app-id", required=True, help="Microsoft App ID of the bot's registration")
    parser.add_argument(
        "--domain", required=True, help="host name under which the bot is reached, such as bot.example.com"
    )
    parser.add_argument(
        "--developer", default="Your organisation", help="name shown as the app's developer (32 characters)"
    )
    parser.add_argument("--version", default="1.0.0", help="version of the app package; raise it with every upload")
    for option, what in zip(PAGES.values(), ("website", "privacy statement", "terms of use"), strict=True):
        parser.add_argument(option, metavar="URL", help=f"https address of your {what}; default: the domain's root")
    parser.add_argument("--out", type=Path, default=Path("attest-teams.zip"), help="file to write")
    given = parser.parse_args(arguments)
    try:
        template = (SOURCE / "manifest.json").read_text(encoding="utf-8")
        manifest = fill(
            template,
            app_id=given.app_id,
            domain=given.domain,
            developer=given.developer,
            version=given.version,
            pages={name: getattr(given, option[2:]) for name, option in PAGES.items()},
        )
        write_package(manifest, SOURCE, given.out)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{given.out} is ready to upload: Teams admin center, or Apps > Manage your apps > Upload an app")
    return 0


if __name__ == "__main__":
    sys.exit(main())
