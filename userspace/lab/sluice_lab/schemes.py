# SPDX-License-Identifier: GPL-2.0-only
"""Schemes: what stands at the ports of hosts and switches, and how hosts send.

A scheme is a set of words with settings in braces, filled in for each port. A `.lab` file may change
any of its words or settings, or make a scheme of its own from another:

    scheme bfc-8 bfc queues=8
    scheme codel pfifo switch="fq_codel limit 5000 target 10us"
"""

import re

from . import units

FLOWGEN_PORT = 4790             # to which its packets go
PRIORITIES = 8                  # of flows; a packet has its flow's as the class selector of its DSCP
PACED = ("dcqcn", "hpcc")       # congestion controls of gbn, which go by the line of a host

# Settings that each scheme has; those with None follow from the topology.
SETTINGS = {
    "queues": "32",             # sub-queues of a switch's port
    "classes": "1",             # of bfc and flowsail: strict-priority classes at each port, by the flows' priority
    "host_queues": "256",      # of a host's
    "th_scale": "100",          # percent of bfc's threshold
    "options": "",              # more words for each bfc, pfc, floodgate, flowsail or rocc
    "host_options": "",         # for the hosts' rocc alone
    "switch_options": "",       # more words for the switches' bfc, pfc, floodgate, flowsail or rocc alone
    "window": "none",           # gbn: bytes in flight, `none`, or a number and `bdp`
    "ack": "16",                # gbn: packets for an acknowledgement
    "ack_class": "7",           # gbn: their class, which goes before all flows; or `flow`, that of the flow
    "rto": "10ms",              # gbn: retransmission timeout
    "cc": "cubic",              # tcp: congestion control. gbn: dcqcn, hpcc; none, and so is cubic
    "cc_options": "",           # more words for flowgen, such as `--dcqcn-timer 300us`
    "port_buffer": None,        # bytes at a port without a shared pool: half of `buffer`
    "port_packets": None,       # the same in packets
    "buffer": None,             # bytes of a switch
    "pause_alpha": "11%",       # pfc, floodgate-pfc, flowsail-pfc: of what is free of `buffer`; who holds more of it is paused
    "pool_alpha": "1000%",      # and more than this is dropped
    "red_min": "100000",        # bytes: DCTCP's Kmin and Kmax in BFC's evaluation
    "red_max": "400000",
    "red_rate": None,           # these are of a link with this rate, and of others in proportion
    "red_burst": None,          # packets: red_min of them, so that red's average follows at once
    "credit_bytes": "none",     # of floodgate: the paper's credits, by time alone; the qdisc's default is 64kb
    "peer": None,               # of the port: host or switch
    "tier": None,               # of the port: none, up or down
}
# What stands at a port, and below it in its class 1:1, if that is not empty; `core`, if it is not empty, at ports of switches
# above all their neighbours.
WORDS = ("transport", "host", "switch", "core", "host_child", "switch_child")

# As the papers' hosts and switches do, acknowledgements go before data: they are control packets by their DSCP, and
# with their share ({acks_share}) where bfc and rocc bound what others send.
_HOST_BFC = "bfc role host peer switch queues {host_queues} limit 1073741824 {acks_share} {prios} {options}"
_SWITCH_BFC = "bfc role switch peer {peer} tier {tier} queues {queues} pool {buffer} " \
              "limit 1073741824 hrtt-max 100ms th-scale {th_scale} {acks_share} {prios} {options} {switch_options}"
# As in BFC's evaluation (section 6.2): who holds over 11 % of what is free is paused. Nothing is dropped
# but for want of room in the whole pool, which is what a pause takes to bite.
_BELOW_PFC = "pfc role switch peer {peer} pool-pause-alpha {pause_alpha} pool {buffer} pool-alpha {pool_alpha} " \
             "limit 1073741824 {acks_share}"
