#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Links so slow that what control frames may take of them, 1 %, is less than a pause needs to be said as often as
# elsewhere: it has to last all the same.
#
#	a:up ---- b:q [ bridge ] b:r ---- b:y		r takes a frame in 1 s

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool ip tc bridge jq
need_program frames
: "${frames:?}"
load_modules

ns a b
tcs() { tc -n "$NS-$1" -batch - <<<"$2" || die "tc: $2"; }
ips() { ip -n "$NS-$1" -batch - <<<"$2" || die "ip: $2"; }
figs() { port_figs bfc "$NS-$1" "$2" "${@:3}"; }

# slow RATE QUEUES SECONDS [OPTION]...: of b, which pauses for so long
slow()
{
	local what="$1, $2 sub-queues${4:+, }${*:4}" rx expired

	ips a "link add up1 address $(mac 1) type wire rate $1 delay 1us ring 0 peer name q netns $NS-b"
	ips b "link add br0 type bridge mcast_snooping 0
link set br0 up
link set q master br0 up
link add r type wire rate 8kbit ring 0 peer name y
link set r master br0 up
link set y up"
	ip_in a link set up1 up
	bridge -n "$NS-b" fdb replace "$(mac 9)" dev r master static
	tcs a "qdisc add dev up1 root bfc queues $2 nowatch"
	tcs b "qdisc add dev q root bfc queues $2 nowatch ${*:4}
qdisc add dev r root bfc th 2000 nowatch"
	arrives_tagged() { "$frames" -l -w 0 "$NS-a/up1" "$NS-a/lo" <<<"x dst=$(mac 8) from=10.0.0.1 to=10.0.0.2" &&
		figs b q tag_stripped && [ "$REPLY" -gt 0 ]; }
	check "$what: tags" wait_until -e 200 100 arrives_tagged
	"$frames" -l -w 0 "$NS-a/up1" "$NS-a/lo" \
		<<<"x n=40 bytes=1000 dst=$(mac 9) from=10.0.0.1 to=10.0.0.2 sport=1 dport=9" || die "frames"
	paused() { figs a up1 paused_queues; [ "$REPLY" = 1 ]; }
	check "$what: a sub-queue is paused" wait_until -e 1 10000 paused
	figs a up1 state_rx lease_expired
	read -r rx expired <<<"$REPLY"
	sleep "$3"
	check "$what: it still is" paused
	figs a up1 lease_expired
	is "$what: no lease has ended" "$((REPLY - expired))" 0
	figs a up1 state_rx
	between "$what: it was told so" $((REPLY - rx)) 1 100000
	# nothing leaves r for long yet
	tcs b "qdisc replace dev r root pfifo"
	over() { figs a up1 paused_queues qlen; [ "$REPLY" = "0 0" ]; }
	check "$what: all leaves" wait_until -e 100 20 over
	leave_ports
	tcs b "qdisc del dev q root"
	tcs a "qdisc del dev up1 root"
	ip_in a link del up1
	ip_in b link del r
	ip_in b link del br0
}

slow 1gbit 4094 2
slow 100mbit 128 2
slow 100mbit 4094 2
slow 10mbit 128 2
slow 10mbit 4094 2
# a lease that does not allow for it lasts for as long as a few frames may be owed
slow 100mbit 64 0.001 refresh 250us lease 500us

leave_spaces
finish
