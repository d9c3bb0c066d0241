#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write amplification of garbage collection, from first principles.

A second opinion on what a simulated SSD reports: it knows blocks, pages and a
rule for the victim, and nothing of time, buses or commands.

    wa_model.py --blocks 1000 --pages 64 --op-permille 112

User pages = flash pages / (1 + op / 1000). All user pages are written once in
order, then overwritten. The figures are taken after warming up, which lasts
until the amplification has stopped drifting.

Published results that it is held to (tests/host/test_wa_model.py):

[D12] P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012.
      alpha = T / U, flash over user space; spare factor S_f = (T - U) / T.
      eq. 4:  LRU (here: fifo), A = alpha / (alpha + W(-alpha e^-alpha))
      eq. 12: greedy, k = 1 + 1 / (2 N_p): A = A_LRU(k alpha) / k
      section 5: greedy, uniform, S_f = 0.1, N_p = 64: A = 4.82
[XK11] L. Xiang, B. Kurkoski, "An Improved Analytic Expression for Write
      Amplification in NAND Flash", arXiv:1110.4245. Eq. 12 is eq. 4 of [D12].
      Abstract: over-provisioning 0.3: 2.36 by the formula, 2.35 in simulation.
[BI10] W. Bux, I. Iliadis, "Performance of greedy garbage collection in
      flash-based solid-state drives", Performance Evaluation 67 (11), 2010.
      In a large system a victim has one of two successive numbers of valid
      pages. greedy_mean_field() follows from that; see there.
"""

import collections
import math
import pathlib
import random
import statistics
import sys

POLICIES = ("greedy", "fifo")
SCOPES = ("device", "chip")
PATTERNS = ("random", "sequential")

# Each takes some 50 bytes.
MOST_PAGES = 1 << 24
# Host writes are drawn and handed out in pieces, which bounds the memory.
PIECE = 1 << 16
# Added to the valid count of a block that must not become a victim.
NOT_CLOSED = 1 << 40

BATCHES = 10          # of the measurement
WARM_STEP = 4         # warm-up is judged in steps of 1/4 of the user pages
WARM_LEAST = 3        # times the user pages, after the spare space is full
WARM_MOST = 40


# --- theory -----------------------------------------------------------------

def lambert_w(x):
    """The principal branch, for -1/e <= x <= 0, where all callers are."""
    # w e^w rises with w on [-1, 0]; Newton's method would be lost near the
    # branch point, where the derivative is zero.
    low, high = -1.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle * math.exp(middle) < x:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def fifo_formula(alpha):
    """[D12] eq. 4, [XK11] eq. 12."""
    return alpha / (alpha + lambert_w(-alpha * math.exp(-alpha)))


def greedy_formula(alpha, pages):
    """[D12] eq. 12."""
    k = 1 + 1 / (2 * pages)
    return fifo_formula(k * alpha) / k


def greedy_mean_field(alpha, pages):
    """The fixed point of greedy collection with infinitely many blocks.

    Per host write, one of the U valid pages becomes invalid, each as likely,
    so blocks with n valid pages lose one at the rate n x_n, where x_n U is
    their number. Full blocks appear at the rate r, and all of them come down
    to a level m: n x_n = r for n > m. At m they are collected, except those
    that lose one more page first and are collected at once at m - 1. Then

        sum n x_n = 1:          r (b - m) + m x_m = 1
        sum x_n = alpha / b:    r (H_b - H_m) + x_m = alpha / b

    where H are harmonic numbers and b the pages of a block. The one m with
    0 <= m x_m <= r solves it, and the amplification is b r.
    """
    # Where one m ends the next begins: rounding must not lose both.
    slack = 1e-9
    gap = 0.0
    for m in range(pages - 1, 0, -1):
        gap += 1 / (m + 1)
        rate = (1 - m * alpha / pages) / (pages - m - m * gap)
        rest = alpha / pages - rate * gap
        if -slack * rate <= m * rest <= rate * (1 + slack):
            return pages * rate
    # Nothing valid is left in a victim.
    return 1.0


def effective_alpha(blocks, pages, user, free_blocks, frontiers):
    """T / U of the formulas, for one pool.

    They know neither free blocks nor half-written ones. When the host's
    frontier has filled up, all blocks but the free ones are full. A frontier
    of the copies is half full on the average at that moment, which is all
    that it changes: uniform writes make pages from host and copies alike.
    """
    return (blocks - free_blocks - (frontiers - 1) / 2) * pages / user


# --- simulation -------------------------------------------------------------

class Pool:
    """Blocks that share their free space."""

    def __init__(self, blocks, pages, user, policy, free_blocks, frontiers):
        self.pages = pages
        self.user = user
        self.greedy = policy == "greedy"
        self.least_free = free_blocks
        self.frontiers = frontiers
        self.home = [None] * user           # page: the block that it is in
        self.written = [[] for _ in range(blocks)]
        self.valid = [NOT_CLOSED] * blocks
        self.free = collections.deque(range(blocks))
        self.closed = collections.deque()   # in the order of filling up
        self.host = self.copy = self.free.popleft()
        if frontiers == 2:
            self.copy = self.free.popleft()
        self.copies = 0
        for page in range(user):
            if len(self.written[self.host]) == pages:
                self.next_host()
            self.home[page] = self.host
            self.written[self.host].append(page)
            self.valid[self.host] += 1

    def close(self, block):
        self.valid[block] -= NOT_CLOSED
        if not self.greedy:
            self.closed.append(block)

    def next_host(self):
        """The host's frontier is full: open a block, collect if need be."""
        self.close(self.host)
        self.host = self.free.popleft()
        if self.frontiers == 1:
            self.copy = self.host
        while len(self.free) < self.least_free:
            self.collect()
        if self.frontiers == 1:
            self.host = self.copy

    def collect(self):
        if self.greedy:
            victim = self.valid.index(min(self.valid))
        else:
            victim = self.closed.popleft()
        # A page that was written to this block twice is listed twice.
        home = self.home
        pages = [page for page in dict.fromkeys(self.written[victim])
                 if home[page] == victim]
        self.copies += len(pages)
        self.written[victim] = []
        self.valid[victim] = NOT_CLOSED
        while pages:
            target = self.written[self.copy]
            room = self.pages - len(target)
            if not room:
                self.close(self.copy)
                self.copy = self.free.popleft()
                continue
            part, pages = pages[:room], pages[room:]
            target.extend(part)
            self.valid[self.copy] += len(part)
            for page in part:
                home[page] = self.copy
        self.free.append(victim)

    def write(self, sequence):
        """The host overwrites these pages."""
        home, valid, size = self.home, self.valid, self.pages
        host = self.host
        target = self.written[host]
        for page in sequence:
            while len(target) == size:
                self.next_host()
                host = self.host
                target = self.written[host]
            valid[home[page]] -= 1
            home[page] = host
            valid[host] += 1
            target.append(page)


