package io.afterbay.flink.incremental;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.maintenance.LongTasks;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.util.IOUtils;

/** The backends of one operator, with some parallelism; disposed of together. */
final class IncrementalBackends implements AutoCloseable {
    static final int KEY_GROUPS = 16;

    private final MockEnvironment environment;
    private final Configuration configuration = new Configuration();
    private StoreFactory stores = StateStores::open;
    private LongTasks longTasks = new LongTasks(1, Runnable::run);
    private List<KeyedContent.Handle> open = new ArrayList<>();

    /** Of the backend that was opened last, as long as it is restored. */
    private CloseableRegistry restoring = new CloseableRegistry();

    /** Of the backend that was opened last. */
    private final Map<String, Gauge<?>> gauges = new HashMap<>();

    /**
     * @param local directory for local files
     */
    IncrementalBackends(Path local) {
        this(local, LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
    }

    /**
     * @param local directory for local files
     * @param backups where checkpoints are kept on this machine too
     */
    static IncrementalBackends withLocalRecovery(Path local, Path backups) {
        return new IncrementalBackends(
                local,
                new LocalRecoveryConfig(
                        true,
                        true,
                        new LocalSnapshotDirectoryProviderImpl(
                                backups.toFile(), new JobID(), new JobVertexID(), 0)));
    }

    private IncrementalBackends(Path local, LocalRecoveryConfig localRecovery) {
        environment =
                new MockEnvironmentBuilder()
                        .setManagedMemorySize(64L << 20)
                        .setTaskStateManager(
                                TestTaskStateManager.builder()
                                        .setLocalRecoveryConfig(localRecovery)
                                        .build())
                        .build();
        configuration.setString("state.backend.afterbay.local-directories", local.toString());
        configuration.setString("state.backend.afterbay.checkpoint.redo-log-size", "1 mb");
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    }

    void set(String key, String value) {
        configuration.setString(key, value);
    }

    /** The job says how often it is checkpointed. */
    void setPeriodic() {
        environment
                .getJobConfiguration()
                .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
    }

    void setStores(StoreFactory factory) {
        stores = factory;
    }

    /** Else they run at once, in the thread that begins them. */
    void setLongTasks(LongTasks tasks) {
        longTasks = tasks;
    }

    /** The stores that are set, with the long tasks that are set. */
    private final class Stores implements StoreFactory {
        @Override
        public StateStore open(StoreOptions options) {
            return stores.open(options);
        }

        @Override
        public StateStore open(StoreOptions options, InputStream index, ImageFiles files) {
            return stores.open(options, index, files);
        }

        @Override
        public LocalFiles files() {
            return stores.files();
        }

        @Override
        public LongTasks longTasks() {
            return longTasks;
        }
    }

    /** Opens as many backends; each gets the handles that have some of its key groups. */
    void open(int parallelism, List<KeyedStateHandle> handles) throws Exception {
        for (int subtask = 0; subtask < parallelism; subtask++) {
            KeyGroupRange range =
                    KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                            KEY_GROUPS, parallelism, subtask);
            List<KeyedStateHandle> own =
                    handles.stream().filter(h -> h.getIntersection(range) != null).toList();
            open.add(KeyedContent.Handle.of(create(range, own)));
        }
    }

    private AfterbayKeyedStateBackend<Integer> create(
            KeyGroupRange range, List<KeyedStateHandle> handles) throws Exception {
        restoring = new CloseableRegistry();
        return new AfterbayStateBackend()
                .configure(configuration, IncrementalBackends.class.getClassLoader())
                .withStores(new Stores())
                .createKeyedStateBackend(
                        new KeyedStateBackendParametersImpl<>(
                                environment,
                                new JobID(),
                                "operator",
                                IntSerializer.INSTANCE,
                                KEY_GROUPS,
                                range,
                                environment.getTaskKvStateRegistry(),
                                () -> 0,
                                new Gauges(),
                                (name, value) -> {},
                                handles,
                                restoring,
                                1.0));
    }

    /** As when its task is cancelled. */
    void cancelRestore() {
        IOUtils.closeQuietly(restoring);
    }

    private final class Gauges extends UnregisteredMetricsGroup {
        @Override
        public MetricGroup addGroup(String name) {
            return this;
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(name, gauge);
            return gauge;
        }
    }

    long gauge(String name) {
        return (Long) gauges.get(name).getValue();
    }

    List<KeyedContent.Handle> all() {
        return open;
    }

    /** The synchronous parts of a checkpoint. */
    List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> begin(
            long id, CheckpointStreamFactory storage) throws Exception {
        return begin(id, storage, CheckpointType.CHECKPOINT);
    }

    List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> begin(
            long id, CheckpointStreamFactory storage, SnapshotType type) throws Exception {
        CheckpointOptions options =
                new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
        List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts = new ArrayList<>();
        for (KeyedContent.Handle handle : open) {
            parts.add(handle.backend().snapshot(id, id, storage, options));
        }
        return parts;
    }

    /** A savepoint in Flink's canonical format, of one backend. */
    KeyedStateHandle canonical(long id, CheckpointStreamFactory storage) throws Exception {
        SnapshotStrategyRunner<KeyedStateHandle, ?> runner =
                new SnapshotStrategyRunner<>(
                        "canonical savepoint",
                        new SavepointSnapshotStrategy<>(
                                open.get(0).backend().savepoint().getSnapshotResources()),
                        new CloseableRegistry(),
                        SnapshotExecutionType.ASYNCHRONOUS);
        CheckpointOptions options =
                new CheckpointOptions(
                        SavepointType.savepoint(SavepointFormatType.CANONICAL),
                        CheckpointStorageLocationReference.getDefault());
        return finish(runner.snapshot(id, id, storage, options));
    }

    static KeyedStateHandle finish(RunnableFuture<SnapshotResult<KeyedStateHandle>> part)
            throws Exception {
        part.run();
        return part.get().getJobManagerOwnedSnapshot();
    }

    void completed(long id) throws Exception {
        for (KeyedContent.Handle handle : open) {
            handle.backend().notifyCheckpointComplete(id);
        }
    }

    void aborted(long id) throws Exception {
        for (KeyedContent.Handle handle : open) {
            handle.backend().notifyCheckpointAborted(id);
        }
    }

    /** The tasks end. */
    void dispose() {
        open.forEach(handle -> handle.backend().dispose());
        open = new ArrayList<>();
    }

    @Override
    public void close() throws Exception {
        dispose();
        environment.close();
    }
}
