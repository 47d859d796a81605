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

need_virtual_time
need_tool jq awk bc ethtool setpriv
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
		# without IPv6's own chatter, which would draw from the wires' faults
		in_ns "$name$i" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
			echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
			echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	done
	for ((i = 0; i < hops; i++)); do
		batch+="link add name right netns $NS-$name$i address $(mac $((net * 16 + i)) 1)"
		batch+=" type wire rate $4 delay ${DELAY}ns peer name left netns $NS-$name$((i + 1))"
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

# The same, of what was sent last, by a program that may have six files open
few_files() { sh -c 'ulimit -Sn 6; exec "$@"' sh "$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" >/dev/null; }

count() { jq -r --arg key "$1" '.[$key]' "$work/json"; }
# column NAME: of all flows
column()
{
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR > 1 { print $c }' "$work/out"
}

# formula RATE HOPS BYTES [WINDOW [ACK [OVERHEAD]]]: when the receiver has all, and when the sender
# knows; WINDOW in packets, 0 for none. On each line a frame starts when it is there and the one
# before it has left. Its time is rounded down to a nanosecond; while the line is never idle
# what was rounded off is kept for the next frame.
formula()
{
	awk -v rate="$1" -v hops="$2" -v bytes="$3" -v window="${4:-0}" -v every="${5:-1}" \
		-v over="${6:-58}" -v delay=$DELAY -v payload=1000 '
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
				# the first answer that leaves room
				if (window && p >= window)
					at = known[int((p - window) / every) * every + every - 1]
				for (h = 0; h < hops; h++)
					at = send(h, at, (len < payload ? len : payload) + over)
				done = at
				if ((p + 1) % every && p + 1 < packets)
					continue
				for (h = hops; h-- > 0; )
					at = send("back" h, at, over)
				known[p] = at
			}
			printf "%d,%d\n", done, at
		}'
}

times() { paste -d, <(column done_ns) <(column acked_ns) | xargs; }
counts()
{
	local name all=

	for name; do
		all+=" $(count "$name")"
	done
	echo "${all# }"
}
wire_count() { in_ns "$1" ethtool -S "$2" | awk -v k="$3:" '$1 == k { print $2 }'; }

SIZES="1 1000 1001 100000 10000000"

test_exact()
{
	local rate hops bytes want start

	for rate in ${SLUICE_RATES:-10 40 100 400}; do
		rate "${rate}gbit"
		start=0
		for hops in 1 2 4; do
			for bytes in $SIZES; do
				echo "$start 0 $hops $bytes"
				start=$((start + 100000000))
			done
		done >"$work/flows"
		check "$rate Gb/s: all complete" run <"$work/flows"
		while read -r start _ hops bytes; do
			IFS=, read -r -a want <<<"$(formula "${rate}000000000" "$hops" "$bytes")"
			echo "$((start + want[0])),$((start + want[1]))"
		done <"$work/flows" >"$work/want"
		is "$rate Gb/s: 1, 2 and 4 hops, to the nanosecond" "$(times)" "$(xargs <"$work/want")"
		is "$rate Gb/s: no packet too many" "$(counts packets acks retransmits)" \
			"$((3 * 10104)) $((3 * 10104)) 0"
	done
}

# All wires of the chain at one rate, without faults
rate()
{
	local i

	for i in 0 1 2 3; do
		ip_in "c$i" link set right type wire rate "$1" loss 0 corrupt 0 duplicate 0 seed 1
		ip_in "c$((i + 1))" link set left type wire rate "$1" loss 0 corrupt 0 seed 1
	done
}

test_window()
{
	local window every

	rate 100gbit
	while read -r window every; do
		run --window $((window * 1000)) --ack "$every" <<<"0 0 4 1000000"
		is "window of $window packets, one ACK for $every: to the nanosecond" "$(times)" \
			"$(formula 100000000000 4 1000000 "$window" "$every")"
		is "and as many ACKs" "$(count acks)" $(((1000 + every - 1) / every))
	done <<-END
		1 1
		10 1
		10 3
		10 10
		7 7
		0 1000
		0 5000
	END
	run --window 2500 <<<"0 0 4 100000"
	is "a window is in whole packets" "$(times)" "$(formula 100000000000 4 100000 2)"
	run --payload 100 --local 1 --window 1000 <<<"0 0 4 10000"
	is "another payload" "$(counts packets acks)" "100 100"
	run --payload 1k <<<"0 0 4 10240"
	is "a kB has 1000 bytes" "$(counts packets)" 11
	run --payload 1KiB <<<"0 0 4 10240"
	is "a KiB 1024" "$(counts packets)" 10
	check "there may be more endpoints than open files" few_files
}

