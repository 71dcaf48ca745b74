package io.afterbay.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code afterbay run TARGET --on HOST:PORT}, as users call it, on a cluster of several processes.
 */
class RunOnClusterIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @TempDir private Path directory;
    private Path output;

    @BeforeEach
    void setUp() {
        output = directory.resolve("out.csv");
    }

    @Test
    void ourJobComesWithItsClasses() throws Exception {
        int code = run(FLINK.cluster(), "traffic-jam", "--output", output.toString());
        assertThat(code).as(err()).isZero();
        assertExpected();
        assertThat(out()).contains("traffic-jam on the cluster at ", ": finished");
    }

    @Test
    @LongForm
    void aJarRunsOnTheChosenBackend() throws Exception {
        int code =
                run(
                        FLINK.cluster(),
                        Artifacts.trafficJamJar().toString(),
                        "--checkpoint-interval",
                        "500ms",
                        "--",
                        "--input",
                        example("city-traffic.csv.gz").toString(),
                        "--output",
                        output.toString());
        assertThat(code).as(err()).isZero();
        assertExpected();
        assertThat(out()).contains(" with afterbay").doesNotContain("checkpoints  0 completed");
    }

    private void assertExpected() throws Exception {
        Multiset.assertEqual(
                Files.readAllLines(example("expected.csv")), Files.readAllLines(output));
    }

    @Test
    void rowsOfAScriptComeBack() throws Exception {
        Path script =
                Files.writeString(
                        directory.resolve("script.sql"),
                        """
                        CREATE TABLE bid (bidder BIGINT) WITH
                            ('connector' = 'nexmark', 'kind' = 'bid', 'events' = '5000');
                        SELECT COUNT(*) AS bids FROM bid;
                        """);
        int code = run(FLINK.cluster(), script.toString(), "--output", output.toString());
        assertThat(code).as(err()).isZero();
        assertThat(output).content().startsWith("op,bids\n+I,1\n-U,1\n").endsWith("+U,4600\n");
    }

    @Test
    void aSignalCancelsTheJobOnTheCluster() throws Exception {
        Process run =
                start(FLINK.cluster(), "traffic-jam", "--rate", "100", "--backend", "hashmap");
        Await.until(() -> "a running job: " + err(), () -> err().contains("RUNNING"));
        run.destroy(); // SIGTERM; SIGINT is ignored if a shell has put the tests aside
        assertThat(end(run)).as(err()).isEqualTo(143);
        assertThat(FLINK.cluster().rest().get("/jobs/overview").path("jobs"))
                .anyMatch(job -> job.path("state").asText().equals("CANCELED"))
                .noneMatch(job -> job.path("state").asText().equals("RUNNING"));
    }

    @Test
    @LongForm
    void whatTheClusterDoesNotSeeIsNamed() throws Exception {
        int code =
                run(
                        FLINK.cluster(),
                        "traffic-jam",
                        "--input",
                        "/no/such/trace.csv",
                        "-D",
                        "restart-strategy.type=none");
        assertThat(code).isEqualTo(1);
        assertThat(err()).contains("/no/such/trace.csv").contains("whose machines must see");
    }

    @Test
    @LongForm
    void aClusterWithoutOurJarIsToldWhatItLacks() throws Exception {
        try (StandaloneCluster cluster = StandaloneCluster.start("on-", false, 1, Map.of())) {
            assertThat(run(cluster, "nexmark", "--query", "q5")).isEqualTo(1);
            assertThat(err())
                    .contains("has no Afterbay")
                    .contains("copy flink/target/afterbay-flink-")
                    .contains("--backend rocksdb");
        }
    }

    private int run(StandaloneCluster cluster, String... args) throws Exception {
        return end(start(cluster, args));
    }

    private Process start(StandaloneCluster cluster, String... args) throws Exception {
        URI rest = URI.create(cluster.rest().url());
        List<String> command =
                OwnJvm.command(
                        "io.afterbay.cli.Afterbay",
                        "-Dafterbay.home=" + example("../..").normalize());
        command.addAll(List.of("run", args[0], "--on", rest.getHost() + ":" + rest.getPort()));
        command.addAll(List.of(args).subList(1, args.length));
        return new ProcessBuilder(command)
                .redirectOutput(directory.resolve("stdout").toFile())
                .redirectError(directory.resolve("stderr").toFile())
                .start();
    }

    private static int end(Process process) throws Exception {
        try {
            Await.until("the process to end", () -> !process.isAlive());
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private String out() throws Exception {
        return Files.readString(directory.resolve("stdout"));
    }

    private String err() throws Exception {
        return Files.readString(directory.resolve("stderr"));
    }

    private static Path example(String file) {
        return Artifacts.guide().resolve("../../examples/traffic-jam").resolve(file).normalize();
    }
}
