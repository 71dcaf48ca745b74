"""Which streets of a city are jammed: a stateful query of PySpark, without and with Afterbay.

    venv/bin/python examples/pyspark/jams.py              batch times on a slow file system, in turn
    venv/bin/python examples/pyspark/jams.py --take-out   a checkpoint of Afterbay's, gone on with without it

docs/spark-python.md takes you through it. Each run is a process of its own, since Spark reads
plug-ins when it starts. Nothing is left behind.
"""

import argparse
import csv
import gzip
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TRACE = PROJECT / "examples/traffic-jam/city-traffic.csv.gz"

# What a query keeps for ever, with Afterbay and without.
KEPT = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
}

# What puts Afterbay in, beside its jar; taking it out is leaving these away.
AFTERBAY = {
    "spark.plugins": "io.afterbay.spark.AfterbaySparkPlugin",
    "spark.sql.streaming.checkpointFileManagerClass": "io.afterbay.spark.AfterbayCheckpointFileManager",
}

MODES = {
    "without": {},
    "strict": AFTERBAY,
    "pipelined": {**AFTERBAY, "spark.afterbay.commit.mode": "pipelined"},
}

# A distributed file system, played by java/slow-dfs over local files.
SLOW = {
    "spark.hadoop.fs.slow.impl": "io.afterbay.dfs.SlowFileSystem",
    "spark.hadoop.fs.slow.metadata-ms": "5",
    "spark.hadoop.fs.slow.close-ms": "30",
    "spark.hadoop.fs.slow.bytes-per-s": "50000000",
}

PARTITIONS = 8
SECONDS_OF_A_FILE = 10  # of the trace; a file is a batch
WARM_UP = 10  # batches that are not counted
FREE_FLOW_MPS = 13.9


def jar(module):
    """The one that the build has made."""
    found = [
        f
        for f in (PROJECT / "java" / module / "target").glob(f"afterbay-{module}-*.jar")
        if not f.name.endswith("-tests.jar")
    ]
    if len(found) != 1:
        sys.exit(
            f"{len(found)} jars in java/{module}/target, and one is needed. From {PROJECT}:\n"
            "  (cd java && ./mvnw -q -DskipTests -pl spark,slow-dfs -am package)"
        )
    return str(found[0])