test_ip6()
{
	local i

	rate 40gbit
	for i in c0 c1; do
		in_ns $i sh -c 'echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	done
	ip_in c0 addr add fd00::1/64 dev right nodad
	ip_in c1 addr add fd00::2/64 dev left nodad
	neigh c0 right fd00::2 "$(mac 16 2)"
	neigh c1 left fd00::1 "$(mac 16 1)"
	cp "$work/ends" "$work/ends4"
	printf '%s\n' "0 $NS-c0 fd00::1" "1 $NS-c1 fd00::2" >"$work/ends"
	for i in 1000000 1; do
		check "IPv6: complete" run <<<"0 0 1 $i"
		is "to the nanosecond" "$(times)" "$(formula 40000000000 1 $i 0 1 78)"
	done
	check "tcp over IPv6" run --transport tcp <<<"0 0 1 100000"
	for i in c0 c1; do
		in_ns $i sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	done
	mv "$work/ends4" "$work/ends"
}

# A packet that is sent is received, in one of three ways, or lost.
test_loss()
{
	local i lost

	rate 100gbit
	for i in 1 2 5 10 50; do
		echo "0 0 4 $((i * 20000))"
		echo "0 1 4 $((i * 20000)) 1 other"
	done >"$work/flows"
	lost=$(wire_count c2 right loss)
	ip_in c2 link set right type wire loss 1%
	check "1 % of the packets are lost: all complete" run <"$work/flows"
	lost=$(($(wire_count c2 right loss) - lost))
	between "some were" "$lost" 10 100
	is "those sent are received, or lost" \
		"$(count packets)" $(($(count received) + $(count gaps) + $(count duplicates) + lost))
	is "each is taken once" "$(counts received completed)" "$((2 * 68 * 20)) 10"
	is "the flows' figures add up" "$(column packets | paste -sd+ | bc) $(
		column retransmits | paste -sd+ | bc) $(column timeouts | paste -sd+ | bc)" \
		"$(counts packets retransmits timeouts)"
	between "a NACK for each gap, at most" "$(count nacks)" 1 "$lost"
	is "done comes before acked" "$(paste -d' ' <(column done_ns) <(column acked_ns) |
		awk '$1 >= $2' | wc -l)" 0
	mv "$work/out" "$work/before"
	mv "$work/json" "$work/json1"
	ip_in c2 link set right type wire seed 1
	run <"$work/flows"
	is "a second run is the same, byte for byte" \
		"$(cmp "$work/out" "$work/before" && cmp "$work/json" "$work/json1" && echo same)" same
	ip_in c2 link set left type wire loss 20%
	check "ACKs are lost: all complete" run <"$work/flows"
	is "and each packet is taken once" "$(counts received completed)" "$((2 * 68 * 20)) 10"
	rate 100gbit
	ip_in c2 link set right type wire corrupt 5%
	ip_in c2 link set left type wire corrupt 5%
	check "packets are corrupted: all complete" run <"$work/flows"
	is "none of them is taken" "$(counts received completed rx_malformed rx_run rx_flow
		) $(counts rx_address rx_packet)" "$((2 * 68 * 20)) 10 0 0 0 0 0"
	rate 100gbit
	ip_in c2 link set right type wire duplicate 10%
	check "packets come twice: all complete" run <"$work/flows"
	is "duplicates are counted" "$(counts received retransmits duplicates)" \
		"$((2 * 68 * 20)) 0 $(wire_count c2 right duplicated)"
}

test_timeout()
{
	rate 100gbit
	ip_in c0 link set right type wire loss 100%
	run --rto 1ms --limit 10500us <<<$'0 0 1 1\n2000000 0 1 2000\n20000000 0 1 1'
	is "a run that does not complete" $? 3
	is "each timeout sends all again" "$(tail -n +2 "$work/out" | xargs)" \
		"0,0,1,1,0,-,0,,,11,10,10 1,0,1,2000,0,-,2000000,,,18,16,8 2,0,1,1,0,-,20000000,,,0,0,0"
	is "the limit is kept" "$(counts state time_ns completed)" "limit 10500000 0"
	rate 100gbit
	# one of 5000 packets waits 40 us, of 100 Mb/s: the line is slower than the timer
	ip_in c0 link set right type wire rate 100mbit
	check "a packet that waits in its own host" run --rto 10us --local 5 <<<"0 0 1 1000000"
	between "is no loss until it has left" "$(count timeouts)" 0 1
}

# What the host's own qdisc refuses has not been sent: it counts as neither sent nor lost.
test_unsent()
{
	rate 100gbit
	ip_in c0 link set right type wire ring 0
	tc_in c0 qdisc add dev right root pfifo limit 3 || die "no pfifo"
	check "the host's own queue is too short: all complete" \
		run --local 16 --rto 1ms <<<$'0 0 4 1000000\n0 0 4 100000'
	between "it has refused some" "$(count local_drops)" 1 5000
	is "as many as it says" "$(count local_drops)" "$(qdisc_stat c0 right drops)"
	is "each is sent once, and taken once" "$(counts packets retransmits received gaps completed)" "1100 0 1100 0 2"
	is "the flows' figures say so" "$(column packets | xargs) $(column retransmits | xargs)" "1000 100 0 0"
	tc_in c0 qdisc del dev right root
	ip_in c0 link set right type wire ring 65536
}

