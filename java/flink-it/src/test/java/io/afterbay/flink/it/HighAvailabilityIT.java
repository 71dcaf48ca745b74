package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** kill -9 of the JobManager that runs the job, on a cluster with ZooKeeper. */
class HighAvailabilityIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.highlyAvailable();

    private final StandaloneCluster cluster = FLINK.cluster();
    private final Jobs jobs = new Jobs(cluster);

    private interface Failure {
        void happen(String job) throws Exception;
    }

    @Test
    void aNewJobManagerGoesOn() throws Exception {
        surviveInMidRun(
                "ha-new",
                job -> {
                    cluster.killJobManager();
                    cluster.startJobManager();
                });
    }

    @Test
    @LongForm
    void theStandbyGoesOn() throws Exception {
        cluster.startJobManager();
        cluster.awaitSlots();
        surviveInMidRun("ha-standby", job -> cluster.killJobManager());
    }

    @Test
    @LongForm
    void aNewJobManagerGoesOnAfterATaskManagerDiedToo() throws Exception {
        surviveInMidRun(
                "ha-both",
                job -> {
                    String host = cluster.rest().hosts(job).first();
                    cluster.killJobManager();
                    cluster.killTaskManager(host);
                    cluster.startJobManager();
                    cluster.startTaskManager(host);
                });
    }

    /**
     * The job that claimed it deletes its files, and all of its own, also when another JobManager
     * took it over; no checkpoint is under way then, whose files nobody would know of.
     */
    @Test
    @LongForm
    void aClaimedCheckpointIsGoneWithTheJob() throws Exception {
        Ledger ledger = new Ledger(cluster, "ha-claim", 0.35, 0.65);
        String first = ledger.start(AFTERBAY, 2, null, onDemand("RETAIN_ON_CANCELLATION"));
        takeCheckpoints(first, 2);
        String claimed = ledger.cancel(first);
        Map<String, String> config = onDemand("DELETE_ON_CANCELLATION");
        config.put("execution.state-recovery.path", claimed);
        config.put("execution.state-recovery.claim-mode", "CLAIM");
        String second = ledger.start(AFTERBAY, 2, null, config);
        jobs.awaitRestores(second, 1);
        takeCheckpoints(second, 2);
        assertThat(LiveTree.files(storage(first))).as("still in use").isNotEmpty();

        cluster.killJobManager();
        cluster.startJobManager();
        jobs.awaitTakeover(second);
        takeCheckpoints(second, 2);
        cluster.rest().cancel(second);

        for (String job : List.of(first, second)) {
            Await.until(
                    () -> "files to be deleted: " + LiveTree.files(storage(job)),
                    () -> LiveTree.files(storage(job)).isEmpty());
        }
    }

    private Path storage(String job) {
        return cluster.home().checkpoints().resolve(job);
    }

    /** Incremental, each when it is asked for; everything is in files. */
    private static Map<String, String> onDemand(String retention) {
        Map<String, String> config = new HashMap<>();
        config.put("execution.checkpointing.interval", "1h");
        config.put("execution.checkpointing.incremental", "true");
        config.put("execution.checkpointing.data-inline-threshold", "0");
        config.put("execution.checkpointing.externalized-checkpoint-retention", retention);
        return config;
    }

    private void takeCheckpoints(String job, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            cluster.rest().checkpoint(job);
        }
    }

    private void surviveInMidRun(String name, Failure failure) throws Exception {
        Ledger ledger = new Ledger(cluster, name, 0.9);
        String job = ledger.start(AFTERBAY, 2, null);
        jobs.awaitCheckpoints(job, 3);
        long completed = jobs.lastCheckpoint(job);

        failure.happen(job);

        assertThat(jobs.awaitTakeover(job)).isGreaterThanOrEqualTo(completed);
        ledger.finish(job);
        awaitEndInItsLog(job);
    }

    /** The log is that of the process that was started or took over. */
    private void awaitEndInItsLog(String job) throws Exception {
        String line = "Job %s reached terminal state FINISHED".formatted(job);
        Await.until(
                () -> "'%s' in the log of the JobManager".formatted(line),
                () -> cluster.jobManagerLog().contains(line));
    }
}
