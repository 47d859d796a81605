# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the data path share: two hosts on both sides of a switch, cables, and
# flows whose receiver holds every byte against what was sent.
#
#	h1 eth0 ------- p1 sw p2 ------- eth0 h2
#	                  bfc on all four
#
#	. "$(dirname "$0")/lib.sh"
#	. "$(dirname "$0")/paths.sh"
#	paths_begin
#	paths_build wire
#	...				what sw is, addresses
#	paths_bfc
#	check "all four ports tag" paths_tagging
#	paths_from h1 h2
#	paths_udp "IPv4" 300 10.0.0.2
#	paths_raw "802.1Q" 300 br0 --vlan 0x8100:10
#	paths_labels "all of it"
#	finish
#
# bfc on the switch has the threshold 1, so that each data packet that came with a handle is
# marked: `marks` counts the packets that were labelled, `over_unlabelled` those that were not.
#
# A process is the most expensive thing that a test does in an emulated kernel, so flows are
# counted by groups, and nothing is polled that the shell cannot read by itself.

# shellcheck source=selftests/net/lib.sh
: "${_points:?paths.sh is sourced after lib.sh}"

PATHS_PORTS="h1/eth0 sw/p1 sw/p2 h2/eth0"
PATHS_CABLE="rate 1gbit delay 2us"
PATHS_DIR=$(cd "$(dirname "$0")" && pwd)

h1_mac=$(mac 1)
h2_mac=$(mac 2)
p1_mac=$(mac 3 1)
p2_mac=$(mac 3 2)

paths_begin()
{
	need_root
	need_tool tc ip jq
	UDPFLOW=$PATHS_DIR/udpflow
	[ -x "$UDPFLOW" ] || skip_all "udpflow is not built (make -C selftests)"
	load_modules
	PATHS_TMP=$(mktemp -d) || die "no temporary directory"
}

# Devices say nothing of their own, so that what is counted is what the test sent.
paths_quiet()
{
	ip_in "$1" link set "$2" addrgenmode none 2>/dev/null
	in_ns "$1" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$2/accept_dad" 2>/dev/null
}

# paths_cable KIND NS DEV MAC PEERNS PEERDEV PEERMAC [MTU]
paths_cable()
{
	local kind=$1 a=$2 adev=$3 b=$5 bdev=$6 options=

	[ "$kind" != wire ] || options=$PATHS_CABLE
	# shellcheck disable=SC2086
	ip_in "$a" link add "$adev" address "$4" type "$kind" $options \
		peer name "x$bdev" address "$7" || die "no $kind"
	ip_in "$a" link set "x$bdev" netns "$NS-$b" name "$bdev" || die "no $bdev in $b"
	paths_quiet "$a" "$adev"
	paths_quiet "$b" "$bdev"
	ip_in "$a" link set "$adev" mtu "${8:-1500}" up
	ip_in "$b" link set "$bdev" mtu "${8:-1500}" up
}

# paths_build KIND [MTU]: namespaces and cables of this kind of device; SW_IPV6=0: sw has IPv6
paths_build()
{
	ns h1 sw h2
	in_ns sw sh -c "echo ${SW_IPV6:-1} >/proc/sys/net/ipv6/conf/all/disable_ipv6" 2>/dev/null
	paths_cable "$1" h1 eth0 "$h1_mac" sw p1 "$p1_mac" "${2:-1500}"
	paths_cable "$1" sw p2 "$p2_mac" h2 eth0 "$h2_mac" "${2:-1500}"
}


# paths_bridge NS NAME DEV...: with the options in $BRIDGE
paths_bridge()
{
	local name=$1 br=$2 dev

	shift 2
	# shellcheck disable=SC2086
	ip_in "$name" link add "$br" type bridge mcast_snooping 0 ${BRIDGE:-} 2>/dev/null ||
		ip_in "$name" link add "$br" type bridge ${BRIDGE:-} || skip_all "no bridge devices"
	paths_quiet "$name" "$br"
	for dev; do
		ip_in "$name" link set "$dev" master "$br"
	done
	ip_in "$name" link set "$br" up
}

