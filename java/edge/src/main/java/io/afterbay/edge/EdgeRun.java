package io.afterbay.edge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.BothWays;
import io.afterbay.edge.run.WorkFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code afterbay edge run SCRIPT.sql}: a job in halves and as a whole, on files of its sites. */
@Command(
        name = "run",
        description = {
            "Run a script's job in halves, the lower one on each site's file by the program of the sites and"
                    + " the upper one on an embedded Flink; run the whole job there, too, and say whether"
                    + " rows are equal and how many bytes would have gone over the link.",
            "",
            "Files have a JSON object on each line, with the columns of the script's source table; they"
                    + " stand for its connector. The script's own sink is not written.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  python3 examples/edge-traffic/split.py /tmp/districts",
            "  ./afterbay edge run examples/edge-traffic/streets.sql --sites /tmp/districts",
            "  ./afterbay edge run my-job.sql --site a=a.ndjson --site b=b.ndjson --output rows.csv",
            "",
            "Exit codes: 0 rows are equal; 1 they are not, or something failed; 2 wrong options."
        })
final class EdgeRun implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ENDING = ".ndjson";

    @Mixin private ScriptArguments arguments = new ScriptArguments();

    @Option(
            names = "--site",
            paramLabel = "NAME=FILE",
            description = "A site, and what it sees; may be given several times.")
    private Map<String, Path> sites = new LinkedHashMap<>();

    @Option(
            names = "--sites",
            paramLabel = "DIR",
            description = "Sites, by the names of the files DIR/NAME.ndjson.")
    private @Nullable Path directory;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write the rows of the job in halves to this file as CSV, in order.")
    private @Nullable Path output;

    @Option(names = "--json", description = "Report as JSON, on standard output.")
    private boolean json;

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        Map<String, Path> inputs = inputs();
        ScriptPlan script = arguments.plan();
        BothWays.Outcome outcome;
        try (WorkFiles work = new WorkFiles()) {
            outcome =
                    new BothWays(EdgeProgram.installed(), work.directory(), EdgeRun::progress)
                            .run(script, inputs);
        }
        if (output != null) {
            write(output, outcome);
        }
        PrintWriter out = CommandLines.commandOf(spec).getOut();
        out.print(json ? asJson(outcome) : asText(outcome));
        out.flush();
        return outcome.difference() == null ? ExitCode.OK : ExitCode.FAILURE;
    }

    private static void progress(String what) {
        System.err.println("afterbay edge run: " + what);
    }

    private Map<String, Path> inputs() throws CommandFailure {
        Map<String, Path> inputs = new LinkedHashMap<>(sites);
        if (directory != null) {
            inputs.putAll(inputs(directory));
        }
        if (inputs.isEmpty()) {
            throw new ParameterException(
                    CommandLines.commandOf(spec),
                    "name the sites, with --site NAME=FILE or --sites DIR");
        }
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            if (!Files.isRegularFile(input.getValue())) {
                throw new CommandFailure(
                        "site %s: %s: %s"
                                .formatted(
                                        input.getKey(),
                                        input.getValue(),
                                        Files.exists(input.getValue())
                                                ? "is no file"
                                                : "no such file"));
            }
        }
        return inputs;
    }

    private static Map<String, Path> inputs(Path directory) throws CommandFailure {
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

    private static void write(Path file, BothWays.Outcome outcome) throws CommandFailure {
        try {
            Files.write(file, outcome.halves().csv());
        } catch (IOException e) {
            throw new CommandFailure("--output " + file + ": " + CommandFailure.reason(e), e);
        }
    }

    private static String asText(BothWays.Outcome outcome) {
        String rows =
                outcome.difference() == null
                        ? "rows equal: %,d".formatted(outcome.halves().size())
                        : "rows differ: " + outcome.difference();
        return String.join(
                        "\n",
                        List.of(
                                rows,
                                "from %d sites: %,d bytes as they come, %,d bytes of %s rows (%s)"
                                        .formatted(
                                                outcome.sites(),
                                                outcome.rawBytes(),
                                                outcome.sentBytes(),
                                                outcome.sent(),
                                                ratio(outcome)),
                                "%,d rows went into the upper half".formatted(outcome.sentRows())))
                + "\n";
    }

    private static String ratio(BothWays.Outcome outcome) {
        return outcome.rawBytes() == 0
                ? "nothing to compare"
                : String.format(
                        Locale.ROOT, "%.3fx", (double) outcome.sentBytes() / outcome.rawBytes());
    }

    private static String asJson(BothWays.Outcome outcome) {
        ObjectNode report = JSON.createObjectNode();
        report.put("equal", outcome.difference() == null)
                .put("difference", outcome.difference())
                .put("rows", outcome.halves().size())
                .put("sites", outcome.sites())
                .put("raw_bytes", outcome.rawBytes())
                .put("sent", outcome.sent())
                .put("sent_rows", outcome.sentRows())
                .put("sent_bytes", outcome.sentBytes());
        return report.toPrettyString() + "\n";
    }
}
