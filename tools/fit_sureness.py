"""Fits when to quote at all, and tries it on companies that it was not fitted on.

usage: attest eval turns --data COMPANIES --keep HOMES
       python -m tools.fit_sureness HOMES COMPANY…

Each COMPANY is a folder as `attest eval turns` takes it, whose home was kept as HOMES/NAME. Every turn that is searched for is asked once more and
answered with quotes however unsure; right is what `attest eval turns` calls so of a question that can be answered. Reported: for each company the
shares of its turns by coefficients fitted on the others, and if everything were quoted; then the coefficients over all.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.compose.parts import block_reader
from bot.compose.system import compose
from bot.evaluate.rows import load
from bot.evaluate.suites.turns.facts import TurnRow, Verdict, judged, turn_row
from bot.http.json_forms import parse_ask
from bot.settings.load import load_settings
from grounding.embedded.composer import ExtractiveComposer, quotes
from grounding.quoting.choose import choose
from grounding.quoting.sureness import LEAST, NAMES, SURE, needed, sure_features
from grounding.quoting.unknown import unknown_name
from grounding.records import LEAD_IN, Prompt
from tools.fitting.logistic import Matrix, logistic

RIDGE = 5.0


@dataclass(frozen=True, slots=True)
class Example:
    """A turn: its features, the grade of its best passage, whether quoting is open at all, and the verdicts if it is quoted and if not."""

    features: tuple[float, ...]
    grade: float
    may: bool
    quoted: Verdict
    refused: Verdict

    @property
    def is_right(self) -> bool:
        """True if quotes answer a question that can be answered."""
        return self.quoted == "right" and self.refused != "right"


async def example(composer: ExtractiveComposer, row: TurnRow, prompt: Prompt) -> Example | None:
    """What quoting makes of a prompt; None where there is nothing to quote."""
    weighed = await composer.weighed(prompt)
    if weighed is None:
        return None
    asked = " ".join(part.text for part in weighed.reading.parts)
    unknown = unknown_name(asked, weighed.found, weighed.passages, weighed.best)
    high = max(max(part) for part in weighed.scores)
    return Example(
        sure_features(weighed.reading, weighed.found, weighed.scores, weighed.near),
        max(e.score for e in prompt.evidence),
        not unknown and high >= needed(LEAST, max(e.score for e in prompt.evidence)),
        judged(
            row,
            {"outcome": "answered", "answer": "\n".join((LEAD_IN, *quotes(weighed, choose(weighed), prompt.evidence)))},
        ),
        judged(row, {"outcome": "insufficient"}),
    )


async def company(homes: Path, folder: Path) -> list[Example]:
    """Examples of the turns of a company that are searched for."""
    home, directory = homes / folder.name, folder / "directory.yaml"
    people = {"directory": "file", "directory_file": directory} if directory.is_file() else {}
    settings = load_settings(home=home, ledger_key_file=home / "ledger.key", rate_per_minute=100_000, **people)
    composer = ExtractiveComposer(block_reader(settings))
    system = await compose(settings)
    try:
        out = []
        for row in [turn_row(folder / "turns.jsonl", r) for r in load(folder / "turns.jsonl")]:
            ask = parse_ask(row.asked, settings.answering.policy, settings.files.policies)
            reply = await system.answer(replace(ask, channel="eval"), None)
            prompt = reply.record.prompt
            if row.expect != "smalltalk" and prompt and (found := await example(composer, row, prompt)):
                out.append(found)
        return out
    finally:
        await system.close()


def fitted(data: Sequence[Example]) -> Matrix:
    """Intercept and coefficients of the chance that quotes are right."""
    x = np.array([e.features for e in data])
    mean, spread = x.mean(0), x.std(0) + 1e-6
    w = logistic((x - mean) / spread, np.array([float(e.is_right) for e in data]), np.ones(len(data)), ridge=RIDGE)
    return np.asarray(np.r_[w[0] - (w[1:] * mean / spread).sum(), w[1:] / spread])


def shares(data: Sequence[Example], w: Matrix | None) -> str:
    """Verdicts on the turns where what is sure enough by `w` is quoted; None: everything."""

    def sure(e: Example) -> bool:
        p = 1.0 if w is None else 1 / (1 + float(np.exp(-(w[0] + np.dot(w[1:], e.features)))))
        return e.may and p >= needed(SURE, e.grade)

    counted = Counter(e.quoted if sure(e) else e.refused for e in data)
    return " ".join(f"{verdict} {number / len(data):.2f}" for verdict, number in counted.most_common())


async def main(homes: Path, folders: Sequence[Path]) -> None:
    """Print what companies not fitted on say, then the coefficients over all."""
    sets = {folder.name: await company(homes, folder) for folder in folders}
    for name, data in sets.items():
        w = fitted([e for other, more in sets.items() if other != name or len(sets) == 1 for e in more])
        print(
            f"{name}: n {len(data)}, fitted on the others: {shares(data, w)}; everything quoted: {shares(data, None)}"
        )
    w = fitted([e for data in sets.values() for e in data])
    print(f"INTERCEPT = {w[0]:.2f}")
    for feature, value in zip(NAMES, w[1:], strict=True):
        print(f'    "{feature}": {value:.2f},')


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), [Path(p) for p in sys.argv[2:]]))
