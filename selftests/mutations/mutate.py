# SPDX-License-Identifier: GPL-2.0-only
"""Where C in the kernel's style can be broken by one operator, and which places a commit draws.

No parser: tokens, the statements between them, and the habit of this style that a function's body stands between
two braces in the first column. What does not compile is the caller's to notice.

    comparison   < and <=, > and >=, == and !=, each for the other
    sign         + and -, += and -=, ++ and --, each for the other (not what a `for` counts by); a - of one side goes
    constant     N is N + 1, 0 is 1, true is false; a mask in hexadecimal loses its lowest bit
    order        two statements, one of which uses what the other changes, or two arguments of a call change places;
                 so do the arms of && and || where the first guards what the second looks at
    unit         ns, us, ms and s, bits and bytes, powers of ten, the network's byte order

Comments, strings, preprocessor lines, declarations and what only asserts are left as they are. So are locks and
barriers: what they are for shows between CPUs alone.
"""

import dataclasses
import difflib
import hashlib
import re

OPERATORS = ("comparison", "sign", "constant", "order", "unit")

# The first that fits. A preprocessor line goes on behind a backslash, and in a comment that it begins.
TOKEN = re.compile(r"""
    (?P<line>^[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*)
    |(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<space>\s+)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^<>=!]=|.)
    """, re.VERBOSE | re.DOTALL | re.MULTILINE)

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CONTROL = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue"}
NO_VALUE = CONTROL | {"sizeof"}
TYPES = {"struct", "union", "enum", "const", "static", "unsigned", "signed", "int", "long", "char", "bool", "void"}

# What a program does not do otherwise for: assertions, what the log says
IGNORED = re.compile(r"lockdep_|BUILD_BUG|static_assert|WARN|pr_(debug|info|warn|err)|net_\w*_ratelimited|might_sleep|"
                     r"NL_SET_ERR_MSG|MODULE_|EXPORT_SYMBOL|DEFINE_|DECLARE_|__(releases|acquires|must_hold)$")
# No order that one CPU could see
LOCKS = re.compile(r"(raw_)?(spin|write|read)_(lock|unlock|trylock)|rcu_(read_)?(un)?lock|rcu_barrier|synchronize_|mutex_|"
                   r"rtnl_(un)?lock|local_(bh|irq)_|smp_|barrier|write_seq|read_seq|u64_stats_|preempt_|sch_tree_|"
                   r"prefetch|INIT_|(spin|seqcount|raw_spin)_lock_init|cond_resched")
# The same whichever argument is first
SYMMETRIC = {"min", "max", "swap", "ether_addr_equal", "ether_addr_equal_64bits", "memcmp", "net_eq", "likely", "unlikely",
             "ipv6_addr_equal", "crypto_memneq", "kcalloc", "kvcalloc", "kmalloc_array", "kvmalloc_array"}

# Calls that change no more than they are given to write to (in WRITE, the first argument)
WRITE = {"WRITE_ONCE", "memcpy", "memset", "memmove", "ether_addr_copy"}
PURE = re.compile(r"(ntoh|hton)[sl]$|(be|le)\d+_to_cpu$|cpu_to_(be|le)\d+$|READ_ONCE|(min|max|clamp)(_t)?$|div|mul_u64|"
                  r"atomic(64|_long)?_read|kv?[mzc]\w*alloc|ktime_get|ns_to_ktime|ktime_to|qdisc_(pkt_len|priv|dev)$|"
                  r"skb_(network|transport|mac|tail)|container_of|sizeof|htons|trace_|rcu_dereference|get_random|"
                  r"likely|unlikely|ARRAY_SIZE|BIT|list_empty|\w*_bytes$|\w*_gain$|RCU_INIT_POINTER")

TIMES = {
    "NSEC_PER_USEC": "NSEC_PER_MSEC", "NSEC_PER_MSEC": "NSEC_PER_USEC", "NSEC_PER_SEC": "NSEC_PER_MSEC",
    "USEC_PER_SEC": "MSEC_PER_SEC", "MSEC_PER_SEC": "USEC_PER_SEC", "USEC_PER_MSEC": "NSEC_PER_MSEC",
    "BITS_PER_BYTE": "1", "nsecs_to_jiffies": "usecs_to_jiffies", "nsecs_to_jiffies64": "usecs_to_jiffies",
    "usecs_to_jiffies": "msecs_to_jiffies", "msecs_to_jiffies": "usecs_to_jiffies", "ms_to_ktime": "ns_to_ktime",
    "us_to_ktime": "ns_to_ktime", "ktime_to_us": "ktime_to_ns", "ktime_to_ms": "ktime_to_us",
}
BYTE_ORDER = re.compile(r"(ntoh|hton)[sl]|(be|le)(16|32|64)_to_cpu|cpu_to_(be|le)(16|32|64)")


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


