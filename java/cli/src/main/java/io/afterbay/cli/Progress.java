package io.afterbay.cli;

import io.afterbay.workloads.run.RunStatistics;
import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One line that renews itself on a terminal, or a line every few seconds in a log. */
final class Progress {
    private static final String CLEAR = "\r\u001b[K";
    private static final long TERMINAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final PrintStream out;
    private final boolean terminal;
    private final RunStatistics statistics;
    private long lastNanos = System.nanoTime();
    private long lastEvents;
    private boolean shown;

    Progress(PrintStream out, boolean terminal, RunStatistics statistics) {
        this.out = out;
        this.terminal = terminal;
        this.statistics = statistics;
    }

    boolean isDue() {
        return System.nanoTime() - lastNanos >= (terminal ? TERMINAL_NANOS : LOG_NANOS);
    }

    void show(EngineFigures engine) {
        long now = System.nanoTime();
        long events = statistics.accepted();
        double perSecond = Math.max(0, events - lastEvents) * 1e9 / Math.max(1, now - lastNanos);
        lastNanos = now;
        lastEvents = events;
        print(line(events, perSecond, engine));
    }

    private String line(long events, double perSecond, EngineFigures engine) {
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

    private void print(String line) {
        if (terminal) {
            out.print(CLEAR + line);
            shown = true;
        } else {
            out.println(line);
        }
        out.flush();
    }

    /** A message of its own that stays. */
    void say(String message) {
        clear();
        out.println(message);
        out.flush();
    }

    /** Makes room for what comes after the progress. */
    void clear() {
        if (shown) {
            out.print(CLEAR);
            out.flush();
            shown = false;
        }
    }
}
