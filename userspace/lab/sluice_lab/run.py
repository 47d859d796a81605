# SPDX-License-Identifier: GPL-2.0-only
"""Runs the cases of an experiment, each in a machine of its own, and keeps what is finished.

A results directory holds

    experiment.lab, topology.txt      what was run
    traces/POINT.trace                one for each seed and value; each scheme gets the same
    runs/KEY/flows.csv, samples.csv, rates.csv, frames.csv, waits.csv, ports.json, classes.txt, run.json
    log/KEY.log                       what the machine said
    report/                           tables and plots

run.json is written last: a run without it is run again, one with it is not, unless something has changed that
it depends on: the experiment, or one of the inputs whose digests it has (inputs.py). Nothing below traces, runs
and report depends on the machine or the time of day.
"""

import concurrent.futures
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from . import best, check, clock, inputs, labfile, places, rack, units
from .places import LAB, ROOT, tool
from .schemes import PACED
from .units import LabError

HEADERS = best.HEADERS + 4      # with a fabric tag: what load is reckoned with
WAIT_S = 4 * 3600               # of real time, for a guest that hangs
LOOK_S = 0.5                    # of real time, between two looks at guests' clocks


@dataclasses.dataclass
class Running:
    """A run that is under way"""
    state: str = ""
    part: float = 0             # of it that is over, as far as that is known
    begun: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def whole(self):
        """s that it will have taken"""
        return (time.monotonic() - self.begun) / self.part if self.part else None


