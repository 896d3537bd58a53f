"""The options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on stdout instead of words.")]
Jsonl = Annotated[
    str, typer.Option("--jsonl", metavar="FILE", help="JSON lines to read, one object per line; - is stdin.")
]
OptionalJsonl = Annotated[
    str | None, typer.Option("--jsonl", metavar="FILE", help="JSON lines to read, one object per line; - is stdin.")
]
AsUser = Annotated[
    str | None,
    typer.Option("--as", metavar="USER", help="Who asks, as the directory knows them; without it a stranger."),
]
Product = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only documents of this product and documents of no product."),
]
Web = Annotated[
    bool, typer.Option("--web", help="Search the web too, however good what the knowledge base has may look.")
]


def command_app(purpose: str | None = None) -> typer.Typer:
    """A Typer app for one command, or for a group of commands, whose `purpose` its help begins with. Help is plain text: brackets in it are meant."""
    return typer.Typer(help=purpose, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
