"""A reply as a person reads it on a terminal: what to send, where it comes from, and what to doubt. `--json` has the rest."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.commands.shared.output import console, plain, show_progress, table
from bot.records import OnStage, Reply, Stage
from bot.view.reply import ListedSource, ReplyView, view_of
from bot.wording.conversation.customer_text import MISSING
from bot.wording.notices import tells_empty
from bot.wording.reviewing.outcomes import outcome_sentence
from rai.records import Claim, Kind, Outcome

_STYLES = {
    Outcome.ANSWERED: "bold green",
    Outcome.REPAIRED: "bold yellow",
    Outcome.INSUFFICIENT: "bold yellow",
    Outcome.WITHHELD: "bold yellow",
    Outcome.BLOCKED: "bold red",
    Outcome.FAILED: "bold red",
}
_PLAIN = frozenset({"exact", "normalised", "entailed"})
_QUOTE_LINES = 2
_QUOTE_INDENT = 4
NOUNS: dict[Kind, tuple[str, str]] = {
    "number": ("number", "numbers"),
    "quantity": ("quantity", "quantities"),
    "money": ("amount", "amounts"),
    "percent": ("percentage", "percentages"),
    "date": ("date", "dates"),
    "time": ("time", "times"),
    "url": ("link", "links"),
    "email": ("e-mail address", "e-mail addresses"),
    "phone": ("phone", "phones"),
    "entity": ("name", "names"),
    "statement": ("sentence", "sentences"),
}
"""What claims of each kind are called where they are counted: one, and several."""
_CHUNK_ID = re.compile(r"\b[0-9a-f]{24}\b")


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


def _said_beside(out: Console, reply: ReplyView) -> None:
    """The parts of the question that are left open, and what may be said next."""
    if reply.unanswered and MISSING not in reply.answer:
        out.print(Text("\nnot answered: " + "; ".join(plain(part) for part in reply.unanswered), style="yellow"))
    if reply.suggestions:
        out.print(Text("\n" + " · ".join(plain(text) for text in reply.suggestions), style="dim"))


def print_reply(made: Reply, *, verbose: bool = False, out: Console | None = None, user: str | None = None) -> None:
    """Outcome, answer, sources, what to doubt, and notes on stdout; with `verbose` every claim, the draft and all timings."""
    out = out or console()
    reply = view_of(made)
    numbers = {source.chunk_id: f"[{source.n}]" for source in (*reply.offered, *reply.citations)}
    out.print(_head(reply))
    if reply.decided.line and not verbose:
        out.print(Text(plain(reply.decided.line), style="dim"))
    if reply.understood:
        out.print(Text("\n" + plain(reply.understood), style="dim"))
    out.print(Text("\n" + plain(reply.answer.strip())))
    _ask_back(out, reply, verbose=verbose)
    _said_beside(out, reply)
    for line in (reply.contact_notice, reply.web_notice):
        if line:
            out.print(Text("\n" + plain(line), style="yellow"))
    if reply.refusal_language and reply.entry_id:
        as_user = f" --as {shlex.quote(user)}" if user else ""
        out.print(Text(f"\nattest refusals report {reply.entry_id}{as_user}", style="dim"))
    _sources(out, "Sources", reply.citations, reply.claims)
    _checked(out, reply, numbers, verbose=verbose)
    _struck(out, reply, numbers, verbose=verbose)
    _sources(out, plain(reply.offered_as) or "You may want to read", reply.offered)
    _internal(out, reply)
    _listed(out, "Notes", reply.notes if verbose else reply.notes_for_person)
    if verbose:
        _decided(out, reply)
    out.print(Text("\n" + (_all_timings(reply) if verbose else _last_line(reply)), style="dim"))
    if reply.taken:
        out.print(Text(reply.taken, style="dim"))


def _listed(out: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        out.print(Text(f"\n{title}", style="bold"))
    for line in lines:
        out.print(_item(plain(line)))


def _head(reply: ReplyView) -> Text:
    style, sentence = _STYLES[Outcome(reply.outcome)], outcome_sentence(reply.outcome)
    if reply.intent:
        sentence = "small talk, nothing was searched for"
    if tells_empty(reply.answer):
        sentence = "there is nothing to answer from"
    if reply.outcome == Outcome.ANSWERED and (_doubtful(reply.claims) or reply.contact_notice):
        sentence = "nothing in it is unsupported, but look at what is listed below"
    return Text.assemble((reply.outcome, style), f" · {reply.code}" if reply.code else "", f" · {sentence}")


def _sources(out: Console, title: str, sources: Sequence[ListedSource], claims: Sequence[Claim] = ()) -> None:
    if not sources:
        return
    out.print(Text(f"\n{title}", style="bold"))
    for source in sources:
        place = filter(None, (source.name, source.place, source.url))
        origin = f" ({source.web})" if source.web else ""
        out.print(Text(f"[{source.n}] " + plain(" · ".join(place)) + origin))
        _quote(out, _leant_on(source, claims))


def _leant_on(source: ListedSource, claims: Sequence[Claim]) -> str:
    """The source's own sentences that the answer's sentences stand on; the citation's quote when there are none."""
    spans = [e for c in claims if c.kind == "statement" and c.status in _PLAIN for e in c.evidence]
    own = dict.fromkeys(e.text.strip() for e in spans if e.source == source.chunk_id and e.field == "text")
    return " … ".join(own) or source.quote


