# SPDX-License-Identifier: GPL-2.0-only
"""The command sluice-lab."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

from . import labfile, places, plot, rack, run, schemes, shapes, units
from .report import Report
from .schemes import Scheme
from .topology import Topology
from .units import LabError

EXIT_TROUBLE, EXIT_USAGE, EXIT_INCOMPLETE = 1, 2, 3


def do_run(args):
    plot.need_gnuplot()         # before hours, not behind them
    runner = run.Runner(args.file, args.out, args.kernel, args.jobs, args.scheme, args.seed, args.mem,
                        args.quiet, args.mode)
    failed = runner.run()
    if failed:
        print(f"sluice-lab: {len(failed)} of {len(runner.cases)} runs failed: {', '.join(failed)}",
              file=sys.stderr)
        if len(failed) == len(runner.cases):
            return EXIT_TROUBLE
    show(Report(runner.out), args)
    return EXIT_INCOMPLETE if failed else 0


def show(report, args):
    page = report.make()
    if args.json:
        print(json.dumps({"runs": [r.facts for r in report.runs], "page": page,
                          "overview": [dict(zip(report.sections[0].head, row))
                                       for row in report.sections[0].rows]}, indent=1))
    else:
        print(report.brief())
        print(f"\nAll tables and plots: {page}")


def do_report(args):
    show(Report(args.dir), args)
    return 0


def do_plan(args):
    """One line for each run that is not finished, for parallel(1)."""
    runner = run.Runner(args.file, args.out, args.kernel, mem=args.mem, mode=args.mode)
    todo = [case for case in runner.cases if not runner.finished(case)]
    runner.check(todo)
    runner.save()
    for case in todo:
        print(f"{os.path.realpath(sys.argv[0])} run --out {runner.out} --kernel {args.kernel} "
              f"--mode {args.mode} --mem {args.mem} --jobs 1 --only {case.key} {os.path.abspath(args.file)}")
    return 0


def do_topo(args):
    if not args.shape:
        rows = list(shapes.summary())
        for name, what, parameters in rows:
            print(f"{name:18} {what}\n{'':18} {parameters}")
        return 0
    pairs = args.parameter
    if len(pairs) % 2:
        raise LabError("a shape's parameters are pairs of a word and a value")
    text = shapes.make(args.shape, dict(zip(pairs[::2], pairs[1::2])))
    Topology.parse(text, args.shape)
    print(text, end="")
    return 0


def do_schemes(args):
    if args.json:
        print(json.dumps({"schemes": schemes.SCHEMES, "settings": schemes.SETTINGS}, indent=1))
        return 0
    for name, words in schemes.SCHEMES.items():
        print(f"{name:15} {words['what']}")
        print(f"{'':15}   transport {words['transport']}")
        for place in "host", "switch":
            below = words.get(f"{place}_child")
            print(f"{'':15}   {place:9} {words[place]}" + (f", below it {below}" if below else ""))
    return 0


def do_up(args):
    """Leaves the rack of an experiment's scheme standing on this machine."""
    lab = labfile.read(args.file)
    scheme = next((s for s in lab.schemes if s.name == args.scheme), None) or \
        (Scheme(args.scheme) if args.scheme else lab.schemes[0])
    directory = rack_directory()
    rack.write(directory, lab, scheme)
    return subprocess.run([places.RACK, "up", directory], check=False).returncode


def do_down(_):
    directory = rack_directory()
    if not os.path.exists(f"{directory}/boxes"):
        raise LabError("there is no rack of sluice-lab up")
    status = subprocess.run([places.RACK, "down", directory], check=False).returncode
    subprocess.run(["rm", "-r", directory], check=True)
    return status


def rack_directory():
    """Where the files of the standing rack are; one for a machine, since namespaces are."""
    return os.path.join("/run" if os.access("/run", os.W_OK) else tempfile.gettempdir(),
                        "sluice-lab-rack")


