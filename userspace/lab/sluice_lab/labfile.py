# SPDX-License-Identifier: GPL-2.0-only
"""An experiment as a text file.

    title TEXT                          what it is, for the report
    topology FILE.topo                  or: topology SHAPE [PARAMETER VALUE]...
    paths hash|even [HOST=SWITCH]...    which of several equal ways flows take (hash), and those of single hosts
    workload NAME ARGUMENT...           a trace: arguments of `sluice-trace make`; or
    workload NAME trace FILE            one that there is
    scheme NAME [BASE] [SETTING=VALUE]...
    seed N [N...]                       each with a trace of its own (1)
    vary NAME VALUE [VALUE...]          a run for each value; {NAME} stands for it on other lines
    payload SIZE                        bytes of a flow in a packet (1000)
    buffer SIZE                         of a switch (12MB)
    ring SIZE                           on a card, besides the frame on the line (2KiB)
    overhead SIZE                       that each frame takes on the line beyond its length (0)
    faults WORDS                        of `ip link ... type wire`, for each link
    limit TIME                          of virtual time after the last flow starts (1s)
    sample TIME [HOST.PORT...]          how often queues are looked at, and which (all of the switches')
    frames                              what links carry, by kind of frame, and how long data waits for each
    settle TIME                         for ports to find their neighbours before the start (3s)
    bins SIZE [SIZE...]                 upper ends of size bins in the report
    paper TEXT                          what the paper's figure is, for the report
    reference QUANTITY VALUE [TEXT]     a line in the report's plots: the paper's rate, a threshold

`#` starts a comment; values with blanks are quoted as in a shell, but title and paper are text as it
is.
"""

import itertools
import os
import re
import shlex
from dataclasses import dataclass, field

from . import shapes, units
from .schemes import Scheme
from .topology import Topology
from .units import FileError, LabError

# Of payload, ring, overhead and sample: those of flowgen and wire
RANGES = {"payload": (64, 8900), "ring": (0, 64 << 20), "overhead": (0, 256), "sample": (10, 1 << 60)}

NAMES = r"\{([a-z][a-z0-9_]*)\}"
BINS = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]


def _positive(text):
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or not float(text):
        raise ValueError(f"\"{text}\" is no number above 0")
    return float(text)


# What a reference may be of, and how its value is written
REFERENCES = {"rate": units.rate, "queue": units.size, "buffer": units.size, "slowdown": _positive,
              "flows": _positive, "used": _positive}


def point_words(values):
    """Pairs of names and values as a part of a file's name"""
    return re.sub(r"[^A-Za-z0-9_.%=-]", "_", "".join(f"-{k}{v}" for k, v in values))


@dataclass
class Case:
    """One run: a scheme, a seed and a value for each `vary`."""
    scheme: Scheme
    seed: int
    values: dict
    lab: "Lab"

    @property
    def point(self):
        return point_words(self.values.items()) + f"-s{self.seed}"

    @property
    def key(self):
        return self.scheme.name + self.point


@dataclass
class Lab:
    """The file as it is for one set of values; see the top of this file for its words."""
    path: str
    text: str
    title: str = ""
    topology: Topology = None
    topology_text: str = ""
    paths: str = "hash"
    pinned: dict = field(default_factory=dict)          # {host: the switch that its flows go by, behind its own}
    workload: str = ""
    workload_words: list = field(default_factory=list)
    schemes: list = field(default_factory=list)
    seeds: list = field(default_factory=lambda: [1])
    vary: dict = field(default_factory=dict)
    payload: int = 1000
    buffer: int = 12 * 10**6
    ring: int = 2048
    overhead: int = 0
    faults: str = ""
    limit: int = 10**9
    sample: int = 0
    sample_ports: list = field(default_factory=list)
    frames: bool = False
    settle: int = 3 * 10**9
    bins: list = field(default_factory=lambda: list(BINS))
    papers: list = field(default_factory=list)
    references: list = field(default_factory=list)      # (quantity, value, text)
    lines: dict = field(default_factory=dict)           # {word: the number of its last line}

    @property
    def frame(self):
        """Bytes of a full one, with a fabric tag."""
        return self.payload + 62

    @property
    def mtu(self):
        """Of the links: IPv4, UDP and flowgen's header before the payload."""
        return self.payload + 44

    @property
    def name(self):
        return os.path.splitext(os.path.basename(self.path))[0]


def _one(words):
    if len(words) != 1:
        raise ValueError("takes one value")
    return words[0]


