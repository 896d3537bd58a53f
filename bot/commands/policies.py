"""`attest policies`: shows the retrieval and grading policies side by side, or one as a file."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, plain, table
from bot.commands.shared.startup import settings_of
from bot.wording.reviewing.policies import SIDE_BY_SIDE
from grounding.policies.files import policy_named
from grounding.policy import Policy

app = options.command_app()
NARROW = 130
"""Columns below which six policies do not stand side by side."""


@app.command()
def policies(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One policy in full, as a file that you may change.")
    ] = None,
    json: options.JsonFlag = False,
) -> None:
    """Show the policies side by side: what each searches for, how it grades, what decides, and what it does when that is not enough.

    A company's own policy is a file HOME/policies/NAME.yaml with the fields that differ from its base; `attest policies NAME`
    prints one to start from. The setting ATTEST_POLICY names the one that counts, `attest ask --policy NAME` another for one turn.

    Examples:
      attest policies
      attest policies hybrid-crag
      attest policies --json
    """
    settings = settings_of()
    known = settings.files.policies
    shown = [policy_named(name, known)] if name else list(known.values())
    if json:
        emit({"default": settings.answering.policy, "policies": [_json(policy) for policy in shown]})
    elif name:
        typer.echo(as_file(shown[0]), nl=False)
    else:
        _print(shown, settings.answering.policy)


def as_file(policy: Policy) -> str:
    """The YAML text of a file that would make this policy: every field but its name."""
    values = {f.name: _plain(getattr(policy, f.name)) for f in fields(Policy) if f.name != "name"}
    return f"# {policy.name}\n" + yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=120)


def _json(policy: Policy) -> dict[str, Any]:
    return {name: _plain(value) for name, value in policy.as_json().items()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, dict) else value


def _print(shown: list[Policy], default: str) -> None:
    out = console()
    if out.width < NARROW:
        _print_each(out, shown, default)
    else:
        _print_table(out, shown, default)
    out.print(
        Text(f"* {default} counts unless a turn names another. `attest policies NAME` shows one in full.", style="dim")
    )


def _print_each(out: Console, shown: list[Policy], default: str) -> None:
    for policy in shown:
        out.print(Text(f"{policy.name} *" if policy.name == default else policy.name, style="bold"))
        out.print(Text(plain(policy.about), style="italic"))
        out.print(table(("", ""), [(title, words(policy)) for title, words in SIDE_BY_SIDE.items()]))
        out.print()


def _print_table(out: Console, shown: list[Policy], default: str) -> None:
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 1, 0))
    made.add_column("", style="dim", no_wrap=True)
    for policy in shown:
        made.add_column(f"{policy.name} *" if policy.name == default else policy.name, overflow="fold")
    for title, words in SIDE_BY_SIDE.items():
        made.add_row(title, *(Text(plain(words(policy))) for policy in shown))
    out.print(made)
