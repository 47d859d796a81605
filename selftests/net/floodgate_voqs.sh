#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The qdisc floodgate with few VOQs, which destinations share (`voqs`); with destinations that are networks (`prefix`,
# `prefix6`), or addresses in VLANs (`key vlan`). And what few VOQs do where routes make a circle (Floodgate, Fig. 4).
#
#	a:p ====100M==== b:q [ bridge ] b:r ---10M--- y
#	a:o ====100M==== b:n            b:s --100M--- z
#
# $SLUICE_VOQS: numbers of VOQs with which order is looked at (1 2 3).

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc bridge jq
need_program frames hopframe tcmsg
# set by need_program
: "${frames:?}" "${hopframe:?}" "${tcmsg:?}"
need_virtual_time
load_modules
need_module sch_floodgate

FRAME=1000	# bytes, with the Ethernet header
WINDOW=20000	# where nothing else is said
boxes()
{
	local box

	ns "$@"
	for box; do
		in_ns "$box" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
		ips "$box" "link add br0 type bridge mcast_snooping 0
link set br0 up"
	done
}
fdb() { bridge -n "$NS-$1" fdb replace "$3" dev "$2" master static; }
# p DEV [WORD]...: a's qdisc there, new
p()
{
	tc_in a qdisc del dev "$1" root 2>/dev/null
	# shellcheck disable=SC2086
	gate a "$1" switch window ${window:-$WINDOW} "${@:2}"
	check "they meet: $*" wait_until -e 500 10 figs_are a "$1" windows 1
}
# to NAME N ADDRESS MAC [WORD]...: a line for `frames`: N of them
to() { echo "$1 n=$2 bytes=$FRAME from=10.0.9.1 to=$3 sport=1 dport=9 dst=$(mac "$4") ${*:5}"; }
to6() { echo "$1 n=$2 bytes=$FRAME from=fd00::1 to=$3 sport=1 dport=9 dst=$(mac "$4")"; }
# got BOX DEV: packets that came there
got() { received "$@"; echo "$REPLY"; }
got_all() { received "$1" "$2"; [ "$REPLY" -ge "$3" ]; }
rests() { figs_are a p backlog outstanding voqs_used voq_backlog "0 0 0 0" && figs_are a o backlog outstanding voqs_used "0 0 0" && figs_are b r backlog queued "0 0"; }
settles() { check "$1: all leaves, and nothing is outstanding" wait_until -e 400 50 rests; }
# used: what counts against windows of all that go by p
used() { tc_in a -s class show dev p | awk '{ for (i = 1; i < NF; i++) if ($i == "used") n += $(i + 1) } END { print n + 0 }'; }
# waits DEV: what VOQs of a's port wait for, a word for each destination that has packets there
waits() { tc_in a -s class show dev "$1" | grep -o 'waits [a-z]*' | grep -v not | sort | uniq -c | awk '{ printf "%s%d %s", (NR > 1 ? ", " : ""), $1, $3 }'; }

boxes a b
sees b
cable a p 100mbit b q
cable a o 100mbit b n
ips b "link add r type wire rate 10mbit ring 0 peer name y
link add s type wire rate 100mbit ring 0 peer name z
link set y up
link set z up"
for dev in q n r s; do
	enslave b $dev
	ip_in b link set dev $dev up
done
for host in 2:r 3:s 4:r 5:r 6:r; do
	fdb b "${host#*:}" "$(mac "${host%:*}")"
