package io.afterbay.cli;

import java.util.Collection;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.state.rocksdb.ConfigurableRocksDBOptionsFactory;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.Priority;
import org.rocksdb.RateLimiter;

/**
 * What RocksDB itself offers against compactions that disturb, and Flink has no option for: threads
 * of lower CPU priority, a limit to what flushes and compactions write, and how many threads flush.
 */
public final class RocksDBBaseline implements ConfigurableRocksDBOptionsFactory {
    static final ConfigOption<Boolean> LOW_PRIORITY =
            ConfigOptions.key("state.backend.rocksdb.baseline.low-priority")
                    .booleanType()
                    .defaultValue(false);

    /** Bytes per second of each instance; 0 for no limit. */
    static final ConfigOption<MemorySize> RATE_LIMIT =
            ConfigOptions.key("state.backend.rocksdb.baseline.rate-limit")
                    .memoryType()
                    .defaultValue(MemorySize.ZERO);

    /** Of the process; 0 as RocksDB has it. */
    static final ConfigOption<Integer> FLUSH_THREADS =
            ConfigOptions.key("state.backend.rocksdb.baseline.flush-threads")
                    .intType()
                    .defaultValue(0);

    private static final long serialVersionUID = 1;

    private final boolean lowPriority;
    private final long bytesPerS;
    private final int flushThreads;

    /** Changes nothing; for Flink, which configures it. */
    public RocksDBBaseline() {
        this(false, 0, 0);
    }

    private RocksDBBaseline(boolean lowPriority, long bytesPerS, int flushThreads) {
        this.lowPriority = lowPriority;
        this.bytesPerS = bytesPerS;
        this.flushThreads = flushThreads;
    }

    @Override
    public RocksDBBaseline configure(ReadableConfig settings) {
        return new RocksDBBaseline(
                settings.get(LOW_PRIORITY),
                settings.get(RATE_LIMIT).getBytes(),
                settings.get(FLUSH_THREADS));
    }

    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> handlesToClose) {
        if (lowPriority) {
            Env.getDefault().lowerThreadPoolCPUPriority(Priority.LOW);
        }
        if (flushThreads > 0) {
            Env.getDefault().setBackgroundThreads(flushThreads, Priority.HIGH);
        }
        if (bytesPerS > 0) {
            RateLimiter limiter = new RateLimiter(bytesPerS);
            handlesToClose.add(limiter);
            options.setRateLimiter(limiter);
        }
        return options;
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(
            ColumnFamilyOptions options, Collection<AutoCloseable> handlesToClose) {
        return options;
    }
}
