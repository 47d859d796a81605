#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whoever can reach a port can send it anything: it costs that link at most, and is counted.
#
#	x: neighbour, attacker  q ------- p  sw (bridge)  r ------- s  y: an honest neighbour
#	x: ten that want        d1 ------ c1              all veth, bfc on the side of sw
#	   all handles          ...
#	                        d10 ----- c10
#
# A million frames of each kind: each content of the protocol's table (unit/contents) where no neighbour is known, by a
# stranger, with each fault, and where its condition is not met; forged, HELLOs and PAUSE STATEs played again, cut
# short, too long, damaged, out of range, HELLOs to every port that want 4094 sub-queues; a million labels that a tc
# program has made up. Of what is made of the table there are fewer, each frame 80 times or more. For each kind the
# counter of its cause goes up by as many as were sent, no other one does, and no port's state changes. SLUICE_FLOOD is
# the number.
#
# A port drops unread what is more than a processor should be bothered with. That is switched off,
# so that each frame is looked at, but for one flood.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc jq bridge
load_modules hopctl sch_bfc

here=$(cd "$(dirname "$0")" && pwd)
hopframe=$here/hopframe
for tool in hopframe skbfield; do
	[ -x "$here/$tool" ] || skip_all "$tool is not built"
done

# A million takes 3 s in User-Mode Linux; sanitizers and emulation are slower.
most=${SLUICE_FLOOD:-1000000}
if [ -z "${SLUICE_FLOOD:-}" ] && { [ -w $_kmemleak ] || [ "${SLUICE_HOME:-}" != uml ]; }; then
	most=20000
fi
# kind NAME N: of these there are N variants, which share the number
kind() { diag "$1"; flood=$(((most + $2 - 1) / $2)); }
CLAIMANTS=10

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; _at_exit' EXIT

ns x sw y
for name in x sw y; do	# what it says of its own would be counted
	in_ns $name sh -c 'for d in all default; do
		echo 1 >/proc/sys/net/ipv6/conf/$d/disable_ipv6; done' 2>/dev/null
done
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
cable()	# cable PORT NAMESPACE DEV NUMBER
{
	ip_in sw link add "$1" address "$(mac "$4" 1)" mtu 9000 type veth peer name "$3" \
		address "$(mac "$4")" mtu 9000 netns "$NS-$2" || die "no $1"
	ip_in sw link set "$1" master br0 up
	ip_in "$2" link set "$3" up
	tc_in sw qdisc add dev "$1" root handle 1: bfc th 1 strip always
}
cable p x q 1
cable r y s 2
in_ns sw bridge fdb replace "$(mac 2)" dev r master static

# neighbour NAMESPACE DEV WORDS...: one made by hand, in the background, until the end
neighbour()
{
	local name=$1 dev=$2

	shift 2
	ip netns exec "$NS-$name" "$hopframe" peer "$dev" for=1000000 role=switch deaf "$@" \
		>/dev/null &
	hand=$!
	disown $hand
}

