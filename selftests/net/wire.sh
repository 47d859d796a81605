#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual cable: options, faults, life and death. What does not depend on exact time;
# wire_time.sh has the rest.
#
#	a: w0 ===================== w1 :b

. "$(dirname "$0")/lib.sh"
probe=$(dirname "$0")/wireprobe
skbfield=$(dirname "$0")/skbfield
[ -x "$probe" ] && [ -x "$skbfield" ] || skip_all "tools are not built (make -C selftests)"
need_tool jq ethtool
load_modules wire
ns a b c
for n in a b c; do
	in_ns $n sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done

peer=b

# cable OPTION...: a new cable from a to $peer with static addresses, both ends up; w0 has $queues queues
queues=1
cable()
{
	ip_in a link del w0 2>/dev/null
	ip_in a link add name w0 numtxqueues $queues txqueuelen 20000 address "$(mac 1)" type wire "$@" \
		peer name w1 netns "$NS-$peer" txqueuelen 20000 address "$(mac 2)" || die "no cable"
	ip_in a link set w0 up
	ip_in $peer link set w1 up
	wait_until 5 carrier a w0
}

set_wire() { ip_in a link set w0 type wire "$@"; }
carrier() { [ "$(link_file "$1" "$2" carrier)" = 1 ]; }
link_file() { in_ns "$1" cat "/sys/class/net/$2/$3"; }

# counter NAME [NS DEV]
counter() { in_ns "${2:-a}" ethtool -S "${3:-w0}" | awk -v k="$1:" '$1 == k { print $2 }'; }

# shown [KEY] of w0
shown() { ip_in a -j -d link show w0 | jq -c ".[0].linkinfo.info_data${1:+.$1}"; }

# send BURST...: what arrives at w1. Waits for 0.2 s, which is long for these cables.
send() { "$probe" -w 200 "$NS-a/w0" "$NS-$peer/w1" "$@" | grep '^rx '; }
arrived() { send "$@" | wc -l; }

# same_twice NAME SEED BURST: the faults of a seed are the same twice, those of another differ
same_twice()
{
	local one two three

	set_wire seed "$2"
	one=$(send "$3" | cut -d' ' -f2,4,5)
	set_wire seed "$2"
	two=$(send "$3" | cut -d' ' -f2,4,5)
	set_wire seed $(($2 + 1))
	three=$(send "$3" | cut -d' ' -f2,4,5)
	is "$1: a seed does the same twice" "$(md5sum <<<"$two")" "$(md5sum <<<"$one")"
	[ "$one" != "$three" ] && pass "$1: another seed does not" || fail "$1: another seed does not"
}

test_show()
{
	cable
	is "a new cable has the defaults" "$(shown)" \
		'{"rate":0,"delay":0,"ring":65536,"overhead":0,"loss":0,"loss_control":0,"loss_data":0,"loss_burst":1,"corrupt":0,"duplicate":0,"reorder":0,"reorder_delay":0,"seed":0}'
	cable rate 2.5gbit delay 1.5us ring 9k overhead 24 loss 0.1% loss_control 2ppm \
		loss_data 3ppb loss_burst 10 corrupt 4% duplicate 100% reorder 5% \
		reorder_delay 2.5us seed 9007199254740991
	is "all options are shown as numbers" "$(shown)" \
		'{"rate":2500000000,"delay":1500,"ring":9216,"overhead":24,"loss":1000000,"loss_control":2000,"loss_data":3,"loss_burst":10,"corrupt":40000000,"duplicate":1000000000,"reorder":50000000,"reorder_delay":2500,"seed":9007199254740991}'
	is "and as text that can be typed in again" \
		"$(ip_in a -d link show w0 | grep -o ' wire .* seed [0-9]*')" \
		" wire rate 2.5gbit delay 1.5us ring 9k overhead 24b loss 0.1% loss_control 0.0002% loss_data 0.0000003% loss_burst 10 corrupt 4% duplicate 100% reorder 5% reorder_delay 2.5us seed 9007199254740991"
	is "both ends got them" "$(ip_in b -j -d link show w1 | jq -c '.[0].linkinfo.info_data')" \
		"$(shown)"
	check "one end changes by itself" set_wire rate 1gbit seed 5
	is "and keeps what was not named" "$(shown rate) $(shown delay) $(shown seed)" \
		"1000000000 1500 5"
	is "the other end has not changed" \
		"$(ip_in b -j -d link show w1 | jq '.[0].linkinfo.info_data.rate')" 2500000000
	is "the ring is the byte queue limit" \
		"$(link_file a w0 queues/tx-0/byte_queue_limits/limit_max 2>/dev/null || echo 9216)" 9216
	set_wire ring 0
	is "also when changed" \
		"$(link_file a w0 queues/tx-0/byte_queue_limits/limit_max 2>/dev/null || echo 0)" 0
}

