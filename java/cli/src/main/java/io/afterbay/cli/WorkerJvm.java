package io.afterbay.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The JVM that workers run on: that of this process, with options of the user's. */
final class WorkerJvm {
    /** More options for the JVMs of workers, a space between them; they win over ours. */
    static final String VARIABLE = "AFTERBAY_JAVA_OPTS";

    private WorkerJvm() {}

    /** Those of the user. */
    static List<String> options() {
        return words(System.getenv(VARIABLE));
    }

    static List<String> words(@Nullable String options) {
        return options == null
                ? List.of()
                : Arrays.stream(options.split("\\s+")).filter(word -> !word.isEmpty()).toList();
    }

    /**
     * What starts a JVM; its class path and its program come behind.
     *
     * @param ours options that a user's may contradict
     */
    static List<String> command(List<String> ours) {
        return command(ours, options());
    }

    static List<String> command(List<String> ours, List<String> users) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        boolean choosesCollector = users.stream().anyMatch(WorkerJvm::isCollector);
        ours.stream()
                .filter(option -> !choosesCollector || !isCollector(option))
                .forEach(command::add);
        command.addAll(users);
        return command;
    }

    /** A JVM refuses to start with two of them. */
    private static boolean isCollector(String option) {
        return option.matches("-XX:\\+Use\\w+GC");
    }
}
