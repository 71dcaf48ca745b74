package io.afterbay.spark;

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

/** Publishes with the file manager that Spark would have used, so atomically where that is. */
final class FileManagerStorage implements Storage {
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

    @Override
    public boolean exists(String target) {
        return files.exists(path(target));
    }

    @Override
    public boolean isSame(String target, java.nio.file.Path local) throws IOException {
        try (InputStream published = files.open(path(target));
                InputStream copy = Files.newInputStream(local)) {
            return Arrays.equals(published.readAllBytes(), copy.readAllBytes());
        }
    }
}
