#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is one flow: what packets say of themselves, and nothing else.
#
#	a:p ---- b:q		wire
#
# A TCP connection runs into retransmission timeouts, since the line loses everything for a while. Each
# time the kernel gives the socket another hash, for ECMP to find another path; with IPv6 the flow
# label follows. The packets are those of the same flow, of which some may still wait.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc
need_virtual_time
load_modules hopctl sch_bfc wire

udpflow=$(cd "$(dirname "$0")" && pwd)/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"

ns a b
ip_in a link add p address "$(mac 1)" type wire rate 1gbit delay 10us \
	peer name q address "$(mac 2)" netns "$NS-b"
for end in a:p:1 b:q:2; do
	IFS=: read -r space dev n <<<"$end"
	ip_in "$space" link set "$dev" addrgenmode none up
	ip_in "$space" addr add 10.0.0."$n"/24 dev "$dev"
	ip_in "$space" addr add fd00::"$n"/64 dev "$dev" nodad
	ip_in "$space" link add link "$dev" name "$dev.5" type vlan id 5
	ip_in "$space" link set "$dev.5" addrgenmode none up
	ip_in "$space" addr add fd00:5::"$n"/64 dev "$dev.5" nodad
done
for far in p:10.0.0.2 p:fd00::2 p.5:fd00:5::2; do
	neigh a "${far%%:*}" "${far#*:}" "$(mac 2)"
done
for far in q:10.0.0.1 q:fd00::1 q.5:fd00:5::1; do
	neigh b "${far%%:*}" "${far#*:}" "$(mac 1)"
done

# fresh OPTIONS: a new qdisc, which has seen no packet
fresh()
{
	tc_in a qdisc del dev p root 2>/dev/null
	# shellcheck disable=SC2086
	tc_in a qdisc add dev p root handle 1: bfc role host nowatch queues 1024 $1
}

# used: sets REPLY to how many sub-queues were ever used
used()
{
	local text

	text=$(tc_in a -s class show dev p)
	REPLY=$(grep -c ' parent ' <<<"$text")
}

# timeouts: sets REPLY to how often a socket got another hash for a timeout
timeouts()
{
	local names values i

	REPLY=0
	{
		while read -r -a names && read -r -a values; do
			for ((i = 1; i < ${#names[@]}; i++)); do
				[ "${names[i]}" != TcpTimeoutRehash ] || REPLY=${values[i]}
			done
		done
	} < <(in_ns a cat /proc/net/netstat)
}

lossy() { ip_in a link set p type wire loss_data "$1" || die "no loss"; }

# tcp NAME ADDRESS OPTIONS SECONDS: a connection that the line fails for so long
tcp()
{
	local before

	sleep 1		# the one before says good-bye
	fresh "$3"
	timeouts
	before=$REPLY
	in_ns b "$udpflow" tcpsink --expect 1 --idle 20s --timeout 60s >/dev/null &
	sink=$!
	sleep 0.1
	in_ns a "$udpflow" tcpsend -d "$2" --bytes 20000000 >/dev/null &
	source=$!
	sleep 0.05
	lossy 100%
	sleep "$4"
	lossy 0%
	wait $source
	is "$1: how the connection ends" $? 0
	wait $sink
	timeouts
	between "$1: timeouts that gave the socket another hash" $((REPLY - before)) 1 100
	used
	is "$1: sub-queues of the connection" "$REPLY" 1
}

tcp "IPv4" 10.0.0.2 "assign stochastic" 3
tcp "IPv4, by flow table" 10.0.0.2 "sticky 1s" 0.5
tcp "IPv6" fd00::2 "assign stochastic" 3
tcp "IPv6 in a VLAN" fd00:5::2 "assign stochastic" 3

# one NAME N COMMAND...: so many sub-queues are used by what it sends
one()
{
	local name=$1 want=$2

	shift 2
	fresh "assign stochastic"
	"$@" >/dev/null || fail "$name" "$*"
	sleep 0.1
	used
	is "$name" "$REPLY" "$want"
}

send() { in_ns a "$udpflow" send --sport 6000 -n 8 "$@"; }
# shellcheck disable=SC2086
both() { send -d $1 && send -d $2; }

sleep 1
one "fragments of IPv4 are one flow" 1 send -d 10.0.0.2 -l 8000
one "fragments of IPv6 are one flow" 1 send -d fd00::2 -l 8000
one "another port is another flow" 2 both 10.0.0.2 "10.0.0.2 --port 7001"

finish
