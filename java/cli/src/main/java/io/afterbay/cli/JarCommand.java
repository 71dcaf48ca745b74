package io.afterbay.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.apache.flink.client.program.PackagedProgram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code afterbay run FILE.jar}: checks the jar, then starts the worker that runs its main. */
@Command(
        name = "jar",
        description = {
            "Run the main method of a Flink job jar on an embedded engine; './afterbay run FILE.jar'"
                    + " is the same.",
            "",
            "Backend, checkpoints and -D options come as configuration, as with 'flink run'; what the"
                    + " job sets itself comes first. Prints a report of throughput, latency, CPU,"
                    + " memory and disk. Ctrl-C ends the run with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run my-job.jar",
            "  ./afterbay run my-job.jar --class com.acme.Sessions --backend rocksdb -- --events 1000",
            "  ./afterbay run my-job.jar --duration 30s --json report.json",
            "",
            "Exit codes: 0 done, 1 the job or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class JarCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "FILE.jar", description = "The job and its libraries.")
    private Path jar = Path.of("");

    @Parameters(
            index = "1..*",
            paramLabel = "ARGUMENT",
            description = "Passed to the main method; put -- before the first.")
    private List<String> arguments = List.of();

    @Option(
            names = {"--class", "-c"},
            paramLabel = "NAME",
            description = "The class with the main method (default: the jar's Main-Class).")
    private @Nullable String mainClass;

    @Mixin private final ProgramArguments program = new ProgramArguments();
    @Mixin private final RunArguments engine = new RunArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        MemorySplit memory = engine.memorySplit(command());
        String main = mainClass();
        if (WorkDirectory.ofWorker().isPresent()) {
            return new Worker(new JarProgram(jar, main, arguments, program, engine), engine, memory)
                    .run();
        }
        engine.checkInterval(command());
        new OutputFiles(jar.toString()).check("--json", engine.json);
        return new WorkerProcess(engine, memory)
                .run(
                        command()
                                .getCommandSpec()
                                .root()
                                .commandLine()
                                .getParseResult()
                                .originalArgs());
    }

    private String mainClass() throws CommandFailure {
        if (!Files.isRegularFile(jar)) {
            throw new CommandFailure(jar + (Files.exists(jar) ? ": is no file" : ": no such file"));
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            String main = mainClass != null ? mainClass : declared(file.getManifest());
            if (main == null) {
                throw new ParameterException(
                        command(), jar + " declares no Main-Class; name one with --class NAME");
            }
            if (file.getEntry(main.replace('.', '/') + ".class") == null) {
                throw new ParameterException(
                        command(), "--class %s: %s has no such class".formatted(main, jar));
            }
            return main;
        } catch (IOException e) {
            throw new CommandFailure(jar + " is no jar: " + Failures.reason(e), e);
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

    private CommandLine command() {
        if (spec == null) {
            throw new IllegalStateException("not called by picocli");
        }
        return spec.commandLine();
    }
}
