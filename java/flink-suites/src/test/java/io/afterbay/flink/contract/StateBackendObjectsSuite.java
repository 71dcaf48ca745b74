package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.ConfigurableStateBackend;

/** {@link StateBackendOnFilesSuite} with objects on the heap. */
public class StateBackendObjectsSuite extends StateBackendOnFilesSuite {
    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return BackendUnderTest.createWithObjects();
    }
}
