package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.Await;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** kill -9 of the JobManager that runs the job, on a cluster with ZooKeeper. */
class HighAvailabilityIT {
    /** Several checkpoints fit into each life. */
    private static final Map<String, String> FREQUENT =
            Map.of("execution.checkpointing.interval", "300ms");

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
    void theStandbyGoesOn() throws Exception {
        cluster.startJobManager();
        cluster.awaitSlots();
        surviveInMidRun("ha-standby", job -> cluster.killJobManager());
    }

    @Test
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

    private void surviveInMidRun(String name, Failure failure) throws Exception {
        Ledger ledger = new Ledger(cluster, name, 0.9);
        String job = ledger.start(AFTERBAY, 2, null, FREQUENT);
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
                Jobs.LIMIT,
                () -> "'%s' in the log of the JobManager".formatted(line),
                () -> cluster.jobManagerLog().contains(line));
    }
}
