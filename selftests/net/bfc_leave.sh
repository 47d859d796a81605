#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every way in which a device or a qdisc goes away under bfc, each with packets queued, their
# sub-queues paused, and the packets holding pauses at the port that they came by.
#
#	u (hopframe) --- p0 [ sw: bridge ] p1 --- d (hopframe)
#
# u tags its frames with sub-queue 4; d holds all of p1's sub-queues. So what u sends waits in p1,
# marked, and p0 pauses u. Then something goes. p1's packets are gone or go on when d lets them; u
# is resumed, or has heard p0 say goodbye or fall silent; no gauge stays above zero.
#
# hopctl_pause.sh has what is not repeated here: a resume, a lease that ends, neighbours that are
# lost or start anew, p1 deleted, p0's qdisc that comes back.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc
load_modules hopctl sch_bfc

hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"

FRAMES=10
ALL=ffffffffffffffff
u_said=$(mktemp)
hands=()
trap 'rm -f "$u_said"; _at_exit' EXIT

# Nobody says anything of his own, and what a case needs is made by few processes: they are what
# costs here.
switch()
{
	ns sw
	in_ns sw sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
	ip_in sw link add br0 type bridge mcast_snooping 0
	ip_in sw link set br0 up
}
ns u d other
for name in u d; do
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
switch
# d may hold p1 for as long as it likes.
bfc="bfc queues 64 th 2000 refresh 10ms nowatch"

# tc's commands, in one process
tcs() { tc -n "$NS-sw" -batch - <<<"$1" || die "tc: $1"; }

# begin SHAPE: all anew. p1 has one of these shapes, p0 has bfc at its root.
begin()
{
	local tree1 tree2

	ip -n "$NS-sw" -batch - <<-END || die "no devices"
		link add p0 numtxqueues 4 numrxqueues 4 type veth peer name x address $(mac 1) netns $NS-u
		link add p1 numtxqueues 4 numrxqueues 4 type veth peer name x address $(mac 2) netns $NS-d
		link set p0 master br0 up
		link set p1 master br0 up
	END
	in_ns sw bridge fdb replace "$(mac 2)" dev p1 master static
	ip_in u link set x up
	ip_in d link set x up
	tree1="qdisc add dev p1 root handle 1: $bfc"
	case $1 in
	tbf)
		tree1="qdisc add dev p1 root handle 1: tbf rate 1gbit burst 10k latency 1s"
		tree2="qdisc add dev p1 parent 1: handle 2: $bfc" ;;
	htb)
		tree1="qdisc add dev p1 root handle 1: htb default 1
			class add dev p1 parent 1: classid 1:1 htb rate 1gbit quantum 1514"
		tree2="qdisc add dev p1 parent 1:1 handle 2: $bfc" ;;
	prio)
		tree1="qdisc add dev p1 root handle 1: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2"
		tree2="qdisc add dev p1 parent 1:3 handle 2: $bfc" ;;
	mq)
		tree1="qdisc add dev p1 root handle 1: mq"
		tree2=
		for n in 1 2 3 4; do
			tree2+="qdisc add dev p1 parent 1:$n handle 1$n: $bfc"$'\n'
		done
		# the last transmit queue is what is taken away
		tree2+="qdisc add dev p1 clsact
			filter add dev p1 egress matchall action skbedit queue_mapping 3" ;;
	esac
	tcs "qdisc add dev p0 root handle 1: $bfc
$tree1
${tree2:-}"
}