class Device:
    def __init__(self, pools, user, pattern, seed):
        self.pools = pools
        self.user = user
        self.pattern = pattern
        self.draw = random.Random(seed).random
        self.at = 0

    def pages(self, count):
        user = self.user
        if self.pattern == "random":
            draw = self.draw
            return [int(draw() * user) for _ in range(count)]
        at, self.at = self.at, (self.at + count) % user
        return [(at + i) % user for i in range(count)]

    def write(self, count):
        """Returns the amplification of these host writes."""
        pools = self.pools
        before = sum(pool.copies for pool in pools)
        for done in range(0, count, PIECE):
            pages = self.pages(min(PIECE, count - done))
            if len(pools) == 1:
                pools[0].write(pages)
                continue
            shares = [[] for _ in pools]
            for page in pages:
                shares[page % len(pools)].append(page // len(pools))
            for pool, share in zip(pools, shares):
                pool.write(share)
        return 1 + (sum(pool.copies for pool in pools) - before) / count


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values))


def warm_up(device, op_permille):
    """Returns the host writes that it took, and whether they sufficed."""
    step = max(1, device.user // WARM_STEP)
    # The spare space takes the first writes, and nothing is collected.
    least = math.ceil((WARM_LEAST + op_permille / 1000) * WARM_STEP)
    seen = []
    while len(seen) < WARM_MOST * WARM_STEP:
        seen.append(device.write(step))
        if len(seen) < least:
            continue
        # All blocks were filled in one go, so they first come due in waves;
        # spans of at least the user pages see all of a wave. The first third
        # stays out: its scatter would hide any drift.
        span = len(seen) // 3
        old, new = seen[-2 * span:-span], seen[-span:]
        drift = abs(statistics.mean(new) - statistics.mean(old))
        noise = 2 * math.hypot(standard_error(old), standard_error(new))
        if drift <= max(noise, 0.005 * statistics.mean(new)):
            return step * len(seen), True
    return step * len(seen), False


def simulate(blocks, pages, op_permille, policy="greedy", scope="chip",
             chips=1, overwrites=5, seed=1, frontiers=1, free_blocks=None,
             pattern="random"):
    """Returns a dict of the results, in the order to print them in.

    blocks: of the whole device. scope "chip": page p is in chip p % chips and
    stays there, and so do its copies; "device": all blocks are one pool,
    however many chips. overwrites: host writes that are measured, in multiples
    of the user pages. free_blocks: of a pool, collection keeps as many; by
    default as many as there are frontiers, which is the least.
    """
    for name, value, known in (("policy", policy, POLICIES),
                               ("scope", scope, SCOPES),
                               ("pattern", pattern, PATTERNS)):
        if value not in known:
            raise ValueError(f"{name} '{value}': want one of "
                             f"{', '.join(known)}")
    free_blocks = frontiers if free_blocks is None else free_blocks
    if free_blocks < frontiers:
        raise ValueError(f"free-blocks '{free_blocks}': want at least "
                         f"{frontiers}, one for each frontier")
    if blocks * pages > MOST_PAGES:
        raise ValueError(f"blocks '{blocks}': want at most "
                         f"{MOST_PAGES // pages} of {pages} pages")
    count = chips if scope == "chip" else 1
    if blocks % count:
        raise ValueError(f"blocks '{blocks}': want a multiple of the "
                         f"{count} chips")
    user = blocks * pages * 1000 // (1000 + op_permille)
    shares = [(user + count - 1 - i) // count for i in range(count)]
    if not shares[-1]:
        raise ValueError(f"blocks '{blocks}': fewer user pages than chips")
    # What is not free or open has to be more than the data, or a victim could
    # be full of valid pages for ever.
    spare = blocks // count - max(shares) / pages
    if spare <= free_blocks + frontiers:
        raise ValueError(
            f"op-permille '{op_permille}': {spare:.2f} spare blocks a pool, "
            f"want more than {free_blocks + frontiers} ({free_blocks} free, "
            f"{frontiers} open)")

    pools = [Pool(blocks // count, pages, share, policy, free_blocks,
                  frontiers) for share in shares]
    device = Device(pools, user, pattern, seed)
    warm, steady = warm_up(device, op_permille)
    size = max(1, user * overwrites // BATCHES)
    batches = [device.write(size) for _ in range(BATCHES)]
    result = {"blocks": blocks, "pages": pages, "op_permille": op_permille,
              "policy": policy, "scope": scope, "pools": count,
              "frontiers": frontiers, "free_blocks": free_blocks,
              "pattern": pattern, "seed": seed, "user_pages": user,
              "warm_up_writes": warm, "steady": "yes" if steady else "no",
              "measured_writes": size * BATCHES,
              "wa": statistics.mean(batches),
              "wa_error": standard_error(batches)}
    if pattern == "random":
        alpha = effective_alpha(blocks // count, pages, user / count,
                                free_blocks, frontiers)
        result.update(effective_alpha=alpha,
                      theory_fifo=fifo_formula(alpha),
                      theory_greedy=greedy_formula(alpha, pages),
                      theory_mean_field=greedy_mean_field(alpha, pages))
    return result


def write_amplification(*args, **kwargs):
    """As simulate(); returns the amplification and its standard error."""
    result = simulate(*args, **kwargs)
    return result["wa"], result["wa_error"]


# --- command ----------------------------------------------------------------

def main(argv):
    # Here, so that whoever imports the model needs nothing of the repository.
    repo = pathlib.Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(repo / "scripts" / "lib"))
    sys.dont_write_bytecode = True
    import options

    number = options.number
    parser = options.Parser(
        "wa_model.py", description="Simulates write amplification under "
        "overwrites with garbage collection; prints 'key value' lines.")
    parser.prog = "tests/physics/wa_model.py"
    parser.add_argument("--blocks", type=number(4, 1 << 20), required=True,
                        help="flash blocks of the device")
    parser.add_argument("--pages", type=number(1, 8192), required=True,
                        help="pages of a block")
    parser.add_argument("--op-permille", type=number(1, 4000), required=True,
                        help="flash beyond the user's, in 1/1000 of it")
    parser.add_argument("--policy", default="greedy", choices=POLICIES,
                        help="victim: fewest valid pages, or oldest")
    parser.add_argument("--scope", default="chip", choices=SCOPES,
                        help="chip: each chip has its pages and its free "
                        "space; device: one pool, --chips does not matter")
    parser.add_argument("--chips", type=number(1, 4096), default=1)
    parser.add_argument("--overwrites", type=number(1, 10000), default=5,
                        help="writes to measure, in multiples of the user "
                        "pages (%(default)s)")
    parser.add_argument("--seed", type=number(0, (1 << 32) - 1), default=1)
    parser.add_argument("--frontiers", type=number(1, 2), default=1,
                        help="1: copies go where the host writes; 2: to a "
                        "block of their own")
    parser.add_argument("--free-blocks", type=number(1, 1 << 20),
                        help="that collection keeps in each pool; default "
                        "and least: as many as frontiers")
    parser.add_argument("--pattern", default="random", choices=PATTERNS)
    wanted = vars(parser.parse_args(argv))
    try:
        result = simulate(**wanted)
    except ValueError as problem:
        parser.error(str(problem))
    for key, value in result.items():
        print(key, f"{value:.5f}" if isinstance(value, float) else value)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
