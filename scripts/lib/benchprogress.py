# SPDX-License-Identifier: GPL-2.0
"""Output of benches while they run: lines for a log, or a bar on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def log_console(width):
    """A log is no terminal: no colours, no wrapping at 80 columns."""
    return Console(width=width, color_system=None, highlight=False)


class Lines:
    """Progress as lines, for logs."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def say(self, text, plain=False):
        """A message."""
        print(text if plain else f"bench: {text}", flush=True)


class Bar:
    """Progress as a bar at the bottom of a terminal. Among bases it stands before Lines."""

    def open(self, total, count):
        """`count`: the column that says how many are done."""
        self.console = Console(highlight=False)
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=None), count,
            TextColumn("{task.fields[left]}"), TimeElapsedColumn(),
            console=self.console, transient=True)
        self.task = self.bar.add_task("building, booting", total=total,
                                      left="")

    def __enter__(self):
        self.bar.start()
        return self

    def __exit__(self, *_):
        self.bar.stop()

    def say(self, text, plain=False):
        """A message above it."""
        self.console.print(text if plain else f"bench: {text}", markup=False)
