# SPDX-License-Identifier: GPL-2.0
"""tests/physics/wa_model.py against what was published on the subject.

The references [D12], [XK11], [BI10] are in that file.
"""

import importlib
import math
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
PHYSICS = REPO / "tests" / "physics"
sys.path.insert(0, str(PHYSICS))
sys.dont_write_bytecode = True

wa_model = importlib.import_module("wa_model")


def run(*args):
    return subprocess.run(
        ["/usr/bin/python3", "-B", PHYSICS / "wa_model.py", *args],
        capture_output=True, text=True, timeout=60)


# --- formulas ---------------------------------------------------------------

@pytest.mark.parametrize("x", [-1 / math.e, -0.36, -0.2, -1e-3, -1e-9, 0])
def test_lambert_w_inverts_w_exp_w(x):
    w = wa_model.lambert_w(x)
    assert w >= -1
    assert w * math.exp(w) == pytest.approx(x, rel=1e-9, abs=1e-15)


def test_formulas_give_the_published_figures():
    # [XK11], abstract: 2.36 at over-provisioning 0.3.
    assert round(wa_model.fifo_formula(1.3), 2) == 2.36
    # [D12], section 5: 4.82 at S_f = 0.1, N_p = 64.
    assert round(wa_model.greedy_formula(1 / 0.9, 64), 2) == 4.82
    assert round(wa_model.greedy_mean_field(1 / 0.9, 64), 2) == 4.82


@pytest.mark.parametrize("alpha", [1.05, 1.07, 1.12, 1.28, 1.5, 2])
@pytest.mark.parametrize("pages", [32, 64, 256])
def test_two_theories_of_greedy_agree(alpha, pages):
    # [D12] eq. 12 smooths over the whole numbers of valid pages, which shows
    # only where blocks are small or spare space is scarce.
    assert wa_model.greedy_formula(alpha, pages) == pytest.approx(
        wa_model.greedy_mean_field(alpha, pages), rel=0.01)


def test_greedy_with_vast_blocks_is_fifo():
    # All blocks then age alike, and the emptiest is the oldest.
    assert wa_model.greedy_mean_field(1.2, 8192) == pytest.approx(
        wa_model.fifo_formula(1.2), rel=1e-3)


# --- simulation against theory ----------------------------------------------

@pytest.mark.parametrize("op", [50, 112, 300, 1000])
@pytest.mark.parametrize("pages", [16, 64])
def test_fifo_is_the_closed_form(op, pages):
    # Eq. 4 does not know the size of a block: both have to agree with it.
    result = wa_model.simulate(1000, pages, op, policy="fifo")
    assert result["steady"] == "yes"
    assert result["wa"] == pytest.approx(
        wa_model.fifo_formula(result["effective_alpha"]), rel=0.02)


@pytest.mark.parametrize("op, pages", [(50, 32), (112, 8), (112, 64),
                                       (300, 64), (1000, 16)])
def test_greedy_is_the_mean_field(op, pages):
    result = wa_model.simulate(1000, pages, op)
    assert result["steady"] == "yes"
    assert result["wa"] == pytest.approx(wa_model.greedy_mean_field(
        result["effective_alpha"], pages), rel=0.02)


def test_greedy_is_what_desnoyers_published():
    # 112 rather than 111: it makes up for the free block.
    result = wa_model.simulate(1000, 64, 112)
    assert result["effective_alpha"] == pytest.approx(1 / 0.9, rel=5e-4)
    assert result["wa"] == pytest.approx(4.82, rel=0.02)


def test_greedy_is_what_xiang_and_kurkoski_simulated():
    # The abstract does not name the block; from 64 pages up it matters little.
    wa, error = wa_model.write_amplification(500, 256, 300)
    assert error < 0.02
    assert wa == pytest.approx(2.35, rel=0.02)


@pytest.mark.parametrize("policy", wa_model.POLICIES)
def test_second_frontier_costs_half_a_block(policy):
    # Same free blocks, few blocks: what half a block more or less changes is
    # far outside the errors.
    got = {}
    for frontiers in (1, 2):
        result = wa_model.simulate(137, 64, 112, policy=policy, overwrites=20,
                                   frontiers=frontiers, free_blocks=2)
        theory = result["theory_fifo" if policy == "fifo"
                        else "theory_mean_field"]
        assert result["wa"] == pytest.approx(theory, rel=0.03)
        got[frontiers] = result["wa"], result["wa_error"]
    assert got[2][0] - got[1][0] > 3 * (got[1][1] + got[2][1])


def test_chips_share_no_spare_space():
    # Each chip is a separate small device.
    chip, error = wa_model.write_amplification(
        800, 64, 112, scope="chip", chips=8)
    alone, error_alone = wa_model.write_amplification(
        100, 64, 112, overwrites=40)
    assert abs(chip - alone) < 4 * math.hypot(error, error_alone) + 0.01
    device, _ = wa_model.write_amplification(
        800, 64, 112, scope="device", chips=8)
    assert device < chip * 0.97


def test_free_blocks_are_spare_space_lost():
    # 10 blocks of 500 that are never filled are 2 % less flash.
    lost, _ = wa_model.write_amplification(500, 64, 112, free_blocks=10)
    assert lost == pytest.approx(
        wa_model.greedy_mean_field(1.112 * 0.98, 64), rel=0.02)


