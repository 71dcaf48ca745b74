package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.blob.BlobProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The program of the load, on the nodes of a cluster.
 *
 * @param plan of the run
 * @param acknowledged the file of the objects that were acknowledged
 */
record ClusterLoad(ClusterPlan plan, BlobProcess programs, ClusterNodes nodes, Path acknowledged) {

    /** What was found when every object that was acknowledged was read, and every byte compared. */
    record Verified(long right, long wrong, long lost) {
        Verified plus(Verified other) {
            return new Verified(right + other.right, wrong + other.wrong, lost + other.lost);
        }
    }

    /** Puts or gets at all nodes, one after the other for each client. */
    JsonNode closed(String operation, List<String> more)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = arguments("load", nodes.addresses());
        arguments.add("--operation=" + operation);
        arguments.add("--server-pid=" + nodes.pids());
        arguments.addAll(more);
        JsonNode load = programs.run(nodes.key(), arguments);
        JsonNode first = load.get("first_error");
        if (load.get("requests").asLong() == 0 && !first.isNull()) {
            throw new CommandFailure("all requests failed: " + first.asText());
        }
        return load;
    }

    /** Puts and gets at some nodes, by a schedule. */
    OpenLoad open(Collection<Integer> at) throws CommandFailure, IOException {
        List<String> arguments = arguments("open-loop", nodes.addresses(at));
        arguments.add("--clients=" + plan.setting().clients());
        arguments.add("--rate=" + plan.setting().ratePerS());
        return OpenLoad.start(programs, nodes.key(), arguments);
    }

    /** Reads all at the nodes that run. */
    Verified verify() throws CommandFailure, IOException, InterruptedException {
        JsonNode found = programs.run(nodes.key(), arguments("verify", nodes.addresses()));
        long wrong = found.get("wrong").asLong();
        return new Verified(
                found.get("requests").asLong() - wrong, wrong, found.get("errors").asLong());
    }

    private List<String> arguments(String command, String addresses) {
        return new ArrayList<>(
                List.of(
                        command,
                        "--protocol=native",
                        "--address=" + addresses,
                        "--size=" + plan.setting().sizeBytes(),
                        "--acknowledged=" + acknowledged));
    }

    /**
     * How many of the acknowledged objects are in these partitions, whose number is in their ids.
     */
    long in(Collection<Long> partitions) throws IOException {
        return Files.readAllLines(acknowledged, StandardCharsets.UTF_8).stream()
                .filter(line -> partitions.contains(partition(line)))
                .count();
    }

    /** Of a line: a number, and an id that begins with that of the partition in 16 digits. */
    static long partition(String line) {
        int id = line.indexOf(' ') + 1;
        return Long.parseUnsignedLong(line.substring(id, line.indexOf('-')), 16);
    }
}
