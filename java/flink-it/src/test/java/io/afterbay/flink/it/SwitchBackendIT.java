package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static io.afterbay.flink.it.Ledger.HASHMAP;
import static io.afterbay.flink.it.Ledger.ROCKSDB;

import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Adopting the backend and leaving it, with savepoints in canonical format. {@link GuideIT} does so
 * in the normal form.
 */
@LongForm
class SwitchBackendIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    @Test
    void rocksDbToAfterbayToRocksDbAndToHashMap() throws Exception {
        Ledger ledger = new Ledger(FLINK.cluster(), "switch");
        String onRocksDb = ledger.start(ROCKSDB, 2, null);
        ledger.awaitShare(onRocksDb, 0.2);
        String adopted = ledger.stop(onRocksDb, "CANONICAL");

        String onAfterbay = ledger.start(AFTERBAY, 2, adopted);
        ledger.awaitShare(onAfterbay, 0.2);
        String left = ledger.stop(onAfterbay, "CANONICAL");

        Set<Path> before = ledger.finishedFiles();
        ledger.finish(ledger.start(ROCKSDB, 2, left));
        ledger.goBack(before);
        ledger.finish(ledger.start(HASHMAP, 2, left));
    }
}
