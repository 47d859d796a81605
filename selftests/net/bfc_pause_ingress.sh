#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pausing by ingress: a sub-queue upstream is paused for all that came from it, wherever it waits.
#
# By hand, to the frame:
#
#	u (hopframe) --- p0 [ sw: bridge ] p1, p2	wires on which a frame takes 10 s
#
# Between two switches, against what bfc does without it:
#
#	h1, h2 --- s1 --- s2 --- r1, r2		h1, h3, h4 send to r1 all they can, h2 to r2
#	              h3, h4 ---'
#
# Nothing is lost where frames are lost without pauses; and h2, who sends to an idle port, stands
# behind h1, who does not: that is what is wrong with it, and why it is here.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge
here=$(cd "$(dirname "$0")" && pwd)
hopframe=$here/hopframe
udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || skip_all "hopframe or udpflow is not built"
load_modules

work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT
ns sw u
sw=$(ns_name sw)
u=$(ns_name u)
no_ipv6() { in_ns "$1" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null; }
ips() { ip -n "$1" -batch - <<<"$2" || die "ip: $2"; }
tcs() { tc -n "$1" -batch - <<<"$2" || die "tc: $2"; }

# shows NAME SPACE DEV KEY... VALUE: they are this now
shows()
{
	bfc_figs "${@:2:$#-2}"
	is "$1" "$REPLY" "${*: -1}"
}

# has NAME SPACE DEV KEY... VALUE: waits until they are
has()
{
	wait_until -e 100 5 figs_are "${@:2}"
	is "$1" "$REPLY" "${*: -1}"
}
figs_are() { bfc_figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }

# ---- by hand ----

# What is counted, with the Ethernet header. Over 1/8 of what is free is too much: 10 frames are
# not, for (90 - 10) / 8 = 10, 11 are, for 79 / 8 < 11. Below by two frames of the MTU, 3028 bytes,
# are 7, for 7000 + 3028 <= 83000 / 8 = 10375, and not 8, for 11028 > 82000 / 8.
FRAME=1000
POOL=$((90 * FRAME))
ingress="bfc queues 8 assign single limit 1m pool $POOL pool-alpha 800% pause ingress refresh 1s nowatch"
held="ingress_bytes pause_counters pausing_queues"

no_ipv6 sw
no_ipv6 u
hand=
epoch=0
u_comes() # under an epoch of its own
{
	epoch=$((epoch + 1))
	# directly, so that its process is the one that is killed
	ip netns exec "$u" "$hopframe" peer x queues=64 flags=5 for=600000 mine=$epoch >"$work/u" 2>&1 &
	hand=$!
}
u_goes()
{
	kill "$hand" 2>/dev/null
	wait "$hand" 2>/dev/null
}
# u_port [LINE]...: a port for u, with these lines for ip
u_port()
{
	ips "$sw" "$(printf '%s\n' "$@" "link add p0 type veth peer name x address $(mac 1) netns $u" \
		"link set p0 master br0 up")"
	ip_in u link set x up
	tcs "$sw" "qdisc add dev p0 root handle 1: $ingress"
	u_comes
}
wires=
for i in 1 2; do
	wires+="link add p$i type wire rate 800bit ring 0 peer name y$i
		link set y$i up
		link set p$i master br0 up
"
done
u_port "link add br0 type bridge mcast_snooping 0" "link set br0 up" "$wires"
for i in 1 2; do
	bridge -n "$sw" fdb replace "$(mac 2 $i)" dev p$i master static
done
tcs "$sw" "qdisc add dev p1 root handle 1: $ingress
qdisc add dev p2 root handle 1: $ingress"

# sends PORT N: frames of u's sub-queue 4 that leave by this port
sends() { ip netns exec "$u" "$hopframe" data x vid=5 dst="$(mac 2 "$1")" n="$2" pad=$((FRAME - 14)); }

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

