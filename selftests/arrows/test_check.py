#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `check` finds in small trees, and what it does not."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
CHECK = os.path.join(HERE, "check")

loader = importlib.machinery.SourceFileLoader("check", CHECK)
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
loader.exec_module(check)

# Two kinds on what they share, on what two boxes tell each other: nothing to find
HOUSE = {
    "kernel/uapi/bfc.h": "enum { BFC_A };\n",
    "kernel/hopctl/hopctl.h": '#include "../uapi/bfc.h"\n'
                              "struct hop_ops { void (*kick)(void *sch); };\n"
                              "void hop_add(const struct hop_ops *ops);\nvoid hop_send(int port);\n"
                              "extern struct mutex hop_mutex;\nextern int hop_ports;\n"
                              "DECLARE_PER_CPU(int, hop_turn);\n",
    "kernel/hopctl/port.c": '#include "hopctl.h"\n'
                            "void hop_add(const struct hop_ops *ops)\n{\n\tops->kick(ops);\n\thop_send(1);\n}\n",
    "kernel/hopctl/tx.c": '#include "hopctl.h"\nDEFINE_MUTEX(hop_mutex);\nDEFINE_PER_CPU(int, hop_turn);\n'
                          "static int a, b;\nint hop_ports __read_mostly = 1;\n"
                          "void hop_send(int port) __must_hold(port)\n{\n}\n",
    "kernel/sched/drr.h": '#include "../hopctl/hopctl.h"\nstatic inline void drr_next(void)\n{\n\thop_send(0);\n}\n',
    "kernel/bfc/bfc.h": '#include "../sched/drr.h"\nint bfc_mark(int a);\n',
    "kernel/bfc/main.c": '#include "bfc.h"\nstatic int kick(int a)\n{\n\treturn bfc_mark(a);\n}\n'
                         "static const struct hop_ops ops = { .kick = kick };\n"
                         "static int init(void)\n{\n\thop_add(&ops);\n}\nmodule_init(init);\n",
    "kernel/bfc/mark.c": '#include "bfc.h"\nint bfc_mark(int a)\n{\n\tdrr_next();\n\treturn BFC_A;\n}\n',
    "kernel/rocc/main.c": '#include "../sched/drr.h"\nstatic void kick(void)\n{\n\tdrr_next();\n}\n',
    "tc-plugin/plugin.h": "void print_string(const char *s);\nvoid print_list(void);\n",
    "tc-plugin/q_bfc.c": '#include "../kernel/uapi/bfc.h"\n#include "plugin.h"\n'
                         "void q_bfc(void)\n{\n\tprint_string(BFC_A);\n}\n",
    "userspace/common/verbs.h": "void die(void);\n",
    "userspace/common/verbs.c": '#include "verbs.h"\nvoid die(void)\n{\n}\n',
    "userspace/sluice/main.c": '#include "../common/verbs.h"\n#include "../../tc-plugin/plugin.h"\n'
                               "void print_string(const char *s)\n{\n\tdie();\n}\n",
}


