"""Dashboard, rules, alerts and workbook: they look for what the program writes, and each is explained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rai.records import Outcome
from tools.lists import metrics

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "infra" / "monitoring"
DASHBOARD: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))
RULES: list[dict[str, Any]] = yaml.safe_load((MONITORING / "rules.yaml").read_text("utf-8"))["groups"][0]["rules"]
WORKBOOK: dict[str, Any] = json.loads((ROOT / "infra" / "workbook.json").read_text("utf-8"))
ALERTS = (ROOT / "infra" / "modules" / "alerts.bicep").read_text("utf-8")
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
OF_PROMETHEUS = {"up"}
QUERIES = re.findall(r"query: '(.*)'$", ALERTS, re.MULTILINE) + [
    item["content"]["query"] for item in WORKBOOK["items"] if item["type"] == 3
]


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression with the name of its panel or rule."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for rule in RULES:
        yield rule["alert"], rule["expr"]


def series() -> dict[str, set[str]]:
    """The program's series with their labels, histograms by their parts."""
    found: dict[str, set[str]] = {}
    for row in metrics().splitlines()[2:]:
        name, kind, labels = (cell.strip() for cell in row.strip("| ").split(" | ")[:3])
        own = set(re.findall(r"`(\w+)`", labels))
        name = name.strip("`")
        parts = {f"{name}_bucket": own | {"le"}, f"{name}_sum": own, f"{name}_count": own}
        found |= parts if kind == "histogram" else {name: own}
    return found


SERIES = series()
CASES = sorted(set(expressions()))


@pytest.mark.parametrize(("where", "expression"), CASES, ids=[where for where, _ in CASES])
def test_series_and_labels_are_the_programs(where: str, expression: str) -> None:
    names = set(re.findall(r"\b(attest_\w+|up)\b(?!\")", expression))
    assert names
    assert names - OF_PROMETHEUS <= SERIES.keys()
    labels = set(re.findall(r"(?:\{|, ?)(\w+) ?(?:=~|!=|=)", expression))
    labels |= {one.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for one in group.split(",")}
    known = set().union(*(SERIES.get(name, {"job"}) for name in names))
    assert labels <= known, where


def test_values_of_labels_are_the_programs() -> None:
    text = " ".join(expression for _, expression in expressions())
    assert set(re.findall(r'attest_turns_total\{outcome="(\w+)"', text)) <= {one.value for one in Outcome}
    telemetry = (ROOT / "docs" / "telemetry.md").read_text("utf-8")
    assert {"ok", "unrecorded"} <= set(re.findall(r"`(\w+)`", telemetry))


def test_a_name_that_is_not_the_programs_would_be_found() -> None:
    assert "attest_turn_total" not in SERIES
    assert {"attest_turns_total", "attest_turn_seconds_bucket", "attest_ledger_sound"} <= SERIES.keys()


def test_counters_are_read_as_rates_and_gauges_as_they_are() -> None:
    for where, expression in expressions():
        for name in re.findall(r"\b(attest_\w+(?:_total|_bucket))\b(?:\{[^}]*\})?", expression):
            assert re.search(rf"(?:rate|increase)\({name}(?:\{{[^}}]*\}})?\[\d+[mh]\]\)", expression), where


def test_every_panel_has_its_place() -> None:
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert len({p["id"] for p in DASHBOARD["panels"]}) == len(places)


@pytest.mark.parametrize("name", [*(rule["alert"] for rule in RULES), *re.findall(r"name: '(attest-[\w-]+)'", ALERTS)])
def test_every_alert_is_explained(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line)
    assert len([cell for cell in row.strip("|").split("|") if cell.strip()]) >= 3


def test_no_alert_is_explained_that_is_not_there() -> None:
    table = PAGE[PAGE.index("| On Azure | Prometheus |") :].split("\n\n")[0]
    named = {
        name
        for line in table.splitlines()[2:]
        for cell in line.split("|")[1:3]
        for name in re.findall(r"`([\w-]+)`", cell)
    }
    assert named == {rule["alert"] for rule in RULES} | set(re.findall(r"name: '(attest-[\w-]+)'", ALERTS))


def test_queries_look_for_what_is_in_the_log() -> None:
    code = "\n".join(p.read_text("utf-8") for p in (ROOT / "bot").rglob("*.py"))
    assert len(QUERIES) == 11
    for query in QUERIES:
        for message in re.findall(r'message\) startswith "([^"]+)"', query):
            assert f'"{message}' in code, message
        for name in re.findall(r"line\.(\w+)", query):
            assert f'"{name}": ' in code, name
        for logger in re.findall(r'line\.logger\) == "([^"]+)"', query):
            assert f'getLogger("{logger}")' in code, logger
        for outcome in re.findall(r'line\.outcome\) == "(\w+)"', query):
            assert outcome in {one.value for one in Outcome}


def test_the_tables_and_the_app_of_the_queries_are_those_of_the_deployment() -> None:
    environment = (ROOT / "infra" / "modules" / "environment.bicep").read_text("utf-8")
    main = (ROOT / "infra" / "main.bicep").read_text("utf-8")
    tables = set(re.findall(r"category: '(\w+)'", environment))
    [app] = re.findall(r"var appName = '(\w+)'", main)
    turns, lines = re.findall(r"var (?:turns|lines) = '(.*)'$", ALERTS, re.MULTILINE)
    for query in (turns, lines, *(item["content"]["query"] for item in WORKBOOK["items"] if item["type"] == 3)):
        assert query.split(" | ")[0] in tables
        assert re.search(rf'ContainerAppName == "({app}|\$\{{appName\}})"', query)
