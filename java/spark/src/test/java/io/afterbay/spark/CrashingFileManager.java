package io.afterbay.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * A storage whose writes take their time and end after some, as for a process that is killed: the
 * last one has its effect or not. Only those below one folder: queries of earlier tests may still
 * write.
 */
public final class CrashingFileManager extends FileSystemBasedCheckpointFileManager {
    private static final int HANG_MS = 60_000;
    private static final Object LOCK = new Object();
    private static String folder = "";
    private static Random random = new Random(0);
    private static int writesLeft;
    private static boolean losesState;
    private static int delayMsMin;
    private static int hangsLeft;
    private static String hanging = "";
    private static String held = "";

    public CrashingFileManager(Path path, Configuration settings) {
        super(path, settings);
    }

    /** The folder that all of this is about from now on. */
    static void below(java.nio.file.Path directory) {
        synchronized (LOCK) {
            folder = directory + "/";
        }
    }

    private static boolean isBelow(Path path) {
        synchronized (LOCK) {
            return path.toUri().getPath().startsWith(folder);
        }
    }

    /** From now on, so many files can be written. */
    static void endAfter(int writes, long seed) {
        synchronized (LOCK) {
            random = new Random(seed);
            writesLeft = writes;
            losesState = false;
            delayMsMin = 0;
            hangsLeft = 0;
            held = "";
        }
    }

    /** From now on, files of that log are written when {@link #endAfter} is called, no sooner. */
    static void hold(String log) {
        synchronized (LOCK) {
            held = log;
        }
    }

    private static boolean isHeld(Path path) {
        synchronized (LOCK) {
            return path.getParent().getName().equals(held);
        }
    }

    /**
     * The next log file or changelog that is written hangs that often, until somebody gives it up.
     * Spark's maintenance writes snapshots, too, at times of its own.
     */
    static void hangNext(int times) {
        synchronized (LOCK) {
            hangsLeft = times;
            hanging = "";
        }
    }

    private static boolean hangs(Path path) {
        synchronized (LOCK) {
            if (hangsLeft > 0 && hanging.isEmpty() && isPublished(path)) {
                hanging = path.toString();
            }
            return path.toString().equals(hanging) && hangsLeft-- > 0;
        }
    }

    private static boolean isPublished(Path path) {
        return path.getName().matches("\\d+|.*\\.changelog(\\.crc)?");
    }

    /** From now on, each write takes that long, at least. */
    static void takeAtLeast(int millis) {
        synchronized (LOCK) {
            delayMsMin = millis;
        }
    }

    /** From now on, state files are reported as written, and are not: there is no gate. */
    static void loseState() {
        synchronized (LOCK) {
            losesState = true;
        }
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrites) {
        if (!isBelow(path)) {
            return super.createAtomic(path, overwrites);
        }
        boolean isLost;
        int delayMs;
        synchronized (LOCK) {
            boolean isLast = --writesLeft == 0;
            if (writesLeft < 0 || (isLast && random.nextBoolean())) {
                throw Rethrown.as(new IOException("the process is dead"));
            }
            isLost = losesState && path.getName().matches("\\d+_.*");
            delayMs = delayMsMin + random.nextInt(20);
        }
        sleep(hangs(path) ? HANG_MS : delayMs);
        while (isHeld(path)) {
            sleep(10);
            if (Thread.currentThread().isInterrupted()) {
                throw Rethrown.as(new IOException("given up"));
            }
        }
        return isLost ? new Lost() : super.createAtomic(path, overwrites);
    }

    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Lost extends CancellableFSDataOutputStream {
        Lost() {
            super(OutputStream.nullOutputStream());
        }

        @Override
        public void cancel() {}
    }
}
