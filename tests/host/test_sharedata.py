# SPDX-License-Identifier: GPL-2.0
"""Conclusions from a run with tenants; no guest is booted."""

import importlib
import json
import pathlib
import sys

import numpy
import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

sharecase = importlib.import_module("sharecase")
sharecost = importlib.import_module("sharecost")
sharedata = importlib.import_module("sharedata")
suitedata = importlib.import_module("suitedata")

plan = sharecase.plan

SIZE_MB = 1024
RANGE_NS = 10**9


def requests(turns=300, sizes=(8, 8, 8, 8), weights=(1, 2, 4, 5)):
    """(tenant, ns of arrival, of completion, a write, sector, sectors)."""
    now, found = 0, []
    for turn in range(turns):
        for tenant, weight in enumerate(weights):
            for _ in range(weight):
                found.append((tenant, now, now + 320000, turn % 2,
                              tenant * (SIZE_MB << 11) // 4 + turn * 64,
                              sizes[tenant]))
                now += 32000
    return found


def raw_files(rows, names=("grp1", "grp2", "grp4", "grp5"), **more):
    """Raw files of a guest's run with tenants; 32 times slower than the device."""
    reads = sum(not row[3] for row in rows)
    jobs, logs = [], {}
    span = (rows[-1][2] - rows[0][1]) // 10**6
    for number, name in enumerate(names, 1):
        mine = [row for row in rows if row[0] == number - 1]
        ways = {}
        for way, write in (("read", 0), ("write", 1)):
            own = [row for row in mine if row[3] == write]
            ways[way] = {
                "total_ios": len(own), "runtime": span if own else 0,
                "io_bytes": sum(row[5] for row in own) * 512,
                "lat_ns": {"N": len(own), "mean": 4e5, "max": 5e5}}
        jobs.append({"jobname": name, "error": 0, **ways})
        logs[f"{name}_lat.{number}.log"] = "".join(
            f"{row[2] // 10**6}, {row[2] - row[1]}, {row[3]}, 4096, 0, 0\n"
            for row in mine)
    moved = sum(row[5] for row in rows) * 512
    ranges = "".join(
        f"range{n}_read_ns {(n // 2 + 1) * RANGE_NS * 32}\n"
        f"range{n}_write_ns {2 * (n // 2 + 1) * RANGE_NS * 32}\n"
        for n in range(8))
    return {
        "fio": json.dumps({"jobs": jobs}), **logs,
        "log": "arrival_ns,done_ns,op,sector,sectors\n" + "".join(
            f"{begin},{end},{'RW'[way]},{sector},{sectors}\n"
            for _, begin, end, way, sector, sectors in rows),
        "device-stats": f"profile D\nsize_bytes {SIZE_MB << 20}\n"
        f"reads {reads}\nwrites {len(rows) - reads}\nread_bytes {moved}\n"
        f"write_bytes 0\noutstanding 0\noutstanding_max 10\n{ranges}",
        "stat-before": "0 " * 11,
        "stat-after": f"{reads} 0 0 0 {len(rows) - reads}" + " 0" * 6,
        "settings": "", "inflight": "0 0\n", "dmesg": "", "status": "0\n",
        "cpu": "100.00 5000\n108.00 5600\n", **more}


def evaluated(label="none", rows=None, **more):
    """A record's figures of such a run."""
    run = plan()[f"same.{label}.device"]
    return suitedata.evaluate(raw_files(rows or requests(), **more), run,
                              {"cpus": 1})


def test_weights_were_read_back():
    """A run fails the check if a tenant's weight was not read back."""
    run = {**plan()["same.none.device"],
           "groups": ["grp1 100 weights", "grp2 200 weights", "grp4 400 -"]}
    both = "weights/grp1\t100\t100\nweights/grp2\t200\t200\n"

    def found(settings):
        return suitedata.evaluate(raw_files(requests(), settings=settings),
                                  run, {"cpus": 1})["checks"]["settings"]

    assert found(both)["passed"]
    assert found(both.splitlines(True)[0])["wrong"] == [
        "weights/grp2: nothing instead of 200"]
    assert found(both.replace("\t200\n", "\t250\n"))["wrong"] == [
        "weights/grp2: 250 instead of 200"]
    assert not found("")["passed"]


