# SPDX-License-Identifier: GPL-2.0-only
#
# cc.sh - what the tests of flowgen's congestion control share: one to four flows to one host
#
#	h1 \
#	h2  \
#	h3   [ sw: bridge ] === h5		wires of $GBIT Gb/s; pfc at all ports
#	h4  /
#
# One flow more each STAGE, and then one less as each has had its bytes: Fig. 19 of RoCC's paper, which checks DCQCN and
# HPCC so, 40 to 10 Gb/s and back.
#
# Before: GBIT and DELAY of each wire; STAGE, of that many ms each, and below $FAIR_FROM shares, which take so long, are not looked at; PAYLOAD,
# and LINE, what such a packet takes of the line: with UDP, IP, flowgen's headers, and 38. After: $work, which has ends,
# ports and trace for flowgen.

# shellcheck shell=bash
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool tc ip jq awk
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
load_modules hopctl sch_pfc wire flowgen
work=$(mktemp -d) || die "no temporary directory"
HOSTS=4
C=$((GBIT * 1000000000 / 8))		# bytes/s of the line

ns sw h1 h2 h3 h4 h5
ip_in sw link add br0 type bridge mcast_snooping 0
ip_in sw link set br0 up
for i in 1 2 3 4 5; do
	in_ns h$i sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	ip_in h$i link add e address "$(mac $i)" type wire rate ${GBIT}gbit delay $DELAY ring 20k seed $i \
		peer name p$i address "$(mac $i 1)" netns "$NS-sw" || die "no wire"
	ip_in sw link set p$i master br0 up
	ip_in h$i addr add 10.0.0.$i/24 dev e
	ip_in h$i link set e up
	in_ns sw bridge fdb replace "$(mac $i)" dev p$i master static
done
for i in 1 2 3 4; do
	ip_in h$i neigh replace 10.0.0.5 lladdr "$(mac 5)" nud permanent dev e
	ip_in h5 neigh replace 10.0.0.$i lladdr "$(mac $i)" nud permanent dev e
	echo "$i $NS-h$i 10.0.0.$i"
done >"$work/ends"
echo "5 $NS-h5 10.0.0.5" >>"$work/ends"
for i in 1 2 3 4; do
	echo "h$i $NS-h$i e"
done >"$work/ports"
echo "out $NS-sw p5" >>"$work/ports"

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

# rates N FROM TO: of the first N senders between two times in ms, in % of the line, for as long as all of them send: one that
# ends a little before the time leaves what it had to the others
rates()
{
	awk -F, -v n="$1" -v from="$2" -v to="$3" -v c=$C -v line=$LINE -v frame=$((LINE - 24)) '
		$2 ~ /^h/ && substr($2, 2) <= n && $1 >= from * 1e6 && $1 <= to * 1e6 {
			bytes[$1, $2] = $5
			if (++hosts[$1] == n) {
				first = first ? first : $1
				last = $1
			}
		}
		END {
			for (i = 1; i <= n; i++) {
				r = last > first ? (bytes[last, "h" i] - bytes[first, "h" i]) / (last - first) * 1e9 * line / frame : 0
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

# shares N LEAST MOST LOW HIGH [70 130]: of N flows, in the last quarter of the stage; all together have between LEAST and MOST %
# of the line, and each between 70 and 130 % of an Nth of that; with several, LOW to HIGH bytes wait
shares()
{
	local from=$((($1 - 1) * STAGE + STAGE * 3 / 4)) to=$(($1 * STAGE)) rates i sum=0

	[ "$STAGE" -ge "$FAIR_FROM" ] || return 0
	read -ra rates <<<"$(rates $1 $from $to)"
	diag "$1 flows: ${rates[*]} % of the line, queue $(queue $from $to)"
	for ((i = 0; i < $1; i++)); do
		sum=$((sum + ${rates[i]/./}))
	done
	for ((i = 0; i < $1; i++)); do
		between "$1 flows: flow $((i + 1)) has its share, %" $((${rates[i]/./} * $1 * 100 / (sum + !sum))) "${6:-70}" "${7:-130}"
	done
	between "$1 flows: the line is busy" $((sum / 10)) "$2" "$3"
	[ "$1" = 1 ] || between "$1 flows: the queue is where it should be" "$(queue $from $to)" "$4" "$5"
}

# ipv6: h1, h2 and h5 have it, too; $work/ends says so, and $work/trace has a flow each to h5
ipv6()
{
	for i in 1 2 5; do
		in_ns h$i sh -c 'echo 0 >/proc/sys/net/ipv6/conf/e/disable_ipv6'
		ip_in h$i addr add fd00::$i/64 dev e nodad
	done
	for i in 1 2; do
		ip_in h$i neigh replace fd00::5 lladdr "$(mac 5)" nud permanent dev e
		ip_in h5 neigh replace fd00::$i lladdr "$(mac $i)" nud permanent dev e
		echo "$i $NS-h$i fd00::$i"
	done >"$work/ends"
	echo "5 $NS-h5 fd00::5" >>"$work/ends"
	printf '%s\n' "# sluice-trace 1" "0 1 5 20000000" "0 2 5 20000000" >"$work/trace"
}
