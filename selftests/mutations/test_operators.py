#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `operators` draws and what becomes of it; nothing is built here."""

import collections
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import mutate  # noqa: E402

loader = importlib.machinery.SourceFileLoader("operators", os.path.join(HERE, "operators"))
operators = importlib.util.module_from_spec(importlib.util.spec_from_loader("operators", loader))
loader.exec_module(operators)


def function(*lines):
    return "static int f(int a)\n{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"


def changes(*lines, operator=None):
    """What becomes of a function's lines, all mutants of it"""
    text = function(*lines)
    found = []
    for place in mutate.places(text):
        if operator in (None, place.operator):
            inside = mutate.apply(text, place).splitlines()[2:-1]
            found.append(" ".join(" ".join(inside).split()))
    return found


class Operators(unittest.TestCase):
    def is_(self, lines, operator, *wanted):
        lines = [lines] if isinstance(lines, str) else lines
        self.assertEqual(sorted(changes(*lines, operator=operator)), sorted(wanted))

    def test_comparison(self):
        for one, other in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "==")):
            self.is_(f"return a {one} b;", "comparison", f"return a {other} b;")
        for none in ("a <<= b;", "a = b << c >> d;", "p->x = !a;", "return a->b;"):
            self.is_(none, "comparison")

    def test_sign(self):
        self.is_("x = a + b;", "sign", "x = a - b;")
        self.is_("x = a[1] - (b);", "sign", "x = a[1] + (b);")
        self.is_("x = f(a) - b;", "sign", "x = f(a) + b;")
        self.is_("x += a;", "sign", "x -= a;")
        self.is_("x->n++;", "sign", "x->n--;")
        self.is_("--x;", "sign", "++x;")
        self.is_("x = a->b;", "sign")

    def test_sign_of_one_side(self):
        self.is_("return -EINVAL;", "sign", "return EINVAL;")
        self.is_("x = (s32)-y;", "sign", "x = (s32)y;")
        self.is_("x = f(-1);", "sign", "x = f(1);")

    def test_no_sign_that_counts_a_loop(self):
        self.is_(["for (i = 0; i < n; i++) {", "x++;", "}"], "sign", "for (i = 0; i < n; i++) { x--; }")

    def test_constant(self):
        self.is_("return 0;", "constant", "return 1;")
        self.is_("return 64U;", "constant", "return 65U;")
        self.is_("x = true;", "constant", "x = false;")
        self.is_("x = a & 0x3f;", "constant", "x = a & 0x3e;")
        self.is_("x = a & 0x8000UL;", "constant", "x = a & 0x10000UL;")
        self.is_("x = y2 + u64_stats;", "constant")

    def test_unit(self):
        self.is_("x = a * 8;", "unit", "x = a ;")
        self.is_("x = 8 * a;", "unit", "x = a;")
        self.is_("x = a >> 3;", "unit", "x = a ;")
        self.is_("x = a * NSEC_PER_USEC;", "unit", "x = a * NSEC_PER_MSEC;")
        self.is_("x = a / 1000000U;", "unit", "x = a / 1000U;")
        self.is_("x = ntohs(h->port);", "unit", "x = (h->port);")
        self.is_("x = get_unaligned_be32(p);", "unit", "x = get_unaligned_le32(p);")
        self.is_("x = a * 80;", "unit")
        self.is_("x = 1000000U;", "constant")

    def test_order_of_statements(self):
        self.is_(["p->x = 1;", "q = p->x;"], "order", "q = p->x; p->x = 1;")
        self.is_(["f(p);", "g(p);"], "order", "g(p); f(p);")
        self.is_(["WRITE_ONCE(p->x, p->y);", "p->y = 0;"], "order", "p->y = 0; WRITE_ONCE(p->x, p->y);",
                 "WRITE_ONCE(p->y, p->x); p->y = 0;")
        self.is_(["p->x = 1;", "/* why */", "q = p->x;"], "order", "q = p->x; /* why */ p->x = 1;")

    def test_no_order_that_says_nothing(self):
        self.is_(["a = 1;", "b = 2;"], "order")                                # independent
        self.is_(["spin_lock(&p->lock);", "f(p);"], "order")                   # between CPUs
        self.is_(["if (x)", "a = 1;", "b = a;"], "order")                      # the first is no statement of the block
        self.is_(["a = 1;", "return a;"], "order")
        self.is_(["a->x = ntohs(b->x);", "a->y = ntohs(b->y);"], "order")      # these change nothing that they are given
        self.is_(["u32 x = f(p);", "u32 y = g(p);"], "order")
        self.is_(["hash_for_each(x)", "f(x);", "g(x);"], "order")

    def test_order_of_arguments(self):
        self.is_("f(a, b);", "order", "f(b, a);")
        self.is_("x = min(a, b);", "order")
        self.is_("f(&a, b);", "order")
        self.is_("f(a, a);", "order")
        self.is_(["struct x *p = g();", "f(p, n);"], "order")                   # does not compile
        self.is_(["struct x *p, *q;", "struct y *r;", "f(p, r, q);"], "order")
        self.is_(["struct x *p, *q;", "f(p, q);"], "order", "struct x *p, *q; f(q, p);")

    def test_order_of_arms(self):
        self.is_("if (p && p->x) y = 1;", "order", "if (p->x && p) y = 1;")
        self.is_("if (!p || p->x > 2) y = 1;", "order", "if (p->x > 2 || !p) y = 1;")
        self.is_("while (i < n && a[i]) y = 1;", "order", "while (a[i] && i < n) y = 1;")
        self.is_("if (a && b) y = 1;", "order")


