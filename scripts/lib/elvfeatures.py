# SPDX-License-Identifier: GPL-2.0
"""The features of a kernel's private elevator interface: data, and how BTF shows them.

scripts/abi-check compiles the modules with one -D flag for each feature.
common/elevator/compat.h restates the interface and says what each feature means.

For a new kernel: FEATURES gets what BTF shows, compat.h what follows from it, and
REVIEWED the combination, after its source was reviewed.
"""

import re
from dataclasses import dataclass, field

# The advice of a refusal
ADVICE = ("These modules do not know this interface. Use a newer version of them, or "
          "report the kernel's release and this output.")


@dataclass(frozen=True)
class Members:
    """A feature that is 1 if a struct has some members and 0 if it has others.

    An empty tuple of members: it has none of those of the other value.
    """
    macro: str
    struct: str
    zero: tuple
    one: tuple
    since: str = ""
    # Is it part of a combination of REVIEWED? Not if no code of ours can notice it.
    reviewed: bool = True

    def value(self, kernel, number):
        """0 or 1, or a text that says what is unknown."""
        names = [name for name, _, _, _ in kernel.members(number)]
        have = [name for name in self.zero + self.one if name in names]
        if have == list(self.one):
            return 1
        if have == list(self.zero):
            return 0
        known = [" and ".join(f"'{name}'" for name in some) or "neither"
                 for some in (self.zero, self.one)]
        return (f"has {' and '.join(have) or 'none'} of its members "
                f"{', '.join(self.zero + self.one)}; known: {known[0]}, or "
                f"{known[1]} {self.since}".rstrip())


@dataclass(frozen=True)
class Type:
    """A feature that is the type of a member, or of a parameter of a hook."""
    macro: str
    struct: str
    member: str
    # Number of the parameter, from 1; 0: the member itself
    parameter: int
    values: dict
    since: str = ""
    reviewed: bool = True

    def value(self, kernel, number):
        """0 or 1, or a text that says what is unknown."""
        kind = next((kind for name, _, _, kind in kernel.members(number)
                     if name == self.member), None)
        if kind is None:
            return f"has no member '{self.member}'"
        what, found = f"'{self.member}'", kernel.describe(kind)
        if self.parameter:
            proto = kernel.pointed_at(kind)
            arguments = kernel.arguments(proto) if proto else ()
            if len(arguments) < self.parameter:
                return (f"member {what} is '{found}', with less than "
                        f"{self.parameter} parameters")
            what, found = (f"{what}, parameter {self.parameter}",
                           arguments[self.parameter - 1])
        if found in self.values:
            return self.values[found]
        known = sorted(self.values, key=self.values.get)
        return (f"member {what} is '{found}'; known: '{known[0]}', or "
                f"'{known[1]}' {self.since}".rstrip())


FEATURES = (
    Type("ELV_INSERT_BOOL", "elevator_mq_ops", "insert_requests", 3,
         {"unsigned int": 0, "_Bool": 1}, "up to 6.3"),
    Members("ELV_HAS_FEATURES", "elevator_type", (), ("elevator_features",),
            "up to 6.8"),
    Members("ELV_QUEUE_REGISTERED", "elevator_queue", ("flags",),
            ("registered",), "up to 6.1"),
    Members("ELV_CACHED_RQ_PTR", "blk_mq_alloc_data", ("cached_rqs",),
            ("cached_rq",), "up to 6.12.24"),
    Type("ELV_CONST_ATTRS", "elevator_type", "elevator_attrs", 0,
         {"struct elv_fs_entry *": 0, "const struct elv_fs_entry *": 1},
         "from 6.14 on"),
    Type("ELV_CORE_QUEUE", "elevator_mq_ops", "init_sched", 2,
         {"struct elevator_type *": 0, "struct elevator_queue *": 1},
         "from 6.16.4 on"),
    Members("ELV_QUEUE_TAGS", "elevator_queue", (), ("et",), "from 6.16.4 on"),
    Type("ELV_DEPTH_OF_QUEUE", "elevator_mq_ops", "depth_updated", 1,
         {"struct blk_mq_hw_ctx *": 0, "struct request_queue *": 1},
         "from 6.17.8 on"),
    Members("ELV_SCHED_DATA", "elevator_mq_ops", (),
            ("alloc_sched_data", "free_sched_data"), "from 6.18 on"),
    Members("ELV_ASYNC_DEPTH", "request_queue", (), ("async_depth",),
            "from 7.0 on"),
    Members("ELV_DEBUGFS_ATTRS", "elevator_type", (),
            ("queue_debugfs_attrs", "hctx_debugfs_attrs"),
            "with CONFIG_BLK_DEBUG_FS", reviewed=False),
)

# Structs that may end with reserved members, in units of eight bytes: RHEL's
# RH_KABI_RESERVE() and the like.
RESERVED = {"elevator_mq_ops": "ELV_RESERVED_OPS",
            "elevator_type": "ELV_RESERVED_TYPE",
            "elevator_queue": "ELV_RESERVED_QUEUE",
            "blk_mq_alloc_data": "ELV_RESERVED_ALLOC"}
RESERVED_NAME = re.compile(r"rh_\w*|\w*kabi\w*", re.I)

