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
need_tool ip tc jq
here=$(cd "$(dirname "$0")" && pwd)
hopframe=$here/hopframe
udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || skip_all "hopframe or udpflow is not built"
load_modules

work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT

# figs NS DEV KEY...: figures of its bfc, of one moment
figs()
{
	local json key said=

	json=$(tc_in "$1" -j -s qdisc show dev "$2")
	json=${json#*'"kind":"bfc"'}
	for key in "${@:3}"; do
		[[ $json =~ \"$key\":([0-9]+) ]] || die "$2 shows no $key"
		said+=" ${BASH_REMATCH[1]}"
	done
	echo "${said# }"
}

# has NAME NS DEV KEY... = VALUE...: waits for these
has()
{
	local name=$1 want="${*: -1}" left=50 got
	local where=("${@:2:$#-2}")

	got=$(figs "${where[@]}")
	while [ "$got" != "$want" ] && [ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.1
		got=$(figs "${where[@]}")
	done
	is "$name" "$got" "$want"
}

# ---- by hand ----

FRAME=1000
POOL=$((90 * FRAME))
# Over 1/8 of the rest means over 10 frames. Two frames of the MTU below that is 7308 bytes.
ingress="bfc queues 8 assign single limit 1m pool $POOL pool-alpha 800% pause ingress refresh 10ms nowatch"

ns sw u
for name in sw u; do
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
tcs() { tc -n "$(ns_name sw)" -batch - <<<"$1" || die "tc: $1"; }

hand=
u_comes() # [N]: what u says under its N-th epoch
{
	# directly, so that its process is the one that is killed
	ip netns exec "$(ns_name u)" "$hopframe" peer x queues=64 flags=5 for=600000 \
		mine="${1:-1}" >"$work/u" 2>&1 &
	hand=$!
}
u_goes()
{
	[ -z "$hand" ] || kill "$hand" 2>/dev/null
	wait "$hand" 2>/dev/null
	hand=
}
u_port()
{
	ip_in sw link add p0 type veth peer name x address "$(mac 1)" netns "$(ns_name u)"
	ip_in sw link set p0 master br0 up
	ip_in u link set x up
}
epoch=0
anew()
{
	local i

	u_goes
	ip_in sw link del br0 2>/dev/null
	for i in p0 p1 p2; do
		ip_in sw link del $i 2>/dev/null
	done
	ip_in sw link add br0 type bridge mcast_snooping 0
	ip_in sw link set br0 up
	u_port
	for i in 1 2; do
		ip_in sw link add p$i type wire rate 800bit ring 0 peer name y$i
		ip_in sw link set y$i up
		ip_in sw link set p$i master br0 up
		bridge -n "$(ns_name sw)" fdb replace "$(mac 2 $i)" dev p$i master static
	done
	tcs "qdisc add dev p0 root handle 1: $ingress
qdisc add dev p1 root handle 1: $ingress
qdisc add dev p2 root handle 1: $ingress"
	epoch=$((epoch + 1))
	u_comes $epoch
	has "p0 knows u's sub-queues" sw p0 handles 64
	sends 1 1
	sends 2 1
}

# sends PORT N: frames of u's sub-queue 4 that leave by this port
sends() { in_ns u "$hopframe" data x vid=5 dst="$(mac 2 "$1")" n="$2" pad=$((FRAME - 14)); }
last_said() { sed -n 's/.* state seq=.* words=\([0-9a-f+]*\).*/\1/p' "$work/u" | tail -n 1; }

# u_is NAME WORD: what it heard last
u_is()
{
	local left=50

	while [ "$(last_said)" != "$2" ] && [ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 0.1
	done
	is "$1" "$(last_said)" "$2"
}
held="ingress_bytes pause_counters pausing_queues"

anew
has "a frame on the line of each port is not here any more" sw p0 $held "0 0 0"
sends 1 10
# shellcheck disable=SC2086
has "ten frames: as much as may be" sw p0 $held "10000 0 0"
is "all of them count, and the one on the line has" "$(figs sw p1 marked marks pool_used)" "10 11 10000"
sends 1 1
has "an eleventh: xoff" sw p0 $held "11000 1 1"
is "once" "$(figs sw p0 pauses_tx resumes_tx)" "1 0"
u_is "u was told so" 10
sends 1 3
has "more change nothing" sw p0 $held "14000 1 1"
is "and are not told" "$(figs sw p0 pauses_tx)" 1
# The line takes 10 s for a frame: the first look that finds no pause finds the bytes of that moment.
ip_in sw link set p1 type wire rate 8kbit
bytes=14000
for ((i = 0; i < 400; i++)); do
	read -r now pausing < <(figs sw p0 ingress_bytes pausing_queues)
	[ "$pausing" = 1 ] || break
	bytes=$now
	sleep 0.1
done
is "xon: two frames of the MTU below" "$bytes, $now" "8000, 7000"
is "said once" "$(figs sw p0 pauses_tx resumes_tx)" "1 1"
u_is "u was told so" 0
sleep 20
has "nothing is left" sw p0 $held "0 0 0"
is "nor marked" "$(figs sw p1 marked qlen pool_used)" "0 0 0"

diag "of all ports together"
anew
sends 1 6
sends 2 4
has "six and four" sw p0 $held "10000 0 0"
sends 2 1
has "one more at either: xoff" sw p0 $held "11000 1 1"
is "by two ports" "$(figs sw p1 marked) $(figs sw p2 marked)" "6 5"
tcs "qdisc del dev p1 root"
has "one of them goes: xon" sw p0 $held "5000 0 0"
ip_in sw link set p2 down
has "the other goes down: nothing is left" sw p0 $held "0 0 0"
u_is "u is resumed" 0

diag "ways to leave"
# leaves NAME WORDS COMMAND...: twelve frames wait at p1, xoff; then it happens
leaves()
{
	local name=$1 want=$2

	shift 2
	anew
	sends 1 12
	has "$name: xoff" sw p0 $held "12000 1 1"
	"$@" || fail "$name" "$*"
	has "$name: what is held" sw p0 $held "$want"
}
change() { tcs "qdisc change dev p1 root $*"; }
anew_p0()
{
	u_goes
	ip_in sw link del p0
	u_port
	tcs "qdisc add dev p0 root handle 1: $ingress"
	epoch=$((epoch + 1))
	u_comes $epoch
}
# shellcheck disable=SC2086
leaves "replaced by its kind" "0 0 0" tc_in sw qdisc replace dev p1 root handle 2: $ingress
u_is "replaced by its kind: u is resumed" 0
leaves "over the limit" "5000 0 0" change bfc limit 5500
leaves "another way to pause" "0 0 0" change bfc pause
change bfc pause ingress
sends 1 2
has "another way to pause: and back, for what comes now" sw p0 $held "2000 0 0"
leaves "no way to pause" "0 0 0" change bfc nopause pool none
is "no way to pause: its packets stay" "$(figs sw p1 qlen marked pool_used)" "12 0 0"
leaves "u's port is made anew" "0 0 0" anew_p0
has "made anew: it knows u's sub-queues" sw p0 handles 64
is "made anew: the packets still count, for nobody" "$(figs sw p1 qlen marked)" "12 12"
sends 1 1
has "made anew: what comes now counts for the new one" sw p0 $held "1000 0 0"
tcs "qdisc del dev p1 root"
has "made anew: all is gone" sw p0 $held "0 0 0"
u_goes
# u starts anew while it is paused: it hears so again
leaves "u restarts" "12000 1 1" true
u_goes
epoch=$((epoch + 1))
u_comes $epoch
u_is "u restarts: it is told of the pause" 10
tcs "qdisc del dev p1 root"
u_is "u restarts: and of its end" 0
u_goes
_remove_spaces

# ---- two switches ----

if [ "${SLUICE_HOME:-}" != uml ]; then
	skip "two switches" "needs virtual time"
	finish
fi

RATE=10gbit
SWITCH_POOL=400k
declare -A number=([h1]=1 [h2]=2 [h3]=3 [h4]=4 [r1]=11 [r2]=12)
links=("h1 s1" "h2 s1" "s1 s2" "h3 s2" "h4 s2" "s2 r1" "s2 r2")

ns h1 h2 h3 h4 s1 s2 r1 r2
for box in h1 h2 h3 h4 s1 s2 r1 r2; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
for box in s1 s2; do
	ip_in $box link add br0 type bridge mcast_snooping 0
	ip_in $box link set br0 up
done
i=20
for link in "${links[@]}"; do
	read -r a b <<<"$link"
	i=$((i + 1))
	ip_in "$a" link add "$b" address "$(mac "${number[$a]:-$i}")" type wire rate $RATE delay 1us \
		peer name "$a" address "$(mac "${number[$b]:-$((i + 20))}")" netns "$(ns_name "$b")"
	for end in "$a $b" "$b $a"; do
		read -r box dev <<<"$end"
		[[ $box = s? ]] && ip_in "$box" link set "$dev" master br0
		ip_in "$box" link set "$dev" up
	done
done
for box in h1 h2 h3 h4 r1 r2; do
	dev=s2
	[[ $box = h[12] ]] && dev=s1
	ip_in $box addr add 10.0.0.${number[$box]}/24 dev $dev
	for to in r1 r2; do
		[ $to = $box ] || neigh $box $dev 10.0.0.${number[$to]} "$(mac ${number[$to]})"
	done
done
for to in r1 r2; do
	bridge -n "$(ns_name s1)" fdb replace "$(mac ${number[$to]})" dev s2 master static
	bridge -n "$(ns_name s2)" fdb replace "$(mac ${number[$to]})" dev $to master static
done

# scheme HOST SWITCH: options of bfc on all hosts and on all switches
scheme()
{
	local link a b

	for link in "${links[@]}"; do
		read -r a b <<<"$link"
		for end in "$a $b" "$b $a"; do
			read -r box dev <<<"$end"
			tc_in "$box" qdisc del dev "$dev" root 2>/dev/null
			# shellcheck disable=SC2046
			tc_in "$box" qdisc add dev "$dev" root bfc queues 32 limit 4m \
				$([[ $box = s? ]] && echo "$2" || echo "$1") || die "no bfc at $box"
		done
	done
	wait_until 10 all_tag || die "a port stays plain"
}
all_tag()
{
	local link a b

	for link in "${links[@]}"; do
		read -r a b <<<"$link"
		[[ $(tc_in "$a" -s qdisc show dev "$b") = *"state tagging"* ]] || return 1
	done
}

# run [COMMAND...]: 4 ms of it. Frames that r1 and r2 got by then are in $hogs and $victim, lost
# ones of the hogs' in $lost; the command is run in the midst of it.
run()
{
	local start pids=() i=0 before=() after=()

	for i in 1 2; do
		in_ns r$i "$udpflow" sink --json --idle 20ms >"$work/r$i" &
		pids+=($!)
	done
	before=("$(link_stat r1 s2 rx_packets)" "$(link_stat r2 s2 rx_packets)")
	start=$(($("$udpflow" now) + 20000000))
	for i in 1 2 3 4; do
		in_ns h$i "$udpflow" send -d 10.0.0.$([ $i = 2 ] && echo 12 || echo 11) --id $i \
			--sport $((5000 + i)) -l 1458 --sndbuf 400000 --at $((start + i * 170)) -t 4ms >/dev/null &
		pids+=($!)
	done
	"$udpflow" now --at $((start + 2000000)) >/dev/null
	"$@"
	"$udpflow" now --at $((start + 4000000)) >/dev/null
	after=("$(link_stat r1 s2 rx_packets)" "$(link_stat r2 s2 rx_packets)")
	wait "${pids[@]}"
	hogs=$((after[0] - before[0]))
	victim=$((after[1] - before[1]))
	lost=$(jq .lost "$work/r1")
	drops=0
	for i in s1:s2 s2:r1 s2:r2; do
		drops=$((drops + $(figs "${i%:*}" "${i#*:}" drops)))
	done
}

pool="pool $SWITCH_POOL pool-alpha 800%"
scheme "assign single nopause" "assign single nopause $pool"
run true
between "without pauses frames are lost" "$drops" 100 100000
is "for want of room in the pool" "$(figs s2 r1 drop_pool)" "$(figs s2 r1 drops)"

scheme "assign single nopause" "assign single pause ingress $pool"
run true
pfc=$victim
is "pausing by ingress loses none" "$drops $lost" "0 0"
between "it has paused s1" "$(figs s2 s1 pauses_tx)" 1 100000
between "which has obeyed" "$(figs s1 s2 pauses_obeyed)" 1 100000
between "the line to r1 is full" "$hogs" 3000 3400
has "and nothing is held at last" s2 s1 $held "0 0 0"
is "each pause has ended" "$(figs s2 s1 pauses_tx)" "$(figs s2 s1 resumes_tx)"
read -r most < <(figs s2 r1 pool_max)
between "the pool was never full" "$most" 100000 409600

scheme "nopause" "$pool"
run true
diag "frames to the idle port: $pfc when pausing by ingress, $victim when by sub-queue"
is "bfc loses none either" "$drops $lost" "0 0"
between "by ingress the bystander gets a part of that" $((pfc * 100 / victim)) 20 75

diag "s1 begins a new epoch, paused"
scheme "assign single nopause" "assign single pause ingress $pool"
restart()
{
	# shellcheck disable=SC2086
	tc_in s1 qdisc replace dev s2 root handle 77: bfc queues 32 limit 4m assign single pause ingress $pool
}
run restart
between "the line to r1 was full, but for the new beginning" "$hogs" 2000 3400
has "nothing is held at last" s2 s1 $held "0 0 0"
finish
