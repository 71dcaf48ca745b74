package io.afterbay.spark;

import io.afterbay.spark.publish.Staged;
import io.afterbay.spark.publish.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/** Publishes with the file manager that Spark would have used, so atomically where that is. */
final class FileManagerStorage implements Storage {
    private static final int BUFFER_BYTES = 64 << 10;

    private final CheckpointFileManager files;
    private final URI fileSystem;

    /**
     * @param directory anywhere in the checkpoint: targets lie in its file system
     */
    FileManagerStorage(CheckpointFileManager files, Path directory) {
        this.files = files;
        this.fileSystem = directory.toUri();
    }

    private Path path(String target) {
        return new Path(fileSystem.getScheme(), fileSystem.getAuthority(), target);
    }

    @Override
    public void write(String target, InputStream content, boolean overwrites) throws IOException {
        if (canStage()) {
            reveal(stage(target, content, overwrites));
        } else {
            writeAtomic(target, content, overwrites);
        }
    }

    /** What {@code createAtomic} does, which leaves the hidden file if it cannot be renamed. */
    private static void reveal(Staged file) throws IOException {
        boolean isRevealed = false;
        try {
            file.reveal();
            isRevealed = true;
        } finally {
            if (!isRevealed) {
                file.discard();
            }
        }
    }

    private void writeAtomic(String target, InputStream content, boolean overwrites)
            throws IOException {
        CancellableFSDataOutputStream out = files.createAtomic(path(target), overwrites);
        boolean isWritten = false;
        try {
            content.transferTo(out);
            out.close();
            isWritten = true;
        } catch (org.apache.hadoop.fs.FileAlreadyExistsException e) {
            throw (IOException) new FileAlreadyExistsException(target).initCause(e);
        } finally {
            if (!isWritten) {
                out.cancel();
            }
        }
    }

    /**
     * Spark's own managers that rename. What is made of them may do more when it creates a file.
     */
    @Override
    public boolean canStage() {
        return files.getClass() == FileContextBasedCheckpointFileManager.class
                || files.getClass() == FileSystemBasedCheckpointFileManager.class;
    }

    @Override
    public Staged stage(String target, InputStream content, boolean overwrites) throws IOException {
        StagedFile staged = new StagedFile(files, path(target), overwrites);
        staged.write(content);
        return staged;
    }

    @Override
    public boolean exists(String target) {
        return files.exists(path(target));
    }

    @Override
    public boolean isSame(String target, java.nio.file.Path local) throws IOException {
        try (InputStream published = files.open(path(target));
                InputStream copy = Files.newInputStream(local)) {
            return isSame(published, copy);
        }
    }

    /** A changelog may be larger than what memory is left. */
    private static boolean isSame(InputStream one, InputStream other) throws IOException {
        byte[] ofOne = new byte[BUFFER_BYTES];
        byte[] ofOther = new byte[BUFFER_BYTES];
        int read;
        do {
            read = one.readNBytes(ofOne, 0, BUFFER_BYTES);
            int otherRead = other.readNBytes(ofOther, 0, BUFFER_BYTES);
            if (!Arrays.equals(ofOne, 0, read, ofOther, 0, otherRead)) {
                return false;
            }
        } while (read == BUFFER_BYTES);
        return true;
    }
}
