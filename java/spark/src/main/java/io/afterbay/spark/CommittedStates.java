package io.afterbay.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The state files that a commit names, in format 2, or 3, which has sinks, too:
 *
 * <pre>
 *   v2
 *   {"nextBatchWatermarkMs":0,"stateUniqueIds":{"OPERATOR":[["UUID", ...], ...]}}
 * </pre>
 *
 * an array for each partition, with a UUID for each of its stores.
 *
 * @param version of the state after the batch
 * @param names version and unique id, as in the names of the files; empty without state
 */
record CommittedStates(long version, Set<String> names) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> FORMATS = List.of("v2", "v3");

    static CommittedStates read(long batch, Path commit) throws IOException {
        List<String> lines = Files.readAllLines(commit);
        if (!FORMATS.contains(lines.get(0))) {
            throw new IOException(
                    "the commit of batch "
                            + batch
                            + " has format "
                            + lines.get(0)
                            + ", in which Afterbay cannot find its state files; it knows "
                            + FORMATS);
        }
        long version = batch + 1;
        Set<String> names = new HashSet<>();
        if (lines.size() > 1) {
            collect(JSON.readTree(lines.get(1)).path("stateUniqueIds"), version + "_", names);
        }
        return new CommittedStates(version, names);
    }

    private static void collect(JsonNode node, String prefix, Set<String> names) {
        if (node.isTextual()) {
            names.add(prefix + node.textValue());
        }
        node.forEach(child -> collect(child, prefix, names));
    }
}
