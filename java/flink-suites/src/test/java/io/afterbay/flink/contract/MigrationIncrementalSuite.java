package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.AbstractStateBackend;

/** {@link MigrationSuite} with incremental checkpoints. */
public class MigrationIncrementalSuite extends MigrationSuite {
    @Override
    protected AbstractStateBackend getStateBackend() {
        return BackendUnderTest.createIncremental();
    }
}
