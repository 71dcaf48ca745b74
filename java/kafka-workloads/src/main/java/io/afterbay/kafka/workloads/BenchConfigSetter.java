package io.afterbay.kafka.workloads;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.Priority;
import org.rocksdb.RateLimiter;

/**
 * What the experiment wants of each store: a log with its events, and what RocksDB itself offers
 * against compactions that disturb.
 */
public final class BenchConfigSetter implements RocksDBConfigSetter {
    /** Whether threads for compactions are of lower CPU priority. */
    static final String LOW_PRIORITY = "afterbay.bench.low.priority";

    /** Bytes per second that flushes and compactions of a store write; 0 for no limit. */
    static final String RATE_LIMIT = "afterbay.bench.rate.limit";

    private @Nullable RateLimiter limiter;

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        options.setInfoLogLevel(InfoLogLevel.INFO_LEVEL);
        if (Boolean.parseBoolean(String.valueOf(configs.get(LOW_PRIORITY)))) {
            Env.getDefault().lowerThreadPoolCPUPriority(Priority.LOW);
        }
        long bytesPerS = Long.parseLong(String.valueOf(configs.getOrDefault(RATE_LIMIT, "0")));
        if (bytesPerS > 0) {
            limiter = new RateLimiter(bytesPerS);
            options.setRateLimiter(limiter);
        }
    }

    @Override
    public void close(String storeName, Options options) {
        if (limiter != null) {
            limiter.close();
        }
    }
}
