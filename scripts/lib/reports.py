# SPDX-License-Identifier: GPL-2.0
"""Finds what a kernel complained about in its console log."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """One complaint: what kind, and the lines of the log that belong to it."""
    kind: str
    lines: tuple

    def text(self):
        """The block as it stood in the log."""
        return "\n".join(self.lines)


# Console lines are "[   12.345678] text", with CONFIG_PRINTK_CALLER
# "[   12.345678][  T123] text".
_STAMP = re.compile(r"^\s*\[\s*(\d+\.\d+)\](?:\[\s*[TC]\d+\])? ?")

# ^ stands for the begin of the message, behind the time stamp. The first kind
# that fits a line names the report.
_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in (
    ("KASAN", r"\bKASAN: "),
    ("KCSAN", r"\bKCSAN: "),
    ("KFENCE", r"\bKFENCE: "),
    ("KMSAN", r"\bKMSAN: "),
    ("UBSAN", r"\bUBSAN: "),
    ("panic", r"Kernel panic - not syncing"),
    ("soft lockup", r"\bsoft lockup\b"),
    ("workqueue lockup", r"BUG: workqueue lockup"),
    ("hard lockup", r"\bhard LOCKUP\b"),
    ("RCU stall", r"^rcu: INFO: |\bdetected stalls? on|\bself-detected stall"),
    ("hung task", r"INFO: task .* blocked|hung_task: |\btask .* hung\b"),
    ("lockdep", r"possible (?:circular|recursive|irq lock inversion|"
                r"irq-unsafe)|inconsistent lock state|lock inversion|"
                r"-unsafe lock order|bad unlock balance|held lock freed|"
                r"lock held when returning|\[ BUG: Invalid wait context|"
                r"trying to register non-static key|DEBUG_LOCKS_WARN_ON|"
                r"BUG: MAX_LOCK|BUG: MAX_STACK_TRACE|"
                r"Nested lock was not taken|"
                r"still has locks held|bad contention detected|"
                # guest-init.sh: it gave up, the run has proved less.
                r"^lab: lockdep is off"),
    ("suspicious RCU", r"suspicious RCU"),
    ("list corruption", r"\blist_(?:add|del) corruption"),
    ("refcount", r"\brefcount_t: "),
    ("object debugging", r"\bODEBUG: "),
    ("kmemleak", r"\bkmemleak: \d+ new suspected|unreferenced object 0x|"
                 r"kmemleak: Kernel memory leak detector disabled|"
                 r"kmemleak: Cannot insert|^lab: kmemleak is off"),
    ("sleeping in atomic", r"BUG: sleeping function called from invalid|"
                           r"BUG: scheduling while atomic"),
    ("general protection", r"^general protection fault"),
    ("oops", r"\bOops\b|unable to handle (?:page|kernel)|"
             r"^(?:divide error|invalid opcode|stack segment|int3): "),
    ("BUG", r"\bBUG: |^BUG \S+ \(|^kernel BUG at |^BUG at "),
    ("WARNING", r"^WARNING: "),
    ("sysfs or kobject", r"cannot create duplicate filename|"
                         r"kobject_add_internal failed|"
                         r"is not initialized, yet kobject_(?:get|put)"),
    ("unhandled interrupt", r"^irq \d+: nobody cared"),
))

# Messages that plain TCG causes even without a fault, each with the reason.
# None is needed so far: the clock source messages of a slow host ("Marking
# clocksource ... as unstable", "Long readout interval") are no reports to begin
# with.
ALLOWED = ()

# A kernel's report of a race is about the code on top of two stacks, all of
# which it instruments; most of them are the kernel's own, known, and harmless.
_OWN_ONLY = ("KCSAN",)

_LONGEST = 120
_LEAD_IN = re.compile(r"^(?:=+|-+\[ cut here \]-+)$")
_END = re.compile(r"^---\[ end (?:trace|Kernel panic)|^=+$")
# Lines that belong together are printed together.
_GAP_SECONDS = 1.0


def _split(line):
    """(time or None, message) of a console line."""
    match = _STAMP.match(line)
    if not match:
        return None, line
    return float(match[1]), line[match.end():]


def _kind(message, allowed):
    for kind, pattern in _KINDS:
        if pattern.search(message):
            if any(re.search(known, message) for known, _ in allowed):
                return None
            return kind
    return None


def _block_end(lines, start):
    """Index behind the last line of the report that begins at `start`."""
    last, _ = lines[start]
    end = start + 1
    while end < len(lines) and end - start < _LONGEST:
        when, message = lines[end]
        if when is not None:
            if last is not None and when - last > _GAP_SECONDS:
                break
            last = when
        end += 1
        # "====" closes a sanitizer's block but also underlines its title.
        if _END.match(message) and end - start > 4:
            break
    return end


def scan(log, allowed=ALLOWED):
    """All reports in a console log, in its order."""
    raw = log.replace("\r", "").split("\n")
    lines = [_split(line) for line in raw]
    found, index = [], 0
    while index < len(lines):
        kind = _kind(lines[index][1], allowed)
        if not kind:
            index += 1
            continue
        begin, end = index, _block_end(lines, index)
        while begin and _LEAD_IN.match(lines[begin - 1][1]):
            begin -= 1
        block = raw[begin:end]
        while block and not block[-1].strip():
            block.pop()
        found.append(Report(kind, tuple(block)))
        index = end
    return found


# A CPU waits for the others after it has changed a byte of kernel code, and
# another one runs into a breakpoint that is not there any more.
_WAITS = re.compile(r" (?:text_poke_bp_batch|smp_text_poke_batch_finish|"
                    r"smp_text_poke_single|text_poke_sync|text_poke_bp)\+0x")
_TRAPPED = re.compile(r" (?:asm_exc_int3|exc_int3|poke_int3_handler)\+0x")
_CHANGED = "a CPU was caught in code that had been changed"
# "name+0x12/0x34 [k2]": a frame of a module
_FRAME = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+ \[(\w+)")


# Bits of the flags that an x86 CPU always pushes as zero: 3, 5, 15 and from 22 on
_NO_FLAGS = ~0x3f7fd7 & 0xffffffff
_FLAGS = re.compile(r"\bEFLAGS: ([0-9a-f]+)")
_REGISTER = re.compile(r"\b(?:R[A-DS][XIP]|RBP|R\d\d): ([0-9a-f]{16})")


def _flags_of_a_register(text):
    """Does a report show flags with impossible bits, equal to a register's?"""
    for match in _FLAGS.finditer(text):
        wrong = int(match[1], 16) & _NO_FLAGS
        if wrong:
            # The dump's other lines follow.
            values = _REGISTER.findall(text[match.end():match.end() + 1000])
            return any((int(value, 16) & 0xffffffff & _NO_FLAGS) == wrong
                       for value in values)
    return False


