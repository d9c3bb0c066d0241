# SPDX-License-Identifier: GPL-2.0
"""Suites of scripts/bench: what a suite file says, and the runs it means.

Pure: reads the suite and its job files, nothing else. docs/lab.md describes
the format.
"""

import configparser
import fnmatch
import itertools
import pathlib
import re
from dataclasses import dataclass, field

import suitedb
import suitefs
import suiteshare
import suitetarget
import synthetic
from suitetables import (
    ALIAS, ASLEEP, DEVICE, GEOMETRY, GEOMETRY_KEYS, IOCOST, IOCOST_MODEL, IOCOST_QOS,
    LOG_PROG_PAGES, OURS, QUEUE, RATES, REGION, SCHEDULERS, TIMES, UNSCALED, Int, Text,
    Word, words)

REPO = pathlib.Path(__file__).resolve().parents[2]
SUITES = REPO / "tests" / "suites"
JOBS = REPO / "tests" / "fio"

# Where the guest keeps a run's files while it runs: its memory.
GUEST_OUT = "/dev/shm/suite/out"
# Samples that a log of latencies can hold, fio's maximum. With more samples fio waits until
# the job has no outstanding request, so the job pauses, and the last samples may be lost.
LOG_ENTRIES = 1 << 20

# Where it finds the log of a workload that replays one
GUEST_LOG = "/dev/shm/suite/trace.log"

# Rows of flashsim's series, where a workload wants one.
SERIES_ROWS = 4000

# Tuning and reporting on the same draws would report the tuning.
SEED_USES = {**dict.fromkeys(range(1, 6), "tuning"),
             **dict.fromkeys(range(101, 106), "report")}


class Bad(Exception):
    """A suite that cannot be used; the message is one line."""


# Requests of a trace that is replayed
TRACE_IOS = Int(1, 10**7)
# A real trace at so many times its speed
PIECE = re.compile(r"([\w-]+)@([1-9]\d{0,2})")
_ENV_TIME = re.compile(r"RUNTIME|\w+_(NS|US|MS|S)")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def is_time(variable):
    """Is this variable of a job file a time?"""
    return bool(_ENV_TIME.fullmatch(variable))


def seed_use(seed):
    """The permitted use of results with this seed."""
    return SEED_USES.get(seed, "free")


def seeds(text):
    """[seed] of "101-105" or "1,2,7"; None if it is neither."""
    found = []
    for part in re.split(r"[,\s]+", text.strip()):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part)
        if not match:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < 2**32 or last - first > 1000:
            return None
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


SEEDS_WANTED = "whole numbers from 0 to 4294967295, such as 101 or 101-105"


# --- the file ----------------------------------------------------------------

@dataclass
class Scheduler:
    """A scheduler with one setting of its tunables."""
    name: str
    label: str
    tunables: dict = field(default_factory=dict)
    iocost: bool = False


@dataclass
class Workload:
    """A job file with its environment."""
    name: str
    job: str
    text: str
    latency: tuple
    env: dict
    variants: tuple = ("*",)
    schedulers: tuple = ("*",)
    series_ms: int = 0
    warmup: int = 0
    nomerges: int = 0
    wbt_lat_usec: int = 0
    operations: tuple = ()
    # suiteshare.parse()'s result, and the property that separates tenants
    tenants: tuple = ()
    tenants_by: str = "cgroup"
    # suitefs.described()'s
    files: dict = field(default_factory=dict)
    postmark: bool = False
    # {phase: {option of db_bench: value}} where tenants are databases
    database: dict = field(default_factory=dict)
    # suitetarget's
    calibrate: bool = False
    sample_ms: int = 0


@dataclass
class Form:
    """Which part of a suite is run, and how long."""
    name: str
    seeds: list
    cells: tuple = ("*",)
    minutes: int = 0
    scale1: bool = True
    # (variable, pattern of cells, value); the last that fits counts
    env: list = field(default_factory=list)


