package io.afterbay.dfs;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A slow distributed file system, {@code slow:///}, over local files. Settings are Hadoop's:
 *
 * <pre>
 *   fs.slow.metadata-ms      of each creation, renaming, deletion, opening and listing
 *   fs.slow.close-ms         of the end of each written file
 *   fs.slow.bytes-per-s      of each file that is written
 *   fs.slow.stalls-permille  closes of a thousand that take fs.slow.stall-ms more
 *   fs.slow.seed             of which they are
 *   fs.slow.async-state      whether files below state/ take their time behind the task that writes
 *                            them, and a commit waits for those of the batch before it: a model of
 *                            the speed of asynchronous uploads, not of their safety
 * </pre>
 *
 * <p>Calls that this class makes of itself, as a local file system does, take no time of their own.
 */
public final class SlowFileSystem extends RawLocalFileSystem {
    public static final String SCHEME = "slow";
    private static final URI ROOT = URI.create(SCHEME + ":///");
    private static final double MILLIS_PER_S = 1e3;
    private static final int PERMILLE = 1000;

    private final ThreadLocal<Boolean> isInside = ThreadLocal.withInitial(() -> false);
    private final BackgroundUploads uploads = new BackgroundUploads();
    private final AtomicLong takenMillis = new AtomicLong();
    private Random random = new Random();
    private int metadataMs;
    private int closeMs;
    private double bytesPerS;
    private int stallsPermille;
    private int stallMs;
    private boolean isAsync;

    /** What a file system does. */
    @FunctionalInterface
    private interface Operation<T> {
        T run() throws IOException;
    }

    @Override
    public void initialize(URI uri, Configuration settings) throws IOException {
        super.initialize(ROOT, settings);
        metadataMs = settings.getInt("fs.slow.metadata-ms", 0);
        closeMs = settings.getInt("fs.slow.close-ms", 0);
        bytesPerS = settings.getLong("fs.slow.bytes-per-s", Long.MAX_VALUE);
        stallsPermille = settings.getInt("fs.slow.stalls-permille", 0);
        stallMs = settings.getInt("fs.slow.stall-ms", 0);
        random = new Random(settings.getLong("fs.slow.seed", 0));
        isAsync = settings.getBoolean("fs.slow.async-state", false);
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public URI getUri() {
        return ROOT;
    }

    /** Of files without permissions, as Spark's are: a local file system does not pass it on. */
    @Override
    public FSDataOutputStream create(
            Path path,
            boolean overwrites,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        return created(
                path,
                () -> super.create(path, overwrites, bufferSize, replication, blockSize, progress));
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrites,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        return created(
                path,
                () ->
                        super.create(
                                path,
                                permission,
                                overwrites,
                                bufferSize,
                                replication,
                                blockSize,
                                progress));
    }

    private FSDataOutputStream created(Path path, Operation<FSDataOutputStream> creation)
            throws IOException {
        if (isAsync && path.toString().contains("/commits/")) {
            uploads.commit();
        }
        return new FSDataOutputStream(new SlowStream(slow(path, creation), path), null);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        return slow(from, () -> super.rename(from, to));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        return slow(path, () -> super.delete(path, recursive));
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return slow(path, () -> super.open(path, bufferSize));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return slow(path, () -> super.getFileStatus(path));
    }

    @Override
    public boolean exists(Path path) throws IOException {
        return slow(path, () -> super.exists(path));
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
        return slow(path, () -> super.mkdirs(path));
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        return slow(path, () -> super.mkdirs(path, permission));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        return slow(path, () -> super.listStatus(path));
    }

    private <T> T slow(Path path, Operation<T> operation) throws IOException {
        if (isInside.get()) {
            return operation.run();
        }
        isInside.set(true);
        try {
            take(path, metadataMs);
            return operation.run();
        } finally {
            isInside.set(false);
        }
    }

    /** Of all operations so far, in the callers and behind them. */
    long takenMillis() {
        return takenMillis.get();
    }

    /** At once, or behind the caller. */
    private void take(Path path, long millis) throws IOException {
        takenMillis.addAndGet(millis);
        if (isAsync && path.toString().contains("/state/")) {
            uploads.add(() -> sleepUnchecked(millis));
        } else {
            sleep(millis);
        }
    }

    private static void sleepUnchecked(long millis) {
        try {
            sleep(millis);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void sleep(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("slow: interrupted");
        }
    }

    private synchronized int stall() {
        return random.nextInt(PERMILLE) < stallsPermille ? stallMs : 0;
    }

    /** A file that is written. */
    private final class SlowStream extends FilterOutputStream {
        private final Path path;
        private long bytes;
        private boolean isClosed;

        SlowStream(OutputStream file, Path path) {
            super(file);
            this.path = path;
        }

        @Override
        public void write(int value) throws IOException {
            bytes++;
            out.write(value);
        }

        @Override
        public void write(byte[] content, int offset, int length) throws IOException {
            bytes += length;
            out.write(content, offset, length);
        }

        @Override
        public void close() throws IOException {
            if (!isClosed) {
                isClosed = true;
                take(path, (long) (bytes / bytesPerS * MILLIS_PER_S) + closeMs + stall());
                super.close();
            }
        }
    }
}