class Untouched(unittest.TestCase):
    TEXT = """// SPDX-License-Identifier: GPL-2.0-only
/* 1 < 2 in a comment */
#include <linux/x.h>
#define N	8	/* a comment
		 * that goes on: 1 + 1 */
#define M(a)	do {	\\
	x = a + 1;	\\
} while (0)

struct s {
	u8 bytes[16];
	int bits : 4;
};

static const int table[] = { 1, 2 };
MODULE_LICENSE("1 < 2");

/**
 * f - 1 + 1
 */
static int f(int a)
{
	/* 3 < 4 */
	u8 bytes[16];
	const char *s = "5 == 6 + 7", c = '+';	// 8 < 9
#if X > 4 + 1
	BUILD_BUG_ON(sizeof(a) > 4);
#endif
	lockdep_assert_held(&a[1]);
	WARN_ON_ONCE(a < 0);
	pr_debug("%d", a + 1);
	return s;
}
"""

    def test_nothing_of_it(self):
        self.assertEqual(mutate.places(self.TEXT), [])

    def test_all_of_it_is_told_apart(self):
        """Places of real sources are where these kinds of text are not."""
        for name, text in operators.sources().items():
            self.assertEqual("".join(t.text for t in mutate.tokens(text)), text, name)
            other = [(t.start, t.end) for t in mutate.tokens(text) if t.kind in ("comment", "string", "line")]
            for place in mutate.places(text):
                if place.operator != "order":
                    self.assertFalse([o for o in other if place.start < o[1] and o[0] < place.end], (name, place))
                self.assertTrue(place.body[0] < mutate.line_of(text, place.start) <= place.body[1], (name, place))
                self.assertNotEqual(place.function, "?")
                self.assertNotEqual(text[place.start:place.end], place.new)

    def test_only_modules(self):
        names = operators.sources()
        self.assertIn("kernel/hopctl/peer.c", names)
        self.assertIn("kernel/sched/drr.h", names)
        for name in names:
            self.assertNotRegex(name, r"compat/|uapi/|trace")


