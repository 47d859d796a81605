# SPDX-License-Identifier: GPL-2.0-only
"""Constants and attributes of kernel/uapi/KIND.h"""
from .out import Part, comment, place
from .spec import prose, upper


def constants(kind):
    own = [c for c in kind.constants.values() if not c.header]
    column = (8 + max(len(c.cname) for c in own)) // 8 * 8 + 8
    for c in own:
        text = f"({c.text.replace(' <<', 'U <<')})" if "<<" in c.text else c.text + "U" * (c.value >= 1 << 29)
        tabs = "\t" * ((column - len(f"#define {c.cname}") + 7) // 8)
        yield f"#define {c.cname}{tabs}{text}" + (f"\t/* {c.doc} */" if c.doc else "")


def enum(e):
    head = ["/**", comment(f"enum {e.name.replace('-', '_')} - {e.doc}", " *\t", " * ")]
    head += [comment(f"@{entry.cname}: {plain(entry.doc)}", " *\t", " * ") for entry in e.entries]
    body = [f"\t{entry.cname}," for entry in e.entries]
    return "\n".join([*head, " */", f"enum {e.name.replace('-', '_')} {{", *body, f"\t{e.last}", "};"])


def plain(text):
    return text.replace("`", "")


def width(row):
    """The type of an attribute, as the kernel-doc has it"""
    if row.type == "nest":
        inside = row.row.get("nested-attributes")
        return "nest" + (f" of {upper(row.kind.spaces[inside]['name-prefix'])}*" if inside else "")
    if row.type != "binary":
        return row.type
    if row.row.get("sub-type"):
        return f"{row.exact} x {row.row['sub-type']}"
    if getattr(row, "exact", None):
        return row.kind.number(row, row.exact)[1] + " bytes"
    return row.unit


def option_facts(o):
    """Type, range, default: u32, ns, 10 us to 1 s or 0 (auto: 8 refreshes), which is the default"""
    facts = [width(o)]
    if o.enum:
        facts.append(f"enum {o.enum.name.replace('-', '_')}")
    elif o.negated:
        facts.append("0 or 1")
    if o.row.get("byte-order") == "big-endian":
        facts.append("in network byte order")
    if o.unit in ("bytes", "ns", "bytes/s"):
        facts.append(o.unit)
    elif o.unit in ("percent", "percent/100", "1/10000"):
        facts.append({"percent": "percent", "percent/100": "hundredths of a percent", "1/10000": "in 1/10000"}[o.unit])
    if o.values:
        facts.append(" or ".join(c if not o.words else word for (_, c), word in
                                 zip(o.values, [w for w, _, _, _ in o.words] or [None] * len(o.values))))
    elif o.is_scalar and not o.enum and not o.negated and not o.unit == "address":
        facts.append(o.row.get("range") or f"{inside(o, o.least)} to {inside(o, o.most)}")
    if o.required:
        facts.append(o.default_word())
    elif o.is_scalar and (o.default or not o.zero):
        word = next((c for _, value, c, _ in o.words if c and value == o.default), None)
        facts.append("default " + (word or (o.default_word() if o.unit == "address" or o.words
                                            else inside(o, o.default))))
    if o.fixed:
        facts.append("not changeable")
    if o.zero:
        default = " (default)" if not o.default or o.default == o.zero else ""
        facts.append(("0" if o.is_scalar else "all 0" if o.type == "binary" else "empty") + default + f": {o.zero}" +
                     (f", {o.row['zero-doc']}" if "zero-doc" in o.row else ""))
    return facts


def inside(o, value):
    """A value as the attribute has it"""
    return prose(value, o.unit) if o.unit in ("bytes", "ns", "bytes/s") and not o.negated else str(value)


def described(row, facts, doc):
    role = f"{row.role}; " if row.role else ""
    return comment(f"@{row.cname}: {role}{', '.join(facts)}: {plain(doc)}", " *\t", " * ")


def option(o):
    if o.pad:
        return f" * @{o.cname}: padding of 64-bit attributes"
    if o.dumped:
        return described(o, [width(o), "only in dumps"], o.doc)
    return described(o, option_facts(o), o.doc)


def figure(f):
    if f.pad:
        return f" * @{f.cname}: padding of 64-bit attributes"
    facts = [width(f)] + ([f.unit] if f.type not in ("nest", "binary") else [])
    return described(f, facts, f.doc)


def attributes(space, rows, line):
    """The kernel-doc of an enum of attributes, and the enum, with numbers where they jump"""
    rows = sorted(rows, key=lambda row: row.value)
    prefix = upper(space["name-prefix"])
    first = space.get("first", 1) - 1
    out = ["/**", comment(f"enum - {space['doc']}", " *\t", " * "), *(line(row) for row in rows), " */", "enum {",
           f"\t{prefix}UNSPEC" + (f" = {first}" if first else "") + ","]
    before = first
    for row in rows:
        out.append(f"\t{row.cname}," if row.value == before + 1 else f"\t{row.cname} = {row.value},")
        before = row.value
    out += [f"\t__{prefix}MAX", "};", "", f"#define {prefix}MAX\t(__{prefix}MAX - 1)"]
    return "\n".join(out)


LABEL = "Options and figures"


def start(kind, path):
    word = f"_SLUICE_UAPI_{upper(kind.name)}_H"
    return f"""/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * {kind.name}: {kind.doc}
 *
 * Options are attributes in TCA_OPTIONS, statistics in TCA_STATS_APP.
 */
#ifndef {word}
#define {word}

{place(path, LABEL, [kind])}

#endif
"""


def make(kinds):
    for kind in kinds:
        blocks = ["\n".join(constants(kind))] + [enum(e) for e in kind.enums.values() if not e.header]
        blocks.append(attributes(kind.spaces["options"], kind.options, option))
        for name, rows in {**kind.nests, **kind.sets}.items():
            blocks.append(attributes(kind.spaces[name], rows, figure))
        path = f"kernel/uapi/{kind.header}"
        yield Part(path, LABEL, [kind], "\n" + "\n\n".join(blocks) + "\n", start(kind, path))
