#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Takes the frames of hopctl.pcap. To take them anew:
#
#	selftests/uml/run --out DIR selftests/wireshark/capture.sh
#	cp DIR/hopctl.pcap selftests/wireshark/
#	selftests/wireshark/check --update
#
# The first ones are the modules' own, of a link between a host and a switch that begins, is
# paused, and ends; the others are made by hand, right ones first.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	bfc on h1, p1 and p2, whose line is slow
#	by x --- x to				by hand

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/../net/lib.sh"
cd "$(dirname "$0")/../net" || exit
# shellcheck source=selftests/net/paths.sh
. "$PWD/paths.sh"
PATHS_DIR=$PWD
need_tool editcap mergecap
[ -n "${SLUICE_OUT:-}" ] || skip_all "where to? see the head of this file"

# keep NS DEV: keeps what comes in there for 8 s, in the background
keep()
{
	ip netns exec "$NS-$1" ./hopframe listen "$2" for=8000 \
		save="$PATHS_TMP/$1" >/dev/null &
	listening+=($!)
}

# Numbers of frames in a file: the first of each kind of contents, of HELLO flags, and of PAUSE
# STATEs with nothing, one, or more paused
first_of_each()
{
	./hopframe show "$1" | awk '
		function several(n) { return n > 1 ? "more" : n }
		{
			kind = ""
			for (i = 3; i <= NF; i++)
				if ($i !~ /=/ || $i ~ /^flags=/)
					kind = kind " " $i
				else if (sub(/^words=/, "", $i))
					kind = kind " " several(gsub(/[1-9a-f]/, "", $i))
			if (!seen[kind]++)
				print $1
		}'
}

paths_begin
paths_build wire
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"
ip_in sw link set p2 type wire rate 100mbit

keep h1 eth0
keep sw p1
sleep 0.5
tc_in sw qdisc replace dev p1 root handle 1: bfc || die "no bfc"
tc_in sw qdisc replace dev p2 root handle 1: bfc th 1 || die "no bfc"
tc_in h1 qdisc replace dev eth0 root handle 1: bfc role host queues 200 || die "no bfc"
check "the link tags" paths_wait 3 port_in h1 eth0 tagging
in_ns h1 "$UDPFLOW" send --dest 10.0.0.2 --packets 40 --flows 4 >/dev/null
sleep 1
tc_in h1 qdisc del dev eth0 root
wait "${listening[@]}"
mergecap -F nsecpcap -w "$PATHS_TMP/all" "$PATHS_TMP/h1" "$PATHS_TMP/sw" || die "mergecap"
# shellcheck disable=SC2046
editcap -F nsecpcap -r "$PATHS_TMP/all" "$PATHS_TMP/real" $(first_of_each "$PATHS_TMP/all") ||
	die "editcap"

ns by to
ip_in by link add x type veth peer name x netns "$NS-to" || die "no veth"
ip_in by link set x address "$(mac 6)" up
ip_in to link set x up
listening=()
keep to x
sleep 0.5
by() { in_ns by ./hopframe send x mine=aaaa0001 yours=bbbb0002 "$@" || die "hopframe $*"; }
hello=role=switch,queues=128,sent=1000,echo=900,held=50

by hello:$hello,flags=f state:seq=4294967295,lease=1500000,first=62,words=8000000000000001+1 \
	ack:seq=9 echo:nonce=c0ffee,vid=4094,size=64 goodbye
by state:seq=8,lease=100000000,words=ff00000000000000+80000000000000ff
by state:seq=10,lease=100000000,words=30 \
	roots:queue=5,id=41235,hops=2,more=1,queue=4,id=0,hops=0,more=0
by state:seq=11,lease=100000000,words=1 raw:00240008000000070003ffff	# a root, and no whole one
by vid=3 tpid=8100 probe:nonce=1,vid=3,size=64	# an 802.1Q tag
by vid=3 probe:nonce=2,vid=4,size=99		# not the tag and size that it says
by raw:00ff0004deadbeef ack:seq=1		# an unknown type
by raw:00030006000000070102			# a value longer than its struct
by raw:						# nothing at all

# malformed
by mine=0 ack:seq=1
by length=500 ack:seq=1			# longer than the frame
by raw:00030008000000			# a value is cut
by raw:0003				# a TLV's head is cut
by raw:000300020001			# a value shorter than its struct
by raw:0002001400000001000f4240000000020000000000000001	# fewer words than it says
by goodbye goodbye			# twice
by cut=7 ack:seq=1			# the header is cut

# out of range
by hello:$hello,role=3
by state:seq=1,first=64,words=1
by roots:queue=4094,id=1,hops=0,more=0
by roots:queue=1,id=1,hops=17,more=0
by vid=3 probe:nonce=3,vid=0,size=64
by version=2 ack:seq=1

# several of one type, and one too many of them
by ack:seq=1 ack:seq=2
by ack:seq=1 ack:seq=2 ack:seq=3 ack:seq=4 ack:seq=5 ack:seq=6 ack:seq=7 ack:seq=8 ack:seq=9
wait "${listening[@]}"

check "one file" mergecap -a -F nsecpcap -w "$SLUICE_OUT/hopctl.pcap" \
	"$PATHS_TMP/real" "$PATHS_TMP/to"
said=$(./hopframe show "$SLUICE_OUT/hopctl.pcap")
diag "$said"
for kind in hello state ack probe echo goodbye roots "refused malformed" "refused range" \
	    "refused version"; do
	between "frames with $kind" "$(grep -c " $kind" <<<"$said")" 1 30
done
finish
