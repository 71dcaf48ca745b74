package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * kill -9 of TaskManagers that are started again and find the state of their tasks on their own
 * disk, as docs/flink.md says.
 */
class LocalRecoveryIT {
    private static final Map<String, String> INCREMENTAL =
            Map.of("execution.checkpointing.incremental", "true");

    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withLocalRecovery();

    private final StandaloneCluster cluster = FLINK.cluster();

    /** The process is killed, and started again under its name in its working directory. */
    @Test
    void aTaskManagerThatWasKilledLinksWhatItHad() throws Exception {
        Jobs jobs = new Jobs(cluster);
        Ledger ledger = new Ledger(cluster, "local-recovery", 0.9);
        String job = ledger.start(AFTERBAY, 4, null, INCREMENTAL);
        Set<Path> firstLives = logs();
        for (int kill = 1; kill <= TestForm.LOCAL_RECOVERY_KILLS; kill++) {
            jobs.awaitCheckpoints(job, 2);
            jobs.killOneHost(job);
            jobs.awaitRestores(job, kill);
        }
        jobs.awaitCheckpoints(job, 1);
        ledger.finish(job);
        assertThat(logsOfSecondLives(firstLives))
                .contains("from its local copy in")
                .as("copies that could not be restored")
                .doesNotContain("Exception while restoring keyed state backend");
    }

    /** Flink 2.3 finds one slot of a TaskManager that was started again, and not the others. */
    private String logsOfSecondLives(Set<Path> firstLives) throws IOException {
        Set<Path> secondLives = new TreeSet<>(logs());
        secondLives.removeAll(firstLives);
        StringBuilder logs = new StringBuilder();
        for (Path file : secondLives) {
            logs.append(Files.readString(file));
        }
        return logs.toString();
    }

    private Set<Path> logs() throws IOException {
        try (Stream<Path> files = Files.list(cluster.home().log())) {
            return files.collect(Collectors.toSet());
        }
    }
}
