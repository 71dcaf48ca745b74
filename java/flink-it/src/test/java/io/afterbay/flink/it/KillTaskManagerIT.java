package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** kill -9 of TaskManagers that run the job. */
class KillTaskManagerIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void killedInMidRun() throws Exception {
        int kills = Boolean.getBoolean("afterbay.long") ? 10 : 2;
        Jobs jobs = new Jobs(FLINK.cluster());
        Ledger ledger = new Ledger(FLINK.cluster(), "kill", 0.9);
        String job = ledger.start(AFTERBAY, 2, null);
        for (int kill = 1; kill <= kills; kill++) {
            jobs.awaitCheckpoints(job, 2);
            jobs.killOneHost(job);
            jobs.awaitRestores(job, kill);
        }
        ledger.finish(job);
    }
}
