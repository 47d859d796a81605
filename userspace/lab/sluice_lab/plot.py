# SPDX-License-Identifier: GPL-2.0-only
"""Plots as SVG, by gnuplot.

A plot is a set of panels with the same axes, each a file. A curve's number decides its colour, dash and
point, so that what has one number looks alike in all plots of a report. Files are drawn in the
colours for light backgrounds; STYLE replaces them where a dark one is preferred, in the file itself
and in a page that holds many.
"""

import bisect
import itertools
import math
import re
import shutil
import statistics
import subprocess
import textwrap
from dataclasses import dataclass, field

from . import measure, units
from .units import LabError

MOST = 8                # curves of a panel
FILLS = 150             # times the height that a curve which fills its place goes up and down
LOG_FROM = 10           # the largest value by the smallest, from which on an axis is logarithmic
LOG_FROM_HIGHEST = 100  # the same of the highest of curves that come down to 0
# On a light and on a dark background. Any two differ, also for those who see no red, no green or no
# blue, and each stands out: selftests/lab/test_lab.py says how much.
COLOURS = (("#0556c6", "#b3e2ff"), ("#be2805", "#c12e00"), ("#0fa398", "#35c6a2"),
           ("#d17e08", "#ffd44e"), ("#ad77f8", "#ce83ff"), ("#3e0081", "#405bd5"),
           ("#660701", "#ff7f04"), ("#744871", "#92718e"))
DASHES = ("solid", "(20,4)", "(8,4)", "(20,4,4,4)")
MARK_DASHES = "(2,4)", "(2,4,8,4)", "(2,4,2,4,8,4)", "(1,8)"
POINTS = (7, 5, 9, 13, 6, 4, 8, 12)
PAPER, INK = ("#ffffff", "#15181c"), ("#222222", "#dddddd")
GRID, MARK = ("#dedede", "#34383e"), ("#666666", "#a0a0a0")
STYLE = "@media (prefers-color-scheme: dark) {\n" + "".join(
    f'svg [{what}="{light}"] {{ {what}: {dark} }}\n'
    for light, dark in (*COLOURS, PAPER, INK, GRID, MARK) for what in ("stroke", "fill", "color")) + "}\n"


@dataclass
class Curve:
    name: str
    number: int
    points: list                                # [(x, y)]
    band: list = field(default_factory=list)    # [(x, least, most)]


@dataclass(frozen=True)
class Mark:
    """A line across, of a value to compare with."""
    place: int              # of its axis: 0 is x
    value: float
    text: str
    is_asked: bool = False  # the axis goes that far


@dataclass
class Panel:
    name: str       # of the file
    title: str
    curves: list
    marks: list = field(default_factory=list)


@dataclass
class Axis:
    """From 0 on, unless it is fixed, or logarithmic because its values span so much."""
    what: str
    kind: str = ""          # of units.AXES; values are in its least unit
    fixed: tuple = ()       # from, to
    may_log: bool = False

    def label(self, unit):
        return f"{self.what} ({unit})" if unit else self.what


@dataclass
class Plot:
    x: Axis
    y: Axis
    panels: list
    style: str = "steps"
    tics: list = field(default_factory=list)    # [(name, x)]

    @property
    def is_small(self):
        """Many panels are small ones."""
        return len(self.panels) > 2

    @property
    def size(self):
        """Width, height without the key, size of letters."""
        return (320, 230, 12) if self.is_small else (440, 300, 14)