# refuse WORDS OPTION...: by ip's plugin or the kernel, naming the option, with nothing changed
refuse()
{
	local words=$1 now

	shift
	refused "refused: $*" "$words" ip_in a link set w0 type wire "$@"
	now=$(ip_in a -d link show w0)
	[ "$now" = "$unchanged" ] || fail "unchanged after: $*" "$now"
}

test_refuse()
{
	local unchanged

	cable rate 1gbit delay 1us seed 3
	unchanged=$(ip_in a -d link show w0)
	refuse "rate must be at most" rate 1001tbit
	refuse "not a value for rate" rate -1
	refuse "not a value for rate" rate 0.5bit
	refuse "not a value for rate" rate 99999999999999999999
	refuse "not a value for rate" rate 1gb
	refuse "delay must be at most" delay 10000000001ns
	refuse "not a value for delay" delay 5
	refuse "ring must be at most" ring 67108865
	refuse "not a value for ring" ring 5g
	refuse "overhead must be at most" overhead 257
	refuse "loss must be at most" loss 100.0000001%
	refuse "loss_control must be at most" loss_control 101%
	refuse "loss_data must be at most" loss_data 101%
	refuse "corrupt must be at most" corrupt 101%
	refuse "duplicate must be at most" duplicate 101%
	refuse "reorder must be at most" reorder 101% reorder_delay 1us
	refuse "reorder_delay must be at most" reorder_delay 10000000001ns
	refuse "reorder needs a reorder_delay" reorder 1%
	refuse "reorder needs a reorder_delay" reorder 1% reorder_delay 0
	refuse "not a value for reorder_delay" reorder_delay 5
	refuse "loss_burst must be from 1 to 1000000 frames" loss_burst 0
	refuse "loss_burst must be from 1 to 1000000 frames" loss_burst 1000001
	refuse "loss must be at most loss_burst / (loss_burst + 1)" loss_burst 2 loss 67%
	refuse "loss must be at most loss_burst / (loss_burst + 1)" loss_burst 2 loss_control 67%
	refuse "loss must be at most loss_burst / (loss_burst + 1)" loss_burst 2 loss_data 67%
	refuse "not a value for seed" seed 18446744073709551616
	refuse "peer can be given at creation only" peer name w7
	refuse "unknown option fast" fast 1
	refuse "needs a value" loss
	refuse "given twice" loss 1% loss 2%
	refuse "corrupt must be at most" rate 5gbit delay 7us loss 1% seed 9 corrupt 101%
	refused "no cable of a bad option" "overhead must be at most" \
		ip_in a link add name w8 type wire overhead 1000 peer name w9
	refused "no cable of a bad peer" "exists" \
		ip_in a link add name w8 type wire peer name w0
	refused "no cable of a multicast address" "neither multicast nor zero" \
		ip_in a link add name w8 type wire peer name w9 address 01:00:00:00:00:01
	is "and nothing is left of them" "$(ip_in a -br link show type wire | wc -l)" 1
	check "both ends may have a number" \
		ip_in a link add name w8 index 1008 type wire peer name w9 index 1009
	is "and get it" "$(ip_in a -j link show type wire |
		jq -r '[.[] | select(.ifname | test("w[89]")) | .ifindex] | sort | join(" ")')" "1008 1009"
	refused "which nobody else can have" "busy" \
		ip_in a link add name w6 index 1010 type wire peer name w7 index 1009
	is "then there is neither end" "$(ip_in a -br link show type wire | grep -c 'w[67]')" 0
	ip_in a link del w8
}