# All figures of all ports, by DEV.KEY: as of now, and by how much they have moved since
# `remember`. A program is the dearest thing in an emulated kernel, so the shell does the rest.
declare -A now before moved
look()
{
	local key value

	now=() moved=()
	while read -r key value; do
		now[$key]=$value
		# of a port that was not there before, all of it
		[[ ! $value =~ ^[0-9]+$ ]] || moved[$key]=$((value - ${before[$key]-0}))
	done < <(tc_in sw -j -s qdisc show | jq -r '.[] | select(.kind == "bfc") | .dev as $dev |
		({marks, over_unlabelled} + .port) | to_entries[] | "\($dev).\(.key) \(.value)"')
}

# What was looked at last is what the next figures are held against: nothing moves by itself.
remember()
{
	local key

	before=()
	for key in "${!now[@]}"; do
		before[$key]=${now[$key]}
	done
}

port_comes_to()	# port_comes_to NAME DEV.KEY VALUE
{
	comes_to "$1" now "$2" "$3" 10 look
}

CAUSES="rx_malformed rx_version rx_epoch rx_stale rx_range rx_untrusted rx_shared rx_limited"
STATE="role peer_role peer_mac peer_queues handles paused_queues pausing_queues pause_counters
	neighbour_up neighbour_lost state_rx lease_expired pauses_tx handle_forged tag_errors"

# Adds to $wrong what has moved that should not have: the state of any port, any cause of any port but p's, and
# p's `state` unless it is to be $1
changes()
{
	local key dev

	for dev in p r; do
		for key in $STATE; do
			[ "${now[$dev.$key]:-}" = "${before[$dev.$key]:-}" ] ||
				wrong+="$dev: $key was ${before[$dev.$key]:-}, is ${now[$dev.$key]:-}"$'\n'
		done
	done
	for key in $CAUSES; do
		[ "${moved[r.$key]-nothing}" = 0 ] ||
			wrong+="r: $key went up by ${moved[r.$key]-nothing}"$'\n'
	done
	[ "${now[p.state]}" = "${1:-${before[p.state]}}" ] || wrong+="p: state is ${now[p.state]}"
	[ "${now[r.state]}" = "${before[r.state]}" ] || wrong+="r: state is ${now[r.state]}"
}

# hostile NAME "CAUSE=COUNT ..." [state=STATE] ARG...: a flood, counted by these causes. With $limited,
# those beyond what a port looks at are counted as that.
limited=
hostile()
{
	local name=$1 want=$2 state= said wrong= key sum=0 expected=0

	shift 2
	if [[ ${1:-} = state=* ]]; then
		state=${1#*=}
		shift
	fi
	remember
	said=$(in_ns x "$hopframe" flood q n="$flood" "$@" 2>&1)
	look
	if [ -z "$want" ]; then		# as the codec says
		[[ ! $said =~ malformed=.*range=[0-9]+ ]] || want=rx_${BASH_REMATCH[0]// / rx_}
	fi
	for key in $want; do
		expected=$((expected + ${key#*=}))
	done
	for key in $CAUSES; do
		[ -n "${moved[p.$key]+shown}" ] || die "p shows no $key"
		sum=$((sum + moved[p.$key]))
		[ "$key" != rx_limited ] || continue
		[[ " $want " =~ " $key="([0-9]+) ]] || BASH_REMATCH=(0 0)
		[ "${moved[p.$key]}" = "${BASH_REMATCH[1]}" ] ||
			[[ -n $limited && ${moved[p.$key]} -le ${BASH_REMATCH[1]} ]] ||
			wrong+="$key went up by ${moved[p.$key]}, should by ${BASH_REMATCH[1]}"$'\n'
	done
	[[ $said = frames=$flood\ * ]] || wrong+="said: $said"$'\n'
	# Where frames are dropped unread, some of the honest neighbour's are among them.
	[ "$sum" = "$expected" ] ||
		[[ -n $limited && $sum -gt $expected && $sum -le $((expected + 50)) ]] ||
		wrong+="all causes went up by $sum, should by $expected"$'\n'
	changes "$state"
	if [ -z "$wrong" ]; then
		pass "$name: $want"
	else
		fail "$name: $want" "$wrong"
	fi
	took "$said"
}

# In virtual time a program takes none.
took()
{
	[ "${SLUICE_HOME:-}" = uml ] || diag "${1##* ns=} ns a frame, sending and receiving"
}

spacing=/sys/module/hopctl/parameters/state_spacing_ns
usual=$(<$spacing)
echo 0 >$spacing

kind "each content where no neighbour is known, but HELLO" 10
# of a GOODBYE by itself no notice is taken
table=$("$hopframe" contents)
count=$(grep -vc ' HELLO$' <<<"$table")
flood=$((flood / count * count))
look
hostile "before the neighbour is known" rx_epoch=$((flood / count * (count - 1))) each=good mine=7 yours=1234

diag "two lives of a neighbour, kept; an honest one"
in_ns sw "$hopframe" listen p save="$tmp/first" for=1500 >/dev/null &
keeps=$!
neighbour x q mine=6 queues=100 \
	at=600 state:seq=5,lease=2000000000,words=ff at=900 state:seq=6,words=0
wait $keeps
kill "$hand" 2>/dev/null
sleep 1.5
in_ns sw "$hopframe" listen p save="$tmp/second" for=1500 >/dev/null &
keeps=$!
neighbour x q mine=7 queues=100 flags=d \
	at=600 state:seq=1,lease=2000000000,words=ff at=900 state:seq=2,words=0
neighbour y s mine=9 queues=64 flags=d
wait $keeps
port_comes_to "the attacker's link" p.state tagging
port_comes_to "the honest one's" r.state tagging
is "pauses were taken from the neighbour" "${now[p.state_rx]}" 4
is "and are over" "${now[p.paused_queues]},${now[p.neighbour_up]}" 0,2
is "handles" "${now[p.handles]},${now[r.handles]}" 100,64
mine=$(in_ns x "$hopframe" listen q n=1 | sed -n 's/.* mine=\([0-9a-f]*\).*/\1/p')

kind "what a frame costs where there is no port, to compare with" 4
ip_in x link add z0 type veth peer name z1
ip_in x link set z0 up
ip_in x link set z1 up
took "$(in_ns x "$hopframe" flood z0 n="$flood" mine=8 state:seq=100,words=ff)"

kind "forged" 9
pause=state:seq=100,lease=2000000000,words=ff+ff
hostile "an epoch that is not the neighbour's" rx_epoch="$flood" mine=8 yours="$mine" $pause
hostile "an epoch that is not ours" rx_epoch="$flood" mine=7 yours=deadbeef $pause
hostile "each content, of an epoch that is not the neighbour's" rx_epoch="$flood" each=good mine=8 yours="$mine"
hostile "each content, for an epoch that is not ours" rx_epoch="$flood" each=good mine=7 yours=deadbeef
hostile "a goodbye of another epoch" rx_epoch="$flood" mine=8 yours="$mine" goodbye
hostile "our own address" rx_epoch="$flood" mine=7 yours="$mine" src="$(mac 1 1)" $pause
hostile "our own epoch" rx_epoch="$flood" mine="$mine" yours=7 $pause
hostile "both epochs right, another address" rx_shared="$flood" state=shared \
	mine=7 yours="$mine" src=02:00:00:00:09:09 $pause
port_comes_to "which is forgotten" p.state tagging
is "with the same neighbour" "${now[p.neighbour_up]},${now[p.peer_mac]}" "2,$(mac 1)"
hostile "a HELLO from there" rx_shared="$flood" state=shared \
	mine=66 src=02:00:00:00:09:09 hello:role=host,queues=4094
port_comes_to "which is forgotten as well" p.state tagging

kind "a HELLO played again" 2
hostile "a HELLO of this life" rx_stale="$flood" kept="$tmp/second" only=hello
# the first one is asked whether it is alive, and does not answer
hostile "a HELLO of the life before" rx_stale=$((flood - 1)) kept="$tmp/first" only=hello
kind "a PAUSE STATE played again" 2
hostile "a PAUSE STATE of this life" rx_stale="$flood" kept="$tmp/second" only=state
hostile "a PAUSE STATE of the life before" rx_epoch="$flood" kept="$tmp/first" only=state

kind "cut short" 1
hostile "cut at each length" rx_malformed="$flood" cuts mine=7 yours="$mine" hello $pause
kind "too long" 2
hostile "a length beyond the frame" rx_malformed="$flood" length=1480 mine=7 yours="$mine" $pause
hostile "a length beyond any frame" rx_malformed="$flood" length=65535 pad=9000 \
	mine=7 yours="$mine" $pause
kind "each content of the neighbour's own, in frames that are dropped whole" 16
hostile "shorter than it may be" rx_malformed="$flood" each=short mine=7 yours="$mine"
hostile "with less than it promises" rx_malformed="$flood" each=count mine=7 yours="$mine"
hostile "more often than it may be there" rx_malformed="$flood" each=often mine=7 yours="$mine"
hostile "with a number beyond its bounds" rx_range="$flood" each=range mine=7 yours="$mine"
kind "damaged" 1
hostile "damaged at random" "" damage="${SLUICE_SEED:-1}"
kind "of another version" 1
hostile "another version" rx_version="$flood" version=2 mine=7 yours="$mine" $pause

kind "out of range, though of the neighbour's own" 3
hostile "sub-queues that are not there" rx_range="$flood" \
	mine=7 yours="$mine" state:seq=100,first=2,words=1
hostile "a lease without end" rx_range="$flood" \
	mine=7 yours="$mine" state:seq=100,lease=4294967295,words=1
hostile "a probe that has lost its tag on the way" rx_range="$flood" \
	mine=7 yours="$mine" vid=5 probe:nonce=1,vid=6,size=64

kind "each content of the neighbour's own that does not count here, with up to 5 bytes that nobody knows" 40
declare -A unfit=(
	[HELLO]=hello:sent=1
	["PAUSE STATE"]=$pause
	["PAUSE ACK"]=ack:seq=2000000000
	[PROBE]=probe:nonce=1,vid=6,size=64
	["PROBE ECHO"]=echo:nonce=1,vid=6,size=64
	[END]=end:block=1,lane=0,lanes=1,key=5
	[BALANCES]=balances:block=1,key=5,bytes=1000
	["EXAMPLE STATE"]=example:seq=100,words=1
	["EXAMPLE ACK"]=example-ack:seq=2000000000
	["PAUSE ROOTS"]=roots:queue=5,id=7,hops=1,more=0
)
tc_in sw qdisc change dev p root bfc roots
while read -r _ cause content; do
	longer=longer=5
	case $content in
	GOODBYE) continue ;;	# where no neighbour is known, see above
	"PAUSE STATE")
		tc_in sw qdisc change dev p root bfc peer host
		port_comes_to "a neighbour that is told to be a host" p.peer_role host
		longer=step ;;	# or only the first would be new
	esac
	[ -n "${unfit[$content]-}" ] || die "$content is in the protocol's table and has no frame here"
	if [ "$cause" = ignored ]; then cause=rx_range=0; else cause+="=$flood"; fi
	hostile "$content does not count" "$cause" $longer mine=7 yours="$mine" "${unfit[$content]}"
	[ "$content" != "PAUSE STATE" ] || {
		tc_in sw qdisc change dev p root bfc peer auto
		port_comes_to "and all is as it was" p.state tagging
	}
done <<<"$table"
again="state:seq=2000000,words=0 ${unfit[PAUSE ROOTS]}"
# shellcheck disable=SC2086
in_ns x "$hopframe" send q mine=7 yours="$mine" $again
look
# shellcheck disable=SC2086
hostile "PAUSE ROOTS with a PAUSE STATE that is played again" rx_stale=$((2 * flood)) longer=5 mine=7 yours="$mine" $again
tc_in sw qdisc change dev p root bfc noroots

if [ -n "${SLUICE_MODDIR:-}" ] || modprobe -nq sch_example; then
	kind "the same where such a kind is loaded, but not at this port" 20
	need_module sch_example
	hostile "EXAMPLE STATE" "rx_untrusted=1 rx_stale=$((flood - 1))" longer=5 mine=7 yours="$mine" \
		"${unfit[EXAMPLE STATE]}"
	hostile "EXAMPLE ACK" rx_range="$flood" longer=5 mine=7 yours="$mine" "${unfit[EXAMPLE ACK]}"
else
	skip "a told state of a kind that is loaded" "module sch_example is not installed"
fi

diag "$CLAIMANTS neighbours that want 4094 handles each"
for ((i = 1; i <= CLAIMANTS; i++)); do
	cable c$i x d$i $((10 + i))
	neighbour x d$i mine=$((100 + i)) queues=4094 flags=5
done
for ((i = 1; i <= CLAIMANTS; i++)); do
	[ "${now[c$i.neighbour_up]-}" = 1 ] || port_comes_to "neighbour $i" c$i.neighbour_up 1
done
given=0
for ((i = 1; i <= CLAIMANTS; i++)); do
	given=$((given + (${now[c$i.handles]} + 63) / 64 * 64))
done
is "they get all that there are, in groups of 64" $((given + 128 + 64)) 32768
is "the last one none" "${now[c$CLAIMANTS.handles]}" 0
is "others keep theirs" "${now[p.handles]},${now[r.handles]}" 100,64

kind "HELLOs of a life that wants 4094 sub-queues, to every port" $((CLAIMANTS + 2))
remember
for ((i = 0; i <= CLAIMANTS + 1; i++)); do
	case $i in
	0) at="y s" ;;
	1) at="x q" ;;
	*) at="x d$((i - 1))" ;;
	esac
	in_ns ${at% *} "$hopframe" flood ${at#* } n="$flood" mine=$((1000 + i)) \
		hello:role=switch,queues=4094,flags=d >/dev/null
done
look
wrong=
for key in "${!now[@]}"; do
	case ${key#*.} in
	rx_stale) [ "${moved[$key]}" = $((flood - 1)) ] || wrong+="$key went up by ${moved[$key]}"$'\n' ;;
	rx_*) [ "${moved[$key]}" = 0 ] || wrong+="$key went up by ${moved[$key]}"$'\n' ;;
	state | role | peer_role | peer_mac | peer_queues | handles | neighbour_up | neighbour_lost)
		[ "${now[$key]}" = "${before[$key]}" ] ||
			wrong+="$key was ${before[$key]}, is ${now[$key]}"$'\n' ;;
	esac
