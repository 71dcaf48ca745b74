package io.afterbay.flink.incremental;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Files on their way to or from checkpoint storage, several at a time: object stores answer late,
 * and give one stream a part of what they can. Threads that have nothing to do end.
 */
final class Transfers implements AutoCloseable {
    private final ThreadPoolExecutor executor;
    private volatile boolean closed;

    /**
     * @param threads how many files at a time
     */
    Transfers(int threads) {
        this(threads, "afterbay-transfer-");
    }

    /**
     * @param name what names of threads begin with
     */
    Transfers(int threads, String name) {
        executor = BackgroundThreads.executor(threads, name);
    }

    /** Begins a transfer, or has it wait for its turn. It calls {@link #check} now and then. */
    <T> Future<T> begin(Callable<T> transfer) {
        return executor.submit(
                () -> {
                    check();
                    return transfer.call();
                });
    }

    /** Ends a transfer that nobody waits for any more. */
    void check() throws IOException {
        if (closed) {
            throw new IOException("given up, since another file of the checkpoint failed");
        }
    }

    /** The result of a transfer. */
    static <T> T await(Future<T> transfer) throws IOException {
        try {
            return transfer.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage(), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while files were transferred", e);
        }
    }

    /** Has what is under way end soon, by an interrupt too, and waits for nothing. */
    void cancel() {
        closed = true;
        executor.shutdownNow();
    }

    /** Ends what is under way, and waits for that. */
    @Override
    public void close() {
        closed = true;
        executor.shutdown(); // no interrupts, which would close files of the store
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = executor.awaitTermination(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
