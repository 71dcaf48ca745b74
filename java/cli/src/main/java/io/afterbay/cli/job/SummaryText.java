package io.afterbay.cli.job;

import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.command.ByteSize;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/** The report at the end of a run, for people. */
public final class SummaryText {
    private final PrintStream out;

    public SummaryText(PrintStream out) {
        this.out = out;
    }

    public void print(Job job, EngineSettings engine, RunFigures run) {
        job.printResult(this);
        line(
                "%,d events in %.1f s with %s: %,.0f events/s, CPU %.2f us/event",
                run.events(),
                run.elapsedSeconds(),
                engine.backend(),
                run.eventsPerSecond(),
                run.cpuMicrosPerEvent());
        histogram("latency", run.latencyMicros());
        job.printLatency(this, run);
        line(
                "memory       peak RSS %s of %s; collector %,d ms",
                size(run.peakResidentBytes()), engine.memory().total(), run.collectorMillis());
        line("disk         %s written", size(run.writtenBytes()));
        checkpoints(run.engine());
        out.flush();
    }

    /** What to remember when latencies were measured as fast as possible. */
    void closedLoopNote(boolean openLoop) {
        if (!openLoop) {
            line("             as fast as possible; use --rate N for latency under a given load");
        }
    }

    /** One line of percentiles. */
    void histogram(String name, Histogram micros) {
        line(
                "%-12s P50 %s, P99 %s, P99.9 %s, max %s (%,d results)",
                name,
                latency(micros, 50),
                latency(micros, 99),
                latency(micros, 99.9),
                latency(micros, 100),
                micros.getTotalCount());
    }

    public void checkpoints(EngineFigures engine) {
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

    public static String size(OptionalLong bytes) {
        return bytes.isPresent() ? new ByteSize(bytes.getAsLong()).toString() : "unknown";
    }

    /** A percentile with a fitting unit, or a dash without results. */
    public static String latency(Histogram micros, double percentile) {
        if (micros.getTotalCount() == 0) {
            return "-";
        }
        double millis = micros.getValueAtPercentile(percentile) / 1e3;
        return millis < 10_000
                ? String.format(Locale.ROOT, "%,.1f ms", millis)
                : String.format(Locale.ROOT, "%,.1f s", millis / 1e3);
    }

    /** A line of the report, formatted the same in every locale. */
    public void line(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }
}
