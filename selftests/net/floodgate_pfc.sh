#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# floodgate with pfc beneath: links are paused by what came by them, and such pauses are obeyed.
#
# By hand, to the frame, what is counted and who is told:
#
#	u (hopframe) --- p0 [ sw: bridge ] p1, p2	wires on which a frame takes 10 s
#
# and what is obeyed, with u as who pauses. Then between two switches, with windows that are too large, and with such as
# are not:
#
#	h:p ===100M=== s:q [ bridge ] s:r ===100M=== c:t [ bridge ] c:u ---10M--- c:y, of 10.0.0.2
#	                                                            c:v --100M--- c:z, of 10.0.0.3

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge jq
need_program hopframe frames
: "${hopframe:?}" "${frames:?}"	# set by need_program
load_modules
need_module sch_floodgate
need_module sch_pfc

work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT
ips() { ip -n "$(ns_name "$1")" -batch - <<<"$2" || die "ip: $2"; }
tcs() { tc -n "$(ns_name "$1")" -batch - <<<"$2" || die "tc: $2"; }
no_ipv6() { in_ns "$1" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null; }
figs() { port_figs "${kind:-floodgate}" "$(ns_name "$1")" "${@:2}"; }
figs_are() { figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }
# shows NAME SPACE DEV KEY... VALUE: they are this now; has: waits until they are
shows() { figs "${@:2:$#-2}"; is "$1" "$REPLY" "${*: -1}"; }
has()
{
	wait_until -e 100 5 figs_are "${@:2}"
	is "$1" "$REPLY" "${*: -1}"
}

# ---- options ----

ns sw u
no_ipv6 sw
no_ipv6 u
ip_in sw link add o type wire peer name oo || die "no wire"
ip_in sw link set o up
refused "pfc without a pool" "pfc needs a pool" tc_in sw qdisc add dev o root floodgate pfc
check "with one" tc_in sw qdisc add dev o root handle 1: floodgate pfc pool 1m
option() { tc_in sw -j qdisc show dev o | jq -c '.[0].options | [.pfc, .pool_pause_alpha]'; }
is "what it shows" "$(option)" "[true,12.5]"
refused "and no more without it" "pfc needs a pool" tc_in sw qdisc change dev o root floodgate pool none
refused "nor not any more" "at creation only" tc_in sw qdisc change dev o root floodgate no-pfc
check "a share" tc_in sw qdisc change dev o root floodgate pool-pause-alpha 40%
is "is shown" "$(option)" "[true,40]"
check "without pfc" tc_in sw qdisc replace dev o root handle 2: floodgate
is "it is off" "$(option)" "[false,12.5]"
leave_ports
ip_in sw link del o

# ---- by hand: who counts, and who is told ----

# Over 1/8 of what is free is too much: 10 frames are not, for (90 - 10) / 8 = 10, 11 are, for 79 / 8 < 11.
FRAME=1000
POOL=$((90 * FRAME))
ALL=ffffffffffffffff
gate="floodgate slots 64 limit 1m pool $POOL pool-alpha 800% pfc refresh 1s"
hand=
epoch=0
# u_comes WORD...: under an epoch of its own
u_comes()
{
	epoch=$((epoch + 1))
	# directly, so that its process is the one that is killed
	ip netns exec "$(ns_name u)" "$hopframe" peer x mine=$epoch for=600000 "$@" >"$work/u" 2>&1 &
	hand=$!
}
u_goes()
{
	kill "$hand" 2>/dev/null
	wait "$hand" 2>/dev/null
}
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
ips sw "link add br0 type bridge mcast_snooping 0
link set br0 up
link add p0 type veth peer name x address $(mac 1) netns $(ns_name u)
link set p0 master br0 up
$(for i in 1 2; do
	echo "link add p$i type wire rate 800bit ring 0 peer name y$i"
	echo "link set y$i up"
	echo "link set p$i master br0 up"
done)"
ip_in u link set x up
for i in 1 2; do
	bridge -n "$(ns_name sw)" fdb replace "$(mac 2 $i)" dev p$i master static
