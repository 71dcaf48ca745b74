package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** kill -9 of TaskManagers that run the job. The normal form has {@link LocalRecoveryIT}. */
@LongForm
class KillTaskManagerIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void killedInMidRun() throws Exception {
        surviveKills(true);
    }

    @Test
    void killedInMidRunWithFullCheckpoints() throws Exception {
        surviveKills(false);
    }

    private static void surviveKills(boolean incremental) throws Exception {
        Jobs jobs = new Jobs(FLINK.cluster());
        Ledger ledger = new Ledger(FLINK.cluster(), "kill-" + incremental, 0.9);
        Map<String, String> config =
                Map.of("execution.checkpointing.incremental", String.valueOf(incremental));
        String job = ledger.start(AFTERBAY, 2, null, config);
        for (int kill = 1; kill <= TestForm.TASK_MANAGER_KILLS; kill++) {
            jobs.awaitCheckpoints(job, 2);
            jobs.killOneHost(job);
            jobs.awaitRestores(job, kill);
        }
        ledger.finish(job);
    }
}
