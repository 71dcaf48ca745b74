package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static io.afterbay.flink.it.Ledger.ROCKSDB;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.Rest;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.LongForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The city trace: begun on RocksDB, taken over at twice the parallelism, hit by a kill -9. */
@LongForm
class TrafficJamIT {
    /** The trace takes some 10 s of it. */
    private static final int LINES_PER_SECOND = 75_000;

    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void ranksAsExpectedAcrossBackendsRescalingAndAKill() throws Exception {
        StandaloneCluster cluster = FLINK.cluster();
        Jobs jobs = new Jobs(cluster);
        Path output = cluster.home().root().resolve("rankings.csv");
        String onRocksDb = start(ROCKSDB, 2, null, output);
        jobs.awaitEmitted(onRocksDb, 100_000);
        String savepoint =
                cluster.rest()
                        .stopWithSavepoint(onRocksDb, cluster.home().savepoints(), "CANONICAL");

        String onAfterbay = start(AFTERBAY, 4, savepoint, output);
        jobs.awaitEmitted(onAfterbay, 100_000);
        jobs.awaitCheckpoints(onAfterbay, 1);
        jobs.killOneHost(onAfterbay);
        jobs.awaitRestores(onAfterbay, 2);
        cluster.rest().awaitStatus(onAfterbay, "FINISHED");

        Multiset.assertEqual(
                Files.readAllLines(example("expected.csv")), Files.readAllLines(output));
    }

    private static String start(String backend, int parallelism, String from, Path output)
            throws Exception {
        Rest rest = FLINK.cluster().rest();
        List<String> arguments =
                List.of(
                        "--input",
                        example("city-traffic.csv.gz").toString(),
                        "--output",
                        output.toString(),
                        "--rate",
                        String.valueOf(LINES_PER_SECOND));
        return rest.run(
                rest.upload(Artifacts.trafficJamJar()),
                arguments,
                parallelism,
                from,
                Map.of("state.backend.type", backend));
    }

    private static Path example(String file) {
        return Artifacts.guide().resolve("../../examples/traffic-jam").resolve(file).normalize();
    }
}
