# SPDX-License-Identifier: GPL-2.0-only
"""What runs say: slowdown by size, queues, flows under way, utilisation, pauses, drops.

All figures follow from the result files alone. Percentiles are by nearest rank: the smallest value
that at least that share of the values does not exceed.
"""

import csv
import functools
import itertools
import json
import os
from dataclasses import dataclass, field

from . import best, rack
from .units import LabError

PERCENTS = (50, 95, 99)


def percentile(ordered, percent):
    """Of a sorted list; None of an empty one."""
    if not ordered:
        return None
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, rank - 1)]


def summary(values):
    """n, mean, percentiles and the largest."""
    ordered = sorted(values)
    result = {"n": len(ordered), "mean": sum(ordered) / len(ordered) if ordered else None}
    for percent in PERCENTS:
        result[f"p{percent}"] = percentile(ordered, percent)
    result["max"] = ordered[-1] if ordered else None
    return result


@dataclass
class Run:
    """A finished case: its flows, and lazily its samples and ports."""
    case: object
    directory: str
    facts: dict = field(default_factory=dict)
    flows: list = field(default_factory=list)   # (label, size, start, done or None, slowdown or None)
    priorities: list = field(default_factory=list)      # of these flows
    packets: int = 0
    retransmits: int = 0
    timeouts: int = 0

    @property
    def scheme(self):
        return self.case.scheme.name

    @functools.cached_property
    def span(self):
        """From the first start to the last end, ns; if no flow came to its end, to that of the run."""
        starts = [f[2] for f in self.flows]
        ends = [f[3] for f in self.flows if f[3] is not None] or \
            [max(starts, default=0) + self.case.lab.limit]
        return (min(starts), max(ends)) if starts else (0, 0)

    @functools.cached_property
    def ports(self):
        """{"BOX.PORT": the root qdisc's JSON}, of switches and hosts. What the root does not say, but
        the qdisc below it does, is that one's: rocc over bfc."""
        with open(f"{self.directory}/ports.json", encoding="utf-8") as f:
            boxes = json.load(f)
        found = {}
        for box, qdiscs in boxes.items():
            name = box.removeprefix("lab-")
            below = {f"{name}.{q['dev']}": q for q in qdiscs if q.get("parent") == "1:1"}
            for qdisc in qdiscs:
                if qdisc.get("root") and qdisc["kind"] != "noqueue":
                    port = f"{name}.{qdisc['dev']}"
                    found[port] = {**below.get(port, {}), **qdisc}
        return found

    @functools.cached_property
    def classes(self):
        """{port: [packets sent by each sub-queue that sent any]}, of bfc's ports that were sampled."""
        found = {}
        with open(f"{self.directory}/classes.txt", encoding="utf-8") as f:
            for line in f:
                words = line.split()
                if words[:1] == ["port"]:
                    sent = found.setdefault(words[1], [])
                elif words[:2] == ["class", "bfc"]:
                    is_queue = int(words[2].split(":")[1], 16) >= 0x1000
                elif words[:1] == ["Sent"] and is_queue:
                    sent.append(int(words[3]))
        return found

    @functools.cached_property
    def samples(self):
        """{port: [(t, backlog, bytes sent)]}, each valid until the next."""
        return self._series("samples.csv", "backlog_bytes", "tx_bytes")

    @functools.cached_property
    def rates(self):
        """{port: [(t, fair rate in bit/s)]}, of rocc's congestion points; each valid until the next."""
        return self._series("rates.csv", "fair_rate")

    @functools.cached_property
    def frames(self):
        """[(port, layers it leads from and to, kind, frames, bytes)] that links have carried."""
        return [(row["port"], self._layers(row), row["kind"], int(row["frames"]), int(row["bytes"]))
                for row in self._rows("frames.csv")]

    @functools.cached_property
    def waits(self):
        """[(layers, label, packets, {sum, p50, p99, max: ns})] of data that has waited for links."""
        return [(self._layers(row), row["label"], int(row["packets"]),
                 {key: int(row[f"{key}_ns"]) for key in ("sum", "p50", "p99", "max")}) for row in self._rows("waits.csv")]

    @staticmethod
    def _layers(row):
        return int(row["from_layer"]), int(row["to_layer"])

    def _rows(self, name):
        path = f"{self.directory}/{name}"
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def _series(self, name, *columns):
        series = {}
        for row in self._rows(name):
            series.setdefault(row["port"], []).append((int(row["t_ns"]), *(int(row[c]) for c in columns)))
        return series


