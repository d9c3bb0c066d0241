# SPDX-License-Identifier: GPL-2.0
"""What all tests have in common: results are those that a test makes."""

import importlib
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

resultspage = importlib.import_module("resultspage")


@pytest.fixture(autouse=True)
def nothing_published(tmp_path, monkeypatch):
    """Nor does it matter to them what is in docs/results."""
    monkeypatch.setattr(resultspage, "PUBLISHED", tmp_path / "published")
