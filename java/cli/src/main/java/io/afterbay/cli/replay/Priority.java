package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.process.LowWeight;
import org.jspecify.annotations.Nullable;

/**
 * What makes live jobs on this machine come first.
 *
 * @param nice that its process was given beyond that of the command
 * @param cpuWeight of its cgroup, where 100 is usual; null if that is not low
 * @param ioWeight the same for disks
 */
record Priority(int nice, @Nullable Integer cpuWeight, @Nullable Integer ioWeight) {
    static Priority of(int nice, LowWeight weight) {
        return new Priority(nice, weight.cpu(), weight.io());
    }

    String text() {
        return "nice "
                + nice
                + (cpuWeight == null ? "" : ", cpu.weight " + cpuWeight)
                + (ioWeight == null ? "" : ", io.weight " + ioWeight);
    }

    void json(ObjectNode node) {
        node.put("nice", nice);
        node.put("cpu_weight", cpuWeight);
        node.put("io_weight", ioWeight);
    }
}
