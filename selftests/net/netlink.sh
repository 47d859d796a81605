#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The families of generic netlink by their specifications: the kernel has the commands that these say, who
# lacks the privilege that they name is refused each of them, and whoever reads by them alone (specnl.py,
# which shares no code with sluice and flowgen) sees what those see. Dumps that need several messages are
# complete, with nothing twice.
#
#	sw: w1 == w2, w3 == w4, ...	wires within one namespace

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
python=/usr/bin/python3
specs=$top/Documentation/netlink/specs
[ -d "$specs" ] || skip_all "the specifications are not here"
$python -c 'import yaml' 2>/dev/null || skip_all "needs $python with yaml"
need_sluice
need_tool jq setpriv unshare
load_modules hopctl sch_bfc sch_rocc wire flowgen

PORTS=40
PAIRS=300
QUEUES=200
LIMITERS=200
FLOWS=1000

spec() { $python "$here/specnl.py" "$specs/$1.yaml" "${@:2}"; }
spec_in() { in_ns "$1" $python "$here/specnl.py" "$specs/$2.yaml" "${@:3}"; }

# ---- what there is ----
for family in hopctl flowgen; do
	said=$(spec $family rules)
	is "$family: what changes something asks for a privilege" "$(grep 'anybody may' <<<"$said")" ""
	is "$family: the kernel has these commands, for these" "$(spec $family kernel)" "$(grep -v 'anybody may' <<<"$said")"
done
ns sw
between "commands that were tried below" "$( (spec hopctl rules; spec flowgen rules) | wc -l)" 13 1000

# ---- who may ----
# tried NAME FAMILY RULES... -- COMMAND...: with that in front of it, those that have one of these flags
# are refused, and no others
tried()
{
	local name=$1 family=$2 flags=()

	shift 2
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	is "$name, $family" "$("$@" $python "$here/specnl.py" "$specs/$family.yaml" try 2>&1)" \
		"$(spec "$family" rules | awk -v flags=" ${flags[*]} " '{
			verdict = "let through"
			for (i = 4; i <= NF; i++)
				if (index(flags, " " $i " ")) verdict = "EPERM"
			for (i = 4; i <= NF; i++)
				if ($i == "do" || $i == "dump") print $1, $3, $i, verdict }')"
}

powerless="setpriv --bounding-set -all --inh-caps -all --ambient-caps -all --no-new-privs"
# shellcheck disable=SC2086
{
	tried "an administrator" hopctl -- in_ns sw
	tried "an administrator" flowgen --
	tried "root without capabilities" hopctl uns-admin-perm admin-perm -- in_ns sw $powerless
	tried "root without capabilities" flowgen uns-admin-perm admin-perm -- $powerless
	tried "all capabilities but CAP_NET_ADMIN" hopctl uns-admin-perm admin-perm -- \
		in_ns sw setpriv --bounding-set -net_admin --inh-caps -net_admin
	tried "all capabilities but CAP_NET_ADMIN" flowgen uns-admin-perm admin-perm -- \
		setpriv --bounding-set -net_admin --inh-caps -net_admin
}
if unshare -Ur true 2>/dev/null; then
	tried "root of a user namespace, in ours" hopctl uns-admin-perm admin-perm -- in_ns sw unshare -Ur
	tried "root of a user namespace, in ours" flowgen uns-admin-perm admin-perm -- unshare -Ur
	tried "root of a user namespace, in one of its own" hopctl admin-perm -- unshare -Urn
	is "root of a user namespace, in one of its own, flowgen: there is none" \
		"$(unshare -Urn $python "$here/specnl.py" "$specs/flowgen.yaml" try 2>&1)" "specnl.py: ENOENT"
else
	skip "root of a user namespace" "this kernel has none"
fi

# ---- dumps: ports and pairs ----
for ((i = 1; i <= PORTS; i += 2)); do
	echo "link add w$i type wire rate 10gbit peer name w$((i + 1))"
	echo "link set w$i up"
	echo "link set w$((i + 1)) up"
done | ip_in sw -batch - || die "no wires"
for ((i = 1; i <= PORTS; i++)); do
	echo "qdisc add dev w$i root handle 1: bfc peer switch"
done | tc_in sw -batch - || die "no bfc"
in_ns sw sh -c 'for dev in /sys/class/net/w*; do echo "$(cat "$dev/ifindex") ${dev##*/}"; done' >"$work/names"
# of the first so many ports, each with each
mapfile -t index < <(cut -d' ' -f1 "$work/names")
for ((i = 0; i < PAIRS; i++)); do
	echo "ingress=${index[i / PORTS]} egress=${index[i % PORTS]}"