@dataclass
class Suite:
    """A suite file."""
    name: str
    path: str
    title: str
    claims: str
    device: dict
    variants: dict
    workloads: dict
    schedulers: list
    forms: dict
    scale1: tuple = ()
    # Schedulers that are left out where they are not built
    optional: tuple = ()


class _Reader:
    """Reads one file and says what is wrong in it."""

    def __init__(self, path, text):
        self.path = path
        self.parser = configparser.ConfigParser(
            delimiters=("=",), comment_prefixes=(";", "#"),
            inline_comment_prefixes=(";",), interpolation=None, strict=True,
            default_section="\0")
        self.parser.optionxform = str
        try:
            self.parser.read_string(text, source=path)
        except configparser.Error as error:
            raise Bad(" ".join(str(error).split())) from None

    def bad(self, section, key, value, wanted):
        """Raises, in the one form that all complaints have."""
        value = " ".join(str(value).split())
        raise Bad(f"{self.path}: [{section}] {key} = '{value}': want {wanted}")

    def keys(self, section, known, more=None):
        """{key: value} of a section; `more` matches further good names."""
        found = dict(self.parser[section])
        for key in found:
            if key not in known and not (more and more.fullmatch(key)):
                raise Bad(
                    f"{self.path}: [{section}] {key}: no such key; want one "
                    "of " + ", ".join(known)
                    + (" or a variable of the job file" if more else ""))
        return found

    def value(self, section, found, key, kind):
        """A value that must be there and be of that kind."""
        text = found.get(key, "")
        if not kind.accepts(text):
            self.bad(section, key, text, kind)
        return text


_PATTERNS = Text(r"\S[\S\s]*", "names, * for any")


def variables(text):
    """The names that a job file takes from the environment."""
    return set(re.findall(r"\$\{(\w+)\}", text))


def job_sections(text):
    """{job: {option: value}} of a fio job file, [global] filled in."""
    found, shared, current = {}, {}, None
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        match = re.fullmatch(r"\[(.+)\]", line)
        if match:
            current = shared if match[1] == "global" else \
                found.setdefault(match[1], dict(shared))
        elif current is not None:
            key, _, value = line.partition("=")
            current[key.strip()] = value.strip()
    return found


def _read_suite(reader):
    section = "suite"
    if section not in reader.parser:
        raise Bad(f"{reader.path}: no section [suite]")
    found = reader.keys(section, ("title", "device", "claims", "scale1",
                                  "optional"))
    reader.value(section, found, "title", Text(r"\S.*", "a line of text"))
    reader.value(section, found, "device", words("flashsim"))
    if "claims" in found:
        # Here, not above: claims.py knows plans no better than plans know it.
        import claims  # pylint: disable=import-outside-toplevel
        reader.value(section, found, "claims", Word(tuple(claims.SETS)))
    for name in found.get("optional", "").split():
        if name not in OURS:
            reader.bad(section, "optional", name, Word(OURS))
    return found


def _read_device(reader, section, base):
    known = {**DEVICE, **REGION}
    found = reader.keys(section, known)
    for key in found:
        reader.value(section, found, key, known[key])
    return {**base, **found}


