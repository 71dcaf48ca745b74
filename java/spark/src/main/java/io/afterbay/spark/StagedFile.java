package io.afterbay.spark;

import io.afterbay.spark.publish.Staged;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.util.UUID;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.RenameHelperMethods;

/**
 * A file under a name that Spark passes over, as it uses itself for files that it writes: hidden,
 * and with an id of its own.
 */
final class StagedFile implements Staged {
    private final CheckpointFileManager files;
    private final RenameHelperMethods renaming;
    private final Path target;
    private final Path hidden;
    private final boolean overwrites;

    /**
     * @param files one that renames
     */
    StagedFile(CheckpointFileManager files, Path target, boolean overwrites) {
        this.files = files;
        this.renaming = (RenameHelperMethods) files;
        this.target = target;
        this.hidden =
                new Path(
                        target.getParent(),
                        "." + target.getName() + "." + UUID.randomUUID() + ".tmp");
        this.overwrites = overwrites;
    }

    void write(InputStream content) throws IOException {
        boolean isWritten = false;
        try {
            try (OutputStream out = renaming.createTempFile(hidden)) {
                content.transferTo(out);
            }
            isWritten = true;
        } finally {
            if (!isWritten) {
                discard();
            }
        }
    }

    @Override
    public void reveal() throws IOException {
        try {
            renaming.renameTempFile(hidden, target, overwrites);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // Scala's methods declare none
            throw translated(e);
        }
    }

    private IOException translated(Exception e) {
        if (e instanceof org.apache.hadoop.fs.FileAlreadyExistsException) {
            return (IOException) new FileAlreadyExistsException(target.toString()).initCause(e);
        }
        return e instanceof IOException io ? io : new IOException(e);
    }

    @Override
    public void discard() {
        try {
            files.delete(hidden);
        } catch (Exception e) { // Scala's methods declare none
            // It stays, as after a crash: whoever lists the directory passes over it.
        }
    }
}
