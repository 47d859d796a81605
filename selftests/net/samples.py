#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The command lines and samples of output of a document in Markdown, and whether they are true.

    samples.py FILE...      runs those that User-Mode Linux is for, as lines "ok|not ok NAME"

A sample is a block of text that is indented by four columns or fenced, or a heading that is all code, which is a message. Its
class is in a comment before the block, or behind the heading, or for a fence in the words behind its three quotes:

    uml                 in User-Mode Linux (samples.sh)
    vm                  in a virtual machine, for what User-Mode Linux lacks (../samples --long)
    here                in user space, in a copy of the tree with its programs built (../samples)
    root, guest         in a clean root of the distribution; the same booted, with systemd (../packaging/check)
    long                in a clean copy of the tree, hours (../samples --long)
    step NAME...        a step of selftests/check, of `make check-all` at least, is that
    as FILE             another document has the same command, and it is run there
    no: REASON          not run
    text                neither a command nor the output of one: a picture, a format, and whatever begins with ```c

One word is for all commands of the block; more than one, with commas, are for one each. `uml 5s` goes on for ever: it
is stopped after that time, and well if it has not failed by then. `uml prints: COMMAND` is of a block or a message
that the command, which the document does not show, prints, and `here takes: COMMAND` of one that the command reads. Further
lines of the comment, `uml: COMMAND`, come before the commands of their class.

In a block that begins with ```console, commands are behind "# " or "$ ", and below each is what it prints. Of that and
of messages numbers are any numbers, whatever their unit, as addresses of devices are any; a line "..." is any lines. A
command that prints nothing has to succeed. One shell runs all commands of a document, in their order.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time

END = "samples.py: end"
RUN = ("uml", "vm", "here", "root", "guest", "long")    # classes that are run, each in its place
LIMIT_S = 4 * 3600                              # of one command
NOISE = re.compile("Running as user .* could be dangerous")     # tshark's, as root
UNITS = {"s": 1, "m": 60, "h": 3600}
WAY = re.compile(rf"({'|'.join(RUN)})( \d+[smh])?|(step|as)((?: [\w./-]+)+)|(no|text)")


class Wrong(Exception):
    """The document cannot be understood. The words say where."""


class Way:
    """How one command is run: `name` is the class, `seconds` after which it is stopped, `words` behind step and as."""

    def __init__(self, text, reason):
        m = WAY.fullmatch(text)
        if not m:
            raise Wrong(f"there is no class {text!r}")
        self.name = m[1] or m[3] or m[5]
        self.seconds = int(m[2][1:-1]) * UNITS[m[2][-1]] if m[2] else None
        self.words = (m[4] or "").split()
        self.reason = reason
        if self.name == "no" and not reason:
            raise Wrong("not run, and no reason why")


class Command:
    def __init__(self, number, text, shown=None, label=None):
        self.number = number
        self.text = text
        self.label = label or re.sub(r"\s+# .*", "", text)
        self.shown = shown              # lines that it prints, or None if the document does not say
        self.way = None


class Block:
    def __init__(self, path, number):
        self.path = path
        self.number = number
        self.before = []                # commands that the document does not show, behind their class
        self.commands = []
        self.ways = []                  # of each command, or of a block without any
        self.console = False
        self.message = None             # the heading, if it is one: it is in some line of the output

    def where(self, command=None):
        return f"{self.path}:{(command or self).number}"


def ways(text, count, reason):
    """As many Ways as there are commands."""
    found = [Way(word.strip(), reason) for word in text.split(",")]
    if len(found) == 1:
        return found * count
    if len(found) != count:
        raise Wrong(f"{len(found)} classes for {count} commands")
    return found


def classify(block, comment, lines):
    """A block or message with the comment before or behind it: lines, the first of which has the classes."""
    spec, _, rest = comment[0].partition(":")
    spec, rest = spec.strip(), rest.strip()
    for line in comment[1:]:
        name, colon, text = line.strip().partition(":")
        if name not in RUN or not colon:
            raise Wrong(f"commands of no class come before it: {line}")
        block.before.append((name, text.strip()))
    for what in " prints", " takes":
        if spec.endswith(what):
            shown = lines if what == " prints" else None
            text = rest if what == " prints" else f"{{ {rest}\n}} <<'end of the sample'\n" + "\n".join(lines) + "\nend of the sample"
            block.commands = [Command(block.number, text, shown, rest)]
            spec, rest = spec.removesuffix(what), ""
    block.ways = ways(spec, len(block.commands) or 1, rest)
    for command, way in zip(block.commands, block.ways):
        command.way = way


