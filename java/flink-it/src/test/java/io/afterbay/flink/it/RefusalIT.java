package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static io.afterbay.flink.it.Ledger.HASHMAP;
import static io.afterbay.flink.it.Ledger.ROCKSDB;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.TestForm;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What cannot work says so, and says what to do. The messages are quoted in docs/flink.md. */
class RefusalIT {
    private static final Map<String, String> NO_RESTART = Map.of("restart-strategy.type", "none");

    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    private static void assertRefused(String told, String message) throws Exception {
        assertThat(told).contains(message);
        assertThat(new Guide().text()).contains(message);
    }

    /** In the normal form the one that most jobs come from. */
    static Stream<String> backends() {
        return TestForm.IS_LONG ? Stream.of(ROCKSDB, HASHMAP) : Stream.of(ROCKSDB);
    }

    @ParameterizedTest
    @MethodSource("backends")
    void filesOfOtherBackends(String backend) throws Exception {
        Ledger ledger = new Ledger(FLINK.cluster(), "foreign-" + backend);
        Snapshots written = snapshots(ledger, backend);

        for (String path : written.all()) {
            String told = ledger.refusal(AFTERBAY, path, NO_RESTART);
            assertRefused(
                    told,
                    "the Afterbay backend cannot restore a checkpoint or native savepoint of the "
                            + (backend.equals(ROCKSDB) ? "RocksDB" : "HashMap"));
            assertThat(told).contains("flink savepoint --type canonical");
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    void ourFilesInOtherBackends(String backend) throws Exception {
        Ledger ledger = new Ledger(FLINK.cluster(), "ours-in-" + backend);
        Snapshots written = snapshots(ledger, AFTERBAY);

        for (String path : written.all()) {
            assertRefused(
                    ledger.refusal(backend, path, NO_RESTART),
                    "Incompatible version: found 1095128133, compatible versions are [6]");
        }
    }

    private record Snapshots(String checkpoint, String nativeSavepoint) {
        String[] all() {
            return new String[] {checkpoint, nativeSavepoint};
        }
    }

    private static Snapshots snapshots(Ledger ledger, String backend) throws Exception {
        String job = ledger.start(backend, 2, null);
        ledger.awaitShare(job, 0.02);
        new Jobs(FLINK.cluster()).awaitCheckpoints(job, 1);
        String savepoint = ledger.savepoint(job, "NATIVE");
        return new Snapshots(ledger.cancel(job), savepoint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "foo|1|unknown option state.backend.afterbay.foo",
                "max-space-amplification|0.5|value '0.5' is not allowed; allowed: a number above 1, at most 100",
                "memory.fixed-per-slot|64 mb|nothing while state.backend.afterbay.memory.managed is true"
            })
    void badOptions(String option, String value, String message) throws Exception {
        String key = "state.backend.afterbay." + option;
        Ledger ledger = new Ledger(FLINK.cluster(), "bad-options");

        String told =
                ledger.refusal(AFTERBAY, null, Map.of("restart-strategy.type", "none", key, value));
        assertRefused(told, message);
        assertThat(told).contains(key);
    }
}
