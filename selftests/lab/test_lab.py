#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The lab's own arithmetic, files and refusals; no machine is booted here."""

import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from fractions import Fraction

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, f"{ROOT}/userspace/lab")

from sluice_lab import best, clock, labfile, measure, plot, rack, report, run, shapes, units  # noqa: E402
from sluice_lab.schemes import SCHEMES, Scheme  # noqa: E402
from sluice_lab.topology import Topology  # noqa: E402

SLUICE = f"{ROOT}/build/sluice/sluice"
LAB = """
title A test
topology star senders 2 rate 10gbit
workload w --law google_allrpc --load 0.5
scheme bfc
"""


def brute(size, hops, payload):
    """Completion of a lone flow, frame by frame and hop by hop."""
    frames = -(-size // payload)
    lengths = [payload] * (frames - 1) + [size - (frames - 1) * payload]
    ready = [Fraction(0)] * frames
    for rate, delay in hops:
        free = Fraction(0)
        for i, length in enumerate(lengths):
            free = max(ready[i], free) + Fraction((length + best.HEADERS) * 8 * 10**9, rate)
            ready[i] = free + delay
    return int(ready[-1])


class Best(unittest.TestCase):
    def test_known(self):
        one = [(10**11, 1000)]
        self.assertEqual(best.best_ns(1000, one), 1000 + 84)     # 1058 bytes take 84.64 ns
        self.assertEqual(best.best_ns(1, one), 1000 + 4)
        self.assertEqual(best.best_ns(2000, [(8 * 10**9, 5), (8 * 10**9, 7)]), 3 * 1058 + 12)

    def test_against_each_frame(self):
        draw = random.Random(1)
        for _ in range(400):
            hops = [(draw.choice([10**9, 10**10, 4 * 10**10, 10**11, 4 * 10**11]),
                     draw.randrange(3000)) for _ in range(draw.randint(1, 5))]
            payload = draw.choice([100, 1000, 1460])
            size = draw.choice([1, payload - 1, payload, payload + 1, draw.randint(1, 50 * payload)])
            self.assertEqual(best.best_ns(size, hops, payload), brute(size, hops, payload),
                             (size, hops, payload))


class Units(unittest.TestCase):
    def test_values(self):
        self.assertEqual(units.rate("2.5gbit"), 2500000000)
        self.assertEqual(units.time("1.5us"), 1500)
        self.assertEqual(units.size("12MB"), 12000000)
        self.assertEqual(units.size("12m"), 12000000)
        self.assertEqual(units.size("2KiB"), 2048)
        self.assertEqual(units.rate_words(25 * 10**8), "2500mbit")
        self.assertEqual(units.time_words(1500), "1500ns")

    def test_refused(self):
        for function, text in ((units.rate, "10"), (units.rate, "0gbit"), (units.time, "5"),
                               (units.time, "0.5ns"), (units.size, "-1"), (units.size, "1.5"),
                               (units.time, ""), (units.rate, "1e9bit")):
            with self.assertRaises(ValueError, msg=text):
                function(text)


class Topologies(unittest.TestCase):
    def test_every_shape(self):
        for name in shapes.SHAPES:
            topology = Topology.parse(shapes.make(name, {}), name)
            for a in topology.hosts[:3]:
                for b in topology.hosts[-3:]:
                    if a is not b:
                        ports = topology.path(a, b)
                        self.assertIs(ports[0].node, a)
                        self.assertIs(ports[-1].peer.node, b)
                        for one, two in zip(ports, ports[1:]):
                            self.assertIs(one.peer.node, two.node)
            addresses = [n.address for n in topology.nodes.values()]
            self.assertEqual(len(addresses), len(set(addresses)))

    @unittest.skipUnless(os.access(SLUICE, os.X_OK), "needs the program sluice: make programs")
    def test_sluice_graph_reads_them(self):
        for name in shapes.SHAPES:
            small = {"leaf-spine": {"racks": "2", "hosts": "2", "spines": "2"},
                     "rocc-edge-core": {"hosts": "2"}, "two-dc": {"hosts": "2"}}.get(name, {})
            if name == "floodgate":
                continue        # leaf-spine with other numbers
            with tempfile.NamedTemporaryFile("w", suffix=".topo") as f:
                f.write(shapes.make(name, small))
                f.flush()
                done = subprocess.run([SLUICE, "graph", f.name], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, name + done.stderr + done.stdout)

    def test_ecmp(self):
        topology = Topology.parse(shapes.make("leaf-spine", {}))
        tor, far = topology.switches[0], topology.switches[7]
        self.assertEqual(len(topology.ways(tor, far)), 8)
        self.assertEqual(len(topology.ways(topology.nodes["spine1"], far)), 1)
        tree = Topology.parse(shapes.make("fat-tree", {"k": "4"}))
        self.assertEqual(len(tree.path(tree.hosts[0], tree.hosts[-1])), 6)

    def test_fat_tree_of_few_pods(self):
        tree = Topology.parse(shapes.make("fat-tree", {"k": "8", "pods": "2", "hosts": "8"}))
        self.assertEqual([len(tree.hosts), len(tree.switches), len(tree.nodes["core1"].ports)], [64, 2 * 8 + 16, 2])
        self.assertEqual(len(tree.path(tree.hosts[0], tree.hosts[-1])), 6)

    def test_refused(self):
        for text, reason in (
                ("", "there is no link"),
                ("host a b", ":1: takes one name"),
                ("host a\nhost a", ":2: there is a \"a\" already"),
                ("host averyveryverylongname", ":1: .*at most 15"),
                ("host a\nswitch s\nlink a.1 s.1", ":3: this link has no rate"),
                ("host a\nswitch s\nlink a.1 s.1 rate 1", "is no rate"),
                ("host a\nswitch s\nlink a.1 s.1 speed 1gbit", "is not rate or delay"),
                ("host a\nswitch s\nlink a.1 b.1", "there is no host or switch \"b\""),
                ("host a\nhost b\nlink a.1 b.1 rate 1gbit", "is linked to a host"),
                ("host a\nswitch s\nlink a.1 s.1 rate 1gbit\nlink a.2 s.2 rate 1gbit",
                 "has a link already"),
                ("host a\nhost b\nswitch s\nswitch t\nlink a.1 s.1 rate 1gbit\n"
                 "link b.1 t.1 rate 1gbit", "there is no way"),
                ("tier a 1", "there is no switch"), ("frob", "is not host, switch")):
            with self.assertRaisesRegex(units.LabError, reason, msg=text):
                Topology.parse(text)
        for name, settings, reason in (("no", {}, "is no shape"), ("star", {"x": "1"}, "has no \"x\""),
                                       ("star", {"senders": "0"}, "at least 1"),
                                       ("star", {"rate": "fast"}, "is no rate"),
                                       ("fat-tree", {"k": "3"}, "even"),
                                       ("fat-tree", {"k": "4", "pods": "5"}, "for k = 4 pods, not for 5")):
            with self.assertRaisesRegex(ValueError, reason):
                shapes.make(name, settings)


class Files(unittest.TestCase):
    def test_cases(self):
        text = LAB.replace("0.5", "{load}") + "scheme bfc-8 bfc queues=8\nseed 1 2\n" \
            "vary load 0.5 0.9\n"
        cases = labfile.cases("x.lab", text)
        self.assertEqual([c.key for c in cases],
                         [f"{s}-load{load}-s{n}" for load in ("0.5", "0.9") for n in (1, 2)
                          for s in ("bfc", "bfc-8")])
        self.assertIn("0.9", cases[-1].lab.workload_words)

    def test_values_in_names_of_files(self):
        cases = labfile.cases("x.lab", LAB.replace("load 0.5", "long 1,pairs={who} --duration 1ms") + "vary who 0:1/0:2\n")
        self.assertEqual([c.key for c in cases], ["bfc-who0_1_0_2-s1"])
        self.assertEqual(report.Report.suffix([("who", "0:1/0:2")]), "-who0_1_0_2")

    def test_refused(self):
        for text, reason in (
                (LAB.replace("scheme bfc", ""), "no line `scheme`"),
                (LAB + "frob 1", ":6: frob: \"frob\" is not"),
                (LAB + "scheme none", ":6: scheme: \"none\" is no scheme"),
                (LAB + "scheme bfc", ":6: scheme: there is a scheme"),
                (LAB + "scheme b bfc queue=8", "is not SETTING=VALUE"),
                (LAB + "scheme b bfc window=3x", "window is none"),
                (LAB + "seed x", "whole numbers"), (LAB + "payload 10", "64 to 8900"),
                (LAB + "limit 5", "is no time"), (LAB + "reference speed 1gbit x", "takes one of rate, queue"),
                (LAB + "reference rate 5", ":6: reference: \"5\" is no rate"), (LAB + "reference flows 0", "number above 0"),
                (LAB + "reference rate", "takes one of"), (LAB + "bins 5 4", "larger"),
                (LAB + "sample 1us s1.h9", "no port s1.h9"),
                (LAB + "faults 'x", "No closing quotation"),
                (LAB + "title x", "there is a `title` already"),
                (LAB.replace("star", "missing.topo", 1).replace(" senders 2 rate 10gbit", ""),
                 "No such file"),
                (LAB.replace("--law google_allrpc --load 0.5", "trace gone"), "there is no file")):
            with self.assertRaisesRegex(units.LabError, reason, msg=text):
                labfile.parse("x.lab", text)

    def test_page(self):
        """The manual page names each scheme."""
        with open(f"{ROOT}/Documentation/man/sluice-lab.8", encoding="utf-8") as f:
            page = f.read().replace("\\-", "-")
        text = page[page.index(".SS schemes"):page.index(".SS up, down")]
        named = [word for line in re.findall(r"(?m)^\.RB \((.*)", text) for word in re.findall("[a-z][a-z0-9_-]*", line)]
        self.assertEqual(sorted(named), sorted(SCHEMES))

    def test_schemes(self):
        lab = labfile.parse("x.lab", LAB)
        for name in SCHEMES:
            scheme = Scheme(name)
            for port in lab.topology.ports:
                for child in False, True:
                    words = scheme.qdisc(port, lab.buffer, 1062, child)
                    self.assertNotRegex(words, r"[{}]|None", name)
                    self.assertTrue(words or child, name)
        words = Scheme("bfc").qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("pool 5000", words)
        self.assertIn("peer host", words)
        words = Scheme("pfc").qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("pfc role switch peer host pool-pause-alpha 11% pool 5000 pool-alpha 1000%", words)
        words = Scheme("pfc").qdisc(lab.topology.nodes["s1"].ports[0].peer, 5000, 1062)
        self.assertIn("pfc role host peer switch ", words)
        port = lab.topology.nodes["s1"].ports[0]
        for rate, factor in ((port.rate, 1), (port.rate // 4, 4), (2 * port.rate, 0.5)):
            changes = [f"red_rate={rate}bit", "red_min=20kB", "red_max=80kB"]
            self.assertIn(f"kmin {20000 * factor:.0f} kmax {80000 * factor:.0f} ", Scheme("dcqcn", changes=changes).qdisc(port, 5000, 1062) + " ")
        words = Scheme("floodgate").qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("floodgate role switch peer host pool 5000 pool-alpha 1000%", words)
        self.assertIn("ideal", Scheme("floodgate").qdisc(lab.topology.nodes["s1"].ports[0].peer, 5000, 1062))
        words = Scheme("floodgate-pfc", changes=["pause_alpha=20%"]).qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("floodgate role switch peer host pool 5000 pool-alpha 1000%", words)
        self.assertIn(" pfc pool-pause-alpha 20%", words)
        words = Scheme("floodgate-pfc").qdisc(lab.topology.nodes["s1"].ports[0].peer, 5000, 1062)
        self.assertIn("floodgate role host peer switch ", words)
        self.assertIn(" pfc pool 1073741824", words)
        words = Scheme("flowsail-2").qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("flowsail role switch peer host tier none queues 2 pool 5000 pool-alpha 1000%", words)
        self.assertIn(" queues 2", words)
        self.assertIn("flowsail role host peer switch ",
                      Scheme("flowsail").qdisc(lab.topology.nodes["s1"].ports[0].peer, 5000, 1062))
        tree = Topology.parse(shapes.make("fat-tree", {"k": "4"}))
        for name, kind in (("edge1-1", "flowsail"), ("agg1-1", "flowsail"), ("core1", "pfc")):
            for port in tree.nodes[name].ports:
                words = Scheme("flowsail-pfc").qdisc(port, 5000, 1062)
                self.assertTrue(words.startswith(kind + " role switch peer "), words)
                self.assertEqual(" pfc pool-pause-alpha 11%" in words, kind == "flowsail")
        self.assertFalse(lab.topology.nodes["s1"].is_core)
        words = Scheme("nopause").qdisc(lab.topology.nodes["s1"].ports[0], 5000, 1062)
        self.assertIn("assign single queues 1 nopause pool 5000", words)
        port = lab.topology.nodes["s1"].ports[0]
        self.assertEqual(Scheme("rocc", changes=["switch_options=tuning smooth"]).qdisc(
            port, 5000, 1062), "rocc limit 2500 control-dscp 56 control-share 10% tuning smooth")
        self.assertIn("role host", Scheme("rocc").qdisc(port.peer, 5000, 1062))
        self.assertEqual(Scheme("rocc").qdisc(port, 5000, 1062, True), "")
        self.assertIn("bfc role switch peer host", Scheme("rocc-bfc").qdisc(port, 5000, 1062, True))
        self.assertIn("bfc role host", Scheme("rocc-bfc").qdisc(port.peer, 5000, 1062, True))
        below = Scheme("rocc-pfc", changes=["pause_alpha=0.05%"]).qdisc(port, 5000, 1062, True)
        self.assertIn("pfc role switch peer host pool-pause-alpha 0.05% pool 5000", below)
        flow = ["ack_class=flow"]
        self.assertEqual(Scheme("rocc-pfc", changes=flow).qdisc(port, 5000, 1062), "rocc limit 2500")
        self.assertIn("pfc role host peer switch ",
                      Scheme("rocc-pfc", changes=flow).qdisc(port.peer, 5000, 1062, True))
        self.assertIn("role host peer switch queues 1 limit 1073741824 assign single",
                      Scheme("rocc-nopause", changes=flow).qdisc(port.peer, 5000, 1062, True))
        kinds = "bfc", "floodgate", "floodgate-pfc", "flowsail-8", "rocc", "rocc-bfc", "rocc-pfc", "gbn"
        self.assertEqual([Scheme(n).pauses for n in kinds],
                         [True, False, True, True, False, True, True, False])
        self.assertEqual([Scheme(n).tags for n in kinds], [True, True, True, True, False, True, True, False])

    def test_acknowledgements(self):
        """Those of gbn go before data at each port, by the DSCP that flowgen gives their class."""
        lab = labfile.parse("x.lab", LAB)
        for name in SCHEMES:
            scheme, flow = Scheme(name), Scheme(name, changes=["ack_class=flow"])
            self.assertEqual(scheme.ack_class, 7 if scheme.words["transport"] == "gbn" else None, name)
            self.assertIsNone(flow.ack_class, name)
            for port in lab.topology.ports:
                words = scheme.qdisc(port, lab.buffer, 1062)
                self.assertEqual("control-dscp 56" in words, scheme.ack_class == 7, f"{name}: {words}")
                self.assertNotIn("control-", flow.qdisc(port, lab.buffer, 1062), name)
        self.assertIn("control-dscp 48 control-share 10%", Scheme("bfc", changes=["ack_class=6"]).qdisc(
            lab.topology.ports[0], 5000, 1062))
        for bad in "0", "8", "none", "":
            with self.assertRaisesRegex(ValueError, "ack_class is flow or 1 to 7"):
                Scheme("bfc", changes=[f"ack_class={bad}"])

    def test_experiments(self):
        directory = f"{ROOT}/userspace/lab/experiments"
        for name in os.listdir(directory):
            with open(f"{directory}/{name}", encoding="utf-8") as f:
                cases = labfile.cases(f"{directory}/{name}", f.read())
            for case in cases:
                for port in case.lab.topology.ports:
                    case.scheme.qdisc(port, case.lab.buffer, 1062)
                    case.scheme.qdisc(port, case.lab.buffer, 1062, child=True)
        self.assertEqual(Scheme("ideal-fq").window_bytes(1000), 1000)
        self.assertEqual(Scheme("bfc").window_bytes(1000), 0)

    def test_rack(self):
        lab = labfile.parse("x.lab", LAB)
        with tempfile.TemporaryDirectory() as directory:
            rack.write(directory, lab, lab.schemes[0])
            with open(f"{directory}/boxes", encoding="utf-8") as f:
                self.assertEqual(f.read().splitlines(), ["lab-h1 host", "lab-h2 host", "lab-r1 host",
                                                         "lab-s1 switch"])
            with open(f"{directory}/endpoints", encoding="utf-8") as f:
                self.assertEqual(f.read(), "0 lab-h1 10.0.0.1\n1 lab-h2 10.0.0.2\n"
                                           "2 lab-r1 10.0.0.3\n")
            with open(f"{directory}/links.ip", encoding="utf-8") as f:
                self.assertEqual(len(f.readlines()), 3)

    def test_rack_of_two_qdiscs(self):
        lab = labfile.parse("x.lab", LAB + "sample 1500ns s1.r1 h1.s1\n")
        with tempfile.TemporaryDirectory() as directory:
            def read(name):
                with open(f"{directory}/{name}", encoding="utf-8") as f:
                    return f.read().splitlines()

            rack.write(directory, lab, Scheme("rocc-bfc"))
            self.assertEqual(read("modules"), ["wire", "flowgen", "hopctl", "sch_bfc", "sch_rocc"])
            self.assertEqual([line.split()[3:9] for line in read("lab-h1.tc")], [
                ["s1", "root", "handle", "1:", "rocc", "role"],
                ["s1", "parent", "1:1", "handle", "2:", "bfc"]])
            # of what is watched, only the switch computes a rate
            self.assertEqual(read("rates"), ["s1.r1 lab-s1 r1"])
            self.assertEqual(read("rates-every"), ["2"])
            rack.write(directory, lab, Scheme("bfc"))
            self.assertEqual(read("rates"), [])
            self.assertNotIn("frames", os.listdir(directory))

    def test_rack_of_frames(self):
        lab = labfile.parse("x.lab", LAB + "frames\noverhead 24\n")
        self.assertEqual(rack.files(lab, Scheme("bfc"))["frames"].splitlines(), [
            "s1.h1 lab-h1 s1 1 0 10000000000 1000 24", "s1.h2 lab-h2 s1 1 0 10000000000 1000 24",
            "s1.r1 lab-r1 s1 1 0 10000000000 1000 24", "h1.s1 lab-s1 h1 0 1 10000000000 1000 24",
            "h2.s1 lab-s1 h2 0 1 10000000000 1000 24", "r1.s1 lab-s1 r1 0 1 10000000000 1000 24"])
        with self.assertRaisesRegex(units.LabError, "frames: takes no value"):
            labfile.parse("x.lab", LAB + "frames 10us\n")

    def test_layers_draw_by_other_hashes(self):
        for shape, words in ("fat-tree", {"k": "4"}), ("leaf-spine", {}):
            topology = Topology.parse(shapes.make(shape, words))
            for port in topology.ports:
                a, b = port.node, port.peer.node
                if a.is_switch and b.is_switch:
                    self.assertNotEqual(rack.hash_fields(topology, a), rack.hash_fields(topology, b))

    def test_paths(self):
        """At a switch with several ways each port has its own; what is pinned goes by its switch."""
        text = LAB.replace("star senders 2 rate 10gbit", "leaf-spine racks 2 hosts 3 spines 2")

        def rules(words):
            lines = rack.files(lab := labfile.parse("x.lab", text + words), lab.schemes[0])["lab-tor1.ip"].splitlines()
            tables = {w[3]: w[5] for w in (line.split() for line in lines) if w[0] == "rule"}
            routes = {w[-1]: w[6] for w in (line.split() for line in lines) if w[-2] == "table"}
            self.assertEqual(sorted(tables.values()), sorted(routes))
            return {port: routes[table] for port, table in tables.items()}

        self.assertEqual(rules(""), {})
        self.assertEqual(rules("paths hash h2=spine1\n"), {"h2": "spine1"})
        self.assertEqual(rules("paths even\n"), {"h1": "spine1", "h2": "spine2", "h3": "spine1"})
        self.assertEqual(rules("paths even h3=spine2\n"), {"h1": "spine1", "h2": "spine2", "h3": "spine2"})
        lab = labfile.parse("x.lab", text.replace("leaf-spine racks 2 hosts 3 spines 2", "fat-tree k 4") + "paths even\n")
        files = rack.files(lab, lab.schemes[0])
        # what comes from the core has one way
        self.assertEqual([line.split()[3] for line in files["lab-agg1-1.ip"].splitlines() if line.startswith("rule")],
                         ["edge1", "edge2"])
        self.assertNotIn("rule", files["lab-core1.ip"])

    def test_bdp(self):
        lab = labfile.parse("x.lab", LAB)
        # 1058 bytes over two links of 10 Gb/s and 1 us, and back: 1692 + 4000 ns
        self.assertEqual(run.Runner.bdp(lab), 5692 * 10 // 8)

    def test_shape(self):
        clos = Topology.parse(shapes.make("leaf-spine", {}))
        self.assertEqual(run.Runner.shape(clos), (("--racks", 8), ("--per-rack", 16),
                                                  ("--uplinks", "8x100gbit")))
        star = Topology.parse(shapes.make("star", {}))
        self.assertEqual(run.Runner.shape(star), (("--hosts", 3),))


class Priorities(unittest.TestCase):
    """Of flows, by classes of ports"""

    def lab(self, scheme, topology="star senders 2 rate 10gbit"):
        text = LAB.replace("scheme bfc", f"scheme {scheme}").replace("star senders 2 rate 10gbit", topology)
        case, = labfile.cases("x.lab", text)
        return {name: text for name, text in rack.files(case.lab, case.scheme).items() if name.endswith(".tc")}

    def test_none(self):
        for scheme in SCHEMES:
            for text in self.lab(scheme).values():
                self.assertNotIn("filter", text, scheme)
                self.assertNotRegex(text, r"\bclasses\b", scheme)
        self.assertEqual(self.lab("bfc"), self.lab("b bfc classes=1"))

    def test_all_ports(self):
        """Hosts and switches: a class that travels no further than the first of them is none."""
        for scheme in "bfc", "bfc-stochastic", "flowsail", "flowsail-32":
            files = self.lab(f"p {scheme} classes=3", "leaf-spine racks 2 hosts 2 spines 2")
            self.assertEqual(len(files), 8)
            for name, text in files.items():
                lines = text.splitlines()
                ports = [line.split()[3] for line in lines if line.startswith("qdisc")]
                self.assertEqual(sum(" classes 3" in line for line in lines), len(ports), name)
                for port in ports:
                    found = [line.split() for line in lines if line.startswith(f"filter add dev {port} parent 1: ")]
                    # 8 precedences, the 3 high bits of the TOS byte; ECN does not count
                    self.assertEqual({int(w[w.index("dsfield") + 1], 16): w[-1] for w in found},
                                     {0x00: "1:3", 0x20: "1:2", **{tos: "1:1" for tos in range(0x40, 0x100, 0x20)}}, name)
                    self.assertEqual({w[w.index("dsfield") + 2] for w in found}, {"0xfc"})

    def test_as_many_as_there_are(self):
        self.assertEqual([minor for _, minor in Scheme("p", "bfc", ["classes=8"]).filters()], [8, 7, 6, 5, 4, 3, 2, 1])
        self.assertEqual([minor for _, minor in Scheme("p", "bfc", ["classes=2"]).filters()], [2, 1, 1, 1, 1, 1, 1, 1])

    def test_report(self):
        """A table by priority, the highest first, and only if there are several."""
        with tempfile.TemporaryDirectory() as directory:
            results(directory, flows=[(0, 2, 1000, 0, 3692), (1, 2, 1000, 0, 7384), (1, 2, 1000, 100, None)])
            path = f"{directory}/runs/bfc-s1/flows.csv"
            made = report.Report(directory)
            made.make()
            self.assertNotIn("priorities", [s.name for s in made.sections])
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("1,1,2,1000,0,-", "1,1,2,1000,6,-"))
            made = report.Report(directory)
            made.make()
            section, = (s for s in made.sections if s.name == "priorities")
            rows = [dict(zip(section.head, row)) for row in section.rows]
            self.assertEqual([(r["scheme"], r["priority"], r["flows"]) for r in rows], [("bfc", 6, 1), ("bfc", 0, 1)])
            self.assertAlmostEqual(rows[0]["mean"], 2 * rows[1]["mean"])


class Measures(unittest.TestCase):
    def test_percentile(self):
        self.assertEqual([measure.percentile(list(range(1, 101)), p) for p in (1, 50, 99, 100)],
                         [1, 50, 99, 100])
        self.assertEqual(measure.percentile([7], 99), 7)
        self.assertIsNone(measure.percentile([], 50))

    def test_weighted(self):
        series = [(10, 1), (20, 3), (40, 0)]
        weights = measure.weighted(series, 0, 50)
        self.assertEqual(weights, [(0, 10), (1, 10), (3, 20)])
        summary = measure.weighted_summary(weights)
        self.assertEqual(summary["mean"], 70 / 40)
        self.assertEqual((summary["p50"], summary["p99"], summary["max"]), (1, 3, 3))
        self.assertEqual(measure.weighted(series, 15, 30), [(1, 5), (3, 10)])


def results(directory, mode="virtual", flows=((0, 2, 1000, 0, 3692), (1, 2, 1000, 100, None))):
    """What two flows of a run leave behind."""
    with open(f"{directory}/experiment.lab", "w", encoding="utf-8") as f:
        f.write(LAB + "sample 1us s1.r1\n")
    with open(f"{directory}/path", "w", encoding="utf-8") as f:
        f.write(f"{directory}/x.lab\n")
    runs = f"{directory}/runs/bfc-s1"
    os.makedirs(runs)
    runner = labfile.cases(f"{directory}/x.lab", LAB)[0]
    with open(f"{runs}/run.json", "w", encoding="utf-8") as f:
        json.dump({"scheme": "bfc", "settings": runner.scheme.words, "flowgen": ["--seed", "1"],
                   "version": "0", "kernel": "6.1", "mode": mode, "commit": 40 * "c", "clean": True}, f)
    with open(f"{runs}/flows.csv", "w", encoding="utf-8") as f:
        f.write("flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,"
                "timeouts\n")
        for number, (src, dst, size, start, done) in enumerate(flows):
            f.write(f"{number},{src},{dst},{size},0,-,{start},{done or ''},,1,0,0\n")
    with open(f"{runs}/samples.csv", "w", encoding="utf-8") as f:
        f.write("t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n"
                "0,s1.r1,0,0,0\n1000,s1.r1,2000,2,1000\n2000,s1.r1,0,0,3000\n")
    with open(f"{runs}/ports.json", "w", encoding="utf-8") as f:
        json.dump({"lab-s1": [{"kind": "bfc", "root": True, "dev": "r1", "bytes": 3000, "drops": 4,
                               "backlog_max": 2000, "port": {"state": "tagging", "pauses_tx": 3,
                                                             "state_tx": 9}}]}, f)


def rocc_results(directory):
    """The same of rocc over bfc: fair rates, and what the two qdiscs of a port say."""
    results(directory)
    with open(f"{directory}/experiment.lab", "w", encoding="utf-8") as f:
        f.write(LAB.replace("scheme bfc", "scheme rocc-bfc") + "sample 1us s1.r1\n")
    runs = f"{directory}/runs/rocc-bfc-s1"
    os.rename(f"{directory}/runs/bfc-s1", runs)
    with open(f"{runs}/rates.csv", "w", encoding="utf-8") as f:
        f.write("t_ns,port,fair_rate\n0,s1.r1,10000000000\n1000,s1.r1,2000000000\n")
    with open(f"{runs}/ports.json", "w", encoding="utf-8") as f:
        json.dump({"lab-s1": [{"kind": "rocc", "root": True, "dev": "r1", "bytes": 3000, "drops": 4,
                               "backlog_max": 2000, "q_ref": 93750, "cuts": 1},
                              {"kind": "bfc", "parent": "1:1", "dev": "r1", "drops": 5,
                               "backlog_max": 1000, "paused_time": 7,
                               "port": {"state": "tagging", "pauses_tx": 3, "state_tx": 9}}]}, f)


class Reports(unittest.TestCase):
    def test_frames(self):
        with tempfile.TemporaryDirectory() as directory:
            many_results(directory, ["a"])
            self.assertNotIn("frames", [s.name for s in self.made(directory).sections])
            runs = f"{directory}/runs/a-s1"
            with open(f"{runs}/frames.csv", "w", encoding="utf-8") as f:
                f.write("port,from_layer,to_layer,kind,frames,bytes\n"
                        "s1.h1,1,0,ack,3,1200\ns1.r1,1,0,data,7,2400\ns1.r1,1,0,ack,1,300\nh1.s1,0,1,hello,2,120\n")
            with open(f"{runs}/waits.csv", "w", encoding="utf-8") as f:
                f.write("from_layer,to_layer,label,packets,sum_ns,p50_ns,p99_ns,max_ns\n1,0,-,4,6000,1000,2000,3000\n")
            made = {s.name: s.rows for s in self.made(directory).sections}
            # 3800 ns of 10 Gb/s are 4750 bytes, and there are three links each way
            span = 3800 * 10 / 8
            expected = [["a", "0-1", "hello", 2, 120 / span / 3, 120 / span, "h1.s1"],
                        ["a", "1-0", "ack", 4, 1500 / span / 3, 1200 / span, "s1.h1"],
                        ["a", "1-0", "data", 7, 2400 / span / 3, 2400 / span, "s1.r1"]]
            for row, want in zip(made["frames"], expected, strict=True):
                self.assertEqual(row[:4] + row[6:], want[:4] + want[6:])
                self.assertAlmostEqual(row[4], 100 * want[4])
                self.assertAlmostEqual(row[5], 100 * want[5])
            self.assertEqual(made["waits"], [["a", 1, "1-0", "-", 4, 1.5, 1.0, 2.0, 3.0]])

    @staticmethod
    def made(directory):
        found = report.Report(directory)
        found.make()
        return found

    def test_fair_rates(self):
        with tempfile.TemporaryDirectory() as directory:
            rocc_results(directory)
            made = report.Report(directory)
            made.make()
            rates = next(s for s in made.sections if s.name == "rates")
            # 10 Gb/s for 1000 ns, 2 Gb/s for the 2692 ns that are left of the span
            self.assertEqual(rates.rows[0][:2], ["rocc-bfc", "s1.r1"])
            self.assertAlmostEqual(rates.rows[0][2], (10 * 1000 + 2 * 2692) / 3692)
            self.assertEqual(rates.rows[0][4:7], [2.0, 93750, None])
            self.assertIn("rate-time.svg", os.listdir(made.directory))
            self.assertIn("rate-queue.svg", os.listdir(made.directory))
            totals = measure.totals(made.runs[0])
            self.assertEqual([totals[k] for k in ("drops", "longest_port_queue", "paused_time_ns",
                                                  "pauses", "not_tagging")], [4, 2000, 7, 3, []])

    def test_nothing_complete(self):
        with tempfile.TemporaryDirectory() as directory:
            results(directory, flows=((0, 2, 1000, 50, None),))
            made = report.Report(directory)
            made.make()
            self.assertEqual(made.runs[0].span, (50, 50 + made.lab.limit))

    def test_report(self):
        pages = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as directory:
                results(directory)
                made = report.Report(directory)
                page = made.make()
                overview = made.sections[0].rows[0]
                # 1058 bytes over two links of 10 Gb/s and 1 us take 3692 ns
                self.assertEqual(overview[:6], ["bfc", 1, 2, 1, 1.0, 1.0])
                self.assertEqual(overview[7], 4)
                with open(page, encoding="utf-8") as f:
                    pages.append(f.read())
                names = sorted(os.listdir(made.directory))
                self.assertIn("queue-time.svg", names)
                queues = next(s for s in made.sections if s.name == "queues")
                self.assertEqual(queues.rows[0][4:], [2000, 2000])
        self.assertEqual(pages[0], pages[1])
        self.assertNotIn("None", pages[0])

    def test_says_what_was_run(self):
        for mode, words, others in (("virtual", "in exact virtual time", "in its own time"),
                                    ("vm", "in a virtual machine, in its own time", "exact")):
            with tempfile.TemporaryDirectory() as directory:
                results(directory, mode)
                made = report.Report(directory)
                with open(made.make(), encoding="utf-8") as f:
                    page = f.read()
                with open(f"{made.directory}/report.txt", encoding="utf-8") as f:
                    text = f.read()
                for said in page, text, made.brief():
                    self.assertIn("Sluice 0, commit cccccccccccc, " + words, said)
                    self.assertNotIn(others, said)

    def test_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            with self.assertRaisesRegex(units.LabError, "no results"):
                report.Report(directory)
            results(directory)
            with open(f"{directory}/runs/bfc-s1/flows.csv", "a", encoding="utf-8") as f:
                f.write("3,0,9,x\n")
            with self.assertRaisesRegex(units.LabError, "flows.csv:4: this is no result"):
                report.Report(directory)

    def test_table_lines_up(self):
        lines = report.table(["a", "b"], [["x", 1], ["long", 12345]]).splitlines()
        self.assertEqual(lines, ["a         b", "x         1", "long  12345"])


def many_results(directory, schemes, senders=2, seeds=1, samples=3, more="", skip=()):
    """Schemes of rocc over a star, whose ports have queues and rates of their own; some runs are not finished."""
    text = LAB.replace("senders 2", f"senders {senders}").replace("scheme bfc", "sample 1us\n" + more) + \
        "".join(f"scheme {s} rocc\n" for s in schemes) + "seed " + " ".join(map(str, range(1, seeds + 1))) + "\n"
    for name, what in ("experiment.lab", text), ("path", f"{directory}/x.lab\n"):
        with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
            f.write(what)
    draw = random.Random(1)
    for case in labfile.cases(f"{directory}/x.lab", text):
        if case.scheme.name in skip:
            continue
        ports = [str(p) for p in case.lab.topology.ports if p.node.is_switch]
        runs = f"{directory}/runs/{case.key}"
        os.makedirs(runs)
        for name, what in {
                "run.json": json.dumps({"settings": {}, "flowgen": [], "version": "0", "kernel": "6.1",
                                        "mode": "virtual", "commit": 40 * "c", "clean": True}),
                "flows.csv": "flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n"
                             f"0,0,2,1000,0,-,0,{3700 + 100 * case.seed},,1,0,0\n1,0,2,9000,0,-,0,{1000 * samples},,1,0,0\n",
                "samples.csv": "t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n" + "".join(
                    f"{1000 * i},{p},{draw.randrange(10**6)},0,0\n" for i in range(samples) for p in ports),
                "rates.csv": "t_ns,port,fair_rate\n" + "".join(
                    f"{1000 * i},{p},{draw.randrange(10**9, 10**10)}\n" for i in range(samples) for p in ports),
                "ports.json": json.dumps({"lab-s1": [
                    {"kind": "rocc", "root": True, "dev": p.split(".")[1], "bytes": 99, "q_ref": 93750}
                    for p in ports]})}.items():
            with open(f"{runs}/{name}", "w", encoding="utf-8") as f:
                f.write(what)
    return report.Report(directory)


# What those see who lack one kind of cone, of linear red, green and blue: Machado, Oliveira and Fernandes (2009)
SIGHT = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# Linear red, green and blue to cones' responses, and the cube roots of these to Oklab, in which distances are
# those that are seen: black is 1 from white, and what can just be told apart about 0.02
CONES = ((0.4122215, 0.5363325, 0.0514460), (0.2119035, 0.6806995, 0.1073970), (0.0883025, 0.2817188, 0.6299787))
OKLAB = ((0.2104543, 0.7936178, -0.0040720), (1.9779985, -2.4285922, 0.4505937), (0.0259040, 0.7827718, -0.8086758))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def seen(colour, sight):
    return times(OKLAB, [c ** (1 / 3) for c in times(CONES, [min(1, max(0, p)) for p in times(sight, linear(colour))])])


def contrast(one, other):
    """As WCAG 2 has it."""
    dark, bright = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other)))
    return (bright + 0.05) / (dark + 0.05)