test_class()
{
	local tos quick other bulk

	rate 10gbit
	tc_in c0 qdisc add dev right root handle 1: prio || die "no prio"
	tc_in c1 qdisc add dev right handle 1: root prio
	for tos in 0x40 0xc0; do
		tc_in c1 filter add dev right parent 1: protocol ip pref $((tos)) u32 \
			match ip tos $tos 0xff flowid 1:$((tos == 0xc0 ? 1 : 3)) || die "no filter"
	done
	ip_in c0 link set right type wire ring 0
	run <<<$'0 0 4 1000000 2 bulk\n0 0 4 1000000 6 quick'
	is "classes come back" "$(column class | xargs) $(column label | xargs)" "2 6 bulk quick"
	# one frame of the other's may be on the line: 846.4 ns
	between "class 6 goes ahead of class 2 in the host" \
		$(($(column done_ns | tail -n 1) - $(formula 10000000000 4 1000000 | cut -d, -f1))) 0 847
	is "each has its class on the way" "$(tc_in c1 -s class show dev right |
		awk '/^class/ { class = $3 } / Sent / { print class, $4 }' | xargs)" \
		"1:1 1000 1:2 0 1:3 1000"
	run --transport tcp <<<$'0 0 4 1000000 2 bulk\n0 0 4 1000000 6 quick'
	read -r quick other bulk <<<"$(tc_in c1 -s class show dev right | awk '/ Sent / { print $4 }' | xargs)"
	is "tcp: nothing of it goes without its class" "$other" 0
	between "tcp: class 6 goes by" "$quick" 1010 3000
	between "tcp: class 2 goes by" "$bulk" 1010 3000
	tc_in c0 qdisc del dev right root
	tc_in c1 qdisc del dev right root
	ip_in c0 link set right type wire ring 65536
}

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
		# 1448 bytes in each, but the last of a flow and of what TCP had at hand at a time
		between "tcp, $cc: so many packets, without those sent again" $(($(count packets) - $(count retransmits))) \
			$((1 + 1 + 70 + 9 * 691)) $((2 + 70 + 9 * 691 + 300))
		is "a lone byte takes a round trip and a way" "$(column done_ns | head -n 1)" 7941
		is "no connection is left" "$(for i in c0 c1 c4; do in_ns $i cat /proc/net/tcp; done |
			grep -c :)" 0
	done
	ip_in c2 link set right type wire loss 2%
	check "tcp, with losses: all complete" run --transport tcp <"$work/flows"
	between "packets were sent again" "$(count retransmits)" 1 1000
	rate 10gbit
}

# A hundred connections from one host to another at once, of which with this seed two would have the port 65535: the
# second one has another.
test_ports()
{
	rate 10gbit
	printf '0 0 4 1\n%.0s' {1..100} | run --transport tcp --seed 10860
	is "tcp: a port that is taken" "$? $(counts completed given_up)" "0 100 0"
}

