package io.afterbay.workloads.microbatch;

import io.afterbay.workloads.clustermonitoring.TaskEvent;
import io.afterbay.workloads.clustermonitoring.TaskEvents;
import io.afterbay.workloads.linearroad.LinearRoad;
import io.afterbay.workloads.linearroad.PositionReport;
import io.afterbay.workloads.run.RowSum;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What the queries say, computed in plain Java. A row is the text of its columns with commas
 * between them; times are microseconds since the epoch.
 *
 * <pre>
 *   lr2   time, vehicle, speed, highway, lane, direction, segment   of the later report
 *   lr4   start of the window, highway, direction, segment, count
 *   cm1   start of the window, category, sum
 *   cm2   start of the window, job, mean as a double
 * </pre>
 */
public final class Answers {
    private static final long LR2_RANGE_MICROS =
            StreamQuery.LR2.rangeSeconds() * EventTimes.MICROS_PER_S;

    private final long seed;
    private final EventTimes times;
    private final long records;

    /** Place, of LR4. */
    private record Place(int highway, int direction, int segment) {}

    /** Of CM2. */
    private record Mean(long sum, long count) {
        private Mean plus(Mean other) {
            return new Mean(sum + other.sum, count + other.count);
        }
    }

    /**
     * @param records so many came, and the watermark is behind the last one
     */
    public Answers(long seed, int recordsPerS, long records) {
        this.seed = seed;
        this.times = new EventTimes(recordsPerS);
        this.records = records;
    }

    /** All rows, whatever their order. */
    public RowSum sum(StreamQuery query) {
        RowSum sum = new RowSum();
        rows(query, sum::add);
        return sum;
    }

    /** Each row, in no particular order. */
    public void rows(StreamQuery query, Consumer<String> out) {
        switch (query) {
            case LR2 -> lr2(out);
            case LR4 -> lr4(out);
            case CM1 -> cm1(out);
            case CM2 -> cm2(out);
        }
    }

    private void lr2(Consumer<String> out) {
        LinearRoad road = LinearRoad.at(seed, times.recordsPerS());
        Map<Integer, ArrayDeque<Long>> byVehicle = new HashMap<>();
        for (long number = 0; number < records; number++) {
            PositionReport report = road.report(number);
            long micros = times.micros(number);
            ArrayDeque<Long> recent =
                    byVehicle.computeIfAbsent(report.vehicle(), v -> new ArrayDeque<>());
            recent.add(micros);
            while (recent.getFirst() < micros - LR2_RANGE_MICROS) {
                recent.removeFirst();
            }
            String row =
                    row(
                            micros,
                            report.vehicle(),
                            report.speed(),
                            report.highway(),
                            report.lane(),
                            report.direction(),
                            report.segment());
            recent.forEach(before -> out.accept(row));
        }
    }

    private void lr4(Consumer<String> out) {
        LinearRoad road = LinearRoad.at(seed, times.recordsPerS());
        Windows<Place, Long> windows =
                new Windows<>(
                        StreamQuery.LR4,
                        Long::sum,
                        (start, content) ->
                                content.forEach(
                                        (at, count) ->
                                                out.accept(
                                                        row(
                                                                start,
                                                                at.highway,
                                                                at.direction,
                                                                at.segment,
                                                                count))));
        for (long number = 0; number < records; number++) {
            PositionReport report = road.report(number);
            Place place = new Place(report.highway(), report.direction(), report.segment());
            windows.add(times.micros(number), place, 1L);
            windows.watermark(times.watermarkMicros(number + 1));
        }
    }

    private void cm1(Consumer<String> out) {
        Windows<Integer, Long> windows =
                new Windows<>(
                        StreamQuery.CM1,
                        Long::sum,
                        (start, content) ->
                                content.forEach(
                                        (category, sum) -> out.accept(row(start, category, sum))));
        TaskEvents events = TaskEvents.of(seed);
        for (long number = 0; number < records; number++) {
            TaskEvent event = events.event(number);
            windows.add(times.micros(number), event.category(), (long) event.cpu());
            windows.watermark(times.watermarkMicros(number + 1));
        }
    }

    private void cm2(Consumer<String> out) {
        Windows<Long, Mean> windows =
                new Windows<>(
                        StreamQuery.CM2,
                        Mean::plus,
                        (start, content) ->
                                content.forEach(
                                        (job, mean) ->
                                                out.accept(
                                                        row(
                                                                start,
                                                                job,
                                                                (double) mean.sum / mean.count))));
        TaskEvents events = TaskEvents.of(seed);
        for (long number = 0; number < records; number++) {
            TaskEvent event = events.event(number);
            if (event.eventType() == TaskEvent.SCHEDULE) {
                windows.add(times.micros(number), event.job(), new Mean(event.cpu(), 1));
            }
            windows.watermark(times.watermarkMicros(number + 1));
        }
    }

    /** The text of a row: numbers in decimals, as Java writes them. */
    public static String row(Object... columns) {
        return String.join(",", List.of(columns).stream().map(String::valueOf).toList());
    }

    /**
     * A record from the middle of the stream, on which rows depend that are complete at its end.
     */
    public long recordThatMatters(StreamQuery query) {
        TaskEvents events = TaskEvents.of(seed);
        for (long number = records / 2; number < records; number++) {
            if (query != StreamQuery.CM2
                    || events.event(number).eventType() == TaskEvent.SCHEDULE) {
                return number;
            }
        }
        throw new IllegalArgumentException("too few records: " + records);
    }
}
