# SPDX-License-Identifier: GPL-2.0-only
"""Specifications of kinds: reading and checking them, and what follows from a row.

A specification is one in the kernel's language (Documentation/netlink/specs), netlink-raw, with three sets of
attributes: `options`, `stats`, and if its classes have figures a third one. Rows are in the order in which tc
prints them; `value` is the attribute's number, which never changes. What the language has no word for are keys
of ours. Of the file:

  folder      below kernel/, where the module is
  roles       words of the option `role`, if options and figures belong to one of them
  plain       tc prints all figures as plain numbers
  port        its qdiscs make their device a port
  show        columns of `sluice show`: names of options and figures, or NAME: TITLE

Of an option:

  unit        bytes, ns, bytes/s, percent, percent/100, 1/10000, address, key; without: a number
  checks      min, max, and exact-len of what is binary: as the language has them
  values      a list instead of min and max
  words       WORD: VALUE, where it is typed by words and is no enum of the header; aliases: other words for these
  default     a number, a constant, a word; true; of what is binary: in words. Without: 0
  required    has no default: a qdisc is not made without it
  zero        the word for 0: auto, none, any
  zero-doc    what 0 does, if the word does not say it
  negated     the word that turns it off: it is a switch
  fixed       can be set at creation only
  role        the one that has it
  range       the range in words, where the one that is made of the numbers is not right
  checked-by  kernel: tc lets through whatever fits into the attribute
  syntax      how help and manual show the value
  own         it is typed and printed by functions of the plugin
  field       of struct KIND_config, where it is not the name (and _ns behind it for times)
  section     of the manual page
  text        of the manual page, with `bold` and *italic* words; {least}, {most}, {range} and {default} stand for
              what the row says
  dumped      only: it is no option, but said in dumps
  policy      of the attribute, where it does not follow from the type

Of a figure (`stats` and the classes' set):

  unit        what it counts, and whether it is a gauge
  doc         what it is, what raises it; conclude: what to conclude
  line        starts a line of tc's text with this title
  in          which struct has it: KIND_stats, or with `in: cp-stats` KIND_cp_stats; none: it is put by hand
  field       of that struct, where it is not the name (and _ns behind it for times)
  role        the one that has it
  of          what it is about, if not the role: tables for this are apart from the others

Of an entry of an enum:

  refused     the number is kept, and the module refuses it: tc takes the word, so that the kernel says why, and no
              list has it

Any other set is of the attributes in an option that is a nest (its `nested-attributes`). `first` is the number
of a set's first attribute, if not 1.
"""
import os
import re

import yaml

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SPECS = os.path.join(TOP, "Documentation/netlink/specs")

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s32": 4}
UNITS = ("bytes", "ns", "bytes/s", "percent", "percent/100", "1/10000", "address", "key")

KEYS = {
    "file": "name protocol protonum uapi-header doc definitions attribute-sets folder roles plain port show",
    "const": "type name value header doc",
    "enum": "type name name-prefix enum-name render-max header doc entries",
    "set": "name name-prefix doc first attributes",
    "option": "name value type doc enum byte-order sub-type nested-attributes checks values words aliases unit "
              "default required zero zero-doc negated fixed role range checked-by syntax own field section text dumped policy",
    "figure": "name value type doc enum unit conclude line in field role of",
}
KEYS = {of: set(words.split()) for of, words in KEYS.items()}


class Wrong(Exception):
    """A specification that cannot be used"""


def upper(name):
    return name.upper().replace("-", "_")


def lower(name):
    return name.replace("-", "_")


def number(text):
    """An integer, or a shift of two, as C has them"""
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        return None
    if isinstance(text, int):
        return text
    if not re.fullmatch(r"[0-9]+( << [0-9]+)?", text):
        return None
    base, _, shift = text.partition(" << ")
    return int(base) << int(shift or 0)


def listed(words, last="and"):
    words = list(words)
    return (", ".join(words[:-1]) + f" {last} " if len(words) > 1 else "") + words[-1]


