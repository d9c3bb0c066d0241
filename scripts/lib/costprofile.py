# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-cost --profile: instructions of each function for an I/O.

A plugin of QEMU (profile-plugin.c) counts the guest's instructions by address, those with
interrupts off separately. The counts are exact and include interrupt handlers. perf is no
alternative: a guest in virtual time has only cpu-clock, a timer, which cannot sample code
that runs with interrupts off.
"""

import bisect
import collections
import fcntl
import pathlib
import re
import shutil
import subprocess

import qemu

REPO = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

KERNEL, USER = "kernel", "user space"
# Schedulers that Debian builds into the kernel: names of their functions.
BUILT_IN = {"mq-deadline": r"(__)?(dd|deadline)_\w+"}
# Functions of the kernel in a table; functions in a picture.
OTHERS, BARS = 40, 30
# Versions of QEMU's interface for which profile-plugin.c is written.
PLUGIN_APIS = (1, 2)
# Instructions an I/O: smaller figures are left out.
LEAST = 0.05


class ProfileError(ValueError):
    """An error in the counts, one line."""


# --- the programs -----------------------------------------------------------

def refusal(plugin):
    """Why QEMU does not load a plugin, "" if it does or if there is no QEMU."""
    if not shutil.which(qemu.QEMU):
        return ""
    option = str(plugin).replace(",", ",,")
    done = subprocess.run(
        [qemu.QEMU, "-machine", "none", "-nodefaults", "-display", "none", "-S",
         "-monitor", "stdio", "-plugin", f"file={option},out=/dev/null"],
        input="quit\n", text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    return done.stdout.strip() if done.returncode else ""


def _compile(source, target, words):
    done = subprocess.run(
        ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", *words, "-o", target,
         HERE / source], text=True, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(f"{source} does not build: {done.stdout.strip()}")


def build_plugin(target):
    """Compiles the plugin for an interface that this machine's QEMU has."""
    for api in PLUGIN_APIS:
        _compile("profile-plugin.c", target,
                 ["-shared", "-fPIC", f"-DAPI={api}"])
        trouble = refusal(target)
        if not trouble:
            return
    raise RuntimeError(f"{qemu.QEMU} does not load profile-plugin.c: {trouble}")


def build(folder):
    """Compiles plugin.so for QEMU and files/profile-mark for the guest."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        plugin, mark = folder / "plugin.so", files / "profile-mark"
        new = folder / "plugin.so.new"
        build_plugin(new)
        new.replace(plugin)
        new = folder / "profile-mark.new"
        _compile("profile-mark.c", new, ["-nostdlib", "-static"])
        new.replace(mark)


def vm_options(folder, counts, out):
    """Options of scripts/vm to count a guest's instructions."""
    quoted = str(counts).replace(",", ",,")
    plugin = str(folder / "plugin.so").replace(",", ",,")
    return ["--files", str(folder / "files"), "--out", str(out),
            "--qemu", f"-plugin 'file={plugin},out={quoted}'"]


# --- reading ----------------------------------------------------------------

class Symbols:
    """The guest's functions by address, from lines of /proc/kallsyms."""

    def __init__(self, *texts):
        found = {}
        for text in texts:
            for line in text.splitlines():
                match = re.match(r"([0-9a-f]+) [tTwW] (\S+)(?:\s+\[(\S+)\])?$", line)
                if not match:
                    continue
                addr, function = int(match[1], 16), (match[2], match[3] or KERNEL)
                # An address may have several names, such as those of sections.
                if addr not in found or self._better(found[addr][0], match[2]):
                    found[addr] = function
        if not any(found):
            raise ProfileError("no addresses of functions: want lines of /proc/kallsyms "
                               "as root reads them")
        self.addrs = sorted(found)
        self.functions = [found[addr] for addr in self.addrs]

    @staticmethod
    def _better(old, new):
        """Is `new` a better name for an address than `old`?"""
        def badness(name):
            return (name.startswith("__pfx_") or
                    bool(re.search(r"_(start|end|begin)$", name)), len(name), name)
        return badness(new) < badness(old)

    def entered(self, addr):
        """Is it the address of a function's first instruction?"""
        at = bisect.bisect_left(self.addrs, addr)
        return at < len(self.addrs) and self.addrs[at] == addr

    def at(self, addr):
        """(function, module) at an address; address 0 is user space."""
        if not addr:
            return USER, USER
        at = bisect.bisect_right(self.addrs, addr) - 1
        return self.functions[at] if at >= 0 else (f"{addr:#x}", KERNEL)


