# SPDX-License-Identifier: GPL-2.0
"""scripts/stages-test: do all tracers tell scripts/stages the same?

Boots a machine in virtual time, puts the same load on flashsim under K2 (one
real-time task beside best effort at full speed), once for each tracer, has
scripts/stages split each trace and compares them. With --lttng LTTng is one of
them: its modules are built for the guest's kernel from Debian's package.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import initramfs
import kernel
import options
import stages
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = REPO / "build" / "lttng"
SOURCES = pathlib.Path("/usr/src")
PROGRAMS = ("lttng", "lttng-sessiond")
CONSUMER = pathlib.Path("/usr/lib/x86_64-linux-gnu/lttng/libexec/"
                        "lttng-consumerd")
SCHEMA = pathlib.Path("/usr/share/xml/lttng/session.xsd")

IOS, SCALE = 500, 16
# The task's name, for tracers that know no priority
TASK = "rt-task"
CLASSES = ("real-time", "best effort")
# Stages that each tracer knows, and what means may differ by: an event costs the
# guest's CPU time, by tracer.
COMMON = ("submission", "device", "total")
NEAR, NEAR_US = 0.05, 20.0
# Least share of the task's requests that are found with all events.
FOUND = 0.96
SECONDS = {"ftrace": 20, "blktrace": 20, "lttng": 180}


class Trouble(RuntimeError):
    """One line."""


def say(text):
    """One line."""
    print(f"stages-test: {text}", flush=True)


# --- LTTng for the guest -----------------------------------------------------

def only_block(text):
    """The Kbuild of LTTng's probes with that of the block layer alone.

    The others follow events that updates of the kernel have changed since: of
    2.13.9 that of timers does not build for 6.1.192.
    """
    return "".join(
        line for line in text.splitlines(True)
        if not re.match(r"\s*obj-\S+\s*\+=\s*lttng-probe-", line)
        or "lttng-probe-block.o" in line)


def build(series):
    """Builds LTTng's modules for a kernel; the directory they are in."""
    sources = sorted(SOURCES.glob("lttng-modules-*"))
    if not sources:
        raise Trouble("no /usr/src/lttng-modules-*: is package "
                      "lttng-modules-dkms whole?")
    facts = kernel.Store(kernel.cache_dir()).get(series)
    folder = BUILD / facts["release"] / sources[-1].name
    if not folder.exists():
        shutil.rmtree(folder.parent, ignore_errors=True)
        new = folder.with_name(folder.name + ".new")
        shutil.copytree(sources[-1], new)
        kbuild = new / "src" / "probes" / "Kbuild"
        kbuild.write_text(only_block(kbuild.read_text(encoding="utf-8")),
                          encoding="utf-8")
        log = folder.parent / "log"
        say(f"building {sources[-1].name} for {facts['release']}, a minute")
        with open(log, "w", encoding="utf-8") as out:
            if subprocess.run(
                    ["make", "-j2", "-C", facts["kdir"], f"M={new}",
                     *facts["make"].split(), "CONFIG_LTTNG=m", "modules"],
                    stdin=subprocess.DEVNULL, stdout=out,
                    stderr=subprocess.STDOUT, check=False).returncode:
                raise Trouble(f"{sources[-1].name} does not build for "
                              f"{facts['release']}: {options.shown(log)}")
        new.rename(folder)
    return folder


def lttng_for_guest(series, folder):
    """Fills a directory with what the guest needs of LTTng."""
    modules = build(series)
    (folder / "modules").mkdir(parents=True)
    for path in modules.rglob("*.ko"):
        target = folder / "modules" / path.name
        shutil.copy(path, target)
        subprocess.run(["strip", "-g", str(target)], check=True)
    programs = [pathlib.Path("/usr/bin", name) for name in PROGRAMS]
    for path in (*programs, CONSUMER, SCHEMA):
        target = folder / "root" / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    (folder / "lib").mkdir()
    for path in {library for one in (*programs, CONSUMER)
                 for library in initramfs.libraries(one)}:
        shutil.copy(path, folder / "lib")


# --- comparing ---------------------------------------------------------------

def split(path, named):
    """The output of scripts/stages for a trace: (classes, notes)."""
    tracker, lost = stages.measure(stages.parse(
        [str(path), *(["--real-time", TASK] if named else [])]))
    classes = stages.summarise(tracker)
    return classes, stages.notes(tracker, lost, classes)


def near(one, other):
    """Do two means agree, but for what events cost?"""
    return abs(one - other) <= max(NEAR * max(one, other), NEAR_US)


