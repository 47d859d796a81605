#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where congestion began, as hosts and switches far from there say.
#
#	a --- sa s1 right --- left s2 right --- left s3 sc --- c	wires of 1 Gb/s
#	                        b --- sb
#
# In each of $SLUICE_ROOTS cases (100) one host sends to another, and one port on the way, drawn at random, is slow. As
# soon as a port before it, drawn at random too, is held, `sluice doctor` on its box has to name the slow port and
# to say how far away it is, by what `sluice -j show` says on the other boxes. In two cases of ten another port has
# the id of the slow one: then both have to be named and none chosen. In one the slow port's box is not
# asked: then nothing may be named. Flows, sizes of packets, the slow rate and ids are drawn as well.
#
# Then a port without roots cuts the trail. After that control frames get lost, come twice, late or damaged, while the id
# of the slow port goes up: no root that is heard is wrong, it is right soon after, and gone with the pause. At last three
# routers, whose routes go in a circle, hold each other for ever:
#
#	h --- prev x1 next --- prev x2 next --- prev x3 next --- loop x1

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules

here=$(cd "$(dirname "$0")" && pwd)
udpflow=$here/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
need_sluice
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

CASES=${SLUICE_ROOTS:-100}
RANDOM=${SLUICE_ROOTS_SEED:-1}	# bash: the same numbers in each run
BOXES="a b c s1 s2 s3"
PORTS="a/e0 b/e0 c/e0 s1/sa s1/right s2/left s2/sb s2/right s3/left s3/sc"

# draw N: 0 .. N - 1
draw() { drawn=$((RANDOM % $1)); }

# cable A DEV B DEV NUMBER: a wire between two boxes
cable()
{
	ip_in "$1" link add "$2" address "$(mac "$5")" type wire rate 1gbit delay 1us \
		peer name "$4" address "$(mac "$5" 1)" netns "$NS-$3" || die "no wire"
	ip_in "$1" link set "$2" up
	ip_in "$3" link set "$4" up
}

