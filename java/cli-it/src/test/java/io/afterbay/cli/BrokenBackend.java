package io.afterbay.cli;

import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.StateStores;
import io.afterbay.store.testkit.BrokenStore;
import io.afterbay.store.testkit.Defect;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/** Our backend on a store that loses some of what is appended: a comparison has to notice. */
public final class BrokenBackend implements StateBackendFactory<AfterbayStateBackend> {
    private static final int EVERY = 20;

    @Override
    public AfterbayStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return new AfterbayStateBackend()
                .withStores(
                        options ->
                                new BrokenStore(
                                        StateStores.open(options),
                                        options,
                                        Defect.DROPS_APPENDS,
                                        EVERY))
                .configure(config, classLoader);
    }
}
