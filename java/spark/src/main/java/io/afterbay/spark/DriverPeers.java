package io.afterbay.spark;

import io.afterbay.spark.publish.Gate;
import io.afterbay.spark.publish.StateLedger;
import java.io.IOException;
import java.io.InterruptedIOException;
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

    @Override
    boolean awaitIdle(String location, long nanosMax) throws InterruptedIOException {
        try {
            return ledger.awaitIdle(location, nanosMax);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while executors wrote to " + location);
        }
    }
}
