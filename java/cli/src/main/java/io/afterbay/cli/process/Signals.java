package io.afterbay.cli.process;

import io.afterbay.command.ExitCode;
import java.util.function.IntConsumer;
import sun.misc.Signal;

/** Ctrl-C and SIGTERM as calls instead of the end of the JVM. */
public final class Signals {
    private Signals() {}

    /** Calls the consumer with the exit code that belongs to the signal, on a thread of its own. */
    public static void handle(IntConsumer consumer) {
        handle("INT", ExitCode.INTERRUPTED, consumer);
        handle("TERM", ExitCode.TERMINATED, consumer);
    }

    private static void handle(String name, int exitCode, IntConsumer consumer) {
        try {
            Signal.handle(new Signal(name), signal -> consumer.accept(exitCode));
        } catch (IllegalArgumentException e) {
            // The shell that started us ignores this signal, so we do too.
        }
    }
}
