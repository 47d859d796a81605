# SPDX-License-Identifier: GPL-2.0-only
"""Tables, CSV files, plots and one HTML page from the runs of an experiment."""

import csv
import functools
import html
import itertools
import json
import os

from . import inputs, labfile, measure, plot, units
from .units import LabError

# Plots beside each other where there is room, below each other on a telephone
STYLE = f"""
:root {{ color-scheme: light dark; --paper: {plot.PAPER[0]}; --ink: {plot.INK[0]}; --shade: #f4f4f4; --alarm: #a33 }}
@media (prefers-color-scheme: dark) {{
:root {{ --paper: {plot.PAPER[1]}; --ink: {plot.INK[1]}; --shade: #20242a; --alarm: #f88 }} }}
body {{ font: 15px/1.5 sans-serif; max-width: 66em; margin: 1.5em auto; padding: 0 .8em;
  background: var(--paper); color: var(--ink); overflow-wrap: break-word }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .7em; text-align: right }}
th {{ border-bottom: 1px solid #888 }} td:first-child, th:first-child {{ text-align: left }}
tr:nth-child(even) td, pre {{ background: var(--shade) }} pre {{ padding: .7em }}
.table, pre {{ overflow-x: auto; margin: 1em 0 }} .table {{ white-space: nowrap }} .note {{ color: var(--alarm) }}
.plots {{ display: grid; gap: 1em; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30em), 1fr)) }}
.small {{ grid-template-columns: repeat(auto-fill, minmax(min(100%, 19em), 1fr)) }}
figure {{ margin: 0 }} svg {{ width: 100%; height: auto }}
{plot.STYLE}"""

TIME = plot.Axis("time", "time")
SHARE = plot.Axis("share of time", fixed=(0, 1))
SLOWDOWN = plot.Axis("slowdown", may_log=True)
FLOWS = plot.Axis("flows", "number", may_log=True)
QUEUE = plot.Axis("queue", "size", may_log=True)
BUFFER = plot.Axis("held by the switch", "size", may_log=True)
RATE = plot.Axis("fair rate", "rate", may_log=True)
USED = plot.Axis("used of the link's rate", "percent")
# Of all curves over time in a page
POINTS = 30_000
# What has references, by labfile.REFERENCES
REFERRED = {"rate": RATE, "queue": QUEUE, "buffer": BUFFER, "slowdown": SLOWDOWN, "flows": FLOWS, "used": USED}