class Progress:
    """One line that changes on a terminal; one line for each thing that ends, elsewhere."""

    def __init__(self, total, quiet=False):
        self.total, self.quiet = total, quiet
        self.done, self.running = 0, {}
        self.spent = []
        self.lock = threading.Lock()
        self.start = time.monotonic()
        self.live = sys.stderr.isatty() and not quiet

    def say(self, text):
        if not self.quiet:
            with self.lock:
                print(("\r\033[K" if self.live else "") + text, file=sys.stderr, flush=True)
        self.show()

    def left(self):
        """s, or None as long as nothing is known"""
        known = self.spent + [r.whole for r in self.running.values() if r.whole]
        if not known:
            return None
        each = sum(known) / len(known)
        rest = [max(0, (r.whole or each) - time.monotonic() + r.begun) for r in self.running.values()]
        more = self.total - self.done - len(rest)
        return max([(sum(rest) + each * more) / max(1, len(rest)), *rest])

    def show(self):
        if not self.live:
            return
        with self.lock:
            left = self.left()
            estimate = "" if left is None else f", about {left:.0f} s left"
            now = " ".join(f"{key} {r.state}" for key, r in sorted(self.running.items()))
            line = f"[{time.monotonic() - self.start:.0f} s] {self.done}/{self.total}{estimate}: {now}"
            width = shutil.get_terminal_size().columns - 1
            print("\r\033[K" + line[:width], end="", file=sys.stderr, flush=True)

    def begin(self, key):
        with self.lock:
            self.running[key] = Running()
        self.show()

    def state(self, key, state, part=0):
        with self.lock:
            if key in self.running:
                self.running[key].state, self.running[key].part = state, part
        self.show()

    def end(self, key, text, spent=None):
        with self.lock:
            self.running.pop(key, None)
            self.done += 1
            if spent:
                self.spent.append(spent)
        self.say(f"[{self.done}/{self.total}] {key}: {text}")

    def close(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Runner:
    """An experiment and where its results go."""

    def __init__(self, path, out=None, version="6.1", jobs=None, only=None, seeds=None, mem="2G",
                 quiet=False, mode="virtual"):
        self.path = path
        self.text = units.read_text(path)
        self.cases = labfile.cases(path, self.text)
        places.make_tree()
        names = {c.scheme.name for c in self.cases}
        for name in only or ():
            if name not in names:
                raise LabError(f"{path}: there is no scheme \"{name}\"")
        if only:
            self.cases = [c for c in self.cases if c.scheme.name in only]
        if seeds:
            self.cases = [c for c in self.cases if c.seed in seeds]
        if not self.cases:
            raise LabError(f"{path}: nothing is left to run")
        self.lab = self.cases[0].lab
        self.out = os.path.abspath(out or f"{self.lab.name}-results")
        self.version, self.mem, self.mode = version, mem, mode
        self.jobs = jobs or os.cpu_count() or 1
        self.quiet = quiet
        self.inputs = inputs.Inputs(mode, version, mem)
        self.guests = {}            # {process: case}
        self.stopped = False
        self.revision, self.built = {}, {}
        self.lock = threading.Lock()

    # What a run depends on

    def job(self, case):
        lab = case.lab
        bdp = self.bdp(lab)
        words = case.scheme.words
        args = ["--transport", words["transport"], "--payload", str(lab.payload),
                "--seed", str(case.seed), "--quiet"]
        if words["transport"] == "gbn":
            window = case.scheme.window_bytes(bdp)
            args += ["--ack", words["ack"], "--rto", words["rto"]]
            args += ["--window", str(window)] if window else []
            ack_class = case.scheme.ack_class
            args += ["--ack-class", str(ack_class)] if ack_class else []
            if words["cc"] in PACED:
                line = max(host.ports[0].rate for host in lab.topology.hosts)
                args += ["--cc", words["cc"], "--rate", f"{line}bit"]
                if case.scheme.telemetry and "--hpcc-rtt" not in words["cc_options"]:
                    headers = HEADERS + case.scheme.telemetry
                    args += ["--hpcc-rtt", f"{self.rtt(lab, headers, headers)}ns"]
                args += words["cc_options"].split()
        else:
            args += ["--cc", words["cc"]]
        if lab.sample:
            args += ["--interval", f"{lab.sample}ns"]
        return {"scheme": case.scheme.name, "base": case.scheme.base, "settings": words,
                "seed": case.seed, "values": case.values, "flowgen": args,
                "workload": lab.workload,
                "workload_args": lab.workload_words[:1] if self.given(lab) else lab.workload_words,
                "topology": hashlib.sha256(lab.topology_text.encode()).hexdigest()[:16],
                "payload": lab.payload, "buffer": lab.buffer, "ring": lab.ring,
                "overhead": lab.overhead, "faults": lab.faults, "settle_ns": lab.settle,
                "limit_ns": lab.limit, "sample_ns": lab.sample, "sample_ports": lab.sample_ports,
                **({"frames": True} if lab.frames else {}),
                "kernel": self.version, "mode": self.mode, "version": self.project_version()}

    @staticmethod
    def given(lab):
        """Is its trace a file of its own? What that is called does not matter."""
        return lab.workload_words[0] == "trace"

    def told(self, case):
        """{name: text} of the files of the case besides the rack and the trace."""
        limit = self.last_start(self.trace_path(case)) + case.lab.limit
        return {"args": " ".join([*self.job(case)["flowgen"], "--limit", f"{limit}ns"]) + "\n",
                "settle": f"{case.lab.settle / 1e9:.9f}{' frames' if case.lab.frames else ''}\n"}

    @staticmethod
    def project_version():
        with open(places.VERSION, encoding="utf-8") as f:
            return f.read().strip()

    @staticmethod
    def rtt(lab, headers=best.HEADERS, ack=0):
        """Nanoseconds of the longest way there and back, unloaded, with headers and acknowledgements of so many bytes."""
        def there_and_back(a, b):
            hops = best.hops_of(lab.topology.path(a, b))
            back = best.best_ns(1, hops, headers=ack - 1) if ack else sum(delay for _, delay in hops)
            return best.best_ns(lab.payload, hops, lab.payload, headers) + back

        hosts = lab.topology.hosts
        longest = 0
        edges = {}
        for host in hosts:
            edges.setdefault(lab.topology.edge(host).name, host)
        for a in edges.values():
            for b in hosts if len(hosts) <= 32 else edges.values():
                if a is not b:
                    longest = max(longest, there_and_back(a, b))
        return longest or there_and_back(*hosts[:2])    # all hosts at one switch

    @staticmethod
    def bdp(lab):
        """Bytes: rate of a host's link times the longest way there and back, unloaded."""
        return Runner.rtt(lab) * max(h.ports[0].rate for h in lab.topology.hosts) // (8 * 10**9)

    def known(self, case):
        """What run.json says; None if there is none."""
        try:
            with open(f"{self.out}/runs/{case.key}/run.json", encoding="utf-8") as f:
                known = json.load(f)
        except (OSError, ValueError):
            return None
        return known if isinstance(known, dict) else None

    def sizes(self, directory):
        """{name: bytes} of a run's files but run.json."""
        return {name: os.path.getsize(f"{directory}/{name}") for name in sorted(os.listdir(directory))
                if name != "run.json"}

    def depends(self, case):
        """{name: digest} of what the run of a case depends on besides job()."""
        lab = case.lab
        given = self.given(lab)
        return {**self.inputs.common, "rack": self.inputs.rack(case),
                "workload": None if given else self.inputs.made(self.trace_command(case)),
                "trace": self.inputs.content(self.trace_path(case)),
                "arguments": inputs.words_digest(self.told(case)) if os.path.exists(self.trace_path(case)) else None}

    def changed(self, case):
        """What is not as it was for the finished run of a case, by name; None if there is none."""
        known = self.known(case)
        if known is None:
            return None
        before = known.get("inputs", {})
        now = self.depends(case)
        if now["trace"] is None and now["workload"] is not None:
            # would be made again, and the same
            now["trace"], now["arguments"] = before.get("trace"), before.get("arguments")
        names = [k for k, v in self.job(case).items() if known.get(k) != v]
        names += [k for k, v in now.items() if before.get(k) != v]
        if known.get("files") != self.sizes(f"{self.out}/runs/{case.key}"):
            names.append("files")
        return names

    def finished(self, case):
        return self.changed(case) == []

    # Traces

    def trace_path(self, case):
        if self.given(case.lab):
            return os.path.abspath(case.lab.workload_words[1])
        return f"{self.out}/traces/{case.lab.workload}{case.point}.trace"

    def trace_command(self, case):
        """Arguments of sluice-trace."""
        lab = case.lab
        topology = lab.topology
        command = ["make", *lab.workload_words]
        for option, value in (("--seed", case.seed), ("--payload", lab.payload),
                              ("--header", HEADERS + lab.overhead),
                              ("--rate", f"{topology.hosts[0].ports[0].rate}bit"),
                              *self.shape(topology)):
            if option not in lab.workload_words:
                command += [option, str(value)]
        return command

    def trace(self, case):
        """The trace of a case; made unless it is there, by the same program from the same arguments, and
        as it was made."""
        path = self.trace_path(case)
        if self.given(case.lab):
            return path
        command = self.trace_command(case)
        with self.lock:
            mark = path + ".made"
            made = self.inputs.made(command)
            try:
                with open(mark, encoding="utf-8") as f:
                    if os.path.exists(path) and \
                            json.load(f) == {"workload": made, "trace": self.inputs.content(path)}:
                        return path
            except (OSError, ValueError):
                pass
            os.makedirs(os.path.dirname(path), exist_ok=True)
            new = f"{path}.{os.getpid()}.new"       # another process may be at it, too
            with open(new, "w", encoding="utf-8") as f:
                done = subprocess.run([tool("sluice-trace", "trace"), *command], stdout=f,
                                      stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                os.unlink(new)
                raise LabError(done.stderr.strip().partition("\n")[0])
            content = inputs.file_digest(new)   # of this one: another may be in its place at once
            os.replace(new, path)
            self.inputs.forget(path)
            with open(new, "w", encoding="utf-8") as f:
                json.dump({"workload": made, "trace": content}, f)
            os.replace(new, mark)
        return path

    @staticmethod
    def shape(topology):
        """What sluice-trace has to know: racks of one size in the order of the hosts, or hosts."""
        racks = [[h for h in topology.hosts if topology.edge(h) is e] for e in topology.edges()]
        in_order = [h for r in racks for h in r] == topology.hosts
        if len(racks) > 1 and in_order and len({len(r) for r in racks}) == 1:
            up = [p.rate for p in topology.edges()[0].ports if p.peer.node.is_switch]
            return (("--racks", len(racks)), ("--per-rack", len(racks[0])),
                    ("--uplinks", f"{len(up)}x{units.rate_words(up[0])}"))
        return (("--hosts", len(topology.hosts)),)

    @staticmethod
    def last_start(path):
        """Of a trace, which is sorted by start: ns."""
        last = 0
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#"):
                    last = line
        return int(last.split()[0]) if last else 0

    # Runs

    def check(self, todo):
        """Raises LabError with all that the programs of the runs refuse. Traces are there then."""
        if not places.IS_INSTALLED:
            self.step("programs", [f"{ROOT}/userspace/lab/lab-build", "programs"])
        found = check.Check(self.path, self.version, self.mode)
        for case in todo:
            found.scheme(case)
            found.faults(case)
        for case in {self.trace_path(case): case for case in todo}.values():
            try:
                found.trace(case, self.trace(case))
            except LabError as e:
                found.trace(case, None, str(e))
        found.end()

    def build(self):
        """Kernel, modules, plugins and programs, unless they are there; says where."""
        what = ["programs"] if os.environ.get("SLUICE_MODDIR") else [self.mode, self.version]
        self.step("build", [f"{ROOT}/userspace/lab/lab-build", *what])

    def in_use(self):
        prefix = "uml" if self.mode == "virtual" else "vm"
        return inputs.in_use(os.environ.get("SLUICE_MODDIR") or f"{ROOT}/build/{prefix}-{self.version}")

    def step(self, name, command):
        os.makedirs(f"{self.out}/log", exist_ok=True)
        log = f"{self.out}/log/{name}.log"
        with open(log, "w", encoding="utf-8") as f:
            done = subprocess.run(command, stdout=f, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise LabError(f"{name}: no success, see the end of {log}:\n{self.tail(log)}")

    @staticmethod
    def tail(path, lines=12):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                return "".join(f.readlines()[-lines:]).rstrip()
        except OSError:
            return ""

    def prepare(self, case):
        """The directory that the guest is given."""
        work = f"{self.out}/cases/{case.key}"
        shutil.rmtree(work, ignore_errors=True)
        rack.write(f"{work}/rack", case.lab, case.scheme)
        # A link would lead out of what the guest sees; and what it is given is not to change under it.
        shutil.copyfile(self.trace(case), f"{work}/trace")
        for name, text in self.told(case).items():
            with open(f"{work}/{name}", "w", encoding="utf-8") as f:
                f.write(text)
        if self.mode == "vm":   # the guest sees nothing of this machine's files
            for name in (f"{LAB}/lab-guest", f"{LAB}/lab-rack", tool("flowgen", "flowgen"),
                         tool("portwatch", "lab")):
                shutil.copy(name, work)
        return work

    def command(self, case, work, new, log):
        """What boots the machine of a case."""
        common = ["--version", self.version, "--seed", str(case.seed), "--mem", self.mem,
                  "--timeout", str(WAIT_S), "--out", new]
        if self.mode == "vm":
            return [f"{ROOT}/selftests/vm/run", *common, "--add", f"{work}:/lab",
                    "/lab/lab-guest", "/lab"]
        return [f"{ROOT}/selftests/uml/run", *common, "--log", log + ".kernel",
                f"{LAB}/lab-guest", work]

    def run_case(self, case, progress):
        """One at a time of each case, also of several commands."""
        os.makedirs(f"{self.out}/cases", exist_ok=True)
        with open(f"{self.out}/cases/{case.key}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.stopped:
                return False
            if self.finished(case):
                progress.end(case.key, "finished by another command")
                return True
            return self.run_guest(case, progress)

    def run_guest(self, case, progress):
        start = time.monotonic()
        progress.begin(case.key)
        work = self.prepare(case)
        new, kept = f"{self.out}/runs/{case.key}.new", f"{self.out}/runs/{case.key}"
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
        os.makedirs(f"{self.out}/log", exist_ok=True)
        log = f"{self.out}/log/{case.key}.log"
        with open(log, "w", encoding="utf-8") as f:
            # A guest has a /tmp of its own, but shows what SLUICE_* names.
            guest = subprocess.Popen(self.command(case, work, new, log), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     env={**os.environ, "SLUICE_LAB": self.out},
                                     start_new_session=True)
            with self.lock:
                self.guests[guest] = case
            complete = None
            for line in guest.stdout:
                f.write(line)
                if line.startswith("lab: done "):
                    complete = line.split()[2] == "0"
                elif line.startswith("lab: "):
                    progress.state(case.key, line[5:].strip())
            status = guest.wait()
        with self.lock:
            self.guests.pop(guest)
        if self.stopped:
            return False
        if status or complete is None:
            progress.end(case.key, f"FAILED, see {log}:\n{self.tail(log)}")
            return False
        now = self.in_use()
        if now != self.built:
            names = sorted(n for n in {*now, *self.built} if now.get(n) != self.built.get(n))
            progress.end(case.key, f"FAILED: changed while the experiment ran: {', '.join(names)}")
            return False
        with open(f"{new}/run.json", "w", encoding="utf-8") as f:
            json.dump({**self.job(case), "inputs": self.depends(case), **self.revision,
                       "files": self.sizes(new), "complete": complete}, f, indent=1, sort_keys=True)
            f.write("\n")
        shutil.rmtree(kept, ignore_errors=True)
        os.replace(new, kept)
        shutil.rmtree(work, ignore_errors=True)
        spent = time.monotonic() - start
        progress.end(case.key, f"{spent:.0f} s" + ("" if complete else
                     ", but some flows did not complete within the limit"), spent)
        return True

    def watch(self, progress, ended):
        """Shows how far the runs are, until the event."""
        paths = subprocess.run([f"{ROOT}/selftests/uml/build", "--print", self.version], capture_output=True, text=True,
                               check=True).stdout
        found = clock.Clock(re.search("^O=(.*)", paths, re.M)[1])
        ways = {}                   # {case: when its trace begins, how long it takes}
        while not ended.wait(LOOK_S):
            with self.lock:
                guests = list(self.guests.items())
            for guest, case in guests:
                now = found.read(guest.pid)
                if case.key not in ways:
                    files = rack.files(case.lab, case.scheme)
                    watchers = sum(bool(files.get(name)) for name in ("rates", "frames"))
                    ways[case.key] = clock.begins(case.lab, watchers), clock.expected(case.lab, self.trace_path(case))
                begins, total = ways[case.key]
                if now and now > begins:
                    progress.state(case.key, clock.words(now - begins, total), min(1, (now - begins) / total))

    @contextlib.contextmanager
    def watched(self, progress):
        ended = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(progress, ended), daemon=True)
        if progress.live and self.mode == "virtual":
            watcher.start()
        try:
            yield
        finally:
            ended.set()
            progress.close()

    def stop(self):
        """Ends all guests; what is finished stays."""
        self.stopped = True
        with self.lock:
            for guest in self.guests:
                try:
                    os.killpg(guest.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass

    def save(self):
        os.makedirs(self.out, exist_ok=True)
        with open(f"{self.out}/experiment.lab", "w", encoding="utf-8") as f:
            f.write(self.text)
        with open(f"{self.out}/topology.txt", "w", encoding="utf-8") as f:
            f.write(self.lab.topology_text)
        with open(f"{self.out}/path", "w", encoding="utf-8") as f:
            f.write(os.path.abspath(self.path) + "\n")

    def run(self):
        """All cases that are not finished. Returns the keys of those that failed."""
        todo = []
        progress = Progress(len(self.cases), self.quiet)
        for case in self.cases:
            changed = self.changed(case)
            if changed == []:
                progress.end(case.key, "finished before")
                continue
            todo.append(case)
            if changed:
                progress.say(f"{case.key}: once more, since these have changed: {', '.join(changed)}")
        self.check(todo)
        self.save()
        if not todo:
            return []
        self.build()
        self.revision, self.built = inputs.revision(), self.in_use()
        failed = []
        with self.watched(progress), concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.run_case, c, progress): c for c in todo}
            try:
                for future in concurrent.futures.as_completed(futures):
                    if not future.result():
                        failed.append(futures[future].key)
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                raise
        return failed
