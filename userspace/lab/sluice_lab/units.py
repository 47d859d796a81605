# SPDX-License-Identifier: GPL-2.0-only
"""Rates, times and sizes as people write them, and errors that name a file's line."""

import re


class LabError(Exception):
    """What a person did wrong or is missing; its text is all that is printed."""


class FileError(LabError):
    """Something is wrong with a line of a file."""

    def __init__(self, path, line, reason):
        self.path, self.line, self.reason = path, line, reason
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")


def read_text(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        raise LabError(f"{path}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise LabError(f"{path}: this is no text") from None


RATES = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
# As the papers count, unlike tc: kB is 1000 bytes, KiB 1024.
SIZES = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9,
         "kib": 2**10, "mib": 2**20, "gib": 2**30}
# What axes are labelled in, by what they show
AXES = {"time": TIMES,
        "size": {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9},
        "rate": {"bit/s": 1, "kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12},
        "number": {"": 1, "thousands": 10**3, "millions": 10**6},
        "percent": {"%": 1}}


def _number(text, units, what):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-zA-Z]*)", text)
    if not match or match[2].lower() not in units:
        wanted = ", ".join(u for u in units if u)
        raise ValueError(f"\"{text}\" is no {what}: a number and one of {wanted}")
    whole, _, part = match[1].partition(".")
    scaled = int(whole + part) * units[match[2].lower()]
    if scaled % 10**len(part):
        raise ValueError(f"\"{text}\" is finer than a {what} can be")
    return scaled // 10**len(part)


def rate(text):
    """Bits per second, above 0."""
    value = _number(text, RATES, "rate")
    if not value:
        raise ValueError("a rate is more than 0")
    return value


def time(text):
    """Nanoseconds."""
    return _number(text, TIMES, "time")


def size(text):
    """Bytes."""
    return _number(text, SIZES, "size")


def _words(value, units):
    for name, unit in sorted(units.items(), key=lambda u: -u[1]):
        if value and value % unit == 0:
            return f"{value // unit}{name}"
    return f"0{min(units, key=units.get)}"


def rate_words(bps):
    return _words(bps, RATES)


def time_words(ns):
    return _words(ns, TIMES)


def of_axis(kind, largest):
    """(name, value) of the largest unit of which there are three."""
    return max(((n, u) for n, u in AXES[kind].items() if u == 1 or largest >= 3 * u), key=lambda unit: unit[1])
