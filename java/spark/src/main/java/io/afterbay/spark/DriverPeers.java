package io.afterbay.spark;

import io.afterbay.spark.publish.Gate;
import io.afterbay.spark.publish.StateLedger;
import java.io.IOException;
import java.nio.file.Path;

/** On a driver whose executors are processes of their own: commits wait for their state files. */
final class DriverPeers extends Peers {
    private final StateLedger ledger;

    DriverPeers(StateLedger ledger) {
        this.ledger = ledger;
    }

    @Override
    Gate gate(String location, long batch, Path local) throws IOException {
        CommittedStates states = CommittedStates.read(batch, local);
        return states.names().isEmpty()
                ? Gate.OPEN
                : ledger.require(location, states.version(), states.names());
    }
}
