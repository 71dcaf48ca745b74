package io.afterbay.edge.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.ResultsDirectory;
import io.afterbay.edge.lines.ResultsTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.ScriptPlan;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What sites see, from a script: its SELECT says of each row at which site it is, and Flink makes a
 * file for each of them, in the order of the rows.
 */
public final class SitesScript {
    /** The column with the site's name; the others are what it sees. */
    public static final String SITE = "edge_site";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "path";

    private SitesScript() {}

    /**
     * Runs a script.
     *
     * @param file of the script: paths of tables in files are relative to it
     * @param directory for the files
     * @return the files, by site
     */
    public static Map<String, Path> run(ScriptPlan script, Path file, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        PlanJson plan = script.plan();
        PlanTable rows = plan.sinks().get(0);
        if (rows.columns().stream().noneMatch(column -> column.name().equals(SITE))) {
            throw new CommandFailure(
                    "%s: its rows have no column %s, which says at which site each of them is"
                            .formatted(file, SITE));
        }
        Path made = Files.createDirectories(directory.resolve("sites"));
        for (PlanTable source : plan.sources()) {
            plan = plan.withSource(source.name(), beside(file, source.options()));
        }
        EmbeddedFlink.run(plan.withSinks(ResultsTableFactory.json(made)), script.session());
        return split(file, new ResultsDirectory(made).rows(), made);
    }

    private static Map<String, String> beside(Path file, Map<String, String> options) {
        Map<String, String> absolute = new LinkedHashMap<>(options);
        absolute.computeIfPresent(
                PATH,
                (name, path) ->
                        path.contains(":")
                                ? path
                                : file.toAbsolutePath()
                                        .resolveSibling(path)
                                        .normalize()
                                        .toUri()
                                        .toString());
        return absolute;
    }

    private static Map<String, Path> split(Path script, Path rows, Path directory)
            throws CommandFailure, IOException {
        Map<String, Path> files = new TreeMap<>();
        Map<String, BufferedWriter> writers = new HashMap<>();
        try (BufferedReader lines = Files.newBufferedReader(rows)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                ObjectNode row = (ObjectNode) JSON.readTree(line);
                String site = row.path(SITE).asText();
                if (!site.matches("[A-Za-z0-9_-]{1,63}")) {
                    throw new CommandFailure(
                            "%s: '%s' is no name of a site: 1 to 63 letters, digits, - and _"
                                    .formatted(script, site));
                }
                row.remove(SITE);
                if (!writers.containsKey(site)) {
                    Path file = directory.resolve(site + ".ndjson");
                    files.put(site, file);
                    writers.put(site, Files.newBufferedWriter(file));
                }
                BufferedWriter writer = writers.get(site);
                writer.write(row.toString());
                writer.write('\n');
            }
        } finally {
            for (BufferedWriter writer : writers.values()) {
                writer.close();
            }
        }
        return files;
    }
}