# ---- values in words ----

def fixed_point(value, one):
    whole, rest = divmod(value, one)
    return str(whole) if not rest else f"{whole}.{rest:0{len(str(one)) - 1}d}".rstrip("0")


def scaled(value, units):
    for one, name in units:
        if value and value % one == 0:
            return f"{value // one}{name}"
    return f"{value}{units[-1][1]}"


def prose(value, unit):
    """As sentences have it: 8 MiB, 100 us, 1 kbit/s"""
    if unit == "bytes":
        if value == 1:
            return "1 byte"
        return scaled(value, ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (1, " bytes")))
    if unit == "ns":
        return scaled(value, ((10 ** 9, " s"), (10 ** 6, " ms"), (1000, " us"), (1, " ns")))
    if unit == "bytes/s":
        return scaled(value * 8, ((10 ** 12, " Tbit/s"), (10 ** 9, " Gbit/s"), (10 ** 6, " Mbit/s"),
                                  (1000, " kbit/s"), (1, " bit/s")))
    return bare(value, unit)


def bare(value, unit):
    if unit == "percent/100":
        return fixed_point(value, 100)
    if unit == "1/10000":
        return fixed_point(value, 10000)
    return str(value)


def typed(value, unit):
    """As tc prints it, and takes it again: 8Mb, 1.5us"""
    if unit == "bytes":
        return scaled(value, ((1 << 30, "Gb"), (1 << 20, "Mb"), (1 << 10, "Kb"), (1, "b")))
    for of, units in (("ns", ((10 ** 9, "s"), (10 ** 6, "ms"), (1000, "us"), (1, "ns"))),
                      ("bytes/s", ((10 ** 12, "Tbit"), (10 ** 9, "Gbit"), (10 ** 6, "Mbit"), (1000, "Kbit"),
                                   (1, "bit")))):
        if unit == of:
            value *= 8 if unit == "bytes/s" else 1
            one, name = next((u for u in units if value >= u[0]), units[-1])
            return fixed_point(value, one) + name
    return bare(value, unit) + ("%" if unit in ("percent", "percent/100") else "")


# ---- rows ----

class Entry:
    """A member of an enum"""

    def __init__(self, enum, value, row):
        row = row if isinstance(row, dict) else {"name": row}
        self.name = str(row["name"])
        self.value = row.get("value", value)
        self.doc = row.get("doc", "")
        self.refused = bool(row.get("refused"))
        self.cname = upper(enum.prefix + self.name)


class Enum:
    def __init__(self, row):
        self.name = row["name"]
        self.prefix = row["name-prefix"]
        self.doc = " ".join(row.get("doc", "").split())
        self.header = row.get("header")
        self.entries = [Entry(self, i, e) for i, e in enumerate(row["entries"])]
        self.last = f"__{upper(self.prefix)}MAX"

    def entry(self, name):
        return next((e for e in self.entries if e.name == name), None)


class Constant:
    def __init__(self, kind, row):
        self.name = row["name"]
        self.value = number(row["value"])
        self.text = str(row["value"])
        self.doc = row.get("doc")
        self.header = row.get("header")
        self.cname = upper(self.name if self.header else f"{kind}-{self.name}")


class Row:
    """What options and figures have in common"""

    def __init__(self, kind, space, row, allowed):
        self.kind, self.row = kind, row
        self.name = str(row.get("name"))
        for key in set(row) - KEYS[allowed]:
            raise self.wrong(f"no key is called {key!r}")
        self.value = row.get("value")
        self.type = row.get("type")
        self.cname = upper(space["name-prefix"] + self.name)
        self.size = SIZES.get(self.type, 0)
        self.doc = " ".join(str(row.get("doc", "")).split())
        self.unit = row.get("unit", "")
        self.role = row.get("role")
        self.enum = kind.enum(row["enum"]) if "enum" in row else None
        if not isinstance(self.value, int) or self.value < 1:
            raise self.wrong("a row needs its number: value")
        if self.type == "pad":
            return
        if not self.doc:
            raise self.wrong("a row needs a doc")
        if self.role not in (None, *kind.roles):
            raise self.wrong(f"there is no role {self.role!r}")

    def wrong(self, text):
        return Wrong(f"{self.kind.name}: {self.name}: {text}")

    def field_name(self):
        return self.row.get("field", lower(self.name) + ("_ns" if self.unit.split(",")[0] == "ns" else ""))


