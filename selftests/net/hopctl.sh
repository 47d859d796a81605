#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A port and a neighbour made by hand: what a port believes, whom, and for how long.
#
#	a (bfc on p)  ------ veth ------  b (hopframe on q)
#
# hopframe speaks the protocol as its options say, or sends single frames that are wrong in one
# way. For each of them the port's counter of that cause must grow, by as many as were sent, and
# its state must be what it was.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
load_modules hopctl sch_bfc

hopframe=$PWD/hopframe
[ -x "$hopframe" ] || hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"

ns a b
ip_in a link add p address "$(mac 1)" type veth peer name q address "$(mac 2)" netns "$NS-b"
ip_in a link set p up
ip_in b link set q up

# All figures of the port, as of now, numbers and words alike
declare -A port
look()
{
	port=()
	port_of a p && fields_of "$REPLY" port
}

# port_has NAME KEY VALUE [SECONDS]: waits for it; what is asked next is of the same moment
port_has()
{
	comes_to "$1" port "$2" "$3" "${4:-4}" look
}

by_hand() { in_ns b "$hopframe" "$@"; }

# restart WORDS...: a new port, so all figures are 0; the old one lingers for 1.2 s
restart()
{
	tc_in a qdisc del dev p root 2>/dev/null && sleep 1.5
	tc_in a qdisc add dev p root bfc queues 128 "$@"
}

# A neighbour by hand in the background; its lines go to $said
said=$(mktemp)
neighbour() { by_hand peer q "$@" >"$said" 2>&1 & hand=$!; }
neighbour_ends() { wait "$hand"; }
trap 'rm -f "$said"; _at_exit' EXIT

epoch_of_port() { by_hand listen q n=1 | sed -n 's/.* mine=\([0-9a-f]*\).*/\1/p'; }

diag "a neighbour comes, is measured, and goes"
restart role switch
port_has "alone" state no_neighbour
neighbour role=switch queues=100 for=4500
port_has "found, probed, tagging" state tagging
is "its address" "${port[peer_mac]}" "$(mac 2)"
is "its queues" "${port[peer_queues]}" 100
is "handles for them" "${port[handles]}" 100
is "taken for what it says" "${port[peer_role]}" switch
is "counted" "${port[neighbour_up]}" 1
between "measured" "${port[hrtt_raw]}" 1 100000000
neighbour_ends
port_has "lost a second after its last word" state no_neighbour
is "counted as lost" "${port[neighbour_lost]}" 1
is "our own role" "${port[role]}" switch
restart
port_has "a host on its own" role host
neighbour role=switch for=1200
port_has "a host tags" state tagging
is "and holds no handles" "${port[handles]}" 0
neighbour_ends

diag "another epoch, goodbye"
restart
neighbour mine=1 for=900
neighbour_ends
neighbour mine=2 for=1800 at=900 goodbye
port_has "a second epoch is accepted" neighbour_up 2
is "the first was not lost for it" "${port[neighbour_lost]}" 0
port_has "goodbye is believed at once" state no_neighbour
is "and counted" "${port[neighbour_lost]}" 1
neighbour_ends

diag "pauses: taken, renewed, lifted, running out"
restart
neighbour role=switch for=2700 \
	at=600 state:seq=10,lease=2000000000,words=f+1 \
	at=1500 state:seq=11,lease=2000000000,first=1,words=3 \
	at=2100 state:seq=12,lease=2000000000,words=0+0
port_has "five queues paused" paused_queues 5
port_has "a part of the bitmap changes that part" paused_queues 6
port_has "all lifted" paused_queues 0
is "three frames" "${port[state_rx]}" 3
neighbour_ends
is "each one acknowledged" "$(grep -c ' ack seq=1[012]' "$said")" 3

restart
neighbour role=switch for=2400 at=300 state:seq=1,lease=900000000,words=ff
port_has "eight paused" paused_queues 8
port_has "until the lease runs out" paused_queues 0
is "which is counted" "${port[lease_expired]}" 1
is "and no loss of the neighbour" "${port[neighbour_lost]}" 0
neighbour_ends

restart
neighbour role=switch for=900 at=300 state:seq=1,lease=2000000000,words=ff
port_has "paused again" paused_queues 8
neighbour_ends
port_has "a dead neighbour's pauses end" paused_queues 0
is "with it" "${port[state]}" no_neighbour

diag "a host gets no tags"
restart role switch
neighbour role=host queues=100 for=1500
port_has "it has a state of its own" state host
is "taken for what it says" "${port[peer_role]}" host
is "handles for what it tags" "${port[handles]}" 100
is "and no probes" "${port[probe_tx]}" 0
neighbour_ends

diag "whom to believe"
restart
neighbour role=host for=1200 at=600 state:seq=1,words=ff
port_has "a host pauses nobody" rx_untrusted 1
is "indeed" "${port[paused_queues]}" 0
neighbour_ends
restart peer host
neighbour role=switch for=1200 at=600 state:seq=1,words=ff
port_has "peer host: whatever it claims" rx_untrusted 1
is "indeed, not" "${port[paused_queues]}" 0
neighbour_ends
restart peer switch
neighbour role=host for=1200 at=600 state:seq=1,lease=2000000000,words=ff
port_has "peer switch: whatever it claims" paused_queues 8
neighbour_ends