done >"$work/pairs"
check "$PAIRS pairs are elided" spec_in sw hopctl feed pair-add <"$work/pairs"

# dumped COMMAND: by the specification; $messages it took
dumped()
{
	spec_in sw hopctl dump "$1" >"$work/dump" || fail "$1 is dumped"
	messages=$(tail -n 1 "$work/dump")
	head -n 1 "$work/dump"
}

# agree BEFORE OURS AFTER: files with an array of ports each. The same ports, the same keys, and each value
# of ours is that of before or after, or a number between them.
agree()
{
	jq -n --slurpfile a "$1" --slurpfile o "$2" --slurpfile b "$3" -r '
		def flat: .port = (.port | with_entries(.key = "port." + .key)) | . + .port | del(.port)
			| .dev = (.dev // .ifname) | del(.ifname);
		def by_dev: map(flat | {key: .dev, value: .}) | from_entries;
		($a[0] | by_dev) as $a | ($o[0] | by_dev) as $o | ($b[0] | by_dev) as $b
		| if ($a | keys) != ($o | keys) then "ports: \($a | keys) and \($o | keys)" else empty end,
		  ($o | keys[] | . as $d | $o[$d] as $o | $a[$d] as $a | $b[$d] as $b
		   | if ($a | keys) != ($o | keys) then
			"\($d): \(($a | keys) - ($o | keys)) and \(($o | keys) - ($a | keys))"
		     else $o | keys[] | . as $k
		     | if $o[$k] == $a[$k] or $o[$k] == $b[$k] then empty
		       elif ([$a[$k], $o[$k], $b[$k]] | all(type == "number")) and $a[$k] <= $o[$k]
			and $o[$k] <= $b[$k] then empty
		       else "\($d) \($k): \($a[$k]) \($o[$k]) \($b[$k])" end end)' || echo "cannot be read"
}

tagging() { [ "$("$sluice" -n "$NS-sw" -j show | jq '[.[] | select(.port.state == "tagging")] | length')" = $PORTS ]; }
check "all ports tag" wait_until 20 tagging
dumped port-get >"$work/before"
"$sluice" -n "$NS-sw" -j show -s >"$work/ours"
dumped port-get >"$work/after"
between "ports: messages of the dump" "$messages" 3 1000
is "ports: each once" "$(jq -r '.[].ifname' "$work/after" | sort | xargs)" \
	"$(for ((i = 1; i <= PORTS; i++)); do echo w$i; done | sort | xargs)"
is "ports: each with all that the specification has" "$(jq -c '[.[].port | length] | unique | length' "$work/after") $(
	jq '.[0].port | has("tag_stripped")' "$work/after")" "1 true"
is "ports: sluice shows the same" "$(agree "$work/before" "$work/ours" "$work/after")" ""
for dev in w1 w$PORTS; do
	index=$(in_ns sw cat /sys/class/net/$dev/ifindex)
	spec_in sw hopctl do port-get ifindex="$index" >"$work/before"
	"$sluice" -n "$NS-sw" -j show -s $dev >"$work/ours"
	spec_in sw hopctl do port-get ifindex="$index" >"$work/after"
	is "ports: and of $dev alone" "$(agree "$work/before" "$work/ours" "$work/after")" ""
done

dumped pair-get | jq -r '.[] | "ingress=\(.ingress) egress=\(.egress)"' >"$work/got"
between "pairs: messages of the dump" "$messages" 3 1000
is "pairs: each once" "$(sort "$work/got" | md5sum)" "$(sort "$work/pairs" | md5sum)"
is "pairs: sluice shows the same, in this order" "$("$sluice" -n "$NS-sw" pair list | md5sum)" \
	"$(sed -E 's/ingress=([0-9]+) egress=([0-9]+)/\1 \2/' "$work/got" | awk 'NR == FNR { name[$1] = $2; next } { print name[$1], name[$2] }' "$work/names" - | md5sum)"
is "info: handles in use are those of the ports" "$(spec_in sw hopctl do info-get | jq '.[0].handles_used')" \
	"$(jq '[.[].port.handles] | add' <<<"$(dumped port-get)")"
sed -n 'n;p' "$work/pairs" | spec_in sw hopctl feed pair-del
is "pairs: of which each other one goes" "$(dumped pair-get | jq -r '.[] | "ingress=\(.ingress) egress=\(.egress)"' |
	sort | md5sum)" "$(sed -n 'p;n' "$work/pairs" | sort | md5sum)"

