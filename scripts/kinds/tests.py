# SPDX-License-Identifier: GPL-2.0-only
"""Lists for tests: names of attributes, options to be fuzzed, cases for tdc. What numbers these should have is also
said by hand, in selftests/unit/test_q_*.sh and selftests/net/*_options.sh."""
import os
import pprint

import yaml

from .out import File, banner
from .spec import SPECS, lower, typed, upper


def ports():
    """Attributes of a port, which are hopctl's"""
    with open(os.path.join(SPECS, "hopctl.yaml"), encoding="utf-8") as f:
        space = next(s for s in yaml.safe_load(f)["attribute-sets"] if s["name"] == "port")
    return [upper(space["name-prefix"] + row["name"]) for row in space["attributes"] if row["type"] != "pad"]


def included(headers):
    return "\n".join(f'#include "../../kernel/uapi/{h}"' for h in sorted(headers))


def names(kinds):
    rows = [row.cname for k in kinds for rows in (k.options, *k.nests.values(), *k.sets.values())
            for row in sorted(rows, key=lambda row: row.value)]
    every = ["TCA_KIND", "TCA_OPTIONS", "TCA_STATS2", "TCA_STATS_APP", *rows, *ports()]
    about = ("The names of the attributes, so that tests do not speak in numbers. tcmsg reads them, the spy of the "
             "plugin's unit test writes them. Names of one nest do not meet those of another: each table is looked up by "
             "itself.")
    lines = "\n".join(f"\tTCMSG_NAME({name})," for name in every)
    return f"""{banner(kinds, about)}
#ifndef _SLUICE_TCMSG_NAMES_H
#define _SLUICE_TCMSG_NAMES_H

#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>

{included({k.header for k in kinds} | {"hopctl.h"})}

struct tcmsg_name {{
	const char	*name;
	unsigned short	attr;
}};

#define TCMSG_NAME(attr) {{ #attr, attr }}

static const struct tcmsg_name tcmsg_names[] = {{
{lines}
}};

#define TCMSG_NAMES (sizeof(tcmsg_names) / sizeof(tcmsg_names[0]))

#endif
"""


# ---- fuzzing ----

def truth(value):
    return "true" if value else "false"


def fuzzed(kinds):
    """A table for each kind, or for each role, without the option that says which"""
    out, table, most = [], [], 0
    for kind in kinds:
        for number, role in enumerate(kind.roles or [None]):
            label = lower(kind.name) + (f"_{role}" if role else "")
            rows = [o for o in kind.scalars if o.role in (None, role) and not (role and o.name == "role")]
            out.append(f"static const struct option {label}_options[] = {{\n" + "\n".join(
                f"\t{{ {o.cname}, {o.size}, {truth(o.zero)}, {truth(o.fixed)}, {o.least}, "
                f"{o.most}{'ULL' if o.most >= 1 << 31 else ''}, {truth(o.values)} }}," for o in rows) + "\n};\n")
            prefix = f"TCA_{upper(kind.name)}"
            word = kind.name + (f"-{role}" if number else "")
            limit = f"{prefix}_LIMIT" if any(o.name == "limit" for o in rows) else "0"
            table.append(f'\tKIND("{word}", "{kind.name}", {label}_options, {number if role else -1},\n'
                         f"\t     {prefix}_VERSION, {prefix}_MAX, {limit}),")
            most = max(most, len(rows))
    about = ("What each option takes that is a number, for optfuzz.c, behind struct option and KIND(). A list of values "
             "is its least and its greatest one.")
    return banner(kinds, about) + f"""
#ifndef _SLUICE_OPTFUZZ_OPTIONS_H
#define _SLUICE_OPTFUZZ_OPTIONS_H

""" + included({k.header for k in kinds}) + f"""

#define OPTIONS_MAX	{most}

""" + "\n".join(out) + "\nstatic const struct kind kinds[] = {\n" + "\n".join(table) + "\n};\n\n#endif\n"


# ---- cases for tdc ----

SAYS = {"": "takes a number from ", "1/10000": "takes a number from ", "bytes": "takes a size ", "ns": "takes a time ",
        "bytes/s": "takes a rate ", "percent": "takes a percentage ", "percent/100": "takes a percentage ",
        "address": "takes an IPv4 address"}


