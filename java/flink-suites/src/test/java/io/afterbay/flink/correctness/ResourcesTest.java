package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.testing.LiveTree;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory, files and metrics of a keyed backend: taken when it is made, given back with it. */
class ResourcesTest {
    @TempDir private Path directory;
    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static void writeTwiceTheMemory(AbstractKeyedStateBackend<String> keyed)
            throws Exception {
        writeTwiceTheMemory(keyed, noise(16 << 10));
    }

    private static void writeTwiceTheMemory(AbstractKeyedStateBackend<String> keyed, String block)
            throws Exception {
        InternalListState<String, TimeWindow, String> list =
                windowed(keyed, new ListStateDescriptor<>("list", String.class));
        for (int i = 0; i < 2 * Backends.MANAGED_BYTES / block.length(); i++) {
            keyed.setCurrentKey("key" + i);
            list.setCurrentNamespace(new TimeWindow(0, 10));
            list.add(block);
        }
    }

    /** Cannot be compressed. */
    private static String noise(int length) {
        return new Random(1)
                .ints(length, '!', '~')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    @Test
    void managedMemoryIsTakenAndReturned() throws Exception {
        MemoryManager memory = backends.environment.getMemoryManager();
        assertThat(memory.availableMemory()).isEqualTo(memory.getMemorySize());
        AbstractKeyedStateBackend<String> first = backends.ours();
        AbstractKeyedStateBackend<String> second = backends.ours();
        assertThat(memory.availableMemory()).isZero();
        writeTwiceTheMemory(first);
        backends.dispose(first);
        // The slot's share stays taken while one of its backends lives.
        assertThat(memory.availableMemory()).isZero();
        backends.dispose(second);
        assertThat(memory.availableMemory()).isEqualTo(memory.getMemorySize());
    }

    @Test
    void localFilesAreDeleted() throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.afterbay.local-directories", directory.toString());
        AfterbayStateBackend configured =
                BackendUnderTest.create()
                        .configure(configuration, Thread.currentThread().getContextClassLoader());
        AbstractKeyedStateBackend<String> keyed = backends.create(configured, 128, List.of());
        writeTwiceTheMemory(keyed);
        assertThat(LiveTree.files(directory)).isNotEmpty();
        backends.dispose(keyed);
        assertThat(LiveTree.files(directory)).isEmpty();
    }

    @Test
    void metricsSayWhatTheStoreHolds() throws Exception {
        Map<String, Gauge<?>> gauges = new ConcurrentHashMap<>();
        AbstractKeyedStateBackend<String> keyed =
                (AbstractKeyedStateBackend<String>)
                        BackendUnderTest.create()
                                .createKeyedStateBackend(parameters(new Recorder("", gauges)));
        try {
            writeTwiceTheMemory(keyed);
            Backends.beginCheckpoint(keyed).cancel(true);
            assertThat(gauges.keySet()).allMatch(name -> name.startsWith("afterbay."));
            assertThat(bytes(gauges, "memoryUsedBytes"))
                    .isPositive()
                    .isLessThanOrEqualTo(bytes(gauges, "memoryLimitBytes"));
            assertThat(bytes(gauges, "memoryLimitBytes"))
                    .isLessThanOrEqualTo(Backends.MANAGED_BYTES);
            // Twice the memory was added, and the pages in memory are not full.
            assertThat(bytes(gauges, "diskWrittenBytes")).isGreaterThan(Backends.MANAGED_BYTES / 2);
            assertThat(bytes(gauges, "diskTotalBytes"))
                    .isGreaterThanOrEqualTo(bytes(gauges, "diskLiveBytes"));
        } finally {
            keyed.dispose();
        }
    }

    @Test
    void compressionCanBeTurnedOff() throws Exception {
        assertThat(writtenOfBlanks(false)).isGreaterThan(5 * writtenOfBlanks(true));
    }

    @SuppressWarnings("unchecked")
    private long writtenOfBlanks(boolean compression) throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.afterbay.file.compression", String.valueOf(compression));
        Map<String, Gauge<?>> gauges = new ConcurrentHashMap<>();
        AbstractKeyedStateBackend<String> keyed =
                (AbstractKeyedStateBackend<String>)
                        BackendUnderTest.create()
                                .configure(config, ResourcesTest.class.getClassLoader())
                                .createKeyedStateBackend(parameters(new Recorder("", gauges)));
        try {
            writeTwiceTheMemory(keyed, " ".repeat(16 << 10));
            return bytes(gauges, "diskWrittenBytes");
        } finally {
            keyed.dispose();
        }
    }

    private static long bytes(Map<String, Gauge<?>> gauges, String name) {
        return (Long) gauges.get("afterbay." + name).getValue();
    }

    private KeyedStateBackendParametersImpl<String> parameters(MetricGroup metrics) {
        return new KeyedStateBackendParametersImpl<>(
                backends.environment,
                backends.environment.getJobID(),
                "operator",
                StringSerializer.INSTANCE,
                128,
                new KeyGroupRange(0, 127),
                backends.environment.getTaskKvStateRegistry(),
                () -> 0,
                metrics,
                (name, value) -> {},
                List.of(),
                new CloseableRegistry(),
                1.0);
    }

    /** Keeps the gauges by their names, groups in front. */
    private static final class Recorder extends UnregisteredMetricsGroup {
        private final String prefix;
        private final Map<String, Gauge<?>> gauges;

        Recorder(String prefix, Map<String, Gauge<?>> gauges) {
            this.prefix = prefix;
            this.gauges = gauges;
        }

        @Override
        public MetricGroup addGroup(String name) {
            return new Recorder(prefix + name + ".", gauges);
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(prefix + name, gauge);
            return gauge;
        }
    }
}
