#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where a packet came from (kernel/hopctl/origin.c), by a kind that only tests use (selftests/window), which asks for each
# packet, and says what it was told of the last one: by handle, by port, by devices above a port, or not at all.
#
#	a:p1 --- b:q1 [ bridged, routed, and what is above them ] b:r ----1M---- c:y
#	a:p2 --- b:q2
#	a:p3 --- b:q3, without a qdisc

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge jq
need_program frames skbfield q_window.so
# set by need_program
: "${frames:?}" "${skbfield:?}" "${q_window:?}"
load_modules
if [ -n "${SLUICE_MODDIR:-}" ] && module_file sch_window && [ -z "$REPLY" ]; then
	die "there is no sch_window.ko in $SLUICE_MODDIR: make test-modules makes it"
fi
need_module sch_window
need_sluice

FRAME=1000	# bytes
HANDLE=32768	# the first one
ns a b c
a=$NS-a
b=$NS-b
for box in a b c; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
in_ns b sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter; echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter'
ips() { ip -n "$1" -batch - <<<"$2" || die "ip: $2"; }
link() { ips "$a" "link add p$1 address $(mac 1 "$1") type wire rate 1gbit ring 0 peer name q$1 netns $b
link set p$1 up"; ips "$b" "link set q$1 address $(mac 2 "$1") up"; }
for n in 1 2 3; do link $n; done
ips "$b" "link add r address $(mac 2 9) type wire rate 1mbit ring 0 peer name y address $(mac 3) netns $NS-c
link set r up
addr add 10.0.9.1/24 dev r
neigh add 10.0.9.2 lladdr $(mac 3) nud permanent dev r"
ip_in c link set y up
window() { for port; do tc_in b qdisc replace dev "$port" root handle 1: window || die "no qdisc window at $port"; done; }
window q1 q2 r

ifindex() { ip_in b -j link show dev "$1" | jq '.[0].ifindex'; }
# figures KEY...: sets REPLY to those of r's qdisc
figures() { TC_LIB_DIR=${q_window%/*} kind_figs window b r "$@"; }
# sluice_port DEV KEY: what sluice shows of the port, null if there is none
sluice_port()
{
	[[ $("$sluice" -n "$b" -j show -s "$1" 2>/dev/null) =~ \"$2\":[[:space:]]*([^],}[:space:]]+) ]] && echo "${BASH_REMATCH[1]}" || echo null
}
unknown() { sluice_port r origin_unknown; }
rests() { figures backlog; [ "$REPLY" = 0 ]; }
idle() { wait_until 30 rests || die "r does not send"; }

has_come() { figures qlen; [ "$REPLY" -ge "$1" ]; }
met() { [ "$(sluice_port q1 peer_role)" != null ] && came 1 && [ "$o" -ge $HANDLE ]; }
parted() { came 1 && [ "$o" -lt $HANDLE ]; }
ended() { came "$@" && [ "$o" = 0 ]; }

# came N [WORDS]: a packet of a flow by p$1 to the router, or where WORDS say; p is then the port, o the origin, w what waits of
# that origin, u how many without one were counted.
came()
{
	local before

	idle
	before=$(unknown)
	"$frames" -l -w 5 "$a/p$1" "$a/lo" >/dev/null \
		<<<"x bytes=$FRAME from=10.0.$1.1 to=10.0.9.2 sport=1 dport=9 dst=$(mac 2 "$1") ${*:2}" || die "frames"
	figures origin_port origin origin_bytes
	read -r p o w <<<"$REPLY"
	u=$(($(unknown) - before))
}
# by NAME PORT N [WORDS]: it came by the port
by()
{
	came "${@:3}"
	is "$1: by $2" "$p $((o > 0 && o < HANDLE)) $w $u" "$(ifindex "$2") 1 $FRAME 0"
}
# lost NAME N [WORDS]: it is not known
lost()
{
	came "${@:2}"
	is "$1: not known, and counted" "$p $o $w $u" "0 0 0 1"
}

diag "a router"
ips "$b" "addr add 10.0.1.2/24 dev q1
addr add 10.0.2.2/24 dev q2
addr add 10.0.3.2/24 dev q3"
by "routed" q1 1
first=$o
by "routed" q2 2
differs=$((o != first))
is "ports have different numbers" "$differs" 1
by "the first one again" q1 1
is "has the number that it had" "$o" "$first"
lost "by a device without a port" 3
window q3
by "that has a port now" q3 3

diag "what waits"
idle
"$frames" -l -w 0 "$a/p1" "$a/lo" >/dev/null <<<"x n=20 bytes=$FRAME from=10.0.1.1 to=10.0.9.2 sport=1 dport=9 dst=$(mac 2 1)" ||
	die "frames"
wait_until -e 10 5 has_come 10 || diag "they have left"
figures origin_bytes qlen
read -r w waits <<<"$REPLY"
is "is the bytes of all of them that are there" "$((w > 10 * FRAME && w <= 20 * FRAME)) $((waits > 0))" "1 1"
by "and nothing once they have left" q1 1
by "nor of another port" q2 2

diag "handles"
ips "$a" "link set p1 down"
tc_in a qdisc replace dev p1 root handle 1: window
ips "$a" "link set p1 up"
check "they meet" wait_until -e 100 20 met
came 1
is "what came with a tag: its handle, of the same port" "$p $((o >= HANDLE)) $w $u" "$(ifindex q1) 1 $FRAME 0"
tc_in a qdisc del dev p1 root
check "they part" wait_until -e 100 30 parted
by "and what comes without one, again" q1 1

diag "tc_index is the user's"
tc_in b qdisc add dev q1 clsact
tc_in b qdisc add dev r clsact
tmp=$(mktemp -d)
trap 'umount "$tmp" 2>/dev/null; rmdir "$tmp"; _at_exit' EXIT
mount -t bpf bpf "$tmp" || die "no file system of BPF"	# not /sys/fs/bpf: ip netns hides it
# program DEV WHERE VERB VALUE: a tc program there that writes tc_index, or drops what has another one
program()
{
	rm -f "$tmp/program"
	"$skbfield" "$3" tc_index "$4" "$tmp/program" &&
		tc_in b filter replace dev "$1" "$2" pref 1 handle 1 bpf da object-pinned "$tmp/program" || die "no program"
}
program q1 ingress write 5
program r egress keep 5
by "it is 5, and stays" q1 1
program r egress write 65000
forged=$(sluice_port r handle_forged)
by "it is a handle that nobody gave" q1 1
is "which is counted" $(($(sluice_port r handle_forged) - forged)) 1
tc_in b qdisc del dev q1 clsact
tc_in b qdisc del dev r clsact

diag "devices above a port"
SEVEN="tag=7 bytes=$((FRAME + 4))"
EIGHT="tag=8 bytes=$((FRAME + 4))"
NINE="tag=9 bytes=$((FRAME + 4))"
ips "$b" "link add link q1 name v1 type vlan id 7
link add link v1 name v2 type vlan id 8
link set v1 up
link set v2 up
addr add 10.7.1.2/24 dev v1
link add link q1 name m1 address $(mac 4) type macvlan mode bridge
link set m1 up"
by "a VLAN" q1 1 $SEVEN
by "a macvlan" q1 1 "dst=$(mac 4)"
number=$(ifindex q2)
ips "$b" "link add link q2 name w2 index $((number + 256)) type vlan id 7
link set w2 up
link add link q2 name x2 index $((number + 512)) type vlan id 8
link set x2 up"
for round in 1 2; do
	by "one of some with one place in the cache, $round" q2 2 $SEVEN
	by "the next, $round" q2 2 $EIGHT
	by "the port, $round" q2 2
	by "another port, $round" q1 1
done
# The port ends, and whatever was remembered of it
tc_in b qdisc del dev q1 root
check "without a qdisc the port ends" wait_until -e 200 30 ended 1 "$SEVEN"
lost "a VLAN whose port has ended" 1 $SEVEN
window q1
by "that is there again" q1 1 $SEVEN
ips "$b" "link del v1
link del m1"

diag "bonding"
ips "$b" "link add bond0 address $(mac 2 1) type bond mode balance-rr
addr add 10.0.1.3/24 dev bond0
link set q1 down
link set q1 master bond0
link set q1 up
link set bond0 up"
by "of one port" q1 1
ips "$b" "link set q3 down
link set q3 master bond0
link set q3 up"
lost "of two" 1
ips "$b" "link set q3 nomaster"
by "of one again" q1 1
ips "$b" "link del bond0
link set q1 up
link set q1 address $(mac 2 1)"

diag "bridges"
ips "$b" "link add br0 address $(mac 5) type bridge mcast_snooping 0
link set q1 master br0
link set q2 master br0
link set br0 up"
lost "what a bridge routes" 1 "dst=$(mac 5)"
lost "what a bridge routes, by another port" 2 "dst=$(mac 5)"
ips "$b" "link set q2 nomaster"
lost "of one port" 1 "dst=$(mac 5)"
ips "$b" "link set q2 master br0
link set r master br0"
bridge -n "$b" fdb replace "$(mac 3)" dev r master static
by "what it forwards" q1 1 "dst=$(mac 3)"
by "by another port" q2 2 "dst=$(mac 3)"
ips "$b" "link set r nomaster
link del br0"

diag "a device of another namespace, above a port of this one"
ips "$b" "link add link q1 name v3 type vlan id 9
link set v3 netns $NS-c"
ips "$NS-c" "addr add 10.9.1.2/24 dev v3
link set v3 up
addr add 10.0.9.2/24 dev y
neigh add 10.0.9.7 lladdr $(mac 2 9) nud permanent dev y"
in_ns c sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
tc_in c qdisc replace dev y root window || die "no qdisc window at y"
"$frames" -l -w 5 "$a/p1" "$a/lo" >/dev/null <<<"x $NINE from=10.0.1.1 to=10.0.9.7 sport=1 dport=9 dst=$(mac 2 1)" || die "frames"
is "not known there, and counted" \
	"$(TC_LIB_DIR=${q_window%/*} tc_in c -j -s qdisc show dev y | jq '.[0].origin') $("$sluice" -n "$NS-c" -j show -s y |
		jq '.[0].port.origin_unknown')" "0 1"
ips "$NS-c" "link del v3"
tc_in c qdisc del dev y root

diag "what is sent here"
before=$(unknown)
idle
"$frames" -l -w 5 "$b/r" "$b/lo" >/dev/null <<<"x bytes=$FRAME from=10.0.9.1 to=10.0.9.2 sport=1 dport=9 dst=$(mac 3)" || die "frames"
figures origin_port origin
read -r p o <<<"$REPLY"
is "has no origin, and is not counted" "$p $o $(($(unknown) - before))" "0 0 0"

diag "a port that goes while what came by it waits"
"$frames" -l -w 0 "$a/p2" "$a/lo" >/dev/null <<<"x n=50 bytes=$FRAME from=10.0.2.1 to=10.0.9.2 sport=1 dport=9 dst=$(mac 2 2)" ||
	die "frames"
wait_until -e 10 5 has_come 20 || diag "they have left"
figures origin
before=$REPLY
ips "$a" "link del p2"
figures qlen
waits=$REPLY
link 2
ips "$b" "addr add 10.0.2.2/24 dev q2"
window q2
idle
by "the port that comes after it: only what is its own" q2 2
is "there was something, and the new one has another number" "$((waits > 0)) $((o != before))" "1 1"

for port in q1 q2 q3 r; do
	tc_in b qdisc del dev $port root
done
nothing_to_inspect "the kind window has no port's figures: nothing waits of any origin, see above"
finish