done
tcs sw "qdisc add dev p0 root handle 1: $gate nowatch
qdisc add dev p1 root handle 1: $gate nowatch
qdisc add dev p2 root handle 1: $gate nowatch"
u_comes kinds=2 queues=64 flags=5
has "p0 knows u's sub-queues" sw p0 handles 64
# sends PORT N [vid=V]: frames of u that leave by this port
sends() { ip netns exec "$(ns_name u)" "$hopframe" data x dst="$(mac 2 "$1")" n="$2" pad=$((FRAME - 14)) "${@:3}"; }
# ten NAME: ten frames are as many as may be, and whatever came by the link counts: sub-queues 4 and 9, and no tag
ten()
{
	sends 1 4 vid=5
	sends 1 4 vid=10
	sends 1 2
	has "$1: ten frames count" sw p1 pfc_queued backlog "10 10000"
	shows "$1: and pause nobody" sw p0 pausing_queues 0
}
eleven()
{
	ten "$1"
	sends 1 1 vid=5
	has "$1: an eleventh: all of the link is paused" sw p0 pausing_queues 64
	shows "$1: by no single counter" sw p0 pause_counters 0
}
anew()
{
	tcs sw "qdisc del dev p1 root
qdisc add dev p1 root handle $((++handle)): $gate ${1:-nowatch}"
	has "nothing is held" sw p0 pausing_queues 0
}
handle=1
sends 1 1 vid=5
sends 2 1 vid=5
has "what is on the line counts no more" sw p1 pfc_queued qlen "0 0"
eleven "first"
u_is "u was told so" $ALL
shows "once" sw p0 pauses_tx resumes_tx "1 0"
shows "by whom" sw p1 pfc_sent 1
sends 1 3 vid=10
has "more change nothing" sw p1 pfc_queued pfc_sent "14 1"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "nothing counts when they have left by the line" sw p1 pfc_queued qlen pool_used "0 0 0"
has "and nothing is paused" sw p0 pausing_queues "0"
shows "said once" sw p0 pauses_tx resumes_tx "1 1"
u_is "u is resumed" 0

# From here on nothing leaves by the lines: a bit takes a second, and HELLOs go first.
ips sw "link set p1 type wire rate 1bit
link set p2 type wire rate 1bit"
sends 1 2
sends 2 2
anew
tcs sw "qdisc del dev p2 root
qdisc add dev p2 root handle 7: $gate nowatch"
ten "two ports"
sends 2 1
has "two ports: one more at either" sw p0 pausing_queues 64
shows "two ports: that one says it" sw p2 pfc_queued pfc_sent "1 1"
ip_in sw link set p2 down
has "two ports: it goes down: ten are left, and xon is two frames below" sw p0 pausing_queues 64
tcs sw "qdisc del dev p1 root"
has "two ports: the other goes: xon" sw p0 pausing_queues 0
u_is "two ports: u is resumed" 0
tcs sw "qdisc del dev p2 root
qdisc add dev p1 root handle $((++handle)): $gate nowatch"

# leaves NAME COMMAND...: xoff; then it happens
leaves()
{
	anew
	eleven "$1"
	"${@:2}" || fail "$1" "${*:2}"
	has "$1: xon" sw p0 pausing_queues 0
	u_is "$1: u is resumed" 0
}
# shellcheck disable=SC2086
leaves "replaced by its kind" tc -n "$(ns_name sw)" qdisc replace dev p1 root handle 99: $gate nowatch
leaves "reset" sh -c "ip -n $(ns_name sw) link set p1 down; ip -n $(ns_name sw) link set p1 up"
sends 1 2	# on the line again
restart_u()
{
	u_goes
	u_comes kinds=2 queues=64 flags=5
	has "u restarts: it is known again" sw p0 handles neighbour_up "64 2"
	has "u restarts: it is paused again" sw p0 pausing_queues 64
	tcs sw "qdisc del dev p1 root
qdisc add dev p1 root handle $((++handle)): $gate nowatch"
}
leaves "u restarts" restart_u
anew
eleven "another kind"
u_goes
u_comes kinds=1 queues=64 flags=5
has "another kind: it is known" sw p0 neighbour_up 3
has "another kind: it is not paused" sw p0 pausing_queues 0
anew
ten "another kind"
sends 1 5
has "another kind: it counts" sw p1 pfc_queued 15
sleep 0.3
shows "another kind: and is not paused" sw p0 pausing_queues 0
shows "another kind: nor is that said to be" sw p1 pfc_sent 0
u_goes
u_comes kinds=2 queues=64 flags=5
has "one of its kind is, when it comes" sw p0 pausing_queues 64
u_is "and told so" $ALL

