# SPDX-License-Identifier: BSD-2-Clause
"""Curves: drawn on two logarithmic axes as SVG, or as a table in Markdown."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 150, 40, 60
COLOURS = ["#b2182b", "#ef8a62", "#762a83", "#1b7837", "#2166ac", "#666666"]


def steps(low, high):
    """1, 2 and 5 of each decade between two powers of ten."""
    return [step * 10**power for power in range(low, high + 1) for step in (1, 2, 5)]


def bounds(values):
    """The steps just around some values."""
    known = steps(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))
    return max(each for each in known if each <= min(values)), min(each for each in known if each >= max(values))


def ticks(low, high):
    """Where to draw lines: at each step, or at the powers of ten when there are many."""
    found = [each for each in steps(math.floor(math.log10(low)), math.ceil(math.log10(high))) if low <= each <= high]
    return found if len(found) < 10 else [each for each in found if str(each).strip("0") == "1"]


def draw(curves, title, across, up):
    """The picture of {name: [(x, y), ...]}; `across` and `up` are the axes' labels."""
    points = [point for curve in curves.values() for point in curve]
    x0, x1 = bounds([x for x, _ in points])
    y0, y1 = bounds([y for _, y in points])

    def at(x, y):
        right, top = WIDTH - RIGHT, HEIGHT - BOTTOM
        return (
            LEFT + math.log(x / x0) / math.log(x1 / x0) * (right - LEFT),
            top - math.log(y / y0) / math.log(y1 / y0) * (top - TOP),
        )

    def text(x, y, words, anchor="middle", more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 22, title, more=' font-size="14"'),
    ]
    for x in ticks(x0, x1):
        a, b = at(x, y0), at(x, y1)
        out.append(f'<path d="M{a[0]:.1f} {a[1]:.1f}V{b[1]:.1f}" stroke="#ddd"/>' + text(a[0], a[1] + 18, f"{x:,}"))
    for y in ticks(y0, y1):
        a, b = at(x0, y), at(x1, y)
        out.append(f'<path d="M{a[0]:.1f} {a[1]:.1f}H{b[0]:.1f}" stroke="#ddd"/>' + text(a[0] - 8, a[1] + 4, f"{y:,}", "end"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, across))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(text(20, middle, up, more=f' transform="rotate(-90 20 {middle:.1f})"'))
    labels = []
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [at(x, y) for x, y in sorted(curve)]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        out.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        labels.append((places[-1][1], name, colour))
    # Names at the ends of the curves, moved apart where they would lie on one another.
    last = -math.inf
    for height, name, colour in sorted(labels):
        last = max(height, last + 15)
        out.append(text(WIDTH - RIGHT + 10, last + 4, name, "start", f' fill="{colour}"'))
    return "\n".join([*out, "</svg>\n"])


def table(curves, title, unit):
    """The points of {name: [(x, y), ...]}; a slow one stops early, and the longest says which columns there are."""
    columns = [x for x, _ in max(curves.values(), key=len)]
    lines = [f"| {title} | " + " | ".join(f"{x} {unit}" for x in columns) + " |", "|:--|" + "--:|" * len(columns)]
    for name, points in curves.items():
        cells = [f"{y:.4g}" for _, y in points] + ["no end in time"] * (len(columns) - len(points))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