def commands(number, lines):
    """Of an indented block: a comment of the shell of its own is none, a line that ends with \\ goes on."""
    found, begun, start = [], "", number
    for at, line in enumerate(lines, number):
        line = line.strip()
        if not begun and (not line or line.startswith("#")):
            continue
        if not begun:
            start = at
        begun += line
        if begun.endswith("\\"):
            begun = begun.removesuffix("\\").rstrip() + " "
        else:
            found.append(Command(start, begun))
            begun = ""
    return found


def console(number, lines):
    found = []
    for at, line in enumerate(lines, number):
        if line.startswith(("# ", "$ ")):
            found.append(Command(at, line[2:], []))
        elif found:
            found[-1].shown.append(line)
        else:
            raise Wrong("a block of the console begins with a command")
    return found


def parts(text):
    """Of a document: (kind, line number, words behind the quotes, lines) of each block, comment and heading, and of text."""
    lines, n, blank = text.split("\n"), 0, True
    while n < len(lines):
        line, start = lines[n], n
        if line.startswith("```"):
            n += 1
            while n < len(lines) and lines[n] != "```":
                n += 1
            if n == len(lines):
                raise Wrong(f"the block of line {start + 1} has no end")
            yield "fence", start + 1, line[3:].strip(), lines[start + 1:n]
        elif line.startswith("    ") and blank:
            while n < len(lines) and (lines[n].startswith("    ") or not lines[n].strip()):
                n += 1
            while not lines[n - 1].strip():
                n -= 1
            yield "indented", start + 1, "", lines[start:n]
            continue
        elif line.startswith("<!--"):
            while "-->" not in lines[n]:
                n += 1
                if n == len(lines):
                    raise Wrong(f"the comment of line {start + 1} has no end")
            inside = "\n".join(lines[start:n + 1]).removeprefix("<!--").partition("-->")[0]
            yield "comment", start + 1, "", inside.strip().split("\n")
        elif line.strip():
            yield "message" if re.fullmatch(r"#+ `[^`]+`", line) else "text", start + 1, "", [line]
        blank = not line.strip() or line.startswith(("<!--", "```"))
        n += 1


