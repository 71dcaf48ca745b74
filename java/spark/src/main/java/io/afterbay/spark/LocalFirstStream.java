package io.afterbay.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a local copy, and hands it over when it is closed. Used by one thread at a time. */
final class LocalFirstStream extends CancellableFSDataOutputStream {
    private static final Logger LOG = LoggerFactory.getLogger(LocalFirstStream.class);

    /** What becomes of the copy. */
    interface Handover {
        /**
         * Takes over the complete copy, which stays the stream's if this throws.
         *
         * @return a ticket
         */
        long accept(Path local) throws IOException;

        /** Waits for what the writer of that copy has to wait for. */
        void await(long ticket) throws IOException;

        /** It is gone. */
        void cancelled();
    }

    private final OutputStream out;
    private final Path local;
    private final Handover handover;
    private boolean isEnded;

    LocalFirstStream(OutputStream out, Path local, Handover handover) {
        super(out);
        this.out = out;
        this.local = local;
        this.handover = handover;
    }

    static LocalFirstStream create(Path directory, Handover handover) {
        try {
            Path local = Files.createTempFile(directory, "file", "");
            OutputStream out = new BufferedOutputStream(Files.newOutputStream(local));
            return new LocalFirstStream(out, local, handover);
        } catch (IOException e) {
            handover.cancelled();
            throw new UncheckedIOException(
                    "no local copy in " + directory + ": is spark.local.dir full?", e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        if (!isEnded) {
            isEnded = true;
            boolean isDone = false;
            try {
                handover.await(handOver());
                isDone = true;
            } finally {
                if (!isDone) {
                    handover.cancelled();
                }
            }
        }
    }

    /** An error, as of a thread that cannot be had, may come when the copy is the publisher's. */
    private long handOver() throws IOException {
        try {
            out.close();
            return handover.accept(local);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(local);
            throw e;
        }
    }

    @Override
    public synchronized void cancel() {
        if (!isEnded) {
            isEnded = true;
            handover.cancelled();
            closeQuietly();
            try {
                Files.deleteIfExists(local);
            } catch (IOException e) {
                // Whoever cancels has a reason of its own, which this must not hide.
                LOG.warn("The local copy {} is left until the application ends", local, e);
            }
        }
    }

    /** What could not be written fails here again, as on a full disk. */
    private void closeQuietly() {
        try {
            out.close();
        } catch (IOException e) {
            LOG.debug("The local copy {} was not complete when it was cancelled", local, e);
        }
    }
}
