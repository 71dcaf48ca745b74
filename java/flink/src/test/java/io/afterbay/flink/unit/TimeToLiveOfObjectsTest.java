package io.afterbay.flink.unit;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.AfterbayStateBackend;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;

/** {@link TimeToLiveTest} with values as objects on the heap. */
class TimeToLiveOfObjectsTest extends TimeToLiveTest {
    @Override
    StateBackend type() {
        Configuration configuration = new Configuration();
        configuration.set(AfterbayOptions.OBJECT_TIER, true);
        return new AfterbayStateBackend().configure(configuration, getClass().getClassLoader());
    }
}
