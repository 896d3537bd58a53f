"""`attest doctor` on traces: off, or where they go and whether anybody takes them there; never a failure."""

from __future__ import annotations

import pytest

from tests.bot.commands.conftest import Attest
from tests.fakes.otlp_server import OtlpServer


def traces_line(attest: Attest) -> tuple[int, dict[str, str]]:
    ran = attest("doctor", "--json")
    return ran.code, next(check for check in ran.document["checks"] if check["name"] == "traces")


def test_off_is_said(attest: Attest) -> None:
    _, line = traces_line(attest)
    assert (line["status"], line["detail"]) == ("ok", "off")


def test_a_collector_that_answers_is_ok(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    with OtlpServer() as collector:
        monkeypatch.setenv("ATTEST_TRACES", "otlp")
        monkeypatch.setenv("ATTEST_TRACES_ENDPOINT", collector.endpoint + "/")
        code, line = traces_line(attest)
    assert (code, line["status"]) == (0, "ok")
    assert line["detail"].startswith("to a collector: answers")


@pytest.mark.parametrize(("path", "said"), [("", "does not answer"), ("/elsewhere", "nothing takes traces there")])
def test_one_that_does_not_stops_no_answer(
    path: str, said: str, attest: Attest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OtlpServer() as collector:
        monkeypatch.setenv("ATTEST_TRACES", "otlp")
        monkeypatch.setenv("ATTEST_TRACES_ENDPOINT", collector.endpoint + path if path else "http://127.0.0.1:9")
        code, line = traces_line(attest)
    assert (code, line["status"]) == (0, "note")
    assert said in line["detail"]
    assert "ATTEST_TRACES_ENDPOINT" in line["fix"]


def test_content_in_them_is_said(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_TRACES", "console")
    monkeypatch.setenv("ATTEST_TRACES_CONTENT", "on")
    _, line = traces_line(attest)
    assert "with questions, prompts and answers in them" in line["detail"]
