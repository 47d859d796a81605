# SPDX-License-Identifier: GPL-2.0-only
"""What labfile cannot know of an experiment's words, because they are those of programs: these are asked.

    workload            sluice-trace, which makes the trace or checks the one that is given
    settings of schemes tc with its plugins, by a device that cannot be
    faults              ip with its plugin, by a namespace that cannot be

so that what they refuse is said with its line before a kernel is built and booted. Only the kernel knows rules of
several options together.
"""

import os
import re
import subprocess

from . import labfile, places, rack
from .units import FileError, LabError

NOWHERE = "no/thing"            # the kernel has no device of such a name
# Qdiscs of each kernel
KINDS = {"pfifo", "bfifo", "pfifo_fast", *rack.MODULES}


def _ask(program, *words):
    """Its first and last line, with the plugins that a guest has."""
    environment = {**os.environ, "LC_ALL": "C", "PATH": os.environ.get("PATH", "") + places.PATH}
    for variable, name in ("TC_LIB_DIR", "tc"), ("IP_LIB_DIR", "ip"):
        environment.setdefault(variable, f"{places.ROOT}/build/{name}")
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, env=environment)
    except OSError:
        raise LabError(f"there is no {program}: install the package iproute2") from None
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"{program} says nothing"]
    return lines[0], lines[-1]


def tc_refuses(words):
    """Why, or None"""
    first, last = _ask("tc", *f"qdisc replace dev {NOWHERE} root {words}".split())
    return None if last == f'Cannot find device "{NOWHERE}"' else first


def ip_refuses(words):
    first, _ = _ask("ip", *f"link add name a type wire {words} peer name b netns {NOWHERE}".split())
    return None if NOWHERE in first else first


def configured(version):
    """Names of the options, NET_SCH_FQ, that User-Mode Linux of a version is configured with."""
    found = set()
    for name in "config", "config-common", f"config-{version}":
        path = f"{places.ROOT}/selftests/uml/{name}"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                found.update(re.findall(r"^CONFIG_(\w+)=[ym]$", f.read(), re.M))
    return found


def priorities_of(trace):
    """Of its flows"""
    with open(trace, encoding="utf-8") as f:
        flows = (line.split() for line in f if not line.startswith("#"))
        return {int(words[4]) if len(words) > 4 else 0 for words in flows if words}


class Check:
    """Collects what is wrong with runs of one file."""

    def __init__(self, path, version, mode):
        self.path, self.wrong, self.known = path, [], {}
        options = configured(version)
        # a kernel of the distribution has all
        self.kinds = mode == "virtual" and KINDS | {o[8:].lower() for o in options if o.startswith("NET_SCH_")}
        self.controls = mode == "virtual" and {"reno"} | {
            o[9:].lower() for o in options if o.startswith("TCP_CONG_")} - {"advanced"}

    def tell(self, line, reason):
        self.wrong.append((line, FileError(self.path, line, reason)))

    def ask(self, function, words):
        """It gets the same words for many ports."""
        if (function, words) not in self.known:
            self.known[function, words] = function(words)
        return self.known[function, words]

    def scheme(self, case):
        scheme, lab = case.scheme, case.lab
        control = scheme.words["cc"]
        if scheme.words["transport"] == "tcp" and self.controls and control not in self.controls:
            self.tell(scheme.line, f"scheme: this kernel has no congestion control \"{control}\", but "
                                   f"{', '.join(sorted(self.controls))}")
        for node in lab.topology.nodes.values():
            for port, _, words in rack.qdiscs_of(node, lab, scheme):
                kind = words.partition(" ")[0]
                reason = self.ask(tc_refuses, words)
                if not reason and self.kinds and kind not in self.kinds:
                    reason = f"this kernel has no qdisc \"{kind}\", but {', '.join(sorted(self.kinds))}"
                if reason:
                    self.tell(scheme.line, f"scheme: {scheme.name}: at {port}: {reason}")
                    return

    def faults(self, case):
        faults = case.lab.faults
        reason = self.ask(ip_refuses, faults)
        if not reason and re.search(r"\breorder\b", faults) and not re.search(r"\breorder_delay\b", faults):
            reason = "reorder needs a reorder_delay"
        if reason:
            self.tell(case.lab.lines.get("faults", 0), f"faults: {reason}")

    def trace(self, case, trace, reason=None):
        """`trace` is the file that the case gets."""
        lab = case.lab
        if not reason:
            done = subprocess.run([places.tool("sluice-trace", "trace"), "check", "--hosts", str(len(lab.topology.hosts)),
                                   trace], capture_output=True, text=True, check=False)
            reason = done.stderr.strip() or ("there is no flow in it" if done.stdout.endswith(": 0 flows\n") else None)
        control = case.scheme.ack_class if case.scheme.classes > 1 else None
        if not reason and control is not None and control in self.ask(priorities_of, trace):
            reason = f"with {case.scheme.name}, flows of class {control} are control packets, as acknowledgements are: " \
                     "another class, or ack_class"
        if reason:
            self.tell(lab.lines["workload"], f"workload: {reason}")

    def end(self):
        if self.wrong:
            raise LabError(labfile.in_order(self.wrong))
