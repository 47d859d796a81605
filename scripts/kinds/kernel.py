# SPDX-License-Identifier: GPL-2.0-only
"""Rows of the modules: kernel/FOLDER/KIND_option_rows.h and KIND_counter_rows.h"""
from .out import File, banner, behind, macro
from .spec import upper

POLICY = {"u8": "NLA_U8", "u16": "NLA_U16", "u32": "NLA_U32", "u64": "NLA_U64"}


def guard(kind, name):
    word = f"_SLUICE_{upper(kind.name)}_{name}_H"
    return f"#ifndef {word}\n#define {word}\n", "#endif\n"


def headers(kind):
    """Constants that other headers define are what the specification takes them for, and so are enums."""
    lines, asserts = set(), []
    for c in kind.constants.values():
        if c.header:
            lines.add(f'#include "{c.header}"')
            asserts.append(f"static_assert({c.cname} == {c.value});")
    used = {o.enum.name: o.enum for o in kind.typed if o.enum and o.enum.header}
    for e in used.values():
        lines.add(f'#include "../uapi/{e.header}"')
        asserts.append(f"static_assert({e.last} == {len(e.entries)});")
    return sorted(lines), asserts


def option(o):
    bounds = f"{o.c_least}, {o.c_most},"
    text = f"\tROW({o.cname}, {o.field}, {o.size},"
    text += ("\n\t    " if len(text) + len(bounds) > 92 else " ") + f"{bounds}\n\t    \"{o.rule()}\""
    return text + (", .zero = true" if o.zero else "") + (", .fixed = true" if o.fixed else "") + "),"


def policy(o):
    if "policy" in o.row:
        return f"\t[{o.cname}] = {{ .type = {o.row['policy']} }},"
    if o.type in POLICY:
        return f"\t[{o.cname}] = {{ .type = {POLICY[o.type]} }},"
    if o.type == "nest":
        return f"\t[{o.cname}] = {{ .type = NLA_NESTED }},"
    return f"\t[{o.cname}] = NLA_POLICY_EXACT_LEN({o.kind.number(o, o.exact)[1]}),"


def listed(kind):
    """Values that a range cannot say"""
    tests = []
    for o in kind.scalars:
        if o.values:
            test = " && ".join(f"c->{o.field} != {c}" for _, c in o.values)
            refuse = behind("\t\treturn hop_option_refuse(", [f"extack, tb[{o.cname}]", f'"{o.rule()}", -EINVAL);'])
            tests.append(f"\tif ({test})\n{refuse}")
    if not tests:
        return []
    head = behind(f"static int {kind.name}_check_values(",
                  [f"struct nlattr **tb, const struct {kind.name}_config *c", "struct netlink_ext_ack *extack)"])
    return ["/* Values that a range cannot say */\n" + "\n".join([head, "{", *tests, "\treturn 0;", "}"]) + "\n"]


def options(kind):
    begin, end = guard(kind, "OPTION_ROWS")
    includes, asserts = headers(kind)
    out = [banner([kind], f"Options of {kind.name}: what each takes, the policy of the attributes, the defaults. "
                          f"For the file that parses them, behind struct {kind.name}_config."), begin]
    out.append("\n".join(['#include "../sched/options.h"', f'#include "../uapi/{kind.header}"', *includes]) + "\n")
    if asserts:
        out.append("\n".join(asserts) + "\n")
    config = f"struct {kind.name}_config, _field"
    out.append(macro(["#define ROW(_attr, _field, _size, _min, _max, _rule, ...) {", "\t.attr = _attr,",
                      f"\t.offset = offsetof({config}),", f"\t.size = sizeof_field({config}) +",
                      f"\t\tBUILD_BUG_ON_ZERO(sizeof_field({config}) != _size),",
                      "\t.min = _min, .max = _max, .rule = _rule, __VA_ARGS__", "}"]) + "\n")
    for name, rows in kind.tables():
        out.append(f"static const struct hop_option {name}_options[] = {{\n" +
                   "\n".join(option(o) for o in rows) + "\n};\n")
    out.append("#undef ROW\n")
    by_number = sorted((o for o in kind.options if o.is_option or "policy" in o.row), key=lambda o: o.value)
    out.append(f"static const struct nla_policy {kind.name}_policy[TCA_{upper(kind.name)}_MAX + 1] = {{\n" +
               "\n".join(policy(o) for o in by_number) + "\n};\n")
    defaults = [f"\t.{o.field} = {o.c_default()}," for o in kind.scalars if o.default]
    out.append(macro([f"#define {upper(kind.name)}_DEFAULTS {{", *defaults, "}"]) + "\n")
    return "\n".join(out + listed(kind)) + "\n" + end


def counters(kind):
    begin, end = guard(kind, "COUNTER_ROWS")
    out = [banner([kind], f"Counters of {kind.name}: which field of a struct is which attribute. For the file that "
                          "dumps them."), begin,
           f'#include "../sched/counters.h"\n#include "../uapi/{kind.header}"\n',
           macro(["#define ROW(_attr, _struct, _field, _size) {", "\t.attr = _attr,",
                  "\t.offset = offsetof(struct _struct, _field),",
                  "\t.size = sizeof_field(struct _struct, _field) +",
                  "\t\tBUILD_BUG_ON_ZERO(sizeof_field(struct _struct, _field) != _size),", "}"]) + "\n"]
    for struct in dict.fromkeys(f.struct for f in kind.sets["stats"] if f.struct):
        rows = [f for f in kind.sets["stats"] if f.struct == struct]
        name = struct.replace("_stats", "") + "_counters"
        out.append(f"static const struct hop_counter {name}[] = {{\n" + "\n".join(
            f"\tROW({f.cname}, {struct}, {f.field_name()}, {f.size})," for f in rows) + "\n};\n")
    out.append("#undef ROW\n")
    return "\n".join(out) + "\n" + end


def make(kinds):
    for kind in kinds:
        yield File(f"kernel/{kind.folder}/{kind.name}_option_rows.h", options(kind))
        yield File(f"kernel/{kind.folder}/{kind.name}_counter_rows.h", counters(kind))
