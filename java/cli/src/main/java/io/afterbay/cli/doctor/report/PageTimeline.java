package io.afterbay.cli.doctor.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.doctor.analysis.Concurrency;
import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.reading.InstanceLog;
import io.afterbay.cli.doctor.reading.Intervals;
import io.afterbay.cli.doctor.reading.LatencyLog;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the chart of the page draws, in milliseconds from the first event. Bounded, however long the
 * logs are: at most {@link #POINTS_MAX} points per line (the highest of what a point stands for),
 * {@link #LANES_MAX} lanes (every nth instance), and {@link #BLOCKS_MAX} blocks in them (neighbours
 * with small gaps become one).
 */
final class PageTimeline {
    static final int POINTS_MAX = 6000;
    static final int LANES_MAX = 120;
    static final int BLOCKS_MAX = 20_000;

    /** Cycles to begin with on the screen: enough to see that something repeats. */
    private static final int CYCLES_SHOWN = 3;

    private final Diagnosis diagnosis;
    private final long origin;
    private final long span;

    PageTimeline(Diagnosis diagnosis) {
        this.diagnosis = diagnosis;
        this.origin = diagnosis.fromMicros();
        this.span = Math.max(1, diagnosis.spanMicros());
    }

    void write(ObjectNode node, @Nullable LatencyLog latency) {
        node.put("span_ms", span / 1000.0);
        writeZoom(node.putArray("zoom_ms"));
        writeCounts(node.putArray("counts"));
        if (latency != null) {
            writeLatency(node.putArray("latency"), latency);
        }
        writeLanes(node);
    }

    /** The worst moment with the cycles around it. */
    private void writeZoom(ArrayNode node) {
        long cycle =
                diagnosis.rhythm().periodMicros() * Math.max(1, diagnosis.rhythm().everyNthBurst());
        long width = cycle * CYCLES_SHOWN;
        if (width == 0 || width >= span || diagnosis.worst().isEmpty()) {
            node.add(0).add(span / 1000.0);
            return;
        }
        long worst = diagnosis.worst().get(0).micros() - origin;
        long from = Math.max(0, Math.min(span - width, worst - width / 2));
        node.add(from / 1000.0).add((from + width) / 1000.0);
    }

    /** Rows of time, compactions and flushes that run from there on. */
    private void writeCounts(ArrayNode node) {
        Concurrency.of(diagnosis.instances())
                .downsampled(POINTS_MAX)
                .forEach(
                        point ->
                                node.addArray()
                                        .add((point.micros() - origin) / 1000.0)
                                        .add(point.compactions())
                                        .add(point.flushes()));
    }

    private void writeLatency(ArrayNode node, LatencyLog latency) {
        int from = latency.windowAt(origin);
        int to = latency.windowAt(origin + span);
        int step = Math.max(1, (to - from + POINTS_MAX - 1) / POINTS_MAX);
        for (int window = from; window < to; window += step) {
            double worst = 0;
            for (int i = window; i < Math.min(to, window + step); i++) {
                worst = Math.max(worst, latency.millis(i));
            }
            node.addArray().add((latency.start(window) - origin) / 1000.0).add(worst);
        }
    }

    private void writeLanes(ObjectNode node) {
        List<InstanceLog> shown = shown();
        ArrayNode lanes = node.putArray("lanes");
        for (InstanceLog log : shown) {
            lanes.addArray().add(log.name().stage()).add(log.name().instance());
        }
        writeBlocks(node.putArray("flushes"), shown, InstanceLog::flushes);
        writeBlocks(node.putArray("compactions"), shown, InstanceLog::compactions);
    }

    private List<InstanceLog> shown() {
        List<InstanceLog> all = diagnosis.instances();
        int step = (all.size() + LANES_MAX - 1) / LANES_MAX;
        return IntStream.range(0, all.size())
                .filter(i -> i % step == 0)
                .mapToObj(all::get)
                .toList();
    }

    /** Rows of lane, begin and length. */
    private void writeBlocks(
            ArrayNode node, List<InstanceLog> shown, Function<InstanceLog, Intervals> kind) {
        long gap = 0;
        List<Intervals> blocks = merged(shown, kind, gap);
        while (blocks.stream().mapToInt(Intervals::size).sum() > BLOCKS_MAX / 2) {
            gap = gap == 0 ? Math.max(1, span / POINTS_MAX) : 2 * gap;
            blocks = merged(shown, kind, gap);
        }
        for (int lane = 0; lane < blocks.size(); lane++) {
            Intervals own = blocks.get(lane);
            for (int i = 0; i < own.size(); i++) {
                node.addArray()
                        .add(lane)
                        .add((own.start(i) - origin) / 1000.0)
                        .add((own.end(i) - own.start(i)) / 1000.0);
            }
        }
    }

    private static List<Intervals> merged(
            List<InstanceLog> shown, Function<InstanceLog, Intervals> kind, long gap) {
        return shown.stream().map(log -> kind.apply(log).merged(gap)).toList();
    }
}
