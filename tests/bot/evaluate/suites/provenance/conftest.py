"""Two hotels with the same questions, of which pairs of question and answer are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.evaluate.labelled import write

TOPICS = "parking breakfast pets smoking laundry luggage heating checkout".split()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two hotels, each with the same questions."""
    rows = [
        {
            "id": f"{hotel} {topic}",
            "answer": f"Yes, {hotel} has {topic}.",
            "label": "supported" if topic != "heating" else "unsupported",
            "sources": [{"id": "s", "title": f"{hotel}: Is there {topic}?", "text": f"{topic} of {hotel}"}],
        }
        for hotel in ("Inn", "Lodge")
        for topic in TOPICS
    ]
    write(tmp_path / "provenance" / "dstc9.jsonl", *rows)
    return tmp_path
