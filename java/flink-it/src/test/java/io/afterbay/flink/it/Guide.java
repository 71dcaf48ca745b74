package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands and messages of docs/flink.md: fenced blocks behind a comment that names them. */
final class Guide {
    private static final Pattern BLOCK =
            Pattern.compile("<!-- guide: ([a-z-]+) -->\\n```\\w+\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern JOB = Pattern.compile("JobID (\\w+)");

    private final String text;
    private final Map<String, String> blocks = new HashMap<>();

    Guide() throws IOException {
        text = Files.readString(Artifacts.guide());
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            blocks.put(block.group(1), block.group(2).trim());
        }
    }

    /** All of it. */
    String text() {
        return text;
    }

    /** Commands, or a message that is to be expected. */
    String block(String name) {
        String block = blocks.get(name);
        if (block == null) {
            throw new AssertionError("docs/flink.md has no block '%s'".formatted(name));
        }
        return block;
    }

    /**
     * Lines of {@code config.yaml}.
     *
     * @param variables values for what the guide writes as {@code $NAME}
     */
    Map<String, String> config(String name, Map<String, String> variables) {
        Map<String, String> config = new HashMap<>();
        for (String line : block(name).lines().toList()) {
            String[] parts = line.split(": ", 2);
            String value = parts[1];
            config.put(parts[0], value.startsWith("$") ? variables.get(value.substring(1)) : value);
        }
        return config;
    }

    /** Id of the job that {@code flink run} says it has submitted. */
    static String submittedJob(String told) {
        Matcher job = JOB.matcher(told);
        if (!job.find()) {
            throw new AssertionError("no job was submitted:\n" + told);
        }
        return job.group(1);
    }

    /**
     * Runs commands as a user's shell would.
     *
     * @param environment the variables that the guide speaks of
     * @return standard output and standard error
     */
    String run(String name, Path directory, Map<String, String> environment) throws Exception {
        Path out = Files.createTempFile(Artifacts.workDir(), name, ".out");
        ProcessBuilder shell = new ProcessBuilder("sh", "-eu", "-c", block(name));
        shell.directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .environment()
                .putAll(environment);
        Process process = shell.start();
        try {
            boolean ended = process.waitFor(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            String output = Files.readString(out);
            if (!ended || process.exitValue() != 0) {
                throw new AssertionError(
                        "step '%s' of the guide %s:%n%s"
                                .formatted(name, ended ? "failed" : "takes too long", output));
            }
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