change() { tcs "$sw" "qdisc change dev p1 root bfc $*"; }
has "p0 knows u's sub-queues" "$sw" p0 handles 64
sends 1 1
sends 2 1
# shellcheck disable=SC2086
{
has "a frame on the line of each port is not here any more" "$sw" p0 $held "0 0 0"
sends 1 10
has "ten frames: as much as may be" "$sw" p0 $held "10000 0 0"
shows "all of them count, and the one on the line has" "$sw" p1 marked marks pool_used "10 11 10000"
sends 1 1
has "an eleventh: xoff" "$sw" p0 $held "11000 1 1"
shows "once" "$sw" p0 pauses_tx resumes_tx "1 0"
u_is "u was told so" 10
sends 1 3
has "more change nothing" "$sw" p0 $held "14000 1 1"
shows "and are not told" "$sw" p0 pauses_tx 1
change limit 8500
has "eight are left: not yet" "$sw" p0 $held "8000 1 1"
change limit 7500
has "xon: two frames of the MTU below" "$sw" p0 $held "7000 0 0"
shows "said once" "$sw" p0 pauses_tx resumes_tx "1 1"
u_is "u was told so" 0
change limit 1m
sends 1 5
has "twelve again: xoff" "$sw" p0 $held "12000 1 1"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "nothing is left when they have left by the line" "$sw" p0 $held "0 0 0"
shows "nor marked" "$sw" p1 marked qlen pool_used "0 0 0"
u_is "u is resumed" 0

# From here on nothing leaves by the lines: a bit takes a second, and HELLOs go first.
ips "$sw" "link set p1 type wire rate 1bit
link set p2 type wire rate 1bit"
sends 1 2
sends 2 2
anew()
{
	tcs "$sw" "qdisc del dev p1 root
qdisc add dev p1 root handle 1: $ingress"
	has "$1: nothing is held" "$sw" p0 $held "0 0 0"
}

diag "of all ports together"
tcs "$sw" "qdisc del dev p2 root
qdisc add dev p2 root handle 1: $ingress"
anew "two ports"
sends 1 6
sends 2 4
has "six and four" "$sw" p0 $held "10000 0 0"
sends 2 1
has "one more at either: xoff" "$sw" p0 $held "11000 1 1"
shows "by two ports" "$sw" p1 marked pool_used "6 11000"
shows "that have a pool" "$sw" p2 marked pool_used "5 11000"
tcs "$sw" "qdisc del dev p1 root"
has "one of them goes: xon" "$sw" p0 $held "5000 0 0"
ip_in sw link set p2 down
has "the other goes down: nothing is left" "$sw" p0 $held "0 0 0"
u_is "u is resumed" 0
tcs "$sw" "qdisc del dev p2 root
qdisc add dev p1 root handle 1: $ingress"

diag "ways to leave"
# leaves NAME HELD COMMAND...: twelve frames wait at p1, xoff; then it happens
leaves()
{
	anew "$1"
	sends 1 12
	has "$1: xoff" "$sw" p0 $held "12000 1 1"
	"${@:3}" || fail "$1" "${*:3}"
	has "$1: what is held" "$sw" p0 $held "$2"
}
leaves "replaced by its kind" "0 0 0" tc -n "$sw" qdisc replace dev p1 root handle 2: $ingress
u_is "replaced by its kind: u is resumed" 0
leaves "another way to pause" "0 0 0" change pause
change pause ingress
sends 1 2
has "another way to pause: and back, for what comes now" "$sw" p0 $held "2000 0 0"
leaves "no way to pause" "0 0 0" change nopause pool none
shows "no way to pause: its packets stay" "$sw" p1 qlen marked "12 0"

anew_p0()
{
	u_goes
	u_port "link del p0"
}
leaves "u's port is made anew" "0 0 0" anew_p0
has "made anew: it knows u's sub-queues" "$sw" p0 handles 64
shows "made anew: the packets still count, for nobody" "$sw" p1 qlen marked "12 12"
sends 1 1
has "made anew: what comes now counts for the new one" "$sw" p0 $held "1000 0 0"

# A new epoch has other handles: who starts anew is not paused for what he sent before.
restart_u()
{
	u_goes
	u_comes
	sleep 0.5
}
leaves "u restarts" "0 0 0" restart_u
has "u restarts: it is known again" "$sw" p0 handles neighbour_up "64 2"
shows "u restarts: the packets still count, for nobody" "$sw" p1 qlen marked "12 12"
# (90 - 12 - 8) / 8 = 8.75, (90 - 12 - 9) / 8 = 8.625
sends 1 8
has "u restarts: eight more are not too many" "$sw" p0 $held "8000 0 0"
sends 1 1
has "u restarts: a ninth is" "$sw" p0 $held "9000 1 1"
u_is "u restarts: it is told of the pause" 10
tcs "$sw" "qdisc del dev p1 root"
u_is "u restarts: and of its end" 0
has "u restarts: nothing is held" "$sw" p0 $held "0 0 0"
}
u_goes
leave_spaces

