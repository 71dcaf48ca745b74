package io.afterbay.flink.incremental;

import io.afterbay.store.redo.RedoSegment;
import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A segment of a redo log, sealed.
 *
 * @param local its file here; null if a checkpoint was restored that had it
 */
record LogSegment(UUID log, long number, long bytes, @Nullable RedoSegment local) {
    /** Between a log and the next one, which does not go on where that one ended. */
    static final LogSegment GAP = new LogSegment(new UUID(0, 0), 0, 0, null);

    static LogSegment of(RedoSegment segment) {
        return new LogSegment(segment.log(), segment.number(), segment.bytes(), segment);
    }

    /** In checkpoints. */
    String name() {
        return "%s-%d.redo".formatted(log, number);
    }

    boolean isLocal() {
        return local != null;
    }

    /** Its local file, once that is written. */
    Uploads.Content content() {
        RedoSegment file = local;
        if (file == null) {
            throw new IllegalStateException("no local file of " + name());
        }
        return out -> {
            awaitWritten(file);
            Uploads.of(file.path(), file.bytes()).writeTo(out);
        };
    }

    private static void awaitWritten(RedoSegment file) throws IOException {
        try {
            file.written().toCompletableFuture().join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage(), cause);
        }
    }

    /** Whether it could not be written; one that is being written has not failed yet. */
    boolean hasFailed() {
        return local != null && local.written().toCompletableFuture().isCompletedExceptionally();
    }
}