def judge(found, count=IOS):
    """Lines about the checks that fail. found: {tracer: classes}, ftrace among them."""
    wrong = []
    for tracer, classes in found.items():
        for name in CLASSES:
            if name not in classes:
                wrong.append(f"{tracer}: no class '{name}'")
        whole = classes.get("real-time", {}).get("total", {}).get("requests", 0)
        if not count * FOUND <= whole <= count:
            wrong.append(f"{tracer}: {whole} real-time requests from their "
                         f"beginning to their end, want {count * FOUND:.0f} "
                         f"to {count}")
    for tracer, classes in found.items():
        for name in CLASSES:
            for stage in COMMON:
                means = [one.get(name, {}).get(stage, {}).get("mean_us")
                         for one in (found["ftrace"], classes)]
                if None in means:
                    wrong.append(f"{tracer}: {name}, {stage}: not known")
                elif not near(*means):
                    wrong.append(f"{tracer}: {name}, {stage}: mean "
                                 f"{means[1]:.1f} us, ftrace {means[0]:.1f}")
    return wrong


# --- running -----------------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "stages-test", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 they agree; 1 they do not, or something failed; 2 bad "
        "options; 77 no such kernel; 130 interrupted.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--lttng", action="store_true", help="LTTng, too; for 6.1")
    add("--out", type=pathlib.Path, metavar="DIR",
        default=REPO / "build" / "results" / "stages",
        help="for tables, pictures and JSON (default build/results/stages)")
    args = parser.parse_args(argv)
    if args.lttng and args.kernel not in ("6.1", "rt"):
        parser.error(f"--lttng with --kernel '{args.kernel}': Debian 12's LTTng "
                     "is for its own kernels: want 6.1 or rt")
    return args


def keep(args, found):
    """Tables, pictures and figures."""
    args.out.mkdir(parents=True, exist_ok=True)
    for tracer, (classes, notes) in found.items():
        name = f"{args.kernel}-{tracer}"
        rows = "\n".join(stages.table(classes))
        text = f"us\n{rows}\n" + "".join(f"note: {one}\n" for one in notes)
        (args.out / f"{name}.txt").write_text(text, encoding="utf-8")
        stages.write(str(args.out / f"{name}.png"), lambda new, own=classes,
                     who=tracer: stages.plot(
                         new, own, f"Where the time of requests goes, by {who}"))
        print(f"{tracer}, {text}", end="")
    options.write_json(args.out / f"{args.kernel}.json", {
        "schema": 2, "kind": "stages", "kernel": args.kernel,
        "commit": options.commit(), "time_scale": SCALE,
        "tracers": {tracer: classes for tracer, (classes, _) in found.items()}})


def run(args):
    """Everything; the status."""
    tracers = ["ftrace", "blktrace", *(["lttng"] if args.lttng else [])]
    options.need("build", "vm", "bench", *(["lttng"] if args.lttng else []))
    started = time.monotonic()
    say(f"{', '.join(tracers)} on {args.kernel}: about "
        f"{options.minutes(30 + sum(SECONDS[one] for one in tracers))}, "
        "100 MB for a while")
    with tempfile.TemporaryDirectory(prefix="flash-stages-") as folder:
        share, out = pathlib.Path(folder, "share"), pathlib.Path(folder, "out")
        share.mkdir()
        if args.lttng:
            lttng_for_guest(args.kernel, share / "lttng")
        status = vm.measured(
            args.kernel, 1800, share, out,
            "cp -R /share /tmp/share && bash "
            f"/tests/vm/lib/stages-test-guest.sh {IOS} {SCALE} "
            "/tmp/share/lttng " + " ".join(tracers))
        if status:
            return status if status == vm.NO_KERNEL else 1
        if args.lttng:
            (out / "lttng").write_text(options.output_of(
                "babeltrace2", str(out / "lttng-trace")), encoding="utf-8")
        found = {one: split(out / one, one != "ftrace") for one in tracers}
        keep(args, found)
    wrong = judge({one: classes for one, (classes, _) in found.items()})
    for line in wrong:
        say(f"FAIL {line}")
    say(f"{len(tracers)} tracers, {'they agree' if not wrong else 'see above'}; "
        f"{time.monotonic() - started:.0f} s; {options.shown(args.out)}")
    return 1 if wrong else 0


def main(argv=None):
    """Command line of scripts/stages-test."""
    args = parse(sys.argv[1:] if argv is None else argv)

    def body():
        try:
            return run(args)
        except (Trouble, stages.TraceError) as error:
            say(str(error))
            return 1
    return vm.guarded("stages-test", say, args.kernel, body)


if __name__ == "__main__":
    sys.exit(main())