# A host's has room for all. Hosts and switches need the same kind.
_BELOW_HOST_PFC = "pfc role host peer switch pool 1073741824 pool-alpha 1000% limit 1073741824 {acks_share}"
# The same FIFOs, and nobody is paused: what has no room is dropped.
_BELOW_NOPAUSE = "bfc role switch peer {peer} assign single queues 1 nopause pool {buffer} " \
                 "pool-alpha {pool_alpha} limit 1073741824 {acks_share}"
_BOTH = " {options} {switch_options}"
_RED = "red limit {port_buffer} min {red_min} max {red_max} avpkt 1000 burst {red_burst} " \
       "probability 1 bandwidth 10gbit ecn harddrop"
_FIFO = "bfc role switch peer {peer} assign single nopause notag queues 1 pool {buffer} " \
        "limit 1073741824 {acks_share}"

_HOST_ROCC = "rocc role host limit 1073741824 {acks_share} {options} {host_options}"
_SWITCH_ROCC = "rocc limit {port_buffer} {acks_share} {options} {switch_options}"
_BELOW_HOST_ROCC = "bfc role host peer switch queues {host_queues} limit 1073741824 {acks_share}"
_BELOW_ROCC = "bfc role switch peer {peer} tier {tier} queues {queues} pool {buffer} " \
              "limit 1073741824 hrtt-max 100ms th-scale {th_scale} {acks_share}"
_IDEAL = "ideal {acks}"
_FLOODGATE = "floodgate role switch peer {peer} pool {buffer} pool-alpha {pool_alpha} " \
             "limit 1073741824 hrtt-max 100ms credit-bytes {credit_bytes} {acks_share}"
# One that is paused for single destinations
_HOST_FLOODGATE = "floodgate role host peer switch limit 1073741824 {acks_share} {options}"
_HOST_FLOWSAIL = "flowsail role host peer switch limit 1073741824 {acks_share} {prios} {options}"
_FLOWSAIL = "flowsail role switch peer {peer} tier {tier} queues {queues} pool {buffer} pool-alpha {pool_alpha} " \
            "limit 1073741824 hrtt-max 100ms {acks_share} {prios}"

