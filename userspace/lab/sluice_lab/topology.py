# SPDX-License-Identifier: GPL-2.0-only
"""A fabric as a text file, and the ways through it.

The format is that of `sluice graph`, so that one file serves both:

    host NAME
    switch NAME
    defaults [rate RATE] [delay TIME]           of the links below it
    link A.PORT B.PORT [rate RATE] [delay TIME]
    tier NAME N                                 layer of a switch; hosts are 0

`path`, `shortest` and `elide` are for `sluice graph` alone: here packets take all shortest ways.
Hosts are numbered from 0 in the order of the file; that is what traces call them.
"""

import re
from collections import deque
from dataclasses import dataclass, field

from . import units
from .units import FileError

NAME_MAX = 15           # of a network device; a box's name is part of a namespace's
# Of devices that are in each namespace, or that the kernel does not take
NAMES_TAKEN = "lo", "gre0", "gretap0", "erspan0", "sit0", "all", "default", ".", ".."
HOSTS_PER_SWITCH = 4094
HOSTS_MAX = 65536       # of flowgen
SWITCHES_MAX = 2048
RATE_MAX = 10**15       # bit/s and ns, of wire
DELAY_MAX = 10 * 10**9


@dataclass
class Port:
    name: str
    node: "Node"
    number: int         # of all ports of the topology
    peer: "Port" = None
    rate: int = 0       # bit/s
    delay: int = 0      # ns

    def __str__(self):
        return f"{self.node.name}.{self.name}"

    @property
    def mac(self):
        return "02:00:%02x:%02x:%02x:%02x" % tuple((self.number + 1).to_bytes(4, "big"))


@dataclass
class Node:
    name: str
    is_switch: bool
    index: int          # among the hosts or among the switches
    ports: list = field(default_factory=list)
    tier: int = None
    address: str = None
    line: int = 0       # of the file

    @property
    def is_core(self):
        """Is it a switch above all its neighbours, which are switches?"""
        return self.tier is not None and all(p.peer.node.is_switch and (p.peer.node.tier or self.tier) < self.tier
                                             for p in self.ports)


def _address(value):
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