# ---- dumps: limiters ----
# classes NS DEV: by the decoder of this test, in $work/classes; $messages it took
classes()
{
	in_ns "$1" $python "$here/specnl.py" - classes "$2" >"$work/classes" 2>"$work/messages"
	messages=$(cat "$work/messages")
}

leave_spaces
star bridge 2 10gbit 1500ns
neigh h2 e0 10.0.0.1 "$(mac 1)"
tc_in h1 qdisc add dev e0 root handle 1: rocc role host hold 1s recovery 5ms limiters $((LIMITERS * 2)) || die "no rocc"
in_ns h1 "$udpflow" send -d "$receiver" --sport 5001 -f $((LIMITERS * 2)) -n 1 -l 100 --rate 1m >/dev/null
told() { in_ns h2 "$cnpsend" udp,10.0.0.1,$1,10.0.0.200,7000 ports n=$LIMITERS rate=1000000 >/dev/null; }
# the first ones are gone when the others are listed
told 5001
sleep 0.001
tc_in h1 qdisc change dev e0 root rocc recovery 1s
told $((5001 + LIMITERS))
sleep 0.1
there=$(limiters h1)
# flows that share a place are not known
between "limiters are there" "$there" $((LIMITERS * 9 / 10)) $LIMITERS
classes h1 e0
between "limiters: messages of the dump" "$messages" 3 1000
is "limiters: each once, and the queue" "$(wc -l <"$work/classes") $(sort -u "$work/classes" | wc -l)" \
	"$((there + 1)) $((there + 1))"
is "limiters: tc shows the same, in this order" "$(tc_in h1 class show dev e0 | awk '{ print $3 }' | md5sum)" \
	"$(md5sum <"$work/classes")"
is "limiters: each of another flow" "$(tc_in h1 -s class show dev e0 | sed -nE 's/.*limiter: (.*) rate.*/\1/p' | sort -u | wc -l)" "$there"

# ---- dumps: sub-queues, of which those are shown that were used ----
tc_in h2 qdisc add dev e0 root handle 1: bfc queues 1000 || die "no bfc"
in_ns h2 "$udpflow" send -d "$receiver" --sport 5001 -f $QUEUES -n 1 -l 100 --rate 1m >/dev/null
classes h2 e0
between "sub-queues: messages of the dump" "$messages" 3 1000
between "sub-queues: those that were used, and what is always there" "$(wc -l <"$work/classes")" $((QUEUES / 2)) $((QUEUES + 20))
is "sub-queues: each once" "$(sort "$work/classes" | uniq -d)" ""
is "sub-queues: tc shows the same, in this order" "$(tc_in h2 class show dev e0 | awk '{ print $3 }' | md5sum)" \
	"$(md5sum <"$work/classes")"
leave_spaces

# ---- flowgen's results ----
ns f0 f1
ip link add e0 netns "$NS-f0" address "$(mac 1)" type wire rate 10gbit \
	peer name e0 netns "$NS-f1" address "$(mac 2)" || die "no wire"
for i in 0 1; do
	ip_in f$i addr add 10.9.0.$i/31 dev e0
	ip_in f$i link set e0 up
	neigh f$i e0 10.9.0.$((1 - i)) "$(mac $((2 - i)))"
done
is "$FLOWS flows: results by the specification alone" \
	"$(spec flowgen run $FLOWS "/run/netns/$NS-f0" 10.9.0.0 "/run/netns/$NS-f1" 10.9.0.1)" \
	"$FLOWS results, 0 wrong, several messages"
is "flowgen: each wrong request is refused, and what was said before stands" \
	"$(spec flowgen refused "/run/netns/$NS-f0" 10.9.0.0 "/run/netns/$NS-f1" 10.9.0.1 | xargs)" \
	"no-run EINVAL cc-that-gbn-lacks ENOENT cc-without-rate EINVAL rate-without-cc EINVAL hpcc-eta-with-dcqcn EINVAL dcqcn-add-with-hpcc EINVAL \
small-hpcc-rtt EINVAL large-hpcc-rtt EINVAL small-hpcc-eta EINVAL large-hpcc-eta EINVAL large-hpcc-stages EINVAL \
small-hpcc-add EINVAL large-hpcc-add EINVAL a-run taken a-run-again EBUSY least-of-hpcc EBUSY \
most-of-hpcc EBUSY no-such-end EINVAL no-address EINVAL \
two-addresses EINVAL no-netns EINVAL an-end taken an-end-again EEXIST another-end taken watch-without-interval EINVAL \
half-a-flow EINVAL reserved-bytes EINVAL too-many-flows E2BIG too-few-flows EINVAL a-flow taken a-start taken \
a-start-again EINVAL late-flow EINVAL"

rm -r "$work"
finish
