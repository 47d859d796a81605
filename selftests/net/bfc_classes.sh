#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who goes first, and how much each gets, by the order in which frames come.
#
#	a:p ---- b:q		wire of 100 Mb/s, one frame at a time on the card
#
# All frames are given to a's bfc at one moment, while one that came before, the plug, is on the line;
# so each frame that goes ahead of another has overtaken it in the qdisc.
#
# - Strict priority (BFC, App. A.3): while a class has packets, none below it sends any.
# - Deficit round robin (Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round Robin, SIGCOMM
#   1995): in m turns a flow that waits all the while sends m quanta, give or take less than its largest
#   packet, and in no interval does one have more than one turn more than another. So over each interval
#   in which two wait, what they send differs by a quantum and two of the largest packets at most.
# - What is a control packet, as tc-bfc(8) lists it, goes ahead of data that waits, and what it does not
#   list does not.

. "$(dirname "$0")/lib.sh"
need_tool ip tc awk
need_virtual_time
load_modules hopctl sch_bfc wire

need_program frames
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

two_boxes rate 100mbit delay 1us ring 0

# sent OPTIONS: what the list on stdin says, by a new qdisc with these options; $tmp/came has what came
sent()
{
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev p root handle 1: bfc role host $1 || die "no bfc $1"
	"$frames" -w 500 "$NS-a/p" "$NS-b/q" >"$tmp/came" || die "frames"
	leave_ports
	tc_in a qdisc del dev p root
}

# Who came one after the other, and how many of them: "a:1 b:4"
runs()
{
	awk '$1 != last { if (n) printf "%s:%d ", last, n; last = $1; n = 0 }
	     { n++ } END { printf "%s:%d\n", last, n }' "$tmp/came"
}

diag "strict priority"
MAP="priomap 0 1 2 3 3 3 3 3 3 3 3 3 3 3 3 3"
sent "classes 4 queues 8 $MAP" <<-END
	plug prio=3 bytes=1000 sport=1 from=10.0.0.1 to=10.0.0.2
	fourth prio=3 bytes=1000 n=50
	third prio=2 bytes=1500 n=50
	second prio=1 bytes=60 type=88b6 n=50
	first prio=0 bytes=1500 n=50
	control prio=7 bytes=1500 n=5
END
is "each class waits until those above it have nothing left" "$(runs)" \
	"plug:1 control:5 first:50 second:50 third:50 fourth:50"

# Four flows below cannot do by their number what one cannot.
sent "classes 2 queues 8 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" <<-END
	plug prio=1 bytes=1000
	below prio=1 bytes=1000 n=50 ports=4 from=10.0.0.1 to=10.0.0.2
	above prio=0 bytes=1000 n=50
	above wait=2000000 prio=0 bytes=1000 n=50
END
is "one flow goes ahead of four, also if some come while it is sending" "$(runs)" \
	"plug:1 above:100 below:200"

sent "classes 4 queues 8 $MAP" <<-END
	below prio=3 bytes=1000 n=100
	above wait=2000000 prio=0 bytes=1000 n=10
END
read -r before above after < <(runs)
# 2 ms are 25 of these frames on the line
between "below: what was sent until the first above came" "${before#below:}" 25 26
is "above: all of them" "$above" above:10
is "below: the rest" "$after" "below:$((100 - ${before#below:}))"

sent "classes 4 queues 8 $MAP" <<-END
	plug prio=3 bytes=1000 sport=1 from=10.0.0.1 to=10.0.0.2
	third prio=0x10003 bytes=1000 n=20
	second prio=0x10002 bytes=1000 n=20
	control prio=0x10fff bytes=1000 n=20
	first prio=0x10001 bytes=1000 n=20
END
is "a class that the priority names" "$(runs)" "plug:1 control:20 first:20 second:20 third:20"

diag "bytes"
# apart: the most by which what two sent differs over any interval in which both wait, of all pairs
apart()
{
	awk '{ name[NR] = $1; bytes[NR] = $4; total[$1]++ }
	     END {
		for (i in total)
			for (j in total) {
				if (i == j || i == "plug" || j == "plug")
					continue
				lead = low = 0
				left[i] = total[i]; left[j] = total[j]
				for (k = 1; k <= NR && left[i] && left[j]; k++) {
					if (name[k] == i) { lead += bytes[k]; left[i]-- }
					if (name[k] == j) { lead -= bytes[k]; left[j]-- }
					if (lead < low) low = lead
					if (lead - low > most) most = lead - low
				}
			}
		print most }' "$tmp/came"
}

# shares: bytes of each flow, by name, until the first of them has none left
shares()
{
	awk '$1 != "plug" { name[++n] = $1; bytes[n] = $4; total[$1]++ }
	     END {
		for (k = 1; k <= n; k++) {
			sum[name[k]] += bytes[k]
			if (!--total[name[k]]) break
		}
		print sum["small"], sum["medium"], sum["large"] }' "$tmp/came"
}

