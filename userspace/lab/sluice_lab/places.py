# SPDX-License-Identifier: GPL-2.0-only
"""Where the project's files are: in a checkout, or those that were installed.

An installed lab works in a tree of the checkout's shape in the user's cache: modules are built there, and a guest sees
each file at the path at which it would see it in a checkout. A path that is not there costs a guest time, and another
length of one moves what it draws at random.
"""

import fcntl
import json
import os
import shutil
import sysconfig

from .units import LabError

# The folder of sluice_lab: userspace/lab, or share/sluice/lab of an installation
SHARE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
IS_INSTALLED = os.path.isdir(f"{SHARE}/tree")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sluice")
ROOT = f"{CACHE}/lab" if IS_INSTALLED else os.path.dirname(os.path.dirname(SHARE))
LAB = f"{ROOT}/userspace/lab"
# What needs no tree
_HERE = f"{SHARE}/tree" if IS_INSTALLED else ROOT
VERSION, RACK = f"{_HERE}/VERSION", f"{_HERE}/userspace/lab/lab-rack"

# Where programs are that the lab needs, and perhaps not in a user's PATH
PATH = ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def which(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + PATH)


def tool(name, directory):
    """A program of the project: the one that was built here, else the installed one."""
    built = os.path.join(ROOT, "build", directory, name)
    found = built if os.access(built, os.X_OK) else which(name)
    if not found:
        raise LabError(f"there is no {name}: make programs builds it")
    return found


def installed():
    """{path in the tree: installed file or folder}"""
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(SHARE)))
    found = {name: f"{SHARE}/tree/{name}" for name in os.listdir(f"{SHARE}/tree")}
    found["build/lab/portwatch"] = f"{prefix}/lib/sluice/portwatch"
    for name, program in ("flowgen", "flowgen"), ("trace", "sluice-trace"):
        found[f"build/{name}/{program}"] = shutil.which(program, path=f"{prefix}/sbin") or which(program)
    libraries = [f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}", "/usr/lib"]
    for name in "tc/q_bfc", "tc/q_ideal", "tc/q_pfc", "tc/q_rocc", "tc/q_floodgate", "tc/q_flowsail", "ip/link_wire":
        places = [os.environ.get(f"{name[:2].upper()}_LIB_DIR", ""), *(f"{lib}/{name[:2]}" for lib in libraries)]
        found[f"build/{name}.so"] = next((path for place in places if os.path.exists(
            path := f"{place}/{os.path.basename(name)}.so")), None)
    return found


def _state(path):
    """What says that a file, or all in a folder, is as it was."""
    if os.path.isdir(path):
        return {name: _state(f"{path}/{name}") for name in sorted(os.listdir(path))}
    stat = os.stat(path)
    return [stat.st_size, stat.st_mtime_ns]


def make_tree():
    """Makes the tree of an installed lab, unless what is installed is what it was made of."""
    if not IS_INSTALLED:
        return
    wanted = installed()
    for name, path in wanted.items():
        if not path or not os.path.exists(path):
            what, package = ("source of the modules", "sluice-dkms") if name == "kernel" else \
                (os.path.basename(name), "sluice-tools")
            raise LabError(f"there is no {what}: it is in the package {package}, and make install installs it")
    state = json.dumps({name: [path, _state(path)] for name, path in sorted(wanted.items())})
    os.makedirs(CACHE, exist_ok=True)
    with open(f"{CACHE}/lab.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(f"{ROOT}/made", encoding="utf-8") as f:
                if f.read() == state:
                    return
        except OSError:
            pass
        shutil.rmtree(ROOT, ignore_errors=True)
        for name, path in wanted.items():
            os.makedirs(os.path.dirname(f"{ROOT}/{name}"), exist_ok=True)
            copy = shutil.copytree if os.path.isdir(path) else shutil.copy2
            copy(path, f"{ROOT}/{name}")
        with open(f"{ROOT}/made", "w", encoding="utf-8") as f:
            f.write(state)
