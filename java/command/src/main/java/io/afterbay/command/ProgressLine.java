package io.afterbay.command;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;

/** One line that renews itself on a terminal, or a line every few seconds in a log. */
public final class ProgressLine {
    private static final String CLEAR = "\r\u001b[K";
    private static final long TERMINAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final PrintStream out;
    private final boolean terminal;
    private long lastNanos = System.nanoTime();
    private boolean shown;

    /**
     * @param terminal whether somebody is looking
     */
    public ProgressLine(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** Whether the last line is old enough for another one. */
    public boolean isDue() {
        return System.nanoTime() - lastNanos >= (terminal ? TERMINAL_NANOS : LOG_NANOS);
    }

    /** Shows a line in place of the last one. */
    public void show(String line) {
        lastNanos = System.nanoTime();
        if (terminal) {
            out.print(CLEAR + line);
            shown = true;
        } else {
            out.println(line);
        }
        out.flush();
    }

    /** A message of its own that stays. */
    public void say(String message) {
        clear();
        out.println(message);
        out.flush();
    }

    /** Makes room for what comes after the progress. */
    public void clear() {
        if (shown) {
            out.print(CLEAR);
            out.flush();
            shown = false;
        }
    }
}