def _read_workload(reader, section):
    name = section.split(None, 1)[1]
    known = ("job", "latency", "variants", "schedulers", "series_ms",
             "warmup", "nomerges", "wbt_lat_usec", "tenants", "tenants_by",
             *suitefs.KEYS, *suitetarget.KEYS)
    found = reader.keys(section, known, re.compile(r"[A-Z][A-Z0-9_]*"))
    job = reader.value(section, found, "job", Text(
        r"[\w.-]+", "the name of a file in tests/fio, without .fio"))
    path = next((path for path in (JOBS / f"{job}{suitefs.POSTMARK}",
                                   JOBS / f"{job}{suitedb.SUFFIX}") if path.is_file()),
                JOBS / f"{job}.fio")
    postmark, database = (path.suffix == end for end in
                          (suitefs.POSTMARK, suitedb.SUFFIX))
    if not path.is_file():
        reader.bad(section, "job", job, "one of " + ", ".join(
            sorted(p.stem for p in JOBS.glob("*.fio"))))
    text = path.read_text(encoding="utf-8")
    sections = {} if postmark else suitedb.sections(found.get("tenants", "")) \
        if database else job_sections(text)
    latency = tuple(found.get("latency", "").split())
    for one in latency:
        if one not in sections:
            reader.bad(section, "latency", one, "jobs of that file: "
                       + ", ".join(sections))
    env = {k: v for k, v in found.items() if k not in known}
    used = variables(text)
    needed = used - suitedb.GIVEN | set(suitedb.VARIABLES) if database else \
        used - {"DEV", "MOUNT", "SEED", "TRACE_LOG"}
    for key, value in env.items():
        if key in suitetarget.ENV:
            if not suitetarget.COUNT.accepts(value):
                reader.bad(section, key, value, suitetarget.COUNT)
            if len(latency) != 1:
                reader.bad(section, key, value, "one latency job with it")
            continue
        if key not in needed:
            raise Bad(f"{reader.path}: [{section}] {key}: {path.name} does "
                      "not use it; it uses " + ", ".join(sorted(needed)))
        if is_time(key) and not Int(0, 10**9).accepts(value):
            reader.bad(section, key, value, Int(0, 10**9))
    if "TRACE" in env and env["TRACE"] not in synthetic.STAND_INS and \
            not PIECE.fullmatch(env["TRACE"]):
        reader.bad(section, "TRACE", env["TRACE"], "NAME@LOAD of a real trace, or one of "
                   + ", ".join(synthetic.STAND_INS))
    if "TRACE_IOS" in env and not TRACE_IOS.accepts(env["TRACE_IOS"]):
        reader.bad(section, "TRACE_IOS", env["TRACE_IOS"], TRACE_IOS)
    for key in sorted(needed - set(env)):
        raise Bad(f"{reader.path}: [{section}] {key}: missing; {path.name} "
                  "wants it")
    for key, kind in (("series_ms", Int(1, 1000)),
                      ("warmup", Int(1, 10**7)),
                      ("nomerges", Int(0, 2)), ("wbt_lat_usec", Int(1, 10**6)),
                      *suitefs.KEYS.items(), *suitetarget.KEYS.items()):
        if key in found:
            reader.value(section, found, key, kind)
    wrong = suitefs.check(found, used) or (
        suitedb.check(found, env) if database else None)
    if wrong:
        reader.bad(section, wrong[0], found.get(wrong[0], ""), wrong[1])
    if "warmup" in found and "RT_IOS" not in env:
        reader.bad(section, "warmup", found["warmup"],
                   "a job file that uses RT_IOS with it")
    if "tenants_by" in found:
        reader.value(section, found, "tenants_by", Word(suiteshare.WAYS))
    tenants_by = found.get("tenants_by", "cgroup")
    try:
        tenants = suiteshare.parse(found.get("tenants", ""), sections,
                                   tenants_by, "fs" in found)
    except ValueError as error:
        reader.bad(section, "tenants", found["tenants"], error)
    if tenants:
        # The raw latencies of each, which db_bench does not keep
        latency = () if database else tuple(sections)
    return Workload(
        name=name, job=job, text=text, latency=latency, env=env,
        tenants=tuple(tenants), tenants_by=tenants_by,
        variants=tuple(found.get("variants", "*").split()),
        schedulers=tuple(found.get("schedulers", "*").split()),
        series_ms=int(found.get("series_ms", 0)),
        warmup=int(found.get("warmup", 0)),
        nomerges=int(found.get("nomerges", 0)),
        wbt_lat_usec=int(found.get("wbt_lat_usec", 0)),
        operations=(path.suffix[1:],) if postmark or database else tuple(sorted(
            {suiteshare.filled(s.get("rw", "read"), env)
             for s in sections.values()})),
        files=suitefs.described(found), postmark=postmark,
        database=job_sections(text) if database else {},
        calibrate=found.get("calibrate") == "1",
        sample_ms=int(found.get("sample_ms", 0)))


