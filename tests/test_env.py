"""The example files of settings: every line is a setting with an allowed value, and each way of running starts as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.settings.forms import PREFIX
from bot.settings.load import load_settings
from bot.settings.settings import PLACES, Settings

ROOT = Path(__file__).parents[1]
WAYS = sorted((ROOT / "env").glob("*.env.example"))
FILES = [ROOT / ".env.example", *WAYS]
_LINE = re.compile(r"^(# )?(ATTEST_[A-Z_]+)=(.*)$", re.MULTILINE)
NEEDED = {
    "ATTEST_OPENAI_API_KEY": "k",
    "ATTEST_SERPAPI_KEY": "k",
    "ATTEST_TAVILY_KEY": "k",
    "ATTEST_BOT_TENANT_ID": "t",
    "ATTEST_BOT_APP_PASSWORD": "k",
    "ATTEST_MODERATION_KEY": "k",
    "ATTEST_CONTENT_SAFETY_ENDPOINT": "https://name.example",
}
SIGN_IN = {
    "ATTEST_SIGNIN_ISSUER": "https://name.example",
    "ATTEST_SIGNIN_CLIENT_ID": "k",
    "ATTEST_SIGNIN_READERS": "k",
    "ATTEST_PUBLIC_URL": "https://name.example",
}
"""What lines of .env.example lean on, as its headings say."""
LEANS = {
    "ATTEST_SEARCH": {"ATTEST_SEARCH": "azure", "ATTEST_SEARCH_ENDPOINT": "https://name.search.windows.net"},
    "ATTEST_EMBEDDING": {"ATTEST_EMBEDDER": "openai"},
    "ATTEST_OPENAI_SCOPE": {
        "ATTEST_OPENAI_API_KEY": "",
        "ATTEST_OPENAI_BASE_URL": "https://name.openai.azure.com/openai/v1/",
    },
    "ATTEST_SUMMARIZER": {"ATTEST_LANGUAGE_ENDPOINT": "https://name.example"},
    "ATTEST_PII": {"ATTEST_LANGUAGE_ENDPOINT": "https://name.example"},
    "ATTEST_LANGUAGE_KEY": {"ATTEST_LANGUAGE_ENDPOINT": "https://name.example"},
    "ATTEST_GRAPH": {"ATTEST_DIRECTORY": "graph"},
    "ATTEST_PROXIES": {"ATTEST_LOCAL": "off"},
    "ATTEST_SIGNIN": SIGN_IN,
    "ATTEST_REVIEW": SIGN_IN,
    "ATTEST_TRACES": {"ATTEST_TRACES": "otlp"},
    "ATTEST_PRICE": {"ATTEST_PRICE_INPUT": "5", "ATTEST_PRICE_OUTPUT": "10"},
    "ATTEST_TURN_COST": {"ATTEST_PRICE_INPUT": "5", "ATTEST_PRICE_OUTPUT": "10"},
}


def lines(path: Path, *, commented: bool) -> list[tuple[str, str]]:
    """Names and values of a file: those that stand, or those that a person may put in."""
    found = _LINE.findall(path.read_text("utf-8"))
    return [(name, value.split(" #")[0].strip()) for mark, name, value in found if bool(mark) is commented]


def start(folder: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> Settings:
    """The settings of a folder with this `.env`."""
    monkeypatch.chdir(folder)
    for name in given:
        monkeypatch.delenv(name, raising=False)
    (folder / "groups.yaml").write_text("groups: {}", "utf-8")
    (folder / ".env").write_text("".join(f"{n}={v}\n" for n, v in given.items()), encoding="utf-8")
    return load_settings()


def written(path: Path) -> dict[str, str]:
    """The lines of a way of running, filled in as its person would."""
    filled = {name: value or filling(name) for name, value in lines(path, commented=False)}
    return {name: value.replace("NAME", "name") for name, value in filled.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_is_a_setting(path: Path) -> None:
    known = {PREFIX + name.upper() for name in PLACES}
    named = [name for commented in (False, True) for name, _ in lines(path, commented=commented)]
    assert named
    assert set(named) <= known


@pytest.mark.parametrize("path", WAYS, ids=lambda path: path.name)
def test_each_way_starts_as_it_stands(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = start(tmp_path, monkeypatch, written(path))
    assert settings.model.generator == ("extractive" if path.name.startswith(("compose", "embedded")) else "openai")


def blocks(path: Path) -> list[dict[str, str]]:
    """Lines that a person may put in, those together that stand together."""
    found = re.findall(r"(?:^# ATTEST_[A-Z_]+=.*\n)+", path.read_text("utf-8"), re.MULTILINE)
    return [{name: value.split(" #")[0].strip() for _, name, value in _LINE.findall(block)} for block in found]


@pytest.mark.parametrize(
    ("path", "block"),
    [(path, block) for path in WAYS for block in blocks(path)],
    ids=lambda part: part.name if isinstance(part, Path) else next(iter(part)),
)
def test_what_may_be_put_in_is_allowed(
    path: Path, block: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**written(path), **{name: value or filling(name) for name, value in block.items()}}
    if "ATTEST_CLOUD" in block:  # the names of another cloud end otherwise
        given = {k: v.replace(".azure.com", ".azure.us").replace(".windows.net", ".azure.us") for k, v in given.items()}
    assert start(tmp_path, monkeypatch, given)


def filling(name: str) -> str:
    """What a person puts in where a line leaves it open."""
    return "3f2504e0-4f89-11d3-9a0c-0305e82c3301" if name.endswith("_ID") else "k"


@pytest.mark.parametrize(("name", "value"), lines(FILES[0], commented=True))
def test_every_line_of_the_whole_example_is_allowed(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = dict(NEEDED, ATTEST_SCREEN="embedded")
    for prefix, needed in LEANS.items():
        given |= needed if name.startswith(prefix) else {}
    assert start(tmp_path, monkeypatch, given | ({name: value} if value else {}))


def test_all_on_azure_is_all_on_azure() -> None:
    named = dict(lines(ROOT / "env" / "azure.env.example", commented=False))
    wanted = {
        "GENERATOR": "openai",
        "GRADER": "model",
        "EMBEDDER": "openai",
        "SEARCH": "azure",
        "SCREEN": "content_safety",
        "ENTITIES": "language",
        "SUMMARIZER": "language",
        "PII": "language",
        "DIRECTORY": "graph",
    }
    assert {name: named[f"{PREFIX}{name}"] for name in wanted} == wanted
    assert not [name for name in named if name.endswith(("_KEY", "_PASSWORD"))]
