package io.afterbay.flink.contract;

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

    /** Every read deserialises. */
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
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
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
