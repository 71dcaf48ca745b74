package io.afterbay.cli;

import io.afterbay.workloads.trafficjam.RankingRow;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/** The report at the end of a run, for people. */
final class SummaryText {
    private final PrintStream out;

    SummaryText(PrintStream out) {
        this.out = out;
    }

    void print(
            TrafficJamOptions options, EngineArguments engine, MemorySplit memory, RunFigures run) {
        ranking(run.lastRanking());
        line(
                "%,d events in %.1f s with %s: %,.0f events/s, CPU %.2f us/event",
                run.events(),
                run.elapsedSeconds(),
                engine.backend,
                run.eventsPerSecond(),
                run.cpuMicrosPerEvent());
        latency(options, run);
        line("rejected     %,d late, %,d malformed", run.late(), run.malformed());
        line(
                "memory       peak RSS %s of %s; collector %,d ms",
                size(run.peakResidentBytes()), memory.total(), run.collectorMillis());
        line("disk         %s written", size(run.writtenBytes()));
        checkpoints(run.engine());
        out.flush();
    }

    private void ranking(List<RankingRow> rows) {
        if (rows.isEmpty()) {
            line("no window was completed");
            return;
        }
        long endS = rows.get(0).figures().windowEndS();
        line("Most jammed streets from second %,d to %,d", endS - 10, endS);
        line("%4s  %-12s %6s  %14s  %10s", "rank", "street", "cars", "mean speed m/s", "jam");
        for (RankingRow row : rows) {
            line(
                    "%4d  %-12s %6d  %14s  %10s",
                    row.rank(),
                    row.figures().street(),
                    row.figures().cars(),
                    row.figures().meanSpeedMps().toPlainString(),
                    row.figures().jam().toPlainString());
        }
        line("");
    }

    private void latency(TrafficJamOptions options, RunFigures run) {
        histogram("latency", run.latencyMicros());
        histogram("delay", run.delayMicros());
        line(
                "             latency: a result minus the %s of its last event; delay: minus that"
                        + " of the event",
                options.isOpenLoop() ? "scheduled time" : "reading");
        line("             that closed the window, 5 s of event time later");
        if (!options.isOpenLoop()) {
            line("             as fast as possible; use --rate N for latency under a given load");
        }
    }

    private void histogram(String name, Histogram micros) {
        line(
                "%-12s P50 %s, P99 %s, P99.9 %s, max %s (%,d results)",
                name,
                latency(micros, 50),
                latency(micros, 99),
                latency(micros, 99.9),
                latency(micros, 100),
                micros.getTotalCount());
    }

    private void checkpoints(EngineFigures engine) {
        String state =
                engine.stateBytes().isPresent()
                        ? ", state " + size(engine.stateBytes()) + " at the last"
                        : "";
        line(
                "checkpoints  %,d completed, longest %,d ms%s",
                engine.completed(), engine.longestMillis(), state);
        if (!engine.failures().isEmpty()) {
            line("failures     %,d, last: %s", engine.failures().size(), last(engine.failures()));
        }
    }

    private static String last(List<String> list) {
        return list.get(list.size() - 1);
    }

    private static String size(OptionalLong bytes) {
        return bytes.isPresent() ? new ByteSize(bytes.getAsLong()).toString() : "unknown";
    }

    /** A percentile with a fitting unit, or a dash without results. */
    static String latency(Histogram micros, double percentile) {
        if (micros.getTotalCount() == 0) {
            return "-";
        }
        double millis = micros.getValueAtPercentile(percentile) / 1e3;
        return millis < 10_000
                ? String.format(Locale.ROOT, "%,.1f ms", millis)
                : String.format(Locale.ROOT, "%,.1f s", millis / 1e3);
    }

    private void line(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }
}
