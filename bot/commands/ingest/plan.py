"""`attest ingest --dry-run`: what an ingest would do now, and what it would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal

from rich.filesize import decimal
from rich.table import Table

from bot.commands.shared.output import console, emit, note, plain, table
from bot.settings.settings import Settings
from grounding.records import IngestPlan, Refusal
from grounding.services.ceiling import Ceiling

LOCAL_WIDTH, NUMBER_BYTES = 384, 2
"""Numbers of a vector of the model on this machine, and bytes of one in the store (float16)."""
NUMBER_SENT, ROW_SENT = 12, 600
"""Characters of a number of a vector, and of all else but its text, in what is sent to Azure AI Search for a passage."""
_MILLION = Decimal(1_000_000)


def show_plan(planned: IngestPlan, settings: Settings, *, spent: int, json: bool) -> int:
    """Print a plan; the exit code: 2 if everything would be refused. `spent`: tokens that ingests had embedded today."""
    width = settings.embedding.known_width if settings.embedding.kind == "openai" else LOCAL_WIDTH
    cost, why = _cost(planned.tokens, settings)
    sizes = {
        "vector_bytes": planned.embedded * width * NUMBER_BYTES,
        "sent_bytes": _sent(planned, width) if settings.search.kind == "azure" else 0,
    }
    ceiling = settings.ceiling.within(settings.prices)
    waits = ceiling.waiting(planned.tokens, spent)
    if json:
        told = None if cost is None else format(cost, "f")
        money = {"cost": told, "currency": settings.prices.currency if told else None}
        limits = {"run_tokens": ceiling.run, "day_tokens": ceiling.day, "spent_today": spent, "tokens_waiting": waits}
        emit({**asdict(planned), **sizes, **money, "ceiling": None if ceiling.is_none else limits})
    else:
        _print(planned, sizes, why or f"{cost:f} {settings.prices.currency}")
        if not ceiling.is_none:
            note(_ceiling(ceiling, spent, waits))
    if settings.model.hyde == "model" and planned.embedded:
        note(
            "ATTEST_HYDE=model: a chat model is asked about each new passage as well; what it takes is not counted here"
        )
    taken = planned.added or planned.changed or planned.unchanged
    return 2 if planned.refused and not taken else 0


def _ceiling(ceiling: Ceiling, spent: int, waits: int) -> str:
    limits = [f"a run may take {ceiling.run:,} tokens ({ceiling.run_set_by})"] if ceiling.run is not None else []
    if ceiling.day is not None:
        limits.append(f"a day {ceiling.day:,} ({ceiling.day_set_by}), of which {spent:,} are taken")
    end = f"about {waits:,} would wait for a later run, found by words till then" if waits else "all of it fits"
    return f"{', '.join(limits)}; {end}"


def _cost(tokens: int, settings: Settings) -> tuple[Decimal | None, str]:
    """What embedding costs, to a hundredth of a cent upwards, or why that is not known."""
    if settings.embedding.kind != "openai":
        return Decimal(0), "none: the model on this machine"
    if settings.prices.embedding is None:
        return None, "unknown: ATTEST_PRICE_EMBEDDING is not set"
    return (tokens * settings.prices.embedding / _MILLION).quantize(Decimal("0.0001"), rounding="ROUND_UP"), ""


def _sent(planned: IngestPlan, width: int) -> int:
    return planned.chunks * (ROW_SENT + width * NUMBER_SENT) + planned.text_bytes


def _print(planned: IngestPlan, sizes: dict[str, int], cost: str) -> None:
    out = console()
    if planned.refused:
        out.print(refusals(planned.refused))
    note_opened(planned.opened)
    counts = " · ".join(f"{name} {getattr(planned, name):,}" for name in ("added", "changed", "unchanged", "deleted"))
    cut = sum(planned.rechunked.values())
    out.print(f"would be: {counts} · refused {len(planned.refused):,}" + (f" · cut anew {cut:,}" if cut else ""))
    rows = [
        ("chunks made", f"{planned.chunks:,}"),
        ("chunks embedded", f"{planned.embedded:,}"),
        ("tokens embedded, about", f"{planned.tokens:,}"),
        ("cost of embedding", cost),
        ("text of the chunks", decimal(planned.text_bytes)),
        ("vectors in the store", decimal(sizes["vector_bytes"])),
    ]
    rows += [("sent to Azure AI Search, about", decimal(sizes["sent_bytes"]))] if sizes["sent_bytes"] else []
    out.print(table(("", "now"), rows, right=("now",)))
    out.print(plain("nothing was changed; without --dry-run it is done"), style="dim")


def refusals(refused: Sequence[Refusal]) -> Table:
    """The documents that are not taken in, each with the reason."""
    return table(("refused", "code", "reason"), [(r.doc, r.code, r.reason) for r in refused])


def note_opened(opened: Sequence[str]) -> None:
    """A line where more people may read documents than before: the usual cause is a forgotten --acl."""
    if opened:
        named = ", ".join(opened[:5]) + (" …" if len(opened) > 5 else "")
        note(f"more people than before may now read {len(opened)} document(s): {named}; was --acl forgotten?")