# --- what must hold without any theory --------------------------------------

@pytest.mark.parametrize("policy", wa_model.POLICIES)
@pytest.mark.parametrize("frontiers", [1, 2])
@pytest.mark.parametrize("scope", wa_model.SCOPES)
def test_sequential_overwrites_copy_nothing(policy, frontiers, scope):
    wa, error = wa_model.write_amplification(
        160, 32, 200, policy=policy, scope=scope, chips=4,
        frontiers=frontiers, pattern="sequential")
    assert (wa, error) == (1, 0)


def test_blocks_of_one_page_copy_nothing():
    assert wa_model.write_amplification(500, 1, 100) == (1, 0)


@pytest.mark.parametrize("policy", wa_model.POLICIES)
def test_more_spare_space_less_amplification(policy):
    got = [wa_model.write_amplification(300, 32, op, policy=policy)
           for op in (40, 70, 150, 280, 600)]
    for (more, error), (less, error_less) in zip(got, got[1:]):
        assert more - less > 3 * (error + error_less)
    assert got[-1][0] > 1


def test_greedy_beats_fifo():
    greedy, _ = wa_model.write_amplification(300, 32, 100)
    fifo, _ = wa_model.write_amplification(300, 32, 100, policy="fifo")
    assert greedy < fifo * 0.95


def test_error_is_the_scatter_of_seeds():
    got = [wa_model.write_amplification(200, 32, 150, seed=seed)
           for seed in range(12)]
    mean = sum(wa for wa, _ in got) / len(got)
    scatter = math.sqrt(sum((wa - mean) ** 2 for wa, _ in got)
                        / (len(got) - 1))
    error = math.sqrt(sum(e * e for _, e in got) / len(got))
    assert 0.4 < scatter / error < 2.5


def test_seed_decides():
    first, again, other = (
        wa_model.write_amplification(100, 32, 150, chips=2, seed=seed)
        for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.parametrize("policy", wa_model.POLICIES)
@pytest.mark.parametrize("frontiers", [1, 2])
def test_no_page_is_lost(policy, frontiers):
    pool = wa_model.Pool(40, 8, 250, policy, 3, frontiers)
    device = wa_model.Device([pool], 250, "random", 1)
    device.write(5000)
    valid = [sum(1 for page in set(written) if pool.home[page] == block)
             for block, written in enumerate(pool.written)]
    assert sum(valid) == 250
    assert [count % wa_model.NOT_CLOSED for count in pool.valid] == valid
    assert all(len(written) <= 8 for written in pool.written)
    assert len(pool.free) == 3
    assert not any(pool.written[block] for block in pool.free)


# --- the command ------------------------------------------------------------

def test_command_prints_what_the_function_returns():
    got = run("--blocks", "64", "--pages", "16", "--op-permille", "200",
              "--policy", "fifo", "--scope", "chip", "--chips", "2",
              "--overwrites", "3", "--seed", "5", "--frontiers", "2")
    assert (got.returncode, got.stderr) == (0, "")
    values = dict(line.split(" ", 1) for line in got.stdout.splitlines())
    wa, error = wa_model.write_amplification(
        64, 16, 200, policy="fifo", chips=2, overwrites=3, seed=5,
        frontiers=2)
    assert values["wa"] == f"{wa:.5f}"
    assert values["wa_error"] == f"{error:.5f}"
    assert values["pools"] == "2"
    assert values["steady"] == "yes"


GOOD = {"--blocks": "64", "--pages": "16", "--op-permille": "200"}


@pytest.mark.parametrize("change, text", [
    ({"--blocks": "3"}, "from 4 to 1048576"),
    ({"--blocks": "many"}, "from 4 to 1048576"),
    ({"--blocks": "1000000", "--pages": "64"}, "at most 262144"),
    ({"--pages": "0"}, "from 1 to 8192"),
    ({"--op-permille": "0"}, "from 1 to 4000"),
    ({"--op-permille": "20"}, "want more than 2 (1 free, 1 open)"),
    ({"--policy": "lucky"}, "greedy, fifo"),
    ({"--scope": "die"}, "device, chip"),
    ({"--pattern": "zipf"}, "random, sequential"),
    ({"--chips": "0"}, "from 1 to 4096"),
    ({"--chips": "5"}, "multiple of the 5 chips"),
    ({"--overwrites": "0"}, "from 1 to 10000"),
    ({"--seed": "-1"}, "from 0 to 4294967295"),
    ({"--frontiers": "3"}, "from 1 to 2"),
    ({"--free-blocks": "1", "--frontiers": "2"}, "at least 2"),
])
def test_bad_option_is_one_line(change, text):
    got = run(*(f"{key}={value}" for key, value in (GOOD | change).items()))
    assert got.returncode == 2
    assert got.stdout == ""
    assert got.stderr.startswith("wa_model.py: ")
    assert got.stderr.count("\n") == 1
    # Newer versions of Python list choices without quotes.
    assert text in got.stderr.replace("'", "")


def test_option_is_missing():
    got = run("--blocks", "64")
    assert got.returncode == 2
    assert got.stderr == ("wa_model.py: the following arguments are required: "
                          "--pages, --op-permille\n")
