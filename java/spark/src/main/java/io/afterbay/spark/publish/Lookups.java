package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks for files in a {@link Storage} for callers that must not wait for it. Each file has a
 * thread that looks for it, and whoever asks again gets the answer.
 *
 * <p>Safe for use by any thread.
 */
final class Lookups {
    /** Whether a file is in the storage; may take long, and may be interrupted. */
    @FunctionalInterface
    interface Question {
        boolean ask(String target) throws IOException;
    }

    private static final class Lookup extends FutureTask<Boolean> {
        final long begunNanos;

        Lookup(Question question, String target, long now) {
            super(() -> question.ask(target));
            this.begunNanos = now;
        }
    }

    private final String name;
    private final Question question;
    private final long hangNanosMax;
    private final LongSupplier clock;
    private final Map<String, Lookup> running = new HashMap<>();

    /**
     * @param name of the threads
     * @param hangNanosMax after that time another thread begins again, and an answer that nobody
     *     has asked for is out of date
     */
    Lookups(String name, Question question, long hangNanosMax, LongSupplier clock) {
        this.name = name;
        this.question = question;
        this.hangNanosMax = hangNanosMax;
        this.clock = clock;
    }

    /** Returns at once: false until a thread has found the file. */
    synchronized boolean isFound(String target) throws IOException {
        Lookup lookup = running.get(target);
        if (lookup == null || clock.getAsLong() - lookup.begunNanos > hangNanosMax) {
            cancel(lookup);
            begin(target);
            return false;
        }
        if (!lookup.isDone()) {
            return false;
        }
        running.remove(target);
        return result(lookup, target);
    }

    private static void cancel(@Nullable Lookup lookup) {
        if (lookup != null) {
            lookup.cancel(true);
        }
    }

    private void begin(String target) {
        Lookup lookup = new Lookup(question, target, clock.getAsLong());
        Thread thread = new Thread(lookup, "afterbay-lookup " + name);
        thread.setDaemon(true);
        thread.setContextClassLoader(Publisher.class.getClassLoader());
        thread.start(); // first: it may fail
        running.put(target, lookup);
    }

    private static boolean result(Lookup ended, String target) throws IOException {
        try {
            return ended.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + target + " was looked for");
        } catch (ExecutionException e) {
            throw new IOException(target + " cannot be looked for", e.getCause());
        }
    }

    /** Interrupts all threads. */
    synchronized void abandon() {
        running.values().forEach(Lookups::cancel);
        running.clear();
    }
}
