package io.afterbay.rocksdb;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Waits, but not for ever. */
final class Await {
    private static final long LIMIT_SECONDS = 20;

    private Await() {}

    static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + LIMIT_SECONDS + " s: " + what);
            }
            Thread.sleep(1);
        }
    }

    /** Runs it in a thread of its own, which a call that never returns keeps. */
    static CompletableFuture<Void> start(Callable<?> work) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.call();
                                result.complete(null);
                            } catch (Throwable e) {
                                result.completeExceptionally(new CompletionException(e));
                            }
                        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    static void end(CompletableFuture<Void> work) throws Exception {
        work.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
