#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What hopmon counts from the tracepoints is what the modules count themselves, port by port and
# sub-queue by sub-queue, to the last packet and the last nanosecond paused.
#
#	s1 ---+
#	s2 ---+--- sw (bridge) --- r	wires
#	s3 ---+
#	t: x0 --- x1			a slow wire
#
# hopmon starts before the ports are made, so both count from zero. The senders overload the wire
# to r; later r's port may not pause, and loses packets; x0 goes down with packets in it.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_root

SENDERS=3
FRAMES=200
LENGTH=1458	# UDP payload of a frame of 1500 bytes
udpflow=$(cd "$(dirname "$0")" && pwd)/udpflow
hopmon=$(cd "$(dirname "$0")/../.." && pwd)/build/hopmon/hopmon
[ -x "$hopmon" ] || hopmon=$(type -P hopmon) || skip_all "hopmon is not built"
[ -x "$udpflow" ] || skip_all "udpflow is not built"
[ -e /proc/sys/kernel/perf_event_paranoid ] || skip_all "this kernel has no perf events"
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
[ -d /sys/kernel/tracing/events ] || skip_all "this kernel has no tracefs"

# ends_with NAME STATUS WORDS ARG...: how hopmon ends, and what it says
ends_with()
{
	local name=$1 want=$2 words=$3 said status

	shift 3
	said=$("$hopmon" "$@" 2>&1)
	status=$?
	if [ $status != "$want" ]; then
		fail "$name" "ends with $status, should be $want" "$said"
	elif [[ $said != *"$words"* ]]; then
		fail "$name" "should say: $words" "says: $said"
	else
		pass "$name"
	fi
}

diag "refusals"
if [ -d /sys/module/sch_bfc ]; then
	skip "without the module" "sch_bfc is loaded"
else
	ends_with "without the module" 1 "the module sch_bfc is not loaded" --count 1
fi
load_modules
ends_with "no such option" 2 "invalid option" -x
ends_with "an option's bad value" 2 "--count must be" --count 0
ends_with "options that exclude each other" 2 "exclude each other" --json --histogram
ends_with "no such namespace" 1 "No such file" --netns "$NS-nowhere"

TMP=$(mktemp -d) || die "no temporary directory"
trap 'kill $watchers 2>/dev/null; rm -rf "$TMP"; _at_exit' EXIT
watchers=

# hopmon_starts FILE ARG...: in the background, counting when this returns
hopmon_starts()
{
	local file=$1

	shift
	"$hopmon" --verbose "$@" >"$TMP/$file" 2>"$TMP/$file.err" &
	watcher=$!
	watchers+=" $!"
	wait_until 60 _counts_or_died "$watcher" "$TMP/$file.err"
	grep -qx "hopmon: counting" "$TMP/$file.err" || die "$(head -n 30 "$TMP/$file.err")"
}

_counts_or_died() { grep -qx "hopmon: counting" "$2" || [ ! -e "/proc/$1" ]; }

# hopmon_ends NAME PID: its last report is of what was counted up to now
hopmon_ends()
{
	kill -TERM "$2"
	wait "$2"
	is "$1" $? 0
}

hopmon_starts all --all --json --interval 3600
all=$watcher
hopmon_starts small --all --json --interval 3600 --max-packets 2 --max-queues 2
small=$watcher
hopmon_starts bars --all --queues --histogram
bars=$watcher

# Frames are counted to the last one: nothing but ours may be sent.
quiet() { in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'; }

# box NAME NUMBER: a host on a wire of its own to the switch
box()
{
	ip_in "$1" link add e0 address "$(mac "$2")" type wire rate 100mbit delay 1us \
		peer name "p$1" address "$(mac "$2" 1)" netns "$NS-sw"
	ip_in sw link set "p$1" master br0 up
	ip_in "$1" addr add "10.0.0.$2/24" dev e0
	ip_in "$1" link set e0 up
}

build()
{
	local i

	ns sw r t
	quiet sw
	quiet r
	quiet t
	ip_in sw link add br0 type bridge
	ip_in sw link set br0 up
	box r 100
	tc_in r qdisc add dev e0 root handle 1: bfc
	tc_in sw qdisc add dev pr root handle 1: bfc
	for ((i = 1; i <= SENDERS; i++)); do
		ns "s$i"
		quiet "s$i"
		box "s$i" $i
		neigh "s$i" e0 10.0.0.100 "$(mac 100)"
		tc_in "s$i" qdisc add dev e0 root handle 1: bfc
		tc_in sw qdisc add dev "ps$i" root handle 1: bfc
	done
	in_ns sw bridge fdb replace "$(mac 100)" dev pr master static
	ip_in t link add x0 type wire rate 1mbit delay 1us peer name x1
	ip_in t link set x0 up
	ip_in t link set x1 up
	ip_in t addr add 10.0.1.1/24 dev x0
	neigh t x0 10.0.1.2 "$(mac 200)"
	tc_in t qdisc add dev x0 root handle 1: bfc
}

tagging()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		[ "$(tc_in "s$i" -j -s qdisc show dev e0 | jq -r '.[0].port.state')" = tagging ] ||
			return
	done
}

