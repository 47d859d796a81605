# SPDX-License-Identifier: GPL-2.0-only
"""Tables of tc's plugins, tc-plugin/KIND_tables.h, and the plugin itself where there is no more to it"""
from .out import MADE, File, banner, behind, read
from .spec import listed, lower, upper

TYPES = {"": "COUNT", "bytes": "BYTES", "ns": "TIME", "bytes/s": "RATE", "percent": "PERCENT", "percent/100": "SHARE",
         "1/10000": "GAIN", "address": "ADDRESS", "key": "KEY"}
WIDEST = {1: "UINT8_MAX", 2: "UINT16_MAX", 4: "UINT32_MAX", 8: "UINT64_MAX"}
EXAMPLES = {"ns": "TIME is a number with ns, us, ms or s", "bytes/s": "RATE as 10gbit", "bytes": "BYTES as 64k",
            "1/10000": "GAIN as 0.025"}


def choices_name(row):
    return f"{lower(row.enum.name)}_choices" if row.enum else f"{row.kind.name}_{lower(row.name)}_choices"


def choices(row):
    """The words of an option or a figure"""
    words = row.words if hasattr(row, "words") else [(e.name, e.value, e.cname, None) for e in row.enum.entries]
    lines = [f"static const struct plugin_choice {choices_name(row)}[] = {{"]
    for word, value, cname, alias in words:
        number = cname or (f"{value:#x}" if word.startswith("0x") else value)
        lines.append(f'\t{{ .name = "{word}", .value = {number}' + (f', .alias = "{alias}"' if alias else "") + " },")
    for entry in row.enum.entries if hasattr(row, "words") and row.enum else ():
        if entry.refused:
            lines.append(f'\t{{ .name = "{entry.name}", .value = {entry.cname}, .refused = true }},')
    return "\n".join([*lines, "\t{}", "};"]) + "\n"


def option_type(o):
    if o.type == "nest":
        return "OWN"
    if o.negated:
        return "BOOL"
    if o.words:
        return "CHOICE"
    return "NUMBERS" if o.row.get("sub-type") else TYPES[o.unit]


def bounds(o):
    """What is let through: the kernel's range, or what fits; 0 is left to the kernel where it has a meaning"""
    if o.negated or o.words or o.type == "nest" or o.unit in ("address", "key"):
        return []
    if o.row.get("sub-type"):
        return [f".max = {o.c_most}"]
    if o.values:
        return [f".max = {WIDEST[o.size]}"]
    if o.row.get("checked-by") == "kernel":
        least, most = int(not o.zero or o.unit not in ("bytes", "ns", "bytes/s")), WIDEST[o.size]
    else:
        # constants of the modules are not for programs
        inside = {c.cname: str(c.value) for c in o.kind.constants.values() if c.header}
        least, most = inside.get(o.c_least, o.c_least) if o.least else 0, inside.get(o.c_most, o.c_most)
    return ([f".min = {least}"] if least else []) + [f".max = {most}"]


def option(o):
    size = o.size or (o.kind.number(o, o.exact)[1] if o.exact else 0)
    parts = [f'.f = {{ "{o.name}", {o.cname}, PLUGIN_{option_type(o)}, {choices_name(o) if o.words else "NULL"} }}']
    parts += [f".size = {size}"] if size else []
    parts += [f'.zero = "{o.zero}"'] if o.zero else []
    parts += bounds(o)
    parts += [f'.no = "{o.negated}"'] if o.negated else []
    parts += [f'.syntax = "{o.row["syntax"]}"'] if "syntax" in o.row else []
    parts += [f".own = &{o.own}"] if o.own else []
    lines = ["\t{"]
    for part in parts:
        if len(lines[-1]) + len(part) > 88:
            lines.append("\t ")
        lines[-1] += f" {part},"
    role = f"{o.role}: " if o.role else ""
    return "\n".join([*lines, f'\t  .help = "{role}{o.doc} ({o.default_doc()})" }},'])


def figure_type(f):
    unit = f.unit.split(",")[0]
    if f.type == "nest":
        return "NEST"
    if f.enum:
        return "CHOICE"
    if f.type == "s32":
        return "SIGNED"
    if "bits" in unit:
        return "BITS"
    if f.kind.plain:
        return "COUNT"
    if unit.startswith("yes or no"):
        return "BOOL"
    if unit == "MAC":
        return "MAC"
    if "address" in unit:
        return "ADDRESS"
    return {"bytes": "BYTES", "ns": "TIME", "bytes/s": "RATE"}.get(unit, "COUNT")


def field(f, name):
    return f'{{ "{name}", {f.cname}, PLUGIN_{figure_type(f)}, {choices_name(f) if f.enum else "NULL"} }}'


def figure(f):
    text = f"\t{{ .f = {field(f, f.json)}"
    return text + (f', .line = "{f.line}"' if f.line else "") + " },"


def last_lines(kind):
    """The end of help: how values are written, what cannot be changed, where there is more"""
    used = [text for unit, text in EXAMPLES.items() if any(o.unit == unit for o in kind.typed)]
    lines = ["; ".join(used) + "."] if any(o.unit == "ns" for o in kind.typed) else []
    fixed = [o.name for o in kind.typed if o.fixed]
    words = [f"After creation, {listed(fixed)} cannot be changed."] if fixed else []
    words.append(f"See tc-{kind.name}(8).")
    lines += [" ".join(words)] if len(" ".join(words)) <= 78 else words
    return "\n".join(f'\t\t "  {line}\\n"' for line in lines).lstrip()


