package io.afterbay.flink;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStores;
import java.io.IOException;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.runtime.state.AbstractManagedMemoryStateBackend;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;

/**
 * A state backend that keeps keyed state in the Afterbay store: off-heap, within a budget, spilling
 * to local files. Operator state is kept as Flink's other backends keep it.
 *
 * @see AfterbayOptions
 */
public final class AfterbayStateBackend extends AbstractManagedMemoryStateBackend
        implements ConfigurableStateBackend {
    private static final long serialVersionUID = 1L;

    /** Names the backend in messages, metrics and Flink's own checks. */
    public static final String NAME = "afterbay";

    private final AfterbaySettings settings;
    private final StoreFactory stores;

    /** With the default options. */
    public AfterbayStateBackend() {
        this(AfterbaySettings.defaults(), StateStores::open);
    }

    private AfterbayStateBackend(AfterbaySettings settings, StoreFactory stores) {
        this.settings = settings;
        this.stores = stores;
    }

    /** The same backend on other stores; for tests. */
    public AfterbayStateBackend withStores(StoreFactory factory) {
        return new AfterbayStateBackend(settings, factory).withTracking(this);
    }

    @Override
    public AfterbayStateBackend configure(ReadableConfig config, ClassLoader classLoader)
            throws IllegalConfigurationException {
        AfterbayStateBackend configured =
                new AfterbayStateBackend(AfterbaySettings.read(config), stores);
        configured.latencyTrackingConfigBuilder = latencyTrackingConfigBuilder.configure(config);
        configured.sizeTrackingConfigBuilder = sizeTrackingConfigBuilder.configure(config);
        return configured;
    }

    private AfterbayStateBackend withTracking(AfterbayStateBackend other) {
        latencyTrackingConfigBuilder = other.latencyTrackingConfigBuilder;
        sizeTrackingConfigBuilder = other.sizeTrackingConfigBuilder;
        return this;
    }

    @Override
    public String getName() {
        return NAME;
    }

    /** A checkpoint that may not refer to files of another does not. */
    @Override
    public boolean supportsNoClaimRestoreMode() {
        return true;
    }

    @Override
    public boolean supportsSavepointFormat(SavepointFormatType formatType) {
        return true;
    }

    @Override
    public <K> AfterbayKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        OpaqueMemoryResource<SlotMemory> memory =
                SlotMemory.lease(
                        parameters.getEnv(),
                        settings.fixedBytesPerSlot(),
                        parameters.getManagedMemoryFraction());
        return new AfterbayKeyedStateBackendBuilder<>(
                        parameters,
                        settings,
                        stores,
                        memory,
                        latencyTrackingConfigBuilder
                                .setMetricGroup(parameters.getMetricGroup())
                                .build(),
                        sizeTrackingConfigBuilder
                                .setMetricGroup(parameters.getMetricGroup())
                                .build())
                .build();
    }

    @Override
    public boolean supportsAsyncKeyedStateBackend() {
        return true;
    }

    @Override
    public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        return new AfterbayAsyncKeyedStateBackend<>(createKeyedStateBackend(parameters));
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws BackendBuildingException {
        return new DefaultOperatorStateBackendBuilder(
                        parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                        parameters.getEnv().getExecutionConfig(),
                        true,
                        parameters.getStateHandles(),
                        parameters.getCancelStreamRegistry())
                .build();
    }
}
