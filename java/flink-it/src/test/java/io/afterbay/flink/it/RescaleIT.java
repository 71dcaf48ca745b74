package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changing the parallelism of a job on the backend. */
class RescaleIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @ParameterizedTest
    @ValueSource(strings = {"NATIVE", "CANONICAL"})
    void fromTwoToFourToOne(String format) throws Exception {
        Ledger ledger = new Ledger(FLINK.cluster(), "rescale-" + format);
        String savepoint = null;
        for (int parallelism : new int[] {2, 4}) {
            String job = ledger.start(AFTERBAY, parallelism, savepoint);
            ledger.awaitShare(job, 0.2);
            savepoint = ledger.stop(job, format);
        }
        ledger.finish(ledger.start(AFTERBAY, 1, savepoint));
    }
}