def _label(name, tunables, iocost):
    """The name of a setting that the suite does not name."""
    short = {"max_inflight": "", "queue_depth": "qd", "nr_requests": "nr",
             "read_ahead_kb": "ra",
             "mode": "", "layout": "map", "queue_length": "ql",
             "chip_depth": "cd"}
    label = "iocost" if iocost and name == "none" else \
        name + ("-iocost" if iocost else "")
    for key, value in tunables.items():
        # Ten of them would be no name; a sweep wants `as`.
        if key in IOCOST:
            continue
        label += "-" + short.get(key, key.replace("_", "")) + value
    return label


def _read_schedulers(reader, section):
    found = []
    for key, block in dict(reader.parser[section]).items():
        if key != "list":
            raise Bad(f"{reader.path}: [{section}] {key}: no such key; want "
                      "list")
        for line in filter(None, map(str.strip, block.splitlines())):
            found += _scheduler(reader, section, line)
    if not found:
        raise Bad(f"{reader.path}: [{section}] list: no scheduler in it")
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            reader.bad(section, "list", label, "a label for each setting; "
                       "this one stands twice (`as LABEL` names a line)")
    return found


def _scheduler(reader, section, line):
    """The settings that one line stands for."""
    line, _, template = line.partition(" as ")
    template = template.strip()
    name, *rest = line.split()
    if name == "io.cost":
        name, rest = "none", ["io.cost", *rest]
    if name not in SCHEDULERS:
        reader.bad(section, "list", name, "one of "
                   + ", ".join((*SCHEDULERS, "io.cost")))
    iocost = "io.cost" in rest
    known = {**SCHEDULERS[name], **QUEUE, **(IOCOST if iocost else {})}
    sweeps = {}
    for word in rest:
        key, equals, values = word.partition("=")
        if word == "io.cost":
            continue
        if not equals or key not in known:
            reader.bad(section, "list", word,
                       f"NAME=VALUE of {name}: " + ", ".join(known))
        sweeps[key] = values.split(",")
        for value in sweeps[key]:
            if not known[key].accepts(value):
                reader.bad(section, "list", f"{key}={value}", known[key])
    if iocost:
        absent = [key for key in ("rlat", "wlat", *IOCOST_MODEL)
                  if key not in sweeps]
        if absent:
            # The kernel's defaults are for an unknown device in real time.
            reader.bad(section, "list", line.strip(),
                       "with io.cost also " + ", ".join(absent))
    result = []
    for values in itertools.product(*sweeps.values()):
        tunables = dict(zip(sweeps, values))
        label = _label(name, tunables, iocost)
        if template:
            try:
                label = template.format(**tunables)
            except (KeyError, IndexError, ValueError):
                reader.bad(section, "list", template,
                           "a label with {NAME} of a tunable in that line")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_=-]{0,47}", label):
            reader.bad(section, "list", label, "a label of letters, digits, - "
                       "and _, at most 48 (`as LABEL` names a line)")
        result.append(Scheduler(name, label, tunables, iocost))
    return result


def _read_form(reader, section):
    name = section.split(None, 1)[1]
    known = ("seeds", "cells", "minutes", "scale1")
    found = reader.keys(section, known,
                        re.compile(r"[A-Z][A-Z0-9_]*(@\S+)?"))
    form = Form(name, seeds(found.get("seeds", "")))
    if form.seeds is None:
        reader.bad(section, "seeds", found.get("seeds", ""), SEEDS_WANTED)
    if "cells" in found:
        reader.value(section, found, "cells", _PATTERNS)
        form.cells = tuple(found["cells"].split())
    if "minutes" in found:
        form.minutes = int(reader.value(section, found, "minutes",
                                        Int(1, 10000)))
    if "scale1" in found:
        form.scale1 = reader.value(section, found, "scale1",
                                   words("yes no")) == "yes"
    for key, value in found.items():
        if key not in known:
            variable, _, pattern = key.partition("@")
            if variable in ("TRACE_IOS", "IOS") and not TRACE_IOS.accepts(value):
                reader.bad(section, key, value, TRACE_IOS)
            if (is_time(variable) or variable == "RT_IOS") and \
                    not Int(0, 10**9).accepts(value):
                reader.bad(section, key, value, Int(0, 10**9))
            if variable in suitetarget.ENV and \
                    not suitetarget.COUNT.accepts(value):
                reader.bad(section, key, value, suitetarget.COUNT)
            form.env.append((variable, pattern or "*", value))
    return form


