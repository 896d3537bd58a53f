"""What the choice of blocks and the reader are fitted on: questions of lessons over the evidence that a turn would have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grounding.embedded.vectors.embedder import MiniLM
from tools.fit_quoting import Models, company, lessons
from tools.fitting.reading import read_company

PAGES = {
    "fees.md": "# Fees\n\n| Service | Fee |\n|---|---|\n| Lost key | €12 |\n| Late return | €7 |\n\nA new contract is free.\n",
    "hours.md": "# Hours\n\nThe office is open from 9 to 17. On Sundays it is closed.\n",
}
ASKS = [
    {"q": "how much for a lost key", "lang": "en", "doc": "kb/fees.md", "quote": ["| Lost key | €12 |"]},
    {"q": "do you sell boats", "lang": "en", "doc": "", "quote": []},
    {"q": "is it in a word that no block has", "lang": "en", "doc": "kb/hours.md", "quote": ["Nowhere to be found."]},
]


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A company of lessons."""
    folder = tmp_path / "author" / "trade"
    (folder / "kb").mkdir(parents=True)
    for name, text in PAGES.items():
        (folder / "kb" / name).write_text(text, "utf-8")
    (folder / "asks.jsonl").write_text("\n".join(map(json.dumps, ASKS)), "utf-8")
    return folder


async def test_lessons_are_read_with_the_line_that_answers_and_with_what_nothing_answers(
    minilm: MiniLM, taught: Path, tmp_path: Path
) -> None:
    models = Models(minilm, None)
    key, boats = await lessons(models, tmp_path / "cache", taught)
    assert [block for block, right in zip(key.blocks, key.right, strict=True) if right] == [
        "Fees: Service: Lost key | Fee: €12"
    ]
    assert len(key.features) == len(key.blocks) > 1
    assert boats.asked == "do you sell boats"
    assert not boats.right.any()
    assert [e.asked for e in await company(models, tmp_path / "cache", taught)] == [key.asked]


def test_what_was_read_of_a_company_is_kept_until_it_says_something_else(
    model_file: Path, taught: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    first, again = (read_company(model_file, cache, taught) for _ in range(2))
    assert [(e.asked, e.blocks, e.right.tolist()) for e in first] == [
        (e.asked, e.blocks, e.right.tolist()) for e in again
    ]
    assert len(list(cache.glob("*.json"))) == 1
    (taught / "asks.jsonl").write_text(json.dumps(ASKS[0]), "utf-8")
    assert [e.asked for e in read_company(model_file, cache, taught)] == [first[0].asked]
    assert len(list(cache.glob("*.json"))) == 2
