#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowgen's DCQCN over pfc that marks: one to four flows to one host, as the paper's law and its parameters have it.
#
#	h1 \
#	h2  \
#	h3   [ sw: bridge ] === h5		wires of 10 Gb/s; pfc at all ports, marks at the one to h5
#	h4  /
#
# One flow more each STAGE, and then one less as each has had its bytes: Fig. 19 of RoCC's paper, which checks DCQCN so,
# 40 to 10 Gb/s and back. What must be true: each has its share after a while, the line is busy, the queue stays near
# where marks begin, nobody is paused, nothing is lost; with a CNP for each flow each 50 us at most. Without marks the
# same flows are at line rate all the time, and pauses hold them.
#
# $SLUICE_DCQCN_STAGE (80): of that many ms each; below 60 shares, which take so long, are not looked at.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool tc ip jq awk
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
load_modules hopctl sch_pfc wire flowgen
work=$(mktemp -d) || die "no temporary directory"

GBIT=10
HOSTS=4
STAGE=${SLUICE_DCQCN_STAGE:-80}		# ms
C=$((GBIT * 1000000000 / 8))		# bytes/s of the line
PAYLOAD=1000 LINE=1082			# of a packet: with UDP, IP, 16 bytes, and 38 of the line

ns sw h1 h2 h3 h4 h5
ip_in sw link add br0 type bridge mcast_snooping 0
ip_in sw link set br0 up
for i in 1 2 3 4 5; do
	in_ns h$i sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	ip_in h$i link add e address "$(mac $i)" type wire rate ${GBIT}gbit delay 1us ring 20k seed $i \
		peer name p$i address "$(mac $i 1)" netns "$(ns_name sw)" || die "no wire"
	ip_in sw link set p$i master br0 up
	ip_in h$i addr add 10.0.0.$i/24 dev e
	ip_in h$i link set e up
	in_ns sw bridge fdb replace "$(mac $i)" dev p$i master static
done
for i in 1 2 3 4; do
	ip_in h$i neigh replace 10.0.0.5 lladdr "$(mac 5)" nud permanent dev e
	ip_in h5 neigh replace 10.0.0.$i lladdr "$(mac $i)" nud permanent dev e
	echo "$i $(ns_name h$i) 10.0.0.$i"
done >"$work/ends"
echo "5 $(ns_name h5) 10.0.0.5" >>"$work/ends"
for i in 1 2 3 4; do
	echo "h$i $(ns_name h$i) e"
done >"$work/ports"
echo "out $(ns_name sw) p5" >>"$work/ports"

for i in 1 2 3 4 5; do
	tc_in h$i qdisc add dev e root pfc role host pool 64m || die "no pfc"
	tc_in sw qdisc add dev p$i root pfc pool 12m || die "no pfc"
done

# Flow i starts at (i - 1) STAGE and has what it gets if shares are even: of stages i to 4, and then until so many have
# ended; the last one has one more at line rate.
{
	echo "# sluice-trace 1"
	awk -v n=$HOSTS -v s="$STAGE" -v c=$C -v payload=$PAYLOAD -v line=$LINE 'BEGIN {
		for (i = 1; i <= n; i++) {
			share = 0
			for (k = i; k <= n; k++)
				share += 1 / k
			for (k = n - 1; k >= i; k--)	# the latest end first
				share += 1 / k
			printf "%d %d 5 %d\n", (i - 1) * s * 1000000, i, share * s / 1000 * c * payload / line
		}
	}'
} >"$work/trace"
run()
{
	"$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" --json --seed 1 \
		--payload $PAYLOAD --watch "$work/ports" --interval 100us --watch-out "$work/samples" "$@" \
		>"$work/json" 2>"$work/err"
}
count() { jq -e --arg key "$1" '.[$key]' "$work/json" || die "flowgen does not say $1"; }
mark() { tc_in sw qdisc change dev p5 root pfc "$@" || die "no $*"; }

# rates FROM TO: of h1 to h4 between two times in ms, in % of the line
rates()
{
	awk -F, -v from="$1" -v to="$2" -v c=$C -v line=$LINE -v frame=$((PAYLOAD + 58)) '
		$1 >= from * 1e6 && !($2 in a) { a[$2] = $5; at[$2] = $1 }
		$1 <= to * 1e6 { b[$2] = $5; bt[$2] = $1 }
		END {
			for (i = 1; i <= 4; i++) {
				h = "h" i
				r = bt[h] > at[h] ? (b[h] - a[h]) / (bt[h] - at[h]) * 1e9 * line / frame : 0
				printf "%.1f ", r / c * 100
			}
		}' "$work/samples"
}
# queue FROM TO: mean bytes that wait at p5
queue()
{
	awk -F, -v from="$1" -v to="$2" '$2 == "out" && $1 >= from * 1e6 && $1 <= to * 1e6 { sum += $3; n++ }
		END { printf "%d", n ? sum / n : -1 }' "$work/samples"
}

