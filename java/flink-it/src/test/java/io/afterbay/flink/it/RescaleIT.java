package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import io.afterbay.testing.LongForm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Changing the parallelism of a job on the backend. */
@LongForm
class RescaleIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void fromTwoToFourToOne() throws Exception {
        rescale("NATIVE");
    }

    @Test
    void fromTwoToFourToOneInCanonicalFormat() throws Exception {
        rescale("CANONICAL");
    }

    private static void rescale(String format) throws Exception {
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