# Four hosts on a switch: what they send to a fifth they share.
#
#	s0, s1, s2, s3 === sw === s4
test_share()
{
	local i batch=

	load_modules hopctl sch_bfc
	ns s0 s1 s2 s3 s4 sw
	in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	for i in 0 1 2 3 4; do
		in_ns s$i sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
		batch+="link add name sw netns $NS-s$i address $(mac $((64 + i)) 1) type wire"
		batch+=" rate 100gbit delay ${DELAY}ns ring 0 overhead 4 peer name s$i"
		batch+=" netns $NS-sw address $(mac $((64 + i)) 2)"$'\n'
	done
	ip -batch - <<<"$batch" || die "no wires"
	for i in 0 1 2 3 4; do
		ip_in s$i -batch - <<-END || die "no host"
			addr add 10.3.$i.1/24 dev sw
			link set sw up
			neigh replace 10.3.$i.2 lladdr $(mac $((64 + i)) 2) nud permanent dev sw
			route add default via 10.3.$i.2
		END
		ip_in sw -batch - <<-END || die "no switch"
			addr add 10.3.$i.2/24 dev s$i
			link set s$i up
			neigh replace 10.3.$i.1 lladdr $(mac $((64 + i)) 1) nud permanent dev s$i
		END
		tc_in s$i qdisc add dev sw root bfc && tc_in sw qdisc add dev s$i root bfc ||
			die "no bfc"
		printf '%s\n' "$i $NS-s$i 10.3.$i.1" >>"$work/ends_share"
	done
	all_tag() { [ "$(tc_in sw -s qdisc show | grep -c "state host")" = 5 ]; }
	wait_until 5 all_tag || fail "all ports tag"
	for i in 0 1 2 3; do
		echo "0 $i 4 2000000"
	done >"$work/flows"
	mv "$work/ends" "$work/ends_chain"
	cp "$work/ends_share" "$work/ends"
	printf '%s\n' "host $NS-s0 sw" "out $NS-sw s4" >"$work/ports"
	check "an incast under bfc" run --watch "$work/ports" --interval 1us \
		--watch-out "$work/samples" <"$work/flows"
	is "nothing is lost" "$(counts packets gaps retransmits timeouts)" "8000 0 0 0"
	# 8000 frames of 1062 bytes take 679.7 us, and few greedy flows do not fill a link of bfc's
	between "the last flow is done when the link has sent all" \
		"$(column done_ns | sort -n | tail -n 1)" 680880 815000
	between "and the first one not much earlier, in percent of the last" "$(column done_ns |
		sort -n | awk 'NR == 1 { first = $1 } END { printf "%d", 100 * first / $1 }')" 95 100
	is "samples are of whole intervals, in their order, none as the one before it" "$(awk -F, '
		NR == 1 { print $0; next }
		$1 % 1000 || $1 < last || (($2) in was && was[$2] == $3 "," $4 "," $5) { print }
		{ last = $1; was[$2] = $3 "," $4 "," $5 }' "$work/samples")" \
		"t_ns,port,backlog_bytes,backlog_packets,tx_bytes"
	between "the queue grew" "$(awk -F, '$2 == "out" && $3 > m { m = $3 } END { print m }' \
		"$work/samples")" 20000 1000000
	between "the port sent what came through" "$(awk -F, '$2 == "out" { n++
		if (n == 1) first = $5; last = $5 } END { print last - first }' "$work/samples")" \
		$((8000 * 1058)) $((8000 * 1058 + 50000))
	mv "$work/ends_chain" "$work/ends"
}

# Two wires between two hosts: each flow has its path by its source port.
test_paths()
{
	local seed i mask=() again=()

	ns e0 e1
	for i in e0 e1; do
		in_ns $i sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
			echo 1 >/proc/sys/net/ipv4/fib_multipath_hash_policy'
	done
	for i in 1 2; do
		ip link add name a$i netns "$NS-e0" address "$(mac 80 $i)" type wire \
			rate 100gbit peer name b$i netns "$NS-e1" address "$(mac 81 $i)"
		ip_in e0 addr add 10.4.$i.1/24 dev a$i
		ip_in e1 addr add 10.4.$i.2/24 dev b$i
		ip_in e0 link set a$i up
		ip_in e1 link set b$i up
		neigh e0 a$i 10.4.$i.2 "$(mac 81 $i)"
		neigh e1 b$i 10.4.$i.1 "$(mac 80 $i)"
	done
	ip_in e0 addr add 10.4.0.1/32 dev lo
	ip_in e1 addr add 10.4.0.2/32 dev lo
	ip_in e0 route add 10.4.0.2 nexthop via 10.4.1.2 nexthop via 10.4.2.2
	ip_in e1 route add 10.4.0.1 nexthop via 10.4.1.1 nexthop via 10.4.2.1
	mv "$work/ends" "$work/ends_chain"
	printf '%s\n' "0 $NS-e0 10.4.0.1" "1 $NS-e1 10.4.0.2" >"$work/ends"
	for ((i = 0; i < 10; i++)); do
		echo "$((i * 100)) 0 1 $((1 << i))"
	done >"$work/flows"
	# flow i has 2^i bytes: the bytes of a wire say which flows it carried
	for seed in 1 1 2 3; do
		i=$(($(link_stat e0 a1 tx_bytes) - 58 * $(link_stat e0 a1 tx_packets)))
		run <"$work/flows" || fail "flows over two paths"
		mask+=($(($(link_stat e0 a1 tx_bytes) - 58 * $(link_stat e0 a1 tx_packets) - i)))
	done
	is "the same seed, the same paths" "${mask[0]}" "${mask[1]}"
	between "other seeds, other paths" \
		"$(printf '%s\n' "${mask[@]}" | sort -u | wc -l)" 2 3
	between "both wires carry flows" "${mask[0]}" 1 1022
	mv "$work/ends_chain" "$work/ends"
}

# Many flows: every result comes.
test_many()
{
	local n=${SLUICE_MANY:-120000}

	rate 400gbit
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) print i * 300, i % 2, i % 2 ? 0 : 1, 1 + i % 1500 }' |
		run
	is "$n flows: all complete" $? 0
	is "with a result each, by number" "$(awk -F, -v n="$n" 'NR > 1 {
		if ($1 != NR - 2 || $4 != 1 + $1 % 1500 || $7 != $1 * 300 || $8 <= $7 || $9 < $8) bad++
		packets += $10 } END { print NR - 1, bad + 0, packets }' "$work/out")" \
		"$n 0 $(count packets)"
	is "each packet once" "$(counts completed retransmits gaps)" "$n 0 0"
}

