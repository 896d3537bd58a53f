"""Benchmark of the proof for outsiders: leaves a second of the tree, and entries and MB a second of attest-verify."""

from __future__ import annotations

import time
from pathlib import Path

from rai.ledger.attest_verify import audit
from rai.ledger.checkpoints.tree import Frontier, leaf_hash
from tests.bench.figures import Figure
from tests.bench.place import Place
from tests.fakes.form2 import SIGNER, Form2Ledger, text_of

LEAVES, ENTRIES, BODY_BYTES = 500_000, 20_000, 3000


async def bench_proof(place: Place) -> list[Figure]:
    """Leaves of 150 bytes into a frontier; then an export of entries of 3 KB, with one checkpoint over all of them, by one process."""
    frontier, data, begun = Frontier(), b"x" * 150, time.perf_counter()
    for _ in range(LEAVES):
        frontier.append(leaf_hash(data))
    frontier.root()
    grown = time.perf_counter() - begun
    export, checkpoint = _made(place.scratch)
    begun = time.perf_counter()
    found = audit(export, [checkpoint], [SIGNER.verifier().line()])
    checked = time.perf_counter() - begun
    assert not found.breaks
    megabytes = export.stat().st_size / 1e6
    note = f"{export.stat().st_size / found.entries:.0f} bytes an entry"
    return [
        Figure("tree, leaves a second", LEAVES / grown, "1/s", LEAVES),
        Figure("attest-verify, entries a second", found.entries / checked, "1/s", found.entries, note=note),
        Figure("attest-verify, export read", megabytes / checked, "MB/s", found.entries, note=note),
    ]


def _made(folder: Path) -> tuple[Path, Path]:
    made, words = Form2Ledger(), "Öffnungszeiten der Filiale " * (BODY_BYTES // 20)
    for n in range(ENTRIES):
        made.add("turn", {"ask": {"question": words[:BODY_BYTES]}, "n": n, "score": n / 7})
    export, checkpoint = folder / "proving.jsonl", folder / "proving.txt"
    export.write_text(text_of(made.lines()), "ascii")
    checkpoint.write_text(made.checkpoint(), "utf-8")
    return export, checkpoint