class Plots(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def test_thin_cdf(self):
        """A value that holds for long keeps its place among many that do not."""
        weights = [(v, 5000 if v in (1, 700) else 1) for v in range(10000)]
        thinned = plot.cdf(weights, 100)
        self.assertLessEqual(len(thinned), 102)
        self.assertEqual(thinned[-1], (9999, 1))
        passed = place = 0
        for value, held in weights:
            passed += held
            while place < len(thinned) and thinned[place][0] <= value:
                place += 1
            self.assertLess(abs(thinned[place - 1][1] - passed / 19998), 0.01, value)
        self.assertEqual(plot.cdf([(3, 2), (7, 2)]), [(3, 0), (3, 0.5), (7, 1)])
        self.assertEqual(plot.cdf([]), [])

    def drawn(self, made):
        """{file: text} of the SVGs of a report, {file: [(what is in the key, colour and dash)]}, the page."""
        with open(made.make(), encoding="utf-8") as f:
            page = f.read()
        files, looks = {}, {}
        for name in os.listdir(made.directory):
            if name.endswith(".svg"):
                with open(f"{made.directory}/{name}", encoding="utf-8") as f:
                    files[name] = f.read()
        for section in made.sections:
            for drawn in section.plots:
                for panel in drawn.panels:
                    looks[panel.name + ".svg"] = [(c.name.split(":")[0], plot.look(c.number)) for c in panel.curves]
        return files, looks, page

    def test_colours(self):
        for background, paper in enumerate(plot.PAPER):
            colours = [c[background] for c in plot.COLOURS]
            self.assertEqual(len(colours), plot.MOST)
            for sight, matrix in SIGHT.items():
                least, *pair = min((math.dist(seen(a, matrix), seen(b, matrix)), a, b)
                                   for a, b in itertools.combinations(colours, 2))
                self.assertGreater(least, 0.14, f"{pair}, {sight}, on {paper}")
            for colour in *colours, plot.MARK[background], plot.INK[background]:
                self.assertGreaterEqual(contrast(colour, paper), 3, f"{colour} on {paper}")
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertAlmostEqual(math.dist(*(seen(c, SIGHT["all"]) for c in ("#000000", "#ffffff"))), 1, 3)
        # who has no red cones hardly sees these two apart
        self.assertLess(math.dist(*(seen(c, SIGHT["protanopia"]) for c in ("#8c3b00", "#3f5e00"))), 0.06)

    def test_one_look_for_each(self):
        self.assertEqual(len({plot.look(n) for n in range(32)}), 32)
        names = [f"a{i}" for i in range(11)]
        found = {}
        for skip in (), ("a0", "a4"):
            with tempfile.TemporaryDirectory() as directory:
                files, looks, page = self.drawn(many_results(directory, names, skip=skip))
            for file, curves in looks.items():
                self.assertLessEqual(len(curves), plot.MOST, file)
                for name, look in curves:
                    self.assertEqual(found.setdefault(name, look), look, file)
                    self.assertIn(look[0], files[file])
                self.assertEqual(len({look for _, look in curves}), len(curves), file)
        self.assertEqual(set(found), set(names))
        self.assertEqual(len(set(found.values())), len(names))
        # the rest is beside it
        self.assertEqual([len(looks[f"queue-cdf-{n}.svg"]) for n in (1, 2)], [8, 1])

    def test_values_of_a_lone_scheme(self):
        """They are curves, too, and those of other words panels."""
        made = many_results(self.directory, ["a"], more="vary load 0.5 0.6 0.7\nvary other 7 8\n"
                            "reference flows {load} x\nreference flows {other} y\n")
        _, looks, _ = self.drawn(made)
        self.assertEqual([n for n, _ in looks["queue-cdf-load0.6.svg"]], ["other 7", "other 8"])
        self.assertEqual(looks["queue-cdf-load0.5.svg"], looks["rate-queue-load0.7-s1.h1.svg"])

    def test_dark(self):
        """Each colour in a plot has another one for dark backgrounds, which is in the file and once in the page."""
        files, _, page = self.drawn(many_results(self.directory, ["a", "b_c"]))
        self.assertGreater(len(files), 5)
        known = set(re.findall(r'stroke="(#.*?)"', plot.STYLE))
        for name, text in files.items():
            self.assertEqual(text.count(plot.STYLE), 1)
            rest = text.replace(plot.STYLE, "")
            self.assertLessEqual(set(re.findall(r"#[0-9a-f]{6}", rest)), known, name)
            self.assertNotIn("rgb(", rest, name)
            self.assertIn("<text>b_c", rest.replace("<text> ", "<text>"))
        self.assertEqual(page.count(plot.STYLE), 1)
        self.assertIn('name="viewport"', page)

    def test_titles(self):
        """Each panel says what it shows, and its axes do."""
        made = many_results(self.directory, ["a"])
        files, _, _ = self.drawn(made)
        for drawn in (d for section in made.sections for d in section.plots):
            for panel in drawn.panels:
                words = " ".join(re.findall(r"<text>(.*?)</text>", files[panel.name + ".svg"])).split()
                for text in panel.title, drawn.x.what, drawn.y.what:
                    self.assertTrue(text)
                    self.assertLessEqual(set(text.split()), set(words))
        self.assertIn("<title>Fair rate, s1.h2</title>", files["rate-time-s1.h2.svg"])

    def test_one_unit_for_each(self):
        """Time over which queues are drawn is in the unit of that of rates, and the largest decides."""
        for samples, unit in (3, "us"), (4, "ms"):
            with tempfile.TemporaryDirectory() as directory:
                made = many_results(directory, ["a"], samples=samples)
                for run in made.runs:
                    run.samples = {"s1.r1": [(1000 * t, 5, 0) for t in range(9)]}
                    run.rates = {"s1.r1": [(t * 10**6, 10**8 * (1 + t)) for t in range(samples)]}
                files, _, _ = self.drawn(made)
            self.assertIn(f"time ({unit})", files["rate-time.svg"])
            self.assertIn(f"time ({unit})", files["queue-time.svg"])
            self.assertIn("fair rate (Mb/s)", files["rate-time.svg"])
        for kind, largest, unit in (("time", 2999, "ns"), ("time", 3000, "us"), ("size", 0, "B"), ("rate", 10**10, "Gb/s"),
                                    ("size", 123456, "kB"), ("number", 5, ""), ("number", 10**5, "thousands")):
            self.assertEqual(units.of_axis(kind, largest)[0], unit)

    def extent(self, *series, **axis):
        curves = [plot.Curve(str(n), n, list(enumerate(s))) for n, s in enumerate(series)]
        drawn = plot.Plot(plot.Axis("t"), plot.Axis("v", **axis), [plot.Panel("p", "p", [c]) for c in curves])
        found = plot.Extent(drawn, 1, {"size": ("kB", 1000)})
        return found.is_log, found.low, found.high, found

    def test_axes(self):
        """All panels have one, and it is logarithmic where values span decades."""
        self.assertEqual(self.extent([1, 9], [3])[:3], (False, 0, 9 * 1.05))
        self.assertEqual(self.extent([1, 9], [3], may_log=True)[:3], (False, 0, 9 * 1.05))
        self.assertEqual(self.extent([1, 9], [10], may_log=True)[:3], (True, 1, 10))
        self.assertEqual(self.extent([3, 29], [115], may_log=True)[:3], (True, 2, 200))
        self.assertEqual(self.extent([3, 29], [115])[0], False)
        self.assertEqual(self.extent([0, 0], may_log=True)[:3], (False, 0, 1))
        self.assertEqual(self.extent([3, 5], fixed=(0, 1))[:3], (False, 0, 1))
        # what empties passes all sizes: that is no reason, but that one curve is far above another
        self.assertEqual(self.extent([0, 1, 100], [0, 50], may_log=True)[0], False)
        *found, extent = self.extent([0, 100, 2000], [0, 200000], may_log=True, kind="size")
        self.assertEqual(found, [True, 0.2, 200])
        self.assertEqual([extent.number(v) for v in (0, 100, 2500)], ["0.2", "0.2", "2.5"])
        words = "\n".join(extent.words("y"))
        for said in 'set ylabel "v (kB)"', "set logscale y", '("0.3" 0.3, "1" 1, "3" 3, "10" 10, "30" 30, "100" 100, "≤ 0.2" 0.2)':
            self.assertIn(said, words)

    def test_bands(self):
        """Around what all seeds say together is what each says."""
        line, band = plot.cdfs([[(0, 1), (10, 1)], [(0, 3), (20, 1)]])
        self.assertEqual(line, [(0, 0), (0, 4 / 6), (10, 5 / 6), (20, 1)])
        self.assertEqual(band[0], (0, 0.5, 0.75))
        self.assertEqual(band[-3:], [(10, 0.75, 1), (20, 0.75, 1), (20, 1, 1)])
        self.assertEqual(plot.cdfs([[(0, 1)]])[1], [])
        flat = [[(0, v), (1000, v)] for v in (1, 7, 3)]
        line, band = plot.over_time(flat, 40)
        self.assertEqual((len(line), {v for _, v in line}, {b[1:] for b in band}), (10, {3}, {(1, 7)}))
        self.assertEqual((band[0][0], band[-1][0]), (0, 1000))
        flat[2][1:1] = [(550, 99), (552, 0), (553, 3)]      # for 3 of 100 ns a mean of 3 - 3 / 100 + 2 * 96 / 100
        line, band = plot.over_time(flat, 40)
        self.assertAlmostEqual(line[5][1], 4.89)
        self.assertEqual([b for b in band if b[1:] != (1, 7)], [(500, 0, 99), (600, 0, 99)])
        self.assertEqual(plot.over_time([[(0, 5), (10, 6)]]), ([(0, 5), (10, 6)], []))
        self.assertEqual(plot.over_time([[], []]), ([], []))
        made = many_results(self.directory, ["a", "b"], seeds=3)
        files, _, page = self.drawn(made)
        for name in "slowdown-p99", "queue-cdf", "queue-time", "rate-time-s1.r1", "links":
            self.assertEqual(list(dict.fromkeys(re.findall(r'<polygon fill="(.*?)"', files[name + ".svg"]))),
                             [c for c, _ in plot.COLOURS[:2]])
        self.assertIn("bands are from the lowest", page)
        # 3800 to 4000 ns instead of 3692
        curve = next(d for s in made.sections for d in s.plots if d.panels[0].name == "slowdown-p50").panels[0].curves[0]
        self.assertEqual([round(3692 * v) for v in (curve.points[0][1], *curve.band[0][1:])], [3900, 3800, 4000])

    def test_references(self):
        """Lines of the experiment are where they belong, those that are known without it if they are near."""
        made = many_results(self.directory, ["a", "b"], more="vary load 0.5 0.6\nreference rate 12gbit the {load}\n"
                            "reference queue 20MB paper\nreference flows 40 more\n")
        self.assertEqual([case.lab.references[0] for case in made.cases[::2]],
                         [("rate", 12 * 10**9, "the 0.5"), ("rate", 12 * 10**9, "the 0.6")])
        for run in made.runs:
            run.rates = {"s1.h1": [(0, 6 * 10**9), (9, 10**9)], "s1.h2": [(0, 4 * 10**9)]}
        files, _, _ = self.drawn(made)
        said = {n: re.findall(r"<text>([^<]*(?:the 0|link rate|paper|reference|more)[^<]*)<", t) for n, t in files.items()}
        self.assertEqual(said["rate-time-load0.6-s1.h1.svg"], ["link rate, 10 Gb/s", "the 0.6, 12 Gb/s"])
        self.assertEqual(said["queue-cdf-load0.5.svg"], ["paper, 20000 kB"])
        self.assertEqual(said["rate-queue-load0.5-s1.h2.svg"], ["reference, 93.75 kB", "paper, 20000 kB"])
        self.assertEqual(said["active-load0.5.svg"], ["more, 40"])
        self.assertEqual(said["slowdown-p50-load0.5.svg"], [])

        def extent(value, is_asked):
            panel = plot.Panel("p", "p", [plot.Curve("", 0, [(0, 1), (1, 4)])], [plot.Mark(1, value, "m", is_asked)])
            found = plot.Extent(plot.Plot(plot.Axis("x"), plot.Axis("y"), [panel]), 1, {})
            return found.high, found.reaches(panel.marks[0])

        self.assertEqual([extent(8, False), extent(9, False), extent(9, True)], [(8.4, True), (4.2, False), (1.05 * 9, True)])

    def test_none_is_hidden(self):
        """Where more than one curve fills its place they are beside each other."""
        slow, fast, faster = ([(t, t // n % 2) for t in range(999)] for n in (99, 3, 1))
        self.assertFalse(plot.hide_each_other([plot.Curve("", 0, slow), plot.Curve("", 1, fast)]))
        self.assertTrue(plot.hide_each_other([plot.Curve("", 0, faster), plot.Curve("", 1, fast)]))
        made = many_results(self.directory, ["a", "b"], samples=999)
        _, looks, _ = self.drawn(made)
        self.assertEqual([len(looks[f"rate-queue-s1.r1-{n}.svg"]) for n in (1, 2)], [1, 1])
        self.assertEqual(len(looks["queue-cdf.svg"]), 2)

    def test_size(self):
        """A page of a switch with 48 ports, whatever they do, can be sent by mail."""
        files, looks, page = self.drawn(many_results(self.directory, ["a", "b", "c", "d"], senders=47, samples=400))
        self.assertEqual(sum(name.startswith("rate-queue-s1.") for name in files), 48)
        self.assertEqual({len(looks[f"rate-time-s1.{port}.svg"]) for port in ("h1", "h47", "r1")}, {4})
        self.assertLess(len(page.encode()), 10**6)

    def test_letters(self):
        """What is written in a plot is what was to be written, however short the rest is made."""
        title = '0.0123 a_b^c {d} <e> & "f" \\g'
        curve = plot.Curve("1.2345", 0, [(0, 0.001), (1, 100)])
        plot.draw(self.directory, [plot.Plot(plot.Axis("0.5678"), plot.Axis("y", may_log=True),
                                             [plot.Panel("a", title, [curve])])])
        with open(f"{self.directory}/a.svg", encoding="utf-8") as f:
            words = " ".join("".join(t.itertext()).strip() for t in xml.etree.ElementTree.parse(f).iter()
                             if t.tag.endswith("text"))
        for said in title, "1.2345", "0.5678", "0.001", "0.01":
            self.assertIn(said, words)

    def test_key_has_room(self):
        """However long its names are: where it has not, gnuplot begins lines of the key at the picture's edge."""
        for places in 1, 3:
            for length in range(1, 34):
                curves = [plot.Curve(str(n) * length, n, [(0, 1), (1, 2)]) for n in range(5)]
                plot.draw(self.directory, [plot.Plot(plot.Axis("x"), plot.Axis("y"), [
                    plot.Panel(f"p{n}", "t", curves) for n in range(places)])])
                with open(f"{self.directory}/p0.svg", encoding="utf-8") as f:
                    self.assertFalse('d="M0,' in f.read(), (length, places))

    def test_thin(self):
        few = [(0, 5), (7, 1), (9, 3)]
        self.assertEqual(plot.thin(few, 3), few)
        draw = random.Random(1)
        series = [(10 * i, draw.randrange(1000)) for i in range(10000)]
        series[5000], series[5001] = (50000, -1), (50010, 1001)
        thinned = plot.thin(series, 300)
        self.assertLessEqual(len(thinned), 300)
        self.assertLessEqual(set(thinned), set(series))
        for i in range(100):        # stretches of 1000
            part, left = ([p for p in s if p[0] // 1000 == i] for s in (series, thinned))
            for extreme in min, max:
                self.assertEqual(*(extreme(v for _, v in s) for s in (part, left)))
            self.assertEqual(part[-1], left[-1])


STAR = "host a\nhost b\nswitch s\ndefaults rate 1gbit\nlink a.1 s.1\n"


class Refused(unittest.TestCase):
    """Before anything is built or booted, by line and reason, from both commands that run what a file says."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name

    def write(self, name, text):
        with open(f"{self.top}/{name}", "w", encoding="utf-8") as f:
            f.write(text)

    def refused(self, text, *told, files=(), verbs=(), words=()):
        """Lines of what is said begin so. Without verbs it is the file by itself that is read."""
        for name, content in (("x.lab", text), *files):
            self.write(name, content)
        if not verbs:
            with self.assertRaises(units.LabError, msg=told) as caught:
                labfile.cases(f"{self.top}/x.lab", text)
            self.begin(str(caught.exception), told)
        for verb in verbs:
            done = subprocess.run([f"{ROOT}/userspace/lab/sluice-lab", verb, *words, "x.lab"], cwd=self.top,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), told)
            self.begin(done.stderr.removeprefix("sluice-lab: "), told)
            results = f"{self.top}/x-results"
            self.assertLessEqual(set(os.listdir(results)) if os.path.exists(results) else set(), {"log", "traces"})
            self.assertFalse(os.path.exists(f"{results}/log/build.log"))

    def begin(self, said, told):
        lines = said.replace(f"{self.top}/", "").splitlines()
        self.assertEqual([line[:len(wanted)] for line, wanted in zip(lines, told)], list(told))
        self.assertEqual(len(lines), len(told), said)

    def test_words(self):
        """Each by itself; all words of LAB are on the lines 2 to 5."""
        for text, told in (
                ("frob 1", "6: frob: \"frob\" is not title"),
                ("seed -1", "6: seed: takes whole"), ("seed 99999999999999999999", "6: seed: takes whole"),
                ("seed ²", "6: seed: takes whole"), ("seed 3 3", "6: seed: 3 is given twice"),
                ("payload 10", "6: payload: is 64 to 8900 bytes, not 10"), ("ring 65MiB", "6: ring: is 0 to"),
                ("paths odd", "6: paths: takes hash or even"), ("paths even h1", "6: paths: takes hash or even"),
                ("paths even h1=s1 h1=s1", "6: paths: h1 is given twice"),
                ("paths even x=s1", "6: paths: there is no host \"x\""),
                ("paths even s1=s1", "6: paths: there is no host \"s1\""),
                ("paths even h1=s1", "6: paths: no way from \"h1\" goes by \"s1\""),
                ("overhead 300", "6: overhead: is 0 to 256"), ("sample 5ns", "6: sample: is 10 to"),
                ("limit 5", "6: limit: \"5\" is no time"), ("sample 1us s1.h9", "6: sample: there is no port s1.h9"),
                ("vary load 1 2", "6: vary: no line says {load}"), ("limit {x}s\nvary x 1 1", "7: vary: 1 is given twice"),
                ("limit {x}s\nvary x 1\nvary x 2", "8: vary: there is a `vary x` already"),
                ("limit {x}s", "6: limit: there is no `vary x`"), ("limit {x}\nvary x 1s 2", "6: limit: \"2\" is no time"),
                ("scheme a/b bfc", "6: scheme: \"a/b\" is no name"), ("scheme x", "6: scheme: \"x\" is no scheme"),
                ("scheme b bfc rto=5", "6: scheme: rto is a whole number and"),
                ("scheme b bfc rto=1.5ms", "6: scheme: rto is a whole number and"),
                ("scheme b bfc classes=9", "6: scheme: classes is a number of classes from 1 to 8, not \"9\""),
                ("scheme b flowsail classes=0", "6: scheme: classes is a number of classes from 1 to 8"),
                ("scheme b pfc classes=2", "6: scheme: classes are of schemes with bfc or flowsail"),
                ("scheme b bfc classes=2 switch=pfc", "6: scheme: classes are of schemes with bfc or flowsail"),
                ("scheme b bfc ack=0", "6: scheme: ack is a number"), ("scheme b bfc window=x", "6: scheme: window is"),
                ("scheme b bfc buffer=x", "6: scheme: buffer is a size, not \"x\""),
                ("scheme b dctcp red_min=x", "6: scheme: red_min is a size"),
                ("scheme b dctcp red_max=x", "6: scheme: red_max is a size"), ("scheme b dctcp red_rate=x", "6: scheme: red_rate is a rate"),
                ("scheme b dctcp red_burst=x", "6: scheme: red_burst is a number"),
                ("scheme b dctcp cc=x/y", "6: scheme: cc is the name"),
                ("scheme b dcqcn cc=dcqnc", "6: scheme: cc of gbn is dcqcn, hpcc or none"),
                ("scheme b bfc switch='bfc queues {x}'", "6: scheme: \"bfc queues {x}\": no setting 'x'"),
                ("scheme b bfc switch='bfc {'", "6: scheme: \"bfc {\": no setting"),
                ("scheme b bfc options='{Queues}'", "6: scheme: \"bfc role")):
            self.refused(LAB + text, f"x.lab:{told}")

    def test_topologies(self):
        for line, told in (
                ("frob", "3: topology: frob: No such file"), (".", "3: topology: .: Is a directory"),
                ("star senders 0", "3: topology: senders is at least 1"), ("star x 1", "3: topology: star has no \"x\""),
                ("star senders", "3: topology: a shape's parameters are pairs"),
                ("star rate 1", "3: topology: rate: \"1\" is no rate"), ("star rate 0.1bit", "3: topology: rate: \"0.1bit\""),
                ("star rate 2000tbit", "3: topology: a rate is 1000 tbit"),
                ("star delay 11s", "3: topology: a delay is 10 s"),
                ("star senders 5000", "3: topology: \"s1\" has more than 4094 hosts"),
                ("leaf-spine racks 70000 hosts 70000", "3: topology: these are more than 65536 hosts"),
                ("leaf-spine racks 3000 hosts 1", "3: topology: more than 2048 switches")):
            self.refused(LAB.replace("star senders 2 rate 10gbit", line), f"x.lab:{told}")
        for text, told in (
                ("host a", "x.lab:3: topology: x.topo: there is no link"), (STAR, "x.topo:2: host \"b\" has no link"),
                (STAR + "link b.1 s.1", "x.topo:6: s.1 has a link already"), (STAR + "link b.1 s.lo", "x.topo:6: \"lo\": a port"),
                (STAR + "link b.1 s.a/b", "x.topo:6: \"a/b\": a port's name"), ("host ä", "x.topo:1: \"ä\": a name"),
                (STAR + "switch t\nlink b.1 t.1", "x.topo:2: there is no way from \"b\" to the hosts of \"s\""),
                (STAR.replace("host b\n", ""), "x.lab:3: topology: there has to be more than one host")):
            self.refused(LAB.replace("star senders 2 rate 10gbit", "x.topo"), told, files=[("x.topo", text)])

    def test_all_at_once(self):
        self.refused(LAB + "limit 5\nscheme b bfc que=3\nfaults 'x\nseed x\n", "x.lab:6: limit", "x.lab:7: scheme",
                     "x.lab:8: No closing quotation", "x.lab:9: seed", verbs=("plan", "run"))
        self.refused("title x\n", "x.lab: there is no line `topology`", "x.lab: there is no line `workload`",
                     "x.lab: there is no line `scheme`", verbs=("plan", "run"))

    def test_workloads(self):
        for line, told in (
                ("--frob 1", "sluice-trace make: unrecognized option '--frob'"),
                ("--law none --load 0.5 --duration 1us", "sluice-trace: there is no law"),
                ("--law google_allrpc --load 5x --duration 1us", "sluice-trace: --load takes"),
                ("--incast 4:40kB:50us,to=3 --duration 1us", "sluice-trace: --incast"),
                ("--law google_allrpc --load 0.5 --duration 1us --class 8", "sluice-trace: --class takes a class from 0 to 7"),
                ("--law google_allrpc --load 0.5 --duration 1us --class 7 --classes 2", "sluice-trace: 2 class"),
                ("--long 1,size=1kB,from=0,to=1,class=8", "sluice-trace: --long"),
                ("trace w.trace", "w.trace:2: \"8\" is no class from 0 to 7"),
                ("trace gone", "there is no file gone"), ("trace x.trace", "x.trace:1: a trace begins with"),
                ("trace y.trace", "y.trace: flow 0 is of host 3, and there are 3"), ("trace .", "there is no file ."),
                ("trace z.trace", "there is no flow in it")):
            self.refused(LAB.replace("--law google_allrpc --load 0.5", line), f"x.lab:4: workload: {told}", verbs=["plan"], files=[
                ("x.trace", "x\n"), ("y.trace", "# sluice-trace 1\n0 0 3 10\n"), ("z.trace", "# sluice-trace 1\n"),
                ("w.trace", "# sluice-trace 1\n0 0 1 10 8\n")])

    def test_priority_of_control(self):
        """Flows may not pass for acknowledgements, where their class counts."""
        long = "--long 1,size=1kB,from=0,to=1 --long 1,size=1kB,from=0,to=1,class={c}"
        text = LAB.replace("--law google_allrpc --load 0.5", long).replace("scheme bfc", "scheme {scheme}")
        for c, scheme, told in (
                (7, "p bfc classes=2", "x.lab:4: workload: with p, flows of class 7 are control packets"),
                (3, "p flowsail classes=8 ack_class=3", "x.lab:4: workload: with p, flows of class 3 are control packets"),
                (7, "bfc", None), (6, "p bfc classes=2", None), (7, "p bfc classes=2 ack_class=flow", None)):
            what = text.replace("{c}", str(c)).replace("{scheme}", scheme)
            if told:
                self.refused(what, told, verbs=["plan"])
                continue
            self.write("x.lab", what)
            subprocess.run([f"{ROOT}/userspace/lab/sluice-lab", "plan", "x.lab"], cwd=self.top, capture_output=True, check=True)

    def test_programs_words(self):
        """Of several lines, and of each value."""
        text = LAB.replace("load 0.5", "load 0.5 --flows 9")
        self.refused(text + "scheme b bfc options='quues 3'\nscheme c bfc queues=5000\nfaults los 1%\n"
                     "scheme d pfifo switch='fq_codel lim 3'\nscheme e pfifo switch=frob\nscheme f pfifo cc=bbr\n",
                     "x.lab:6: scheme: b: at h1.s1: bfc: there is no option \"quues\"; there are: ",
                     "x.lab:7: scheme: c: at s1.h1: bfc: \"queues\" takes a number from 1 to 4094, not \"5000\"",
                     "x.lab:8: faults: wire: unknown option los",
                     "x.lab:9: scheme: d: at s1.h1: What is \"lim\"?",
                     "x.lab:10: scheme: e: at s1.h1: this kernel has no qdisc \"frob\"",
                     "x.lab:11: scheme: this kernel has no congestion control \"bbr\", but cubic, dctcp, reno",
                     verbs=("plan", "run"))
        self.refused(text + "scheme b rocc options='tuning {x}'\nvary x smooth rough\n",
                     "x.lab:6: scheme: b: at h1.s1: rocc: \"tuning\" takes one of", verbs=("plan",))
        self.refused(text + "faults reorder 1%\n", "x.lab:6: faults: reorder needs a reorder_delay", verbs=("run",))
        self.refused(text, "x.lab: there is no scheme \"x\"", verbs=("run",), words=("--scheme", "x"))

    def test_fine(self):
        """What experiments say is not refused."""
        self.write("x.lab", LAB.replace("load 0.5", "load 0.5 --flows 9") + "faults loss 1% reorder 1% reorder_delay 1us\n"
                   + "".join(f"scheme x-{s} {s} buffer=1MB\n" for s in SCHEMES))
        done = subprocess.run([f"{ROOT}/userspace/lab/sluice-lab", "plan", "x.lab"], cwd=self.top, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.stderr, len(done.stdout.splitlines())), ("", len(SCHEMES) + 1))


class Inputs(unittest.TestCase):
    """A finished run of a copy of the project is asked for what has changed."""
    COPIED = ("VERSION", "Makefile", "kernel", "tc-plugin", "userspace", "selftests/uml", "selftests/vm")
    ASK = """
import json, sys
sys.path.insert(0, "userspace/lab")
from sluice_lab import run
runner = run.Runner("x.lab", "results", **json.loads(sys.argv[2]))
case = runner.cases[0]
if sys.argv[1] == "finish":
    runner.save()
    runner.trace(case)
    import os
    os.makedirs(f"results/runs/{case.key}")
    open(f"results/runs/{case.key}/flows.csv", "w").write("some")
    with open(f"results/runs/{case.key}/run.json", "w") as f:
        json.dump({**runner.job(case), "inputs": runner.depends(case), **run.inputs.revision(),
                   "files": {"flows.csv": 4}}, f)
print(json.dumps(runner.changed(case)))
"""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        for name in self.COPIED:
            os.makedirs(os.path.dirname(f"{self.top}/{name}"), exist_ok=True)
            subprocess.run(["cp", "-r", f"{ROOT}/{name}", f"{self.top}/{name}"], check=True)
        for name in "bin", "build/trace":
            os.makedirs(f"{self.top}/{name}")
        os.symlink(f"{ROOT}/build/trace/sluice-trace", f"{self.top}/build/trace/sluice-trace")
        self.write("x.lab", LAB.replace("load 0.5", "load 0.5 --flows 10"))
        self.program("apt-cache", "  Candidate: 6.1.1-1")

    def write(self, name, text):
        with open(f"{self.top}/{name}", "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(f"{self.top}/{name}", encoding="utf-8") as f:
            return f.read()

    def program(self, name, says):
        """One that is found first; None: it goes again."""
        path = f"{self.top}/bin/{name}"
        if says is None:
            os.unlink(path)
            return
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\necho '{says}'\n")
        os.chmod(path, 0o755)

    def ask(self, what="changed", environment=(), **words):
        done = subprocess.run([sys.executable, "-B", "-c", self.ASK, what, json.dumps(words)],
                              cwd=self.top, capture_output=True, text=True, check=False,
                              env={**{k: v for k, v in os.environ.items()
                                      if not k.startswith(("SLUICE_", "GIT_", "UML_"))},
                                   "PATH": f"{self.top}/bin:{os.environ['PATH']}",
                                   "XDG_CACHE_HOME": f"{self.top}/cache",
                                   **dict(environment)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(os.access(f"{ROOT}/build/trace/sluice-trace", os.X_OK),
                         "needs the program sluice-trace: make programs")
    def test_each_is_noticed(self):
        self.assertIsNone(self.ask())
        self.assertEqual(self.ask("finish"), [])
        self.assertEqual(self.ask(), [])
        for name, noticed in (
                ("kernel/bfc/main.c", ["modules"]), ("kernel/wire/Kbuild", ["modules"]), ("Makefile", ["modules"]),
                ("kernel/uapi/bfc.h", ["modules"]), ("tc-plugin/options.c", ["plugins"]),
                ("userspace/flowgen/main.c", ["flowgen"]), ("userspace/lab/portwatch.c", ["lab"]),
                ("userspace/lab/lab-guest", ["lab"]), ("userspace/lab/lab-rack", ["lab"]),
                ("userspace/lab/lab-build", ["lab"]), ("selftests/uml/build", ["machine"]),
                ("selftests/uml/run", ["machine"]), ("selftests/uml/guest-init", ["machine"]),
                ("userspace/lab/workloads/google_allrpc.txt", ["workload"]),
                ("results/runs/bfc-s1/flows.csv", ["files"]),
                ("userspace/trace/law.c", ["workload"]), ("results/traces/w-s1.trace", ["trace"])):
            kept = self.read(name)
            self.write(name, kept + "#\n")
            self.assertEqual(self.ask(), noticed, name)
            self.write(name, kept)
        for name, before, after, noticed in (
                ("selftests/uml/config-common", "CONFIG_NET=y", "CONFIG_NET=y\nCONFIG_MADE_UP=y", ["kernel"]),
                ("selftests/uml/patches/0001-exact-clock.patch", "+#define TIMER_MIN_DELTA  1",
                 "+#define TIMER_MIN_DELTA  2", ["kernel"]),
                ("userspace/lab/sluice_lab/rack.py", 'PREFIX = "lab-"', 'PREFIX = "rack-"', ["rack"]),
                ("x.lab", "load 0.5", "load 0.6", ["workload_args", "workload"]),
                ("VERSION", "0.", "1.", ["version"])):
            kept = self.read(name)
            self.assertIn(before, kept, name)
            self.write(name, kept.replace(before, after, 1))
            self.assertEqual(self.ask(), noticed, name)
            self.write(name, kept)
        for name, noticed in (("gcc", ["workload", "compiler"]), ("ldd", ["workload", "libc"]), ("tc", ["tc"]),
                              ("ip", ["ip"])):
            self.program(name, "another one")
            self.assertEqual(sorted(self.ask()), sorted(noticed), name)
            self.program(name, None)
        if not os.path.exists("/usr/src/linux-source-6.1.tar.xz"):
            self.program("apt-cache", "  Candidate: 6.1.2-1")
            self.assertEqual(self.ask(environment={"XDG_CACHE_HOME": f"{self.top}/another"}), ["kernel"])
            self.program("apt-cache", "  Candidate: 6.1.1-1")
        self.assertEqual(self.ask(mem="4G"), ["memory"])
        # what becomes of the words of a .lab file is digested, too
        for name, before, after in (("run.py", "+ case.lab.limit", "+ 2 * case.lab.limit"),
                                    ("run.py", "lab.settle / 1e9", "lab.settle / 2e9")):
            kept = self.read(f"userspace/lab/sluice_lab/{name}")
            self.assertIn(before, kept)
            self.write(f"userspace/lab/sluice_lab/{name}", kept.replace(before, after, 1))
            self.assertEqual(self.ask(), ["arguments"])
            self.write(f"userspace/lab/sluice_lab/{name}", kept)
        modules = f"{self.top}/modules"
        os.makedirs(modules)
        self.assertEqual(self.ask(environment={"SLUICE_MODDIR": modules}), ["modules"])
        # what can be made again, as it was, is not missed
        os.unlink(f"{self.top}/results/traces/w-s1.trace")
        self.assertEqual(self.ask(), [])

    @unittest.skipUnless(os.access(f"{ROOT}/build/trace/sluice-trace", os.X_OK),
                         "needs the program sluice-trace: make programs")
    def test_files_that_the_experiment_names(self):
        self.write("my.txt", self.read("userspace/lab/workloads/google_allrpc.txt"))
        self.write("x.lab", LAB.replace("google_allrpc", "my.txt").replace("load 0.5", "load 0.5 --flows 10"))
        self.assertEqual(self.ask("finish"), [])
        self.write("my.txt", self.read("userspace/lab/workloads/fb_hadoop.txt"))
        self.assertEqual(self.ask(), ["workload"])

    def test_trace_of_its_own(self):
        self.write("my.trace", "0 0 2 1000\n")
        self.write("x.lab", LAB.replace("--law google_allrpc --load 0.5", "trace my.trace"))
        self.assertEqual(self.ask("finish"), [])
        self.write("x.lab", LAB.replace("--law google_allrpc --load 0.5", "trace ./my.trace"))
        self.assertEqual(self.ask(), [])
        self.write("my.trace", "0 0 2 1001\n")
        self.assertEqual(self.ask(), ["trace"])

    def test_what_is_in_use(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(f"{directory}/a.ko", "w", encoding="utf-8") as f:
                f.write("one")
            os.symlink("a.ko", f"{directory}/b.ko")
            before = run.inputs.in_use(directory)
            self.assertEqual(before, run.inputs.in_use(directory))
            with open(f"{directory}/a.ko", "w", encoding="utf-8") as f:
                f.write("another")
            after = run.inputs.in_use(directory)
            self.assertEqual({os.path.basename(n) for n in before if before[n] != after[n]}, {"a.ko", "b.ko"})

    def test_revision(self):
        found = run.inputs.revision()
        if os.path.exists(f"{ROOT}/.git"):
            self.assertRegex(found["commit"], "^[0-9a-f]{40}$")
            self.assertIn(found["clean"], (True, False))


class Demo(unittest.TestCase):
    """What the demo makes of results of two schemes."""
    SETTINGS = dict(SCHEMES="fq_codel bfc", HOSTS="2", RATE="25mbit", CORE_RATE="50mbit", DELAY="50us", LIMIT="280000", SEED="1",
                    WORKLOAD="google_allrpc.txt", ARRIVALS="lognormal", RPC_RATE="80", DURATION_S="4", INCAST_BYTES="14480",
                    INCAST_CONNS="4", INCAST_BURSTS="2", INCAST_OFFSET_S="0.3")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        self.write("settings", "".join(f"{k}='{v}'\n" for k, v in sorted(self.SETTINGS.items())))
        for scheme, idle in ("fq_codel", 0.76), ("bfc", 0.5):
            os.makedirs(f"{self.top}/raw/{scheme}")
            self.results(scheme, idle)

    def write(self, name, text):
        with open(f"{self.top}/{name}", "w", encoding="utf-8") as f:
            f.write(text)

    def results(self, scheme, idle, last="1500000"):
        head = "group,start_ns,peer,bytes,fct_ns\n"
        self.write(f"raw/{scheme}/rpc-h1.csv", head + "".join(f"0,{n},10.0.0.2,{3000 if n else 3001},{n + 1}000000\n" for n in range(101)))
        self.write(f"raw/{scheme}/rpc-h2.csv", head + f"0,7,10.0.0.1,1,{last}\n")
        self.write(f"raw/{scheme}/incast.csv", head + "0,9,10.0.0.2,14480,100000000\n0,9,10.0.0.3,14480,140000000\n"
                   "1,99,10.0.0.2,14480,150000000\n")
        self.write(f"raw/{scheme}/summary", f"elapsed_s=4.5\ncpus=1\nidle_share={idle:.3f}\ntcp_retransmits=7\ntcp_timeouts=0\n")
        own = "63000,756,3,9,0,2,1" if scheme == "bfc" else ",,,,,,"
        self.write(f"raw/{scheme}/ports.csv", "netns,dev,role,kind,bytes,packets,drops,backlog_max,backlog_mean,own_backlog_max,"
                   "pauses_sent,pauses_obeyed,paused_ns,lease_expired,flows_shared,tagging\n"
                   f"rack-tor1,h1,switch,{scheme},1,1,4,34567,5,{own}\nrack-h1,eth0,host,{scheme},1,1,5,,,{own}\n"
                   "rack-h1,lo,host,noqueue,1,1,99,99999999,,,,,,,,\n")
        self.write(f"raw/{scheme}/backlog.csv", "time_ns,backlog\n4000000,1\n300000000,5\n304000000,90000\n990000000,7\n")

    def report(self, *words):
        done = subprocess.run([f"{ROOT}/userspace/lab/report", *words, self.top], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_table(self):
        status, text, said = self.report()
        self.assertEqual((status, said), (0, ""))
        # 12 connections of 14480 bytes in 10 segments of 66 more, at 25 Mb/s
        self.assertIn("at best 58.1 ms", text)
        self.assertEqual([line.split() for line in text.splitlines() if line.startswith(("fq_codel", "bfc"))], [
            "fq_codel | 51.005 51.000 100.000 | 1.000 | 145.0 150.0 | 9 | 35 - | - | 7 0 | 76 %".split(),
            "bfc | 51.005 51.000 100.000 | 1.000 | 145.0 150.0 | 9 | 35 63 | 1512 | 7 0 | 50 %".split()])
        for name, lines in ("flows.csv", 211), ("table.csv", 3):
            with open(f"{self.top}/{name}", encoding="utf-8") as f:
                self.assertEqual(len(f.readlines()), lines)
        with open(f"{self.top}/flows.csv", encoding="utf-8") as f:
            self.assertEqual(f.readlines()[102], "fq_codel,h2,0,7,10.0.0.1,1,1500000\n")

    def test_json(self):
        status, text, _ = self.report("--json")
        found = json.loads(text)
        self.assertEqual((status, found["settings"]), (0, self.SETTINGS))
        self.assertEqual([found["schemes"][1][k] for k in ("scheme", "short_n", "short_p99_ms", "own_backlog_max_bytes",
                                                           "tagging_ports", "idle_share")], ["bfc", 101, 100, 63000, 2, 0.5])
        self.assertIsNone(found["schemes"][0]["pauses_sent"])

    def test_unfinished(self):
        """What is not complete is longer than all else."""
        self.results("bfc", 0.5, last="")
        status, text, _ = self.report()
        self.assertEqual(status, 0)
        self.assertIn("bfc        |      inf   52.000  101.000  | ", text)
        self.assertIn("bfc: 1 responses were not complete at the end", text)

    def test_plots(self):
        """A scheme has the same look in all, which is that of reports."""
        self.report()
        for name in "short", "incast", "backlog":
            with open(f"{self.top}/{name}.svg", encoding="utf-8") as f:
                svg = f.read()
            self.assertEqual(svg.count(plot.STYLE), 1)
            for number, scheme in enumerate(self.SETTINGS["SCHEMES"].split()):
                colour, _, _ = plot.look(number)
                self.assertRegex(svg, rf"<text>{scheme}</text>\s*</g>\s*</g>\s*<g[^>]*>\s*<path stroke=\"{colour}\"")
        self.assertIn("limit, 280 kB", svg)

    def test_trouble(self):
        self.results("bfc", 0.1)
        status, _, said = self.report()
        self.assertEqual(status, 3)
        self.assertTrue(said.startswith("CPU-bound: the CPUs were idle for 0.100 of the time only"))
        os.unlink(f"{self.top}/raw/bfc/summary")
        self.assertEqual(self.report(), (1, "", f"report: the run of bfc left no results in {self.top}/raw\n"))
        self.assertEqual(self.report("--x")[0], 2)


class Clocks(unittest.TestCase):
    def test_constants(self):
        """What the sources of the guest say"""
        for name, text in (("selftests/uml/guest-init", f"left=$(({clock.TEST_BEGINS + 10**9} - 1$(date +%N)))"),
                           ("userspace/lab/lab-guest", f"sleep {clock.WATCHER_WAIT / 1e9:g}\n"),
                           ("kernel/flowgen/run.c", f"#define FG_LEAD_NS\t{clock.FLOWGEN_LEAD}\n")):
            with open(f"{ROOT}/{name}", encoding="utf-8") as f:
                self.assertIn(text, f.read(), name)
        lab = labfile.parse("x.lab", LAB + "settle 2s\n")
        self.assertEqual([clock.begins(lab, watchers) for watchers in (0, 1, 2)], [131 * 10**8, 132 * 10**8, 133 * 10**8])

    def test_expected(self):
        lab = labfile.parse("x.lab", LAB)
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("# sluice-trace 1\n0 0 2 1000\n5000 1 2 1000\n")
            f.flush()
            self.assertEqual(clock.expected(lab, f.name), 5000)
            f.write("6000 1 2 98000\n")
            f.flush()
            self.assertEqual(clock.expected(lab, f.name), 80000)        # 100 kB to one host, at 10 Gb/s

    def test_words(self):
        for now, total, said in ((1, 9, "1 of 9 ns"), (1840000, 5 * 10**6, "1.84 of 5 ms"), (10**5, 5 * 10**6, "0.1 of 5 ms"),
                                 (5 * 10**6, 5 * 10**6, "last flows, at 5 ms"), (2 * 10**9, 5 * 10**6, "last flows, at 2 s")):
            self.assertEqual(clock.words(now, total), said)

    def test_read(self):
        """A variable of the child of a process, if that is the program which is looked for"""
        with tempfile.TemporaryDirectory() as directory:
            with subprocess.Popen(["sh", "-c", '"$@" & wait', "-", sys.executable, "-c", "import ctypes, os, time; "
                                   "v = ctypes.c_uint64(4711); print(os.getpid(), hex(ctypes.addressof(v)), flush=True); "
                                   "time.sleep(600)"], stdout=subprocess.PIPE, text=True) as shell:
                pid, address = shell.stdout.readline().split()
                for place, program, seen in (address[2:], sys.executable, 4711), (address[2:], "/bin/sh", None), \
                        ("8", sys.executable, None):
                    with open(f"{directory}/System.map", "w", encoding="utf-8") as f:
                        f.write(f"1 b other\n{place} b {clock.VARIABLE}\n")
                    os.symlink(program, f"{directory}/linux")
                    self.assertEqual(clock.Clock(directory).read(shell.pid), seen)
                    os.unlink(f"{directory}/linux")
                os.kill(int(pid), signal.SIGKILL)
            self.assertIsNone(clock.Clock(directory).read(shell.pid))
        self.assertIsNone(clock.Clock("/nowhere").read(os.getpid()))

    def test_left(self):
        progress = run.Progress(4)
        self.assertIsNone(progress.left())
        progress.running = {"a": run.Running("", 0.25, time.monotonic() - 10), "b": run.Running("", 0, time.monotonic() - 10)}
        # of 40 s each, 30 are left of two that run, and 40 of two that do not yet
        self.assertAlmostEqual(progress.left(), 70, 0)
        progress.spent = [1000]
        progress.total = 2
        self.assertAlmostEqual(progress.left(), 510, 0)


class Installed(unittest.TestCase):
    """The lab as `make install` leaves it, without what others install, and what it says is missing."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        subprocess.run(["make", "-s", "-C", f"{ROOT}/userspace/lab", "install", f"DESTDIR={self.top}", "PREFIX=/usr"],
                       check=True, capture_output=True, env={k: v for k, v in os.environ.items() if "MAKE" not in k})
        for name in "bin", "lib":
            os.makedirs(f"{self.top}/{name}")
        self.give("bin", *"sh bash env dirname cat sed grep sha256sum cut flock".split())
        with open(f"{self.top}/x.lab", "w", encoding="utf-8") as f:
            f.write(LAB)

    def give(self, place, *names):
        for name in names:
            os.symlink(shutil.which(name) or "/bin/true", f"{self.top}/{place}/{name}")

    def does(self, program, *words):
        """Exit status and all that it says, with no program but those in bin."""
        done = subprocess.run([sys.executable, "-B", "-c", "import sys; sys.argv = sys.argv[1:]; "
                               "sys.path.insert(0, sys.argv[0]); from sluice_lab import places, cli; "
                               "places.PATH = ''; sys.exit(cli.main())", f"{self.top}/usr/share/sluice/lab", *words]
                              if program == "sluice-lab" else [f"{self.top}/usr/share/sluice/lab/{program}", *words],
                              cwd=self.top, capture_output=True, text=True, check=False, env={
                                  "PATH": f"{self.top}/bin", "HOME": self.top,
                                  **{f"{k}_LIB_DIR": f"{self.top}/lib" for k in ("TC", "IP")}})
        return done.returncode, done.stdout + done.stderr

    def test_shapes(self):
        status, said = self.does("sluice-lab", "topo", "star")
        self.assertEqual((status, said.splitlines()[1]), (0, "host h1"))

    def test_what_is_missing(self):
        for name, place in (("flowgen", "bin"), ("sluice-trace", "bin"), ("q_bfc.so", "lib"), ("q_ideal.so", "lib"), ("q_pfc.so", "lib"),
                            ("q_rocc.so", "lib"), ("q_floodgate.so", "lib"), ("q_flowsail.so", "lib"),
                            ("link_wire.so", "lib")):
            status, said = self.does("sluice-lab", "plan", "x.lab")
            self.assertEqual((status, said), (1, f"sluice-lab: there is no {name}: it is in the package sluice-tools, "
                                                 "and make install installs it\n"))
            self.give(place, name)
        kernel = f"{self.top}/usr/share/sluice/lab/tree/kernel"
        os.rename(kernel, f"{self.top}/kernel")
        os.symlink("nowhere", kernel)
        self.assertEqual(self.does("sluice-lab", "plan", "x.lab")[1], "sluice-lab: there is no source of the modules: "
                         "it is in the package sluice-dkms, and make install installs it\n")
        status, said = self.does("tree/userspace/lab/lab-build", "virtual", "6.1")
        self.assertEqual((status, said), (1, "lab-build: there is no gcc, install it: apt-get install -y gcc libc6-dev make "
                                             "util-linux\n"))


EDGE_CORE = """
topology rocc-edge-core hosts 1 cores 1 parallel 1 core 40gbit
workload w --law rocc_fb --load 0.7 --on core --duration 1ms --pairs 0+1:2
sample 1us tor1.spine1 spine1.tor3 tor3.h3
"""


class Claims(unittest.TestCase):
    """Results as if of an edge-core network: h1 and h2 send to h3, a flow every 4 us."""

    def made(self, directory, scheme, done=2000, queue=150000, uplink=0, pauses=0, resent=0):
        """A run in which each flow takes so many ns; queues and pauses are those of its core port."""
        runs = f"{directory}/runs/{scheme.replace('=', '_')}-s1"
        os.makedirs(runs)
        with open(f"{runs}/run.json", "w", encoding="utf-8") as f:
            json.dump({}, f)
        with open(f"{runs}/flows.csv", "w", encoding="utf-8") as f:
            f.write("flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n")
            for n in range(11):
                f.write(f"{n},{n % 2},2,{1000 * (1 + n % 2)},0,-,{4000 * n},{4000 * n + done},,10,"
                        f"{resent},0\n")
        with open(f"{runs}/samples.csv", "w", encoding="utf-8") as f:
            f.write("t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n"
                    f"0,tor1.spine1,{uplink},0,0\n0,spine1.tor3,{queue},0,0\n0,tor3.h3,0,0,0\n"
                    "20000,spine1.tor3,0,0,0\n")
        if scheme.startswith("rocc"):
            with open(f"{runs}/rates.csv", "w", encoding="utf-8") as f:
                f.write("t_ns,port,fair_rate\n1,spine1.tor3,5000000000\n20000,spine1.tor3,40000000000\n")
        with open(f"{runs}/ports.json", "w", encoding="utf-8") as f:
            json.dump({"lab-spine1": [
                {"kind": "rocc", "root": True, "dev": d, "q_ref": 150000, "drops": 1,
                 "port": {"state": "tagging", "pauses_tx": pauses if d == "tor1" else 0}}
                for d in ("tor1", "tor2", "tor3")]}, f)

    def claims(self, which, lines, runs):
        """Exit status and rows, by scheme."""
        with tempfile.TemporaryDirectory() as directory:
            with open(f"{directory}/experiment.lab", "w", encoding="utf-8") as f:
                f.write(EDGE_CORE + "".join(f"scheme {line}\n" for line in lines))
            with open(f"{directory}/path", "w", encoding="utf-8") as f:
                f.write(f"{directory}/x.lab\n")
            for scheme, what in runs.items():
                self.made(directory, scheme, **what)
            done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", which, directory],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, {r["scheme"]: r for r in json.loads(done.stdout)}

    def test_rates(self):
        status, rows = self.claims("rocc3", ["rocc", "dctcp"], {"rocc": {}, "dctcp": {}})
        # 1000 bytes in 2 us, and 5 of 11 flows twice as many
        self.assertAlmostEqual(rows["rocc"]["rate (Mb/s)"], 4000 * 16 / 11)
        self.assertAlmostEqual(rows["rocc"]["sd"], 4000 * (5 / 11 * 6 / 11) ** 0.5)
        self.assertFalse(rows["rocc"]["met"])           # no less than dctcp's
        self.assertEqual(status, 1)

    def test_places(self):
        both = ["rocc-pfc", "pfc"]
        status, rows = self.claims("rocc17", both, {"rocc-pfc": {"pauses": 2}, "pfc": {"pauses": 14}})
        # the last flow begins at 40 us: from 10 to 20 us of these 30 there is a queue
        self.assertEqual([rows["rocc-pfc"][k] for k in (
            "core: mean", "core: p99", "uplinks: mean", "core, held back: mean", "by core", "met")],
            [50, 150, 0, 150, 2, True])
        self.assertAlmostEqual(rows["rocc-pfc"]["held back (% of time)"], 100 / 3)
        self.assertEqual(status, 0)
        lines = ["rocc-pfc", "core at reference", "edges a tenth"]
        for worse, line in ({"pauses": 3}, 0), ({"queue": 166000}, 1), ({"queue": 134000}, 1), \
                ({"uplink": 6000}, 2):
            status, rows = self.claims("rocc17", both, {"rocc-pfc": {"pauses": 2, **worse},
                                                        "pfc": {"pauses": 14}})
            self.assertEqual((status, [rows[r]["met"] for r in lines]), (1, [n != line for n in range(3)]))

    def step(self, sent, at):
        """h1 and h2 share 8 Gb/s. The second one ends at 10 ms; so much was sent until then, when the rate is up."""
        with tempfile.TemporaryDirectory() as directory:
            runs = f"{directory}/runs/rocc-s1"
            os.makedirs(runs)
            for name, text in {
                    "experiment.lab": "topology star senders 2 rate 8gbit\nworkload w --incast 2:-:0,to=2\n"
                                      "scheme rocc\nsample 1us s1.r1\n",
                    "path": f"{directory}/x.lab\n", "runs/rocc-s1/run.json": "{}",
                    "runs/rocc-s1/flows.csv":
                        "flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n"
                        "0,0,2,1000,0,-,0,20000000,,1,0,0\n1,1,2,1000,0,-,0,9000000,,1,0,0\n"
                        "2,1,2,1000,0,-,0,10000000,,1,0,0\n3,0,2,1000,0,-,20000000,30000000,,1,0,0\n",
                    "runs/rocc-s1/samples.csv":
                        "t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n0,s1.r1,30000,0,0\n"
                        f"9000000,s1.r1,30000,0,9000000\n{at},s1.r1,30000,0,{9000000 + sent}\n"
                        "30000000,s1.r1,30000,0,29000000\n",
                    "runs/rocc-s1/rates.csv":
                        f"t_ns,port,fair_rate\n0,s1.r1,2666666666\n{at},s1.r1,8000000000\n",
                    "runs/rocc-s1/ports.json":
                        '{"lab-s1": [{"kind": "rocc", "root": true, "dev": "r1", "q_ref": 30000}]}'}.items():
                with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                    f.write(text)
            done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", "rocc9", directory],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)[:2]

    def test_step(self):
        # 2 ms of the link are 2 MB; an end wants 85 % of it and 2 ms
        for sent, at, share, met in ((1000000, 11000000, 50, False), (1800000, 11000000, 90, True),
                                     (2790000, 12100000, 90, False)):
            up, down = self.step(sent, at)
            self.assertEqual([up[k] for k in ("at (ms)", "N", "in 15 % after (ms)", "link until then (%)", "met")],
                             [0, 3, 0, None, True])
            self.assertEqual([down[k] for k in ("at (ms)", "first (ms)", "N", "in 15 % after (ms)",
                                                "link until then (%)", "met")],
                             [10, 9, 1, (at - 10000000) / 1e6, share, met])

    def bfc(self, which, flows, port):
        """Rows of two schemes with the same results: flows as "SRC,DST,BYTES,LABEL,START,DONE", a switch's port."""
        with tempfile.TemporaryDirectory() as directory:
            for scheme in "bfc", "ideal-fq", "dctcp":
                runs = f"{directory}/runs/{scheme}-s1"
                os.makedirs(runs)
                with open(f"{runs}/flows.csv", "w", encoding="utf-8") as f:
                    f.write("flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n")
                    for n, flow in enumerate(flows):
                        src, dst, size, label, start, done = flow.split(",")
                        f.write(f"{n},{src},{dst},{size},0,{label},{start},{done},,1,0,0\n")
                for name, what in ("run.json", {}), ("ports.json", {"lab-s1": [
                        {"kind": "bfc", "root": True, "dev": d, **(port if d == "r1" else {"drops": 0})}
                        for d in ("h1", "h2", "r1")]}):
                    with open(f"{runs}/{name}", "w", encoding="utf-8") as f:
                        json.dump(what, f)
            for name, text in ("path", f"{directory}/x.lab\n"), ("experiment.lab", """
topology star senders 2 rate 8gbit
workload w --incast 2:-:0,to=2
scheme bfc
scheme ideal-fq
scheme dctcp
bins 1kB 2kB
"""):
                with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                    f.write(text)
            done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", which, directory],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)

    def test_incastmix(self):
        flows = [f"0,1,100,small,1000,{1000 + took}" for took in (3000, 3000, 3000, 4000)]
        fine = {"drops": 0, "assign_own": 1, "assign_free": 3}
        for more, last, port, met in (
                ([], 3110000, fine, True), ([], 3110001, fine, False), ([], 3000000, {**fine, "drops": 1}, False),
                (["0,1,100,small,0,20001"], 0, fine, False), (["0,1,100,small,0,7001"] * 5, 0, fine, False),
                (["0,1,100,small,0,7000"] * 5, 0, fine, True), (["0,1,100,small,0,"], 0, fine, False)):
            status, rows = self.bfc("incastmix", [*flows, f"0,2,100,incast,0,{last}", *more], port)
            self.assertEqual((status, rows[0]["scheme"], rows[0]["met"]), (0 if met else 1, "bfc", met), more)
        self.assertEqual(rows[0]["mean (us)"], 3.25)
        self.assertEqual([rows[0][k] for k in ("shared (%)", "drops")], [25, 0])
        # 95 % of a hundred
        flows = ["0,1,100,small,0,3000"] * 94 + ["0,1,100,small,0,900000"] * 4
        self.assertEqual(self.bfc("incastmix", [*flows, "0,2,100,incast,0,1"], fine)[0], 0)

    def test_judged(self):
        """Without a run of all whose figures are judged a claim says nothing."""
        for which, lacks in ("incastmix", "bfc"), ("bounds", "floodgate"), ("tree", "floodgate"), ("stacked", "floodgate"), ("flowsail17draws", "bfc-paper-32"):
            with tempfile.TemporaryDirectory() as directory:
                for name, text in ("path", f"{directory}/x.lab\n"), ("experiment.lab", LAB.replace("scheme bfc", "scheme gbn")):
                    with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                        f.write(text)
                os.makedirs(f"{directory}/runs/gbn-s1")
                for name, text in ("run.json", "{}"), ("flows.csv", "flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,"
                                                                    "retransmits,timeouts\n0,0,1,1000,0,-,0,10000,,1,0,0\n"):
                    with open(f"{directory}/runs/gbn-s1/{name}", "w", encoding="utf-8") as f:
                        f.write(text)
                done = subprocess.run([f"{ROOT}/selftests/lab/claims", which, directory], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (1, "", f"claims: {directory}: there is no run of {lacks}\n"))

    def test_aside(self):
        flows = ["0,2,1000,incast,10000,20000", "1,2,1000,incast,10000,30000", "0,2,1500,-,0,10000",
                 "0,2,100,-,30000,42000", "0,2,100,-,29999,50000", "0,1,100,-,15000,20000"]
        _, rows = self.bfc("tails", flows, {"drops": 0})
        row = next(r for r in rows if r["scheme"] == "bfc" and r["size up to"] == "1 kB")
        alone = 12000 / row["p99 aside"]
        self.assertAlmostEqual(row["p99"] / row["p99 aside"], 20001 / 12000)
        self.assertTrue(100 < alone < 3000)
        self.assertEqual(row["flows"], 3)
        self.assertEqual([r["p99"] / r["p99 aside"] for r in rows if r["size up to"] == "2 kB"], [1] * 3)

    def test_waiting(self):
        for sums, credits, met in (((1250, 2, 3750), 58, True), ((1251, 2, 3750), 58, False), ((1250, 3, 3750), 58, False),
                                   ((1250, 2, 3751), 58, False), ((1250, 2, 3750), 59, False)):
            with tempfile.TemporaryDirectory() as directory:
                text = LAB.replace("star senders 2 rate 10gbit", "leaf-spine racks 2 hosts 1 spines 1 rate 10gbit").replace(
                    "scheme bfc", "scheme pfc\nscheme floodgate\nframes")
                for name, what in ("experiment.lab", text), ("path", f"{directory}/x.lab\n"):
                    with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                        f.write(what)
                for scheme, waited in ("pfc", (1000, 2000, 3000)), ("floodgate", sums):
                    runs = f"{directory}/runs/{scheme}-s1"
                    os.makedirs(runs)
                    waits = [f"{layers},{label},2,{2000 * ns},0,0,0\n" for layers, ns in zip(("1,2", "2,1", "1,0"), waited)
                             for label in ("small", "incast")]
                    for name, what in {
                            "run.json": json.dumps({"settings": {}, "flowgen": [], "version": "0"}),
                            "flows.csv": "flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n"
                                         "0,0,1,1000,0,-,0,10000,,1,0,0\n",
                            "frames.csv": "port,from_layer,to_layer,kind,frames,bytes\ntor1.spine1,1,2,data,9,9000\n"
                                          f"spine1.tor1,2,1,balances,1,{credits - 10}\nspine1.tor1,2,1,end,1,10\n"
                                          "h1.tor1,0,1,data,9,9000\nspine1.tor1,2,1,ack,9,9000\nh1.tor1,0,1,hello,9,9000\n",
                            "waits.csv": "from_layer,to_layer,label,packets,sum_ns,p50_ns,p99_ns,max_ns\n" + "".join(waits)}.items():
                        with open(f"{runs}/{name}", "w", encoding="utf-8") as f:
                            f.write(what)
                done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", "waiting", directory],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.stderr, "")
                row = json.loads(done.stdout)[1]
                self.assertEqual((done.returncode, row["met"]), (0 if met else 1, met), (sums, credits))
                self.assertEqual([row["small, core (us)"], row["incast, ToR-Up (us)"]], [sums[1], sums[0]])
                self.assertAlmostEqual(row["control (% of data)"], credits / 90)
                # 10 us of the link's rate
                rate = next(p.rate for p in labfile.parse("x.lab", text).topology.ports if str(p) == "spine1.tor1")
                self.assertAlmostEqual(row["% of one link"], 100 * credits * 8e9 / (rate * 10000))

    def of_runs(self, which, text, runs):
        """Exit status, rows and what is said of errors: an experiment and {KEY: {FILE: what it holds}}, flows as "SRC,DST,BYTES,LABEL,START,DONE"."""
        with tempfile.TemporaryDirectory() as directory:
            for name, what in ("path", f"{directory}/x.lab\n"), ("experiment.lab", text):
                with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                    f.write(what)
            for key, files in runs.items():
                os.makedirs(f"{directory}/runs/{key}")
                lines = []
                for n, flow in enumerate(files["flows.csv"]):
                    src, dst, size, label, start, done = flow.split(",")
                    lines.append(f"{n},{src},{dst},{size},0,{label},{start},{done},,1,0,0\n")
                csv = "flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n" + "".join(lines)
                for name, what in {"run.json": "{}", **files, "flows.csv": csv}.items():
                    with open(f"{directory}/runs/{key}/{name}", "w", encoding="utf-8") as f:
                        f.write(what)
            done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", which, directory], capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout or "[]"), done.stderr.replace(directory, "DIR")

    def test_workloads(self):
        """Floodgate, Figs. 8 to 10: each law beside its own; an incast to the first host, one other flow to its rack and three elsewhere"""
        text = "topology leaf-spine racks 2 hosts 2 spines 1 rate 8gbit\nworkload w --law {law} --load 0.5\nvary law a b\nscheme dcqcn\n" \
               "scheme floodgate-dcqcn floodgate\nscheme bytes-dcqcn floodgate\nscheme ideal-dcqcn floodgate\nscheme hpcc\nscheme floodgate-hpcc floodgate\n"

        def run(others, incast, switch, down, pauses, voqs=1):
            flows = [f"2,{dst},1000,other,0,{took}" for dst, took in zip((1, 3, 3, 3), others)] + [f"2,0,1000,incast,0,{incast}"]
            figures = {"root": True, "drops": 0, "kind": "floodgate", "voqs_max": voqs}
            ports = {"lab-tor1": [{**figures, "dev": "h1", "backlog_max": down, "pool_max": switch, "pfc_sent": pauses}],
                     "lab-spine1": [{**figures, "dev": "tor1", "backlog_max": 0, "pool_max": 1, "pfc_sent": 0}]}
            return {"flows.csv": flows, "ports.json": json.dumps(ports)}
        without = [(100000, 100000, 100000, 500000), 900000, 18000, 24000, 1]
        good = [(10000, 100000, 100000, 450000), 900000, 10000, 2400, 0]
        ideal = [(10000, 100000, 100000, 450000), 950000, 10000, 600, 0]
        changes = (({}, []), ({0: (10001, 100000, 100000, 450000)}, ["floodgate", "bytes"]),		# the first one to the rack
                   ({0: (10000, 100000, 100000, 455000)}, ["floodgate", "bytes"]),			# the 99th percentile
                   ({0: (10000, 200000, 200000, 310000)}, ["floodgate", "bytes"]),			# the mean
                   ({1: 900001}, ["floodgate", "bytes"]), ({2: 10001}, ["floodgate"]), ({2: 10600}, ["floodgate", "bytes"]),
                   ({3: 2399}, ["ideal"]), ({3: 10000}, ["bytes"]), ({3: 10001}, ["floodgate", "bytes"]),
                   ({4: 1}, ["floodgate", "bytes"]), ({5: 2}, ["floodgate"]))
        for change, wrong in changes:
            judged = run(*({**dict(enumerate(good)), **change}[n] for n in range(5)), change.get(5, 1))
            runs = {}
            for law in "ab":
                # whose own is without pauses if it is the other one's: nothing of it may be used
                for scheme, files in ("dcqcn", run(*without)), ("floodgate-dcqcn", judged), ("bytes-dcqcn", judged), \
                        ("ideal-dcqcn", run(*ideal)), ("hpcc", run(*without)), ("floodgate-hpcc", run(*good)):
                    runs[f"{scheme}-law{law}-s1"] = files
            status, rows, said = self.of_runs("workloads", text, runs)
            self.assertEqual(([(r["law"], r["scheme"]) for r in rows if not r["met"]], status, said),
                             ([(law, f"{kind}-dcqcn") for law in "ab" for kind in wrong], 1 if wrong else 0, ""), (change, rows))
        del runs["dcqcn-lawb-s1"]
        self.assertEqual(self.of_runs("workloads", text, runs), (1, [], "claims: DIR: there is no run of dcqcn with law b\n"))
        runs["dcqcn-lawb-s1"] = run(*without[:4], 0)
        runs["ideal-dcqcn-lawb-s1"] = run(*ideal[:4], 1)
        _, rows, _ = self.of_runs("workloads", text, runs)
        self.assertEqual([r["met"] for r in rows if r["law"] == "b" and r["scheme"] in ("dcqcn", "ideal-dcqcn")], [False, False])

    def test_interval(self):
        """Floodgate, Fig. 17: by the time between credits, and by what delays them"""
        schemes = ("t2", "t10", "t40", "d1", "d38")
        text = "topology leaf-spine racks 2 hosts 1 spines 1 rate 8gbit\nworkload w --law google_allrpc --load 0.5\nframes\n" + \
               "".join(f"scheme {name} floodgate\n" for name in schemes)
        # bytes of control frames, a small flow, the incast, ToR-Up, core, ToR-Down, credits delayed
        good = {"t2": (30, 1000, 9000, 300, 100, 100, 0), "t10": (20, 1000, 9000, 200, 200, 200, 0), "t40": (10, 2001, 9000, 100, 300, 300, 0),
                "d1": (20, 1000, 9000, 200, 200, 200, 1), "d38": (20, 1000, 9000, 200, 200, 200, 0)}
        def files(control, small, last, up, core, down, delayed):
            ports = {box: [{"kind": "floodgate", "root": True, "drops": 0, "dev": dev, "backlog_max": most, "delayed": late}]
                     for box, dev, most, late in (("lab-tor2", "spine1", up, delayed), ("lab-spine1", "tor1", core, 0))}
            ports["lab-tor1"] = [{"kind": "floodgate", "root": True, "drops": 0, "dev": "h1", "backlog_max": down, "delayed": 0}]
            return {"flows.csv": [f"1,0,1000,small,0,{small}", f"1,0,1000,incast,0,{last}"], "ports.json": json.dumps(ports),
                    "waits.csv": "from_layer,to_layer,label,packets,sum_ns,p50_ns,p99_ns,max_ns\n",
                    "frames.csv": "port,from_layer,to_layer,kind,frames,bytes\ntor2.spine1,1,2,data,9,9000\n"
                                  f"spine1.tor2,2,1,balances,1,{control}\n"}
        for scheme, at, value, wrong in (("t2", 0, 30, []), ("t10", 0, 30, ["t10"]), ("t10", 3, 300, ["t10", "d1", "d38"]), ("t10", 4, 100, ["t10", "d1", "d38"]),
                                         ("t10", 5, 100, ["t10", "d1", "d38"]), ("t40", 1, 2000, ["t40"]), ("t10", 1, 989, ["t10", "d1", "d38"]),
                                         ("d1", 1, 1011, ["d1"]), ("d1", 2, 9100, ["d1"]), ("d1", 3, 221, ["d1"]), ("d1", 4, 231, ["d1"]),
                                         ("d1", 5, 203, ["d1"]), ("d1", 6, 0, ["d1"]), ("d38", 6, 1, ["d38"]), ("d1", 3, 219, []), ("d1", 4, 229, [])):
            runs = {f"{name}-s1": files(*(value if (name, n) == (scheme, at) else figure for n, figure in enumerate(figures)))
                    for name, figures in good.items()}
            status, rows, said = self.of_runs("interval", text, runs)
            self.assertEqual(([r["scheme"] for r in rows if not r["met"]], status, said), (wrong, 1 if wrong else 0, ""), (scheme, at, value, rows))

    def test_thresholds(self):
        """FlowSail, Fig. 18: the larger a threshold, the more waits at all ports; Q_h of 3 (l1) and 4 are the same within 15 %"""
        schemes = ("l0.5", "l1", "l2", "l3", "h1", "h2", "h4", "h8")
        text = "topology leaf-spine racks 2 hosts 1 spines 1 rate 8gbit\nworkload w --incast {degree}:-:0\nvary degree 50\nsample 1us\n" + \
               "".join(f"scheme {name} flowsail\n" for name in schemes)
        good = dict(zip(schemes, (900, 1000, 1300, 1400, 800, 900, 1149, 1200)))
        for change, wrong in (({}, []), ({"l0.5": 1000}, ["l1"]), ({"l2": 1000}, ["l2"]), ({"l3": 1300}, ["l3"]), ({"h1": 900}, ["h2"]),
                              ({"h4": 1151}, ["h4"]), ({"h8": 1149}, ["h8"]), ({"h4": 1000}, ["h4"])):
            runs = {f"{scheme}-degree50-s1": {
                "flows.csv": ["1,0,1000,incast,0,20000", "1,0,1000,-,10000,20000"],
                "samples.csv": f"t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n0,tor1.h1,{held},0,0\n20000,tor1.h1,0,0,0\n"}
                for scheme, held in {**good, **change}.items()}
            status, rows, said = self.of_runs("flowsail18", text, runs)
            self.assertEqual(([r["scheme"] for r in rows if not r["met"]], status, said), (wrong, 1 if wrong else 0, ""), (change, rows))

    def of_flows(self, which, lines, runs, ports=None):
        """Exit status and rows: runs as {KEY: [(bytes, class, done)]}, of flows that begin at 0 from h1 to r1; ports as
        {KEY: [figures of a qdisc of s1]}."""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in ("path", f"{directory}/x.lab\n"), ("experiment.lab", "topology star senders 2 rate 8gbit\n" + lines):
                with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
                    f.write(text)
            for key, flows in runs.items():
                os.makedirs(f"{directory}/runs/{key}")
                with open(f"{directory}/runs/{key}/run.json", "w", encoding="utf-8") as f:
                    f.write("{}")
                with open(f"{directory}/runs/{key}/flows.csv", "w", encoding="utf-8") as f:
                    f.write("flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,timeouts\n")
                    f.writelines(f"{n},0,2,{size},{priority},-,0,{done},,1,0,0\n" for n, (size, priority, done) in enumerate(flows))
                if ports:
                    with open(f"{directory}/runs/{key}/ports.json", "w", encoding="utf-8") as f:
                        json.dump({"lab-s1": [{"root": True, **qdisc} for qdisc in ports[key]]}, f)
            done = subprocess.run([f"{ROOT}/selftests/lab/claims", "--json", which, directory],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)

    def test_priorities(self):
        """Of flows of one size, so that times are as slowdowns"""
        def runs(classes, none=(5000, 5000, 5000, 5000)):
            return {f"{scheme}-s1": [(1000, priority, done) for priority, done in zip((3, 2, 1, 0), times)]
                    for scheme, times in (("flowsail", classes), ("flowsail-1", (4000, 6000, 9000, 13500)), ("flowsail-one", none))}
        lines = "workload w --law x\nscheme flowsail\nscheme flowsail-1 flowsail\nscheme flowsail-one flowsail\n"
        for classes, none, wrong in (
                ((4000, 5200, 7000, 14000), (5000,) * 4, []),
                ((4000, 5199, 7000, 14000), (5000,) * 4, [("flowsail", 2)]),       # as fast as the one above
                ((4000, 5200, 7000, 14001), (5000,) * 4, [("flowsail", 0)]),
                ((7000, 5200, 4000, 3000), (5000,) * 4, [("flowsail", p) for p in (3, 2, 1, 0)]),
                ((5000, 6500, 9000, 14000), (5000,) * 4, [("flowsail", 3)]),       # no faster than without classes
                ((4000, 5200, 7000), (5000,) * 4, [("flowsail", 3)]),              # a priority is missing
                ((4000, 5200, 7000, 14000), (5000, 5500, 5500, 5500), [("flowsail-one", 2)])):
            status, rows = self.of_flows("flowsail19", lines, runs(classes, none))
            self.assertEqual([(r["scheme"], r["priority"]) for r in rows if not r["met"]], wrong)
            self.assertEqual(status, 1 if wrong else 0)
        self.assertEqual([r["flows"] for r in rows], [1] * 12)

    def test_short_beside_others(self):
        """Fig. 11: a third of what short flows have with others, and long ones no slower"""
        lines = "workload w --law x\nbins 10kB 100kB\n" + "".join(
            f"scheme {name} {base}\n" for name, base in (("dctcp", "dctcp-pfc"), ("hpcc", ""), ("flowsail", "")))
        for short, long, met in ((3000, 5000, True), (3001, 5000, False), (3000, 5001, False), (1000, 1000, True)):
            status, rows = self.of_flows("flowsail11", lines, {f"{scheme}-s1": [(1000, 0, 10 * a), (200000, 0, 100 * b)] for scheme, a, b in (
                ("dctcp", 9000, 5200), ("hpcc", 12000, 7000), ("flowsail", short, long))})
            self.assertEqual([r["met"] for r in rows], [True, True, met])
            self.assertEqual(status, 0 if met else 1)

    def test_without_incasts(self):
        """Fig. 12: at a load of 60 % or more long flows are 1.5 times faster than with HPCC, at less 1.25 times"""
        lines = "workload w --law x --load {load}\nvary load 0.4 0.6\nbins 10kB 100kB\nscheme dcqcn\nscheme hpcc\nscheme bfc-paper bfc\nscheme flowsail\n"
        for load, short, long, met in ((0.6, 1000, 4000, True), (0.6, 1000, 4001, False), (0.4, 1000, 4800, True), (0.4, 1000, 4801, False),
                                       (0.4, 1001, 4000, False), (0.4, 1000, 5999, False)):
            status, rows = self.of_flows("flowsail12", lines, {f"{scheme}-load{load}-s1": [(1000, 0, 10 * a), (200000, 0, 100 * b)] for scheme, a, b in (
                ("dcqcn", 3000, 7000), ("hpcc", 1000, 6000), ("bfc-paper", 1000, 4800), ("flowsail", short, long))})
            self.assertEqual((rows[-1]["met"], status), (met, 0 if met else 1), (load, short, long))

    def test_mix(self):
        """Section IV-D: pfc everywhere, and above flowsail only; in the larger buffer no link is paused"""
        lines = "workload w --law x\nvary buffer 1MB 12MB\nbuffer {buffer}\nscheme pfc\nscheme flowsail-pfc\nscheme flowsail\n"
        good = {"1MB": (4999, 4999, 1, 0), "12MB": (500, 500, 0, 0)}
        for change, wrong in (({}, []), ({"1MB": (5000, 4999, 1, 0)}, ["1MB"]), ({"1MB": (4999, 10000, 1, 0)}, ["1MB"]),
                              ({"1MB": (4999, 4999, 0, 0)}, ["1MB"]), ({"12MB": (500, 1000, 0, 0)}, ["12MB"]),
                              ({"12MB": (500, 500, 1, 0)}, ["12MB"]), ({"12MB": (500, 500, 0, 1)}, ["12MB"])):
            runs, ports = {}, {}
            for size, (mean, short, paused, drops) in {**good, **change}.items():
                for scheme, slow in ("pfc", (10000, 10000)), ("flowsail-pfc", (mean, short)), ("flowsail", (500, 500)):
                    key = f"{scheme}-buffer{size}-s1"
                    # what is not short takes as long that the mean of both slowdowns is as said
                    runs[key] = [(1000, 0, slow[1]), (1001000, 0, 1000 * (2 * slow[0] - slow[1]))]
                    ports[key] = [{"kind": "pfc", "dev": "h1", "drops": drops, "port": {"pauses_tx": paused if scheme == "flowsail-pfc" else 1}},
                                  {"kind": "flowsail", "dev": "h2", "drops": 0, "pfc_sent": 0}]
            status, rows = self.of_flows("flowsailmix", lines, runs, ports)
            found = [r["buffer"] for r in rows if not r["met"] and r["scheme"] == "flowsail-pfc"]
            self.assertEqual((found, status), (wrong, 1 if wrong else 0), (change, rows))

    def test_incasts(self):
        """Fig. 16: short flows beside bfc's by the paper and bfc, long ones beside those with 32 sub-queues"""
        def runs(degree, short, long, short_1=1000, bfc=1000, many=1000):
            return {f"{scheme}-degree{degree}-s1": [(1000, 0, 10 * a), (200000, 0, 1000 * b)] for scheme, a, b in (
                ("bfc-paper", 3000, 900), ("bfc-paper-32", many, 500), ("bfc", bfc, 500), ("flowsail", short, long),
                ("flowsail-1", short_1, 2000))}
        lines = "workload w --incast {degree}:1MB:0\nvary degree 10 100\n" + "".join(
            f"scheme {name} {base}\n" for name, base in (("bfc-paper", "bfc"), ("bfc-paper-32", "bfc"), ("bfc", ""), ("flowsail", ""),
                                                         ("flowsail-1", "flowsail")))
        for degree, what, wrong in ((100, (1000, 500), []), (100, (1001, 500), ["flowsail"]), (100, (1000, 501), ["flowsail"]),
                                    (100, (1000, 500, 1001), ["flowsail-1"]), (100, (1000, 500, 1000, 980), ["flowsail"]),
                                    (100, (1000, 500, 1000, 981), []), (100, (1000, 500, 1000, 1000, 999), ["flowsail"]),
                                    (10, (9000, 9000, 9000, 9000), []), (10, (9000, 9000, 9000, 8000), ["flowsail"])):
            status, rows = self.of_flows("flowsail17", lines, runs(degree, *what))
            self.assertEqual(([r["scheme"] for r in rows if not r["met"]], status), (wrong, 1 if wrong else 0), (degree, what))

    def test_few_sub_queues(self):
        """Fig. 17: the mean with 2, long flows with 8 beside bfc's 32, and short ones beside as many of bfc"""
        lines = "workload w --law x\nvary queues 2 8 32\nscheme bfc-paper bfc queues={queues}\nscheme bfc\nscheme flowsail\nscheme flowsail-1 flowsail\n"
        for change, wrong in (({}, []), ({("flowsail", 2): (1000, 1002)}, [("2", "flowsail")]), ({("flowsail-1", 2): (1002, 1000)}, [("2", "flowsail-1")]),
                              ({("flowsail", 8): (1000, 1501)}, [("8", "flowsail")]), ({("flowsail-1", 8): (9000, 9000)}, []),
                              ({("bfc", 32): (980, 1500)}, [("32", "flowsail")]), ({("bfc", 32): (981, 1500)}, [])):
            figures = {**{(scheme, queues): pair for queues in (2, 8, 32) for scheme, pair in (
                ("bfc-paper", (2000, 2000)), ("bfc", (1000, 1500)), ("flowsail", (1000, 1000)), ("flowsail-1", (1000, 1000)))}, **change}
            status, rows = self.of_flows("flowsail17", lines, {
                f"{scheme}-queues{queues}-s1": [(1000, 0, 10 * short), (200000, 0, 1000 * long)] for (scheme, queues), (short, long) in figures.items()})
            self.assertEqual(([(r["queues"], r["scheme"]) for r in rows if not r["met"]], status), (wrong, 1 if wrong else 0), change)

    def test_many_draws(self):
        """Fig. 17: 8 sub-queues beside bfc's 32, short flows and long ones"""
        lines = "workload w --law x\nbins 10kB 100kB\nscheme bfc-paper-32 bfc\nscheme bfc-32 bfc\nscheme flowsail\nscheme flowsail-1 flowsail\n"

        def runs(short, long, short_1, bfc=2000):
            return {f"{scheme}-s1": [(1000, 0, 10 * a), (200000, 0, 1000 * b)] for scheme, a, b in (
                ("bfc-paper-32", 1000, 1000), ("bfc-32", bfc, 1000), ("flowsail", short, long), ("flowsail-1", short_1, 3000))}
        for what, wrong in (((1249, 1000, 1499), []), ((1251, 1000, 1499), ["flowsail"]), ((1249, 1001, 1499), ["flowsail"]),
                            ((1249, 1000, 1501), ["flowsail-1"]), ((1249, 1000, 1499, 1248), ["flowsail"])):
            status, rows = self.of_flows("flowsail17draws", lines, runs(*what))
            self.assertEqual(([r["scheme"] for r in rows if not r["met"]], status), (wrong, 1 if wrong else 0), what)

    def test_isolation(self):
        """Long flows with one sub-queue for isolation, and short ones with one for each flow"""
        def runs(one, each, root):
            return {f"{scheme}-s1": [(1000, 0, 10 * a), (200000, 0, 1000 * b)] for scheme, a, b in (
                ("flowsail", 1000, 1000), ("isolation-1", 1000, one), ("isolation-flow", each, 1000), ("root", 1000, root))}
        lines = "workload w --law x\nbins 10kB 100kB\n" + "".join(
            f"scheme {name} flowsail\n" for name in ("flowsail", "isolation-1", "isolation-flow", "root"))
        for what, wrong in (((2001, 2001, 981), []), ((2000, 2001, 981), ["isolation-1"]), ((2001, 2000, 981), ["isolation-flow"]),
                            ((2001, 2001, 980), ["flowsail"])):
            status, rows = self.of_flows("flowsailisolation", lines, runs(*what))
            self.assertEqual(([r["scheme"] for r in rows if not r["met"]], status), (wrong, 1 if wrong else 0), what)

    def test_no_end_of_buffer(self):
        both = ["rocc-pfc", "rocc-free rocc"]
        for what, met in ({"done": 2199}, True), ({"done": 2201}, False), ({"queue": 490000}, True), \
                ({"queue": 500000}, False):
            status, rows = self.claims("rocc18", both, {"rocc-pfc": {}, "rocc-free": what})
            self.assertEqual((status, rows["rocc-free"]["met"]), (0 if met else 1, met), what)

    def test_little_buffer(self):
        both = ["rocc-pfc", "rocc"]
        for what, met in ({}, True), ({"done": 2199}, True), ({"done": 2201}, False), ({"resent": 1}, False):
            status, rows = self.claims("rocc20", both, {"rocc-pfc": {}, "rocc": what})
            self.assertEqual((status, rows["rocc"]["met"]), (0 if met else 1, met), what)
            self.assertEqual(rows["rocc"]["% sent again"], 10 * what.get("resent", 0))


if __name__ == "__main__":
    class Result(unittest.TextTestResult):
        """Ends as the other suites do."""

        def stopTestRun(self):
            bad = len(self.failures) + len(self.errors)
            print(f"\n{self.testsRun - bad - len(self.skipped)} passed, {bad} failed, "
                  f"{len(self.skipped)} skipped")

    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Result, stream=sys.stdout))