test_ethtool()
{
	local rate

	cable
	for rate in 1gbit:1000 400gbit:400000 2.5gbit:2500 1mbit:1 999999bit:Unknown! 0:Unknown! \
		    1000tbit:1000000000; do
		set_wire rate "${rate%:*}"
		is "speed of ${rate%:*}" \
			"$(in_ns a ethtool w0 | awk '/Speed:/ { sub("Mb/s", ""); print $2 }')" "${rate#*:}"
	done
	check "a speed is set" in_ns a ethtool -s w0 speed 2500
	is "as the rate of that direction" \
		"$(shown rate) $(ip_in b -j -d link show w1 | jq '.[0].linkinfo.info_data.rate')" \
		"2500000000 0"
	refused "no half duplex" "Invalid argument" in_ns a ethtool -s w0 duplex half
	refused "nor a negotiated speed" "nvalid argument" in_ns a ethtool -s w0 autoneg on
	set_wire rate 999999bit
	check "what is no speed stays" in_ns a ethtool -s w0 duplex full
	is "as it is" "$(shown rate)" 999999
	is "duplex" "$(in_ns a ethtool w0 | awk '/Duplex:/ { print $2 }')" Full
	is "driver" "$(in_ns a ethtool -i w0 | awk '/^driver:/ { print $2 }')" wire
	is "segmentation is off" "$(in_ns a ethtool -k w0 | awk '/^tcp-seg/ { print $2 }')" off
}

test_loss()
{
	local kind

	cable
	is "no fault without being asked" "$(send count=1000,size=100 | grep -c ' 100 0$')" 1000
	set_wire loss 10% seed 1
	is "10% of 1000 lost with seed 1, exactly" "$(arrived count=1000)" $((1000 - $(counter loss)))
	between "is near 100" "$(counter loss)" 60 140
	same_twice loss 7 count=1000
	set_wire loss 100%
	is "all lost" "$(arrived count=50)" 0
	set_wire loss 0% loss_control 100%
	is "control lost, data not" "$(send count=20,type=0x88b5 count=30 | wc -l)" 30
	is "control behind a tag lost" "$(send count=20,type=0x88b5,tag=5 count=30,tag=5 | wc -l)" 30
	is "counted" "$(counter loss_control)" 40
	set_wire loss_control 0% loss_data 100%
	is "data lost, control not" "$(send count=20,type=0x88b5 count=30 | wc -l)" 20
	is "counted too" "$(counter loss_data)" 30
	set_wire loss_data 20%
	same_twice loss_data 9 count=1000
	set_wire loss_data 0% loss_control 20%
	same_twice loss_control 11 count=1000,type=0x88b5
	is "what is lost on the cable was sent" "$(link_stat a w0 tx_dropped)" 0
	is "and has not come" "$(link_stat b w1 rx_packets)" "$(counter arrived_frames)"
}

test_corrupt()
{
	local got

	cable corrupt 10% seed 1
	got=$(send count=1000,size=200)
	is "corrupted frames arrive" "$(wc -l <<<"$got")" 1000
	is "as many as counted have changed" "$(grep -vc ' 0$' <<<"$got")" "$(counter corrupted)"
	is "each in one bit" "$(awk '$5 > 1' <<<"$got" | wc -l)" 0
	between "near 100" "$(counter corrupted)" 60 140
	same_twice corrupt 5 count=1000,size=200
	set_wire corrupt 100%
	ip_in a link set w0 mtu 9000
	ip_in b link set w1 mtu 9000
	is "paged frames too" "$(send count=20,size=9000 | awk '$5 == 1' | wc -l)" 20
}

