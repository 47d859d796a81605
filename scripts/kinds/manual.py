# SPDX-License-Identifier: GPL-2.0-only
"""Synopsis and parameters of the manual pages tc-KIND(8)"""
import re
import textwrap

from .out import Part, place
from .spec import bare, listed, prose, upper

WIDTH = 120


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def value_words(o):
    """What may follow the option's name: (text, is it to be typed as it is)"""
    if o.words:
        return [(word, True) for word, _, _, _ in o.words]
    shown = o.row.get("syntax")
    if shown and not re.search(r"[A-Z]", shown):
        return [(word, True) for word in shown.split("|")]
    words = [(o.syntax().removesuffix(f"|{o.zero}") if o.zero else o.syntax(), False)]
    return words + ([(o.zero, True)] if o.zero else [])


def heading(o):
    """The option and its values, as a paragraph's tag"""
    def shown(word, literal):
        return bold(word) if literal else f"\\fI{escaped(word)}\\fR"

    if o.negated and o.words:
        ways = " | ".join(bold(word) for word, value, _, _ in o.words if value)
        return f"{bold(o.name)} [ {ways} ] | {bold(o.negated)}"
    if o.negated:
        return f"{bold(o.name)} | {bold(o.negated)}"
    return bold(o.name) + " " + " | ".join(shown(*w) for w in value_words(o))


def in_synopsis(o):
    if o.negated and o.words:
        ways = " | ".join(bold(word) for word, value, _, _ in o.words if value)
        return f"[ {bold(o.name)} [ {ways} ] | {bold(o.negated)} ]"
    if o.negated:
        return f"[ {bold(o.name)} | {bold(o.negated)} ]"
    words = value_words(o)
    text = " | ".join(bold(word) if literal else escaped(word) for word, literal in words)
    if all(literal for _, literal in words) and len(words) > 1:
        text = "{ " + text + " }"
    return f"{bold(o.name)} {text}" if o.required else f"[ {bold(o.name)} {text} ]"


def rendered(text):
    return len(re.sub(r"\\f[BIRP]|\\", "", text))


def synopsis(kind):
    """All options, in lines; those of a role behind a line that says so"""
    out, usage = [], f"\\fBtc qdisc \\fR... \\fB{kind.name}\\fR"
    for role in (None, *kind.roles):
        options = [o for o in kind.typed if o.role == role]
        if not options:
            continue
        line = usage if not out else ""
        if role:
            out += ["", f"of a {role}:"]
        for text in map(in_synopsis, options):
            if line and rendered(line) + 1 + rendered(text) > 96:
                out.append(line)
                line = ""
            line += (" " if line else "") + text
        out.append(line)
    return "\n".join([".nf", *out, "", f"{usage} \\fBhelp\\fR", ".fi"])


def marked(text):
    """`bold` and *italic* words, and what roff would take for its own"""
    text = text.replace("\\", "\\e")
    text = re.sub(r"`([^`]+)`", lambda m: bold(m.group(1)), text)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*", r"\\fI\1\\fR", text)


def wrapped(text):
    lines = textwrap.wrap(" ".join(marked(text).split()), WIDTH, break_on_hyphens=False, break_long_words=False)
    return ["\\&" + line if line[0] in ".'" else line for line in lines]


def with_facts(o):
    """The text, with what the row says in the place of {range} and such, and behind it what it does not say"""
    text = o.row["text"]
    percent = o.unit in ("percent", "percent/100")
    least, most = (bare(v, o.unit) if percent else prose(v, o.unit) for v in (o.least, o.most))
    default = o.default_word() if o.words or o.unit == "address" or not o.is_scalar or not o.unit else (
        bare(o.default, o.unit) if percent else prose(o.default, o.unit))
    facts = {"least": least, "most": most, "range": o.range(), "default": default}
    ranged = o.is_scalar and not (o.words or o.negated or o.values or o.unit == "address")
    if ranged and not re.search(r"\{(range|most)\}", text) and "range" not in o.row:
        text = text.rstrip() + f" From {least} to {most}."
    if not re.search(r"\bdefault\b", text, re.I):
        text = text.rstrip() + " Default: {default}."
    for word in re.findall(r"\{(\w*)\}", text):
        if word not in facts:
            raise o.wrong(f"its text has {{{word}}}, which stands for nothing")
    return re.sub(r"\{(\w+)\}", lambda m: facts[m.group(1)], text)