def _seeds(words):
    if not words or not all(re.fullmatch("[0-9]+", w) and int(w) < 1 << 64 for w in words):
        raise ValueError("takes whole numbers below 2^64")
    return [int(w) for w in words]


def _in_range(key, value, what):
    low, high = RANGES[key]
    if not low <= value <= high:
        raise ValueError(f"is {low} to {high} {what}, not {value}")
    return value


def _once(values):
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value} is given twice")
    return values


class _Reader:
    def __init__(self, path, text, used):
        self.lab = Lab(path, text)
        self.used = used            # names in braces
        self.number = 0             # of the line

    def title(self, words):
        self.lab.title = " ".join(words)

    def paper(self, words):
        self.lab.papers.append(" ".join(words))

    def reference(self, words):
        if len(words) < 2 or words[0] not in REFERENCES:
            raise ValueError(f"takes one of {', '.join(REFERENCES)}, a value and perhaps a text")
        quantity, value, *text = words
        self.lab.references.append((quantity, REFERENCES[quantity](value), " ".join(text)))

    def topology(self, words):
        if not words:
            raise ValueError("takes a file or a shape")
        if words[0] in shapes.SHAPES:
            if len(words) % 2 == 0:
                raise ValueError("a shape's parameters are pairs of a word and a value")
            text = shapes.make(words[0], dict(zip(words[1::2], words[2::2])))
            try:
                self.lab.topology = Topology.parse(text)
            except FileError as e:
                raise ValueError(e.reason) from None
        else:
            path = os.path.join(os.path.dirname(self.lab.path), words[0])
            if not os.path.exists(path):
                raise ValueError(f"{path}: No such file; nor is it a shape: {', '.join(shapes.SHAPES)}")
            text = units.read_text(path)
            _one(words)
            self.lab.topology = Topology.parse(text, path)
        self.lab.topology_text = text
        if len(self.lab.topology.hosts) < 2:
            raise ValueError("there has to be more than one host")

    def paths(self, words):
        if words[:1] not in (["hash"], ["even"]) or not all(re.fullmatch("[^=]+=[^=]+", w) for w in words[1:]):
            raise ValueError("takes hash or even, and perhaps HOST=SWITCH")
        self.lab.paths = words[0]
        self.lab.pinned = dict(zip(_once([w.partition("=")[0] for w in words[1:]]), (w.partition("=")[2] for w in words[1:])))

    def workload(self, words):
        if len(words) < 2:
            raise ValueError("takes a name, and arguments of `sluice-trace make` or `trace FILE`")
        self.lab.workload, *self.lab.workload_words = words
        if words[1] == "trace":
            path = os.path.join(os.path.dirname(self.lab.path), _one(words[2:]))
            if not os.path.isfile(path):
                raise ValueError(f"there is no file {path}")
            self.lab.workload_words = ["trace", path]

    def scheme(self, words):
        if not words:
            raise ValueError("takes a name")
        name, *rest = words
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            raise ValueError(f"\"{name}\" is no name of a scheme")
        base = rest.pop(0) if rest and "=" not in rest[0] else None
        if any(s.name == name for s in self.lab.schemes):
            raise ValueError(f"there is a scheme \"{name}\" already")
        self.lab.schemes.append(Scheme(name, base, rest))
        self.lab.schemes[-1].line = self.number

    def seed(self, words):
        self.lab.seeds = _once(_seeds(words))

    def vary(self, words):
        if len(words) < 2 or not re.fullmatch(r"[a-z][a-z0-9_]*", words[0]):
            raise ValueError("takes a name and values")
        if words[0] in self.lab.vary:
            raise ValueError(f"there is a `vary {words[0]}` already")
        if words[0] not in self.used:
            raise ValueError(f"no line says {{{words[0]}}}")
        self.lab.vary[words[0]] = _once(words[1:])

    def faults(self, words):
        self.lab.faults = " ".join(words)

    def sample(self, words):
        if not words:
            raise ValueError("takes a time, and perhaps ports")
        self.lab.sample, self.lab.sample_ports = _in_range("sample", units.time(words[0]), "ns"), words[1:]

    def frames(self, words):
        if words:
            raise ValueError("takes no value")
        self.lab.frames = True

    def bins(self, words):
        self.lab.bins = [units.size(w) for w in words]
        if not words or self.lab.bins != sorted(set(self.lab.bins)):
            raise ValueError("takes sizes, each larger than the one before")

    def line(self, number, key, words):
        self.number = number
        if key in ("payload", "ring", "overhead"):
            setattr(self.lab, key, _in_range(key, units.size(_one(words)), "bytes"))
        elif key == "buffer":
            self.lab.buffer = units.size(_one(words))
        elif key in ("limit", "settle"):
            setattr(self.lab, key, units.time(_one(words)))
        elif key in ("title", "paper", "reference", "topology", "paths", "workload", "scheme", "seed", "vary",
                     "faults", "sample", "frames", "bins"):
            if key not in ("scheme", "vary", "paper", "reference") and key in self.lab.lines:
                raise ValueError(f"there is a `{key}` already")
            getattr(self, key)(words)
        else:
            raise ValueError(f"\"{key}\" is not title, paper, reference, topology, paths, workload, scheme, "
                             "seed, vary, payload, buffer, ring, overhead, faults, limit, sample, frames, settle or bins")
        self.lab.lines[key] = number

    def finish(self):
        """What is wrong with the whole, as lines and words."""
        lab = self.lab
        for key in "topology", "workload", "scheme":
            if key not in lab.lines:
                yield 0, f"there is no line `{key}`"
        if not lab.topology:
            return
        for host, switch in lab.pinned.items():
            if why := lab.topology.why_not_by(host, switch):
                yield lab.lines["paths"], f"paths: {why}"
        ports = {str(p) for p in lab.topology.ports}
        for port in lab.sample_ports:
            if port not in ports:
                yield lab.lines["sample"], f"sample: there is no port {port}"
        if lab.sample and not lab.sample_ports:
            lab.sample_ports = [str(p) for p in lab.topology.ports if p.node.is_switch]
        for scheme in lab.schemes:
            try:
                for port in lab.topology.ports:
                    for child in False, True:
                        scheme.qdisc(port, lab.buffer, lab.frame, child)
            except ValueError as e:
                yield scheme.line, f"scheme: {e}"


