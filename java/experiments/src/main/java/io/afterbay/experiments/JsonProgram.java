package io.afterbay.experiments;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Programs that a worker starts one after the other. Each ends with one line of JSON.
 *
 * @param directory of the worker
 */
public record JsonProgram(Path directory) {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int SECONDS_MAX = 1800;

    /**
     * @param name for the progress and for messages
     * @param environment beside that of this process
     * @throws CommandFailure if it does not say what it found
     */
    public JsonNode run(String name, List<String> command, Map<String, String> environment)
            throws CommandFailure, IOException, InterruptedException {
        return run(name, command, environment, List.of());
    }

    /**
     * The same of a program that says what it found with other codes than 0, too.
     *
     * @param others with which it may end
     */
    public JsonNode run(
            String name,
            List<String> command,
            Map<String, String> environment,
            List<Integer> others)
            throws CommandFailure, IOException, InterruptedException {
        say(name, 0);
        Path out = directory.resolve("load.json");
        Path log = directory.resolve("load.log");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        Process process = builder.redirectOutput(out.toFile()).redirectError(log.toFile()).start();
        try {
            int code = await(process);
            boolean hasReport = code == 0 || (others.contains(code) && Files.size(out) > 0);
            if (!hasReport) {
                throw new CommandFailure(
                        "%s ended with code %d%s".formatted(name, code, WorkerLog.lastWords(log)));
            }
        } finally {
            process.destroyForcibly();
        }
        return MAPPER.readTree(out.toFile());
    }

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

    /** What the first process shows. */
    public static void say(String phase, long seconds) {
        new WorkerStatus(phase, seconds, Long.MAX_VALUE, 0).say();
    }
}