done
if [ -z "$wrong" ]; then
	pass "each of $((CLAIMANTS + 2)) ports has refused $((flood - 1)) of $flood and kept its state"
else
	fail "each of $((CLAIMANTS + 2)) ports has refused all but the first and kept its state" "$wrong"
fi

# tagged NAME DEV VID STRIPPED UNLABELLED MARKS OVER_UNLABELLED FORGED: data frames to s; what went
# up at the port that they came by, at r where they left, and pauses anywhere
tagged()
{
	local name=$1 dev=$2 vid=$3 port=${2/d/c} key pauses=0

	port=${port/q/p}
	remember
	in_ns x "$hopframe" flood "$dev" n="$flood" data dst="$(mac 2)" ${vid:+vid=$vid} >/dev/null
	sleep 0.1
	look
	is "$name" "${moved[$port.tag_stripped]} ${moved[$port.tag_unlabelled]} ${moved[r.marks]} ${moved[r.over_unlabelled]} ${moved[r.handle_forged]}" \
		"$4 $5 $6 $7 $8"
	for key in "${!now[@]}"; do
		case $key in
		*.pauses_tx) pauses=$((pauses + moved[$key])) ;;
		esac
	done
	is "$name: pauses" "$pauses" "$6"
}
kind "sub-queues that have a handle and such that have none" 3
n=$flood
tagged "a sub-queue with a handle is labelled" q 5 "$n" 0 "$n" 0 0
tagged "one beyond those that it has is not the fabric's" q 101 0 0 0 "$n" 0
tagged "a port that found no handles left labels nothing" d$CLAIMANTS 5 "$n" "$n" 0 "$n" 0