def session(mode, work):
    """Spark on the processors of this machine."""
    from pyspark.sql import SparkSession

    jars = [jar("slow-dfs")] + ([] if mode == "without" else [jar("spark")])
    builder = SparkSession.builder.master("local[*]").appName("jams")
    settings = {
        **KEPT,
        **MODES[mode],
        **SLOW,
        "spark.jars": ",".join(jars),
        "spark.local.dir": str(work / "local"),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
        "spark.ui.enabled": "false",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def jams(spark, files):
    """Reports and their mean speed by street, of a minute every ten seconds."""
    from pyspark.sql import functions as F

    reports = (
        spark.readStream.schema(
            "time_s BIGINT, car STRING, street STRING, x_m DOUBLE, y_m DOUBLE, speed_mps DOUBLE"
        )
        .option("maxFilesPerTrigger", 1)
        .csv(str(files))
    )
    return (
        reports.withColumn("time", F.timestamp_seconds("time_s"))
        .withWatermark("time", "5 seconds")
        .groupBy(F.window("time", "60 seconds", "10 seconds"), "street")
        .agg(
            F.count("*").alias("reports"),
            # Of tenths, as whole numbers: the sum does not depend on the order.
            F.sum(F.round(F.col("speed_mps") * 10).cast("long")).alias("speed_sum"),
        )
        .select(F.unix_timestamp("window.end").alias("end_s"), "street", "reports", "speed_sum")
    )


def run(mode, work):
    """All files of the input, each a batch; returns what Spark says of each batch."""
    spark = session(mode, work)
    sink = work / "sink"
    sink.mkdir(exist_ok=True)

    def keep(rows, batch):
        # A batch may come again after a crash: it is the same then, and replaces itself.
        (sink / str(batch)).write_text(json.dumps(sorted(map(list, rows.collect()))))

    query = (
        jams(spark, work / "input")
        .writeStream.outputMode("append")
        .option("checkpointLocation", f"slow://{work}/checkpoint")
        .foreachBatch(keep)
        .start()
    )
    query.processAllAvailable()
    query.stop()
    progress = [
        {"batch": p["batchId"], "rows": p["numInputRows"], "ms": p["durationMs"]["triggerExecution"]}
        for p in query.recentProgress
    ]
    spark.stop()
    return progress


def in_a_process(mode, work):
    """That of a run, and what it has returned."""
    result = work / "progress.json"
    with (work / "log").open("a") as log:
        command = [sys.executable, __file__, "--run", mode, "--work", str(work)]
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if code != 0:
        sys.exit(f"the run {mode} failed:\n{(work / 'log').read_text()[-4000:]}")
    return json.loads(result.read_text())


def write_files(directory, first, count):
    """Some seconds of the trace each. Spark reads files in the order of their times."""
    directory.mkdir(parents=True, exist_ok=True)
    with gzip.open(TRACE, "rt") as trace:
        reader = csv.reader(trace)
        next(reader)
        parts = itertools.groupby(reader, lambda report: int(report[0]) // SECONDS_OF_A_FILE)
        for number, reports in itertools.islice(parts, first, first + count):
            hidden = directory / f".{number:05}.csv"
            with hidden.open("w", newline="") as out:
                csv.writer(out).writerows(reports)
            os.utime(hidden, (1_700_000_000 + number,) * 2)
            hidden.rename(directory / f"{number:05}.csv")


def rows(work):
    """Of all batches: a batch may have other rows in another run, all of them together not."""
    return sorted(
        row for batch in (work / "sink").iterdir() for row in json.loads(batch.read_text())
    )


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def batch_times(progress):
    with_input = [p["ms"] for p in progress if p["rows"] > 0]
    return with_input[WARM_UP:]


def compare(modes, pairs, batches):
    """The modes in turn, and how much faster each was than the first."""
    medians = {mode: [] for mode in modes}
    expected = None
    print(f"{'':12}{'batches':>8}{'P50 ms':>8}{'P90 ms':>8}{'max ms':>8}")
    for pair in range(pairs):
        for mode in modes if pair % 2 == 0 else reversed(modes):
            with tempfile.TemporaryDirectory(prefix="jams-") as directory:
                work = pathlib.Path(directory)
                write_files(work / "input", 0, WARM_UP + batches)
                times = batch_times(in_a_process(mode, work))
                found = rows(work)
            medians[mode].append(statistics.median(times))
            print(
                f"{mode:12}{len(times):8}{statistics.median(times):8.0f}"
                f"{percentile(times, 90):8.0f}{max(times):8.0f}",
                flush=True,
            )
            expected = expected or found
            if found != expected:
                sys.exit(f"the rows of {mode} differ")
    base = medians[modes[0]]
    for mode in modes[1:]:
        ratios = ", ".join(f"{b / m:.2f}" for b, m in zip(base, medians[mode]))
        print(f"P50 {modes[0]} / {mode}, of each pair: {ratios}")
    print_jam(expected)


def print_jam(found):
    """The worst of the last complete window."""
    end = max(row[0] for row in found)
    worst = max((r for r in found if r[0] == end), key=lambda r: r[2] - r[3] / 10 / FREE_FLOW_MPS)
    print(
        f"All runs have the same {len(found)} rows. Most jammed at second {end}: street {worst[1]}, "
        f"{worst[2]} reports with a mean of {worst[3] / 10 / worst[2]:.1f} m/s"
    )


def take_out(batches):
    """Spark alone goes on from the checkpoint, and has the rows that it would have had anyway."""
    with tempfile.TemporaryDirectory(prefix="jams-") as directory:
        ours, alone = pathlib.Path(directory, "ours"), pathlib.Path(directory, "alone")
        for work, mode in ((ours, "pipelined"), (alone, "without")):
            for part, first in ((mode, 0), ("without", batches)):
                write_files(work / "input", first, batches)
                in_a_process(part, work)
        if rows(ours) != rows(alone):
            sys.exit("the rows differ")
        print(
            f"{batches} batches with Afterbay, {batches} without, from the same checkpoint:"
            f" the same {len(rows(ours))} rows as without it"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--batches",
        type=int,
        default=int(os.environ.get("JAMS_BATCHES", 50)),
        help="counted in each run, 1 to 100; also as JAMS_BATCHES",
    )
    parser.add_argument("--pairs", type=int, default=1, help="rounds in which all modes take turns")
    parser.add_argument("--modes", default=",".join(MODES), help="in their order")
    parser.add_argument("--take-out", action="store_true", help="go on without Afterbay, and compare")
    parser.add_argument("--run", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        progress = run(options.run, options.work)
        (options.work / "progress.json").write_text(json.dumps(progress))
    elif options.take_out:
        take_out(min(options.batches, 10))
    else:
        modes = options.modes.split(",")
        if any(mode not in MODES for mode in modes) or not 1 <= options.batches <= 100:
            parser.error(f"--modes are some of {', '.join(MODES)}; --batches are 1 to 100")
        compare(modes, options.pairs, options.batches)


if __name__ == "__main__":
    main()