def test_a_fair_run():
    found = evaluated()
    assert found["passed"], found["checks"]
    share = found["fairness"]
    assert share["unit"] == "sectors"
    assert share["due"] == pytest.approx([1 / 12, 2 / 12, 4 / 12, 5 / 12])
    one = share["by_unit"]["sectors"]
    assert one["shares"] == pytest.approx(share["due"])
    assert one["pv"] == pytest.approx(0) and one["jain"] == pytest.approx(1)
    assert one["received"] == [300 * 8 * n for n in (1, 2, 4, 5)]
    window = one["windows"][0]
    # The last nine of the smallest end while others have stopped.
    assert (window["requests"], window["windows"]) == (50, 5)
    assert window["inversions"] == 0
    # 50 turns of 12 requests, 1 us of the device apart
    assert window["window_s"] == pytest.approx(600e-6, rel=0.01)
    # Ten in the device, evenly: far within
    assert len(one["service"]) == 6 and one["service_ratio"] < 0.3
    tenant = found["tenants"][1]
    assert tenant["name"] == "grp2" and tenant["ios"] == 600
    assert tenant["latency_s"]["mean"] == pytest.approx(10e-6)
    assert tenant["latency_s"]["stddev"] == pytest.approx(0, abs=1e-12)
    assert tenant["mean_sectors"] == 8
    assert tenant["inter_dispatch_s"] == pytest.approx(6e-6, rel=0.01)
    assert sum(share["depths"].values()) == pytest.approx(1)
    assert share["depths"]["10"] > 0.9
    course = share["course"]
    assert len(course["bytes_per_s"]) == 4
    # All but what ended behind the last dispatch
    assert sum(course["bytes_per_s"][0]) * course["period_s"] == \
        pytest.approx(300 * 4096, rel=0.01)


def test_chip_time_is_of_the_tenants_ranges():
    found = evaluated()["fairness"]["by_unit"]["chip"]
    # Two ranges a tenant, 1 + 2, 2 + 4, ... s each
    assert found["received"] == pytest.approx([6, 12, 18, 24])
    assert found["pv"] == pytest.approx((0 + 0 + 1 + 1) / 4)
    assert evaluated(rows=[row for row in requests()])["fairness"][
        "by_unit"]["requests"]["received"] == [300, 600, 1200, 1500]


def test_without_ranges_of_their_own_there_is_no_chip_time():
    stats = {f"range{n}_{way}_ns": 1 for n in range(6)
             for way in ("read", "write")}
    tenants = plan()["same.none.device"]["tenants"]
    assert sharedata.chip_time(stats, tenants) is None
    assert sharedata.chip_time({}, tenants) is None


def test_units_differ():
    rows = requests(sizes=(40, 21, 11, 9))
    found = evaluated(rows=rows)["fairness"]["by_unit"]
    assert found["sectors"]["pv"] == pytest.approx(
        (0 + 0.95 + 2.9 + 3.875) / 4)
    assert found["requests"]["pv"] == pytest.approx(0)
    # In each window a heavier one got a little more.
    assert found["sectors"]["windows"][0]["inversions"] == 0
    rows = requests(sizes=(80, 20, 10, 8))
    found = evaluated(rows=rows)["fairness"]["by_unit"]
    assert found["sectors"]["windows"][0]["inversions"] == 3 * 5


def test_a_tenant_that_is_served_late():
    """The service bound sees what the whole run does not."""
    even = requests()
    first = [row for row in even[12:-12] if row[0] == 0]
    rows = even[:12] + first + \
        [row for row in even[12:-12] if row[0] != 0] + even[-12:]
    # Seven in the device at most, of eight
    rows = [(row[0], n * 32000, n * 32000 + 224000, *row[3:])
            for n, row in enumerate(rows)]
    found = evaluated(rows=rows)["fairness"]["by_unit"]["sectors"]
    assert found["pv"] == pytest.approx(0)
    assert found["windows"][0]["inversions"] > 0
    # 298 of 8 sectors in a row, others with weight 500 wait
    assert found["service"][2]["tenants"] == ["grp1", "grp5"]
    assert found["service"][2]["completed"] >= 297 * 8
    assert found["service_ratio"] > 1
    assert evaluated(rows=rows, **{"device-stats": raw_files(rows)[
        "device-stats"].replace("outstanding_max 10", "outstanding_max 7")})[
            "fairness"]["depth"] == 7