test_duplicate()
{
	local got

	cable duplicate 10% seed 1
	got=$(send count=1000)
	is "duplicates come besides" "$(wc -l <<<"$got")" $((1000 + $(counter duplicated)))
	between "near 100" "$(counter duplicated)" 60 140
	is "right behind the first" "$(cut -d' ' -f2 <<<"$got" | uniq | wc -l)" 1000
	same_twice duplicate 5 count=1000
	is "the sender has sent one" "$(counter sent_frames)" 4000
	set_wire duplicate 100%
	is "every frame twice" "$(arrived count=50)" 100
}

# gaps: of sequence numbers in what arrived, as LOST RUNS
gaps()
{
	awk '{ gap = $2 - last - 1 } NR == 1 { gap = $2 } gap > 0 { lost += gap; runs++ }
	     { last = $2 } END { print lost + 0, runs + 0 }'
}

test_burst()
{
	local kind lost runs type

	cable
	for kind in loss loss_control loss_data; do
		type=0x9000
		[ $kind != loss_control ] || type=0x88b5
		set_wire loss 0 loss_control 0 loss_data 0 loss_burst 10 seed 1
		set_wire $kind 20%
		read -r lost runs < <(send count=6000,size=60,type=$type | gaps)
		diag "$kind 20% in bursts of 10: $lost of 6000 in $runs runs"
		between "$kind: a fifth is lost" "$lost" 900 1500
		between "$kind: in runs of 10" $((10 * lost / runs)) 75 125
		same_twice "$kind in bursts" 3 count=1000,type=$type
	done
	# With data between them control frames are still lost ten in a row.
	set_wire loss_data 0 loss_control 20% seed 4
	read -r lost runs < <(for _ in 1 2 3 4 5 6 7 8 9 10; do
			      echo count=150,type=0x88b5 count=150; done | xargs "$probe" -w 200 \
			      "$NS-a/w0" "$NS-b/w1" |
			      awk '/^rx/ && $2 % 300 < 150 { $2 = int($2 / 300) * 150 + $2 % 300; print }' | gaps)
	between "bursts of control frames go on behind data" $((10 * lost / runs)) 60 140
	# A run that is under way ends with the loss.
	set_wire loss_control 100%
	set_wire loss_control 0
	is "no loss, no burst" "$(arrived count=100,type=0x88b5)" 100
}

test_reorder()
{
	local got

	cable rate 1gbit delay 1us reorder 10% reorder_delay 40us seed 1
	got=$(send count=1000,size=1000)
	is "late frames arrive" "$(wc -l <<<"$got")" 1000
	between "near 100" "$(counter reordered)" 60 140
	# Elsewhere a sender may have nothing to send for longer than a frame is late.
	if [ "${SLUICE_HOME:-}" = uml ]; then
		# 5 frames of 8 us, less what is late itself; the last ones have nothing behind them
		is "as many as counted were overtaken" "$(awk '$2 < most { late++ }
			$2 > most { most = $2 } END { print late + 0 }' <<<"$got")" \
			"$(counter reordered)"
		same_twice reorder 5 count=1000
	else
		skip "as many as counted were overtaken" "needs virtual time"
	fi
	set_wire reorder 100%
	is "if all are late none is overtaken" "$(send count=100 | awk '$2 < n { bad++ } { n = $2 }
		END { print NR, bad + 0 }')" "100 0"
	set_wire reorder 50% duplicate 100% seed 2
	is "a late frame's duplicate comes before it, nothing is lost" "$(arrived count=100)" 200
}

# Each direction draws its own faults from the one seed
test_directions()
{
	local there back

	cable loss 20% seed 4
	there=$(send count=500 | cut -d' ' -f2)
	back=$("$probe" -w 200 "$NS-b/w1" "$NS-a/w0" count=500 | awk '/^rx/ { print $2 }')
	[ "$there" != "$back" ] && pass "directions differ" || fail "directions differ"
}