@dataclasses.dataclass(frozen=True)
class Place:
    """One mutant: text[start:end] of a file is to be `new`."""
    operator: str
    start: int
    end: int
    new: str
    function: str
    body: tuple         # first and last line of the function's body


def tokens(text):
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text)]


def words(tokens_):
    """As a text in which names do not grow together"""
    return " ".join(t.text for t in tokens_)


def closing(code, i):
    """The token that closes what code[i] opens, or the last one"""
    depth = 0
    for j in range(i, len(code)):
        if code[j].text in "([{":
            depth += 1
        elif code[j].text in ")]}":
            depth -= 1
            if depth == 0:
                return j
    return len(code) - 1


def bodies(text):
    """Of each function: its name, the tokens between its braces, lines of the braces"""
    code = [t for t in tokens(text) if t.kind in ("string", "number", "name", "sign")]
    i = 0
    while i < len(code):
        token = code[i]
        if token.text != "{" or (token.start and text[token.start - 1] != "\n"):
            i += 1
            continue
        end = closing(code, i)
        yield function_name(code, i), code[i + 1:end], (line_of(text, token.start), line_of(text, code[end].start))
        i = end + 1


def function_name(code, brace):
    """The name before the first parenthesis of its head"""
    first = brace
    while first and code[first - 1].text not in (";", "}"):
        first -= 1
    for i in range(first, brace):
        if code[i + 1].text == "(" and code[i].kind == "name" and not code[i].text.startswith("__attribute"):
            return code[i].text
    return "?"


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def statements(code):
    """(tokens, what ended them): `;`, `:` of a label, or a brace of a block"""
    found, now, depth, asked, value = [], [], 0, 0, False
    for t in code:
        if t.text in "([" or (t.text == "{" and (depth or value)):
            depth += 1
        elif depth and t.text in ")]}":
            depth -= 1
        elif not depth and (t.text in "{};" or (t.text == ":" and not asked)):
            found.append((now, t.text))
            now, asked, value = [], 0, False
            continue
        value = value or (not depth and t.text in ("=", "return"))
        asked += {"?": 1, ":": -1}.get(t.text, 0) if not depth else 0
        now.append(t)
    return found


def declares(statement):
    """It begins by a type and a name."""
    first = statement[0].text
    return first in TYPES or (len(statement) > 1 and statement[0].kind == statement[1].kind == "name" and
                              first not in CONTROL) or \
        (len(statement) > 3 and statement[0].kind == "name" and statement[1].text == "*" and
         statement[2].kind == "name" and statement[3].text in ("=", ",", ";", "*"))


def is_value(token):
    """What stands before a sign that has two sides"""
    return token is not None and ((token.kind in ("name", "number") and token.text not in NO_VALUE) or
                                  token.text in (")", "]"))


def constant(text):
    """The next number; None if it is a unit's"""
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9]+", text).group()
    suffix = text[len(digits):]
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
        low = value & -value
        return f"0x{value ^ low if value != low else value << 1:0{len(digits) - 2}x}{suffix}"
    if is_power_of_ten(digits):
        return None
    return f"{int(digits, 8 if digits[0] == '0' else 10) + 1}{suffix}"


def is_power_of_ten(digits):
    return re.fullmatch(r"10{3,}", digits)


def by_token(statement):
    """(operator, first token, last token, new text) of what needs no more than its neighbours"""
    cast = set()        # a sign after (u64) or (struct x *) has one side
    for i, t in enumerate(statement):
        if t.text == "(":
            inside = statement[i + 1:closing(statement, i)]
            if inside and all(n.kind == "name" or n.text == "*" for n in inside) and \
                    (inside[-1].text == "*" or inside[-1].text in TYPES or
                     re.fullmatch(r"__(be|le)(16|32|64)|[us](8|16|32|64)|size_t", inside[-1].text)):
                cast.add(i + 1 + len(inside))
    header = statement[0].text == "for"
    for i, t in enumerate(statement):
        before = statement[i - 1] if i else None
        after = statement[i + 1] if i + 1 < len(statement) else None
        if t.text in COMPARISONS and t.kind == "sign":
            yield "comparison", t, t, COMPARISONS[t.text]
        elif t.text in SIGNS:
            if t.text in ("++", "--"):
                if not header:
                    yield "sign", t, t, SIGNS[t.text]
            elif t.text in ("+=", "-=") or (is_value(before) and i - 1 not in cast):
                yield "sign", t, t, SIGNS[t.text]
            elif t.text == "-":
                yield "sign", t, t, ""
        elif t.kind == "number":
            yield from of_number(t, before, after)
        elif t.kind == "name":
            yield from of_name(t, after)


