# SPDX-License-Identifier: GPL-2.0-only
"""Tables of Documentation/counters.md: one for each set of figures, and in it for each that has them"""
from .out import Part, place

PATH = "Documentation/counters.md"


def table(rows):
    concluded = any(f.conclude for f in rows)
    head = ["name", "unit", "what it is, what raises it"] + ["what to conclude"] * concluded
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for f in rows:
        cells = [f"`{f.json}`", f.unit, f.doc] + [f.conclude] * concluded
        out.append("|" + "".join(f" {cell} |" if cell else " |" for cell in cells))
    return "\n".join(out)


def make(kinds):
    for kind in kinds:
        for name, figures in kind.sets.items():
            rows = [f for f in figures if not f.pad and f.type != "nest"]
            for of in dict.fromkeys(f.of for f in rows):
                label = f"{kind.name}: {name}" + (f", {of}" if of else "")
                yield Part(PATH, label, [kind], table([f for f in rows if f.of == of]), start=f"""## {kind.name}: {name}

{place(PATH, label, [kind])}

""", before="## The cable\n")