class Option(Row):
    def __init__(self, kind, space, row):
        super().__init__(kind, space, row, "option")
        self.dumped = row.get("dumped") == "only"
        self.pad = self.type == "pad"
        self.is_option = not self.dumped and not self.pad
        self.is_scalar = self.is_option and self.size > 0
        self.zero = row.get("zero")
        self.negated = row.get("negated")
        self.fixed = bool(row.get("fixed"))
        self.required = bool(row.get("required"))
        self.section = row.get("section")
        self.own = row.get("own")
        if not self.is_option:
            return
        if self.unit and self.unit not in UNITS:
            raise self.wrong(f"an option has no unit {self.unit!r}")
        if not row.get("text"):
            raise self.wrong("an option needs its text for the manual page")
        self.field = self.field_name()
        self.words = self.find_words()
        self.exact = row.get("checks", {}).get("exact-len")
        self.bounds()
        self.default = self.find_default()

    def find_words(self):
        """(word, value, C name, alias) of each that can be typed"""
        aliases = {word: alias for alias, word in self.row.get("aliases", {}).items()}
        if "words" in self.row:
            return [(str(w), v, None, aliases.get(str(w))) for w, v in self.row["words"].items()]
        if self.enum:
            return [(e.name, e.value, e.cname, None) for e in self.enum.entries if not e.refused]
        return []

    def bounds(self):
        """least and most of the kernel's range, as numbers and for C"""
        checks = self.row.get("checks", {})
        if "values" in self.row:
            least, most = self.row["values"][0], self.row["values"][-1]
        elif self.enum:
            self.least, self.most = 0, len(self.enum.entries) - 1
            self.c_least, self.c_most = "0", f"{self.enum.last} - 1"
            return
        elif self.negated:
            least, most = 0, 1
        elif self.words:
            values = [value for _, value, _, _ in self.words]
            least, most = min(values), max(values)
        elif self.unit == "address":
            least, most = 0, (1 << 8 * self.size) - 1
        else:
            least, most = checks.get("min", 0), checks.get("max", 0)
        self.least, self.c_least = self.kind.number(self, least)
        self.most, self.c_most = self.kind.number(self, most)
        if self.values and self.words:
            self.c_least, self.c_most = hex(least), hex(most)
        if self.is_scalar and not self.least <= self.most < 1 << 8 * self.size:
            raise self.wrong("its range is empty or does not fit into the attribute")

    @property
    def values(self):
        """Each one that it takes, where a range cannot say it: numbers and for C"""
        if "values" in self.row:
            return [self.kind.number(self, v) for v in self.row["values"]]
        if "words" in self.row and len(self.words) != self.most - self.least + 1:
            return [(v, f"{v:#x}") for _, v, _, _ in self.words]
        return []

    def find_default(self):
        """A number; of what is binary, words"""
        default = self.row.get("default", 0)
        if not self.is_scalar:
            return self.row.get("default", self.zero)
        if default is True:
            return 1
        for word, value, _, _ in self.words:
            if default == word:
                return value
        if self.unit == "address" and default:
            parts = [int(part) for part in default.split(".")]
            return sum(part << 8 * (3 - i) for i, part in enumerate(parts))
        value, _ = self.kind.number(self, default)
        if not (self.least <= value <= self.most or ((self.zero or self.required) and not value)):
            raise self.wrong("its default is out of its range")
        return value

    def c_default(self):
        if self.unit == "address":
            return f"(__force u32)cpu_to_be32({self.default:#x})"
        cname = next((c for _, value, c, _ in self.words if c and value == self.default), None)
        return cname or (f"{self.default:#x}" if self.words else
                         self.kind.number(self, self.row["default"])[1] if self.row["default"] is not True else "1")

    # in words

    def range(self):
        """The range in words: 1 byte to 1 GiB"""
        if "range" in self.row:
            return self.row["range"]
        if self.negated and self.words:
            return listed(["off"] + [word for word, value, _, _ in self.words if value], "or")
        if self.negated:
            return "on or off"
        if self.words:
            return listed([word for word, _, _, _ in self.words], "or")
        if self.unit == "address":
            return "an IPv4 address"
        if self.values:
            return listed([prose(v, self.unit) for v, _ in self.values], "or")
        return f"{prose(self.least, self.unit)} to {prose(self.most, self.unit)}"

    def rule(self):
        """What is said to whoever gives another value"""
        percent = " percent" if self.unit in ("percent", "percent/100") else ""
        return f"{self.name} must be {self.zero + ' or ' if self.zero else ''}{self.range()}{percent}"

    def default_word(self):
        """The default as it is typed"""
        if not self.is_scalar:
            return str(self.default)
        if self.required:
            return "must be given"
        if self.zero and not self.default:
            return self.zero
        if self.negated:
            return self.name if self.default else self.negated
        return self.spell(self.default)

    def spell(self, value):
        """A value as tc prints it"""
        if self.unit == "address":
            return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))
        return next((word for word, number, _, _ in self.words if number == value), typed(value, self.unit))

    def default_doc(self):
        """The same with what it means, for help"""
        zero = self.row.get("zero-doc")
        return self.default_word() + (f": {zero}" if zero and not self.default else "")

    def syntax(self):
        """Its value as help shows it: TIME|auto"""
        names = {"": "N", "bytes": "BYTES", "ns": "TIME", "bytes/s": "RATE", "percent": "PERCENT",
                 "percent/100": "PERCENT", "1/10000": "GAIN", "address": "A.B.C.D",
                 "key": f"HEX{2 * (self.kind.number(self, self.exact)[0] if self.exact else 0)}"}
        if self.words:
            return "|".join(word for word, _, _, _ in self.words)
        shown = self.row.get("syntax", names[self.unit])
        return shown + (f"|{self.zero}" if self.zero else "")