def test_exclusive_service_has_nothing_that_waits():
    """All of a tenant's requests are in the device: only `outstanding` sees
    that the others wait in that time."""
    even = requests()
    rows = even[:12] + [row for row in even[12:-12] if row[0] == 0] + \
        [row for row in even[12:-12] if row[0] != 0] + even[-12:]
    rows = [(row[0], n * 32000, n * 32000 + 320000, *row[3:])
            for n, row in enumerate(rows)]
    found = evaluated(rows=rows)["fairness"]["by_unit"]["sectors"]
    assert found["outstanding_ratio"] > 1
    assert found["service_ratio"] < found["outstanding_ratio"]


def test_the_log_must_have_all_requests():
    rows = requests()
    raw = raw_files(rows)
    cut = {"log": "\n".join(raw["log"].splitlines()[:-1]) + "\n"}
    found = evaluated(**cut)
    assert not found["checks"]["traced"]["passed"] and not found["passed"]
    with pytest.raises(ValueError):
        evaluated(log="")
    run = plan()["same.none.device"]
    run["tenants"][3]["span_pct"] = [75.5, 100]
    checks = suitedata.evaluate(raw_files(rows), run, {"cpus": 1})["checks"]
    # 164 of its 300 turns begin before that.
    assert checks["traced"]["foreign"] == 5 * 164
    assert not checks["traced"]["passed"]


def test_the_depth_is_the_scheduler_s_bound_where_it_has_one():
    assert evaluated()["fairness"]["depth"] == 10
    found = evaluated("acfq", tunables="mode auto\nmax_inflight 64\n")
    assert found["fairness"]["depth"] == 64


def test_what_a_scheduler_says_it_has_charged():
    table = "".join(
        f"tenant cgroup:{n + 70} weight {n}00 cost {cost} vtime 7\n"
        for n, cost in ((1, 100), (2, 190), (4, 420), (5, 480))) + \
        "tenant cgroup:1 weight 100 cost 5\ntenant all weight 100 cost 9\n"
    groups = "".join(f"grp{n} {n + 70}\n" for n in (1, 2, 4, 5))
    found = evaluated("hbfq", tenants=table, groups=groups)["fairness"]
    # The charges differ from the sum of such requests.
    assert found["unit"] == "cost"
    assert found["by_unit"]["cost"]["pv"] == pytest.approx(0.125)
    assert found["by_unit"]["cost"]["windows_by"] == "chip"
    assert found["charged"]["grp4"] == {"weight": 400, "cost": 420,
                                        "vtime": 7}
    assert list(found["charged"]) == ["grp1", "grp2", "grp4", "grp5"]
    # Without its table: the chips' time
    found = evaluated("hbfq")["fairness"]
    assert found["by_unit"]["cost"]["pv"] == pytest.approx(0.5)
    assert found["by_unit"]["cost"]["windows_by"] == "chip"


def charged_files(costs):
    """Raw files of a scheduler that reports these charges."""
    return {"tenants": "".join(
        f"tenant cgroup:{n} weight {n}00 cost {cost}\n"
        for n, cost in zip((1, 2, 4, 5), costs)),
        "groups": "".join(f"grp{n} {n}\n" for n in (1, 2, 4, 5))}


def replayed(rows, tenant):
    """The charge of each of a tenant's requests, computed again."""
    charges, _ = sharecost.replay(
        *([row[n] for row in rows] for n in (1, 2, 3, 5)))
    return [charge for charge, row in zip(charges, rows) if row[0] == tenant]


