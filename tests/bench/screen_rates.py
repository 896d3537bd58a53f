"""Both error rates of the embedded screen on each set alone: the part that taught the classifier, and the part kept aside.

usage: python -m tests.bench.screen_rates MODEL.onnx DATA

MODEL.onnx is the screen's classifier (screen-int8.onnx beside the embedding model). Files of DATA/screen that taught nothing, your own
for instance, are measured whole.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from rai.embedded.classifier import Classifier
from rai.embedded.screen import EmbeddedScreen
from tools.screen_lessons.rows import LABELLED, is_aside, read

Row = dict[str, Any]
HEAD = f"{'set':<26}{'part':<9}{'n':>6}  {'must block: caught':>20}  {'must allow: stopped':>20}   (rules alone)"


async def measure(path: Path, data: Path) -> None:
    """Print a line for each set and part."""
    screens = [EmbeddedScreen(), EmbeddedScreen(Classifier(path))]
    _say(HEAD)
    for file in sorted((data / "screen").glob("*.jsonl")):
        rows = list(read(file))
        for part, chosen in _parts(file.stem, rows):
            await _line(file.stem, part, chosen, [[await _stopped(s, r) for r in chosen] for s in screens])
    for file in sorted((data / "injection").glob("*.jsonl")):
        rows = list(read(file))
        for part, chosen in _parts(file.stem, rows):
            await _line(file.stem, part, chosen, [[await _left_out(s, r["text"]) for r in chosen] for s in screens])
    for file in sorted((data / "retrieval").glob("*/corpus.jsonl")):
        rows = [{"label": "allow", "text": f"{r.get('title') or ''}\n{r['text']}"} for r in read(file)]
        await _line(
            file.parent.name, "passages", rows, [[await _left_out(s, r["text"]) for r in rows] for s in screens]
        )


def _parts(name: str, rows: list[Row]) -> list[tuple[str, list[Row]]]:
    if name not in (*LABELLED, "bipia_train"):
        return [("whole", rows)]
    return [("taught", [r for r in rows if not is_aside(name, r)]), ("aside", [r for r in rows if is_aside(name, r)])]


async def _stopped(screen: EmbeddedScreen, row: Row) -> bool:
    return (await screen.screen(row["text"])).blocked


async def _left_out(screen: EmbeddedScreen, text: str) -> bool:
    return (await screen.screen("", [text])).documents[0].verdict == "block"


async def _line(name: str, part: str, rows: list[Row], stopped: list[list[bool]]) -> None:
    rules, whole = stopped

    def share(label: str) -> str:
        places = [i for i, row in enumerate(rows) if row["label"] == label]
        if not places:
            return "–"
        alone, both = (100 * sum(s[i] for i in places) / len(places) for s in (rules, whole))
        return f"{both:.2f} % ({alone:.2f} %)"

    _say(f"{name:<26}{part:<9}{len(rows):>6}  {share('block'):>20}  {share('allow'):>20}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    asyncio.run(measure(Path(sys.argv[1]), Path(sys.argv[2])))