def load(case, directory):
    """A run from its files. Raises LabError naming the file."""
    run = Run(case, directory)
    topology = case.lab.topology
    hosts = topology.hosts

    @functools.cache
    def hops(source, target):
        return best.hops_of(topology.path(hosts[source], hosts[target]))

    @functools.cache
    def alone(size, way):
        return best.best_ns(size, way, case.lab.payload, overhead=case.lab.overhead)

    with open(f"{directory}/run.json", encoding="utf-8") as f:
        run.facts = json.load(f)
    path = f"{directory}/flows.csv"
    with open(path, encoding="utf-8") as f:
        for number, row in enumerate(csv.DictReader(f), 2):
            try:
                size, start = int(row["bytes"]), int(row["start_ns"])
                done = int(row["done_ns"]) if row["done_ns"] else None
                way = hops(int(row["src"]), int(row["dst"]))
                slow = None if done is None else (done - start) / alone(size, way)
                run.flows.append((row["label"], size, start, done, slow))
                run.priorities.append(int(row["class"]))
                run.packets += int(row["packets"] or 0)
                run.retransmits += int(row["retransmits"] or 0)
                run.timeouts += int(row["timeouts"] or 0)
            except (KeyError, ValueError, IndexError, TypeError) as e:
                raise LabError(f"{path}:{number}: this is no result of flowgen ({e})") from None
    return run


def slowdown(runs, bins, label=None):
    """A row for each bin of sizes that has flows: (upper end or None, summary), of all runs."""
    values = [[] for _ in range(len(bins) + 1)]
    for run in runs:
        for flow_label, size, _, _, slow in run.flows:
            if slow is None or (label is not None and flow_label != label):
                continue
            place = next((i for i, end in enumerate(bins) if size <= end), len(bins))
            values[place].append(slow)
    rows = [(end, summary(v)) for end, v in zip([*bins, None], values) if v]
    return rows + [("all", summary([x for v in values for x in v]))]


def by_priority(runs):
    """[(priority, summary of slowdowns)], the highest first"""
    found = {}
    for run in runs:
        for priority, (*_, slow) in zip(run.priorities, run.flows):
            found.setdefault(priority, []).extend([] if slow is None else [slow])
    return [(priority, summary(slow)) for priority, slow in sorted(found.items(), reverse=True)]


def labels(runs):
    return sorted({flow[0] for run in runs for flow in run.flows})


def under_way(run):
    """[(t, flows started and not complete)], at each change."""
    events = []
    for _, _, start, done, _ in run.flows:
        events.append((start, 1))
        if done is not None:
            events.append((done, -1))
    series, now = [], 0
    for t, step in sorted(events):
        now += step
        if series and series[-1][0] == t:
            series[-1] = (t, now)
        else:
            series.append((t, now))
    return series


def weighted(series, begin, end):
    """[(value, ns that it held)] of a step function between two instants."""
    weights = {}
    for (t, value, *_), following in zip(series, series[1:] + [(end,)]):
        held = min(following[0], end) - max(t, begin)
        if held > 0:
            weights[value] = weights.get(value, 0) + held
    return sorted(weights.items())


def merged(many):
    """Weights of several series together."""
    weights = {}
    for value, held in itertools.chain.from_iterable(many):
        weights[value] = weights.get(value, 0) + held
    return sorted(weights.items())


def weighted_summary(weights):
    total = sum(w for _, w in weights)
    result = {"mean": sum(v * w for v, w in weights) / total if total else None}
    for percent in PERCENTS:
        passed = 0
        for value, held in weights:
            passed += held
            if passed * 100 >= total * percent:
                result[f"p{percent}"] = value
                break
    result["max"] = weights[-1][0] if weights else None
    return result


def buffers(run):
    """{switch: [(t, bytes in all of its sampled ports)]}."""
    changes = {}
    for port, series in run.samples.items():
        switch = port.split(".")[0]
        before = 0
        for t, backlog, _ in series:
            changes.setdefault(switch, []).append((t, backlog - before))
            before = backlog
    result = {}
    for switch, steps in changes.items():
        now, series = 0, []
        for t, step in sorted(steps):
            now += step
            if series and series[-1][0] == t:
                series[-1] = (t, now)
            else:
                series.append((t, now))
        result[switch] = series
    return result


