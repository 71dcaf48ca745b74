package io.afterbay.spark;

import java.io.File;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A slow and flaky distributed file system, {@code flaky:///}, over local files that all processes
 * see. Settings are Hadoop's, so executors have those of the driver:
 *
 * <pre>
 *   fs.flaky.delay-ms        of each operation, at most
 *   fs.flaky.state-delay-ms  of the end of a changelog, in addition
 *   fs.flaky.log-delay-ms    of the end of offsets and commits, in addition
 *   fs.flaky.bytes-per-s     of all files that a process writes, together; 0 for no limit
 *   fs.flaky.errors          percent of creations and renamings that fail, half of them with effect
 *   fs.flaky.hangs           percent of creations that take {@link #HANG_MS}
 *   fs.flaky.seed            of what is random, the same in each process; 0 for another each time
 * </pre>
 */
public final class FlakyFileSystem extends RawLocalFileSystem {
    static final String SCHEME = "flaky";
    static final int HANG_MS = 4_000;

    /** While a file of this name is beside a checkpoint, none of its changelogs appear. */
    static final String HOLD = "hold";

    private static final int HOLD_LOOK_MS = 5;
    private static final URI ROOT = URI.create(SCHEME + ":///");
    private static final Set<String> LOGS = Set.of("offsets", "commits");

    private Random random = new Random();
    private int delayMs;
    private int stateDelayMs;
    private int logDelayMs;
    private long bytesPerSecond;
    private long freeAtNanos = System.nanoTime();
    private int errorPercent;
    private int hangPercent;

    @Override
    public void initialize(URI uri, Configuration settings) throws IOException {
        super.initialize(ROOT, settings);
        delayMs = settings.getInt("fs.flaky.delay-ms", 0);
        stateDelayMs = settings.getInt("fs.flaky.state-delay-ms", 0);
        logDelayMs = settings.getInt("fs.flaky.log-delay-ms", 0);
        bytesPerSecond = settings.getLong("fs.flaky.bytes-per-s", 0);
        errorPercent = settings.getInt("fs.flaky.errors", 0);
        hangPercent = settings.getInt("fs.flaky.hangs", 0);
        long seed = settings.getLong("fs.flaky.seed", 0);
        random = seed == 0 ? new Random() : new Random(seed);
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public URI getUri() {
        return ROOT;
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
        beforeCreation(path);
        return paced(
                super.create(
                        path,
                        permission,
                        overwrites,
                        bufferSize,
                        replication,
                        blockSize,
                        progress));
    }

    /** What Spark's file manager comes to; it does not go through the one with permissions. */
    @Override
    public FSDataOutputStream create(
            Path path,
            boolean overwrites,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        beforeCreation(path);
        return paced(super.create(path, overwrites, bufferSize, replication, blockSize, progress));
    }

    private void beforeCreation(Path path) throws IOException {
        delay();
        if (hits(hangPercent)) {
            sleep(HANG_MS);
        }
        if (hits(errorPercent)) {
            throw new IOException("flaky: cannot create " + path);
        }
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        delay();
        sleep(endDelayMs(to));
        while (isHeld(to)) {
            sleep(HOLD_LOOK_MS);
        }
        boolean isError = hits(errorPercent);
        if (isError && random.nextBoolean()) {
            throw new IOException("flaky: cannot rename " + from);
        }
        boolean result = super.rename(from, to);
        if (isError) {
            throw new IOException("flaky: renamed " + from + ", and the answer is lost");
        }
        return result;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        delay();
        return super.open(path, bufferSize);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        delay();
        return super.getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        delay();
        return super.listStatus(path);
    }

    private int endDelayMs(Path file) {
        if (file.getName().contains(".changelog")) {
            return stateDelayMs;
        }
        return LOGS.contains(file.getParent().getName()) ? logDelayMs : 0;
    }

    private static boolean isHeld(Path file) {
        if (!file.getName().contains(".changelog")) {
            return false;
        }
        Path above = file.getParent();
        while (above != null && !above.getName().equals("state")) {
            above = above.getParent();
        }
        if (above == null) {
            return false;
        }
        Path checkpoint = above.getParent();
        return new File(new Path(checkpoint.getParent(), HOLD).toUri().getPath()).exists();
    }

    private FSDataOutputStream paced(FSDataOutputStream file) throws IOException {
        return new FSDataOutputStream(new Paced(file), null);
    }

    /** As all files of this process have one wire. */
    private final class Paced extends FilterOutputStream {
        Paced(OutputStream file) {
            super(file);
        }

        @Override
        public void write(byte[] content, int offset, int length) throws IOException {
            sleep(millisBefore(length));
            out.write(content, offset, length);
        }
    }

    private synchronized int millisBefore(int bytes) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        long now = System.nanoTime();
        freeAtNanos = Math.max(freeAtNanos, now) + bytes * 1_000_000_000L / bytesPerSecond;
        return (int) ((freeAtNanos - now) / 1_000_000);
    }

    private boolean hits(int percent) {
        return random.nextInt(100) < percent;
    }

    private void delay() throws IOException {
        sleep(delayMs == 0 ? 0 : random.nextInt(delayMs + 1));
    }

    private static void sleep(int millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new java.io.InterruptedIOException("flaky: interrupted");
        }
    }
}
