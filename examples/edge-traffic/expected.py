"""The right answer for streets.sql as CSV in the order of its text, from the trace itself: expected.py [TRACE] > expected.csv

Shares no code with the job, its halves or sites.sql.
"""

import csv
import datetime
import gzip
import pathlib
import sys
from decimal import Decimal

TRACE = pathlib.Path(__file__).resolve().parent.parent / "traffic-jam/city-traffic.csv.gz"
EPOCH = datetime.datetime(1970, 1, 1)

source = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else TRACE
opened = gzip.open if source.suffix == ".gz" else open
windows = {}
with opened(source, "rt", newline="") as trace:
    for row in csv.DictReader(trace):
        speed = int(Decimal(row["speed_mps"]) * 10)
        key = row["street"], int(row["time_s"]) // 10 * 10
        count, total, largest = windows.get(key, (0, 0, speed))
        windows[key] = count + 1, total + speed, max(largest, speed)

lines = []
for (street, start_s), (count, total, largest) in windows.items():
    start = EPOCH + datetime.timedelta(seconds=start_s)
    lines.append(f"{street},{start:%Y-%m-%d %H:%M:%S},{count},{total},{largest}")
print("\n".join(sorted(lines)))
