package io.afterbay.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SHORT_LIVED);
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program));
        return command;
    }
}
