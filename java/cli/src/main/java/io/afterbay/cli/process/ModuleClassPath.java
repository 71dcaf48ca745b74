package io.afterbay.cli.process;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The class path of programs of another module, which have a process of their own. Its build writes
 * it.
 *
 * @param module its folder
 */
public record ModuleClassPath(String module) {
    /** What the build has made of it. */
    Path target() {
        return Installation.home().resolve(Path.of("java", module, "target")).toAbsolutePath();
    }

    /**
     * @throws CommandFailure if something of it is missing
     */
    public String read() throws CommandFailure {
        Path target = target();
        try {
            String classPath =
                    target.resolve("classes")
                            + File.pathSeparator
                            + Files.readString(
                                            target.resolve("classpath.txt"), StandardCharsets.UTF_8)
                                    .strip();
            for (String entry : classPath.split(File.pathSeparator, -1)) {
                if (Files.notExists(Path.of(entry))) {
                    throw notBuilt(entry + " is missing");
                }
            }
            return classPath;
        } catch (IOException e) {
            throw notBuilt(CommandFailure.reason(e));
        }
    }

    static CommandFailure notBuilt(String problem) {
        return new CommandFailure(
                "programs with libraries of their own are not built (%s); remove %s and run the command again"
                        .formatted(
                                problem,
                                Installation.home().resolve("java/*/target/launcher.stamp")));
    }
}
