package io.afterbay.cli;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;

/** Takes all of the heap. */
public final class GreedyBackend implements StateBackendFactory<StateBackend> {
    private static final List<byte[]> TAKEN = new ArrayList<>();

    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        while (true) {
            TAKEN.add(new byte[16 << 20]);
        }
    }
}
