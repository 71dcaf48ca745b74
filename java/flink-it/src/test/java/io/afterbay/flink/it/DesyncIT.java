package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.ROCKSDB;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Flink's own RocksDB backend with our options factory, from the same jar in {@code lib}. */
class DesyncIT {
    private static final String DESYNC = "state.backend.rocksdb.desync.";

    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    /** Spread triggers and the gate, as docs/desync.md says. */
    private static Map<String, String> config(String... more) {
        Map<String, String> config = new HashMap<>();
        config.put("execution.checkpointing.incremental", "true");
        config.put(
                "state.backend.rocksdb.options-factory",
                "io.afterbay.flink.DesyncRocksDBOptionsFactory");
        config.put(DESYNC + "gate", "true");
        for (int i = 0; i < more.length; i += 2) {
            config.put(more[i], more[i + 1]);
        }
        return config;
    }

    @Test
    @LongForm
    void killedInMidRun() throws Exception {
        Jobs jobs = new Jobs(FLINK.cluster());
        Ledger ledger = new Ledger(FLINK.cluster(), "desync", 0.9);
        String job = ledger.start(ROCKSDB, 2, null, config());
        jobs.awaitCheckpoints(job, 5); // some instances have compacted
        jobs.killOneHost(job);
        jobs.awaitRestores(job, 1);
        ledger.finish(job);
    }

    @Test
    void aWrongValueIsRefused() throws Exception {
        Ledger ledger = new Ledger(FLINK.cluster(), "desync-wrong");
        String told =
                ledger.refusal(
                        ROCKSDB,
                        null,
                        config("restart-strategy.type", "none", DESYNC + "gate.deadline", "1 ms"));
        assertThat(told).contains(DESYNC + "gate.deadline", "100 ms to 1 min");
    }
}