SCHEMES = {
    "pfifo": dict(transport="tcp", host="fq", switch="bfifo limit {port_buffer}",
                  what="TCP over a FIFO"),
    "fq_codel": dict(transport="tcp", host="fq", what="TCP over fair queues with CoDel",
                     switch="fq_codel limit {port_packets} memory_limit {port_buffer} "
                            "target 50us interval 1ms noecn"),
    "cake": dict(transport="tcp", host="fq", switch="cake unlimited memlimit {port_buffer} rtt 1ms",
                 what="TCP over CAKE"),
    "dctcp": dict(transport="tcp", cc="dctcp", host="fq", switch=_RED,
                  what="DCTCP over RED that marks"),
    "dctcp-pfc": dict(transport="tcp", cc="dctcp", host=_BELOW_HOST_PFC + " {options}",
                      switch=_BELOW_PFC + " kmin {red_min} kmax {red_max}" + _BOTH,
                      what="DCTCP over a FIFO that marks, and pauses link by link"),
    "red": dict(transport="tcp", host="fq", switch=_RED, what="TCP with ECN over RED that marks"),
    "gbn": dict(transport="gbn", host=_IDEAL, switch=_FIFO,
                what="hosts that send at line rate, over a FIFO"),
    "bfc": dict(transport="gbn", host=_HOST_BFC, switch=_SWITCH_BFC,
                what="Backpressure Flow Control"),
    "bfc-stochastic": dict(transport="gbn", host=_HOST_BFC, switch=_SWITCH_BFC,
                           switch_options="assign stochastic",
                           what="BFC with sub-queues by hash alone"),
    "bfc-single": dict(transport="gbn", host=_HOST_BFC, switch=_SWITCH_BFC,
                       switch_options="assign single", queues="1",
                       what="BFC with one sub-queue"),
    "pfc": dict(transport="gbn", host=_BELOW_HOST_PFC + " {options}", switch=_BELOW_PFC + _BOTH,
                what="a FIFO that pauses link by link, as priority flow control does"),
    "dcqcn": dict(transport="gbn", cc="dcqcn", host=_BELOW_HOST_PFC + " {options}",
                  switch=_BELOW_PFC + " kmin {red_min} kmax {red_max}" + _BOTH,
                  what="DCQCN: hosts go by marks of such a FIFO"),
    "hpcc": dict(transport="gbn", cc="hpcc", ack="1", host=_BELOW_HOST_PFC + " {options}",
                 switch=_BELOW_PFC + f" telemetry {FLOWGEN_PORT}" + _BOTH,
                 what="HPCC: hosts go by what switches say in each packet, over such a FIFO"),
    "nopause": dict(transport="gbn", host=_HOST_BFC + " assign single", host_queues="1",
                    switch=_BELOW_NOPAUSE + _BOTH, what="the same FIFO, which pauses nobody and drops"),
    "floodgate": dict(transport="gbn", host=_IDEAL, switch=_FLOODGATE + _BOTH, window="1bdp",
                      what="Floodgate: windows per destination between switches; hosts have a window of one BDP"),
    "floodgate-pause": dict(transport="gbn", host=_HOST_FLOODGATE, switch=_FLOODGATE + " pause-hosts" + _BOTH,
                            window="1bdp", what="the same, and hosts are paused for single destinations"),
    "floodgate-ideal": dict(transport="gbn", host=_HOST_FLOODGATE, window="1bdp", credit_bytes="1514",
                            switch=_FLOODGATE + " pause-hosts window-factor 150%" + _BOTH,
                            what="the same, with a credit after 1514 bytes, at most one each 1 us"),
    "floodgate-pfc": dict(transport="gbn", host=_HOST_FLOODGATE + " pfc pool 1073741824 pool-alpha 1000%", window="1bdp",
                          switch=_FLOODGATE + " pfc pool-pause-alpha {pause_alpha}" + _BOTH,
                          what="Floodgate over pauses link by link, which its windows are to make unnecessary"),
    "floodgate-tag": dict(transport="gbn", host=_HOST_FLOODGATE + " mode pause", window="1bdp",
                          switch=_FLOODGATE + " mode pause tier {tier}" + _BOTH,
                          what="pauses for single destinations instead of windows: PFC with tag"),
    "flowsail": dict(transport="gbn", host=_HOST_FLOWSAIL, switch=_FLOWSAIL + _BOTH, queues="8",
                     what="FlowSail: pauses for single flows, with few sub-queues"),
    **{f"flowsail-{queues}": dict(transport="gbn", host=_HOST_FLOWSAIL, switch=_FLOWSAIL + _BOTH, queues=f"{queues}",
                                  what=f"the same, {queues} sub-queues") for queues in (2, 8, 32)},
    "flowsail-pfc": dict(transport="gbn", host=_HOST_FLOWSAIL + " pfc pool 1073741824 pool-alpha 1000%", queues="8", core=_BELOW_PFC,
                         switch=_FLOWSAIL + " pfc pool-pause-alpha {pause_alpha}" + _BOTH,
                         what="FlowSail below, and pauses link by link at the highest layer of switches"),
    "rocc": dict(transport="gbn", host=_HOST_ROCC, switch=_SWITCH_ROCC,
                 what="RoCC: ports tell hosts the fair rate, over a FIFO"),
    "rocc-pfc": dict(transport="gbn", host=_HOST_ROCC, host_child=_BELOW_HOST_PFC,
                     switch=_SWITCH_ROCC, switch_child=_BELOW_PFC,
                     what="the same, over a FIFO that pauses link by link, as in RoCC's evaluation"),
    "rocc-nopause": dict(transport="gbn", host=_HOST_ROCC, host_queues="1",
                         host_child=_BELOW_HOST_ROCC + " assign single",
                         switch=_SWITCH_ROCC, switch_child=_BELOW_NOPAUSE,
                         what="the same, over that FIFO without pauses"),
    "rocc-bfc": dict(transport="gbn", host=_HOST_ROCC, host_child=_BELOW_HOST_ROCC,
                     switch=_SWITCH_ROCC, switch_child=_BELOW_ROCC,
                     what="RoCC over the queues of BFC"),
    "ideal-fq": dict(transport="gbn", host=_IDEAL, switch=_IDEAL, window="1bdp",
                     what="unbounded queues for each flow, fair; a window of one BDP"),
    "ideal-srf": dict(transport="gbn", host=_IDEAL + " order srf", switch=_IDEAL + " order srf",
                      window="1bdp", what="the same, shortest remaining flow first"),
}


