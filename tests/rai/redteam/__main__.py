"""`python -m tests.rai.redteam [--table FILE]… [--by FIELD] [--misses] [--write]`: how the screen fares on the red-team table.

--misses names what it gets wrong outside the part kept aside; --write keeps that as known for the test, and what is borderline, for
which it judges the table with a laxer and with a stricter classifier as well. --table measures
other files of the same form. --rows FILE judges nothing: it writes the attacks that stand in documents as rows for `attest eval planted`. ATTEST_MODEL_FILE saves the building of the models.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from bot.settings.load import load_settings
from tests.e2e.processes import settings_over
from tests.other_model import MARGIN, built, shifted
from tests.rai.redteam.drive import Judged, judge
from tests.rai.redteam.figures import FIELDS, Field, Figures, by, figures, missed, parts, refused, write_known
from tests.rai.redteam.table import load, planted_rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Drive the table and print what became of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.rai.redteam", description=__doc__)
    parser.add_argument("--table", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--by", choices=FIELDS, default="family", dest="field")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    if given.table and given.write:
        parser.error("--write keeps what is known of the whole table; leave out --table")
    if given.rows:
        given.rows.parent.mkdir(parents=True, exist_ok=True)
        given.rows.write_text("".join(json.dumps(row) + "\n" for row in planted_rows(load(given.table))), "utf-8")
        return 0
    with TemporaryDirectory(prefix="attest-redteam-") as name:
        scratch = Path(name)
        model = _model(scratch)
        judged = _judged(given.table, model, scratch / "as-built")
        if given.write:
            lax, strict = (shifted(model, scratch / kind, by) for kind, by in (("lax", -MARGIN), ("strict", MARGIN)))
            write_known(*(_judged((), moved, moved.parent / "judged") for moved in (lax, strict)))
    dev, aside = parts(judged)
    Console(width=100).print(_figures_table(given.field, dev, aside))
    if given.misses:
        sys.stdout.writelines(f"missed   {name}\n" for name in sorted(missed(dev)))
        sys.stdout.writelines(f"refused  {name}\n" for name in sorted(refused(dev)))
    return 0


def _model(scratch: Path) -> Path:
    """The models that the settings name, or, where there are none, such as set-up builds."""
    settings = load_settings()
    return settings.files.model_path if settings.files.screen_model_path.exists() else built(scratch / "model")


def _judged(tables: Sequence[Path], model: Path, scratch: Path) -> list[Judged]:
    scratch.mkdir(parents=True)
    return asyncio.run(judge(load(tables), settings_over(scratch / "home", model), scratch))


def _figures_table(field: Field, dev: Sequence[Judged], aside: Sequence[Judged]) -> Table:
    table = Table(field, "ideas", "attacks stopped", "of them not read", "twins refused")
    for name, figure in by(field, dev).items():
        table.add_row(name, *_cells(figure))
    table.add_section()
    for part, judged in (("all of these", dev), ("kept aside", aside)):
        if judged:
            table.add_row(part, *_cells(figures(judged)))
    return table


def _cells(f: Figures) -> tuple[str, ...]:
    return str(f.ideas), f"{f.stopped} ({f.caught:.0%})", str(f.unread), f"{f.refused} ({f.turned_away:.1%})"


if __name__ == "__main__":
    sys.exit(main())
