package io.afterbay.kafka;

import io.afterbay.maintenance.Spread;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncInstance;
import java.lang.ref.Cleaner;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;
import org.rocksdb.Options;

/**
 * Keeps the flushes and compactions of the RocksDB stores of a Kafka Streams application apart, by
 * {@code rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter} and the options of
 * {@link DesyncConfig}.
 *
 * <p>Kafka's options and those of the user's own setter are applied first and stay, except that the
 * trigger of compactions is raised by the store's α.
 *
 * <p><b>What is stable.</b> Kafka Streams makes one setter for each store that it opens, and tells
 * it the name of the store, but neither task nor directory (both are known to the database only
 * later). So α is of the name and of a number: the lowest one that no other open store of that name
 * has in this process. The same after a restart are hence the triggers that the n stores of a name
 * have together, and that they are spread evenly; not which task has which of them. A trigger may
 * change from one opening to the next: it is no part of what lies on disk.
 *
 * <p><b>When it opens and closes.</b> A store's setter is closed before its database is, which then
 * may flush and compact once more; that is not counted. After a store could not be opened, Kafka
 * Streams drops the setter without closing it; then the garbage collector does.
 *
 * <p><b>Metrics</b> are those of the process, as a bean for JMX, {@code
 * io.afterbay:type=RocksDBDesync} ({@link io.afterbay.rocksdb.DesyncMetrics}).
 */
public final class DesyncRocksDBConfigSetter implements RocksDBConfigSetter {
    private static final StorePlaces PLACES = new StorePlaces();
    private static final Cleaner CLEANER = Cleaner.create();

    private @Nullable RocksDBConfigSetter own;
    private Cleaner.@Nullable Cleanable opened;

    /** What is given back; must not refer to the setter, or that would never be garbage. */
    private record Opened(String store, int place, DesyncInstance instance) implements Runnable {
        @Override
        public void run() {
            instance.close();
            PLACES.free(store, place);
        }
    }

    /**
     * @throws ConfigException naming the key, its value and what is allowed; it ends the
     *     application as its first store opens. {@code new DesyncConfig(configs)} finds the same
     *     before that
     */
    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        DesyncConfig config = new DesyncConfig(configs);
        own = config.ownSetter();
        if (own != null) {
            own.setConfig(storeName, options, configs);
        }
        int place = PLACES.take(storeName);
        DesyncInstance instance =
                Desync.open(envOf(options), Spread.of(storeName, place), config.settings());
        opened = CLEANER.register(this, new Opened(storeName, place, instance));
        instance.configure(options);
    }

    /** That of Kafka Streams 3.9 says null (rocksdbjni 7.9.2) where it means the default one. */
    private static Env envOf(Options options) {
        @Nullable Env env = options.getEnv();
        return env == null ? Env.getDefault() : env;
    }

    @Override
    public void close(String storeName, Options options) {
        if (opened != null) {
            opened.clean();
        }
        if (own != null) {
            own.close(storeName, options);
        }
    }
}