diag "a line on which nothing leaves for 10 s"
ips sw "link set p1 down
link set p1 type wire rate 800bit
link set p1 up"
anew "watch watchdog 200ms"
sends 1 1
eleven "a device that hangs"
has "a device that hangs: after half of the watchdog's time nobody is paused" sw p0 pausing_queues 0
shows "a device that hangs: nothing counts, and all is here" sw p1 withdrawn pfc_queued qlen "1 0 11"
sends 1 12
has "a device that hangs: nor does what comes meanwhile" sw p1 pfc_queued qlen "0 23"
ip_in sw link set p1 type wire rate 1gbit
sleep 10
has "they leave when it goes again" sw p1 qlen 0
u_goes

# ---- by hand: what is obeyed ----

diag "pauses that it obeys"
tcs sw "qdisc del dev p0 root
qdisc del dev p1 root
qdisc add dev p0 root handle 1: $gate nowatch"
ips sw "link set p1 type wire rate 1gbit
link set y1 type wire rate 1gbit"
bridge -n "$(ns_name sw)" fdb replace "$(mac 9)" dev p0 master static
comes() { printf '%s\n' "f dst=$(mac 9) n=3 bytes=$FRAME" | "$frames" -w 100 "$(ns_name sw)/y1" "$(ns_name u)/x" >"$work/came"; }
u_comes kinds=2 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=fffffffffffffffe \
	at=1500 state:seq=2,lease=2000000000,words=$ALL at=3500 state:seq=3,lease=2000000000,words=fffffffffffffffe at=4500 state:seq=4,words=0
has "all but one slot" sw p0 paused pfc_paused pfc_obeyed "63 0 0"
comes
shows "that one goes" sw p0 qlen 0
has "all: the link" sw p0 pfc_paused pfc_obeyed paused_queues "1 1 64"
comes
shows "what comes waits" sw p0 qlen backlog "3 $((3 * FRAME))"
figs sw p0 control
before=$REPLY
in_ns sw "$hopframe" data y1 dst="$(mac 9)" type=806 n=2 pad=46
has "control packets go" sw p0 control qlen "$((before + 2)) 3"
has "all but one again: what waited goes" sw p0 pfc_paused qlen paused "0 0 63"
figs sw p0 pfc_paused_time
between "after as long as that" "$REPLY" 1600000000 2200000000
has "then it is resumed" sw p0 paused pfc_paused pfc_obeyed "0 0 1"
u_goes

diag "a pause that never ends"
tcs sw "qdisc change dev p0 root floodgate watch watchdog 1s restore 1s"
u_comes kinds=2 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=$ALL at=2500 state:seq=2,words=0
has "the link is paused again" sw p0 pfc_paused 1
comes
shows "what comes waits" sw p0 qlen storms "3 0"
has "for as long as the watchdog says" sw p0 qlen pfc_paused storms "0 0 1"
u_goes

diag "without pfc"
tcs sw "qdisc del dev p0 root
qdisc add dev p0 root handle 2: floodgate slots 64 nowatch"
u_comes kinds=1 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=$ALL at=1500 state:seq=2,words=0
has "all slots are held" sw p0 paused "64"
shows "is not the link" sw p0 pfc_paused 0
has "then they are resumed" sw p0 paused 0
u_goes
leave_spaces

