package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** TaskManagers that find the state of their tasks on their own disk, as docs/flink.md says. */
class LocalRecoveryIT {
    private static final Map<String, String> INCREMENTAL =
            Map.of("execution.checkpointing.incremental", "true");

    /** The process is killed, and started again under its name in its working directory. */
    @Test
    void aTaskManagerThatWasKilledLinksWhatItHad() throws Exception {
        Path work =
                Files.createTempDirectory(
                        Files.createDirectories(Artifacts.workDir()), "working-dir-");
        Map<String, String> config =
                new Guide().config("local-recovery", Map.of("WORKING_DIR", work.toString()));
        try (StandaloneCluster cluster =
                StandaloneCluster.start(
                        "local-recovery-", true, ClusterExtension.TASK_MANAGERS, config)) {
            try {
                run(cluster);
            } catch (Throwable e) {
                System.err.println(cluster.tails());
                throw e;
            }
        }
    }

    private static void run(StandaloneCluster cluster) throws Exception {
        Jobs jobs = new Jobs(cluster);
        Ledger ledger = new Ledger(cluster, "local-recovery", 0.9);
        String job = ledger.start(AFTERBAY, 4, null, INCREMENTAL);
        for (int kill = 1; kill <= TestForm.LOCAL_RECOVERY_KILLS; kill++) {
            jobs.awaitCheckpoints(job, 2);
            jobs.killOneHost(job);
            jobs.awaitRestores(job, kill);
        }
        jobs.awaitCheckpoints(job, 1);
        ledger.finish(job);
        assertThat(logsOfSecondLives(cluster))
                .contains("from its local copy in")
                .as("copies that could not be restored")
                .doesNotContain("Exception while restoring keyed state backend");
    }

    /** Flink 2.3 finds one slot of a TaskManager that was started again, and not the others. */
    private static String logsOfSecondLives(StandaloneCluster cluster) throws IOException {
        StringBuilder logs = new StringBuilder();
        try (Stream<Path> files = Files.list(cluster.home().log())) {
            for (Path file : files.filter(LocalRecoveryIT::isOfSecondLife).toList()) {
                logs.append(Files.readString(file));
            }
        }
        return logs.toString();
    }

    /** Logs are numbered in the order of starts, the first of which is the JobManager's. */
    private static boolean isOfSecondLife(Path log) {
        String[] parts = log.getFileName().toString().split("\\.");
        return Integer.parseInt(parts[1]) > 1 + ClusterExtension.TASK_MANAGERS;
    }
}