def _quote(out: Console, quote: str) -> None:
    """At most two lines of the quote, as wide as the console, with an ellipsis for what is cut."""
    words = plain(" ".join(quote.split()))
    if not words:
        return
    width = max(20, out.width - _QUOTE_INDENT)
    lines = [line.plain.strip() for line in Text(f"“{words}”").wrap(out, width)]
    if len(lines) > _QUOTE_LINES:
        lines = [*lines[: _QUOTE_LINES - 1], lines[_QUOTE_LINES - 1][: width - 2].rstrip(" ,;:") + "…”"]
    out.print(Padding(Text("\n".join(lines), style="italic"), (0, 0, 0, _QUOTE_INDENT), expand=False))


def _checked(out: Console, reply: ReplyView, numbers: Mapping[str, str], *, verbose: bool) -> None:
    """One line that counts what was checked, and a table of what a person should look at: with `verbose`, of everything."""
    claims = [claim for claim in reply.claims if not _leads_in(claim)]
    if claims:
        out.print(Text.assemble(("\nChecked: ", "bold"), checked_line(claims)))
    if verbose:
        _table(out, reply.claims, numbers)
    else:
        _table(out, _doubtful(claims), numbers)


def _doubtful(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that are neither found nor entailed, however the turn ended."""
    return [claim for claim in claims if claim.status not in _PLAIN and not _leads_in(claim)]


def _leads_in(claim: Claim) -> bool:
    """A sentence such as "Quoted from the sources:", which says nothing that could be wrong."""
    return claim.kind == "statement" and claim.status == "unchecked" and claim.text.rstrip().endswith(":")


def checked_line(claims: Sequence[Claim]) -> str:
    """What was checked, in words: `3 amounts, 1 phone: all found word for word; 2 sentences: all supported`."""
    values = [claim for claim in claims if claim.kind != "statement"]
    said = [claim for claim in claims if claim.kind == "statement"]
    parts = [f"{_counts(values)}: {_how(values)}"] if values else []
    parts += [f"{_counts(said)}: {_share(said)}supported"] if said else []
    return "; ".join(parts)


def _counts(claims: Sequence[Claim]) -> str:
    """As `2 amounts, 1 phone`, in the order in which the answer first has them."""
    return ", ".join(f"{n} {NOUNS[kind][n > 1]}" for kind, n in Counter(claim.kind for claim in claims).items())


def _how(values: Sequence[Claim]) -> str:
    if all(claim.status == "exact" for claim in values):
        return f"{_share(values)}found word for word"
    other = sum(claim.status == "normalised" for claim in values)
    return f"{_share(values)}found" + (f", {other} in another notation" if other else "")


def _share(claims: Sequence[Claim]) -> str:
    found = sum(claim.status in _PLAIN for claim in claims)
    if found == len(claims):
        return "all " if found > 1 else ""
    return "not plainly " if len(claims) == 1 else f"{found or 'none'} of {len(claims)} plainly "


def _table(out: Console, claims: Sequence[Claim], numbers: Mapping[str, str]) -> None:
    if not claims:
        return
    rows = [
        (
            claim.entity or claim.kind,
            Text(claim.status, style=_style(claim)),
            " ".join(dict.fromkeys(numbers.get(span.source, "another") for span in claim.evidence)) or "–",
            " ".join(claim.text.split()),
            _reason(claim, numbers),
        )
        for claim in claims
    ]
    out.print(Padding(table(("what", "status", "source", "text", "why"), rows), (1, 0, 0, 0), expand=False))


def _reason(claim: Claim, numbers: Mapping[str, str]) -> str:
    return _CHUNK_ID.sub(lambda match: numbers.get(match.group(), "another source"), claim.why)


def _style(claim: Claim) -> str:
    if claim.unsupported:
        return "red"
    return "green" if claim.status in _PLAIN else "yellow"


def _struck(out: Console, reply: ReplyView, numbers: Mapping[str, str], *, verbose: bool) -> None:
    """The draft's unsupported parts, each with its reason; the whole draft only when it is asked for or nothing stands out."""
    if reply.draft is None:
        return
    wrong = reply.draft.unsupported
    if wrong:
        out.print(Text("\nStruck from the draft", style="bold"))
    for claim in wrong:
        words = (plain(" ".join(claim.text.split())), "red strike")
        out.print(_item(Text.assemble(words, f"  {plain(_reason(claim, numbers))}")))
    if verbose or not wrong:
        out.print(Text("\nThe draft before the check, never sent", style="bold"))
        out.print(Text(plain(reply.draft.text), style="dim"))


def _internal(out: Console, reply: ReplyView) -> None:
    if not reply.internal:
        return
    out.print(Text("\nFor you alone, not for the customer", style="bold magenta"))
    for aside in reply.internal:
        out.print(_item(plain(aside.title)))
        _quote(out, aside.quote)


def _ask_back(out: Console, reply: ReplyView, *, verbose: bool) -> None:
    """The question to the human agent, with what it may be about."""
    asked = reply.asked_back
    if asked is None:
        return
    out.print(Text.assemble("\n", ("Ask back: ", "bold"), plain(asked.alone)))
    for option in asked.options:
        out.print(_item(plain(option)))
    if verbose:
        out.print(Text(plain(asked.why), style="dim"))


def _decided(out: Console, reply: ReplyView) -> None:
    """Which rule decided on the passages and by what margin, and what was done about it."""
    lines = reply.decided.lines()
    if lines:
        out.print(Text("\nDecided", style="bold"))
    for line in lines:
        out.print(Text(plain(line)))


def _item(words: str | Text) -> Text:
    return Text("- ").append(words)


def _last_line(reply: ReplyView) -> str:
    """Total time with the two slowest stages, and the entry, which `attest ledger show` takes: one line of 80 columns."""
    stages = {name: ms for name, ms in reply.timings_ms.items() if name != "total"}
    slowest = sorted(stages, key=lambda name: -stages[name])[:2]
    total = reply.timings_ms.get("total", sum(stages.values()))
    shown = ", ".join(f"{name} {stages[name]:.0f} ms" for name in slowest)
    parts = [f"{total / 1000:.1f} s ({shown})" if shown else "", f"entry {reply.entry_id}" if reply.entry_id else ""]
    return " · ".join(part for part in parts if part)


def _all_timings(reply: ReplyView) -> str:
    stages = [f"{name} {ms:.0f} ms" for name, ms in reply.timings_ms.items()]
    parts = [f"knowledge base {reply.kb_version}" if reply.kb_version else ""]
    parts += [f"{name} {value}" for name, value in reply.mode.items()]
    parts += [f"entry {reply.entry_id}" if reply.entry_id else ""]
    return " · ".join(stages) + "\n" + " · ".join(part for part in parts if part)