# Features of public headers: C that compiles only if the feature is 1.
PUBLIC = {
    "ELV_HRTIMER_SETUP": "typeof(hrtimer_setup) *probe_timer;",
    "ELV_CPU_IS_ISOLATED": "typeof(cpu_is_isolated) *probe_isolated;",
    "ELV_SHOULD_MERGE": "int probe_merge = BLK_MQ_F_SHOULD_MERGE;",
    "ELV_LIMITS_AT_ALLOC": "void *probe_disk(void) "
                           "{ return blk_mq_alloc_disk(NULL, NULL, NULL); }",
}

# How far a combination is known.
NOT_REVIEWED, REVIEWED_ONLY, TESTED = 0, 1, 2
STATUS = {NOT_REVIEWED: "not reviewed", REVIEWED_ONLY: "reviewed, not tested",
          TESTED: "tested"}


@dataclass(frozen=True)
class Combination:
    """Kernels, how far they are known, and the features that are 1."""
    kernels: str
    status: int
    ones: frozenset = field(default_factory=frozenset)


def _combination(kernels, status, *ones):
    return Combination(kernels, status,
                       frozenset(f"ELV_{name}" for name in ones))


# TESTED: tests/vm passed on a kernel that has it. Otherwise its source was read.
REVIEWED = (
    _combination("5.16 to 6.1", TESTED, "INSERT_BOOL", "HAS_FEATURES",
                 "QUEUE_REGISTERED", "CACHED_RQ_PTR"),
    _combination("6.2, 6.3", REVIEWED_ONLY, "INSERT_BOOL", "HAS_FEATURES",
                 "CACHED_RQ_PTR"),
    _combination("6.4 to 6.8", REVIEWED_ONLY, "HAS_FEATURES", "CACHED_RQ_PTR"),
    _combination("6.9 to 6.12.24", REVIEWED_ONLY, "CACHED_RQ_PTR"),
    _combination("6.12.25 to 6.13", TESTED),
    _combination("6.14 to 6.16.3", REVIEWED_ONLY, "CONST_ATTRS"),
    _combination("6.16.4 to 6.17.0", REVIEWED_ONLY, "CONST_ATTRS",
                 "CORE_QUEUE", "QUEUE_TAGS"),
    _combination("later 6.17", TESTED, "CONST_ATTRS", "CORE_QUEUE",
                 "QUEUE_TAGS", "DEPTH_OF_QUEUE"),
    _combination("6.18, 6.19", TESTED, "CONST_ATTRS", "CORE_QUEUE",
                 "QUEUE_TAGS", "DEPTH_OF_QUEUE", "SCHED_DATA"),
    _combination("7.0 to 7.3", TESTED, "CONST_ATTRS", "CORE_QUEUE",
                 "QUEUE_TAGS", "DEPTH_OF_QUEUE", "SCHED_DATA", "ASYNC_DEPTH"),
)


@dataclass
class Found:
    """A kernel's features in its BTF, {macro: value}, and reasons to refuse it."""
    values: dict = field(default_factory=dict)
    refusals: list = field(default_factory=list)

    def flags(self):
        """For the compiler."""
        return [f"-D{macro}={value}" for macro, value in self.values.items()]

    def ones(self):
        """The features that are 1 and part of a combination."""
        return frozenset(f.macro for f in FEATURES
                         if f.reviewed and self.values.get(f.macro))

    def combination(self):
        """That of REVIEWED, or None."""
        return next((known for known in REVIEWED if known.ones == self.ones()),
                    None)

    def nearest(self):
        """(the combination of REVIEWED with the fewest other values, those)"""
        known = min(REVIEWED, key=lambda known: len(known.ones ^ self.ones()))
        return known, sorted(known.ones ^ self.ones())


def derive(kernel):
    """The Found of a kernel's BTF."""
    found = Found()
    for feature in FEATURES:
        numbers = kernel.find("struct", feature.struct)
        # BTF may have one name more than once; nothing shows which one is right.
        values = {feature.value(kernel, number) for number in numbers}
        unknown = sorted(v for v in values if isinstance(v, str))
        if not numbers:
            unknown = ["is not in the kernel's BTF"]
        elif len(values) > 1 and not unknown:
            unknown = [f"is in the kernel's BTF {len(numbers)} times, and "
                       f"{feature.macro} is 0 for one and 1 for another"]
        text = f"struct {feature.struct} {unknown[0]}" if unknown else ""
        if text and text not in found.refusals:
            found.refusals.append(text)
        found.values[feature.macro] = 0 if unknown else values.pop()
    for name, macro in RESERVED.items():
        values = {reserved(kernel, number)
                  for number in kernel.find("struct", name)} or {0}
        unknown = sorted(v for v in values if isinstance(v, str))
        if len(values) > 1 and not unknown:
            unknown = ["is in the kernel's BTF with different numbers of "
                       "reserved members"]
        found.refusals += [f"struct {name} {unknown[0]}"] if unknown else []
        found.values[macro] = 0 if unknown else values.pop()
    return found


def reserved(kernel, number):
    """Units of eight bytes that are reserved at the end, or what is wrong."""
    first = None
    for name, offset, width, _ in kernel.members(number):
        if RESERVED_NAME.fullmatch(name):
            first = first or (name, offset)
            if width:
                return (f"has the reserved bit field '{name}'; known: reserved "
                        "members of whole bytes only")
        elif first:
            return (f"has the reserved member '{first[0]}' before '{name}'; "
                    "known: reserved members at the end of a struct only")
    if not first:
        return 0
    size = kernel.size(number) - first[1] // 8
    if size % 8 or first[1] % 64:
        return (f"has {size} reserved bytes at its end, from '{first[0]}' on; "
                "known: multiples of eight")
    return size // 8
