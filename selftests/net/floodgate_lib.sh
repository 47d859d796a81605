# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# floodgate_lib.sh - what the tests of floodgate share: figures of its ports, cables, bridges, qdiscs and frames. A test sources it
# behind lib.sh. Those with pauses have pfc_lib.sh instead.

# ips BOX LINES: commands of ip's
ips() { ip -n "$NS-$1" -batch - <<<"$2" || die "ip: $2"; }

# figs BOX DEV FIGURE...: sets REPLY
figs() { port_figs floodgate "$NS-$1" "${@:2}"; }
figs_are() { figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }
# shows NAME BOX DEV FIGURE... VALUES
shows() { figs "${@:2:$#-2}"; is "$1" "$REPLY" "${*: -1}"; }

# cable BOX DEV RATE BOX DEV [WORD]...
cable()
{
	ip_in "$1" link add "$2" type wire rate "$3" delay 10us ring 0 "${@:6}" peer name "$5" netns "$NS-$4" &&
		ip_in "$1" link set dev "$2" up && ip_in "$4" link set dev "$5" up || die "no wire"
}
enslave() { ip_in "$1" link set dev "$2" master br0; }
# gate BOX DEV PEER [WORD]...: at the root, or at $parent
gate()
{
	# shellcheck disable=SC2086	# two words
	tc_in "$1" qdisc replace dev "$2" ${parent:-root} handle 1: floodgate role switch peer "$3" "${@:4}" || die "no qdisc floodgate"
}
# sends BOX DEV LINE...: lines for `frames`
sends() { printf '%s\n' "${@:3}" | "${frames:?}" -l -w 0 "$NS-$1/$2" "$NS-$1/lo" >/dev/null || die "frames"; }
