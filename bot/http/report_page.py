"""Reports as a page: linked to this server's files, or standing alone in one file that needs no network."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence

from markupsafe import Markup

from bot.http.templating import rendered, static_files
from bot.view.report import ReportView

PAGE_MAX = 200
"""Answers on one page."""


def report_page(views: Sequence[ReportView], *, alone: bool, faults: Sequence[str] = (), left_out: int = 0) -> str:
    """The page of `views`. `alone`: with styles and script inside, admitted by their hashes and nothing else by its policy.

    `faults` are lines about what could not be checked, `left_out` how many answers were checked and are not shown.
    """
    title = f"{views[0].identifier or 'Report'} · Attest" if len(views) == 1 else "Reports · Attest"
    style, script = _files("attest.css", "report.css"), _files("report.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return rendered(
        "http/report_page.html",
        views=views,
        faults=faults,
        left_out=left_out,
        title=title,
        inline=alone,
        style=Markup(style),  # noqa: S704 - our own file, nothing of a report
        script=Markup(script),  # noqa: S704 - as above
        policy=policy,
    )


def _files(*names: str) -> str:
    return "".join(static_files()[name][0].decode() for name in names)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
