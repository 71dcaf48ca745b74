package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** kill -9 of TaskManagers that run the job. */
class KillTaskManagerIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void killedInMidRun() throws Exception {
        int kills = Boolean.getBoolean("afterbay.long") ? 10 : 2;
        Ledger ledger = new Ledger(FLINK.cluster(), "kill");
        String job = ledger.start(AFTERBAY, 2, null);
        for (int kill = 1; kill <= kills; kill++) {
            ledger.awaitCheckpoints(job, 2);
            killOneHost(job);
            ledger.awaitRestores(job, kill);
        }
        FLINK.cluster().awaitSlots(ClusterExtension.TASK_MANAGERS * StandaloneCluster.SLOTS);
        ledger.finish(job);
    }

    /**
     * The TaskManager comes back, as it does under a supervisor, and finds what it left on disk.
     */
    private static void killOneHost(String job) throws Exception {
        StandaloneCluster cluster = FLINK.cluster();
        String host = cluster.rest().hosts(job).first();
        cluster.killTaskManager(host);
        cluster.startTaskManager(host);
    }
}