def parse(text, path, name):
    """The Suite that a text means; Bad with one line if it means none."""
    reader = _Reader(path, text)
    head = _read_suite(reader)
    suite = Suite(name, path, head["title"], head.get("claims", ""), {}, {},
                  {}, [], {}, tuple(head.get("scale1", "").split()),
                  tuple(head.get("optional", "").split()))
    sections = reader.parser.sections()
    for section in ("device", "schedulers"):
        if section not in sections:
            raise Bad(f"{path}: no section [{section}]")
    suite.device = _read_device(reader, "device", {})
    for section in sections:
        kind, _, rest = section.partition(" ")
        if section in ("suite", "device"):
            continue
        if section == "schedulers":
            suite.schedulers = _read_schedulers(reader, section)
            continue
        if kind not in ("variant", "workload", "form"):
            raise Bad(f"{path}: [{section}]: no such section; want suite, "
                      "device, schedulers, variant NAME, workload NAME, form "
                      "NAME")
        if not _NAME.fullmatch(rest):
            raise Bad(f"{path}: [{section}]: want a name of small letters, "
                      "digits, - and _ behind it")
        if kind == "variant":
            suite.variants[rest] = _read_device(reader, section, suite.device)
        elif kind == "workload":
            suite.workloads[rest] = _read_workload(reader, section)
        else:
            suite.forms[rest] = _read_form(reader, section)
    if not suite.variants:
        suite.variants["device"] = dict(suite.device)
    for kind, found in (("workload", suite.workloads), ("form", suite.forms)):
        if not found:
            raise Bad(f"{path}: no section [{kind} NAME]")
    _check_references(reader, suite)
    return suite


def _check_references(reader, suite):
    """Patterns that match nothing are typing errors."""
    labels = [one.label for one in suite.schedulers]
    for name, workload in suite.workloads.items():
        for key, patterns, known in (
                ("variants", workload.variants, list(suite.variants)),
                ("schedulers", workload.schedulers, labels)):
            for pattern in patterns:
                if not fnmatch.filter(known, pattern):
                    reader.bad(f"workload {name}", key, pattern,
                               "what fits one of " + ", ".join(known))
        for one in workload.tenants:
            if one["alone"] and one["alone"] not in suite.workloads:
                reader.bad(f"workload {name}", "tenants", one["alone"],
                           "behind the @ a workload of this suite")
    cells = [cell for cell, *_ in _cells(suite)]
    for pattern in suite.scale1:
        if not fnmatch.filter(cells, pattern):
            reader.bad("suite", "scale1", pattern, "what fits a cell, such as "
                       + cells[0])
    known = {key for one in suite.workloads.values() for key in one.env}
    for name, form in suite.forms.items():
        for pattern in form.cells:
            if not fnmatch.filter(cells, pattern):
                reader.bad(f"form {name}", "cells", pattern,
                           "what fits a cell, such as " + cells[0])
        for variable, pattern, value in form.env:
            if variable not in known:
                reader.bad(f"form {name}", variable, value,
                           "no other variable than "
                           + ", ".join(sorted(known)))
            if not fnmatch.filter(cells, pattern):
                reader.bad(f"form {name}", f"{variable}@{pattern}", value,
                           "behind the @ what fits a cell, such as "
                           + cells[0])


def names():
    """The suites there are."""
    return sorted(path.stem for path in SUITES.glob("*.suite"))


def load(name):
    """The suite tests/suites/NAME.suite."""
    path = SUITES / f"{name}.suite"
    if not re.fullmatch(r"[\w-]+", name) or not path.is_file():
        raise Bad(f"no suite '{name}'; there is " + ", ".join(names()))
    return parse(path.read_text(encoding="utf-8"),
                 f"tests/suites/{name}.suite", name)


# --- the plan ----------------------------------------------------------------