def queues(run):
    """Of all sampled ports together: how long each backlog held."""
    begin, end = run.span
    return merged(weighted(series, begin, end) for series in run.samples.values())


def utilisation(run, port, begin=None, end=None):
    """Share of a port's rate that left it, by its samples between two instants."""
    series = run.samples.get(str(port))
    if not series:
        return None
    begin = run.span[0] if begin is None else begin
    end = run.span[1] if end is None else end

    def sent(t):
        last = series[0][2]
        for at, _, sent_bytes in series:
            if at > t:
                break
            last = sent_bytes
        return last

    return (sent(end) - sent(begin)) * 8e9 / ((end - begin) * port.rate) if end > begin else None


def paused_ns(qdisc):
    """How long its sub-queues were paused, or all of it at once."""
    return qdisc.get("paused_time", 0) + qdisc.get("pfc_paused_time", 0)


def links(run):
    """[(port, share of its rate that left it, ns that its sub-queues were paused)] of all switches."""
    begin, end = run.span
    result = []
    for port in run.case.lab.topology.ports:
        qdisc = run.ports.get(str(port))
        if qdisc and port.node.is_switch and end > begin:
            frames = qdisc.get("packets", 0)
            sent = qdisc.get("bytes", 0) + frames * run.case.lab.overhead
            result.append((str(port), sent * 8e9 / ((end - begin) * port.rate),
                           paused_ns(qdisc)))
    return result


def carried(runs):
    """[(layers, kind, frames, their share of all links between these layers, that of the link with most, which)]"""
    rates = {str(p): p.rate for p in runs[0].case.lab.topology.ports}
    spans = [run.span[1] - run.span[0] for run in runs]
    room, sums, most = {}, {}, {}
    for run, span in zip(runs, spans):
        used = {layers for _, layers, *_ in run.frames}
        for port in run.case.lab.topology.ports:
            layers = layers_of(run.case.lab.topology, port)
            if layers in used:
                room[layers] = room.get(layers, 0) + port.rate * span
        for port, layers, kind, frames, sent in run.frames:
            before = sums.get((layers, kind), (0, 0))
            sums[layers, kind] = before[0] + frames, before[1] + sent
            share = sent * 8e9 / (rates[port] * span) if span else 0
            most[layers, kind] = max(most.get((layers, kind), (0, "")), (share, port))
    return [(layers, kind, frames, sent * 8e9 / room[layers] if room[layers] else 0, *most[layers, kind])
            for (layers, kind), (frames, sent) in sorted(sums.items())]


def layers_of(topology, port):
    """Those that a port leads from and to; hosts are 0."""
    return rack.layer_of(topology, port.node), rack.layer_of(topology, port.peer.node)


def totals(run):
    """Counters of all ports: drops, bytes, and what bfc's ports paused."""
    result = {"sent_bytes": 0, "drops": 0, "paused_time_ns": 0, "pauses": 0, "state_frames": 0,
              "marks": 0, "assign_shared": 0, "assign_own": 0, "collisions": 0, "longest_port_queue": 0,
              "pool_max": 0, "hrtt_ns": [], "not_tagging": []}
    for name, qdisc in run.ports.items():
        port = qdisc.get("port") or {}
        result["sent_bytes"] += qdisc.get("bytes", 0)
        result["drops"] += qdisc.get("drops", 0)
        result["paused_time_ns"] += paused_ns(qdisc)
        result["marks"] += qdisc.get("marks", 0)
        result["assign_shared"] += qdisc.get("assign_shared", 0)
        result["assign_own"] += qdisc.get("assign_own", 0)
        result["collisions"] += qdisc.get("collisions", 0)
        result["longest_port_queue"] = max(result["longest_port_queue"],
                                           qdisc.get("backlog_max", 0))
        result["pool_max"] = max(result["pool_max"], qdisc.get("pool_max", 0))
        result["pauses"] += port.get("pauses_tx", 0)
        result["state_frames"] += port.get("state_tx", 0)
        if port.get("hrtt_raw"):    # one was measured; what is used may be longer
            result["hrtt_ns"].append(port["hrtt"])
        alone = qdisc.get("kind") == "floodgate" and qdisc["options"]["peer"] == "host"     # hosts have no part in it
        if port and not alone and port.get("state") not in ("tagging", "host"):
            result["not_tagging"].append(name)
    return result
