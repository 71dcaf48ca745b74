package io.afterbay.cli.measure;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The CPU time of this process by what its threads are for, since its start. The rest of the
 * process is the engine, the collector and the compiler.
 *
 * <p>A thread that has ended counts with what it had used when it was last looked at: whoever wants
 * the threads of a job looks more often than it ends.
 *
 * @param taskNanos of the threads of Flink's tasks, with what they do in the state themselves, and
 *     of the threads that these have started for other than the next
 * @param backgroundNanos of the threads of the state backend: flush, compaction and transfers of
 *     Afterbay and of RocksDB, and the asynchronous part of checkpoints of any backend
 */
public record ThreadTimes(long taskNanos, long backgroundNanos) {
    private static final Path NATIVE = Path.of("/proc/self/task");

    /** How names begin; those of the system have 15 characters. */
    private static final List<String> BACKGROUND =
            List.of(
                    "afterbay-maintenance",
                    "afterbay-transfer",
                    "AsyncOperations",
                    "Flink-RocksDBStateDataTransfer");

    /** Threads of RocksDB are not Java's; its two pools are the process's and never end. */
    private static final String ROCKSDB = "rocksdb:";

    private static final String TASKS = "Flink Task Threads";
    private static final long NANOS_PER_TICK = 10_000_000;
    private static final int UTIME_FIELD = 11;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Map<Long, Long> TASK_NANOS = new HashMap<>();
    private static final Map<Long, Long> BACKGROUND_NANOS = new HashMap<>();

    /** The ids of the threads of Flink's tasks that there are now. */
    public static long[] tasks() {
        return all().stream()
                .filter(thread -> groupOf(thread) == TASK_NANOS)
                .mapToLong(Thread::getId)
                .toArray();
    }

    /** Looks at all threads; takes a millisecond or two. */
    static synchronized ThreadTimes now() {
        for (Thread thread : all()) {
            Map<Long, Long> group = groupOf(thread);
            if (group != null) {
                note(group, thread.getId());
            }
        }
        return new ThreadTimes(sum(TASK_NANOS), sum(BACKGROUND_NANOS) + rocksDbNanos());
    }

    private static List<Thread> all() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[2 * root.activeCount() + 16];
        return Arrays.asList(threads).subList(0, root.enumerate(threads));
    }

    private static @Nullable Map<Long, Long> groupOf(Thread thread) {
        if (BACKGROUND.stream().anyMatch(thread.getName()::startsWith)) {
            return BACKGROUND_NANOS;
        }
        for (ThreadGroup at = thread.getThreadGroup(); at != null; at = at.getParent()) {
            if (at.getName().equals(TASKS)) {
                return TASK_NANOS;
            }
        }
        return null;
    }

    private static void note(Map<Long, Long> group, long thread) {
        long nanos = THREADS.getThreadCpuTime(thread);
        if (nanos >= 0) { // it is alive
            group.put(thread, nanos);
        }
    }

    private static long sum(Map<Long, Long> nanos) {
        return nanos.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Nothing where the system does not tell. */
    private static long rocksDbNanos() {
        long nanos = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(NATIVE)) {
            for (Path thread : threads) {
                nanos += rocksDbNanos(thread);
            }
        } catch (IOException e) {
            return nanos;
        }
        return nanos;
    }

    private static long rocksDbNanos(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
            return stat.contains("(" + ROCKSDB) ? nanos(stat) : 0;
        } catch (IOException e) {
            return 0; // it has ended
        }
    }

    /**
     * User and system time.
     *
     * @param stat as in proc(5): the name of the thread, which may have spaces, is in parentheses
     */
    static long nanos(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
        return NANOS_PER_TICK
                * (Long.parseLong(fields[UTIME_FIELD]) + Long.parseLong(fields[UTIME_FIELD + 1]));
    }
}
