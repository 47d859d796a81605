# SPDX-License-Identifier: GPL-2.0-only
"""Plots as SVG, by gnuplot."""

import itertools
import shutil
import subprocess

from .units import LabError

COLOURS = ("#1b6ca8", "#d1495b", "#2a9d5c", "#edae49", "#7b4fa3", "#555555", "#00a5b5", "#b5651d",
           "#d36ba8", "#8aa100", "#003d5b")
WIDTH, HEIGHT = 640, 400


def _quote(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"').replace("_", "\\_") + '"'


def lines(path, title, xlabel, ylabel, series, logx=False, logy=False, steps=False, points=True,
          xtics=None):
    """Writes an SVG. `series` is [(name, [(x, y)])]; those without points are left out."""
    if not shutil.which("gnuplot"):
        raise LabError("there is no gnuplot, which draws plots: install the package gnuplot-nox")
    series = [(name, data) for name, data in series if data]
    if not series:
        return False
    style = "steps" if steps else "linespoints" if points else "lines"
    script = [f"set terminal svg size {WIDTH},{HEIGHT} font 'sans,12' background '#ffffff'",
              f"set output {_quote_path(path)}", f"set title {_quote(title)}",
              f"set xlabel {_quote(xlabel)}", f"set ylabel {_quote(ylabel)}",
              "set grid lc '#dddddd'", "set key outside right top", "set border 3",
              "set tics nomirror"]
    if logx:
        script.append("set logscale x")
    if logy:
        script.append("set logscale y")
    if xtics:
        script.append("set xtics (" + ", ".join(f"{_quote(n)} {x}" for n, x in xtics) + ") rotate by -35")
    for number, (_, data) in enumerate(series):
        script.append(f"$d{number} << EOD")
        script += [f"{x} {y}" for x, y in data]
        script.append("EOD")
    script.append("plot " + ", ".join(
        f"$d{n} with {style} lw 2 lc '{COLOURS[n % len(COLOURS)]}' "
        + (f"pt {n + 4} ps 0.6 " if style == "linespoints" else "") + f"title {_quote(name)}"
        for n, (name, _) in enumerate(series)))
    done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"gnuplot, for {path}: {done.stderr.strip()}")
    return True


def _quote_path(path):
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def cdf(weights, most=400):
    """[(value, share of time at or below it)], thinned out."""
    total = sum(w for _, w in weights)
    passed, result = 0, []
    for value, held in weights:
        passed += held
        result.append((value, passed / total))
    if len(result) > most:
        step = len(result) / most
        result = [result[int(i * step)] for i in range(most)] + [result[-1]]
    return result


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