# A host whose packet sockets see VLAN tags: its addresses are on a bridge above eth0.
paths_bridged_host()
{
	local address=$h1_mac

	[ "$1" = h1 ] || address=$h2_mac
	paths_bridge "$1" br0 eth0
	ip_in "$1" link set br0 address "$address"
}

# The switch takes the hosts for switches, or it would not tag towards them.
# paths_bfc [OPTIONS of hosts [OPTIONS of the switch]]
paths_bfc()
{
	local port

	for port in $PATHS_PORTS; do
		# shellcheck disable=SC2086
		case $port in
		sw/*) tc_in sw qdisc replace dev "${port#*/}" root handle 1: bfc th 1 peer switch ${2:-} ;;
		*) tc_in "${port%/*}" qdisc replace dev eth0 root handle 1: bfc role host ${1:-} ;;
		esac || die "no bfc on $port"
	done
}

# port_stat NS DEV KEY: a figure or a word of the port, which must be there
port_stat()
{
	port_says "$@"
	echo "$REPLY"
}

# port_in NS DEV STATE: is the port in this state?
port_in()
{
	port_is "$1" "$2" state "$3"
}

# paths_wait SECONDS COMMAND...: as wait_until, but ten times a second
paths_wait() { wait_until -e 100 "$@"; }

