# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the behaviour tests share; a test sources it and ends with `finish`:
#
#	. "$(dirname "$0")/lib.sh"
#	need_tool tc jq
#	load_modules
#	ns h1 h2
#	...
#	is "one thing" "$got" 1
#	finish
#
# Results are KTAP; the exit status is 0, 1 (a test point or the teardown went wrong, or
# the test stopped half way) or 4 (skipped). Topologies are made of network namespaces of
# this test's own, which vanish with it however it ends. `finish` adds a last test point:
# that at each port nothing was left paused, limited or queued, the modules can be unloaded, and
# the kernel's log is clean. A test whose ports are gone by then has them inspected before
# (leave_spaces, at_rest); one that has none says why (nothing_to_inspect).
#
# The same test runs in User-Mode Linux in virtual time, in a VM on the distribution's
# kernel, and on a real machine. So a test polls for a state with wait_until, and asserts
# on times only after need_virtual_time.

set -u -o pipefail
export LC_ALL=C

_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Test points
_points=0
_failed=0
_skipped=0
_planned=
_finished=

# Where the results go, even out of $(...) or a command whose words nobody reads
exec {_tap}>&1

# What wait_until polls at the moment. An error of the shell in that, such as arithmetic with what is no number, ends without a word
# all that is under way, and the script goes on behind it: the next point then finds this.
_polls=

_emit()
{
	local polls=$_polls

	_polls=
	[ -z "$polls" ] || fail "what was waited for ends" "it broke off: $polls"
	_points=$((_points + 1))
	[ "$1" = ok ] || _failed=$((_failed + 1))
	echo "$1 $_points - $2"
}

diag() { printf '%s\n' "$@" | sed 's/^/# /'; }
pass() { _emit ok "$1"; }

# fail NAME [WHY]...
fail()
{
	_emit "not ok" "$1"
	shift
	[ $# -eq 0 ] || diag "$@"
}

# skip NAME WHY
skip()
{
	_skipped=$((_skipped + 1))
	_emit ok "$1 # SKIP $2"
}

# The whole test does not apply here.
skip_all()
{
	[ -n "$_planned" ] || echo "1..0 # SKIP $1"
	_finished=4
	exit 4
}

# The test cannot go on. Said in $(...), it ends the whole test as well.
die()
{
	_polls=
	fail "the test comes to its end" "$@" >&"$_tap"
	_finished=1
	[ "$BASHPID" = $$ ] || kill -USR1 $$
	exit 1
}

# plan N: test points to come, `finish` adds its own. Without it the plan follows at the end.
plan()
{
	_planned=$(($1 + 1))
	echo "1..$_planned"
}

# is NAME GOT WANT
is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "is $2, should be $3"
	fi
}

