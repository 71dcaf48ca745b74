package io.afterbay.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Does what docs/flink.md says, with the commands that stand there, from a cluster without us. */
class GuideIT {
    private static final String JAR = "afterbay-flink-0.1.0-SNAPSHOT.jar";
    private static final Pattern SAVEPOINT = Pattern.compile("Path: (\\S+)");

    private final Map<String, String> variables = new HashMap<>();
    private Guide guide;
    private StandaloneCluster cluster;
    private Ledger ledger;

    @BeforeEach
    void startAClusterWithoutBackend() throws Exception {
        guide = new Guide();
        cluster = StandaloneCluster.start("guide-", false, 1, Map.of());
        ledger = new Ledger(cluster, "guide");
        variables.put("FLINK_HOME", cluster.home().root().toString());
        variables.put("FLINK_URL", cluster.rest().url());
        variables.put("SAVEPOINTS", cluster.home().savepoints().toUri().toString());
        variables.put("JOB_JAR", Artifacts.ledgerJar().toString());
        Files.copy(Artifacts.backendJar(), cluster.home().root().resolve(JAR));
    }

    @AfterEach
    void stopTheCluster() {
        cluster.close();
    }

    @Test
    void adoptAndLeave() throws Exception {
        try {
            variables.put("JOB_ID", ledger.start(Ledger.ROCKSDB, 1, null));
            refusesWithoutTheJar();
            ledger.awaitShare(variables.get("JOB_ID"), 0.1);
            stop("stop");

            run("install");
            cluster.restart();
            start("start");
            ledger.awaitShare(variables.get("JOB_ID"), 0.1);
            assertThat(run("check")).contains(guide.block("checked"));
            hasTheMetrics();
            stop("stop-again");

            start("leave");
            ledger.awaitShare(variables.get("JOB_ID"), 0.1);
            assertThat(run("check")).doesNotContain(guide.block("checked"));
            run("remove");
            ledger.finish(variables.get("JOB_ID"));
        } catch (Throwable e) {
            System.err.println(cluster.tails());
            throw e;
        }
    }

    private void refusesWithoutTheJar() throws Exception {
        String told =
                new Ledger(cluster, "refused")
                        .refusal(Ledger.AFTERBAY, null, Map.of("restart-strategy.type", "none"));
        String message = "Cannot find configured state backend factory class: " + Ledger.AFTERBAY;
        assertThat(told).contains(message);
        assertThat(guide.text()).contains(message);
    }

    private String run(String step) throws Exception {
        return guide.run(step, cluster.home().root(), variables);
    }

    private void stop(String step) throws Exception {
        String told = run(step);
        assertThat(told).contains(guide.block("stopped"));
        Matcher path = SAVEPOINT.matcher(told);
        assertThat(path.find()).as(told).isTrue();
        variables.put("SAVEPOINT", path.group(1));
    }

    private void start(String step) throws Exception {
        variables.put("JOB_ARGS", String.join(" ", ledger.arguments()));
        String told = run(step);
        assertThat(told).contains(guide.block("started"));
        variables.put("JOB_ID", Guide.submittedJob(told));
    }

    /** Those that the guide names. Flink's REST interface knows of them some seconds later. */
    private void hasTheMetrics() throws Exception {
        Set<String> named =
                Pattern.compile("`(afterbay\\.\\w+)`")
                        .matcher(guide.text())
                        .results()
                        .map(name -> name.group(1))
                        .collect(Collectors.toSet());
        assertThat(named).isNotEmpty();
        Await.until(
                () -> "the metrics " + named + " in " + metricNames(),
                () -> named.stream().allMatch(metricNames()::contains));
    }

    private String metricNames() throws Exception {
        return cluster.rest().metricNames(variables.get("JOB_ID"));
    }
}