done
for dev in q:switch n:switch r:host s:host; do
	gate b ${dev%:*} ${dev#*:}
done
gate a o switch window $WINDOW

# ---- options ----

diag "options"
p p voqs 3 prefix 24 prefix6 64 key vlan
options() { tc_in a -j qdisc show dev p | jq -c '.[] | select(.kind == "floodgate").options | [.voqs, .prefix, .prefix6, .key]'; }
is "all of them are shown" "$(options)" '[3,24,64,"vlan"]'
while read -r attribute value said; do
	refused "$attribute is not $value" "$said" \
		"$tcmsg" -n "$NS-b" send add y TCA_KIND=str:floodgate "TCA_OPTIONS{" "TCA_FLOODGATE_$attribute=$value" "}"
done <<-'END'
	VOQS u32:4095 voqs must be each or 1 to 4094
	KEY u8:2 key must be ip or vlan
	PREFIX u8:0 prefix must be 1 to 32
	PREFIX u8:33 prefix must be 1 to 32
	PREFIX6 u8:0 prefix6 must be 1 to 128
	PREFIX6 u8:129 prefix6 must be 1 to 128
END
for word in "voqs 4" "prefix 23" "prefix6 48" "key ip"; do
	# shellcheck disable=SC2086
	refused "$word is for good" "this option can be set at creation only" tc_in a qdisc change dev p root floodgate window 5k $word
done
is "what is refused changes nothing" "$(options)" '[3,24,64,"vlan"]'

# ---- VOQs that are shared ----

diag "two destinations, one VOQ"
p p voqs 1
sends a p "$(to y 100 10.0.0.2 2)" "$(to w 100 10.0.0.4 4)"
figs a p voqs_used voqs_shared slots_used
is "both are in one VOQ, and have a window each" "$REPLY" "1 1 2"
is "the one waits for window, the other one for the first" "$(waits p)" "1 others, 1 window"
figs a p voq_backlog voq_max
between "the VOQ has been as long as both" "${REPLY#* }" "${REPLY% *}" 200000
qlens=$(tc_in a -s class show dev p | awk '/backlog [0-9]+b/ { for (i = 1; i < NF; i++) if ($i == "backlog") b += $(i + 2) } END { print b + 0 }')
between "classes have the packets of both" "$qlens" 120 200
settles "one VOQ"
sends a p "$(to w 100 10.0.0.4 4)"
figs a p voqs_used voqs_shared
is "who finds it empty has it alone" "$REPLY" "1 1"
is "and waits for window" "$(waits p)" "1 window"
settles "one VOQ, alone"

diag "as many as destinations"
p p
sends a p "$(to y 100 10.0.0.2 2)" "$(to w 100 10.0.0.4 4)"
figs a p voqs_used voqs_shared
is "none is shared" "$REPLY" "2 0"
is "both wait for window" "$(waits p)" "2 window"
settles "a VOQ for each"

# Four destinations that come and go, and find VOQs in use or free.
# order NAME: each of them in its order
order()
{
	local lines=() line=() i host said

	for host in 2 4 5 6; do
		line[host]=$(to "" 10 10.0.0.$host $host)
	done
	for ((i = 0; i < 60; i++)); do
		host=$((i % 4 ? i % 4 + 3 : 2))	# 2, 4, 5, 6
		# now and then it is quiet for long enough for all to leave
		lines+=("h$host.$i${line[host]}wait=$((i % 20 ? 3000000 : 150000000)) sport=$i")
	done
	said=$(printf '%s\n' "${lines[@]}" | "$frames" -l -w 800 "$NS-a/p" "$NS-b/y" | awk '
		/^h/ {
			split($1, of, ".")
			is = of[2] * 10 + $2
			bad += of[1] in last && is <= last[of[1]]
			last[of[1]] = is
			n++
		}
		END { printf "%d %d\n", n, bad }')
	is "$1: all come, and of each destination in order" "$said" "600 0"
	settles "$1"
}
for voqs in ${SLUICE_VOQS:-1 2 3}; do
	for words in "serve below" "serve through" "window-scope port"; do
		diag "voqs $voqs $words"
		# shellcheck disable=SC2086
		window=5000 p p voqs $voqs $words
		order "voqs $voqs $words"
		figs a p voqs_max
		is "voqs $voqs $words: so many at most" "$REPLY" $voqs
		figs a p voqs_shared
		between "voqs $voqs $words: some were shared" "$REPLY" 1 60
	done
done

diag "who is first holds up all others"
# z's host takes 100 Mb/s; with so small a window it needs some 20 credits
for voqs in each 1; do
	window=5000 p p voqs $voqs
	before=$(got b z)
	sends a p "$(to y 300 10.0.0.2 2)" "$(to z 50 10.0.0.3 3)"
	check "voqs $voqs: all of z's come" wait_until -e 5 5 got_all b z $((before + 50))
	figs a p backlog
	if [ $voqs = each ]; then
		between "each: while y's wait" "$REPLY" $((200 * FRAME)) $((300 * FRAME))
	else
		between "1: when y's have left" "$REPLY" 0 $((20 * FRAME))
	fi
	settles "voqs $voqs"
done

# ---- what may lose a call, or what a VOQ holds ----

# crowd DEV: packets of four destinations, by turns
crowd()
{
	local i lines=() four

	four=("$(to y 5 10.0.0.2 2)" "$(to w 5 10.0.0.4 4)" "$(to v 5 10.0.0.5 5)" "$(to u 5 10.0.0.6 6)")
	for ((i = 0; i < 20; i++)); do
		lines+=("${four[@]}")
	done
	sends a "$1" "${lines[@]}"
}
for scope in switch port; do
	diag "two ports share windows, scope $scope"
	p p voqs 2 window-scope $scope
	p o voqs 1 window-scope $scope
	crowd p
	crowd o
	settles "scope $scope"
	crowd p
	crowd o
	tc_in a qdisc change dev p root floodgate window 5000
	sleep 0.05
	tc_in a qdisc change dev p root floodgate window-scope port window 30000
	tc_in a qdisc change dev o root floodgate window 30000
	sleep 0.05
	tc_in a qdisc change dev p root floodgate window-scope switch
	settles "scope $scope, changes meanwhile"
done

diag "a port goes with a VOQ that is shared, and the other one goes on"
p p voqs 2
p o voqs 2
crowd p
crowd o
sleep 0.02
tc_in a qdisc replace dev o root pfifo
check "all that p has leaves" wait_until -e 400 50 figs_are a p backlog outstanding voqs_used "0 0 0"
p o voqs 2
crowd p
crowd o
sleep 0.02
ip_in a link set p down
shows "a device goes down: nothing is queued" a p backlog voqs_used voq_backlog "0 0 0"
ip_in a link set p up
check "they meet again" wait_until -e 500 10 figs_are a p windows 1
settles "down and up"
crowd p
sleep 0.02
tc_in b qdisc replace dev q root pfifo
check "without a neighbour all leaves" wait_until -e 100 10 figs_are a p windows backlog voqs_used "0 0 0"
gate b q switch
check "they meet again" wait_until -e 500 10 figs_are a p windows 1
for fault in "loss_data 5%" "loss_control 30%"; do
	# shellcheck disable=SC2086
	ip_in a link set p type wire $fault && ip_in b link set q type wire $fault || die "no $fault"
	crowd p
	settles "$fault"
	ip_in a link set p type wire "${fault% *}" 0 && ip_in b link set q type wire "${fault% *}" 0
done

# ---- networks as destinations ----

diag "prefix"
p p
sends a p "$(to y 60 10.0.0.2 2)" "$(to w 60 10.0.0.4 4)"
shows "addresses: two destinations" a p slots_used 2
between "with two windows" "$(used)" $((2 * WINDOW)) $((2 * WINDOW + 2 * FRAME))
settles "addresses"
p p prefix 24
sends a p "$(to y 60 10.0.0.2 2)" "$(to w 60 10.0.0.4 4)"
shows "one /24: one destination with one VOQ" a p slots_used voqs_used "1 1"
between "and one window" "$(used)" $WINDOW $((WINDOW + FRAME))
is "its class says so" "$(tc_in a -s class show dev p | grep -o 'address 10.* waits [a-z]*')" "address 10.0.0.0 prefix 24 waits window"
settles "prefix"
sends a p "$(to y 5 10.0.0.2 2)" "$(to w 5 10.0.1.4 4)"
shows "another /24 is another one" a p slots_used 2
settles "another one"
p p prefix6 64
sends a p "$(to6 y 20 fd00:1::2 2)" "$(to6 w 20 fd00:1::4 4)" "$(to6 w 20 fd00:1:0:1::4 4)"
shows "IPv6, prefix6 64: two of three addresses are one destination" a p slots_used 2
is "their classes say so" "$(tc_in a -s class show dev p | grep -o 'address fd.* prefix [0-9]*' | sort | paste -sd,)" \
	"address fd00:1:0:1:: prefix 64,address fd00:1:: prefix 64"
settles "prefix6"

# What p has sent does not count at o if their destinations are others.
for prefix in 24 32; do
	p p prefix 24
	p o prefix $prefix
	sends a p "$(to y 60 10.0.0.2 2)"
	sends a o "$(to w 5 10.0.0.4 4)"
	figs a o voq_packets
	is "p has /24, o has /$prefix: o's wait for p's window" "$REPLY" "$([ $prefix = 24 ] && echo 5 || echo 0)"
	settles "p has /24, o has /$prefix"
done

# ---- VLANs ----

diag "VLANs"
for key in vlan ip; do
	p p key $key
	sends a p "$(to y 60 10.0.0.2 2 tag=5)" "$(to w 60 10.0.0.2 2 tag=6)"
	if [ $key = vlan ]; then
		shows "vlan: one address in two VLANs is two destinations" a p slots_used 2
		between "with two windows" "$(used)" $((2 * WINDOW)) $((2 * WINDOW + 2 * FRAME))
		is "their classes say so" "$(tc_in a -s class show dev p | grep -o 'address 10.0.0.2.* waits' | sort | paste -sd,)" \
			"address 10.0.0.2 vlan 5 waits,address 10.0.0.2 vlan 6 waits"
	else
		shows "ip: it is one" a p slots_used 1
		between "with one window" "$(used)" $WINDOW $((WINDOW + FRAME))
	fi
	settles "key $key"
done
leave_spaces

# ---- what the neighbour holds ----

# program MS MS [WORD]...: a's neighbour is a program, which pauses slot 0 from then until then
program()
{
	two_boxes rate 10mbit delay 1us
	tc_in a qdisc replace dev p root handle 1: floodgate role host peer switch slots 4 nowatch "${@:3}" || die "no qdisc floodgate"
	in_ns b "$hopframe" peer q for=$(($2 + 500)) role=switch queues=8 at="$1" state:seq=1,lease=2000000000,words=1 \
		at="$2" state:seq=2,lease=2000000000,words=0 >/dev/null &
	check "tags" wait_until -e 10 1 tags a p
}
empty() { figs_are a p backlog voqs_used paused "0 0 0"; }
waits_for() { [ "$(waits p)" = "$1" ]; }
for voqs in each 1; do
	diag "a slot is held, voqs $voqs"
	program 500 1000 voqs $voqs
	sends a p "$(to x 1 10.0.0.11 11)" "$(to y 1 10.0.0.12 12)"
	sleep 0.3	# without a look
	check "and has packets then" wait_until -e 10 1 figs_are a p paused backlog slots_used "1 0 2"
	sends a p "$(to x 2 10.0.0.11 11)" "$(to y 3 10.0.0.12 12)"
	sleep 0.05
	if [ $voqs = each ]; then
		is "the other one passes" "$(waits p)" "1 pause"
	else
		is "the other one waits behind it" "$(waits p)" "1 others, 1 pause"
	fi
	sleep 0.3
	check "until it is resumed" wait_until -e 10 2 empty
	wait
	leave_spaces
done
# x comes first some 0.65 s from then on
for until in 400 2000; do
	diag "a slot is held while it waits behind another one, until $until ms"
	program 200 $until voqs 1
	sends a p "$(to x 1 10.0.0.11 11)" "$(to y 800 10.0.0.12 12)" "$(to x 2 10.0.0.11 11)"
	sleep 0.5
	[ $until = 400 ] || check "it holds all up when it is first" wait_until -e 10 2 waits_for "1 pause"
	[ $until = 400 ] || sleep 1
	check "all leaves" wait_until -e 10 3 empty
	wait
	leave_spaces
done

# ---- circles ----

# to_host BOX N: so many have gone to its host
to_host() { figs_are "$1" r packets "$2"; }
# all_rest BOX...
all_rest()
{
	local box

	for box; do
		figs_are "$box" x backlog outstanding voqs_used "0 0 0" || return
	done
}

# What goes up and what goes down meets in the leaves, but at no port:
#
#	s0:x ====100M==== c:a [ bridge ] c:b ====100M==== s1:x
#	s0:r ---10M--- y                                  s1:r ---10M--- y
diag "Fig. 4: two racks, and a core switch between them"
boxes s0 s1 c
cable s0 x 100mbit c a
cable s1 x 100mbit c b
enslave c a
enslave c b
fdb c a "$(mac 10)"
fdb c b "$(mac 11)"
gate c a switch window $WINDOW voqs 1
gate c b switch window $WINDOW voqs 1
for i in 0 1; do
	ips s$i "link add r type wire rate 10mbit ring 0 peer name y
link set r up
link set y up"
	enslave s$i r
	enslave s$i x
	fdb s$i r "$(mac 1$i)"
	fdb s$i x "$(mac 1$((1 - i)))"
	gate s$i x switch window $WINDOW voqs 1
	gate s$i r host
done
for i in 0 1; do
	check "s$i: they meet" wait_until -e 500 10 figs_are s$i x windows 1
done
for i in 0 1; do
	sends s$i x "$(to f 300 10.0.0.1$((1 - i)) 1$((1 - i)))"
done
for i in 0 1; do
	check "voqs 1: all of it comes to s$i" wait_until -e 400 10 to_host s$i 300
done
check "nothing is outstanding" wait_until -e 400 10 all_rest s0 s1
leave_spaces

# Routes that make a circle: what s0 sends to the host of s2 goes by s1, and so on. Its first window is at the slow host, its
# second one in the VOQ of the next switch, behind what that one sends itself, which waits for the same thing one
# switch further.
#
#	s0:x ==== s1:p [ ] s1:x ==== s2:p [ ] s2:x ==== s0:p		each with r --10M-- y
for voqs in 1 each; do
	diag "a circle of routes, voqs $voqs"
	boxes s0 s1 s2
	for i in 0 1 2; do
		cable s$i x 100mbit s$(((i + 1) % 3)) p
	done
	for i in 0 1 2; do
		ips s$i "link add r type wire rate 10mbit ring 0 peer name y
link set r up
link set y up"
		for dev in x p r; do
			enslave s$i $dev
		done
		for j in 0 1 2; do
			fdb s$i $([ $i = $j ] && echo r || echo x) "$(mac 1$j)"
		done
		gate s$i x switch window $WINDOW voqs $voqs
		gate s$i p switch
		gate s$i r host
	done
	for i in 0 1 2; do
		check "$voqs, s$i: they meet" wait_until -e 500 10 figs_are s$i x windows 1
	done
	for i in 0 1 2; do
		sends s$i x "$(to f$i 300 10.0.0.1$(((i + 2) % 3)) 1$(((i + 2) % 3)))"
	done
	if [ $voqs = 1 ]; then
		hosts_got() { figs s0 r packets; said=$REPLY; figs s1 r packets; said+=" $REPLY"; figs s2 r packets; said+=" $REPLY"; }
		sleep 2
		hosts_got
		before=$said
		for got in $before; do
			between "voqs 1: a host gets a window, and what left it meanwhile" $got $((WINDOW / FRAME)) $((WINDOW / FRAME + 5))
		done
		sleep 30
		hosts_got
		is "voqs 1: half a minute later they have got no more" "$said" "$before"
		for i in 0 1 2; do
			figs s$i x backlog voqs_used
			between "s$i holds what it has to send, and what s$(((i + 2) % 3)) has sent it" "${REPLY% *}" $((200 * FRAME)) $((300 * FRAME))
		done
		tc_in s0 qdisc change dev x root floodgate window 1m
		diag "a larger window at one of them opens the circle"
	fi
	for i in 0 1 2; do
		check "$voqs: all of it comes to s$i" wait_until -e 400 10 to_host s$i 300
	done
	check "$voqs: nothing is outstanding" wait_until -e 400 10 all_rest s0 s1 s2
	leave_spaces
done
finish
