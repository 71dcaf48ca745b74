package io.afterbay.experiments.blob;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.JsonProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The program of the module {@code blob-bench}: clients, limits and the like.
 *
 * @param program where it is
 * @param directory of the worker
 */
public record BlobProcess(String program, Path directory) {
    private static final String KEY = "AFTERBAY_BENCH_KEY";
    private static final String SECRET = "AFTERBAY_BENCH_SECRET";

    /**
     * @param key of the server, where there is one
     * @throws CommandFailure if it does not say what it found
     */
    public JsonNode run(Key key, List<String> arguments)
            throws CommandFailure, IOException, InterruptedException {
        return new JsonProgram(directory)
                .run(arguments.get(0), command(arguments), environment(key));
    }

    /**
     * Starts it, for who has more to tell it while it runs.
     *
     * @param log its standard error
     */
    public Process start(Key key, List<String> arguments, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command(arguments));
        builder.environment().putAll(environment(key));
        return builder.redirectError(log.toFile()).start();
    }

    private List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(arguments);
        return bound(command);
    }

    private static Map<String, String> environment(Key key) {
        return Map.of(KEY, key.name(), SECRET, key.secret());
    }

    /** What ends with this process, whatever happens to it. */
    public List<String> bound(List<String> command) {
        List<String> bound = new ArrayList<>(List.of(program, "run"));
        bound.addAll(command);
        return bound;
    }

    /** Who asks. */
    public record Key(String name, String secret) {
        /** For servers that take any, and for limits. */
        static final Key ANY = new Key("benchbench", "benchbench");

        private static final Pattern ACCESS_LINE = Pattern.compile("(?m)^access-key = (\\S+)");
        private static final Pattern SECRET_LINE = Pattern.compile("(?m)^secret-key = (\\S+)");

        /**
         * The root key that a server of ours has made.
         *
         * @throws CommandFailure if there is none in the file
         */
        public static Key read(Path file) throws CommandFailure, IOException {
            String text = Files.readString(file);
            Optional<String> access = ServerOutput.first(ACCESS_LINE, text);
            Optional<String> secret = ServerOutput.first(SECRET_LINE, text);
            if (access.isEmpty() || secret.isEmpty()) {
                throw new CommandFailure(file + ": the server's key file has no key");
            }
            return new Key(access.get(), secret.get());
        }

        @Override
        public String toString() {
            return "Key[" + name + "]";
        }
    }
}