def figure(value):
    """A number for people."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer() and abs(value) >= 100:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def size_words(size):
    if size is None:
        return "more"
    if isinstance(size, str):
        return size
    for unit, name in ((10**6, "MB"), (10**3, "kB")):
        if size >= unit and size % (unit // 10) == 0:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def table(head, rows):
    """Columns that line up: the first to the left, the others to the right."""
    cells = [head] + [[figure(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) if not i else c.rjust(w)
                               for i, (c, w) in enumerate(zip(row, widths))).rstrip()
                     for row in cells)


class Section:
    """A heading with a table and plots, that becomes text, CSV and HTML."""

    def __init__(self, name, title, head=(), rows=(), note=""):
        self.name, self.title, self.note = name, title, note
        self.head, self.rows = list(head), [list(r) for r in rows]
        self.plots = []

    def text(self):
        parts = [self.title]
        parts += [self.note] if self.note else []
        parts += [table(self.head, self.rows)] if self.rows else []
        return "\n".join(parts)

    def save_csv(self, directory):
        if not self.rows:
            return
        with open(f"{directory}/{self.name}.csv", "w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(self.head)
            writer.writerows(["" if c is None else c for c in row] for row in self.rows)

    def html(self, directory):
        parts = [f"<h2>{html.escape(self.title)}</h2>"]
        parts += [f"<p>{html.escape(self.note)}</p>"] if self.note else []
        if self.rows:
            parts.append("<div class=table><table><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in self.head)
                         + "</tr>")
            parts += ["<tr>" + "".join(f"<td>{html.escape(figure(c))}</td>" for c in row) + "</tr>"
                      for row in self.rows]
            parts.append("</table></div>")
        for is_small, plots in itertools.groupby(self.plots, lambda drawn: drawn.is_small):
            parts.append(f'<div class="plots{" small" if is_small else ""}">')
            for panel in (panel for drawn in plots for panel in drawn.panels):
                with open(f"{directory}/{panel.name}.svg", encoding="utf-8") as f:
                    parts.append(f"<figure>{plot.inline(f.read())}</figure>")
            parts.append("</div>")
        return "\n".join(parts)


class Report:
    """All that there is to say about an experiment."""

    def __init__(self, out):
        self.out = out
        path = f"{out}/experiment.lab"
        if not os.path.exists(path):
            raise LabError(f"{out}: there are no results of sluice-lab in it")
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        # A topology that was a file beside the experiment is not beside its results.
        with open(f"{out}/path", encoding="utf-8") as f:
            self.path = f.read().strip()
        self.cases = labfile.cases(self.path, self.text)
        self.runs = [measure.load(c, f"{out}/runs/{c.key}") for c in self.cases
                     if os.path.exists(f"{out}/runs/{c.key}/run.json")]
        if not self.runs:
            raise LabError(f"{out}: no run is finished")
        self.lab = self.cases[0].lab
        self.directory = f"{out}/report"
        self.sections = []

    def groups(self):
        """[(values, {scheme: [runs of its seeds]})] in the order of the file."""
        found = {}
        for run in self.runs:
            key = tuple(run.case.values.items())
            found.setdefault(key, {}).setdefault(run.scheme, []).append(run)
        return list(found.items())

    @staticmethod
    def suffix(values):
        return labfile.point_words(values)

    @staticmethod
    def words(values):
        return ", ".join(f"{k} {v}" for k, v in values)

    def add(self, section):
        self.sections.append(section)
        return section

    @functools.cached_property
    def points(self):
        """Ports with fair rates."""
        return sorted({p for run in self.runs for p in run.rates})

    @functools.cached_property
    def most(self):
        """Points of a curve over time, so that a page with many of them does not become large."""
        curves = 2 * (1 + len(self.points)) * sum(len(schemes) for _, schemes in self.groups())
        return max(60, min(1000, POINTS // curves))

    def panels(self):
        """[(values, [(name, number, runs)])]: what shares a plot. Curves are schemes, with the place in the
        file as their number; of a lone scheme they are the values of the last `vary`."""
        found = {}
        lone = self.lab.vary and len(self.lab.schemes) == 1
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                if lone:
                    *others, (word, value) = values
                    curve = f"{word} {value}", self.lab.vary[word].index(value), runs
                    found.setdefault(tuple(others), []).append(curve)
                else:
                    number = [s.name for s in self.lab.schemes].index(scheme)
                    found.setdefault(values, []).append((scheme, number, runs))
        return list(found.items())

    @staticmethod
    def references(axes, members):
        """Marks that the experiment asks for in a panel of these curves."""
        found = [(axes.index(REFERRED[quantity]), value, text) for _, _, runs in members
                 for quantity, value, text in runs[0].case.lab.references if REFERRED[quantity] in axes]
        return [plot.Mark(*mark, is_asked=True) for mark in dict.fromkeys(found)]

    def draw(self, section, name, title, x, y, curve, parts=("",), mark=lambda runs, part: [], **more):
        """A plot with a panel for each set of values, each part, such as a port, and each `plot.MOST` curves.
        `curve` makes a line and a band of runs and a part, and perhaps a word that says which they are of;
        `mark` what to compare them with, besides the experiment's references."""
        drawn = plot.Plot(x, y, [], **more)
        for values, members in self.panels():
            for part in parts:
                curves, words = [], set()
                for key, number, runs in members:
                    line, band, *word = curve(runs, *[part] if part else [])
                    if line:
                        curves.append(plot.Curve(": ".join([key, *word]), number, line, band))
                        words.update(word)
                if not curves:
                    continue
                if len(words) == 1:     # of all alike
                    for c in curves:
                        c.name = c.name.removesuffix(f": {min(words)}")
                most = 1 if plot.hide_each_other(curves) else plot.MOST
                for first in range(0, len(curves), most):
                    number = f"-{first // most + 1}" if len(curves) > most else ""
                    drawn.panels.append(plot.Panel(
                        name + self.suffix(values) + (f"-{part}" if len(parts) > 1 else "") + number,
                        ", ".join(filter(None, [title, part, *(words if len(words) == 1 else ()), self.words(values)])),
                        curves[first:first + most],
                        [*dict.fromkeys(m for _, _, runs in members for m in mark(runs, part)),
                         *self.references([x, y], members)]))
        if drawn.panels:
            section.plots.append(drawn)

    def overview(self):
        rows, notes = [], []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                flows = sum(len(r.flows) for r in runs)
                slow = measure.summary([f[4] for r in runs for f in r.flows if f[4] is not None])
                sums = [measure.totals(r) for r in runs]
                rows.append([scheme, *(v for _, v in values), len(runs), flows, slow["n"],
                             slow["mean"], slow["p50"], slow["p99"],
                             sum(t["drops"] for t in sums), sum(r.retransmits for r in runs),
                             sum(r.timeouts for r in runs),
                             max(t["longest_port_queue"] for t in sums)])
                odd = sorted({p for t in sums for p in t["not_tagging"]})
                if odd and runs[0].case.scheme.tags:
                    notes.append(f"{scheme}: not tagging at the end: {', '.join(odd[:5])}"
                                 + (" ..." if len(odd) > 5 else "") + ".")
        names = list(self.lab.vary)
        self.add(Section("overview", "All flows", ["scheme", *names, "runs", "flows", "complete",
                         "mean slowdown", "p50", "p99", "drops", "retransmits", "timeouts",
                         "longest queue (B)"], rows, " ".join(notes)))

    def slowdowns(self):
        for label in measure.labels(self.runs):
            what = "" if label == "-" else f", {label}"
            name = f"slowdown{'' if label == '-' else '-' + label}"
            rows, found = [], {}
            for values, schemes in self.groups():
                for scheme, runs in schemes.items():
                    of_size = measure.slowdown(runs, self.lab.bins, label)
                    rows += [[scheme, *(v for _, v in values), size_words(end), s["n"], s["mean"], s["p50"],
                              s["p95"], s["p99"], s["max"]] for end, s in of_size]
                    found[runs[0].case.key] = of_size[:-1], [
                        dict(measure.slowdown([run], self.lab.bins, label)) for run in runs]
            section = self.add(Section(name, f"Slowdown by size{what}", [
                "scheme", *self.lab.vary, "size up to", "flows", "mean", "p50", "p95", "p99", "max"], rows))
            ends = [*self.lab.bins, None]
            places = {ends.index(end) for of_size, _ in found.values() for end, _ in of_size}
            if len(places) < 2:
                continue        # the table says it all
            tics = [(size_words(end), i) for i, end in enumerate(ends)][:max(places) + 1]
            for key, word in ("p99", "99th percentile"), ("p50", "median"), ("mean", "mean"):
                self.draw(section, f"{name}-{key}", f"Slowdown, {word}{what}",
                          plot.Axis("size of flow up to", fixed=(-0.2, len(tics) - 0.8)), SLOWDOWN,
                          lambda runs, key=key: self.of_sizes(*found[runs[0].case.key], ends, key),
                          style="linespoints", tics=tics)

    def priorities(self):
        """Of flows that have several"""
        rows = []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                rows += [[scheme, *(v for _, v in values), priority, s["n"], s["mean"], s["p50"], s["p95"], s["p99"], s["max"]]
                         for priority, s in measure.by_priority(runs)]
        place = 1 + len(self.lab.vary)
        if len({row[place] for row in rows}) > 1:
            self.add(Section("priorities", "Slowdown by priority", [
                "scheme", *self.lab.vary, "priority", "flows", "mean", "p50", "p95", "p99", "max"], rows,
                "Higher ones go first with schemes that have classes, and are nothing to others."))

    @staticmethod
    def of_sizes(together, seeds, ends, key):
        """A line of all seeds together, and a band from the lowest to the highest of them."""
        line = [(ends.index(end), s[key]) for end, s in together]
        band = [(ends.index(end), *(limit(seed[end][key] for seed in seeds if end in seed) for limit in (min, max)))
                for end, _ in together]
        return line, band if len(seeds) > 1 else []

    def flows_under_way(self):
        rows, held = [], {}
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                seeds = held[runs[0].case.key] = [
                    measure.weighted(measure.under_way(run), *run.span) for run in runs]
                s = measure.weighted_summary(measure.merged(seeds))
                rows.append([scheme, *(v for _, v in values), s["mean"], s["p50"], s["p99"],
                             s["max"]])
        section = self.add(Section("active", "Flows under way, over time",
                                   ["scheme", *self.lab.vary, "mean", "p50", "p99", "max"], rows))
        self.draw(section, "active", "Flows under way", FLOWS, SHARE,
                  lambda runs: plot.cdfs(held[runs[0].case.key]))

    def queue_lengths(self):
        if not self.lab.sample:
            return
        rows, held, fullest = [], {}, {}
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                seeds = held[runs[0].case.key] = [measure.queues(run) for run in runs]
                s = measure.weighted_summary(measure.merged(seeds))
                by_switch = [measure.buffers(run) for run in runs]
                most = max((measure.weighted_summary(measure.weighted(b, *r.span))["max"] or 0
                            for r, buffers in zip(runs, by_switch) for b in buffers.values()), default=None)
                rows.append([scheme, *(v for _, v in values), s["mean"], s["p50"], s["p99"],
                             s["max"], most])
                fullest[runs[0].case.key] = [self.fullest(series, self.most) for series in (
                    [run.samples for run in runs], by_switch)]
        section = self.add(Section(
            "queues", f"Queues of ports, bytes, looked at each {units.time_words(self.lab.sample)}",
            ["scheme", *self.lab.vary, "mean", "p50", "p99", "max", "most in a switch"], rows))
        self.draw(section, "queue-cdf", "Queues of all sampled ports", QUEUE, SHARE,
                  lambda runs: plot.cdfs(held[runs[0].case.key]))
        for place, (name, title, axis) in enumerate((
                ("queue-time", "The port with the longest queue", QUEUE),
                ("buffer-time", "The switch with the fullest buffer", BUFFER))):
            self.draw(section, name, title, TIME, axis,
                      lambda runs, place=place: fullest[runs[0].case.key][place])

    @staticmethod
    def fullest(series, most):
        """The series of one port or switch, the one that once held most, and its name."""
        name = max(sorted({name for s in series for name in s}),
                   key=lambda name: max(p[1] for s in series for p in s.get(name, [])), default=None)
        return *plot.over_time([s.get(name, []) for s in series], most), name or "-"

    def fair_rates(self):
        """rocc's rates over time, and the queues of these ports, also with the other schemes."""
        rows = []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                begin, end = runs[0].span
                for point, series in sorted(runs[0].rates.items()):
                    s = measure.weighted_summary(measure.weighted(series, begin, end))
                    port = runs[0].ports.get(point, {})
                    rows.append([scheme, *(v for _, v in values), point, s["mean"] / 1e9,
                                 s["p50"] / 1e9, series[-1][1] / 1e9, port.get("q_ref"),
                                 port.get("ticks"), port.get("cuts"), port.get("cnps")])
        if not rows:
            return
        section = self.add(Section("rates", "Fair rates of congestion points, Gb/s", [
            "scheme", *self.lab.vary, "port", "mean", "p50", "last", "reference queue (B)", "intervals",
            "cuts", "CNPs"], rows, "In the table, of the first seed."))
        self.draw(section, "rate-time", "Fair rate", TIME, RATE, lambda runs, point: plot.over_time(
            [run.rates.get(point, []) for run in runs], self.most), self.points, lambda runs, point: [
                plot.Mark(1, p.rate, "link rate") for p in runs[0].case.lab.topology.ports if str(p) == point])
        self.draw(section, "rate-queue", "Queue", TIME, QUEUE, lambda runs, point: plot.over_time(
            [run.samples.get(point, []) for run in runs], self.most), self.points, lambda runs, point: [
                plot.Mark(1, run.ports[point]["q_ref"], "reference") for run in runs
                if run.ports.get(point, {}).get("q_ref")])

    def links(self):
        rows = []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                found = [link for run in runs for link in measure.links(run)]
                if not found:
                    continue
                used = measure.summary([share for _, share, _ in found])
                busiest = max(found, key=lambda link: (link[1], link[0]))
                rows.append([scheme, *(v for _, v in values), 100 * used["mean"],
                             100 * used["p50"], 100 * used["p99"], 100 * busiest[1], busiest[0],
                             max(paused for _, _, paused in found) / 1000])
        section = self.add(Section("links", "Links from switches, from the first flow's start to the "
                                   "last one's end: % of the rate", ["scheme", *self.lab.vary, "mean",
                                   "p50", "p99", "busiest", "which", "longest paused (us)"], rows))
        self.draw(section, "links", "Utilisation of links", USED, plot.Axis("share of links", fixed=(0, 1)), lambda runs: plot.cdfs(
            [sorted((100 * share, 1) for _, share, _ in measure.links(run)) for run in runs]),
            mark=lambda *_: [plot.Mark(0, 100, "link rate")])

    @staticmethod
    def layers(pair):
        """From hosts (0) to switches of the first layer: 0-1"""
        return "-".join(map(str, pair))

    def frames(self):
        carried, waited = [], []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                key = [scheme, *(v for _, v in values)]
                carried += [[*key, self.layers(layers), kind, frames, 100 * share, 100 * most, port]
                            for layers, kind, frames, share, most, port in measure.carried(runs)]
                for run in runs:
                    waited += [[*key, run.case.seed, self.layers(layers), label, packets, ns["sum"] / packets / 1000,
                                *(ns[k] / 1000 for k in ("p50", "p99", "max"))] for layers, label, packets, ns in run.waits]
        if not carried:
            return
        note = "Layers are those that links lead from and to; hosts are 0."
        self.add(Section("frames", "What links carry", ["scheme", *self.lab.vary, "layers", "kind", "frames", "% of the links",
                         "% of one", "which"], carried, note))
        self.add(Section("waits", "How long data waits for links, us", ["scheme", *self.lab.vary, "seed", "layers", "label",
                         "packets", "mean", "p50", "p99", "max"], waited, note))

    def pauses(self):
        rows = []
        for values, schemes in self.groups():
            for scheme, runs in schemes.items():
                if not runs[0].case.scheme.pauses:
                    continue
                sums = [measure.totals(r) for r in runs]
                span = sum(r.span[1] - r.span[0] for r in runs) or 1
                links = len(runs[0].ports)
                rows.append([scheme, *(v for _, v in values), sum(t["pauses"] for t in sums),
                             sum(t["state_frames"] for t in sums),
                             100 * sum(t["state_frames"] for t in sums) * 84 * 8e9 /
                             (span * sum(p.rate for p in self.lab.topology.ports)),
                             sum(t["paused_time_ns"] for t in sums) / links / len(runs) / 1000,
                             min((h for t in sums for h in t["hrtt_ns"]), default=None),
                             max((h for t in sums for h in t["hrtt_ns"]), default=None),
                             sum(t["marks"] for t in sums), sum(t["assign_shared"] for t in sums),
                             sum(t["assign_own"] for t in sums), sum(t["collisions"] for t in sums)])
        if rows:
            self.add(Section("pauses", "Pauses", [
                "scheme", *self.lab.vary, "pauses", "state frames", "% of the links",
                "paused per link (us)", "reaction from (ns)", "to", "marked packets", "shared sub-queues",
                "own shared", "collisions"], rows,
                "Paused time is summed over a link's sub-queues; a state frame is taken for 84 bytes. "
                "The reaction is the time from a pause to its effect, as ports have measured it."))

    def make(self):
        """Writes everything; returns the page's path."""
        os.makedirs(self.directory, exist_ok=True)
        for name in os.listdir(self.directory):
            os.unlink(f"{self.directory}/{name}")
        self.overview()
        self.slowdowns()
        self.priorities()
        self.flows_under_way()
        self.queue_lengths()
        self.fair_rates()
        self.links()
        self.frames()
        self.pauses()
        plot.draw(self.directory, [drawn for section in self.sections for drawn in section.plots])
        for section in self.sections:
            section.save_csv(self.directory)
        with open(f"{self.directory}/report.txt", "w", encoding="utf-8") as f:
            f.write("\n\n".join([*(s.text() for s in self.sections), "\n".join(self.made())]) + "\n")
        with open(f"{self.directory}/report.json", "w", encoding="utf-8") as f:
            json.dump({**{s.name: [dict(zip(s.head, row)) for row in s.rows] for s in self.sections},
                       "made": self.made()}, f, indent=1)
            f.write("\n")
        page = f"{self.directory}/index.html"
        with open(page, "w", encoding="utf-8") as f:
            f.write(self.page())
        return page

    def made(self):
        """What was run; a line for each, if the runs are not all of one state."""
        return list(dict.fromkeys(inputs.described(r.facts) for r in self.runs))

    def page(self):
        missing = [c.key for c in self.cases if c.key not in {r.case.key for r in self.runs}]
        parts = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
                 '<meta name="viewport" content="width=device-width, initial-scale=1">',
                 f"<title>{html.escape(self.lab.title or self.lab.name)}</title>",
                 f"<style>{STYLE}</style></head><body>",
                 f"<h1>{html.escape(self.lab.title or self.lab.name)}</h1>"]
        parts += [f"<p>{html.escape(p)}</p>" for p in self.lab.papers]
        if missing:
            parts.append(f"<p class=note>Not finished: {html.escape(', '.join(missing))}</p>")
        if len({run.case.seed for run in self.runs}) > 1:
            parts.append("<p>Lines are of all seeds together, or over time their median; bands are from the lowest to "
                         "the highest of the seeds.</p>")
        parts += [s.html(self.directory) for s in self.sections]
        parts.append("<h2>How it was made</h2>")
        parts += [f"<p>{html.escape(words)}.</p>" for words in self.made()]
        parts.append("<p>Slowdown is a flow's completion time over the best possible one of that flow alone on "
                     "its path. The experiment:</p>")
        parts.append(f"<pre>{html.escape(self.text)}</pre>")
        parts.append("<p>Each scheme's settings:</p><pre>")
        for run in {r.scheme: r for r in self.runs}.values():
            settings = {k: v for k, v in run.facts["settings"].items() if v}
            parts.append(html.escape(f"{run.scheme}: {json.dumps(settings, sort_keys=True)}\n"
                                     f"    flowgen {' '.join(run.facts['flowgen'])}"))
        parts.append("</pre></body></html>")
        return "\n".join(parts) + "\n"

    def brief(self):
        """What a terminal shows: the first table."""
        return "\n".join([self.sections[0].text(), *self.made()])