declare -A fig	# what `look` saw
# look DEV: its figures, summed over its bfc qdiscs; those of the port are the same in all
look()
{
	local json qdisc key

	qdiscs_of sw "$1"
	json=$REPLY
	fig=()
	while [[ $json == *'"kind":"bfc"'* ]]; do
		json=${json#*'"kind":"bfc"'}
		qdisc=${json%%'"kind":'*}
		for key in qlen backlog marked paused drops; do
			[[ $qdisc =~ \"$key\":([0-9]+) ]] || die "bfc of $1 shows no $key"
			fig[$key]=$((${fig[$key]:-0} + BASH_REMATCH[1]))
		done
		for key in paused_queues pausing_queues pause_counters handles pauses_tx \
			   resumes_tx lease_expired; do
			[[ $qdisc =~ \"$key\":([0-9]+) ]] && fig[$key]=${BASH_REMATCH[1]}
		done
	done
}

# has NAME DEV KEY VALUE: waits for it; what is asked next is of the same moment
has()
{
	comes_to "$1" fig "$3" "$4" 4 look "$2"
}

# hold NAME WORDS FOR RESUME: d pauses, u sends, p0 pauses u. d resumes at RESUME ms.
hold()
{
	local words=$ALL time states=() seq=0

	[ "$2" -le 1 ] || words=$ALL+$ALL+$ALL+$ALL
	for ((time = 0; time < $4; time += 1000)); do
		seq=$((seq + 1))
		states+=("at=$time" "state:seq=$seq,lease=2000000000,words=$words")
	done
	states+=("at=$4" "state:seq=$((seq + 1)),lease=2000000000,words=${words//f/0}")
	ip netns exec "$NS-u" "$hopframe" peer x queues=64 flags=5 for="$3" >"$u_said" 2>&1 &
	hands=($!)
	ip netns exec "$NS-d" "$hopframe" peer x role=switch queues=64 for="$3" "${states[@]}" \
		>/dev/null 2>&1 &
	hands+=($!)
	sleep 0.6
	has "$1: p1 is paused" p1 paused_queues $(($2 * 64))
	has "$1: p0 knows u's sub-queues" p0 handles 64
	in_ns u "$hopframe" data x vid=5 dst="$(mac 2)" n=$FRAMES pad=1000
	has "$1: frames hold pauses" p0 pause_counters $((FRAMES - 1))
	is "$1: for one sub-queue" "${fig[pausing_queues]}" 1
}

# What u heard last of its sub-queue 4: 10 or 0 of a PAUSE STATE, or that p0 left
last_said()
{
	local line

	said=
	while read -r line; do
		case $line in
		*goodbye*) said=goodbye ;;
		*" state seq="*) line=${line#*words=}; said=${line%% *} ;;
		esac
	done <"$u_said"
}

u_heard() { last_said; [ "$said" = "$1" ]; }

# u_is NAME WORD: waits until that is what u heard last
u_is()
{
	wait_until -e 200 4 u_heard "$2"
	is "$1" "$said" "$2"
}

# zero NAME DEV...: these have nothing queued, marked or paused any more
zero()
{
	local name=$1 dev

	shift
	for dev; do
		has "$name: $dev is empty" "$dev" qlen 0
		is "$name: its gauges" \
		   "${fig[backlog]} ${fig[marked]} ${fig[pause_counters]} ${fig[pausing_queues]}" \
		   "0 0 0 0"
	done
}

# end: the hands rest, and what is left of the ports goes
end()
{
	kill "${hands[@]}" 2>/dev/null
	wait "${hands[@]}" 2>/dev/null
	leave_ports
	printf 'link del p0\nlink del p1\n' | ip -n "$NS-sw" -force -batch - 2>/dev/null
}

# egress SHAPE NAME COMMAND...: what held the packets goes: they are dropped, u is resumed
egress()
{
	local name=$2 words=1

	[ "$1" != mq ] || words=4
	begin "$1"
	hold "$name" $words 8000 7900
	shift 2
	"$@" || fail "$name" "$*"
	has "$name: u is resumed" p0 resumes_tx 1
	zero "$name" p0
	u_is "$name: and told so" 0
	end
}

diag "the egress port or its qdisc goes"
egress root "link down" ip_in sw link set p1 down
egress root "moved to another namespace" ip_in sw link set p1 netns "$NS-other" name q1
ip_in other link del q1
egress root "the other end of the link is removed" ip_in d link del x
egress root "replaced by another kind" tc_in sw qdisc replace dev p1 root handle 2: pfifo
# shellcheck disable=SC2086
egress root "replaced by its kind" tc_in sw qdisc replace dev p1 root handle 2: $bfc
egress tbf "tbf is deleted" tc_in sw qdisc del dev p1 root
egress tbf "the child of tbf is replaced" tc_in sw qdisc replace dev p1 parent 1: handle 3: pfifo
egress htb "the child of htb is deleted" tc_in sw qdisc del dev p1 parent 1:1
egress htb "htb is replaced" tc_in sw qdisc replace dev p1 root handle 3: fq_codel
egress prio "prio has a band less" tc_in sw qdisc change dev p1 root handle 1: prio bands 2 \
	priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
egress mq "mq is deleted" tc_in sw qdisc del dev p1 root
egress mq "one of mq's is replaced" tc_in sw qdisc replace dev p1 parent 1:4 handle 9: pfifo
if command -v ethtool >/dev/null; then
	egress mq "a transmit queue less" in_ns sw ethtool -L p1 tx 3
else
	skip "a transmit queue less" "ethtool is not installed"
fi

# ingress NAME COMMAND...: what the packets came by goes: they stay, and leave when d lets them
ingress()
{
	local name=$1

	shift
	begin root
	hold "$name" 1 6000 3900
	"$@" || fail "$name" "$*"
	look p1
	is "$name: the packets stay" "${fig[qlen]} ${fig[marked]}" "$FRAMES $((FRAMES - 1))"
	zero "$name" p1
	is "$name: none was lost" "${fig[drops]}" 0
}

diag "the ingress port or its qdisc goes"
ingress "link down" ip_in sw link set p0 down
end
ingress "moved to another namespace" ip_in sw link set p0 netns "$NS-other" name q0
ip_in other link del q0
end
ingress "replaced by another kind" tc_in sw qdisc replace dev p0 root handle 2: fq_codel
u_is "u heard it leave" goodbye
end
# shellcheck disable=SC2086
ingress "replaced by its kind" tc_in sw qdisc replace dev p0 root handle 2: $bfc
zero "replaced by its kind" p0
u_is "u is resumed" 0
end

# A port that is made anew must not be given the handles that the packets still hold.
anew()
{
	ip_in sw link del p0
	ip_in sw link add p0 type veth peer name x address "$(mac 1)" netns "$NS-u"
	ip_in sw link set p0 master br0 up
	ip_in u link set x up
	# shellcheck disable=SC2086
	tc_in sw qdisc add dev p0 root handle 1: $bfc
	in_ns u "$hopframe" peer x queues=64 flags=5 for=6000 mine=2 >"$u_said" 2>&1 &
	hands+=($!)
	has "made anew: p0 knows u's sub-queues" p0 handles 64
	is "made anew: it pauses nobody" "${fig[pause_counters]} ${fig[pausing_queues]}" "0 0"
}
ingress "made anew" anew
zero "made anew" p0
is "made anew: it never has paused" "${fig[pauses_tx]} ${fig[resumes_tx]}" "0 0"
end

diag "options change"
changes="quantum 256|quantum auto|reuse empty|reuse sticky|no-split-gso|split-gso|rate 1gbit
	|rate auto|hrtt 1ms|hrtt auto|th 1|th auto|th-scale 10|sticky 1s|sticky auto|notag|tag
	|tpid 0x8100|tpid 0x88a8|refresh 20ms|lease 1s|lease auto|nopause|pause|limit 1m|share spare|share random
	|control-dscp 46|control-dscp none"

# all_options: each of them, on both ports
all_options()
{
	local dev change lines=

	for dev in p0 p1; do
		while read -r -d '|' change; do
			lines+="qdisc change dev $dev root handle 1: bfc $change"$'\n'
		done <<<"$changes|"
	done
	tcs "$lines"
	look p0
	is "$1: the packets hold their pauses" "${fig[pause_counters]} ${fig[pausing_queues]}" \
		"$((FRAMES - 1)) 1"
}
ingress "options" all_options options
zero "options" p0
u_is "options: u is resumed" 0
end

begin root
hold "limit" 1 8000 7900
tcs "qdisc change dev p1 root handle 1: bfc limit 3000"
look p1
is "limit: two frames stay" "${fig[qlen]} ${fig[marked]} ${fig[drops]}" "2 2 $((FRAMES - 2))"
has "limit: and hold pauses" p0 pause_counters 2
tcs "qdisc change dev p1 root handle 1: bfc limit 1"
zero "limit: none" p0 p1
u_is "limit: u is resumed" 0
end

begin root
hold "a host" 1 8000 7900
tcs "qdisc change dev p0 root handle 1: bfc role host"
u_is "a host pauses nobody: u is resumed" 0
look p0
is "it holds no handles" "${fig[handles]} ${fig[pausing_queues]}" "0 0"
tcs "qdisc change dev p1 root handle 1: bfc peer host"
has "from a host no pause is taken: the last lease ends" p1 lease_expired 1
zero "a host" p0 p1
end

diag "all of it goes"
begin root
hold "the modules" 1 8000 7900
refused "the module is in use" "sch_bfc" rmmod sch_bfc
refused "hopctl is in use" "hopctl" rmmod hopctl
tcs "qdisc del dev p1 root
qdisc del dev p0 root"
check "sch_bfc, at once" rmmod sch_bfc
check "hopctl, while its ports linger" rmmod hopctl
end
load_modules hopctl sch_bfc
begin root
hold "the namespace" 1 8000 7900
kill "${hands[@]}"
del_ns sw
_spaces=("$NS-u" "$NS-d" "$NS-other")
check "it is gone with all that was held" wait_until 5 rmmod sch_bfc

finish
