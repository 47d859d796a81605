# SPDX-License-Identifier: GPL-2.0-only
"""The best possible completion time of a flow that is alone on its path.

Its sender puts all frames back to back on its link; each box forwards a frame when it has all of
it; the flow is complete when its last byte is at the receiver. All frames but the last are equal, so
that the i-th leaves box h, counted from 1, at

    D(h, i) = s(1) + ... + s(h) + d(1) + ... + d(h-1) + (i - 1) max(s(1) ... s(h))

with s(h) a full frame's time on link h and d(h) the link's delay; and the last, which may be shorter,

    D(h, n) = max(D(h-1, n) + d(h-1), D(h, n-1)) + s'(h)

The flow's time is D(H, n) + d(H). It counts the headers that flowgen's own transport has, without a
fabric tag, whatever the scheme, so that schemes are compared by one measure. Times are rounded
to a nanosecond at the end, as the cable rounds its frames down.
"""

from fractions import Fraction

HEADERS = 14 + 20 + 8 + 16      # Ethernet, IPv4, UDP, flowgen


def best_ns(size, hops, payload=1000, headers=HEADERS, overhead=0):
    """Nanoseconds, whole; `hops` are (bit/s, delay in ns) of each link on the way."""
    frames = -(-size // payload)
    full = payload + headers + overhead
    last = size - (frames - 1) * payload + headers + overhead
    before = arrived = slowest = Fraction(0)
    sent = delays = Fraction(0)
    for number, (rate, delay) in enumerate(hops):
        each = Fraction(full * 8 * 10**9, rate)
        slowest = max(slowest, each)
        sent += each
        if frames > 1:          # when the last but one has left this box
            before = sent + delays + (frames - 2) * slowest
        ready = arrived if number else Fraction(0)
        arrived = max(ready, before) + Fraction(last * 8 * 10**9, rate) + delay
        delays += delay
    return int(arrived)


def hops_of(ports):
    return tuple((p.rate, p.delay) for p in ports)
