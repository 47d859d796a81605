# SPDX-License-Identifier: GPL-2.0-only
"""Topologies by their shape: each function yields the lines of a topology file.

A shape's parameters are its function's, with their defaults; `make(NAME, {"racks": "4"})`.
"""

import inspect

from . import units
from .topology import HOSTS_MAX


def _defaults(rate, delay):
    yield f"defaults rate {units.rate_words(rate)} delay {units.time_words(delay)}"


def star(senders: int = 2, receivers: int = 1, rate: units.rate = "100gbit",
         access: units.rate = "rate", delay: units.time = "1us"):
    """N senders and a receiver (or more) at one switch: N-to-1. `access`: of the senders' links."""
    yield from (f"host h{i}" for i in range(1, senders + 1))
    yield from (f"host r{i}" for i in range(1, receivers + 1))
    yield "switch s1"
    yield from _defaults(rate, delay)
    for name, count, speed in ("h", senders, access), ("r", receivers, rate):
        yield from (f"link {name}{i}.s1 s1.{name}{i} rate {units.rate_words(speed)}"
                    for i in range(1, count + 1))


def chain(switches: int = 1, rate: units.rate = "100gbit", access: units.rate = "rate",
          delay: units.time = "1us"):
    """Two hosts with switches between them. `access`: of the sender's link."""
    yield from ("host h1", "host r1")
    yield from (f"switch s{i}" for i in range(1, switches + 1))
    yield from _defaults(rate, delay)
    boxes = ["h1"] + [f"s{i}" for i in range(1, switches + 1)] + ["r1"]
    for a, b in zip(boxes, boxes[1:]):
        yield f"link {a}.{b} {b}.{a} rate {units.rate_words(access if a == 'h1' else rate)}"


def dumbbell(hosts: int = 2, rate: units.rate = "100gbit", core: units.rate = "100gbit",
             delay: units.time = "1us"):
    """As many hosts at each of two switches, one link between them."""
    yield from (f"host l{i}" for i in range(1, hosts + 1))
    yield from (f"host r{i}" for i in range(1, hosts + 1))
    yield from ("switch s1", "switch s2")
    yield from _defaults(rate, delay)
    yield from (f"link l{i}.s1 s1.l{i}" for i in range(1, hosts + 1))
    yield from (f"link r{i}.s2 s2.r{i}" for i in range(1, hosts + 1))
    yield f"link s1.s2 s2.s1 rate {units.rate_words(core)}"


def bfc_fig6(group1: int = 1, group2: int = 1, group3: int = 1, rate: units.rate = "100gbit",
             delay: units.time = "1us"):
    """BFC (NSDI 2022), Fig. 6: group 1 goes S1-S2-R1, group 2 S1-S2-R2, group 3 S3-S2-R2.

    Hosts a*, b* and c* send for the groups 1, 2 and 3.
    """
    groups = (("a", group1, "s1"), ("b", group2, "s1"), ("c", group3, "s3"))
    for name, count, _ in groups:
        yield from (f"host {name}{i}" for i in range(1, count + 1))
    yield from ("host r1", "host r2", "switch s1", "switch s2", "switch s3")
    yield from _defaults(rate, delay)
    for name, count, switch in groups:
        yield from (f"link {name}{i}.{switch} {switch}.{name}{i}" for i in range(1, count + 1))
    for a, b in ("s1", "s2"), ("s3", "s2"), ("r1", "s2"), ("r2", "s2"):
        yield f"link {a}.{b} {b}.{a}"


def rocc_fig10(access: units.rate = "10gbit", core: units.rate = "40gbit",
               delay: units.time = "1500ns"):
    """RoCC (CoNEXT 2020), Fig. 10: several bottlenecks. a0..a4 at s0; b0..b4 and b5 at s1."""
    yield from (f"host a{i}" for i in range(5))
    yield from (f"host b{i}" for i in range(6))
    yield from ("switch s0", "switch s1")
    yield from _defaults(access, delay)
    yield from (f"link a{i}.s0 s0.a{i}" for i in range(5))
    yield from (f"link b{i}.s1 s1.b{i}" for i in range(6))
    yield f"link s0.s1 s1.s0 rate {units.rate_words(core)}"


def rocc_asymmetric(slow: units.rate = "40gbit", fast: units.rate = "100gbit",
                    delay: units.time = "1500ns"):
    """RoCC, section 6.1, Fig. 12b: five hosts at 40 Gb/s, two at 100, one receiver."""
    yield from (f"host a{i}" for i in range(7))
    yield from ("host b0", "switch s0", "switch s1", "switch s2")
    yield from _defaults(fast, delay)
    yield from (f"link a{i}.s0 s0.a{i} rate {units.rate_words(slow)}" for i in range(5))
    yield from (f"link a{i}.s1 s1.a{i}" for i in (5, 6))
    yield from ("link s0.s2 s2.s0", "link s1.s2 s2.s1", "link b0.s2 s2.b0")


