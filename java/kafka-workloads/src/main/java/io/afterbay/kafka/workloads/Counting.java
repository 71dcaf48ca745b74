package io.afterbay.kafka.workloads;

import io.afterbay.workloads.wordcount.WordCountPlan;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Sends the words of a plan, and reads their counts until all are there. */
final class Counting {
    private static final Duration POLL = Duration.ofMillis(50);

    /** How long to look for results that should not be there. */
    private static final Duration AFTERMATH = Duration.ofMillis(500);

    private static final long SILENCE_SECONDS_MAX = 60;

    private final WordCountPlan plan;
    private final Application application;
    private final Listener listener;

    /** Who wants to know how far it is. */
    interface Listener {
        void at(String phase, long sent, long results);
    }

    Counting(WordCountPlan plan, Application application, Listener listener) {
        this.plan = plan;
        this.application = application;
        this.listener = listener;
    }

    /**
     * @throws WordCountException if something fails, or nothing moves any more
     */
    void run(WordFeed feed, CountReader reader) throws WordCountException {
        CompletableFuture<Void> fed = start(feed);
        long movedNanos = System.nanoTime();
        while (!fed.isDone() || reader.check().results() < plan.words()) {
            long before = reader.check().results() + feed.sent();
            reader.poll(POLL);
            listener.at("counting", feed.sent(), reader.check().results());
            application.throwIfFailed();
            throwIfFailed(fed);
            boolean isIdle = reader.check().results() == feed.sent() && !fed.isDone();
            if (isIdle || reader.check().results() + feed.sent() != before) {
                movedNanos = System.nanoTime();
            } else if (System.nanoTime() - movedNanos
                    > TimeUnit.SECONDS.toNanos(SILENCE_SECONDS_MAX)) {
                throw silent(feed.sent(), reader.check().results());
            }
        }
        reader.poll(AFTERMATH);
    }

    private static CompletableFuture<Void> start(WordFeed feed) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                feed.run();
                                result.complete(null);
                            } catch (Throwable e) {
                                result.completeExceptionally(e);
                            }
                        },
                        "word feed");
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private static void throwIfFailed(CompletableFuture<Void> fed) throws WordCountException {
        try {
            fed.getNow(null);
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new WordCountException(String.valueOf(cause.getMessage()), cause);
        }
    }

    private static WordCountException silent(long sent, long results) {
        return new WordCountException(
                "nothing has moved for %d s: %d words sent, %d counts read; see the log (--verbose)"
                        .formatted(SILENCE_SECONDS_MAX, sent, results));
    }
}