class Stream(unittest.TestCase):
    TEXTS = {"kernel/a.c": function("if (a < 1)", "return ntohs(a) + 2;", "f(a, 1);"),
             "kernel/b.c": function("x = a == 3;", "y = x * 8;")}

    def draw(self, seed, n, texts=None):
        by_operator = mutate.by_operator(texts or self.TEXTS)
        return [d for d, _ in zip(mutate.draws(seed, by_operator), range(n))]

    def test_same_seed_same_draw(self):
        self.assertEqual(self.draw("8e38c47", 50), self.draw("8e38c47", 50))
        self.assertNotEqual(self.draw("8e38c47", 50), self.draw("8e38c48", 50))

    def test_order_of_files_does_not_matter(self):
        turned = dict(reversed(self.TEXTS.items()))
        self.assertEqual(self.draw("x", 50), self.draw("x", 50, turned))

    def test_first_numbers(self):
        """They are SHA-256's, now and in other versions of Python."""
        self.assertEqual(mutate.number("seed", 3, "place"),
                         int(hashlib.sha256(b"seed:3:place").hexdigest()[:16], 16))
        self.assertEqual(mutate.number("seed", 0, "operator"), 10599962301827115065)

    def test_each_operator(self):
        drawn = collections.Counter(p.operator for _, _, p in self.draw("y", 1000))
        self.assertEqual(set(drawn), set(mutate.OPERATORS))
        for operator, times in drawn.items():
            self.assertTrue(150 < times < 250, (operator, times))       # 200; the seed is fixed


class Keys(unittest.TestCase):
    def key(self, text, operator="comparison"):
        place = next(p for p in mutate.places(text) if p.operator == operator)
        return mutate.key("kernel/a.c", text, place)

    def test_stays(self):
        text = function("b = 1;", "if (a < 2)", "return 3;", "return 4;")
        self.assertEqual(self.key(text), self.key("/* more */\n" + text))
        self.assertEqual(self.key(text), self.key(text.replace("return 4", "return 5")))
        self.assertEqual(self.key(text), self.key(text.replace("\tif", "\t\tif")))

    def test_goes_by_what_is_around(self):
        text = function("b = 1;", "if (a < 2)", "return 3;")
        for old, new in (("b = 1", "b = 2"), ("a < 2", "a < 3"), ("return 3", "return 4"), ("int f", "int g")):
            self.assertNotEqual(self.key(text), self.key(text.replace(old, new)), new)
        self.assertNotEqual(self.key(text), self.key(text, "constant"))


class Equivalents(unittest.TestCase):
    def parse(self, text):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            return operators.read_equivalents(file.name)

    def test_argument(self):
        self.assertEqual(self.parse("# x\n0123456789ab kernel/a.c, f(): a < b => a <= b\n\tnever\n\tequal\n"),
                         {"0123456789ab": "never equal"})

    def test_refusals(self):
        for text in ("0123456789ab f()\n", "\tnever\n", "f(): a\n\tnever\n",
                     "0123456789ab f()\n\tx\n0123456789ab f()\n\ty\n"):
            with self.assertRaises(operators.Refusal):
                self.parse(text)

    def test_the_file(self):
        operators.read_equivalents(operators.EQUIVALENT)


