# SPDX-License-Identifier: GPL-2.0
"""scripts/stages-test: what counts as agreeing, and what is built of LTTng."""

import copy
import importlib
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))

stagestest = importlib.import_module("stagestest")


def classes(real_time=500, device=1480.0, submission=2.0, total=1610.0):
    """The part of scripts/stages' output that is compared."""
    one = {name: {"mean_us": mean, "requests": real_time} for name, mean in (
        ("submission", submission), ("device", device), ("total", total))}
    return {"real-time": one, "best effort": copy.deepcopy(one)}


def test_alike():
    assert not stagestest.judge({"ftrace": classes(), "blktrace": classes(
        device=1500.0, submission=12.0, total=1650.0), "lttng": classes(490)})


@pytest.mark.parametrize("other, said", [
    (classes(device=1600.0), "blktrace: real-time, device: mean 1600.0 us, "
     "ftrace 1480.0"),
    (classes(submission=30.0), "submission: mean 30.0"),
    (classes(total=1800.0), "total: mean 1800.0"),
    (classes(400), "400 real-time requests from their beginning to their end, "
     "want 480 to 500"),
    (classes(600), "600 real-time requests"),
    ({"all": classes()["real-time"]}, "no class 'real-time'"),
])
def test_not_alike(other, said):
    found = stagestest.judge({"ftrace": classes(), "blktrace": other})
    assert any(said in line for line in found)


def test_a_stage_that_is_not_known():
    other = classes()
    del other["best effort"]["submission"]
    found = stagestest.judge({"ftrace": classes(), "lttng": other})
    assert found == ["lttng: best effort, submission: not known"]


def test_only_the_probe_of_the_block_layer_is_built():
    text = ("# probes\n\nobj-$(CONFIG_LTTNG) += lttng-probe-timer.o\n"
            "obj-$(CONFIG_LTTNG) += lttng-probe-block.o\n"
            "ifneq ($(CONFIG_KVM),)\n  obj-$(CONFIG_LTTNG) += lttng-probe-kvm.o\n"
            "endif\n")
    assert stagestest.only_block(text) == (
        "# probes\n\nobj-$(CONFIG_LTTNG) += lttng-probe-block.o\n"
        "ifneq ($(CONFIG_KVM),)\nendif\n")


@pytest.mark.parametrize("series", ("6.12", "7.3"))
def test_lttng_is_for_debians_own_kernel(series, capsys):
    with pytest.raises(SystemExit) as error:
        stagestest.parse(["--lttng", "--kernel", series])
    assert error.value.code == 2
    assert f"--kernel '{series}'" in capsys.readouterr().err
