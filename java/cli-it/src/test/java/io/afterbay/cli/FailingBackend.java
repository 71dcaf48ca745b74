package io.afterbay.cli;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;

/** Starts no job. */
public final class FailingBackend implements StateBackendFactory<StateBackend> {
    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        throw new IllegalConfigurationException("refused on purpose");
    }
}
