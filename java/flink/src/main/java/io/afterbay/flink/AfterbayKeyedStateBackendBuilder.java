package io.afterbay.flink;

import io.afterbay.flink.incremental.CheckpointFigures;
import io.afterbay.flink.incremental.IncrementalSnapshots;
import io.afterbay.flink.incremental.LocalCopies;
import io.afterbay.flink.snapshot.StateRestore;
import io.afterbay.flink.state.AccessGate;
import io.afterbay.flink.state.CurrentKey;
import io.afterbay.flink.state.ObjectTier;
import io.afterbay.flink.state.StateContext;
import io.afterbay.flink.state.StateRegistry;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.flink.timers.TimerQueues;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.runtime.state.AbstractKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.InternalKeyContextImpl;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the store of a keyed backend, restores it, and gives everything back if that fails. */
final class AfterbayKeyedStateBackendBuilder<K> extends AbstractKeyedStateBackendBuilder<K> {
    private static final Logger LOG =
            LoggerFactory.getLogger(AfterbayKeyedStateBackendBuilder.class);

    private final KeyedStateBackendParameters<K> parameters;
    private final AfterbaySettings settings;
    private final StoreFactory stores;
    private final OpaqueMemoryResource<SlotMemory> memory;

    AfterbayKeyedStateBackendBuilder(
            KeyedStateBackendParameters<K> parameters,
            AfterbaySettings settings,
            StoreFactory stores,
            OpaqueMemoryResource<SlotMemory> memory,
            LatencyTrackingStateConfig latencyTracking,
            SizeTrackingStateConfig sizeTracking) {
        super(
                parameters.getKvStateRegistry(),
                parameters.getKeySerializer(),
                parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                parameters.getNumberOfKeyGroups(),
                parameters.getKeyGroupRange(),
                parameters.getEnv().getExecutionConfig(),
                parameters.getTtlTimeProvider(),
                latencyTracking,
                sizeTracking,
                parameters.getStateHandles(),
                AbstractStateBackend.getCompressionDecorator(
                        parameters.getEnv().getExecutionConfig()),
                parameters.getCancelStreamRegistry());
        this.parameters = parameters;
        this.settings = settings;
        this.stores = stores;
        this.memory = memory;
    }

    @Override
    public AfterbayKeyedStateBackend<K> build() throws BackendBuildingException {
        RestoreSource source = readSource();
        LocalDirectory directory =
                LocalDirectories.choose(
                        settings,
                        parameters.getEnv(),
                        parameters.getJobID(),
                        parameters.getOperatorIdentifier());
        CheckpointFigures figures = new CheckpointFigures();
        LocalCopies copies = settings.isIncremental() ? copies(directory.path(), figures) : null;
        AccessGate gate = new AccessGate();
        BackendResources resources = open(directory, gate, source, copies);
        boolean built = false;
        try {
            AfterbayKeyedStateBackend<K> backend = build(resources, gate, source, figures, copies);
            logStart(resources.options());
            built = true;
            return backend;
        } catch (Exception e) {
            throw notRestored(e);
        } finally {
            if (!built) { // also after an error, which a process may survive
                source.cancel();
                IOUtils.closeQuietly(copies);
                IOUtils.closeQuietly(resources); // last, with the directory
            }
        }
    }

    private void logStart(StoreOptions options) {
        LOG.info(
                "Afterbay keeps the keyed state of {} (key groups {} to {} of {}): {} of memory for all"
                        + " stores of the slot, local files in {}, {}",
                parameters.getOperatorIdentifier(),
                keyGroupRange.getStartKeyGroup(),
                keyGroupRange.getEndKeyGroup(),
                numberOfKeyGroups,
                new MemorySize(options.budget().totalBytes()).toHumanReadableString(),
                options.directory(),
                restoreStateHandles.isEmpty()
                        ? "nothing restored"
                        : "restored from " + restoreStateHandles.size() + " state handle(s)");
    }