def tables(kind):
    name = kind.name
    out = [banner([kind], f"What the plugin of {name} reads and prints: options, and figures of the qdisc and of its "
                          "classes. For q_{}.c, behind options.h and what it has of its own.".format(name)),
           f"#ifndef _SLUICE_{upper(name)}_TABLES_H\n#define _SLUICE_{upper(name)}_TABLES_H\n",
           f'#include "../kernel/uapi/{kind.header}"']
    figures = [f for rows in kind.sets.values() for f in rows if not f.pad]
    with_words = {choices_name(r): r for r in [*kind.typed, *figures] if r.enum or getattr(r, "words", None)}
    headers = sorted({r.enum.header for r in with_words.values() if r.enum and r.enum.header})
    out[-1] += "".join(f"\n#include <{h}>" if "/" in h else f'\n#include "../kernel/uapi/{h}"' for h in headers) + "\n"
    out += [choices(row) for row in with_words.values()]
    out.append(f"static const struct plugin_option {name}_options[] = {{\n" +
               "\n".join(option(o) for o in kind.typed) + "\n};\n")
    shown = [o for o in kind.options if o.dumped and o.name != "version"]
    if shown:
        out.append(f"/* Said in dumps, and not to be typed */\nstatic const struct plugin_field {name}_shown[] = {{\n" +
                   "\n".join(f'\t{{ "{o.name}", {o.cname}, PLUGIN_BITS, NULL }},' for o in shown) + "\n\t{}\n};\n")
    for space, rows in kind.sets.items():
        rows = [f for f in rows if not f.pad]
        for of in [None] if space == "stats" else dict.fromkeys(f.of for f in rows):
            label = name if space == "stats" else f"{name}_{lower(space)}" + (f"_{of}" if of else "")
            some = [f for f in rows if space == "stats" or f.of == of]
            out.append(f"static const struct plugin_stat {label}_stats[] = {{\n" + "\n".join(map(figure, some)) +
                       "\n};\n")
    out.append(f"""static const struct plugin_kind {name}_kind = {{
	.name = "{name}",
	.options = {name}_options, .count = PLUGIN_ARRAY_SIZE({name}_options),
	.max = TCA_{upper(name)}_MAX,
	.fixed = {last_lines(kind)},""" + (f"\n\t.shown = {name}_shown," if shown else "") + f"""
	.version = TCA_{upper(name)}_VERSION, .speaks = {upper(name)}_VERSION,
}};
""")
    out.append(function(f"{name}_parse_qopt", PARSE, f"plugin_parse_options(&{name}_kind, argc, argv, n)", ["qu", "dev"]))
    out.append(function(f"{name}_print_qopt", PRINT, f"plugin_print_options(&{name}_kind, f, opt)", ["qu"]))
    return "\n".join(out) + "\n#endif\n"


PARSE = ["const struct qdisc_util *qu", "int argc", "char **argv", "struct nlmsghdr *n", "const char *dev"]
PRINT = ["const struct qdisc_util *qu", "FILE *f", "struct rtattr *opt"]


def function(name, arguments, result, unused):
    """One of tc's callbacks"""
    head = f"static int {name}("
    one = head + ", ".join(arguments) + ")"
    if len(one) > 96:
        one = behind(head, [", ".join(arguments[:3]), ", ".join(arguments[3:]) + ")"])
    return "\n".join([one, "{", *(f"\t(void){word};" for word in unused), f"\treturn {result};", "}"]) + "\n"


def whole(kind):
    """The plugin of a kind without classes: no more than its tables"""
    name = kind.name
    head = banner([kind], f"q_{name} - the kind {name} for tc: its options and its figures. What is done with its tables "
                          "is in options.c.").replace("/* SPDX-License-Identifier: GPL-2.0-only */",
                                                      "// SPDX-License-Identifier: GPL-2.0-only")
    return f"""{head}
#include "options.h"
#include "{name}_tables.h"

static int {name}_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{{
	const struct rtattr *tb[TCA_{upper(name)}_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	plugin_attrs(tb, TCA_{upper(name)}_STATS_MAX, xstats);
	plugin_print_stats(f, {name}_stats, PLUGIN_ARRAY_SIZE({name}_stats), tb, &first);
	return 0;
}}

extern PLUGIN_VISIBLE struct qdisc_util {name}_qdisc_util;	/* tc looks it up by name */

struct qdisc_util {name}_qdisc_util = {{
	.id		= "{name}",
	.parse_qopt	= {name}_parse_qopt,
	.print_qopt	= {name}_print_qopt,
	.print_xstats	= {name}_print_xstats,
}};
"""


def make(kinds):
    for kind in kinds:
        yield File(f"tc-plugin/{kind.name}_tables.h", tables(kind))
        path = f"tc-plugin/q_{kind.name}.c"
        if not read(path) or MADE in read(path):
            yield File(path, whole(kind))
