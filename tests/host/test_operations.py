# SPDX-License-Identifier: GPL-2.0
"""docs/operations.md says what the schedulers' own headers charge.

tests/unit/oracle_ops.c answers for the headers.
"""

import importlib
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

oracle = importlib.import_module("oracle")
kernel = importlib.import_module("kernel")

SECTORS = 256


@pytest.fixture(scope="module", name="ask")
def _ask():
    ask = oracle.made()
    return lambda lines: ask("ops", lines)


def rows():
    """The table's rows by operation, as a list of cells."""
    text = (REPO / "docs/operations.md").read_text()
    found = re.findall(r"^\| `([A-Z_]+)` \| (.*) \|$", text, re.M)
    return {name: [cell.strip() for cell in cells.split("|")]
            for name, cells in found}


def test_every_operation_has_a_row(ask):
    """The page has those of the header, in the header's order."""
    assert list(rows()) == ask(["list"])[0].split()


def test_rows_are_what_is_charged(ask):
    """Each cell is what the headers charge a request of 128 KiB."""
    table = rows()
    answers = ask([f"{name} {SECTORS}" for name in table])
    for (name, cells), answer in zip(table.items(), answers):
        tenant, slots, queue, pieces, kind, chips = answer.split()
        slots = f"{int(slots) / 16:.2f}".rstrip("0").rstrip(".")
        assert cells == [tenant, slots, f"{queue}, {pieces}", kind,
                         "yes" if int(chips) else "no"], name


@pytest.mark.parametrize("series", ["6.1", "6.12", "7.3"])
def test_kernels_have_no_other_operation(ask, series):
    """Kernels in the cache have the operations of the list."""
    found = sorted(pathlib.Path(kernel.cache_dir()).glob(
        f"kernels/{series}.*/root/usr/src/*/include/linux/blk_types.h"))
    if not found:
        pytest.skip(f"no headers of {series} in the cache")
    names = re.findall(r"^\tREQ_OP_([A-Z_]+)\s*=", found[-1].read_text(), re.M)
    assert sorted(names) == sorted([*ask(["list"])[0].split(), "LAST"])
