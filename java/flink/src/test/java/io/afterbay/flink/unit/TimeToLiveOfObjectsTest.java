package io.afterbay.flink.unit;

import io.afterbay.flink.contract.BackendUnderTest;
import org.apache.flink.runtime.state.StateBackend;

/** {@link TimeToLiveTest} with values as objects on the heap. */
class TimeToLiveOfObjectsTest extends TimeToLiveTest {
    @Override
    StateBackend type() {
        return BackendUnderTest.createWithObjects();
    }
}
