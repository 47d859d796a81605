# SPDX-License-Identifier: GPL-2.0-only
"""The kinds for the command sluice: userspace/sluice/kind_tables.h"""
from .out import File, banner
from .spec import Wrong, listed, upper

TEXTS = {"bytes": "text_bytes", "bytes/s": "text_rate", "ns": "text_time"}


def column(kind, entry):
    """A column of the table that show makes: an option, a figure, or the backlog, which is tc's own"""
    key, title = next(iter(entry.items())) if isinstance(entry, dict) else (entry, None)
    title = title or upper(key).replace("_", "-")
    row = next((r for r in [*kind.typed, *kind.sets["stats"]] if r.name.replace("-", "_") == key), None)
    if not row and key != "backlog":
        raise Wrong(f"{kind.name}: show: {key!r} is neither an option nor a figure")
    text = TEXTS.get(row.unit.split(",")[0] if row else "bytes", "NULL")
    zero = f'"{row.zero}"' if getattr(row, "zero", None) else "NULL"
    return f'\t{{ "{title}", "{key}", {text}, {zero} }},'


def tables(kind):
    name = kind.name
    columns = "\n".join(column(kind, entry) for entry in kind.tree["show"])
    gauges = "\n".join(f"\t{f.cname}," for f in kind.sets["stats"] if f.gauge)
    return f"""static const struct kind_column {name}_columns[] = {{
	{{ "DEV", "dev", NULL, NULL }},
	{{ "KIND", "kind", NULL, NULL }},
	{{ "QDISC", "handle", NULL, NULL }},
{columns}
	{{}}
}};

/* What does not count up */
static const uint16_t {name}_gauges[] = {{
{gauges}
	0
}};
"""


def make(kinds):
    shown = [k for k in kinds if "show" in k.tree]
    names = [k.name for k in kinds]
    pages = listed(f"tc-{name}(8)" for name in names)
    out = [banner(kinds, "kind_tables - the kinds of qdisc that are ours: their plugins, what show makes a table of, which "
                         "figures are gauges."),
           "#ifndef _SLUICE_KIND_TABLES_H\n#define _SLUICE_KIND_TABLES_H\n",
           "\n".join(f'#include "../../kernel/uapi/{k.header}"' for k in kinds) + "\n",
           "/* The plugins: tc-plugin/q_KIND.c */\n" +
           "\n".join(f"extern struct qdisc_util {name}_qdisc_util;" for name in names) + "\n",
           *map(tables, shown)]
    out.append("const struct kind kinds[] = {")
    for kind in kinds:
        port = ", .port = true" if kind.port else ""
        more = f",\n\t  .columns = {kind.name}_columns, .gauges = {kind.name}_gauges" if kind in shown else ""
        out.append(f'\t{{ .name = "{kind.name}", .util = &{kind.name}_qdisc_util, '
                   f".version = {upper(kind.name)}_VERSION{port}{more} }},")
    yield File("userspace/sluice/kind_tables.h", "\n".join([*out, "\t{}", "};", "", "#endif"]) + "\n")
    yield File("userspace/sluice/kind_names.h", banner(kinds, "kind_names - the kinds in sentences") + f"""
#ifndef _SLUICE_KIND_NAMES_H
#define _SLUICE_KIND_NAMES_H

#define KINDS_OR	"{listed(names, "or")}"
#define KINDS_SHOWN	"{listed([k.name for k in shown])}"	/* in a table of their own */
#define KINDS_PAGES	"{pages}"

#endif
""")