def rocc_edge_core(edges: int = 3, cores: int = 3, hosts: int = 30, parallel: int = 2,
                   rate: units.rate = "40gbit", core: units.rate = "100gbit",
                   delay: units.time = "1500ns"):
    """RoCC, section 6.3, Fig. 14: each edge switch has parallel links to each core switch."""
    yield from leaf_spine(edges, hosts, cores, rate, core, delay, parallel)


def flowsail_fig9(rate: units.rate = "100gbit", drain: units.rate = "100gbit",
                  delay: units.time = "1us"):
    """FlowSail, Fig. 9: s at p1; r1, r2 at p2. `drain` is the rate from p2 to r1."""
    yield from ("host s", "host r1", "host r2", "switch p1", "switch p2")
    yield from _defaults(rate, delay)
    yield from ("link s.p1 p1.s", "link p1.p2 p2.p1")
    yield f"link r1.p2 p2.r1 rate {units.rate_words(drain)}"
    yield "link r2.p2 p2.r2"


def flowsail_fig10(f1: units.rate = "60gbit", f2: units.rate = "20gbit", f3: units.rate = "20gbit",
                   rate: units.rate = "100gbit", drain: units.rate = "40gbit",
                   delay: units.time = "1us"):
    """FlowSail, Fig. 9 and 10: S sends three flows of known rates; R1 drains slowly.

    S is a switch `s`, its port to P1 the network card; f1, f2 and f3 send to it, each as fast as its
    link is.
    """
    yield from ("host f1", "host f2", "host f3", "host r1", "host r2")
    yield from ("switch s", "switch p1", "switch p2")
    yield from _defaults(rate, delay)
    yield from (f"link {name}.s s.{name} rate {units.rate_words(speed)}"
                for name, speed in (("f1", f1), ("f2", f2), ("f3", f3)))
    yield from ("link s.p1 p1.s", "link p1.p2 p2.p1")
    yield f"link r1.p2 p2.r1 rate {units.rate_words(drain)}"
    yield "link r2.p2 p2.r2"


def flowsail_limit(hot: int = 3, bursts: int = 8, rate: units.rate = "100gbit", drain: units.rate = "10gbit",
                   delay: units.time = "1us", far: int = 0):
    """FlowSail, section VII: `hot` hosts h1.. send to c1.., which drain slowly; v to w, x1.. beside w.

    h1.. and v are at p1; c1.., w and x1.. are at p2. With `far` c1.. are at p3 instead, behind one link that drains slowly.
    """
    yield from (f"host h{i}" for i in range(1, hot + 1))
    yield "host v"
    yield from (f"host c{i}" for i in range(1, hot + 1))
    yield "host w"
    yield from (f"host x{i}" for i in range(1, bursts + 1))
    yield from ("switch p1", "switch p2")
    if far:
        yield "switch p3"
    yield from _defaults(rate, delay)
    yield from (f"link {name}.p1 p1.{name}" for name in (*(f"h{i}" for i in range(1, hot + 1)), "v"))
    yield "link p1.p2 p2.p1"
    if far:
        yield f"link p2.p3 p3.p2 rate {units.rate_words(drain)}"
        yield from (f"link c{i}.p3 p3.c{i}" for i in range(1, hot + 1))
    else:
        yield from (f"link c{i}.p2 p2.c{i} rate {units.rate_words(drain)}" for i in range(1, hot + 1))
    yield from (f"link {name}.p2 p2.{name}" for name in ("w", *(f"x{i}" for i in range(1, bursts + 1))))


def leaf_spine(racks: int = 8, hosts: int = 16, spines: int = 8, rate: units.rate = "100gbit",
               core: units.rate = "100gbit", delay: units.time = "1us", parallel: int = 1):
    """Racks of hosts, each rack's switch linked to each spine. As given: BFC's 128 servers."""
    yield from (f"host h{i}" for i in range(1, racks * hosts + 1))
    yield from (f"switch tor{i}" for i in range(1, racks + 1))
    yield from (f"switch spine{i}" for i in range(1, spines + 1))
    yield from (f"tier tor{i} 1" for i in range(1, racks + 1))
    yield from (f"tier spine{i} 2" for i in range(1, spines + 1))
    yield from _defaults(rate, delay)
    for rack in range(1, racks + 1):
        for i in range((rack - 1) * hosts + 1, rack * hosts + 1):
            yield f"link h{i}.up tor{rack}.h{i}"
    yield from _defaults(core, delay)
    for rack in range(1, racks + 1):
        for spine in range(1, spines + 1):
            for lane in [""] if parallel == 1 else [f"-{n}" for n in range(1, parallel + 1)]:
                yield f"link tor{rack}.spine{spine}{lane} spine{spine}.tor{rack}{lane}"


def floodgate(delay: units.time = "600ns"):
    """Floodgate's fabric: 10 racks of 16 hosts at 100 Gb/s, 4 spines at 400 Gb/s."""
    yield from leaf_spine(10, 16, 4, units.rate("100gbit"), units.rate("400gbit"), delay)


