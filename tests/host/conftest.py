# SPDX-License-Identifier: GPL-2.0
"""Fixtures for all tests: build/results has only the results that a test makes."""

import importlib
import os
import pathlib
import shutil
import signal
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

resultspage = importlib.import_module("resultspage")


@pytest.fixture(autouse=True)
def nothing_published(tmp_path, monkeypatch):
    """docs/results is empty for all tests."""
    monkeypatch.setattr(resultspage, "PUBLISHED", tmp_path / "published")


# Programs that boot a machine or install and download packages, and the arguments
# that do neither.
GUARD = """#!/bin/sh
case " $* " in
*" --version "*|*" -machine none "*|*" update "*|*" -s "*|*" --print-uris "*) [ ! "{real}" ] || exec "{real}" "$@" ;;
esac
echo "{name} $*" >>"{log}"
exit 1
"""


@pytest.fixture(autouse=True, scope="session", name="guard")
def fixture_guard(tmp_path_factory):
    """Stands in for such programs in PATH; the file with the calls of them."""
    folder = tmp_path_factory.mktemp("guard")
    log = folder / "calls"
    for name in ("qemu-system-x86_64", "apt-get"):
        stand_in = folder / name
        stand_in.write_text(GUARD.format(name=name, log=log,
                                         real=shutil.which(name) or ""))
        stand_in.chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{path}"
    yield log
    os.environ["PATH"] = path


@pytest.fixture(autouse=True)
def pipes_are_safe():
    """SIGPIPE stays ignored: its default action would kill the tests that follow."""
    yield
    if signal.getsignal(signal.SIGPIPE) != signal.SIG_IGN:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        pytest.fail("SIGPIPE ends this process now")


@pytest.fixture(autouse=True)
def no_machine_no_download(guard):
    """Host tests boot no machine and download nothing."""
    yield
    if guard.exists():
        calls = guard.read_text(encoding="utf-8", errors="replace")
        guard.unlink()
        pytest.fail(f"a host test started:\n{calls}")
