# SPDX-License-Identifier: GPL-2.0-only
"""How far a run is: the virtual clock of its guest, read from outside.

A guest must not notice that somebody looks, or its results would be others. User-Mode Linux is a program, and its clock
a variable of it: what it is at is read from the memory of the process. Where that is not allowed, or there is no such
process yet, nothing is known.
"""

import contextlib
import os
import struct

from . import units

VARIABLE = "time_travel_time"
# ns of that clock. selftests/lab/test_lab.py holds them against the sources.
TEST_BEGINS = 11 * 10**9        # selftests/uml/guest-init begins the test so late
WATCHER_WAIT = 10**8            # lab-guest waits for each portwatch
FLOWGEN_LEAD = 10**8            # flowgen begins with the trace so much later


def begins(lab, watchers):
    """The clock at the trace's time 0; boxes are set up in less than a millisecond."""
    return TEST_BEGINS + lab.settle + WATCHER_WAIT * watchers + FLOWGEN_LEAD


def expected(lab, trace):
    """ns of a trace, at least: until its last flow begins, and until the busiest host's link has carried all."""
    last, load = 0, {}
    with open(trace, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                start, src, dst, size = map(int, line.split()[:4])
                last = start
                for way, host in ("from", src), ("to", dst):
                    load[way, host] = load.get((way, host), 0) + size
    hosts = lab.topology.hosts
    return max(last, *(8 * 10**9 * size // hosts[host].ports[0].rate for (_, host), size in load.items()), 1)


def words(now, total):
    """1.84 of 5 ms; later flows are still under way, but nobody knows for how long"""
    name, unit = max(((n, u) for n, u in units.TIMES.items() if u <= max(total, now)), key=lambda unit: unit[1])
    return f"{now / unit:.3g} of {total / unit:.3g} {name}" if now < total else f"last flows, at {now / unit:.3g} {name}"


class Clock:
    """Of guests of one kernel, which is in this directory."""

    def __init__(self, directory):
        self.kernel, self.address = os.path.realpath(f"{directory}/linux"), None
        with contextlib.suppress(OSError), open(f"{directory}/System.map", encoding="utf-8") as f:
            self.address = next((int(line.split()[0], 16) for line in f if line.split()[2] == VARIABLE), None)

    def guest(self, runner):
        """The process of the guest that this one has started."""
        with open(f"/proc/{runner}/task/{runner}/children", encoding="utf-8") as f:
            return next((pid for pid in f.read().split() if os.path.realpath(f"/proc/{pid}/exe") == self.kernel), None)

    def read(self, runner):
        """ns, or None"""
        with contextlib.suppress(OSError, struct.error):
            pid = self.address and self.guest(runner)
            if pid:
                with open(f"/proc/{pid}/mem", "rb", buffering=0) as f:
                    f.seek(self.address)
                    return struct.unpack("Q", f.read(8))[0]
        return None
