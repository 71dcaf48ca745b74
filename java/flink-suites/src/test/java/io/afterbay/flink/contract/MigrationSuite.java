package io.afterbay.flink.contract;

import java.util.List;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;

/** Flink's contract for changed serializers; run by {@link ContractSuitesTest}. */
@ExtendWith(ParameterizedTestExtension.class)
public class MigrationSuite extends StateBackendMigrationTestBase<AbstractStateBackend> {
    @Parameter public boolean unused;

    @Parameters
    public static List<Boolean> once() {
        return List.of(true);
    }

    @Override
    protected AbstractStateBackend getStateBackend() {
        return BackendUnderTest.create();
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() throws Exception {
        return new JobManagerCheckpointStorage();
    }
}