# flood NAME ADDRESS PORT: some flows at once
flood()
{
	in_ns "$1" "$udpflow" send -d "$2" -p "$3" --id="$3" -l $LENGTH -n $FRAMES --sndbuf=16m \
		>/dev/null
}

incast()
{
	local i hands=()

	for ((i = 1; i <= SENDERS; i++)); do
		flood "s$i" 10.0.0.100 $((7000 + i)) &
		hands+=($!)
	done
	wait "${hands[@]}"
}

# Figures of a port that both show, by one name
FIGURES="packets bytes marks control pauses_obeyed resumes_obeyed paused_time drop_limit drop_control
	drop_gso drop_tag drop_filter drop_pool state_rx state_tx pauses_tx resumes_tx lease_expired"

# figures NEST: jq's filter that prints them, looking in the object NEST, too
figures()
{
	echo "(\$figures | [splits(\"\\\\s+\")]) as \$keys | . as \$port |
		[\$keys[] as \$key | \"\\(\$key)=\\(\$port[\$key] // \$port.$1[\$key])\"] | join(\" \")"
}

tc_ports()
{
	local space

	for space in "${_spaces[@]}"; do
		tc -n "$space" -j -s qdisc show | jq -r --arg ns "$space" --arg figures "$FIGURES" \
			'.[] | select(.kind == "bfc") | "\($ns)/\(.dev) " + ('"$(figures port)"')'
	done | sort
}

hopmon_ports()
{
	jq -r --arg figures "$FIGURES" '.ports[] | .paused_time = .pause.sum |
		"\(.netns)/\(.dev) " + ('"$(figures told)"')' "$TMP/$1" | sort
}

# The same of all sub-queues that had any figure above zero. tc has no JSON for classes.
tc_queues()
{
	local space dev

	for space in "${_spaces[@]}"; do
		for dev in $(tc -n "$space" -j qdisc show |
			     jq -r '.[] | select(.kind == "bfc") | .dev'); do
			tc -n "$space" -s class show dev "$dev" | sed "s|^class|$space/$dev|"
		done
	done | awk '
		function ns(time,   unit) {
			unit = time ~ /ns$/ ? 1 : time ~ /us$/ ? 1e3 : time ~ /ms$/ ? 1e6 : 1e9
			return sprintf("%.0f", (time + 0) * unit)
		}
		function hex(digits,   i, n) {
			for (i = 1; i <= length(digits); i++)
				n = 16 * n + index("123456789abcdef", substr(digits, i, 1))
			return n
		}
		$2 == "bfc" { port = $1; nr = hex(substr($3, 4)) }
		/\(dropped / {
			for (i = 1; i < NF; i++)
				if ($i == "(dropped")
					dropped = $(i + 1) + 0
		}
		/class: paused/ {
			for (i = 1; i < NF; i++) v[$i] = $(i + 1)
			if (v["pauses"] + v["marks"] + dropped + v["backlog_max"] > 0)
				print port, "queue=" nr, "pauses=" v["pauses"],
				      "paused_time=" ns(v["paused_time"]), "marks=" v["marks"],
				      "drops=" dropped, "backlog_max=" v["backlog_max"] + 0
		}' | sort
}

hopmon_queues()
{
	jq -r '.ports[] | "\(.netns)/\(.dev)" as $port | .queues[] | $port +
		" queue=\(.queue) pauses=\(.pauses_obeyed) paused_time=\(.pause.sum)" +
		" marks=\(.marks) drops=\(.drop_limit) backlog_max=\(.backlog_seen.max)"' \
		"$TMP/$1" | sort
}

# same NAME COMMAND COMMAND: both print the same, and not nothing
same()
{
	local differ

	$2 >"$TMP/want"
	$3 >"$TMP/got"
	if [ ! -s "$TMP/want" ]; then
		fail "$1" "$2 prints nothing"
	elif differ=$(diff "$TMP/want" "$TMP/got"); then
		pass "$1"
	else
		fail "$1" "< $2, > $3" "$differ"
	fi
}

# holds NAME FILTER: true of each port that hopmon has seen; others are printed
holds()
{
	local wrong

	wrong=$(jq -c "def sum(f): map(f) | if all(. != null) then add + 0 else error(\"no such figure\") end;
		if (.ports | length) < 1 then \"no ports\" else .ports[] |
		select(($2) | not) | del(.queues) | del(.told.queues) end" "$TMP/all" 2>&1) || wrong=${wrong:-"jq cannot say"}
	if [ -z "$wrong" ]; then
		pass "$1"
	else
		fail "$1" "$2" "$wrong"
	fi
}

# total FILTER [FILE]: sum over all ports
total() { jq "[.ports[] | $1] | add" "$TMP/${2:-all}"; }

build
check "every sender tags" wait_until 20 tagging
incast
check "all is sent and resumed" wait_until 30 _all_quiet
tc_in sw qdisc change dev pr root bfc nopause limit 30000
# What reads the counters all the time costs none of the others an event.
hopmon_starts table --netns "$NS-sw" --interface pr --interval 0.01
table=$watcher
incast
check "all is sent or dropped" wait_until 30 _all_quiet
flood t 10.0.1.2 7000
ip_in t link set x0 down
hopmon_ends "hopmon ends" $all
hopmon_ends "with little room, too" $small
hopmon_ends "with histograms, too" $bars
hopmon_ends "with a table, too" $table

diag "what tc says"
between "pauses obeyed" "$(total .pauses_obeyed)" 10 1000000
between "packets dropped at the limit" "$(total .drop_limit)" 10 1000000
between "packets dropped by a reset" "$(total .drop_reset)" 1 $FRAMES
same "ports are as tc has them" tc_ports "hopmon_ports all"
same "sub-queues are as tc has them" tc_queues "hopmon_queues all"

diag "what must add up"
is "no event was lost" "$(jq '.lost | add' "$TMP/all")" 0
holds "each packet that came has left" ".enqueued == .packets + .drop_limit + .drop_reset"
holds "each one's waiting time is known" ".sojourn.count == .packets and .sojourn_unseen == 0"
holds "each backlog is seen" ".backlog_seen.count == .enqueued - .control"
holds "each pause obeyed has a length" ".pause.count == .resumes_obeyed"
holds "each has a reaction, or is unclear" \
	".reaction.count + .reaction_unclear == .pauses_obeyed"
holds "each pause told has a length" ".told | .pause.count + .unseen == .resumes_tx"
holds "each has a reaction, or is none to measure" \
	".told | .reaction.count + .silent + .unsettled + .unseen == .resumes_tx"
holds "ports are the sums of their sub-queues" \
	"[.packets - .control, .marks, .pauses_obeyed, .pause.sum, .reaction.sum, .backlog_seen.sum]
	 == (.queues | [sum(.packets), sum(.marks), sum(.pauses_obeyed), sum(.pause.sum),
	 sum(.reaction.sum), sum(.backlog_seen.sum)])"
holds "told ones, too" ".told | [.pauses_tx, .resumes_tx, .pause.sum, .late_packets]
	== (.queues | [sum(.pauses_tx), sum(.resumes_tx), sum(.pause.sum), sum(.late_packets)])"
# What is told may be taken back before it is sent. What a lease has ended is obeyed again with the
# next refresh: for each sub-queue at most once.
again=$(total '.lease_expired * ([.queues[] | select(.pauses_obeyed > 0)] | length)')
between "pauses obeyed were told, or a lease has ended between" \
	"$(total .pauses_obeyed)" 10 $(($(total .told.pauses_tx) + again))

diag "other reports"
is "little room: counters are lost" "$(jq '.lost.stats > 0' "$TMP/small")" true
is "and waiting times" "$(jq '.lost.packets > 0' "$TMP/small")" true
is "no more ports and sub-queues than there is room for" \
   "$(jq '[.ports[] | 1 + (.queues | length)] | add <= 2' "$TMP/small")" true
is "the histogram has each pause of s1" \
   "$(grep -A1 "^$NS-s1/e0: pause, as obeyed" "$TMP/bars" | awk '$1 == "n" { print $2 }')" \
   "$(jq --arg ns "$NS-s1" '.ports[] | select(.netns == $ns) | .pause.count' "$TMP/all")"
is "the table has one head" "$(grep -c pkt/s "$TMP/table")" 1
is "and rows of the port that was asked for only" \
   "$(tail -n +3 "$TMP/table" | cut -d" " -f1 | sort -u)" "$NS-sw/pr"
is "without escapes" "$(grep -c $'\e' "$TMP/table")" 0
refused "where there is no tracefs, hopmon says what to do" "use --netns" \
	in_ns sw "$hopmon" --count 1

diag "where congestion began"
tc_in sw qdisc change dev pr root bfc pause queue limit 8m roots root-id 4711
tc_in sw qdisc change dev ps1 root bfc roots
tc_in s1 qdisc change dev e0 root bfc roots
ip_in sw link set pr type wire rate 1mbit
flood s1 10.0.0.100 7001 &
"$hopmon" --netns "$NS-s1" --json --interval 0.3 --count 5 >"$TMP/roots" 2>&1
"$hopmon" --netns "$NS-s1" --queues --interval 0.3 --count 2 >"$TMP/rows" 2>&1
wait $!
ip_in sw link set pr type wire rate 100mbit
is "hopmon names the root" "$(jq -sc '[.[].ports[].queues[] | select(.root) | [.root, .hops, .more]] | unique' \
	"$TMP/roots")" "[[4711,1,false]]"
between "in its table, too" "$(grep -c ' held by 4711, 1 hop away$' "$TMP/rows")" 1 100
check "all is sent" wait_until 30 _all_quiet
[ -z "${SLUICE_OUT:-}" ] || cp "$TMP"/* "$SLUICE_OUT"

finish
