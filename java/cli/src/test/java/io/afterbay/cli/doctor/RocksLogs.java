package io.afterbay.cli.doctor;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntUnaryOperator;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Logs of real RocksDB instances in one process, in folders such as Flink makes them, which flush
 * together like at checkpoints.
 */
public final class RocksLogs {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String OPERATOR = "fedcba9876543210fedcba9876543210";
    private static final int KEYS = 200;

    private final Path directory;
    private final int instances;
    private final long periodMs;

    public RocksLogs(Path directory, int instances, long periodMs) {
        this.directory = directory;
        this.instances = instances;
        this.periodMs = periodMs;
    }

    /**
     * Runs the instances and closes them; the logs stay. Where flushes are slow, as on a busy
     * machine, rounds are further apart: a round is at most a quarter of the time to the next one.
     *
     * @param rounds how often all of them flush
     * @param trigger of the ith instance
     * @param before how often the ith instance flushes by itself before
     * @return the median time from one round to the next, in milliseconds
     */
    public long run(int rounds, IntUnaryOperator trigger, IntUnaryOperator before)
            throws Exception {
        RocksDB.loadLibrary();
        long longestFlushMs = 0;
        List<Long> distances = new ArrayList<>();
        List<RocksDB> databases = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            for (int i = 0; i < instances; i++) {
                databases.add(open(i, trigger.applyAsInt(i)));
            }
            for (int i = 0; i < instances; i++) {
                for (int flush = 0; flush < before.applyAsInt(i); flush++) {
                    writeAndFlush(databases.get(i));
                }
            }
            for (int round = 0; round < rounds; round++) {
                long beginNanos = System.nanoTime();
                flushAll(threads, databases);
                long flushMs = (System.nanoTime() - beginNanos) / 1_000_000;
                longestFlushMs = Math.max(longestFlushMs, flushMs);
                Thread.sleep(Math.max(periodMs - flushMs, 3 * longestFlushMs));
                distances.add((System.nanoTime() - beginNanos) / 1_000_000);
            }
            return distances.stream().sorted().toList().get(rounds / 2);
        } finally {
            threads.shutdown();
            databases.forEach(RocksDB::close);
        }
    }

    private RocksDB open(int instance, int trigger) throws Exception {
        Path folder = folder(instance);
        Files.createDirectories(folder);
        try (Options options =
                new Options().setCreateIfMissing(true).setLevel0FileNumCompactionTrigger(trigger)) {
            return RocksDB.open(options, folder.toString());
        }
    }

    private Path folder(int instance) {
        String name =
                "job_%s_op_WindowOperator_%s__%d_%d__uuid_00000000-0000-0000-0000-%012d"
                        .formatted(JOB, OPERATOR, instance + 1, instances, instance);
        return directory.resolve(name).resolve("db");
    }

    private static void flushAll(ExecutorService threads, List<RocksDB> databases)
            throws Exception {
        List<Callable<Void>> flushes = new ArrayList<>();
        for (RocksDB database : databases) {
            flushes.add(
                    () -> {
                        writeAndFlush(database);
                        return null;
                    });
        }
        for (Future<Void> flush : threads.invokeAll(flushes)) {
            flush.get();
        }
    }

    /** The same keys each time, so that a compaction has to merge. */
    private static void writeAndFlush(RocksDB database) throws RocksDBException {
        for (int key = 0; key < KEYS; key++) {
            byte[] bytes = ("key-" + key).getBytes(StandardCharsets.UTF_8);
            database.put(bytes, new byte[100]);
        }
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            database.flush(options);
        }
    }
}
