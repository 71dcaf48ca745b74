package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.StateBackend;

/** {@link TtlSuite} with hardly any room for objects. */
public class TtlFewObjectsSuite extends TtlSuite {
    @Override
    StateBackend backend() {
        return BackendUnderTest.createWithFewObjects();
    }
}
