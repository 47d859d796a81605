#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests of pauses by link and by destination have in common; they read it after lib.sh, and set kind to the qdisc whose
# figures they look at. Those of pauses by hand set work, a folder.

FRAME=1000	# bytes, with the Ethernet header
SLOW=10mbit	# of the link to y
[ "${SLUICE_HOME:-}" = uml ] || SLOW=1mbit	# what waits there is looked at meanwhile, by processes that take time

ips() { ip -n "$NS-$1" -batch - <<<"$2" || die "ip: $2"; }
tcs() { tc -n "$NS-$1" -batch - <<<"$2" || die "tc: $2"; }
figs() { port_figs "${kind:?}" "$NS-$1" "${@:2}"; }
figs_are() { figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }
# shows NAME SPACE DEV KEY... VALUE: they are this now; has: waits until they are
shows() { figs "${@:2:$#-2}"; is "$1" "$REPLY" "${*: -1}"; }
has()
{
	wait_until -e 100 5 figs_are "${@:2}"
	is "$1" "$REPLY" "${*: -1}"
}

# cable BOX DEV RATE BOX DEV
cable() { ip_in "$1" link add "$2" type wire rate "$3" delay 10us ring 0 peer name "$5" netns "$NS-$4" && ip_in "$1" link set dev "$2" up && ip_in "$4" link set dev "$5" up || die "no wire"; }
to() { echo "y n=$2 bytes=$FRAME from=10.0.0.1 to=10.0.0.$1 sport=1 dport=9 dst=$(mac "$1") ${*:3}"; }
# emits BOX DEV LINE...
emits() { printf '%s\n' "${@:3}" | "${frames:?}" -l -w 0 "$NS-$1/$2" "$NS-$1/lo" >/dev/null || die "frames"; }
from_h() { emits h p "$@"; }
got() { received c "$1"; echo "$REPLY"; }
got_all() { received c "$1"; [ "$REPLY" -ge "$2" ]; }

# two_switches: a host and two switches
#
#	h:p ===100M=== s:q [ bridge ] s:r ===100M=== c:t [ bridge ] c:u ---SLOW-- c:y, of 10.0.0.2
#	                                                            c:v --100M--- c:z, of 10.0.0.3
two_switches()
{
	local port

	ns h s c
	sees c
	for port in s c; do
		ips $port "link add br0 type bridge mcast_snooping 0
link set br0 up"
	done
	cable h p 100mbit s q
	cable s r 100mbit c t
	cable c u $SLOW c y
	cable c v 100mbit c z
	for port in s:q s:r c:t c:u c:v; do
		ip_in ${port%:*} link set dev ${port#*:} master br0
		bridge -n "$NS-${port%:*}" link set dev ${port#*:} flood off mcast_flood off
	done
	for port in s:r:2 s:r:3 c:u:2 c:v:3; do
		bridge -n "$NS-${port%%:*}" fdb replace "$(mac ${port##*:})" dev "$(cut -d: -f2 <<<$port)" master static
	done
}

# no_qdiscs: at none of their ports
no_qdiscs()
{
	local port

	for port in h:p s:q s:r c:t c:u c:v; do
		tc_in ${port%:*} qdisc del dev ${port#*:} root 2>/dev/null
	done
}

# ---- u, a neighbour by hand ----

hand=
epoch=0
# u_comes WORD...: under an epoch of its own
u_comes()
{
	epoch=$((epoch + 1))
	# directly, so that its process is the one that is killed
	ip netns exec "$NS-u" "${hopframe:?}" peer x mine=$epoch for=600000 "$@" >"$work/u" 2>&1 &
	hand=$!
}
u_goes()
{
	kill "$hand" 2>/dev/null
	wait "$hand" 2>/dev/null
}
u_heard()
{
	said=$(grep -o ' state seq=.*' "$work/u")
	said=${said##* words=}
	said=${said%% *}
	[ "$said" = "$1" ]
}

# u_is NAME WORD: what it heard last
u_is()
{
	local said=

	wait_until -e 100 5 u_heard "$2"
	is "$1" "$said" "$2"
}
