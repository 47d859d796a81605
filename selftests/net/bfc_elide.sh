#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Backpressure that is left out: of that way and of no other.
#
#	ha --- pa +----------+
#	          | sw, a    | pr --- r		wires of 1 Gb/s
#	hb --- pb | bridge   |
#	          +----------+
#
# Both hosts send to r, each as much as its line takes, and pr has a limit that only pauses keep them from.
# Where packets from pa to pr pause nobody, ha's are lost, and hb's are not, which is paused as before. Where the
# elision that is set up is of another way, or is none any more, nothing is lost, so none is left out that
# was not asked for. Nor does it count what somebody without CAP_NET_ADMIN has asked for.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules

udpflow=$(cd "$(dirname "$0")" && pwd)/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
need_sluice
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

PACKETS=500
LIMIT=60000	# 40 frames

ns sw ha hb r
for name in sw ha hb r; do
	in_ns $name sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
done
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
number=0
for name in ha hb r; do
	number=$((number + 1))
	port=p${name#h}
	ip_in $name link add e0 address "$(mac $number)" type wire rate 1gbit delay 1us \
		peer name $port address "$(mac $number 1)" netns "$NS-sw" || die "no wire"
	ip_in $name addr add 10.0.0.$number/24 dev e0
	ip_in $name link set e0 up
	ip_in sw link set $port master br0 up
	in_ns sw bridge fdb replace "$(mac $number)" dev $port master static
	[ $name = r ] || neigh $name e0 10.0.0.3 "$(mac 3)"
	tc_in $name qdisc add dev e0 root bfc role host limit 100m
	tc_in sw qdisc add dev $port root bfc limit $LIMIT
done

pair() { in_ns sw "$sluice" pair "$@"; }
tier() { tc_in sw qdisc change dev "$1" root bfc tier "$2"; }

# both: ha and hb send. Sets `lost` to what each has lost, `elided` to packets that paused nobody, `pauses` to
# whether pa, pb paused anyone.
both()
{
	local host id=0 before_a before_b before

	before=$(qdisc_stat sw pr elided)
	before_a=$(qdisc_stat sw pa pauses_tx) before_b=$(qdisc_stat sw pb pauses_tx)
	in_ns r "$udpflow" sink --ports=2 --idle=50ms --timeout=5s --json >"$tmp/sink" 2>/dev/null &
	sleep 0.1
	for host in ha hb; do
		in_ns $host "$udpflow" send -d 10.0.0.3 -p $((7000 + id)) --id=$id -l 1458 -n $PACKETS \
			--sndbuf=64m >/dev/null &
		id=$((id + 1))
	done
	wait
	lost=$(jq -r --argjson n $PACKETS '[range(2) as $i | $n - ([.flows[] | select(.id == $i or .flow == $i) |
		.packets] | add // 0)] | join(",")' "$tmp/sink")
	elided=$(($(qdisc_stat sw pr elided) - before))
	pauses=$(($(qdisc_stat sw pa pauses_tx) > before_a)),$(($(qdisc_stat sw pb pauses_tx) > before_b))
}

# whole NAME: nothing is left out
whole()
{
	both
	is "$1: none is lost, both are paused, all packets may pause" "$lost $pauses $elided" "0,0 1,1 0"
}

# elides NAME: from pa to pr
elides()
{
	both
	between "$1: ha loses" "${lost%,*}" $((PACKETS / 4)) $PACKETS
	is "$1: hb does not, and alone is paused" "${lost#*,} $pauses" "0 0,1"
	between "$1: packets that paused nobody" "$elided" 1 $PACKETS
}

for host in ha hb; do
	check "$host tags" wait_until 10 tags $host e0
done
whole "nothing is elided"

diag "pairs"
check "pairs of other ways are taken" eval "pair add pa pb && pair add pb pa && pair add pr pa"
whole "pairs of other ways"
check "the pair is taken" pair add pa pr
elides "pair"
check "the pair is let go" pair del pa pr
whole "no pair any more"
check "so are the others" eval "pair del pa pb && pair del pb pa && pair del pr pa"

diag "tiers"
tier pr up
tier pa down
whole "up, from down"
tier pr down
tier pa up
whole "down, from up"
tier pr none
whole "from up to what leads nowhere"
tier pr up
elides "up, from up"
tier pa none
whole "up, from what leads nowhere"
tier pr none

diag "who is allowed to"
if command -v setpriv >/dev/null; then
	plain() { in_ns sw setpriv --bounding-set -net_admin --inh-caps -net_admin "$sluice" pair "$@"; }
	refused "adding without CAP_NET_ADMIN" "" plain add pa pr
	is "is not done" "$(pair list)" ""
	whole "refused"
	pair add pa pr
	refused "deleting without it" "" plain del pa pr
	is "is not done" "$(pair list)" "pa pr"
	elides "still there"
	check "looking is allowed" plain list
	pair del pa pr
else
	skip "without CAP_NET_ADMIN" "no setpriv here"
fi
finish
