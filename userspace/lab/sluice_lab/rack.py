# SPDX-License-Identifier: GPL-2.0-only
"""Files that lab-rack builds a topology from: batches for ip and tc, and what belongs to them.

Each box is a network namespace lab-NAME. Switches are IPv4 routers that spread flows over equal ways
by their 5-tuple, or by where they come from; hosts of one switch have one prefix. Neighbour entries are
static: there is no address resolution in a measurement.
"""

import os

from .schemes import PACED
from .topology import Topology

PREFIX = "lab-"
MODULES = {"bfc": ("hopctl", "sch_bfc"), "ideal": ("sch_ideal",), "pfc": ("hopctl", "sch_pfc"), "rocc": ("sch_rocc",),
           "floodgate": ("hopctl", "sch_floodgate"), "flowsail": ("hopctl", "sch_flowsail")}


# What switches draw one of their ways by, layer by layer: the 5-tuple; above, of fib_multipath_hash_fields, that
# without the protocol, or without a port. The kernel has one key for all namespaces: if a switch drew by the same hash as
# the one below it, it would only see flows of one part of the hash's range, and leave some of its links idle.
HASH_FIELDS = ("", "51", "23")


def netns(node):
    return PREFIX + node.name


def _links(lab, mtu):
    for a in lab.topology.ports[::2]:
        b = a.peer
        yield (f"link add name {a.name} netns {netns(a.node)} address {a.mac} mtu {mtu} "
               f"type wire rate {a.rate} delay {a.delay}ns ring {lab.ring} "
               f"overhead {lab.overhead} {lab.faults} peer name {b.name} netns {netns(b.node)} "
               f"address {b.mac} mtu {mtu}")


# Of the routes for what comes by the first port of a switch; those of main come after all of them.
PORT_TABLE, PORT_RULE = 1000, 100


def _gateway(port):
    return f"via {port.peer.node.address} dev {port.name} onlink"


# Without an address of its own, even lo's, a namespace takes each gateway for a broadcast address.
_LOOPBACK = "link set dev lo up"


def _quiet(lab, port):
    """No addresses of IPv6, so that nobody sends what the trace does not have; below 1280 bytes the
    device has no IPv6 to be told that."""
    if lab.mtu >= 1280:
        yield f"link set dev {port.name} addrgenmode none"


def _host(lab, host):
    port = host.ports[0]
    yield _LOOPBACK
    yield from _quiet(lab, port)
    yield f"address add {host.address}/32 dev {port.name}"
    yield f"link set dev {port.name} up"
    yield f"neigh add {port.peer.node.address} lladdr {port.peer.mac} dev {port.name} nud permanent"
    yield f"route add default {_gateway(port)}"


def _switch(lab, switch):
    topology = lab.topology
    yield _LOOPBACK
    # What a switch says itself needs a source: ports have no addresses.
    yield f"address add {switch.address}/32 dev lo"
    for port in switch.ports:
        other = port.peer
        yield from _quiet(lab, port)
        yield f"link set dev {port.name} up"
        yield f"neigh add {other.node.address} lladdr {other.mac} dev {port.name} nud permanent"
    for port in switch.ports:
        if not port.peer.node.is_switch:
            yield f"route add {port.peer.node.address}/32 {_gateway(port)}"
    for edge in topology.edges():
        if edge is switch:
            continue
        ways = topology.ways(switch, edge)
        if len(ways) == 1:
            yield f"route add {Topology.prefix(edge)} {_gateway(ways[0])}"
        else:
            yield f"route add {Topology.prefix(edge)} " + \
                  " ".join(f"nexthop {_gateway(w)}" for w in ways)
    yield from _own_ways(lab, switch)


def _own_way(lab, number, port, ways):
    """That of several which takes what comes by a port, the number-th of its switch; None if it may be any."""
    pinned = lab.pinned.get(port.peer.node.name)
    for way in ways:
        if way.peer.node.name == pinned:
            return way
    return ways[number % len(ways)] if lab.paths == "even" else None


