# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# flowsail_lib.sh - what the tests of flowsail share: figures of its ports, and two bridges between hosts. A test sources it behind lib.sh.
#
#	h:p === s:q [ bridge ] s:r === c:t [ bridge ] c:u --- 10.0.0.2
#	                                              c:v --- 10.0.0.3
#
# The test makes the boxes, the cables and the hosts, or has them of boxes().

# shellcheck disable=SC2034	# of the tests
PORTS="h:p:host:switch s:q:switch:host s:r:switch:switch c:t:switch:switch c:u:switch:host c:v:switch:host"

# figs BOX DEV FIGURE...: sets REPLY
figs() { port_figs "${kind:-flowsail}" "$NS-$1" "${@:2}"; }
figs_are() { figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }
# shows NAME BOX DEV FIGURE... VALUES
shows() { figs "${@:2:$#-2}"; is "$1" "$REPLY" "${*: -1}"; }
# all_are FIGURE... VALUES: of each of PORTS
all_are()
{
	local port dev

	for port in $PORTS; do
		dev=${port#*:}
		figs_are "${port%%:*}" "${dev%%:*}" "$@" || return 1
	done
}
# rest: nothing is held, marked, in the table of flows, or waits
rest() { all_are paused isolated flows marked paused_queues pausing_queues pause_counters counter_leaks backlog "0 0 0 0 0 0 0 0 0"; }

# cable DELAY BOX DEV RATE BOX DEV
cable()
{
	ip_in "$2" link add "$3" type wire rate "$4" delay "$1" ring 0 peer name "$6" netns "$NS-$5" &&
		ip_in "$2" link set dev "$3" up && ip_in "$5" link set dev "$6" up || die "no wire"
}
# sail BOX DEV ROLE PEER [WORD]...
sail() { tc_in "$1" qdisc replace dev "$2" root handle 1: flowsail role "$3" peer "$4" "${@:5}" || die "no qdisc flowsail"; }
anew() { tc_in "$1" qdisc del dev "$2" root 2>/dev/null; sail "$@"; }
# sails [WORD]...: at all ports
sails()
{
	local port box dev role peer

	for port in $PORTS; do
		IFS=: read -r box dev role peer <<<"$port"
		anew "$box" "$dev" "$role" "$peer" "$@"
	done
	for port in h:p s:r c:t; do
		check "${*:+$*: }$port tags" wait_until -e 100 10 tags ${port%:*} ${port#*:}
	done
}

# bridged: s and c forward between their ports, which have cables
bridged()
{
	local port

	for port in s c; do
		ip_in $port link add br0 type bridge mcast_snooping 0
		ip_in $port link set br0 up
	done
	for port in s:q s:r c:t c:u c:v; do
		ip_in ${port%:*} link set dev ${port#*:} master br0
		bridge -n "$NS-${port%:*}" link set dev ${port#*:} flood off mcast_flood off
	done
	know
	for port in s c; do
		check "$port forwards" wait_until -e 100 10 forwards $port
	done
}
# boxes RATE: all of it, with y and z at the ends, of 10 Mb/s and of RATE; the rest has 100
boxes()
{
	ns h s c
	sees c
	cable 10us h p 100mbit s q
	cable 10us s r 100mbit c t
	cable 10us c u 10mbit c y
	cable 10us c v "$1" c z
	bridged
}
# to HOST N SPORT [WORD]...: a line for `frames`: N of a flow to 10.0.0.HOST, $FRAME bytes each
to() { echo "f$3 n=$2 bytes=$FRAME from=10.0.0.1 to=10.0.0.$1 sport=$3 dport=9 dst=$(mac "$1") ${*:4}"; }
# got HOST: how many frames have come there; has HOST N: at least so many have
got() { received c "$1"; echo "$REPLY"; }
has() { received c "$1"; [ "$REPLY" -ge "$2" ]; }
# sends BOX DEV LINE...
sends() { printf '%s\n' "${@:3}" | "$frames" -l -w 0 "$NS-$1/$2" "$NS-$1/lo" >/dev/null || die "frames"; }
used() { tc_in s -s class show dev r | grep -c 'role isolation'; }
# passes HOST N [WORD]...: two flows are sent to y, one of them to 10.0.0.HOST, and one to z: sets `passed` to how many of z's have come
# when y has 200. s:r has used N sub-queues for isolation by the end.
passes()
{
	local y z

	sails queues 1 ql $QL qh $QH "${@:3}"
	y=$(got y) z=$(got z)
	sends h p "$(to 2 150 1)" "$(to "$1" 150 2)" "$(to 3 600 3)"
	check "y has 200" wait_until -e 2 1 has y $((y + 200))
	passed=$(($(got z) - z))
	check "all comes to y" wait_until -e 400 20 has y $((y + 300))
	check "and to z" wait_until -e 400 20 has z $((z + 600))
	check "and nobody is held" wait_until -e 400 20 rest
	is "sub-queues used" "$(used)" "$2"
}
# forwards BOX: by all ports of its bridge
forwards() { ! bridge -n "$NS-$1" link show | grep -v "state forwarding"; }
# know: who is where; a port that was down has forgotten it
know()
{
	local port

	for port in s:r:2 s:r:3 c:u:2 c:v:3; do
		bridge -n "$NS-${port%%:*}" fdb replace "$(mac ${port##*:})" dev "$(cut -d: -f2 <<<$port)" master static
	done
}
