package io.afterbay.testing;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Programs that a test starts on its own JVM, with its own class path. */
public final class OwnJvm {
    /**
     * For a JVM that lives for seconds: no optimising compiler, and no verification of classes,
     * which is a fifth of what loading an engine costs.
     */
    public static final List<String> SHORT_LIVED =
            List.of(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-XX:+UnlockDiagnosticVMOptions",
                    "-XX:-BytecodeVerificationRemote");

    private OwnJvm() {}

    /**
     * What starts a program; its arguments come behind.
     *
     * @param program the name of its class
     * @param flags of the JVM
     */
    public static List<String> command(String program, String... flags) {
        return command(System.getProperty("java.class.path"), program, List.of(flags));
    }

    /**
     * What starts a program with another class path; its arguments come behind.
     *
     * @param program the name of its class
     * @param flags of the JVM
     */
    public static List<String> command(String classPath, String program, List<String> flags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SHORT_LIVED);
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, program));
        return command;
    }

    /** Our own class path without some of its places. */
    public static String classPathWithout(Predicate<Path> place) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(one -> !place.test(Path.of(one)))
                .collect(Collectors.joining(File.pathSeparator));
    }
}
