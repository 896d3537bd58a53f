"""Puts every text of a folder through what reads texts from outside, and tells what raises and what takes too long.

`python -m tools.fuzz DATA [--sample 2000] [--seed N] [--workers 2]`: each text as question and as passage of the screen, as answer against the
sources of the row after it (the whole check, with repair; a rule that raises is a find), as pasted conversation, and through the redactor. Each use runs in a process that is ended past its
limit. Exit code 1 when something was found: a line each, FILE:ROW, the use, and the exception with its place or the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bot.turn.conversation.pasted import read_pasted
from grounding.errors import InputError
from grounding.query.conversation import last_turn_query, missing_names, spoken_of
from grounding.records import Turn
from rai.check.provenance import CheckPorts, check
from rai.embedded.screen import EmbeddedScreen
from rai.personal.redact import Redactor
from rai.records import Source

LIMIT_S = 2.0
"""Wall time that one use of one text may take. What overruns is tried once more, alone: a busy machine is no find."""
WARM_S = 60.0
"""Time for a new process to load what the first text needs."""
_SUFFIXES = frozenset({".md", ".txt", ".html", ".csv", ".eml", ".yaml", ".json"})


@dataclass(frozen=True, slots=True)
class Text:
    """One text and where it stands, "answers/shop.jsonl:12"; `sources` of the row after it, to be checked against."""

    place: str
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Find:
    """`what`: "slow: 2.0 s", or an exception's type and the line that raised it. Never the text."""

    place: str
    use: str
    what: str


# --- the ways a text is used ------------------------------------------------------------------------------------------


def as_question(text: Text) -> None:
    """The screen, as it judges a user's turn."""
    asyncio.run(EmbeddedScreen().screen(text.text))


def as_passage(text: Text) -> None:
    """The screen, as it judges a passage."""
    asyncio.run(EmbeddedScreen().screen("", [text.text]))


class RuleFailed(Exception):
    """A rule of the check raised. The check goes on without it, says so in its notes, and would hide it from this run."""


def as_answer(text: Text) -> None:
    """The whole check with its repair, against the sources of another row. Raises RuleFailed."""
    sources = [Source(f"s{i}", s) for i, s in enumerate(text.sources)]
    report = asyncio.run(check(text.text, sources, text.text[:300], ports=CheckPorts()))
    failed = [note.rpartition(": ")[2] for note in report.notes if note.startswith("a rule failed")]
    if failed:
        raise RuleFailed(failed[0])


def as_conversation(text: Text) -> None:
    """A pasted conversation, and the query that is made of it."""
    pasted = read_pasted(text.text)
    turns = (*(pasted.history if pasted else ()), Turn("user", pasted.question if pasted else text.text))
    missing_names(turns, len(turns) - 1)
    spoken_of(turns, len(turns) - 1)
    with suppress(InputError):  # of a conversation without words, which is told in one line
        last_turn_query(turns, "fuzz")


_REDACTOR = Redactor()


def as_record(text: Text) -> None:
    """The redactor, as it masks what goes to ledger and logs."""
    _REDACTOR.find(text.text)


Use = Callable[[Text], object]
USES: dict[str, Use] = {
    "question": as_question,
    "passage": as_passage,
    "answer": as_answer,
    "conversation": as_conversation,
    "record": as_record,
}
_WARM = Text(
    "", "Please call Anna Brandt at 020 7946 0321: on 3 March 2026 the pack weighed 2 kg.", ("The pack weighs 2000 g.",)
)
"""Loads what the first text pays for: recognisers, and units with their factors."""


# --- texts ------------------------------------------------------------------------------------------------------------


def texts(folder: Path) -> list[Text]:
    """Every text of the files under `folder`: each string of a row of JSON lines, and other text files whole."""
    rows = [(place, list(_strings(row))) for place, row in _rows(folder)]
    out, after = list[Text](), tuple[str, ...](("",))
    for place, strings in reversed(rows):
        out += [Text(place, s, after) for s in strings]
        after = tuple(strings[:6]) or after
    return list({(t.text): t for t in out}.values())