# All ports that there are, in this state, or beside a host
paths_all()
{
	local name seen

	for name in "${_spaces[@]}"; do
		seen=$(tc -n "$name" -j -s qdisc show)
		seen=${seen//"\"state\":\"$1\""/}
		seen=${seen//'"state":"host"'/}
		[[ $seen != *'"state":"'* ]] || return 1
	done
}

# The sleep lets IPv6 have said what it says when a device comes up.
paths_tagging()
{
	sleep 3
	paths_wait 10 paths_all tagging
}

# paths_shot FILE: what all qdiscs of bfc, floodgate, flowsail and pfc count, as one object by port
paths_shot()
{
	local name

	for name in "${_spaces[@]}"; do
		echo "\"${name#*-}\""
		tc -n "$name" -j -s qdisc show
	done >"$1"
}

# paths_moved FILTER: jq's FILTER over what has moved between the two shots. d(PORT; KEY) is the
# change of a qdisc's counter, p(PORT; KEY) that of its port's.
paths_moved()
{
	jq -rcn --slurpfile before "$PATHS_TMP/before" --slurpfile now "$PATHS_TMP/now" '
		def ports: [range(0; length; 2) as $i | .[$i] as $ns | .[$i + 1][] |
			    select(.kind | IN("bfc", "floodgate", "flowsail", "pfc")) | { "\($ns)/\(.dev)": . }] | add;
		($before | ports) as $before | ($now | ports) as $now |
		def d(port; key): $now[port][key] - $before[port][key];
		def p(port; key): $now[port].port[key] - $before[port].port[key];
		'"$1"
}

# paths_from FROM TO: between whom the next flows go, and from when on it is counted
paths_from()
{
	from=$1 to=$2
	sent=0
	paths_shot "$PATHS_TMP/before"
}

# What paths_labels finds wrong. Between the ends of a cable no tag may be lost or left over,
# unless GSO packets were tagged as one ($1).
_unlabelled()
{
	local in=p1 out=p2

	[ "$from" = h1 ] || { in=p2; out=p1; }
	paths_moved '
		"'"$from"'/eth0" as $from | "'"$to"'/eth0" as $to |
		"sw/'$in'" as $in | "sw/'$out'" as $out | ('"${1:-0}"' == 1) as $gso |
		def want(ok; text): if ok then empty else text end;
		[d($from; "tagged"), p($in; "tag_stripped"), d($out; "marks"), d($out; "tagged"),
		 p($to; "tag_stripped")] as $v |
		want($v | all(. >= '"$sent"');
		     "tagged, stripped, marked, tagged, stripped: \($v), at least '"$sent"' each"),
		want($gso or $v[0] == $v[1]; "\($from) tagged \($v[0]), sw stripped \($v[1])"),
		want($gso or $v[3] == $v[4]; "sw tagged \($v[3]), \($to) stripped \($v[4])"),
		(($in, $to) as $at | "tag_errors", "handle_forged" | . as $key |
		 want(p($at; $key) == 0; "\($at): \($key) went up by \(p($at; $key))")),
		want(p($in; "tag_unlabelled") == 0;
		     "\($in): \(p($in; "tag_unlabelled")) frames without a handle"),
		want(p($out; "handle_forged") == 0;
		     "\($out): \(p($out; "handle_forged")) handles not honoured"),
		want(d($out; "over_unlabelled") == 0;
		     "\($out): \(d($out; "over_unlabelled")) packets not labelled")'
}

# paths_labels NAME [1]: were the frames sent since paths_from tagged and labelled at each hop?
# With 1, GSO packets may count as one.
paths_labels()
{
	local wrong

	sleep 0.1	# what is on its way arrives
	paths_shot "$PATHS_TMP/now"
	wrong=$(_unlabelled "${2:-}" 2>&1)
	if [ -z "$wrong" ]; then
		pass "$1: $sent frames and more tagged and labelled at each hop"
	else
		fail "$1: tagged and labelled at each hop" "$wrong"
	fi
	mv "$PATHS_TMP/now" "$PATHS_TMP/before"
	sent=0
}

# Flows

# Has process $1 opened a socket in its namespace, which is not ours?
_listens()
{
	local family lines

	[ -e "/proc/$1/ns/net" ] || return 0
	[ ! "/proc/$1/ns/net" -ef /proc/self/ns/net ] || return 1
	for family in packet udp6 tcp6 udp tcp; do
		[ -r "/proc/$1/net/$family" ] || continue
		mapfile -t lines <"/proc/$1/net/$family"
		[ ${#lines[@]} -le 1 ] || return 0
	done
	return 1
}

# paths_sink ARG...: udpflow in the background at the receiver, listening when this returns
paths_sink()
{
	ip netns exec "$NS-$to" "$UDPFLOW" "$@" --json \
		>"$PATHS_TMP/sink" 2>"$PATHS_TMP/complaints" &
	_sink=$!
	wait_until 10 _listens $_sink || die "udpflow does not listen in $to"
}

paths_send()
{
	in_ns "$from" "$UDPFLOW" "$@" >"$PATHS_TMP/sent" 2>&1
}

# paths_arrived NAME: the test point of a flow
paths_arrived()
{
	if wait "$_sink"; then
		pass "$1"
	else
		fail "$1" "$(jq -c 'del(.flows) | del(.connections)' "$PATHS_TMP/sink" 2>&1)" \
			"$(cat "$PATHS_TMP/complaints" "$PATHS_TMP/sent")"
	fi
}

# paths_udp NAME N ADDRESS [ARG...]: N datagrams
paths_udp()
{
	paths_sink sink --expect "$2" --timeout 10s
	paths_send send --dest "$3" --packets "$2" --rate 400m "${@:4}"
	paths_arrived "$1"
	sent=$((sent + $2))
}

# paths_raw NAME N DEV [ARG...]: N frames of EtherType 0x88b6 and with VLAN tags as ARGs say, that
# are seen at the receiver's DEV. $RAWSEND and $RAWSINK: ARGs for one side only; $VIA: the
# sender's device
paths_raw()
{
	local dest=$h2_mac

	[ "$to" = h2 ] || dest=$h1_mac
	# shellcheck disable=SC2086
	paths_sink rawsink --dev "$3" --mac "$dest" --expect "$2" --timeout 10s "${@:4}" \
		${RAWSINK:-}
	# shellcheck disable=SC2086
	paths_send rawsend --dev "${VIA:-eth0}" --mac "$dest" --packets "$2" --rate 400m \
		"${@:4}" ${RAWSEND:-}
	paths_arrived "$1"
	sent=$((sent + $2))
}

# paths_tcp NAME BYTES ADDRESS: two connections that send so much each; a third of it at least
# travels in full-size frames
paths_tcp()
{
	paths_sink tcpsink --expect 2 --timeout 30s
	paths_send tcpsend --dest "$3" --bytes "$2" --flows 2 --timeout 30s
	paths_arrived "$1"
}

# paths_done NAME: one of several topologies of a test is over
paths_done()
{
	between "$1: packets that sw has labelled" "$(qdisc_stat sw p2 marks bfc)" 100 1000000
	if at_rest; then
		pass "$1: nothing stays paused"
	else
		fail "$1: nothing stays paused" "$_standing"
	fi
	_remove_spaces
}
