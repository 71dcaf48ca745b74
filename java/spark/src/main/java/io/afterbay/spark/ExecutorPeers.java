package io.afterbay.spark;

import io.afterbay.spark.CheckpointFiles.Role;
import io.afterbay.spark.publish.PublishObserver;
import io.afterbay.spark.publish.WrittenStates;

/** On an executor that is a process of its own: it publishes state files, and reports them. */
final class ExecutorPeers extends Peers {
    private final WrittenStates states;

    ExecutorPeers(WrittenStates states) {
        this.states = states;
    }

    /** Logs are the driver's; whatever else a task writes is written as Spark does. */
    @Override
    boolean publishes(Role role) {
        return role == Role.STATE;
    }

    @Override
    void created(String root, String target) {
        states.created(root, CheckpointFiles.state(target));
    }

    @Override
    void cancelled(String target) {
        states.cancelled(CheckpointFiles.state(target));
    }

    @Override
    PublishObserver observer(String root) {
        return new PublishObserver() {
            @Override
            public void published(String target) {
                states.published(CheckpointFiles.state(target));
            }

            @Override
            public void failed(String reason) {
                states.failed(root, reason);
            }
        };
    }
}