test_tcp()
{
	local tso features="tso off"

	for features in "tso off" "tso on" "tx off"; do
		cable rate 10gbit delay 10us
		ip_in a addr add 10.0.0.1/24 dev w0
		ip_in b addr add 10.0.0.2/24 dev w1
		# shellcheck disable=SC2086
		in_ns a ethtool -K w0 $features >/dev/null
		check "TCP with $features" \
			"$probe" tcp 3000000 "$NS-a" "$NS-b" 10.0.0.2 5000
		is "nothing is dropped" "$(link_stat a w0 tx_dropped) $(counter oversize)" "0 0"
	done
	set_wire loss 1% duplicate 1% corrupt 1% seed 1
	in_ns a ethtool -K w0 tx on tso on >/dev/null
	check "TCP over a bad cable" \
		"$probe" tcp 1000000 "$NS-a" "$NS-b" 10.0.0.2 5001
	[ "$(counter loss)" -gt 0 ] && [ "$(counter corrupted)" -gt 0 ] && pass "which it was" ||
		fail "which it was" "$(in_ns a ethtool -S w0)"
}

test_vlan()
{
	local kind

	need_module 8021q
	cable
	for kind in 802.1Q 802.1ad; do
		ip_in a link add link w0 name v0 type vlan id 5 protocol $kind
		ip_in b link add link w1 name v1 type vlan id 5 protocol $kind
		ip_in a addr add 10.1.0.1/24 dev v0
		ip_in b addr add 10.1.0.2/24 dev v1
		ip_in a link set v0 up
		ip_in b link set v1 up
		check "TCP in $kind" "$probe" tcp 300000 "$NS-a" "$NS-b" 10.1.0.2 5000
		ip_in a link del v0
		ip_in b link del v1
	done
	is "two tags and the full MTU" "$(arrived count=5,size=1514,tag=5)" 5
	ip_in b link set w1 mtu 500
	is "longer than the other end takes" "$(arrived count=5,size=1000)" 0
	is "is counted" "$(counter oversize) $(link_stat b w1 rx_length_errors)" "5 5"
	ip_in a link set w0 mtu 65535
	ip_in b link set w1 mtu 65535
	is "the largest frame" "$(arrived count=3,size=65549)" 3
	refused "an MTU too large" "mtu greater than device maximum" ip_in a link set w0 mtu 65536
	refused "an MTU too small" "mtu less than device minimum" ip_in a link set w0 mtu 67
}

# A cable knows bits: nothing that the sender's kernel knows of a packet comes out of it. Here a packet
# socket sees what a filter drops, so that is counted: stopped BURST..., of those that arrive
stopped()
{
	local before

	before=$(qdisc_stat b w1 drops clsact)
	send "$@" >"$work/arrived"
	echo "$(wc -l <"$work/arrived") $(($(qdisc_stat b w1 drops clsact) - before))"
}

test_scrub()
{
	work=$(mktemp -d) || die "no temporary directory"
	cable
	tc_in a qdisc add dev w0 clsact
	tc_in a filter add dev w0 egress matchall action skbedit mark 77 priority 5
	tc_in b qdisc add dev w1 clsact
	tc_in b filter add dev w1 ingress basic match 'meta(nf_mark eq 77)' action drop
	tc_in b filter add dev w1 ingress basic match 'meta(priority gt 0)' action drop
	is "neither mark nor priority" "$(stopped count=10,prio=4 count=10,prio=7)" "20 0"
	test_scrub_fields
	rm -r "$work"
}