def _rows(folder: Path) -> Iterator[tuple[str, Any]]:
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.suffix == ".jsonl":
            for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
                yield f"{name}:{number}", json.loads(line) if line.strip() else ""
        elif file.suffix in _SUFFIXES:
            yield f"{name}:1", file.read_text("utf-8", "replace")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value] if len(value) > 8 else []
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


# --- running ----------------------------------------------------------------------------------------------------------


class Worker:
    """A process that uses texts one by one, and is ended and replaced when one takes too long."""

    def __init__(self, uses: dict[str, Use], limit_s: float) -> None:
        self._uses, self._limit_s = uses, limit_s
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("fork")
        self._end, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._uses), daemon=True)
        self._process.start()
        other.close()
        if not self._end.poll(WARM_S):
            raise TimeoutError("a new process was not ready in time")
        self._end.recv()

    def find(self, text: Text, use: str) -> Find | None:
        """What is wrong with this use of the text, or None."""
        for _ in range(2):
            self._end.send((text, use))
            if not self._end.poll(self._limit_s):
                self._replace()
                continue
            try:
                what = self._end.recv()
            except EOFError:
                self._replace()
                return Find(text.place, use, "the process died")
            return Find(text.place, use, what) if what else None
        return Find(text.place, use, f"slow: over {self._limit_s:g} s")

    def _replace(self) -> None:
        self.close()
        self._begin()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._end.close()


def _serve(end: Connection, uses: dict[str, Use]) -> None:
    for use in uses.values():
        use(_WARM)
    end.send("warm")
    while True:
        text, use = end.recv()
        try:
            uses[use](text)
            end.send("")
        except RuleFailed as failed:
            end.send(f"a rule failed: {failed}")
        except Exception as error:  # noqa: BLE001 - every exception is a find
            last = traceback.extract_tb(error.__traceback__)[-1]
            end.send(f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} in {last.name}")


def fuzz(
    found_in: Sequence[Text],
    uses: dict[str, Use] | None = None,
    *,
    limit_s: float = LIMIT_S,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> list[Find]:
    """Every use of every text; finds are said as they come, and progress every thousand texts."""
    uses = USES if uses is None else uses
    waiting, finds, done, lock = iter(found_in), list[Find](), 0, threading.Lock()

    def run() -> None:
        nonlocal done
        worker = Worker(uses, limit_s)
        while True:
            with lock:
                text = next(waiting, None)
            if text is None:
                worker.close()
                return
            for found in filter(None, (worker.find(text, use) for use in uses)):
                finds.append(found)
                say(f"{found.place}: {found.use}: {found.what}")
            with lock:
                done += 1
                if done % 1000 == 0:
                    say(f"{done} of {len(found_in)} texts, {len(finds)} finds")

    with ThreadPoolExecutor(workers) as pool:
        for ended in [pool.submit(run) for _ in range(workers)]:
            ended.result()
    return finds


def main(arguments: Sequence[str] | None = None, uses: dict[str, Use] | None = None) -> int:
    """Exit code 0 when nothing was found, 1 when something was, 2 when the folder holds no text."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="so many texts drawn by chance; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    every = texts(given.data)
    if not every:
        print(
            f"{given.data} holds no text: files of {', '.join(sorted({'.jsonl', *_SUFFIXES}))} are read",
            file=sys.stderr,
        )
        return 2
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every))) if given.sample else every
    begun = time.monotonic()
    uses = USES if uses is None else uses
    finds = fuzz(chosen, uses, workers=given.workers, say=lambda line: print(line, flush=True))
    print(
        f"{len(chosen)} of {len(every)} texts, {len(uses)} uses each, {time.monotonic() - begun:.0f} s: {len(finds)} finds"
    )
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