# start OPTION...: in the background, with what run takes; $pid
start()
{
	{ echo "# sluice-trace 1"; cat; } >"$work/trace"
	"$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" --json \
		"$@" >"$work/json" 2>"$work/err" &
	pid=$!
}

# header VERSION+TYPE FLAGS RUN FLOW PACKET REMAINING, in hexadecimal, as bytes
header() { printf '%02x%02x%04x%08x%08x%08x' "$@" | sed 's/../\\x&/g'; }

# drawn_port SEED FLOW: source port, by splitmix64
drawn_port()
{
	local z=$(($1 + ($2 + 1) * 0x9e3779b97f4a7c15))

	z=$(((z ^ (z >> 30 & (1 << 34) - 1)) * 0xbf58476d1ce4e5b9))
	z=$(((z ^ (z >> 27 & (1 << 37) - 1)) * 0x94d049bb133111eb))
	z=$((z ^ (z >> 31 & (1 << 33) - 1)))
	echo $((49152 + (z >> 50 & 16383)))
}

# Strangers' packets: from c1, to the receiver of flow 0, which comes from c0. The first run of the
# module has the number 1.
test_strangers()
{
	local to=/dev/udp/10.1.1.2/4790 bytes

	rate 10gbit
	rmmod flowgen
	load_modules flowgen
	start <<<$'0 0 2 1500\n900000000 0 2 3000'
	sleep 0.2
	# too short, an unknown type, another version; other runs; no such flow, a flow that ends
	# elsewhere; an ACK to who gets none; data from another address, an answer likewise
	for bytes in x "$(header 0x14 0 1 0 0 0)" "$(header 0x20 0 1 0 0 0)" \
		"$(header 0x10 0 2 0 0 1500)" "$(header 0x11 0 0 0 1 0)" \
		"$(header 0x10 0 1 2 0 1500)" "$(header 0x11 0 1 0 1 0)" \
		"$(header 0x12 0 1 0 1 0)" "$(header 0x10 0 1 0 0 1500)"; do
		echo "printf '$bytes' >$to"
	done >"$work/strangers"
	in_ns c1 bash "$work/strangers"
	wait $pid
	is "strangers do not stop a run" $? 0
	is "what they send is counted by what is wrong" \
		"$(counts rx_malformed rx_run rx_flow rx_address rx_packet)" "3 2 3 1 0"
	is "and taken from nobody" "$(counts packets received completed)" "5 5 2"
	# from the sender itself, by the flow's port: now the packet's own words are wrong
	start --seed 7 <<<$'0 0 2 1500\n900000000 0 2 3000'
	sleep 0.2
	in_ns c0 sysctl -qw net.ipv4.ip_local_port_range="$(drawn_port 7 1) $(drawn_port 7 1)"
	for bytes in "0x10 1 2 1 0 3000" "0x10 0 2 1 0 2999" "0x10 1 2 1 2 1000" "0x10 0 2 1 3 0" \
		"0x10 0 2 1 4294967295 0" "0x10 0 2 1 0 3000"; do
		# shellcheck disable=SC2086
		echo "printf '$(header $bytes)' >$to"
	done >"$work/strangers"
	in_ns c0 bash "$work/strangers"
	in_ns c0 sysctl -qw net.ipv4.ip_local_port_range="32768 60999"
	# and one by that port from another address
	in_ns c1 sysctl -qw net.ipv4.ip_local_port_range="$(drawn_port 7 1) $(drawn_port 7 1)"
	in_ns c1 bash -c "printf '$(header 0x10 0 2 1 0 3000)' >$to"
	in_ns c1 sysctl -qw net.ipv4.ip_local_port_range="32768 60999"
	wait $pid
	is "a packet that its flow cannot have is counted" \
		"$(counts rx_malformed rx_run rx_flow rx_address rx_packet completed)" "0 0 0 1 6 2"
}

# from_port NS PORT ADDRESS HEADER...: packets of these headers from that port
from_port()
{
	local bytes

	in_ns "$1" sysctl -qw net.ipv4.ip_local_port_range="$2 $2"
	for bytes in "${@:4}"; do
		# shellcheck disable=SC2086
		echo "printf '$(header $bytes)' >/dev/udp/$3/4790"
	done >"$work/forged"
	in_ns "$1" bash "$work/forged"
	in_ns "$1" sysctl -qw net.ipv4.ip_local_port_range="32768 60999"
}

