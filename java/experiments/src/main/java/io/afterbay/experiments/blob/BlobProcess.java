package io.afterbay.experiments.blob;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The program of the module {@code blob-bench}: clients, limits and the like. Each call ends with
 * one line of JSON.
 *
 * @param program where it is
 * @param directory of the worker
 */
record BlobProcess(String program, Path directory) {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String KEY = "AFTERBAY_BENCH_KEY";
    private static final String SECRET = "AFTERBAY_BENCH_SECRET";
    private static final int SECONDS_MAX = 1800;

    /** Its exit code; meanwhile the first process hears that this one is alive. */
    private static int await(Process process) throws InterruptedException, CommandFailure {
        for (int second = 1; second <= SECONDS_MAX; second++) {
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                return process.exitValue();
            }
            say("measuring", second);
        }
        process.destroyForcibly();
        throw new CommandFailure("no end after %d s; killed".formatted(SECONDS_MAX));
    }

    static void say(String phase, long seconds) {
        new WorkerStatus(phase, seconds, Long.MAX_VALUE, 0).say();
    }

    /**
     * @param key of the server, where there is one
     * @throws CommandFailure if it does not say what it found
     */
    JsonNode run(Key key, List<String> arguments)
            throws CommandFailure, IOException, InterruptedException {
        say(arguments.get(0), 0);
        Path out = directory.resolve("load.json");
        Path log = directory.resolve("load.log");
        Process process = builder(key, arguments, out, log).start();
        try {
            int code = await(process);
            if (code != 0) {
                throw new CommandFailure(
                        "%s ended with code %d%s"
                                .formatted(arguments.get(0), code, WorkerLog.lastWords(log)));
            }
        } finally {
            process.destroyForcibly();
        }
        return MAPPER.readTree(out.toFile());
    }

    private ProcessBuilder builder(Key key, List<String> arguments, Path out, Path log) {
        List<String> command = new ArrayList<>(List.of(program, "run", program));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Map.of(KEY, key.name(), SECRET, key.secret()));
        return builder.redirectOutput(out.toFile()).redirectError(log.toFile());
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
