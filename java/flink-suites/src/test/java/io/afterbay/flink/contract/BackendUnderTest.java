package io.afterbay.flink.contract;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.flink.AfterbayStateBackendFactory;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStores;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;

/** The one place that says which backend the suites run on. */
public final class BackendUnderTest {
    /** Its class. */
    public static final Class<? extends AbstractStateBackend> TYPE = AfterbayStateBackend.class;

    /** What {@code state.backend.type} is set to. */
    public static final String CONFIG_NAME = AfterbayStateBackendFactory.class.getName();

    /** The store keeps bytes, so restoring it needs no serializer but that of the key. */
    public static final boolean SERIALIZERS_NEEDED_ON_RESTORE = false;

    /** Every read deserialises, unless the object is immutable. */
    public static final boolean READS_RETURN_COPIES = true;

    // Written by the negative control, which runs the suites on a store that is wrong on purpose.
    private static volatile StoreFactory stores = StateStores::open;

    private BackendUnderTest() {}

    /** On the stores that {@link #withStores} has set, or the real ones. */
    public static AfterbayStateBackend create() {
        return new AfterbayStateBackend().withStores(stores);
    }

    /** As {@link #create}, with incremental checkpoints. */
    public static AfterbayStateBackend createIncremental() {
        return configured(incremental());
    }

    private static Configuration incremental() {
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        return configuration;
    }

    /** As {@link #create}, with an object tier so small that all passes through it. */
    public static AfterbayStateBackend createWithFewObjects() {
        return configured(fewObjects(new Configuration()));
    }

    /** As {@link #createWithFewObjects}, with incremental checkpoints. */
    public static AfterbayStateBackend createIncrementalWithFewObjects() {
        return configured(fewObjects(incremental()));
    }

    /** With an object tier of one set of entries, of which three may be dirty. */
    public static Configuration fewObjects(Configuration configuration) {
        configuration.set(AfterbayOptions.OBJECT_TIER, true);
        configuration.set(AfterbayOptions.OBJECT_TIER_ENTRIES, 8);
        configuration.set(AfterbayOptions.OBJECT_TIER_DIRTY_ENTRIES, 3);
        return configuration;
    }

    /** As {@link #create}, with an object tier of its usual size. */
    public static AfterbayStateBackend createWithObjects() {
        Configuration configuration = new Configuration();
        configuration.set(AfterbayOptions.OBJECT_TIER, true);
        return configured(configuration);
    }

    private static AfterbayStateBackend configured(Configuration configuration) {
        return create().configure(configuration, BackendUnderTest.class.getClassLoader());
    }

    public static ConfigurableStateBackend createConfigurable() {
        return create();
    }

    /** Runs {@code body} with backends on other stores. */
    static void withStores(StoreFactory others, ThrowingRunnable body) throws Exception {
        stores = others;
        try {
            body.run();
        } finally {
            stores = StateStores::open;
        }
    }

    /** A body that may throw. */
    @FunctionalInterface
    interface ThrowingRunnable {
        void run() throws Exception;
    }
}
