package io.afterbay.storm.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.it.cluster.StormCluster;
import io.afterbay.storm.it.cluster.StormCluster.Daemon;
import io.afterbay.storm.it.job.Technique;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * On a cluster of several processes, some of which are killed with -9 while words go through: each
 * word is acked, and has come to the sink.
 */
class ClusterTest {
    private static StormCluster cluster;

    @RegisterExtension
    private final TestExecutionExceptionHandler logs =
            (context, failure) -> {
                cluster.printLogs(System.err);
                throw failure;
            };

    @TempDir private static Path files;

    @TempDir private Path directory;

    /** Once. Not before all of them: what is skipped there is in no report. */
    @BeforeEach
    void start() throws Exception {
        if (cluster == null) {
            cluster = StormCluster.start(files.resolve("storm"));
        }
    }

    @AfterAll
    static void stop() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
    }

    private WordRun run(Technique technique) throws Exception {
        return WordRun.submit(cluster, technique, directory);
    }

    /** Of the spout's worker and of the other one, and what a failed bolt does to its worker. */
    @Test
    void aKilledWorkerAndAFailedBoltLoseNoWord() throws Exception {
        try (WordRun run = run(Technique.ALL)) {
            for (int port : cluster.ports()) {
                run.killWorker(port);
            }
            assertThat(run.poison()).startsWith("afterbay-shared-second-");
            run.finish();
        }
    }

    /**
     * A Supervisor that has been started again hears of the end of workers that it did not start by
     * their silence only, which takes minutes: those are killed before, and one of them at last.
     */
    @ParameterizedTest
    @EnumSource(Technique.class)
    @LongForm
    void killsOfAllKindsLoseNoWord(Technique technique) throws Exception {
        try (WordRun run = run(technique)) {
            for (int kill = 0; kill < TestForm.STORM_KILLS; kill++) {
                run.killWorker(cluster.ports().get(kill % cluster.ports().size()));
            }
            for (int kill = 0; kill < TestForm.STORM_KILLS; kill++) {
                run.kill(Daemon.SUPERVISOR);
                run.kill(Daemon.NIMBUS);
            }
            run.killWorker(cluster.ports().get(0));
            run.finish();
        }
    }
}