def floodgate_testbed(rate: units.rate = "10gbit", core: units.rate = "20gbit",
                      delay: units.time = "3us"):
    """Floodgate's testbed: one spine, 3 racks of 2 hosts."""
    yield from leaf_spine(3, 2, 1, rate, core, delay)


def fat_tree(k: int = 4, rate: units.rate = "100gbit", delay: units.time = "1us",
             hosts: int = 0, pods: int = 0):
    """`pods` (k) of k/2 edge and k/2 aggregation switches, k*k/4 core switches, `hosts` (k/2) at each edge switch."""
    if k < 2 or k % 2:
        raise ValueError(f"k is an even number from 2, not {k}")
    pods = pods or k
    if pods > k:
        raise ValueError(f"core switches have ports for k = {k} pods, not for {pods}")
    half = k // 2
    hosts = hosts or half
    edges = [(p, e) for p in range(1, pods + 1) for e in range(1, half + 1)]
    yield from (f"host h{i}" for i in range(1, len(edges) * hosts + 1))
    for name, tier in ("edge", 1), ("agg", 2):
        yield from (f"switch {name}{p}-{e}" for p, e in edges)
        yield from (f"tier {name}{p}-{e} {tier}" for p, e in edges)
    yield from (f"switch core{c}" for c in range(1, half * half + 1))
    yield from (f"tier core{c} 3" for c in range(1, half * half + 1))
    yield from _defaults(rate, delay)
    for number, (p, e) in enumerate(edges):
        for i in range(number * hosts + 1, (number + 1) * hosts + 1):
            yield f"link h{i}.up edge{p}-{e}.h{i}"
    for p, e in edges:
        yield from (f"link edge{p}-{e}.agg{a} agg{p}-{a}.edge{e}" for a in range(1, half + 1))
    for p, a in edges:
        for c in range((a - 1) * half + 1, a * half + 1):
            yield f"link agg{p}-{a}.core{c} core{c}.pod{p}"


def two_dc(racks: int = 4, hosts: int = 16, spines: int = 4, rate: units.rate = "100gbit",
           delay: units.time = "1us", between: units.rate = "200gbit",
           distance: units.time = "200us"):
    """BFC, App. A.9: two data centres of racks and spines, joined by one long link."""
    sides = ("a", "b")
    yield from (f"host {s}h{i}" for s in sides for i in range(1, racks * hosts + 1))
    for s in sides:
        yield from (f"switch {s}tor{i}" for i in range(1, racks + 1))
        yield from (f"switch {s}spine{i}" for i in range(1, spines + 1))
        yield f"switch {s}gw"
    yield from _defaults(rate, delay)
    for s in sides:
        for rack in range(1, racks + 1):
            for i in range((rack - 1) * hosts + 1, rack * hosts + 1):
                yield f"link {s}h{i}.up {s}tor{rack}.h{i}"
            for spine in range(1, spines + 1):
                yield f"link {s}tor{rack}.spine{spine} {s}spine{spine}.tor{rack}"
        yield from (f"link {s}spine{i}.gw {s}gw.spine{i}" for i in range(1, spines + 1))
    yield f"link agw.far bgw.far rate {units.rate_words(between)} " \
          f"delay {units.time_words(distance)}"


SHAPES = {f.__name__.replace("_", "-"): f for f in
          (star, chain, dumbbell, bfc_fig6, rocc_fig10, rocc_asymmetric, rocc_edge_core,
           flowsail_fig9, flowsail_fig10, flowsail_limit, leaf_spine, floodgate, floodgate_testbed, fat_tree,
           two_dc)}


def make(name, settings):
    """The text of a topology. Raises ValueError."""
    shape = SHAPES.get(name)
    if not shape:
        raise ValueError(f"\"{name}\" is no shape: {', '.join(SHAPES)}")
    parameters = inspect.signature(shape).parameters
    values = {}                 # a default may be an earlier parameter's name
    for key, text in {**{k: p.default for k, p in parameters.items()}, **settings}.items():
        if key not in parameters:
            raise ValueError(f"{name} has no \"{key}\": {', '.join(parameters)}")
        convert = parameters[key].annotation
        try:
            values[key] = values[text] if text in values else convert(text)
        except ValueError as e:
            raise ValueError(f"{key}: {e}" if convert is not int
                             else f"{key}: \"{text}\" is no whole number") from None
        if convert is int and values[key] < (0 if parameters[key].default == 0 else 1):
            raise ValueError(f"{key} is at least 1")
    lines = ["# " + " ".join([name] + [f"{k} {v}" for k, v in settings.items()])]
    hosts = 0
    for line in shape(**values):
        hosts += line.startswith("host ")
        if hosts > HOSTS_MAX:
            raise ValueError(f"these are more than {HOSTS_MAX} hosts")
        lines.append(line)
    return "\n".join(lines) + "\n"


def summary():
    """(name, first line of what it is, parameters with defaults) of each shape."""
    for name, shape in SHAPES.items():
        yield name, shape.__doc__.splitlines()[0], " ".join(
            f"{k} {p.default}" for k, p in inspect.signature(shape).parameters.items())
