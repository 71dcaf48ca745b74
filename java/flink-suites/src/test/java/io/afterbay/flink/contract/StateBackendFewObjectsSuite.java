package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.ConfigurableStateBackend;

/**
 * {@link StateBackendOnFilesSuite} with incremental checkpoints and hardly any room for objects.
 */
public class StateBackendFewObjectsSuite extends StateBackendOnFilesSuite {
    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return BackendUnderTest.createIncrementalWithFewObjects();
    }
}