def replayed_sums(rows):
    """The sum of each tenant's charges."""
    return [sum(replayed(rows, tenant)) for tenant in range(4)]


def test_windows_of_what_each_request_was_charged():
    # Those with less weight move more bytes, but what each waits for, and so is
    # charged, is the same.
    rows = requests(sizes=(80, 20, 10, 8))
    costs = replayed_sums(rows)
    most = [max(replayed(rows, tenant)) for tenant in (0, 1)]
    found = evaluated("hbfq", rows=rows, **charged_files(costs))
    by_unit = found["fairness"]["by_unit"]
    one = by_unit["cost"]
    assert one["windows_by"] == "charge" and one["unit"] == "cost"
    assert one["received"] == one["replayed"] == costs
    assert one["replay_off"] == [0] * 4
    assert one["windows"][0]["inversions"] == 0
    # At first there is less in the device, and each has more of it.
    assert one["windows"][0]["pv_median"] < 0.1
    assert by_unit["sectors"]["windows"][0]["inversions"] > 0
    assert one["pv_sending"] == pytest.approx(one["pv"], abs=0.1)
    # ns of the guest's time, which is what the scheduler counts
    assert one["service"][0]["allowed"] == 11 * (most[0] + most[1] / 2)
    metrics = suitedata.metrics({**found, "time_scale": 32})
    assert metrics["windows_by_charge"] == 1 and metrics["replay_off"] == 0
    assert metrics["inversions_charged"] == 0


@pytest.mark.parametrize("tenant, factor, by", [
    (0, 1.009, "charge"), (0, 1.012, "chip"), (3, 0.992, "charge"),
    (3, 0.989, "chip"), (2, 0, "chip")])
def test_charges_that_do_not_come_to_the_sum_are_not_believed(tenant, factor,
                                                               by):
    rows = requests()
    costs = replayed_sums(rows)
    costs[tenant] = int(costs[tenant] * factor)
    found = evaluated("hbfq", rows=rows, **charged_files(costs))
    one, chip = (found["fairness"]["by_unit"][key]
                 for key in ("cost", "chip"))
    assert one["windows_by"] == by and one["received"] == costs
    assert (one["windows"] == chip["windows"]) is (by == "chip")
    assert (one["service"] == chip["service"]) is (by == "chip")
    off = one["replay_off"][tenant]
    assert off is None if not factor else \
        off == pytest.approx(1 / factor - 1, rel=1e-3)
    metrics = suitedata.metrics({**found, "time_scale": 32})
    assert metrics["windows_by_charge"] == (by == "charge")


def test_who_waits_in_front_of_a_drive_was_charged_before():
    rows = requests()
    files = charged_files(replayed_sums(rows))
    one, other = (evaluated("hbfq", rows=rows, **files, **{
        "stats-after": f"peak_inflight {peak}\n"})["fairness"]["by_unit"][
            "cost"] for peak in (10, 11))
    assert one["replayed"] == replayed_sums(rows)
    issued, done, *what = ([row[n] for row in rows] for n in (1, 2, 3, 5))
    charges, _ = sharecost.replay(
        sharecost.handed_over(issued, done), done, *what)
    assert other["replayed"] != one["replayed"]
    assert sum(other["replayed"]) == sum(charges)


def test_what_was_forgiven_is_in_no_window():
    """A direction's first completion is late: earlier charges are a guess."""
    rows = [(*row[:3], int(turn >= 1200), *row[4:])
            for turn, row in enumerate(requests())]
    costs = replayed_sums(rows)
    one = evaluated("hbfq", rows=rows, **charged_files(costs))[
        "fairness"]["by_unit"]["cost"]
    assert one["windows_by"] == "charge"
    # Two thirds of the run
    assert one["windows"] == [] or one["windows"][0]["windows"] < 5
    assert one["received"][0] == pytest.approx(200 * 32000, rel=0.05)
    assert one["service"][0]["both_backlogged_s"] < 0.7 * evaluated(
        rows=rows)["fairness"]["by_unit"]["sectors"]["service"][0][
            "both_backlogged_s"]


