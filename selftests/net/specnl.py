#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""specnl.py - speaks generic netlink by what a specification says, and by nothing else

    specnl.py SPEC rules                 what the specification says of its commands
    specnl.py SPEC kernel                what the kernel has registered, in the same words
    specnl.py SPEC try                   sends each command without attributes: what becomes of it
    specnl.py SPEC do COMMAND [NAME=N]...
    specnl.py SPEC dump COMMAND          as JSON; behind it how many messages the kernel needed
    specnl.py SPEC feed COMMAND          a request for each line of standard input: NAME=N...
    specnl.py SPEC run FLOWS (NETNS ADDRESS){2}   of flowgen: the results of that many flows
    specnl.py SPEC refused (NETNS ADDRESS){2}     of flowgen: what becomes of requests that are wrong
    specnl.py - classes DEV              handles of a device's classes, by rtnetlink

Shares no code with the tools whose output it is held against: no header, no library.
"""
import errno
import json
import os
import socket
import struct
import sys

NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_OPS = 3, 1, 2, 6
FLAG_BITS = {"admin-perm": 0x01, "do": 0x02, "dump": 0x04, "uns-admin-perm": 0x10}
RTM_NEWTCLASS, RTM_GETTCLASS = 40, 42
ROOM = 4096     # of a read: the kernel makes its messages so long at most


class Refused(Exception):
    def __init__(self, number):
        super().__init__(os.strerror(number))
        self.name = errno.errorcode[number]


def attribute(kind, data):
    pad = -len(data) % 4
    return struct.pack("=HH", len(data) + 4, kind) + data + bytes(pad)


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3fff, data[at + 4:at + length]
        at += (length + 3) & ~3


class Netlink:
    def __init__(self, protocol):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.socket.bind((0, 0))
        self.sequence = 0
        self.messages = 0

    def request(self, kind, flags, payload):
        """Yields the payloads of the answers."""
        self.sequence += 1
        self.messages = 0
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST | flags,
                                     self.sequence, 0) + payload)
        while True:
            data = self.socket.recv(ROOM)
            self.messages += 1
            at = 0
            while at + 16 <= len(data):
                length, kind, _, sequence, _ = struct.unpack_from("=IHHII", data, at)
                payload = data[at + 16:at + length]
                at += (length + 3) & ~3
                if sequence != self.sequence:
                    continue
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    number = struct.unpack_from("=i", payload)[0]
                    if number < 0:
                        raise Refused(-number)
                    return
                yield payload


class Family:
    def __init__(self, path):
        import yaml
        with open(path, encoding="utf-8") as f:
            self.spec = yaml.safe_load(f)
        self.name = self.spec["name"]
        self.words = {d["name"]: d for d in self.spec.get("definitions", [])}
        self.sets = {s["name"]: s["attributes"] for s in self.spec["attribute-sets"]}
        self.commands = {op["name"]: (number, op)
                         for number, op in enumerate(self.spec["operations"]["list"], 1)}

    def find(self):
        """Asks the kernel for the family."""
        self.netlink = Netlink(NETLINK_GENERIC)
        head = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 2, 0)
        name = attribute(CTRL_ATTR_FAMILY_NAME, self.name.encode() + b"\0")
        for answer in self.netlink.request(GENL_ID_CTRL, NLM_F_ACK, head + name):
            found = dict(attributes(answer[4:]))
        self.number = struct.unpack("=H", found[CTRL_ATTR_FAMILY_ID])[0]
        self.registered = {}
        for _, op in attributes(found.get(CTRL_ATTR_OPS, b"")):
            number, bits = (struct.unpack("=I", data)[0] for _, data in sorted(attributes(op)))
            self.registered[number] = {word for word, bit in FLAG_BITS.items() if bits & bit}

    def said(self):
        """By number: what the specification says of each command that can be sent."""
        return {number: {way for way in ("do", "dump") if way in op} | set(op.get("flags", []))
                for number, op in self.commands.values() if "event" not in op}

    def is_change(self, op):
        """Without an answer there is no other reason to send it."""
        return "do" in op and "reply" not in op["do"]

    def pack(self, values):
        space = {a["name"]: (kind, a) for kind, a in enumerate(self.sets[self.name], 1)}
        data = b""
        for name, value in values.items():
            kind, a = space[name]
            if not isinstance(value, bytes):
                value = int(value).to_bytes(int(a["type"][1:]) // 8, "little")
            data += attribute(kind, value)
        return data

    def ask(self, command, flags, values=None):
        number, op = self.commands[command]
        head = struct.pack("=BBH", number, 1, 0)
        return self.netlink.request(self.number, flags, head + self.pack(values or {}))

    def value(self, a, data):
        if a["type"] == "nest":
            return self.decode(a["nested-attributes"], data)
        if a["type"] == "string":
            return data.rstrip(b"\0").decode()
        if a.get("display-hint") == "mac":
            return data.hex(":")
        if a["type"] == "binary" and a.get("sub-type") == "u64":
            bits = int.from_bytes(data, "little")
            return [i for i in range(bits.bit_length()) if bits >> i & 1]
        if a["type"] == "binary":
            return data
        if len(data) != int(a["type"][1:]) // 8:
            raise ValueError(f"{a['name']}: {len(data)} bytes")
        number = int.from_bytes(data, "little")
        if "enum" in a and self.words[a["enum"]]["type"] == "enum":
            return self.words[a["enum"]]["entries"][number]["name"].replace("-", "_")
        return bool(number) if "(JSON: boolean)" in a.get("doc", "") else number

    def decode(self, space, data):
        known = dict(enumerate(self.sets[space], 1))
        found = {}
        for kind, payload in attributes(data):
            name = known[kind]["name"].replace("-", "_")
            if known[kind]["type"] == "pad":
                continue
            if name in found:
                raise ValueError(f"{name} twice")
            found[name] = self.value(known[kind], payload)
        return found

    def answers(self, command, flags, values=None):
        return [self.decode(self.name, answer[4:]) for answer in self.ask(command, flags, values)]


def lines(commands, family):
    names = {number: name for name, (number, _) in family.commands.items()}
    for number, words in sorted(commands.items()):
        print(family.name, number, names.get(number, "?"), *sorted(words))


def rules(family):
    lines(family.said(), family)
    for name, (_, op) in family.commands.items():
        if family.is_change(op) and not op.get("flags"):
            print(family.name, name, "changes something, and anybody may send it")


def try_all(family):
    for name, (_, op) in family.commands.items():
        for way in ("do", "dump"):
            if way not in op:
                continue
            result = "done"
            try:
                for _ in family.ask(name, NLM_F_DUMP if way == "dump" else NLM_F_ACK):
                    pass
            except Refused as e:
                result = "EPERM" if e.name == "EPERM" else "let through"
            print(family.name, name, way, "let through" if result == "done" else result)


def pairs(words):
    return dict(word.split("=") for word in words)


def run(family, count, *ends):
    """flowgen: so many small flows between two addresses, this way and that"""
    def do(command, values=None):
        for _ in family.ask(command, NLM_F_ACK, values):
            pass

    do("run-new", {"flows": count, "ends": 2, "limit": 10 ** 10})
    for end in range(2):
        with open(ends[2 * end], "rb") as f:
            do("end-add", {"end": end, "netns": f.fileno(),
                           "address4": socket.inet_aton(ends[2 * end + 1])})
    for first in range(0, count, 1000):
        do("flow-add", {"flow-list": b"".join(
            struct.pack("=QQIIB7x", 1000 * i, 1 + i % 9, i % 2, 1 - i % 2, 0)
            for i in range(first, min(count, first + 1000)))})
    do("run-start")
    while True:
        event = family.netlink.socket.recv(ROOM)
        if family.decode("flowgen", event[20:]).get("state") in ("done", "limit"):
            break
    seen, wrong = 0, 0
    for part in family.answers("result-get", NLM_F_DUMP):
        wrong += part["first"] != seen
        for done, acked, packets, again, timeouts, zero in struct.iter_unpack("=QQQQII", part["result_list"]):
            wrong += not 1000 * seen <= done <= acked or (packets, again, timeouts, zero) != (1, 0, 0, 0)
            seen += 1
    print(seen, "results,", wrong, "wrong,", "several messages" if family.netlink.messages > 2 else "one message")


def refused(family, *ends):
    """flowgen: what each of these says of itself, and what the kernel says of it"""
    def do(name, command, values=None):
        try:
            for _ in family.ask(command, NLM_F_ACK, values):
                pass
            print(name, "taken")
        except Refused as e:
            print(name, e.name)

    def flow(src=0, dst=1, size=1, reserved=0):
        return struct.pack("=QQIIB6xB", 0, size, src, dst, 0, reserved)

    with open(ends[0], "rb") as a, open(ends[2], "rb") as b:
        first, second = (socket.inet_aton(address) for address in ends[1::2])
        end = {"end": 0, "netns": a.fileno(), "address4": first}
        do("no-run", "end-add", end)
        do("cc-that-gbn-lacks", "run-new", {"flows": 1, "ends": 2, "cc": b"reno\0", "rate": 10**9})
        do("cc-without-rate", "run-new", {"flows": 1, "ends": 2, "cc": b"dcqcn\0"})
        do("rate-without-cc", "run-new", {"flows": 1, "ends": 2, "rate": 10**9})
        for law, option in (("dcqcn", "hpcc-eta"), ("hpcc", "dcqcn-add")):
            do(f"{option}-with-{law}", "run-new",
               {"flows": 1, "ends": 2, "cc": law.encode() + b"\0", "rate": 10**9, option: 100})
        hpcc = {"flows": 1, "ends": 2, "cc": b"hpcc\0", "rate": 10**9}
        for option, least, most in (("hpcc-rtt", 1000, 10**9), ("hpcc-eta", 1, 10**4), ("hpcc-stages", 0, 1000),
                                    ("hpcc-add", 1, 2**48)):
            if least:
                do(f"small-{option}", "run-new", hpcc | {option: least - 1})
            do(f"large-{option}", "run-new", hpcc | {option: most + 1})
        do("a-run", "run-new", {"flows": 1, "ends": 2, "limit": 10 ** 10})
        do("a-run-again", "run-new", {"flows": 1, "ends": 2})
        # what is right but for the run that there is
        do("least-of-hpcc", "run-new", hpcc | {"hpcc-rtt": 1000, "hpcc-eta": 1, "hpcc-stages": 0, "hpcc-add": 1})
        do("most-of-hpcc", "run-new",
           hpcc | {"hpcc-rtt": 10**9, "hpcc-eta": 10**4, "hpcc-stages": 1000, "hpcc-add": 2**48})
        do("no-such-end", "end-add", end | {"end": 2})
        do("no-address", "end-add", {"end": 0, "netns": a.fileno()})
        do("two-addresses", "end-add", end | {"address6": bytes(15) + b"\1"})
        do("no-netns", "end-add", end | {"netns": 0})
        do("an-end", "end-add", end)
        do("an-end-again", "end-add", end)
        do("another-end", "end-add", {"end": 1, "netns": b.fileno(), "address4": second})
        do("watch-without-interval", "watch-add", {"netns": a.fileno(), "device": b"lo\0"})
        do("half-a-flow", "flow-add", {"flow-list": flow()[:-1]})
        do("reserved-bytes", "flow-add", {"flow-list": flow(reserved=1)})
        do("too-many-flows", "flow-add", {"flow-list": flow() + flow()})
        do("too-few-flows", "run-start")
        do("a-flow", "flow-add", {"flow-list": flow()})
        do("a-start", "run-start")
        do("a-start-again", "run-start")
        do("late-flow", "flow-add", {"flow-list": flow()})


def classes(dev):
    netlink = Netlink(NETLINK_ROUTE)
    request = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(dev), 0, 0, 0)
    for answer in netlink.request(RTM_GETTCLASS, NLM_F_DUMP, request):
        handle = struct.unpack_from("=BxxxiIII", answer)[2]
        print(f"{handle >> 16:x}:{handle & 0xffff:x}")
    print(netlink.messages, file=sys.stderr)


def main(spec, verb, *words):
    if spec == "-":
        return classes(*words)
    family = Family(spec)
    if verb == "rules":
        return rules(family)
    family.find()
    if verb == "kernel":
        lines(family.registered, family)
    elif verb == "try":
        try_all(family)
    elif verb == "do":
        print(json.dumps(family.answers(words[0], NLM_F_ACK, pairs(words[1:]))))
    elif verb == "dump":
        print(json.dumps(family.answers(words[0], NLM_F_DUMP)))
        print(family.netlink.messages)
    elif verb == "feed":
        for line in sys.stdin:
            for _ in family.ask(words[0], NLM_F_ACK, pairs(line.split())):
                pass
    elif verb == "run":
        run(family, int(words[0]), *words[1:])
    elif verb == "refused":
        refused(family, *words)
    else:
        sys.exit(__doc__)


try:
    main(*sys.argv[1:])
except Refused as e:
    sys.exit(f"specnl.py: {e.name}")
