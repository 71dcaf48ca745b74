package io.afterbay.experiments.desync;

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
 * of lower CPU priority, and a limit to what flushes and compactions write.
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

    private static final long serialVersionUID = 1;

    private final boolean lowPriority;
    private final long bytesPerS;

    /** Changes nothing; for Flink, which configures it. */
    public RocksDBBaseline() {
        this(false, 0);
    }

    private RocksDBBaseline(boolean lowPriority, long bytesPerS) {
        this.lowPriority = lowPriority;
        this.bytesPerS = bytesPerS;
    }

    @Override
    public RocksDBBaseline configure(ReadableConfig settings) {
        return new RocksDBBaseline(settings.get(LOW_PRIORITY), settings.get(RATE_LIMIT).getBytes());
    }

    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> handlesToClose) {
        if (lowPriority) {
            Env.getDefault().lowerThreadPoolCPUPriority(Priority.LOW);
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
