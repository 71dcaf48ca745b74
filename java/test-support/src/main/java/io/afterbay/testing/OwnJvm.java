package io.afterbay.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs that a test starts on its own JVM, with its own class path. */
public final class OwnJvm {
    private OwnJvm() {}

    /**
     * What starts a program; its arguments come behind. It does without the optimising compiler, as
     * the launcher's commands do: it ends too soon to gain by it.
     *
     * @param program the name of its class
     * @param flags of the JVM
     */
    public static List<String> command(String program, String... flags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program));
        return command;
    }
}