def test_of_a_turn_s_time_there_is_no_request_s():
    files = charged_files(replayed_sums(requests()))
    one = evaluated("cfq-time", **files)["fairness"]["by_unit"]["cost"]
    assert one["windows_by"] == "chip" and "replayed" not in one
    one = evaluated("hbfq-paper", **files)["fairness"]
    assert one["unit"] == "sectors" and "cost" not in one["by_unit"]


def test_what_ends_after_the_run_is_nobodys_share():
    """Two loops of 4, 1:3; then all that is outstanding ends, as much of each."""
    who = numpy.array([0, 1, 1, 1] * 50 + [0, 1] * 4)
    log = {"issued": numpy.arange(len(who), dtype=float),
           "done": numpy.arange(len(who)) + 0.5}
    tenants = [{"depth": 4}, {"depth": 4}]
    kept = sharedata.all_send(log, who, tenants)
    assert not kept[200:].any() and kept[1:195].all()
    # If one tenant starts late, the time of the others alone does not count.
    log["issued"][who == 1] += 20
    assert not sharedata.all_send(log, who, tenants)[:20].any()
    # Nothing would be left: all of it
    few = {key: values[:6] for key, values in log.items()}
    assert sharedata.all_send(few, who[:6], tenants).all()


def moved(rows, by):
    """The same requests later."""
    return [(row[0], row[1] + by, row[2] + by, *row[3:]) for row in rows]


def test_windows_begin_when_all_are_there():
    """Earlier requests of the first tenant end among those of the window."""
    late = 10**6
    alone = [(0, n, late + n * 30000, 0, n * 8, 8) for n in range(200)]
    found = evaluated(rows=alone + moved(requests(), late))
    one = found["fairness"]["by_unit"]["sectors"]
    assert one["received"][0] == (300 + 200) * 8
    window = one["windows"][0]
    assert (window["windows"], window["inversions"]) == (5, 0)
    assert window["pv_max"] == pytest.approx(0, abs=0.1)


def test_windows_end_when_one_has_stopped():
    rows = requests()
    after = [(0, rows[-1][1] + n * 32000, rows[-1][2] + n * 32000, 0, n * 8,
              8) for n in range(1, 201)]
    window = evaluated(rows=rows + after)[
        "fairness"]["by_unit"]["sectors"]["windows"][0]
    assert (window["windows"], window["inversions"]) == (5, 0)


def test_windows_are_of_what_was_handed_over_while_all_were_there():
    who = numpy.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1])
    log = {"issued": numpy.arange(10.0), "done": numpy.arange(10.0) + 2.5}
    tenants = [{"depth": 1}, {"depth": 2}]
    # The second starts at 3, and at 7.5 (its second of four) it stops.
    assert sharedata.together(log, who, tenants) == (3, 7.5)
    assert numpy.flatnonzero(sharedata.chosen(log, who, tenants)).tolist() \
        == [3, 4, 5]
    # all_send() counts requests that were in the device before and ended later.
    assert numpy.flatnonzero(sharedata.all_send(log, who, tenants)).tolist() \
        == [1, 2, 3, 4, 5]
    # The second would have no request left: all of them count
    assert sharedata.chosen({**log, "done": log["issued"] + [
        0.5 if one == 0 else 20 for one in who]}, who, tenants).all()


def test_metrics():
    run = evaluated()
    found = suitedata.metrics({**run, "time_scale": 32})
    assert found["pv_charged"] == found["pv_sectors"] == pytest.approx(0)
    assert found["inversions_charged"] == 0
    assert found["service_ratio_charged"] < 0.3
    depths = run["fairness"]["depths"]
    assert 0 < found["in_device_mean"] <= max(map(int, depths))
    assert found["grp5_bandwidth_bytes_per_s"] == \
        run["tenants"][3]["bandwidth_bytes_per_s"]
    assert found["grp1_latency_stddev_s"] == pytest.approx(0, abs=1e-12)
    assert "pv_model" not in found
    iocost = suitedata.metrics({**evaluated("iocost"), "time_scale": 32})
    assert iocost["pv_model"] == iocost["pv_charged"]
