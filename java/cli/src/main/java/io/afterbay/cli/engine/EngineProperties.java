package io.afterbay.cli.engine;

import static java.util.Map.entry;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code -D key=value}: Flink's own options, as with its command line. */
public final class EngineProperties {
    /** Keys that an option of the command decides, with that option; a dot at the end: a prefix. */
    private static final Map<String, String> DECIDED =
            Map.ofEntries(
                    entry("state.backend.type", "--backend"),
                    entry("parallelism.default", "--parallelism"),
                    entry("execution.checkpointing.interval", "--checkpoint-interval"),
                    entry("taskmanager.memory.managed.", "--memory"),
                    entry("taskmanager.memory.network.", "--memory"),
                    entry("taskmanager.memory.process.size", "--memory"),
                    entry("taskmanager.memory.flink.size", "--memory"),
                    entry("jobmanager.memory.", "--memory"),
                    entry("io.tmp.dirs", "--work-dir"),
                    entry("execution.target", "--on"),
                    entry("rest.address", "--on"),
                    entry("rest.port", "--on"));

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description =
                    "An option of Flink, for example -D table.exec.mini-batch.enabled=true; may be"
                            + " given several times. The settings of the job itself come first.")
    private final Map<String, String> given = new LinkedHashMap<>();

    /** Refuses what the command decides, and values that Flink cannot read. */
    void check(CommandLine command) {
        FlinkOptions options = FlinkOptions.onClassPath();
        given.forEach((key, value) -> check(command, options, key, value));
    }

    private static void check(CommandLine command, FlinkOptions options, String key, String value) {
        DECIDED.forEach(
                (decided, by) -> {
                    if (key.equals(decided) || decided.endsWith(".") && key.startsWith(decided)) {
                        throw bad(command, key, "use " + by + " instead");
                    }
                });
        String problem = options.problem(key, value);
        if (problem != null) {
            throw bad(command, key, problem);
        }
    }

    private static ParameterException bad(CommandLine command, String key, String problem) {
        return new ParameterException(command, "-D " + key + ": " + problem);
    }

    /** What the user gave, by key. */
    public Map<String, String> given() {
        return Map.copyOf(given);
    }
}