# Forged packets come while the flow is on its way, to both of its ends and by lines that carry nothing of
# it that matters: it takes as long as if there were none, to the nanosecond.
test_forged()
{
	local port again

	rate 1gbit
	rmmod flowgen
	load_modules flowgen
	run --seed 7 <<<"95000000 0 2 3000000"
	again=$(times)
	port=$(drawn_port 7 0)
	# run 2, flow 0, of 3000 packets, under way from 195 ms to 220 ms
	start --seed 7 <<<"95000000 0 2 3000000"
	sleep 0.2
	# data from a stranger, by the flow's own port and by another
	from_port c4 "$port" 10.1.1.2 "0x10 0 2 0 5 2995000" "0x10 0 2 0 2999 1000" "0x10 0 1 0 5 2995000"
	from_port c4 $((port ^ 1)) 10.1.1.2 "0x10 0 2 0 5 2995000" "0x20 0 2 0 5 2995000" "0x10 0 2 1 5 2995000"
	# answers from a stranger: "all has come", "send all again"
	from_port c4 "$port" 10.1.0.1 "0x11 0 2 0 3000 0" "0x12 0 2 0 0 0"
	# answers from the receiver's address: of packets that there are not, with flags, of another flow, to
	# its own end; by another port
	from_port c2 "$port" 10.1.0.1 "0x11 0 2 0 3001 0" "0x12 0 2 0 4294967295 0" "0x12 1 2 0 0 0" \
		"0x12 0 2 0 0 7" "0x12 0 2 7 0 0" "0x12 0 3 0 0 0"
	from_port c2 $((port ^ 1)) 10.1.0.1 "0x12 0 2 0 0 0"
	wait $pid
	is "forged packets do not hold up a flow" "$(times)" "$again"
	is "which takes what the lines take" "${again%,*}" \
		"$((95000000 + $(formula 1000000000 2 3000000 | cut -d, -f1)))"
	is "nothing was sent again, nothing taken from them" \
		"$(counts packets retransmits received duplicates gaps nacks timeouts)" "3000 0 3000 0 0 0 0"
	is "they are counted by what is wrong with them" \
		"$(counts rx_malformed rx_run rx_flow rx_address rx_packet)" "1 2 2 6 4"
}

# Ends before its time: nothing may be left, and the next run is as any other.
test_abort()
{
	local i

	for i in gbn tcp; do
		rate 10gbit
		start --transport $i <<<$'0 0 4 100000000\n10000 1 4 100000000\n1000000000 0 1 1'
		sleep 0.12
		kill -9 $pid
		wait $pid 2>/dev/null
		check "$i: after one that was killed another run" run --transport $i <<<"0 0 4 3000"
		# 1 Mb/s: packets wait on the card for long
		ip_in c0 link set right type wire rate 1mbit
		start --transport $i --local 100 <<<"0 0 4 1000000"
		sleep 0.15
		refused "$i: a run keeps the module" "in use" rmmod flowgen
		kill $pid
		wait $pid 2>/dev/null
		if [ $i = gbn ]; then
			refused "and so do its packets" "in use" rmmod flowgen
		fi
		rate 10gbit
		sleep 2
		check "$i: when they are gone it can be unloaded" rmmod flowgen
		load_modules flowgen
	done
}

# A namespace is deleted, and a device goes down, under a run.
test_gone()
{
	local i end net=10 name

	mv "$work/ends" "$work/ends_chain"
	for i in gbn tcp; do
		for end in 0 1; do
			name=g$net-
			chain $name $net 1 10gbit
			printf '%s\n' "0 $NS-${name}0 10.$net.0.1" \
				"1 $NS-${name}1 10.$net.0.2" >"$work/ends"
			start --transport $i <<-END
				0 0 1 1000
				0 0 1 100000000
				10000 1 0 100000000
				3000000000 0 1 1
			END
			sleep 0.12
			del_ns $name$end
			mapfile -t _spaces < <(printf '%s\n' "${_spaces[@]}" |
				grep -vxF "$NS-$name$end")
			wait $pid
			is "$i: an endpoint's namespace is deleted: its flows are given up" \
				"$? $(counts state completed given_up)" "3 done 1 3"
			net=$((net + 1))
		done
	done
	mv "$work/ends_chain" "$work/ends"
	for i in gbn tcp; do
		rate 10gbit
		start --transport $i <<<"0 0 1 20000000"
		sleep 0.11
		ip_in c0 link set right down
		sleep 0.05
		ip_in c0 link set right up
		neigh c0 right 10.1.0.2 "$(mac 16 2)"
		wait $pid
		is "$i: a device goes down and up: the flow completes" "$? $(counts completed given_up)" "0 1 0"
		between "after that" "$(column done_ns)" 50000000 5000000000
		# what was on its way, and no burst into the device that is down
		[ $i != gbn ] || between "little was lost" "$(count retransmits)" 1 200
	done
	for ((i = 1; i < 4; i++)); do
		ip_in c0 route replace 10.1.$i.0/24 via 10.1.0.2
	done
}