kind "labels made up by a tc program" 3
n=$flood
# not /sys/fs/bpf: ip netns hides it
bpf=$tmp/bpf
mkdir "$bpf"
program()	# program VALUE
{
	rm -f "$bpf/label"
	"$here/skbfield" write tc_index "$1" "$bpf/label"
}
if said=$(mount -t bpf bpf "$bpf" 2>&1 && program 0x8000 2>&1 && tc_in sw qdisc add dev r clsact 2>&1); then
	for value in 0x9000 0xffff 0x8000; do
		program $value
		tc_in sw filter replace dev r egress pref 1 handle 1 bpf da object-pinned "$bpf/label" ||
			die "the program is not attached"
		tagged "label $value at the egress" d$CLAIMANTS 5 "$n" "$n" 0 "$n" "$n"
	done
	remember
	in_ns sw "$hopframe" data r n=100 dst="$(mac 2)"
	look
	is "on frames of this box" "${moved[r.handle_forged]} ${moved[r.marks]}" "100 0"
	program 0x7fff
	tc_in sw filter replace dev r egress pref 1 handle 1 bpf da object-pinned "$bpf/label"
	tagged "a number that is no label" d$CLAIMANTS 5 "$n" "$n" 0 "$n" 0
	tc_in sw filter del dev r egress
	tc_in sw qdisc add dev c$CLAIMANTS clsact
	program 0x8000
	tc_in sw filter add dev c$CLAIMANTS ingress bpf da object-pinned "$bpf/label"
	tagged "a label at the ingress is wiped off" d$CLAIMANTS "" 0 0 0 "$n" 0
	umount "$bpf"
else
	skip "labels made up by a tc program" "$said"
fi

kind "with the limit" 10
echo "$usual" >$spacing
limited=1
hostile "an epoch that is not ours" rx_epoch="$flood" mine=7 yours=deadbeef $pause
[ "${SLUICE_HOME:-}" != uml ] ||
	between "most of those that come at once are not looked at" "${moved[p.rx_limited]}" \
		$((flood / 2)) $((flood - 256))

diag "at the end all are where they were"
look
is "the attacker's link" "${now[p.state]},${now[p.neighbour_up]},${now[p.paused_queues]}" tagging,2,0
is "the honest one's" "${now[r.state]},${now[r.neighbour_up]},${now[r.paused_queues]}" tagging,1,0
finish
