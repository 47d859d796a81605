# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of rocc share: a star of hosts around one box, and readings of rates and queues.
# A test sources it behind lib.sh.

ROCC_MTU=${ROCC_MTU:-1500}
ROCC_PAYLOAD=$((ROCC_MTU - 28))	# of UDP
ROCC_RING=${ROCC_RING:-0}	# of each wire, bytes: see ip-link-wire(8)
udpflow=$(dirname "$0")/udpflow
cnpsend=$(dirname "$0")/cnpsend
work=$(mktemp -d) || die "no temporary directory"

# star bridge|router N RATE DELAY: hosts h1 ... hN and r, each on a wire of its own to s. Host i is
# 10.0.0.i or, around a router, 10.0.i.1; r is 10.0.0.200 or 10.0.200.1, and $receiver.
star()
{
	local kind=$1 n=$2 i batch=

	ns s r
	in_ns s sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	[ "$kind" = router ] || ip_in s link add br0 mtu $ROCC_MTU type bridge ageing_time 0 mcast_snooping 0
	[ "$kind" = router ] || ip_in s link set br0 up
	for i in $(seq "$n") 200; do
		star_box "$kind" "$i" "$3" "$4"
	done
	receiver=$(star_address "$kind" 200)
	wait_until -e 100 10 star_forwards || die "the bridge does not forward"
}

star_address()
{
	[ "$1" = router ] && echo "10.0.$2.1" || echo "10.0.0.$2"
}

star_box() # KIND NUMBER RATE DELAY
{
	local name=h$2 port=p$2

	[ "$2" != 200 ] || name=r port=pr
	[ "$2" = 200 ] || ns "$name"
	ip link add e0 netns "$NS-$name" address "$(mac "$2")" mtu $ROCC_MTU type wire rate "$3" \
		delay "$4" ring $ROCC_RING peer name $port netns "$NS-s" address "$(mac "$2" 1)" mtu $ROCC_MTU ||
		die "no wire"
	if [ "$1" = router ]; then
		ip_in s -batch - <<-END || die "no router"
			addr add 10.0.$2.254/24 dev $port
			link set $port up
			neigh replace 10.0.$2.1 lladdr $(mac "$2") nud permanent dev $port
		END
		ip_in $name -batch - <<-END || die "no host"
			addr add 10.0.$2.1/24 dev e0
			link set e0 up
			neigh replace 10.0.$2.254 lladdr $(mac "$2" 1) nud permanent dev e0
			route add default via 10.0.$2.254
		END
		return
	fi
	ip_in s link set $port master br0 up
	bridge -n "$NS-s" fdb replace "$(mac "$2")" dev $port master static || die "no way to $name"
	ip_in $name -batch - <<-END || die "no host"
		addr add 10.0.0.$2/24 dev e0
		link set e0 up
		neigh replace 10.0.0.200 lladdr $(mac 200) nud permanent dev e0
	END
}

star_forwards() { ! bridge -n "$NS-s" link | grep -qv "state forwarding"; }

# sends BOX NUMBER AT TIME [OPTION]...: a greedy UDP flow to r, of that number, in the background
sends()
{
	in_ns "$1" "$udpflow" send -d "$receiver" --sport $((5000 + $2)) --id "$2" -l $ROCC_PAYLOAD \
		--sndbuf 400000 --at "$3" -t "$4" "${@:5}" >"$work/send$2" &
	pids+=($!)
}

now() { "$udpflow" now; }
sleep_until() { "$udpflow" now --at "$1" >/dev/null; }

# figures BOX DEV KEY...: of its rocc, of one moment, in REPLY
figures() { kind_figs rocc "$@"; }

# Bytes that h1 ... hN have sent
sent() # N
{
	local i

	for ((i = 1; i <= $1; i++)); do
		link_stat "h$i" e0 tx_bytes
	done
}

# samples FROM STEP N: bytes that h1 has sent, at FROM and N times STEP ns later
samples()
{
	# shellcheck disable=SC2016
	in_ns h1 bash -c 'for ((i = 0; i <= $4; i++)); do
			"$1" now --at $(($2 + i * $3)) >/dev/null
			read -r bytes </sys/class/net/e0/statistics/tx_bytes
			echo "$bytes"
		done' - "$udpflow" "$@"
}

# measure N FROM: over WINDOW ms from then on; sets fair, each_least, each_most (Gb/s), mean (bytes queued)
measure()
{
	local b=() a=()

	sleep_until "$2"
	figures s pr backlog_time time
	read -ra b <<<"$REPLY"
	sent "$1" >"$work/sent0"
	sleep_until $(($2 + WINDOW * 1000000))
	figures s pr backlog_time time fair_rate
	read -ra a <<<"$REPLY"
	sent "$1" >"$work/sent1"
	mean=$(((a[0] - b[0]) / (a[1] - b[1])))
	fair=$(awk "BEGIN { print ${a[2]} * 8 / 1e9 }")
	read -r each_least each_most < <(paste "$work/sent0" "$work/sent1" | awk -v w=$WINDOW '
		{ r = ($2 - $1) * 8 / w / 1e6 }
		NR == 1 || r < low { low = r }
		NR == 1 || r > high { high = r }
		END { print low, high }')
}

# limiters BOX: how many a host has now
limiters() { qdisc_stat "$1" e0 limiters rocc; }
no_limiter() { [ "$(limiters "$1")" = 0 ]; }

# limiter BOX: rate in bytes per second, accepted, raised of its first limiter, in REPLY
limiter()
{
	REPLY=$(tc_in "$1" -s class show dev e0 | sed -nE 's/.*limiter:.* rate ([0-9.]+[A-Za-z]+) .* accepted ([0-9]+) raised ([0-9]+).*/\1 \2 \3/p' | head -n 1)
}

# within NAME GOT WANT PERCENT: numbers may have fractions
within()
{
	if awk "BEGIN { d = $2 - $3; if (d < 0) d = -d; exit !(d <= $3 * $4 / 100) }"; then
		pass "$1"
	else
		fail "$1" "is $2, should be $3, give or take $4 %"
	fi
}
