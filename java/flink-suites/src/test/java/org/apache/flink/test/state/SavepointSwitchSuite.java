package org.apache.flink.test.state;

import io.afterbay.flink.contract.BackendUnderTest;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.test.state.BackendSwitchSpecs.BackendSwitchSpec;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;

/**
 * Flink's test that a canonical savepoint of one backend restores in another, between ours and each
 * of Flink's, both ways. In this package because the test is private to it.
 */
public class SavepointSwitchSuite extends SavepointStateBackendSwitchTestBase {

    public SavepointSwitchSuite(BackendSwitchSpec from, BackendSwitchSpec to) {
        super(from, to);
    }

    @Parameters(name = "from {0} to {1}")
    public static Collection<Object[]> directions() {
        BackendSwitchSpec ours = new Ours();
        return List.of(
                new Object[] {ours, ours},
                new Object[] {ours, BackendSwitchSpecs.HEAP},
                new Object[] {ours, BackendSwitchSpecs.ROCKS},
                new Object[] {ours, BackendSwitchSpecs.ROCKS_HEAP_TIMERS},
                new Object[] {BackendSwitchSpecs.HEAP, ours},
                new Object[] {BackendSwitchSpecs.ROCKS, ours},
                new Object[] {BackendSwitchSpecs.ROCKS_HEAP_TIMERS, ours});
    }

    private static final class Ours implements BackendSwitchSpec {
        private final MockEnvironment environment = new MockEnvironmentBuilder().build();

        @Override
        public CheckpointableKeyedStateBackend<String> createBackend(
                KeyGroupRange range, int keyGroups, Collection<KeyedStateHandle> handles)
                throws Exception {
            return (CheckpointableKeyedStateBackend<String>)
                    BackendUnderTest.create()
                            .createKeyedStateBackend(
                                    new KeyedStateBackendParametersImpl<>(
                                            environment,
                                            environment.getJobID(),
                                            "switch",
                                            StringSerializer.INSTANCE,
                                            keyGroups,
                                            range,
                                            environment.getTaskKvStateRegistry(),
                                            org.apache.flink.runtime.state.ttl.TtlTimeProvider
                                                    .DEFAULT,
                                            environment.getMetricGroup(),
                                            (name, value) -> {},
                                            handles,
                                            new CloseableRegistry(),
                                            1.0));
        }

        @Override
        public void close() throws Exception {
            environment.close();
        }

        @Override
        public String toString() {
            return BackendUnderTest.TYPE.getSimpleName();
        }
    }
}
