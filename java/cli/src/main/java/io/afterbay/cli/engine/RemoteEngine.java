package io.afterbay.cli.engine;

import io.afterbay.cli.remote.ClusterAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.jspecify.annotations.Nullable;

/** A running cluster. Checkpoints go where its configuration says, unless -D says otherwise. */
public final class RemoteEngine implements Engine {
    private final ClusterAddress address;
    private final EngineSettings engine;
    private final @Nullable Duration interval;
    private final List<Path> jars;
    private final List<Path> libraries;
    private @Nullable RestorePoint start;
    private final Submissions<StandaloneClusterId> submissions;

    /** For jobs that need no libraries but their own. */
    public RemoteEngine(
            ClusterAddress address,
            EngineSettings engine,
            @Nullable Duration interval,
            List<Path> jars) {
        this(address, engine, interval, jars, List.of());
    }

    /**
     * @param interval between checkpoints, or null for none
     * @param jars that jobs of ours need
     * @param libraries that every job needs beside its own
     */
    public RemoteEngine(
            ClusterAddress address,
            EngineSettings engine,
            @Nullable Duration interval,
            List<Path> jars,
            List<Path> libraries) {
        this.interval = interval;
        this.address = address;
        this.engine = engine;
        this.jars = List.copyOf(jars);
        this.libraries = List.copyOf(libraries);
        this.submissions = new Submissions<>(this::client);
    }

    /** Jobs that are started from now on go on from there. */
    public void from(RestorePoint point) {
        this.start = point;
    }

    @Override
    public List<Path> libraries() {
        return libraries;
    }

    private ClusterClient<StandaloneClusterId> client() {
        try {
            return new RestClusterClient<>(restSettings(), StandaloneClusterId.getInstance());
        } catch (Exception e) {
            throw new IllegalStateException("no client for the cluster at " + address, e);
        }
    }

    private Configuration restSettings() {
        Configuration settings = new Configuration();
        settings.set(RestOptions.ADDRESS, address.host());
        settings.set(RestOptions.PORT, address.port());
        return settings;
    }

    @Override
    public Submissions<?> submissions() {
        return submissions;
    }

    @Override
    public Configuration jobSettings(boolean openLoop) {
        Configuration settings = new Configuration();
        settings.set(DeploymentOptions.TARGET, submissions.getName());
        settings.set(DeploymentOptions.ATTACHED, true);
        settings.set(CoreOptions.DEFAULT_PARALLELISM, engine.parallelism());
        settings.set(
                PipelineOptions.JARS, jars.stream().map(jar -> jar.toUri().toString()).toList());
        engine.backend().configure(settings);
        if (interval != null) {
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        }
        if (start != null) {
            settings.set(StateRecoveryOptions.SAVEPOINT_PATH, start.path().toString());
        }
        if (openLoop) {
            settings.set(ExecutionOptions.BUFFER_TIMEOUT, OPEN_LOOP_BUFFER_TIMEOUT);
        }
        engine.addTo(settings);
        return settings;
    }

    @Override
    public Backend backend() {
        return engine.backend();
    }

    @Override
    public int slots() {
        return Integer.MAX_VALUE; // TaskManagers may be added at any time
    }

    @Override
    public boolean isRemote() {
        return true;
    }
}
