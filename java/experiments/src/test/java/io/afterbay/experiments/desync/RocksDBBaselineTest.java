package io.afterbay.experiments.desync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RateLimiter;
import org.rocksdb.RocksDB;

class RocksDBBaselineTest {
    /** What lowers the priority of a thread as far as it goes. */
    private static final int NICE_MAX = 19;

    private final List<AutoCloseable> handles = new ArrayList<>();

    @TempDir private Path directory;

    @BeforeAll
    static void load() {
        RocksDB.loadLibrary();
    }

    @AfterEach
    void close() {
        handles.forEach(IOUtils::closeQuietly);
    }

    private DBOptions options(ConfigOption<?> option, String value) {
        DBOptions options = new DBOptions().setCreateIfMissing(true);
        handles.add(options);
        return new RocksDBBaseline()
                .configure(Configuration.fromMap(Map.of(option.key(), value)))
                .createDBOptions(options, handles);
    }

    @Test
    void aLimitCountsWhatFlushesWrite() throws Exception {
        DBOptions options = options(RocksDBBaseline.RATE_LIMIT, "32mb");
        RateLimiter limiter =
                handles.stream()
                        .filter(RateLimiter.class::isInstance)
                        .map(RateLimiter.class::cast)
                        .findFirst()
                        .orElseThrow();
        assertThat(limiter.getTotalBytesThrough()).isZero();
        try (Options all = new Options(options, new ColumnFamilyOptions());
                RocksDB database = RocksDB.open(all, directory.toString());
                FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
            database.put(new byte[] {1}, new byte[100_000]);
            database.flush(flush);
        }
        assertThat(limiter.getTotalBytesThrough()).isPositive();
        assertThat(limiter.getBytesPerSecond()).isEqualTo(32 << 20);
    }

    @Test
    void withoutALimitThereIsNone() {
        options(RocksDBBaseline.LOW_PRIORITY, "false");
        assertThat(handles).noneMatch(RateLimiter.class::isInstance);
    }

    @Test
    void compactionsGetALowerPriority() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/task")), "only Linux tells");
        try (Options all =
                        new Options(
                                options(RocksDBBaseline.LOW_PRIORITY, "true"),
                                new ColumnFamilyOptions());
                RocksDB database = RocksDB.open(all, directory.toString())) {
            Await.until(
                    () -> "a thread of the lowest priority, not " + nicest(),
                    () -> {
                        database.put(new byte[] {1}, new byte[] {1});
                        database.compactRange();
                        return nicest() == NICE_MAX;
                    });
        }
    }

    /** The lowest priority of all threads of this process. */
    private static int nicest() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return threads.mapToInt(RocksDBBaselineTest::nice).max().orElseThrow();
        }
    }

    /** The nineteenth field; the second is a name in brackets, which may have blanks. */
    private static int nice(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[16]);
        } catch (IOException e) {
            return 0; // it has ended
        }
    }
}