class Reached(unittest.TestCase):
    def reached(self, then, now, lines):
        """Of one file, whose lines were counted in the text `then`"""
        with tempfile.TemporaryDirectory() as place:
            os.makedirs(f"{place}/sources")
            name = hashlib.sha256(then.encode()).hexdigest()[:16]
            with open(f"{place}/sources/{name}", "w") as file:
                file.write(then)
            tests = [{"name": "net/wire.sh", "seconds": 9}, {"name": "net/ideal.sh", "seconds": 3},
                     {"name": "net/no-longer.sh", "seconds": 1}]
            files = {file: {name: lines} for file in ("kernel/a.c", "kernel/wire/a.c")}
            with open(f"{place}/reached.json", "w") as file:
                json.dump({"tests": tests, "files": files}, file)
            return operators.Reached(f"{place}/reached.json", {file: now for file in files})

    def of(self, reached, line, name="kernel/a.c"):
        return reached.of(name, line, line, (2, 6))

    def test_cheapest_first(self):
        text = function("a;", "b;", "c;")
        found = self.reached(text, text, {"3": [0, 1, 2], "4": [], "5": [0]})
        self.assertEqual(self.of(found, 3), ["net/ideal.sh", "net/wire.sh"])
        self.assertEqual(self.of(found, 3, "kernel/wire/a.c"), ["net/wire.sh", "net/ideal.sh"])
        self.assertEqual(self.of(found, 4), [])
        self.assertEqual(self.of(found, 5), ["net/wire.sh"])

    def test_a_line_that_the_compiler_has_not(self):
        """Then those beside it first, and all of the function"""
        text = function("a;", "b;", "c;")
        found = self.reached(text, text, {"3": [0], "5": [1]})
        self.assertEqual(self.of(found, 4), ["net/wire.sh", "net/ideal.sh"])

    def test_lines_that_have_moved(self):
        text = function("a;", "b;", "c;")
        found = self.reached(text, "/* more */\n" + text.replace("b;", "B;"), {"3": [0], "4": [1], "5": [1]})
        self.assertEqual(found.files["kernel/a.c"], {4: {0}, 6: {1}})

    def test_export(self):
        """From what gcov says of a program, with a line that it reaches and one that it does not"""
        with tempfile.TemporaryDirectory() as place:
            # As selftests/coverage has it: notes beside the objects, counts below the path of the build
            build, counts = f"{place}/build/uml", f"{place}/coverage/counts"
            os.makedirs(f"{build}/kernel/rocc")
            name = "kernel/rocc/cnp.c"
            with open(f"{build}/main.c", "w") as file:
                file.write('#include "kernel/rocc/cnp.c"\nint main(void) { return f(1); }\n')
            with open(f"{build}/{name}", "w") as file:
                file.write("static int f(int a)\n{\n\tif (a)\n\t\treturn 0;\n\treturn 1;\n}\n")
            subprocess.run(["gcc", "--coverage", "-O0", "-o", "main", "main.c"], cwd=build, check=True)
            subprocess.run(["./main"], cwd=build, check=True)
            os.makedirs(f"{counts}/wire/gcov{build}")
            for file in os.listdir(build):
                if file.endswith(".gcda"):
                    os.rename(f"{build}/{file}", f"{counts}/wire/gcov{build}/{file}")
            with open(f"{place}/log", "w") as file:
                file.write("ok   wire (6.1-gcov, 12 s)\n")
            subprocess.run([f"{HERE}/../coverage/reached", "--log", f"{place}/log", "--build", build, counts,
                            f"{place}/reached.json"], check=True)
            with open(f"{place}/reached.json") as file:
                found = json.load(file)
        self.assertEqual(found["tests"], [{"name": "net/wire.sh", "seconds": 12}])
        lines = next(iter(found["files"][name].values()))
        self.assertEqual({n: lines[n] for n in "345"}, {"3": [0], "4": [0], "5": []})


class Guests(unittest.TestCase):
    """What becomes of a mutant by how selftests/uml/run ends"""

    def try_all(self, script):
        """One mutant and one test, which passes without it"""
        with tempfile.TemporaryDirectory() as place:
            os.makedirs(f"{place}/uml")
            for name, text in ("settings", "timeout=60\n"), ("uml/run", f"#!/bin/sh\n{script}\n"):
                with open(f"{place}/{name}", "w") as file:
                    file.write(text)
            os.chmod(f"{place}/uml/run", 0o755)
            names = types.SimpleNamespace
            mutant = names(id="m", name="kernel/a.c", mutated="", first=1, last=1, modules=f"{place}/modules", logs=f"{place}/logs",
                           place=names(body=(1, 1), operator="sign"), ran=[], notes=[], where="kernel/a.c:1", verdict="", words="",
                           brief=lambda: "", result=lambda: "")
            for flavour in "plain", "debug":
                os.makedirs(f"{mutant.modules}/{flavour}")
            trial = operators.Trial.__new__(operators.Trial)
            trial.args, trial.texts, trial.units = names(skip=[], debug=False), {}, {}
            trial.flavours = names(get=lambda _: names(warnings=lambda *_: []), digest="")
            trial.reached = names(of=lambda *_: ["net/x.sh"], seconds={})
            with unittest.mock.patch.multiple(operators, SELFTESTS=place, BUILD=place, RESULTS=place,
                                              stopping=threading.Event(), progress=lambda _: None):
                trial.guests = operators.Guests(trial.flavours, trial.reached)
                trial.guests.unchanged = lambda *_: "ok"
                try:
                    return trial.try_all(mutant).verdict
                finally:
                    self.stopped = operators.stopping.is_set()

    def test_ends(self):
        for script, verdict in (("exit 0", "SURVIVED"), ("exit 1", "caught"), ("exit 2", "caught"), ("exit 4", "SURVIVED"),
                                ("echo 'not ok 1 - it works'; exit 1", "caught"),
                                ("echo '# uml-run: no end after 9 s'; exit 1", "caught")):
            self.assertEqual(self.try_all(script), verdict, script)
            self.assertFalse(self.stopped)

    def test_refusals_catch_nothing(self):
        """Of the options that all tests are run with: nothing else is tried."""
        for words in "usage: run [ --version V ] TEST", "uml-run: --seed wants a number, not x":
            with self.assertRaisesRegex(operators.Misuse, f"refuses --version .*/net/x.sh: {re.escape(words)}"):
                self.try_all(f"echo '{words}' >&2; exit 2")
            self.assertTrue(self.stopped)