def marks(lines):
    """Yields (number of a mark, {address: (runs, on, off)}) of the plugin's file."""
    number, block = None, {}
    for line in lines:
        match = re.fullmatch(r"mark (\d+)\n?", line)
        if match:
            if number is not None:
                yield number, block
            number, block = int(match[1]), {}
            continue
        words = line.split()
        try:
            addr, counts = int(words[0], 16), tuple(map(int, words[1:]))
        except (ValueError, IndexError):
            raise ProfileError(f"no line of a profile: {line.strip()!r}") from None
        if number is None or len(counts) != 3:
            raise ProfileError(f"no line of a profile: {line.strip()!r}")
        old = block.get(addr, (0, 0, 0))
        block[addr] = tuple(map(sum, zip(old, counts)))
    if number is not None:
        yield number, block


def per_io(found, parts, symbols):
    """{(function, module): [instructions an I/O, with interrupts off, calls an I/O]}.

    found: the cell's counts, {number of a mark: {address: (runs, on, off)}}.
    parts: (which, I/Os, number of the mark at its end) of each run of the cell. The work
    for each I/O is the difference between the long and the short runs.
    """
    sums, ios = collections.defaultdict(lambda: [0, 0, 0]), 0
    kinds = collections.Counter(which for which, _, _ in parts)
    if kinds["short"] != kinds["long"] or not parts:
        raise ProfileError(f"{kinds['short']} short and {kinds['long']} long runs")
    for which, count, mark in parts:
        sign = 1 if which == "long" else -1
        ios += sign * count
        if mark not in found:
            raise ProfileError(f"no counts of mark {mark}")
        for addr, (runs, on, off) in found[mark].items():
            function = sums[symbols.at(addr)]
            function[0] += sign * (on + off)
            function[1] += sign * off
            function[2] += sign * runs * symbols.entered(addr)
    if ios <= 0:
        raise ProfileError("the long runs are not the longer ones")
    return {function: [count / ios for count in counts]
            for function, counts in sums.items()}


# --- the result -------------------------------------------------------------

def same_load(cell, scheduler):
    """The id of the cell that has the same load with another scheduler."""
    place, _, rest = cell["id"].partition(".")
    suffix = rest[rest.index(f"-{cell['tenants']}-tenant"):] if cell.get("tenants") else ""
    return f"{place}.{scheduler}{suffix}"


def is_own(function, module, scheduler):
    """Does a function belong to the scheduler?"""
    name = scheduler.replace("-", "_")
    return module in (name, name + "_iosched") or module == KERNEL and \
        bool(re.fullmatch(BUILT_IN.get(scheduler, "(?!)"), function))