# between NAME GOT LOW HIGH, integers, both ends included
between()
{
	if [[ $2 =~ ^-?[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		pass "$1"
	else
		fail "$1" "is $2, should be from $3 to $4"
	fi
}

# check NAME COMMAND...: what a command that goes wrong has said is the diagnosis. What waits says by itself what there is
# to say, and looks from here: only this shell has a tc that stays, see qdiscs_of()
check()
{
	local _name=$1 _said

	shift
	if [[ $1 = wait_until || $1 = paths_wait ]]; then
		if "$@"; then pass "$_name"; else fail "$_name" "$*"; fi
	elif _said=$("$@" 2>&1); then
		pass "$_name"
	else
		fail "$_name" "$*" "$_said"
	fi
}

# refused NAME WORDS COMMAND...: the command must be refused, with these words
refused()
{
	local name=$1 words=$2 said

	shift 2
	if said=$("$@" 2>&1); then
		fail "$name" "$*" "should be refused"
	elif [[ $said != *"$words"* ]]; then
		fail "$name" "$*" "should say: $words" "says: $said"
	elif [[ $said == *"Unknown error -"* || $said == *"(null):"* ]]; then
		fail "$name" "$*" "should have an error below 0" "says: $said"
	else
		pass "$name"
	fi
}

# Needs

need_root()
{
	[ "$(id -u)" = 0 ] || skip_all "must be root"
}

# Our own homes have all tools (selftests/packages, vm/mkroot), or what needs them would be tested nowhere.
need_tool()
{
	local tool

	for tool; do
		! command -v "$tool" >/dev/null || continue
		[ -z "${SLUICE_HOME:-}" ] || die "$tool is not installed, and the home $SLUICE_HOME is to have it"
		skip_all "$tool is not installed"
	done
}

# need_program NAME...: of selftests/net; its path is in the variable of that name, without .so
need_program()
{
	local name

	for name; do
		[ -x "$_here/$name" ] || skip_all "$name is not built (make -C selftests)"
		declare -g "${name%.so}=$_here/$name"
	done
}

# find_sluice: the program sluice, of this tree or of the system, as $sluice, or nothing
find_sluice()
{
	sluice=$(readlink -f "$_here/../../build/sluice/sluice")
	[ -x "$sluice" ] || sluice=$(command -v sluice)
}
need_sluice() { find_sluice || skip_all "sluice is not built (make tools)"; }

# For tests with exact times: only User-Mode Linux has a clock that waits for the work.
need_virtual_time()
{
	[ "${SLUICE_HOME:-}" = uml ] || skip_all "needs virtual time (selftests/uml/run)"
}

# chosen KIND [KINDS]: is it among these, which commas separate? All are where there are none.
chosen() { [[ ,${2:-$1}, = *,$1,* ]]; }

_module_loaded() { [ -d "/sys/module/$1" ]; }

# Our own modules, in the order of their dependencies, and those that this test has loaded
_modules=()

_is_ours() { [[ " hopctl sch_bfc sch_ideal sch_pfc sch_rocc sch_floodgate sch_flowsail wire flowgen " = *" $1 "* ]]; }

# module_file NAME: sets REPLY to that module's file below $SLUICE_MODDIR, or to nothing. Of what a build leaves there it looks
# only into few places first: with sanitizers a search of all of it takes a second.
module_file()
{
	for REPLY in "$SLUICE_MODDIR"/{,selftests/*/,kunit/selftests/*/}"$1.ko"; do
		[ ! -e "$REPLY" ] || return 0
	done
	REPLY=$(find -L "$SLUICE_MODDIR" -name "$1.ko" 2>/dev/null | head -n 1) || :
}

# need_module NAME...: one of ours or of the kernel's. A home that says where our modules
# are must have them; on a real machine a test without its module is skipped.
need_module()
{
	local name said

	for name; do
		! _module_loaded "$name" || continue
		REPLY=
		[ -z "${SLUICE_MODDIR:-}" ] || module_file "$name"
		if [ -n "$REPLY" ]; then
			said=$(insmod "$REPLY" 2>&1) || die "insmod $REPLY: $said"
		elif [ -n "${SLUICE_MODDIR:-}" ] && _is_ours "$name"; then
			die "there is no $name.ko in $SLUICE_MODDIR"
		else
			modprobe -q "$name" || skip_all "module $name is not installed"
			# vrf has no way out
			_is_ours "$name" || ! grep -q "^$name .*\[permanent\]" /proc/modules || continue
		fi
		_modules=("$name" "${_modules[@]}")
	done
}

# load_modules [NAME]...: all of ours, or these
load_modules()
{
	[ $# -gt 0 ] || set -- hopctl sch_bfc wire
	need_root
	need_module "$@"
}

# Namespaces: NAME in the test is $NS-NAME on the machine. A variable, since a function that says so is a process for each time

NS=s$$
_spaces=()

# ns NAME...: makes namespaces with loopback up and without IPv6's own chatter
ns()
{
	local name

	need_root
	for name; do
		ip netns add "$NS-$name" || die "no namespace $name"
		_spaces+=("$NS-$name")
		ip -n "$NS-$name" link set lo up
		in_ns "$name" sh -c 'for d in default all; do
			echo 0 >/proc/sys/net/ipv6/conf/$d/accept_dad
			echo 0 >/proc/sys/net/ipv6/conf/$d/router_solicitations
			done' 2>/dev/null
	done
}

# in_ns NAME COMMAND..., and the two commands that are most common there
in_ns()
{
	ip netns exec "$NS-$1" "${@:2}"
}

ip_in()
{
	[[ " ${*:2} " != *" name "* ]] || _end_tcs	# which know devices by their names
	ip -n "$NS-$1" "${@:2}"
}

tc_in()
{
	tc -n "$NS-$1" "${@:2}"
}

# mac N [M]: an address that is the same in every run, for interface M of box N
mac() { printf '02:00:00:%02x:%02x:%02x\n' $(($1 >> 8)) $(($1 & 255)) "${2:-0}"; }

# Static neighbours: neigh NAME DEV ADDRESS MAC. In virtual time a burst leaves before the
# answer to an ARP request arrives.
neigh() { ip_in "$1" neigh replace "$3" lladdr "$4" nud permanent dev "$2"; }

# two_boxes WIRE-OPTION...: a and b, which say nothing of their own accord, with such a wire from a's p to
# b's q
two_boxes()
{
	local box

	ns a b
	for box in a b; do
		in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
	done
	ip_in a link add p address "$(mac 1)" type wire "$@" \
		peer name q address "$(mac 2)" netns "$NS-b" || die "no wire"
	ip_in a link set p up
	ip_in b link set q up
}

# Processes are what costs in the homes: so the shell sleeps by itself, where nothing ever comes.
exec {_never}<> <(:)
sleep()
{
	local _

	read -rt "$1" -u "$_never" _
	[ $? -gt 128 ] || [[ $1 =~ ^[0.]+$ ]] || die "sleep $1: no such time"
}

# wait_until [-e MS] SECONDS COMMAND...: polls until the command succeeds, each 10 ms or so many; says so if it does not. Where
# looking takes longer than waiting, it is ten times as long in all
wait_until()
{
	local every=10 left seconds end outer=$_polls

	[ "$1" != -e ] || { every=$2; shift 2; }
	seconds=$1
	shift
	_polls=$*
	left=$((seconds * 1000 / every)) end=$((SECONDS + 10 * seconds))
	printf -v every '%d.%03d' $((every / 1000)) $((every % 1000))
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ "$left" -ge 0 ] && [ $SECONDS -le $end ] ||
			{ echo "# waited $seconds s in vain: $*" >&"$_tap"; _polls=$outer; return 1; }
		sleep "$every"
	done
	_polls=$outer
}

# wait_for [-e MS] SECONDS WORDS COMMAND...: polls until the command says these words
wait_for()
{
	local every=()

	[ "$1" != -e ] || { every=(-e "$2"); shift 2; }
	wait_until "${every[@]}" "$1" _says "${@:2}"
}

_says() { [ "$("${@:2}")" = "$1" ]; }

# comes_to NAME FIGURES KEY VALUE SECONDS LOOK [ARG]...: a test point. Waits until LOOK, which fills the associative
# array FIGURES, finds that value; what is asked of the array next is of the same moment.
comes_to()
{
	local -n _figures=$2

	wait_until -e 200 "$5" _has_come "${@:2:3}" "${@:6}"
	is "$1" "${_figures[$3]-nothing}" "$4"
}

_has_come()
{
	local -n _figures=$1

	"${@:4}"
	[ "${_figures[$2]-nothing}" = "$3" ]
}

# Figures

# A process is what costs in the homes, and jq's start most of all: what is asked often is read by
# the shell.

# A figure that is not there is an error, and never 0: the test ends.

# figure_of QDISC KEY: sets REPLY to the figure of a qdisc, from wherever it stands in tc's JSON of it:
# at the top, else where it comes first; returns 1 if there is none
figure_of()
{
	local top=$1

	while [[ $top =~ \{[^{}]*\} ]]; do
		top=${top/"${BASH_REMATCH[0]}"/}
	done
	[[ $top =~ \"$2\":(-?[0-9]+) || $1 =~ \"$2\":(-?[0-9]+) ]] || return
	REPLY=${BASH_REMATCH[1]}
}

# figure_in QDISC KEY: the same, but the figure must be there
figure_in()
{
	figure_of "$@" || die "a qdisc shows no $2: ${1:-there is none}"
}

# qdiscs_in JSON [KIND]: sets `qdiscs` to tc's JSON of each qdisc (of that kind), from its kind on
qdiscs_in()
{
	local rest=$1

	qdiscs=()
	while [[ $rest == *'{"kind":"'* ]]; do
		rest=${rest#*'{"kind":"'}
		[ -n "${2:-}" ] && [[ $rest != "$2\""* ]] || qdiscs+=("${rest%%'{"kind":"'*}")
	done
}

# figures_in QDISC KEY...: sets REPLY to several of them
figures_in()
{
	local key said=

	for key in "${@:2}"; do
		figure_in "$1" "$key"
		said+=" $REPLY"
	done
	REPLY=${said# }
}

# qdiscs_of BOX DEV: sets REPLY to tc's JSON of the qdiscs of a device, or to nothing. What starts a process each time
# costs most, then what reads from a pipe byte by byte; so from the second time on a tc in the namespace stays, and is asked
# again. It appends its answer to a file, and complains of what it does not know when it is through with what is before it.
# It keeps a device's number by its name: of one that is gone it shows nothing, and a new tc is asked; see ip_in() for names
# that change. It also keeps that it was asked of one device, so it must not be asked of all.
declare -gA _tc=() _asks=() _complains=() _answers=() _asked=()
qdiscs_of()
{
	local complaint said

	if [ $BASHPID = $$ ]; then	# who asks at the same time would take our answer
		_asked[$1]=$((${_asked[$1]:--2} + 2))
		[ "${_asked[$1]}" != 2 ] || _start_tc "$1"
	fi
	if [ $BASHPID = $$ ] && [ -n "${_asks[$1]:-}" ]; then
		complaint=$'Object "thanks" is unknown, try "tc help".\nCommand failed -:'${_asked[$1]}$'\n'
		printf 'qdisc show dev %s\nthanks\n' "$2" >&"${_asks[$1]}"
		read -rN ${#complaint} -u "${_complains[$1]}" said
		if [ "$said" = "$complaint" ]; then
			read -ru "${_answers[$1]}"
			[[ $REPLY = '[{'*'}]' ]] || said=
		fi
		[ "$said" = "$complaint" ] && [ "${_asked[$1]}" -lt 2000 ] || _end_tc "$1"	# nor is the file to grow for ever
		[ "$said" != "$complaint" ] || return 0
	fi
	REPLY=$(tc_in "$1" -j -s qdisc show dev "$2" 2>/dev/null)
}

_start_tc()
{
	local dir ask asked complain complained answer answers

	dir=$(mktemp -d) || die "no directory"
	mkfifo "$dir/ask" "$dir/complain"
	exec {ask}<>"$dir/ask" {asked}<"$dir/ask"	# both ways, or who writes to one that was killed is, too
	exec {answer}<>"$dir/complain" {complain}>"$dir/complain" {complained}<"$dir/complain" {answer}<&-
	exec {answer}>>"$dir/answers" {answers}<"$dir/answers"
	rm -r "$dir"
	# by a shell of its own, so it is nobody's $!
	_tc[$1]=$(exec {ask}<&- {complained}<&- {answers}<&-
		exec tc -n "$NS-$1" -j -s -force -batch - <&$asked >&$answer 2>&$complain \
			{asked}<&- {answer}>&- {complain}>&- {_tap}>&- &
		echo $!)
	exec {asked}<&- {answer}>&- {complain}>&-
	_asks[$1]=$ask _complains[$1]=$complained _answers[$1]=$answers
}

_end_tc()
{
	local fd

	[ -z "${_tc[$1]:-}" ] || [ ! "/proc/${_tc[$1]}/ns/net" -ef "/run/netns/$NS-$1" ] || kill -9 "${_tc[$1]}"
	for fd in ${_asks[$1]:-} ${_complains[$1]:-} ${_answers[$1]:-}; do
		exec {fd}<&-
	done
	unset "_tc[$1]" "_asks[$1]" "_complains[$1]" "_answers[$1]" "_asked[$1]"
}

_end_tcs()
{
	local box

	for box in "${!_tc[@]}"; do
		_end_tc "$box"
	done
}

# object_in JSON NAME: sets REPLY to what is in that object, and $outside to what is around it; returns 1 if there is none
object_in()
{
	local rest=${1#*"\"$2\":{"} depth=1 part at

	REPLY='' outside=$1
	[ "$rest" != "$1" ] || return
	outside=${1%%"\"$2\":{"*}
	while [[ $rest = *[{}]* ]]; do
		part=${rest%%[{\}]*}
		at=${#part}
		[ "${rest:at:1}" = "{" ] && depth=$((depth + 1)) || depth=$((depth - 1))
		[ $depth -gt 0 ] || break
		REPLY+=${rest:0:at + 1}
		rest=${rest:at + 1}
	done
	REPLY+=$part
	outside+=${rest:at + 1}
}

# port_of BOX DEV: sets REPLY to tc's JSON of what the first of its qdiscs shows of the port; returns 1 if there is none
port_of()
{
	local outside

	qdiscs_of "$1" "$2"
	object_in "$REPLY" port
}

# port_says BOX DEV KEY: sets REPLY to a figure or a word of the port; it must be there
port_says()
{
	port_of "$1" "$2"
	[[ $REPLY =~ (^|[,{])\"$3\":(\"([^\"]*)\"|[-0-9a-z.]+)([],}]|$) ]] || die "the port of $1 $2 shows no $3"
	REPLY=${BASH_REMATCH[3]:-${BASH_REMATCH[2]}}
}

# port_is BOX DEV KEY VALUE: is it that?
port_is()
{
	port_of "$1" "$2"
	[[ $REPLY =~ (^|[,{])\"$3\":(\""${4:?}"\"|"$4")([],}]|$) ]]
}
tags() { port_is "$1" "$2" state tagging; }

# fields_of JSON ARRAY: all that is at the top of an object, numbers and words alike, by their keys
fields_of()
{
	local -n _fields=$2
	local IFS=, rest=$1 field key

	while [[ $rest =~ \{[^{}]*\} || $rest =~ \[[^][]*\] ]]; do
		rest=${rest/"${BASH_REMATCH[0]}"/}
	done
	for field in $rest; do
		key=${field%%'":'*}
		field=${field#*'":'}
		field=${field#'"'}
		_fields[${key#*'"'}]=${field%'"'}
	done
}

# kind_figs KIND BOX DEV KEY...: sets REPLY to figures of a device's first qdisc of that kind, of one
# moment; one that is not there is left out
kind_figs()
{
	qdiscs_of "$2" "$3"
	qdiscs_in "$REPLY" "$1"
	figures_in "${qdiscs[0]-}" "${@:4}"
}

# port_figs KIND SPACE DEV KEY...: sets REPLY to figures of its qdisc of that kind, of one moment. SPACE is as
# ip has it.
port_figs()
{
	local key said=

	qdiscs_of "${2#"$NS-"}" "$3"
	REPLY=${REPLY#*"\"kind\":\"$1\""}
	for key in "${@:4}"; do
		[[ $REPLY =~ \"$key\":([0-9]+) ]] || die "$3 shows no $key"
		said+=" ${BASH_REMATCH[1]}"
	done
	REPLY=${said# }
}
bfc_figs() { port_figs bfc "$@"; }

# qdisc_stat NAME DEV KEY [KIND]: the figure KEY of a device's qdisc (of that kind, where each must
# have it), from wherever it stands in tc's JSON; summed if there are several instances
qdisc_stat()
{
	local qdiscs qdisc sum=0 found=

	qdiscs_in "$(tc -n "$NS-$1" -j -s qdisc show dev "$2")" "${4:-}"
	for qdisc in "${qdiscs[@]}"; do
		figure_of "$qdisc" "$3" || { [ -z "${4:-}" ] || die "$1 $2: $4 shows no $3"; continue; }
		sum=$((sum + REPLY)) found=1
	done
	[ -n "$found" ] || die "$1 $2 shows no $3${4:+ of $4}"
	echo $sum
}

# link_stat NAME DEV KEY: rx_packets, tx_bytes and the like
link_stat()
{
	in_ns "$1" cat "/sys/class/net/$2/statistics/$3" || die "$1 $2 has no $3"
}

# sees NAME: from now on `received` knows that namespace. A process in it does nothing, but its /proc shows the shell what
# devices there count, without another process each time.
declare -gA _within
sees()
{
	ip netns exec "$NS-$1" sleep infinity &
	_within[$1]=$!
	disown $!	# `wait` is not for it
	wait_until 5 [ ! "/proc/$!/ns/net" -ef /proc/self/ns/net ] || die "nobody is in $1"
}

# received NAME DEV: sets REPLY to the packets that came there
received()
{
	local dev

	while read -r dev _ REPLY _; do
		[ "$dev" != "$2:" ] || return 0
	done <"/proc/${_within[$1]}/net/dev"
	die "$1 has no $2"
}

# filter_stat NAME DEV ingress|egress KEY [PREF]: what the first actions of the filters there (of that PREF) have
# counted, summed
filter_stat()
{
	local sum

	sum=$(tc_in "$1" -j -s filter show dev "$2" "$3" | jq --arg key "$4" --arg pref "${5:-}" '
		[.[] | select($pref == "" or .pref == ($pref | tonumber))
		 | .options?.actions?[0]? | objects | .stats[$key]] | add')
	[[ $sum =~ ^[0-9]+$ ]] || die "the filters of $1 $2 $3${5:+, pref $5,} show no $4"
	echo "$sum"
}

# Teardown

# Gauges that must come back to zero at each port: what stands above is a pause that nobody lifts, a packet
# that nobody sends, a flow that is limited for ever. Of rocc, by role.
declare -gA GAUGES=(
	[bfc]="paused marked paused_queues pausing_queues pause_counters ingress_bytes counter_leaks"
	[pfc]="paused marked paused_queues pausing_queues pause_counters ingress_bytes counter_leaks qlen backlog"
	[floodgate]="outstanding queued voqs_used voq_backlog pfc_queued pfc_paused qlen backlog"
	[flowsail]="paused marked paused_queues pausing_queues pause_counters ingress_bytes counter_leaks flows isolated
		    qlen backlog"
	[rocc switch]="flows_active qlen backlog"
	[rocc host]="limiters held qlen backlog"
	[ideal]="flows qlen backlog"
)
REST_SECONDS=5		# as long may that take
_inspected=0		# ports whose gauges were seen at rest, or not
_unrest=		# what was not, in namespaces that are gone
_uninspected=		# why there is no port

# Sets _ports to how many ports there are in the namespaces, and _standing to what stands above zero there, and
# to gauges that are not there at all: only a default qdisc, which has no handle, may be without a port.
_look()
{
	local space qdisc kind key keys sum rest at outside REPLY qdiscs json

	_ports=0 _standing=
	for space in "${_spaces[@]}"; do
		json=$(tc -n "$space" -j -s qdisc show)
		[[ $json = '['*']' ]] || _standing+="tc shows no qdiscs of ${space#*-}"$'\n'
		qdiscs_in "$json"
		for qdisc in "${qdiscs[@]}"; do
			kind=${qdisc#'{"kind":"'}
			kind=${kind%%'"'*}
			case $kind in
			bfc | pfc | floodgate | flowsail | rocc | ideal) ;;
			*) continue ;;
			esac
			_ports=$((_ports + 1))
			object_in "$qdisc" options
			[[ $kind != rocc || ! $REPLY =~ \"role\":\"(switch|host)\" ]] || kind+=" ${BASH_REMATCH[1]}"
			keys=${GAUGES[$kind]-role}
			[[ $kind != bfc || $outside = *'"port":{'* || $outside != *'"handle":"0:"'* ]] || keys="paused marked"
			[[ $outside =~ \"dev\":\"([^\"]*)\" ]] || _standing+="${space#*-}: tc's JSON cannot be read"$'\n'
			at="${space#*-} ${BASH_REMATCH[1]-}"
			for key in $keys; do
				sum=0 rest=$outside
				[[ $rest = *"\"$key\":"[-0-9]* ]] || _standing+="$at: ${kind% *} shows no $key"$'\n'
				while [[ $rest =~ \"$key\":(-?[0-9]+)(.*) ]]; do
					sum=$((sum + BASH_REMATCH[1]))
					rest=${BASH_REMATCH[2]}
				done
				[ $sum = 0 ] || _standing+="$at: $key is $sum"$'\n'
			done
		done
	done
	_standing=${_standing%$'\n'}
}

_something_paused() { _look; echo "$_standing"; }
_all_quiet() { _look; [ -z "$_standing" ]; }

# at_rest: the ports that there are come to rest, and count as inspected. If they do not, $_standing
# says what stands above zero.
at_rest()
{
	local status=0

	wait_until -e 100 "$REST_SECONDS" _all_quiet || status=1
	_inspected=$((_inspected + _ports))
	return $status
}

# leave_ports: before a test takes ports away: they must have come to rest, or the last test point fails
leave_ports()
{
	at_rest || _unrest+=${_unrest:+$'\n'}$_standing
}

# leave_spaces: the same when one of several topologies of a test is over, and goes
leave_spaces()
{
	leave_ports
	_remove_spaces
}

# nothing_to_inspect WHY: the test has no port of bfc, pfc, floodgate, flowsail, rocc or ideal
nothing_to_inspect() { _uninspected=$1; }

# _end_all_in SPACE...: whoever is there
_end_all_in()
{
	local space process

	for space; do
		_end_tc "${space#"$NS-"}"
	done
	for process in /proc/[0-9]*; do
		[ ! "$process/ns/net" -ef /proc/self/ns/net ] || continue
		for space; do
			[ ! "$process/ns/net" -ef "/run/netns/$space" ] || kill -9 "${process#/proc/}" 2>/dev/null
		done
	done
}

# del_ns NAME: the namespace goes while the test goes on, with who is in it
del_ns()
{
	_end_all_in "$NS-$1"
	ip netns del "$NS-$1"
}

_remove_spaces()
{
	_end_all_in "${_spaces[@]}"
	[ ${#_spaces[@]} -eq 0 ] || printf 'netns del %s\n' "${_spaces[@]}" | ip -force -batch - 2>/dev/null
	_spaces=() _within=()
}

_unload() { ! _module_loaded "$1" || rmmod "$1"; }

# The kernel's log since this test started
_mark="sluice test $$ $(basename "$0") starts"

kernel_log()
{
	dmesg | awk -v mark="$_mark" 'found { print } index($0, mark) { found = 1 }'
}

# Memory that nothing points to any more, where the kernel keeps account of it. An object has to
# be 5 s old to be suspected. So is what RCU has not yet freed of the process that sleeps so long; thus a second
# one, which is too young.
_kmemleak=/sys/kernel/debug/kmemleak

_leaks()
{
	[ -w $_kmemleak ] || return
	sleep 6
	sleep 0.1
	echo scan >$_kmemleak
	echo scan >$_kmemleak
	cat $_kmemleak
}

# check_clean: one test point. A pause on its way may take a moment to be lifted, and a limiter a few hold
# times to be removed.
check_clean()
{
	local wrong name faults=()

	leave_spaces
	wrong=$_unrest
	if [ $_inspected = 0 ] && [ -z "$_uninspected" ]; then
		wrong+=${wrong:+$'\n'}"no port was inspected, and the test does not say why (nothing_to_inspect)"
	elif [ $_inspected != 0 ] && [ -n "$_uninspected" ]; then
		wrong+=${wrong:+$'\n'}"$_inspected ports were inspected, but the test says: $_uninspected"
	fi
	for name in "${_modules[@]}"; do
		wait_until 10 _unload "$name" ||
			wrong+=${wrong:+$'\n'}"module $name cannot be unloaded: $(rmmod "$name" 2>&1)"
	done
	_modules=()
	mapfile -t faults < <(kernel_log | awk -v exempt="$_here/core-races" -f "$_here/races.awk" |
		grep -E -f "$_here/kernel-faults")
	[ ${#faults[@]} -eq 0 ] || wrong+=${wrong:+$'\n'}$(printf 'kernel: %s\n' "${faults[@]}")
	mapfile -t faults < <(_leaks)
	[ ${#faults[@]} -eq 0 ] || wrong+=${wrong:+$'\n'}$(printf '%s\n' "${faults[@]}")
	if [ -z "$wrong" ]; then
		pass "nothing stays paused, loaded or logged"
	else
		fail "nothing stays paused, loaded or logged" "$wrong"
	fi
}

# finish: the last line of each test
finish()
{
	check_clean
	if [ -z "$_planned" ]; then
		echo "1..$_points"
	elif [ "$_planned" != "$_points" ]; then
		diag "planned $_planned test points, came to $_points"
		_failed=$((_failed + 1))
	fi
	diag "Totals: pass:$((_points - _failed - _skipped)) fail:$_failed skip:$_skipped"
	_finished=$((_failed > 0))
	exit "$_finished"
}

_at_exit()
{
	exec >&"$_tap"
	if [ -z "$_finished" ]; then
		fail "the test comes to its end" "it ended before finish"
		_finished=1
	fi
	_remove_spaces
	[ ${#_modules[@]} -eq 0 ] || for name in "${_modules[@]}"; do
		wait_until 5 _unload "$name"
	done
	exit "$_finished"
}

trap _at_exit EXIT
trap 'exit 1' INT TERM HUP
trap '_finished=1; exit 1' USR1
echo "TAP version 13"
[ ! -w /dev/kmsg ] || echo "$_mark" >/dev/kmsg
# What was lost before is not ours. In a kernel that has just booted nothing is known to be: its first scan only notes what
# there is.
[ "${SLUICE_HOME:-}" = uml ] || [ ! -w $_kmemleak ] || { echo scan; echo clear; } 2>/dev/null >$_kmemleak
