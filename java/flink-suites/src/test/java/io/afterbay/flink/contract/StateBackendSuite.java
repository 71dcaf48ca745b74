package io.afterbay.flink.contract;

import java.util.List;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;

/** Flink's contract for keyed and operator state backends; run by {@link ContractSuitesTest}. */
@ExtendWith(ParameterizedTestExtension.class)
public class StateBackendSuite extends StateBackendTestBase<AbstractStateBackend> {
    @Parameter public boolean unused;

    @Parameters
    public static List<Boolean> once() {
        return List.of(true);
    }

    @Override
    protected ConfigurableStateBackend getStateBackend() throws Exception {
        return BackendUnderTest.createConfigurable();
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() throws Exception {
        return new JobManagerCheckpointStorage(64 << 20);
    }

    @Override
    protected boolean isSerializerPresenceRequiredOnRestore() {
        return BackendUnderTest.SERIALIZERS_NEEDED_ON_RESTORE;
    }

    @Override
    protected boolean supportsAsynchronousSnapshots() {
        return true;
    }

    @Override
    protected boolean isSafeToReuseKVState() {
        return BackendUnderTest.READS_RETURN_COPIES;
    }
}
