package io.afterbay.experiments.blob;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.JsonProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The program of the module {@code blob-bench}: clients, limits and the like.
 *
 * @param program where it is
 * @param directory of the worker
 */
record BlobProcess(String program, Path directory) {
    private static final String KEY = "AFTERBAY_BENCH_KEY";
    private static final String SECRET = "AFTERBAY_BENCH_SECRET";

    /**
     * @param key of the server, where there is one
     * @throws CommandFailure if it does not say what it found
     */
    JsonNode run(Key key, List<String> arguments)
            throws CommandFailure, IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments);
        return new JsonProgram(directory)
                .run(
                        arguments.get(0),
                        bound(command),
                        Map.of(KEY, key.name(), SECRET, key.secret()));
    }

    /** What ends with this process, whatever happens to it. */
    List<String> bound(List<String> command) {
        List<String> bound = new ArrayList<>(List.of(program, "run"));
        bound.addAll(command);
        return bound;
    }

    /** Who asks. */
    record Key(String name, String secret) {
        /** For servers that take any, and for limits. */
        static final Key ANY = new Key("benchbench", "benchbench");

        @Override
        public String toString() {
            return "Key[" + name + "]";
        }
    }
}