def _quote(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def look(number):
    """Colour, dash and point, which together are another's only after 32 curves."""
    turn = number + number // len(COLOURS)
    return COLOURS[number % len(COLOURS)][0], DASHES[turn % len(DASHES)], POINTS[turn % len(POINTS)]


class Extent:
    """Of an axis (0: x, 1: y) of a plot, in its unit: from, to, whether it is logarithmic and what it cuts off."""

    def __init__(self, plot, place, units_of):
        axis = (plot.x, plot.y)[place]
        self.unit, self.factor = units_of.get(axis.kind, ("", 1))
        self.label, self.is_log, self.cuts = axis.label(self.unit), False, False
        if axis.fixed:
            self.low, self.high = axis.fixed
            return
        curves = [[v / self.factor for v in _along(curve, place)] for panel in plot.panels
                  for curve in panel.curves]
        marks = {m for panel in plot.panels for m in panel.marks if m.place == place}
        curves += [[m.value / self.factor] for m in marks
                   if m.is_asked or m.value / self.factor <= 2 * max(map(max, curves))]
        lowest, highest = min(map(min, curves)), max(map(max, curves))
        # What comes and goes passes through all sizes: then it is the curves that are compared.
        empties = place and lowest <= 0
        levels = map(max, curves) if empties else itertools.chain(*curves)
        levels = [v for v in levels if v > 0] if axis.may_log else []
        if levels and max(levels) >= min(levels) * (LOG_FROM_HIGHEST if empties else LOG_FROM):
            self.is_log, self.cuts = True, lowest <= 0
            self.low = _round(min(levels) / (10 if empties else 1), math.floor)
            self.high = _round(highest, math.ceil)
        else:
            self.low, self.high = 0, 1.05 * highest or 1

    def number(self, value):
        """As gnuplot is told it."""
        value /= self.factor
        return f"{max(value, self.low) if self.is_log else value:.6g}"

    def reaches(self, mark):
        return self.low <= float(self.number(mark.value)) <= self.high

    def key(self, mark):
        value = mark.value / self.factor
        figure = f"{value:.4g}" if value < 1000 else f"{value:.0f}"
        return ", ".join(filter(None, [mark.text, f"{figure} {self.unit}".strip()]))

    def words(self, name):
        script = [f"set {name}label {_quote(self.label)} textcolor rgb '{INK[0]}'",
                  f"set {name}range [{self.low:.6g}:{self.high:.6g}]"]
        if self.is_log:
            first, last = (math.floor(math.log10(v)) for v in (self.low, self.high))
            steps = {0: (1, 2, 5), 1: (1, 2, 5), 2: (1, 2, 5), 3: (1, 3)}.get(last - first, (1,))
            tics = [s * 10 ** d for d in range(first, last + 1) for s in steps]
            tics = [t for t in tics if self.low <= t <= self.high and not (self.cuts and t == self.low)]
            names = [(f"{t:g}", t) for t in tics] + ([(f"≤ {self.low:g}", self.low)] if self.cuts else [])
            script += [f"set logscale {name}", _tics(name, names)]
        return script


def _along(curve, place):
    """All values of a curve at one of its axes."""
    return [p[place] for p in curve.points] + [v for p in curve.band for v in (p[1:] if place else p[:1])]


def _round(value, way):
    """To 1, 2 or 5 and zeros."""
    decade = 10 ** math.floor(math.log10(value))
    steps = [s * decade for s in (1, 2, 5, 10)]
    return max(s for s in steps if s <= value) if way is math.floor else min(s for s in steps if s >= value)


def _tics(name, tics):
    return f"set {name}tics (" + ", ".join(f"{_quote(text)} {value:.6g}" for text, value in tics) + ")"


def need_gnuplot():
    if not shutil.which("gnuplot"):
        raise LabError("there is no gnuplot, which draws plots: install the package gnuplot-nox")


def draw(directory, plots):
    """Writes the panels of all plots, in the same units."""
    need_gnuplot()
    largest = {}
    for plot in plots:
        for place, axis in enumerate((plot.x, plot.y)):
            if axis.kind:
                largest[axis.kind] = max(largest.get(axis.kind, 0), *(
                    v for panel in plot.panels for curve in panel.curves for v in _along(curve, place)))
    units_of = {kind: units.of_axis(kind, value) for kind, value in largest.items()}
    script = []
    for plot in plots:
        extents = [Extent(plot, place, units_of) for place in (0, 1)]
        for panel in plot.panels:
            script += _panel(directory, plot, panel, *extents)
    done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"gnuplot: {done.stderr.strip()}")
    for plot in plots:
        for panel in plot.panels:
            path = f"{directory}/{panel.name}.svg"
            with open(path, encoding="utf-8") as f:
                svg = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(_tidy(svg, panel.title))


