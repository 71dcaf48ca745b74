package io.afterbay.flink;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/**
 * What {@code state.backend.type} names:
 *
 * <pre>
 *   state.backend.type: io.afterbay.flink.AfterbayStateBackendFactory
 * </pre>
 */
public final class AfterbayStateBackendFactory
        implements StateBackendFactory<AfterbayStateBackend> {
    @Override
    public AfterbayStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader)
            throws IllegalConfigurationException {
        FlinkVersion.check();
        return new AfterbayStateBackend().configure(config, classLoader);
    }
}
