#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowgen: flows of a trace take the time that the lines take, not a nanosecond more; what is lost
# is sent again; what is wrong is refused; and nothing stays behind.
#
#	c0 === c1 === c2 === c3 === c4		wires; all are hosts and routers
#
# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

need_tool jq awk
need_virtual_time
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
load_modules wire flowgen
work=$(mktemp -d) || die "no temporary directory"

DELAY=600	# ns, of each wire

# A chain of boxes NAME0 ... NAMEn. Box i has 10.NET.i.1 on its wire right, the next
# one 10.NET.i.2 on its wire left.
chain() # NAME NET HOPS RATE
{
	local name=$1 net=$2 hops=$3 i j batch=

	for ((i = 0; i <= hops; i++)); do
		ns "$name$i"
		in_ns "$name$i" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	done
	for ((i = 0; i < hops; i++)); do
		batch+="link add name right netns $(ns_name "$name$i") address $(mac $((net * 16 + i)) 1)"
		batch+=" type wire rate $4 delay ${DELAY}ns peer name left netns $(ns_name "$name$((i + 1))")"
		batch+=" address $(mac $((net * 16 + i)) 2)"$'\n'
	done
	ip -batch - <<<"$batch" || die "no wires"
	for ((i = 0; i <= hops; i++)); do
		batch=
		if [ "$i" -lt "$hops" ]; then
			batch+="addr add 10.$net.$i.1/24 dev right"$'\n'"link set right up"$'\n'
			batch+="neigh replace 10.$net.$i.2 lladdr $(mac $((net * 16 + i)) 2) nud permanent dev right"$'\n'
			for ((j = i + 1; j < hops; j++)); do
				batch+="route add 10.$net.$j.0/24 via 10.$net.$i.2"$'\n'
			done
		fi
		if [ "$i" -gt 0 ]; then
			batch+="addr add 10.$net.$((i - 1)).2/24 dev left"$'\n'"link set left up"$'\n'
			batch+="neigh replace 10.$net.$((i - 1)).1 lladdr $(mac $((net * 16 + i - 1)) 1) nud permanent dev left"$'\n'
			for ((j = 0; j < i - 1; j++)); do
				batch+="route add 10.$net.$j.0/24 via 10.$net.$((i - 1)).1"$'\n'
			done
		fi
		ip_in "$name$i" -batch - <<<"$batch" || die "no box $name$i"
	done
}

# run OPTION...: with $work/ends and the trace of standard input; results in $work/out, summary in
# $work/json
run()
{
	{ echo "# sluice-trace 1"; cat; } >"$work/trace"
	"$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" --json \
		--seed "${seed:-1}" "$@" >"$work/json" 2>"$work/err"
}

count() { jq -r --arg key "$1" '.[$key]' "$work/json"; }
# column NAME: of all flows
column()
{
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR > 1 { print $c }' "$work/out"
}

# formula RATE HOPS BYTES [PAYLOAD]: when the receiver has all, and when the sender knows. On each line
# a frame starts when it is there and the one before it has left. Its time is rounded down
# to a nanosecond; while the line is never idle what was rounded off is kept for the next frame.
formula()
{
	awk -v rate="$1" -v hops="$2" -v bytes="$3" -v payload="${4:-1000}" -v delay=$DELAY '
		function send(line, at, len,	units) {
			if (at > free[line]) { free[line] = at; rest[line] = 0 }
			units = len * 8e9 + rest[line]
			free[line] += int(units / rate)
			rest[line] = units % rate
			return free[line] + delay
		}
		BEGIN {
			packets = int((bytes + payload - 1) / payload)
			for (p = 0; p < packets; p++) {
				len = bytes - p * payload
				at = 0
				for (h = 0; h < hops; h++)
					at = send(h, at, (len < payload ? len : payload) + 58)
				done = at
				for (h = hops; h-- > 0; )
					at = send("back" h, at, 58)
			}
			printf "%d %d\n", done, at
		}'
}

SIZES="1 1000 1001 100000 10000000"

test_exact()
{
	local rate hops bytes want start

	for rate in 10 40 100 400; do
		for hops in 0 1 2 3; do
			ip_in "c$hops" link set right type wire rate "${rate}gbit"
			ip_in "c$((hops + 1))" link set left type wire rate "${rate}gbit"
		done
		start=0
		for hops in 1 2 4; do
			for bytes in $SIZES; do
				echo "$start 0 $hops $bytes"
				start=$((start + 100000000))
			done
		done >"$work/flows"
		check "$rate Gb/s: all complete" run <"$work/flows"
		while read -r start _ hops bytes; do
			read -r -a want <<<"$(formula "${rate}000000000" "$hops" "$bytes")"
			echo "$((start + want[0])),$((start + want[1]))"
		done <"$work/flows" >"$work/want"
		is "$rate Gb/s: 1, 2 and 4 hops, to the nanosecond" \
			"$(paste -d, <(column done_ns) <(column acked_ns) | xargs)" \
			"$(xargs <"$work/want")"
		is "$rate Gb/s: no packet too many" "$(count packets) $(count acks) $(count retransmits)" \
			"$((3 * (1 + 1 + 2 + 100 + 10000))) $((3 * (1 + 1 + 2 + 100 + 10000))) 0"
	done
}

# All wires of the chain at one rate
rate()
{
	local i

	for i in 0 1 2 3; do
		ip_in "c$i" link set right type wire rate "$1" loss 0 corrupt 0
		ip_in "c$((i + 1))" link set left type wire rate "$1" loss 0 corrupt 0
	done
}

# The same trace, twice: byte for byte the same. Ports are the seed's.
test_tcp()
{
	local cc start=0 i

	rate 10gbit
	for i in 1 1000 100000 1000000; do
		echo "$start 0 4 $i 0 lone"
		start=$((start + 50000000))
	done >"$work/flows"
	for i in 1 2 3 4; do
		echo "$start 0 4 1000000 0 crowd"
		echo "$start 1 4 1000000 0 crowd"
	done >>"$work/flows"
	for cc in cubic dctcp; do
		check "tcp, $cc: all complete" run --transport tcp --cc "$cc" <"$work/flows"
		cat $work/out $work/json $work/err
	done
}

chain c 1 4 100gbit
cat >"$work/ends" <<-END
	# the chain
	0 $(ns_name c0) 10.1.0.1
	1 $(ns_name c1) 10.1.0.2
	2 $(ns_name c2) 10.1.1.2
	4 $(ns_name c4) 10.1.3.2
END

# All, or those named
for name in "${@:-exact}"; do
	for part in $name; do
		"test_$part"
	done
done
finish
