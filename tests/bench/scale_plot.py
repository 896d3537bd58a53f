"""`python -m tests.bench.scale_plot A.json B.json … > docs/images/scale.svg`: time and memory against size.

The files are what `python -m tests.bench --only scale --size … --json` printed.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

LINES = {
    "hybrid search, all rights, p50": ("hybrid, all rights", "#1f5fbf"),
    "hybrid search, may see 1 %, p50": ("hybrid, may see 1 %", "#2e8b57"),
    "search by words, p50": ("words alone", "#b8860b"),
    "search by meaning, p50": ("meaning alone", "#8a2be2"),
    "tantivy called directly, p50 (baseline)": ("tantivy directly", "#888888"),
}
MEMORY = {"resident memory after the searches": ("resident memory", "#1f5fbf")}
WIDE, HIGH, LEFT, TOP = 420, 300, 60, 40
Points = list[tuple[float, float]]


def main(paths: Sequence[str]) -> str:
    """The SVG. A size measured more than once counts as in the last file that has it."""
    found: dict[str, dict[int, float]] = {}
    loads: list[float] = []
    for path in paths:
        for row in json.loads(Path(path).read_text("utf-8"))["results"]:
            at = re.match(r"([\d,]+): (.*)", row.get("name", ""))
            if at and at.group(2).startswith("load average"):
                loads.append(row["value"])
            elif at:
                found.setdefault(at.group(2), {})[int(at.group(1).replace(",", ""))] = row["value"]
    times = {label: (colour, sorted(found[name].items())) for name, (label, colour) in LINES.items() if name in found}
    memory = {label: (colour, sorted(found[name].items())) for name, (label, colour) in MEMORY.items() if name in found}
    note = f"2 cores; load average while measuring {min(loads):.0f} to {max(loads):.0f}; k = 50, 300 real questions"
    parts = [_panel(0, "milliseconds, p50", times), _panel(WIDE + 90, "MiB", memory)]
    whole = 2 * WIDE + 190
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HIGH + 110}" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}'
        f'<text x="{LEFT}" y="{HIGH + 98}" fill="#555">{note}</text></svg>\n'
    )


def _panel(at: float, unit: str, lines: dict[str, tuple[str, list[tuple[int, float]]]]) -> str:
    """Both axes are logarithmic, in powers of ten."""
    xs = [x for _, points in lines.values() for x, _ in points]
    ys = [y for _, points in lines.values() for _, y in points]
    low_x, high_x = math.log10(min(xs)), math.log10(max(xs))
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - low_x) / max(high_x - low_x, 1e-9)
        up = (math.log10(y) - low_y) / max(high_y - low_y, 1)
        return round(at + LEFT + across * WIDE, 1), round(TOP + (1 - up) * HIGH, 1)

    out = [f'<text x="{at + LEFT}" y="{TOP - 14}" font-weight="bold">{unit}, by number of chunks</text>']
    for power in range(low_y, high_y + 1):
        left, y = place(10**low_x, 10.0**power)
        out.append(
            f'<path d="M{left} {y}h{WIDE}" stroke="#ddd"/><text x="{left - 6}" y="{y + 4}" text-anchor="end">{10.0**power:,g}</text>'
        )
    foot = TOP + HIGH + 18
    out += [f'<text x="{place(x, 1)[0]}" y="{foot}" text-anchor="middle">{x:,}</text>' for x in sorted(set(xs))]
    for i, (label, (colour, points)) in enumerate(lines.items()):
        spots = [place(x, y) for x, y in points]
        out.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x},{y}" for x, y in spots)}"/>'
        )
        out += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in spots]
        out.append(f'<text x="{at + LEFT + 8}" y="{TOP + 14 + 15 * i}" fill="{colour}">{label}</text>')
    return "".join(out)


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
