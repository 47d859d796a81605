#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The qdisc pfc: who sends too much is paused, wherever his packets wait; watchdogs; and marks of ECN.
#
# By hand, to the frame:
#
#	u (hopframe) --- p0 [ sw: bridge ] p1, p2	wires on which a frame takes 10 s
#
# ECN, at queues whose length is fixed, against the law:
#
#	a p ------ q b		a wire on which nothing leaves
#
# Between two switches, against bfc with and without pauses:
#
#	h1, h2 --- s1 --- s2 --- r1, r2		h1, h3, h4 send to r1 all they can, h2 to r2
#	              h3, h4 ---'
#
# Nothing is lost where frames are lost without pauses; and h2, who sends to an idle port, stands
# behind h1, who does not: that is what is wrong with it, and why it is here.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/pfc_lib.sh
. "$(dirname "$0")/pfc_lib.sh"
need_tool ip tc bridge jq
need_program hopframe udpflow frames tcmsg
# set by need_program
: "${hopframe:?}" "${udpflow:?}" "${frames:?}" "${tcmsg:?}"
load_modules
need_module sch_pfc

work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT
ns sw u
sw=$NS-sw
u=$NS-u
no_ipv6() { in_ns "$1" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null; }
kind=pfc

# ---- options ----

ip_in sw link add o numtxqueues 2 type veth peer name oo || die "no veth"
ip_in sw link set o up
options() { tc_in sw -j qdisc show dev o | jq -c '.[] | select(.kind == "pfc").options'; }
to_o() { "$tcmsg" -n "$sw" send "$@"; }

refused "no option at all" "pool must be given" tc_in sw qdisc add dev o root pfc
refused "no pool" "pool must be given" tc_in sw qdisc add dev o root pfc limit 1m
refused "no message of options" "pool must be given" to_o add o TCA_KIND=str:pfc
refused "an empty one" "pool must be given" to_o add o TCA_KIND=str:pfc "TCA_OPTIONS{" "}"
is "o has what it had" "$(tc_in sw -j qdisc show dev o | jq -r '.[0].kind')" noqueue
# Its defaults, and what is given
check "a pool is enough" tc_in sw qdisc add dev o root handle 1: pfc pool 1m
want='{"limit":8388608,"pool":1048576,"pool_alpha":100,"pool_pause_alpha":12.5,"kmin":0,"kmax":0,"pmax":1,"telemetry":0,'
want+='"split_gso":true,"rate":0,"control_share":5,"control_dscp":0,"role":"auto","peer":"auto","tag":true,'
want+='"tpid":"0x88a8","hrtt":0,"hrtt_max":1000000,"refresh":0,"lease":0,"watch":true,"watchdog":0,"restore":0,'
want+='"tier":"none","strip":"auto"}'
is "its defaults" "$(options | jq -c 'del(.version)')" "$(jq -c . <<<"$want")"
while IFS='|' read -r words filter; do
	# shellcheck disable=SC2086
	check "change $words" tc_in sw qdisc change dev o root pfc $words
	want=$(jq -c "$filter" <<<"$want")
	is "$words: nothing else changes" "$(options | jq -c 'del(.version)')" "$want"