def parser():
    p = argparse.ArgumentParser(prog="sluice-lab", description=(
        "Experiments with hop-by-hop flow control: topologies, workloads and schemes, the real modules "
        "in exact virtual time."))
    p.add_argument("--version", action="version", version="sluice-lab " + run.Runner.project_version())
    verbs = p.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name, function, text):
        v = verbs.add_parser(name, help=text, description=text)
        v.set_defaults(function=function)
        return v

    v = verb("run", do_run, "run an experiment and report; what is finished is not run again")
    v.add_argument("file", metavar="FILE.lab")
    v.add_argument("--out", metavar="DIR", help="results (NAME-results)")
    v.add_argument("--mode", choices=("virtual", "vm"), default="virtual", help=(
        "exact virtual time in User-Mode Linux, or a virtual machine on the distribution's kernel"))
    v.add_argument("--kernel", default="6.1", metavar="V", help="6.1 (default) or another series")
    v.add_argument("--jobs", type=int, metavar="N", help="machines at once (one for each CPU)")
    v.add_argument("--scheme", action="append", metavar="NAME", help="only this one; may be repeated")
    v.add_argument("--seed", action="append", type=int, metavar="N", help="only this one")
    v.add_argument("--only", action="append", metavar="RUN", help=(
        "only the run of this name, without a report; may be repeated"))
    v.add_argument("--mem", default="2G", metavar="SIZE", help="of a machine (2G)")
    v.add_argument("--quiet", action="store_true", help="no progress")
    v.add_argument("--json", action="store_true")

    v = verb("report", do_report, "tables and plots of what is finished")
    v.add_argument("dir", metavar="DIR")
    v.add_argument("--json", action="store_true")

    v = verb("plan", do_plan, "print a command for each run, to be spread by parallel(1)")
    v.add_argument("file", metavar="FILE.lab")
    v.add_argument("--out", metavar="DIR")
    v.add_argument("--kernel", default="6.1", metavar="V")
    v.add_argument("--mem", default="2G", metavar="SIZE")
    v.add_argument("--mode", choices=("virtual", "vm"), default="virtual")

    v = verb("topo", do_topo, "print a topology; without a name, what shapes there are")
    v.add_argument("shape", nargs="?", metavar="SHAPE")
    v.add_argument("parameter", nargs="*", metavar="PARAMETER VALUE")

    v = verb("schemes", do_schemes, "list the schemes")
    v.add_argument("--json", action="store_true")

    v = verb("up", do_up, "leave the rack of an experiment standing on this machine (root, modules)")
    v.add_argument("file", metavar="FILE.lab")
    v.add_argument("--scheme", metavar="NAME", help="of the file, or any (the file's first)")

    verb("down", do_down, "take it away")
    return p


def main():
    args = parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if args.verb == "run" and args.only:
            return do_one(args)
        return args.function(args)
    except (LabError, ValueError) as e:
        print(f"sluice-lab: {e}", file=sys.stderr)
        return EXIT_TROUBLE
    except OSError as e:
        where = e.filename or getattr(args, "out", None) or "results"
        print(f"sluice-lab: {where}: {e.strerror}: finished runs are kept", file=sys.stderr)
        return EXIT_TROUBLE
    except KeyboardInterrupt:
        print("\nsluice-lab: stopped; the same command goes on with what is not finished",
              file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        return EXIT_TROUBLE


def do_one(args):
    runner = run.Runner(args.file, args.out, args.kernel, args.jobs, mem=args.mem, quiet=args.quiet,
                        mode=args.mode)
    for name in args.only:
        if name not in (c.key for c in runner.cases):
            raise LabError(f"{args.file}: there is no run \"{name}\": see sluice-lab plan")
    runner.cases = [c for c in runner.cases if c.key in args.only]
    failed = runner.run()
    if failed:
        print(f"sluice-lab: {len(failed)} of {len(runner.cases)} runs failed: {', '.join(failed)}",
              file=sys.stderr)
    return EXIT_TROUBLE if failed else 0
