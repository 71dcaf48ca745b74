package io.afterbay.cli;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Logs of real RocksDB instances in one process, in folders such as Flink makes them, which flush
 * together like at checkpoints. Rounds follow one another at once; in the logs they are a period
 * apart, and none is longer than an eighth of it, however long they took on a busy machine.
 */
public final class RocksLogs {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String OPERATOR = "fedcba9876543210fedcba9876543210";
    private static final int KEYS = 200;
    private static final int PART_OF_PERIOD = 8;
    private static final Pattern TIME = Pattern.compile("(?<=\"time_micros\": )\\d+");

    private final Path directory;
    private final int instances;
    private final long periodMicros;

    /** When each round began, in microseconds since 1970. */
    private final NavigableSet<Long> begins = new TreeSet<>();

    public RocksLogs(Path directory, int instances, long periodMs) {
        this.directory = directory;
        this.instances = instances;
        this.periodMicros = periodMs * 1_000;
    }

    /**
     * Runs the instances and closes them; the logs stay.
     *
     * @param rounds how often all of them flush
     * @param trigger of the ith instance
     * @param before how often the ith instance flushes by itself before
     */
    public void run(int rounds, IntUnaryOperator trigger, IntUnaryOperator before)
            throws Exception {
        RocksDB.loadLibrary();
        List<RocksDB> databases = new ArrayList<>();
        begins.add(now());
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
            awaitCompactions(databases);
            for (int round = 0; round < rounds; round++) {
                begins.add(now());
                flushAll(threads, databases);
                awaitCompactions(databases);
            }
        } finally {
            threads.shutdown();
            databases.forEach(RocksDB::close);
        }
        setApart();
    }

    /** By the clock of RocksDB. */
    private static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private static void awaitCompactions(List<RocksDB> databases) throws Exception {
        for (RocksDB database : databases) {
            Await.until("its compactions end", () -> isAtRest(database));
        }
    }

    private static boolean isAtRest(RocksDB database) throws RocksDBException {
        return database.getLongProperty("rocksdb.compaction-pending") == 0
                && database.getLongProperty("rocksdb.num-running-compactions") == 0;
    }

    /** Gives all events the times that they would have had in rounds a period apart. */
    private void setApart() throws IOException {
        long longest = longestRound();
        for (int instance = 0; instance < instances; instance++) {
            Path log = folder(instance).resolve("LOG");
            String moved =
                    TIME.matcher(Files.readString(log))
                            .replaceAll(time -> moved(Long.parseLong(time.group()), longest) + "");
            Files.writeString(log, moved);
        }
    }

    private long longestRound() {
        long longest = 0;
        for (long begin : begins) {
            Long next = begins.higher(begin);
            longest = Math.max(longest, (next == null ? now() : next) - begin);
        }
        return longest;
    }

    private long moved(long micros, long longest) {
        Long begin = begins.floor(micros);
        long first = begins.first();
        if (begin == null) {
            return first; // when it was opened
        }
        long within = (micros - begin) * periodMicros / PART_OF_PERIOD / longest;
        return first + begins.headSet(begin).size() * periodMicros + within;
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
