#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""samples.py FILE: does what a document shows of a terminal look like that? As lines "ok|not ok NAME".

Blocks of Markdown that begin with ```console have commands, behind "# ", and below each what it prints. One
shell runs all commands of a document in their order. Numbers are any numbers, whatever their unit, as addresses of devices
are any; a line "..." is any lines. A command that prints nothing has to succeed. Blocks that begin with
```console long are not run, but listed.
"""

import re
import subprocess
import sys

END = "samples.py: end"


def blocks(path):
    """[(line number, long, [(line number, command, [lines])])]"""
    found, inside = [], False
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not inside and line.startswith("```console"):
                inside = True
                found.append((number, "long" in line.split(), []))
            elif inside and line == "```":
                inside = False
            elif inside and line.startswith("# "):
                found[-1][2].append((number, line[2:], []))
            elif inside:
                if not found[-1][2]:
                    sys.exit(f"{path}:{number}: a block of the console begins with a command")
                found[-1][2][-1][2].append(line)
    if inside:
        sys.exit(f"{path}: a block has no end")
    return found


def masked(line):
    line = re.sub(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", "MAC", line)
    line = re.sub(r"(?<![A-Za-z_])\d+(\.\d+)?[A-Za-z%]*", "N", line)
    return " ".join(re.sub(r"N(,N)+", "N", line).split())


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


class Shell:
    def __init__(self):
        self.bash = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     text=True, bufsize=1)

    def run(self, command):
        """(exit status, lines)"""
        self.bash.stdin.write(f"{command}\necho \"{END} $?\"\n")
        lines = []
        for line in self.bash.stdout:
            at = line.find(END)
            if at >= 0:
                if at:
                    lines.append(line[:at])
                return int(line[at + len(END):]), lines
            lines.append(line.rstrip("\n"))
        return None, lines


def main():
    path = sys.argv[1]
    shell, failed = Shell(), 0
    for start, is_long, commands in blocks(path):
        if is_long:
            print(f"# long, not run: {path}:{start}")
            continue
        for number, command, shown in commands:
            status, printed = shell.run(command)
            if status is None:
                wrong = "the shell ended"
            elif not shown and (status or printed):
                wrong = f"status {status}, prints {printed}"
            else:
                wrong = alike(shown, printed)
            failed += wrong is not None
            print(f"{'ok' if wrong is None else 'not ok'} {path}:{number}: {command}")
            if wrong:
                print(f"# {wrong}")
            if status is None:
                return 1
    return failed > 0


sys.exit(main())