# figures of p5: marked packets, and pauses at all ports to senders
marked() { qdisc_stat sw p5 ecn_marked pfc; }
pauses() { tc_in sw -j -s qdisc show | jq '[.[] | select(.kind == "pfc") | .port.pauses_tx // 0] | add'; }

# shares N: of N flows, in the last quarter of the stage; and of all together
shares()
{
	local from=$((($1 - 1) * STAGE + STAGE * 3 / 4)) to=$(($1 * STAGE)) rates i sum=0

	[ "$STAGE" -ge 60 ] || return 0
	read -ra rates <<<"$(rates $from $to)"
	diag "$1 flows: ${rates[*]} % of the line, queue $(queue $from $to)"
	for ((i = 0; i < $1; i++)); do
		between "$1 flows: flow $((i + 1)) has its share" "$((${rates[i]/./} * $1 / 10))" 70 130
		sum=$((sum + ${rates[i]/./}))
	done
	between "$1 flows: the line is busy" $((sum / 10)) 88 101
	[ "$1" = 1 ] || between "$1 flows: the queue is where marks begin, not where all are marked" \
		"$(queue $from $to)" 5000 150000
}

diag "one to four flows, and back to one"
mark kmin 5k kmax 200k pmax 1%
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
for n in 1 2 3 4; do
	shares $n
done
is "nothing is lost" "$(count retransmits) $(count gaps)" "0 0"
is "each CNP is heard" "$(count cnps_heard)" "$(count cnps)"
between "fewer than there are marks, and one in 50 us for each flow at most" "$(count cnps)" 100 \
	$(($(marked) < $(count time_ns) / 50000 * HOSTS ? $(marked) : $(count time_ns) / 50000 * HOSTS))
# of what would have been sent in that time
between "the line was busy, also when flows left" \
	$(($(count packets) * LINE * 100 / ($(count time_ns) / 1000 * (C / 1000000)))) $((STAGE < 60 ? 60 : 88)) 100
is "nobody was paused" "$(pauses)" 0

diag "the same, where nothing is marked"
mark kmin none kmax none
before=$(marked)
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
is "no marks, no CNPs" "$(($(marked) - before)) $(count cnps)" "0 0"
between "pauses hold the flows" "$(pauses)" 1 1000000

diag "the same, without congestion control"
mark kmin 5k kmax 200k pmax 1%
before=$(marked)
check "all complete" run
is "no packet may be marked" "$(($(marked) - before)) $(count cnps)" "0 0"
between "which the queue counts" "$(qdisc_stat sw p5 ecn_not_capable pfc)" 1 10000000

# 1000 packets, one each 1082 bytes of that line; the first one takes what a lone one takes later. No marks: its pace is
# even.
diag "an endpoint with a line rate of its own"
sed 's/^1 .*/& 4000000000/' "$work/ends" >"$work/slow"
printf '%s\n' "# sluice-trace 1" "0 1 5 $((1000 * PAYLOAD))" "10000000 2 5 $PAYLOAD" >"$work/trace"
check "all complete" run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow"
done_at() { awk -F, -v flow="$1" '$1 == flow { print $8 }' "$work/out"; }
is "it is paced at that, to the nanosecond" $(($(done_at 0) - ($(done_at 1) - 10000000))) $((999 * LINE * 2))

# At 1 Mb/s 16 packets take 138 ms, and the time-out is 10 ms: it must not run before the packet is sent that is to be
# acknowledged. Where none of the acknowledgements come back it must.
diag "so slow that an acknowledgement is asked for less often than a time-out comes"
sed 's/^1 .*/& 1000000/' "$work/ends" >"$work/slow"
printf '%s\n' "# sluice-trace 1" "0 1 5 $((40 * PAYLOAD))" >"$work/trace"
check "all complete" run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow" --ack 16 --rto 10ms --limit 2s
is "and no packet is sent twice" "$(count packets) $(count timeouts) $(count retransmits)" "40 0 0"
ip_in h5 link set e type wire loss_data 100%
run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow" --ack 16 --rto 10ms --limit 1s
between "without answers it goes back" "$(count timeouts)" 2 10
ip_in h5 link set e type wire loss_data 0%

diag "IPv6"
for i in 1 2 5; do
	in_ns h$i sh -c 'echo 0 >/proc/sys/net/ipv6/conf/e/disable_ipv6'
	ip_in h$i addr add fd00::$i/64 dev e nodad
done
for i in 1 2; do
	ip_in h$i neigh replace fd00::5 lladdr "$(mac 5)" nud permanent dev e
	ip_in h5 neigh replace fd00::$i lladdr "$(mac $i)" nud permanent dev e
	echo "$i $(ns_name h$i) fd00::$i"
done >"$work/ends"
echo "5 $(ns_name h5) fd00::5" >>"$work/ends"
printf '%s\n' "# sluice-trace 1" "0 1 5 20000000" "0 2 5 20000000" >"$work/trace"
before=$(marked)
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
between "packets are marked" $(($(marked) - before)) 10 1000000
between "and CNPs heard" "$(count cnps_heard)" 10 1000000

leave_ports
rm -r "$work"
finish