def paragraphs(text):
    """Lines of roff: paragraphs, and a list of words with what they mean (- `word`: text)"""
    out, listing = [], False
    items = re.split(r"\n\n|\n(?=- )", text.strip())
    for n, item in enumerate(items):
        match = re.match(r"- `([^`]+)`: (.*)", item, re.S)
        if match and not listing:
            out.append(".RS")
        if not match and listing:
            out.append(".RE")
        if not match and n and not listing:
            out.append(".IP")
        listing = bool(match)
        if match:
            out += [".TP", f".B {escaped(match.group(1))}", *wrapped(match.group(2))]
        else:
            out += wrapped(item)
    return out + ([".RE"] if listing else [])


def parameters(kind):
    """A section for each that options name, in their order"""
    out = []
    for section in dict.fromkeys(o.section for o in kind.typed):
        rows = [o for o in kind.typed if o.section == section]
        if section:
            roles = {o.role for o in rows}
            out.append(f".SS {section}" + (f" ({rows[0].role})" if len(roles) == 1 and rows[0].role else ""))
        for o in rows:
            out += [".TP", heading(o), *paragraphs(with_facts(o))]
    return "\n".join(out)


def fixed(kind):
    names = [bold(o.name) for o in kind.typed if o.fixed]
    if not names:
        return "All can be changed, under load, and only those that are named change."
    verb = "are" if len(names) > 1 else "is"
    return "\n".join(wrapped_roff(f"{listed(names)} {verb} fixed when the qdisc is made; all others can be changed, under "
                                  "load, and only those that are named change."))


def wrapped_roff(text):
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def figures(rows):
    """Figures with what they are, and what to conclude; a heading for each line of tc's text"""
    out, lines = [], len({f.line for f in rows if f.line})
    for f in rows:
        if f.line and lines > 1:
            out.append(f'.SS "Line \\(dq{f.line}\\(dq"')
        text = f.doc + (f". {f.conclude[0].upper()}{f.conclude[1:]}." if f.conclude else "")
        role = f"{f.role}: " if f.role else ""
        out += [".TP", f"{bold(f.json)} ({escaped(role + f.unit)})", *wrapped(text)]
    return "\n".join(out)


def start(kind, labels):
    """The manual page of a new kind: what is left is to describe it"""
    places = {label: place(kind.manual(), label, [kind]) for label in labels}
    figures_of = "\n".join(places[label] for label in labels if label.startswith("Figures"))
    return f""".\\" SPDX-License-Identifier: GPL-2.0-only
.TH TC-{upper(kind.name)} 8 "2026" "Sluice" "Linux"
.SH NAME
{kind.name} \\- {kind.doc[0].lower()}{kind.doc[1:]}
.SH SYNOPSIS
{places["Synopsis"]}
.SH DESCRIPTION
.SH PARAMETERS
{places["What cannot be changed"]}
{places["Parameters"]}
.SH STATISTICS
{figures_of}
.SH SEE ALSO
.BR sluice (8),
.BR tc (8)
"""


def make(kinds):
    for kind in kinds:
        parts = {"Synopsis": synopsis(kind), "What cannot be changed": fixed(kind), "Parameters": parameters(kind)}
        for name, rows in kind.sets.items():
            label = "Figures" if name == "stats" else f"Figures of a {name}"
            parts[label] = figures([f for f in rows if not f.pad and f.type != "nest"])
        for label, text in parts.items():
            yield Part(kind.manual(), label, [kind], text, start(kind, parts))