diag "the sequence"
restart
neighbour role=switch for=1500 \
	at=600 state:seq=4294967290,lease=2000000000,words=1 \
	at=750 state:seq=5,lease=2000000000,words=3 \
	at=900 state:seq=4294967295,lease=2000000000,words=ff \
	at=1050 state:seq=5,lease=2000000000,words=ff
port_has "older ones are dropped, across the wrap" rx_stale 2
is "the newest stands" "${port[paused_queues]}" 2
neighbour_ends

diag "wrong in one way"
restart
neighbour role=switch for=2100 \
	at=600 state:seq=1,lease=2000000000,words=1 \
	at=750 state:seq=2,first=2,words=1 \
	at=780 state:seq=3,first=64,words=1 \
	at=810 state:seq=4,lease=2000000001,words=1 \
	at=840 ack:seq=1000 \
	at=870 raw:0002000c000000050000000000000000
port_has "words, leases and acks that cannot be" rx_range 5
is "change nothing" "${port[paused_queues]},${port[state_rx]}" 1,1
neighbour_ends

restart
mine=$(epoch_of_port)
neighbour role=switch mine=7 for=2700
port_has "a neighbour" state tagging
send() { by_hand send q n=3 "$@"; }
send mine=7 yours="$mine" cut=11 hello
send mine=7 yours="$mine" length=2000 hello
send mine=7 yours="$mine" raw:000300
send mine=0 yours="$mine" hello
send mine=7 yours="$mine" goodbye goodbye
port_has "malformed frames" rx_malformed 15
send mine=7 yours="$mine" version=2 hello
port_has "another version" rx_version 3
look
before=${port[rx_epoch]}
send mine=7 yours=deadbeef state:seq=1,words=ff
send mine=8 yours="$mine" state:seq=1,words=ff
send mine="$mine" yours=7 hello
send mine=7 yours="$mine" src="$(mac 1)" hello
port_has "epochs that are not theirs or not ours, and our own frames" rx_epoch $((before + 12))
send mine=7 yours="$mine" hello:role=3
send mine=7 yours="$mine" vid=5 ack:seq=1
send mine=7 yours="$mine" vid=5 probe:nonce=1,vid=6,size=64
port_has "a role that is none, tags that do not fit" rx_range 9
is "change nothing at all" "${port[state]},${port[paused_queues]},${port[neighbour_up]}" tagging,0,1
neighbour_ends

diag "why a port does not tag"
restart
neighbour flags=0 for=1500
port_has "the neighbour takes no tags off" state no_strip
neighbour_ends
restart
neighbour tpid=8100 for=1500
port_has "it has another TPID" state tpid
neighbour_ends
restart
neighbour noecho for=4500
port_has "nothing tagged gets through" state probe_tag
is "no frame is tagged" "$(qdisc_stat a p tagged)" 0
neighbour_ends
restart
neighbour small for=4500
port_has "nothing long gets through" state probe_size
neighbour_ends
restart notag
neighbour for=1500
port_has "it was told not to" state disabled
neighbour_ends
restart
ip_in b link set q down
port_has "no carrier" state no_carrier
ip_in b link set q up
restart
neighbour flags=1 for=2700
sleep 1
port_has "a neighbour that does not say STRIPPING" state probing
between "though it echoes probes" "${port[probe_echoed]}" 3 1000
neighbour_ends

diag "a shared link"
restart
neighbour for=9000 mine=7
port_has "one neighbour" state tagging
by_hand send q src=02:00:00:00:09:09 mine=99 hello
port_has "a second address" state shared
is "is counted" "${port[rx_shared]}" 1
port_has "and forgotten when it is silent" state tagging
is "and the neighbour is the same" "${port[neighbour_up]}" 1
neighbour_ends

diag "tags are taken off only between TAGS and its end"
restart role switch
tagged() { by_hand data q dst="$(mac 1)" vid="$1" n=5; look; }
tagged 1
is "a stranger's tag is not ours" "${port[tag_stripped]}" 0
neighbour flags=1 queues=64 for=1200
port_has "a neighbour that does not tag" neighbour_up 1
tagged 1
is "nor is its tag" "${port[tag_stripped]}" 0
neighbour_ends
neighbour flags=5 queues=64 for=1200 mine=2
port_has "a neighbour that tags" neighbour_up 2
tagged 1
tagged 64
is "its tags are" "${port[tag_stripped]}" 10
is "and have handles" "${port[tag_unlabelled]}" 0
tagged 65
is "of a queue that it has not they are not the fabric's" "${port[tag_stripped]},${port[tag_unlabelled]}" 10,0
tagged 0
is "no queue needs none" "${port[tag_stripped]},${port[tag_unlabelled]}" 15,0
neighbour_ends
tagged 1
is "tags on their way are still taken off" "${port[tag_stripped]}" 20

leave_ports
tc_in a qdisc del dev p root
finish