def _panel(directory, plot, panel, x, y):
    """gnuplot's words for one. The key is below, and so are its rows in the height."""
    width, height, letters = plot.size
    marks = [(mark, (x, y)[mark.place]) for mark in panel.marks if (x, y)[mark.place].reaches(mark)]
    names = [curve.name for curve in panel.curves] + [axis.key(mark) for mark, axis in marks]
    across = int(width // (max(map(len, names)) * letters * 0.6 + 5 * letters)) or 1
    rows = -(-len(names) // across)
    height += round(rows * letters * 1.7)
    title = "\n".join(textwrap.wrap(panel.title, int(width / letters / 0.58)))
    ink = f"textcolor rgb '{INK[0]}'"
    script = ["reset",
              f"set terminal svg size {width},{height} noenhanced font 'sans,{letters}' "
              f"background '{PAPER[0]}'",
              f"set output {_quote(f'{directory}/{panel.name}.svg')}",
              f"set title {_quote(title)} {ink}", *x.words("x"), *y.words("y"),
              f"set grid lt 1 lc rgb '{GRID[0]}'", f"set border 3 lc rgb '{INK[0]}'",
              f"set tics nomirror scale 0.5 {ink}",
              f"set bmargin {rows * 1.2 + (4.5 if plot.tics else 3.4):g}",
              f"set key at screen 0.5,screen {letters / height / 2:.3f} center bottom vertical "
              f"maxrows {rows} Left reverse samplen 3 {ink}"]
    if plot.tics:
        script.append(_tics("x", plot.tics) + " rotate by -35")
    bands, lines = [], []
    for place, curve in enumerate(panel.curves):
        colour, dash, point = look(curve.number)
        if curve.band:
            script += [f"$band{place} << EOD",
                       *(" ".join([x.number(at), *map(y.number, held)]) for at, *held in curve.band), "EOD"]
            bands.append(f"$band{place} using 1:2:3 with filledcurves lc rgb '{colour}' "
                         "fs transparent solid 0.2 noborder notitle")
        script += [f"$line{place} << EOD", *(f"{x.number(a)} {y.number(b)}" for a, b in curve.points), "EOD"]
        points = f" pt {point} ps 0.6" if plot.style == "linespoints" else ""
        lines.append(f"$line{place} with {plot.style} lw 1.5 lc rgb '{colour}' dt {dash}{points} "
                     f"title {_quote(curve.name)}")
    for place, (mark, axis) in enumerate(marks):
        at = axis.number(mark.value)
        ends = (f"{x.low:.6g} {at}", f"{x.high:.6g} {at}") if mark.place else (f"{at} {y.low:.6g}", f"{at} {y.high:.6g}")
        script += [f"$mark{place} << EOD", *ends, "EOD"]
        lines.append(f"$mark{place} with lines lw 1.5 lc rgb '{MARK[0]}' dt {MARK_DASHES[place % len(MARK_DASHES)]} "
                     f"title {_quote(axis.key(mark))}")
    return [*script, "plot " + ", ".join(bands + lines)]


def _tidy(svg, title):
    """What gnuplot wrote in a third of the bytes, with its title, and with colours for the dark."""
    svg = re.sub(r"rgb\( *(\d+), *(\d+), *(\d+)\)",
                 lambda m: "#" + "".join(f"{int(part):02x}" for part in m.groups()), svg)
    svg = re.sub(r"(stroke|fill|color) ?= ?'([^']*)'", r'\1="\2"', svg)
    svg = re.sub(r"d='((?:[ML]\s*[-\d.]+,[-\d.]+\s*)+)'", _path, svg)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+\b", r"\1", tag[0]), svg)
    svg = re.sub(r"<desc>.*?</desc>|<filter.*?</filter>|<title>gnuplot_plot.*?</title>", "", svg, flags=re.S)
    if "<use xlink:href='#gpPt" not in svg.partition("</defs>")[2]:
        svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.S)
    # what each group says is said once, and what is so anyway not at all
    common = ' fill="none" color="black" stroke="currentColor"'
    svg = re.sub(common + r'( stroke-width="[\d.]+") stroke-linecap="butt" stroke-linejoin="miter"', r"\1", svg)
    svg = svg.replace(' font-family="sans"', "").replace(' class="gridline"', "").replace("<rect ", '<rect stroke="none" ', 1)
    svg = svg.replace('<g id="gnuplot_canvas"', f'<g font-family="sans-serif"{common}', 1)
    while svg != (svg := re.sub(r"<g [^>]*>\s*</g>", "", svg)):
        pass
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    # the words of a title, as gnuplot has escaped them, are in the picture too
    words = title.replace("&", "&amp;").replace("<", "&lt;")
    return svg.replace("<title>Gnuplot</title>", f"<title>{words}</title>\n<style>{STYLE}</style>", 1)


def _path(match):
    """A path by steps of tenths, most of which go along an axis."""
    x = y = 0
    parts = []
    for command, *point in re.findall(r"([ML])\s*([-\d.]+),([-\d.]+)", match[1]):
        to_x, to_y = (round(10 * float(v)) for v in point)
        if command == "M":
            parts.append(f"M{to_x / 10:g},{to_y / 10:g}")
        elif to_x != x and to_y != y:
            parts.append(f"l{(to_x - x) / 10:g},{(to_y - y) / 10:g}")
        elif to_x != x:
            parts.append(f"h{(to_x - x) / 10:g}")
        elif to_y != y:
            parts.append(f"v{(to_y - y) / 10:g}")
        x, y = to_x, to_y
    return f'd="{"".join(parts)}"'


def inline(svg):
    """What of a file goes into a page, whose style has STYLE."""
    return svg[svg.index("<svg"):].replace(f"<style>{STYLE}</style>\n", "", 1)


def hide_each_other(curves):
    """Whether more than one goes up and down so often that it fills its place."""
    height = max(y for curve in curves for _, y in curve.points) or 1
    travels = [sum(abs(b[1] - a[1]) for a, b in itertools.pairwise(curve.points)) for curve in curves]
    return sum(travel > FILLS * height for travel in travels) > 1


def cdf(weights, most=200):
    """[(value, share of time at or below it)], thinned out: no share is further off than the `most`-th part of all."""
    if not weights:
        return []
    total = sum(w for _, w in weights)
    passed, kept = 0, [(weights[0][0], 0)]
    for value, held in weights:
        passed += held
        if passed / total - kept[-1][1] >= 1 / most or passed == total:
            kept.append((value, passed / total))
    return kept


def cdfs(many):
    """Of all seeds' weights together; and a band, from the seed with the least share to that with the most."""
    together, seeds = cdf(measure.merged(many)), [cdf(weights) for weights in many if weights]
    if len(seeds) < 2:
        return together, []
    band = []
    for x, _ in together:
        places = [bisect.bisect(seed, x, key=lambda p: p[0]) for seed in seeds]
        shares = [seed[place - 1][1] if place else 0 for seed, place in zip(seeds, places)]
        band += [(x, *band[-1][1:])] if band else []    # as steps
        band.append((x, min(shares), max(shares)))
    return together, band


def over_time(many, most=1000):
    """A step function thinned out; of several seeds, the median of their means over stretches of time, and
    a band from the lowest to the highest of all."""
    many = [series for series in many if series]
    if len(many) < 2:
        return [p[:2] for series in many for p in thin(series, most)], []
    begin, end = min(series[0][0] for series in many), max(series[-1][0] for series in many)
    count = max(1, most // 4)
    width = (end - begin) / count or 1
    points, band = [], []
    for place, held in enumerate(zip(*(_stretches(series, begin, width, count) for series in many))):
        at = begin + place * width
        points.append((at, statistics.median(mean for _, mean, _ in held)))
        lowest, highest = min(low for low, _, _ in held), max(high for _, _, high in held)
        band += [(at, lowest, highest), (at + width, lowest, highest)]
    return points, band


def _stretches(series, begin, width, count):
    """(lowest, mean, highest) of a step function in each stretch; before it begins it is as it begins."""
    place, value = 0, series[0][1]
    for number in range(count):
        at, end, total, values = begin + number * width, begin + (number + 1) * width, 0, []
        while at < end:
            until = min(end, series[place][0]) if place < len(series) else end
            if until > at:
                total += value * (until - at)
                values.append(value)
                at = until
            if place < len(series) and series[place][0] <= at:
                value = series[place][1]
                place += 1
        yield min(values), total / width, max(values)


def thin(series, most=2000):
    """A step function with fewer points that looks the same: of each stretch of time its lowest, its
    highest and its last, which holds until the next stretch begins."""
    if len(series) <= most:
        return series
    begin, span, kept = series[0][0], series[-1][0] - series[0][0] + 1, []
    for _, stretch in itertools.groupby(series, lambda p: (p[0] - begin) * (most // 3) // span):
        stretch = list(stretch)
        values = [p[1] for p in stretch]
        places = {values.index(min(values)), values.index(max(values)), len(values) - 1}
        kept += [stretch[place] for place in sorted(places)]
    return kept