def _cells(suite):
    """(cell, workload, variant, scheduler), all that the suite has."""
    for name, workload in suite.workloads.items():
        for variant in suite.variants:
            if not any(fnmatch.fnmatchcase(variant, p)
                       for p in workload.variants):
                continue
            for scheduler in suite.schedulers:
                if any(fnmatch.fnmatchcase(scheduler.label, p)
                       for p in workload.schedulers):
                    yield (f"{name}.{scheduler.label}.{variant}", workload,
                           variant, scheduler)


def scaled(owner, key, value, scale):
    """A tunable's value for a device that is `scale` times slower."""
    if key in TIMES.get(owner, ()):
        return str(int(value) * scale)
    if key in RATES.get(owner, ()):
        return str(max(1, int(value) // scale))
    return str(value)


def geometry(params):
    """{channels, ...: number} of a device, from what it is loaded with."""
    found = dict(zip(GEOMETRY_KEYS, GEOMETRY[params.get("profile", "none")]))
    if "size_mb" in params:
        found["shrink"] = 1
    return {key: int(params.get(key, value)) for key, value in found.items()}


def device_bytes(params):
    """Capacity that the host sees, whole MiB."""
    found = geometry(params)
    return found["size_mb"] // found["shrink"] << 20


def log_prog_pages(params):
    """Pages that a log writes to a die before it moves to the next.

    0: the device writes no log, but has a place for each address.
    """
    profile = params.get("profile", "none")
    if params.get("alloc", "dynamic" if profile in LOG_PROG_PAGES else
                  "static") != "dynamic":
        return 0
    # Without a write buffer a program is a page, whatever the profile says.
    if params.get("wbuf_kb") == "0":
        return 1
    return int(params.get("prog_pages", LOG_PROG_PAGES.get(profile, 1)))


def layout(which, params):
    """The text for a scheduler's layout file.

    right: where `static` puts pages. A log has no such map: there it is how the
    log begins, true for data that was written once in order: a program to each
    die, in turn. wrong: pages twice as long on one chip fewer: pages of one
    chip look apart, and pages of different chips look together. none: no map.
    """
    found = geometry(params)
    chips = found["channels"] * found["ways"] * found["dies"]
    page = found["page_kb"] << 10
    if which == "none":
        return "none"
    if which == "wrong":
        return f"page={2 * page} chips={max(1, chips - 1)}"
    if params.get("layout"):
        return f"page={page} terms={params['layout']}"
    program = log_prog_pages(params)
    if program:
        return f"page={page} " + (f"chips={chips}" if program == 1 else
                                  f"terms={program}:{chips}:1")
    stripe = params.get("stripe", "CWD")
    if stripe == "CWD":
        return f"page={page} chips={chips}"
    # Number of a die: channel + channels * (way + ways * die).
    sizes = {"C": (found["channels"], 1),
             "W": (found["ways"], found["channels"]),
             "D": (found["dies"], found["channels"] * found["ways"])}
    terms, div = [], 1
    for letter in stripe:
        mod, mul = sizes[letter]
        if mod > 1:
            terms.append(f"{div}:{mod}:{mul}")
        div *= mod
    return f"page={page} terms={','.join(terms)}"


def setup(scheduler, scale, params=None):
    """The guest's changes to the queue: lines `verb file value`.

    select: and it must be the one; set: and it must read back the same;
    times: what is there times value, likewise; off: if there is such a file.
    """
    lines = ["off queue/wbt_lat_usec 0", f"select queue/scheduler "
             f"{scheduler.name}"]
    given = {ALIAS.get(key, key) for key in scheduler.tunables}
    asleep = scheduler.name in ASLEEP and \
        ASLEEP[scheduler.name] not in given
    if scale > 1 and not asleep:
        lines += [f"times queue/iosched/{key} {scale}"
                  for key in TIMES.get(scheduler.name, ())
                  if key not in ALIAS and key not in given]
    for key, value in scheduler.tunables.items():
        if key in ("nr_requests", "read_ahead_kb"):
            lines.append(f"set queue/{key} {value}")
        elif key in SCHEDULERS[scheduler.name]:
            value = scaled(scheduler.name, key, value, scale)
            if key == "layout":
                value = layout(value, params or {})
                offset = (params or {}).get("offset_sectors", "0")
                lines.append(f"set queue/iosched/lba_offset_sectors {offset}")
            lines.append(f"set queue/iosched/{key} {value}")
    return lines


def iocost(scheduler, scale):
    """(io.cost.qos, io.cost.model, weight), without the device's number."""
    def part(known):
        return " ".join(
            f"{key}={scaled('io.cost', key, scheduler.tunables[key], scale)}"
            for key in known if key in scheduler.tunables)
    return ("enable=1 ctrl=user " + part(IOCOST_QOS),
            "ctrl=user model=linear " + part(IOCOST_MODEL),
            scheduler.tunables.get("lc_weight", "10000"))


def job_text(workload, use_cgroups, region=100, out=GUEST_OUT):
    """The job file with what a measurement adds to it.

    Where only a region is used, shares of the device become ${PCT_N}: the
    guest, which knows its size, says what that is.
    """
    lines = []
    for line in workload.text.splitlines():
        if region < 100:
            line = re.sub(r"^((?:size|offset)=)(\d+)%$", r"\1${PCT_\2}", line)
        lines.append(line)
        match = re.fullmatch(r"\s*\[(.+)\]\s*", line)
        if not match or match[1] == "global":
            continue
        critical = match[1] in workload.latency
        if critical:
            lines += [f"write_lat_log={out}/{match[1]}",
                      f"log_entries={LOG_ENTRIES}"]
        if workload.tenants:
            lines += suiteshare.job_lines(workload, match[1])
        elif use_cgroups:
            lines += [f"cgroup={'critical' if critical else 'other'}",
                      "cgroup_nodelete=1"]
    return "\n".join(lines) + "\n"


def environment(workload, form, cell, scale):
    """{variable: value in guest time}, {variable: value as the suite says}."""
    env = dict(workload.env)
    for variable, pattern, value in form.env:
        if variable in env and fnmatch.fnmatchcase(cell, pattern):
            env[variable] = value
    return {key: str(int(value) * scale) if is_time(key) else value
            for key, value in env.items()}, env


def unscaled(scheduler):
    """The texts of UNSCALED that hold for a setting."""
    return [*UNSCALED[""], *UNSCALED.get(scheduler.name, ()),
            *(UNSCALED["io.cost"] if scheduler.iocost else ()),
            *(UNSCALED["k2 policy"] if suitetarget.searches(scheduler)
              else ())]


def _run(suite, form, cell, scale):
    """One run but for its seed."""
    name, workload, variant, scheduler = cell
    params = dict(suite.variants[variant])
    region = int(params.pop("region_pct", 100))
    params["time_scale"] = str(scale)
    if "queue_depth" in scheduler.tunables:
        params["queue_depth"] = scheduler.tunables["queue_depth"]
    if workload.series_ms:
        # The guest's milliseconds, 1000 at most.
        params["series_ms"] = str(min(1000, workload.series_ms * scale))
        params["series_len"] = str(SERIES_ROWS)
    env, env_device = environment(workload, form, name, scale)
    target = suitetarget.described(workload, scheduler, env_device)
    for key in suitetarget.ENV:
        env.pop(key, None)
    share = {}
    if workload.tenants:
        params.setdefault("log_len", str(suiteshare.LOG_ROWS))
        share = {"tenants": suiteshare.described(
            workload, {} if workload.database else job_sections(workload.text), env,
            region),
            "groups": suiteshare.groups(scheduler, workload)}
    files = dict(workload.files)
    if files.get("order_log"):
        params.setdefault("log_len", str(files["order_log"]))
    if workload.postmark:
        files["postmark"] = True
    if workload.database:
        files["database"] = workload.database
    if files:
        expects = suitefs.expected(job_sections(workload.text), env_device,
                                   workload.postmark)
        files.update({"expects": expects} if expects else {})
    return {
        "cell": name, "suite": suite.name, "form": form.name,
        "workload": workload.name, "job": workload.job,
        "scheduler": scheduler.name, "label": scheduler.label,
        "iocost": list(iocost(scheduler, scale)) if scheduler.iocost else None,
        "tunables": dict(scheduler.tunables), "variant": variant,
        "profile": params.get("profile", "none"), "time_scale": scale,
        "params": params, "env": env, "env_device": env_device,
        "latency": list(workload.latency), "warmup": workload.warmup,
        "operations": list(workload.operations),
        "setup": setup(scheduler, scale, params) + suiteshare.setup(
            scheduler, workload) + (
            [f"set queue/nomerges {workload.nomerges}"]
            if workload.nomerges else []) + (
            [f"set queue/wbt_lat_usec {workload.wbt_lat_usec * scale}"]
            if workload.wbt_lat_usec else []),
        "nomerges": workload.nomerges, "wbt_lat_usec": workload.wbt_lat_usec,
        "job_text": workload.text if workload.postmark or workload.database else
        job_text(workload, scheduler.iocost, region),
        "region_pct": region,
        "unscaled": unscaled(scheduler) + (
            list(suitefs.UNSCALED) if files.get("fs") else []) + (
            list(UNSCALED["wbt"]) if workload.wbt_lat_usec else [])
        if scale > 1 else [],
        **share, **files, **target,
    }


def chosen(planned, patterns):
    """Those of the planned runs that a pattern fits: a cell, or else a glob or a part of it."""
    names = {run["cell"] for run in planned}
    parts = [pattern for pattern in patterns if pattern not in names]
    return [run for run in planned if run["cell"] in patterns or any(
        fnmatch.fnmatchcase(run["cell"], part) or part in run["cell"]
        for part in parts)]


def runs(suite, form_name, seed_list=None, only=(), repeat=1):
    """The runs of a form, as dicts that can be stored as JSON and read back."""
    if form_name not in suite.forms:
        raise Bad(f"{suite.path}: no form '{form_name}'; there is "
                  + ", ".join(suite.forms))
    form = suite.forms[form_name]
    result = []
    scale = int(suite.device.get("time_scale", 1))
    for cell in _cells(suite):
        name, _, variant, _ = cell
        if not any(fnmatch.fnmatchcase(name, p) for p in form.cells):
            continue
        own = int(suite.variants[variant].get("time_scale", scale))
        kinds = [_run(suite, form, cell, own)]
        if own > 1 and form.scale1 and any(
                fnmatch.fnmatchcase(name, p) for p in suite.scale1):
            again = _run(suite, form, cell, 1)
            again["cell"] += ".x1"
            kinds.append(again)
        result += kinds
    if only:
        result = chosen(result, only)
        if not result:
            raise Bad(f"{suite.path}: form {form_name} has no cell that "
                      f"fits {' '.join(only)}; --list shows all")
    # Round after round: what is there after an interruption, or while one
    # waits, is whole rounds of all cells.
    return [
        {**run, "seed": seed, "seed_use": seed_use(seed), "repeat": turn,
         "id": f"{run['cell']}.s{seed}" + (f".r{turn}" if turn > 1 else "")}
        for turn in range(1, repeat + 1)
        for seed in seed_list or form.seeds for run in result]


# Runs of one boot. The runs before it shift a run's draws, as another seed
# would; so the plan alone decides which runs share a boot.
BATCH_RUNS = 10


def batches(jobs):
    """The runs of each boot, [[run]]."""
    groups = {}
    for run in jobs:
        groups.setdefault((run["repeat"], run["seed"], run["workload"],
                           run["variant"], run["time_scale"]), []).append(run)
    found = []
    for group in groups.values():
        count = -(-len(group) // BATCH_RUNS)
        size = -(-len(group) // count)
        found += [group[n:n + size] for n in range(0, len(group), size)]
    return found


def makespan(loads, machines):
    """When the last machine is through, longest first; in seconds."""
    ends = [0.0] * max(1, machines)
    for load in sorted(loads, reverse=True):
        ends[ends.index(min(ends))] += load
    return max(ends)
