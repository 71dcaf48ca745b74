package io.afterbay.edge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.edge.live.LiveOptions;
import io.afterbay.edge.live.LiveOutcome;
import io.afterbay.edge.live.LiveRun;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.BothWays;
import io.afterbay.edge.run.Control;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.WorkFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code afterbay edge run APP}: a job in halves and as a whole, on files of its sites or live. */
@Command(
        name = "run",
        description = {
            "Run a job in halves, the lower one on each site's file by the program of the sites and the upper"
                    + " one on an embedded Flink; run the whole job there, too, and say whether rows are"
                    + " equal and how many bytes would have gone over the link.",
            "",
            "With --link, --mqtt or --bootstrap, run it live: a program at each site, a gateway in front of Flink, slow links between"
                    + " them, and for the whole job links of the same kind for all that the sites see.",
            "",
            "Files have a JSON object on each line, with the columns of the script's source table; they"
                    + " stand for its connector, also for that of Kafka. The script's own sink is not"
                    + " written.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay edge run examples/edge-traffic",
            "  ./afterbay edge run examples/edge-traffic --link 800kbit --outage 30s --kill gateway",
            "  ./afterbay edge run examples/edge-traffic --mqtt --sequence time_s --by car --kill agent",
            "  ./afterbay edge run my-job.sql --sites /data/sites --local room --mqtt --publish rooms/final",
            "  ./afterbay edge run my-job.sql --sites /data/sites --link 8mbit --round-trip 80ms",
            "  ./afterbay edge run my-job.sql --sites /data/sites --bootstrap kafka:9092 --on flink:8081 \\",
            "      --jar flink-sql-connector-kafka-5.0.0-2.2.jar",
            "  ./afterbay edge run my-job.sql --site a=a.ndjson --site b=b.ndjson --output rows.csv",
            "",
            "Exit codes: 0 rows are equal; 1 they are not, or something failed; 2 wrong options."
        })
final class EdgeRun implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Mixin private JobArguments job = new JobArguments();

    @Mixin private SiteArguments sites = new SiteArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write the rows of the job in halves to this file as CSV, in order.")
    private @Nullable Path output;

    @ArgGroup(exclusive = false, heading = "%nLive:%n")
    private LiveArguments live = new LiveArguments();

    @Option(names = "--json", description = "Report as JSON, on standard output.")
    private boolean json;

    @Option(
            names = "--control",
            hidden = true,
            converter = ControlName.class,
            description = "Lose rows, on files: guessed-watermarks.")
    private Control control = Control.NONE;

    /** For picocli, as experiments call them. */
    static final class ControlName implements ITypeConverter<Control> {
        @Override
        public Control convert(String text) {
            if (!text.equals("guessed-watermarks")) {
                throw new TypeConversionException("'%s' is no control".formatted(text));
            }
            return Control.GUESSED_WATERMARKS;
        }
    }

    @Spec private @Nullable CommandSpec spec;

    private final ProgressLine progress = new ProgressLine(System.err, Terminal.isStandardError());

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        LiveOptions options = live.options(command);
        if (options != null && control != Control.NONE) {
            throw new ParameterException(
                    command, "--control is of a run on files, without --link and --mqtt");
        }
        try (WorkFiles work = new WorkFiles()) {
            Map<String, Path> inputs = sites.inputs(command, job, work.directory());
            ScriptPlan script = job.plan(command, true);
            live.checkPublished(command, script.local());
            return options == null
                    ? onFiles(script, inputs, work.directory())
                    : live(script, inputs, options, work.directory());
        }
    }

    private int onFiles(ScriptPlan script, Map<String, Path> inputs, Path work) throws Exception {
        BothWays.Outcome outcome =
                new BothWays(
                                EdgeProgram.installed(),
                                work,
                                what -> progress.say("afterbay edge run: " + what),
                                control)
                        .run(script, inputs);
        return report(
                outcome.halves(),
                json ? asJson(outcome) : asText(outcome),
                outcome.difference() == null);
    }

    private int live(ScriptPlan script, Map<String, Path> inputs, LiveOptions options, Path work)
            throws Exception {
        LiveOutcome outcome =
                new LiveRun(EdgeProgram.installed(), work, options, this::show).run(script, inputs);
        progress.clear();
        LiveReport report = new LiveReport(options, outcome);
        return report(outcome.rows(), json ? report.json() : report.text(), outcome.isEqual());
    }

    private int report(ResultRows rows, String report, boolean isEqual) throws CommandFailure {
        if (output != null) {
            write(output, rows);
        }
        PrintWriter out = CommandLines.commandOf(spec).getOut();
        out.print(report);
        out.flush();
        return isEqual ? ExitCode.OK : ExitCode.FAILURE;
    }

    private void show(String what) {
        if (progress.isDue()) {
            progress.show("afterbay edge run: " + what);
        }
    }

    private static void write(Path file, ResultRows rows) throws CommandFailure {
        try {
            Files.write(file, rows.csv());
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