class Topology:
    """Boxes and links. `origin` is the file's name, for messages."""

    def __init__(self, path="topology"):
        self.origin = path
        self.nodes = {}
        self.ports = []
        self.counts = [0, 0]        # hosts, switches

    @property
    def hosts(self):
        return [n for n in self.nodes.values() if not n.is_switch]

    @property
    def switches(self):
        return [n for n in self.nodes.values() if n.is_switch]

    @classmethod
    def parse(cls, text, path="topology"):
        topology = cls(path)
        defaults = {"rate": 0, "delay": 0}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            try:
                topology._line(words, defaults, number)
            except ValueError as e:
                raise FileError(path, number, e) from None
        topology._finish()
        return topology

    def _line(self, words, defaults, number):
        kind, *rest = words
        if kind in ("host", "switch"):
            self._add_node(rest, kind == "switch", number)
        elif kind == "defaults":
            defaults.update(self._settings(rest))
        elif kind == "link":
            self._add_link(rest, defaults)
        elif kind == "tier":
            self._set_tier(rest)
        elif kind not in ("path", "shortest", "elide"):
            raise ValueError(f"\"{kind}\" is not host, switch, defaults, link, tier, path, "
                             "shortest or elide")

    def _add_node(self, rest, is_switch, number):
        if len(rest) != 1:
            raise ValueError("takes one name")
        name, = rest
        if not re.fullmatch(f"[A-Za-z0-9_-]{{1,{NAME_MAX}}}", name):
            raise ValueError(f"\"{name}\": a name has at most {NAME_MAX} of a-z, 0-9, _ and -")
        if name in self.nodes:
            raise ValueError(f"there is a \"{name}\" already")
        most = SWITCHES_MAX if is_switch else HOSTS_MAX
        if self.counts[is_switch] == most:
            raise ValueError(f"more than {most} {'switches' if is_switch else 'hosts'}")
        self.nodes[name] = Node(name, is_switch, self.counts[is_switch], line=number)
        self.counts[is_switch] += 1

    @staticmethod
    def _settings(words):
        settings = {}
        if len(words) % 2:
            raise ValueError("settings are pairs of a word and a value")
        for word, value in zip(words[::2], words[1::2]):
            if word == "rate":
                settings[word] = units.rate(value)
                if settings[word] > RATE_MAX:
                    raise ValueError(f"a rate is 1000 tbit at most, not {value}")
            elif word == "delay":
                settings[word] = units.time(value)
                if settings[word] > DELAY_MAX:
                    raise ValueError(f"a delay is 10 s at most, not {value}")
            else:
                raise ValueError(f"\"{word}\" is not rate or delay")
        return settings

    def _add_port(self, text):
        box, dot, name = text.partition(".")
        if not dot or not name:
            raise ValueError(f"\"{text}\" is not BOX.PORT")
        if box not in self.nodes:
            raise ValueError(f"there is no host or switch \"{box}\"")
        if not re.fullmatch(rf"[A-Za-z0-9_.-]{{1,{NAME_MAX}}}", name) or name in NAMES_TAKEN:
            raise ValueError(f"\"{name}\": a port's name has at most {NAME_MAX} of a-z, 0-9, _, . and -, and is not "
                             f"{', '.join(NAMES_TAKEN)}")
        node = self.nodes[box]
        if any(p.name == name for p in node.ports):
            raise ValueError(f"{text} has a link already")
        if not node.is_switch and node.ports:
            raise ValueError(f"{box} is a host and has a link already: give it a switch")
        return Port(name, node, 0)

    def _add_link(self, rest, defaults):
        if len(rest) < 2:
            raise ValueError("\"link\" takes two ports, each BOX.PORT")
        settings = {**defaults, **self._settings(rest[2:])}
        ends = [self._add_port(text) for text in rest[:2]]
        if ends[0].node is ends[1].node:
            raise ValueError(f"both ends are \"{ends[0].node.name}\"")
        if not settings["rate"]:
            raise ValueError("this link has no rate: say `rate RATE`, or `defaults rate RATE` above")
        for end, other in zip(ends, reversed(ends)):
            end.peer = other
            end.rate, end.delay = settings["rate"], settings["delay"]
            end.number = len(self.ports)
            self.ports.append(end)
            end.node.ports.append(end)

    def _set_tier(self, rest):
        if len(rest) != 2 or not rest[1].isdigit() or int(rest[1]) < 1:
            raise ValueError("\"tier\" takes a switch and a number from 1")
        node = self.nodes.get(rest[0])
        if not node or not node.is_switch:
            raise ValueError(f"there is no switch \"{rest[0]}\"")
        node.tier = int(rest[1])

    def _finish(self):
        """Checks the whole, and gives addresses: 12 bits for the switch, 12 for its host."""
        if not self.ports:
            raise FileError(self.origin, 0, "there is no link in it")
        for host in self.hosts:
            if not host.ports:
                raise FileError(self.origin, host.line, f"host \"{host.name}\" has no link")
            if not host.ports[0].peer.node.is_switch:
                raise FileError(self.origin, host.line, f"host \"{host.name}\" is linked to a host, not to a switch")
        for switch in self.switches:
            switch.address = _address((10 << 24) + (1 << 23) + switch.index)
            hosts = [p.peer.node for p in switch.ports if not p.peer.node.is_switch]
            if len(hosts) > HOSTS_PER_SWITCH:
                raise FileError(self.origin, switch.line, f"\"{switch.name}\" has more than {HOSTS_PER_SWITCH} hosts")
            for number, host in enumerate(hosts, 1):
                host.address = _address((10 << 24) + (switch.index << 12) + number)
        self._towards = {}
        for edge in self.edges():
            far = [h for h in self.hosts if not self._ways(edge).get(self.edge(h))]
            if far:
                raise FileError(self.origin, far[0].line, f"there is no way from \"{far[0].name}\" to the hosts of "
                                                          f"\"{edge.name}\"")

    @staticmethod
    def edge(host):
        """The switch that a host is linked to."""
        return host.ports[0].peer.node

    def edges(self):
        """Switches with hosts, in the order of the file."""
        return [s for s in self.switches if any(not p.peer.node.is_switch for p in s.ports)]

    @staticmethod
    def prefix(edge):
        """The addresses of a switch's hosts."""
        return _address((10 << 24) + (edge.index << 12)) + "/20"

    def _ways(self, edge):
        """Ports on the shortest ways to a switch, of each other switch; {edge: True} for itself."""
        ways = self._towards.get(edge.name)
        if ways is None:
            distance = {edge.name: 0}
            queue = deque([edge])
            while queue:
                node = queue.popleft()
                for port in node.ports:
                    other = port.peer.node
                    if other.is_switch and other.name not in distance:
                        distance[other.name] = distance[node.name] + 1
                        queue.append(other)
            ways = _Ways({edge.name: True})
            for name, hops in distance.items():
                if hops:
                    ways[name] = [p for p in self.nodes[name].ports
                                  if distance.get(p.peer.node.name) == hops - 1]
            self._towards[edge.name] = ways
        return ways

    def ways(self, switch, edge):
        """Ports of a switch by which packets for the hosts of another may leave."""
        return self._ways(edge)[switch.name]

    def why_not_by(self, host, switch):
        """Why flows of a host, by name, cannot go by such a switch, behind its own; None if they can."""
        node = self.nodes.get(host)
        if not node or node.is_switch:
            return f"there is no host \"{host}\""
        own = self.edge(node)
        ways = [w for e in self.edges() if e is not own for w in self.ways(own, e)]
        if switch not in (w.peer.node.name for w in ways):
            return f"no way from \"{host}\" goes by \"{switch}\""
        return None

    def path(self, source, target):
        """Ports that a packet leaves by, from a host to another; the first of equal ways."""
        edge = self.edge(target)
        ports = [source.ports[0]]
        node = self.edge(source)
        while node is not edge:
            ports.append(self.ways(node, edge)[0])
            node = ports[-1].peer.node
        return ports + [target.ports[0].peer]

    def uplink_rate(self, edge):
        """Bit/s from a switch with hosts to other switches."""
        return sum(p.rate for p in edge.ports if p.peer.node.is_switch)


class _Ways(dict):
    """Ports by a switch's name, that may also be asked by the switch."""

    def get(self, key, default=None):
        return super().get(key.name if isinstance(key, Node) else key, default)
