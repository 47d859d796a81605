# SPDX-License-Identifier: GPL-2.0-only
#
# Takes the kernel's log, and takes those of KCSAN's reports out of it that are not about the
# project: no frame of theirs is in a module (only the project's are, where KCSAN is), what the stack
# does with a frame that a module has handed to it left out; or what is not marked (atomic, READ_ONCE,
# WRITE_ONCE) of the two accesses is in a function of the core that the file `exempt` names. With core=1
# it prints nothing but what these reports are called.

BEGIN {
	while ((getline line <exempt) > 0)
		if (line !~ /^#/ && line != "")
			known[line] = 1
}

# A line without the console's time
function plain(line)
{
	sub(/\r$/, "", line)
	sub(/^(<[0-9]+>)?\[ *[0-9.]+\](\[ *[TC][0-9]+\])? ?/, "", line)
	return line
}

function end_of_report(	i)
{
	if (theirs || (accesses > 0 && exempted == accesses)) {
		if (core)
			print title
	} else if (!core) {
		for (i = 1; i <= n; i++)
			print report[i]
	}
	n = 0
}

{ text = plain($0) }

text ~ /^BUG: KCSAN: / {
	if (n)
		end_of_report()
	title = text
	sub(/^BUG: KCSAN: /, "", title)
	n = accesses = exempted = first = received = 0
	theirs = 1
}

# Between the lines of a report may be others.
n && text !~ /^$|^=+$|^BUG: KCSAN: | to 0x[0-9a-f]+ of [0-9]+ bytes by |^race at unknown| [^ ]+\+0x[0-9a-f]+\/0x|^ *\|$|^ *\+-> |^value changed: |^ bits changed: |^Reported by |^CPU: |^Hardware name: |^no locks held|^irq event stamp/ {
	if (!core)
		print
	next
}

text ~ /^BUG: KCSAN: / || n {
	report[++n] = $0
	if (text ~ /^ netif_receive_skb\+0x/)
		received = 1
	else if (!received && text ~ / \[[a-z0-9_]+\]$/)
		theirs = 0
	if (text ~ / to 0x[0-9a-f]+ of [0-9]+ bytes by /) {
		first = 1
		received = 0
		marked = text ~ /\(marked/
	} else if (first && text ~ /^ [^ ]+\+0x/) {
		first = 0
		accesses++
		name = text
		sub(/^ /, "", name)
		sub(/\+0x.*/, "", name)
		if (marked || (name in known && text !~ / \[[a-z0-9_]+\]$/))
			exempted++
	}
	if (text ~ /^=+$/)
		end_of_report()
	next
}

!core

END {
	if (n)
		end_of_report()
}
