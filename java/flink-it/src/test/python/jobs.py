"""Jobs of PyFlink, for PyFlinkIT: jobs.py JOB BACKEND MODE [SAVEPOINT_DIRECTORY [NUMBERS]]

Prints the rows of a job, sorted, behind "rows:"; the last job stops with a savepoint when it has begun,
goes on from there with the backend that is named behind a comma (afterbay,hashmap), and prints what it knows at its end.
"""
import os
import sys
import time
from collections import Counter

from pyflink.common import Configuration, Duration, Row, RowKind, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import ProcessWindowFunction
from pyflink.datastream.state import (
    ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, StateTtlConfig, ValueStateDescriptor)
from pyflink.datastream.window import EventTimeSessionWindows
from pyflink.java_gateway import get_gateway
from pyflink.table import AggregateFunction, DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.data_view import ListView, MapView
from pyflink.table.udf import udaf

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


def configuration(backend, mode):
    conf = Configuration()
    conf.set_string("state.backend.type", {
        "afterbay": "io.afterbay.flink.AfterbayStateBackendFactory"}.get(backend, backend))
    conf.set_string("python.execution-mode", mode)
    conf.set_string("python.fn-execution.bundle.size", "50")
    conf.set_string("taskmanager.memory.managed.size", "128m")
    conf.set_string("restart-strategy.type", "none")
    conf.set_string("parallelism.default", "1")
    return conf


def stream(backend, mode, more=()):
    conf = configuration(backend, mode)
    for key, value in dict(more).items():
        conf.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(conf)


class Timestamps(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, pairs):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500))
    return env.from_collection(pairs, PAIR) \
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Timestamps())) \
        .key_by(lambda e: e[0])


class AllStates(KeyedProcessFunction):
    """Each kind of state; a map of more entries than one batch of the state protocol (1,000), changed while it is read."""

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.STRING()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.LONG(), Types.LONG()))
        self.sum = context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))
        last = ValueStateDescriptor("last", Types.LONG())
        last.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        self.last = context.get_state(last)

    def process_element(self, element, context):
        key, x = element
        n = (self.count.value() or 0) + 1
        self.count.update(n)
        self.list.add("e%d" % x)
        if x % 10 == 3:
            self.list.update(["again"])
        for i in range(250):
            self.map.put(x * 250 + i, x)
        if x % 7 == 6:
            for entry in list(self.map.keys()):
                if entry % 3 == 0:
                    self.map.remove(entry)
        self.sum.add(x)
        self.last.update(x)
        context.timer_service().register_event_time_timer(x // 20 * 20 + 20)
        entries = list(self.map.items())
        yield "%s %d %s %d %d %d %d" % (
            key, n, list(self.list.get()), len(entries), sum(k * v for k, v in entries), self.sum.get(), self.last.value())

    def on_timer(self, timestamp, context):
        yield "timer %s %d" % (context.get_current_key(), timestamp)


def states(backend, mode):
    pairs = [("k%d" % (i * 7 % 3), i) for i in range(90)]
    return timed(stream(backend, mode), pairs).process(AllStates(), Types.STRING()).execute_and_collect()


class Session(ProcessWindowFunction):
    def process(self, key, context, elements):
        seen = context.global_state().get_state(ValueStateDescriptor("seen", Types.LONG()))
        seen.update((seen.value() or 0) + 1)
        yield "%s [%d,%d) %s %d" % (
            key, context.window().start, context.window().end, sorted(e[1] for e in elements), seen.value())

    def clear(self, context):
        pass


def windows(backend, mode):
    pairs = [("k%d" % (i % 3), i * i % 500) for i in range(200)]
    return timed(stream(backend, mode), pairs) \
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))) \
        .process(Session(), Types.STRING()).execute_and_collect()


class Distinct(AggregateFunction):
    """Views on a map of more than 1,000 entries and on a list."""

    def create_accumulator(self):
        return Row(MapView(), ListView(), 0)

    def get_value(self, accumulator):
        return "%d/%d/%d" % (len(list(accumulator[0].keys())), len(list(accumulator[1])), accumulator[2])

    def accumulate(self, accumulator, *args):
        x = args[0]
        accumulator[0][x] = (accumulator[0][x] if x in accumulator[0] else 0) + 1
        accumulator[1].add(str(x))
        accumulator[2] += 1
        if accumulator[2] % 13 == 0:
            accumulator[1].clear()

    def get_accumulator_type(self):
        return DataTypes.ROW([
            DataTypes.FIELD("m", DataTypes.MAP_VIEW(DataTypes.BIGINT(), DataTypes.BIGINT())),
            DataTypes.FIELD("l", DataTypes.LIST_VIEW(DataTypes.STRING())),
            DataTypes.FIELD("n", DataTypes.BIGINT())])

    def get_result_type(self):
        return DataTypes.STRING()