done <<'EOD'
limit 1g|.limit = 1073741824
pool 2m|.pool = 2097152
pool-alpha 1000%|.pool_alpha = 1000
pool-pause-alpha 0.01%|.pool_pause_alpha = 0.01
kmin 5k kmax 200k|.kmin = 5120 | .kmax = 204800
kmin none|.kmin = 0
kmax 1g pmax 100%|.kmax = 1073741824 | .pmax = 100
pmax 0.01%|.pmax = 0.01
telemetry 4790|.telemetry = 4790
telemetry none|.telemetry = 0
no-split-gso|.split_gso = false
rate 10gbit|.rate = 1250000000
control-share 100%|.control_share = 100
control-dscp 63|.control_dscp = 63
role host peer switch|.role = "host" | .peer = "switch"
notag|.tag = false
tpid 802.1q|.tpid = "0x8100"
hrtt 5us hrtt-max 10ms|.hrtt = 5000 | .hrtt_max = 10000000
refresh 1ms lease 2ms|.refresh = 1000000 | .lease = 2000000
nowatch|.watch = false
watchdog 1s restore 1ms|.watchdog = 1000000000 | .restore = 1000000
tier up|.tier = "up"
strip always|.strip = "always"
EOD
while read -r attribute rule; do
	# shellcheck disable=SC2086
	refused "$attribute" "${rule//_/ }" to_o change o TCA_KIND=str:pfc \
		"TCA_OPTIONS{" TCA_PFC_LIMIT=u32:5000 ${attribute//,/ } "}"
done <<'EOD'
TCA_PFC_LIMIT=u32:0 limit_must_be_1_byte_to_1_GiB
TCA_PFC_POOL=u32:0 pool_must_be_1_byte_to_1_GiB
TCA_PFC_POOL=u32:0x40000001 pool_must_be_1_byte_to_1_GiB
TCA_PFC_POOL_ALPHA=u32:100001 pool-alpha_must_be
TCA_PFC_POOL_PAUSE_ALPHA=u32:0 pool-pause-alpha_must_be
TCA_PFC_SPLIT_GSO=u8:2 split-gso_must_be
TCA_PFC_RATE=u64:124 rate_must_be
TCA_PFC_CONTROL_SHARE=u32:0 control-share_must_be
TCA_PFC_CONTROL_DSCP=u8:64 control-dscp_must_be
TCA_PFC_KMIN=u32:0x40000001 kmin_must_be
TCA_PFC_KMAX=u32:0x40000001 kmax_must_be
TCA_PFC_KMIN=u32:2,TCA_PFC_KMAX=u32:1 kmin_must_not_be_above_kmax
TCA_PFC_KMIN=u32:1,TCA_PFC_KMAX=u32:0 kmin_must_not_be_above_kmax
TCA_PFC_PMAX=u32:0 pmax_must_be_0.01_to_100_percent
TCA_PFC_PMAX=u32:10001 pmax_must_be_0.01_to_100_percent
TCA_PFC_ROLE=u8:3 role_must_be
TCA_PFC_TAG=u8:2 tag_must_be_on_or_off
TCA_PFC_TPID=u16:0x0800 tpid_must_be_0x88a8_or_0x8100
TCA_PFC_HRTT=u32:99 hrtt_must_be
TCA_PFC_REFRESH=u32:9999 refresh_must_be
TCA_PFC_REFRESH=u32:1000001 lease_must_be_at_least_2_refreshes
TCA_PFC_WATCHDOG=u32:1000000001 watchdog_must_be
TCA_PFC_TIER=u8:3 tier_must_be
TCA_PFC_STRIP=u8:2 strip_must_be
EOD
is "what is refused changes nothing" "$(options | jq -c 'del(.version)')" "$want"

diag "init that fails"
refused "a pool of another size" "the namespace's pool has another size, and other users" \
	tc_in sw qdisc replace dev oo root pfc pool 1m
tc_in sw qdisc del dev o root
check "it is gone with its last user" tc_in sw qdisc add dev oo root pfc pool 1m
tc_in sw qdisc del dev oo root
tcs sw "qdisc add dev o root handle 1: mq
qdisc add dev o parent 1:1 handle 11: bfc queues 4094"
refused "a port that has no number left" "4094" tc_in sw qdisc replace dev o parent 1:2 handle 12: pfc pool 3m
tc_in sw qdisc del dev o parent 1:1
check "has one when the other is gone" tc_in sw qdisc replace dev o parent 1:2 handle 12: pfc pool 4m
check "and one for a second" tc_in sw qdisc replace dev o parent 1:1 handle 11: pfc pool 4m
refused "lo" "not an Ethernet device" tc_in sw qdisc replace dev lo root pfc pool 4m
leave_ports
ip_in sw link del o
# The kernel's default, which has no options: the device does without
default=/proc/sys/net/core/default_qdisc
was=$(cat $default)
echo pfc >$default
ip_in sw link add o type wire peer name oo
ip_in sw link set o up
echo "$was" >$default
is "as default qdisc it stands aside" "$(tc_in sw -j qdisc show dev o | jq -r '.[0].kind')" noqueue
ip_in sw link del o

# ---- by hand ----

# What is counted, with the Ethernet header. Over 1/8 of what is free is too much: 10 frames are
# not, for (90 - 10) / 8 = 10, 11 are, for 79 / 8 < 11. Below by two frames of the MTU, 3028 bytes,
# are 7, for 7000 + 3028 <= 83000 / 8 = 10375, and not 8, for 11028 > 82000 / 8.
POOL=$((90 * FRAME))
fifo="pfc limit 1m pool $POOL pool-alpha 800% refresh 1s nowatch"
held="ingress_bytes pause_counters pausing_queues"

no_ipv6 sw
no_ipv6 u
# u_port [LINE]...: a port for u, with these lines for ip
u_port()
{
	ips sw "$(printf '%s\n' "$@" "link add p0 type veth peer name x address $(mac 1) netns $u" \
		"link set p0 master br0 up")"
	ip_in u link set x up
	tcs sw "qdisc add dev p0 root handle 1: $fifo"
	u_comes kinds=2 queues=64 flags=5
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
tcs sw "qdisc add dev p1 root handle 1: $fifo
qdisc add dev p2 root handle 1: $fifo"

# sends PORT N: frames of u's sub-queue 4 that leave by this port
sends() { ip netns exec "$u" "$hopframe" data x vid=5 dst="$(mac 2 "$1")" n="$2" pad=$((FRAME - 14)); }

change() { tcs sw "qdisc change dev p1 root pfc $*"; }
has "p0 knows u's sub-queues" sw p0 handles 64
sends 1 1
sends 2 1
# shellcheck disable=SC2086
{
has "a frame on the line of each port is not here any more" sw p0 $held "0 0 0"
sends 1 10
has "ten frames: as much as may be" sw p0 $held "10000 0 0"
shows "all of them count, and the one on the line has" sw p1 marked marks pool_used "10 11 10000"
sends 1 1
has "an eleventh: xoff" sw p0 $held "11000 1 1"
shows "once" sw p0 pauses_tx resumes_tx "1 0"
u_is "u was told so" 10
sends 1 3
has "more change nothing" sw p0 $held "14000 1 1"
shows "and are not told" sw p0 pauses_tx 1
change limit 8500
has "eight are left: not yet" sw p0 $held "8000 1 1"
change limit 7500
has "xon: two frames of the MTU below" sw p0 $held "7000 0 0"
shows "said once" sw p0 pauses_tx resumes_tx "1 1"
u_is "u was told so" 0
change limit 1m
sends 1 5
has "twelve again: xoff" sw p0 $held "12000 1 1"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "nothing is left when they have left by the line" sw p0 $held "0 0 0"
shows "nor marked" sw p1 marked qlen pool_used "0 0 0"
u_is "u is resumed" 0

# From here on nothing leaves by the lines: a bit takes a second, and HELLOs go first.
ips sw "link set p1 type wire rate 1bit
link set p2 type wire rate 1bit"
sends 1 2
sends 2 2
anew()
{
	tcs sw "qdisc del dev p1 root
qdisc add dev p1 root handle 1: $fifo"
	has "$1: nothing is held" sw p0 $held "0 0 0"
}

diag "of all ports together"
tcs sw "qdisc del dev p2 root
qdisc add dev p2 root handle 1: $fifo"
anew "two ports"
sends 1 6
sends 2 4
has "six and four" sw p0 $held "10000 0 0"
sends 2 1
has "one more at either: xoff" sw p0 $held "11000 1 1"
shows "by two ports" sw p1 marked pool_used "6 11000"
shows "that have a pool" sw p2 marked pool_used "5 11000"
tcs sw "qdisc del dev p1 root"
has "one of them goes: xon" sw p0 $held "5000 0 0"
ip_in sw link set p2 down
has "the other goes down: nothing is left" sw p0 $held "0 0 0"
u_is "u is resumed" 0
tcs sw "qdisc del dev p2 root
qdisc add dev p1 root handle 1: $fifo"

# (90 - 18) / 4 = 18, and 71 / 4 < 19
diag "no room in the pool"
anew "no room"
change pool-alpha 25%
sends 1 18
shows "a quarter of what is free" sw p1 qlen drop_pool drops pool_used "18 0 0 18000"
sends 1 3
shows "three more are dropped as they come, and counted" sw p1 qlen drop_pool drops pool_used "18 3 3 18000"

diag "ways to leave"
# leaves NAME HELD COMMAND...: twelve frames wait at p1, xoff; then it happens
leaves()
{
	anew "$1"
	sends 1 12
	has "$1: xoff" sw p0 $held "12000 1 1"
	"${@:3}" || fail "$1" "${*:3}"
	has "$1: what is held" sw p0 $held "$2"
}
leaves "replaced by its kind" "0 0 0" tc -n "$sw" qdisc replace dev p1 root handle 2: $fifo
u_is "replaced by its kind: u is resumed" 0
leaves "a lower limit" "6000 0 0" change limit 6000
leaves "it may be half of what is free" "12000 1 1" change pool-pause-alpha 50%
sends 1 1
has "half of what is free: as it was, until a packet leaves" sw p0 $held "13000 1 1"
change limit 12500
has "half of what is free: xon, for 12000 + 3028 <= 78000 / 2" sw p0 $held "12000 0 0"
leaves "reset" "0 0 0" sh -c "ip -n $sw link set p1 down; ip -n $sw link set p1 up"
u_is "reset: u is resumed" 0
sends 1 2	# on the line again

anew_p0()
{
	u_goes
	u_port "link del p0"
}
leaves "u's port is made anew" "0 0 0" anew_p0
has "made anew: it knows u's sub-queues" sw p0 handles 64
shows "made anew: the packets still count, for nobody" sw p1 qlen marked "12 12"
sends 1 1
has "made anew: what comes now counts for the new one" sw p0 $held "1000 0 0"

# A new epoch has other handles: who starts anew is not paused for what he sent before.
restart_u()
{
	u_goes
	u_comes kinds=2 queues=64 flags=5
	sleep 0.5
}
leaves "u restarts" "0 0 0" restart_u
has "u restarts: it is known again" sw p0 handles neighbour_up "64 2"
shows "u restarts: the packets still count, for nobody" sw p1 qlen marked "12 12"
# (90 - 12 - 8) / 8 = 8.75, (90 - 12 - 9) / 8 = 8.625
sends 1 8
has "u restarts: eight more are not too many" sw p0 $held "8000 0 0"
sends 1 1
has "u restarts: a ninth is" sw p0 $held "9000 1 1"
u_is "u restarts: it is told of the pause" 10
tcs sw "qdisc del dev p1 root"
u_is "u restarts: and of its end" 0
has "u restarts: nothing is held" sw p0 $held "0 0 0"

diag "a line on which nothing leaves for 10 s"
ips sw "link set p1 down
link set p1 type wire rate 800bit
link set p1 up"
tcs sw "qdisc add dev p1 root handle 1: $fifo"
sends 1 1
leaves "half of the watchdog's time" "0 0 0" change watch watchdog 200ms
shows "it has let go of them, and has them" sw p1 withdrawn marked qlen "12 0 12"
u_is "for want of a line nobody is paused" 0
sends 1 12
has "nor for what comes meanwhile" sw p1 qlen marked "24 0"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "they leave when it goes again" sw p1 qlen 0
sleep 0.5	# the watchdog has seen it
ip_in sw link set p1 type wire rate 800bit
sends 1 12
shows "and what comes then counts" sw p1 marks 24
has "until nothing has left for so long again" sw p1 withdrawn marked "23 0"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "the line goes" sw p1 qlen 0
tcs sw "qdisc del dev p1 root"
}
u_goes

# ---- one that is paused, and of another kind ----

diag "pauses that it obeys"
tcs sw "qdisc del dev p0 root
qdisc add dev p0 root handle 1: pfc pool $POOL pool-alpha 800% nowatch"
ips sw "link set y1 type wire rate 1gbit"
# class NAME: what tc says of a class of p0, but for blanks at the ends and times
class()
{
	tc_in sw -s class show dev p0 |
		awk -v name="1:$1" '$1 == "class" { own = $3 == name } own { $1 = $1; sub(/paused_time [^ ]*/, "T"); print }'
}
hand_pauses()
{
	epoch=$((epoch + 1))
	ip netns exec "$u" "$hopframe" peer x mine=$epoch role=switch queues=1 for=6000 "$@" >"$work/u" 2>&1 &
	hand=$!
}
bridge -n "$sw" fdb replace "$(mac 9)" dev p0 master static
N=3	# frames
hand_pauses kinds=2 at=300 state:seq=1,lease=2000000000,words=1 at=2000 state:seq=2,words=0
has "the FIFO is paused" sw p0 paused pauses_obeyed paused_queues "1 1 1"
printf '%s\n' "f dst=$(mac 9) n=$N bytes=$FRAME" | "$frames" -w 100 "$sw/y1" "$u/x" >"$work/came"
shows "what comes waits" sw p0 qlen backlog "$N $((N * FRAME))"
is "its class says so" "$(class 1)" "class pfc 1:1 root
Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
backlog $((N * FRAME))b ${N}p requeues 0
class: paused yes backlog_max $((N * FRAME))b pauses 1 T marks 0 ecn_marked 0"
is "the control class is there, too" "$(class fff)" "class pfc 1:fff root
(dropped 0, overlimits 0 requeues 0)
backlog 0b 0p requeues 0"
has "then it is resumed" sw p0 paused resumes_obeyed qlen "0 1 0"
port_figs pfc "$sw" p0 paused_time
between "after as long as that" "$REPLY" 1600000000 2000000000
is "its class says so, too" "$(class 1 | grep class:)" \
	"class: paused no backlog_max $((N * FRAME))b pauses 1 T marks 0 ecn_marked 0"
u_goes
grep -o 'kinds=[0-9a-f]*' "$work/u" | sort -u >"$work/kinds"
is "it says of which kind it is" "$(cat "$work/kinds")" kinds=2

diag "a pause that never ends"
tcs sw "qdisc change dev p0 root pfc watch watchdog 1s restore 1s"
hand_pauses kinds=2 at=300 state:seq=1,lease=2000000000,words=1 at=2500 state:seq=2,lease=2000000000,words=1 \
	at=3500 state:seq=3,words=0
has "the FIFO is paused again" sw p0 paused pauses_obeyed "1 2"
printf '%s\n' "f dst=$(mac 9) n=$N bytes=$FRAME" | "$frames" -w 100 "$sw/y1" "$u/x" >"$work/came"
shows "what comes waits" sw p0 qlen storms "$N 0"
has "for as long as the watchdog says" sw p0 qlen paused storms storm_ends "0 0 1 0"
has "another one is not obeyed" sw p0 storm_rx "1"
shows "it is not paused" sw p0 paused pauses_obeyed storm_ends "0 2 0"
has "until there is none for the time of restoration" sw p0 storms storm_ends "1 1"
u_goes

hand_pauses kinds=1 at=300 state:seq=1,lease=2000000000,words=1
state_is() { port_is sw p0 state "$1"; }
check "a bfc is of another kind" wait_until -e 100 5 state_is kind
sleep 1
shows "and not obeyed" sw p0 paused paused_queues "0 0"
u_goes
leave_spaces

# ---- ECN ----

diag "marks of ECN at queues of fixed length"
LAW="kmin $((20 * FRAME)) kmax $((40 * FRAME)) pmax 50%"
N=4000
two_boxes rate 1bit ring 0
a=$NS-a
b=$NS-b
kernel_ecn() { awk -v key="$1" '$1 == "IpExt:" && !n { for (i = 2; i <= NF; i++) if ($i == key) n = i; next }
	$1 == "IpExt:" { print $n }' <(in_ns b cat /proc/net/netstat); }
to_b="dst=$(mac 2) bytes=$FRAME"
ip4="from=10.0.0.1 to=10.0.0.2"
ip6="from=fd00::1 to=fd00::2"
# come N WORDS: frames come to a's qdisc
come() { printf '%s\n' "f $to_b n=$1 ${*:2}" | "$frames" -w 0 "$a/p" "$b/q" >/dev/null; }
# marks FRAMES N WORDS: sets REPLY to how many of N frames are marked, and how many cannot be, each of which
# finds so many frames in the queue
marks()
{
	local before

	tcs a "qdisc replace dev p root handle $((++handle)): pfc pool 100m limit $(($1 * FRAME)) $LAW"
	come $(($1 + 1))
	port_figs pfc "$a" p ecn_marked ecn_not_capable backlog
	before=${REPLY% *}
	is "$1 frames wait" "${REPLY##* }" $(($1 * FRAME))
	come "$2" "${@:3}"
	port_figs pfc "$a" p ecn_marked ecn_not_capable
	REPLY="$((${REPLY% *} - ${before% *})) $((${REPLY#* } - ${before#* }))"
}
handle=100
# Within 5 standard deviations of the mean: chance goes beyond once in two million.
# law FRAMES CHANCE: percent that the law says
law()
{
	local sigma mean=$((N * $2 / 100))

	marks "$1" $N $ip4 tos=2
	sigma=$(awk -v n=$N -v p="$2" 'BEGIN { printf "%d", 5 * sqrt(n * p * (100 - p)) / 100 + 0.999 }')
	between "$1 frames wait: $2 % are marked" "${REPLY% *}" $((mean - sigma)) $((mean + sigma))
	is "$1 frames wait: all could be" "${REPLY#* }" 0
}
law 19 0
law 20 0
law 24 10
law 30 25
law 36 40
law 40 50
law 41 100
marks 41 200 $ip4 tos=0
is "who knows no ECN is counted" "$REPLY" "0 200"
marks 41 200
is "what is no IP, too" "$REPLY" "0 200"
for tos in 1 2 3; do
	marks 41 100 $ip4 tos=$tos
	is "IPv4, ECN $tos" "$REPLY" "100 0"
	marks 41 100 $ip6 tos=$tos
	is "IPv6, ECN $tos" "$REPLY" "100 0"
done
marks 41 100 $ip4 tos=2 tag=5
is "behind a VLAN tag" "$REPLY" "100 0"
LAW="kmax none"
marks 100 200 $ip4 tos=2
is "kmax none marks nothing" "$REPLY" "0 0"
LAW="kmin $((41 * FRAME)) kmax $((41 * FRAME))"
marks 41 200 $ip4 tos=2
is "a step: up to it none" "$REPLY" "0 0"
marks 42 200 $ip4 tos=2
is "a step: beyond it all" "$REPLY" "200 0"

diag "the law changes while packets wait"
change_p() { tcs a "qdisc change dev p root pfc $*"; }
marked() { port_figs pfc "$a" p ecn_marked; echo "$REPLY"; }
before=$(marked)
change_p kmin 100k kmax 200k
come 100 $ip4 tos=2
is "none is marked from now on" $(($(marked) - before)) 0
change_p kmin none kmax 1k
come 100 $ip4 tos=2
is "all are, and none of those that waited" $(($(marked) - before)) 100

diag "what arrives"
tc_in a qdisc del dev p root
_remove_spaces
two_boxes rate 100mbit delay 10us ring 10
ips a "addr add 10.0.0.1/24 dev p
neigh replace 10.0.0.2 lladdr $(mac 2) nud permanent dev p"
ips b "addr add 10.0.0.2/24 dev q
neigh replace 10.0.0.1 lladdr $(mac 1) nud permanent dev q"
for box in a b; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_ecn' || die "no ECN"
done
for options in split-gso no-split-gso; do
	tcs a "qdisc replace dev p root handle $((++handle)): pfc pool 100m kmin 2k kmax 20k pmax 20% $options"
	before=$(kernel_ecn InCEPkts)
	in_ns b "$udpflow" tcpsink --expect 1 --idle 5s --timeout 60s >/dev/null &
	sink=$!
	wait_until 5 sh -c "ip netns exec $b ss -Hltn | grep -q 7000"
	check "$options: TCP" in_ns a "$udpflow" tcpsend -d 10.0.0.2 --bytes 3000000 --timeout 60s
	wait $sink
	is "$options: arrives" $? 0
	port_figs pfc "$a" p ecn_marked ecn_not_capable drops gso_split
	between "$options: some of its packets are marked" "${REPLY%% *}" 1 3000
	[ $options = no-split-gso ] ||
		is "$options: what the receiver's kernel counts as marked" $(($(kernel_ecn InCEPkts) - before)) "${REPLY%% *}"
	is "$options: none is lost" "$(cut -d' ' -f3 <<<"$REPLY")" 0
done
# Of two tags of a bridged frame one is beside it, and the other one before the IP header.
in_ns b ip -batch - <<<"link add br0 type bridge mcast_snooping 0
link set br0 up
link add r0 type wire rate 10mbit ring 0 peer name r1
link set r0 master br0 up
link set r1 up
link set q master br0
link set q promisc on" || die "no bridge"
bridge -n "$b" fdb replace "$(mac 9)" dev r0 master static
ips a "link add v link p type vlan id 7
link set v up"
tcs b "qdisc add dev r0 root handle 1: pfc pool 100m kmax 1
qdisc add dev r1 clsact
filter add dev r1 ingress pref 1 protocol all u32 match u16 0x0800 0xffff at 2 match u8 3 3 at 5 action drop"
printf '%s\n' "f dst=$(mac 9) bytes=$FRAME n=50 tag=5 $ip4 tos=2" | "$frames" -w 500 "$a/v" "$b/r1" >"$work/came"
is "behind two tags: all arrive" "$(grep -c '^f .* 7$' "$work/came")" 50
port_figs pfc "$b" r0 ecn_marked ecn_not_capable
between "behind two tags: most are marked" "${REPLY% *}" 40 50
is "behind two tags: where the mark belongs" "$(filter_stat b r1 ingress packets 1)" "${REPLY% *}"
tcs b "qdisc del dev r0 root"
ip_in a link del v

# netem sends each packet twice
tcs a "qdisc replace dev p root handle 1: netem delay 1ms duplicate 100%
qdisc add dev p parent 1:1 handle $((++handle)): pfc pool 100m"
come 300 $ip4
port_figs pfc "$a" p qlen
seen() { tc_in a -j -s qdisc show dev p | jq -c 'map([.qlen, .backlog])'; }
wait_until -e 100 5 eval '[ "$(seen)" = "[[0,0],[0,0]]" ]'
is "below a netem that duplicates nothing is left" "$(seen)" "[[0,0],[0,0]]"
port_figs pfc "$a" p packets
between "and twice as many have passed" "$REPLY" 600 650
leave_spaces

# ---- two switches ----

if [ "${SLUICE_HOME:-}" != uml ]; then
	skip "two switches" "needs virtual time"
	finish
fi

RATE=10gbit
US=500			# for so long they send
SWITCH_POOL=400000
HOST_POOL=100000000	# enough
PAYLOAD=1458
# Each frame takes 1500 bytes and, to a port with a neighbour, its tag. The wire adds 24.
FRAME_NS=$(((PAYLOAD + 42 + 24) * 8 / 10))

ns h1 h2 h3 h4 s1 s2
s1=$NS-s1
s2=$NS-s2
for box in h1 h2 h3 h4 s1 s2; do
	no_ipv6 $box
done
# link A B: a wire, its ends called after the boxes that they lead to
link()
{
	echo "link add $2 type wire rate $RATE delay 1us peer name $1 netns $NS-$2"
	echo "link set $2 up"
}
bridge="link add br0 type bridge mcast_snooping 0
link set br0 up"
ips s1 "$bridge
$(for box in h1 h2 s2; do
	link s1 $box
	echo "link set $box master br0"
done)"
# r1 and r2 are nobody: what counts is what leaves for them.
ips s2 "$bridge
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
	ips h$i "link set $dev up
addr add 10.0.0.$i/24 dev $dev
neigh replace 10.0.0.$to lladdr $(mac $to) nud permanent dev $dev"
done

# switches KIND [OPTION]...: such qdiscs on all ports of both and of the hosts
switches()
{
	local dev i

	kind=$1
	for i in 1 2 3 4; do
		tc_in h$i qdisc replace dev s$(((i + 1) / 2)) root handle ${handle}: "$1" role host limit 4m pool $HOST_POOL \
			pool-alpha 1000% || die "no $1 on h$i"
	done
	# shellcheck disable=SC2048,SC2086
	for dev in "$s1 h1" "$s1 h2" "$s1 s2" "$s2 s1" "$s2 h3" "$s2 h4" "$s2 r1" "$s2 r2"; do
		echo "qdisc replace dev ${dev#* } root handle ${handle}: $1 role switch limit 4m" \
			"pool $SWITCH_POOL pool-alpha 800% ${*:2}" >>"$work/${dev% *}"
	done
	tcs s1 "$(cat "$work/$s1")"
	tcs s2 "$(cat "$work/$s2")"
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
	port_figs $kind "$s2" r1 packets time
	r1=$REPLY
	port_figs $kind "$s2" r2 packets time
	r2=$REPLY
	"$udpflow" now --at $((start + US * 1000)) >/dev/null
	port_figs $kind "$s2" r1 packets time
	hogs=$(share "$r1" "$REPLY")
	port_figs $kind "$s2" r2 packets time
	victim=$(share "$r2" "$REPLY")
	wait "${pids[@]}"
	drops=0
	for i in "$s1 s2" "$s2 r1" "$s2 r2"; do
		# shellcheck disable=SC2086
		port_figs $kind $i drops
		drops=$((drops + REPLY))
	done
}

switches pfc
run true
pfc=$victim
is "pfc loses none" "$drops" 0
# more or less what the card holds, which has left
between "the line to r1 is full" "$hogs" 97 103
port_figs $kind "$s2" s1 pauses_tx
between "it has paused s1" "$REPLY" 1 100000
port_figs $kind "$s1" s2 pauses_obeyed
between "which has obeyed" "$REPLY" 1 100000
# shellcheck disable=SC2086
has "and nothing is held at last" s2 s1 $held "0 0 0"
port_figs $kind "$s2" s1 pauses_tx resumes_tx
is "each pause has ended" "${REPLY% *}" "${REPLY#* }"
# Three who send all they can, by 1/8 of what is free each, get 3/11 of the pool: so much it holds,
# or it would not have paused them. Then a frame of each was too much, one is on its line, and in
# the 2 us that a pause and the last frame are on their way, and the 84 bytes of the pause, more come.
port_figs $kind "$s2" r1 pool_max
between "the pool holds their shares, and what comes in an HRTT" "$REPLY" \
	$((SWITCH_POOL * 3 / 11)) $((SWITCH_POOL * 3 / 11 + 3 * (2 * 1524 + 2500 + 84)))

diag "s1 has another qdisc, in the midst of it"
run tcs s1 "qdisc replace dev s2 root handle 77: pfc role switch limit 4m pool $SWITCH_POOL pool-alpha 800%"
between "the line to r1 is full all the same" "$hogs" 97 103
# shellcheck disable=SC2086
has "nothing is held at last" s2 s1 $held "0 0 0"
port_figs $kind "$s2" s1 pauses_tx resumes_tx
is "each pause has ended" "${REPLY% *}" "${REPLY#* }"

switches bfc queues 32 assign single nopause
run true
between "without pauses frames are lost" "$drops" 100 100000
port_figs $kind "$s2" r1 drop_pool drops
is "for want of room in the pool" "${REPLY% *}" "${REPLY#* }"

# With pfc three links share the line to r1, and h1 and h2 their link's third of it, and of a
# paused link no more: so h2 gets 1/3 of the rate. By sub-queue only h1 waits: h2 gets the
# rest of its link, 2/3.
switches bfc queues 32
run true
diag "of the line to the idle port is used: $pfc % with pfc, $victim % with bfc"
is "bfc loses none either" "$drops" 0
between "with pfc the bystander gets a third of the rate" $pfc 28 38
between "with bfc, twice that" $victim 61 71
finish