class Figure(Row):
    def __init__(self, kind, space, row):
        super().__init__(kind, space, row, "figure")
        self.pad = self.type == "pad"
        self.set = space["name"]
        self.json = lower(self.name)
        self.line = row.get("line")
        self.of = row.get("of", self.role)
        self.conclude = " ".join(str(row.get("conclude", "")).split())
        where = row.get("in", "stats")
        self.struct = None if where == "none" or self.pad or self.type == "nest" else f"{kind.name}_{lower(where)}"
        if self.type not in (*SIZES, "pad", "nest", "binary"):
            raise self.wrong(f"a figure has no type {self.type!r}")
        if not self.pad and self.type != "nest" and not self.unit:
            raise self.wrong("a figure needs its unit")
        if self.struct and self.type not in ("u32", "u64"):
            raise self.wrong("a figure that is in a struct is a u32 or u64: in: none")
        self.gauge = self.unit.endswith("gauge")


class Kind:
    def __init__(self, path, shared):
        with open(path, encoding="utf-8") as f:
            tree = yaml.safe_load(f)
        self.tree, self.path = tree, os.path.relpath(path, TOP)
        self.name = tree["name"]
        for key in set(tree) - KEYS["file"]:
            raise Wrong(f"{self.name}: no key is called {key!r}")
        self.doc = " ".join(tree["doc"].split()).rstrip(".")
        self.folder = tree.get("folder", self.name)
        self.roles = tree.get("roles", [])
        self.plain = bool(tree.get("plain"))
        self.port = bool(tree.get("port"))
        self.header = tree["uapi-header"]
        self.shared = shared
        self.constants, self.enums = {}, {}
        for row in tree.get("definitions", []):
            if row["type"] == "const":
                self.allow(row, "const")
                self.constants[row["name"]] = Constant(self.name, row)
            else:
                self.allow(row, "enum")
                self.enums[row["name"]] = Enum(row)
        spaces = {s["name"]: s for s in tree["attribute-sets"]}
        for space in spaces.values():
            self.allow(space, "set")
        if "options" not in spaces or "stats" not in spaces:
            raise Wrong(f"{self.name}: needs the sets options and stats")
        self.spaces = spaces
        self.options = [Option(self, spaces["options"], row) for row in spaces["options"]["attributes"]]
        inside = {o.row.get("nested-attributes") for o in self.options}
        rows = {name: [Figure(self, space, row) for row in space["attributes"]]
                for name, space in spaces.items() if name != "options"}
        self.sets = {name: some for name, some in rows.items() if name not in inside}
        self.nests = {name: some for name, some in rows.items() if name in inside}
        for name, some in [("options", self.options), *rows.items()]:
            self.unique(name, some)
        self.typed = [o for o in self.options if o.is_option]
        self.scalars = [o for o in self.options if o.is_scalar]
        self.version = self.constants["version"].value

    def allow(self, row, of):
        for key in set(row) - KEYS[of]:
            raise Wrong(f"{self.name}: {row.get('name')}: no key is called {key!r}")

    def unique(self, name, rows):
        for what in ("name", "value"):
            seen = set()
            for row in rows:
                if getattr(row, what) in seen:
                    raise Wrong(f"{self.name}: {name}: {what} {getattr(row, what)!r} twice")
                seen.add(getattr(row, what))

    def enum(self, name):
        found = self.enums.get(name) or self.shared.get(name)
        if not found:
            raise Wrong(f"{self.name}: no enum is called {name!r}")
        return found

    def number(self, row, text):
        """A number in a row, as one and for C: an integer, a shift, a constant, or one less than that"""
        value = number(text)
        if value is not None:
            big = "ULL" if value >= 1 << 31 else ""
            return value, (f"{text.split()[0]}{big} << {text.split()[2]}" if isinstance(text, str) and "<<" in text
                           else f"{value}{big}")
        if re.fullmatch(r"u(8|16|32|64)-max", str(text)):
            return (1 << int(text[1:-4])) - 1, upper(text).replace("-", "_")
        name, less, by = str(text).partition(" - ")
        if name not in self.constants:
            raise row.wrong(f"{text!r} is neither a number nor a constant")
        constant = self.constants[name]
        return constant.value - int(by or 0), constant.cname + less + by

    def tables(self):
        """Names of tables of options, and the options: of all roles, then of each"""
        for role in (None, *self.roles):
            rows = [o for o in self.scalars if o.role == role]
            if rows:
                yield (f"{self.name}_{role}" if role else self.name), rows

    def manual(self):
        return f"Documentation/man/tc-{self.name}.8"


def read(directory=SPECS):
    """All kinds, by their names; words that hopctl's specification defines are known to all."""
    with open(os.path.join(directory, "hopctl.yaml"), encoding="utf-8") as f:
        shared = {}
        for row in yaml.safe_load(f)["definitions"]:
            if row["type"] != "struct":
                shared[row["name"]] = Enum(dict(row, header="hopctl.h"))
    found = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        with open(path, encoding="utf-8") as f:
            if not re.search(r"^protocol: netlink-raw$", f.read(), re.M):
                continue
        found.append(Kind(path, shared))
        if name != found[-1].name + ".yaml":
            raise Wrong(f"{name} is the specification of {found[-1].name}")
    # those that stand for themselves come before what is there for comparison
    return sorted(found, key=lambda k: (k.folder != k.name, k.name))
