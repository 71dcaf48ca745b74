"""Splits the city's reports among eight districts, each a site: split.py DIRECTORY [TRACE]

Writes DIRECTORY/district-0.ndjson to district-7.ndjson, a JSON object on each line, in the order of the trace. A
district is a quarter of the city from south to north, and a half of it from west to east; streets cross borders.
"""

import gzip
import json
import pathlib
import sys

TRACE = pathlib.Path(__file__).resolve().parent.parent / "traffic-jam/city-traffic.csv.gz"
# The city is 2,724 m wide and 3,379 m high.
WIDTH_M = 2724
HEIGHT_M = 3379


def district(x_m: float, y_m: float) -> int:
    """Of a point; what lies a little outside belongs to the nearest."""
    east = x_m >= WIDTH_M / 2
    north = min(3, max(0, int(4 * y_m / HEIGHT_M)))
    return 2 * north + east


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: split.py DIRECTORY [TRACE]")
    directory = pathlib.Path(sys.argv[1])
    source = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else TRACE
    opened = gzip.open if source.suffix == ".gz" else open
    directory.mkdir(parents=True, exist_ok=True)
    files = [open(directory / f"district-{i}.ndjson", "w", encoding="utf-8") for i in range(8)]
    with opened(source, "rt", encoding="utf-8") as trace:
        next(trace)
        for line in trace:
            time_s, car, street, x_m, y_m, speed_mps = line.rstrip("\n").split(",")
            report = {
                "time_s": int(time_s),
                "car": car,
                "street": street,
                "x_m": float(x_m),
                "y_m": float(y_m),
                "speed_dmps": round(10 * float(speed_mps)),
            }
            files[district(float(x_m), float(y_m))].write(json.dumps(report) + "\n")
    for file in files:
        file.close()


if __name__ == "__main__":
    main()