wrong() # NAME WORDS OPTION...
{
	local name=$1 words=$2

	shift 2
	refused "$name" "$words" "$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" \
		--out "$work/none" "$@"
	[ ! -e "$work/none" ] || fail "$name: there is output"
	rm -f "$work/none"
}

wrong_trace() # NAME WORDS TEXT
{
	printf "$3" >"$work/trace"
	wrong "$1" "$2"
}

wrong_ends() # NAME WORDS TEXT
{
	mv "$work/ends" "$work/ends_good"
	printf "$3" >"$work/ends"
	wrong "$1" "$2"
	mv "$work/ends_good" "$work/ends"
}

test_refused()
{
	local head='# sluice-trace 1\n' option value words options

	wrong_trace "no head" "trace:1: should be: # sluice-trace 1" '0 0 1 1\n'
	wrong_trace "no flows" "trace: no flows" "$head"
	wrong_trace "too few words" "trace:3: should be: START_NS SRC DST BYTES" "$head# x\n0 0 1\n"
	wrong_trace "too many" "trace:2: should be: START_NS" "$head""0 0 1 1 0 a b\n"
	wrong_trace "no number" "trace:2: BYTES is not a number: 1k" "$head""0 0 1 1k\n"
	wrong_trace "a negative one" "trace:2: START_NS is not a number: -1" "$head""-1 0 1 1\n"
	wrong_trace "no bytes" "trace:2: BYTES must be from 1 to 281474976710656: 0" "$head""0 0 1 0\n"
	wrong_trace "too large a number" "trace:2: BYTES must be from 1" "$head""0 0 1 99999999999999999999\n"
	wrong_trace "no endpoint" "trace:2: DST is not an endpoint: 3" "$head""0 0 3 1\n"
	wrong_trace "one endpoint" "trace:2: SRC and DST are the same" "$head""0 1 1 1\n"
	wrong_trace "not in order" "trace:3: START_NS is before" "$head""5 0 1 1\n4 0 1 1\n"
	wrong_trace "class" "trace:2: CLASS must be from 0 to 7: 8" "$head""0 0 1 1 8\n"
	wrong_trace "label" "trace:2: LABEL must be 1 to 15 of a-z" "$head""0 0 1 1 0 Incast\n"
	wrong_trace "a long label" "trace:2: LABEL must be" "$head""0 0 1 1 0 abcdefghijklmnop\n"
	printf "$head""0 0 1 1\n" >"$work/trace"
	wrong_ends "no endpoints" "ends: no endpoints" '# none\n'
	wrong_ends "words" "ends:1: should be: NUMBER NETNS ADDRESS" '0 x\n'
	wrong_ends "twice" "ends:2: endpoint 0 is in line 1, too" \
		"0 $NS-c0 10.1.0.1\n0 $NS-c0 10.1.0.1\n"
	wrong_ends "namespace" "ends:1: no network namespace nowhere" '0 nowhere 10.1.0.1\n'
	wrong_ends "address" "ends:1: not an address: 10.1.0" "0 $NS-c0 10.1.0\n"
	wrong_ends "elsewhere's address" "ends:1: not an address of this namespace" \
		"0 $NS-c0 10.1.0.2\n1 $NS-c1 10.1.0.2\n"
	wrong_ends "the same address twice" "ends:2: address and port are in use" \
		"0 $NS-c0 10.1.0.1\n1 $NS-c0 10.1.0.1\n"
	wrong "payload" "payload must be from 1 to 16384 bytes" --payload 0
	wrong "window" "window must hold the packets of one acknowledgement" --window 1999 --ack 2
	wrong "ack" "ack must be from 1" --ack 0
	wrong "rto" "rto must be from 1 us" --rto 999ns
	wrong "local" "local must be from 1 to 65535" --local 65536
	wrong "port" "port must be from 1 to 49151" --port 49152
	wrong "ack-class" "ack_class must be from 0 to 7" --ack-class 8
	wrong "limit" "limit must be at most 2^60" --limit 1152921504606846977
	wrong "transport" "transport must be gbn or tcp: rdma" --transport rdma
	wrong "cc" "the kernel has no such congestion control" --transport tcp --cc none
	wrong "cc of gbn without a rate" "--cc of --transport gbn needs --rate" --cc dcqcn
	wrong "cc of gbn" "cc of gbn must be dcqcn or hpcc" --cc cubic --rate 1gbit
	sed 's/^1 .*/& 1000000/' "$work/ends" >"$work/ends.rate"
	wrong "an endpoint's rate without cc" "only congestion control of gbn has that" --endpoints "$work/ends.rate"
	wrong "a rate without cc" "only congestion control of gbn has that" --rate 1gbit
	wrong "options of dcqcn without it" "only congestion control of gbn has that" --dcqcn-bytes 1mb
	wrong "rate" "rate must be from 1 Mbit/s to 1 Tbit/s" --cc dcqcn --rate 999999
	wrong "dcqcn-timer" "dcqcn_timer must be from 1 us" --cc dcqcn --rate 1gbit --dcqcn-timer 999ns
	wrong "dcqcn-alpha" "dcqcn_alpha must be from 1 us" --cc dcqcn --rate 1gbit --dcqcn-alpha 999ns
	wrong "dcqcn-bytes" "dcqcn_bytes must be from 65536" --cc dcqcn --rate 1gbit --dcqcn-bytes 65535
	wrong "dcqcn-add" "dcqcn_add must be from 8 bit/s" --cc dcqcn --rate 1gbit --dcqcn-add 7
	wrong "dcqcn-hyper" "dcqcn_hyper must be from 8 bit/s" --cc dcqcn --rate 1gbit --dcqcn-hyper 1001gbit
	wrong "hpcc without a rate" "--cc of --transport gbn needs --rate" --cc hpcc
	for option in rtt=13us eta=95 stages=5 add=80; do
		wrong "hpcc-${option%=*} without cc" "only congestion control of gbn has that" "--hpcc-$option"
		wrong "hpcc-${option%=*} with tcp" "only congestion control of gbn has that" --transport tcp "--hpcc-$option"
		wrong "hpcc-${option%=*} with dcqcn" "hpcc_${option%=*} goes with cc hpcc" --cc dcqcn --rate 1gbit "--hpcc-$option"
	done
	for option in cnp=50us alpha=55us timer=55us bytes=10mb add=1mbit hyper=10mbit; do
		wrong "dcqcn-${option%=*} with hpcc" "dcqcn_${option%=*} goes with cc dcqcn" --cc hpcc --rate 1gbit "--dcqcn-$option"
	done
	while read -r option value words; do
		wrong "hpcc-$option $value" "$words" --cc hpcc --rate 1gbit "--hpcc-$option" "$value"
	done <<-END
		rtt 999ns hpcc_rtt must be from 1 us to 1 s
		rtt 1000000001 hpcc_rtt must be from 1 us to 1 s
		rtt 13m hpcc-rtt is not understood: 13m
		eta 0 hpcc_eta must be from 1 to 10000
		eta 0.00 hpcc_eta must be from 1 to 10000
		eta 100.01 hpcc_eta must be from 1 to 10000
		eta 42949672.95 hpcc-eta is too large: 42949672.95
		eta 99999999999999999999 hpcc-eta is too large
		eta 95.125 hpcc-eta is not understood: 95.125
		eta 95. hpcc-eta is not understood: 95.
		eta .95 hpcc-eta is not understood: .95
		eta -1 hpcc-eta is not understood: -1
		eta 95%% hpcc-eta is not understood: 95%%
		stages 1001 hpcc_stages must be at most 1000
		stages 4294967296 hpcc-stages is too large
		add 0 hpcc_add must be from 1 to 2^48 bytes
		add 281474976710657 hpcc_add must be from 1 to 2^48 bytes
	END
	wrong "watch alone" "--watch, --interval and --watch-out go together" --watch "$work/ends"
	echo "p $NS-c0 eth7" >"$work/ports"
	wrong "no device" "ports:1: no such device in this namespace" --watch "$work/ports" \
		--interval 1us --watch-out "$work/samples"
	wrong "interval" "interval must be from 10 ns" --watch "$work/ports" --interval 9ns \
		--watch-out "$work/samples"
	rate 100gbit
	run --payload 1457 <<<$'0 0 1 10000\n0 0 1 1456'
	is "packets that exceed the MTU are given up" "$? $(counts completed given_up too_big)" \
		"3 1 1 1"
	check "those that do not pass" run --payload 1456 <<<"0 0 1 10000"
	while read -r -a options; do
		check "hpcc takes ${options[*]}" run --cc hpcc --rate 100gbit "${options[@]}" <<<"0 0 1 1000"
	done <<-END
		--hpcc-rtt 1us --hpcc-eta 0.01 --hpcc-stages 0 --hpcc-add 1
		--hpcc-rtt 1s --hpcc-eta 100% --hpcc-stages 1000 --hpcc-add 281474976710656
		--hpcc-rtt 13us --hpcc-eta 94.5% --hpcc-stages 5 --hpcc-add 1kb
		--hpcc-eta 100.00
	END
	refused "without CAP_NET_ADMIN" "Operation not permitted" setpriv --bounding-set -net_admin \
		--inh-caps -net_admin "$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" \
		--out "$work/none"
}

chain c 1 4 100gbit
cat >"$work/ends" <<-END
	# the chain
	0 $NS-c0 10.1.0.1
	1 $NS-c1 10.1.0.2
	2 $NS-c2 10.1.1.2
	4 $NS-c4 10.1.3.2
END

# All, or those named
for name in "${@:-exact window ip6 loss timeout unsent class tcp ports share paths many strangers forged abort gone refused}"; do
	for part in $name; do
		"test_$part"
	done
done
finish
