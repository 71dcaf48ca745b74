package io.afterbay.doctor.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.doctor.analysis.Concurrency;
import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.Intervals;
import io.afterbay.doctor.reading.LatencyLog;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What the chart of the page draws, in milliseconds from the first event. Bounded, however long the
 * logs are: the lanes are those of every nth instance, and have the flushes and compactions of a
 * part of the time around the worst moment. Lines are exact in that part too, if it is small
 * enough; elsewhere a point is the highest of an equal part of the time.
 */
final class PageTimeline {
    static final int POINTS_MAX = 6000;
    static final int LANES_MAX = 120;
    static final int BLOCKS_MAX = 20_000;

    /** Cycles to begin with on the screen: enough to see that something repeats. */
    private static final int CYCLES_SHOWN = 3;

    private final Diagnosis diagnosis;
    private final List<InstanceLog> shown;
    private final long origin;
    private final long span;

    /** The limits of the part with lanes. */
    private final long from;

    private final long to;

    PageTimeline(Diagnosis diagnosis) {
        this.diagnosis = diagnosis;
        this.shown = everyNth(diagnosis.instances());
        this.origin = diagnosis.fromMicros();
        this.span = Math.max(1, diagnosis.spanMicros());
        long width = drawableWidth();
        this.from = begin(width);
        this.to = from + width;
    }

    private static List<InstanceLog> everyNth(List<InstanceLog> all) {
        int step = (all.size() + LANES_MAX - 1) / LANES_MAX;
        return IntStream.range(0, all.size())
                .filter(i -> i % step == 0)
                .mapToObj(all::get)
                .toList();
    }

    private long drawableWidth() {
        long width = span + 1;
        while (width > 1 && blocksIn(begin(width), begin(width) + width) > BLOCKS_MAX) {
            width /= 2;
        }
        return width;
    }

    private long blocksIn(long begin, long end) {
        return shown.stream()
                .mapToLong(
                        log ->
                                log.flushes().countIn(begin, end)
                                        + log.compactions().countIn(begin, end))
                .sum();
    }

    /** Of so long a part of the time, with the worst moment in the middle if there is room. */
    private long begin(long width) {
        long middle = diagnosis.worst().isEmpty() ? origin : diagnosis.worst().get(0).micros();
        return Math.max(origin, Math.min(origin + span + 1 - width, middle - width / 2));
    }

    void write(ObjectNode node, Evidence evidence) {
        node.put("span_ms", span / 1000.0);
        writeZoom(node.putArray("zoom_ms"));
        node.putArray("lanes_ms").add(millis(from)).add(millis(to));
        writeCounts(node.putArray("counts"));
        evidence.latency().ifPresent(log -> writeWindows(node, log));
        evidence.gc().ifPresent(log -> writePauses(node, log));
        writeLanes(node);
    }

    private double millis(long time) {
        return (time - origin) / 1000.0;
    }

    /** The worst moment with the cycles around it. */
    private void writeZoom(ArrayNode node) {
        long cycle =
                diagnosis.rhythm().periodMicros() * Math.max(1, diagnosis.rhythm().everyNthBurst());
        long wanted = cycle * CYCLES_SHOWN;
        long width = wanted == 0 ? to - from : Math.min(wanted, to - from);
        long begin = begin(width);
        node.add(millis(begin)).add(millis(Math.min(begin + width, origin + span)));
    }

    /** Rows of time, compactions and flushes that run from there on. */
    private void writeCounts(ArrayNode node) {
        Concurrency running = Concurrency.of(diagnosis.instances());
        List<Concurrency.Point> points = new ArrayList<>();
        points.addAll(running.between(origin, from, POINTS_MAX));
        points.addAll(running.between(from, to, POINTS_MAX));
        points.addAll(running.between(to, origin + span + 1, POINTS_MAX));
        points.forEach(
                point ->
                        node.addArray()
                                .add(millis(point.micros()))
                                .add(point.compactions())
                                .add(point.flushes()));
    }

    private void writeWindows(ObjectNode node, LatencyLog log) {
        node.put("latency_of", log.what());
        writeSeries(node.putArray("latency"), log, log::millis);
        if (log.hasCpu()) {
            writeSeries(node.putArray("cpu"), log, log::cpu);
        }
        if (log.hasQueue()) {
            writeSeries(node.putArray("queue"), log, log::queue);
        }
    }

    private void writeSeries(ArrayNode node, LatencyLog log, IntToDoubleFunction value) {
        writeSeries(node, log, value, origin, from);
        writeSeries(node, log, value, from, to);
        writeSeries(node, log, value, to, origin + span);
    }

    /** Rows of time and the highest value of so many windows that the points are few enough. */
    private void writeSeries(
            ArrayNode node, LatencyLog log, IntToDoubleFunction value, long begin, long end) {
        int first = log.windowAt(begin);
        int last = log.windowAt(end);
        int step = Math.max(1, (last - first + POINTS_MAX - 1) / POINTS_MAX);
        for (int window = first; window < last; window += step) {
            OptionalDouble worst =
                    IntStream.range(window, Math.min(last, window + step))
                            .mapToDouble(value)
                            .filter(Double::isFinite)
                            .max();
            if (worst.isPresent()) {
                node.addArray().add(millis(log.start(window))).add(worst.getAsDouble());
            }
        }
    }

    /** Rows of begin, length and kind; of very many pauses the longest. */
    private void writePauses(ObjectNode node, GcLog log) {
        ArrayNode rows = node.putArray("gc");
        log.pauses().stream()
                .filter(pause -> pause.endMicros() >= origin && pause.startMicros() < origin + span)
                .sorted(Comparator.comparingLong(GcLog.Pause::lengthMicros).reversed())
                .limit(POINTS_MAX)
                .forEach(
                        pause ->
                                rows.addArray()
                                        .add(millis(pause.startMicros()))
                                        .add(pause.lengthMicros() / 1000.0)
                                        .add(pause.kind()));
    }

    private void writeLanes(ObjectNode node) {
        ArrayNode lanes = node.putArray("lanes");
        for (InstanceLog log : shown) {
            lanes.addArray().add(log.name().stage()).add(log.name().instance());
        }
        ArrayNode flushes = node.putArray("flushes");
        ArrayNode compactions = node.putArray("compactions");
        for (int lane = 0; lane < shown.size(); lane++) {
            writeBlocks(flushes, lane, shown.get(lane).flushes());
            writeBlocks(compactions, lane, shown.get(lane).compactions());
        }
    }

    /** Rows of lane, begin and length. */
    private void writeBlocks(ArrayNode node, int lane, Intervals own) {
        for (int i = 0; i < own.size(); i++) {
            if (own.end(i) >= from && own.start(i) < to) {
                node.addArray()
                        .add(lane)
                        .add(millis(own.start(i)))
                        .add((own.end(i) - own.start(i)) / 1000.0);
            }
        }
    }
}