def _split(path, text):
    """[(number, words)] of the lines that say something, and [(number, error)] of others"""
    lines, wrong = [], []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = line.split() if line.split()[:1] in (["title"], ["paper"]) \
                else shlex.split(line, comments=True)
        except ValueError as e:
            wrong.append((number, FileError(path, number, e)))
        else:
            lines += [(number, words)] if words else []
    return lines, wrong


def parse(path, text, values=None):
    """The file with a value for each `vary`; without, the first of each. Says of all lines what is wrong with them."""
    lines, wrong = _split(path, text)
    values = {**{words[1]: words[2] for _, words in lines if words[0] == "vary" and len(words) > 2}, **(values or {})}
    used = {name for _, (key, *words) in lines if key not in ("title", "paper", "vary") for w in words
            for name in re.findall(NAMES, w)}
    reader = _Reader(path, text, used)
    for number, (key, *words) in lines:
        try:
            if key not in ("title", "paper", "vary"):
                words = [_fill(w, values) for w in words]
                if key != "scheme" and (left := re.findall(NAMES, " ".join(words))):
                    raise ValueError(f"there is no `vary {left[0]}`")
            reader.line(number, key, words)
        except ValueError as e:
            wrong.append((number, FileError(path, number, f"{key}: {e}")))
        except LabError as e:       # of a file that the line names
            wrong.append((number, e if getattr(e, "line", 0) else FileError(path, number, f"{key}: {e}")))
    wrong += [(told[0], FileError(path, *told)) for told in ([] if wrong else reader.finish())]
    if wrong:
        raise LabError(in_order(wrong))
    return reader.lab


def in_order(wrong):
    """Of errors with the numbers of their lines"""
    return "\n".join(dict.fromkeys(str(error) for _, error in sorted(wrong, key=lambda told: told[0])))


def _fill(word, values):
    """{NAME} by its value; a scheme's own braces stay."""
    return re.sub(NAMES, lambda m: values.get(m[1], m[0]), word)


def read(path, values=None):
    return parse(str(path), units.read_text(path), values)


def cases(path, text):
    """All runs of a file, those with one trace together."""
    first = parse(path, text)
    result = []
    for values in itertools.product(*first.vary.values()):
        values = dict(zip(first.vary, values))
        lab = parse(path, text, values)
        for seed in lab.seeds:
            result += [Case(scheme, seed, values, lab) for scheme in lab.schemes]
    keys = [c.key for c in result]
    for key in keys:
        if keys.count(key) > 1:
            raise FileError(path, first.lines["vary"], f"vary: two runs would be called {key}")
    return result
