# SPDX-License-Identifier: GPL-2.0
"""Figures and whatever else files hold, as text for the report."""

import math
import re

DASH = "\N{EN DASH}"


def number(value):
    """A finite number as float, else None: files may hold anything."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def numbers(value):
    """A list of finite numbers, or None."""
    if not isinstance(value, list) or not value:
        return None
    found = [number(one) for one in value]
    return None if None in found else found


def part(value, key):
    """value[key] if that is a dict, else {}."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def text(value):
    """Anything as a line of text; "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(one)}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(text(one) for one in value)
    return str(value)


def texts(value):
    """A list of lines of text; a lone text is one of them."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [f"{key}: {text(one)}" for key, one in value.items()]
    return [text(one) for one in value] if isinstance(value, list) \
        else [text(value)]


def natural(label):
    """k2-8 before k2-16."""
    return [(0, int(one), "") if one.isdigit() else (1, 0, one)
            for one in re.split(r"(\d+)", label) if one]


# --- figures as text --------------------------------------------------------

def figure(value):
    """Three significant digits, no exponent."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    # Rounded first: 9.996 has one digit less behind the point than it seems.
    digits = 2 - math.floor(math.log10(abs(float(f"{value:.2e}"))))
    shown_ = f"{value:,.{min(max(digits, 0), 9)}f}"
    # A group of digits is kept together with a space that does not break.
    return shown_.replace(",", "\N{NARROW NO-BREAK SPACE}")


def ranges(values):
    """"1, 3 to 7" of whole numbers; others as they are."""
    whole = sorted({v for v in values if isinstance(v, int)})
    rest = sorted({text(v) for v in values if not isinstance(v, int)} - {""})
    found, n = [], 0
    while n < len(whole):
        last = n
        while last + 1 < len(whole) and whole[last + 1] == whole[last] + 1:
            last += 1
        found.append(str(whole[n]) if last == n else
                     f"{whole[n]}, {whole[last]}" if last == n + 1 else
                     f"{whole[n]} to {whole[last]}")
        n = last + 1
    return ", ".join(found + rest) or "unknown"


def unique(values):
    """The values without duplicates and without empty ones."""
    return list(dict.fromkeys(value for value in values if value))


def plural(count, word, many=None):
    """"1 run", "2 runs"."""
    return f"{count} {word if count == 1 else many or word + 's'}"