def of_number(t, before, after):
    digits = t.text.rstrip("uUlL")
    if is_power_of_ten(digits):
        yield "unit", t, t, str(int(digits) // 1000) + t.text[len(digits):]
    else:
        yield "constant", t, t, constant(t.text)
    if before is None:
        return
    if (digits == "8" and before.text in "*/") or (digits == "3" and before.text in ("<<", ">>")):
        yield "unit", before, t, ""
    elif digits == "8" and after is not None and after.text == "*":
        yield "unit", t, after, ""


def of_name(t, after):
    if t.text in ("true", "false"):
        yield "constant", t, t, "false" if t.text == "true" else "true"
    elif t.text in TIMES:
        yield "unit", t, t, TIMES[t.text]
    elif after is not None and after.text == "(" and BYTE_ORDER.fullmatch(t.text):
        yield "unit", t, t, ""
    elif re.fullmatch(r"(get|put)_unaligned_be(16|32|64)", t.text):
        yield "unit", t, t, t.text.replace("_be", "_le")


def split(code, at):
    """Parts between the signs `at` that are in no parenthesis"""
    parts, now, depth = [], [], 0
    for t in code:
        depth += (t.text in "([{") - (t.text in ")]}")
        if t.text in at and depth == 0:
            parts.append(now)
            now = []
        else:
            now.append(t)
    return parts + [now]


def exchange(text, a, b):
    """Tokens a and b, which stands behind them, change places; what is between them stays."""
    first, second = slice(a[0].start, a[-1].end), slice(b[0].start, b[-1].end)
    return first.start, second.stop, text[second] + text[first.stop:second.start] + text[first]


def pointers(text):
    """Type of what a file declares as a pointer, by its last name; a name has one meaning in most files"""
    found = re.findall(r"((?:struct|union)\s+\w+|(?:__)?(?:[us]|be|le)(?:8|16|32|64)|char|void|int|bool|\w+_t)\s+"
                       r"((?:\*+\w+(?:\s*=[^;,]*)?,\s*)*\*+\w+)", text)
    return {name: kind for kind, names in found for name in re.findall(r"\*+(\w+)", names)}


def points(argument, types):
    """The type that an argument points to, "?" if it is not known, None for a number"""
    if argument[0].text == "&" or argument[0].kind == "string":
        return "?" if argument[0].text == "&" else "char"
    last = argument[-1].text
    if all(t.kind == "name" or t.text in ("->", ".") for t in argument):
        return types.get(last, "?" if last == "NULL" else None)
    return None


def arguments(text, statement, types):
    """Neighbours in a call that are no obvious mismatch"""
    for i, t in enumerate(statement[:-1]):
        if t.kind != "name" or statement[i + 1].text != "(" or t.text in NO_VALUE or t.text in SYMMETRIC or \
                IGNORED.match(t.text) or LOCKS.match(t.text):
            continue
        given = split(statement[i + 2:closing(statement, i + 1)], {","})
        for a, b in zip(given, given[1:]):
            if not a or not b or words(a) == words(b) or \
                    any(x[0].text in TYPES or re.fullmatch(r"[us](8|16|32|64)", words(x)) for x in (a, b)):
                continue
            to = points(a, types), points(b, types)
            if to[0] == to[1] or (None not in to and "?" in to):
                yield exchange(text, a, b)


def guards(left, right):
    """The right arm must not be looked at before the left one: it goes through a pointer or an index that that
    one looks at, or changes something."""
    if any(t.text in ASSIGNMENTS or t.text in ("++", "--") for t in right):
        return True
    pointer = words([t for t in left if t.text not in ("!", "(", ")")])
    found = " " + words(right) + " "
    if re.fullmatch(r"[\w>.\- ]+", pointer) and (f" {pointer} -> " in found or f" * {pointer} " in found):
        return True
    index = left[0].text if len(left) > 1 and left[1].text in ("<", "<=") else None
    return index is not None and f"[ {index} ]" in found


def arms(text, statement):
    """Of && and || that are in one parenthesis"""
    ends = ASSIGNMENTS | {",", "?", ":", "return", ";"}
    groups = [statement] + [statement[i + 1:closing(statement, i)]
                            for i, t in enumerate(statement) if t.text == "("]
    for group in groups:
        for part in split(group, ends):
            either = split(part, {"||"})
            for chain in [either] + [split(arm, {"&&"}) for arm in either]:
                for a, b in zip(chain, chain[1:]):
                    if a and b and guards(a, b):
                        yield exchange(text, a, b)


def changed(statement):
    """What a statement writes to, as words; None if that cannot be seen"""
    if statement[0].text in WRITE:
        first = split(statement[2:closing(statement, 1)], {","})[0]
        return words(first[1:] if first and first[0].text == "&" else first)
    for i, t in enumerate(statement):
        if t.text in ASSIGNMENTS:
            return words(statement[:i])
    if statement[-1].text in ("++", "--"):
        return words(statement[:-1])
    return words(statement[1:]) if statement[0].text in ("++", "--") else None


def plain(statement, end):
    """One expression, of which an order can matter"""
    if end != ";" or not statement or statement[0].text in CONTROL or declares(statement):
        return False
    if any(t.kind == "name" and (LOCKS.match(t.text) or IGNORED.match(t.text)) for t in statement):
        return False
    if statement[0].kind == "name" and len(statement) > 1 and statement[1].text == "(":
        return closing(statement, 1) == len(statement) - 1      # else a macro that repeats what follows
    return True


def depend(a, b):
    """One uses what the other changes, or both are calls that are given one thing and may change it."""
    for one, other in ((a, b), (b, a)):
        lvalue = changed(one)
        if lvalue and f" {lvalue} " in f" {words(other)} ":
            return True
    names = [{t.text for i, t in enumerate(s) if t.kind == "name" and
              (i + 1 == len(s) or s[i + 1].text != "(")} for s in (a, b)]
    calls = [any(t.kind == "name" and s[i + 1].text == "(" and t.text not in WRITE and not PURE.match(t.text)
                 for i, t in enumerate(s[:-1])) for s in (a, b)]
    return all(calls) and bool(names[0] & names[1])


def places(text):
    """All mutants of a file, in its order"""
    found, types = [], pointers(text)
    for function, code, lines in bodies(text):
        parts = statements(code)
        for number, (statement, end) in enumerate(parts):
            if not statement or IGNORED.match(statement[0].text) or \
                    (declares(statement) and not any(t.text == "=" for t in statement)):
                continue
            skipped = {t.start for i, t in enumerate(statement[:-1]) if t.kind == "name" and IGNORED.match(t.text)
                       and statement[i + 1].text == "("
                       for t in statement[i:closing(statement, i + 1) + 1]}
            mutants = [(operator, first.start, last.end, new) for operator, first, last, new in by_token(statement)
                       if first.start not in skipped and new is not None]
            mutants += [("order", *m) for m in arguments(text, statement, types)]
            mutants += [("order", *m) for m in arms(text, statement)]
            following = parts[number + 1] if number + 1 < len(parts) else ([], "")
            if plain(statement, end) and plain(*following) and words(statement) != words(following[0]) and \
                    depend(statement, following[0]):
                mutants.append(("order", *exchange(text, statement, following[0])))
            found += [Place(*m, function, lines) for m in mutants]
    return sorted(set(found), key=lambda p: (p.start, p.end, p.operator, p.new))


def apply(text, place):
    return text[:place.start] + place.new + text[place.end:]


def diff(name, text, place):
    a, b = (t.splitlines(keepends=True) for t in (text, apply(text, place)))
    return "".join(difflib.unified_diff(a, b, f"a/{name}", f"b/{name}"))


def key(name, text, place):
    """The mutant by what it says, the same in each commit in which the lines around it are: file, function, the
    lines before and after with one more on both sides, without their blanks at the ends."""
    a, b = ([line.strip() for line in t.splitlines()] for t in (text, apply(text, place)))
    first = line_of(text, place.start) - 1
    last = line_of(text, place.end)
    around = (name, place.function, *a[max(first - 1, 0):last + 1], *b[first:last + len(b) - len(a)])
    return hashlib.sha256("\0".join(around).encode()).hexdigest()[:12]


def number(seed, counter, use):
    """A number from the stream. SHA-256 and no generator of Python's, of which another version may make another
    one of the same seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{counter}:{use}".encode()).digest()[:8], "big")


def draws(seed, by_operator):
    """Without end: (counter, file, place). Operators are equally likely, and so are all places of one."""
    counter = 0
    kinds = [o for o in OPERATORS if by_operator.get(o)]
    while kinds:
        found = by_operator[kinds[number(seed, counter, "operator") % len(kinds)]]
        yield (counter, *found[number(seed, counter, "place") % len(found)])
        counter += 1


def by_operator(texts):
    """Of the files' texts by name: (name, place) by operator, in one order"""
    found = {operator: [] for operator in OPERATORS}
    for name in sorted(texts):
        for place in places(texts[name]):
            found[place.operator].append((name, place))
    return found
