package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.ConfigurableStateBackend;

/** {@link StateBackendOnFilesSuite} with incremental checkpoints. */
public class StateBackendIncrementalSuite extends StateBackendOnFilesSuite {
    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return BackendUnderTest.createIncremental();
    }
}