# ---- two switches ----

if [ "${SLUICE_HOME:-}" != uml ]; then
	skip "two switches" "needs virtual time"
	finish
fi

RATE=10gbit
US=500			# for so long they send
SWITCH_POOL=400000
PAYLOAD=1458
# Each frame takes 1500 bytes and, to a port with a neighbour, its tag. The wire adds 24.
FRAME_NS=$(((PAYLOAD + 42 + 24) * 8 / 10))

ns h1 h2 h3 h4 s1 s2
s1=$(ns_name s1)
s2=$(ns_name s2)
for box in h1 h2 h3 h4 s1 s2; do
	no_ipv6 $box
done
# link A B: a wire, its ends called after the boxes that they lead to
link()
{
	echo "link add $2 type wire rate $RATE delay 1us peer name $1 netns $(ns_name "$2")"
	echo "link set $2 up"
}
bridge="link add br0 type bridge mcast_snooping 0
link set br0 up"
ips "$s1" "$bridge
$(for box in h1 h2 s2; do
	link s1 $box
	echo "link set $box master br0"
done)"
# r1 and r2 are nobody: what counts is what leaves for them.
ips "$s2" "$bridge
link set s1 up
link set s1 master br0
$(for box in h3 h4; do
	link s2 $box
	echo "link set $box master br0"
done
for box in r1 r2; do
	echo "link add $box type wire rate $RATE delay 1us peer name y$box"
	echo "link set y$box up"
	echo "link set $box up"
	echo "link set $box master br0"
done)"
for i in 1 2; do
	bridge -n "$s1" fdb replace "$(mac 1$i)" dev s2 master static
	bridge -n "$s2" fdb replace "$(mac 1$i)" dev r$i master static
done
for i in 1 2 3 4; do
	dev=s$(((i + 1) / 2))
	to=$((i == 2 ? 12 : 11))
	ips "$(ns_name h$i)" "link set $dev up
addr add 10.0.0.$i/24 dev $dev
neigh replace 10.0.0.$to lladdr $(mac $to) nud permanent dev $dev"
	tc_in h$i qdisc add dev $dev root bfc role host queues 32 limit 4m
done

# switches OPTION...: bfc on all ports of both, and all that they are told by goes by
switches()
{
	local dev

	# shellcheck disable=SC2048,SC2086
	for dev in "$s1 h1" "$s1 h2" "$s1 s2" "$s2 s1" "$s2 h3" "$s2 h4" "$s2 r1" "$s2 r2"; do
		echo "qdisc replace dev ${dev#* } root handle ${handle}: bfc role switch queues 32 limit 4m" \
			"pool $SWITCH_POOL pool-alpha 800% $*" >>"$work/${dev% *}"
	done
	tcs "$s1" "$(cat "$work/$s1")"
	tcs "$s2" "$(cat "$work/$s2")"
	rm "$work/$s1" "$work/$s2"
	handle=$((handle + 1))
	wait_until 10 all_tag || die "a port stays plain"
}
handle=1
all_tag()
{
	sleep 0.2
	[[ $(tc_in h1 -s qdisc show dev s1) = *"state tagging"* ]] &&
	[[ $(tc_in h2 -s qdisc show dev s1) = *"state tagging"* ]] &&
	[[ $(tc_in s1 -s qdisc show dev s2) = *"state tagging"* ]] &&
	[[ $(tc_in h3 -s qdisc show dev s2) = *"state tagging"* ]] &&
	[[ $(tc_in h4 -s qdisc show dev s2) = *"state tagging"* ]]
}

