"""Charts as inline SVG: line, area, scatter, column and bar charts without script or network, in the colours of the page they stand on.

Each function gives markup whose every text is escaped. Sizes are in units of the view box; the page scales it. A plot is an
image to who hears the page: its label says what it shows, and the page gives its figures as a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 440.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 10.0, 12.0, 42.0
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROW = 44.0
_LATE = 0.85
"""Place on a scale of [0, 1] from which a text stands to the left of what it names."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line or set of bars. `look` is the class that colours it: `here` or `there`."""

    name: str
    look: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of horizontal bars: a share in [0, 1] with its interval, over `n`."""

    name: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Point:
    """A share in [0, 1] with its interval, over `n`, at a place in [0, 1]."""

    at: float
    share: float
    low: float
    high: float
    n: int


def curve(series: Sequence[Series], label: str, x_label: str) -> Markup:
    """Shares against 1 … len(values), which stands on a logarithmic scale."""
    longest = max(len(s.values) for s in series)

    def x(k: int) -> float:
        return _LEFT + _span_x() * (math.log(k) / math.log(longest) if longest > 1 else 0.0)

    ticks = [k for k in (1, 2, 5, 10, 20, 50, 100) if k <= longest]
    parts = [_share_grid(), _x_axis([(x(k), str(k)) for k in ticks], x_label)]
    for one in reversed(series):
        points = " ".join(f"{x(k):.1f},{_y(value):.1f}" for k, value in enumerate(one.values, start=1))
        parts.append(Markup('<polyline class="line {}" points="{}"/>').format(one.look, points))
    return _svg(label, parts)


def sorted_shares(series: Sequence[Series], label: str, x_label: str) -> Markup:
    """Each series from its best to its worst value, in [0, 1]: the first as an area, the others as lines."""
    parts = [_share_grid(), _x_axis([], x_label)]
    for place, one in enumerate(series):
        points = _steps(sorted(one.values, reverse=True))
        if place == 0:
            closed = f"{_LEFT:.1f},{_y(0):.1f} {points} {_LEFT + _span_x():.1f},{_y(0):.1f}"
            parts.append(Markup('<polygon class="area {}" points="{}"/>').format(one.look, closed))
        parts.append(Markup('<polyline class="line {}" points="{}"/>').format(one.look, points))
    return _svg(label, parts)


def reliability(points: Sequence[Point], others: Sequence[tuple[float, float]], label: str, x_label: str) -> Markup:
    """Shares against stated probabilities, both in [0, 1], beside the diagonal on which they agree; `others` as a line."""

    def x(value: float) -> float:
        return _LEFT + value * _span_x()

    diagonal = Markup('<line class="zero" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        x(0), _y(0), x(1), _y(1)
    )
    ticks = [(x(v), f"{v:g}") for v in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    line = " ".join(f"{x(a):.1f},{_y(b):.1f}" for a, b in others)
    parts = [_share_grid(), _x_axis(ticks, x_label), diagonal]
    parts.append(Markup('<polyline class="line there" points="{}"/>').format(line))
    for p in points:
        parts.append(_upright(x(p.at), _y(p.low), _y(p.high)))
        dot = Markup('<circle class="bar here" cx="{:.1f}" cy="{:.1f}" r="5"/>')
        side, anchor = (-8, "end") if p.at > _LATE else (8, "start")
        parts += [
            dot.format(x(p.at), _y(p.share)),
            _text(x(p.at) + side, _y(p.share) - 6, f"n {p.n}", anchor, "mark"),
        ]
    return _svg(label, parts)


def columns(names: Sequence[str], series: Sequence[Series], label: str, x_label: str) -> Markup:
    """Counts beside each other for each name, with the count above each column."""
    most = max((value for s in series for value in s.values), default=0.0) or 1.0
    room = _span_x() / len(names)
    wide = min(30.0, room * 0.8 / len(series))
    parts = [_x_axis([(_LEFT + room * (i + 0.5), name) for i, name in enumerate(names)], x_label)]
    for order, one in enumerate(series):
        for i, value in enumerate(one.values):
            left = _LEFT + room * (i + 0.5) + (order - len(series) / 2) * wide
            high = value / most * (_span_y() - 14)
            parts.append(_rect(f"bar {one.look}", left + 1, _TOP + _span_y() - high, wide - 2, high))
            parts.append(
                _text(left + wide / 2, _TOP + _span_y() - high - 4, f"{value:.0f}", "middle", f"mark {one.look}")
            )
    return _svg(label, parts)


def differences(values: Sequence[float], label: str, x_label: str) -> Markup:
    """Differences in [-1, 1], from the largest gain to the largest loss, each a bar from the middle line."""
    ordered = sorted(values, reverse=True)
    reach = max((abs(v) for v in ordered), default=0.0) or 1.0
    middle = _TOP + _span_y() / 2
    room = _span_x() / max(1, len(ordered))
    ticks = [(reach, f"+{reach:.2g}"), (0.0, "0"), (-reach, f"−{reach:.2g}")]
    parts = [_grid_line(middle - v / reach * _span_y() / 2, name) for v, name in ticks]
    parts.append(_x_axis([], x_label))
    for i, value in enumerate(ordered):
        if value:
            high = abs(value) / reach * _span_y() / 2
            top = middle - high if value > 0 else middle
            parts.append(_rect("bar better" if value > 0 else "bar worse", _LEFT + i * room, top, max(room, 0.6), high))
    return _svg(label, parts)


def rows(bars: Sequence[Bar], label: str) -> Markup:
    """Horizontal bars with their intervals; the name stands above its bar, so that it may be long."""
    full = WIDTH - 110
    parts = []
    for i, bar in enumerate(bars):
        top = i * _ROW
        parts.append(_text(0, top + 14, _short(bar.name, 44), "start", "name"))
        parts.append(_rect("track", 0, top + 20, full, 14))
        parts.append(_rect("bar here", 0, top + 20, full * bar.value, 14))
        parts.append(_whisker(full * bar.low, full * bar.high, top + 27, 5))
        parts.append(_text(WIDTH, top + 32, f"{bar.value:.3f} · n {bar.n}", "end", "value"))
    return _svg(label, parts, height=_ROW * len(bars) + 4)


def gain_span(mean: float, low: float, high: float, reach: float) -> Markup:
    """A difference and its interval on a scale from -reach to +reach, with zero in the middle."""
    half = 90.0

    def x(value: float) -> float:
        return half + max(-1.0, min(1.0, value / reach if reach else 0.0)) * (half - 6)

    look = "better" if low > 0 else "worse" if high < 0 else "open"
    parts = [
        Markup('<line class="zero" x1="{0}" x2="{0}" y1="1" y2="21"/>').format(half),
        _whisker(x(low), x(high), 11, 4),
        Markup('<circle class="dot {}" cx="{:.1f}" cy="11" r="4.5"/>').format(look, x(mean)),
    ]
    return _svg(f"{mean:+.3f}, from {low:+.3f} to {high:+.3f}", parts, width=2 * half, height=22, look="plot span")


def _svg(
    label: str, parts: Iterable[Markup], *, width: float = WIDTH, height: float = HEIGHT, look: str = "plot"
) -> Markup:
    return Markup('<svg class="{}" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        look, width, height, label, Markup("").join(parts)
    )


def _span_x() -> float:
    return WIDTH - _LEFT - _RIGHT


def _span_y() -> float:
    return HEIGHT - _TOP - _BOTTOM


def _y(share: float) -> float:
    return _TOP + (1 - share) * _span_y()


def _steps(values: Sequence[float]) -> str:
    room = _span_x() / max(1, len(values))
    return " ".join(
        f"{_LEFT + i * room:.1f},{_y(v):.1f} {_LEFT + (i + 1) * room:.1f},{_y(v):.1f}" for i, v in enumerate(values)
    )


def _share_grid() -> Markup:
    return Markup("").join(_grid_line(_y(share), f"{share:g}") for share in _SHARES)


def _grid_line(y: float, name: str) -> Markup:
    line = Markup('<line class="grid" x1="{}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/>').format(_LEFT, WIDTH - _RIGHT, y=y)
    return line + _text(_LEFT - 6, y + 4, name, "end", "tick")


def _x_axis(ticks: Sequence[tuple[float, str]], label: str) -> Markup:
    bottom = HEIGHT - _BOTTOM
    marks = Markup("").join(_text(x, bottom + 18, name, "middle", "tick") for x, name in ticks)
    axis = Markup('<line class="axis" x1="{}" x2="{}" y1="{y}" y2="{y}"/>').format(_LEFT, WIDTH - _RIGHT, y=bottom)
    below = HEIGHT - 4 if ticks else bottom + 18
    return axis + marks + _text(_LEFT + _span_x() / 2, below, label, "middle", "label")


def _whisker(left: float, right: float, y: float, half: float) -> Markup:
    form = "M{l:.1f} {a:.1f}V{b:.1f}M{l:.1f} {y:.1f}H{r:.1f}M{r:.1f} {a:.1f}V{b:.1f}"
    path = form.format(l=left, r=right, y=y, a=y - half, b=y + half)
    return Markup('<path class="whisker" d="{}"/>').format(path)


def _upright(x: float, low: float, high: float) -> Markup:
    form = "M{a:.1f} {l:.1f}H{b:.1f}M{x:.1f} {l:.1f}V{h:.1f}M{a:.1f} {h:.1f}H{b:.1f}"
    return Markup('<path class="whisker" d="{}"/>').format(form.format(a=x - 4, b=x + 4, x=x, l=low, h=high))


def _rect(look: str, x: float, y: float, width: float, height: float) -> Markup:
    made = Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>')
    return made.format(look, x, y, max(0.0, width), max(0.0, height))


def _text(x: float, y: float, text: str, anchor: str, look: str) -> Markup:
    made = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    return made.format(look, x, y, anchor, text)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
