package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.apache.flink.client.program.PackagedProgram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Which main method is run, and with what. */
public final class JarArguments {
    @Parameters(index = "0", paramLabel = "FILE.jar", description = "The job and its libraries.")
    public Path jar = Path.of("");

    @Parameters(
            index = "1..*",
            paramLabel = "ARGUMENT",
            description = "Passed to the main method; put -- before the first.")
    public List<String> arguments = List.of();

    @Option(
            names = {"--class", "-c"},
            paramLabel = "NAME",
            description = "The class with the main method (default: the jar's Main-Class).")
    private @Nullable String mainClass;

    /**
     * The class with the main method, which the jar has.
     *
     * @throws CommandFailure if the file is no jar
     * @throws ParameterException if it has no such class
     */
    public String mainClass(CommandLine command) throws CommandFailure {
        if (!Files.isRegularFile(jar)) {
            throw new CommandFailure(jar + (Files.exists(jar) ? ": is no file" : ": no such file"));
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            String main = mainClass != null ? mainClass : declared(file.getManifest());
            if (main == null) {
                throw new ParameterException(
                        command, jar + " declares no Main-Class; name one with --class NAME");
            }
            if (file.getEntry(main.replace('.', '/') + ".class") == null) {
                throw new ParameterException(
                        command, "--class %s: %s has no such class".formatted(main, jar));
            }
            return main;
        } catch (IOException e) {
            throw new CommandFailure(jar + " is no jar: " + CommandFailure.reason(e), e);
        }
    }

    private static @Nullable String declared(@Nullable Manifest manifest) {
        if (manifest == null) {
            return null;
        }
        Attributes attributes = manifest.getMainAttributes();
        String flinks = attributes.getValue(PackagedProgram.MANIFEST_ATTRIBUTE_ASSEMBLER_CLASS);
        return flinks != null ? flinks : attributes.getValue(Attributes.Name.MAIN_CLASS);
    }

    /** As a user would type it. */
    public List<String> words() {
        List<String> words = new ArrayList<>(List.of(jar.toString()));
        if (mainClass != null) {
            words.addAll(List.of("--class", mainClass));
        }
        if (!arguments.isEmpty()) {
            words.add("--");
            words.addAll(arguments);
        }
        return words;
    }
}
