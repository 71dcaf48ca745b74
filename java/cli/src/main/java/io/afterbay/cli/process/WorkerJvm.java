package io.afterbay.cli.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The JVM that workers run on: that of this process, with options of the user's. */
public final class WorkerJvm {
    /** More options for the JVMs of workers, a space between them; they win over ours. */
    public static final String VARIABLE = "AFTERBAY_JAVA_OPTS";

    private static volatile boolean isChecked;

    private WorkerJvm() {}

    /** Those of the user. */
    public static List<String> options() {
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
     * @throws CommandFailure if no JVM starts with the user's
     */
    public static List<String> command(List<String> ours) throws CommandFailure {
        List<String> users = options();
        if (!users.isEmpty() && !isChecked) {
            check(users);
            isChecked = true;
        }
        return command(ours, users);
    }

    /** A JVM that does not start says why on its standard error, where nobody may look. */
    static void check(List<String> users) throws CommandFailure {
        List<String> command = command(List.of(), users);
        command.add("-version");
        try {
            Process java = new ProcessBuilder(command).redirectErrorStream(true).start();
            String told = new String(java.getInputStream().readAllBytes(), UTF_8);
            if (java.waitFor() != 0) {
                throw new CommandFailure(
                        "no JVM starts with %s, which is '%s': %s; correct it or unset it"
                                .formatted(
                                        VARIABLE,
                                        String.join(" ", users),
                                        String.join(" ", told.lines().toList())));
            }
        } catch (IOException e) {
            throw new CommandFailure("cannot start a JVM: " + CommandFailure.reason(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    public static List<String> command(List<String> ours, List<String> users) {
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