def _own_ways(lab, switch):
    """A table for each port whose flows take one of several ways."""
    edges = [e for e in lab.topology.edges() if e is not switch]
    for number, port in enumerate(switch.ports):
        routes = []
        for edge in edges:
            ways = lab.topology.ways(switch, edge)
            way = _own_way(lab, number, port, ways) if len(ways) > 1 and port not in ways else None
            if way:
                routes.append(f"route add {Topology.prefix(edge)} {_gateway(way)} table {PORT_TABLE + number}")
        if routes:
            yield from routes
            yield f"rule add iif {port.name} lookup {PORT_TABLE + number} priority {PORT_RULE}"


def layer_of(topology, node):
    """0 of a host"""
    return (node.tier or (1 if node in topology.edges() else 2)) if node.is_switch else 0


def hash_fields(topology, switch):
    """Of HASH_FIELDS, a switch's."""
    return HASH_FIELDS[(layer_of(topology, switch) - 1) % len(HASH_FIELDS)]


def qdiscs_of(node, lab, scheme):
    """(port, parent, what tc is told) of a box."""
    for port in node.ports:
        yield port, "root handle 1:", scheme.qdisc(port, lab.buffer, lab.frame)
        child = scheme.qdisc(port, lab.buffer, lab.frame, child=True)
        if child:
            yield port, "parent 1:1 handle 2:", child


def filters_of(node, scheme):
    """What tc is told after that: classes of packets by their DSCP, on the way as at hosts."""
    for port in node.ports:
        for dscp, minor in scheme.filters():
            yield (f"filter add dev {port.name} parent 1: protocol ip prio 1 u32 "
                   f"match ip dsfield {4 * dscp:#x} 0xfc classid 1:{minor}")


def files(lab, scheme):
    """{name: text} of the rack of one scheme: modules, netns, links.ip, boxes, of each box lab-NAME.ip and
    .tc; for flowgen endpoints and watch; for portwatch rates, those of watch that are congestion points, and frames,
    links by where they end."""
    topology = lab.topology
    found = {}

    def put(name, lines):
        found[name] = "".join(f"{line}\n" for line in lines)

    put("netns", (f"netns add {netns(n)}" for n in topology.nodes.values()))
    put("links.ip", _links(lab, lab.mtu + scheme.telemetry))
    host = "ecn-host" if scheme.asks_for_ecn else "host"
    put("boxes", (f"{netns(n)} switch {hash_fields(topology, n)}".rstrip() if n.is_switch
                  else f"{netns(n)} {host}" for n in topology.nodes.values()))
    kinds, points = set(), set()
    for node in topology.nodes.values():
        qdiscs = list(qdiscs_of(node, lab, scheme))
        kinds.update(words.split()[0] for _, _, words in qdiscs)
        points.update(str(port) for port, parent, words in qdiscs
                      if words.startswith("rocc ") and "role host" not in words and "root" in parent)
        put(f"{netns(node)}.ip", _switch(lab, node) if node.is_switch else _host(lab, node))
        put(f"{netns(node)}.tc",
            [*(f"qdisc replace dev {port.name} {parent} {words}" for port, parent, words in qdiscs),
             *filters_of(node, scheme)])
    put("modules", ["wire", "flowgen"] + [m for k in sorted(kinds) for m in MODULES.get(k, ())])
    line = scheme.words["cc"] in PACED
    put("endpoints", (f"{h.index} {netns(h)} {h.address}" + (f" {h.ports[0].rate}" if line else "")
                      for h in topology.hosts))
    watched = [p for p in topology.ports if str(p) in lab.sample_ports]
    put("watch", (f"{p} {netns(p.node)} {p.name}" for p in watched))
    put("rates", (f"{p} {netns(p.node)} {p.name}" for p in watched if str(p) in points))
    put("rates-every", [max(1, -(-lab.sample // 1000))])
    if lab.frames:
        layers = {n.name: layer_of(topology, n) for n in topology.nodes.values()}
        put("frames", (f"{p.peer} {netns(n)} {p.name} {layers[p.peer.node.name]} {layers[n.name]} "
                       f"{p.peer.rate} {p.peer.delay} {lab.overhead}" for n in topology.nodes.values() for p in n.ports))
    return found


def write(directory, lab, scheme):
    """The same as files of a directory."""
    os.makedirs(directory, exist_ok=True)
    for name, text in files(lab, scheme).items():
        with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