_ACK_SHARE = "10%"              # of a link


def _time(text):
    """As flowgen reads it"""
    if not re.fullmatch("[0-9]+(ns|us|ms|s)", text) or not 1000 <= units.time(text) <= 1 << 60:
        raise ValueError


def _whole(low, high=(1 << 32) - 1):
    def check(text):
        if not re.fullmatch("[0-9]+", text) or not low <= int(text) <= high:
            raise ValueError
    return check


def _matches(pattern):
    def check(text):
        if not re.fullmatch(pattern, text):
            raise ValueError
    return check


def _size(text):
    if not units.size(text):
        raise ValueError


def _rate(text):
    if not units.rate(text):
        raise ValueError


# What settings take, and the words for it; tc knows those of qdiscs better
CHECKS = {
    "transport": (_matches("gbn|tcp"), "gbn or tcp"),
    "window": (_matches(r"none|[0-9]+|[0-9]+(\.[0-9]+)?bdp"), "none, bytes, or a number and bdp"),
    "ack": (_whole(1), "a number of packets from 1"),
    "classes": (_whole(1, 8), "a number of classes from 1 to 8"),
    "ack_class": (_matches("flow|[1-7]"), "flow or 1 to 7"),
    "rto": (_time, "a whole number and ns, us, ms or s, from 1us"),
    "cc": (_matches("[a-z0-9_]{1,15}"), "the name of a congestion control"),
    "buffer": (_size, "a size"), "port_buffer": (_size, "a size"), "red_min": (_size, "a size"),
    "red_max": (_size, "a size"), "red_rate": (_rate, "a rate, such as 100gbit"),
    "port_packets": (_whole(1), "a number of packets from 1"), "red_burst": (_whole(1), "a number of packets from 1"),
}