# ---- two switches ----

WINDOW=20000
host=
# cable BOX DEV RATE BOX DEV
cable() { ip_in "$1" link add "$2" type wire rate "$3" delay 10us ring 0 peer name "$5" netns "$(ns_name "$4")" && ip_in "$1" link set dev "$2" up && ip_in "$4" link set dev "$5" up || die "no wire"; }
gate() { tc_in "$1" qdisc replace dev "$2" root handle 1: floodgate role "$3" peer "$4" pool-alpha 1000% "${@:5}" || die "no qdisc floodgate"; }
to() { echo "y n=$2 bytes=$FRAME from=10.0.0.1 to=10.0.0.$1 sport=1 dport=9 dst=$(mac "$1")"; }
from_h() { printf '%s\n' "$@" | "$frames" -l -w 0 "$(ns_name h)/p" "$(ns_name h)/lo" >/dev/null || die "frames"; }
got() { received c "$1"; echo "$REPLY"; }
got_all() { received c "$1"; [ "$REPLY" -ge "$2" ]; }
ns h s c
sees c
for port in s c; do
	ips $port "link add br0 type bridge mcast_snooping 0
link set br0 up"
done
cable h p 100mbit s q
cable s r 100mbit c t
cable c u 10mbit c y
cable c v 100mbit c z
for port in s:q s:r c:t c:u c:v; do
	ip_in ${port%:*} link set dev ${port#*:} master br0
	bridge -n "$(ns_name ${port%:*})" link set dev ${port#*:} flood off mcast_flood off
done
for port in s:r:2 s:r:3 c:u:2 c:v:3; do
	bridge -n "$(ns_name ${port%%:*})" fdb replace "$(mac ${port##*:})" dev "$(cut -d: -f2 <<<$port)" master static
done
# gates POOL WORD...: c's pool is such that 22 kB of a link are too much, s's is POOL
gates()
{
	local port

	for port in h:p s:q s:r c:t c:u c:v; do
		tc_in ${port%:*} qdisc del dev ${port#*:} root 2>/dev/null
	done
	tc_in h qdisc add dev p root handle 1: ${host:-floodgate pfc slots 8} role host peer switch pool 100m pool-alpha 1000% ||
		die "no qdisc at h"
	gate s q switch host pfc pool "$@"
	gate s r switch switch pfc pool "$@"
	gate c t switch switch pfc pool 200000 "${@:2}"
	gate c u switch host pfc pool 200000 "${@:2}"
	gate c v switch host pfc pool 200000 "${@:2}"
	kind=${host%% *}
	kind=${kind:-floodgate} check "they tag" wait_until -e 500 10 tags h p
	check "windows hold" wait_until -e 500 10 figs_are s r windows 1
}
rest()
{
	local port

	for port in s:q s:r c:t c:u c:v; do
		figs_are ${port%:*} ${port#*:} pfc_queued queued backlog pausing_queues pfc_paused "0 0 0 0 0" || return 1
	done
	figs_are s r outstanding 0
}
lost()
{
	local port sum=0

	for port in s:q s:r c:t c:u c:v; do
		figs ${port%:*} ${port#*:} drops
		sum=$((sum + REPLY))
	done
	echo $sum
}
held() { figs_are s r pfc_paused 1; }
let_go() { figs_are s r pfc_paused 0; }

diag "windows as they should be"
gates 10m window $WINDOW
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
from_h "$(to 3 100)"
sleep 0.05
check "what goes to another host is in nobody's way" got_all z $((z + 100))
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
figs s r voq_backlog voqs_max
is "the first switch had it in a VOQ" "${REPLY#* }" 1
shows "and nobody was paused where it could be" s r pfc_obeyed 0
shows "nor told to be" c u pfc_sent 0
shows "though it counted" c t pauses_tx 0
check "all leaves" wait_until -e 400 20 rest

diag "windows that are too large"
gates 10m window 1m
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
from_h "$(to 3 100)"
sleep 0.03
between "and what goes to another host with it" $(($(got z) - z)) 0 50
figs c u backlog
between "the last port holds what may come by a link, and what comes in an HRTT" "$REPLY" $((200000 / 9 - 4 * FRAME)) $((200000 / 9 + 8 * FRAME))
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
check "by either way" wait_until -e 100 20 got_all z $((z + 100))
is "nothing is lost" "$(lost)" 0
check "all leaves, and nobody is held" wait_until -e 400 20 rest
figs c u pfc_sent
between "pauses were told" "$REPLY" 1 300
figs s r pfc_obeyed
between "and obeyed" "$REPLY" 1 300
figs c t pauses_tx resumes_tx
is "each has ended" "${REPLY% *}" "${REPLY#* }"
figs s r pfc_paused_time
between "as long as the slow line took, and not longer" "$REPLY" 50000000 260000000

for host in "floodgate pfc slots 8" pfc; do
	diag "back to a host with $host"
	gates 200000 window 1m
	y=$(got y)
	from_h "$(to 2 300)"
	if [ "$host" = pfc ]; then
		kind=pfc check "it is held" wait_until -e 1 2 figs_are h p paused 1
	else
		check "it is held" wait_until -e 1 2 figs_are h p pfc_paused 1
		figs h p backlog
		between "and most waits there" "$REPLY" $((150 * FRAME)) $((290 * FRAME))
	fi
	check "all comes" wait_until -e 100 20 got_all y $((y + 300))
	is "nothing is lost" "$(lost)" 0
	check "all leaves, and nobody is held" wait_until -e 400 20 rest
done
host=

diag "a host's packets when windows hold, and the first switch is full"
gates 200000 window $WINDOW
y=$(got y)
from_h "$(to 2 300)"
check "a switch pauses the host by what is in its VOQ" wait_until -e 1 2 figs_are h p pfc_paused 1
figs s r voq_backlog pfc_obeyed
between "which is about what may be" "${REPLY% *}" $((200000 / 9 - 4 * FRAME)) $((200000 / 9 + 8 * FRAME))
is "and was not paused itself" "${REPLY#* }" 0
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
is "nothing is lost" "$(lost)" 0
check "all leaves" wait_until -e 400 20 rest

diag "control frames that are lost"
gates 10m window 1m
ip_in s link set dev r type wire loss_control 30%
ip_in c link set dev t type wire loss_control 30%
y=$(got y)
from_h "$(to 2 300)"
check "all comes" wait_until -e 400 20 got_all y $((y + 300))
ip_in s link set dev r type wire loss_control 0%
ip_in c link set dev t type wire loss_control 0%
check "all leaves, and nobody is held" wait_until -e 400 20 rest

diag "a resume that is lost"
y=$(got y)
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
figs s r lease_expired neighbour_lost
before=$REPLY
ip_in c link set dev t type wire loss_control 100%
check "the lease ends it" wait_until -e 1 1 let_go
shows "and no more" s r lease_expired neighbour_lost "$((${before% *} + 1)) ${before#* }"
ip_in c link set dev t type wire loss_control 0%
check "all comes" wait_until -e 400 20 got_all y $((y + 300))
check "all leaves, and nobody is held" wait_until -e 400 20 rest

diag "who pauses goes, and so does who is paused"
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
tc_in c qdisc replace dev t root pfifo
check "not when its neighbour's qdisc is gone" wait_until -e 2 1 let_go
gate c t switch switch pfc pool 200000
check "windows hold" wait_until -e 500 10 figs_are s r windows 1
check "all leaves" wait_until -e 400 20 rest
from_h "$(to 2 300)"
check "held again" wait_until -e 1 2 held
tc_in s qdisc replace dev r root handle 2: floodgate role switch peer switch pool 10m pool-alpha 1000% pfc window 1m ||
	die "no qdisc floodgate"
check "another one in its place, and all leaves" wait_until -e 400 20 rest
leave_spaces
finish
