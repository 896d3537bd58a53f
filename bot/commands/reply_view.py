"""A reply as a person reads it on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.commands.output import console, plain, show_progress, table
from bot.records import Citation, OnStage, Reply, Stage
from rai.records import Claim, Outcome

_OUTCOME_STYLE = {
    Outcome.ANSWERED: "bold green",
    Outcome.REPAIRED: "bold yellow",
    Outcome.INSUFFICIENT: "bold yellow",
    Outcome.WITHHELD: "bold yellow",
    Outcome.BLOCKED: "bold red",
    Outcome.FAILED: "bold red",
}


@contextmanager
def stage_line(*, shown: bool) -> Iterator[OnStage | None]:
    """A line on stderr that names the stage of the turn; None where no person looks on."""
    if not shown or not show_progress():
        yield None
        return
    with console(sys.stderr).status("…") as status:

        async def on_stage(stage: Stage) -> None:
            status.update(Text(plain(stage.label)))

        yield on_stage


def print_reply(reply: Reply) -> None:
    """Outcome, answer, sources, claims, notes and timings on stdout."""
    out = console()
    head = Text(reply.outcome.value, style=_OUTCOME_STYLE[reply.outcome])
    if reply.code:
        head.append(f" · {reply.code}", style="default")
    out.print(head)
    out.print(Text(plain(reply.answer)))
    _sources(out, "Sources", reply.citations)
    _sources(out, "You may want to read", reply.offered)
    numbers = {citation.chunk_id: f"[{citation.n}]" for citation in reply.citations}
    _struck(out, reply, numbers)
    _claims(out, reply.claims, numbers)
    _notes(out, reply)
    out.print(Text(_last_line(reply), style="dim"))


def _sources(out: Console, title: str, citations: Sequence[Citation]) -> None:
    if not citations:
        return
    out.print(Text(f"\n{title}", style="bold"))
    for citation in citations:
        place = [citation.title or citation.doc_id, citation.locator, citation.url]
        origin = " (web)" if citation.origin == "web" else ""
        out.print(Text(f"[{citation.n}] " + plain(" · ".join(part for part in place if part)) + origin))
        out.print(Padding(Text(f"“{plain(citation.quote.strip())}”", style="italic"), (0, 0, 0, 4), expand=False))


def _struck(out: Console, reply: Reply, numbers: Mapping[str, str]) -> None:
    if reply.draft is not None:
        out.print(Text("\nThe draft before repair", style="bold"))
        out.print(Text(plain(reply.draft.text), style="dim strike"))
        wrong = [claim for claim in reply.draft.claims if claim.unsupported]
        _claims(out, wrong, numbers, title="What was wrong with it")


def _claims(out: Console, claims: Sequence[Claim], numbers: Mapping[str, str], title: str = "Claims") -> None:
    if not claims:
        return
    out.print(Text(f"\n{title}", style="bold"))
    rows = [
        (
            claim.entity or claim.kind,
            " ".join(claim.text.split()),
            Text(claim.status, style=_status_style(claim)),
            " ".join(dict.fromkeys(numbers.get(span.source, span.source) for span in claim.evidence)) or "–",
            claim.why,
        )
        for claim in claims
    ]
    out.print(table(("kind", "text", "status", "source", "why"), rows))


def _status_style(claim: Claim) -> str:
    if claim.unsupported:
        return "red"
    return "yellow" if claim.status in ("conflict", "unchecked") else "green"


def _notes(out: Console, reply: Reply) -> None:
    lines = [*reply.notes, *(f"for you alone: {n.title}: “{n.quote.strip()}”" for n in reply.internal_notes)]
    if lines:
        out.print(Text("\nNotes", style="bold"))
        for line in lines:
            out.print(Text("- " + plain(line)))


def _last_line(reply: Reply) -> str:
    stages = " · ".join(f"{name} {ms:.0f} ms" for name, ms in reply.timings_ms.items())
    parts = [stages, f"knowledge base {reply.kb_version}" if reply.kb_version else "", f"entry {reply.entry_id}"]
    return "\n" + " · ".join(part for part in parts if part)