class Scheme:
    """One line `scheme` of a .lab file."""

    def __init__(self, name, base=None, changes=()):
        base = base or name
        if base not in SCHEMES:
            raise ValueError(f"\"{base}\" is no scheme: {', '.join(SCHEMES)}")
        self.name, self.base = name, base
        self.words = {**SETTINGS, "core": "", "host_child": "", "switch_child": "", **SCHEMES[base]}
        for change in changes:
            key, equal, value = change.partition("=")
            if not equal or key not in (*SETTINGS, *WORDS):
                raise ValueError(f"\"{change}\" is not SETTING=VALUE with one of "
                                 f"{', '.join((*WORDS, *SETTINGS))}")
            self.words[key] = value
        for key, (check, what) in CHECKS.items():
            try:
                if self.words[key] is not None:
                    check(self.words[key])
            except ValueError:
                raise ValueError(f"{key} is {what}, not \"{self.words[key]}\"") from None
        if self.words["transport"] == "gbn" and self.words["cc"] not in (*PACED, "none", SETTINGS["cc"]):
            raise ValueError(f"cc of gbn is dcqcn, hpcc or none, not \"{self.words['cc']}\"")
        if self.classes > 1 and not all("{prios}" in self.words[word] for word in ("host", "switch")):
            raise ValueError("classes are of schemes with bfc or flowsail at hosts and switches: "
                             + ", ".join(n for n, w in SCHEMES.items() if "{prios}" in w["host"] and "{prios}" in w["switch"]))

    def qdisc(self, port, buffer, frame, child=False):
        """What tc is told for this port, or its class 1:1; "" for nothing."""
        values = dict(self.words)
        peer = port.peer.node
        values["peer"] = "switch" if peer.is_switch else "host"
        mine, other = port.node.tier or 0, (peer.tier or 0) if peer.is_switch else 0
        known = port.node.tier is not None and (peer.tier is not None or not peer.is_switch)
        values["tier"] = "none" if not known else "up" if other > mine else "down"
        buffer = units.size(values["buffer"] or str(buffer))
        port_buffer = units.size(values["port_buffer"]) if values["port_buffer"] else buffer // 2
        scale = port.rate / units.rate(values["red_rate"]) if values["red_rate"] else 1
        values.update(buffer=buffer, port_buffer=port_buffer, **{k: int(scale * units.size(values[k])) for k in ("red_min", "red_max")})
        values["port_packets"] = values["port_packets"] or max(1, port_buffer // frame)
        values["red_burst"] = values["red_burst"] or -(-values["red_min"] // 1000)
        text = self.words[("switch" if port.node.is_switch else "host") + ("_child" if child else "")]
        if self.words["core"] and not child and port.node.is_core:
            text = self.words["core"]
        dscp = self.ack_dscp
        values["prios"] = f"classes {self.classes}" if self.classes > 1 else ""
        values["acks"] = f"control-dscp {dscp}" if dscp else ""
        values["acks_share"] = f"control-dscp {dscp} control-share {_ACK_SHARE}" if dscp else ""
        for _ in range(2):      # a setting may hold settings
            try:
                text = text.format(**values)
            except (KeyError, IndexError, ValueError) as e:
                raise ValueError(f"\"{text}\": no setting {e}") from None
        return " ".join(text.split())

    @property
    def classes(self):
        """Strict-priority classes of a port"""
        return int(self.words["classes"])

    def filters(self):
        """[(DSCP, minor number of its class)]: what puts packets of a priority into their class; [] with one class.

        The higher the priority the earlier the class, and what is above the number of classes shares the first one. By
        DSCP, since routers set the priority of what they forward by bits of TOS that a class selector does not have."""
        if self.classes == 1:
            return []
        return [(8 * priority, max(1, self.classes - priority)) for priority in range(PRIORITIES)]

    @property
    def ack_class(self):
        """Of acknowledgements; None if it is that of their flow"""
        words = self.words
        return int(words["ack_class"]) if words["transport"] == "gbn" and words["ack_class"] != "flow" else None

    @property
    def ack_dscp(self):
        """flowgen's packets have their class in the class selector."""
        return self.ack_class * 8 if self.ack_class else None

    def _has(self, *kinds):
        return any(self.words[w].startswith(kinds) and "notag" not in self.words[w] for w in ("switch", "switch_child"))

    @property
    def pauses(self):
        """Do its ports pause others?"""
        return self._has("bfc", "flowsail", "pfc") or " pfc " in self.words["switch"]

    @property
    def tags(self):
        """Do they tag frames to each other?"""
        return self._has("bfc", "pfc", "floodgate", "flowsail")

    @property
    def asks_for_ecn(self):
        """Hosts have to be told to; DCTCP does it by itself."""
        return self.words["transport"] == "tcp" and self.words["cc"] != "dctcp" and \
            " ecn" in self.words["switch"]

    @property
    def telemetry(self):
        """Bytes that a packet has more."""
        return 80 if self.words["transport"] == "gbn" and self.words["cc"] == "hpcc" else 0

    def window_bytes(self, bdp):
        """Bytes, or 0 for none."""
        window = self.words["window"]
        if window == "none":
            return 0
        if window.endswith("bdp"):
            return max(1, int(float(window[:-3]) * bdp))
        return int(window)
