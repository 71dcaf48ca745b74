package io.afterbay.cli.process;

import java.util.concurrent.TimeUnit;

/** Whether the user has ended the run by a signal; who insists ends the process. Thread safe. */
public final class Interruption {
    /** The terminal and the first process may both pass on one Ctrl-C. */
    private static final long IMPATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private int exitCode;
    private long raisedNanos;

    public void listen() {
        Signals.handle(this::raise);
    }

    private synchronized void raise(int code) {
        if (exitCode == 0) {
            exitCode = code;
            raisedNanos = System.nanoTime();
        } else if (System.nanoTime() - raisedNanos > IMPATIENCE_NANOS) {
            Runtime.getRuntime().halt(code);
        }
    }

    public synchronized boolean isRaised() {
        return exitCode != 0;
    }

    /** That belongs to the signal; 0 if there was none. */
    public synchronized int exitCode() {
        return exitCode;
    }
}
