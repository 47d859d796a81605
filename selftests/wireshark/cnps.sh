#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the packets of rocc.pcap, by the module's own codec and without a network:
#
#	cnps.sh FILE
#
# To make them anew:
#
#	selftests/wireshark/cnps.sh selftests/wireshark/rocc.pcap
#	selftests/wireshark/check --update
#
# Right ones first. The same packets, byte by byte, each time.

set -euo pipefail

cnpsend=$(dirname "$0")/../net/cnpsend
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0

# cnp FLOW [OPTION]...: one more packet
cnp()
{
	count=$((count + 1))
	"$cnpsend" "$@" save="$tmp/$(printf %03d $count)" >/dev/null
}

udp=udp,10.0.0.1,5001,10.0.0.2,7001
udp6=udp,2001:db8::1,5001,2001:db8::2,7001
tcp=tcp,10.0.0.1,40000,10.0.0.2,80,3735928559
tcp6=tcp,2001:db8::1,40000,2001:db8::2,443,4294967295
state=state=1,40000000,5120000,25600000,150000,140000,150000,300000,360000
name="point=10.0.0.254 port=3 queue=2 epoch=0x1799e59fb2c31d4f sequence=17 interval=40000 rate_min=100000"
name6="point=fe80::fe port=70000 queue=65535 epoch=0xffffffffffffffff sequence=4294967295 interval=1500000 gap=4294967295 rate_min=1"
signed="key=2 tag=0xfedcba9876543210"

# both codes, signed and not, in a VLAN and not
for vlan in "" vid=100; do
	# shellcheck disable=SC2086
	{
		cnp $udp $name rate=33333333 $vlan
		cnp $tcp $name rate=100000 $signed $vlan
		cnp $udp $name rate=10000000 $state $vlan
		cnp $tcp $name rate=10000000 $state $signed $vlan
		cnp $udp6 $name6 rate=33333333 $vlan
		cnp $tcp6 $name6 rate=100000 $signed $vlan
		cnp $udp6 $name6 rate=10000000 $state $vlan
		cnp $tcp6 $name6 rate=10000000 $state $signed $vlan
	}
done

cnp $udp rate=4294967295 key=1 tag=1		# or more
cnp $udp rate=1					# the least
cnp $udp pad=3					# something behind the quoted packet
cnp $udp pad=164				# of 256 bytes
cnp 47,10.0.0.1,1,10.0.0.2,2			# a flow without ports
cnp $udp pad=4 set=64:46,84:00000000,88:13891b5900000000	# an IP header with options
cnp $udp to=10.0.0.7				# not to the source of the flow
cnp $udp6 to=2001:db8::7
cnp $udp sum=bad
cnp $udp ttl=200

# malformed
cnp $udp pad=165				# longer than a host takes
cnp $udp cut=63					# the head is cut
cnp $udp cut=7					# less than a frame has
cnp $udp $state cut=107				# the queue is cut
cnp $udp cut=64					# it quotes nothing
cnp $udp cut=91					# not the 8 bytes
cnp $udp6 cut=111
cnp $udp set=64:44				# the quoted header is too short
cnp $udp set=64:4f				# longer than what is left
cnp $udp set=64:55				# neither IPv4 nor IPv6
cnp $udp set=70:0001				# a fragment
cnp $udp pad=20 set=64:60			# of another IP version
cnp $udp6 set=64:45
cnp $udp cut=91 set=4:00000000			# and out of range, too

# out of range
cnp $udp rate=0
cnp $udp6 epoch=0
cnp $udp key=3
cnp $udp rate_min=0
cnp $udp interval=0
cnp $udp $state rate_min=40000001
cnp $udp6 state=2,1,1,1,1,1,1,1,1

# another version
cnp $udp version=1
cnp $udp6 version=0
cnp $udp set=1:02				# a code that is not known
cnp $udp set=1:ff vid=100

# other ICMP, by its type
cnp $udp set=0:08
# an error that quotes a CNP
cnp $udp set=0:0301,4:00000000,8:4500006400000000ff010000c00000080a000001fd0000000000000001
cnp $udp set=0:c8
cnp $udp6 set=0:80
cnp $udp6 set=0:fd

mergecap -a -F nsecpcap -w "$1" "$tmp"/*
