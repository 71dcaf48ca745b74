package io.afterbay.rocksdb;

import io.afterbay.testing.Await;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Calls that may never return. */
final class Calls {
    private Calls() {}

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
        work.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
}
