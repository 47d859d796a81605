#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A buffer that the ports of a switch share, by dynamic thresholds.
#
#	a: w0, w1, w2, w3	wires on which a frame takes 10 s: what is sent waits
#
# Who may hold alpha times what is free holds alpha / (1 + n alpha) of the pool, if n of them want
# all they can get: exact to a frame, since nothing leaves meanwhile. In whatever way a packet
# leaves, its room is free again; with the last qdisc the pool is gone.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
here=$(cd "$(dirname "$0")" && pwd)
udpflow=$here/udpflow
gsosend=$here/gsosend
[ -x "$udpflow" ] && [ -x "$gsosend" ] || skip_all "udpflow or gsosend is not built"
load_modules

FRAME=1000
POOL=$((100 * FRAME))
SLOW=800bit

ns a b
space=$NS-a
for name in a b; do
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
# port NAME N: wire wN, whose other end nobody listens at
port()
{
	ip_in "$1" -batch - <<-END || die "no wire"
		link add w$2 address $(mac "$2") type wire rate $SLOW ring 0 peer name x$2
		link set x$2 up
		link set w$2 up
		addr add 10.0.$2.1/24 dev w$2
		neigh replace 10.0.$2.2 lladdr $(mac "$2" 1) nud permanent dev w$2
	END
}
port b 0

tcs() { tc -n "$space" -batch - <<<"$1" || die "tc: $1"; }
speed() { ip_in a link set "$1" type wire rate "$2"; }

# sends N FRAMES [ARG...]: to the other end of wN
sends() { in_ns a "$udpflow" send -d "10.0.$1.2" -l $((FRAME - 42)) --sndbuf=64m -n "${@:2}" >/dev/null; }

# busy N...: a frame is on these lines, so that all that follow have to wait
busy()
{
	local i

	for i; do
		sends "$i" 1
	done
}

# hogs FRAMES N...: as many to each of them, in turn
hogs()
{
	local start i pids=()

	start=$(($("$udpflow" now) + 100000000))
	for i in "${@:2}"; do
		sends "$i" "$1" --rate=80m --at=$start &
		pids+=($!)
	done
	wait "${pids[@]}"
}

figs() { bfc_figs "$space" "$@" && echo "$REPLY"; }

# anew N OPTIONS: new wires, the first N of them with bfc and a frame on the line
anew()
{
	local i

	for i in 0 1 2 3; do
		ip_in a link del x$i 2>/dev/null
		port a $i
	done
	for ((i = 0; i < $1; i++)); do
		# shellcheck disable=SC2086
		tc_in a qdisc add dev w$i root handle 1: bfc $2 || die "no bfc"
		busy $i
	done
}

diag "shares"
anew 1 "pool $POOL"
sends 0 200
is "alone: half" "$(figs w0 qlen pool_used pool_max)" "50 50000 50000"
is "the others were dropped as they came" "$(figs w0 drop_pool drops drop_limit)" "150 150 0"
is "the pool's size is shown" "$(figs w0 pool_size)" $POOL
sends 0 5 --priority=7
is "the control class has its own room" "$(figs w0 control drop_control pool_used)" "5 0 50000"

# exact NAME GOT WANT: what depends on who comes first is exact where computing takes no time
exact()
{
	local low=${3%% *}

	if [ "${SLUICE_HOME:-}" = uml ]; then
		is "$1" "$2" "$3"
	else
		between "$1 (first)" "${2%% *}" $((low - low / 4)) $((low + low / 4))
	fi
}
anew 2 "pool $POOL"
hogs 100 0 1
exact "two: a third each" "$(figs w0 qlen) $(figs w1 qlen)" "33 33"
is "each sees the whole" "$(figs w0 pool_used)" "$(figs w1 pool_used)"
anew 3 "pool $POOL"
hogs 100 0 1 2
exact "three: a fourth each" "$(figs w0 qlen) $(figs w1 qlen) $(figs w2 qlen)" "25 25 25"
anew 1 "pool $((90 * FRAME)) pool-alpha 12.5%"
sends 0 100
is "alpha 1/8, alone: a ninth" "$(figs w0 qlen pool_used)" "10 10000"
anew 2 "pool $POOL pool-alpha 12.5%"
hogs 100 0 1
exact "alpha 1/8, two: a tenth each" "$(figs w0 qlen) $(figs w1 qlen)" "10 10"
anew 1 "pool $((90 * FRAME)) pool-alpha 800"
sends 0 100
is "alpha 8, alone: eight ninths" "$(figs w0 qlen)" 80

# Each has its own alpha; what the one left the other gets its share of.
anew 2 "pool $POOL"
tcs "qdisc change dev w1 root bfc pool-alpha 50%"
sends 0 100
sends 1 100
is "a half, and a third of the rest" "$(figs w0 qlen) $(figs w1 qlen)" "50 16"
is "of one pool" "$(figs w0 pool_used pool_max)" "66000 66000"