def table(backend, mode):
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    tables = TableEnvironment.create(settings.with_configuration(configuration(backend, mode)).build())
    tables.create_temporary_function("distinct_values", udaf(Distinct()))
    rows = [("k%d" % (i % 3), i * 7919 % 4001) for i in range(4500)]
    tables.create_temporary_view("A", tables.from_elements(rows, DataTypes.ROW([
        DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("v", DataTypes.BIGINT())])))
    for query in ("SELECT k, distinct_values(v), SUM(v) FROM A GROUP BY k",
                  "SELECT x.k, x.v, y.v FROM A x JOIN A y ON x.v = y.v + 1"):
        # Which changes are shown depends on how long a bundle takes; what is left in the end does not.
        left = Counter()
        with tables.execute_sql(query).collect() as result:
            for row in result:
                left[str(tuple(row))] += 1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
        yield from left.elements()


class Race(KeyedProcessFunction):
    """Python reads and writes state, in a thread of its own, while timers of processing time fire in the task's."""

    def open(self, context):
        self.value = context.get_state(ValueStateDescriptor("value", Types.LONG()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.LONG()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.LONG(), Types.LONG()))

    def process_element(self, element, context):
        key, x = element[0], element[1]
        n = (self.value.value() or 0) + 1
        self.value.update(n)
        self.list.add(x)
        self.map.put(x % 50, x)
        now = context.timer_service().current_processing_time()
        for j in range(12):
            context.timer_service().register_processing_time_timer(now + 1 + (x * 7 + j * 5) % 120)
        for j in range(15):
            self.map.put(1000 + j, x)
        if x % 8 == 0:
            yield "%s %d %d %d" % (
                key, n, len(list(self.list.get())), len([k for k in self.map.keys() if k < 1000]))

    def on_timer(self, timestamp, context):
        self.value.value()
        return []


def race(backend, mode):
    env = stream(backend, mode, {
        "python.fn-execution.bundle.size": "100000", "python.state.cache-size": "0",
        "python.map-state.read-cache-size": "0", "python.map-state.write-cache-size": "0"})
    numbers = 3000
    data = [("k%d" % (i % 500), i, "z" * 20000) for i in range(numbers)]
    rows = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])) \
        .key_by(lambda e: e[0]).process(Race(), Types.STRING()).execute_and_collect()
    wanted = ["k%d %d %d %d" % (i % 500, i // 500 + 1, i // 500 + 1, len({
        (i % 500 + 500 * j) % 50 for j in range(i // 500 + 1)})) for i in range(0, numbers, 8)]
    rows = list(rows)
    if sorted(rows) != sorted(wanted):
        raise AssertionError("other rows than plain Python says: %s" % sorted(set(rows) ^ set(wanted))[:5])
    return rows


class Totals(KeyedProcessFunction):
    """Knows all numbers of its key, and says so when there are no more."""

    def __init__(self, begun):
        self.begun = begun

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.list = context.get_list_state(ListStateDescriptor("list", Types.LONG()))
        self.map = context.get_map_state(MapStateDescriptor("map", Types.LONG(), Types.STRING()))

    def process_element(self, x, context):
        n = (self.count.value() or 0) + 1
        self.count.update(n)
        self.list.add(x)
        self.map.put(x, "s%d" % x)
        context.timer_service().register_event_time_timer(2 ** 62)
        if self.begun and n > 20:
            open(self.begun, "w").close()
            time.sleep(0.001)  # the savepoint is to come before the source has ended

    def on_timer(self, timestamp, context):
        numbers, entries = list(self.list.get()), dict(self.map.items())
        yield "%d %d %s %s" % (context.get_current_key(), self.count.value(), numbers == sorted(entries), sum(
            k for k, v in entries.items() if v == "s%d" % k))


def totals(backend, mode, numbers, begun, more=()):
    env = stream(backend, mode, more)
    return env.from_source(NumberSequenceSource(0, numbers - 1), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()) \
        .uid("numbers").key_by(lambda x: x % 20).process(Totals(begun), Types.STRING()).uid("totals"), env


def restored(backends, mode, directory, numbers):
    first, second = backends.split(",")
    begun = os.path.join(directory, "begun")
    stream_of_first, env = totals(first, mode, numbers, begun)
    stream_of_first.print()
    job = env.execute_async("first")
    while not os.path.exists(begun):
        if job.get_job_status().result().name in ("FAILED", "FINISHED"):
            raise AssertionError("it has ended before the savepoint")
        time.sleep(0.1)
    # PyFlink's own stop_with_savepoint calls a method that Flink 2 does not have.
    form = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL
    savepoint = job._j_job_client.stopWithSavepoint(False, "file://" + directory, form).get()
    going_on = totals(second, mode, numbers, None, {"execution.state-recovery.path": savepoint})[0]
    rows = list(going_on.execute_and_collect())
    wanted = ["%d %d True %d" % (k, len(range(k, numbers, 20)), sum(range(k, numbers, 20))) for k in range(20)]
    if sorted(rows) != sorted(wanted):
        raise AssertionError("other rows than plain Python says: %s" % sorted(set(rows) ^ set(wanted))[:5])
    return rows


def main(job, backend, mode, directory=None, numbers="20000"):
    if job == "restored":
        rows = restored(backend, mode, directory, int(numbers))
    else:
        rows = {"states": states, "windows": windows, "table": table, "race": race}[job](backend, mode)
    print("rows:")
    print("\n".join(sorted(rows)))


main(*sys.argv[1:])
