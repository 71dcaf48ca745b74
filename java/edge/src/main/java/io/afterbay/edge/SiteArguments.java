package io.afterbay.edge;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.run.SitesScript;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which sites there are, and what they see. */
final class SiteArguments {
    private static final String ENDING = ".ndjson";
    private static final String SCRIPT_ENDING = ".sql";

    @Option(
            names = "--site",
            paramLabel = "NAME=FILE",
            description = "A site, and what it sees; may be given several times.")
    private Map<String, Path> sites = new LinkedHashMap<>();

    @Option(
            names = "--sites",
            paramLabel = "DIR|SCRIPT.sql",
            description = {
                "Sites, by the names of the files DIR/NAME.ndjson. Or a script whose SELECT gives what"
                        + " they see, with a column edge_site that says which of them does. Of a folder"
                        + " as APP, its sites.sql is the default."
            })
    private @Nullable Path place;

    /**
     * Of each site, what it sees.
     *
     * @param job says where nothing is named
     * @param work for files that nobody needs afterwards
     */
    Map<String, Path> inputs(CommandLine command, JobArguments job, Path work)
            throws CommandFailure, IOException, InterruptedException {
        Map<String, Path> inputs = new LinkedHashMap<>(sites);
        Path named = place == null && sites.isEmpty() ? job.sites() : place;
        if (named != null) {
            inputs.putAll(
                    named.toString().endsWith(SCRIPT_ENDING)
                            ? SitesScript.run(job.sites(named), named, work)
                            : files(named));
        }
        if (inputs.isEmpty()) {
            throw new ParameterException(
                    command, "name the sites, with --site NAME=FILE or --sites DIR");
        }
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            check(input.getKey(), input.getValue());
        }
        return inputs;
    }

    private static void check(String site, Path file) throws CommandFailure {
        if (!Files.isRegularFile(file)) {
            throw new CommandFailure(
                    "site %s: %s: %s"
                            .formatted(
                                    site,
                                    file,
                                    Files.exists(file) ? "is no file" : "no such file"));
        }
    }

    private static Map<String, Path> files(Path directory) throws CommandFailure {
        Map<String, Path> inputs = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(ENDING)) {
                    inputs.put(name.substring(0, name.length() - ENDING.length()), file);
                }
            }
        } catch (IOException e) {
            throw new CommandFailure("--sites " + directory + ": is no directory to be read", e);
        }
        if (inputs.isEmpty()) {
            throw new CommandFailure("--sites " + directory + ": has no files *" + ENDING);
        }
        return inputs;
    }
}
