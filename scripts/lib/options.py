# SPDX-License-Identifier: GPL-2.0
"""The common part of our scripts' command lines."""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import kernel
import toolname

REPO = pathlib.Path(__file__).resolve().parents[2]


class Interrupted(BaseException):
    """A signal asked for the end."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def catch_signals():
    """Each of them raises Interrupted from now on; {signal: its handler before}."""
    def on_signal(number, _):
        raise Interrupted(number)
    return {number: signal.signal(number, on_signal) for number in SIGNALS}


def ignore_signals():
    """While what there is is written down."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def reader_gone():
    """The status after a BrokenPipeError; what is still written to stdout is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 128 + signal.SIGPIPE


def end(child, seconds=20):
    """Asks a process to end, and sees to it."""
    if child and child.poll() is None:
        child.terminate()
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def later(name):
    """A module of ours that is loaded when something of it is first used.

    It wants packages that may still be missing when options are looked at.
    """
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        spec.loader = importlib.util.LazyLoader(spec.loader)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def need(*groups):
    """Installs what is missing of these groups of scripts/deps, or ends here.

    Call this when the options are known to be good, so that a typo fails before
    packages are installed. Installed tools have no such script, but a package
    that names their dependencies.
    """
    deps = REPO / "scripts" / "deps"
    if deps.exists() and subprocess.run([deps, *groups],
                                        check=False).returncode:
        sys.exit(1)


class Parser(argparse.ArgumentParser):
    """Refuses in one line, which begins with the script's name."""

    def __init__(self, name, **kwargs):
        super().__init__(prog=toolname.command(name),
                         allow_abbrev=False, **kwargs)
        self.name = toolname.prefix(name)

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


def add_kernel(add):
    """The option --kernel of a command that boots one kernel."""
    add("--kernel", type=series, default=kernel.USUAL, metavar="SERIES",
        help=", ".join(kernel.SERIES) + f" (default {kernel.USUAL})")


def words(known, example=()):
    """An argparse type: a list, commas between; of `known` words, if any.

    Where any word will do, `example` says in a refusal what some are.
    """
    def convert(text):
        found = tuple(dict.fromkeys(w for w in text.split(",") if w))
        bad = next((w for w in found if known and w not in known), None)
        if bad is not None or not found:
            raise argparse.ArgumentTypeError(
                f"'{bad or text}': want one or more of "
                + ",".join(known or example))
        return found
    return convert


def numbers(low, high, example):
    """An argparse type: a list, commas between, of such numbers."""
    def convert(text):
        found = [w for w in text.split(",") if w]
        if not found:
            raise argparse.ArgumentTypeError(
                f"'{text}': want whole numbers from {low} to {high}, such as "
                f"{example}")
        return tuple(dict.fromkeys(map(number(low, high), found)))
    return convert


def new_folder(text):
    """An argparse type: a directory that is empty or not there."""
    path = pathlib.Path(text)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise argparse.ArgumentTypeError(
            f"'{text}': want a name that is free, or an empty directory")
    return path


def new_file(text):
    """An argparse type: a file that may be written, in a directory that exists."""
    path = pathlib.Path(text)
    if not text or path.is_dir() or not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{text}': want the name of a file, in a directory that exists")
    return text


def output_of(*command):
    """The output of a command, "" if it cannot be run or fails."""
    try:
        done = subprocess.run(command, cwd=REPO, text=True, check=False,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def commit():
    """The project's commit, "-dirty" behind it if files differ."""
    return output_of("git", "describe", "--always", "--dirty", "--abbrev=12",
                     "--match=v[0-9]*") or "unknown"


def write_json(path, what):
    """Writes all of the file or nothing: a signal may arrive at any time."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def shown(path):
    """A path as a user would type it from here."""
    path = pathlib.Path(os.path.abspath(path))
    try:
        return str(path.relative_to(pathlib.Path.cwd()))
    except ValueError:
        return str(path)


def minutes(seconds):
    """A time to wait, in words."""
    seconds = int(seconds + 0.5)
    return f"{seconds // 60} min {seconds % 60:02d} s" if seconds >= 60 \
        else f"{seconds} s"