for quantum in 1500 4000 20000; do
	sent "queues 16 quantum $quantum" <<-END
		plug bytes=1000
		small bytes=100 n=1500 from=10.0.0.1 to=10.0.0.2 sport=1001
		medium bytes=490 n=300 from=10.0.0.1 to=10.0.0.2 sport=1002
		large bytes=1514 n=100 from=10.0.0.1 to=10.0.0.2 sport=1003
	END
	between "quantum $quantum: bytes by which two differ at most" "$(apart)" \
		$((quantum - 1514)) $((quantum + 2 * 1514))
	read -r small medium large < <(shares)
	for other in $medium $large; do
		between "quantum $quantum: bytes of small frames less those of larger ones" $((small - other)) \
			$((-quantum - 2 * 1514)) $((quantum + 2 * 1514))
	done
	between "quantum $quantum: and are most of what there is" "$small" 100000 150000
done

# turns N: the first N turns, as numbers of frames
turns() { runs | xargs -n 1 | sed -n "2,$(($1 + 1))s/.*://p" | xargs; }
two()
{
	sent "queues 16 quantum $1" <<-END
		plug bytes=1000
		one bytes=1000 n=90 from=10.0.0.1 to=10.0.0.2 sport=1001
		other bytes=1000 n=90 from=10.0.0.1 to=10.0.0.2 sport=1002
	END
}
two 1000
is "a quantum of a frame: turns of one" "$(turns 10)" "1 1 1 1 1 1 1 1 1 1"
two 4000
is "of four frames: of four" "$(turns 10)" "4 4 4 4 4 4 4 4 4 4"
two 500
is "of half a frame: of one, since it has to be saved up" "$(turns 10)" "1 1 1 1 1 1 1 1 1 1"
two 4500
# two turns of each are nine frames, whichever comes first
is "of four and a half: of nine in two turns" "$(turns 12 | awk '{
	for (i = 1; i + 3 <= NF; i += 4) print $i + $(i + 2), $(i + 1) + $(i + 3) }' | xargs)" "9 9 9 9 9 9"
sent "queues 16" <<-END
	plug bytes=1000
	one bytes=1514 n=30 from=10.0.0.1 to=10.0.0.2 sport=1001
	other bytes=757 n=60 from=10.0.0.1 to=10.0.0.2 sport=1002
END
is "auto is a frame of the MTU: one of full size, two of half of it" "$(turns 8 | xargs -n 1 | sort -u | xargs)" "1 2"
is "in turn" "$(turns 8 | awk '{ print $1 + $2, $3 + $4, $5 + $6, $7 + $8 }')" "3 3 3 3"

diag "control packets"
LLA="dst=01:80:c2:00:00"
SIX="from=fe80::1 to=ff02::1 dst=33:33:00:00:00:01 proto=58"
FOUR="from=10.0.0.1 to=10.0.0.2"
control="arp type=0806
arp-unicast type=0806 dst=$(mac 2)
arp-in-vlan tag=5 type=0806
router-solicitation $SIX icmp=133
router-advertisement $SIX icmp=134
neighbour-solicitation $SIX icmp=135
neighbour-advertisement $SIX icmp=136
redirect $SIX icmp=137
solicitation-in-vlan $SIX icmp=135 tag=5
lldp type=88cc $LLA:0e
lldp-nearest-bridge type=88cc $LLA:03
lldp-unicast type=88cc dst=$(mac 2)
stp type=26 $LLA:00
lacp type=8809 $LLA:02
eapol type=888e $LLA:03
link-local-multicast type=9001 $LLA:0f
priority-control-ip prio=7 $FOUR
priority-control-other prio=7 type=9001"
others="ping $FOUR proto=1 icmp=8
ping-v6 $SIX icmp=128
unreachable $FOUR proto=1 icmp=3
multicast-listener $SIX icmp=143
bgp $FOUR proto=6 dport=179
ospf from=10.0.0.1 to=224.0.0.5 dst=01:00:5e:00:00:05 proto=89 tos=0xc0
ospf-v6 from=fe80::1 to=ff02::5 dst=33:33:00:00:00:05 proto=89
dns $FOUR dport=53
type-of-a-solicitation-in-udp from=fe80::1 to=fe80::2 sport=34560
rarp type=8035
ptp type=88f7 dst=01:1b:19:00:00:00
multicast-beyond-link-local type=9001 $LLA:10
priority-interactive prio=6 type=9001
priority-beyond prio=8 type=9001"
sent "queues 1" <<-END
	plug bytes=1000
	data bytes=1000 n=20 $FOUR
	$others
	$control
	data bytes=1000 n=5 $FOUR
END
between "frames that came" "$(wc -l <"$tmp/came")" $((1 + 20 + 18 + 14 + 5)) $((1 + 20 + 18 + 14 + 5))
# place NAME: how many frames of the data came before it
place() { awk -v name="$1" '$1 == name { print n + 0 } $1 == "data" { n++ }' "$tmp/came"; }
while read -r name _; do
	is "$name goes ahead of all data" "$(place "$name")" 0
done <<<"$control"
while read -r name _; do
	is "$name waits for the data before it" "$(place "$name")" 20
done <<<"$others"
finish
