package io.afterbay.cli.replay;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.job.RunRules;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.replay.live.LiveAddress;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.cli.run.RunPlan;
import java.util.List;
import java.util.Map;

/** Plans of replays that no test runs as a whole. */
final class TestReplays {
    static final ClusterAddress CLUSTER = new ClusterAddress("flink", 8081);

    private TestReplays() {}

    /** In a process of its own. */
    static ReplayPlan local(String id) {
        return local(id, null);
    }

    /**
     * @param storage of its checkpoints, if it is not its directory
     */
    static ReplayPlan local(String id, String storage) {
        return new ReplayPlan(
                id,
                "./afterbay replay job.jar",
                run(null),
                500,
                700,
                new ReplayPlan.Merge(650L, null),
                false,
                null,
                null,
                storage,
                null,
                "/",
                null);
    }

    /** On a cluster, in place of {@link SimulatedCluster#LIVE}. */
    static ReplayPlan blocking(String id) {
        return new ReplayPlan(
                id,
                "./afterbay replay job.jar",
                run(CLUSTER),
                500,
                700,
                null,
                true,
                null,
                new LiveAddress(CLUSTER, SimulatedCluster.LIVE),
                null,
                null,
                "/",
                null);
    }

    private static RunPlan run(ClusterAddress on) {
        return new RunPlan(
                "afterbay replay jar",
                new JobPlan.Jar("job.jar", "Job", List.of("a"), new RunRules(0, null)),
                null,
                null,
                on,
                null);
    }

    static EngineSettings engine() {
        return new EngineSettings(
                Backend.AFTERBAY.name(), 1, MemorySplit.OF_CLIENT, 100, 1, null, Map.of(), false);
    }
}