# ports_tag BOX DEV...: they all tag, or are beside a host
ports_tag()
{
	local box=$1 dev

	shift
	for dev; do
		port_of "$box" "$dev"
		[[ $REPLY =~ \"state\":\"(tagging|host)\" ]] || return 1
	done
}

# port_figure BOX/DEV KEY
port_figure() { "$sluice" -n "$NS-${1%/*}" -j show -s "${1#*/}" | jq ".[0].port.$2"; }

# shown BOX...: to $tmp/BOX.json what is shown there; counts ports that show several roots in `several`, those with a queue
# twice in `twice`
several=0 twice=0
shown()
{
	local box files=() counts

	for box; do
		"$sluice" -n "$NS-$box" -j show >"$tmp/$box.json" || die "sluice show on $box"
		files+=("$tmp/$box.json")
	done
	counts=$(jq -rs '[.. | arrays | select(length > 1 and (.[0] | type == "object" and has("hops"))) | map(.queue)]
		| "\(length) \([.[] | select(length != (unique | length))] | length)"' "${files[@]}")
	several=$((several + ${counts% *})) twice=$((twice + ${counts#* }))
}

# ---- a line of switches ----
# shellcheck disable=SC2086
ns $BOXES
for box in $BOXES; do
	in_ns "$box" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
for box in s1 s2 s3; do
	ip_in $box link add br0 type bridge mcast_snooping 0
	ip_in $box link set br0 up
done
cable a e0 s1 sa 1
cable b e0 s2 sb 2
cable c e0 s3 sc 3
cable s1 right s2 left 4
cable s2 right s3 left 5
for port in $PORTS; do
	box=${port%/*} dev=${port#*/}
	case $box in
	s?) ip_in "$box" link set "$dev" master br0 ;;
	esac
done
# ids that differ, whatever was drawn
declare -A id_of
next=1
for port in $PORTS; do
	draw 6000
	next=$((next + 1 + drawn))
	id_of[$port]=$next
	case $port in
	s?/*) tc_in "${port%/*}" qdisc add dev "${port#*/}" root bfc roots root-id $next ;;
	*) tc_in "${port%/*}" qdisc add dev e0 root bfc role host roots root-id $next limit 100m ;;
	esac || die "no bfc at $port"
done
number=0
for host in a b c; do
	number=$((number + 1))
	ip_in $host addr add 10.0.0.$number/24 dev e0
	for other in 1 2 3; do
		[ $other = $number ] || neigh $host e0 10.0.0.$other "$(mac $other)"
	done
done
fdb() { in_ns "$1" bridge fdb replace "$(mac "$2")" dev "$3" master static || die "no fdb"; }
fdb s1 1 sa; fdb s1 2 right; fdb s1 3 right
fdb s2 1 left; fdb s2 2 sb; fdb s2 3 right
fdb s3 1 left; fdb s3 2 left; fdb s3 3 sc
check "the hosts' ports tag" wait_until 10 eval 'ports_tag a e0 && ports_tag b e0 && ports_tag c e0'
check "so do the switches'" wait_until 10 eval 'ports_tag s1 right sa && ports_tag s2 left right sb && ports_tag s3 left sc'

# The ports that packets leave by on their way, from host to host
declare -A way=(
	[ab]="a/e0 s1/right s2/sb" [ac]="a/e0 s1/right s2/right s3/sc"
	[ba]="b/e0 s2/left s1/sa" [bc]="b/e0 s2/right s3/sc"
	[ca]="c/e0 s3/left s2/left s1/sa" [cb]="c/e0 s3/left s2/sb"
)
ways=(ab ac ba bc ca cb)
declare -A address=([a]=10.0.0.1 [b]=10.0.0.2 [c]=10.0.0.3)

held() { [[ $("$sluice" -n "$NS-$1" -j show "$2") =~ \"roots\":[[:space:]]*\[ ]]; }

# asked BOX BOX...: to $tmp/said what doctor finds on the first, with what the others show
asked()
{
	local box=$1 other with=()

	shift
	shown "$@"
	for other; do
		with+=(--with "$tmp/$other.json")
	done
	"$sluice" -n "$NS-$box" -j doctor "${with[@]}" >"$tmp/said"
	[ $? -le 3 ] || die "doctor on $box"
}

# name_at BOX PORT: what doctor on BOX calls a port
name_at() { [ "${2%/*}" = "$1" ] && echo "${2#*/}" || echo "${2/\//:}"; }

# one N: a case; it says in $wrong what is wrong
one()
{
	local from to path slow at asks kind box dev other boxes hops name want got deadlock sender flows

	draw 6; from=${ways[drawn]:0:1} to=${ways[drawn]:1:1}
	read -ra path <<<"${way[$from$to]}"
	draw $((${#path[@]} - 1)); slow=$((drawn + 1))
	draw $slow; at=$drawn
	hops=$((slow - at))
	name=${path[slow]} asks=${path[at]}
	kind=$(($1 % 10))
	box=${asks%/*} dev=${asks#*/}
	boxes=" $BOXES " boxes=${boxes/ $box / }
	case $kind in
	0 | 1)	# an id of two ports; one on the way would take the root for its own, and count hops anew
		other=$name
		while [[ " ${path[*]} " = *" $other "* ]]; do
			# shellcheck disable=SC2086
			set -- $PORTS
			draw $#; shift $drawn; other=$1
		done
		tc_in "${other%/*}" qdisc change dev "${other#*/}" root bfc root-id "${id_of[$name]}"
		;;
	2)	# a box that is not known
		boxes=${boxes/ ${name%/*} / }
		;;
	esac

	draw 20
	ip_in "${name%/*}" link set "${name#*/}" type wire rate $((10 + drawn))mbit
	draw 4; flows=$((drawn + 1))
	draw 1200
	in_ns "$from" "$udpflow" send -d "${address[$to]}" -p 7000 -f $flows -l $((200 + drawn)) -n $((400 / flows)) \
		--sndbuf=64m >/dev/null &
	sender=$!
	wait_until -e 1 5 held "$box" "$dev" || wrong="$asks is never held for a root"
	# shellcheck disable=SC2086
	[ -n "$wrong" ] || asked "$box" $boxes
	kill $sender 2>/dev/null
	wait $sender 2>/dev/null
	ip_in "${name%/*}" link set "${name#*/}" type wire rate 1gbit
	[ $kind -gt 1 ] ||
		tc_in "${other%/*}" qdisc change dev "${other#*/}" root bfc root-id "${id_of[$other]}"
	[ -z "$wrong" ] || return

	{ read -r got; read -r deadlock; } < <(jq -r --arg dev "$dev" '
		([.[] | select(.dev == $dev and (.id == "held" or (.id | startswith("root_"))))
		  | "\(.id): \(.detail | sub(": [0-9,]*$"; ""))"] | unique | join("; ")),
		any(.[]; .id == "deadlock")' "$tmp/said")
	hops="$hops hop$([ $hops = 1 ] || echo s) away"
	case $kind in
	0 | 1)
		want="root_ambiguous: by ${id_of[$name]} (ambiguous: X or X), $hops"
		# in whichever order
		got=${got/$(name_at "$box" "$name")/X} got=${got/$(name_at "$box" "$other")/X}
		;;
	2) want="root_unknown: by ${id_of[$name]} (unknown), $hops" ;;
	*) want="held: by $(name_at "$box" "$name"), $hops" ;;
	esac
	[ "$got" = "$want" ] || wrong="$asks, held for $name: \"$got\", not \"$want\""
	[ "$deadlock" = false ] || wrong="$asks: a deadlock"
}

right=0
for ((n = 1; n <= CASES; n++)); do
	wrong=
	one $n
	if [ -z "$wrong" ]; then
		right=$((right + 1))
	else
		diag "case $n: $wrong"
		[ $((n - right)) -lt 3 ] || break	# each of them takes long
	fi
	wait_until -e 10 20 _all_quiet || die "case $n: packets stay"
done
is "right in so many of $CASES cases" $right "$CASES"
between "roots that were told no further" "$(for port in $PORTS; do port_figure "$port" roots_far; done |
	jq -s add)" 0 0

# ---- without it ----
diag "a neighbour without roots"
tc_in s2 qdisc change dev left root bfc noroots
ip_in s3 link set sc type wire rate 10mbit
in_ns a "$udpflow" send -d 10.0.0.3 -p 7000 -n 400 --sndbuf=64m >/dev/null &
check "what it tells has no end here" wait_until -e 1 5 eval 'held s2 right'
handed() { "$sluice" -n "$NS-s1" -j show right | jq -c '[(.[0].paused | length > 0), .[0].roots]'; }
s1_is_paused() { [[ $(handed) = "[true,"* ]]; }
wait_until -e 1 5 s1_is_paused
is "but is not handed on" "$(handed)" "[true,null]"
is "a port without it has no id" "$("$sluice" -n "$NS-s2" -j show left | jq '.[0].port.root_id')" null
wait
ip_in s3 link set sc type wire rate 1gbit
check "all is over" wait_until -e 10 20 _all_quiet
is "nothing is held for a root any more" "$("$sluice" -n "$NS-s2" -j show | jq -c 'map(.roots // empty)')" "[]"

# ---- faults ----
# The port to b is slow: s1/right is held for it, which is 0 hops from s2, and a/e0, 1 hop from s1. Its id goes up all the
# time, so each root that is heard says when it was told.
diag "faults of the cables"
tracing=/sys/kernel/debug/tracing
[ -d $tracing/events ] || mount -t debugfs none /sys/kernel/debug || die "no tracing"

# faults WORDS: of the cables on the way, both directions
faults()
{
	local port

	for port in a/e0 s1/sa s1/right s2/left; do
		# shellcheck disable=SC2086
		ip_in "${port%/*}" link set "${port#*/}" type wire $1 || die "no $1"
	done
}

id=61000 # no port has a higher one
# moves N: the slow port's id goes up so many times, each 3 ms: a refresh comes after 0.1 ms
moves()
{
	local i

	for ((i = 0; i < $1; i++)); do
		id=$((id + 1))
		tc_in s2 qdisc change dev sb root bfc root-id $id || die "no id $id"
		sleep 0.003
	done
}

# heard LEAST: sets $wrong to roots that were heard since `: >trace` and are not the slow port's, at its distance, with an
# id that it has had since LEAST and that is not older than the one before; and $ids to how many ids s1/right has heard.
# What comes to s1/right while that is not held waits for s1/right itself.
heard()
{
	local dev queue root hops at
	local -A latest=() seen=()

	wrong=
	while read -r dev queue root hops; do
		root=$((root))
		case $dev in
		right) at=0 seen[$root]=1 ;;
		e0) at=1; [ "$root $hops" != "${id_of[s1/right]} 0" ] || continue ;;
		esac
		[[ $hops = "$at" && $root -ge ${latest[$dev.$queue]-$1} && $root -le $id ]] ||
			wrong+=" $dev queue $queue: $root, $hops hops, after ${latest[$dev.$queue]-$1};"
		latest[$dev.$queue]=$root
	done < <(sed -n 's/^.* hop_root: \([^ ]*\) queue=\([^ ]*\) root=\([^ ]*\) hops=\([0-9]*\).*/\1 \2 \3 \4/p' $tracing/trace)
	ids=${#seen[@]}
}

root_at()
{
	"$sluice" -n "$NS-$1" -j show "$2" |
		jq -r '[.[0].roots // [] | .[] | "\(.root)/\(.hops)"] | unique | join(",")'
}
roots() { echo "$(root_at s1 right) $(root_at a e0)"; }

# flows: packets from a to b, more than leave before the next `stops`
flows()
{
	in_ns a "$udpflow" send -d 10.0.0.2 -p 7000 -l 1000 -n 3000 --sndbuf=64m >/dev/null &
	check "a is held" wait_until -e 1 5 held a e0
}
stops()
{
	ip_in s2 link set sb type wire rate 1gbit
	wait $!
	check "all is over" wait_until -e 10 20 _all_quiet
	is "nothing is held for a root any more" "$(roots)" " "
	ip_in s2 link set sb type wire rate 10mbit
}
right_soon()
{
	local got any

	moves 1
	got=$(roots)
	case $1 in
	*loss_control*%*)	# so s1/right may not have been held
		any="(${id_of[s1/right]}/1|$id/2)"
		[[ ! $got =~ ^$id/1\ $any(,$any)?$ ]] || got="$id/1 $id/2" ;;
	esac
	is "$1: right 3 ms later" "$got" "$id/1 $id/2"
}

tc_in s2 qdisc change dev left root bfc roots
ip_in s2 link set sb type wire rate 10mbit
flows
moves 1
echo 1 >$tracing/events/hopctl/hop_root/enable
MOVES=6
for fault in "loss_control 0" "loss_control 30%" "loss_control 70% loss_burst 10" "loss_data 20%" "duplicate 50%" \
	     "reorder 50% reorder_delay 1ms" "loss_control 20% duplicate 30% reorder 30%"; do
	: >$tracing/trace
	bfc_figs "$NS-s1" right rx_stale
	stale=$REPLY first=$id
	faults "$fault"
	moves $MOVES
	bfc_figs "$NS-s1" right rx_stale
	faults "loss_control 0 loss_data 0 loss_burst 1 duplicate 0 corrupt 0 reorder 0"
	right_soon "$fault"
	heard $first
	is "$fault: no root was ever wrong, or older than the one before" "$wrong" ""
	between "$fault: most of its ids were heard" $ids $((MOVES / 2)) $((MOVES + 2))
	case $fault in
	*duplicate* | *reorder*) between "$fault: frames came twice or late" $((REPLY - stale)) 10 10000 ;;
	esac
done
echo 0 >$tracing/events/hopctl/hop_root/enable
faults "loss_control 100%"
sleep 0.005
is "no frames for longer than a lease: no roots, either" "$(roots)" " "
faults "loss_control 0"
right_soon "loss_control 100%"
stops
# No FCS tells that bytes are wrong. A damaged address makes the link a shared one for 1 s, on which nothing is held.
flows
faults "corrupt 20%"
moves $MOVES
faults "corrupt 0"
sleep 2
stops
flows
right_soon "corrupt 20%"
stops
leave_spaces

# ---- a circle ----
diag "a circle"
ns h x1 x2 x3
for box in h x1 x2 x3; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
		echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter; echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter'
done
cable h e0 x1 prev 11
cable x1 next x2 prev 12
cable x2 next x3 prev 13
cable x3 next x1 loop 14
tc_in h qdisc add dev e0 root bfc role host limit 100m roots
for port in x1/prev x1/loop x1/next x2/prev x2/next x3/prev x3/next; do
	tc_in "${port%/*}" qdisc add dev "${port#*/}" root bfc limit 100m nowatch roots
done
# goes HOST DEV NUMBER: packets to 10.9.9.9 leave by that device, for the other end of cable NUMBER
goes()
{
	ip_in "$1" addr add "10.0.$3.1/24" dev "$2"
	neigh "$1" "$2" "10.0.$3.2" "$(mac "$3" 1)"
	ip_in "$1" route add 10.9.9.9 via "10.0.$3.2"
}
goes h e0 11
goes x1 next 12
goes x2 next 13
goes x3 next 14
check "all tag" wait_until 10 eval 'ports_tag h e0 && ports_tag x1 next && ports_tag x2 next && ports_tag x3 next'
in_ns h "$udpflow" send -d 10.9.9.9 -p 7000 -l 1000 -n 500 --sndbuf=64m >/dev/null
sent() { link_stat x1 next tx_packets; }
sleep 0.2
before=$(sent)
sleep 0.2
between "nothing moves but what is said" $(($(link_stat x1 next tx_packets) - before)) 1 10000
asked x1 x2 x3
# Which of them began may be any of the circle.
circle='^((x[23]:)?next) > ((x[23]:)?next > )*\1$'
said=$(jq -r '.[] | select(.id == "deadlock") | .severity + ": " + .detail' "$tmp/said")
check "a deadlock, by its ports in order" grep -Eq "${circle/^/^error: }" <<<"$said"
diag "$said"
shown x1
said=$("$sluice" -n "$NS-x2" doctor --with a="$tmp/x1.json" --with b="$tmp/x3.json" |
	sed -n 's/^error: .*(\(.*\)) \[deadlock\]/\1/p')
check "the others see it, too" grep -Eq '^((a:)?next > |b:next > )+(a:|b:)?next$' <<<"$said"
diag "$said"
said=$("$sluice" -n "$NS-x1" show --with "$tmp/x2.json" --with "$tmp/x3.json")
check "show says who holds" grep -Eq '^next: held by (x2:|x3:)?next, [123] hops? away(, and others)?: [0-9]+$' <<<"$said"
diag "$(grep held <<<"$said")"
# What nobody holds leaves: nobody is obeyed for ever any more.
for port in x1/prev x1/loop x1/next x2/prev x2/next x3/prev x3/next; do
	tc_in "${port%/*}" qdisc change dev "${port#*/}" root bfc watch
done
for box in x1 x2 x3; do
	ip_in $box route change blackhole 10.9.9.9 2>/dev/null || ip_in $box route replace blackhole 10.9.9.9
done
check "it ends with the watchdog" wait_until -e 100 20 _all_quiet
shown x2 x3
is "and so does what is said" "$("$sluice" -n "$NS-x1" -j doctor --with "$tmp/x2.json" --with "$tmp/x3.json" |
	jq -c 'map(select(.id == "deadlock" or .id == "held"))')" "[]"
between "ports that were held by several roots" $several 1 100000
is "and showed each queue once" $twice 0
finish