def blocks(path):
    """Of a document. Raises Wrong, with the place, for a sample without a class."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found, comment, message = [], None, None
    number = 1
    try:
        for kind, number, words, lines in [*parts(text), ("text", 0, "", [])]:
            if message and kind != "comment":
                number = message.number
                raise Wrong("a message without a class")
            if kind == "comment":
                if message:
                    classify(message, lines, [re.search("`(.*)`", message.message)[1]])
                    found.append(message)
                comment, message = lines if not message else None, None
                continue
            if kind == "message":
                message = Block(path, number)
                message.message = lines[0]
            elif kind != "text":
                block = Block(path, number)
                block.console = words.split()[:1] == ["console"]
                if block.console:
                    words = " ".join(words.split()[1:]) or ("" if comment else "uml")
                if words == "c":
                    words = "text"
                if words and comment:
                    raise Wrong("its class is said twice")
                if not words and not comment:
                    raise Wrong("a block without a class: see selftests/net/samples.py")
                first = number + (kind == "fence")
                shown = [line.removeprefix("    ") for line in lines] if kind == "indented" else lines
                if block.console:
                    block.commands = console(first, lines)
                elif (words or comment[0]).split()[0].rstrip(":,") != "text":
                    block.commands = commands(first, lines)
                classify(block, [words] if words else comment, shown)
                found.append(block)
            comment = None
    except Wrong as e:
        raise Wrong(f"{path}:{number}: {e}") from None
    return found


def masked(line):
    """A line of which numbers, and addresses of devices, are no part."""
    line = re.sub(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", "MAC", line)
    line = re.sub(r"(?<![A-Za-z_])\d+(\.\d+)?[A-Za-z%]*", "N", line)
    return " ".join(re.sub(r"N([,-]N)+", "N", line).split())


def alike(shown, printed):
    """Lines, each the like of its other, but for "...": None, or what is not."""
    if not shown:
        return f"prints {printed[0]!r}, should print nothing more" if printed else None
    if shown[0].strip() == "...":
        for skip in range(len(printed) + 1):
            if alike(shown[1:], printed[skip:]) is None:
                return None
        return f"there is no {shown[1]!r}" if len(shown) > 1 else None
    if not printed:
        return f"does not print {shown[0]!r}"
    if masked(shown[0]) != masked(printed[0]):
        return f"prints {printed[0]!r}, not the like of {shown[0]!r}"
    return alike(shown[1:], printed[1:])


def said(message, printed):
    """Is the message, in which ... are any words, in one of the lines?"""
    pattern = ".*".join(re.escape(masked(part)) for part in message.split("..."))
    if any(re.search(pattern, masked(line)) for line in printed):
        return None
    return f"says {printed}, and nowhere {message!r}"


class Shell:
    """A shell in a session of its own, so that whatever it started ends with it. If it has ended there is another one."""

    def __init__(self, cwd=None, env=None):
        self.cwd, self.env = cwd, env
        self.start()

    def start(self):
        self.bash = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     cwd=self.cwd, env=self.env, start_new_session=True)
        self.rest = b""

    def line(self, until):
        """The next one; None if the shell has ended, or it has become too late."""
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.bash.stdout], [], [], left)[0]:
                return None
            more = os.read(self.bash.stdout.fileno(), 65536)
            if not more:
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode(errors="replace")

    def run(self, command, seconds=LIMIT_S):
        """(exit status, lines); without status if the shell or the time came to its end."""
        if self.bash.poll() is not None:
            self.start()
        until, lines = time.monotonic() + seconds, []
        self.bash.stdin.write(f"{{ {command}\n}} </dev/null\necho \"{END} $?\"\n".encode())
        self.bash.stdin.flush()
        while (line := self.line(until)) is not None:
            at = line.find(END)
            if at >= 0:
                return int(line[at + len(END):]), lines + ([line[:at]] if at else [])
            if not NOISE.match(line):
                lines.append(line)
        self.end()
        return None, lines

    def end(self):
        for sent in signal.SIGTERM, signal.SIGKILL:
            try:
                os.killpg(self.bash.pid, sent)
                self.bash.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def try_command(shell, block, command, limit=LIMIT_S):
    """None, or what is wrong with it, and the lines that it printed."""
    text, seconds = command.text, command.way.seconds
    if seconds:
        quoted = "'" + text.replace("'", "'\\''") + "'"
        text = f"timeout --kill-after=30 --signal=INT {seconds} bash -c {quoted}"
    status, printed = shell.run(text, limit)
    if status is None:
        return "the shell ended, or the time", printed
    if seconds and status in (124, 130):
        status = 0
    if command.shown is None:
        return f"status {status}" if status else None, printed
    if block.message:
        return said(command.shown[0], printed), printed
    if not command.shown and status:
        return f"status {status}, prints {printed}", printed
    return alike(command.shown, printed), printed


def try_block(shell, block, name, limit=LIMIT_S):
    """Runs its commands of this class. Yields (command, None or what is wrong, lines)."""
    mine = [command for command in block.commands if command.way.name == name]
    for text in [text for whose, text in block.before if mine and whose == name]:
        status, printed = shell.run(text, limit)
        if status != 0:
            yield Command(block.number, text), f"comes before the block, status {status}", printed
    for command in mine:
        yield (command, *try_command(shell, block, command, limit))


def verdict(block, command, wrong, printed):
    """As lines of a test."""
    print(f"{'not ok' if wrong else 'ok'} {block.where(command)}: {command.label}")
    if wrong:
        print(*(f"# {line}" for line in [wrong, *printed[-20:]]), sep="\n")
    sys.stdout.flush()


def main(paths):
    """Behind each block a line "rest": it goes on when standard input says so, and the devices are as before. At last "end"."""
    for path in paths:
        shell = Shell()
        for block in blocks(path):
            for command, wrong, printed in try_block(shell, block, "uml"):
                verdict(block, command, wrong, printed)
            if not block.console and "uml" in [way.name for way in block.ways]:
                print("rest", flush=True)
                sys.stdin.readline()
        shell.end()
    print("end")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as e:
        sys.exit(str(e))