# The byte that a breakpoint's handler has returned behind, and the first one after it
_BREAKPOINT = re.compile(r" (?:Oops: )?int3: .*?"
                         r" Code: [0-9a-f ]*\b([0-9a-f]{2}) <[0-9a-f]{2}>", re.DOTALL)


def _breakpoint_gone(text):
    """Did a CPU stop at a breakpoint where memory has an instruction?"""
    match = _BREAKPOINT.search(text)
    return bool(match) and match[1] != "cc"


def lost_to_qemu(log, own):
    """The fault of QEMU that the guest died of; "" if there is none.

    Nothing is QEMU's fault if one of `own` modules has a frame in it. See
    docs/lab.md, "Faults of QEMU".
    """
    found, _ = ours(scan(log), own)
    if not found:
        return ""
    kinds = {report.kind for report in found}
    start = log.find(found[0].lines[0].rstrip("\r"))
    rest = log[max(start, 0):]
    if set(_FRAME.findall(rest)) & set(own):
        return ""
    # QEMU before 8.1 translates code without a lock against a change in that
    # time.
    if kinds <= {"soft lockup", "panic", "RCU stall"} and \
            _WAITS.search(rest) and _TRAPPED.search(rest):
        return _CHANGED
    # A report within another one counts here, too.
    kinds = {_kind(_split(line)[1], ()) for line in rest.split("\n")}
    if kinds <= {"oops", "panic", None}:
        if _breakpoint_gone(rest):
            return _CHANGED
        if _flags_of_a_register(rest):
            return "a CPU's flags are what was in a register"
    return ""


def _race_only(report):
    """Is there nothing but a race in it, of all the CPUs that wrote it?"""
    return all(_kind(_split(line)[1], ALLOWED) in (None, *_OWN_ONLY)
               for line in report.lines)


# Callers of these have no part in the frames above them on a stack: the code of a
# bio's or a request's owner after a driver's report that it has begun or ended it,
# the block layer's run of a hardware queue, which any number of tasks may begin, and
# an interrupt in between.
_HANDED_OVER = re.compile(r"^ (?:bio_endio|blk_mq_(?:start|end)_request|"
                          r"blk_mq_(?:delay_)?run_hw_queues?|"
                          r"asm_sysvec_\w+|asm_common_interrupt)\+0x")


def _raced_in(report, marks):
    """Is a function with one of `marks` in it, and has to do with it?"""
    above, handed = 0, False
    for line in report.lines:
        _, message = _split(line)
        if not message.startswith(" "):
            above, handed = 0, False
            if any(mark in message for mark in marks):
                return True
            continue
        if not handed and any(mark in message for mark in marks):
            return True
        handed |= above > 0 and bool(_HANDED_OVER.match(message))
        above += 1
    return False


def ours(found, modules):
    """(reports that count, how many do not): races that are not our modules'.

    A report about a race counts if a function of one of `modules` is on top of
    a stack or has called, one by one, what is.
    """
    marks = {f"[{name}]" for name in modules}
    mine = [report for report in found
            if report.kind not in _OWN_ONLY or not _race_only(report)
            or _raced_in(report, marks)]
    return mine, len(found) - len(mine)
