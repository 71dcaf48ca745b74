package io.afterbay.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/** Writes a local copy, and hands it over when it is closed. Used by one thread at a time. */
final class LocalFirstStream extends CancellableFSDataOutputStream {
    /** What becomes of the copy. */
    interface Handover {
        /** It is complete. */
        void accept(Path local) throws IOException;

        /** It is gone. */
        void cancelled();
    }

    private final OutputStream out;
    private final Path local;
    private final Handover handover;
    private boolean isEnded;

    private LocalFirstStream(OutputStream out, Path local, Handover handover) {
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
            boolean isAccepted = false;
            try {
                out.close();
                handover.accept(local);
                isAccepted = true;
            } finally {
                if (!isAccepted) {
                    handover.cancelled();
                }
            }
        }
    }

    @Override
    public synchronized void cancel() {
        if (!isEnded) {
            isEnded = true;
            handover.cancelled();
            try {
                out.close();
                Files.deleteIfExists(local);
            } catch (IOException e) {
                throw new UncheckedIOException("local copy " + local + " is left", e);
            }
        }
    }
}
