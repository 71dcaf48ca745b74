package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import java.util.Map;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** kill -9 of TaskManagers that run the job. */
class KillTaskManagerIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void killedInMidRun(boolean incremental) throws Exception {
        int kills = Boolean.getBoolean("afterbay.long") ? 10 : 2;
        Jobs jobs = new Jobs(FLINK.cluster());
        Ledger ledger = new Ledger(FLINK.cluster(), "kill-" + incremental, 0.9);
        Map<String, String> config =
                Map.of("execution.checkpointing.incremental", String.valueOf(incremental));
        String job = ledger.start(AFTERBAY, 2, null, config);
        for (int kill = 1; kill <= kills; kill++) {
            jobs.awaitCheckpoints(job, 2);
            jobs.killOneHost(job);
            jobs.awaitRestores(job, kill);
        }
        ledger.finish(job);
    }
}
