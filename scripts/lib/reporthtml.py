# SPDX-License-Identifier: GPL-2.0
"""Markup of the report, and its style."""

import html
import re

from reporttext import text


class Html(str):
    """Text that is markup already; everything else is escaped."""


def esc(value):
    """Text for HTML; markup stays."""
    return value if isinstance(value, Html) else \
        Html(html.escape(text(value), quote=True))


def tag(name, *content, **attributes):
    """An element. class_ is class; None leaves an attribute out."""
    attrs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{esc(value)}"'
        for key, value in attributes.items() if value is not None)
    inner = "".join(esc(one) for one in content)
    return Html(f"<{name}{attrs}>{inner}</{name}>")


def join(parts_, between="\n"):
    """Markup and text, one after the other."""
    return Html(between.join(esc(one) for one in parts_))


def slug(*words):
    """Words as text for file names and anchors."""
    found = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(
        word for word in map(str, words) if word)).strip("-.")
    # File systems take 255; something will be put behind it.
    return found[:160] or "x"


def table(head, rows, class_=None):
    """A table that scrolls within the page where the screen is narrow. Rows are
    lists of cells or ready <tr>s, cells are contents or ready <td>s."""
    def cells(row, name):
        return Html("".join(
            cell if isinstance(cell, Html) and cell.startswith(f"<{name}")
            else tag(name, cell) for cell in row))
    body = Html("\n".join(
        row if isinstance(row, Html) else tag("tr", cells(row, "td"))
        for row in rows))
    top = [tag("thead", tag("tr", cells(head, "th")))] if head else []
    return tag("div", tag("table", *top, tag("tbody", body), class_=class_),
               class_="scroll")


def bullets(items):
    """An unordered list."""
    return tag("ul", *(tag("li", item) for item in items))


CSS = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1b1b1b;
  background: #fff; max-width: 74rem; margin: 0 auto; padding: 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; padding-top: .8rem;
  border-top: 3px solid #0072b2; }
h3 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
a { color: #00558a; }
code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", monospace;
  background: #f3f4f5; padding: .05em .25em; border-radius: 3px;
  overflow-wrap: anywhere; }
nav ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .875rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #dcdcdc;
  text-align: right; vertical-align: top; white-space: nowrap; }
thead th { border-bottom: 2px solid #555; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: #fff; }
table.text th, table.text td { text-align: left; white-space: normal;
  min-width: 6rem; }
table.facts td:first-child { white-space: nowrap; color: #555; }
td small { display: block; color: #666; font-size: .75rem; }
td.best { background: #e2eff8; font-weight: 600; }
td.worst { background: #fbeedb; }
.fail { color: #b3261e; font-weight: 600; }
.yes { color: #00558a; font-weight: 600; }
.open { color: #666; }
.note { color: #444; font-size: .9rem; max-width: 48rem; }
.warn { border-left: 4px solid #d55e00; background: #fdf3ec;
  padding: .5rem .8rem; max-width: 48rem; }
figure { margin: 1rem 0 2rem; }
img { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; color: #444; max-width: 56rem;
  margin-top: .3rem; }
footer { margin-top: 3rem; color: #666; font-size: .85rem; }
@media (max-width: 40rem) { body { padding: .6rem; }
  table { font-size: .8rem; } th, td { padding: .25rem .4rem; } }
@media print { body { max-width: none; font-size: 10pt; padding: 0; }
  .scroll { overflow: visible; } table { font-size: 7pt; }
  th, td { padding: .1rem .25rem; }
  td small { font-size: 6pt; } th:first-child, td:first-child {
  position: static; } figure, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; } nav { display: none; } }
"""
