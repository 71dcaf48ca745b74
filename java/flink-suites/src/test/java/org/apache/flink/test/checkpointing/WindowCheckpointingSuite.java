package org.apache.flink.test.checkpointing;

import io.afterbay.flink.contract.BackendUnderTest;
import java.io.IOException;
import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ResourceManagerOptions;
import org.apache.flink.configuration.StateBackendOptions;

/**
 * Flink's {@link EventTimeWindowCheckpointingITCase} on our backend, its failures and checkpoints
 * as they are. The case picks a backend by name from its own list; the configuration it fills in
 * here answers with ours whichever it picks. In this package because the case is private to it.
 */
public class WindowCheckpointingSuite extends EventTimeWindowCheckpointingITCase {

    @Override
    protected Configuration createClusterConfig() throws IOException {
        OursInstead configuration = new OursInstead();
        configuration.addAll(super.createClusterConfig());
        // With the usual delay, this cluster takes half a minute to hand out its slots.
        configuration.set(ResourceManagerOptions.REQUIREMENTS_CHECK_DELAY, Duration.ZERO);
        return configuration;
    }

    private static final class OursInstead extends Configuration {
        private static final long serialVersionUID = 1L;

        @Override
        public <T> Configuration set(ConfigOption<T> option, T value) {
            if (option.equals(StateBackendOptions.STATE_BACKEND)) {
                return super.set(StateBackendOptions.STATE_BACKEND, BackendUnderTest.CONFIG_NAME);
            }
            return super.set(option, value);
        }
    }
}