def spelled(value, unit):
    """As it can be typed without being rounded"""
    if unit == "ns":
        return f"{value}ns"
    if unit == "bytes/s":
        return f"{value * 8}bit"
    return str(value) if unit == "bytes" else typed(value, unit).rstrip("%")


def shown(o, value):
    """As tc shows it"""
    if o.negated and value <= 1:
        return bool(value)
    if o.zero and not value:
        return o.zero
    return o.spell(value)


def good(o):
    """(typed, shown) of values that are taken: ends of the range, each word"""
    if o.negated and o.enum:
        return [(o.negated, False)] + [(f"{o.name} {word}", shown(o, value)) for word, value, _, _ in o.words if value]
    if o.negated:
        return [(o.negated, False), (o.name, True)]
    if o.words:
        words = [(f"{o.name} {word}", word) for word, _, _, _ in o.words]
        return words + [(f"{o.name} {alias}", word) for word, _, _, alias in o.words if alias]
    if o.unit == "address":
        return [(f"{o.name} 10.1.2.3", "10.1.2.3"), (f"{o.name} 0.0.0.0", "0.0.0.0")]
    values = [v for v, _ in o.values] or [o.least, o.most]
    words = [(f"{o.name} {spelled(v, o.unit)}", shown(o, v)) for v in dict.fromkeys(values) if v or not o.zero]
    return words + ([(f"{o.name} {o.zero}", o.zero)] if o.zero else [])


def bad(o):
    """(typed, what is said, who says it: tc or the kernel) of values that are not taken"""
    if o.negated:
        return []
    if o.words:
        return [(f"{o.name} nonsense", "takes one of ", "tc")]
    if o.unit == "address":
        return [(f"{o.name} nonsense", SAYS[o.unit], "tc")]
    by_tc, by_kernel = (SAYS[o.unit], "tc"), (o.rule(), "kernel")
    rule = by_kernel if o.row.get("checked-by") == "kernel" else by_tc
    out = []
    top = (1 << 8 * o.size) - 1
    if o.values:
        return [(f"{o.name} {spelled(v, o.unit)}", *by_kernel) for v in (o.least - 1, o.least + 1, o.most + 1)
                      if 0 <= v <= top and v not in [n for n, _ in o.values]]
    if o.least > (1 if o.zero else 0):
        out.append((f"{o.name} {spelled(o.least - 1, o.unit)}", *(rule if o.least > 1 else by_tc)))
    if o.most < top:
        out.append((f"{o.name} {spelled(o.most + 1, o.unit)}", *rule))
    return out


def literal(value):
    return pprint.pformat(value, width=110, sort_dicts=False)


def cases(kinds):
    out = [banner(kinds, "Options for the cases of tdc; see generate.", "#")]
    for kind in kinds:
        name = upper(kind.name)
        roles = kind.roles or [""]
        defaults = {role: {o.name: shown(o, o.default) if o.is_scalar else o.zero for o in kind.typed
                           if o.role in (None, role or None) and o.unit != "key"} for role in roles}
        for role in roles:
            if "role" in defaults[role] and role:
                defaults[role]["role"] = role
        out.append(f"{name}_VERSION = {kind.version}\n")
        out.append(f"# What is shown of a new one, by roles\n{name}_DEFAULTS = {literal(defaults)}\n")
        out.append(f"{name}_OFF = {literal({o.name: o.negated for o in kind.typed if o.negated})}\n")
        out.append(f"{name}_FIXED = {literal(tuple(o.name for o in kind.typed if o.fixed))}\n")
        every = [(role, o) for o in kind.scalars for role in ([o.role] if o.role else roles)
                 if not (o.name == "role" and kind.roles)]
        out.append(f"# Role, option, typed, shown\n{name}_GOOD = " +
                   literal([(role, o.name, *pair) for role, o in every for pair in good(o)]) + "\n")
        out.append(f"# Role, option, typed, what is said, by whom\n{name}_BAD = " +
                   literal([(role, o.name, *entry) for role, o in every for entry in bad(o)]) + "\n")
    return "\n".join(out)


def make(kinds):
    yield File("selftests/net/tcmsg_names.h", names(kinds))
    yield File("selftests/net/optfuzz_options.h", fuzzed(kinds))
    yield File("selftests/tdc/option_lists.py", cases(kinds))
