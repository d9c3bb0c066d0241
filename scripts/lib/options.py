# SPDX-License-Identifier: GPL-2.0
"""What the command lines of our scripts have in common."""

import argparse
import re
import sys

import kernel


class Interrupted(BaseException):
    """A signal asked for the end."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


class Parser(argparse.ArgumentParser):
    """Refuses in one line, which begins with the script's name."""

    def __init__(self, name, **kwargs):
        super().__init__(prog=f"scripts/{name}", allow_abbrev=False, **kwargs)
        self.name = name

    def error(self, message):
        print(f"{self.name}: {message}", file=sys.stderr)
        sys.exit(2)


def number(low, high):
    """An argparse type: a whole number in low..high."""
    def convert(text):
        if not re.fullmatch(r"[0-9]{1,12}", text) or \
                not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"'{text}': want a whole number from {low} to {high}")
        return int(text)
    return convert


def series(text):
    """An argparse type: a kernel series that we know."""
    if text not in kernel.SERIES:
        raise argparse.ArgumentTypeError(
            f"'{text}': want one of {', '.join(kernel.SERIES)}")
    return text