def result(profile, base, scheduler):
    """The profile of a cell in profile.json; base: per_io() of `none`, or None."""
    total = sum(counts[0] for counts in profile.values())
    functions = []
    for key in sorted(set(profile) | set(base or ()),
                      key=lambda key: (-profile.get(key, (0, 0))[0], key)):
        counts = profile.get(key, (0, 0, 0))
        more = counts[0] - base.get(key, (0, 0))[0] if base is not None else None
        if max(abs(counts[0]), abs(more or 0)) >= LEAST:
            functions.append({
                "function": key[0], "module": key[1],
                "instructions_per_io": round(counts[0], 3),
                "interrupts_off_per_io": round(counts[1], 3),
                "calls_per_io": round(counts[2], 4),
                "share": round(counts[0] / total, 6),
                "over_none": None if more is None else round(more, 3),
                "own": is_own(*key, scheduler)})
    own = [key for key in profile if is_own(*key, scheduler)]
    return {
        "instructions_per_io": total,
        "interrupts_off_per_io": sum(counts[1] for counts in profile.values()),
        "own_per_io": sum(profile[key][0] for key in own),
        "own_interrupts_off_per_io": sum(profile[key][1] for key in own),
        "modules": {module: round(sum(
            counts[0] for key, counts in profile.items() if key[1] == module), 3)
            for module in sorted({key[1] for key in profile})},
        "functions": functions}


def _line(name, count, off, total, more, module="", calls=None):
    return (f"{count:9.1f} {100 * count / total:6.2f} {off:9.1f} "
            + (f"{more:+8.1f} " if more is not None else f"{'-':>8} ")
            + (f"{calls:7.2f}" if calls else f"{'-':>7}") + f"  {name}" + (f" [{module}]" if module else ""))


def others(cell):
    """Functions outside of the scheduler, by their difference from `none`.

    Those of `none` itself are ordered by their cost. A negative count is left out: it is
    work of fio's start or end that differed between the runs.
    """
    key = "instructions_per_io" if cell["scheduler"] == "none" or \
        cell["functions"][0]["over_none"] is None else "over_none"
    return sorted((f for f in cell["functions"]
                   if not f["own"] and f["instructions_per_io"] > -LEAST),
                  key=lambda f: -abs(f[key]))[:OTHERS]


def table(cell, base_total=None):
    """Lines of text for a cell of profile.json; base_total: cost of `none`, or None."""
    total = cell["instructions_per_io"]
    found = [f"{cell['scheduler']} on {cell['disk']}, depth {cell['depth']}"
             + (f", tenants: {cell['tenants']}" if cell.get("tenants") else "")
             + f": {total:.0f} instructions an I/O; busy for {cell['busy_ns_per_io']:.0f} ns "
             "by the guest's clock",
             f"{'an I/O':>9} {'%':>6} {'irqs off':>9} {'+none':>8} {'calls':>7}  "
             "function [module]",
             _line("all", total, cell["interrupts_off_per_io"], total,
                   None if base_total is None else total - base_total),
             _line("with interrupts off", cell["interrupts_off_per_io"],
                   cell["interrupts_off_per_io"], total, None)]
    groups = [("own", [f for f in cell["functions"] if f["own"]])]
    groups.append(("others" + (", by the difference from none" if base_total is not None
                               and cell["scheduler"] != "none" else ""), others(cell)))
    for heading, functions in groups:
        if heading == "own":
            if not functions:
                continue
            found.append(_line("own", cell["own_per_io"],
                               cell["own_interrupts_off_per_io"], total,
                               None if base_total is None else cell["own_per_io"]))
        else:
            found.append(f"{'':>45}{heading}:")
        found += [_line("  " + f["function"], f["instructions_per_io"],
                        f["interrupts_off_per_io"], total, f["over_none"],
                        "" if f["module"] == USER else f["module"], f["calls_per_io"])
                  for f in functions]
    return found


