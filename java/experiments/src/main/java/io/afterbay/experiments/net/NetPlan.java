package io.afterbay.experiments.net;

import io.afterbay.command.ByteSize;
import io.afterbay.experiments.PlanWithoutEngine;

/**
 * One run of a server and its clients.
 *
 * @param setting what makes it differ from others
 * @param times how long it is
 * @param tools where the programs are
 * @param hasAgent whether way {@code memory} has its agent; without it the run has to be found
 *     wrong
 */
record NetPlan(NetTrial.Setting setting, Times times, Tools tools, boolean hasAgent)
        implements PlanWithoutEngine {

    /** In milliseconds. */
    record Times(long warmUpMs, long countedMs) {}

    /**
     * Programs.
     *
     * @param load of the module {@code net-bench}; that of the sockets is beside it
     * @param redis the folder of redis's programs; empty if it is not installed
     */
    record Tools(String load, String redis) {}

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        return "%s, %s, %d %s, %s%s, pair %d"
                .formatted(
                        setting.work(),
                        new ByteSize(setting.sizeBytes()),
                        setting.connections(),
                        setting.connections() == 1 ? "connection" : "connections",
                        setting.variant(),
                        setting.busyThreads() == 0
                                ? ""
                                : ", %d busy threads".formatted(setting.busyThreads()),
                        setting.pair());
    }
}
