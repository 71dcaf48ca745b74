package io.afterbay.experiments;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.Command;
import io.afterbay.experiments.bench.Bench;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** {@code bench EXPERIMENT --quick} in a process of its own, with its files in one directory. */
public final class ShortForm {
    private final Path directory;
    private final List<String> words;

    /**
     * @param directory for its output, files of runs ({@code work}) and results
     * @param experiment and what is the same for all calls
     */
    public ShortForm(Path directory, String... experiment) {
        this.directory = directory;
        words = new ArrayList<>(List.of(experiment));
        words.add("--quick");
    }

    /** What is said of options that are wrong, before anything starts. */
    public String refused(String... more) {
        StringWriter err = new StringWriter();
        CommandLine command = Bench.commandLine().setErr(new PrintWriter(err, true));
        List<String> all = new ArrayList<>(words);
        all.addAll(List.of(more));
        assertThat(command.execute(all.toArray(String[]::new))).isEqualTo(2);
        return err.toString();
    }

    /** Runs to the end; returns the exit code. */
    public int run(String... more) throws Exception {
        return run(Map.of(), more);
    }

    /** The same with more variables of the environment. */
    public int run(Map<String, String> environment, String... more) throws Exception {
        Command command = new Command(directory);
        List<String> all = new ArrayList<>(words);
        all.addAll(
                List.of(
                        "--work-dir=" + Files.createDirectories(directory.resolve("work")),
                        "--results=" + directory.resolve("results"),
                        "--json=" + command.json()));
        all.addAll(List.of(more));
        return command.runMain(Bench.class, environment, all.toArray(String[]::new));
    }
}
