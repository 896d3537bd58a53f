"""Draw the two icons of the Teams app: a speech bubble with a check mark. Standard library only.

usage: python tools/icons/draw.py [FOLDER]      (default infra/teams)

color.png is 192 x 192 and opaque, its symbol within the middle 120 pixels. outline.png is 32 x 32, white on transparent.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

TEAL = (11, 85, 99)
WHITE = (255, 255, 255)
SAMPLES = 4

Shape = Callable[[float, float], float]
"""Signed distance to the edge at (x, y), negative inside, on a canvas of 32 x 32 units."""


def segment(x: float, y: float, a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance from (x, y) to the line from a to b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = max(0.0, min(1.0, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)))
    return float(((x - a[0] - along * dx) ** 2 + (y - a[1] - along * dy) ** 2) ** 0.5)


def bubble(x: float, y: float) -> float:
    """A rounded rectangle with a tail at the lower left."""
    half_w, half_h, radius = 12.0, 9.0, 4.0
    qx, qy = abs(x - 16) - half_w + radius, abs(y - 13.5) - half_h + radius
    box = min(max(qx, qy), 0.0) + (max(qx, 0.0) ** 2 + max(qy, 0.0) ** 2) ** 0.5 - radius
    tail = max(22.0 - y, 8.0 - x, (x - 8.0) + (y - 22.0) - 6.0)
    return float(min(box, tail))


def check(x: float, y: float) -> float:
    """A check mark, 2.4 units thick."""
    return min(segment(x, y, (10.5, 13.8), (14.4, 17.6)), segment(x, y, (14.4, 17.6), (21.8, 9.8))) - 1.2


def coverage(shape: Shape, column: int, row: int, size: int, scale: float) -> float:
    """Share of a pixel that lies inside, in [0, 1]; `scale` below 1 shrinks the shape about the middle."""
    inside = 0
    for i in range(SAMPLES):
        for j in range(SAMPLES):
            x = 16 + ((column + (i + 0.5) / SAMPLES) * 32 / size - 16) / scale
            y = 16 + ((row + (j + 0.5) / SAMPLES) * 32 / size - 16) / scale
            inside += shape(x, y) < 0
    return inside / SAMPLES**2


def mix(under: tuple[int, ...], over: tuple[int, ...], share: float) -> tuple[int, ...]:
    return tuple(round(u + (o - u) * share) for u, o in zip(under, over, strict=True))


def color_rows(size: int = 192) -> list[bytes]:
    rows = []
    for row in range(size):
        line = bytearray()
        for column in range(size):
            pixel = mix(TEAL, WHITE, coverage(bubble, column, row, size, 0.72))
            pixel = mix(pixel, TEAL, coverage(check, column, row, size, 0.72))
            line += bytes((*pixel, 255))
        rows.append(bytes(line))
    return rows


def outline_rows(size: int = 32) -> list[bytes]:
    def drawn(x: float, y: float) -> float:
        return min(abs(bubble(x, y) + 1.0) - 1.0, check(x, y))

    return [
        b"".join(bytes((*WHITE, round(255 * coverage(drawn, column, row, size, 1.0)))) for column in range(size))
        for row in range(size)
    ]


def png(rows: list[bytes]) -> bytes:
    """An 8-bit RGBA image (PNG specification, colour type 6)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]) // 4, len(rows), 8, 6, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\x00" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else Path(__file__).parents[2] / "infra" / "teams"
    (folder / "color.png").write_bytes(png(color_rows()))
    (folder / "outline.png").write_bytes(png(outline_rows()))


if __name__ == "__main__":
    main(sys.argv[1:])
