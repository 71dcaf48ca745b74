package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.process.MachineLoad;
import io.afterbay.handover.WorkerStatus;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which run of how many, what it does, and how long the rest takes; a line per finished run. */
final class CompareProgress {
    private static final String CLEAR = "\r\u001b[K";

    /** Start and end of a process, and a closed loop, before any has been timed. */
    private static final long OTHER_SECONDS = 20;

    private final PrintStream out;
    private final boolean terminal;
    private final int backends;
    private int runs;
    private Duration uncountedTime;
    private Duration countedTime;
    private int uncountedLeft;
    private int countedLeft;
    private int number;
    private String title = "";
    private long startNanos;
    private WorkerStatus last = WorkerStatus.STARTING;
    private long lastNanos;
    private double eventsPerSecond;

    /**
     * @param arguments how many runs there are, and how long the parts are that end by time
     */
    CompareProgress(PrintStream out, boolean terminal, CompareOptions arguments) {
        this.out = out;
        this.terminal = terminal;
        this.backends = arguments.backends().size();
        this.uncountedLeft = arguments.hasUncountedRound() ? backends : 0;
        this.countedLeft = backends * arguments.pairs();
        this.runs = uncountedLeft + countedLeft;
        this.uncountedTime = arguments.warmUp().plusSeconds(OTHER_SECONDS);
        this.countedTime = uncountedTime.plus(arguments.latency());
    }

    void start(Assignment assignment, Backend backend) {
        number++;
        startNanos = System.nanoTime();
        last = WorkerStatus.STARTING;
        lastNanos = startNanos;
        title =
                "run %d of %d: %s, %s"
                        .formatted(
                                number,
                                runs,
                                backend,
                                assignment.pair() == 0
                                        ? "not counted"
                                        : "pair " + assignment.pair());
    }

    /** Renews the line on a terminal. */
    void show(WorkerStatus status) {
        long now = System.nanoTime();
        if (!status.equals(last)) {
            eventsPerSecond =
                    status.phase().equals(last.phase())
                            ? (status.events() - last.events()) * 1e9 / Math.max(1, now - lastNanos)
                            : 0;
            last = status;
            lastNanos = now;
        }
        if (terminal) {
            out.print(CLEAR + title + ", " + describe(status) + left(elapsed()));
            out.flush();
        }
    }

    private String describe(WorkerStatus status) {
        String events = String.format(Locale.ROOT, "%,d", status.events());
        String of =
                status.of() == Long.MAX_VALUE
                        ? ""
                        : String.format(Locale.ROOT, " of %,d", status.of());
        return String.format(
                Locale.ROOT,
                "%s %s%s events, %,.0f/s",
                status.phase(),
                events,
                of,
                eventsPerSecond);
    }

    private String left(Duration elapsed) {
        long seconds =
                uncountedLeft * uncountedTime.toSeconds()
                        + countedLeft * countedTime.toSeconds()
                        - elapsed.toSeconds();
        return uncountedLeft + countedLeft == 0
                ? ""
                : "; about " + duration(Math.max(0, seconds)) + " left";
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private static String duration(long seconds) {
        return seconds < 90 ? seconds + " s" : (seconds + 30) / 60 + " min";
    }

    /** A line that stays. */
    void finished(Findings findings) {
        if (findings.run().pair() == 0) {
            uncountedTime = elapsed();
            uncountedLeft--;
        } else {
            countedTime = elapsed();
            countedLeft--;
        }
        say(title + ": " + result(findings) + left(Duration.ZERO));
    }

    /** A pair does not count, and comes once more. */
    void repeats(int pair, double otherCores) {
        countedLeft += backends;
        runs += backends;
        say(
                String.format(
                        Locale.ROOT,
                        "pair %d runs again: meanwhile other work used %.2f processors, of which %.1f"
                                + " are tolerated",
                        pair,
                        otherCores,
                        MachineLoad.OTHER_CORES_MAX));
    }

    private static String result(Findings findings) {
        String failure = findings.run().failure();
        if (failure != null) {
            return "FAILED: " + failure;
        }
        return figure("%,.0f events/s", findings.run().eventsPerS())
                + (findings.timeline() == null
                        ? ""
                        : ", P99 " + figure("%,.1f ms", findings.run().p99Ms()));
    }

    private static String figure(String format, @Nullable Double value) {
        return value == null ? "not measured" : String.format(Locale.ROOT, format, value);
    }

    /** A message of its own that stays. */
    void say(String message) {
        out.println((terminal ? CLEAR : "") + message);
        out.flush();
    }
}
