# SPDX-License-Identifier: GPL-2.0
"""A workload of MQSim that replays a trace: its XML file."""

import argparse
import os
import re
from xml.sax import saxutils

from blocktrace import TraceError

# Channels, chips a channel, dies a chip, planes a die: MQSim's defaults.
GEOMETRY = (8, 4, 2, 2)
MOST = 64
PARTS = ("Channel", "Chip", "Die", "Plane")


def geometry(text):
    """An argparse type: four numbers."""
    match = re.fullmatch(r"(\d{1,3})x(\d{1,3})x(\d{1,3})x(\d{1,3})", text)
    found = tuple(map(int, match.groups())) if match else (0,)
    if not all(1 <= value <= MOST for value in found):
        raise argparse.ArgumentTypeError(
            f"'{text}': want four whole numbers from 1 to {MOST}, x between, "
            f"such as {'x'.join(map(str, GEOMETRY))}")
    return found


def workload(trace, device, source, note):
    """The text: one scenario with one flow, which may use all of the device."""
    said = f"of {source}" + (f"; {note}" if note else "")
    flow = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
        **{f"{part}_IDs": ",".join(map(str, range(count)))
           for part, count in zip(PARTS, device)},
        "Initial_Occupancy_Percentage": 75,
        "File_Path": saxutils.escape(os.path.abspath(trace)),
        "Percentage_To_Be_Executed": 100,
        # So it is spelled there.
        "Relay_Count": 1,
        "Time_Unit": "NANOSECOND",
    }
    return "".join((
        '<?xml version="1.0" encoding="us-ascii"?>\n',
        f"<!-- {saxutils.escape(said).replace('--', '- -')} -->\n",
        "<MQSim_IO_Scenarios>\n\t<IO_Scenario>\n",
        "\t\t<IO_Flow_Parameter_Set_Trace_Based>\n",
        *(f"\t\t\t<{key}>{value}</{key}>\n" for key, value in flow.items()),
        "\t\t</IO_Flow_Parameter_Set_Trace_Based>\n",
        "\t</IO_Scenario>\n</MQSim_IO_Scenarios>\n"))


def write(path, trace, device, source, note):
    """Writes it; TraceError."""
    try:
        path.write_text(workload(trace, device, source, note),
                        encoding="utf-8")
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from None