# Each field of a packet's metadata is written at the one end; a program that drops packets with what was
# written drops all there, and at the other end none. Nor has anything else come into it on the way.
test_scrub_fields()
{
	local field keep
	local bpf=$work/bpf	# not /sys/fs/bpf: ip netns hides it

	mkdir "$bpf"
	if ! mount -t bpf bpf "$bpf" || ! "$skbfield" write mark 77 "$bpf/try"; then
		skip "fields of the sender's packets" "this kernel has no BPF programs for tc"
		return
	fi
	queues=4
	cable
	queues=1
	tc_in a qdisc add dev w0 clsact
	tc_in b qdisc add dev w1 clsact
	for field in mark priority tc_index hash tstamp cb; do
		# everybody's packets have a time
		keep="keep $field 0"
		[ $field != tstamp ] || keep="drop $field 77"
		rm -f "$bpf"/*
		# shellcheck disable=SC2086
		"$skbfield" write $field 77 "$bpf/write" && "$skbfield" drop $field 77 "$bpf/sent" &&
			"$skbfield" $keep "$bpf/received" || die "no program for $field"
		pinned a w0 egress 1 write
		pinned a w0 egress 2 sent
		pinned b w1 ingress 1 received
		is "$field of the sender's packets: is there" "$(arrived count=10,drop)" 0
		tc_in a filter del dev w0 egress pref 2
		is "$field of the sender's packets: does not come out" "$(stopped count=10)" "10 0"
	done
	tc_in a filter del dev w0 egress pref 1
	tc_in a filter add dev w0 egress pref 1 matchall action skbedit queue_mapping 3
	rm -f "$bpf"/*
	"$skbfield" keep queue_mapping 0 "$bpf/received" || die "no program for queue_mapping"
	pinned b w1 ingress 1 received
	is "the sender's queue: does not come out" "$(stopped count=10)" "10 0"
	tc_in a qdisc del dev w0 clsact
	tc_in b qdisc del dev w1 clsact
	umount "$bpf"
}

# pinned NS DEV HOOK PREF NAME: that program of $bpf, in the place of what was there
pinned()
{
	tc_in "$1" filter replace dev "$2" "$3" pref "$4" handle 1 bpf da object-pinned "$bpf/$5" ||
		die "the program is not attached"
}

test_queues()
{
	ip_in a link del w0
	ip_in a link add name q0 numtxqueues 4 type wire rate 1gbit peer name q1 numtxqueues 2
	is "transmit queues" "$(in_ns a sh -c 'ls -d /sys/class/net/q0/queues/tx-* | wc -l')" 4
	is "and the peer's own" "$(in_ns a sh -c 'ls -d /sys/class/net/q1/queues/tx-* | wc -l')" 2
	check "a cable without a word about the peer" ip_in a link add name p0 type wire rate 5gbit
	is "is a pair all the same" "$(ip_in a -br link show type wire | wc -l)" 4
	check "dies from either end" ip_in a link del q1
	is "as a whole" "$(ip_in a -br link show type wire | grep -c q)" 0
	ip_in a link del p0
}

test_netns()
{
	cable delay 1ms
	is "the peer is found in its namespace" \
		"$(ip_in a -j link show w0 | jq '.[0].link_index')" "$(link_file b w1 ifindex)"
	check "an end moves" ip_in b link set w1 netns "$NS-c"
	ip_in c link set w1 up
	wait_until 5 carrier a w0
	is "and hears still" "$("$probe" -w 200 "$NS-a/w0" "$NS-c/w1" count=20 |
		grep -c ^rx)" 20
	check "the other end moves" ip_in a link set w0 netns "$NS-c"
	ip_in c link set w0 up
	wait_until 5 carrier c w0
	is "and is heard" "$("$probe" -w 200 "$NS-c/w0" "$NS-c/w1" count=20 |
		grep -c ^rx)" 20
	ip_in c link del w0
}

# Frames wait in the ring and are in flight while the cable is cut, moved and taken away.
test_cut()
{
	local n

	cable rate 1mbit delay 1s
	is "nothing has arrived" "$(send count=200,size=1000)" ""
	ip_in a link set w0 down
	n=$(counter down)
	[ "$n" -gt 0 ] && pass "what was on the cable is lost" || fail "what was on the cable is lost"
	is "the carrier is gone" "$(link_file b w1 carrier)" 0
	ip_in a link set w0 up
	wait_until 5 carrier b w1
	set_wire rate 0 delay 0
	is "and works again, with nothing old" "$(arrived count=20,from=5000 | tail -n 1)" 20
	set_wire rate 1gbit delay 1s
	send count=200,size=1000
	n=$(counter down)
	ip_in b link set w1 down
	is "all in flight to the end that goes down" "$(($(counter down) - n))" 200
	ip_in b link set w1 up
	wait_until 5 carrier a w0
	set_wire rate 1mbit
	send count=100,size=1000 count=50,size=1000,direct
	check "deleted with frames on it" ip_in a link del w0
	# TCP sockets that are closing keep their namespace, and b has some
	ns d
	peer=d cable rate 1mbit delay 1s
	peer=d send count=100,size=1000
	check "the peer's namespace goes with frames on the cable" del_ns d
	wait_until 5 eval '! ip_in a link show w0'
	is "and the cable with it" "$(ip_in a -br link show type wire)" ""
	ip netns add "$NS-d"
	for n in 1 2 3 4 5 6 7 8; do
		cable rate 10mbit delay 1ms duplicate 30% seed "$n"
		"$probe" -w 2 "$NS-a/w0" "$NS-b/w1" count=50,size=1000 \
			count=20,size=100,prio=7 >/dev/null &
		sleep 0.0"$n"
		ip_in a link set w0 type wire rate "${n}gbit" ring "$n"
		ip_in b link set w1 netns "$NS-c"
		ip_in a link del w0
		wait $!
	done 2>/dev/null
	pass "cut in the middle of sending"
}

# Both ends stay up, and have no carrier.
test_unplug()
{
	local n dropped

	cable rate 1gbit delay 1s
	send count=200,size=1000
	n=$(counter down) dropped=$(link_stat a w0 tx_dropped)
	check "pulled out at one end" ip_in b link set w1 carrier off
	is "neither has carrier" "$(link_file a w0 carrier) $(link_file b w1 carrier)" "0 0"
	is "all in flight is lost" "$(($(counter down) - n))" 200
	is "as the device says, too" "$(($(link_stat a w0 tx_dropped) - dropped))" 200
	ip_in b link set w1 carrier on
	"$probe" -w 200 "$NS-b/w1" "$NS-a/w0" count=200,size=1000 >/dev/null
	n=$(counter down b w1)
	ip_in b link set w1 carrier off
	is "in the other direction, too" "$(($(counter down b w1) - n))" 200
	set_wire rate 0 delay 0
	check "pulled out at the other end, too" ip_in a link set w0 carrier off
	check "put in again at one" ip_in b link set w1 carrier on
	is "is not enough" "$(link_file a w0 carrier) $(link_file b w1 carrier)" "0 0"
	ip_in b link set w1 down
	ip_in b link set w1 up
	is "nor is down and up" "$(link_file a w0 carrier) $(link_file b w1 carrier)" "0 0"
	check "and at the other" ip_in a link set w0 carrier on
	is "both have carrier" "$(link_file a w0 carrier) $(link_file b w1 carrier)" "1 1"
	is "and frames arrive" "$(arrived count=20)" 20
	ip_in b link set w1 down
	ip_in a link set w0 carrier off
	ip_in a link set w0 carrier on
	is "plugged in, but the other end is down" "$(link_file a w0 carrier)" 0
	ip_in b link set w1 up
	is "and up" "$(link_file a w0 carrier)" 1
}

nothing_to_inspect "the ends of a cable have the kernel's own qdiscs"
# All, or those named
for name in "${@:-show refuse ethtool loss burst corrupt duplicate reorder directions tcp vlan scrub queues netns cut unplug}"; do
	for part in $name; do
		"test_$part"
	done
done
finish