class Planted(unittest.TestCase):
    def found(self, **changed):
        """What is found in the house with files changed"""
        with tempfile.TemporaryDirectory() as root:
            for name, text in (HOUSE | changed).items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                    f.write(text)
            return check.findings(check.Tree(root))

    def change(self, name, more):
        """The house with more at the end of a file"""
        return self.found(**{name: HOUSE.get(name, "") + more})

    def test_house(self):
        self.assertEqual(self.found(), [])

    def test_include_points_up(self):
        for name, include, there in (
                ("kernel/sched/drr.h", "../bfc/bfc.h", "kernel/bfc/bfc.h"),
                ("kernel/hopctl/hopctl.h", "../sched/drr.h", "kernel/sched/drr.h"),
                ("kernel/uapi/bfc.h", "../hopctl/hopctl.h", "kernel/hopctl/hopctl.h"),
                ("kernel/wire/wire.c", "../bfc/bfc.h", "kernel/bfc/bfc.h"),
                ("tc-plugin/q_bfc.c", "../kernel/sched/drr.h", "kernel/sched/drr.h"),
                ("tc-plugin/q_bfc.c", "../userspace/common/verbs.h", "userspace/common/verbs.h"),
                ("userspace/common/verbs.c", "../../tc-plugin/plugin.h", "tc-plugin/plugin.h"),
                ("userspace/sluice/main.c", "../../kernel/hopctl/hopctl.h", "kernel/hopctl/hopctl.h")):
            found = self.change(name, f'#include "{include}"\n')
            self.assertIn(f"points up: {name} -> {there}: #include", found)

    def test_kind_includes_kind(self):
        self.assertEqual(self.change("kernel/rocc/main.c", '#include "../bfc/bfc.h"\n'),
                         ["points up: kernel/rocc/main.c -> kernel/bfc/bfc.h: #include"])
        self.assertEqual(self.change("kernel/sch_rocc.c", '#include "bfc/bfc.h"\n'),
                         ["points up: kernel/sch_rocc.c -> kernel/bfc/bfc.h: #include"])

    def test_program_includes_program(self):
        self.assertEqual(self.found(**{"userspace/flowgen/flowgen.h": "",
                                       "userspace/sluice/main.c": '#include "../flowgen/flowgen.h"\n'}),
                         ["points up: userspace/sluice/main.c -> userspace/flowgen/flowgen.h: #include"])

    def test_call_points_up(self):
        declared = "int bfc_mark(int a);\n"
        call = "void hop_later(void)\n{\n\tbfc_mark(1);\n}\n"
        self.assertEqual(self.change("kernel/hopctl/port.c", declared + call),
                         ["points up: kernel/hopctl/port.c -> kernel/bfc/mark.c: bfc_mark"])
        self.assertEqual(self.change("kernel/sched/drr.h", declared + "static inline " + call),
                         ["points up: kernel/sched/drr.h -> kernel/bfc/mark.c: bfc_mark"])
        self.assertEqual(self.change("kernel/hopctl/port.c", declared + "#define LATER(a) \\\n\tbfc_mark(a)\n"),
                         ["points up: kernel/hopctl/port.c -> kernel/bfc/mark.c: bfc_mark"])

    def circle(self, more, name):
        """port.c calls tx.c in the house: with this in tx.c they are in a circle"""
        self.assertEqual(self.found(**{
            "kernel/hopctl/hopctl.h": HOUSE["kernel/hopctl/hopctl.h"] + "void (*hop_hook(int a))(int);\n"
            "static inline void hop_twice(int a)\n{\n\thop_add(0);\n}\n#define HOP_TWICE(a)\thop_twice(a)\n",
            "kernel/hopctl/tx.c": HOUSE["kernel/hopctl/tx.c"] + more}),
            ["in a circle: kernel/hopctl/port.c -> kernel/hopctl/tx.c: hop_send",
             f"in a circle: kernel/hopctl/tx.c -> kernel/hopctl/port.c: {name}"] if name else [])

    def test_circle(self):
        for more in ("int hop_x(int a)\n{\n\treturn hop_add(a);\n}\n",
                     "static noinline int hop_x(int a) __must_hold(a)\n{\n\tif (a) {\n\t\thop_add(a);\n\t}\n}\n",
                     "__printf(1, 2) int hop_x(int a)\n{\n\thook = hop_add;\n}\n",
                     "static const struct ops ops = { .add = hop_add };\n",
                     "static void (*hook)(int) = hop_add;\n",
                     "#if A\nint f(void)\n{\n\treturn 0;\n}\n#else\nint f(void)\n{\n\thop_add(0);\n}\n#endif\n",
                     "SEC_ONE(hop_twice)\nstatic int f(void)\n{\n\treturn hop_twice(1);\n}\n",
                     "static int f(void)\n{\n\tHOP_TWICE(1);\n}\n"):
            self.circle(more, "hop_add")

    def test_no_circle(self):
        for more in ('static const char *name = "hop_add() \\" hop_add";\n',
                     "static int f(void)\n{\n\t/* hop_add() */\n\treturn 0;\t// hop_add();\n}\n",
                     "static int f(void)\n{\n\treturn a->hop_add + a.hop_add(1);\n}\n",
                     "struct ops { int (*hop_add)(int); };\n", "enum { hop_add = 1 };\n",
                     "static int hop_add(int a)\n{\n\treturn hop_add(a);\n}\n",
                     "void hop_add(const struct hop_ops *ops);\n"):
            self.circle(more, None)

    def test_variables(self):
        for name in ("hop_mutex", "hop_turn", "hop_ports"):
            self.assertEqual(self.found(**{
                "kernel/hopctl/port.c": '#include "hopctl.h"\nvoid hop_add(const struct hop_ops *ops)\n{\n\tlock(&'
                                        + name + ");\n}\n",
                "kernel/hopctl/tx.c": HOUSE["kernel/hopctl/tx.c"] + "int f(void)\n{\n\thop_add(0);\n}\n"}),
                [f"in a circle: kernel/hopctl/port.c -> kernel/hopctl/tx.c: {name}",
                 "in a circle: kernel/hopctl/tx.c -> kernel/hopctl/port.c: hop_add"])

    def test_circle_of_headers(self):
        self.assertEqual(self.found(**{"kernel/bfc/a.h": '#include "b.h"\n', "kernel/bfc/b.h": '#include "a.h"\n'}),
                         ["in a circle: kernel/bfc/a.h -> kernel/bfc/b.h: #include",
                          "in a circle: kernel/bfc/b.h -> kernel/bfc/a.h: #include"])

    def test_names_of_several_programs(self):
        die = '#include "own.h"\nvoid die(void)\n{\n}\nstatic void print_list(void)\n{\n}\n'
        plugin = '#include "../../tc-plugin/plugin.h"\n'
        show = "void print_string(const char *s)\n{\n}\n"
        use = "static int f(void)\n{\n\tdie();\n\tprint_string(0);\n\tprint_list();\n}\n"
        self.assertEqual(self.found(**{
            "userspace/aa/own.h": "void die(void);\n",
            "userspace/aa/die.c": die,
            "userspace/aa/main.c": '#include "own.h"\nint main(void)\n{\n\tdie();\n}\n',
            "userspace/aa/tc.c": plugin + show,
            "userspace/sluice/show.c": plugin + '#include "../common/verbs.h"\n' + use}), [])

    def order(self, *rows, head="kernel/hopctl/hopctl.h"):
        """What is found with a list of hopctl's files in a comment"""
        text = "/*\n" + "".join(f" *   {row}\n" for row in rows) + f" *\n * {check.ORDER} More.\n */\n"
        return self.found(**{head: text + HOUSE.get(head, "")})

    def test_order(self):
        good = "port.c   ports\n *            and more", "tx.c, .h   what is sent"
        call = "kernel/hopctl/port.c -> kernel/hopctl/tx.c: hop_send"
        head = "kernel/hopctl/hopctl.h"
        self.assertEqual(self.order(*good), [])
        self.assertEqual(self.order("hopctl.h   this", *good), [])
        self.assertEqual(self.order("tx.c, port.c   all"), [])
        self.assertEqual(self.order("tx.c   what is sent", "port.c   ports"), [f"against the order in {head}: {call}"])
        self.assertEqual(self.order("tx.c   what is sent"), [f"{head} does not list kernel/hopctl/port.c"])
        self.assertEqual(self.order("old.c   ports", *good), [f"{head} lists old.c, which is not there"])

    def test_order_in_main(self):
        head = "kernel/hopctl/main.c"
        self.assertEqual(self.order("port.c   ports", "tx.c   what is sent", head=head), [])
        self.assertEqual(self.order("port.c   ports", head=head), [f"{head} does not list kernel/hopctl/tx.c"])
        # what is without the words is no list
        self.assertEqual(self.found(**{head: "/*\n *   port.c   ports\n */\n"}), [])

    def test_lost_include(self):
        self.assertEqual(self.change("kernel/bfc/main.c", '#include "gone.h"\n'),
                         ["kernel/bfc/main.c includes gone.h, which is not in the tree"])
        self.assertEqual(self.change("kernel/bfc/main.c", '#include "kernel_shim.h"\n'), [])

    def test_not_understood(self):
        for text in ("int f(void)\n{\n", "int f(void\n"):
            with self.assertRaises(SystemExit):
                self.found(**{"kernel/bfc/main.c": text})

    def test_command(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "kernel/sched"))
            os.makedirs(os.path.join(root, "kernel/bfc"))
            for name, text in (("kernel/bfc/bfc.h", ""), ("kernel/sched/a.h", '#include "../bfc/bfc.h"\n')):
                with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                    f.write(text)
            run = subprocess.run([CHECK, "--root", root], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stdout),
                             (1, "points up: kernel/sched/a.h -> kernel/bfc/bfc.h: #include\n"))
            os.remove(os.path.join(root, "kernel/sched/a.h"))
            self.assertEqual(subprocess.run([CHECK, "--root", root], capture_output=True, check=False).returncode, 0)
            os.remove(os.path.join(root, "kernel/bfc/bfc.h"))
            self.assertNotEqual(subprocess.run([CHECK, "--root", root], capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
