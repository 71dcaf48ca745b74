package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Flink's contract for expiring state; run by {@link ContractSuitesTest}. */
public class TtlSuite extends TtlStateTestBase {
    @Override
    protected StateBackendTestContext createStateBackendTestContext(TtlTimeProvider time) {
        return new StateBackendTestContext(time) {
            @Override
            protected StateBackend createStateBackend() {
                return backend();
            }
        };
    }

    StateBackend backend() {
        return BackendUnderTest.create();
    }

    @Override
    protected boolean incrementalCleanupSupported() {
        return true;
    }
}
