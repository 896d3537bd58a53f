"""`attest check`: checks answers against their sources, and gives back their claims and verdict."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from bot.commands.shared import options
from bot.commands.shared.html_file import HtmlFile
from bot.commands.shared.json_lines import Handle, answer_lines
from bot.commands.shared.output import emit_line, note
from bot.commands.shared.startup import run
from bot.http.json_forms import report_json
from bot.http.report_page import PAGE_MAX, report_page
from bot.rows.fields import Json
from bot.rows.forms import check_request
from bot.system import CheckRequest, System
from bot.view.report import ReportView, report_view
from rai.records import Report

app = options.command_app()


class FailOn(StrEnum):
    """Verdicts that can fail a run."""

    UNSUPPORTED = "unsupported"


@dataclass(slots=True)
class _Found:
    """How many answers have the verdict that fails the run, and the id of the first."""

    count: int = 0
    first: str = ""


class _Page:
    """The page that `--html` asks for, drawn as the rows pass and written when all have."""

    def __init__(self, file: HtmlFile | None) -> None:
        self._file = file
        self._views: list[ReportView] = []
        self._faults: list[str] = []
        self._left_out = 0

    @property
    def on_stdout(self) -> bool:
        """True if the page takes the place of the JSON lines."""
        return self._file is not None and self._file.on_stdout

    def take(self, identifier: str, request: CheckRequest, report: Report) -> None:
        """One more answer. What a page holds is bounded; the rest is counted."""
        if self._file is None:
            return
        if len(self._views) >= PAGE_MAX:
            self._left_out += 1
            return
        prefix = f"r{len(self._views) + 1}-" if self._views else ""
        self._views.append(
            report_view(identifier, request.answer, report, request.sources, question=request.question, prefix=prefix)
        )

    def emit(self, row: dict[str, Any]) -> None:
        """Take a line of the output: it goes to stdout unless the page does; the page says which lines were bad."""
        if not self.on_stdout:
            emit_line(row)
        if "error" in row and len(self._faults) < PAGE_MAX:
            self._faults.append(f"Line {row['line']} was not checked: {row['error']['message']}")

    def write(self) -> None:
        """Write the page, if one was asked for. Raises InputError."""
        if self._file is None:
            return
        page = report_page(self._views, alone=True, faults=self._faults, left_out=self._left_out)
        if self._file.on_stdout:
            sys.stdout.write(page)
            return
        self._file.write(page)
        shown = len(self._views)
        more = f", {self._left_out} more are not on it" if self._left_out else ""
        note(f"wrote {self._file.path}: {shown} {'answer' if shown == 1 else 'answers'}{more}")


@app.command()
def check(
    context: typer.Context,
    jsonl: options.Jsonl,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 1 if an answer has this verdict: for a gate in CI.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also write a page to read: answers beside their sources; - is stdout, without the JSON.",
        ),
    ] = None,
) -> None:
    """Check answers against their sources: every number, date, link, phone, name and sentence.

    A row is {"id", "answer", "sources": [{"id", "text", "title"?, "updated"?}], "question"?, "given"?, "at"?}; the
    line that comes back has the verdict, its score from 0 to 1, and each claim with the exact characters that support it.
    `updated` (a date) tells which of two sources is newer; `at` (a time) is when the conversation takes place.

    Examples:
      attest check --jsonl answers.jsonl > checked.jsonl
      attest check --jsonl - --fail-on unsupported < answers.jsonl
      attest check --jsonl answers.jsonl --html report.html > checked.jsonl
    """
    found = _Found()
    page = _Page(HtmlFile.of(html, inputs=[jsonl]) if html is not None else None)
    code = run(answer_lines(context, jsonl, lambda system: _checker(system, fail_on, found, page), page.emit))
    page.write()
    if found.count:
        note(f"{found.count} {fail_on} answer{'s' if found.count > 1 else ''}, the first is {found.first}")
    raise typer.Exit(code or int(found.count > 0))


def _checker(system: System, fail_on: FailOn | None, found: _Found, page: _Page) -> Handle:
    async def one(row: Json) -> dict[str, Any]:
        request = check_request(row)
        report = await system.check(request)
        if report.verdict == fail_on:
            found.count += 1
            found.first = found.first or row["id"]
        page.take(row["id"], request, report)
        return report_json(row["id"], report)

    return one
