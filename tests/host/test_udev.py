# SPDX-License-Identifier: GPL-2.0
"""packaging/65-flash-iosched.rules: which disk gets what, and how often.

`scripts/package-test --vm` gives a rule made from the example to udev itself. Here is
as much of udev's language as the example uses.
"""

import fnmatch
import importlib
import pathlib
import re
import sys

import pytest

import test_package
import test_sysfs_docs as docs

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

packagetest = importlib.import_module("packagetest")

EXAMPLE = (REPO / "packaging/65-flash-iosched.rules").read_text("utf-8")
KEY = re.compile(r'(\w+)(?:\{([^}]+)\})?(==|!=|=)"([^"]*)"(?:, |$)')


class Disk:
    """A disk as udev sees it, with the schedulers that its kernel has."""

    def __init__(self, kernel, parents, modules=("k2", "piq", "acfq"), **more):
        self.kernel, self.parents, self.modules = kernel, parents, modules
        self.model, self.serial = more.get("model", "x"), more.get("serial", "x")
        self.database = {}
        self.tags = more.get("nr_requests", "256")
        self.queue = {"rotational": more.get("rotational", "0"),
                      "nr_requests": self.tags,
                      "scheduler": more.get("scheduler", "[none] mq-deadline")}
        if self.queue["scheduler"] is None:
            del self.queue["scheduler"]

    @property
    def selected(self):
        """The scheduler in brackets."""
        return re.sub(r".*\[(.*)\].*", r"\1", self.queue["scheduler"])

    def write(self, name, value):
        """A write to a file of the queue; False: an error that udev logs."""
        if name == "scheduler":
            if value not in (*self.modules, "none", "mq-deadline"):
                return False
            self.queue = {key: text for key, text in self.queue.items()
                          if "/" not in key}
            # The kernel sets the default again.
            self.queue["nr_requests"] = self.tags
            self.queue[name] = f"none [{value}]" if value != "none" \
                else "[none] mq-deadline"
            if value in docs.POLICIES:
                self.queue |= {f"iosched/{key}": "" for key in (
                    "inflight", *docs.wanted(docs.source(value)))}
            return True
        if name not in self.queue:
            return False
        self.queue[name] = value
        return True


class Event:
    """A file of rules, applied to one event of a disk."""

    def __init__(self, disk, action, text=EXAMPLE, devtype="disk"):
        self.disk, self.failed = disk, []
        self.single = {"ACTION": action, "SUBSYSTEM": "block",
                       "KERNEL": disk.kernel}
        self.env = {"DEVTYPE": devtype, "ID_SERIAL_SHORT": disk.serial}
        lines = [line for line in text.replace("\\\n", "").splitlines()
                 if line and not line.startswith("#")]
        at = 0
        while at < len(lines):
            keys = list(KEY.finditer(lines[at]))
            assert "".join(key[0] for key in keys) == lines[at], lines[at]
            target = self.line([key.groups() for key in keys])
            at = lines.index(f'LABEL="{target}"') if target else at + 1
        disk.database = {key: value for key, value in self.env.items()
                         if not key.startswith(".")}

    def texts(self, key, name):
        """The texts that a pattern of a match may fit; None: no such thing."""
        if key == "ATTR":
            found = self.disk.queue.get(name.removeprefix("queue/"))
            return None if found is None else [found]
        return {"ENV": [self.env.get(name, "")],
                "SUBSYSTEMS": self.disk.parents,
                "ATTRS": [self.disk.model]}.get(key) or [self.single[key]]

    def fits(self, key, name, operator, pattern):
        """Does one match of a line fit?"""
        if key == "TEST":
            found = pattern.removeprefix("queue/") in self.disk.queue
        elif key == "IMPORT":
            assert name == "db"
            found = pattern in self.disk.database
            if found:
                self.env[pattern] = self.disk.database[pattern]
        else:
            texts = self.texts(key, name)
            found = texts is not None and any(
                fnmatch.fnmatchcase(text, part) for text in texts
                for part in pattern.split("|"))
        return found == (operator != "!=")

    def line(self, keys):
        """Applies one line; the label of its GOTO."""
        target = None
        for key, name, operator, pattern in keys:
            if operator != "=" or key == "IMPORT":
                if not self.fits(key, name, operator, pattern):
                    return None
        for key, name, operator, value in keys:
            if operator != "=" or key in ("IMPORT", "LABEL"):
                continue
            value = re.sub(r"\$env\{([^}]+)\}",
                           lambda match: self.env.get(match[1], ""), value)
            if key == "GOTO":
                target = value
            elif key == "ENV":
                self.env[name] = value
            else:
                assert key == "ATTR"
                if not self.disk.write(name.removeprefix("queue/"), value):
                    self.failed.append((name, value))
        return target


NVME = ("block", "nvme", "pci")


def test_values_are_those_of_the_schedulers():
    """All names and values of the example are accepted."""
    seen = 0
    for line in EXAMPLE.splitlines():
        if line.startswith("#"):
            continue
        for name in re.findall(r'ENV\{\.SCHED\}="([^"]+)"', line):
            assert name in docs.POLICIES
        for name, value in re.findall(
                r'ATTR\{queue/iosched/(\w+)\}="([^"]*)"', line):
            chosen = re.search(r'ENV\{\.SCHED\}=="([^"]+)"', line)
            test_package.legal(chosen[1], name, value)
            seen += 1
    assert seen > 4