def plot(path, cell, circumstances):
    """Bars of a cell's functions, the scheduler's own in another colour."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    own = [f for f in cell["functions"] if f["own"]][:BARS]
    rest = others(cell)[:max(BARS // 2, BARS - len(own))]
    shown = own + rest
    figure, axis = pyplot.subplots(
        figsize=(8, 1.6 + 0.2 * len(shown)), layout="constrained")
    key = "instructions_per_io" if cell["scheduler"] == "none" else "over_none"
    values = [f[key] if f[key] is not None else f["instructions_per_io"] for f in shown]
    axis.barh(range(len(shown)), values, 0.75,
              color=["#3b528b" if f["own"] else "#5ec962" for f in shown])
    axis.set_yticks(range(len(shown)), [f["function"] for f in shown], fontsize=7)
    axis.invert_yaxis()
    axis.margins(y=0.01)
    axis.tick_params(axis="x", labelsize=8)
    axis.grid(axis="x", color="0.9", linewidth=0.8)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.set_xlabel("instructions an I/O" + (
        "" if cell["scheduler"] == "none" else " over none; blue: the scheduler's own"),
        fontsize=8)
    axis.set_title(f"{cell['scheduler']} on {cell['disk']}, depth {cell['depth']}",
                   fontsize=11, fontweight="bold", loc="left")
    figure.supxlabel(f"Linux {circumstances['kernel']}, commit {circumstances['commit']}",
                     fontsize=7)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


class Profiler:
    """The profiles of one invocation of scripts/bench-cost."""

    def __init__(self, out):
        self.folder = REPO / "build" / "profile"
        self.counts = out / "counts"
        self.guest = out / "guest"
        # {cell id: [(which, I/Os, number of the mark at its end)]}
        self.parts = collections.defaultdict(list)

    def prepare(self):
        """Compiles the programs for the guest and QEMU."""
        build(self.folder)

    def vm_options(self):
        """Options of scripts/vm."""
        return vm_options(self.folder, self.counts.absolute(), self.guest.absolute())

    def mark(self, name, text):
        """Adds a run of a cell, which the guest reports as "WHICH IOS NUMBER"."""
        match = re.fullmatch(r"(short|long) (\d+) (\d+)", text)
        if not match:
            raise ProfileError(f"no mark of a part: {text!r}")
        self.parts[name].append((match[1], int(match[2]), int(match[3])))

    def profiles(self, cells):
        """{cell id: per_io()} of the cells that were measured."""
        try:
            kernel = (self.guest / "symbols").read_text("ascii")
        except FileNotFoundError:
            raise ProfileError("the guest died before it wrote the addresses of its "
                               "functions") from None
        names = [cell["id"] for cell in cells if cell["id"] in self.parts]
        owner = {mark: name for name in names for _, _, mark in self.parts[name]}
        found, profiles = collections.defaultdict(dict), {}

        def finish(name):
            # Called as soon as possible: the counts of all cells may exceed the memory.
            modules = (self.guest / f"symbols.{name}").read_text("ascii")
            profiles[name] = per_io(found.pop(name, {}), self.parts[name],
                                    Symbols(kernel, modules))

        with open(self.counts, encoding="ascii") as lines:
            for number, block in marks(lines):
                name = owner.get(number)
                if name:
                    found[name][number] = block
                    if len(found[name]) == len(self.parts[name]):
                        finish(name)
        for name in names:
            if name not in profiles:
                finish(name)
        return profiles

    def cells(self, lines):
        """The cells of profile.json; lines: rows of the cost table."""
        profiles, found = self.profiles(lines), []
        for line in lines:
            if line["id"] not in profiles:
                continue
            base = profiles.get(same_load(line, "none"))
            found.append({
                **{key: line[key] for key in ("id", "disk", "depth", "tenants", "scheduler",
                                              "settings", "busy_ns_per_io")
                   if key in line},
                **result(profiles[line["id"]], base, line["scheduler"])})
        return found

    def discard(self):
        """Removes the raw counts, which are large."""
        self.counts.unlink(missing_ok=True)
        for path in self.guest.glob("symbols*"):
            path.unlink()
        if self.guest.is_dir():
            self.guest.rmdir()


def texts(cells):
    """{cell id: its table}."""
    totals = {cell["id"]: cell["instructions_per_io"] for cell in cells}
    return {cell["id"]: "\n".join(table(cell, totals.get(same_load(cell, "none"))))
            for cell in cells}
