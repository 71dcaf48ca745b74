package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.job.SummaryText;
import io.afterbay.command.ByteSize;
import io.afterbay.command.ProgressLine;
import io.afterbay.workloads.run.RunStatistics;
import java.io.PrintStream;
import java.util.Locale;

/** How far a run in this process is. */
final class Progress {
    private final ProgressLine line;
    private final RunStatistics statistics;
    private long lastNanos = System.nanoTime();
    private long lastEvents;

    Progress(PrintStream out, boolean terminal, RunStatistics statistics) {
        this.line = new ProgressLine(out, terminal);
        this.statistics = statistics;
    }

    boolean isDue() {
        return line.isDue();
    }

    void show(EngineFigures engine) {
        long now = System.nanoTime();
        long events = statistics.accepted();
        double perSecond = Math.max(0, events - lastEvents) * 1e9 / Math.max(1, now - lastNanos);
        lastNanos = now;
        lastEvents = events;
        line.show(text(events, perSecond, engine));
    }

    private String text(long events, double perSecond, EngineFigures engine) {
        String state =
                engine.stateBytes().isPresent()
                        ? new ByteSize(engine.stateBytes().getAsLong()).toString()
                        : "not yet known";
        return String.format(
                Locale.ROOT,
                "%,d events, %,.0f events/s, state %s, P99 %s",
                events,
                perSecond,
                state,
                SummaryText.latency(statistics.latencyMicros(), 99));
    }

    /** See {@link ProgressLine#show}. */
    void show(String text) {
        line.show(text);
    }

    /** See {@link ProgressLine#say}. */
    void say(String message) {
        line.say(message);
    }

    /** See {@link ProgressLine#clear}. */
    void clear() {
        line.clear();
    }
}