@pytest.mark.parametrize("action", ["add", "change"])
@pytest.mark.parametrize("disk, scheduler", [
    (Disk("nvme0n1", NVME), "k2"),
    (Disk("nvme10n2", NVME), "k2"),
    (Disk("mmcblk0", ("block", "mmc", "platform")), "acfq"),
    (Disk("sda", ("block", "scsi", "usb", "pci"), scheduler="none [mq-deadline]"),
     "acfq"),
    (Disk("vda", ("block", "virtio", "pci"), rotational="1"), "acfq"),
    # Hard disks, boot partitions of eMMC, disks of other buses
    (Disk("sda", ("block", "scsi", "usb"), rotational="1"), "none"),
    (Disk("nvme0n1", NVME, rotational="1"), "none"),
    (Disk("mmcblk0boot0", ("block", "mmc")), "none"),
    (Disk("sdb", ("block", "scsi", "pci")), "none"),
    (Disk("loop0", ("block",)), "none"),
    (Disk("nullb0", ("block",)), "none")])
def test_a_class_has_its_scheduler(action, disk, scheduler):
    """By rotation, kernel name and bus; at add and at change."""
    fresh = Disk(disk.kernel, disk.parents, **disk.queue)
    assert not Event(fresh, action).failed
    assert fresh.selected == scheduler
    assert ("FLASH_IOSCHED" in fresh.database) == (scheduler != "none")


def test_partitions_are_left_alone():
    disk = Disk("nvme0n1p1", NVME)
    Event(disk, "add", devtype="partition")
    assert disk.selected == "none" and not disk.database.get("FLASH_IOSCHED")


@pytest.mark.parametrize("scheduler", ["none", None])
@pytest.mark.parametrize("action", ["add", "change"])
def test_disks_that_pass_bios_on_are_left_alone(scheduler, action):
    """6.1 has a file that offers nothing else; later kernels have none."""
    disk = Disk("nvme0n1", ("block", "nvme", "nvme-subsystem"), scheduler=scheduler)
    assert not Event(disk, action).failed
    assert disk.queue.get("scheduler") == scheduler


@pytest.mark.parametrize("first", ["add", "change"])
def test_change_does_not_undo_what_was_set_by_hand(first):
    disk = Disk("nvme0n1", NVME)
    Event(disk, first)
    disk.write("iosched/max_inflight", "9")
    Event(disk, "change")
    assert disk.queue["iosched/max_inflight"] == "9"
    disk.write("scheduler", "none")
    for _ in range(3):
        Event(disk, "change")
        assert disk.selected == "none"
    # An add event, triggered by hand or by a new disk, applies the rule.
    Event(disk, "add")
    assert disk.selected == "k2"


@pytest.mark.parametrize("tags, wanted", [
    ("2", "64"), ("4", "64"), ("7", "64"), ("8", "8"), ("62", "62"), ("256", "256")])
def test_acfq_has_the_tags_that_weights_need(tags, wanted):
    """Behind the scheduler, and only where there are too few."""
    stick = Disk("sda", ("block", "scsi", "usb"), nr_requests=tags)
    assert not Event(stick, "add").failed
    assert stick.selected == "acfq" and stick.queue["nr_requests"] == wanted
    drive = Disk("nvme0n1", NVME, nr_requests=tags)
    Event(drive, "add")
    assert drive.selected == "k2" and drive.queue["nr_requests"] == tags


def test_a_disk_without_module_is_tried_again():
    """The first change event after the module was installed is enough."""
    disk = Disk("nvme0n1", NVME, modules=())
    assert Event(disk, "add").failed
    assert Event(disk, "change").failed and disk.selected == "none"
    disk.modules = ("k2",)
    assert not Event(disk, "change").failed and disk.selected == "k2"


def test_model_and_serial_number_override_the_class():
    disk = Disk("nvme0n1", NVME, model="EXAMPLE SSD 1 TB")
    assert not Event(disk, "add").failed
    assert disk.queue["iosched/max_inflight"] == "8"
    disk = Disk("nvme0n1", NVME, model="EXAMPLE SSD 2", serial="EXAMPLE0001")
    assert not Event(disk, "add").failed
    assert disk.selected == "piq"
    assert disk.queue["iosched/layout"] == "page=4096 chips=64"


def test_the_rule_that_is_tried_is_the_example():
    """With another model, and without a rule of the example."""
    text = packagetest.rule_for("QEMU*", "acfq", {"max_inflight": 7})
    assert "EXAMPLE" not in text
    disk = Disk("nvme0n1", NVME, model="QEMU NVMe Ctrl")
    assert not Event(disk, "add", text).failed
    assert disk.selected == "acfq"
    assert disk.queue["iosched/max_inflight"] == "7"
    other = Disk("nvme0n1", NVME)
    Event(other, "add", text)
    assert other.selected == "k2"