share() { echo $(((${2% *} - ${1% *}) * FRAME_NS * 100 / (${2#* } - ${1#* }))); }

# run [COMMAND...]: they send; the command is run when half of that time is over. What leaves for r1
# and r2 in the other half is in $hogs and $victim, as percent of the rate; frames dropped
# anywhere in $drops.
run()
{
	local start pids=() i r1 r2

	start=$(($("$udpflow" now) + 20000000))
	for i in 1 2 3 4; do
		in_ns h$i "$udpflow" send -d 10.0.0.$((i == 2 ? 12 : 11)) --id $i --sport $((5000 + i)) \
			-l $PAYLOAD --sndbuf 400000 --at $((start + i * 170)) -t ${US}us >/dev/null &
		pids+=($!)
	done
	"$udpflow" now --at $((start + US * 500)) >/dev/null
	"$@"
	bfc_figs "$s2" r1 packets time
	r1=$REPLY
	bfc_figs "$s2" r2 packets time
	r2=$REPLY
	"$udpflow" now --at $((start + US * 1000)) >/dev/null
	bfc_figs "$s2" r1 packets time
	hogs=$(share "$r1" "$REPLY")
	bfc_figs "$s2" r2 packets time
	victim=$(share "$r2" "$REPLY")
	wait "${pids[@]}"
	drops=0
	for i in "$s1 s2" "$s2 r1" "$s2 r2"; do
		# shellcheck disable=SC2086
		bfc_figs $i drops
		drops=$((drops + REPLY))
	done
}

switches assign single pause ingress
run true
pfc=$victim
is "pausing by ingress loses none" "$drops" 0
# more or less what the card holds, which has left
between "the line to r1 is full" "$hogs" 97 103
bfc_figs "$s2" s1 pauses_tx
between "it has paused s1" "$REPLY" 1 100000
bfc_figs "$s1" s2 pauses_obeyed
between "which has obeyed" "$REPLY" 1 100000
# shellcheck disable=SC2086
has "and nothing is held at last" "$s2" s1 $held "0 0 0"
bfc_figs "$s2" s1 pauses_tx resumes_tx
is "each pause has ended" "${REPLY% *}" "${REPLY#* }"
# Three who send all they can, by 1/8 of what is free each, get 3/11 of the pool: so much it holds,
# or it would not have paused them. Then a frame of each was too much, one is on its line, and in
# the 2 us that a pause and the last frame are on their way, and the 84 bytes of the pause, more come.
bfc_figs "$s2" r1 pool_max
between "the pool holds their shares, and what comes in an HRTT" "$REPLY" \
	$((SWITCH_POOL * 3 / 11)) $((SWITCH_POOL * 3 / 11 + 3 * (2 * 1524 + 2500 + 84)))

diag "s1 has another qdisc, in the midst of it"
run tcs "$s1" "qdisc replace dev s2 root handle 77: bfc role switch queues 32 limit 4m assign single \
pause ingress pool $SWITCH_POOL pool-alpha 800%"
between "the line to r1 is full all the same" "$hogs" 97 103
# shellcheck disable=SC2086
has "nothing is held at last" "$s2" s1 $held "0 0 0"
bfc_figs "$s2" s1 pauses_tx resumes_tx
is "each pause has ended" "${REPLY% *}" "${REPLY#* }"

switches assign single nopause
run true
between "without pauses frames are lost" "$drops" 100 100000
bfc_figs "$s2" r1 drop_pool drops
is "for want of room in the pool" "${REPLY% *}" "${REPLY#* }"

# By ingress three links share the line to r1, and h1 and h2 their link's third of it, and of a
# paused link no more: so h2 gets 1/3 of the rate. By sub-queue only h1 waits: h2 gets the
# rest of its link, 2/3.
switches
run true
diag "of the line to the idle port is used: $pfc % by ingress, $victim % by sub-queue"
is "bfc loses none either" "$drops" 0
between "by ingress the bystander gets a third of the rate" $pfc 28 38
between "by sub-queue, twice that" $victim 61 71
finish