diag "ways to leave"
speed w0 1gbit
empty() { [ "$(figs w0 qlen)" = 0 ]; }
sleep 10
check "sent" wait_until 5 empty
is "sent: what is left is the other's" "$(figs w0 pool_used pool_max)" "16000 66000"
sends 1 100
is "who may have more now" "$(figs w1 qlen)" 33
speed w0 $SLOW
busy 0
sends 0 10
is "both" "$(figs w0 pool_used)" 43000
tcs "qdisc change dev w1 root bfc limit 5500"
is "over the limit" "$(figs w0 pool_used)" $((10000 + 5000))
is "over the limit: not for want of room" "$(figs w1 qlen drop_limit)" "5 28"
tcs "qdisc change dev w1 root bfc limit 8m"
sends 1 5
ip_in a link set w1 down
is "link down" "$(figs w0 pool_used)" 10000
ip_in a link set w1 up
neigh a w1 10.0.1.2 "$(mac 1 1)"
busy 1
sends 1 5
tcs "qdisc replace dev w1 root handle 2: bfc pool $POOL"
is "replaced by its kind" "$(figs w0 pool_used qlen) $(figs w1 qlen)" "10000 10 0"
sends 1 5
tcs "qdisc replace dev w1 root handle 3: pfifo"
is "replaced by another kind" "$(figs w0 pool_used)" 10000
tcs "qdisc replace dev w1 root handle 1: tbf rate 800bit burst 2k limit 1m
qdisc add dev w1 parent 1: handle 2: bfc pool $POOL"
sends 1 10
between "below tbf, which may send two and look at one" "$(figs w0 pool_used)" 17000 20000
tcs "qdisc del dev w1 root"
is "deleted with its parent" "$(figs w0 pool_used)" 10000
tcs "qdisc add dev w2 root bfc pool $POOL"
busy 2
sends 2 5
is "another one" "$(figs w0 pool_used)" 15000
ip_in a link set w2 netns "$NS-b"
is "moved to another namespace" "$(figs w0 pool_used)" 10000
tcs "qdisc add dev w3 root bfc pool $POOL"
busy 3
sends 3 5
ip_in a link del w3
is "the device is gone" "$(figs w0 pool_used)" 10000

diag "options change"
anew 2 "pool $POOL"
sends 0 10
sends 1 20
is "two" "$(figs w0 pool_used)" 30000
tcs "qdisc change dev w1 root bfc pool none"
is "one leaves the pool: its packets stay" "$(figs w0 pool_used) $(figs w1 qlen pool_size pool_used)" \
	"10000 20 0 0"
sends 1 100
is "and have no bounds but the limit" "$(figs w1 qlen drops)" "120 0"
tcs "qdisc change dev w1 root bfc pool $POOL"
is "it is back, with more than there is" "$(figs w0 pool_used pool_max)" "130000 130000"
sends 0 3
sends 1 3
is "nobody gets anything" "$(figs w0 qlen drop_pool) $(figs w1 drop_pool)" "10 3 3"
refused "another size while there are others" "another size" \
	tc_in a qdisc change dev w1 root bfc pool $((POOL / 2)) th 5000
is "is refused and changes nothing" "$(tc_in a -j qdisc show dev w1 | jq -c '.[0].options | [.pool, .th]')" \
	"[$POOL,0]"
refused "nor to begin with" "another size" tc_in a qdisc replace dev w1 root handle 7: bfc pool 1m
is "what was there stays" "$(figs w1 qlen)" 120
tcs "qdisc del dev w1 root"
tcs "qdisc change dev w0 root bfc pool $((POOL / 10))"
is "the only one says how large it is" "$(figs w0 pool_size pool_used qlen)" "10000 10000 10"
sends 0 1
tcs "qdisc change dev w0 root bfc pool $((POOL / 2))"
sends 0 50
is "smaller and larger" "$(figs w0 qlen drop_pool)" "25 39"
check "another namespace has its own pool" tc_in b qdisc add dev w0 root bfc pool $((2 * POOL))
is "of its own size" "$(qdisc_stat b w0 pool_size) $(figs w0 pool_size)" "$((2 * POOL)) $((POOL / 2))"

diag "packets that are cut"
anew 1 "pool 2000"
in_ns a "$gsosend" 10.0.0.2 10 100
is "seven of ten frames of 142 bytes fit" "$(figs w0 qlen backlog drop_pool drops)" "7 994 3 3"
in_ns a "$gsosend" 10.0.0.2 10 100
is "none of ten" "$(figs w0 qlen backlog drop_pool drops)" "7 994 13 13"
is "two were cut" "$(figs w0 gso_split)" 2

diag "all goes"
tcs "qdisc del dev w0 root"
check "a new pool is as large as it likes" tc_in a qdisc add dev w0 root bfc pool 7777
is "and empty, as if there had been none" "$(figs w0 pool_size pool_used pool_max)" "7777 0 0"
busy 0
sends 0 3
finish
