#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets below VLAN tags, wherever these are: which flow, and what is control traffic.
#
#	a:p ---- sw:q [ bridge ] sw:r ---- b:s		wires; bfc at p and r
#
# The same frames are made by a packet socket, with all tags in the frame and the network header behind
# them, and bridged: there the outermost tag is in metadata and the network header before the others.
# Eight UDP ports are eight flows (of which two may meet by chance), one is one, and neighbour discovery is control traffic, below no
# tag, one, two and three.

. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool ip tc bridge perl
load_modules hopctl sch_bfc wire

ns a sw b
for end in a sw b; do
	in_ns $end sh -c 'for d in default all; do echo 1 >/proc/sys/net/ipv6/conf/$d/disable_ipv6; done'
done
ip_in a link add p address "$(mac 1)" type wire rate 1gbit delay 1us \
	peer name q address "$(mac 2)" netns "$NS-sw"
ip_in sw link add r address "$(mac 3)" type wire rate 1gbit delay 1us \
	peer name s address "$(mac 4)" netns "$NS-b"
ip_in sw link add br0 type bridge mcast_snooping 0 2>/dev/null || ip_in sw link add br0 type bridge
for dev in q r; do
	ip_in sw link set $dev master br0 up
done
ip_in sw link set br0 up
ip_in a link set p up
ip_in b link set s up
in_ns sw bridge fdb replace "$(mac 4)" dev r master static
bfc="bfc role host nowatch assign stochastic queues 4094"

# frames TAGS KIND PORT...: a frame for each port. KIND is 4 or 6 (UDP), 46 (UDP by IPv6 that looks
# like neighbour discovery four bytes before its place), nd.
frames()
{
	in_ns a perl -MSocket -e '
		my ($tags, $kind, @ports) = @ARGV;
		my $mac = sub { pack("C6", 2, 0, 0, 0, $_[0], 0) };
		open my $f, "<", "/sys/class/net/p/ifindex" or die;
		my $index = <$f>;
		socket(my $s, 17, 3, 0) or die "socket: $!";
		for my $port (@ports) {
			my $udp = pack("nnnn", $port, 7000, 108, 0);
			my ($type, $ip) = $kind eq "4" ?
				(0x800, pack("CCnnnCCna4a4", 0x45, 0, 128, 1, 0, 64, 17, 0,
					     pack("C4", 10, 0, 0, 1), pack("C4", 10, 0, 0, 2)) . $udp) :
				(0x86dd, pack("NnCCx15Cx12CxxC", $kind eq "46" ? 0x60003a00 : 0x60000000, 108,
					      $kind eq "nd" ? 58 : 17, 255, 1, $kind eq "46" ? 135 : 0, 2) .
				 ($kind eq "nd" ? pack("CCnx4", 135, 0, 0) : $udp));
			my $frame = $mac->(4) . $mac->(1) .
				join("", map { pack("nn", split /:/) } map { s/^(\w+)/hex $1/er } split(/,/, $tags)) .
				pack("n", $type) . $ip . "\0" x 100;
			send($s, $frame, 0, pack("SniSCCa8", 17, 3, $index, 1, 0, 6, $mac->(4))) or die "send: $!";
		}' "$@" || die "perl"
}

# seen SPACE DEV: sets REPLY to the sub-queues that were used, and the packets of the control class
seen()
{
	local text

	sleep 0.01
	text=$(tc_in "$1" -s class show dev "$2")
	bfc_figs "$NS-$1" "$2" control
	REPLY="$(grep -c ' parent ' <<<"$text") $REPLY"
}

# told_apart NAME SPACE DEV WANT TAGS KIND PORT...
told_apart()
{
	local name=$1 space=$2 dev=$3 want=$4

	shift 4
	# shellcheck disable=SC2086
	tc_in "$space" qdisc add dev "$dev" root handle 1: $bfc
	frames "$@"
	seen "$space" "$dev"
	leave_ports
	tc_in "$space" qdisc del dev "$dev" root
	# shellcheck disable=SC2053
	[[ $REPLY != $want ]] || want=$REPLY	# a pattern
	is "$name" "$REPLY" "$want"
}

for end in a:p sw:r; do
	IFS=: read -r space dev <<<"$end"
	where="made here"
	[ $space = a ] || where=bridged
	for tags in "" 8100:5 88a8:5,8100:6 88a8:5,8100:6,8100:7; do
		below="$where, ${tags:-no tag}"
		told_apart "$below: IPv4, ports" $space $dev "[78] 0" "$tags" 4 1 2 3 4 5 6 7 8
		told_apart "$below: IPv4, one port" $space $dev "1 0" "$tags" 4 1 1 1 1 1 1 1 1
		told_apart "$below: IPv6, ports" $space $dev "[78] 0" "$tags" 6 1 2 3 4 5 6 7 8
		told_apart "$below: IPv6, one port" $space $dev "1 0" "$tags" 6 1 1 1 1 1 1 1 1
		told_apart "$below: UDP is no control traffic" $space $dev "[78] 0" "$tags" 46 1 2 3 4 5 6 7 8
		told_apart "$below: neighbour discovery is" $space $dev "0 8" "$tags" nd 1 2 3 4 5 6 7 8
	done
done

finish