    private @Nullable LocalCopies copies(Path directory, CheckpointFigures figures) {
        LocalRecoveryConfig config = localRecovery();
        return config.isLocalBackupEnabled()
                ? new LocalCopies(
                        stores.files(),
                        directory.resolveSibling(directory.getFileName() + "_kept"),
                        config.getLocalStateDirectoryProvider()
                                .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()),
                        figures)
                : null;
    }

    private LocalRecoveryConfig localRecovery() {
        return parameters.getEnv().getTaskStateManager().createLocalRecoveryConfig();
    }

    private RestoreSource readSource() throws BackendBuildingException {
        boolean read = false;
        try {
            RestoreSource source =
                    new RestoreSource(
                            restoreStateHandles,
                            keyGroupRange,
                            stores,
                            settings.transferThreads(),
                            settings.isRestoredLazily(),
                            cancelStreamRegistry);
            read = true;
            return source;
        } catch (IOException e) {
            throw notRestored(e);
        } finally {
            if (!read) {
                IOUtils.closeQuietly(memory);
            }
        }
    }

    private BackendBuildingException notRestored(Exception cause) {
        return new BackendBuildingException(
                "the keyed state of %s could not be opened or restored: %s"
                        .formatted(parameters.getOperatorIdentifier(), cause.getMessage()),
                cause);
    }

    private BackendResources open(
            LocalDirectory directory,
            AccessGate gate,
            RestoreSource source,
            @Nullable LocalCopies copies)
            throws BackendBuildingException {
        BackendResources.Opener opener =
                new BackendResources.Opener() {
                    @Override
                    public StateStore open(StoreOptions options) throws IOException {
                        return openStore(options, source, copies);
                    }

                    @Override
                    public void failed() {
                        source.distrust();
                        if (copies != null) {
                            copies.distrust();
                        }
                    }
                };
        try {
            return BackendResources.open(
                    parameters.getOperatorIdentifier(),
                    stores.files(),
                    directory,
                    keyGroupRange,
                    settings,
                    opener,
                    new TaskMailbox(parameters.getEnv(), gate),
                    memory);
        } catch (IOException e) {
            throw notRestored(e);
        } catch (RuntimeException e) {
            throw new BackendBuildingException(
                    ("the store of %s could not be opened: %s. Its memory is set by"
                                    + " taskmanager.memory.managed.size (or %s), its directory by %s"
                                    + " (or io.tmp.dirs).")
                            .formatted(
                                    parameters.getOperatorIdentifier(),
                                    e.getMessage(),
                                    AfterbayOptions.FIXED_MEMORY_PER_SLOT.key(),
                                    AfterbayOptions.LOCAL_DIRECTORIES.key()),
                    e);
        }
    }

    /** If it fails the copies are deleted, before the directory is closed. */
    private static StateStore openStore(
            StoreOptions options, RestoreSource source, @Nullable LocalCopies copies)
            throws IOException {
        boolean opened = false;
        try {
            StateStore store = source.open(options, copies);
            opened = true;
            return store;
        } finally {
            if (!opened) {
                IOUtils.closeQuietly(copies);
            }
        }
    }

    private AfterbayKeyedStateBackend<K> build(
            BackendResources resources,
            AccessGate gate,
            RestoreSource source,
            CheckpointFigures figures,
            @Nullable LocalCopies copies)
            throws Exception {
        StateRegistry registry = new StateRegistry();
        TimerQueues timers =
                new TimerQueues(
                        resources.store(),
                        registry,
                        keyGroupRange,
                        numberOfKeyGroups,
                        settings.readAheadTimers());
        StateRestore<K> restore =
                new StateRestore<>(
                        resources.store(),
                        registry,
                        timers,
                        keySerializerProvider,
                        keyGroupRange,
                        numberOfKeyGroups,
                        userCodeClassLoader,
                        cancelStreamRegistry);
        source.restore(restore, resources.store(), resources.options(), copies);
        ObjectTier objects = new ObjectTier(settings.objectTier());
        StateContext<K> context =
                new StateContext<>(
                        resources.store(),
                        objects,
                        gate,
                        new CurrentKey<>(
                                resources.store(),
                                gate,
                                keySerializerProvider.currentSchemaSerializer()),
                        keySerializerProvider.currentSchemaSerializer(),
                        keyGroupRange,
                        numberOfKeyGroups,
                        ttlTimeProvider,
                        registry);
        MetricGroup metrics = parameters.getMetricGroup().addGroup(StoreMetrics.GROUP);
        figures.register(metrics);
        CloseableRegistry running = new CloseableRegistry();
        source.handOver(running);
        return new AfterbayKeyedStateBackend<>(
                kvStateRegistry,
                context,
                timers,
                userCodeClassLoader,
                executionConfig,
                latencyTrackingStateConfig,
                sizeTrackingStateConfig,
                running,
                keyGroupCompressionDecorator,
                new InternalKeyContextImpl<>(keyGroupRange, numberOfKeyGroups),
                localRecovery(),
                new StoreMetrics(
                        resources.store(),
                        objects,
                        resources.maintenance(),
                        source::missingBytes,
                        metrics),
                settings.isIncremental()
                        ? incremental(context, source, resources, figures, copies)
                        : null,
                resources);
    }

    private IncrementalSnapshots<K> incremental(
            StateContext<K> context,
            RestoreSource source,
            BackendResources resources,
            CheckpointFigures figures,
            @Nullable LocalCopies copies) {
        return IncrementalSnapshots.open(
                context,
                resources.options(),
                settings.redoLogBytes(),
                settings.transferThreads(),
                stores.longTasks(),
                figures,
                copies,
                source.same(),
                source.isEmpty(),
                CheckpointingOptions.isCheckpointingEnabled(
                        parameters.getEnv().getJobConfiguration()));
    }
}
