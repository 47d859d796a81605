# SPDX-License-Identifier: GPL-2.0-only
"""What a run's results follow from, as digests: a finished run is one only while they are what they were.

What is built is told by its sources and the compiler: two builds of one User-Mode Linux are not equal byte by
byte. The exception are modules that SLUICE_MODDIR names, whose sources nobody knows.
"""

import functools
import hashlib
import json
import os
import subprocess

from . import rack
from .places import IS_INSTALLED, PATH, ROOT
from .units import LabError

# Sources, by what they make, as files and folders of the project
SOURCES = {
    "modules": ["kernel", "Makefile"],
    "plugins": ["tc-plugin"],
    "flowgen": ["userspace/flowgen", "userspace/common"],
    "lab": ["userspace/lab/lab-guest", "userspace/lab/lab-rack", "userspace/lab/portwatch.c",
            "userspace/lab/frames.c", "userspace/lab/frames.h", "userspace/lab/lab.h", "userspace/lab/Makefile", "userspace/lab/lab-build"],
}
TRACES = ["userspace/trace", "userspace/common", "userspace/lab/workloads"]
if IS_INSTALLED:        # programs and plugins have been built already
    SOURCES.update(plugins=["build/tc", "build/ip"], flowgen=["build/flowgen"], lab=["userspace/lab", "build/lab"])
    TRACES = ["build/trace"]
MACHINE = {
    "virtual": ["selftests/uml/run", "selftests/uml/guest-init", "selftests/uml/build"],
    "vm": ["selftests/vm/run", "selftests/vm/init", "selftests/vm/mkroot"],
}
# What the guest takes of the machine around, and what compiles, by the first line that it says
PROGRAMS = {"compiler": ["gcc", "--version"], "libc": ["ldd", "--version"],
            "tc": ["tc", "-V"], "ip": ["ip", "-V"]}


def _files(path):
    """Of a file or folder, in order, without what editors and interpreters leave."""
    if os.path.isfile(path):
        return [path]
    found = []
    for directory, folders, names in os.walk(path):
        folders[:] = [f for f in folders if f != "__pycache__"]
        found += [os.path.join(directory, n) for n in names if not n.startswith(".") and
                  not n.endswith("~")]
    return sorted(found)


def digest(top, paths, ending=""):
    """Of the names and contents of all files of `paths`, which are below `top`."""
    names = [name for path in paths for name in _files(os.path.join(top, path)) if name.endswith(ending)]
    return _short(json.dumps([[os.path.relpath(name, top), file_digest(name)] for name in names]))


def _short(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def words_digest(words):
    return _short(json.dumps(words, sort_keys=True))


def file_digest(path):
    with open(path, "rb") as f:
        total = hashlib.sha256()
        while chunk := f.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()[:16]


def first_line(command):
    environment = {**os.environ, "PATH": os.environ.get("PATH", "") + PATH, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except OSError:
        return None             # it is missed when the run is
    return (done.stdout or done.stderr).strip().split("\n", 1)[0]


def described(facts):
    """From a run.json: what was run, on which kernel, as words."""
    made = facts.get("inputs", {})
    commit = facts.get("commit")
    words = f"Sluice {facts['version']}"
    if commit:
        words += f", commit {commit[:12]}" + ("" if facts.get("clean") else " with changes")
    kernel = made.get("kernel", facts["kernel"])
    if facts.get("mode") == "vm":
        return f"{words}, in a virtual machine, in its own time, Linux {kernel}"
    return f"{words}, in exact virtual time, User-Mode Linux {kernel}"


def revision():
    """{"commit": of the checkout or None, "clean": whether its files are those of the commit}"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}

    def git(*words):
        return subprocess.run(["git", "--no-optional-locks", "-c", f"safe.directory={ROOT}", "-C", ROOT, *words],
                              capture_output=True, text=True, check=False, env=environment)

    try:
        top = git("rev-parse", "--show-toplevel", "HEAD")
        lines = top.stdout.split()
        if top.returncode or len(lines) != 2 or os.path.realpath(lines[0]) != ROOT:
            return {"commit": None, "clean": None}
        return {"commit": lines[1], "clean": not git("status", "--porcelain", "-uno").stdout}
    except OSError:
        return {"commit": None, "clean": None}


def in_use(moddir):
    """{path: what says that it is as it was} of what guests take while an experiment runs, perhaps for hours."""
    names = []
    for directory in (moddir, *(f"{ROOT}/build/{d}" for d in ("flowgen", "lab", "tc", "ip"))):
        names += [n for n in _files(directory) if n.endswith((".ko", ".so")) or os.access(n, os.X_OK)]
    names += [f"{ROOT}/{n}" for n in (*MACHINE["virtual"], "userspace/lab/lab-guest", "userspace/lab/lab-rack")]
    found = {}
    for name in names:
        if os.path.exists(name):
            stat = os.stat(name)
            found[os.path.relpath(name, ROOT)] = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    return found


class Inputs:
    """What all runs of an experiment have in common, and what is each one's own."""

    def __init__(self, mode, version, mem):
        self.mode, self.version, self.mem = mode, version, mem
        self.racks, self.traces = {}, {}

    @functools.cached_property
    def common(self):
        found = {name: digest(ROOT, paths) for name, paths in SOURCES.items()}
        if os.environ.get("SLUICE_MODDIR"):
            found["modules"] = digest(os.environ["SLUICE_MODDIR"], ["."], ".ko")
        found["machine"] = digest(ROOT, MACHINE[self.mode])
        found["memory"] = self.mem
        found["kernel"] = self.kernel()
        found.update({name: first_line(command) for name, command in PROGRAMS.items()})
        return found

    def kernel(self):
        """Version of the kernel's source, and for User-Mode Linux a digest of its configuration and patches."""
        command = [f"{ROOT}/selftests/uml/build", "--name", self.version] if self.mode == "virtual" else \
            [f"{ROOT}/selftests/vm/fetch", "--print", self.version]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"no kernel {self.version}: {done.stderr.strip()}")
        return next(line.partition("=")[2] for line in done.stdout.splitlines()
                    if line.startswith(("NAME=", "RELEASE=")))

    def rack(self, case):
        """The files that the rack of a case is built from, which do not depend on its seed."""
        key = (case.scheme.name, *case.values.items())
        if key not in self.racks:
            told = rack.files(case.lab, case.scheme)
            self.racks[key] = _short(json.dumps(sorted(told.items())))
        return self.racks[key]

    def made(self, command):
        """How a trace is made: by which program, of which arguments and files that they name."""
        files = [w.rpartition("=")[2] for w in command]
        return _short(json.dumps([self.maker, *command, *(self.content(f) for f in files if os.path.isfile(f))]))

    @functools.cached_property
    def maker(self):
        return [digest(ROOT, TRACES), self.common["compiler"], self.common["libc"]]

    def content(self, path):
        """Of a trace, read once; None if it is not there."""
        if path not in self.traces:
            self.traces[path] = file_digest(path) if os.path.exists(path) else None
        return self.traces[path]

    def forget(self, path):
        """It has been made anew."""
        self.traces.pop(path, None)