class Builds(unittest.TestCase):
    """Those that wait for their turn when all are to end are not begun."""

    def setUp(self):
        operators.stopping.set()
        self.addCleanup(operators.stopping.clear)

    def test_none_is_begun(self):
        with unittest.mock.patch.object(operators, "Flavour", side_effect=AssertionError("begun")):
            self.assertRaisesRegex(operators.Refusal, "stopped", operators.Flavours({}).get, "plain")

    def test_none_goes_on(self):
        flavour = operators.Flavour.__new__(operators.Flavour)
        flavour.name = "plain"
        flavour.tree, flavour.paths = "nowhere", {"KDIR": "nowhere", "O": "nowhere"}
        with tempfile.TemporaryDirectory() as place, \
                unittest.mock.patch.object(operators.subprocess, "run", side_effect=AssertionError("begun")):
            self.assertRaisesRegex(operators.Refusal, "stopped", flavour.make, f"{place}/out", f"{place}/log")


class Verdicts(unittest.TestCase):
    def test_points(self):
        self.assertEqual(operators.failed_point("not ok 3 - frames arrive"), "frames arrive")
        self.assertEqual(operators.failed_point("    not ok 3 frames arrive"), "frames arrive")
        for line in ("ok 3 frames arrive", "not ok 9 the test comes to its end", "not ok 1 selftests: net: wire.sh"):
            self.assertIsNone(operators.failed_point(line))

    def test_unit_failures(self):
        end = "not ok 1 test_x\n0 passed, 1 failed, 0 skipped\n"
        for said, kind, words in (("    not ok 2 it fits\n", "point", "it fits"),
                                  ("    line 57: a == b\n    Aborted\n", "point", "line 57: a == b"),
                                  ("    ==1==ERROR: AddressSanitizer: heap-use-after-free on\n", "crash",
                                   "heap-use-after-free"),
                                  ("    x.h:3:4: runtime error: shift exponent 64\n", "crash", "shift exponent 64"),
                                  ("", "stop", "it stops half way")):
            outcome = operators.unit_failure("test_x", said + end)
            self.assertEqual((outcome.kind, outcome.words), (kind, words))

    def test_warnings(self):
        """By what they say: a place moves with what is above it."""
        found = ["warning: incorrect type in argument 1 (different base types)"]
        for line in (7, 8):
            self.assertEqual(operators.warned(f"/x/kernel/a.c:{line}:39: {found[0]}\n/x/kernel/a.c:{line}:39:    got gfp_t\n"),
                             found)
        self.assertEqual(operators.warned(""), [])

    def test_unit_tests_are_found(self):
        found = operators.unit_tests()
        self.assertIn("unit/test_fair_rate.c", found["kernel/sched/fair_rate.h"])
        self.assertIn("unit/test_frame.c", found["kernel/hopctl/frame.c"])


if __name__ == "__main__":
    unittest.main()
