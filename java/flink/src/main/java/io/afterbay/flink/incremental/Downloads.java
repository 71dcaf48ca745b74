package io.afterbay.flink.incremental;

import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.DiskAdvice;
import io.afterbay.store.io.LocalFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.flink.util.IOUtils;

/**
 * The segments of a base on their way to the directory of a store, which takes them one by one.
 * Used by one thread.
 */
final class Downloads implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final StoreOptions options;
    private final Transfers transfers;
    private final Map<Base.Segment, Future<LocalFile>> files = new HashMap<>();
    private boolean isStoreOpen;

    /** Opens files in checkpoint storage. Thread safe. */
    interface Source {
        InputStream open(String name) throws IOException;

        void close(InputStream in);
    }

    /**
     * @param options of the store
     */
    Downloads(StoreOptions options, int threads) throws IOException {
        this.options = options;
        options.files().createDirectories(options.directory());
        transfers = new Transfers(threads);
    }

    void begin(Base.Segment segment, Source source) {
        files.put(segment, transfers.begin(() -> download(segment, source)));
    }

    /** Waits for a segment, whose file is the caller's from then on. */
    LocalFile take(Base.Segment segment) throws IOException {
        Future<LocalFile> file = files.get(segment);
        if (file == null) {
            throw new IllegalStateException(segment + " is not on its way");
        }
        LocalFile taken = Transfers.await(file);
        files.remove(segment);
        return taken;
    }

    private LocalFile download(Base.Segment segment, Source source) throws IOException {
        InputStream in = source.open(segment.name());
        Path path = path(segment);
        try {
            LocalFile file = options.files().create(path);
            boolean complete = false;
            try {
                copy(in, segment, file, path);
                complete = true;
                return file;
            } finally {
                if (!complete) {
                    file.close();
                    options.files().delete(path); // the store does not know it yet
                }
            }
        } finally {
            source.close(in);
        }
    }

    private Path path(Base.Segment segment) {
        return options.directory().resolve(segment.name());
    }

    private void copy(InputStream in, Base.Segment segment, LocalFile file, Path path)
            throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        long position = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            transfers.check();
            ByteBuffer part = ByteBuffer.wrap(buffer, 0, read);
            while (part.hasRemaining()) {
                position += write(file, part, position, path);
            }
        }
        if (position != segment.bytes()) {
            throw new IOException(
                    "%s has %d bytes instead of %d"
                            .formatted(segment.name(), position, segment.bytes()));
        }
    }

    private static int write(LocalFile file, ByteBuffer part, long position, Path path)
            throws IOException {
        try {
            return file.write(part, position);
        } catch (IOException e) {
            throw new IOException(
                    "%s: cannot write at byte %d: %s %s"
                            .formatted(path, position, e.getMessage(), DiskAdvice.of(path)),
                    e);
        }
    }

    /** The directory is the store's from now on. */
    void storeIsOpen() {
        isStoreOpen = true;
    }

    /** Deletes what nobody has taken. */
    @Override
    public void close() {
        transfers.close();
        files.forEach(this::delete);
        if (!isStoreOpen) {
            deleteDirectory();
        }
    }

    private void deleteDirectory() {
        try {
            options.files().deleteDirectory(options.directory());
        } catch (IOException e) {
            // Something is in it that is not ours.
        }
    }

    private void delete(Base.Segment segment, Future<LocalFile> file) {
        try {
            IOUtils.closeQuietly(file.get());
            options.files().delete(path(segment));
        } catch (ExecutionException e) {
            // It has failed, and is deleted.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // The directory is deleted with the store, or stays and says so.
        }
    }
}
