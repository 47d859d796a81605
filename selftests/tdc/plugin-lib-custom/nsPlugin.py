# SPDX-License-Identifier: GPL-2.0-only
"""
nsPlugin for tdc.py: each case in a network namespace of its own, gone afterwards whatever the case
left behind, with $DUMMY up as 10.9.0.1/24. The plugin of this name that comes with tdc.py has one
namespace for all cases and no $DUMMY in 6.1, and starts several processes for each case
later. Here it is the tdc process itself that moves, so that a command needs no `ip netns exec`
in front, and a pipe or a list of commands is in the namespace as a whole; and the device is
made without a process, which is what takes the time in User-Mode Linux.

IPv6 is off: its own packets would be counted with those of a case. The kernel's log names each
case, so that a fault there has an owner.
"""
import ctypes
import os
import socket
import struct

from TdcPlugin import TdcPlugin

CLONE_NEWNET = 0x40000000
ADDRESS, PREFIX = '10.9.0.1', 24

# linux/netlink.h, rtnetlink.h, if_link.h, if_addr.h
NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR = 16, 17, 20
IFF_UP, IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 1, 3, 18, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2


def attribute(number, data):
    return struct.pack('=HH', 4 + len(data), number) + data + bytes(-len(data) % 4)


def request(sock, number, body, flags=NLM_F_EXCL | NLM_F_CREATE):
    flags |= NLM_F_REQUEST | NLM_F_ACK
    sock.send(struct.pack('=IHHII', 16 + len(body), number, flags, 1, 0) + body)
    error, = struct.unpack_from('=i', sock.recv(65536), 16)
    if error:
        raise OSError(-error, os.strerror(-error))


def make_dummy(name):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        kind = attribute(IFLA_INFO_KIND, b'dummy')
        request(sock, RTM_NEWLINK, struct.pack('=BxHiII', 0, 0, 0, IFF_UP, IFF_UP) +
                attribute(IFLA_IFNAME, name.encode() + b'\0') + attribute(IFLA_LINKINFO, kind))
        address = socket.inet_aton(ADDRESS)
        request(sock, RTM_NEWADDR, struct.pack('=BBBBI', socket.AF_INET, PREFIX, 0, 0,
                                               socket.if_nametoindex(name)) +
                attribute(IFA_LOCAL, address) + attribute(IFA_ADDRESS, address))


def remove(names):
    """A packet that waits in a qdisc holds its socket, and this its namespace."""
    present = {name: index for index, name in socket.if_nameindex()}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        for name in names:
            if name in present:
                request(sock, RTM_DELLINK, struct.pack('=BxHiII', 0, 0, present[name], 0, 0), 0)


class SubPlugin(TdcPlugin):
    def __init__(self):
        self.sub_class = 'ns/SubPlugin'
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.away = False
        self.home = os.open('/proc/self/ns/net', os.O_RDONLY | os.O_CLOEXEC)
        super().__init__()

    def pre_case(self, caseinfo, test_skip):
        super().pre_case(caseinfo, test_skip)
        if test_skip:
            return
        self.log('{} {}'.format(caseinfo['id'], caseinfo['name']))
        self.go_home()
        self.check(self.libc.unshare(CLONE_NEWNET))
        self.away = True
        with open('/proc/sys/net/ipv6/conf/default/disable_ipv6', 'w') as off:
            off.write('1')
        make_dummy(self.args.NAMES['DUMMY'])

    def post_case(self):
        super().post_case()
        self.go_home()

    # A case that broke down has had no post_case.
    def post_suite(self, index):
        super().post_suite(index)
        self.go_home()

    def go_home(self):
        if self.away:
            remove([self.args.NAMES['DUMMY'], self.args.NAMES['ETH']])
            self.check(self.libc.setns(self.home, CLONE_NEWNET))
            self.away = False

    def check(self, status):
        if status:
            raise OSError(ctypes.get_errno(), 'network namespace')

    def log(self, text):
        try:
            with open('/dev/kmsg', 'w') as kmsg:
                kmsg.write('tdc: {}\n'.format(text))
        except OSError:
            pass
